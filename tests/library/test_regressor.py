"""scikit-learn's checks of `VPPRegressor` with the demo model, and a further test."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import vpp

SMALL: dict[str, Any] = {"particles": 2, "epochs": 1, "batch_size": 5}
# Skipped are scikit-learn's checks of what is not claimed; it announces changes of its own by FutureWarning.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning", "ignore::FutureWarning")


@pytest.fixture(autouse=True)
def own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))


@parametrize_with_checks([vpp.VPPRegressor(**SMALL)])
def test_a_check_of_scikit_learn_holds(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_line_is_found_and_extended() -> None:
    x = np.arange(30.0).reshape(-1, 1)
    model = vpp.VPPRegressor(particles=3, epochs=1).fit(x, 3 * x[:, 0] + 4)
    assert model.predict([[3.0], [50.0]]) == pytest.approx([13, 154], rel=0.05)
    assert model.score(x, 3 * x[:, 0] + 4) > 0.99
