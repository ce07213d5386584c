"""The accept step's samples and tempered SMC's evidence, on spaces small enough to list every hypothesis.

The evidence is unbiased within the bounds of vpp/inference/tempered.py, and biased outside: particles and proposals
from the prior, fixed rows, fixed exponents.
"""

import asyncio
import math
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from vpp.events import Resampled, Reweighted
from vpp.inference import proposing, sequential_monte_carlo, tempered
from vpp.inference.population import Chain, Particle, Population
from vpp.inference.proposing import Candidate, decide, log_likelihood, score
from vpp.posterior.weights import systematic_resample
from vpp.problem import Prediction, Proposal, likelihood_of

from . import scripted
from .scripted import SIZE


def configure(**options):
    within = {"tempering": "incremental", "restart": 1.0, "epsilon": 0.3, "beta_start": 4.0}
    return scripted.paper(method="smc", **{"batch_size": 3, "epochs": 1, **within, **options})


def make(config, *, n_train=6, **script):
    return scripted.make_problem(config, scripted.Script("classification", **script), n_train=n_train)


def log_liks(problem, config, texts):
    """(S,) of the training rows, through the shipped likelihood."""
    data, rows = problem.dataset, problem.dataset.train
    likelihood = likelihood_of(data, config)

    def one(text):
        said = tuple(Prediction(row=r.id, value=scripted.answer(text, r, task=data.task)) for r in rows)
        return log_likelihood(likelihood, said, rows)

    return np.array([one(text) for text in texts])


PRIORS = {2: (0.7, 0.3), 3: (0.5, 0.3, 0.2)}
SPACES = {2: (scripted.TEXTS[4], scripted.TEXTS[14]), 3: (scripted.TEXTS[14], scripted.TEXTS[9], scripted.TEXTS[4])}


class Given:
    """A generator that gives one number."""

    def __init__(self, u):
        self._u = u

    def random(self):
        return self._u


def resamplings(weights):
    """Every outcome of the shipped scheme, as (u, probability, ancestors), a piece of [0, 1) each."""
    marks = sorted({0.0, 1.0, *(float(x % 1) for x in len(weights) * np.cumsum(weights))})
    for low, high in pairwise(marks):
        middle = (low + high) / 2
        if high - low > 1e-15:
            yield middle, high - low, systematic_resample(weights, u=middle).tolist()


class Enumeration:
    """All that can become of K = 2 particles, through the shipped step."""

    def __init__(self, patch, runner, size, **options):
        self.texts, self.prior = SPACES[size], PRIORS[size]
        self.config = configure(particles=2, **options)
        patch.setattr("vpp.inference.tempered.ESS_SHARE", 0.9)
        self.problem = make(self.config, imagine=lambda temperature, seed: (self.drawn[seed], "raw"))
        self.log_lik = dict(zip(self.texts, log_liks(self.problem, self.config, self.texts), strict=True))
        self.resampled = self.not_resampled = 0
        self.ends = None
        self._runner = runner
        patch.setattr(sequential_monte_carlo, "rng", lambda *_: Given(self._u))
        patch.setattr(proposing, "rng", self._drawn)
        patch.setattr(proposing, "call_seed", lambda seed, purpose, step, slot: slot)

    def _drawn(self, seed, purpose, step, slot):
        return Given(0.0 if purpose == "restart" else self._accepts[slot])

    @property
    def truth(self):
        """sum_theta p(theta) p(D | theta)."""
        return sum(p * math.exp(self.log_lik[text]) for p, text in zip(self.prior, self.texts, strict=True))

    def expectation(self, value):
        """E[Z^ sum_k w_k value(theta_k)]: of an unbiased sampler, sum_theta p(theta) p(D | theta) value(theta)."""
        self.ends = self.ends or self.run()
        total = 0.0
        for population, mass in self.ends.values():
            w = [math.exp(p.log_weight) for p in population.particles]
            total += mass * np.mean([w_k * value(p.text) for w_k, p in zip(w, population.particles, strict=True)])
        return total

    def run(self):
        """{what matters of a population: (population, probability times evidence so far)}."""
        states = {}
        for (i, p), (j, q) in product(enumerate(self.prior), repeat=2):
            particles = tuple(Particle(text=self.texts[index], parent=k) for k, index in enumerate((i, j)))
            _add(states, Population(step=-1, particles=particles), p * q)
        for step in range(self.problem.steps):
            nexts = {}
            for population, mass in states.values():
                for after, probability in self.successors(population, step):
                    _add(nexts, after, mass * probability * math.exp(after.log_evidence))
            states = nexts
        return states

    def successors(self, population, step):
        """Every population that the step can lead to, its evidence counted from this step, with its probability."""
        population = replace(population, step=step - 1, log_evidence=0.0)
        # No choice decides the weights, and with them whether the step resamples.
        after, events = self.step(population, step, u=0.5, accepts=(0.5, 0.5), texts=2 * self.texts[:1])
        reweighted, exponent = scripted.of_kind(events, Reweighted)[0], after.exponent
        is_due = tempered.is_resampled(reweighted, self.config, exponent=exponent, size=2)
        self.resampled, self.not_resampled = self.resampled + is_due, self.not_resampled + (not is_due)
        outcomes = list(resamplings(reweighted.weights)) if is_due else [(0.5, 1.0, [0, 1])]
        for u, share, ancestors in outcomes:
            for draw in product(range(len(self.texts)), repeat=2):
                texts = [self.texts[j] for j in draw]
                options = [
                    self.decisions(population.particles[a].text, text, exponent)
                    for a, text in zip(ancestors, texts, strict=True)
                ]
                drawn = math.prod(self.prior[j] for j in draw)
                for choice in product(*options):
                    accepts = [number for number, _, _ in choice]
                    after, events = self.step(population, step, u=u, accepts=accepts, texts=texts)
                    assert [p.text for p in after.particles] == [text for _, _, text in choice]
                    assert [list(e.ancestors) for e in scripted.of_kind(events, Resampled)] == [ancestors] * is_due
                    yield after, share * drawn * math.prod(chance for _, chance, _ in choice)

    def decisions(self, text, proposal, exponent):
        """(u, probability, text kept): accepted, and where that is not certain, rejected."""
        if text == proposal:
            return [(0.5, 1.0, text)]
        alpha = min(1.0, math.exp(exponent * (self.log_lik[proposal] - self.log_lik[text])))
        rejected = [((1 + alpha) / 2, 1 - alpha, text)] if alpha < 1 else []
        return [(alpha / 2, alpha, proposal), *rejected]

    def step(self, population, step, *, u, accepts, texts):
        """The shipped step with these numbers in place of its random ones, and these draws of the prior."""
        self._u, self._accepts, self.drawn = u, accepts, texts
        told = self._runner.run(scripted.collect(tempered.step(self.problem, self.config, population, step=step)))
        return told[-1], told[:-1]


