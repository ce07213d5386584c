"""HTTP client of one server on the shortest path: a prepared request, one answer, a body of bounded size.

The only module that knows `openai`. Import it when the first call is made: that takes half a second.
`AsyncOpenAI` builds each request anew, which takes three times as long as our part of a call. We therefore ask it once
for the address and the headers, and send requests through the HTTP client that it would use.
"""

import json
import ssl
from collections.abc import Mapping
from contextlib import aclosing
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NamedTuple
from urllib.request import getproxies

import aiohttp
import httpx2
import openai

from vpp.llm.errors import BodyTooLarge
from vpp.llm.gate import is_loopback, socket_for

BODY_LIMIT = 8 * 2**20
"""Bytes of a reply after decompression: forty times the longest stored answer."""
CONNECT_TIMEOUT_S = 15.0
KEEPALIVE_S = 4.0
"""Below the 5 s after which uvicorn, and so vLLM, closes an idle connection, so that none is closed under a call.
Connections of a learner's round stay open for the 3 s that an optimizer takes."""
TRANSPORT_ERRORS = (httpx2.HTTPError, aiohttp.ClientError)
ADDRESS_ERRORS = (httpx2.InvalidURL, UnicodeError)
TELEMETRY = "x-stainless-"
"""Prefix of headers that describe this machine and the SDK."""


class Reply(NamedTuple):
    """A server's answer to one request."""

    status: int
    headers: Mapping[str, str]
    """Names in any case."""
    body: bytes


class Client:
    """Connections to one server, never to a cloud's metadata service. No retries, redirects or cookies."""

    def __init__(self, base_url: str, api_key: str, *, connections: int) -> None:
        """connections: how many may be open."""
        self._http = _http_client(base_url, connections=connections)
        sdk = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, max_retries=0, http_client=self._http)
        self._base = sdk.base_url
        sent = {**sdk.default_headers, **sdk.auth_headers}.items()
        self._headers = httpx2.Headers(
            {name: text for name, text in sent if isinstance(text, str) and not name.lower().startswith(TELEMETRY)}
        )
        self._chat = self._url("chat/completions")

    async def post_chat(self, body: dict[str, Any]) -> Reply:
        """Return the answer to a chat, whatever its status. Raises TRANSPORT_ERRORS, OSError or BodyTooLarge."""
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        return await self._sent(httpx2.Request("POST", self._chat, headers=self._headers, content=content))

    async def tokenize(self, model: str, text: str) -> Reply:
        """Return the answer of the tokenizer that vLLM and llama.cpp have above /v1. Raises as `post_chat` does."""
        root = self._base.raw_path.removesuffix(b"v1/")
        # vLLM reads the model and the prompt, llama.cpp the content
        content = json.dumps({"model": model, "prompt": text, "content": text}).encode()
        url = self._base.copy_with(raw_path=root + b"tokenize")
        return await self._sent(httpx2.Request("POST", url, headers=self._headers, content=content))

    async def get(self, path: str) -> Reply:
        """Return the answer to a request without a body. Raises as `post_chat` does."""
        return await self._sent(httpx2.Request("GET", self._url(path), headers=self._headers))

    async def _sent(self, request: httpx2.Request) -> Reply:
        """Return the answer, its body decompressed in parts."""
        async with aclosing(await self._http.send(request, stream=True)) as response:
            body, left = [], BODY_LIMIT
            async for part in response.aiter_bytes():
                body.append(part)
                left -= len(part)
                if left < 0:
                    raise BodyTooLarge(BODY_LIMIT)
        return Reply(response.status_code, response.headers, b"".join(body))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _url(self, path: str) -> httpx2.URL:
        return self._base.copy_with(raw_path=self._base.raw_path + path.encode())


def authorities(base_url: str, *, proxied: bool) -> ssl.SSLContext | bool:
    """Return the certificate authorities to trust: the usual ones, or none for plain HTTP: loading them takes 20 ms.

    proxied: whether a proxy of the environment may be used; it may want TLS itself.
    """
    if httpx2.URL(base_url).scheme != "http" or (proxied and getproxies()):
        return True
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _http_client(base_url: str, *, connections: int) -> httpx2.AsyncClient:
    proxied = not is_loopback(base_url)
    client = openai.DefaultAioHttpClient(
        limits=httpx2.Limits(
            max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=KEEPALIVE_S
        ),
        timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
        follow_redirects=False,
        verify=authorities(base_url, proxied=proxied),
        trust_env=proxied,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )
    transport: Any = client._transport  # direct connections only: a proxy opens its own, which nobody here can check

    def session() -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(
                limit=connections, keepalive_timeout=KEEPALIVE_S, ssl=transport.ssl_context, socket_factory=socket_for
            ),
        )

    transport.client = session
    return client
