"""Guard before the server: which requests and uploads it accepts, and the headers of every response.

A page of another site in the same browser can send requests to a server on loopback, under that server's address or,
after its own name was pointed there, under its own. So the Host must be one that `server.allowedHosts` names, and a
request that may change something must come from a page of that host, or of one that `server.corsAllowedOrigins` names.
"""

import hashlib
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from streamlit import config, runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.web.server.server_util import AUTH_COOKIE_NAME
from streamlit.web.server.starlette import starlette_websocket as signed

from pages.parts import person
from vpp.errors import VppError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


def _inline_scripts() -> str:
    """Return the hashes of the scripts in Streamlit's own index.html."""
    index = (Path(streamlit.__file__).parent / "static" / "index.html").read_bytes()
    scripts = re.findall(rb"<script>(.*?)</script>", index, re.DOTALL)
    return " ".join(f"'sha256-{b64encode(hashlib.sha256(script).digest()).decode()}'" for script in scripts)


POLICY = "; ".join(
    (
        "default-src 'none'",
        # A component's script comes with the page's messages and is imported from a blob.
        f"script-src 'self' blob: {_inline_scripts()}",
        "style-src 'self' 'unsafe-inline'",  # Streamlit, Plotly and the cards set widths and colours in place
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "media-src 'none'",
        "object-src 'none'",
        "frame-src 'none'",
        "frame-ancestors 'self'",
        "base-uri 'none'",
        "form-action 'self'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex, nofollow",
}
_ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
METRICS = "/_stcore/metrics"
"""Streamlit's counts of sessions, memory and caches: it shows them to anybody, and has no option against that."""
_READING = ("GET", "HEAD", "OPTIONS")


class Guard:
    """ASGI middleware around the whole server."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on and add the headers to the response."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = refused(scope)
        if refusal is not None:
            await _refuse(scope, _with_headers(send), refusal)
            return
        if scope["type"] == "http" and scope["path"].rstrip("/").endswith(METRICS):
            await _refuse(scope, _with_headers(send), "This server has no such page.\n", 404)
            return
        await self._pass(scope, receive, _with_headers(send))

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; an upload only from a user, and only while its session has room."""
        is_change = scope["type"] == "http" and not _is_reading(scope)
        match = _UPLOAD.search(scope["path"]) if is_change else None
        if match is None:
            await self._app(scope, receive, send)
            return
        session = match[1]
        headers = Headers(scope=scope)
        wanted = 0 if scope["method"] == "DELETE" else upload_bytes(headers)
        if not is_from_user(headers):
            await _refuse(scope, send, "This server takes no files before a login.\n")
        elif wanted and not has_room(session, wanted):
            await _refuse(scope, send, "This session holds all the files that one may: load the page anew.\n", 413)
        else:
            with on_its_way(session, wanted):
                await self._app(scope, receive, send)


def refused(scope: Scope) -> str | None:
    """Return why a request is refused; None if it is accepted."""
    host, origin = _header(scope, b"host"), _header(scope, b"origin")
    if not is_served(host):
        return f"This server does not answer to the host {host!a}: name it in server.allowedHosts.\n"
    # By the server's knowledge, or that of the proxy before it.
    is_secure = scope.get("scheme") in ("https", "wss") or _header(scope, b"x-forwarded-proto") == "https"
    if not _is_reading(scope) and origin is not None and not is_own(origin, host, is_secure=is_secure):
        return f"This server takes nothing from pages of {origin!a}: name that origin in server.corsAllowedOrigins.\n"
    return None


def is_served(host: str | None) -> bool:
    """Return whether server.allowedHosts names the host, whatever its port; `*` names all, `*.x` what ends in .x."""
    try:
        name = (urlsplit(f"//{host or ''}").hostname or "").rstrip(".")
    except ValueError:
        return False
    allowed = [entry.strip().lower().strip("[]") for entry in config.get_option("server.allowedHosts")]
    return name != "" and any(
        entry in ("*", name) or (entry.startswith("*.") and name.endswith(entry[1:])) for entry in allowed
    )


def is_own(origin: str, host: str | None, *, is_secure: bool) -> bool:
    """Return whether a page of that origin is one of this server's, port and all, or of a named origin.

    is_secure: the request came by TLS, so its own pages did too. Where that is not known both schemes are taken.
    """
    if origin in config.get_option("server.corsAllowedOrigins"):
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.netloc == host and parts.scheme in (("https",) if is_secure else ("http", "https"))


def _is_reading(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] in _READING


def _header(scope: Scope, name: bytes) -> str | None:
    """Return a header's text, the last of several; None without one."""
    values = [value for key, value in scope["headers"] if key == name]
    return values[-1].decode("latin-1") if values else None


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            kept = [(name, value) for name, value in message.get("headers", ()) if name.lower().decode() not in HEADERS]
            message = {**message, "headers": [*kept, *_ENCODED]}
        await send(message)

    return sending


async def _refuse(scope: Scope, send: Send, words: str, status: int = 403) -> None:
    """Send the status with one line. A websocket is closed before it is accepted, which its client sees as a 403."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words.encode()})


# Uploads

FILES = 4
"""Files of the largest size that one session may hold."""
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/")
"""Path of an upload; its group is the session."""
_underway: Counter[str] = Counter()


def is_from_user(headers: Headers) -> bool:
    """Return whether to accept an upload: with a login, only with the cookie of a user who may enter."""
    try:
        if not person.environment().login:
            return True
        # The claims of the login cookie that this server signed for pages of this origin.
        cookie = signed._get_signed_cookie_with_chunks(cookie_parser(headers.get("cookie", "")), AUTH_COOKIE_NAME)
        claims = signed._parse_decoded_user_cookie(cookie, headers.get("origin", "")) if cookie else {}
        return person.user_of(claims) is not None
    except VppError:
        return False


def upload_bytes(headers: Headers) -> int:
    """Return the most bytes that a request can bring."""
    length = headers.get("content-length", "")
    is_known = re.fullmatch("[0-9]{1,15}", length) and "transfer-encoding" not in headers
    return int(length) if is_known else largest()


def largest() -> int:
    """Return the bytes of the largest file."""
    return int(config.get_option("server.maxUploadSize")) * 2**20


def has_room(session: str, wanted: int) -> bool:
    """Return whether the session may hold so many bytes more, counting those it holds and is receiving."""
    return _held(session) + _underway[session] + wanted <= FILES * largest()


@contextmanager
def on_its_way(session: str, wanted: int) -> Iterator[None]:
    """Count the bytes while they are received."""
    _underway[session] += wanted
    try:
        yield
    finally:
        _underway[session] -= wanted
        if not _underway[session]:
            del _underway[session]


def _held(session: str) -> int:
    manager = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    if not isinstance(manager, MemoryUploadedFileManager):
        return 0
    return sum(len(record.data) for record in list(manager.file_storage.get(session, {}).values()))
