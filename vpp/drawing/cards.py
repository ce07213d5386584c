"""Particles as cards: a hypothesis, its weight, what supports it and what became of it.

A card of smc at step t shows the text that was weighed at t; a card of the other methods the text that t left.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from vpp.data.dataset import Dataset
from vpp.events import INITIAL_STEP, ParticleDrawn, Proposed, Scored
from vpp.inspection.slots import (
    UNCHANGED,
    Change,
    batch_places,
    changes,
    heirs,
    kept_as,
    place,
    rewritten_as,
    scored_rows,
)
from vpp.posterior.metric import mean_squared_error
from vpp.runs.view import RunView, StepView
from vpp.settings import Config
from vpp.wording.counts import cut_words
from vpp.wording.markup import Mark
from vpp.wording.words import after_rows, number, particles, short_weight

Marks = tuple[tuple[Mark, str], ...]
Hits = tuple[bool | None, ...]
"""A row each: right, wrong, None abstained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Something folded away under a card."""

    name: str
    """Tells folds of one card apart."""
    mark: Mark
    title: str
    sentence: str = ""
    """A hypothesis."""
    notes: tuple[str, ...] = ()
    raw: tuple[tuple[str, str | None], ...] = ()
    """(Title, text) of what was asked and answered, to the letter; None for a prompt that comes when it is opened."""
    slot: int | None = None
    """Whose proposal its prompt asked for, where prompts come when they are opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One particle at one step."""

    slot: int
    weight: float | None
    """None before the first weights; the share of one where all count alike."""
    sentence: str
    """Without the seed sentence, which all share."""
    parent: str | None
    """The sentence it was rewritten from; None where there is none."""
    marks: tuple[tuple[Mark, str], ...]
    """What happened to it."""
    hits: Hits
    """On the batch; empty for regression."""
    rail: tuple[str, ...]
    """Short facts at the right."""
    folds: tuple[Fold, ...]
    alike: int = 0
    """How many there are where all count alike, without weights; 0 where they have weights."""
    moved: Marks = ()
    """What is another thing about its weight and its place than a step before."""


MOST_ROWS = 6
"""Rows named that contradict a proposal."""
PROMPT = "the prompt"
UNTOLD = "Not known yet: what the hypothesis answered on the rows shown is not on disk."
NEW: tuple[Mark, str] = ("new", "new")
AFRESH = "drawn afresh from the prior, without data"
REJECTED_AFRESH = "rejected a proposal drawn afresh from the prior"


def without_seed(sentence: str, seed_text: str) -> str:
    """What the optimizer wrote; the seed sentence alone where it wrote nothing."""
    return sentence.removeprefix(seed_text).strip() or sentence


class Asked(Protocol):
    """Knows what the optimizer was asked."""

    def proposal(self, view: RunView, step: int, slot: int) -> str | None:
        """What a slot's proposal at a step was asked; None where that is not known (yet)."""


