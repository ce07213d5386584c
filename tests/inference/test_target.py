"""Which distribution the shipped accept step samples, worked out exactly on 16 hypotheses."""

import asyncio
import math

import numpy as np
import pytest

from vpp.inference.population import Chain, Particle
from vpp.inference.proposing import Candidate, decide, log_likelihood, score
from vpp.problem import Prediction, Proposal, likelihood_of

from . import scripted

K = scripted.SIZE
TASKS = pytest.mark.parametrize("task", ["classification", "regression"])


def problem_on(task, **options):
    config = scripted.paper(method="mh", **options)
    return scripted.make_problem(config, scripted.Script(task), n_train=12), config


def log_liks(problem, task, rows):
    """(K,) of the whole space, through the shipped likelihood."""
    likelihood = likelihood_of(problem.dataset, scripted.paper())

    def one(text):
        predictions = tuple(Prediction(row=r.id, value=scripted.answer(text, r, task=task)) for r in rows)
        return log_likelihood(likelihood, predictions, rows)

    return np.array([one(text) for text in scripted.TEXTS])


def normalised(values):
    return values / values.sum()


def ring():
    """A symmetric proposal: one to either side, or three."""
    Q = np.zeros((K, K))
    for i in range(K):
        for hop, share in ((1, 0.3), (-1, 0.3), (3, 0.2), (-3, 0.2)):
            Q[i, (i + hop) % K] += share
    return Q


def uneven_prior():
    return normalised(1.0 + np.arange(K) % 5)


def shipped_transition(problem, config, task, rows, proposal, *, exponent=1.0):
    """P[i, j] by the shipped `decide`: every parent against every candidate, on `rows`."""
    likelihood = likelihood_of(problem.dataset, config)

    def chain(text):
        particle = Particle(text=text, parent=0)
        return Chain(problem=problem, config=config, likelihood=likelihood, step=0, slot=0, particle=particle)

    async def every_pair():
        P = np.zeros((K, K))
        for i, text in enumerate(scripted.TEXTS):
            scored = await score(chain(text), rows, role="forward")
            for j, other in enumerate(scripted.TEXTS):
                if i != j:
                    made = candidate(chain(text).of(scored.particle), other)
                    outcome = await decide(made, rows, exponent=exponent)
                    decided = outcome.events[-1]
                    assert decided.accepted == (math.log(decided.u) < decided.log_alpha or decided.log_alpha == 0)
                    assert outcome.particle.text == (other if decided.accepted else text)
                    P[i, j] = proposal[i, j] * math.exp(decided.log_alpha)
            P[i, i] = 1 - P[i].sum()
        return P

    return asyncio.run(every_pair())


def candidate(chain, text):
    proposal = Proposal(text=text, raw="", temperature=1.0, seed=0)
    return Candidate(chain=chain, proposal=proposal, origin="prior")


@TASKS
@pytest.mark.parametrize("exponent", [1.0, 0.25])
def test_restarts_alone_on_all_rows_leave_the_tempered_posterior_of_their_prior_invariant(exponent, task):
    problem, config = problem_on(task)
    rows, prior = problem.dataset.train, uneven_prior()
    P = shipped_transition(problem, config, task, rows, np.tile(prior, (K, 1)), exponent=exponent)
    log_lik = log_liks(problem, task, rows)
    target = normalised(prior * np.exp(exponent * (log_lik - log_lik.max())))
    assert np.abs(target @ P - target).max() < 1e-12
    assert np.abs(prior @ P - prior).max() > 1e-3, "another distribution is not invariant"


@TASKS
def test_a_symmetric_proposal_through_the_whole_accept_step_leaves_the_posterior_invariant(task):
    problem, config = problem_on(task)
    rows = problem.dataset.train
    P = shipped_transition(problem, config, task, rows, ring())
    log_lik = log_liks(problem, task, rows)
    posterior = normalised(np.exp(log_lik - log_lik.max()))
    assert np.abs(posterior @ P - posterior).max() < 1e-12
