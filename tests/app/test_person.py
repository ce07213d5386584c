"""Who is at the page: what is theirs, who else comes in, and when a start is one too many."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pages.parts import person
from vpp.environment import Environment
from vpp.runs.spec import Keys


def at_home(home: Path, monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    """Whoever is at the page has this folder."""
    env = Environment.of({"VPP_RUNS_DIR": str(home.parent), **variables})
    monkeypatch.setattr(person, "environment", lambda: env)
    monkeypatch.setattr(person, "home", lambda: home)
    monkeypatch.setattr(person, "keys_of", lambda _: Keys())


def test_with_a_login_answers_are_kept_in_the_users_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
