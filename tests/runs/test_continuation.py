"""Going on from a run's particles with rows answered since: what is carried over, what begins anew."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests import inspected
from tests.processes import PENGUINS
from tests.reporting import builders
from vpp.cli import main
from vpp.data.dataset import Row
from vpp.errors import DataError, RunError
from vpp.events import INITIAL_STEP, hypothesis_id
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import RunReader
from vpp.runs.preparation import continue_run, spec_to_continue
from vpp.runs.spec import RunSpec
from vpp.settings import Config

ANSWERED = tuple(Row(id=0, inputs=(("a", cell),), target=target) for cell, target in (("20", "yes"), ("21", "no")))


def test_a_new_run_has_the_particles_the_rows_and_the_options(tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    prepared = continue_run(reader.directory, ANSWERED)
    assert prepared.spec.start == inspected.LABEL_SLOTS
    assert prepared.spec.started_from == reader.directory.id
    # training rows 0 to 3 and test rows 4 to 9 of the file; the answered ones come after
    assert [(row.id, row.target) for row in prepared.dataset.train] == [
        (0, "yes"), (1, "no"), (2, "yes"), (3, "no"), (10, "yes"), (11, "no"),
    ]  # fmt: skip
    assert prepared.dataset.test == reader.dataset().test
    assert prepared.spec.config == replace(inspected.LABEL_CONFIG, final_weights="train")
    assert prepared.dataset.provenance.notes[-1] == (
        "answered by a person to go on from run 20260110-1432-toy-smc-7f3a: rows 10 to 11"
    )
    assert prepared.spec.name == "toy + 2 rows"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"method": "smc"}, {"particles": 4, "final_weights": "train"}),
        ({"method": "smc", "tempering": "adaptive"}, {"particles": 4, "final_weights": "train"}),
        ({"method": "mh"}, {"particles": 4, "final_weights": "rescored"}),
        ({"method": "vml5"}, {"particles": 10, "final_weights": "rescored"}),
    ],
)
def test_k_is_the_number_of_texts_and_last_weights_are_on_all_rows(options, expected, tmp_path: Path) -> None:
    config, view = Config(**{"final_weights": "rescored", **options}), inspected.labels(tmp_path).refresh().view
    spec = RunSpec(name="", config=config, endpoint=builders.DEMO)
    assert spec_to_continue(spec, view, run="r", name="").config == replace(config, **expected)


def test_a_run_without_particles_cannot_be_gone_on_from(tmp_path: Path) -> None:
    reader = builders.run(tmp_path, data=inspected.LABELS, config=inspected.LABEL_CONFIG)
    with pytest.raises(RunError, match="has no particles yet"):
        continue_run(reader.directory, ANSWERED)


def test_rows_that_cannot_be_added_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    directory = inspected.labels(tmp_path).directory
    with pytest.raises(DataError, match="'maybe' is not a label: give one of no, yes"):
        continue_run(directory, [Row(id=0, inputs=(("a", "20"),), target="maybe")])
    with pytest.raises(DataError, match="answered row 1 repeats row 2 of the run"):
        continue_run(directory, [Row(id=0, inputs=(("a", "2"),), target="yes")])


def test_the_demo_model_goes_on_from_a_run_and_counts_each_row_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("VPP_CACHE_DIR", str(tmp_path / "cache"))
    sizes = ("--train-size", "12", "--test-size", "5", "--batch-size", "6", "--particles", "3", "--epochs", "1")
    first, second = tmp_path / "runs" / "first", tmp_path / "runs" / "second"
    run = ("run", str(PENGUINS), "--target", "species", "--demo", *sizes, "--run-dir", str(first), "--quiet", "--json")
    assert main(run) == 0
    earlier = RunReader(RunDirectory(first))
    columns = earlier.dataset().inputs
    rows = tmp_path / "rows.csv"
    cells = {"island": "Dream", "sex": "male"}
    lines = [",".join([*(cells.get(name, "190") for name in columns), target]) for target in ("Chinstrap", "")]
    rows.write_text("\n".join([",".join([*columns, "species"]), *lines]))
    capsys.readouterr()
    assert main(("continue", str(first), str(rows), "--run-dir", str(second), "--json")) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["status"] == "finished"
    assert "1 of 2 rows have no target and were left out" in err
    later = RunReader(RunDirectory(second))
    view, before = later.refresh().view, earlier.refresh().view
    first_texts = [state.hypothesis for state in view.steps[INITIAL_STEP].population]
    assert first_texts == [state.hypothesis for state in before.population]
    assert view.usage.optimizer == 3 * view.total_steps  # 13 rows in batches of 6: 3 steps, and no first draw
    assert view.total_steps == 3
    ids = [row.id for row in later.dataset().train]
    assert ids == [*(row.id for row in earlier.dataset().train), 344]  # the file has 344 rows, 0 to 343
    assert [list(scored.rows) for scored in view.final_scored.values()] == [ids] * 3
    assert view.evaluated["test"].rows == before.evaluated["test"].rows
    assert {hypothesis_id(text) for text in later.refresh().spec.start} == set(first_texts)
