"""Balanced accuracy beside accuracy: in the sentence on a run's end, and in the list of runs."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.drawn import app_over, opened, shown


def run_list() -> None:
    from pages.parts import frame

    frame.list_runs()


def test_a_run_tells_its_balanced_accuracy_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right on 3 of 3 and 2 of 3; the accuracy is what the event says."""
    reader = inspected.labels(tmp_path)
    html = re.sub(r"<[^>]*>", "", shown(opened(app_over(tmp_path, monkeypatch), reader, "watch")))
    assert "got 3 right, 50.0 %; balanced accuracy 83.3 %." in html


def test_the_list_of_runs_tells_it_where_it_is_far_from_accuracy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspected.labels(tmp_path)
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    (drawn,) = AppTest.from_function(run_list).run().get("bidi_component")
    (row,) = json.loads(drawn.proto.json)["runs"]
    assert "finished · 50.0 % · balanced 83.3 % · " in row["note"].replace("\N{NO-BREAK SPACE}", " ")
