"""Cards of a run's particles at each step: a hypothesis, its weight, its score and what became of it.

A card of smc at step t shows the text weighed at t; a card of the other methods the text after the decision of t.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from vpp.data.dataset import Dataset
from vpp.drawing.card_parts import (
    Folds,
    History,
    Prompts,
    answer_fold,
    answers_around,
    decision_marks,
    effect_of,
    fate_marks,
    is_fresh,
    origin_marks,
    scores,
    shrunk,
)
from vpp.drawing.deck import Card, Marks
from vpp.events import INITIAL_STEP, ParticleDrawn, Scored
from vpp.inspection.scores import rows_by_id
from vpp.inspection.slots import RecordedAnswers, answers_of, came_from, grouped
from vpp.runs.view import RunView, StepView
from vpp.settings import Config

GIVEN = {"continued": "taken over from the earlier run", "yours": "yours"}
"""Badge of a first hypothesis that nobody drew, by its origin."""

Made = tuple[Card, Scored | None]
"""A card, and the score of its text; None before it is scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """A particle at the end of the step before."""

    origin: int | None = None
    """Slot that it descends from in that step's deck; None if unknown."""
    weight: float | None = None
    """Its weight then; after resampling, 1/K. None if the method has no weights."""
    is_copy: bool = False
    """True if resampling copied it from another slot."""


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
    ) -> None:
        """wanted: slots whose prompts are included; None: all."""
        self._view = view
        self._config = config
        self._run = History(view=view, config=config, dataset=dataset, rows=rows_by_id(dataset))
        self._folds = Folds(run=self._run, prompts=prompts, wanted=wanted)

    def initial(self) -> list[Card]:
        """Cards of the first hypotheses drawn so far, by slot."""
        return [self._fresh(drawn) for _, drawn in sorted(self._view.drawn.items())]

    def final(self) -> list[Card]:
        """Cards of the last population with the weights that predictions use, heaviest first.

        Without weights the end is the last step's decisions, unless K changed after them.
        """
        last = self._view.finished_steps[-1]
        if not self._config.is_weighted and last.scored and not (last.joined or last.shrunk):
            return self.at(last.step)
        known = answers_around(last, final=self._view.final_scored.values())
        before = self._before(last.step + 1, is_weighed=self._config.is_weighted)
        return _stacked(self._last(last, slot, before[slot], known) for slot in range(len(self._view.population)))

    def at(self, step: int) -> list[Card]:
        """Cards of a step that has weights (smc) or decisions, heaviest or likeliest first, then the newcomers."""
        view = self._view.steps.get(step, StepView(step=step))
        known = answers_around(self._view.steps.get(step - 1), view)
        before = self._before(step, is_weighed=view.reweighted is not None)
        make = self._weighed if self._config.is_weighted else self._decided
        cards = _stacked(make(view, slot, before.get(slot, Before()), known) for slot in sorted(view.scored))
        return [*cards, *(self._fresh(drawn) for _, drawn in sorted(view.joined.items()))]

    def _fresh(self, drawn: ParticleDrawn) -> Card:
        joined: Marks = (("", f"joined at step {drawn.step}"),) if drawn.step != INITIAL_STEP else ()
        bare: Marks = (("abs", "no readable answer: the seed sentence stands"),) if drawn.reason else ()
        kept: Marks = (("", GIVEN[drawn.origin]),) if drawn.origin in GIVEN else ()
        return Card(
            slot=drawn.particle,
            sentence=self._run.text(drawn.hypothesis),
            is_chain=not self._config.is_weighted,
            marks=(*joined, *kept, *bare),
            rail=(f"temperature {drawn.temperature:.2g}",) if drawn.raw else (),
            folds=answer_fold(drawn),
        )

    def _before(self, step: int, *, is_weighed: bool) -> Mapping[int, Before]:
        """Each particle at the end of the step before; empty if that has not ended.

        is_weighed: whether its weight is needed, since the step has weights to compare.
        """
        last = self._view.steps.get(step - 1)
        if last is None or not last.finished:
            return {}
        weights = last.weights if is_weighed else ()
        origins = [came_from(last, slot) for slot in range(len(last.population))]
        return {
            slot: Before(
                # A newcomer and a first hypothesis keep the slot that they were drawn for.
                origin=slot if origin is None else origin,
                weight=weights[slot] if weights else None,
                is_copy=last.resampled is not None and origin not in (None, slot),
            )
            for slot, origin in enumerate(origins)
        }

    def _scored(self, at: StepView, slot: int, hypothesis: str, scored: Scored | None, before: Before) -> Card:
        """Card of a text with its score; badges and folds are still to come."""
        hits, rail = scores(self._run, at, scored) if scored else ((), ("not scored yet",))
        return Card(
            slot=slot,
            sentence=self._run.text(hypothesis),
            was=before.weight,
            origin=before.origin,
            is_chain=not self._config.is_weighted,
            log_likelihood=scored.log_likelihood if scored else None,
            n_rows=len(scored.rows) if scored else 0,
            hits=hits,
            rail=rail,
        )

    def _last(self, last: StepView, slot: int, before: Before, known: RecordedAnswers) -> Made:
        hypothesis = self._view.population[slot].hypothesis
        made = (*last.scored.values(), *last.proposals_scored.values())
        # The score behind the final weight; else the last step's score of the same text, in any slot.
        scored = self._view.final_scored.get(slot) or next((s for s in made if s.hypothesis == hypothesis), None)
        card = replace(
            self._scored(last, slot, hypothesis, scored, before),
            weight=self._view.weights[slot] if self._config.is_weighted else None,
            parent=self._run.parent(last.step, slot),
            marks=(*_copied(before), *origin_marks(self._run, last.step, slot)),
            effect=effect_of(self._run, self._run.proposal(last.step, slot), known),
        )
        return card, scored

    def _weighed(self, view: StepView, slot: int, before: Before, known: RecordedAnswers) -> Made:
        scored, made_at = view.scored[slot], view.step - 1
        origin, fate = origin_marks(self._run, made_at, slot), fate_marks(self._run, view, slot)
        card = replace(
            self._scored(view, slot, scored.hypothesis, scored, before),
            weight=view.reweighted.weights[slot] if view.reweighted else None,
            parent=self._run.parent(made_at, slot),
            marks=(*_copied(before), *origin, *fate),
            effect=effect_of(self._run, self._run.proposal(made_at, slot), known),
            folds=self._folds.rewritings(view, slot),
        )
        return card, scored

    def _decided(self, view: StepView, slot: int, before: Before, known: RecordedAnswers) -> Made:
        proposed, held = view.proposed.get(slot), view.scored[slot]
        taken = proposed is not None and proposed.accepted
        shown = proposed.proposal if taken and proposed and proposed.proposal else held.hypothesis
        last = view.proposals_scored.get(slot, held) if taken else held
        scored = last if last.hypothesis == shown else None
        waiting: Marks = (("same", "waiting for its proposal"),)
        decision = decision_marks(self._run, proposed, view) if proposed else waiting
        is_rejected = proposed is not None and proposed.why == "likelihood" and not taken
        card = replace(
            self._scored(view, slot, shown, scored, before),
            parent=self._run.text(held.hypothesis) if taken and not is_fresh(proposed) else None,
            marks=(*decision, *shrunk(view, (slot,))),
            effect=effect_of(self._run, proposed, known),
            refused=self._run.text(proposed.proposal) if is_rejected and proposed and proposed.proposal else "",
            folds=self._folds.judged(view, slot),
        )
        return card, scored


def _copied(before: Before) -> Marks:
    """Badge of a copy."""
    return (("copy", f"copied from particle {before.origin}"),) if before.is_copy else ()


def _stacked(made: Iterable[Made]) -> list[Card]:
    """One card for all particles with the same answers on the same rows; a particle without a score stays alone."""
    stacks = grouped((answers_of(scored) if scored else card.slot, card) for card, scored in made)
    return sorted(map(_stack, stacks.values()), key=_place)


def _stack(cards: list[Card]) -> Card:
    front, *twins = sorted(cards, key=lambda card: (-(card.weight or 0), card.slot))
    return replace(front, twins=tuple(twins)) if twins else front


def _place(card: Card) -> tuple[float, int]:
    """Sort key: the heaviest stack or the likeliest chain first, those without a value last."""
    value = card.log_likelihood if card.is_chain else card.total
    return math.inf if value is None else -value, card.slot
