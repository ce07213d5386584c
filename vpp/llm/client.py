"""HTTP client of one server on the shortest path: a prepared request, one answer, a body of bounded size.

The only module that knows `openai`. Import it when the first call is made: that takes half a second.
`AsyncOpenAI` and its HTTP client spend four times as long on a request as we do on a whole call. We therefore ask it
once for the address and the headers, and send requests through aiohttp, which it would use below.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
import openai

from vpp.llm.gate import Headers, is_loopback
from vpp.llm.protocol import Failure

BODY_LIMIT = 8 * 2**20
"""Bytes of a reply after decompression: forty times the longest stored answer."""
CONNECT_TIMEOUT_S = 15.0
KEEPALIVE_S = 4.0
"""Below the 5 s after which uvicorn, and so vLLM, closes an idle connection, so that none is closed under a call.
Connections of a learner's round stay open for the 3 s that an optimizer takes."""
TELEMETRY = "x-stainless-"
"""Prefix of headers that describe this machine and the SDK."""


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Names in any case."""
    body: bytes


class Client:
    """Connections to one server. No retries, redirects or cookies."""

    def __init__(self, base_url: str, api_key: str, headers: Headers = (), *, connections: int) -> None:
        """headers: sent with every request. connections: how many may be open."""
        base_url, mark, query = base_url.partition("?")
        proxy = proxy_for(base_url)
        trusted = httpx2.create_ssl_context()
        unused = httpx2.AsyncClient(verify=trusted, trust_env=False)  # the SDK's own would load the authorities again
        sdk = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, http_client=unused)
        self._base, self._query = str(sdk.base_url), mark + query
        usual = {**sdk.default_headers, **sdk.auth_headers}.items()
        given = {name.lower() for name, _ in headers}
        sent = [(n, text) for n, text in usual if not n.lower().startswith(TELEMETRY) and n.lower() not in given]
        self._session = aiohttp.ClientSession(
            headers=[*((name, text) for name, text in sent if isinstance(text, str)), *headers],
            timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_TIMEOUT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=proxy,
            connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEEPALIVE_S, ssl=trusted),
        )

    async def send(self, path: str, body: dict[str, Any] | None = None) -> Reply:
        """Post a body, or ask without one; return the answer, whatever its status, decompressed in parts.

        Raises aiohttp.ClientError, OSError or Failure.
        """
        method, content = "GET", None
        if body is not None:
            method = "POST"
            content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        url = f"{self._base}{path}{self._query}"
        async with self._session.request(method, url, data=content, allow_redirects=False) as response:
            parts, left = [], BODY_LIMIT
            async for part in response.content.iter_any():
                parts.append(part)
                left -= len(part)
                if left < 0:
                    words = f"the reply is longer than {BODY_LIMIT // 1024:,} KiB"
                    raise Failure("reply too long", words, "check that the address is a model's (/v1)")
        return Reply(response.status, response.headers, b"".join(parts))

    async def aclose(self) -> None:
        await self._session.close()


def proxy_for(base_url: str) -> str | None:
    """Return the environment's proxy for this server; None for a server on this machine."""
    url, proxies = httpx2.URL(base_url), getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or is_loopback(base_url) or proxy_bypass(url.host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
