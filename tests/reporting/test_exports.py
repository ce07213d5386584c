"""posterior.nc, MLflow's figures and posterior.json against the two hand-made runs, and against docs/files.md."""

import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from tests import inspected
from tests.docs.test_pages import ROOT
from tests.processes import free_port
from tests.reporting.builders import YES_NO, run
from tests.sampled import sampled_run
from vpp.data.descriptions import Descriptions
from vpp.errors import InputError
from vpp.reporting import exports
from vpp.reporting.exports import data_tree, log_run, posterior_nc
from vpp.reporting.posterior_json import posterior_json
from vpp.runs.journal import RunReader

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


def test_arviz_reads_the_file_and_draws_by_weight(tmp_path: Path) -> None:
    az = pytest.importorskip("arviz", minversion="1", reason="ArviZ 1 needs Python 3.12")
    path = tmp_path / "posterior.nc"
    path.write_bytes(posterior_nc(inspected.labels(tmp_path)))
    data = az.from_netcdf(path)
    by_weight = {"weights": data.sample_stats.weight[0], "resampling_method": "multinomial"}
    drawn = az.extract(data, num_samples=4000, random_seed=1, **by_weight)
    shares = [float((drawn.text == text).mean()) for text in inspected.LABEL_SLOTS]
    assert shares == pytest.approx(inspected.LABEL_WEIGHTS, abs=0.04)