def _add(states, population, mass):
    key = tuple((p.text, p.log_weight) for p in population.particles)
    _, before = states.get(key, (population, 0.0))
    states[key] = population, before + mass


@pytest.fixture
def enumerate_all(monkeypatch):
    with asyncio.Runner() as runner:
        yield lambda size, **options: Enumeration(monkeypatch, runner, size, **options)


SIZES = pytest.mark.parametrize(("size", "batch_size"), [(3, 3), (2, 2)], ids=["3 in 2 steps", "2 in 3 steps"])


@SIZES
def test_the_expected_evidence_is_the_truth_and_every_expected_weight_is_prior_times_likelihood(
    size, batch_size, enumerate_all
):
    """Over every random choice."""
    every = enumerate_all(size, batch_size=batch_size)
    assert every.expectation(lambda text: 1.0) == pytest.approx(every.truth, rel=1e-12)
    assert every.resampled > 10, "some resample"
    assert every.not_resampled > 10, "some do not"
    for prior, text in zip(every.prior, every.texts, strict=True):
        expected = prior * math.exp(every.log_lik[text])
        assert every.expectation(lambda said, text=text: said == text) == pytest.approx(expected, rel=1e-12)


def ring():
    """A symmetric proposal: one to either side, or three."""
    Q = np.zeros((SIZE, SIZE))
    for i in range(SIZE):
        for hop, share in ((1, 0.3), (-1, 0.3), (3, 0.2), (-3, 0.2)):
            Q[i, (i + hop) % SIZE] += share
    return Q


def transition(problem, config, proposal, *, exponent):
    """P[i, j] by the shipped `decide` on all training rows: every parent against every candidate."""
    likelihood, rows = likelihood_of(problem.dataset, config), problem.dataset.train

    def chain(text):
        particle = Particle(text=text, parent=0)
        return Chain(problem=problem, config=config, likelihood=likelihood, step=0, slot=0, particle=particle)

    async def every_pair():
        P = np.zeros((SIZE, SIZE))
        for i, text in enumerate(scripted.TEXTS):
            scored = await score(chain(text), rows, role="forward")
            for j, other in enumerate(scripted.TEXTS):
                if i != j:
                    written = Proposal(text=other, raw="", temperature=1.0, seed=0)
                    candidate = Candidate(chain=chain(text).of(scored.particle), proposal=written, origin="prior")
                    outcome = await decide(candidate, rows, exponent=exponent)
                    decided = outcome.events[-1]
                    assert decided.accepted == (math.log(decided.u) < decided.log_alpha or decided.log_alpha == 0)
                    assert outcome.particle.text == (other if decided.accepted else text)
                    P[i, j] = proposal[i, j] * math.exp(decided.log_alpha)
            P[i, i] = 1 - P[i].sum()
        return P

    return asyncio.run(every_pair())


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(("is_restart", "exponent"), [(True, 1.0), (True, 0.25), (False, 1.0)])
def test_the_accept_step_leaves_the_tempered_posterior_of_its_prior_invariant(is_restart, exponent, task):
    """Draws from an uneven prior, or moves that are as likely as their way back, whose prior is even."""
    config = scripted.paper(method="mh")
    problem = scripted.make_problem(config, scripted.Script(task), n_train=12)
    prior = 1.0 + np.arange(SIZE) % 5 if is_restart else np.ones(SIZE)
    prior /= prior.sum()
    P = transition(problem, config, np.tile(prior, (SIZE, 1)) if is_restart else ring(), exponent=exponent)
    log_lik = log_liks(problem, config, scripted.TEXTS)
    target = prior * np.exp(exponent * (log_lik - log_lik.max()))
    target /= target.sum()
    assert np.abs(target @ P - target).max() < 1e-12
    assert np.abs(prior @ P - prior).max() > 1e-3, "another distribution is not invariant"
