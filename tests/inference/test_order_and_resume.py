"""The same run under any completion order of the calls, with or without a memo, and resumed after any step."""

from functools import cache

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
    return scripted.variant(method, seed=3, tau=tau, final_weights="rescored", **options)


@cache
def plain_run(method, task):
    """The run whose calls finish in the order they were sent, made once."""
    return scripted.whole_run(configure(method, task), scripted.Script(task))


@each_method_and_task
def test_events_have_the_same_content_under_any_completion_order(method, task):
    config = configure(method, task)
    plain, plain_end = plain_run(method, task)
    orders = set()
    for order in range(3):
        events, end = scripted.whole_run(config, scripted.Script(task, delay=scripted.jitter(order), memo=order == 2))
        assert scripted.content(events) == scripted.content(plain)
        assert scripted.content(end) == scripted.content(plain_end)
        assert [e for e in events if isinstance(e, IN_ORDER)] == [e for e in plain if isinstance(e, IN_ORDER)]
        for slot in range(config.size):
            assert events_of(events, slot) == events_of(plain, slot), "in the order of its own phases"
        orders.add(tuple(map(id_of, events)))
    assert len(orders) > 1 or method == "vml", "the calls did finish in different orders"


def id_of(event):
    return type(event).__name__, getattr(event, "particle", None)


def events_of(events, slot):
    return [e for e in events if isinstance(e, Scored | Proposed) and e.particle == slot]


@each_method_and_task
def test_a_run_resumed_after_any_step_goes_on_and_ends_as_if_never_interrupted(method, task):
    """After every second step: the even ones of a classification, the odd ones of a regression, and the last."""
    config = configure(method, task)
    events, end = plain_run(method, task)
    problem = scripted.make_problem(config, scripted.Script(task), n_train=18)
    populations = scripted.populations(events)
    for place in {*range(TASKS.index(task), len(populations), 2), len(populations) - 1}:
        population = populations[place]
        finished = next(e for e in events if isinstance(e, StepFinished) and e.step == population.step)
        tail = events[events.index(finished) + 1 :]
        resumed = scripted.run(problem, config, resume_from=population)
        assert resumed == tail
        known = events[: events.index(finished) + 1] + resumed
        last = scripted.populations(known)[-1]
        assert scripted.run_conclusion(problem, config, last) == end
