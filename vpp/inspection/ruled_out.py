"""What the data ruled out: proposals rejected, hypotheses resampled away, and answers that held no hypothesis.

Natural logarithms. Each keeps its full text and, where rows decided it, the rows that speak against it; these are
looked up when they are asked for, so that a list of thousands costs little.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vpp.data.dataset import Dataset, Row
from vpp.events import Proposed, Resampled, Scored
from vpp.hypothesis import hypothesis_id
from vpp.inspection.scores import rows_by_id
from vpp.posterior.acceptance import log_acceptance
from vpp.posterior.likelihood import correct, regression_errors
from vpp.posterior.prediction import Value
from vpp.runs.view import RunView, StepView

Reason = Literal["rejected", "resampled away", "unparsable"]
REASONS: tuple[Reason, ...] = ("rejected", "resampled away", "unparsable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A row that speaks against a hypothesis."""

    row: Row
    said: Value | None
    """The hypothesis' answer; None is an abstention."""
    is_decisive: bool = True
    """Whether the text it was held against does better on the row: what both miss decided nothing."""

    @property
    def target(self) -> Value | None:
        """The truth."""
        return self.row.target


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """One time at which a text was ruled out."""

    step: int
    """-1: as the initial population was drawn."""
    particles: tuple[int, ...]
    """The slots it was proposed for, or that held it."""
    log_likelihood: float | None = None
    """Rejected: of the text that stayed; resampled away: its own; on the rows scored."""
    log_likelihood_proposal: float | None = None
    """Of the rejected text, on the same rows."""
    log_alpha: float | None = None
    """Natural log of the acceptance probability (Eq. 9)."""
    u: float | None = None
    """The uniform number it was compared with."""
    unanswered: int = 0
    """Rows that were not waited for, since its rejection was certain without them; then it has no log α."""
    log_likelihood_bound: float | None = None
    """The most that the rejected text's could still come to with them."""
    exponent: float | None = None
    """Of a tempered target, by which the log-likelihoods were multiplied; None where it is 1 within rounding."""
    weight: float | None = None
    """Resampled away: what it held before, summed over its copies."""
    log_likelihood_heaviest: float | None = None
    """Resampled away: of the heaviest particle of the population that was redrawn, on the same rows."""
    alike: tuple[int, ...] = ()
    """Resampled away: particles of the redrawn population that answer as it does on all rows scored."""
    is_refused: bool = False
    """Whether the text could be read, but is no rule for this table."""
    case: "Case | None" = field(default=None, repr=False, compare=False)
    """What rows said of it; None where none were asked."""

    @property
    def n_rows(self) -> int:
        """Distinct rows scored."""
        return self.case.n_rows if self.case else 0

    @property
    def n_answered(self) -> int:
        """Rows scored, those that stand twice counted twice."""
        return len(self.case.scored.rows) if self.case else 0

    @property
    def log_alpha_bound(self) -> float | None:
        """The most that log α could be, where not all rows were waited for."""
        if self.log_likelihood_bound is None or self.log_likelihood is None:
            return None
        tempered = 1.0 if self.exponent is None else self.exponent
        return log_acceptance(tempered * self.log_likelihood_bound, tempered * self.log_likelihood)

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Worst first, compared with the text that stayed, or with the heaviest of the population that was redrawn.

        Classification: the rows answered wrongly. Regression: the rows it misses by more than that text does.
        """
        return self.case.contradictions() if self.case else ()

    @property
    def deficit(self) -> float | None:
        """By how much its log-likelihood falls short of the text that stayed, or of the heaviest; natural log.

        At least so much where not all rows were waited for. None where nothing was compared.
        """
        own, other = self.log_likelihood, self.log_likelihood_heaviest
        proposal = self.log_likelihood_bound if self.unanswered else self.log_likelihood_proposal
        if proposal is not None:
            own, other = proposal, self.log_likelihood
        if own is None or other is None:
            return None
        return 0.0 if own == other else other - own


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """A text and every time it was ruled out for one reason."""

    reason: Reason
    text: str
    """The whole hypothesis; where none could be read, the optimizer's raw answer."""
    occasions: tuple[Occasion, ...]
    """Newest first."""
    why_unread: str | None = None
    """Why no hypothesis could be read."""
    held_by: tuple[int, ...] = ()
    """Slots of the last whole population that hold this very text all the same."""
    past: "Past" = field(default_factory=lambda: Past())
    """How often the text came up in the whole run."""

    @property
    def newest(self) -> Occasion:
        """The last time."""
        return self.occasions[0]

    @property
    def times(self) -> int:
        """How often it was proposed and rejected, resampled away, or answered."""
        return len(self.occasions)

    @property
    def steps(self) -> tuple[int, ...]:
        """Newest first, each once."""
        return tuple(dict.fromkeys(occasion.step for occasion in self.occasions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """How often a text came up in a run; texts left unchanged are not counted."""

    drawn: int = 0
    """As the answer to a first draw, or of a newcomer."""
    proposed: int = 0
    """As a rewriting, whether accepted or not."""
    accepted: int = 0
    """As a rewriting that a particle then held."""


Order = Literal["newest", "worst", "often"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Which entries to show, and how."""

    words: str = ""
    """All must stand in the text, after the seed sentence, or in why it could not be read; in any order and case."""
    reason: Reason | None = None
    """One kind; all where None."""
    order: Order = "newest"
    """By the last step at which each was ruled out; by how far its log-likelihood then fell short; by how often."""

    def among(self, entries: Sequence[RuledOut], *, seed_text: str = "") -> tuple[RuledOut, ...]:
        """Those that fit; of equal ones, in the order given. seed_text: what every hypothesis begins with."""
        words = self.words.casefold().split()
        fitting = (entry for entry in entries if self.reason in (None, entry.reason))
        found = [entry for entry in fitting if not words or _holds(entry, words, seed_text)]
        return tuple(sorted(found, key=self._place))

    def _place(self, entry: RuledOut) -> tuple[float, int]:
        if self.order == "often":
            return -entry.times, -entry.newest.step
        deficit = entry.newest.deficit
        if self.order == "worst":
            return math.inf if deficit is None else -deficit, -entry.newest.step
        return -entry.newest.step, 0


def _holds(entry: RuledOut, words: Sequence[str], seed_text: str) -> bool:
    own = entry.text if entry.reason == "unparsable" else entry.text.removeprefix(seed_text).strip() or entry.text
    said = f"{own} {entry.why_unread or ''}".casefold()
    return all(word in said for word in words)


def ruled_out(view: RunView, dataset: Dataset) -> tuple[RuledOut, ...]:
    """All three kinds, newest first."""
    found = (*rejected(view, dataset), *resampled_away(view, dataset), *unparsable(view))
    return tuple(sorted(found, key=lambda each: -each.newest.step))


def lives_on(entry: RuledOut, survivors: Mapping[str, int]) -> bool:
    """Whether the lot alone left a text out: others that answer as it does were drawn each time, or are held now.

    survivors: by hypothesis id, the idea of now that answers the same.
    """
    if entry.reason != "resampled away":
        return False
    is_held = bool(entry.held_by) or hypothesis_id(entry.text) in survivors
    return is_held or all(occasion.alike for occasion in entry.occasions)


def parted(
    entries: Sequence[RuledOut], survivors: Mapping[str, int]
) -> tuple[tuple[RuledOut, ...], tuple[RuledOut, ...]]:
    """What is gone, and what lives on."""
    parts: tuple[list[RuledOut], list[RuledOut]] = ([], [])
    for entry in entries:
        parts[lives_on(entry, survivors)].append(entry)
    return tuple(parts[0]), tuple(parts[1])


def rejected(view: RunView, dataset: Dataset) -> tuple[RuledOut, ...]:
    """Proposals that the likelihood refused (Eq. 9), newest first."""
    judge = _Judge(dataset)
    found = [
        (p.text, None, _rejection(p, view.steps[p.step], judge))
        for p in view.decided_by_likelihood
        if not p.accepted and p.text is not None
    ]
    return _merged("rejected", found, view)


def resampled_away(view: RunView, dataset: Dataset) -> tuple[RuledOut, ...]:
    """Hypotheses that left no copy when the population was redrawn, newest first."""
    judge = _Judge(dataset)
    found = [
        (view.texts[hypothesis], None, occasion)
        for step in view.steps.values()
        if step.resampled
        for hypothesis, occasion in _lost(step, step.resampled, judge)
    ]
    return _merged("resampled away", found, view)


def unparsable(view: RunView) -> tuple[RuledOut, ...]:
    """The optimizer's answers in which no hypothesis could be read, or that were refused, newest first."""
    newcomers = (d for step in view.steps.values() for d in step.joined.values())
    drawn = [
        (d.raw, d.reason, Occasion(step=d.step, particles=(d.particle,), is_refused=d.refused))
        for d in (*view.drawn.values(), *newcomers)
        if d.reason is not None
    ]
    proposed = [
        (p.raw, p.reason, Occasion(step=p.step, particles=(p.particle,), is_refused=p.refused))
        for p in view.proposals
        if p.why == "unparsable"
    ]
    return _merged("unparsable", [*drawn, *proposed], view)


def _merged(reason: Reason, found: Sequence[tuple[str, str | None, Occasion]], view: RunView) -> tuple[RuledOut, ...]:
    """One record a text (and reason why unread), the newest first. found: (text, why unread, occasion)."""
    occasions: dict[tuple[str, str | None], list[Occasion]] = {}
    for text, why, occasion in sorted(found, key=lambda each: (-each[2].step, each[2].particles)):
        occasions.setdefault((text, why), []).append(occasion)
    held = _held_by(view)
    past = _pasts(view)
    return tuple(
        RuledOut(
            reason=reason,
            text=text,
            why_unread=why,
            occasions=tuple(times),
            held_by=held.get(text, ()),
            past=Past() if reason == "unparsable" else past(text),
        )
        for (text, why), times in occasions.items()
    )


def _held_by(view: RunView) -> dict[str, tuple[int, ...]]:
    """Slots by the text that they hold."""
    held: dict[str, tuple[int, ...]] = {}
    for slot, state in enumerate(view.population):
        text = view.texts[state.hypothesis]
        held[text] = (*held.get(text, ()), slot)
    return held


def _pasts(view: RunView) -> Callable[[str], Past]:
    """By text."""
    newcomers = (each for step in view.steps.values() for each in step.joined.values())
    proposals = [each for each in view.proposals if each.why != "unchanged"]
    drawn = Counter(each.text for each in (*view.drawn.values(), *newcomers))
    proposed = Counter(each.text for each in proposals)
    accepted = Counter(each.text for each in proposals if each.accepted)
    return lambda text: Past(drawn=drawn[text], proposed=proposed[text], accepted=accepted[text])


def _rejection(proposed: Proposed, step: StepView, judge: "_Judge") -> Occasion:
    scored = step.proposals_scored.get(proposed.particle)
    return Occasion(
        step=proposed.step,
        particles=(proposed.particle,),
        log_likelihood=proposed.log_likelihood,
        log_likelihood_proposal=proposed.log_likelihood_proposal,
        log_alpha=proposed.log_alpha,
        u=proposed.u,
        unanswered=proposed.unanswered,
        log_likelihood_bound=proposed.log_likelihood_bound,
        exponent=_exponent(step),
        case=Case(judge=judge, scored=scored, against=_parent_of(proposed, step)) if scored else None,
    )


def _exponent(step: StepView) -> float | None:
    """Of weights that are carried; None elsewhere, and where it is 1 within rounding."""
    weighed = step.reweighted
    if weighed is None or weighed.log_evidence is None or math.isclose(weighed.beta, 1):
        return None
    return 1 / weighed.beta


def _parent_of(proposed: Proposed, step: StepView) -> Scored | None:
    """What was known of the text that stayed: its ancestor's answers, where the population was redrawn before."""
    slot = step.resampled.ancestors[proposed.particle] if step.resampled else proposed.particle
    scored = step.scored.get(slot)
    return scored if scored and scored.hypothesis == proposed.parent else None


def _lost(step: StepView, resampled: Resampled, judge: "_Judge") -> Iterator[tuple[str, Occasion]]:
    """(Hypothesis id, occasion) of each text of the old population that no new slot holds."""
    kept = {step.scored[ancestor].hypothesis for ancestor in resampled.ancestors}
    weights = step.reweighted.weights if step.reweighted else ()
    heaviest = step.scored[max(range(len(weights)), key=lambda slot: weights[slot])]
    for hypothesis, slots in _slots_by_text(step).items():
        if hypothesis not in kept:
            scored = step.scored[slots[0]]
            yield (
                hypothesis,
                Occasion(
                    step=step.step,
                    particles=slots,
                    log_likelihood=scored.log_likelihood,
                    weight=sum(weights[slot] for slot in slots),
                    log_likelihood_heaviest=heaviest.log_likelihood,
                    alike=_alike(step, scored, resampled.ancestors),
                    case=Case(judge=judge, scored=scored, against=heaviest),
                ),
            )


def _alike(step: StepView, scored: Scored, ancestors: Sequence[int]) -> tuple[int, ...]:
    """New slots whose ancestors gave the same answers to the same rows."""
    said = dict(zip(scored.rows, scored.predictions, strict=True))
    others = (step.scored[ancestor] for ancestor in ancestors)
    return tuple(k for k, each in enumerate(others) if dict(zip(each.rows, each.predictions, strict=True)) == said)


def _slots_by_text(step: StepView) -> dict[str, tuple[int, ...]]:
    """Slots by the id of the text they held as the step began."""
    slots: dict[str, tuple[int, ...]] = {}
    for slot, scored in sorted(step.scored.items()):
        slots[scored.hypothesis] = (*slots.get(scored.hypothesis, ()), slot)
    return slots


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What rows said of a hypothesis, and of the one it is held against."""

    judge: "_Judge"
    scored: Scored
    against: Scored | None

    @property
    def n_rows(self) -> int:
        """Distinct rows scored."""
        return len(set(self.scored.rows))

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Rows that speak against it, worst first."""
        return self.judge.contradictions(self.scored, against=self.against)


class _Judge:
    """Finds the rows that speak against a hypothesis."""

    def __init__(self, dataset: Dataset) -> None:
        self._rows: Mapping[int, Row] = rows_by_id(dataset)
        self._is_classification = dataset.task == "classification"
        self._abstention_error = 0.0 if self._is_classification else dataset.target_range

    def contradictions(self, scored: Scored, against: Scored | None = None) -> tuple[Contradiction, ...]:
        """Rows with a loss, greatest excess over `against` first; for regression only rows with an excess."""
        losses = self._losses(scored)
        others = self._losses(against) if against else {}
        excess = {row: loss - others.get(row, 0.0) for row, loss in losses.items()}
        answers = dict(zip(scored.rows, scored.predictions, strict=True))
        speaking = [row for row in losses if losses[row] > 0 and (self._is_classification or excess[row] > 0)]
        worst_first = sorted(speaking, key=lambda row: (-excess[row], -losses[row], row))
        return tuple(
            Contradiction(row=self._rows[row], said=answers[row], is_decisive=excess[row] > 0) for row in worst_first
        )

    def _losses(self, scored: Scored) -> dict[int, float]:
        """By row id: 1 where wrong and 0 where right, or the absolute error."""
        targets = [self._rows[row].target for row in scored.rows]
        if self._is_classification:
            losses = (~correct(scored.predictions, targets)).astype(float)
        else:
            losses = abs(regression_errors(scored.predictions, targets, abstention_error=self._abstention_error))
        return dict(zip(scored.rows, losses.tolist(), strict=True))
