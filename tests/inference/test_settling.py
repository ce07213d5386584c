"""The rule that ends a run once nothing changes: what a change is, and the same end after a resume and in a replay."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.reporting.builders import dataset, finished, scored, view_of
from tests.sampled import kept_run, write
from vpp.data.dataset import Value
from vpp.events import Event, RunFinished, StepFinished
from vpp.inference.population import UNSETTLED
from vpp.runs.view import settling_of
from vpp.settings import Config, preset
from vpp.verification import verify

from . import scripted

LABELS = dataset(["yes", "no"] * 20, ["yes"])
NUMBERS = dataset([float(n) for n in range(41)], [1.0])
SETTLING = ("mh on the buffer", "mh on all rows", "smc filtered", "smc adaptive")
TASKS = ("classification", "regression")


def step(answers: dict[str, list[Value | None]], *, weights: list[float] | None = None, first: int = 0) -> list[Event]:
    """A step's events: texts by their answers to rows from `first` on."""
    said = [scored(0, k, text, dict(enumerate(each, first))) for k, (text, each) in enumerate(answers.items())]
    return [*said, finished(0, tuple(answers), weights=weights)]


def n_after(*steps: list[Event], data=LABELS) -> int:
    settling = UNSETTLED
    for events in steps:
        settling = settling.after(events, data)
    return settling.n


def labels(n_yes: int, n: int = 40) -> list[Value | None]:
    return ["yes"] * n_yes + ["no"] * (n - n_yes)


def test_hypotheses_alike_on_95_percent_of_the_rows_with_the_same_vote_are_no_change() -> None:
    before = step({"a": labels(20), "b": labels(30), "c": labels(20)})
    assert n_after(before) == 0
    assert n_after(before, before, before) == 2
    assert n_after(before, step({"a": labels(20), "d": labels(32), "c": labels(20)})) == 1
    assert n_after(before, step({"a": labels(20), "d": labels(33), "c": labels(20)})) == 0, "38 of 40 rows are 95 %"
    assert n_after(before, step({"a": labels(20), "c": labels(20)})) == 0, "b is gone"
    assert n_after(step({"a": labels(20)}), step({"d": labels(21)})) == 0, "the vote on one row is another"
    assert n_after(before, before, step({"e": labels(0)}), before, before) == 1, "a change begins the count anew"

    # weights alone can change the vote
    said = {"a": labels(20), "b": labels(30)}
    assert n_after(step(said, weights=[0.6, 0.4]), step(said, weights=[0.9, 0.1])) == 1
    assert n_after(step(said, weights=[0.6, 0.4]), step(said, weights=[0.4, 0.6])) == 0


def test_numbers_change_nothing_within_a_twentieth_of_the_range_and_their_mean_within_a_hundredth() -> None:
    def numbers(*off: float) -> list[Event]:
        return step({f"h{k}": [n + each for n in range(40)] for k, each in enumerate(off)})

    assert n_after(numbers(0, 0), numbers(1.9, -1.9), data=NUMBERS) == 1, "targets range over 40"
    assert n_after(numbers(0, 0), numbers(2.1, -2.1), data=NUMBERS) == 0
    assert n_after(numbers(0), numbers(0.3), data=NUMBERS) == 1
    assert n_after(numbers(0), numbers(0.5), data=NUMBERS) == 0


def test_a_tempered_step_an_unscored_text_and_other_rows_never_count() -> None:
    plain = step({"a": labels(40)})
    tempered = [replace(each, exponent=0.5) if isinstance(each, StepFinished) else each for each in plain]
    whole = [replace(each, exponent=1.0) if isinstance(each, StepFinished) else each for each in plain]
    assert n_after(tempered, tempered) == n_after(tempered, whole) == 0
    assert n_after(tempered, whole, whole) == 1
    assert n_after(plain, plain[1:]) == 0, "no score is known"
    assert n_after(plain, step({"a": labels(40)}, first=20)) == 1, "half of the rows are in both"
    assert n_after(plain, step({"a": labels(40)}, first=21)) == 0


def problem_of(config: Config, task: str):
    return scripted.make_problem(config, scripted.Script(task), n_train=18)


def steps_of(events: list[Event]) -> list[Event]:
    return [each for each in events if isinstance(each, StepFinished)]


@pytest.mark.parametrize("task", TASKS)
def test_a_settled_run_is_the_beginning_of_the_long_one_and_ends_there_after_any_resume(task: str) -> None:
    """All variants together, so that some settle early, some late, and some never."""
    ends = set()
    for variant in SETTLING:
        config = scripted.variant(variant, seed=3, epochs=4, tau="auto", final_weights="rescored")
        whole = scripted.run(problem_of(config, task), config)
        data = problem_of(config, task).dataset
        counts = [settling_of(view_of(*whole[: whole.index(each) + 1]), data).n for each in steps_of(whole)]
        for patience in (1, 2, 4):
            due = next((at for at, n in enumerate(counts) if n >= patience), len(counts) - 1)
            own = replace(config, patience=patience)
            events = scripted.run(problem_of(own, task), own)
            assert events == whole[: whole.index(steps_of(whole)[due]) + 1]
            ends.add(due == len(counts) - 1)
            for population, done in zip(scripted.populations(events), steps_of(events), strict=True):
                known = events[: events.index(done) + 1]
                settling = settling_of(view_of(*known), data)
                rest = scripted.run(problem_of(own, task), own, resume_from=population, settling=settling)
                assert known + rest == events
    assert ends == {True, False}


def test_methods_without_an_accept_step_and_a_tempering_that_ends_with_the_last_step_cannot_settle() -> None:
    can = {name for name in scripted.VARIANTS if scripted.variant(name).can_settle}
    assert can == set(SETTLING)
    assert Config().can_settle
    assert preset("paper").patience == 0


@pytest.mark.parametrize("patience", [0, 2])
def test_a_replay_ends_where_the_rule_ends_the_run(tmp_path: Path, patience: int) -> None:
    config = scripted.variant("smc adaptive", seed=3, epochs=4, final_weights="rescored", patience=patience)
    directory, events = kept_run(tmp_path / "run", config)
    assert verify(directory).holds
    n = len(steps_of(events))
    last = steps_of(events)[-2]
    write(directory, [*events[: events.index(last) + 1], RunFinished(outcome="finished")])
    assert next(fault.what for fault in verify(directory).faults) == "missing records", n
