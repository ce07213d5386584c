"""A sampler's input: the data in batches, and protocols of a model's two roles, all that inference and llm share."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Literal, Protocol

import numpy as np

from vpp.data.dataset import Dataset, Row, Value
from vpp.events import Constant, Votes, Writing
from vpp.posterior import likelihood as likelihoods
from vpp.posterior.disagreement import closeness, share_alike
from vpp.posterior.metric import accuracy, mean_squared_error
from vpp.posterior.prediction import Answer, Grades, Mixture
from vpp.posterior.weights import Floats
from vpp.randomness import rng
from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """f(x; theta) for one row."""

    row: int
    value: Value | None
    """A label or a finite number; None is an abstention: no answer could be read, after every re-ask."""
    explanation: str = ""
    raw: str | None = None
    """The whole answer, if it could not be read."""
    reason: str | None = None
    """Why it could not be read."""
    shares: Grades | None = None
    """Probability of each label, if answers are graded; then `value` is the likeliest."""
    branch: int | None = None
    """Index of the program's return that answered; None for an answer that the model gave itself."""

    @property
    def answer(self) -> Answer:
        return self.value if self.shares is None else self.shares

    def is_mistake(self, row: Row) -> bool:
        """True if the answer is not exactly the row's target: of numbers nearly every answer is one."""
        return self.value != row.target


def shares_of(predictions: Sequence[Prediction]) -> tuple[Grades | None, ...]:
    """(N,) graded answer of each prediction, None for an abstention; empty if no answer is graded."""
    shares = tuple(p.shares for p in predictions)
    return shares if any(share is not None for share in shares) else ()


def branches_of(predictions: Sequence[Prediction]) -> tuple[int | None, ...]:
    """(N,) index of the program's return that answered each row; empty if no program answered."""
    branches = tuple(p.branch for p in predictions)
    return branches if any(branch is not None for branch in branches) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """A hypothesis as a program, as the learner wrote it."""

    hypothesis: str
    """Id of the text."""
    code: str | None
    """Python with one function `predict`; None if the text cannot be one."""
    reason: str | None = None
    """Why it cannot."""
    attempts: int
    """Calls needed; 0 if nothing was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAnswer:
    """What the learner says to a program's question about a cell of free text, once for all programs."""

    question: str
    text: str
    """Id of the cell's text."""
    yes: bool | None
    """None if no answer could be read."""
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Writing):
    """The optimizer's answer for one particle."""

    text: str | None
    """The whole hypothesis, seed sentence included; None if no answer could be read, after every re-ask."""
    seed: int


class Learner(Protocol):
    """f(x; theta), memoised by (hypothesis, row): the same question is asked once."""

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        """Return one prediction a row, in the order of `rows`. Raises EndpointError."""


class Optimizer(Protocol):
    """f_opt(theta, batch): writes the next hypothesis."""

    async def propose(
        self, hypothesis: str, rows: Sequence[Row], predictions: Sequence[Prediction], *, temperature: float, seed: int
    ) -> Proposal:
        """Return a revised hypothesis. Raises EndpointError."""

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        """Draw a hypothesis from the prior: from the seed sentence and the columns alone. Raises EndpointError."""


