"""What a step of a run shows: the cards of its hypotheses in each phase, and what happened, in two lines.

The card of a step shows the text after the step's rewriting, with the changes marked.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from vpp.data.dataset import Dataset
from vpp.events import INITIAL_STEP, ParticleDrawn, Proposed, Scored, Votes
from vpp.findings.ideas import Held, Named, Names, Phase, compare, held, phases
from vpp.findings.scores import batch_places, grouped, rows_by_id, scored_rows
from vpp.posterior.metric import mean_squared_error
from vpp.problem import is_final_on_train
from vpp.runs.prompts import PromptMaker
from vpp.runs.view import RunView, StepView, constant_weight
from vpp.settings import CHAINS_OF_VML, Config
from vpp.show.blocks import Code, Fold, Mark, Note, Quote
from vpp.show.cards import StepCard
from vpp.show.words import NOTICEABLE, capitalised, counted, fixed, in_words, integer, number, percent, short_percent

Marks = tuple[tuple[Mark, str], ...]
PROMPT = "the prompt"
PROMPT_UNKNOWN = "Not known yet: what the hypothesis answered on the rows shown is not on disk."
AFRESH = "drawn afresh, without data"
GIVEN = {"continued": "from the earlier run", "yours": "yours"}
"""Badge of a first hypothesis that nobody drew, by its origin."""


def shown_step(view: RunView) -> int | None:
    """Return the newest step with something to show: weights for smc, all decisions for other methods."""
    steps = view.steps.items()
    return max((step for step, at in steps if at.reweighted or (at.finished and at.scored)), default=None)


def step_title(view: RunView, step: int | None) -> str:
    """`Step 4 of 10`, counted from 1; without a step the first hypotheses, or those at the end."""
    if step is not None:
        return f"Step {step + 1} of {view.total_steps}"
    return "First hypotheses" if shown_step(view) is None else "Hypotheses at the end"


class Cards:
    """Makes the cards of a run: one for each hypothesis, heaviest or likeliest first."""

    def __init__(
        self,
        view: RunView,
        config: Config,
        dataset: Dataset,
        prompts: PromptMaker | None = None,
        *,
        names: Names | None = None,
        wanted: Collection[int] = (),
    ) -> None:
        """wanted: slots whose prompts are included. Prompts are most of a deck's size, and seldom opened."""
        self._view, self._config, self._dataset = view, config, dataset
        self._rows = rows_by_id(dataset)
        self._names = names or Names(view)
        self._prompts, self._wanted = prompts, wanted

    def first(self) -> list[StepCard]:
        """Cards of the first hypotheses so far, in order of appearance."""
        named = self._names.at("first")
        drawn = grouped((named.numbers[each.hypothesis], each) for each in self._view.drawn.values())
        return [self._drawn(number, each) for number, each in drawn.items()]

    def end(self) -> list[StepCard]:
        """Cards of the last population with the weights that predictions use."""
        view, found, named = self._view, compare(self._view), self._names.at("end")
        last = self._names.before((view.last_step or 0) + 1)
        scores = self._last_scores()
        weights = view.weights if self._config.is_weighted else (None,) * view.size
        particles = [
            Held(slot=slot, hypothesis=text, parent=text, scored=scores.get(text), weight=weights[slot])
            for slot, text in enumerate(found.population if found else ())
        ]
        at = StepView(step=view.total_steps)
        cards = (self._ended(card, named) for card, _ in self._pairs(particles, named, last, at))
        return _sorted(cards)

    def _ended(self, card: StepCard, named: Named) -> StepCard:
        # Final weights count each text once, however many copies it has.
        copies = 1 if self._view.final else card.copies
        return replace(self._end_score(card, named.faces[card.key]), hits=(), copies=copies)

    def at(self, step: int, phase: Phase | None = None) -> list[StepCard]:
        """Cards of a step in a phase; without one, in the last that it has begun."""
        at = self._view.steps.get(step, StepView(step=step))
        phase = phase or (phases(at) or ("weigh",))[-1]
        if not at.scored:
            return []
        named = self._names.at((step, phase))
        before = self._names.at((step, "weigh")) if phase != "weigh" and at.reweighted else self._names.before(step)
        copies = Counter(before.numbers[each.hypothesis] for each in held(at, "weigh")) if phase == "copy" else None
        cards = (
            self._with_fate(card, particles, at, phase, copies)
            for card, particles in self._pairs(held(at, phase), named, before, at)
        )
        return _sorted(cards)

    # A card

    def _pairs(
        self, particles: Sequence[Held], named: Named, before: Named, at: StepView
    ) -> Iterator[tuple[StepCard, list[Held]]]:
        for hypothesis, own in grouped((named.numbers[each.hypothesis], each) for each in particles).items():
            face = named.faces[hypothesis]
            front = next(each for each in own if each.hypothesis == face)
            origins = dict.fromkeys(before.numbers[each.parent] for each in own if each.parent in before.numbers)
            card = StepCard(
                key=hypothesis,
                id=face,
                words=self._text(face),
                copies=len(own),
                is_chain=not self._config.is_weighted,
                origins=tuple(origins),
            )
            yield _valued(self._score(card, front.scored, at), own, front), own

    def _with_fate(
        self, card: StepCard, own: Sequence[Held], at: StepView, phase: Phase, copies: Counter[int] | None
    ) -> StepCard:
        """Add what the phase did to a hypothesis."""
        if copies is not None:
            more = card.copies - copies[card.key]
            fate: Marks = (("copy", "copied"),) if more > 0 else (("same", "fewer copies"),) if more < 0 else ()
            return replace(card, marks=fate)
        if phase != "rewrite":
            return card
        made = [each.proposed for each in own if each.proposed]
        front = next((each for each in own if each.proposed and each.hypothesis == card.id), own[0])
        proposed = front.proposed
        is_new = proposed is not None and proposed.accepted and proposed.origin != "prior"
        return replace(
            card,
            before=self._text(proposed.parent) if is_new and proposed else "",
            marks=_marks(own, proposed, at),
            folds=self._folds(at, made),
        )

    def _drawn(self, number: int, drawn: Sequence[ParticleDrawn]) -> StepCard:
        first = drawn[0]
        marks: Marks = (("", GIVEN[first.origin]),) if first.origin in GIVEN else ()
        marks += (("abs", "no readable answer: the seed sentence stands"),) if first.reason else ()
        answer = Fold(name="raw", title="the optimizer’s answer", blocks=tuple(_answered(first, "raw")))
        return StepCard(
            key=number,
            id=first.hypothesis,
            words=self._text(first.hypothesis),
            copies=len(drawn),
            is_chain=not self._config.is_weighted,
            marks=marks,
            folds=(answer,) if first.raw else (),
        )

    def _text(self, hypothesis: str) -> str:
        text = self._view.texts[hypothesis]
        return text.removeprefix(self._view.seed_text).strip() or text

    # Scores

    def _score(self, card: StepCard, scored: Scored | None, at: StepView) -> StepCard:
        """Add a particle's score in a step, with a square for each row of its batch."""
        if scored is None:
            return card
        card = self._score_of(card, scored.rows, scored.predictions, scored_rows(self._config))
        # Of all training rows, those of a step's batch say little: the count alone is shown.
        is_shown = card.hits and self._config.scored_on != "train"
        places = batch_places(at, scored, self._config, n_train=len(self._dataset.train)) if is_shown else ()
        return replace(card, hits=tuple(card.hits[i] for i in places))

    def _score_of(self, card: StepCard, rows: Sequence[int], answers: Votes, where: str) -> StepCard:
        truth = [self._rows[row].target for row in rows]
        if self._dataset.task == "regression":
            error = mean_squared_error(answers, truth, abstention_error=self._dataset.target_range)
            off = f"off by {number(math.sqrt(error), 3)}"
            return replace(card, score=off, rows=f"on {integer(len(rows))} {where}")
        hits = tuple(None if value is None else value == target for value, target in zip(answers, truth, strict=True))
        n, of = integer(hits.count(True)), integer(len(rows))
        return replace(card, score=f"{n}/{of}", rows=f"{n} of {of} {where} right", hits=hits)

    def _last_scores(self) -> dict[str, Scored]:
        """Return the newest score of every text, by its id."""
        last = self._view.steps.get(self._view.last_step or 0, StepView(step=0))
        events = (*last.scored.values(), *last.proposals_scored.values(), *self._view.final_scored.values())
        return {each.hypothesis: each for each in events}

    def _end_score(self, card: StepCard, hypothesis: str) -> StepCard:
        """Add how many training rows a hypothesis has right, if they are evaluated; else its last score."""
        train, last = self._view.evaluated.get("train"), self._last_scores().get(hypothesis)
        if train and hypothesis in train.hypotheses:
            answers = train.predictions[train.hypotheses.index(hypothesis)]
            return self._score_of(card, train.rows, answers, "training rows")
        return self._score_of(card, last.rows, last.predictions, scored_rows(self._config)) if last else card

    # Folds

    def _folds(self, at: StepView, made: Sequence[Proposed]) -> tuple[Fold, ...]:
        folds = tuple(self._fold(at, each) for each in made)
        if len(folds) <= 1:
            return tuple(replace(each, mark="", title="prompt and answer") for each in folds)
        return (Fold(name="rewrites", title="rewrites", blocks=folds),)

    def _fold(self, at: StepView, proposed: Proposed) -> Fold:
        slot, name = proposed.particle, f"rewrite-{proposed.particle}"
        prompt: Code | Note = Note("One moment.")
        if self._prompts and slot in self._wanted:
            prompt = Code(self._prompts.proposal(self._view, at.step, slot) or PROMPT_UNKNOWN)
        mark, words = outcome(proposed)
        lost = proposed.proposal if proposed.why == "likelihood" and not proposed.accepted else None
        blocks = (
            *([Quote(self._text(lost))] if lost else []),
            *map(Note, filter(None, (decision_words(proposed), proposed.reason))),
            Fold(name=f"{name}-{PROMPT}", title=PROMPT, blocks=(prompt,), wanted=slot),
            *_answered(proposed, name),
        )
        return Fold(name=name, mark=mark, title=f"{words}: prompt and answer", blocks=blocks)


