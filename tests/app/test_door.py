"""The server takes requests for its own host and from its own pages alone, and says so in every answer."""

import http.client
import socket
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from pages.parts import door
from tests.app.conftest import App

STREAM = "/_stcore/stream"


def said(app: App, path: str, *, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    """What the server answers, its body read."""
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


@pytest.mark.parametrize("path", ["/", "/watch", "/_stcore/health", "/app/static/fonts/none.woff2", "/static/none.js"])
def test_every_answer_carries_the_headers(app: App, path: str) -> None:
    answered = said(app, path)
    assert {name: answered.getheader(name) for name in door.HEADERS} == door.HEADERS


def test_the_policy_names_no_host_and_no_eval() -> None:
    assert "http" not in door.POLICY
    assert "eval" not in door.POLICY
    scripts = next(part for part in door.POLICY.split("; ") if part.startswith("script-src"))
    assert "unsafe" not in scripts
    assert "'sha256-" in scripts


def test_the_app_opens_for_its_own_page(app: App) -> None:
    assert opens(app, origin=app.url)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "http://localhost:1", "null", ""])
def test_a_page_of_another_origin_opens_no_websocket(app: App, origin: str) -> None:
    assert not opens(app, origin=origin)


def test_a_name_pointed_at_loopback_opens_nothing(app: App) -> None:
    port = urlsplit(app.url).port
    assert not opens(app, origin=f"http://evil.example:{port}", host="evil.example")
    answered = said(app, "/", Host=f"evil.example:{port}")
    assert answered.status == 403
    assert b"server.allowedHosts" in answered.body  # type: ignore[attr-defined]
    assert answered.getheader("content-security-policy") == door.POLICY


def test_an_upload_from_another_origin_is_refused(app: App) -> None:
    upload = "/_stcore/upload_file/session/file"
    foreign = said(app, upload, method="PUT", Origin="https://evil.example")
    assert b"server.corsAllowedOrigins" in foreign.body  # type: ignore[attr-defined]
    own = said(app, upload, method="PUT", Origin=app.url)
    assert own.status == 403
    assert b"XSRF" in own.body  # type: ignore[attr-defined]


def test_no_page_of_another_origin_is_told_what_the_server_says(app: App) -> None:
    assert said(app, "/_stcore/health", Origin="https://evil.example").getheader("access-control-allow-origin") is None


def test_programs_do_not_drive_the_app(app: App) -> None:
    assert said(app, "/_stcore/agent/interact", method="POST").status in (403, 404)


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost", "LOCALHOST.:80", "[::1]:8501"])
def test_hosts_of_this_machine_are_served(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _allow(monkeypatch, "127.0.0.1", "localhost", "::1")
    assert door.is_served(host)


@pytest.mark.parametrize("host", [None, "", "evil.example", "127.0.0.1.evil.example", "[::1", "a@evil.example", "*"])
def test_other_hosts_are_not(host: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    _allow(monkeypatch, "127.0.0.1", "localhost", "::1", "*.own.example")
    assert not door.is_served(host)


def test_a_named_host_is_served_with_what_ends_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _allow(monkeypatch, "*.own.example")
    assert door.is_served("vpp.own.example")
    assert not door.is_served("own.example.evil.example")


def _allow(monkeypatch: pytest.MonkeyPatch, *hosts: str) -> None:
    options = {"server.allowedHosts": list(hosts)}
    monkeypatch.setattr(door.config, "get_option", options.__getitem__)