class CardMaker:
    """Makes the cards of a run's steps."""

    def __init__(
        self, view: RunView, config: Config, dataset: Dataset, prompts: Asked, *, wanted: Collection[int] | None = None
    ) -> None:
        """wanted: slots whose prompts are told; None: all. They are the greater part of a deck, and seldom opened."""
        self._view = view
        self._wanted = wanted
        self._config = config
        self._prompts = prompts
        self._targets = {row.id: row.target for row in (*dataset.train, *dataset.test)}
        self._dataset = dataset
        self._seed = view.started.seed_text if view.started else ""

    def initial(self) -> list[Card]:
        """The first hypotheses as they come, by slot."""
        return [self._fresh(drawn) for _, drawn in sorted(self._view.drawn.items())]

    def final(self) -> list[Card]:
        """The last population with the weights that predictions use, heaviest first.

        Without weights of their own, the end is the last step's decisions, unless K changed after them.
        """
        last = self._view.finished_steps[-1]
        if not self._config.is_weighted and last.scored and not (last.joined or last.shrunk):
            return self.at(last.step)
        ids = [state.hypothesis for state in self._view.population]
        since = self._since(last.step + 1, self._view.weights)
        same = _same_words(dict(enumerate(ids)))
        return _by_weight(
            [self._last(last, slot, ids[slot], since.get(slot, UNCHANGED), same[slot]) for slot in range(len(ids))]
        )

    def at(self, step: int) -> list[Card]:
        """The cards of a step that has weights (smc) or decisions, heaviest first; newcomers stand at the end."""
        view = self._view.steps.get(step, StepView(step=step))
        if view.is_torn:
            return _by_weight([self._bare(view, slot) for slot in range(len(view.population))])
        since = self._since(step, view.reweighted.weights) if view.reweighted else {}
        same = _same_words({slot: scored.hypothesis for slot, scored in sorted(view.scored.items())})
        cards = [
            self._weighed(view, slot, since.get(slot, UNCHANGED), same[slot])
            if self._config.is_weighted
            else self._decided(view, slot)
            for slot in sorted(view.scored)
        ]
        return [*_by_weight(cards), *(self._fresh(drawn) for _, drawn in sorted(view.joined.items()))]

    def _fresh(self, drawn: ParticleDrawn) -> Card:
        joined: Marks = (("", f"joined at step {drawn.step}"),) if drawn.step != INITIAL_STEP else ()
        bare: Marks = (("abs", "no readable answer: the seed sentence stands"),) if drawn.reason else ()
        kept: Marks = (("", "taken over from the earlier run"),) if drawn.origin == "continued" else ()
        return Card(
            slot=drawn.particle,
            weight=None,
            sentence=self._said(drawn.hypothesis),
            parent=None,
            marks=(*joined, *kept, *bare),
            hits=(),
            rail=(f"temperature {drawn.temperature:.2g}",) if drawn.raw else (),
            folds=_answer_fold(drawn),
        )

    def _bare(self, view: StepView, slot: int) -> Card:
        """Of a step whose scores and decisions are lost."""
        return Card(
            slot=slot,
            weight=view.weights[slot],
            sentence=self._said(view.population[slot].hypothesis),
            parent=None,
            marks=self._origin(view.step, slot),
            hits=(),
            rail=("its scores are lost",),
            folds=(),
            alike=0 if self._config.is_weighted else len(view.population),
        )

    def _since(self, step: int, weights: Sequence[float]) -> Mapping[int, Change]:
        """By slot; nothing where all count alike."""
        return changes(self._view, step, weights) if self._config.is_weighted else {}

    def _last_scored(self, last: StepView, slot: int, hypothesis: str) -> Scored | None:
        """As the weights of the end were made; else as the last step scored the same text, in whichever slot."""
        made = (*last.scored.values(), *last.proposals_scored.values())
        return self._view.final_scored.get(slot) or next((s for s in made if s.hypothesis == hypothesis), None)

    def _last(self, last: StepView, slot: int, hypothesis: str, since: Change, same: Marks) -> Card:
        scored = self._last_scored(last, slot, hypothesis)
        hits, rail = self._facts(last, scored) if scored else ((), ("not scored",))
        return Card(
            slot=slot,
            weight=self._view.weights[slot],
            sentence=self._said(hypothesis),
            parent=self._said_before(last.step, slot),
            marks=(
                *_came(since, last.step),
                *self._origin(last.step, slot),
                *same,
            ),
            hits=hits,
            rail=rail,
            folds=(),
            alike=0 if self._config.is_weighted else len(last.population),
            moved=_moved(since, self._view.weights, slot),
        )

    def _weighed(self, view: StepView, slot: int, since: Change, same: Marks) -> Card:
        scored = view.scored[slot]
        weights = view.reweighted.weights if view.reweighted else ()
        hits, rail = self._facts(view, scored)
        return Card(
            slot=slot,
            weight=weights[slot] if weights else None,
            sentence=self._said(scored.hypothesis),
            parent=self._said_before(view.step - 1, slot),
            marks=(
                *_came(since, view.step - 1),
                *self._origin(view.step - 1, slot),
                *self._fate(view, slot),
                *same,
            ),
            hits=hits,
            rail=rail,
            folds=self._rewritings(view, slot),
            moved=_moved(since, weights, slot),
        )

    def _decided(self, view: StepView, slot: int) -> Card:
        proposed = view.proposed.get(slot)
        taken = proposed is not None and proposed.accepted
        scored = view.proposals_scored.get(slot, view.scored[slot]) if taken else view.scored[slot]
        shown = proposed.proposal if taken and proposed and proposed.proposal else view.scored[slot].hypothesis
        hits, rail = self._facts(view, scored) if scored.hypothesis == shown else ((), ("not scored yet",))
        return Card(
            slot=slot,
            weight=1 / len(self._view.steps[view.step - 1].population),
            sentence=self._said(shown),
            parent=self._said(view.scored[slot].hypothesis) if taken and not _is_fresh(proposed) else None,
            marks=(*((NEW,) if taken else ()), *self._decision(view, slot), *_shrunk(view, (slot,))),
            hits=hits,
            rail=rail,
            folds=self._judged(view, slot),
            alike=len(self._view.steps[view.step - 1].population),
        )

    def _said(self, hypothesis: str) -> str:
        return without_seed(self._view.texts[hypothesis], self._seed)

    def _proposed(self, step: int, slot: int) -> Proposed | None:
        """The proposal that what stands in `slot` at the step's end was judged by, or came from."""
        at = self._view.steps.get(step)
        before = rewritten_as(at, slot) if at else None
        return at.proposed.get(before) if at and before is not None else None

    def _said_before(self, step: int, slot: int) -> str | None:
        """The text that slot's was rewritten from at `step`; None where it was not rewritten, or drawn afresh."""
        proposed = self._proposed(step, slot)
        return self._said(proposed.parent) if proposed and proposed.accepted and not _is_fresh(proposed) else None

    def _origin(self, step: int, slot: int) -> Marks:
        """How the text came to be, at the step before."""
        if step == INITIAL_STEP:
            return (("", "first hypothesis"),)
        if step not in self._view.steps or self._view.steps[step].is_torn:
            return (("abs", f"how it came at step {step} is lost"),)
        if slot in self._view.steps[step].joined:
            return (("", f"joined at step {step}"),)
        proposed = self._proposed(step, slot)
        if proposed is None:
            return (("same", f"not rewritten at step {step}: only copies are"),)
        return ((_told_mark(proposed), f"{self._told(proposed)} at step {step}"),)

    def _told(self, proposed: Proposed) -> str:
        if proposed.why == "unchanged":
            return "kept word for word"
        if proposed.why == "unparsable":
            return f"kept: the proposal {'was refused' if proposed.refused else 'could not be read'}"
        if not proposed.accepted:
            return REJECTED_AFRESH if _is_fresh(proposed) else "kept: the proposal was rejected"
        return f"{self._how(proposed)}{', accepted' if proposed.why == 'likelihood' else ''}"

    def _how(self, proposed: Proposed) -> str:
        if _is_fresh(proposed):
            return AFRESH
        manner = ""
        if self._config.is_weighted:
            manner = " boldly" if proposed.temperature > self._config.cautious_temperature else " cautiously"
        return f"rewritten{manner} (temperature {proposed.temperature:.2g})"

    def _fate(self, view: StepView, slot: int) -> Marks:
        """What resampling did, and the step's end."""
        copies = heirs(view, slot)
        if not copies:
            return (("gone", f"resampled away at step {view.step}"),)
        spread: Marks = () if copies == (slot,) else (("copy", f"resampled into {particles(copies)}"),)
        kept = view.finished and self._config.mutate == "duplicates" and not view.proposed.keys() & set(copies)
        still: Marks = (("same", "not rewritten: only copies are"),) if kept else ()
        return (*spread, *still, *_shrunk(view, copies))

    def _decision(self, view: StepView, slot: int) -> Marks:
        proposed = view.proposed.get(slot)
        if proposed is None:
            return (("same", "waiting for its proposal"),)
        rejected = REJECTED_AFRESH if _is_fresh(proposed) else "proposal rejected"
        words = {
            "likelihood": f"{'accepted' if proposed.accepted else rejected} at step {view.step}",
            "taken": f"taken unseen at step {view.step}",
            "unchanged": f"unchanged at step {view.step}",
            "unparsable": f"proposal {_unused(proposed)} at step {view.step}",
        }[proposed.why]
        return ((_told_mark(proposed), words), *(_afresh(proposed) if proposed.accepted else ()))

    def _rewritings(self, view: StepView, slot: int) -> tuple[Fold, ...]:
        """What the slot, or its copies, were rewritten to, or should have been."""
        proposed = [k for k in heirs(view, slot) if k in view.proposed]
        return tuple(self._rewriting(view, k, name="next" if i == 0 else f"next-{i}") for i, k in enumerate(proposed))

    def _rewriting(self, view: StepView, slot: int, *, name: str) -> Fold:
        proposed = view.proposed[slot]
        is_rejected = proposed.why == "likelihood" and not proposed.accepted
        keeps = f"particle {slot} keeps it{': proposal rejected' if is_rejected else ''}"
        says = f"what particle {slot} says next{': accepted' if proposed.why == 'likelihood' else ''}"
        return Fold(
            name=name,
            mark=_told_mark(proposed) if proposed.why != "taken" else "",
            title=says if proposed.accepted else keeps,
            sentence=self._said(proposed.proposal or proposed.parent),
            notes=self._notes(view, slot),
            raw=self._asked(view, slot),
            slot=self._asks_for(slot),
        )

    def _judged(self, view: StepView, slot: int) -> tuple[Fold, ...]:
        """The proposal and, where it was judged, the arithmetic of its decision."""
        proposed = view.proposed.get(slot)
        if proposed is None:
            return ()
        asked, asks = self._asked(view, slot), self._asks_for(slot)
        if proposed.why in ("taken", "unchanged"):
            notes = cut_words(proposed, len(view.finished.batch) if view.finished else None)
            title = "what the optimizer was asked and answered"
            return (Fold(name="asked", mark="", title=title, notes=notes, raw=asked, slot=asks),)
        notes = self._notes(view, slot)
        if proposed.accepted:
            return (Fold(name="why", mark="acc", title="why it was accepted", notes=notes, raw=asked, slot=asks),)
        sentence = self._said(proposed.proposal) if proposed.proposal else ""
        title = "rejected proposal" if proposed.why == "likelihood" else f"{_unused(proposed)} proposal"
        mark = _told_mark(proposed)
        return (Fold(name="rejected", mark=mark, title=title, sentence=sentence, notes=notes, raw=asked, slot=asks),)

    def _notes(self, view: StepView, slot: int) -> tuple[str, ...]:
        """Where the proposal came from, the rows that speak against it, and the decision's arithmetic."""
        proposed = view.proposed[slot]
        origin = tuple(words for _, words in _afresh(proposed))
        return (
            *origin,
            *cut_words(proposed, len(view.finished.batch) if view.finished else None),
            *self._contradicting(view, slot),
            *self._arithmetic(proposed, view.proposals_scored.get(slot)),
            *_reason(proposed),
        )

    def _arithmetic(self, proposed: Proposed, scored: Scored | None) -> tuple[str, ...]:
        """Eq. 9 in numbers; where the target is tempered, with its exponent."""
        if proposed.u is None or proposed.log_likelihood is None:
            return ()
        weighed = self._view.steps[proposed.step].reweighted
        tempered_by = weighed.beta if self._config.is_telescoping and weighed else 1.0
        tempered = "" if tempered_by == 1 else f", times φ = {1 / tempered_by:.3g}"
        if proposed.unanswered and scored:
            return (
                f"rejected after {after_rows(len(scored.rows), proposed.unanswered)}: log-likelihood could reach at "
                f"most {_signed(proposed.log_likelihood_bound)}, against {_signed(proposed.log_likelihood)} "
                f"before{tempered}, u = {proposed.u:.3f}",
            )
        if proposed.log_alpha is None:
            return ()
        return (
            f"log-likelihood {_signed(proposed.log_likelihood_proposal)} against "
            f"{_signed(proposed.log_likelihood)} before{tempered}: "
            f"log α = {_signed(proposed.log_alpha)}, u = {proposed.u:.3f}",
        )

    def _asked(self, view: StepView, slot: int) -> tuple[tuple[str, str | None], ...]:
        """The prompt, rebuilt where the journal tells what was shown in it, and the raw answer."""
        is_told = self._wanted is None or slot in self._wanted
        prompt = (self._prompts.proposal(self._view, view.step, slot) or UNTOLD) if is_told else None
        return ((PROMPT, prompt), *_answered(view.proposed[slot]))

    def _asks_for(self, slot: int) -> int | None:
        return None if self._wanted is None else slot

    def _contradicting(self, view: StepView, slot: int) -> tuple[str, ...]:
        scored = view.proposals_scored.get(slot)
        if scored is None or self._dataset.task == "regression":
            return ()
        hits = dict(zip(scored.rows, self._hits_of(scored), strict=True))
        wrong = [row for row, hit in hits.items() if not hit]
        if not wrong:
            return (f"no row of {len(hits)} contradicts it",)
        more = ", …" if len(wrong) > MOST_ROWS else ""
        listed = f"{_listed(wrong[:MOST_ROWS])}{more}"
        verb = "contradicts" if len(wrong) == 1 else "contradict"
        return (f"{len(wrong)} of {len(hits)} {scored_rows(self._config)} {verb} it (rows {listed})",)

    def _hits_of(self, scored: Scored) -> Hits:
        targets, told = self._targets, zip(scored.rows, scored.predictions, strict=True)
        return tuple([None if value is None else value == targets[row] for row, value in told])

    def _facts(self, view: StepView, scored: Scored) -> tuple[Hits, tuple[str, ...]]:
        """What was right on the batch's rows; and the rail: the batch, then all rows scored where they are more."""
        places = batch_places(view, scored, self._config, n_train=len(self._dataset.train))
        is_more = len(scored.rows) > len(places)
        if self._dataset.task == "regression":
            off = (f"off by {number(self._error(scored, places), 3)} on the batch",) if places else ()
            return (), (*off, *(self._error_rail(scored) if is_more else ()), _log_lik(scored))
        all_hits = self._hits_of(scored)
        hits = tuple(all_hits[i] for i in places)
        right = (f"{hits.count(True)} of {len(hits)} right",) if hits else ()
        of_all = (f"{all_hits.count(True)} of {len(all_hits)} {self._where(scored)}",) if is_more else ()
        return hits, (*right, *of_all, _log_lik(scored))

    def _error_rail(self, scored: Scored) -> tuple[str, ...]:
        off = self._error(scored, range(len(scored.rows)))
        return (f"off by {number(off, 3)} on {len(scored.rows)} {self._where(scored)}",)

    def _where(self, scored: Scored) -> str:
        is_final = scored.role == "final" and self._config.final_weights == "train"
        return "training rows" if is_final else scored_rows(self._config)

    def _error(self, scored: Scored, places: Sequence[int]) -> float:
        """Root mean squared error on some of the rows scored."""
        targets = [self._targets[scored.rows[i]] for i in places]
        said = [scored.predictions[i] for i in places]
        return math.sqrt(mean_squared_error(said, targets, abstention_error=self._dataset.target_range))


