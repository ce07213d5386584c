"""The posterior's hypotheses: particles with equal answers are one idea, ideas that nearly agree one hypothesis.

Similarities of answers lie between 0 and 1. For labels it is the fraction of rows with equal answers; for numbers, 1
minus the root mean squared difference of the answers in units of the target's range. Two abstentions are equal; an
abstention and an answer differ by the most that is possible, for numbers the full range, as when it is scored.

Groups are made by complete linkage (Defays 1977): the similarity of two groups is that of their least similar pair.
So within a group any two members are at least as similar as the threshold, which is what the count of groups says.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from vpp.data.dataset import Dataset
from vpp.errors import InputError
from vpp.events import Votes, behaviour, hypothesis_id
from vpp.findings import points
from vpp.findings.points import RecordedAnswers, Score, noise, score
from vpp.findings.programs import ProgramReading, program_folds
from vpp.posterior.disagreement import NEAR
from vpp.posterior.likelihood import Noise
from vpp.posterior.weights import Floats
from vpp.problem import similarity_of
from vpp.runs.view import RunView, constant_weight, priors
from vpp.settings import Config
from vpp.show.blocks import Card, Deck, Fold, Note, Quote, Version, Versions
from vpp.show.words import (
    EQUAL,
    MAJORITY,
    NOTICEABLE,
    ROW_OF,
    capitalised,
    constant_text,
    counted,
    in_words,
    integer,
    nth_step,
    number,
    percent,
)

Basis = Literal["evaluations", "step", "text"]
"""Basis of the grouping: answers to evaluated rows, else to rows that a step asked all hypotheses about, else texts."""
MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    text: str
    weight: float
    prior: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """Particles with the same answers to all rows compared."""

    weight: float
    """All weights and the constant answer's sum to 1."""
    text: str
    """The heaviest."""
    wordings: tuple[Wording, ...]
    slots: tuple[int, ...]
    answers: Annotated[Votes, Field(exclude=True)] = field(default=(), repr=False)
    test: Score | None = None
    """None before the test rows are evaluated."""
    train: Score | None = None
    """None before all training rows are evaluated."""
    noise: Noise | None = None
    """Estimated from the training rows; None before these are evaluated."""
    compared: Annotated[Score | None, Field(exclude=True)] = None
    """On the rows compared; None if there are none."""

    @property
    def fit(self) -> Score | None:
        """Score on the training rows, or before these are evaluated on the rows compared."""
        return self.train or self.compared

    @property
    def prior(self) -> float | None:
        """Of its wordings together."""
        priors = [wording.prior for wording in self.wordings if wording.prior is not None]
        return sum(priors) if priors else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ideas:
    all: tuple[Idea, ...]
    """Heaviest first."""
    by: Basis = "text"
    rows: tuple[int, ...] = ()
    """Ids of the rows compared, each once; empty if only equal texts were merged."""


def merge_ideas(view: RunView, dataset: Dataset) -> Ideas:
    """Group the last population by its answers; empty before the first step is finished.

    Compare the answers of all evaluations that cover every text; else those to the rows that the last step, the one
    begun since, or the final weights asked every text about; else the texts.
    """
    if view.last_step is None or not view.population:
        return Ideas(all=())
    population = [state.hypothesis for state in view.population]
    basis, known, rows = _answers_to_compare(view, population)
    compared, prior_of = rows["compared"], points.totals(zip(population, priors(view), strict=False))
    keys = [behaviour(known[each][row] for row in compared) if compared else each for each in population]
    by_id, ideas = points.rows_by_id(dataset), []
    asked = {name: [by_id[row] for row in ids] for name, ids in rows.items() if ids}
    for slots in points.grouped(zip(keys, range(len(population)), strict=True)).values():
        shares = points.totals((population[slot], view.weights[slot]) for slot in slots)
        answers = known.get(population[slots[0]], {})
        votes = {name: tuple(answers[row.id] for row in of) for name, of in asked.items()}
        scores = {name: score(votes[name], of, dataset) for name, of in asked.items()}
        wordings = tuple(
            Wording(text=view.texts[each], weight=share, prior=prior_of.get(each))
            for each, share in sorted(shares.items(), key=lambda each: -each[1])
        )
        idea = Idea(
            weight=sum(shares.values()),
            text=wordings[0].text,
            wordings=wordings,
            slots=tuple(slots),
            answers=votes.get("compared", ()),
            test=scores.get("test"),
            train=scores.get("train"),
            noise=noise(votes["train"], asked["train"], dataset) if "train" in asked else None,
            compared=scores.get("compared"),
        )
        ideas.append(idea)
    return Ideas(all=tuple(sorted(ideas, key=lambda idea: (-idea.weight, idea.slots))), by=basis, rows=compared)