def test_without_particles_or_xarray_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no population is complete"):
        data_tree(run(tmp_path))
    monkeypatch.setattr(exports, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install xarray"):
        posterior_nc(run(tmp_path / "again"))


def test_each_step_has_metrics_and_the_last_step_has_those_of_the_run(tmp_path: Path) -> None:
    snapshot = inspected.labels(tmp_path).refresh()
    view = snapshot.view
    by_step = list(exports.figures_by_step(snapshot.spec, view))
    assert [step for step, *_ in by_step] == [-1, 0, 1, 1, 1, 1]
    steps = [figures for _, _, figures in by_step[:3]]
    assert [each["particles"] for each in steps] == [4, 4, 4]
    assert [each["ess"] for each in steps if "ess" in each] == view.ess_by_step
    assert steps[-1]["distinct_texts"] == 4
    whole = {name: value for _, _, figures in by_step[3:] for name, value in figures.items()}
    assert whole["test_accuracy"] == view.evaluated["test"].value
    assert whole["cost"] is None
    assert whole["final_heaviest_weight"] == pytest.approx(max(inspected.LABEL_WEIGHTS))
    assert whole["final_ess"] == pytest.approx(1 / sum(w**2 for w in inspected.LABEL_WEIGHTS))


def test_an_unreachable_server_gives_a_one_line_error_without_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    uri = f"http://me:hunter22hunter@127.0.0.1:{free_port()}"
    with pytest.raises(InputError) as refused:
        log_run(inspected.labels(tmp_path).directory, uri, experiment="vpp")
    assert "MLflow at http://127.0.0.1:" in str(refused.value)
    assert "check its address" in str(refused.value)
    assert "hunter22" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_mlflow_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(InputError, match="pip install mlflow-skinny"):
        log_run(inspected.labels(tmp_path).directory, "http://127.0.0.1:5000", experiment="vpp")


Json = dict[str, Any]
MAPS = ("config", "models", "templates", "versions", "result.calls", "result.tokens", "dataset.provenance",
        "dataset.descriptions.columns", "dataset.descriptions.labels")  # fmt: skip
"""Objects whose keys are names from elsewhere, or documented as one."""


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def read(reader: RunReader) -> Json:
    content: Json = json.loads(posterior_json(reader), parse_constant=refuse)
    return content


def test_hypotheses_particles_texts_ruled_out_and_rows_are_those_of_the_findings(tmp_path: Path) -> None:
    content = read(inspected.labels(tmp_path / "labels"))
    hypotheses, out = content["hypotheses"], {each["text"]: each for each in content["ruled_out"]}
    assert [each["weight"] for each in hypotheses] == pytest.approx([0.6, 0.3, 0.1])
    assert [each["slots"] for each in hypotheses] == [[0, 2], [1], [3]]
    assert [w["text"] for w in hypotheses[0]["wordings"]] == [inspected.EVEN, inspected.PAIR]
    assert (content["rows_compared"], content["compared_by"]) == (10, "evaluations")
    assert [p["log_likelihood"] for p in content["particles"]] == [math.log(w) for w in (0.4, 0.3, 0.2, 0.1)]
    assert [p["hypothesis"] for p in content["particles"]] == [0, 1, 0, 2]
    assert content["dataset"]["provenance"]["sha256"] == "ab" * 32
    assert (content["result"]["status"], content["result"]["metric"]["name"]) == ("finished", "accuracy")
    assert set(out) == {inspected.LUCK, inspected.SEVEN, inspected.NONE, "Sorry."}
    assert (out[inspected.LUCK]["reason"], out[inspected.LUCK]["step"], out[inspected.LUCK]["times"]) == (
        "rejected",
        1,
        3,
    )
    assert out[inspected.SEVEN]["against"][0] == {"row": 0, "said": "no", "true": "yes", "is_decisive": True}
    rows = {each["row"]: each for each in content["disagreement"]}
    assert (rows[9]["true"], rows[9]["prediction"], rows[9]["uncertain"]) == ("no", "yes", True)
    assert rows[9]["shares"] == pytest.approx({"yes": 0.9, "no": 0.1})
    assert rows[9]["entropy_bits"] == pytest.approx(0.46900, abs=1e-5)  # -0.9 log2 0.9 - 0.1 log2 0.1
    rows = {each["row"]: each for each in read(inspected.numbers(tmp_path / "numbers"))["disagreement"]}
    assert (rows[4]["prediction"], rows[4]["low"], rows[4]["high"]) == (1.0, 0.0, 2.0)
    assert (rows[7]["abstained"], rows[7]["shares"], rows[7]["entropy_bits"]) == (0.25, None, None)


def test_the_page_documents_every_field_and_no_other(tmp_path: Path) -> None:
    readers = [inspected.labels(tmp_path / "labels"), inspected.numbers(tmp_path / "numbers")]
    readers.append(inspected.programs(tmp_path / "programs"))
    readers += [sampled_run(name) for name in ("adaptive", "vml5")]
    readers.append(run(tmp_path / "described", data=replace(YES_NO, descriptions=Descriptions(columns=(("a", "?"),)))))
    written = {path for reader in readers for path in paths(read(reader))}
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    page = page.split("## posterior.json")[1].split("## Records")[0]
    documented = {path for field in re.findall(r"^- `([^`]+)`:", page, flags=re.MULTILINE) for path in expanded(field)}
    implied = {path for field in documented for path in holders(field)}
    assert written - documented - implied == set()
    assert documented - written == set()


def holders(field: str) -> Iterator[str]:
    """The objects and lists around a field: `a` and `a[].b` of `a[].b.c`."""
    while "." in field:
        field = field.rpartition(".")[0]
        yield field.removesuffix("[]")


def expanded(field: str) -> Iterator[str]:
    """The fields that `a.{b,c}.d` stands for."""
    before, brace, rest = field.partition("{")
    if not brace:
        yield field
        return
    inner, _, after = rest.partition("}")
    for each in inner.split(","):
        yield from expanded(f"{before}{each}{after}")


def paths(value: Any, at: str = "") -> Iterator[str]:
    """`ideas[].test.n` of every field, objects with names from elsewhere as one."""
    if at:
        yield at
    if at in MAPS or at.endswith("].shares"):
        return
    if isinstance(value, dict):
        for key, each in value.items():
            yield from paths(each, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for each in value:
            if isinstance(each, dict):
                yield from (path for path in paths(each, f"{at}[]") if path != f"{at}[]")
