"""Watch of a run that waits for its endpoint, or whose disk takes no more, without a browser."""

import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.drawn import app as app
from tests.app.drawn import opened, shown
from tests.inspected import LABEL_CONFIG, LABELS, label_events
from tests.reporting.builders import run
from vpp.events import RunFailed, RunPaused
from vpp.runs.directory import Heartbeat, RunDirectory

UNFINISHED = label_events()[:-3]


def test_a_run_without_its_endpoint_says_when_it_tries_again_and_can_be_asked_to(app: AppTest, tmp_path: Path) -> None:
    at = time.time() + 500
    lost = RunPaused(reason="endpoint", detail="m: no <connection>", retry_at=at, gives_up_at=at + 600)
    reader = run(tmp_path, *UNFINISHED, lost, data=LABELS, config=LABEL_CONFIG)
    with reader.directory.lock():
        reader.directory.beat(Heartbeat())
        opened(app, reader, "watch")
        html = shown(app)
        assert "The endpoint does not answer" in html
        assert ">m: no &lt;connection&gt;<" in html
        assert f"(at {time.strftime('%H:%M:%S', time.localtime(at))}); gives up at " in html
        assert [button.label for button in app.button if button.key == "watch.go_on"] == ["Try again now"]
        app.button(key="watch.go_on").click().run()
    assert reader.directory.take_command() == "go on"


def test_a_full_disk_is_shown_beside_the_way_to_go_on(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = RunFailed(reason="disk", detail="runs/a cannot be written (the disk is full): free some space")
    reader = run(tmp_path, *UNFINISHED, full, data=LABELS, config=LABEL_CONFIG)
    monkeypatch.setattr(
        RunDirectory, "obstacle", lambda *_: "runs/a cannot be written (the disk is full): free some space"
    )
    opened(app, reader, "watch")
    assert "Nothing can be written now: runs/a cannot be written (the disk is full): free some space." in shown(app)
    assert [button.label for button in app.button if button.key == "watch.resume"] == ["Resume"]
    monkeypatch.setattr("vpp.runs.process.start", refuse)
    app.button(key="watch.resume").click().run()
    assert not app.exception
    assert "That could not be done" in shown(app)


def refuse(_: object, log: Path, *__: object, **___: object) -> None:
    raise OSError(28, "No space left on device", str(log))
