"""Cards of a run's particles at each step: a hypothesis, its weight, its score and what became of it.

A card of smc at step t shows the text weighed at t; a card of the other methods the text after the decision of t.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace

from vpp.data.dataset import Dataset
from vpp.drawing.card_parts import (
    Folds,
    History,
    Prompts,
    answer_fold,
    answers_around,
    at_step,
    decision_marks,
    effect_of,
    fate_marks,
    is_fresh,
    origin_marks,
    scores,
    shrunk,
    training_score,
)
from vpp.drawing.deck import Card, Marks
from vpp.events import INITIAL_STEP, ParticleDrawn, Scored
from vpp.inspection.ideas import compare
from vpp.inspection.scores import rows_by_id
from vpp.inspection.slots import RecordedAnswers, answers_of, came_from, grouped, totals
from vpp.runs.view import RunView, StepView
from vpp.settings import Config
from vpp.wording.progress import end_rows, step_rows

GIVEN = {"continued": "taken over from the earlier run", "yours": "yours"}
"""Badge of a first hypothesis that nobody drew, by its origin."""

Made = tuple[Card, Scored | None]
"""A card, and the score of its text; None before it is scored."""


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
        return [self._fresh(drawn) for _, drawn in sorted(self._view.drawn.items())]

    def final(self) -> list[Card]:
        """Cards of the last population with the weights that predictions use, heaviest first; a card an idea.

        Without weights they show the last step's decisions, unless K changed after them.
        """
        last, found = self._view.finished_steps[-1], compare(self._view)
        is_decided = not self._config.is_weighted and last.scored and not (last.joined or last.shrunk)
        before = self._view.steps.get(last.step - 1) if is_decided else None
        known = answers_around(before, last, final=self._view.final_scored.values())
        make = self._decided if is_decided else self._last
        made = (make(last, slot, known) for slot in range(len(self._view.population)))
        cards = [replace(card, rail=self._rail_of_end(card)) for card, _ in made]
        keys, rows = (found.keys, end_rows(found)) if found else (range(len(cards)), "")
        return self._stacked(last.step + 1, zip(keys, (replace(card, compared=rows) for card in cards), strict=True))

    def at(self, step: int) -> list[Card]:
        """Cards of a step that has weights (smc) or decisions, heaviest or likeliest first, then the newcomers."""
        view = self._view.steps.get(step, StepView(step=step))
        known = answers_around(self._view.steps.get(step - 1), view)
        make = self._weighed if self._config.is_weighted else self._decided
        made = (make(view, slot, known) for slot in sorted(view.scored))
        # A particle without a score stays alone.
        keyed = ((answers_of(scored) if scored else card.slot, card) for card, scored in made)
        return [*self._stacked(step, keyed), *(self._fresh(drawn) for _, drawn in sorted(view.joined.items()))]

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

    def _scored(self, at: StepView, slot: int, hypothesis: str, scored: Scored | None) -> Card:
        hits, rail = scores(self._run, at, scored) if scored else ((), ("not scored yet",))
        n_rows = len(scored.rows) if scored else 0
        return Card(
            slot=slot,
            sentence=self._run.text(hypothesis),
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
        """Scores of the end: those of the last step, and that on all training rows."""
        if any(fact.endswith("training rows") for fact in card.rail):
            return card.rail
        trained = training_score(self._run, self._view.population[card.slot].hypothesis)
        return (*card.rail, *trained) if card.n_rows else trained or card.rail

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
            marks=at_step(view.step, *decision, *shrunk(view, (slot,))),
            effect=effect_of(self._run, proposed, known),
            refused=self._run.text(proposed.proposal) if is_rejected and proposed and proposed.proposal else "",
            folds=self._folds.judged(view, slot),
        )
        return card, scored

    # Stacks

    def _stacked(self, step: int, keyed: Iterable[tuple[Hashable, Card]]) -> list[Card]:
        """One card for all particles with the same key, beside the card of the step before that it continues."""
        origins, shown = self._origins(step), self._shown_before(step)
        stacks = grouped((key, replace(card, origin=origins.get(card.slot))) for key, card in keyed)
        fronts = (_stack(cards) for cards in stacks.values())
        return sorted((replace(each, was=shown.get(_slots(each.stack))) for each in fronts), key=_place)

    def _origins(self, step: int) -> Mapping[int, int]:
        """Slot of each particle's parent in the deck of the step before; empty if that has not ended.

        A newcomer and a first hypothesis keep the slot that they were drawn for.
        """
        last = self._view.steps.get(step - 1)
        parents = [came_from(last, slot) for slot in range(len(last.population))] if last else []
        return {slot: slot if parent is None else parent for slot, parent in enumerate(parents)}

    def _shown_before(self, step: int) -> Mapping[frozenset[int], float]:
        """Weight on each card of the step before, by the slots of all that descend from it."""
        last = self._view.steps.get(step - 1)
        if last is None or last.reweighted is None:
            return {}
        keys = {slot: answers_of(scored) for slot, scored in last.scored.items()}
        held = totals((keys[slot], weight) for slot, weight in enumerate(last.reweighted.weights))
        heirs = grouped((keys[origin], slot) for slot, origin in self._origins(step).items() if origin in keys)
        return {frozenset(slots): held[key] for key, slots in heirs.items()}


def _stack(cards: list[Card]) -> Card:
    front, *twins = sorted(cards, key=lambda card: (-(card.weight or 0), card.slot))
    return replace(front, twins=tuple(twins)) if twins else front


def _slots(cards: Iterable[Card]) -> frozenset[int]:
    return frozenset(card.slot for card in cards)


def _place(card: Card) -> tuple[float, int]:
    """Sort key: the heaviest stack or the likeliest chain first, those without a value last."""
    value = card.log_likelihood if card.is_chain else card.total
    return math.inf if value is None else -value, card.slot