def _answers_to_compare(
    view: RunView, population: Sequence[str]
) -> tuple[Basis, RecordedAnswers, Mapping[str, tuple[int, ...]]]:
    """Return the basis, the answers, and the ids of the rows compared and of the evaluated splits."""
    judged = [each for each in view.evaluations.values() if each.split != "calibration"]
    evaluations = [each for each in judged if set(population) <= set(each.hypotheses)]
    last = view.last_step or 0
    steps = [at for step, at in view.steps.items() if step in (last, last + 1)]
    # What the step begun since proposes is not in the population.
    scored = [*(each for at in steps for each in at.scores.values()), *steps[0].proposal_scores.values()]
    known = points.recorded_answers(evaluations or (*scored, *view.final_scores.values()))
    first, *others = (known.get(hypothesis, {}) for hypothesis in population)
    compared = tuple(row for row in first if all(row in answers for answers in others))
    basis: Basis = "evaluations" if evaluations else "step" if compared else "text"
    return basis, known, {each.split: each.rows for each in evaluations} | {"compared": compared}


@dataclass(frozen=True, slots=True, kw_only=True)
class Particle:
    slot: int
    weight: float
    """Normalised."""
    prior: float | None = None
    id: str
    text: str
    """The complete hypothesis, seed sentence included."""
    hypothesis: int
    """Index of its idea, heaviest first."""
    parent: int | None = None
    """Slot at the step before."""
    log_likelihood: float | None
    """Natural log, summed over the rows that made the weights; None if the method has none."""


def particles(view: RunView, dataset: Dataset) -> tuple[Particle, ...]:
    """(K,) by slot; empty before the first population is complete."""
    ideas = merge_ideas(view, dataset).all
    idea_of = {slot: place for place, idea in enumerate(ideas) for slot in idea.slots}
    log_likelihoods, before = points.weighed_log_likelihoods(view), priors(view)
    return tuple(
        Particle(
            slot=slot,
            weight=view.weights[slot],
            prior=before[slot] if before else None,
            id=state.hypothesis,
            text=view.texts[state.hypothesis],
            hypothesis=idea_of[slot],
            parent=state.parent,
            log_likelihood=log_likelihoods[slot],
        )
        for slot, state in enumerate(view.population)
        if idea_of
    )


# Agreement between ideas


def similarity(ideas: Ideas, dataset: Dataset) -> Floats | None:
    """(n, n) between 0 and 1, of the heaviest ideas, at most `MOST`; None if only texts were compared."""
    if not ideas.rows:
        return None
    return similarity_of(dataset, [idea.answers for idea in ideas.all[:MOST]])


def groups_at(similarity: Floats, *, threshold: float = NEAR) -> tuple[tuple[int, ...], ...]:
    """Members by group; any two members of a group are at least `threshold` similar. similarity: (n, n) symmetric."""
    groups, alike = [[place] for place in range(len(similarity))], np.array(similarity)
    np.fill_diagonal(alike, -1.0)
    while len(groups) > 1 and alike.max() >= threshold:
        one, other = sorted(divmod(int(alike.argmax()), len(groups)))
        groups[one] += groups.pop(other)
        alike[one] = alike[:, one] = np.minimum(alike[one], alike[other])
        alike = np.delete(np.delete(alike, other, axis=0), other, axis=1)
    return tuple(tuple(sorted(members)) for members in groups)


