"""Ruled out: rejected proposals, hypotheses resampled away, and optimizer answers without a readable hypothesis.

Logarithms are natural. The rows that contradict a text are computed on demand, so that long lists stay cheap.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from vpp.data.dataset import Dataset, Row
from vpp.events import Proposed, Resampled, Scored, hypothesis_id
from vpp.findings.scores import rows_by_id
from vpp.findings.slots import grouped
from vpp.posterior.likelihood import correct, regression_errors
from vpp.posterior.prediction import Value
from vpp.runs.view import RunView, StepView

Reason = Literal["rejected", "resampled away", "unparsable"]
REASONS: tuple[Reason, ...] = ("rejected", "resampled away", "unparsable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    row: Row
    said: Value | None
    is_decisive: bool = True
    """True if the competing text does better on the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """One event that ruled out a text."""

    step: int
    particles: tuple[int, ...]
    """Slots that it was proposed for, or that held it."""
    log_likelihood: float | None = None
    """Rejected: of the current text; resampled away: of the text itself; on the rows scored."""
    log_likelihood_proposal: float | None = None
    """Rejected: of the text itself, on the same rows."""
    log_alpha: float | None = None
    """Log of the acceptance probability (Eq. 9)."""
    u: float | None = None
    exponent: float | None = None
    """Exponent of a tempered likelihood; None if 1."""
    weight: float | None = None
    """Resampled away: total weight of its copies."""
    log_likelihood_heaviest: float | None = None
    """Resampled away: of the heaviest particle before resampling, on the same rows."""
    alike: tuple[int, ...] = ()
    """Resampled away: new slots with the same answers to all rows scored."""
    is_refused: bool = False
    """True if the text is readable, but not a rule for this table."""
    case: "Case | None" = field(default=None, repr=False, compare=False)
    """Answers to the rows scored; None if there are none."""

    @property
    def n_rows(self) -> int:
        return len(set(self.case.scored.rows)) if self.case else 0

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Contradicting rows, worst first, compared with the current text or the heaviest particle.

        Classification: rows answered wrongly. Regression: rows with a larger error than that text's.
        """
        return self.case.contradictions() if self.case else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """A text and every occasion that ruled it out for one reason."""

    reason: Reason
    text: str
    """Complete hypothesis; the optimizer's raw answer if unparsable."""
    occasions: tuple[Occasion, ...]
    """Newest first."""
    why_unread: str | None = None
    held_by: tuple[int, ...] = ()
    """Slots of the last population that hold this text."""

    @property
    def newest(self) -> Occasion:
        return self.occasions[0]

    @property
    def times(self) -> int:
        return len(self.occasions)

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(occasion.step for occasion in self.occasions))


def ruled_out(view: RunView, dataset: Dataset) -> tuple[RuledOut, ...]:
    every = (*rejected(view, dataset), *resampled_away(view, dataset), *unparsable(view))
    return tuple(sorted(every, key=lambda each: -each.newest.step))


def lives_on(entry: RuledOut, survivors: Mapping[str, int]) -> bool:
    """True if resampling dropped only a copy: a text with the same answers was drawn each time, or is held now.

    survivors: current idea with the same answers, by hypothesis id.
    """
    is_held = bool(entry.held_by) or hypothesis_id(entry.text) in survivors
    return entry.reason == "resampled away" and (is_held or all(occasion.alike for occasion in entry.occasions))


def without_survivors(entries: Sequence[RuledOut], survivors: Mapping[str, int]) -> tuple[RuledOut, ...]:
    """Leave out what chance dropped while its answers lived on."""
    return tuple(entry for entry in entries if not lives_on(entry, survivors))


def rejected(view: RunView, dataset: Dataset) -> tuple[RuledOut, ...]:
    """Return the proposals rejected by their likelihood (Eq. 9), newest first."""
    rows, rejections = rows_by_id(dataset), []
    for proposed in view.proposals:
        if proposed.why == "likelihood" and not proposed.accepted and proposed.text is not None:
            step = view.steps[proposed.step]
            occasion, scored = decision(proposed, step), step.proposals_scored.get(proposed.particle)
            if scored:
                slot = step.resampled.ancestors[proposed.particle] if step.resampled else proposed.particle
                parent = step.scored.get(slot)
                against = parent if parent and parent.hypothesis == proposed.parent else None
                occasion = replace(occasion, case=Case(dataset=dataset, rows=rows, scored=scored, against=against))
            rejections.append((proposed.text, None, occasion))
    return _merged("rejected", rejections, view)


