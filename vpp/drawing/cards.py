"""Cards of a run’s particles at each step: a hypothesis, its weight, score and what became of it.

A card of smc at step t shows the text weighed at t; a card of the other methods the text after the decision of t.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from vpp.data.dataset import Dataset, Row
from vpp.drawing.deck import PROMPT, SAME_ANSWERS, Card, Effect, Fold, Hits, Marks, without_seed
from vpp.events import INITIAL_STEP, ParticleDrawn, Proposed, Scored
from vpp.findings.counts import cut_words
from vpp.findings.ideas import compare
from vpp.findings.programs import ProgramReading
from vpp.findings.ruled_out import arithmetic, decision
from vpp.findings.scores import rows_by_id, rows_of, score
from vpp.findings.slots import (
    RecordedAnswers,
    answers_of,
    batch_places,
    came_from,
    grouped,
    heirs,
    recorded_answers,
    same_answer,
    scored_rows,
)
from vpp.posterior.metric import mean_squared_error
from vpp.posterior.prediction import Value
from vpp.problem import is_final_on_train
from vpp.runs.view import RunView, StepView
from vpp.settings import CAUTIOUS_TEMPERATURE, Config
from vpp.show.markup import Mark
from vpp.show.words import MINUS, counted, fixed, number, particles, percent
from vpp.wording.progress import end_rows, step_rows

MOST_ROWS = 6
MOST_COPIES = 3
PROMPT_UNKNOWN = "Not known yet: what the hypothesis answered on the rows shown is not on disk."
AFRESH = "drawn afresh from the prior, without data"


class Prompts(Protocol):
    """Source of the optimizer's prompts."""

    def proposal(self, view: RunView, step: int, slot: int) -> str | None:
        """Prompt of a slot's proposal at a step; None if it is not known (yet)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A run's texts and proposals by slot."""

    view: RunView
    config: Config
    dataset: Dataset
    rows: Mapping[int, Row]

    def text(self, hypothesis: str) -> str:
        """A hypothesis without the seed sentence."""
        started = self.view.started
        return without_seed(self.view.texts[hypothesis], started.seed_text if started else "")

    def proposal(self, step: int, slot: int) -> Proposed | None:
        """The proposal that decided what `slot` holds at the end of the step."""
        at = self.view.steps.get(step)
        return at.proposed.get(slot) if at else None

    def parent(self, step: int, slot: int) -> str | None:
        """The text that the slot's text was rewritten from at `step`; None if it was kept or drawn afresh."""
        proposed = self.proposal(step, slot)
        return self.text(proposed.parent) if proposed and proposed.accepted and not is_fresh(proposed) else None


# Badges


def origin_marks(run: History, step: int, slot: int) -> Marks:
    """Badges on how the text came to be at `step`."""
    at = run.view.steps.get(step)
    if step == INITIAL_STEP:
        return (("", "first hypothesis"),)
    proposed = run.proposal(step, slot)
    if proposed is None and run.config.is_weighing:
        return (("", "yours"),)
    # Without the reason of a rejection: the fold with the prompt gives that.
    made: Marks = ()
    if proposed:
        made = ((_outcome_mark(proposed), _outcome(run, proposed)) if proposed.accepted else ("same", "unchanged"),)
    origin = came_from(at, slot) if at and at.resampled else slot
    copied: Marks = (("copy", f"copied from particle {origin}"),) if origin not in (None, slot) else ()
    return (*copied, *made)


def _outcome(run: History, proposed: Proposed) -> str:
    if not proposed.accepted:
        return f"unchanged, {_reason(proposed)}"
    accepted = ", accepted" if proposed.why == "likelihood" else ""
    if is_fresh(proposed):
        return f"{AFRESH}{accepted}"
    if not run.config.is_weighted:
        return f"rewritten{accepted}"
    return f"{'large' if proposed.temperature > CAUTIOUS_TEMPERATURE else 'small'} rewrite{accepted}"


def _reason(proposed: Proposed) -> str:
    if proposed.why == "unchanged":
        return "rewrite is the same text"
    if proposed.why == "unparsable":
        return "rewrite refused" if proposed.refused else "rewrite unreadable"
    return f"{'text drawn afresh from the prior' if is_fresh(proposed) else 'rewrite'} rejected"


