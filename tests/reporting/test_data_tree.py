"""posterior.nc and its tree against the two hand-made runs."""

import math
from pathlib import Path

import numpy as np
import pytest
import xarray

from tests import inspected
from tests.reporting.builders import YES_NO, drawn, run, started
from vpp.errors import InputError
from vpp.reporting import exports as module
from vpp.reporting.exports import data_tree, posterior_nc

RIGHT, WRONG = math.log(0.95), math.log(0.05)


def test_a_draw_is_a_particle_with_its_weight_and_labels_are_numbers_of_classes(tmp_path: Path) -> None:
    data = data_tree(inspected.labels(tmp_path))
    assert data.posterior.text.values.tolist() == [list(inspected.LABEL_SLOTS)]
    assert data.posterior.text.dims == ("chain", "draw")
    assert data.sample_stats.weight.values[0] == pytest.approx(inspected.LABEL_WEIGHTS)
    assert data.sample_stats.hypothesis.values.tolist() == [[0, 1, 0, 2]]
    assert data.attrs["classes"] == ["no", "yes"]
    assert data.predictions.y.values[0].tolist() == [
        [1, 0, 1, 0, 1, 1],
        [1, 0, 1, 1, 0, 1],
        [1, 0, 1, 0, 1, 1],
        [1, 0, -1, 0, 0, 0],
    ]
    assert data.predictions_constant_data.target.values.tolist() == [1, 0, 1, 0, 1, 0]
    assert data.predictions.test_row.values.tolist() == [4, 5, 6, 7, 8, 9]
    assert data.observed_data.y.values.tolist() == [1, 0, 1, 0]
    assert data.log_likelihood.y.values[0, 0] == pytest.approx([RIGHT] * 4)
    assert data.log_likelihood.y.values[0, 3] == pytest.approx([RIGHT, RIGHT, WRONG, RIGHT])


def test_numbers_stay_numbers_and_an_abstention_is_none(tmp_path: Path) -> None:
    path = tmp_path / "posterior.nc"
    path.write_bytes(posterior_nc(inspected.numbers(tmp_path)))
    with xarray.open_datatree(path) as data:
        assert data.predictions.y.values[0, 1, :3].tolist() == [2.0, 3.0, 6.0]
        assert np.isnan(data.predictions.y.values[0, 1, 3])
        # -(y - f)^2 / 2 with tau 1: LINE is one off on the last row, FLAT two, one, none and two off.
        assert data.log_likelihood.y.values[0, 0].tolist() == [0.0, 0.0, 0.0, -0.5]
        assert data.log_likelihood.y.values[0, 2].tolist() == [-2.0, -0.5, 0.0, -2.0]
        assert data.observed_data.row.values.tolist() == [0, 1, 2, 3]


def test_the_file_reads_back(tmp_path: Path) -> None:
    reader, path = inspected.labels(tmp_path), tmp_path / "posterior.nc"
    path.write_bytes(posterior_nc(reader))
    with xarray.open_datatree(path) as data:
        assert data.load().identical(data_tree(reader))


def test_arviz_reads_the_file_and_draws_by_weight(tmp_path: Path) -> None:
    az = pytest.importorskip("arviz", minversion="1", reason="ArviZ 1 needs Python 3.12")
    path = tmp_path / "posterior.nc"
    path.write_bytes(posterior_nc(inspected.labels(tmp_path)))
    data = az.from_netcdf(path)
    by_weight = {"weights": data.sample_stats.weight[0], "resampling_method": "multinomial"}
    drawn = az.extract(data, num_samples=4000, random_seed=1, **by_weight)
    shares = [float((drawn.text == text).mean()) for text in inspected.LABEL_SLOTS]
    assert shares == pytest.approx(inspected.LABEL_WEIGHTS, abs=0.04)


def test_any_text_can_be_written(tmp_path: Path) -> None:
    text = "a\0b \x1b[31m <script> \u202e ünï\U0001f600"
    data = [*drawn(text, "second")]
    path = tmp_path / "posterior.nc"
    path.write_bytes(posterior_nc(run(tmp_path, started(inspected.LABEL_CONFIG, YES_NO), *data, name="n\0me")))
    with xarray.open_datatree(path) as kept:
        assert kept.posterior.text.values[0, 0] == text.replace("\0", "\ufffd")
        assert "log_likelihood" not in kept


def test_without_particles_or_xarray_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no population is complete"):
        data_tree(run(tmp_path))
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install xarray"):
        posterior_nc(run(tmp_path / "again"))
