"""The same run under any completion order of the calls, with or without a memo, and resumed after any step."""

from dataclasses import replace
from itertools import pairwise

import pytest

from vpp.events import Evaluated, Proposed, Resampled, Reweighted, Scored, StepFinished

from . import scripted

METHODS = tuple(scripted.VARIANTS)
TASKS = ("classification", "regression")
IN_ORDER = (Reweighted, Resampled, StepFinished, Evaluated)
"""Events that tell of the whole population: their order is fixed."""

each_method_and_task = pytest.mark.parametrize(("method", "task"), [(m, t) for m in METHODS for t in TASKS])


def configure(method, task, **options):
    tau = "auto" if task == "regression" else "1.0"
    return scripted.variant(method, seed=3, tau=tau, evaluate_every=2, final_weights="rescored", **options)


def whole_run(config, script):
    """Every event of the run, and of its ending."""
    problem = scripted.make_problem(config, script, n_train=18)
    events = scripted.run(problem, config)
    return events, scripted.run_conclusion(problem, config, scripted.populations(events, problem.dataset)[-1])


@each_method_and_task
def test_events_have_the_same_content_under_any_completion_order(method, task):
    config = configure(method, task)
    plain, plain_end = whole_run(config, scripted.Script(task))
    orders = set()
    for order in range(5):
        events, end = whole_run(config, scripted.Script(task, delay=scripted.jitter(order)))
        assert scripted.content(events) == scripted.content(plain)
        assert scripted.content(end) == scripted.content(plain_end)
        assert [e for e in events if isinstance(e, IN_ORDER)] == [e for e in plain if isinstance(e, IN_ORDER)]
        orders.add(tuple(map(id_of, events)))
    assert len(orders) > 1 or method == "vml", "the calls did finish in different orders"


def id_of(event):
    return type(event).__name__, getattr(event, "particle", None)


@each_method_and_task
def test_a_slots_events_come_in_the_order_of_its_own_phases(method, task):
    config = configure(method, task)
    events, _ = whole_run(config, scripted.Script(task, delay=scripted.jitter(1)))
    plain, _ = whole_run(config, scripted.Script(task))
    for slot in range(config.largest_size):
        assert events_of(events, slot) == events_of(plain, slot)


def events_of(events, slot):
    return [e for e in events if isinstance(e, Scored | Proposed) and e.particle == slot]


@each_method_and_task
def test_a_memo_changes_no_event(method, task):
    config = configure(method, task)
    assert whole_run(config, scripted.Script(task, memo=True)) == whole_run(config, scripted.Script(task))


@each_method_and_task
def test_a_run_resumed_after_any_step_goes_on_and_ends_as_if_never_interrupted(method, task):
    config = configure(method, task)
    events, end = whole_run(config, scripted.Script(task))
    for population in scripted.populations(events, scripted.make_dataset(task, n_train=18)):
        finished = next(e for e in events if isinstance(e, StepFinished) and e.step == population.step)
        tail = events[events.index(finished) + 1 :]
        problem = scripted.make_problem(config, scripted.Script(task), n_train=18)
        resumed = scripted.run(problem, config, resume_from=population)
        assert resumed == tail
        known = events[: events.index(finished) + 1] + resumed
        last = scripted.populations(known, problem.dataset)[-1]
        assert scripted.run_conclusion(problem, config, last) == end


@pytest.mark.parametrize("method", METHODS)
def test_a_run_resumed_after_its_last_step_has_nothing_left(method):
    config = configure(method, "classification")
    events, _ = whole_run(config, scripted.Script("classification"))
    problem = scripted.make_problem(config, scripted.Script("classification"), n_train=18)
    last = scripted.populations(events, problem.dataset)[-1]
    assert scripted.run(problem, config, resume_from=last) == []


@pytest.mark.parametrize("method", METHODS)
def test_another_seed_gives_another_run(method):
    config = configure(method, "classification")
    one, _ = whole_run(config, scripted.Script("classification"))
    other, _ = whole_run(replace(config, seed=4), scripted.Script("classification"))
    assert scripted.content(one) != scripted.content(other)


@pytest.mark.parametrize("method", METHODS)
def test_a_step_ends_with_its_whole_population(method):
    # An evaluation along the way stands before it: what a crash loses after it, a resumed run does again.
    config = configure(method, "classification")
    events, _ = whole_run(config, scripted.Script("classification"))
    ends = [i for i, e in enumerate(events) if isinstance(e, StepFinished)]
    assert ends[-1] == len(events) - 1
    for first, last in pairwise(ends):
        steps = {e.step for e in events[first + 1 : last + 1]}
        assert steps == {events[last].step}


@pytest.mark.parametrize("method", METHODS)
def test_test_rows_are_evaluated_at_the_steps_asked_for_but_not_at_the_last(method):
    config = configure(method, "classification")
    events, end = whole_run(config, scripted.Script("classification"))
    assert [e.step for e in scripted.of_kind(events, Evaluated)] == [1, 3, 5]  # T = 8
    assert {e.split for e in scripted.of_kind(events, Evaluated)} == {"test"}
    assert [(e.step, e.split) for e in scripted.of_kind(end, Evaluated)] == [(7, "test"), (7, "train")]


@pytest.mark.parametrize("method", ["mh", "smc"])
def test_tau_from_the_data_is_frozen_for_the_run(method):
    config = configure(method, "regression")
    events, _ = whole_run(config, scripted.Script("regression"))
    taus = {e.tau for e in scripted.of_kind(events, StepFinished)}
    assert len(taus) == 1
    assert taus != {1.0}
    assert {e.tau for e in scripted.of_kind(run_on("classification", method), StepFinished)} == {None}


def run_on(task, method):
    return whole_run(configure(method, task), scripted.Script(task))[0]