def decision_marks(run: History, proposed: Proposed, at: StepView) -> Marks:
    """Badge on a chain's accept step (Eq. 9) in numbers; on the outcome where nothing was drawn."""
    made = decision(proposed, at)
    if made.u is None or made.log_alpha is None:
        return ((_outcome_mark(proposed), _outcome(run, proposed)),)
    alpha = math.exp(min(0.0, made.log_alpha))
    # As many digits as tell the two numbers apart.
    digits = next((n for n in (2, 3, 4, 6) if fixed(alpha, n) != fixed(made.u, n)), 2)
    chance = f"acceptance probability {percent(alpha, decimals=digits - 2)}"
    fresh = f"{AFRESH}: " if is_fresh(proposed) else ""
    outcome = "accepted" if proposed.accepted else "rejected"
    return ((_outcome_mark(proposed), f"{fresh}{chance}, drew {fixed(made.u, digits)}: {outcome}"),)


def fate_marks(run: History, at: StepView, slot: int) -> Marks:
    copies = heirs(at, slot)
    if not copies:
        return (("gone", "resampled away"),)
    named = particles(copies) if len(copies) <= MOST_COPIES else counted(len(copies), "particle")
    return () if copies == (slot,) else (("copy", f"resampled into {named}"),)


def is_fresh(proposed: Proposed | None) -> bool:
    """True if the text was drawn from the prior, not rewritten from its parent."""
    return proposed is not None and proposed.origin == "prior"


def _outcome_mark(proposed: Proposed) -> Mark:
    marks: Mapping[str, Mark] = {"unparsable": "abs", "unchanged": "same", "taken": "new"}
    return marks.get(proposed.why) or ("acc" if proposed.accepted else "rej")


# Scores


def hits_of(run: History, scored: Scored) -> Hits:
    answers = zip(scored.rows, scored.predictions, strict=True)
    return tuple([None if value is None else value == run.rows[row].target for row, value in answers])


def scores(run: History, at: StepView, scored: Scored) -> tuple[Hits, tuple[str, ...]]:
    """Hits on the batch; and the facts at the right: the batch, then all rows scored if more."""
    places = batch_places(at, scored, run.config, n_train=len(run.dataset.train))
    is_more, is_final = len(scored.rows) > len(places), scored.role == "final" and is_final_on_train(run.config)
    where = "training rows" if is_final else scored_rows(run.config)
    if run.dataset.task == "regression":
        off = (f"off by {number(_error(run, scored, places), 3)} on the batch",) if places else ()
        every = number(_error(run, scored, range(len(scored.rows))), 3)
        of_all = f"{'' if off else 'off '}by {every} on {len(scored.rows)} {where}"
        return (), (*off, *((of_all,) if is_more else ()))
    all_hits = hits_of(run, scored)
    hits = tuple(all_hits[i] for i in places)
    right = (f"{hits.count(True)}/{len(hits)} right",) if hits else ()
    of_all = f"{all_hits.count(True)}/{len(all_hits)} {where.removeprefix('rows ')}"
    return hits, (*right, *((of_all,) if is_more else ()))


def _error(run: History, scored: Scored, places: Sequence[int]) -> float:
    targets = [run.rows[scored.rows[i]].target for i in places]
    return math.sqrt(_squared(run, [scored.predictions[i] for i in places], targets))


def _squared(run: History, answers: Sequence[Value | None], targets: Sequence[Value | None]) -> float:
    return mean_squared_error(answers, targets, abstention_error=run.dataset.target_range)


def answers_around(*steps: StepView | None, final: Iterable[Scored] = ()) -> RecordedAnswers:
    """Answers by hypothesis and row that were scored in some steps, and for the final weights."""
    events = [s for at in steps if at for s in (*at.scored.values(), *at.proposals_scored.values())]
    # Copies of a text have the same answers: each text is read once a set of rows.
    return recorded_answers({(s.hypothesis, s.rows): s for s in (*events, *final)}.values())


