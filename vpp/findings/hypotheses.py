"""The posterior's hypotheses: those that nearly agree merged, as cards with their history; and what their weights say.

A particle's ancestors are its parent in every step since the initial population, which is step -1.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from vpp.data.dataset import Dataset
from vpp.errors import InputError
from vpp.events import INITIAL_STEP, Proposed, hypothesis_id
from vpp.findings.ideas import Idea, Ideas, Wording, groups_at
from vpp.findings.programs import ProgramReading, program_folds
from vpp.findings.result import constant_answer
from vpp.findings.scores import Score
from vpp.posterior.likelihood import Noise
from vpp.posterior.weights import Floats
from vpp.problem import is_final_on_train
from vpp.runs.view import RunView, StepView, constant_weight
from vpp.settings import Config
from vpp.show.blocks import Fold, Note, Quote
from vpp.show.cards import Card, Deck, Version, Versions
from vpp.show.words import (
    EQUAL,
    MAJORITY,
    NOTICEABLE,
    capitalised,
    counted,
    in_words,
    integer,
    listed,
    nth_step,
    number,
    percent,
    prior_text,
    short_percent,
    target_text,
)

MOST_MEMBERS = 12
MILLION = 1e6
"""Odds from which no number is given."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w.]*\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    members: tuple[Idea, ...]
    """Particles with the same answers on every row; the heaviest first."""
    texts: tuple[Wording, ...]
    """Distinct texts, the shortest of the heaviest member first."""
    words: str
    """The first text without the seed sentence; a number that differs between texts of the same form is a range."""

    @property
    def weight(self) -> float:
        return min(1.0, sum(each.weight for each in self.members))

    @property
    def slots(self) -> tuple[int, ...]:
        return tuple(chain.from_iterable(each.slots for each in self.members))

    @property
    def fit(self) -> Score | None:
        """Score of the heaviest member on the training rows, or before these are evaluated on the rows compared."""
        return self.members[0].train or self.members[0].compared


def hypotheses(
    ideas: Ideas, near: Floats | None, *, seed_text: str, labels: Collection[str] = ()
) -> tuple[Hypothesis, ...]:
    """Return the hypotheses, heaviest first; of equally heavy ones, that with the better fit.

    near: their similarity, which merges those that nearly agree; with None only equal answers are one.
    labels: no numbers to make a range of.
    """
    groups = () if near is None else groups_at(near)
    alone = [(place,) for place in range(sum(map(len, groups)), len(ideas))]
    found = (_merged([ideas.all[place] for place in group], seed_text, labels) for group in (*groups, *alone))
    return tuple(sorted(found, key=lambda each: (-each.weight, each.fit.error if each.fit else 0.0)))


def _merged(members: Sequence[Idea], seed_text: str, labels: Collection[str]) -> Hypothesis:
    members = sorted(members, key=lambda each: (-round(each.weight, 9), min(len(text.text) for text in each.wordings)))
    shortest = min(members[0].wordings, key=lambda each: len(each.text))
    others = (each for idea in members for each in idea.wordings if each is not shortest)
    texts = (shortest, *others)
    words = [each.text.removeprefix(seed_text).strip() or each.text for each in texts]
    return Hypothesis(members=tuple(members), texts=texts, words=with_ranges(words, labels))


def with_ranges(texts: Sequence[str], labels: Collection[str] = ()) -> str:
    """Return the first text, with numbers that differ in others of its form as ranges: `above 12.9 to 13.1`."""

    def form(words: str) -> tuple[object, ...]:
        numbers = _NUMBER.findall(words)
        return (*_NUMBER.split(" ".join(words.casefold().split())), *(each for each in numbers if each in labels))

    alike = [_NUMBER.findall(each) for each in texts if form(each) == form(texts[0])]
    ranges = map(_range, zip(*alike, strict=True))
    return "".join(chain.from_iterable(zip(_NUMBER.split(texts[0]), (*ranges, ""), strict=True)))


