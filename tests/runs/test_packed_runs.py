"""Several rows a learner call: the same run in fewer calls, with a model that answers each row by itself."""

from pathlib import Path

from tests.runs.test_prompts import recording_demo, run_on
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView, last_finished


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
    assert last_finished(packed).answers == last_finished(alone).answers > packed.usage.learner
