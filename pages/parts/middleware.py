"""Guard before the server: which requests and uploads it accepts, the headers of responses, the page's stylesheet.

A page of another site in the same browser can send requests to a server on loopback, under that server's address or,
after its own name was pointed there, under its own. So the Host must be one that `server.allowedHosts` names, and a
request that may change something must come from a page of that host, or of one that `server.corsAllowedOrigins` names.
"""

import hashlib
import re
from base64 import b64encode
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.parts import blocks, person

_INDEX = (Path(st.__file__).parent / "static" / "index.html").read_bytes()
BASE = "window.__streamlit = { BACKEND_BASE_URL: new URL('.', location.href).href }"
"""Script that names the server's address: a page opened by its link would first ask for it under its own path."""
_INLINE_SCRIPTS = " ".join(
    f"'sha256-{b64encode(hashlib.sha256(script).digest()).decode()}'"
    for script in (BASE.encode(), *re.findall(rb"<script>(.*?)</script>", _INDEX, re.DOTALL))
)
POLICY = "; ".join(
    (
        "default-src 'none'",
        # A component's script comes with the page's messages and is imported from a blob.
        f"script-src 'self' blob: {_INLINE_SCRIPTS}",
        "style-src 'self' 'unsafe-inline'",  # Streamlit, Plotly and the cards set widths and colours in place
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:",
        "manifest-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'self'",
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
METRICS = "/_stcore/metrics"
"""Streamlit's counts of sessions, memory and caches: it shows them to anybody, and has no option against that."""
UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/")  # path of an upload, with its session
FONTS = ("source-serif-4-latin-opsz-normal", "fira-sans-latin-400-normal")
"""Fonts of the first screen, loaded before it is drawn: text that changes its font moves the page."""
SHEET = "".join(
    (
        f"<script>{BASE}</script>",
        f"<style>{(blocks.ASSETS / 'vpp.css').read_text(encoding='utf-8')}</style>",
        *(
            f'<link rel="preload" href="./app/static/fonts/{font}.woff2" as="font" type="font/woff2" crossorigin />'
            for font in FONTS
        ),
    )
).encode()
PLAIN = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""Request headers for another body than the file's own."""


class Guard:
    """ASGI middleware that refuses requests, adds headers to responses, and the stylesheet to the page.

    Streamlit would add it after the first elements. Here it stands after Streamlit's own styles, and overrules them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asks_page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        if asks_page:
            scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] not in PLAIN]}
        is_page = False

        async def reply(message: Message) -> None:
            nonlocal is_page
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                is_html = headers.get("content-type", "").startswith("text/html")
                is_page = asks_page and is_html and "content-length" in headers
                if is_page:
                    headers["content-length"] = str(int(headers["content-length"]) + len(SHEET))
                    del headers["etag"]
            elif is_page:
                before, end, after = message.get("body", b"").partition(b"</body>")
                message["body"] = before + (SHEET + end if end else b"") + after
            await send(message)

        refusal = refusal_of(scope)
        if refusal is None:
            await self._app(scope, receive, reply)
        elif scope["type"] == "websocket":  # closed before it is accepted, which its client sees as a 403
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
        else:
            await refusal(scope, receive, reply)


def refusal_of(scope: Scope) -> Response | None:
    """Return the refusal of a foreign host or origin, an upload before a login, or the server's metrics; else None."""
    headers, path = Headers(scope=scope), scope["path"]
    host, origin = headers.get("host", ""), headers.get("origin")
    is_reading = scope["type"] == "http" and scope["method"] in ("GET", "HEAD", "OPTIONS")
    # By the server's knowledge, or that of the proxy before it.
    is_secure = scope["scheme"] in ("https", "wss") or headers.get("x-forwarded-proto") == "https"
    if not is_served(host):
        return PlainTextResponse(f"This server does not answer to {host!a}: name it in server.allowedHosts.\n", 403)
    if not is_reading and origin is not None and not is_own(origin, host, is_secure=is_secure):
        words = f"This server takes nothing from pages of {origin!a}: name that origin in server.corsAllowedOrigins.\n"
        return PlainTextResponse(words, 403)
    upload = None if is_reading else UPLOAD.search(path)
    if upload and not person.may_upload(upload[1]):
        return PlainTextResponse("This server takes no files before a login.\n", 403)
    is_metrics = scope["type"] == "http" and path.rstrip("/").endswith(METRICS)
    return PlainTextResponse("This server has no such page.\n", 404) if is_metrics else None


def is_served(host: str) -> bool:
    """Return whether server.allowedHosts names the host, whatever its port; `*` names all, `*.x` what ends in .x."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    allowed = [entry.strip().lower().strip("[]") for entry in st.get_option("server.allowedHosts")]
    return name != "" and any(
        entry in ("*", name) or (entry.startswith("*.") and name.endswith(entry[1:])) for entry in allowed
    )


def is_own(origin: str, host: str, *, is_secure: bool) -> bool:
    """Return whether a page of that origin is one of this server's, port and all, or of a named origin.

    is_secure: the request came by TLS, so its own pages did too. Where that is not known both schemes are taken.
    """
    schemes = ("https",) if is_secure else ("http", "https")
    return origin in st.get_option("server.corsAllowedOrigins") or origin in [f"{each}://{host}" for each in schemes]