def effect_of(run: History, proposed: Proposed | None, known: RecordedAnswers) -> Effect | None:
    """Compare an accepted rewriting with its parent, on the rows that both were scored on."""
    if proposed is None or not proposed.accepted or is_fresh(proposed) or proposed.proposal is None:
        return None
    before, after = known.get(proposed.parent, {}), known.get(proposed.proposal, {})
    pairs = [(before[row], answer, run.rows[row].target) for row, answer in after.items() if row in before]
    n, changed = len(pairs), sum(same_answer(old) != same_answer(new) for old, new, _ in pairs)
    if not changed:
        return Effect(mark="same", words=SAME_ANSWERS, n_rows=n) if n else None
    if run.dataset.task == "regression":
        olds, news, targets = zip(*pairs, strict=True)
        was, now = _squared(run, olds, targets), _squared(run, news, targets)
        mark: Mark = "up" if now < was else "down" if now > was else ""
        return Effect(mark=mark, words=f"error {number(math.sqrt(was), 3)} → {number(math.sqrt(now), 3)}", n_rows=n)
    gained = sum((new == y) - (old == y) for old, new, y in pairs)
    if not gained:
        return Effect(mark="", words=f"changed {changed} of {n} answers", n_rows=n)
    rows = counted(abs(gained), "row")
    return Effect(mark="up" if gained > 0 else "down", words=f"{'+' if gained > 0 else MINUS}{rows} right", n_rows=n)


# Folds


@dataclass(frozen=True, slots=True, kw_only=True)
class Folds:
    """Folds of a card's proposals: the text, the notes on its decision, prompt and answer."""

    run: History
    prompts: Prompts
    wanted: Collection[int] | None
    """Slots whose prompts are included; None: all. Prompts are most of a deck's size, and seldom opened."""

    def rewritings(self, at: StepView, slot: int) -> tuple[Fold, ...]:
        folds = tuple(self._rewriting(at, k) for k in heirs(at, slot) if k in at.proposed)
        if len(folds) <= 1:
            return tuple(replace(each, name="next") for each in folds)
        taken = sum(at.proposed[k].accepted for k in heirs(at, slot) if k in at.proposed)
        outcome = f"{taken} {'accepted' if self.run.config.is_filtered else 'taken'}"
        return (Fold(name="next", mark="", title=f"{len(folds)} proposals, {outcome}", inner=folds),)

    def _rewriting(self, at: StepView, slot: int) -> Fold:
        proposed = at.proposed[slot]
        whom = "" if heirs(at, slot) == (slot,) else f"as particle {slot}: "
        return replace(
            self._asked(at, slot),
            name=f"next-{slot}",
            mark=_outcome_mark(proposed),
            title=f"{whom}{_outcome(self.run, proposed)}",
            sentence=self.run.text(proposed.proposal or proposed.parent),
            notes=self._notes(at, slot),
        )

    def judged(self, at: StepView, slot: int) -> tuple[Fold, ...]:
        proposed = at.proposed.get(slot)
        if proposed is None:
            return ()
        asked = self._asked(at, slot)
        if proposed.why in ("taken", "unchanged"):
            return (asked,)
        sentence = self.run.text(proposed.proposal) if proposed.proposal and not proposed.accepted else ""
        title = "prompt, answer and decision" if proposed.why == "likelihood" else asked.title
        return (replace(asked, title=title, sentence=sentence, notes=self._notes(at, slot)),)

    def _asked(self, at: StepView, slot: int) -> Fold:
        proposed = at.proposed[slot]
        is_included = self.wanted is None or slot in self.wanted
        prompt = (self.prompts.proposal(self.run.view, at.step, slot) or PROMPT_UNKNOWN) if is_included else None
        return Fold(
            name="asked",
            mark="",
            title="prompt and answer",
            notes=self._shown(at, proposed),
            raw=((PROMPT, prompt), *_answered(proposed)),
            slot=None if self.wanted is None else slot,
        )

    def _shown(self, at: StepView, proposed: Proposed) -> tuple[str, ...]:
        cut = cut_words(proposed, len(at.finished.batch) if at.finished else None)
        return (f"proposed at temperature {proposed.temperature:.2g}", *cut)

    def _notes(self, at: StepView, slot: int) -> tuple[str, ...]:
        proposed = at.proposed[slot]
        notes = (
            AFRESH if is_fresh(proposed) else "",
            *self._shown(at, proposed),
            *self._contradicting(at, slot),
            " ".join(arithmetic(decision(proposed, at))),
            f"refused: {proposed.reason}" if proposed.reason and proposed.refused else proposed.reason,
        )
        return tuple(filter(None, notes))

    def _contradicting(self, at: StepView, slot: int) -> tuple[str, ...]:
        scored = at.proposals_scored.get(slot)
        if scored is None or self.run.dataset.task == "regression":
            return ()
        hits = dict(zip(scored.rows, hits_of(self.run, scored), strict=True))
        wrong = [row for row, hit in hits.items() if not hit]
        if not wrong:
            return (f"no row of {len(hits)} contradicts it",)
        named = ", ".join([*map(str, wrong[:MOST_ROWS]), *(["…"] if len(wrong) > MOST_ROWS else [])])
        verb = "contradicts" if len(wrong) == 1 else "contradict"
        return (f"{len(wrong)} of {len(hits)} {scored_rows(self.run.config)} {verb} it (rows {named})",)