def _range(numbers: Sequence[str]) -> str:
    def value(words: str) -> float:
        return float(words.replace(",", ""))

    low, high = min(numbers, key=value), max(numbers, key=value)
    return numbers[0] if value(low) == value(high) else f"{low} to {high}"


# Cards


def deck(every: Sequence[Hypothesis], view: RunView, config: Config, readings: Mapping[str, ProgramReading]) -> Deck:
    def card(each: Hypothesis) -> Card:
        first, copies = each.texts[0], len(each.slots)
        row = "training row" if each.members[0].train else "row"
        value, facts = short_percent(each.weight), [right_words(each.fit, row)]
        if not config.is_weighted:
            value = f"{copies} of {config.size}" if config.size > 1 else ""
        elif not config.is_weighing and copies > 1:
            facts.append(f"× {copies} copies")
        own = (slot for slot in each.slots if view.texts[view.population[slot].hypothesis] == first.text)
        past = history(ancestry(view, next(own)), view.seed_text)
        details = Fold(title="details", name="details", blocks=tuple(_details(each, config, view.seed_text)))
        return Card(
            key=each.members[0].slots[0],
            words=each.words,
            whole=first.text,
            value=value,
            bar=each.weight,
            facts=tuple(filter(None, facts)),
            folds=(*program_folds(readings.get(hypothesis_id(first.text))), *past, details),
        )

    return Deck(tuple(map(card, every)))


def right_words(score: Score | None, row: str) -> str:
    """`right on 47 of 50 training rows`, or `off by 1.2 on 50 training rows`: root mean squared error."""
    if score is None:
        return ""
    rows = counted(score.n, row)
    if score.n_correct is not None:
        return f"right on {integer(score.n_correct)} of {rows}"
    return f"off by {number(math.sqrt(score.mse or 0.0), 3)} on {rows}"


def _details(each: Hypothesis, config: Config, seed_text: str) -> Iterator[object]:
    """Yield further scores and the noise, and the other texts."""
    first, idea = each.texts[0], each.members[0]
    facts = [right_words(idea.test, "test row")]
    if idea.noise:
        facts.append(noise_words(idea.noise, is_label=idea.train is not None and idea.train.n_correct is not None))
    unread = sum(score.n_abstained for score in (idea.test, idea.train) if score)
    facts += [f"{counted(unread, 'answer')} unreadable"] if unread else []
    facts += [_origin(first) + prior_text(idea.prior)]
    yield Note(". ".join(map(capitalised, filter(None, facts))) + ".")
    for other in each.texts[1:MOST_MEMBERS]:
        weight = [f"weight {percent(other.weight)}"] if config.is_weighted else []
        facts = [*weight, _origin(other) + prior_text(other.prior)]
        yield Quote(other.text.removeprefix(seed_text).strip() or other.text, tuple(facts))
    if (left := len(each.texts) - MOST_MEMBERS) > 0:
        yield Note(f"{counted(left, 'more text')}.")


def _origin(text: Wording) -> str:
    if text.first_step >= 0:
        return f"written in {nth_step(text.first_step)}"
    given = {"continued": "taken over from the earlier run", "yours": "yours, given at the start"}
    return given.get(text.origin, "from the first draw")


def noise_words(noise: Noise, *, is_label: bool) -> str:
    """`right on 88 to 97 % of such rows`, or `errors of 0.8 to 1.1 on such rows`, one standard deviation."""
    if is_label:
        return f"right on {integer(round(100 * (1 - noise.high)))} to {percent(1 - noise.low)} of such rows"
    return f"errors of {number(noise.low, 2)} to {number(noise.high, 2)} on such rows"


# History

