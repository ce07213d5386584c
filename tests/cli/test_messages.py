"""What a run in the terminal says where it waits, gives up, or cannot go on."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.inspected import LABEL_CONFIG, LABELS, label_events
from tests.processes import PENGUINS, ROOT
from tests.reporting.builders import run
from vpp.cli import main
from vpp.events import Event
from vpp.findings.status import pending_words
from vpp.runs.directory import Heartbeat, file_lock
from vpp.runs.journal import RunReader

Made = Callable[..., RunReader]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """A run that broke off after some events, in the runs folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    monkeypatch.setenv("VPP_CACHE_DIR", str(tmp_path / "cache"))

    def make(*events: Event) -> RunReader:
        return run(tmp_path, *events, data=LABELS, config=LABEL_CONFIG)

    return make


def test_a_run_that_waits_for_its_turn_says_so_and_one_stopped_there_that_it_never_began(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VPP_MAX_RUNNING", "1")
    directory = made().directory
    directory.beat(Heartbeat(is_launch=True))
    directory.send_command("stop")
    with file_lock(tmp_path / ".slot-0") as held:
        assert held
        code = main(["resume", str(directory.path)])
    out, err = capsys.readouterr()
    assert code == 130
    assert err == "queued: 1 running, the most allowed (VPP_MAX_RUNNING)\n"
    assert out.splitlines() == [
        "stopped before it began: no call was sent",
        f"continue with: python -m vpp resume {directory.path}",
    ]


def test_a_command_that_is_not_obeyed_in_time_says_what_happens(
    made: Made, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("vpp.cli.stored.PATIENCE_S", 0.0)
    directory = made(*label_events()[:-3]).directory
    with directory.lock():
        directory.beat(Heartbeat())
        assert main(["stop", str(directory.path)]) == 0
        directory.beat(Heartbeat(queued=True))
        assert main(["pause", str(directory.path)]) == 0
    stopping, queued = capsys.readouterr().out.splitlines()
    assert stopping == f"{directory.id}: running. {pending_words('stop', 'running')}"
    assert queued == f"{directory.id}: queued. The command is pending: the worker has not read it yet."


def test_a_terminal_that_lacks_a_sign_shows_a_question_mark_in_its_place(tmp_path: Path) -> None:
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("If bill_length_mm ≥ 43, output Gentoo; otherwise, output Adelie.\n", encoding="utf-8")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("VPP_", "OPENAI_", "PYTHON"))}
    latin = {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1", "VPP_RUNS_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    words = (sys.executable, "-m", "vpp", "weigh", PENGUINS, "--target", "species", "--demo", "--start", sentences)
    ended = subprocess.run(words, cwd=tmp_path, env=plain | latin, capture_output=True, encoding="latin-1", check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False)
    assert "If bill_length_mm ? 43, output Gentoo" in ended.stdout
    assert "“" not in ended.stderr
