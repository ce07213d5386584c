"""A run in words: in a list of runs, by what it does, and by the check of its servers."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.inspected import labels
from tests.reporting.builders import YES_NO, drawn, finished, proposed, scored, started, view_of
from vpp.events import RunFinished, RunPaused
from vpp.findings.progress import activity_words
from vpp.findings.status import Listed, distinguished, finish_words, listed, pending_words, retry_words, verdict
from vpp.llm.check import Finding, Mark, Role
from vpp.runs.asking import CheckResult
from vpp.runs.directory import State
from vpp.runs.journal import read_summary
from vpp.settings import Config


def test_a_run_says_its_method_its_result_and_when(tmp_path: Path) -> None:
    directory = labels(tmp_path).directory
    spec, summary = directory.spec(), read_summary(directory)
    row = listed("r", spec, "finished", summary, "09:05")
    assert (row.mark, row.note) == ("done", "SMC · finished · 50.0\u00a0% · 09:05")
    stopped = listed("r", spec, "stopped", summary, "09:05")
    assert stopped.note.replace("\u00a0", " ") == "SMC · stopped · 2 of 2 steps · 09:05"


def test_a_settled_run_says_so_and_one_with_all_its_steps_says_nothing() -> None:
    begun = started(Config(patience=4, reading="rows"), YES_NO, steps=2), *drawn("A"), finished(0, ("A",))
    end = RunFinished(outcome="finished")
    settled = view_of(*begun, end)
    assert finish_words(settled) == " (settled: 4 steps in a row changed neither the hypotheses nor their vote)"
    assert finish_words(view_of(*begun, finished(1, ("A",)), end)) == finish_words(view_of(*begun)) == ""


def test_runs_that_read_alike_have_the_end_of_their_id() -> None:
    runs = ("iris-smc-7f3a", "iris-smc-90bc", "penguins-smc-1")
    rows = [Listed(id=run, name=run.split("-")[0], mark="acc", note="SMC") for run in runs]
    assert [row.note for row in distinguished(rows)] == ["SMC · 7f3a", "SMC · 90bc", "SMC"]


BOTH: tuple[Role, ...] = ("learner", "optimizer")


def checked(name: str, mark: Mark, words: str = "", value: object = None, *, model: str = "m") -> CheckResult:
    return CheckResult(roles=BOTH, base_url="http://h/v1", model=model, finding=Finding(name, mark, words, value))


ANSWERS = checked("answers", "works")


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([ANSWERS, checked("seed", "note")], ("works", "A run can begin.")),
        ([checked("key", "fails", "key refused")], ("fails", "A run cannot begin: key: key refused")),
        (
            [checked("models", "note", model="")],
            ("fails", "A run cannot begin: no model is named for the learner and optimizer."),
        ),
        (
            [ANSWERS, checked("learner prompt", "works"), checked("optimizer prompt", "note", "…", "try another")],
            ("note", "A run can begin, but answers could not be read (optimizer prompt): try another."),
        ),
        (
            [ANSWERS, checked("learner prompt", "note", "not answered: HTTP 500")],
            ("note", "A run can begin, but the learner prompt was not answered: HTTP 500"),
        ),
        (
            [ANSWERS, checked("optimizer prompt", "note", "not tried: the server is slow")],
            ("note", "A run can begin, but the optimizer prompt was not tried: the server is slow"),
        ),
    ],
)
def test_a_check_ends_with_what_it_comes_to(checks: list[CheckResult], expected: tuple[Mark, str]) -> None:
    assert verdict(checks) == expected


@pytest.mark.parametrize("state", ["running", "stalled"])
def test_a_pending_command_says_whether_the_worker_responds(state: State) -> None:
    words = {pending_words(command, state) for command in ("stop", "pause")}
    assert len(words) == (1 if state == "stalled" else 2)
    assert all(("does not respond" in each) == (state == "stalled") for each in words)


def test_what_a_run_does_now_counts_the_particles_done() -> None:
    """Programs are written at step 0; later steps run those that they have."""
    config, rows = Config(particles=2), {0: "yes", 1: "no"}
    by_row = replace(config, reading="rows")
    begun = started(config, YES_NO)
    score, rewrite = scored(0, 0, "A", rows), proposed(0, 0, "A", "B", accepted=True)
    made = (begun, *drawn("A", "B"), score)
    assert activity_words(view_of(begun), config) == "writing the first hypotheses: 0 of 2"
    assert activity_words(view_of(*made), config) == "writing programs: 1 of 2"
    assert activity_words(view_of(*made), by_row) == "scoring"
    assert activity_words(view_of(*made, rewrite), config) == "rewriting: 1 of 2"
    at_end = (*made, finished(0, ("A", "B")), finished(1, ("A", "B")))
    assert activity_words(view_of(*at_end), config) == "final weights and evaluation"


def test_a_pause_tells_when_it_tries_again_and_until_when(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "localtime", time.gmtime)
    at = 1_800_000_000.0

    def words(retry_at: float | None, gives_up_at: float | None, *, now: float) -> str:
        event = RunPaused(reason="endpoint", detail="gone", retry_at=retry_at, gives_up_at=gives_up_at)
        return retry_words(view_of(started(Config(), YES_NO), event), now=now).replace("\u00a0", " ")

    assert words(at + 12, at + 3600, now=at) == "Next try in 12 s (at 08:00:12); gives up at 09:00."
    assert words(at, at + 60, now=at + 1) == "Next try any moment; gives up at 08:01."
    assert words(None, None, now=at) == ""
