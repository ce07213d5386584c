"""The server takes requests for its own host and from its own pages alone, and says so in every answer."""

import asyncio
import http.client
import json
import socket
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from pages.parts import middleware
from tests.app.conftest import App
from vpp.environment import Environment

STREAM = "/_stcore/stream"


def said(app: App, path: str, *, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    """Return the server's answer, its body read."""
    address = urlsplit(app.url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=20)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    response.body = response.read()  # type: ignore[attr-defined]
    connection.close()
    return response


def opens(app: App, *, origin: str | None, host: str = "127.0.0.1") -> bool:
    """Whether the page's own websocket can be opened. host: the name under which a browser knows the server."""
    port = urlsplit(app.url).port
    line = socket.create_connection(("127.0.0.1", port), timeout=20)
    words = {"origin": origin, "sock": line, "subprotocols": ["streamlit"], "proxy": None}
    try:
        with connect(f"ws://{host}:{port}{STREAM}", **words):  # type: ignore[arg-type]
            return True
    except InvalidStatus as error:
        return error.response.status_code != 403


def test_every_answer_carries_a_policy_without_a_host_or_eval_and_counts_are_given_to_nobody(app: App) -> None:
    for path in ("/", "/watch", "/_stcore/health", "/app/static/fonts/none.woff2", "/static/none.js"):
        answered = said(app, path)
        assert {name: answered.getheader(name) for name in middleware.HEADERS} == middleware.HEADERS, path
    for path in ("/_stcore/metrics", "/_stcore/metrics/", "/_stcore/metrics?families=a"):
        for method in ("GET", "OPTIONS", "POST"):
            assert said(app, path, method=method).status == 404, (method, path)
    assert "http" not in middleware.POLICY
    assert "eval" not in middleware.POLICY
    scripts = next(part for part in middleware.POLICY.split("; ") if part.startswith("script-src"))
    assert "unsafe" not in scripts
    assert "'sha256-" in scripts


def test_a_websocket_opens_for_the_apps_own_page_alone_and_never_under_a_name_pointed_at_loopback(app: App) -> None:
    assert opens(app, origin=app.url)
    for origin in ("https://evil.example", "http://127.0.0.1:1", "http://localhost:1", "null", ""):
        assert not opens(app, origin=origin), origin
    port = urlsplit(app.url).port
    assert not opens(app, origin=f"http://evil.example:{port}", host="evil.example")
    answered = said(app, "/", Host=f"evil.example:{port}")
    assert answered.status == 403
    assert b"server.allowedHosts" in answered.body  # type: ignore[attr-defined]
    assert answered.getheader("content-security-policy") == middleware.POLICY


def test_other_sites_neither_read_nor_upload_and_programs_do_not_drive(app: App) -> None:
    upload = "/_stcore/upload_file/session/file"
    foreign = said(app, upload, method="PUT", Origin="https://evil.example")
    assert b"server.corsAllowedOrigins" in foreign.body  # type: ignore[attr-defined]
    own = said(app, upload, method="PUT", Origin=app.url)
    assert own.status == 403
    assert b"XSRF" in own.body  # type: ignore[attr-defined]
    health = said(app, "/_stcore/health", Origin="https://evil.example")
    assert health.getheader("access-control-allow-origin") is None
    cookie = str(health.getheader("set-cookie"))
    assert cookie.startswith("_streamlit_xsrf=")
    assert "SameSite=Strict" in cookie
    assert said(app, "/_stcore/agent/interact", method="POST").status in (403, 404)


def test_hosts_of_this_machine_and_named_ones_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    _allow(monkeypatch, "127.0.0.1", "localhost", "::1", "*.own.example")
    for host in ("127.0.0.1:8501", "localhost", "LOCALHOST.:80", "[::1]:8501", "vpp.own.example"):
        assert middleware.is_served(host), host
    for other in (None, "", "evil.example", "127.0.0.1.evil.example", "[::1", "a@evil.example", "*"):
        assert not middleware.is_served(other), other
    assert not middleware.is_served("own.example.evil.example")


def _allow(monkeypatch: pytest.MonkeyPatch, *hosts: str) -> None:
    options = {"server.allowedHosts": list(hosts), "server.corsAllowedOrigins": [], "server.maxUploadSize": 50}
    monkeypatch.setattr(middleware.config, "get_option", options.__getitem__)


def test_a_malformed_origin_or_one_without_the_servers_tls_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _allow(monkeypatch, "own.example")
    for origin in ("http://[", "http://[::1", "https://]"):
        assert "takes nothing from pages of" in str(middleware.refused(scope("PUT", "/", origin=origin))), origin
    assert middleware.refused(scope("PUT", "/", origin="http://own.example")) is None
    assert middleware.refused(scope("PUT", "/", origin="https://own.example")) is None, "a proxy may speak TLS"
    for known in ({"scheme": "https"}, {"x_forwarded_proto": "https"}):
        assert middleware.refused(scope("PUT", "/", origin="https://own.example", **known)) is None
        assert middleware.refused(scope("PUT", "/", origin="http://own.example", **known)) is not None


# Uploads


UPLOAD = "/_stcore/upload_file/a-session/a-file"


def test_with_a_login_only_a_user_uploads(monkeypatch: pytest.MonkeyPatch) -> None:
    _asks_for_login(monkeypatch)
    user = {"is_logged_in": True, "iss": "https://id", "sub": "ann"}
    for claims, origin, status in (
        (None, "https://own.example", 403),
        ({"is_logged_in": False}, "https://own.example", 403),
        ({**user, "sub": "eve"}, "https://own.example", 403),
        (user, "https://other.example", 403),
        (user, "https://own.example", 204),
    ):
        cookie = signed_cookie({**claims, "origin": origin}) if claims else "_streamlit_user=forged"
        for method in ("PUT", "POST", "DELETE"):
            asked = scope(method, UPLOAD, origin="https://own.example", cookie=cookie)
            assert answer(asked) == status, (method, claims, origin)


def test_a_session_holds_no_more_than_a_few_largest_files(monkeypatch: pytest.MonkeyPatch) -> None:
    _allow(monkeypatch, "own.example")
    monkeypatch.setattr(middleware.person, "environment", lambda: Environment.of({}))
    monkeypatch.setattr(middleware, "_held", {"a-session": 150 * 2**20, "other": 0}.__getitem__)
    size, other = str(50 * 2**20), UPLOAD.replace("a-session", "other")
    assert answer(scope("PUT", UPLOAD, content_length=size)) == 204
    with middleware.on_its_way("a-session", 1):
        assert answer(scope("PUT", UPLOAD, content_length=size)) == 413
        assert answer(scope("PUT", UPLOAD, content_length="1", transfer_encoding="chunked")) == 413
        assert answer(scope("PUT", UPLOAD, content_length="1")) == 204
        assert answer(scope("DELETE", UPLOAD)) == 204
        assert answer(scope("PUT", other, content_length=size)) == 204
    assert answer(scope("PUT", UPLOAD, content_length=size)) == 204, "what has come is counted no more"


def test_a_sessions_bytes_are_counted_from_the_servers_own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    manager.add_file("a-session", UploadedFileRec(file_id="1", name="a.csv", type="text/csv", data=b"12345"))
    monkeypatch.setattr(middleware.runtime, "exists", lambda: True)
    monkeypatch.setattr(middleware.runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=manager))
    assert (middleware._held("a-session"), middleware._held("other")) == (5, 0)