def _came(since: Change, step: int) -> Marks:
    """How a particle came to say what it says, where that is another thing than a step before."""
    copied: Marks = (
        (("copy", f"copied from particle {since.copied} at step {step}"),) if since.copied is not None else ()
    )
    return (*((NEW,) if since.is_new else ()), *copied)


def _same_words(hypotheses: Mapping[int, str]) -> Mapping[int, Marks]:
    """What each slot shares with others, by slot. hypotheses: ids by slot."""
    slots: dict[str, list[int]] = defaultdict(list)
    for slot, hypothesis in hypotheses.items():
        slots[hypothesis].append(slot)
    twins = {slot: [k for k in slots[hypothesis] if k != slot] for slot, hypothesis in hypotheses.items()}
    return {slot: (("", f"same words as {particles(others)}"),) if others else () for slot, others in twins.items()}


def _moved(since: Change, weights: Sequence[float], slot: int) -> Marks:
    """Up or down in weight, as far as its digits show it, and past which place."""
    if since.weight is None or not weights or short_weight(since.weight) == short_weight(weights[slot]):
        return ()
    now, before = place(weights, slot), since.place
    told: Marks = (("up" if weights[slot] > since.weight else "down", f"from {short_weight(since.weight)}"),)
    if before is None or now is None or before == now or since.copied is not None:
        return told
    return (*told, ("up" if now < before else "down", f"from place {before}"))


