"""Early rejection: calls are cancelled once no answer can save a proposal, and every decision stays the same."""

import asyncio
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vpp.data.dataset import Row
from vpp.errors import EndpointUnreachable
from vpp.events import Proposed, Scored
from vpp.inference.population import Chain, Particle
from vpp.inference.scoring import Partial, largest_log_likelihood, log_likelihood, score_while
from vpp.posterior.likelihood import GaussianLikelihood, ZeroOneLikelihood
from vpp.posterior.weights import accepts, log_acceptance
from vpp.problem import Prediction

from . import scripted

FILTERED = ("mh", "mh on the buffer", "mh with history", "mh with a growing K", "smc filtered", "smc adaptive")
ROWS = tuple(Row(id=k, inputs=(("x", str(k)),), target="a") for k in range(12))


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", FILTERED)
def test_texts_decisions_and_populations_are_those_without_it(name, task):
    n_partial = 0
    for seed in range(2):
        tau = "auto" if task == "regression" else "1.0"
        config = scripted.variant(name, seed=seed, tau=tau, evaluate_every=2)
        plain = scripted.run(scripted.make_problem(config, scripted.Script(task)), config)
        early = replace(config, early_rejection=True)
        script = scripted.Script(task, delay=scripted.jitter(seed))
        found = scripted.run(scripted.make_problem(early, script), early)
        assert scripted.content(map(decided, found)) == scripted.content(map(decided, plain))
        n_partial += sum(isinstance(e, Proposed) and e.unanswered > 0 for e in found)
    assert n_partial > 0


def decided(event):
    """The event without what depends on how many rows had been answered."""
    if isinstance(event, Proposed):
        return replace(event, log_likelihood_proposal=None, log_alpha=None, unanswered=0, log_likelihood_bound=None)
    if isinstance(event, Scored) and event.role == "proposal":
        return replace(event, rows=(), predictions=(), log_likelihood=0.0)
    return event


def test_a_decision_cut_short_tells_what_was_answered_and_what_was_still_possible():
    config = scripted.variant("mh on the buffer", seed=1, early_rejection=True)
    problem = scripted.make_problem(config, scripted.Script("classification", delay=scripted.jitter(1)))
    events = scripted.run(problem, config)
    cut_short = [e for e in events if isinstance(e, Proposed) and e.unanswered]
    assert cut_short
    for decision in cut_short:
        rows = problem.buffer(decision.step, size=config.buffer_size)
        (scored,) = scripted.of_kind(events, Scored, step=decision.step, particle=decision.particle, role="proposal")
        assert len(scored.rows) + decision.unanswered == len(rows)
        assert scored.rows == tuple(row.id for row in rows if row.id in scored.rows)
        right = float(np.log1p(-config.epsilon))
        bound = scored.log_likelihood + decision.unanswered * right
        assert decision.log_likelihood_bound == pytest.approx(bound, rel=1e-12)
        assert not accepts(log_acceptance(decision.log_likelihood_bound, decision.log_likelihood), u=decision.u)
        assert (decision.accepted, decision.log_likelihood_proposal, decision.log_alpha) == (False, None, None)


LIKELIHOODS = st.one_of(
    st.builds(
        ZeroOneLikelihood,
        epsilon=st.floats(1e-9, 1, exclude_max=True).filter(lambda e: e < 1),
        n_shares=st.integers(1, 5),
    ),
    st.builds(GaussianLikelihood, tau=st.floats(1e-300, 1e300), abstention_error=st.floats(0, 1e9)),
)


@given(
    likelihood=LIKELIHOODS,
    said=st.lists(st.one_of(st.none(), st.floats(-1e200, 1e200), st.just(0.0)), min_size=1, max_size=40),
    log_lik=st.floats(max_value=0, allow_nan=False),
    exponent=st.floats(1e-6, 1),
    u=st.floats(0, 1, exclude_max=True),
    data=st.data(),
)
@example(likelihood=ZeroOneLikelihood(epsilon=0.9), said=[1.0], log_lik=0.0, exponent=1.0, u=0.5, data=None)
def test_what_is_ruled_out_early_is_rejected_with_all_answers(likelihood, said, log_lik, exponent, u, data):
    is_label = isinstance(likelihood, ZeroOneLikelihood)
    targets = ["a" if is_label else 0.0] * len(said)
    values = [("a" if x == 0 else "b") if is_label and x is not None else x for x in said]
    rows = tuple(Row(id=k, inputs=(), target=target) for k, target in enumerate(targets))
    predictions = tuple(Prediction(row=k, value=value) for k, value in enumerate(values))
    answered = data.draw(st.sets(st.sampled_from(range(len(said))))) if data else set()
    bound = largest_log_likelihood(likelihood, {k: predictions[k] for k in answered}, rows)
    whole = log_likelihood(likelihood, predictions, rows)
    assert bound >= whole
    for standing in (log_lik, whole, bound):
        if not accepts(log_acceptance(exponent * bound, exponent * standing), u=u):
            assert not accepts(log_acceptance(exponent * whole, exponent * standing), u=u)


class OneByOne:
    """A learner that answers rows one after another, all wrongly, and never the last."""

    def __init__(self, *, fails_at=None):
        self.answered, self.cancelled, self.fails_at = [], [], fails_at

    async def predict(self, hypothesis, rows):
        (row,) = rows
        try:
            for _ in range(4 * row.id + 1):
                await asyncio.sleep(0)
            if row.id == self.fails_at:
                raise EndpointUnreachable("gone")
            if row is ROWS[-1]:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.append(row.id)
            raise
        self.answered.append(row.id)
        return (Prediction(row=row.id, value="c"),)


def scored_by(learner, *, is_open):
    config = scripted.paper(method="mh")
    chain = Chain(
        problem=replace(scripted.make_problem(config, scripted.Script("classification")), learner=learner),
        config=config,
        likelihood=ZeroOneLikelihood(epsilon=0.01),
        step=0,
        slot=0,
        particle=Particle(text="h", parent=0),
    )

    async def outcome():
        return await score_while(chain, ROWS, is_open=is_open)

    return asyncio.run(alone(outcome()))


async def alone(work):
    try:
        return await work
    finally:
        assert asyncio.all_tasks() == {asyncio.current_task()}


def test_what_is_unanswered_is_cancelled_as_soon_as_nothing_is_possible():
    learner = OneByOne()
    found = scored_by(learner, is_open=lambda most: most > 3.5 * math.log(0.01))
    assert isinstance(found, Partial)
    assert learner.answered == [0, 1, 2, 3] == list(found.event.rows)
    assert sorted(learner.cancelled) == [row.id for row in ROWS[4:]]


def test_a_failed_call_ends_the_others():
    learner = OneByOne(fails_at=2)
    with pytest.raises(EndpointUnreachable):
        scored_by(learner, is_open=lambda most: True)
    assert sorted(learner.cancelled) == [row.id for row in ROWS[3:]]
