"""A key is seen by its own server and by nothing else, whatever that server does with it."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.app.screen import app_over, opened
from tests.llm.stub import Reply, Request, chat, refusal
from tests.processes import PENGUINS, SMALL, TARGET, Desk, Model, served_by_thread, wait_until
from vpp.cli.system import keys, without_secrets
from vpp.runs.directory import RunDirectory, RunReader
from vpp.runs.process import child_environment, is_secret, launch
from vpp.runs.spec import Keys
from vpp.runs.store import RunStore

LEARNER = "canary-learner-7f3a9c51d2"
OPTIMIZER = "canary-optimizer-b84e06f7aa"
HEADER = "canary-header-31c9ee04bd"
CANARIES = (LEARNER.encode(), OPTIMIZER.encode(), HEADER.encode())
BOTH = {"OPENAI_API_KEY": LEARNER, "VPP_OPTIMIZER_API_KEY": OPTIMIZER}


class Parrot(Model):
    """A model that repeats the key it was given: in answers, thoughts, names and errors of every kind."""

    def __init__(self) -> None:
        super().__init__()
        self.given: set[str] = set()
        self.refuses = False
        self._numbers = count()

    async def behave(self, request: Request) -> Reply | None:
        key = " ".join(filter(None, map(request.headers.get, ("authorization", "x-team"))))
        self.given.add(key)
        if not request.path.endswith("/chat/completions"):
            return refusal(404, f"{key} asked for what is not here")
        if self.refuses:
            return refusal(401, f"Incorrect API key provided: {key}", code=key)
        return self._answer(key, next(self._numbers), request)

    def _answer(self, key: str, number: int, request: Request) -> Reply:
        faults = {
            3: refusal(500, f"{key} failed"),
            7: refusal(503, key),
            11: Reply(key.encode()),
            13: refusal(408, key),
        }
        if number in faults:
            return faults[number]
        if "New rule:" in str(request.body["messages"]):
            finish = key if number == 1 else "stop"
            return chat(f"{key}\n\nNew rule:\nSay Adelie where {key} says {number}.", reasoning=key, finish=finish)
        return chat(f"Explanation: {key}\nOutput: Adelie", reasoning=f"I was given {key}.")


def seen(folder: Path) -> list[str]:
    """Files under a folder that hold a key, by content or by name."""
    return [
        str(path)
        for path in folder.rglob("*")
        if any(key in path.name.encode() or (path.is_file() and key in path.read_bytes()) for key in CANARIES)
    ]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, Parrot, dict[str, Any]]]:
    """A run by the command line, one that is refused, and one that the app starts, with what was printed."""
    desk = Desk(tmp_path_factory.mktemp("keys"), environment=BOTH)
    said: dict[str, Any] = {}
    with served_by_thread(Parrot()) as model:
        ends = ("--base-url", model.base_url, "--model", "m", "--optimizer-model", "n")
        words = ("run", PENGUINS, *TARGET, *SMALL, *ends, "--limit", "wait=20", "--header", f"X-Team={HEADER}")
        said["run"] = desk.vpp(*words, "--run-dir", desk.runs / "20260101-0000-one-smc-0000")
        said["command line"] = _launched(desk)
        said["report"] = desk.vpp("report", desk.runs / "20260101-0000-one-smc-0000")
        asked = ("--base-url", model.base_url, "--model", "m", "--body", '{"team": 3}')
        said["check"] = desk.vpp("check-endpoint", *asked, f"--header=X-Team={HEADER}")
        model.refuses = True
        said["refused"] = desk.vpp(*words, "--no-cache", "--run-dir", desk.runs / "20260101-0002-two-smc-0000")
        yield desk, model, said
    desk.close()


def _launched(desk: Desk) -> bytes:
    """Work on the first run once more, as the app does: detached, keys by environment; return its command line."""
    first = RunStore(desk.runs).get("20260101-0000-one-smc-0000")
    again = RunDirectory(desk.runs / "20260101-0001-one-smc-0000")
    again.create(first.spec(), first.data.read_bytes())
    given = Keys.read({**desk.variables, "VPP_HEADERS": f"X-Team={HEADER}"})
    pid = launch(again, keys=given, environment={k: v for k, v in desk.variables.items() if k not in BOTH})
    at = Path(f"/proc/{pid}/cmdline")
    wait_until(lambda: bool(at.read_bytes()), "the new process has its command line")  # empty until the program starts
    command_line = at.read_bytes()
    wait_until(lambda: desk.state(f"runs/{again.id}") in ("finished", "failed"), "the app's run ends")
    return command_line


def test_both_keys_and_the_header_reached_the_server(scene: tuple[Desk, Parrot, dict[str, Any]]) -> None:
    _, model, said = scene
    assert model.given == {f"Bearer {LEARNER} {HEADER}", f"Bearer {OPTIMIZER} {HEADER}"}
    assert said["run"].code == 0, said["run"].err
    assert said["refused"].code == 3
    assert " (reads OPENAI_API_KEY again)" in said["refused"].out


def test_no_file_output_or_command_line_holds_a_key(scene: tuple[Desk, Parrot, dict[str, Any]]) -> None:
    desk, _, said = scene
    assert {path.suffix for path in desk.folder.rglob("*")} >= {".jsonl", ".json", ".log", ".html", ".md", ".db"}
    assert seen(desk.folder) == []
    printed = [said[name].out + said[name].err for name in ("run", "report", "check", "refused")]
    assert b"resume" in said["command line"]
    for text in (*map(str.encode, printed), said["command line"]):
        assert not any(key in text for key in CANARIES)


def test_a_recorded_command_names_its_headers_without_their_values() -> None:
    words = ("run", "t.csv", "--header", "X-Team=a=b", "--header=X-B=c\nd", "--target=y=z")
    assert without_secrets(words) == ("run", "t.csv", "--header", "X-Team=…", "--header=X-B=…", "--target=y=z")


@pytest.mark.parametrize("page", ["watch", "posterior", "report"])
def test_no_page_holds_a_key(scene: tuple[Desk, Parrot, dict[str, Any]], page: str, monkeypatch: Any) -> None:
    for name, value in BOTH.items():
        monkeypatch.setenv(name, value)
    run = RunStore(scene[0].runs).get("20260101-0000-one-smc-0000")
    app = opened(app_over(scene[0].runs, monkeypatch), RunReader(run), page)
    drawn = "".join(str(element.proto) for block in (app.main, app.sidebar) for element in block)
    assert "penguins" in drawn
    assert not any(key.decode() in drawn for key in CANARIES)


def test_what_holds_keys_does_not_show_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in BOTH.items():
        monkeypatch.setenv(name, value)
    found = keys()
    assert found.learner == LEARNER
    assert LEARNER not in f"{found!r} {found!s} {[found]} { ({'keys': found}) }"


def test_the_demo_model_is_given_no_key() -> None:
    inherited = {**os.environ, **BOTH, "AWS_SECRET_ACCESS_KEY": "s", "HF_TOKEN": "t", "LANG": "C.UTF-8"}
    left = {name for name in child_environment(inherited) if not is_secret(name)}
    assert "LANG" in left
    assert not left & {"OPENAI_API_KEY", "VPP_OPTIMIZER_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN"}
