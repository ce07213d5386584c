"""How a list of runs tells them apart."""

from dataclasses import replace
from pathlib import Path

from tests.inspected import labels
from vpp.findings.status import Listed, distinguished, listed
from vpp.runs.reader import read_summary


def test_a_run_says_its_method_its_result_and_when(tmp_path: Path) -> None:
    directory = labels(tmp_path).directory
    spec, summary = directory.spec(), read_summary(directory)
    row = listed("r", spec, "finished", replace(summary, balanced_accuracy=None), "09:05")
    assert (row.mark, row.note) == ("done", "SMC · finished · 50.0\u00a0% · 09:05")
    apart = listed("r", spec, "finished", summary, "09:05")
    assert apart.note.replace("\u00a0", " ") == "SMC · finished · 50.0 % · balanced 83.3 % · 09:05"
    stopped = listed("r", spec, "stopped", summary, "09:05")
    assert stopped.note.replace("\u00a0", " ") == "SMC · stopped · 2 of 2 steps · 09:05"


def test_runs_that_read_alike_say_their_seed_and_if_that_is_one_too_the_end_of_their_id() -> None:
    made = (("iris-smc-7f3a", 0), ("iris-smc-90bc", 0), ("iris-smc-11d2", 1), ("penguins-smc-1", 0))
    rows = [Listed(id=run, name=run.split("-")[0], mark="acc", note="SMC", seed=seed) for run, seed in made]
    notes = [row.note.removeprefix("SMC") for row in distinguished(rows)]
    assert notes == [" · seed 0 · 7f3a", " · seed 0 · 90bc", " · seed 1", ""]