def _shrunk(view: StepView, slots: Sequence[int]) -> Marks:
    """What became of rewritten slots where all agreed and K fell."""
    if view.shrunk is None:
        return ()
    kept = [new for slot in slots for new in kept_as(view, slot)]
    if not kept:
        return (("gone", f"dropped at step {view.step}: all agreed"),)
    return (("", f"kept as {particles(kept)}"),) if kept != list(slots) else ()


def _afresh(proposed: Proposed) -> Marks:
    return (("", AFRESH),) if _is_fresh(proposed) else ()


def _is_fresh(proposed: Proposed | None) -> bool:
    """Whether it was drawn from the prior and is no rewriting of its parent."""
    return proposed is not None and proposed.origin == "prior"


def _by_weight(cards: list[Card]) -> list[Card]:
    return sorted(cards, key=lambda card: (-(card.weight or 0), card.slot))


def _told_mark(proposed: Proposed) -> Mark:
    if proposed.why == "unparsable":
        return "abs"
    if proposed.why == "unchanged":
        return "same"
    return "acc" if proposed.accepted else "rej"


def _log_lik(scored: Scored) -> str:
    return f"log-likelihood {scored.log_likelihood:.1f}".replace("-", "−").replace("log−", "log-")


def _signed(value: float | None) -> str:
    return "−∞" if value is None or value == float("-inf") else f"{value:.2f}".replace("-", "−")


def _reason(proposed: Proposed) -> tuple[str, ...]:
    if not proposed.reason:
        return ()
    return (f"refused: {proposed.reason}" if proposed.refused else proposed.reason,)


def _unused(proposed: Proposed) -> str:
    """Why there was no text to decide on, in a word."""
    return "refused" if proposed.refused else "unreadable"


def _answered(told: Proposed | ParticleDrawn) -> tuple[tuple[str, str], ...]:
    """What the optimizer said, and what it thought first."""
    thoughts = (("what it thought first", told.thoughts),) if told.thoughts else ()
    return (*thoughts, ("the whole answer", told.raw))


def _answer_fold(drawn: ParticleDrawn) -> tuple[Fold, ...]:
    title = "the optimizer’s whole answer"
    return (Fold(name="raw", mark="", title=title, raw=_answered(drawn)),) if drawn.raw else ()


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