MOST_MEMBERS, MOST_CARDS = 12, 8
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w.]*\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis(Idea):
    """Ideas that nearly agree, with the answers, scores and noise of the heaviest, and its shortest text first."""

    members: tuple[Idea, ...]
    words: str
    """The first text without the seed sentence; in brackets the range of a number that differs between alike texts."""
    has_range: bool

    @property
    def id(self) -> str:
        return hypothesis_id(self.text)


def hypotheses_of(view: RunView, dataset: Dataset, *, threshold: float | None = NEAR) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of the last population, heaviest first; of equally heavy ones, that with the better fit.

    Empty before there is a population. threshold: similarity from which ideas are one; None keeps them apart.
    """
    ideas = merge_ideas(view, dataset)
    near = None if threshold is None else similarity(ideas, dataset)
    groups = () if near is None else groups_at(near, threshold=threshold or 0.0)
    alone = [(place,) for place in range(sum(map(len, groups)), len(ideas.all))]
    members = ([ideas.all[place] for place in group] for group in (*groups, *alone))
    found = [_merged(each, view.seed_text, dataset.classes) for each in members]
    most = 1.0 if sum(each.weight > 0 for each in found) == 1 else 1 - EQUAL
    found = [replace(each, weight=min(each.weight, most)) for each in found]
    return tuple(sorted(found, key=lambda each: (-each.weight, each.fit.error if each.fit else 0.0)))


def _merged(members: Sequence[Idea], seed_text: str, labels: Collection[str]) -> Hypothesis:
    members = sorted(members, key=lambda each: (-round(each.weight, 9), min(len(text.text) for text in each.wordings)))
    shortest = min(members[0].wordings, key=lambda each: len(each.text))
    others = (each for idea in members for each in idea.wordings if each is not shortest)
    wordings = (shortest, *others)
    texts = [each.text.removeprefix(seed_text).strip() or each.text for each in wordings]
    words = with_ranges(texts, labels)
    own = {each.name: getattr(members[0], each.name) for each in fields(Idea)}
    own |= {"text": shortest.text, "wordings": wordings, "weight": sum(each.weight for each in members)}
    own |= {"slots": tuple(chain.from_iterable(each.slots for each in members))}
    return Hypothesis(**own, members=tuple(members), words=words, has_range=words != texts[0])


def with_ranges(texts: Sequence[str], labels: Collection[str] = ()) -> str:
    """Return the first text, with numbers that differ in others of its form as ranges: `above [12.9 to 13.1]`."""

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
    return numbers[0] if value(low) == value(high) else f"[{low} to {high}]"


# Cards

RANGE = "in brackets: merged hypotheses differ"


def only_counts(view: RunView, config: Config) -> bool:
    """True if weights only count copies: the last step copied by weight, and nothing was weighed since."""
    return config.is_weighted and view.final is None and view.complete_steps[-1].resampling is not None


def weight_words(each: Hypothesis, view: RunView, config: Config) -> str:
    """`51 %`; `8 of 10 copies`, where weights only count them; `3 of 5 chains`; empty for one chain alone."""
    copies = f"{integer(len(each.slots))} of {integer(config.size)}"
    if not config.is_weighted:
        return f"{copies} {'chains' if config.method == 'mh' else 'runs'}" if config.size > 1 else ""
    return f"{copies} copies" if only_counts(view, config) else percent(each.weight)


def deck(
    every: Sequence[Hypothesis],
    view: RunView,
    config: Config,
    readings: Mapping[str, ProgramReading],
    numbers: Mapping[str, int],
) -> Deck:
    """Return the cards. readings, numbers: by the id of the first text."""

    def card(each: Hypothesis) -> Card:
        own = (slot for slot in each.slots if view.population[slot].hypothesis == each.id)
        past = history(lineage(view, next(own)), view.seed_text)
        details = Fold(title="details", name="details", blocks=tuple(_details(each, config, view.seed_text)))
        return replace(
            _card(each, view, config, fit_words(each, config)[:1]),
            key=numbers[each.id],
            name=f"hypothesis {numbers[each.id]}",
            id=each.id,
            whole=each.text,
            folds=(*program_folds(readings.get(each.id)), *past, details),
        )

    return Deck(tuple(map(card, every)))


def _card(each: Hypothesis, view: RunView, config: Config, facts: Iterable[str]) -> Card:
    # Final weights count each text once; elsewhere copies are weighed, unless they are the value.
    has_copies = config.is_weighted and not (view.final or config.is_weighing or only_counts(view, config))
    value = weight_words(each, view, config)
    return Card(
        key=each.slots[0],
        words=each.words,
        measure="weight" if value.endswith("%") else "",
        value=value,
        bar=each.weight,
        copies=len(each.slots) if has_copies else 1,
        facts=tuple(filter(None, (*facts, RANGE if each.has_range else ""))),
    )


def weight_cards(
    every: Sequence[Hypothesis],
    view: RunView,
    config: Config,
    dataset: Dataset,
    more: Callable[[Hypothesis], str] | None = None,
) -> Iterator[object]:
    """Yield the hypotheses as cards, heaviest first, with the constant answer. more: a further fact."""
    if not every:
        yield Note("No population is complete yet.")
        return

    def facts(each: Hypothesis) -> tuple[str, ...]:
        further = more(each) if more else prior_words(each.prior)
        return points.right_words(each.test, ROW_OF["test"]), fit_words(each, config)[0], further

    cards = Deck([_card(each, view, config, facts(each)) for each in every[:MOST_CARDS]])
    yield with_constant(cards, view, dataset)
    if rest := every[MOST_CARDS:]:
        others, share = in_words(len(rest)), percent(math.fsum(each.weight for each in rest))
        yield Note(f"{capitalised(others)} more {'holds' if len(rest) == 1 else 'hold'} {share} of the weight.")


def with_constant(cards: Deck, view: RunView, dataset: Dataset) -> Deck:
    """Add the standing constant answer of final weights, in its place by weight."""
    if not (view.final and view.final.constant):
        return cards
    words, weight = f"Always {constant_text(dataset.constant)}", constant_weight(view)
    own = Card(
        key=-1, name="constant answer", words=words, value=percent(weight), bar=weight, facts=("without a rule",)
    )
    return Deck(sorted((*cards.cards, own), key=lambda card: -card.bar))


def fit_words(each: Idea, config: Config) -> tuple[str, str]:
    """Return what the front of a card says of the fit, and what its details say: with weights the noise comes first."""
    noise, fit = noise_words(each), points.right_words(each.fit, "training row" if each.train else "row")
    return (noise, fit) if noise and config.is_weighted else (fit, noise)


def prior_words(prior: float | None) -> str:
    """Name the prior of a sentence that is only weighed beside the others: a constant answer has half of the whole."""
    return "" if prior is None else f"prior {percent(prior)} among the hypotheses"


def _details(each: Hypothesis, config: Config, seed_text: str) -> Iterator[object]:
    facts = [points.right_words(each.test, "test row"), fit_words(each, config)[1]]
    unread = sum(score.n_abstained for score in (each.test, each.train) if score)
    facts += [f"{counted(unread, 'answer')} unreadable"] if unread else []
    facts.append(prior_words(each.prior))
    if said := list(map(capitalised, filter(None, facts))):
        yield Note(f"{'. '.join(said)}.")
    for other in each.wordings[1:MOST_MEMBERS]:
        weight = [f"weight {percent(other.weight)}"] if config.is_weighted else []
        yield Quote(other.text.removeprefix(seed_text).strip() or other.text, tuple(weight))
    if (left := len(each.wordings) - MOST_MEMBERS) > 0:
        yield Note(f"{counted(left, 'more text')}.")


def noise_words(each: Idea) -> str:
    """`right on 88 to 97 %, by the training rows`, or `errors of 0.8 to 1.1, by …`; empty before it is estimated."""
    noise = each.noise
    if noise is None:
        return ""
    if each.train and each.train.n_correct is not None:
        return f"right on {integer(round(100 * (1 - noise.high)))} to {percent(1 - noise.low)}, by the training rows"
    return f"errors of {number(noise.low, 2)} to {number(noise.high, 2)}, by the training rows"


# History

How = Literal["first", "yours", "rewritten", "rewritten, accepted", "drawn afresh, without data"]
"""`first`: drawn initially; `yours`: given by a person; `rewritten`: by a method without an accept step."""
AFRESH: How = "drawn afresh, without data"
MOST_VERSIONS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A text of a particle or of its ancestors, when it was written."""

    step: int
    text: str
    """With the seed sentence."""
    how: How