def _answered(event: Proposed | ParticleDrawn) -> tuple[tuple[str, str], ...]:
    thoughts = (("what it thought first", event.thoughts),) if event.thoughts else ()
    return (*thoughts, ("the whole answer", event.raw))


# Cards


GIVEN = {"continued": "taken over from the earlier run", "yours": "yours"}
"""Badge of a first hypothesis that nobody drew, by its origin."""

Made = tuple[Card, Scored | None]


class CardMaker:
    """Makes the cards of a run's steps: one for all particles with the same answers."""

    def __init__(
        self,
        view: RunView,
        config: Config,
        dataset: Dataset,
        prompts: Prompts,
        *,
        wanted: Collection[int] | None = None,
        readings: Mapping[str, ProgramReading] | None = None,
    ) -> None:
        """readings: how hypotheses are read, by id, if they may be programs."""
        self._readings = readings or {}
        self._view = view
        self._config = config
        self._run = History(view=view, config=config, dataset=dataset, rows=rows_by_id(dataset))
        self._folds = Folds(run=self._run, prompts=prompts, wanted=wanted)

    def initial(self) -> list[Card]:
        return [self._fresh(drawn) for _, drawn in sorted(self._view.drawn.items())]

    def final(self) -> list[Card]:
        """Cards of the last population with the weights that predictions use, heaviest first; a card an idea.

        Without weights they show the last step's decisions.
        """
        last, found = self._view.finished_steps[-1], compare(self._view)
        is_decided = not self._config.is_weighted and last.scored
        before = self._view.steps.get(last.step - 1) if is_decided else None
        known = answers_around(before, last, final=self._view.final_scored.values())
        make = self._decided if is_decided else self._last
        made = (make(last, slot, known) for slot in range(len(self._view.population)))
        cards = [replace(card, rail=self._rail_of_end(card)) for card, _ in made]
        keys, rows = (found.keys, end_rows(found)) if found else (range(len(cards)), "")
        return self._stacked(last.step + 1, zip(keys, (replace(card, compared=rows) for card in cards), strict=True))

    def at(self, step: int) -> list[Card]:
        """Cards of a step that has weights (smc) or decisions, heaviest or likeliest first."""
        view = self._view.steps.get(step, StepView(step=step))
        known = answers_around(self._view.steps.get(step - 1), view)
        make = self._weighed if self._config.is_weighted else self._decided
        made = (make(view, slot, known) for slot in sorted(view.scored))
        # A particle without a score stays alone.
        keyed = ((answers_of(scored) if scored else card.slot, card) for card, scored in made)
        return self._stacked(step, keyed)

    def _fresh(self, drawn: ParticleDrawn) -> Card:
        bare: Marks = (("abs", "no readable answer: the seed sentence stands"),) if drawn.reason else ()
        kept: Marks = (("", GIVEN[drawn.origin]),) if drawn.origin in GIVEN else ()
        answer = Fold(name="raw", mark="", title="the optimizer’s whole answer", raw=_answered(drawn))
        return Card(
            slot=drawn.particle,
            sentence=self._run.text(drawn.hypothesis),
            is_chain=not self._config.is_weighted,
            marks=(*kept, *bare),
            rail=(f"temperature {drawn.temperature:.2g}",) if drawn.raw else (),
            folds=(answer,) if drawn.raw else (),
        )

    def _scored(self, at: StepView, slot: int, hypothesis: str, scored: Scored | None) -> Card:
        hits, rail = scores(self._run, at, scored) if scored else ((), ("not scored yet",))
        n_rows = len(scored.rows) if scored else 0
        return Card(
            slot=slot,
            sentence=self._run.text(hypothesis),
            reading=self._readings.get(hypothesis),
            is_chain=not self._config.is_weighted,
            log_likelihood=scored.log_likelihood if scored else None,
            n_rows=n_rows,
            compared=step_rows(self._config, n_rows),
            hits=hits,
            rail=rail,
        )

    def _last(self, last: StepView, slot: int, known: RecordedAnswers) -> Made:
        hypothesis = self._view.population[slot].hypothesis
        made = (*last.scored.values(), *last.proposals_scored.values())
        # The score behind the final weight; else the last step's score of the same text, in any slot.
        scored = self._view.final_scored.get(slot) or next((s for s in made if s.hypothesis == hypothesis), None)
        card = replace(
            self._scored(last, slot, hypothesis, scored),
            weight=self._view.weights[slot] if self._config.is_weighted else None,
            parent=self._run.parent(last.step, slot),
            marks=origin_marks(self._run, last.step, slot),
            effect=effect_of(self._run, self._run.proposal(last.step, slot), known),
        )
        return card, scored

    def _rail_of_end(self, card: Card) -> tuple[str, ...]:
        if any(fact.endswith("training rows") for fact in card.rail):
            return card.rail
        train, hypothesis = self._view.evaluated.get("train"), self._view.population[card.slot].hypothesis
        if train is None or hypothesis not in train.hypotheses:
            return card.rail
        answers = train.predictions[train.hypotheses.index(hypothesis)]
        found = score(answers, rows_of(train, self._run.dataset), self._run.dataset)
        right = f"off by {number(math.sqrt(found.value), 3)} on " if found.n_correct is None else f"{found.n_correct}/"
        trained = f"{right}{found.n} training rows"
        return (*card.rail, trained) if card.n_rows else (trained,)

    def _weighed(self, view: StepView, slot: int, known: RecordedAnswers) -> Made:
        scored, made_at = view.scored[slot], view.step - 1
        card = replace(
            self._scored(view, slot, scored.hypothesis, scored),
            weight=view.reweighted.weights[slot] if view.reweighted else None,
            parent=self._run.parent(made_at, slot),
            marks=origin_marks(self._run, made_at, slot),
            effect=effect_of(self._run, self._run.proposal(made_at, slot), known),
            fate=fate_marks(self._run, view, slot),
            folds=self._folds.rewritings(view, slot),
        )
        return card, scored

    def _decided(self, view: StepView, slot: int, known: RecordedAnswers) -> Made:
        proposed, held = view.proposed.get(slot), view.scored[slot]
        taken = proposed is not None and proposed.accepted
        shown = proposed.proposal if taken and proposed and proposed.proposal else held.hypothesis
        last = view.proposals_scored.get(slot, held) if taken else held
        scored = last if last.hypothesis == shown else None
        waiting: Marks = (("same", "waiting for its proposal"),)
        decision = decision_marks(self._run, proposed, view) if proposed else waiting
        is_rejected = proposed is not None and proposed.why == "likelihood" and not taken
        card = replace(
            self._scored(view, slot, shown, scored),
            parent=self._run.text(held.hypothesis) if taken and not is_fresh(proposed) else None,
            marks=decision,
            effect=effect_of(self._run, proposed, known),
            refused=self._run.text(proposed.proposal) if is_rejected and proposed and proposed.proposal else "",
            folds=self._folds.judged(view, slot),
        )
        return card, scored

    # Stacks

    def _stacked(self, step: int, keyed: Iterable[tuple[Hashable, Card]]) -> list[Card]:
        """One card for all particles with the same key, beside the card of the step before that it continues."""
        origins = self._origins(step)
        stacks = grouped((key, replace(card, origin=origins.get(card.slot))) for key, card in keyed)
        fronts = []
        for cards in stacks.values():
            front, *twins = sorted(cards, key=lambda card: (-(card.weight or 0), card.slot))
            fronts.append(replace(front, twins=tuple(twins)))
        return sorted(fronts, key=_place)

    def _origins(self, step: int) -> Mapping[int, int]:
        """Slot of each particle's parent in the deck of the step before; empty if that has not ended.

        A first hypothesis keeps the slot that it was drawn for.
        """
        last = self._view.steps.get(step - 1)
        parents = [came_from(last, slot) for slot in range(len(last.population))] if last else []
        return {slot: slot if parent is None else parent for slot, parent in enumerate(parents)}


def _place(card: Card) -> tuple[float, int]:
    value = card.log_likelihood if card.is_chain else card.total
    return math.inf if value is None else -value, card.slot
