"""Several rows a learner call: the same run in fewer calls, with a model that answers each row by itself."""

import csv
from pathlib import Path

from tests.runs.test_prompts import PENGUINS, recording_demo, run_on, vpp
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView


def view_of(directory: RunDirectory) -> RunView:
    return RunReader(directory).refresh().view


def test_rows_that_share_calls_change_only_the_number_of_calls(tmp_path: Path) -> None:
    with recording_demo() as (url, _):
        alone = view_of(run_on(url, tmp_path / "alone", "--points-per-call", "1"))
        packed = view_of(run_on(url, tmp_path / "packed", "--points-per-call", "7"))
    assert packed.population == alone.population
    assert packed.weights == alone.weights
    assert packed.evaluated["test"].predictions == alone.evaluated["test"].predictions
    assert packed.usage.learner * 3 < alone.usage.learner
    assert packed.usage.optimizer == alone.usage.optimizer
    assert packed.answers_kept == alone.answers_kept > packed.usage.learner


def test_new_rows_are_predicted_several_a_call(tmp_path: Path) -> None:
    head = PENGUINS.read_text(encoding="utf-8").splitlines(keepends=True)[:12]
    (tmp_path / "new.csv").write_text("".join(head), encoding="utf-8")
    with recording_demo() as (url, asked):
        directory = run_on(url, tmp_path / "run", "--points-per-call", "6")
        asked.clear()
        vpp("predict", str(directory.path), str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.csv"))
    with (tmp_path / "out.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 11
    assert len(asked) <= 2 * len({p.hypothesis for p in view_of(directory).population})
