"""The SDK's client of one server on its shortest path: a prepared request, one answer, a body in bounds.

The only module that knows `openai`. Import it when the first call is made: that takes half a second.
`AsyncOpenAI` builds each request anew, three times what our part of a call costs. So it says once which address and
headers a request has, and requests go through the HTTP client that it was given, which is its own too.
"""

import json
import ssl
from collections.abc import Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NamedTuple
from urllib.request import getproxies

import aiohttp
import httpx2
import openai

from vpp.llm.body import whole_body
from vpp.llm.gate import Gate

CONNECT_TIMEOUT_S = 15.0
KEEPALIVE_S = 4.0
"""uvicorn, and so vLLM, closes an idle connection after 5 s: one given up earlier is not closed under a call. Those of
a learner's round stay open for the 3 s that an optimizer takes."""
TRANSPORT_ERRORS = (httpx2.HTTPError, aiohttp.ClientError)
ADDRESS_ERRORS = (httpx2.InvalidURL, UnicodeError)
TELEMETRY = "x-stainless-"
"""How the names of headers begin that tell of this machine and of the SDK."""


class Reply(NamedTuple):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    """Names in any case."""
    body: bytes


class Client:
    """Connections to one server, opened through the gate. It retries nothing, follows no redirect, keeps no cookie."""

    def __init__(self, base_url: str, api_key: str, gate: Gate, *, window: int) -> None:
        """window: connections at most."""
        self._http = _http_client(base_url, gate, window=window)
        sdk = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, max_retries=0, http_client=self._http)
        self._base = sdk.base_url
        self._headers = _headers(sdk)
        self._chat = self._url("chat/completions")

    async def post_chat(self, body: dict[str, Any]) -> Reply:
        """The whole answer to a chat, whatever its status. Raises TRANSPORT_ERRORS, OSError or BodyTooLarge."""
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        return await self._sent(httpx2.Request("POST", self._chat, headers=self._headers, content=content))

    async def get(self, path: str) -> Reply:
        """The whole answer to a question without a body. Raises as `post_chat` does."""
        return await self._sent(httpx2.Request("GET", self._url(path), headers=self._headers))

    async def _sent(self, request: httpx2.Request) -> Reply:
        response = await self._http.send(request, stream=True)
        try:
            body = await whole_body(response)
        finally:
            await response.aclose()
        return Reply(response.status_code, response.headers, body)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    def _url(self, path: str) -> httpx2.URL:
        return self._base.copy_with(raw_path=self._base.raw_path + path.encode())


def _headers(sdk: openai.AsyncOpenAI) -> httpx2.Headers:
    """What the SDK sends with each request, but for what it tells of this machine."""
    named = {**sdk.default_headers, **sdk.auth_headers}
    return httpx2.Headers(
        {
            name: value
            for name, value in named.items()
            if isinstance(value, str) and not name.lower().startswith(TELEMETRY)
        }
    )


def authorities(base_url: str, *, proxied: bool) -> ssl.SSLContext | bool:
    """Whose certificates are taken: the usual authorities'; nobody's where no TLS is spoken, as reading them is slow.

    proxied: whether a proxy of the environment may be asked; it may want TLS itself.
    """
    if httpx2.URL(base_url).scheme != "http" or (proxied and getproxies()):
        return True
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _http_client(base_url: str, gate: Gate, *, window: int) -> httpx2.AsyncClient:
    proxied = gate.trusts_proxy(base_url)
    client = openai.DefaultAioHttpClient(
        limits=httpx2.Limits(max_connections=window, max_keepalive_connections=window, keepalive_expiry=KEEPALIVE_S),
        timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
        follow_redirects=False,
        verify=authorities(base_url, proxied=proxied),
        trust_env=proxied,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )
    transport: Any = client._transport  # of direct connections: what goes through a proxy is the proxy's to connect

    def connections() -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(
                limit=window,
                keepalive_timeout=KEEPALIVE_S,
                ssl=transport.ssl_context,
                socket_factory=gate.socket_factory(base_url),
            ),
        )

    transport.client = connections
    return client
