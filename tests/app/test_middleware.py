"""Requests are answered on the server's own host and from its own pages, and after a login where there is one."""

import http.client
import socket
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from pages.parts import middleware, person
from tests.app.conftest import App
from vpp.environment import Environment
from vpp.runs.spec import Keys

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
    for other in ("", "evil.example", "127.0.0.1.evil.example", "[::1", "a@evil.example", "*"):
        assert not middleware.is_served(other), other
    assert not middleware.is_served("own.example.evil.example")


def _allow(monkeypatch: pytest.MonkeyPatch, *hosts: str) -> None:
    options = {"server.allowedHosts": list(hosts), "server.corsAllowedOrigins": [], "server.maxUploadSize": 50}
    monkeypatch.setattr(middleware.st, "get_option", options.__getitem__)


def at_home(home: Path, monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    """Whoever is at the page has this folder."""
    env = Environment.of({"VPP_RUNS_DIR": str(home.parent), **variables})
    monkeypatch.setattr(person, "environment", lambda: env)
    monkeypatch.setattr(person, "home", lambda: home)
    monkeypatch.setattr(person, "keys_of", lambda _: Keys())


def test_with_a_login_only_a_session_that_entered_uploads_and_answers_are_kept_in_the_users_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _allow(monkeypatch, "own.example")
    monkeypatch.setattr(middleware.person, "environment", lambda: Environment.of({"VPP_LOGIN": "1"}))
    monkeypatch.setattr(middleware.person, "SESSIONS", {"a-session"})
    client = TestClient(middleware.Guard(Response(status_code=204)), base_url="http://own.example")
    for method in ("PUT", "POST", "DELETE"):
        assert client.request(method, "/_stcore/upload_file/a-session/a-file").status_code == 204
        assert client.request(method, "/_stcore/upload_file/other/a-file").status_code == 403
    home = tmp_path / "user-1"
    at_home(home, monkeypatch, VPP_LOGIN="1")
    assert person.variables()["VPP_CACHE_DIR"] == str(home / ".cache")
    at_home(home, monkeypatch)
    assert person.variables()["VPP_CACHE_DIR"] == str(tmp_path / ".cache")


def test_others_reach_the_app_by_address_name_or_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for address, headers, reached in (
        ("127.0.0.1", {"Host": "localhost:8501"}, False),
        ("127.0.0.1", {}, False),
        ("0.0.0.0", {"Host": "localhost:8501"}, True),
        ("", {"Host": "localhost:8501"}, True),
        ("127.0.0.1", {"Host": "vpp.example.org"}, True),
        ("127.0.0.1", {"Host": "localhost", "X-Forwarded-For": "10.0.0.1"}, True),
    ):
        page = SimpleNamespace(get_option={"server.address": address}.get, context=SimpleNamespace(headers=headers))
        monkeypatch.setattr(person, "st", page)
        assert person.is_reached_by_others() is reached, (address, headers)


def test_the_first_page_says_who_else_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {}
    for name, variables in {
        "alone": {},
        "open": {},
        "meant": {"VPP_SHARED": "1"},
        "demo": {"VPP_DEMO_ONLY": "1"},
    }.items():
        at_home(tmp_path, monkeypatch, **variables)
        monkeypatch.setattr(person, "is_reached_by_others", lambda name=name: name != "alone")
        said[name] = person.open_words()
    assert said == {"alone": "", "open": person.OPEN_WORDS, "meant": "", "demo": person.DEMO_WORDS}
