"""Algorithms 1 and 2 of the paper, written down literally: one loop after another, sums as sums.

They share with the samplers only the addresses of random numbers and the scripted model's pure functions.
"""

import math
import statistics
from dataclasses import dataclass, field
from functools import cached_property

from vpp.problem import Prediction
from vpp.randomness import call_seed, rng

from . import scripted

EPSILON, TAU = 0.05, 1.0


@dataclass
class Step:
    """The state after a step, and how it came about."""

    texts: list
    weights: list
    """Normalised, as the step ends."""
    reweighted: list = None
    """Normalised, before resampling."""
    ess: float = None
    beta: float = None
    ancestors: list = None
    """None where the step did not resample."""
    log_liks: list = None
    """Of the ancestors on the buffer."""
    temperatures: list = None
    accepted: list = field(default_factory=list)
    """True, False, or why there was nothing to decide."""
    batch: list = None


@dataclass(frozen=True)
class Literal:
    """A table of the scripted world and the options of a run, for both algorithms."""

    task: str
    seed: int = 0
    K: int = 5
    N: int = 20
    M: int = 5
    B: int = 12
    epochs: int = 2

    def __str__(self):
        return f"{self.task[:5]}-seed{self.seed}-K{self.K}-N{self.N}-M{self.M}-B{self.B}-E{self.epochs}"

    @cached_property
    def dataset(self):
        return scripted.make_dataset(self.task, n_train=self.N)

    @property
    def T(self):
        return self.epochs * math.ceil(self.N / self.M)

    def batches(self):
        """Every step's rows: a seeded shuffle each epoch; a last short batch is used as it is."""
        for epoch in range(self.epochs):
            order = list(rng(self.seed, "batches", epoch).permutation(self.N))
            while order:
                cut, order = order[: self.M], order[self.M :]
                yield [self.dataset.train[i] for i in cut]

    def f(self, theta, rows):
        return [scripted.answer(theta, row, task=self.task) for row in rows]

    def f_opt(self, theta, rows, y_hat, temperature, seed):
        """(theta~, readable?)"""
        predictions = [Prediction(row=row.id, value=value) for row, value in zip(rows, y_hat, strict=True)]
        text, _ = scripted.rewrite(theta, rows, predictions, temperature, seed)
        return text

    def log_p(self, rows, y_hat):
        """Eq. 5 or 6; an abstention is wrong, or the range of the training targets off.

        fsum rounds once, so hypotheses with as many right answers tie exactly.
        """
        terms = []
        for row, f in zip(rows, y_hat, strict=True):
            if self.task == "classification":
                terms.append(math.log(1 - EPSILON) if f == row.target else math.log(EPSILON))
            else:
                targets = [r.target for r in self.dataset.train]
                error = max(targets) - min(targets) if f is None else row.target - f
                terms.append(-(error**2) / (2 * TAU))
        return math.fsum(terms)

    def initial(self):
        """theta_0^(k) <- f_opt(theta_init, seed batch), temperatures from 0.3 to 1.2."""
        first = next(self.batches())
        y_hat = self.f(scripted.SEED_TEXT, first)
        texts = []
        for k in range(self.K):
            temperature = round(0.3 + (1.2 - 0.3) * k / (self.K - 1), 6) if self.K > 1 else 0.3
            text = self.f_opt(scripted.SEED_TEXT, first, y_hat, temperature, call_seed(self.seed, "draw", 0, k))
            texts.append(scripted.SEED_TEXT if text is None else text)
        return texts


def algorithm_1(problem):
    """VPP-MH. Returns the state before step 0 and after every step."""
    K = problem.K
    theta = problem.initial()
    steps = [Step(texts=list(theta), weights=[1 / K] * K)]
    for t, batch in enumerate(problem.batches()):
        accepted = []
        for k in range(K):
            y_hat = problem.f(theta[k], batch)
            proposal = problem.f_opt(theta[k], batch, y_hat, 0.7, call_seed(problem.seed, "propose", t, k))
            if proposal is None or proposal == theta[k]:
                accepted.append("unparsable" if proposal is None else "unchanged")
                continue
            y_hat_new = problem.f(proposal, batch)
            alpha = min(1, math.exp(problem.log_p(batch, y_hat_new) - problem.log_p(batch, y_hat)))
            accepted.append(bool(rng(problem.seed, "accept", t, k).random() < alpha))
            if accepted[k]:
                theta[k] = proposal
        steps.append(Step(texts=list(theta), weights=[1 / K] * K, accepted=accepted, batch=[r.id for r in batch]))
    return steps


def algorithm_2(problem):
    """VPP-SMC. Returns the state before step 0 and after every step."""
    K, T = problem.K, problem.T
    theta = problem.initial()
    buffer = []
    steps = [Step(texts=list(theta), weights=[1 / K] * K)]
    for t, batch in enumerate(problem.batches()):
        buffer = (buffer + batch)[-problem.B :]
        log_liks = [problem.log_p(buffer, problem.f(theta[k], buffer)) for k in range(K)]
        beta = 10 - 9 * t / (T - 1) if T > 1 else 1  # linear, from 10 to 1
        powers = [math.exp((ll - max(log_liks)) / beta) for ll in log_liks]
        w = [p / sum(powers) for p in powers]
        ess = 1 / sum(x * x for x in w)
        step = Step(texts=[], weights=w, reweighted=w, ess=ess, beta=beta, batch=[r.id for r in batch])
        if K > 1 and ess < K / 2:
            u = rng(problem.seed, "resample", t, 0).random()
            step.ancestors = systematic(w, u)
            theta = [theta[a] for a in step.ancestors]
            log_liks = [log_liks[a] for a in step.ancestors]
            step.weights = [1 / K] * K
        median = statistics.median(log_liks)
        step.log_liks = log_liks
        step.temperatures = [0.3 if ll >= median else 1.0 for ll in log_liks]  # a tie at the median is cautious
        for k in range(K):
            y_hat = problem.f(theta[k], batch)
            seed = call_seed(problem.seed, "propose", t, k)
            text = problem.f_opt(theta[k], batch, y_hat, step.temperatures[k], seed)
            step.accepted.append("unparsable" if text is None else "unchanged" if text == theta[k] else True)
            theta[k] = theta[k] if text is None else text
        step.texts = list(theta)
        steps.append(step)
    return steps


def systematic(w, u):
    """Walks K pointers (i + u) / K along the running sum of the weights."""
    K = len(w)
    ancestors, k, running = [], 0, w[0]
    for i in range(K):
        while k < K - 1 and running <= (i + u) / K:
            k += 1
            running += w[k]
        ancestors.append(k)
    return ancestors
