"""Which distribution the shipped accept step samples, worked out exactly on 16 hypotheses."""

import math

import numpy as np
import pytest
from scipy import stats

from vpp.events import StepFinished
from vpp.inference.scoring import log_likelihood
from vpp.posterior.acceptance import accepts, log_acceptance
from vpp.problem import Prediction

from . import scripted

K = scripted.SIZE
TASKS = pytest.mark.parametrize("task", ["classification", "regression"])


def problem_on(task, **options):
    config = scripted.paper(method="mh", **options)
    return scripted.make_problem(config, scripted.Script(task), n_train=12), config


def log_liks(problem, task, rows):
    """(K,) of the whole space, through the shipped likelihood."""
    likelihood = problem.likelihood(epsilon=0.05, tau=1.0 if task == "regression" else None)

    def one(text):
        predictions = tuple(Prediction(row=r.id, value=scripted.answer(text, r, task=task)) for r in rows)
        return log_likelihood(likelihood, predictions, rows)

    return np.array([one(text) for text in scripted.TEXTS])


def transition(log_lik, proposal):
    """P[i, j] of the chain that proposes j from i with probability proposal[i, j] and decides by the shipped step."""
    P = np.zeros((len(log_lik), len(log_lik)))
    for i, old in enumerate(log_lik):
        for j, new in enumerate(log_lik):
            if i != j:
                P[i, j] = proposal[i, j] * math.exp(log_acceptance(new, old))
        P[i, i] = 1 - P[i].sum()
    return P


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


@TASKS
def test_a_symmetric_proposal_on_all_rows_leaves_the_posterior_of_a_uniform_prior_invariant(task):
    problem, _ = problem_on(task)
    log_lik = log_liks(problem, task, problem.dataset.train)
    posterior = normalised(np.exp(log_lik - log_lik.max()))
    P = transition(log_lik, ring())
    assert np.abs(posterior @ P - posterior).max() < 1e-12
    assert np.abs(np.full(K, 1 / K) @ P - 1 / K).max() > 1e-3, "another distribution is not invariant"


@TASKS
def test_proposals_drawn_from_the_prior_on_all_rows_leave_its_posterior_invariant(task):
    problem, _ = problem_on(task)
    log_lik, prior = log_liks(problem, task, problem.dataset.train), uneven_prior()
    posterior = normalised(prior * np.exp(log_lik - log_lik.max()))
    P = transition(log_lik, np.tile(prior, (K, 1)))
    assert np.abs(posterior @ P - posterior).max() < 1e-12


@TASKS
def test_an_informed_proposal_samples_its_own_density_times_the_likelihood(task):
    # The ratio q(theta)/q(theta') is left out: a proposal that favours what fits is counted twice.
    problem, _ = problem_on(task)
    log_lik = log_liks(problem, task, problem.dataset.train)
    informed = normalised(np.exp((log_lik - log_lik.max()) / 4))
    posterior = normalised(np.exp(log_lik - log_lik.max()))
    P = transition(log_lik, np.tile(informed, (K, 1)))
    real = normalised(informed * np.exp(log_lik - log_lik.max()))
    assert np.abs(real @ P - real).max() < 1e-12
    assert 0.5 * np.abs(real - posterior).sum() > 0.01, "and that is not the posterior"


@TASKS
def test_one_batchs_likelihood_samples_that_batchs_posterior(task):
    problem, _ = problem_on(task)
    log_lik = log_liks(problem, task, problem.batch(0))
    of_batch = normalised(np.exp(log_lik - log_lik.max()))
    of_all = log_liks(problem, task, problem.dataset.train)
    of_all = normalised(np.exp(of_all - of_all.max()))
    P = transition(log_lik, ring())
    assert np.abs(of_batch @ P - of_batch).max() < 1e-12
    assert 0.5 * np.abs(of_batch - of_all).sum() > 0.05, "and that is not the posterior of all rows"


@TASKS
def test_batches_taken_in_turn_sample_a_flatter_distribution_than_the_posterior(task):
    # Two hypotheses, a batch drawn evenly at each step: the odds are the ratio of the mean acceptances.
    problem, _ = problem_on(task, batch_size=4)
    whole = log_liks(problem, task, problem.dataset.train)
    i, j = int(whole.argmax()), int(whole.argmin())
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    by_batch = [log_liks(problem, task, problem.batch(step))[[i, j]] for step in range(problem.steps_per_epoch)]
    P = np.mean([transition(log_lik, swap) for log_lik in by_batch], axis=0)
    forth = np.mean([min(1, math.exp(b - a)) for a, b in by_batch])
    back = np.mean([min(1, math.exp(a - b)) for a, b in by_batch])
    real = normalised(np.array([back, forth]))
    assert np.abs(real @ P - real).max() < 1e-12
    posterior = normalised(np.exp(whole[[i, j]] - whole[i]))
    odds, exact = real[0] / real[1], posterior[0] / posterior[1]
    assert 1 < odds < exact / 2


def test_the_accept_step_compares_u_with_alpha():
    # The measure of {u: accepts} is alpha: exact on a grid whose mid-points are never alpha.
    grid = (np.arange(1000) + 0.5) / 1000
    for log_alpha in (0.0, math.log(0.25), math.log(0.9), -math.inf):
        assert np.mean([accepts(log_alpha, u=u) for u in grid]) == pytest.approx(math.exp(log_alpha), abs=1e-12)


@TASKS
def test_chains_of_the_sampler_are_distributed_as_the_exact_transition_matrix_says(task):
    """Chi-square over the 16 cells (pooled up to 5 expected) of 600 chains: false alarm rate 1e-6."""
    chains, steps = 600, 4

    def uniformly(text, rows, predictions, temperature, seed):
        return scripted.TEXTS[scripted.digest("uniform", seed) % K], "raw"

    config = scripted.paper(method="mh", particles=chains, batch_size=12, epochs=steps, seed=11)
    problem = scripted.make_problem(config, scripted.Script(task, write=uniformly), n_train=12)
    events = scripted.run(problem, config)
    assert len(scripted.of_kind(events, StepFinished)) == steps + 1
    P = transition(log_liks(problem, task, problem.dataset.train), np.full((K, K), 1 / K))
    expected = chains * (np.full(K, 1 / K) @ np.linalg.matrix_power(P, steps))
    last = scripted.populations(events)[-1]
    observed = np.bincount([scripted.index_of(p.text) for p in last.particles], minlength=K)
    observed, expected = pooled(observed, expected)
    assert stats.chisquare(observed, expected).pvalue > 1e-6
    start = np.full(len(expected), chains / len(expected))
    assert stats.chisquare(observed, start).pvalue < 1e-6, "the test can tell the end from the start"


def pooled(observed, expected):
    """Cells with fewer than 5 expected are put together."""
    rare = expected < 5
    if not rare.any():
        return observed, expected
    return np.append(observed[~rare], observed[rare].sum()), np.append(expected[~rare], expected[rare].sum())
