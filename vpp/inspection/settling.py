"""What would settle it: inputs whose true answer would tell most of which hypothesis holds, and what each would do."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from vpp.data.dataset import Dataset, Row
from vpp.events import Votes
from vpp.inspection.behaviour import behaviour
from vpp.inspection.ideas import merge_ideas
from vpp.posterior.disagreement import weighted_interval
from vpp.posterior.information import entropy, label_information, number_information, weights_after
from vpp.posterior.likelihood import Likelihood
from vpp.posterior.prediction import Value, average, vote_shares
from vpp.problem import likelihood_of
from vpp.runs.asking import Answers
from vpp.runs.view import RunView
from vpp.settings import Config

REACH = 2.0
"""A number further than so many standard deviations of the noise, sqrt(tau), speaks against a prediction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """What one true answer would do."""

    answer: Value
    """A label that some particle gives, or the number in the middle of a camp."""
    behind: float
    """Weight of the particles that say so, or come within reach of the number."""
    contradicted: float
    """Weight of those that say something else."""
    against: tuple[int, ...]
    """Their slots; particles without weight are left out."""
    weights: tuple[float, ...]
    """(K,) after this one answer, by Bayes; an abstention counts as wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An input, what the particles say of it, and what its true answer would do."""

    row: Row
    votes: Votes
    """(K,) by slot."""
    bits: float
    """Expected information of the true answer about which hypothesis holds."""
    prediction: Value | None
    """The averaged one."""
    shares: tuple[tuple[str, float], ...]
    """Weight behind each label, heaviest first; empty for regression."""
    abstained: float
    """Weight of those that gave no readable answer."""
    interval: tuple[float, float] | None
    """For regression, where the middle 90 % of the particles' weight lies."""
    consequences: tuple[Consequence, ...]
    """By the weight behind the answer, greatest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A hypothesis that some particles hold, in one wording or several."""

    text: str
    """Of the heaviest particle."""
    slots: tuple[int, ...]
    weight: float

    def weight_after(self, consequence: Consequence) -> float:
        """What it would hold then."""
        return sum(consequence.weights[slot] for slot in self.slots)


def questions(answers: Answers, view: RunView, config: Config, dataset: Dataset) -> tuple[Question, ...]:
    """Every row asked about, most informative first."""
    tau = tau_of(view, config)
    likelihood = likelihood_of(dataset, epsilon=config.epsilon, tau=tau, error_mass=config.error_mass)
    by_row = zip(*([p.value for p in particle] for particle in answers.predictions), strict=True)
    found = [
        _question(row, votes, answers.weights, dataset, likelihood, tau)
        for row, votes in zip(answers.rows, by_row, strict=True)
    ]
    return tuple(sorted(found, key=lambda question: (-question.bits, question.row.id)))


def tau_of(view: RunView, config: Config) -> float | None:
    """Regression's tau in force; None for classification."""
    finished = view.finished_steps[-1].finished if view.finished_steps else None
    return finished.tau if finished and finished.tau is not None else config.fixed_tau


def _question(
    row: Row, votes: Votes, weights: Sequence[float], dataset: Dataset, likelihood: Likelihood, tau: float | None
) -> Question:
    is_label = dataset.task == "classification"
    if is_label:
        bits = label_information(votes, weights, dataset.classes, likelihood)
        answers = [label for label, share in vote_shares(votes, weights).items() if share > 0]
        reach = 0.0
    else:
        reach = REACH * math.sqrt(tau or 0.0)
        bits = number_information(votes, weights, tau=tau or 0.0)
        answers = list(middles(votes, weights, reach=reach))
    consequences = [_consequence(answer, votes, weights, likelihood, reach) for answer in answers]
    shares = vote_shares(votes, weights) if is_label else {}
    return Question(
        row=row,
        votes=votes,
        bits=bits,
        prediction=average(votes, weights, is_label=is_label),
        shares=tuple((str(label), share) for label, share in shares.items()),
        abstained=sum(w for vote, w in zip(votes, weights, strict=True) if vote is None),
        interval=None if is_label else weighted_interval(votes, weights),
        consequences=tuple(sorted(consequences, key=lambda c: -c.behind)),
    )


def middles(votes: Votes, weights: Sequence[float], *, reach: float) -> tuple[Value, ...]:
    """The numbers in the middle of camps: the heaviest prediction, then the heaviest further than `reach` from it, …"""
    found: list[float] = []
    for value in [float(value) for value, share in vote_shares(votes, weights).items() if share > 0]:
        if all(abs(value - middle) > reach for middle in found):
            found.append(value)
    return tuple(found)


def _consequence(
    answer: Value, votes: Votes, weights: Sequence[float], likelihood: Likelihood, reach: float
) -> Consequence:
    voices = {slot: vote for slot, vote in enumerate(votes) if vote is not None and weights[slot] > 0}
    against = tuple(slot for slot, vote in voices.items() if is_contradicted(vote, answer, reach=reach))
    return Consequence(
        answer=answer,
        behind=math.fsum(weights[slot] for slot in voices if slot not in against),
        contradicted=math.fsum(weights[slot] for slot in against),
        against=against,
        weights=tuple(weights_after(votes, weights, answer, likelihood).tolist()),
    )


def is_contradicted(vote: Value, answer: Value, *, reach: float) -> bool:
    """Whether an answer speaks against a vote: another label, or a number further off than `reach`."""
    if isinstance(vote, str) or isinstance(answer, str):
        return vote != answer
    return abs(vote - answer) > reach


def contenders(answers: Answers, view: RunView, dataset: Dataset) -> tuple[Contender, ...]:
    """Ideas, or equal texts where the run has gone on since, split where their answers to these rows differ.

    Heaviest first.
    """
    merged = merge_ideas(view, dataset)
    is_current = answers.texts == tuple(view.texts[state.hypothesis] for state in view.population)
    held: dict[Hashable, list[int]] = {}
    for slot, (text, said) in enumerate(zip(answers.texts, answers.predictions, strict=True)):
        known = merged.of_slot(slot) if merged is not None and is_current else text
        held.setdefault((known, behaviour(p.value for p in said)), []).append(slot)
    found = [_contender(tuple(slots), answers) for slots in held.values()]
    return tuple(sorted(found, key=lambda contender: (-contender.weight, contender.slots)))


def _contender(slots: tuple[int, ...], answers: Answers) -> Contender:
    first = max(slots, key=lambda slot: (answers.weights[slot], -slot))
    return Contender(text=answers.texts[first], slots=slots, weight=sum(answers.weights[slot] for slot in slots))


def most_bits(held: Sequence[Contender], dataset: Dataset) -> float:
    """What no answer can exceed: the entropy of the contenders' weights, and log2 C of C labels."""
    among = float(entropy([contender.weight for contender in held]))
    return min(among, math.log2(len(dataset.classes))) if dataset.task == "classification" else among


def calls_to_ask(view: RunView, config: Config, *, n_rows: int) -> int:
    """Learner calls at most to ask the last population about so many rows: equal texts are asked once."""
    return view.n_unique * -(-n_rows // config.points_per_call)