def lineage(view: RunView, slot: int) -> tuple[Change, ...]:
    """Return the texts of a particle of the last population, from its first hypothesis on.

    Raises InputError for an unknown slot.
    """
    if not 0 <= slot < view.size:
        raise InputError(f"the run has no particle {slot}: give one from 0 to {view.size - 1}")
    found, (first, *later) = list[Change](), view.complete_steps
    for at in reversed(later):
        state, proposed = at.population[slot], at.proposals.get(slot)
        if proposed and proposed.accepted:
            how: How = "rewritten, accepted" if proposed.why == "likelihood" else "rewritten"
            how = AFRESH if proposed.origin == "prior" else how
            found.append(Change(step=at.step, text=view.texts[state.hypothesis], how=how))
        slot = state.parent
    is_yours = slot in view.draws and view.draws[slot].origin == "yours"
    text = view.texts[first.population[slot].hypothesis]
    return (Change(step=first.step, text=text, how="yours" if is_yours else "first"), *reversed(found))


def history(line: Sequence[Change], seed_text: str) -> tuple[Fold, ...]:
    """Return a fold with the versions of a particle's text; empty if it was never rewritten. line: from `lineage`."""
    if len(line) == 1:
        return ()
    texts = [each.text.removeprefix(seed_text).strip() or each.text for each in line]
    versions = tuple(
        Version(
            when=nth_step(each.step),
            before="" if each.how == AFRESH else before,
            after=after,
            note="" if each.how == "first" else each.how,
        )
        for each, before, after in zip(line, ["", *texts], texts, strict=False)
    )
    title = f"history: {counted(len(versions) - 1, 'change')}"
    return (Fold(name="history", title=title, blocks=(Versions(versions[-MOST_VERSIONS:]),)),)


