"""HTTP client of one server on the shortest path: a prepared request, one answer, a body of bounded size.

The only module that knows `openai`. Import it when the first call is made: that takes half a second.
`AsyncOpenAI` and its HTTP client spend four times as long on a request as we do on a whole call. We therefore ask it
once for the address and the headers, and send requests through aiohttp, which it would use below.
"""

import json
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
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
GZIP = b"\x1f\x8b"
"""First bytes of a packed body. Its headers do not tell: gateways unpack a reply and keep them."""
TELEMETRY = "x-stainless-"
"""Prefix of headers that describe this machine and the SDK."""


Reply = tuple[int, Mapping[str, str], bytes]
"""Status, headers with names in any case, and body."""


class Client:
    """Connections to one server. No retries, redirects or cookies."""

    def __init__(self, base_url: str, api_key: str, headers: Headers = (), *, connections: int) -> None:
        """headers: sent with every request. connections: how many may be open."""
        base_url, mark, query = base_url.partition("?")
        self.proxy = proxy_for(base_url)
        trusted = httpx2.create_ssl_context()
        unused = httpx2.AsyncClient(verify=trusted, trust_env=False)  # the SDK's own would load the authorities again
        sdk = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, http_client=unused)
        self._base, self._query = str(sdk.base_url), mark + query
        usual = {**sdk.default_headers, **sdk.auth_headers}.items()
        given = {name.lower() for name, _ in headers}
        sent = [(n, text) for n, text in usual if not n.lower().startswith(TELEMETRY) and n.lower() not in given]
        self._session = aiohttp.ClientSession(
            headers=[
                ("Accept-Encoding", "gzip"),
                *((name, text) for name, text in sent if isinstance(text, str)),
                *headers,
            ],
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_TIMEOUT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=self.proxy,
            connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEEPALIVE_S, ssl=trusted),
        )

    async def send(self, path: str, body: dict[str, Any] | None = None) -> Reply:
        """Post a body, or ask without one; return the answer, whatever its status, unpacked.

        Raises aiohttp.ClientError, OSError or Failure.
        """
        method, content = "GET", None
        if body is not None:
            method = "POST"
            content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        url, whole = f"{self._base}{path}{self._query}", bytearray()
        async with self._session.request(method, url, data=content, allow_redirects=False) as response:
            async for part in response.content.iter_any():
                whole += part
                if len(whole) > BODY_LIMIT:
                    break
        if whole.startswith(GZIP):
            with suppress(zlib.error):  # then it is no JSON
                whole[:] = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(whole, BODY_LIMIT + 1)
        if len(whole) > BODY_LIMIT:
            words = f"the reply is longer than {BODY_LIMIT // 1024:,} KiB"
            raise Failure("reply too long", words, "check that the address is a model's (/v1)")
        return response.status, response.headers, bytes(whole)

    async def aclose(self) -> None:
        await self._session.close()


def proxy_for(base_url: str) -> str | None:
    """Return the environment's proxy for this server; None for a server on this machine."""
    url, proxies = httpx2.URL(base_url), getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or is_loopback(base_url) or proxy_bypass(url.host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