def resampled_away(view: RunView, dataset: Dataset) -> tuple[RuledOut, ...]:
    case = partial(Case, dataset=dataset, rows=rows_by_id(dataset))
    losses = [
        (view.texts[hypothesis], None, occasion)
        for step in view.steps.values()
        if step.resampled
        for hypothesis, occasion in _lost(step, step.resampled, case)
    ]
    return _merged("resampled away", losses, view)


def unparsable(view: RunView) -> tuple[RuledOut, ...]:
    drawn = [
        (d.raw, d.reason, Occasion(step=d.step, particles=(d.particle,), is_refused=d.refused))
        for d in view.drawn.values()
        if d.reason is not None
    ]
    proposed = [
        (p.raw, p.reason, Occasion(step=p.step, particles=(p.particle,), is_refused=p.refused))
        for p in view.proposals
        if p.why == "unparsable"
    ]
    return _merged("unparsable", [*drawn, *proposed], view)


def _merged(reason: Reason, events: Sequence[tuple[str, str | None, Occasion]], view: RunView) -> tuple[RuledOut, ...]:
    newest_first = sorted(events, key=lambda each: (-each[2].step, each[2].particles))
    occasions = grouped(((text, why), occasion) for text, why, occasion in newest_first)
    held = grouped((view.texts[state.hypothesis], slot) for slot, state in enumerate(view.population))
    return tuple(
        RuledOut(reason=reason, text=text, why_unread=why, occasions=tuple(times), held_by=tuple(held.get(text, ())))
        for (text, why), times in occasions.items()
    )


def decision(proposed: Proposed, step: StepView) -> Occasion:
    """Numbers of the accept step (Eq. 9) on a proposal, accepted or not."""
    weighed, exponent = step.reweighted, None
    if weighed is not None and weighed.log_evidence is not None and not math.isclose(weighed.beta, 1):
        exponent = 1 / weighed.beta  # of a tempered likelihood with carried weights
    return Occasion(
        step=proposed.step,
        particles=(proposed.particle,),
        log_likelihood=proposed.log_likelihood,
        log_likelihood_proposal=proposed.log_likelihood_proposal,
        log_alpha=proposed.log_alpha,
        u=proposed.u,
        exponent=exponent,
    )


def _lost(step: StepView, resampled: Resampled, case: Callable[..., "Case"]) -> Iterator[tuple[str, Occasion]]:
    drawn = [step.scored[ancestor] for ancestor in resampled.ancestors]
    survivors = {each.hypothesis for each in drawn}
    weights = step.reweighted.weights if step.reweighted else ()
    heaviest = step.scored[max(range(len(weights)), key=lambda slot: weights[slot])]
    for hypothesis, slots in grouped((scored.hypothesis, slot) for slot, scored in sorted(step.scored.items())).items():
        if hypothesis not in survivors:
            scored = step.scored[slots[0]]
            yield (
                hypothesis,
                Occasion(
                    step=step.step,
                    particles=tuple(slots),
                    log_likelihood=scored.log_likelihood,
                    weight=sum(weights[slot] for slot in slots),
                    log_likelihood_heaviest=heaviest.log_likelihood,
                    alike=tuple(k for k, each in enumerate(drawn) if _by_row(each) == _by_row(scored)),
                    case=case(scored=scored, against=heaviest),
                ),
            )


def _by_row(scored: Scored) -> dict[int, Value | None]:
    return dict(zip(scored.rows, scored.predictions, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    dataset: Dataset
    rows: Mapping[int, Row]
    scored: Scored
    against: Scored | None

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Rows with a loss, largest excess over `against` first; for regression only rows with an excess."""
        losses = self._losses(self.scored)
        others = self._losses(self.against) if self.against else {}
        excess = {row: loss - others.get(row, 0.0) for row, loss in losses.items()}
        answers = _by_row(self.scored)
        is_label = self.dataset.task == "classification"
        contradicting = [row for row in losses if losses[row] > 0 and (is_label or excess[row] > 0)]
        worst_first = sorted(contradicting, key=lambda row: (-excess[row], -losses[row], row))
        return tuple(
            Contradiction(row=self.rows[row], said=answers[row], is_decisive=excess[row] > 0) for row in worst_first
        )

    def _losses(self, scored: Scored) -> dict[int, float]:
        """Losses by row id: 1 if wrong and 0 if right, or the absolute error."""
        targets = [self.rows[row].target for row in scored.rows]
        if self.dataset.task == "classification":
            losses = (~correct(scored.predictions, targets)).astype(float)
        else:
            span = self.dataset.target_range
            losses = abs(regression_errors(scored.predictions, targets, abstention_error=span))
        return dict(zip(scored.rows, losses.tolist(), strict=True))
