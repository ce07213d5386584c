"""A run in words: in a list of runs, by what it does, and by the check of its servers."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.inspected import labels
from tests.reporting.builders import DEMO, YES_NO, drawn, finished, folded, proposed, scored, started, view_of
from vpp.events import Event, RunFinished, RunPaused, Usage
from vpp.findings.progress import activity_words, pace
from vpp.findings.status import Listed, distinguished, facts, finish_words, listed, pending_words, retry_words, verdict
from vpp.llm.check import Finding, Mark, Role
from vpp.runs.asking import CheckResult
from vpp.runs.budget import demo_pace, plan_of, time_s
from vpp.runs.directory import State
from vpp.runs.journal import Record, Snapshot, read_summary
from vpp.runs.spec import RunSpec
from vpp.settings import Config
from vpp.show.words import seconds


def test_a_run_says_its_method_its_result_and_when(tmp_path: Path) -> None:
    directory = labels(tmp_path).directory
    spec, summary = directory.spec(), read_summary(directory)
    row = listed("r", spec, "finished", summary, "09:05")
    assert (row.mark, row.note) == ("done", "SMC · finished · 2 of 2 steps · 09:05"), "no verdict yet"
    stopped = listed("r", spec, "stopped", summary, "09:05")
    assert stopped.note.replace("\u00a0", " ") == "SMC · stopped · 2 of 2 steps · 09:05"


def test_a_settled_run_says_so_and_one_with_all_its_steps_says_nothing() -> None:
    begun = started(Config(patience=4, reading="rows"), YES_NO, steps=2), *drawn("A"), finished(0, ("A",))
    end = RunFinished(outcome="finished")
    settled = view_of(*begun, end)
    assert finish_words(settled) == " (settled: 4 steps in a row changed neither the hypotheses nor their vote)"
    assert finish_words(view_of(*begun, finished(1, ("A",)), end)) == finish_words(view_of(*begun)) == ""


def test_runs_of_one_name_say_what_differs_first_and_those_that_read_alike_the_end_of_their_id() -> None:
    def notes(*facts: tuple[str, ...]) -> list[str]:
        runs = [f"iris-smc-{n}" for n, _ in enumerate(facts)]
        rows = [
            Listed(id=run, name="iris", mark="acc", note="SMC", facts=own) for run, own in zip(runs, facts, strict=True)
        ]
        other = Listed(id="penguins-smc-1", name="penguins", mark="acc", note="SMC", facts=("paper", "SMC"))
        *found, last = distinguished([*rows, other])
        assert last.note == "SMC"
        return [row.note for row in found]

    assert notes(("", "SMC"), ("", "SMC")) == ["SMC · 0", "SMC · 1"]
    assert notes(("", "SMC", "seed 0"), ("", "SMC", "seed 1")) == ["SMC · seed 0", "SMC · seed 1"]
    assert notes(("paper", "SMC", "seed 0"), ("", "MH", "seed 1")) == ["SMC · paper", "SMC"]
    assert facts(RunSpec(name="iris", config=Config(seed=3), endpoint=DEMO, dataset=YES_NO.sizes)) == (
        "recommended",
        "SMC",
        "seed 3",
        "4 rows",
    )


def test_the_clock_runs_while_a_run_starts_and_an_estimate_of_the_demo_model_begins_with_its_plan() -> None:
    """Two calls in 20 s alone would give minutes."""
    config, at = Config(patience=0, reading="rows", particles=2), 1_767_970_000.0
    spec = RunSpec(name="toy", config=config, endpoint=DEMO, dataset=YES_NO.sizes)

    def words(*events: Event, state: State, patience: int = 0, calls: int = 0) -> str:
        made = replace(spec, config=replace(config, patience=patience))
        view = folded(Record(at=at, usage=Usage(learner=calls), event=event) for event in events)
        snapshot = Snapshot(spec=made, state=state, view=view, usage=view.usage)
        return pace(snapshot, now=at + 20, rows={}).replace("\u00a0", " ")

    begun = started(config, YES_NO)
    left = max(1.0, time_s(plan_of(spec), demo_pace(DEMO)) - 20)
    assert words(begun, state="queued") == "20 s so far"
    assert words(begun, *drawn("A"), state="queued") == "0 s so far", "a run that goes on waits for its turn"
    assert words(begun, *drawn("A"), state="running", calls=2) == f"20 s, about {seconds(left)} to go".replace(
        "\u00a0", " "
    )
    assert ", at most about " in words(begun, *drawn("A"), state="running", calls=2, patience=5)


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
