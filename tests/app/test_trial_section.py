"""The trial on the Posterior page: its cost, its result, its failure, without a browser."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app import drawn
from tests.app.drawn import shown
from tests.processes import Model
from tests.reporting.builders import SEED, scored
from tests.trials.test_trial import A_ONLY, AND, DATA, run_of
from vpp.data.dataset import Value
from vpp.runs.reader import RunReader
from vpp.trials.trial import read_trial

WITHIN_S = 60
SHORTER = f"{SEED} If a is below 16, say no; otherwise say yes."
HINDERED = SHORTER.replace("16,", "16 and b is below 5,")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Model) -> tuple[AppTest, RunReader]:
    """The Posterior page of a run whose ideas can be put on trial."""
    monkeypatch.setenv("VPP_CACHE_DIR", str(tmp_path / "cache"))
    reader = run_of(tmp_path, served.base_url, AND, A_ONLY)
    return drawn.opened(drawn.app_over(tmp_path, monkeypatch), reader, "posterior"), reader


def pressed(app: AppTest, reader: RunReader) -> str:
    """Put the ideas on trial, and return the page once all have answered."""
    app.button(key="posterior.trial").click().run()
    job: Any = app.session_state[f"posterior.ask.trial.{reader.directory.id}"]
    assert job.wait(WITHIN_S)
    return shown(app.run())


def test_rows_that_part_two_ideas_are_offered_for_labelling(page: tuple[AppTest, RunReader]) -> None:
    app, reader = page
    pressed(app, reader)
    trial = read_trial(reader.directory, reader.refresh().view)
    assert trial is not None
    html = shown(drawn.opened(app, reader, "disagreement"))
    assert "two tested ideas disagree" not in html
    app.segmented_control(key=f"disagreement.settle.source.{reader.directory.id}").set_value("Rows of the trial").run()
    assert not app.exception
    n = len({pair.inputs for pair in trial.pairs})
    assert f"{n} rows of the data with one cell changed, on which two tested ideas disagree." in shown(app)
    app.button(key="disagreement.settle.ask").click().run()
    job: Any = app.session_state[f"posterior.ask.settle.{reader.directory.id}"]
    assert job.wait(WITHIN_S)
    assert {row.inputs for row in job.asking.rows} == {pair.inputs for pair in trial.pairs}
    assert "expected information gain" in shown(app.run())


def test_a_clause_that_hurts_is_left_out_in_another_wording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Model
) -> None:
    monkeypatch.setenv("VPP_CACHE_DIR", str(tmp_path / "cache"))
    answers: dict[int, Value | None] = {row.id: "no" for row in DATA.train[:4]}
    reader = run_of(tmp_path, served.base_url, HINDERED, more=[scored(0, 0, HINDERED, answers)])
    app = drawn.opened(drawn.app_over(tmp_path, monkeypatch), reader, "posterior")
    html = pressed(app, reader)
    assert "Without “b is below 5”, idea 1 gains 17.23 nats. With it, it is better on 0 of 16" in html
    assert "better on 0 of 16 rows that differ (0 %; 0 % to 19 %): it hurts" in html
    (button,) = (each for each in app.button if (each.key or "").startswith("posterior.trial.without."))
    html = shown(button.click().run())
    assert not app.exception
    assert '<a href="#another-wording">Try another wording</a>' in html
    assert app.text_area[0].value == SHORTER.removeprefix(f"{SEED} ")
    app.button(key="rewording.score").click().run()
    job: Any = app.session_state[f"posterior.ask.reword.{reader.directory.id}"]
    assert job.wait(WITHIN_S)
    assert job.asking.whole().texts == (HINDERED, SHORTER)