def _valued(card: StepCard, own: Sequence[Held], front: Held) -> StepCard:
    """Add the number and the bar of a card: its weight, or a chain's likelihood."""
    if not card.is_chain:
        known = [each.weight for each in own if each.weight is not None]
        if len(known) < len(own):
            return card
        share = min(sum(known), 1.0)
        return replace(card, value=short_percent(share), bar=share)
    scored = front.scored
    if scored is None:
        return card
    mean = min(1.0, math.exp(scored.log_likelihood / max(1, len(scored.rows))))
    return replace(card, value=fixed(scored.log_likelihood, 1), bar=mean)


def _marks(own: Sequence[Held], front: Proposed | None, at: StepView) -> Marks:
    if front is None or not front.accepted:
        waiting = not at.finished and any(each.proposed is None for each in own)
        if waiting:
            return (("live", "being rewritten"),)
        return (outcome(front),) if front and front.why != "unchanged" else ()
    return (outcome(front), *_gain(front))


def _sorted(cards: Iterator[StepCard]) -> list[StepCard]:
    return sorted(cards, key=lambda card: (-card.bar, card.key))


def _answered(event: Proposed | ParticleDrawn, name: str) -> Iterator[Fold]:
    """Yield the answer verbatim, each part in a fold. name: of the fold around them."""
    thoughts = [("what it thought first", event.thoughts)] if event.thoughts else []
    for title, words in (*thoughts, ("the whole answer", event.raw)):
        yield Fold(name=f"{name}-{title}", title=title, blocks=(Code(words),))


