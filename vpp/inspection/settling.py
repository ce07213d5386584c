"""Most informative labels to collect: expected information gain of each row, and the effect of each true answer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

from vpp.data.dataset import Dataset
from vpp.events import Votes
from vpp.inspection.ideas import merge_ideas
from vpp.inspection.points import Point, votes_on
from vpp.inspection.slots import behaviour, grouped
from vpp.posterior.disagreement import entropy, label_information, number_information, weights_after
from vpp.posterior.likelihood import Likelihood
from vpp.posterior.prediction import Value, vote_shares
from vpp.problem import likelihood_of
from vpp.runs.asking import Answers
from vpp.runs.view import RunView
from vpp.settings import Config

REACH = 2.0
"""Standard deviations of the noise, sqrt(tau), beyond which a number contradicts a prediction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """Effect of one true answer."""

    answer: Value
    """A label that some particle predicts, or the number at the centre of a camp."""
    behind: float
    """Weight of the particles that agree with it."""
    contradicted: float
    against: tuple[int, ...]
    """Slots of the contradicted particles with positive weight."""
    weights: tuple[float, ...]
    """(K,) posterior weights after this answer; an abstention counts as wrong."""


@dataclass(frozen=True, kw_only=True)
class Question(Point):
    """A candidate row for labelling: votes, expected information gain, and the effect of each true answer."""

    bits: float
    """Expected information gain of the true answer about the hypothesis."""
    consequences: tuple[Consequence, ...]
    """Sorted by the weight behind the answer, greatest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A competing hypothesis: particles with the same answers, in one wording or several."""

    text: str
    """Text of its heaviest particle."""
    slots: tuple[int, ...]
    weight: float

    def weight_after(self, consequence: Consequence) -> float:
        return sum(consequence.weights[slot] for slot in self.slots)


def questions(answers: Answers, view: RunView, config: Config, dataset: Dataset) -> tuple[Question, ...]:
    unsorted = [question_of(vote, view, config, dataset) for vote in votes_on(answers)]
    return tuple(sorted(unsorted, key=lambda question: (-question.bits, question.row.id)))


def question_of(point: Point, view: RunView, config: Config, dataset: Dataset) -> Question:
    tau = tau_of(view, config)
    likelihood = likelihood_of(dataset, epsilon=config.epsilon, tau=tau)
    votes, weights, reach = point.votes, point.weights, 0.0
    answers: list[Value]
    if point.is_label:
        bits = label_information(point.answers, weights, dataset.classes, likelihood)
        answers = [label for label, share in vote_shares(votes, weights).items() if share > 0]
    else:
        reach = REACH * math.sqrt(tau or 0.0)
        bits = number_information(votes, weights, tau=tau or 0.0)
        answers = list(middles(votes, weights, reach=reach))
    every = [_consequence(answer, point, likelihood, reach) for answer in answers]
    return Question(
        **{f.name: getattr(point, f.name) for f in fields(Point)},
        bits=bits,
        consequences=tuple(sorted(every, key=lambda each: -each.behind)),
    )


def tau_of(view: RunView, config: Config) -> float | None:
    finished = view.finished_steps[-1].finished if view.finished_steps else None
    return finished.tau if finished and finished.tau is not None else config.fixed_tau


def middles(votes: Votes, weights: Sequence[float], *, reach: float) -> tuple[Value, ...]:
    """Centres of camps of numbers: the heaviest prediction, then the heaviest further than `reach` from all before."""
    centres: list[float] = []
    for value in [float(value) for value, share in vote_shares(votes, weights).items() if share > 0]:
        if all(abs(value - centre) > reach for centre in centres):
            centres.append(value)
    return tuple(centres)


def _consequence(answer: Value, point: Point, likelihood: Likelihood, reach: float) -> Consequence:
    weights = point.weights
    answered = {slot: vote for slot, vote in enumerate(point.votes) if vote is not None and weights[slot] > 0}
    against = tuple(slot for slot, vote in answered.items() if is_contradicted(vote, answer, reach=reach))
    return Consequence(
        answer=answer,
        behind=math.fsum(weights[slot] for slot in answered if slot not in against),
        contradicted=math.fsum(weights[slot] for slot in against),
        against=against,
        weights=tuple(weights_after(point.answers, weights, answer, likelihood).tolist()),
    )


def is_contradicted(vote: Value, answer: Value, *, reach: float) -> bool:
    """True if the answer contradicts the vote: another label, or a number further away than `reach`."""
    if isinstance(vote, str) or isinstance(answer, str):
        return vote != answer
    return abs(vote - answer) > reach


def contenders(answers: Answers, view: RunView, dataset: Dataset) -> tuple[Contender, ...]:
    """Return the ideas, split by their answers to these rows, heaviest first.

    Group by equal texts instead of ideas if the run has continued since the rows were asked about.
    """
    merged = merge_ideas(view, dataset)
    is_current = answers.texts == tuple(view.texts[state.hypothesis] for state in view.population)
    ideas = map(merged.of_slot, range(len(answers.texts))) if merged is not None and is_current else answers.texts
    said = (behaviour(p.value for p in predictions) for predictions in answers.predictions)
    groups = grouped((key, slot) for slot, key in enumerate(zip(ideas, said, strict=True)))
    unsorted = []
    for slots in groups.values():
        first = max(slots, key=lambda slot: (answers.weights[slot], -slot))
        weight = sum(answers.weights[slot] for slot in slots)
        unsorted.append(Contender(text=answers.texts[first], slots=tuple(slots), weight=weight))
    return tuple(sorted(unsorted, key=lambda contender: (-contender.weight, contender.slots)))


def most_bits(rivals: Sequence[Contender], dataset: Dataset) -> float:
    """Upper bound of the information gain: the entropy of the contenders' weights, and log2 C for C labels."""
    among = float(entropy([contender.weight for contender in rivals]))
    return min(among, math.log2(len(dataset.classes))) if dataset.task == "classification" else among


def calls_to_ask(view: RunView, config: Config, *, n_rows: int) -> int:
    """Most learner calls for asking the last population about `n_rows` rows; equal texts are asked once."""
    return view.n_unique * config.learner_samples * n_rows