def _asks_for_login(monkeypatch: pytest.MonkeyPatch) -> None:
    _allow(monkeypatch, "own.example")
    env = Environment.of({"VPP_LOGIN": "1", "VPP_ALLOWED_USERS": "ann"})
    monkeypatch.setattr(middleware.person, "environment", lambda: env)
    monkeypatch.setattr(middleware.person, "_providers", lambda: [None])
    monkeypatch.setattr(middleware.signed, "get_cookie_secret", lambda: "secret")


def signed_cookie(claims: dict[str, object]) -> str:
    value = create_signed_value("secret", "_streamlit_user", json.dumps(claims)).decode()
    return f"_streamlit_user={value}"


def scope(method: str, path: str, *, scheme: str = "http", **headers: str) -> middleware.Scope:
    """Return a request for own.example, as the server gives it to the guard."""
    html = {"host": "own.example", **{name.replace("_", "-"): value for name, value in headers.items()}}
    encoded = [(name.encode(), value.encode()) for name, value in html.items()]
    return {"type": "http", "method": method, "path": path, "scheme": scheme, "headers": encoded}


def answer(asked: middleware.Scope) -> int:
    """Return the status; the server behind the guard answers 204 to everything."""
    sent: list[middleware.Message] = []

    async def server(_scope: middleware.Scope, _receive: middleware.Receive, send: middleware.Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})

    async def receive() -> middleware.Message:
        return {"type": "http.request"}

    async def send(message: middleware.Message) -> None:
        sent.append(message)

    asyncio.run(middleware.Guard(server)(asked, receive, send))
    return int(sent[0]["status"])