def outcome(proposed: Proposed) -> tuple[Mark, str]:
    """Badge on a rewriting and its decision."""
    is_fresh = proposed.origin == "prior"
    if proposed.why == "unparsable":
        return "abs", "rewrite refused" if proposed.refused else "rewrite unreadable"
    if proposed.why == "unchanged":
        return "same", "left as it is"
    if proposed.why == "taken":
        return "new", AFRESH if is_fresh else "rewritten"
    if proposed.accepted:
        return "acc", f"{AFRESH if is_fresh else 'rewritten'}, accepted"
    return "rej", "new draw rejected" if is_fresh else "rewrite rejected"


def _gain(proposed: Proposed) -> Marks:
    """Badge on how an accepted text fits beside the one before."""
    own, new = proposed.log_likelihood, proposed.log_likelihood_proposal
    if own is None or new is None:
        return ()
    if math.isclose(own, new, abs_tol=1e-9):
        return (("same", "fits alike"),)
    return (("up", "fits better"),) if new > own else (("down", "fits worse"),)


def decision_words(proposed: Proposed) -> str:
    """Eq. 9 in numbers; empty where nothing was compared."""
    own, new, log_alpha, u = (
        proposed.log_likelihood, proposed.log_likelihood_proposal, proposed.log_alpha, proposed.u,
    )  # fmt: skip
    if own is None or new is None or log_alpha is None or u is None:
        return ""
    chance = percent(math.exp(min(0.0, log_alpha)), decimals=1)
    outcome_word = "accepted" if proposed.accepted else "rejected"
    return (
        f"Log-likelihood {fixed(new)}, before {fixed(own)}. Acceptance probability {chance}, drew "
        f"{percent(u, decimals=1)}: {outcome_word}."
    )


