"""The trial on the Posterior page: its cost, its result, its failure, without a browser."""

from pathlib import Path
from typing import Any

import pytest

from tests.app import drawn
from tests.app.drawn import shown
from tests.processes import Model
from tests.trials.test_trial import AND, run_of
from vpp.trials.trial import read_trial

WITHIN_S = 60


def test_the_button_puts_the_ideas_on_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Model) -> None:
    monkeypatch.setenv("VPP_CACHE_DIR", str(tmp_path / "cache"))
    reader = run_of(tmp_path, served.base_url, AND)
    app = drawn.opened(drawn.app_over(tmp_path, monkeypatch), reader, "posterior")
    app.button(key="posterior.trial").click().run()
    job: Any = app.session_state[f"posterior.ask.trial.{reader.directory.id}"]
    assert job.wait(WITHIN_S)
    assert "nats over no rule" in shown(app.run())
    assert read_trial(reader.directory, reader.refresh().view) is not None