# What the weights say


def shares_words(every: Sequence[Hypothesis], config: Config, view: RunView) -> str:
    """`One hypothesis has 95 % of the weight; four others share the rest.`"""
    n, first = len(every), every[0].weight
    others = "another has" if n == 2 else f"{in_words(n - 1)} others share"
    if not config.is_weighted:
        chain, found = "chain" if config.method == "mh" else "run", f"{in_words(n)} hypothes{'is' if n == 1 else 'es'}"
        ended = f"{capitalised(in_words(config.size))} {chain}s end in {found}; each {chain} counts alike."
        return ended if config.size > 1 else "There is one hypothesis."
    if only_counts(view, config):
        of, copies = f"{in_words(config.size)} copies hold one hypothesis", len(every[0].slots)
        share = f"All {of}" if copies == config.size else f"{capitalised(in_words(copies))} of {of}"
        tenths = "in tenths, " if config.size == 10 else ""
        return f"{share}. The last step copied by weight, so a share counts copies, {tenths}not odds."
    if (constant := constant_weight(view)) >= NOTICEABLE:
        others = "the one hypothesis has" if n == 1 else f"{in_words(n)} hypotheses share"
        return f"A constant answer has {percent(constant)} of the weight; {others} the rest."
    if n == 1 or every[1].weight == 0:
        return "One hypothesis has all of the weight."
    if first > MAJORITY:
        return f"One hypothesis has {percent(first)} of the weight; {others} the rest."
    return f"No hypothesis has a majority: the heaviest of {in_words(n)} has {percent(first)} of the weight."
