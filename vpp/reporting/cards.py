"""Particles as cards: a hypothesis, its weight, what supports it and what became of it.

A card of smc at step t shows the text that was weighed at t; a card of mh and vml the text after t's decision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vpp.data.dataset import Dataset, Row
from vpp.events import Proposed, Scored
from vpp.posterior.likelihood import regression_errors
from vpp.posterior.prediction import Value
from vpp.problem import batch_length
from vpp.reporting.markup import Mark
from vpp.runs.prompts import PromptMaker
from vpp.runs.view import RunView, StepView


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
    raw: tuple[tuple[str, str], ...] = ()
    """(Title, text) of what was asked and answered, to the letter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One particle at one step."""

    slot: int
    weight: float | None
    """None before the first weights."""
    sentence: str
    """Without the seed sentence, which all share."""
    parent: str | None
    """The sentence it was rewritten from; None where there is none."""
    marks: tuple[tuple[Mark, str], ...]
    hits: tuple[bool | None, ...]
    """A batch row each: right, wrong, None abstained; empty for regression."""
    rail: tuple[str, ...]
    """Short facts at the right."""
    folds: tuple[Fold, ...]


def without_seed(sentence: str, seed_text: str) -> str:
    """What the optimizer wrote; the seed sentence alone where it wrote nothing."""
    return sentence.removeprefix(seed_text).strip() or sentence


class CardMaker:
    """Makes the cards of a run's steps."""

    def __init__(self, view: RunView, dataset: Dataset, prompts: PromptMaker) -> None:
        self._view = view
        self._prompts = prompts
        self._rows: Mapping[int, Row] = {row.id: row for row in (*dataset.train, *dataset.test)}
        self._dataset = dataset
        self._seed = view.started.seed_text if view.started else ""
        self._method = str(view.started.config["method"]) if view.started else "smc"

    def initial(self) -> list[Card]:
        """The first hypotheses as they come, by slot."""
        return [
            Card(
                slot=slot,
                weight=None,
                sentence=self._said(drawn.hypothesis),
                parent=None,
                marks=(("abs", "no readable answer: the seed sentence stands"),) if drawn.reason else (),
                hits=(),
                rail=(f"temperature {drawn.temperature:.2g}",) if drawn.raw else (),
                folds=_answer_fold(drawn.raw),
            )
            for slot, drawn in sorted(self._view.drawn.items())
        ]

    def final(self) -> list[Card]:
        """The last population with the weights that predictions use, heaviest first.

        Without weights of their own, the end is the last step's decisions.
        """
        if self._view.final is None and self._method != "smc":
            return self.at(self._view.finished_steps[-1].step)
        cards = [
            Card(
                slot=slot,
                weight=weight,
                sentence=self._said(state.hypothesis),
                parent=self._said_before(self._view.finished_steps[-1].step, slot),
                marks=self._same_words(slot, [s.hypothesis for s in self._view.population]),
                hits=(),
                rail=self._score_rail(self._view.final_scored.get(slot)),
                folds=(),
            )
            for slot, (state, weight) in enumerate(zip(self._view.population, self._view.weights, strict=True))
        ]
        return _by_weight(cards)

    def at(self, step: int) -> list[Card]:
        """The cards of a step that has weights (smc) or decisions (mh, vml), heaviest first."""
        view = self._view.steps[step]
        make = self._weighed if self._method == "smc" else self._decided
        slots = sorted(view.scored)
        return _by_weight([make(view, slot) for slot in slots])

    def _weighed(self, view: StepView, slot: int) -> Card:
        scored = view.scored[slot]
        return Card(
            slot=slot,
            weight=view.reweighted.weights[slot] if view.reweighted else None,
            sentence=self._said(scored.hypothesis),
            parent=self._said_before(view.step - 1, slot),
            marks=(
                *self._origin(view.step - 1, slot),
                *self._fate(view, slot),
                *self._same_words(slot, [s.hypothesis for _, s in sorted(view.scored.items())]),
            ),
            hits=self._hits(view, scored),
            rail=self._rail(view, scored),
            folds=self._rewritings(view, slot),
        )

    def _decided(self, view: StepView, slot: int) -> Card:
        proposed = view.proposed.get(slot)
        taken = proposed is not None and proposed.accepted
        scored = view.proposals_scored.get(slot, view.scored[slot]) if taken else view.scored[slot]
        shown = proposed.proposal if taken and proposed and proposed.proposal else view.scored[slot].hypothesis
        return Card(
            slot=slot,
            weight=1 / self._view.size if self._view.size else None,
            sentence=self._said(shown),
            parent=self._said(view.scored[slot].hypothesis) if taken else None,
            marks=self._decision(view, slot),
            hits=self._hits(view, scored) if scored.hypothesis == shown else (),
            rail=self._rail(view, scored) if scored.hypothesis == shown else ("not scored yet",),
            folds=self._rejected(view, slot),
        )

    def _said(self, hypothesis: str) -> str:
        return without_seed(self._view.texts[hypothesis], self._seed)

    def _said_before(self, step: int, slot: int) -> str | None:
        """The text that slot's was rewritten from at `step`; None where it was not rewritten."""
        proposed = self._view.steps[step].proposed.get(slot) if step in self._view.steps else None
        return self._said(proposed.parent) if proposed and proposed.accepted else None

    def _origin(self, step: int, slot: int) -> tuple[tuple[Mark, str], ...]:
        """How the text came to be, at the step before."""
        proposed = self._view.steps[step].proposed.get(slot) if step in self._view.steps else None
        if proposed is None:
            return (("", "first hypothesis"),)
        return ((_told_mark(proposed), f"{self._told(proposed)} at step {step}"),)

    def _told(self, proposed: Proposed) -> str:
        if proposed.why == "unchanged":
            return "kept word for word"
        if proposed.why == "unparsable":
            return "kept: the proposal could not be read"
        bold = self._view.started and proposed.temperature > float(self._view.started.config["cautious_temperature"])
        return f"rewritten {'boldly' if bold else 'cautiously'} (temperature {proposed.temperature:.2g})"

    def _fate(self, view: StepView, slot: int) -> tuple[tuple[Mark, str], ...]:
        """What resampling did."""
        if view.resampled is None:
            return ()
        copies = [k for k, ancestor in enumerate(view.resampled.ancestors) if ancestor == slot]
        if not copies:
            return (("gone", f"resampled away at step {view.step}"),)
        if copies == [slot]:
            return ()
        return (("acc", f"resampled into {_listed(copies)}"),)

    def _same_words(self, slot: int, hypotheses: Sequence[str]) -> tuple[tuple[Mark, str], ...]:
        twins = [k for k, h in enumerate(hypotheses) if h == hypotheses[slot] and k != slot]
        return (("", f"same words as particle {_listed(twins)}"),) if twins else ()

    def _decision(self, view: StepView, slot: int) -> tuple[tuple[Mark, str], ...]:
        proposed = view.proposed.get(slot)
        if proposed is None:
            return (("same", "waiting for its proposal"),)
        words = {
            "likelihood": f"{'accepted' if proposed.accepted else 'proposal rejected'} at step {view.step}",
            "taken": f"taken unseen at step {view.step}",
            "unchanged": f"unchanged at step {view.step}",
            "unparsable": f"proposal unreadable at step {view.step}",
        }[proposed.why]
        return ((_told_mark(proposed), words),)

    def _rewritings(self, view: StepView, slot: int) -> tuple[Fold, ...]:
        """What the slot, or its copies, were rewritten to."""
        ancestors = view.resampled.ancestors if view.resampled else tuple(range(len(view.scored)))
        heirs = [k for k, ancestor in enumerate(ancestors) if ancestor == slot and k in view.proposed]
        return tuple(
            Fold(
                name="next" if i == 0 else f"next-{i}",
                mark="same" if not view.proposed[k].accepted else "",
                title=f"what particle {k} says next" if view.proposed[k].accepted else f"particle {k} keeps it",
                sentence=self._said(view.proposed[k].proposal or view.proposed[k].parent),
                notes=_reason(view.proposed[k]),
                raw=self._asked(view, k),
            )
            for i, k in enumerate(heirs)
        )

    def _rejected(self, view: StepView, slot: int) -> tuple[Fold, ...]:
        """The rejected proposal, with the arithmetic of its decision."""
        proposed = view.proposed.get(slot)
        if proposed is None:
            return ()
        asked = self._asked(view, slot)
        if proposed.why in ("taken", "unchanged"):
            return (Fold(name="asked", mark="", title="what the optimizer was asked and answered", raw=asked),)
        arithmetic = (*self._contradicting(view, slot), *_arithmetic(proposed))
        if proposed.accepted:
            return (Fold(name="why", mark="acc", title="why it was accepted", notes=arithmetic, raw=asked),)
        sentence = self._said(proposed.proposal) if proposed.proposal else ""
        title = "rejected proposal" if proposed.why == "likelihood" else "unreadable proposal"
        mark: Mark = "rej" if proposed.why == "likelihood" else "abs"
        return (
            Fold(
                name="rejected",
                mark=mark,
                title=title,
                sentence=sentence,
                notes=(*arithmetic, *_reason(proposed)),
                raw=asked,
            ),
        )

    def _asked(self, view: StepView, slot: int) -> tuple[tuple[str, str], ...]:
        """The prompt, rebuilt, and the raw answer."""
        prompt = self._prompts.proposal(self._view, view.step, slot) or ""
        return (("the prompt", prompt), ("the whole answer", view.proposed[slot].raw))

    def _contradicting(self, view: StepView, slot: int) -> tuple[str, ...]:
        scored = view.proposals_scored.get(slot)
        if scored is None or self._dataset.task == "regression":
            return ()
        wrong = [row for row, hit in zip(scored.rows, self._hits_of(scored), strict=True) if not hit]
        if not wrong:
            return (f"no row of {len(scored.rows)} contradicts it",)
        return (f"{len(wrong)} of {len(scored.rows)} batch rows contradict it (rows {_listed(wrong[:6])})",)

    def _hits_of(self, scored: Scored) -> tuple[bool | None, ...]:
        return tuple(
            None if value is None else value == self._rows[row].target
            for row, value in zip(scored.rows, scored.predictions, strict=True)
        )

    def _hits(self, view: StepView, scored: Scored) -> tuple[bool | None, ...]:
        if self._dataset.task == "regression":
            return ()
        return self._hits_of(scored)[-self._batch_length(view.step) :]

    def _batch_length(self, step: int) -> int:
        size = int(self._view.started.config["batch_size"]) if self._view.started else 1
        return batch_length(step, n_train=len(self._dataset.train), batch_size=size)

    def _rail(self, view: StepView, scored: Scored) -> tuple[str, ...]:
        if self._dataset.task == "regression":
            batch = self._error(scored, self._batch_length(view.step))
            return (f"off by {batch:.3g} on the batch", *self._score_rail(scored))
        hits = self._hits(view, scored)
        right = f"{sum(hit is True for hit in hits)} of {len(hits)} right"
        return (right, *self._score_rail(scored)) if len(scored.rows) > len(hits) else (right, _log_lik(scored))

    def _score_rail(self, scored: Scored | None) -> tuple[str, ...]:
        if scored is None:
            return ()
        if self._dataset.task == "regression":
            return (f"off by {self._error(scored, len(scored.rows)):.3g} on {len(scored.rows)} rows", _log_lik(scored))
        hits = self._hits_of(scored)
        return (f"{sum(hit is True for hit in hits)} of {len(hits)} on the buffer", _log_lik(scored))

    def _error(self, scored: Scored, last: int) -> float:
        """Root mean squared error on the last rows scored."""
        targets: list[Value | None] = [self._rows[row].target for row in scored.rows[-last:]]
        known = [float(row.target) for row in self._dataset.train if row.target is not None]
        errors = regression_errors(scored.predictions[-last:], targets, abstention_error=max(known) - min(known))
        return float((errors**2).mean() ** 0.5)


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


def _arithmetic(proposed: Proposed) -> tuple[str, ...]:
    if proposed.log_alpha is None or proposed.u is None or proposed.log_likelihood is None:
        return ()
    return (
        f"log-likelihood {_signed(proposed.log_likelihood_proposal)} against "
        f"{_signed(proposed.log_likelihood)} before: log α = {_signed(proposed.log_alpha)}, u = {proposed.u:.3f}",
    )


def _signed(value: float | None) -> str:
    return "−∞" if value is None or value == float("-inf") else f"{value:.2f}".replace("-", "−")


def _reason(proposed: Proposed) -> tuple[str, ...]:
    return (proposed.reason,) if proposed.reason else ()


def _answer_fold(raw: str) -> tuple[Fold, ...]:
    title = "the optimizer’s whole answer"
    return (Fold(name="raw", mark="", title=title, raw=(("the whole answer", raw),)),) if raw else ()


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
