"""The trial on the Posterior page: its cost, its result, its failure, without a browser."""

from pathlib import Path
from typing import Any

import pytest

from tests.app import drawn
from tests.app.drawn import shown
from tests.processes import Model
from tests.trials.test_trial import A_ONLY, AND, run_of
from vpp.findings.experiments import read_trial

WITHIN_S = 60


def test_rows_that_part_two_ideas_are_offered_for_labelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Model
) -> None:
    monkeypatch.setenv("VPP_CACHE_DIR", str(tmp_path / "cache"))
    reader = run_of(tmp_path, served.base_url, AND, A_ONLY)
    app = drawn.opened(drawn.app_over(tmp_path, monkeypatch), reader, "posterior")
    app.button(key="posterior.trial").click().run()
    job: Any = app.session_state[f"posterior.ask.trial.{reader.directory.id}"]
    assert job.wait(WITHIN_S)
    assert "improvement over no rule" in shown(app.run())
    assert app.button(key="posterior.trial").label == "Test again"
    trial = read_trial(reader.directory, reader.refresh().view)
    assert trial is not None
    html = shown(drawn.opened(app, reader, "disagreement"))
    assert "made-up rows: leave" not in html
    app.toggle(key=f"disagreement.settle.made_up.{reader.directory.id}").set_value(True).run()
    assert not app.exception
    app.button(key="disagreement.settle.ask").click().run()
    job = app.session_state[f"posterior.ask.settle.{reader.directory.id}"]
    assert job.wait(WITHIN_S)
    assert {row.inputs for row in job.asking.rows} >= {pair.inputs for pair in trial.pairs}
