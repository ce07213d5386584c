"""Cards of a run's particles at each step: a hypothesis, its weight, its score and what became of it.

A card of smc at step t shows the text weighed at t; a card of the other methods the text after the decision of t.
"""

from collections.abc import Collection, Mapping, Sequence

from vpp.data.dataset import Dataset
from vpp.drawing.card_parts import (
    Folds,
    History,
    Prompts,
    answer_fold,
    fate_marks,
    is_fresh,
    origin_marks,
    outcome_marks,
    scores,
    shrunk,
)
from vpp.drawing.deck import Card, Marks
from vpp.events import INITIAL_STEP, ParticleDrawn
from vpp.inspection.scores import rows_by_id
from vpp.inspection.slots import UNCHANGED, Change, changes, grouped, place
from vpp.runs.view import RunView, StepView
from vpp.settings import Config
from vpp.wording.markup import Mark
from vpp.wording.words import particles, short_weight

NEW: tuple[Mark, str] = ("new", "new")


class CardMaker:
    """Makes the cards of a run's steps."""

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
        ids = [state.hypothesis for state in self._view.population]
        since = self._since(last.step + 1, self._view.weights)
        same = _same_words(dict(enumerate(ids)))
        return _by_weight(
            [self._last(last, slot, ids[slot], since.get(slot, UNCHANGED), same[slot]) for slot in range(len(ids))]
        )

    def at(self, step: int) -> list[Card]:
        """Cards of a step that has weights (smc) or decisions, heaviest first, then the newcomers."""
        view = self._view.steps.get(step, StepView(step=step))
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
            sentence=self._run.text(drawn.hypothesis),
            marks=(*joined, *kept, *bare),
            rail=(f"temperature {drawn.temperature:.2g}",) if drawn.raw else (),
            folds=answer_fold(drawn),
        )

    def _since(self, step: int, weights: Sequence[float]) -> Mapping[int, Change]:
        """Changes since the step before, by slot; empty if all count alike."""
        return changes(self._view, step, weights) if self._config.is_weighted else {}

    def _last(self, last: StepView, slot: int, hypothesis: str, since: Change, same: Marks) -> Card:
        made = (*last.scored.values(), *last.proposals_scored.values())
        # The score behind the final weight; else the last step's score of the same text, in any slot.
        scored = self._view.final_scored.get(slot) or next((s for s in made if s.hypothesis == hypothesis), None)
        hits, rail = scores(self._run, last, scored) if scored else ((), ("not scored",))
        return Card(
            slot=slot,
            weight=self._view.weights[slot],
            sentence=self._run.text(hypothesis),
            parent=self._run.parent(last.step, slot),
            marks=(*_came(since, last.step), *origin_marks(self._run, last.step, slot), *same),
            hits=hits,
            rail=rail,
            alike=0 if self._config.is_weighted else len(last.population),
            moved=_moved(since, self._view.weights, slot),
        )

    def _weighed(self, view: StepView, slot: int, since: Change, same: Marks) -> Card:
        scored = view.scored[slot]
        weights = view.reweighted.weights if view.reweighted else ()
        hits, rail = scores(self._run, view, scored)
        origin, fate = origin_marks(self._run, view.step - 1, slot), fate_marks(self._run, view, slot)
        return Card(
            slot=slot,
            weight=weights[slot] if weights else None,
            sentence=self._run.text(scored.hypothesis),
            parent=self._run.parent(view.step - 1, slot),
            marks=(*_came(since, view.step - 1), *origin, *fate, *same),
            hits=hits,
            rail=rail,
            folds=self._folds.rewritings(view, slot),
            moved=_moved(since, weights, slot),
        )

    def _decided(self, view: StepView, slot: int) -> Card:
        proposed = view.proposed.get(slot)
        taken = proposed is not None and proposed.accepted
        scored = view.proposals_scored.get(slot, view.scored[slot]) if taken else view.scored[slot]
        shown = proposed.proposal if taken and proposed and proposed.proposal else view.scored[slot].hypothesis
        hits, rail = scores(self._run, view, scored) if scored.hypothesis == shown else ((), ("not scored yet",))
        size = len(self._view.steps[view.step - 1].population)
        waiting: Marks = (("same", "waiting for its proposal"),)
        decision = outcome_marks(self._run, proposed, view.step) if proposed else waiting
        return Card(
            slot=slot,
            weight=1 / size,
            sentence=self._run.text(shown),
            parent=self._run.text(view.scored[slot].hypothesis) if taken and not is_fresh(proposed) else None,
            marks=(*((NEW,) if taken else ()), *decision, *shrunk(view, (slot,))),
            hits=hits,
            rail=rail,
            folds=self._folds.judged(view, slot),
            alike=size,
        )


def _came(since: Change, step: int) -> Marks:
    """Badges of a text that is new in its slot since the step before."""
    copied: Marks = (
        (("copy", f"copied from particle {since.copied} at step {step}"),) if since.copied is not None else ()
    )
    return (*((NEW,) if since.is_new else ()), *copied)


def _same_words(hypotheses: Mapping[int, str]) -> Mapping[int, Marks]:
    """Badges naming the other slots with the same text, by slot. hypotheses: ids by slot."""
    slots = grouped((hypothesis, slot) for slot, hypothesis in hypotheses.items())
    twins = {slot: [k for k in slots[hypothesis] if k != slot] for slot, hypothesis in hypotheses.items()}
    return {slot: (("", f"same words as {particles(others)}"),) if others else () for slot, others in twins.items()}


def _moved(since: Change, weights: Sequence[float], slot: int) -> Marks:
    """Changes of weight, if its digits show one, and of place."""
    if since.weight is None or not weights or short_weight(since.weight) == short_weight(weights[slot]):
        return ()
    now, before = place(weights, slot), since.place
    change: Marks = (("up" if weights[slot] > since.weight else "down", f"from {short_weight(since.weight)}"),)
    if before is None or now is None or before == now or since.copied is not None:
        return change
    return (*change, ("up" if now < before else "down", f"from place {before}"))


def _by_weight(cards: list[Card]) -> list[Card]:
    return sorted(cards, key=lambda card: (-(card.weight or 0), card.slot))