Happened = Literal["first", "yours", "accepted", "taken", "rejected", "unchanged", "unparsable", "not rewritten"]
"""Origin of a text in its place: drawn initially, or given by a person; its parent mutated, with or without an accept
step; or its parent unchanged, since the proposal was rejected, identical or unreadable, or since none was made.
"""
MOST_VERSIONS = 12
NOTES: dict[Happened, str] = {"yours": "yours", "accepted": "rewritten, accepted", "taken": "rewritten"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    step: int
    slot: int
    hypothesis: str
    text: str
    """With the seed sentence."""
    changed: bool
    """True if the text differs from its parent's, and without a parent."""
    weight: float
    """Weight assigned by the next step, in the last population the one that predictions use; 1/K without weights."""
    parent: int | None
    """Parent's slot at the step before; None for a first hypothesis."""
    happened: Happened
    is_afresh: bool
    """True if its text is a restart, drawn from the prior instead of the parent's text."""


def ancestry(view: RunView, slot: int) -> tuple[Node, ...]:
    """Return the line of a particle of the last population, from its first hypothesis on, one node a step.

    Raises InputError for an unknown slot.
    """
    if not 0 <= slot < view.size:
        raise InputError(f"the run has no particle {slot}: give one from 0 to {view.size - 1}")
    line, steps = list[Node](), view.finished_steps
    for place in reversed(range(len(steps))):
        line.append(_node(view, slot, steps[place], steps[place - 1] if place else None))
        slot = line[-1].parent or 0
    return tuple(reversed(line))


def _node(view: RunView, slot: int, at: StepView, earlier: StepView | None) -> Node:
    proposed, following, hypothesis = at.proposed.get(slot), view.steps.get(at.step + 1), at.population[slot].hypothesis
    weights = view.weights if at.step == view.last_step else at.weights
    if at.step != view.last_step and following and following.reweighted:
        weights = following.reweighted.weights
    parent = came_from(at, slot) if earlier else None
    before = earlier.population[parent].hypothesis if earlier and parent is not None else None
    return Node(
        step=at.step,
        slot=slot,
        hypothesis=hypothesis,
        text=view.texts[hypothesis],
        changed=before != hypothesis,
        weight=weights[slot],
        parent=parent,
        happened=_happened(view, slot, proposed, is_first=parent is None),
        is_afresh=proposed is not None and proposed.accepted and proposed.origin == "prior",
    )


def _happened(view: RunView, slot: int, proposed: Proposed | None, *, is_first: bool) -> Happened:
    if is_first:
        return "yours" if slot in view.drawn and view.drawn[slot].origin == "yours" else "first"
    if proposed is None:
        return "not rewritten"
    if proposed.why == "likelihood":
        return "accepted" if proposed.accepted else "rejected"
    return proposed.why


def came_from(at: StepView, slot: int) -> int | None:
    """Slot, at the step before, of the parent of the particle that ends in `slot`; None for a first hypothesis."""
    if at.step == INITIAL_STEP:
        return None
    return at.resampled.ancestors[slot] if at.resampled else slot


def history(line: Sequence[Node], seed_text: str) -> tuple[Fold, ...]:
    """Return a fold with the versions of a particle's text; empty if it was never rewritten. line: from `ancestry`."""
    changed = [node for node in line if node.changed]
    if len(changed) == 1:
        return ()
    texts = [node.text.removeprefix(seed_text).strip() or node.text for node in changed]
    versions = tuple(
        Version(
            when=nth_step(node.step),
            before="" if node.is_afresh else before,
            after=after,
            note="drawn afresh, without data" if node.is_afresh else NOTES.get(node.happened, ""),
        )
        for node, before, after in zip(changed, ["", *texts], texts, strict=False)
    )
    title = f"history: {counted(len(versions) - 1, 'change')}"
    return (Fold(name="history", title=title, blocks=(Versions(versions[-MOST_VERSIONS:]),)),)


# What the weights say


def order_words(every: Sequence[Hypothesis], config: Config) -> str:
    """`heaviest first; the second fits the training rows better, but has 19 copies, the first 36`."""
    if len(every) == 1:
        return ""
    first, *others = every
    if not config.is_weighted:
        return "most chains first" if len(first.slots) > 1 else "best fit first"
    better = (
        n for n, each in enumerate(others, 1) if each.fit and first.fit and each.fit.error < first.fit.error - EQUAL
    )
    n = next(better, 0)
    if not n or n >= len(ORDINALS) or first.weight - every[n].weight < EQUAL:
        return "heaviest first"
    # Rescored weights count each text once, the others each copy.
    counts = [len(each.texts) if config.is_rescored else len(each.slots) for each in (every[n], first)]
    fewer, more = counts
    why = ""
    if fewer < more:
        things = ("text", "texts") if config.is_rescored else ("copy", "copies")
        why = f", but has {counted(fewer, *things)}, the first {integer(more)}"
    elif not is_final_on_train(config):
        why = ", but not on the last rows, which weigh"
    return f"heaviest first; the {ORDINALS[n]} fits the training rows better{why}"


def shares_words(every: Sequence[Hypothesis], config: Config, view: RunView) -> str:
    """`One hypothesis has 95 % of the weight; four others share the rest.`"""
    n, weights = len(every), [each.weight for each in every]
    constant = constant_weight(view) if config.is_weighted else 0.0
    if not config.is_weighted:
        chain, found = "chain" if config.method == "mh" else "run", f"{in_words(n)} hypothes{'is' if n == 1 else 'es'}"
        ended = f"{capitalised(in_words(config.size))} {chain}s end in {found}; each {chain} counts alike."
        return ended if config.size > 1 else "There is one hypothesis."
    if constant >= NOTICEABLE:
        others = "the one hypothesis has the rest" if n == 1 else f"{in_words(n)} hypotheses share the rest"
        return f"A constant answer has {percent(constant)} of the weight; {others}."
    if n == 1 or weights[1] == 0:
        return "One hypothesis has all of the weight."
    if weights[0] - weights[-1] < EQUAL:
        return f"{capitalised(in_words(n))} hypotheses have equal weight, {percent(weights[0])} each."
    if weights[0] > MAJORITY:
        others = "another has" if n == 2 else f"{in_words(n - 1)} others share"
        return f"One hypothesis has {percent(min(weights[0], 1 - EQUAL))} of the weight; {others} the rest."
    return f"No hypothesis has a majority: the heaviest of {in_words(n)} has {percent(weights[0])} of the weight."


def odds_words(view: RunView, config: Config, dataset: Dataset) -> str:
    """`The data are about 40 times more probable under the heaviest hypothesis than under always answering “no”.`

    Empty before the odds are known.
    """
    constant = constant_answer(view, config, dataset)
    if constant is None:
        return ""
    odds = math.exp(min(abs(constant.log_odds), math.log(MILLION)))
    times = "over a million" if odds >= MILLION * (1 - EQUAL) else f"about {number(float(f'{odds:.2g}'))}"
    answer = constant.constant.answer
    words = f"“{answer}”" if isinstance(answer, str) else target_text(answer, dataset.target_decimals)
    two = ("the heaviest hypothesis", f"always answering {words}")
    likely, other = two if constant.log_odds >= 0 else two[::-1]
    nothing = " Nothing was found." if (constant.weight or 0.0) > MAJORITY else ""
    return f"The data are {times} times more probable under {likely} than under {other}.{nothing}"


def compared_words(ideas: Ideas) -> str:
    if ideas.by == "text":
        return "Compared by their words only: they have not all answered the same rows yet."
    if ideas.by == "step":
        return f"Compared on the {counted(ideas.n_rows, 'training row')} that all have answered."
    n_test, n_train = ideas.n_test_rows, ideas.n_rows - ideas.n_test_rows
    parts = [f"{integer(n)} {name}" for n, name in ((n_test, "test"), (n_train, "training")) if n]
    return f"Compared on {counted(ideas.n_rows, 'row')}: {listed(parts)}."