def batch_length(step: int, *, n_train: int, batch_size: int) -> int:
    """Number of rows in a step's batch: the last of an epoch may be short."""
    index = step % -(-n_train // batch_size)
    return min(batch_size, n_train - index * batch_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A sampler's input: rows, roles, and the order in which rows come."""

    dataset: Dataset
    learner: Learner
    optimizer: Optimizer
    seed_text: str
    """The sentence every hypothesis begins with, the user's prior included."""
    batch_size: int
    epochs: int
    seed: int
    score_rows: int = 0
    """Most training rows that steps use, a random sample; 0: all."""
    buffer_repeats: bool = False
    shows_predictions: bool = True
    """False if the prompts for first hypotheses show no predictions of the seed sentence."""
    start_texts: tuple[str, ...] = ()
    """Hypotheses that the first population takes over, K at most; the optimizer draws the rest."""
    start_prior: tuple[float, ...] = ()
    """(K,) prior probabilities of hypotheses that are only weighed; empty if all are equal."""
    n_written: int = 0
    """Sentences that share the prior of those weighed, if these are the last of several runs."""
    start_origin: Literal["continued", "yours"] = "continued"
    """Where these come from: an earlier run, or a person."""
    reader: Learner | None = None
    """The learner that reads the text of a program for each row itself; None if there are no programs."""

    @property
    def steps_per_epoch(self) -> int:
        """Batches in one pass; a last short batch counts."""
        return -(-len(self.pool) // self.batch_size)

    @property
    def pool(self) -> tuple[Row, ...]:
        """Training rows that steps use, in the order of the table: batches are cut from them."""
        rows = self.dataset.train
        if not 0 < self.score_rows < len(rows):
            return rows
        return tuple(rows[at] for at in _sample(self.seed, len(rows), self.score_rows))

    @property
    def steps(self) -> int:
        """T, the number of steps of the whole run: the paper's algorithms call a step an epoch."""
        return self.epochs * self.steps_per_epoch

    def batch(self, step: int) -> tuple[Row, ...]:
        """The step's rows: a seeded shuffle of the training rows each epoch, cut in order."""
        epoch, index = divmod(step, self.steps_per_epoch)
        pool = self.pool
        order, first = _shuffled(self.seed, epoch, len(pool)), index * self.batch_size
        return tuple(pool[i] for i in order[first : first + self.batch_size])

    def buffer(self, step: int, *, size: int) -> tuple[Row, ...]:
        """The last `size` rows seen, those of the step's batch included, each once unless `buffer_repeats`."""
        rows: list[Row] = []
        ids: set[int] = set()
        for earlier in range(step, -1, -1):
            new = [row for row in self.batch(earlier) if self.buffer_repeats or row.id not in ids]
            ids.update(row.id for row in new)
            rows[:0] = new
            if len(rows) >= size:
                break
        return tuple(rows[-size:])

    def scored_rows(self, config: Config, step: int) -> tuple[Row, ...]:
        """Rows on which the step scores each particle: on both sides of Eq. 9, or for the weights of Eq. 10."""
        if config.scored_on == "train":
            return self.pool
        return self.buffer(step, size=config.buffer_size) if config.scored_on == "buffer" else self.batch(step)

    def final_rows(self, config: Config, step: int) -> tuple[Row, ...]:
        """Rows on which the texts of the last step are scored for the final weights."""
        return self.dataset.train if is_final_on_train(config) else self.buffer(step, size=config.buffer_size)

    def origin(self, slot: int) -> Literal["drawn", "continued", "yours"]:
        return "drawn" if slot >= len(self.start_texts) else self.start_origin

    @property
    def start_log_weights(self) -> tuple[float, ...]:
        """(K,) log-weights of given hypotheses before any row: log(K p(theta^(k))), so that their mean weight is 1."""
        return tuple(log(len(self.start_prior) * share) for share in self.start_prior) or (0.0,) * len(self.start_texts)


@lru_cache(maxsize=4)
def _shuffled(seed: int, epoch: int, n: int) -> tuple[int, ...]:
    """The order of the rows in an epoch, which every step of it asks for."""
    return tuple(rng(seed, "batches", epoch).permutation(n).tolist())


@lru_cache(maxsize=4)
def _sample(seed: int, n: int, size: int) -> tuple[int, ...]:
    return tuple(sorted(rng(seed, "score").choice(n, size, replace=False).tolist()))


def n_pool(config: Config, n_train: int) -> int:
    """Training rows that steps use: with programs `score_rows` at most, so that a large table has few steps."""
    return min(n_train, config.score_rows) if config.has_programs and not config.is_weighing else n_train


def is_final_on_train(config: Config) -> bool:
    """True if texts are scored on all training rows for the final weights; else on the last buffer."""
    return config.final_weights == "train" or config.is_telescoping or config.has_programs


def likelihood_of(dataset: Dataset, config: Config) -> likelihoods.Likelihood:
    """Eq. 5 or 6, as the target's task asks and the paper has it, with the given noise; or with it integrated out."""
    if dataset.task == "classification":
        if (epsilon := config.noise("epsilon")) is not None:
            return likelihoods.ZeroOneLikelihood(epsilon=epsilon)
    elif (tau := config.noise("tau")) is not None:
        return likelihoods.GaussianLikelihood(tau=tau, abstention_error=dataset.target_range)
    return integrated(dataset)


def integrated(dataset: Dataset) -> likelihoods.IntegratedZeroOne | likelihoods.IntegratedGaussian:
    """Eq. 5 or 6, as the target's task asks, with the noise integrated out."""
    if dataset.task == "classification":
        return likelihoods.IntegratedZeroOne(n_shares=max(1, len(dataset.classes) - 1))
    return likelihoods.integrated_gaussian([float(row.target) for row in dataset.train if row.target is not None])


def noise_of(
    dataset: Dataset, config: Config, train: Sequence[Sequence[Prediction]], constant: Constant | None
) -> tuple[float, ...]:
    """(K,) posterior mean of each sentence's epsilon; empty with a given noise.

    Of numbers the standard deviation of each sentence's errors, and that of the constant answer, if there is one.
    train: (K, N) predictions of the training rows.
    """
    likelihood, targets = likelihood_of(dataset, config), [row.target for row in dataset.train]
    answers: list[list[Answer]] = [[p.answer for p in each] for each in train]
    if isinstance(likelihood, likelihoods.IntegratedZeroOne):
        return tuple(likelihood.predictive(each, targets).epsilon for each in answers)
    if isinstance(likelihood, likelihoods.IntegratedGaussian):
        if constant:
            answers.append([constant.answer] * len(targets))
        return tuple(math.sqrt(likelihood.predictive(each, targets).tau) for each in answers)
    return ()


def constant_of(dataset: Dataset, config: Config, rows: Sequence[Row]) -> Constant:
    """The constant answer of the training rows, without a weight. rows: those that score it."""
    answer, targets, likelihood = dataset.constant, [row.target for row in rows], likelihood_of(dataset, config)
    if not isinstance(likelihood, likelihoods.IntegratedZeroOne):
        return Constant(answer=answer, log_likelihood=likelihood.log_likelihood([answer] * len(targets), targets))
    counts, n = Counter(row.target for row in dataset.train), len(dataset.train) + len(dataset.classes)
    shares = tuple((counts[label] + 1) / n for label in dataset.classes)
    return Constant(answer=answer, shares=shares, log_likelihood=likelihoods.labels_alone(targets, dataset.classes))


def similarity_of(dataset: Dataset, answers: Sequence[Votes]) -> Floats:
    """(n, n) similarity of hypotheses, between 0 and 1. answers: (n, N)."""
    return share_alike(answers) if dataset.classes else closeness(answers, span=dataset.target_range)


def averages_of(mixture: Mixture, answers: Sequence[Sequence[Answer]]) -> Votes:
    """(N,) averaged prediction of each row (Eq. 7 or 8). answers: (K, N)."""
    return tuple(map(mixture.average, zip(*answers, strict=True)))


def metric_of(
    dataset: Dataset, answers: Votes, targets: Sequence[Value | None]
) -> tuple[Literal["accuracy", "mse"], float]:
    """Name and value of the run's metric, over at least one row."""
    if dataset.task == "classification":
        return "accuracy", accuracy(answers, targets)
    return "mse", mean_squared_error(answers, targets, abstention_error=dataset.target_range)


def losses_of(dataset: Dataset, answers: Votes, targets: Sequence[Value | None]) -> Floats:
    """(N,) loss of each row: 1 if wrong and 0 if right, or the squared error; equal errors have equal losses."""
    if dataset.task == "classification":
        return (~likelihoods.correct(answers, targets)).astype(np.float64)
    errors = likelihoods.settled_errors(answers, targets, abstention_error=dataset.target_range)
    with np.errstate(over="ignore"):
        return np.square(errors)
