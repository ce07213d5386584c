"""`mh` and `smc` under the preset `paper` against the literal algorithms; tests/mutants.py plants faults in them."""

from functools import cache

import pytest

from vpp.events import Proposed, Resampled, Reweighted, StepFinished

from . import scripted
from .transcription import Literal, algorithm_1, algorithm_2

SHAPES = (
    {},
    {"K": 1},
    {"K": 2, "B": 10},
    {"K": 10, "N": 23, "M": 5, "B": 14},  # a last batch of 3
    {"K": 6, "M": 6, "B": 4},  # a buffer shorter than a batch; a last batch of 2, shorter than the buffer
    {"K": 4, "B": 1000},  # a buffer that never fills
    {"K": 3, "N": 5, "M": 8, "epochs": 1},  # one short batch, one step
    {"K": 7, "N": 9, "M": 1, "B": 5, "epochs": 3},
)
TASKS = ("classification", "regression")
CASES = [
    *(Literal(task, seed, **shape) for task in TASKS for seed in (0, 1, 2) for shape in SHAPES),
    *(Literal(task, seed) for task in TASKS for seed in range(3, 6)),
]
ALGORITHMS = {"mh": algorithm_1, "smc": algorithm_2}


@cache
def literal(method, case):
    return ALGORITHMS[method](case)


def product_events(method, case):
    config = scripted.paper(
        method=method, particles=case.K, batch_size=case.M, buffer_size=case.B, epochs=case.epochs, seed=case.seed
    )
    return scripted.run(scripted.make_problem(config, scripted.Script(case.task), dataset=case.dataset), config)


def check_weights(events, population, want, proposals):
    reweighted = one(events, Reweighted, population.step)
    assert reweighted.beta == pytest.approx(want.beta, rel=1e-12)
    assert list(reweighted.weights) == pytest.approx(want.reweighted, abs=1e-12)
    assert reweighted.ess == pytest.approx(want.ess, rel=1e-9)
    resampled = one(events, Resampled, population.step)
    assert (list(resampled.ancestors) if resampled else None) == want.ancestors
    assert [p.parent for p in population.particles] == (want.ancestors or list(range(len(want.texts))))
    assert [p.log_likelihood for p in population.particles] == pytest.approx(want.log_liks, rel=1e-9)
    assert [p.temperature for p in proposals] == want.temperatures


def one(events, kind, step):
    found = scripted.of_kind(events, kind, step=step)
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("method", ["mh", "smc"])
def test_the_sampler_equals_the_literal_algorithm_at_every_step(method, case):
    """Texts, weights, ESS, ancestors and decisions are the same."""
    expected = literal(method, case)
    events = product_events(method, case)
    found = scripted.populations(events)
    assert [p.step for p in found] == list(range(-1, len(expected) - 1))
    for want, population in zip(expected, found, strict=True):
        assert [p.text for p in population.particles] == want.texts
        assert population.weights.tolist() == pytest.approx(want.weights, abs=1e-12)
        finished = one(events, StepFinished, population.step)
        if population.step < 0:
            continue
        assert list(finished.batch) == want.batch
        proposals = sorted(scripted.of_kind(events, Proposed, step=population.step), key=lambda e: e.particle)
        assert [p.accepted if p.why in ("likelihood", "taken") else p.why for p in proposals] == want.accepted
        if method == "smc":
            check_weights(events, population, want, proposals)


def test_the_cases_take_every_branch_of_both_algorithms():
    decisions = [d for case in CASES for step in literal("mh", case) for d in step.accepted]
    assert {True, False, "unparsable", "unchanged"} == set(decisions)
    assert all(decisions.count(kind) >= 20 for kind in set(decisions))

    steps = [(case, step) for case in CASES for step in literal("smc", case)[1:]]
    tasks = {case.task for case in CASES}
    by_resampling = {task: [s.ancestors is not None for c, s in steps if c.task == task] for task in tasks}
    for task, resampled in by_resampling.items():
        assert 0.05 < sum(resampled) / len(resampled) < 0.95, task
    assert {0.3, 1.0} == {t for _, s in steps for t in s.temperatures}
    assert any(s.ancestors and s.ancestors != sorted(set(s.ancestors)) for _, s in steps), "some are copied"
    assert {True, "unparsable", "unchanged"} == {d for _, s in steps for d in s.accepted}