# What happened, in a sentence or two


def happened(view: RunView, step: int | None, config: Config, names: Names) -> str:
    """Describe a step, the first hypotheses (-1), or the end of the run (None); empty before there is something."""
    if step is None:
        return " ".join(_end(view, config))
    if step == INITIAL_STEP or step not in view.steps:
        return _beginning(view, config)
    at = view.steps[step]
    return " ".join((*_weighing(at, names), *_rewriting(at, config))) or "The hypotheses are being scored."


def _beginning(view: RunView, config: Config) -> str:
    drawn = list(view.drawn.values())
    if not drawn:
        return ""
    if config.method in CHAINS_OF_VML:
        return "Every chain begins with the seed sentence."
    source = "the task alone" if config.starts_from_prior else "the first rows"
    origins = {"continued": "from the earlier run", "yours": "given by you", "drawn": f"written from {source}"}
    counts = Counter(each.origin for each in drawn)
    parts = [
        f"{in_words(n)} {'hypothesis' if n == 1 else 'hypotheses'} {origins[origin]}" for origin, n in counts.items()
    ]
    different = len({each.hypothesis for each in drawn})
    unlike = "" if different == len(drawn) else f"; {in_words(different)} of them differ"
    return capitalised(f"{', '.join(parts)}{unlike}.")


def _weighing(at: StepView, names: Names) -> Iterator[str]:
    made = at.reweighted
    if made is None:
        return
    heaviest, share = names.heaviest(at.step)
    yield f"Hypothesis {heaviest} is the heaviest, with {percent(share)}."
    if at.resampled is None:
        yield "The weights are even enough: none is copied." if len(made.weights) > 1 else ""
        return
    copies = Counter(at.resampled.ancestors)
    dropped, several = len(made.weights) - len(copies), sum(n > 1 for n in copies.values())
    yield f"{capitalised(in_words(several))} copied, {in_words(dropped)} dropped." if dropped else "None was dropped."


def _rewriting(at: StepView, config: Config) -> Iterator[str]:
    made, so_far = list(at.proposed.values()), "" if at.finished else " so far"
    if not made:
        return
    rewrites = f"{in_words(len(made))} {'rewrite' if len(made) == 1 else 'rewrites'}"
    n = sum(each.accepted for each in made)
    taken = f"{capitalised(in_words(n)) if n else 'None'} of {rewrites}"
    yield f"{taken} {'accepted' if config.is_filtered else 'taken'}{so_far}."


def _end(view: RunView, config: Config) -> Iterator[str]:
    last = view.last_step
    if last is None:
        return
    if last < view.total_steps - 1:
        yield f"The run ended after {integer(last + 1)} of {counted(view.total_steps, 'step')}."
    if config.is_weighing:
        yield "Each hypothesis was weighed on all training rows."
    elif view.final is not None:
        where = "all training rows" if is_final_on_train(config) else "the last rows"
        yield f"The last hypotheses were weighed once more, each text once, on {where}."
    if (constant := constant_weight(view)) >= NOTICEABLE:
        yield f"A constant answer holds {percent(constant)} of the weight."
    if view.started and not view.started.dataset.get("n_test", 1):
        yield "The run has no test rows."
    elif (test := view.evaluated.get("test")) is None or test.step != last:
        yield "The test rows were not evaluated."
