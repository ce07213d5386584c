"""posterior.nc and InferenceData against the two hand-made runs."""

import math
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests import inspected
from tests.reporting.builders import YES_NO, drawn, run, started
from vpp.errors import InputError
from vpp.reporting import inference_data as module
from vpp.reporting.inference_data import inference_data, posterior_nc

RIGHT, WRONG = math.log(0.95), math.log(0.05)


@pytest.fixture(scope="module")
def az() -> ModuleType:
    """ArviZ, its word about later versions unheard."""
    return module._imported()


def test_a_draw_is_a_particle_with_its_weight_and_labels_are_numbers_of_classes(tmp_path: Path, az: ModuleType) -> None:
    data = inference_data(inspected.labels(tmp_path))
    assert data.posterior.text.values.tolist() == [list(inspected.LABEL_SLOTS)]
    assert data.sample_stats.weight.values[0] == pytest.approx(inspected.LABEL_WEIGHTS)
    assert np.exp(data.sample_stats.log_weight.values[0]) == pytest.approx(inspected.LABEL_WEIGHTS)
    assert data.sample_stats.idea.values.tolist() == [[0, 1, 0, 2]]
    # Pointers 1/8, 3/8, 5/8, 7/8 on the cumulative weights 0.4, 0.7, 0.9, 1.
    assert data.sample_stats.ancestor.values.tolist() == [[0, 0, 1, 2]]
    assert data.predictions.attrs["classes"] == ["no", "yes"]
    assert data.predictions.test_y.values[0].tolist() == [
        [1, 0, 1, 0, 1, 1],
        [1, 0, 1, 1, 0, 1],
        [1, 0, 1, 0, 1, 1],
        [1, 0, -1, 0, 0, 0],
    ]
    assert data.predictions_constant_data.test_target.values.tolist() == [1, 0, 1, 0, 1, 0]
    assert data.predictions_constant_data.test_row_id.values.tolist() == [4, 5, 6, 7, 8, 9]
    assert data.observed_data.y.values.tolist() == [1, 0, 1, 0]
    assert data.log_likelihood.y.values[0, 0] == pytest.approx([RIGHT] * 4)
    assert data.log_likelihood.y.values[0, 3] == pytest.approx([RIGHT, RIGHT, WRONG, RIGHT])


def test_numbers_stay_numbers_and_an_abstention_is_none(tmp_path: Path, az: ModuleType) -> None:
    data = inference_data(inspected.numbers(tmp_path))
    assert data.predictions.test_y.values[0, 1, :3].tolist() == [2.0, 3.0, 6.0]
    assert np.isnan(data.predictions.test_y.values[0, 1, 3])
    # -(y - f)^2 / 2 with tau 1: LINE is one off on the last row, FLAT two, one, none and two off.
    assert data.log_likelihood.y.values[0, 0].tolist() == [0.0, 0.0, 0.0, -0.5]
    assert data.log_likelihood.y.values[0, 2].tolist() == [-2.0, -0.5, 0.0, -2.0]
    assert data.constant_data.row_id.values.tolist() == [0, 1, 2, 3]


def test_the_file_reads_back_and_loo_runs_on_draws_of_equal_weight(tmp_path: Path, az: ModuleType) -> None:
    path = tmp_path / "posterior.nc"
    path.write_bytes(posterior_nc(inspected.labels(tmp_path)))
    data = az.from_netcdf(str(path))
    assert data.posterior.text.values[0, 1] == inspected.BIG
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # four draws are too few, and it says so
        again = az.InferenceData(posterior=data.posterior_resampled, log_likelihood=data.log_likelihood_resampled)
        found = az.loo(again)
    assert again.posterior.text.values.tolist() == [[inspected.EVEN, inspected.EVEN, inspected.BIG, inspected.PAIR]]
    assert again.posterior.draw.values.tolist() == [0, 1, 2, 3]
    assert data.predictions_resampled.test_y.values[0, 2].tolist() == [1, 0, 1, 1, 0, 1]
    assert (found.n_samples, found.n_data_points) == (4, 4)
    # The draws are EVEN, EVEN, BIG and PAIR, which all get every training row right.
    assert found.elpd_loo == pytest.approx(4 * RIGHT)
    data.close()


def test_any_text_can_be_written(tmp_path: Path, az: ModuleType) -> None:
    text = "a\0b \x1b[31m <script> \u202e ünï\U0001f600"
    data = [*drawn(text, "second")]
    path = tmp_path / "posterior.nc"
    path.write_bytes(posterior_nc(run(tmp_path, started(inspected.LABEL_CONFIG, YES_NO), *data, name="n\0me")))
    kept = az.from_netcdf(str(path))
    assert kept.posterior.text.values[0, 0] == text.replace("\0", "\ufffd")
    assert not hasattr(kept, "log_likelihood")
    assert not hasattr(kept, "log_likelihood_resampled")
    kept.close()


def test_without_particles_or_arviz_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no population is complete"):
        inference_data(run(tmp_path))
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install 'arviz<1'"):
        posterior_nc(run(tmp_path / "again"))
