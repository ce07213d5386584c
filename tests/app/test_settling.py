"""The section on informative labels: inputs asked about on the demo model, answered, and gone on from."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import opening
from tests import inspected
from tests.app.screen import app as app
from tests.app.screen import opened, shown
from tests.processes import wait_until
from tests.reporting import builders
from vpp.data.dataset import Row
from vpp.data.descriptions import Descriptions
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import RunReader

MEANT = Descriptions(columns=(("a", "hours of <sleep>"),), labels=(("yes", "rested"),))
ASK = "disagreement.settle.ask"
CONTINUE = "disagreement.settle.continue"


def asked_about(folder: Path, cells: Sequence[int] = range(10, 34)) -> RunReader:
    """A run written by hand, described, and rows that came without a target, of these inputs: a = 10 to 33."""
    rows = tuple(Row(id=i, inputs=(("a", str(cell)),), target=None) for i, cell in enumerate(cells, 10))
    data = replace(inspected.LABELS, unlabelled=rows, descriptions=MEANT)
    return builders.run(folder, *inspected.label_events(), data=data, config=inspected.LABEL_CONFIG)


def ask(app: AppTest) -> AppTest:
    """Presses the button, and waits for the demo model."""
    app.button(key=ASK).click().run()
    wait_until(lambda: any(b.key == ASK for b in app.run().button), "the demo model has answered")
    assert not app.exception
    return app


def show_all(app: AppTest) -> None:
    next(toggle for toggle in app.toggle if ".settle.all." in (toggle.key or "")).set_value(True).run()


def truths(app: AppTest) -> list[Any]:
    return [w for kind in ("selectbox", "text_input") for w in app.get(kind) if ".truth." in (w.key or "")]


def test_labels_are_asked_answered_and_gone_on_from(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[RunDirectory] = []
    monkeypatch.setattr("vpp.runs.group.launch", lambda directory, **_: begun.append(directory))
    monkeypatch.setattr(opening, "open_in", lambda *_: None)
    opened(app, asked_about(tmp_path), "disagreement")
    assert "24 of the 24 rows of your table that this run does not use." in shown(app)
    assert "made-up row" not in shown(app)
    html = shown(ask(app))
    assert "would tell something, the most informative first." in html
    assert re.search(r"row \d+ · 0\.\d\d bits", html)
    field = truths(app)[0]
    assert field.options == ["no", "yes"]
    field.set_value("yes").run()
    assert "Go on with 1 true answer" in shown(app)
    assert "has 1 training row more" in shown(app)
    assert "First hypotheses" not in shown(app)
    app.number_input(key=f"disagreement.settle.n.{app.session_state['run']}").set_value(3).run()
    ask(app)
    assert "Go on with 1 true answer" in shown(app), "it stays when others are asked about"
    app.button(key=CONTINUE).click().run()
    assert not app.exception
    (directory,) = begun
    made = directory.spec()
    assert made.start == inspected.LABEL_SLOTS
    assert made.config.final_weights == "train"
    data = RunReader(directory).dataset()
    assert (data.train[-1].id, data.train[-1].target) == (34, "yes")
    assert data.descriptions == MEANT


def test_each_input_keeps_its_own_answer(app: AppTest, tmp_path: Path) -> None:
    ask(opened(app, asked_about(tmp_path, (-1, -2)), "disagreement"))  # (-1.0,) and (-2.0,) have one hash in CPython
    if len(truths(app)) < 2:
        show_all(app)
    assert not app.exception
    truths(app)[0].set_value("no").run()
    truths(app)[1].set_value("yes").run()
    assert [field.value for field in truths(app)] == ["no", "yes"]
    assert "Go on with 2 true answers" in shown(app)
    truths(app)[0].set_value(None).run()
    assert "Go on with 1 true answer" in shown(app)


def test_a_label_of_the_table_is_taken_by_a_press(app: AppTest, tmp_path: Path) -> None:
    own = tuple(Row(id=20 + cell, inputs=(("a", str(cell)),), target="yes") for cell in (20, 21))
    data = replace(inspected.LABELS, unused=own)
    reader = builders.run(tmp_path, *inspected.label_events(), data=data, config=inspected.LABEL_CONFIG)
    opened(app, reader, "disagreement")
    assert "2 of the 2 rows of your table that this run does not use." in shown(app)
    ask(app)
    next(box for box in app.checkbox if box.label == "Use yes").set_value(True).run()
    assert "Go on with 1 true answer" in shown(app)
