"""Ruled out: rejected proposals, hypotheses that resampling dropped, and answers without a readable hypothesis.

Logarithms are natural. The rows that contradict a text are computed on demand, so that long lists stay cheap.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vpp.data.dataset import Dataset, Row
from vpp.events import Resampled, Scored, hypothesis_id
from vpp.findings.scores import grouped, rows_by_id
from vpp.posterior.prediction import Value
from vpp.problem import losses_of
from vpp.runs.view import RunView, StepView
from vpp.settings import Config
from vpp.show.blocks import Heading, Mark, Note, Table
from vpp.show.cards import Line, Lines
from vpp.show.words import capitalised, counted, fixed, in_words, integer, listed, nth_step, number, percent, value_text

Reason = Literal["rejected", "resampled away", "unparsable"]
MARKS: dict[Reason, tuple[Mark, str]] = {
    "rejected": ("rej", "rejected"),
    "resampled away": ("gone", "dropped"),
    "unparsable": ("abs", "unreadable"),
}


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
        return contradictions(self.case) if self.case else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    dataset: Dataset
    scored: Scored
    against: Scored | None


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


def ruled_out(view: RunView, dataset: Dataset) -> tuple[RuledOut, ...]:
    every = (*rejected(view, dataset), *resampled_away(view, dataset), *unparsable(view))
    return tuple(sorted(every, key=lambda each: -each.newest.step))


def without_survivors(entries: Sequence[RuledOut], survivors: Collection[str]) -> tuple[RuledOut, ...]:
    """Leave out what resampling dropped while a text with the same answers was drawn each time, or is held now.

    survivors: ids of the hypotheses with the answers of a current one.
    """

    def lives_on(entry: RuledOut) -> bool:
        is_held = bool(entry.held_by) or hypothesis_id(entry.text) in survivors
        return entry.reason == "resampled away" and (is_held or all(each.alike for each in entry.occasions))

    return tuple(entry for entry in entries if not lives_on(entry))


def rejected(view: RunView, dataset: Dataset) -> tuple[RuledOut, ...]:
    """Return the proposals rejected by their likelihood (Eq. 9), newest first."""
    rejections = []
    for proposed in view.proposals:
        if proposed.why != "likelihood" or proposed.accepted or proposed.text is None:
            continue
        step = view.steps[proposed.step]
        scored, weighed = step.proposals_scored.get(proposed.particle), step.reweighted
        parent = step.scored.get(step.resampled.ancestors[proposed.particle] if step.resampled else proposed.particle)
        against = parent if parent and parent.hypothesis == proposed.parent else None
        is_tempered = weighed is not None and weighed.log_evidence is not None and not math.isclose(weighed.beta, 1)
        occasion = Occasion(
            step=proposed.step,
            particles=(proposed.particle,),
            log_likelihood=proposed.log_likelihood,
            log_likelihood_proposal=proposed.log_likelihood_proposal,
            log_alpha=proposed.log_alpha,
            u=proposed.u,
            exponent=1 / weighed.beta if weighed and is_tempered else None,
            case=Case(dataset=dataset, scored=scored, against=against) if scored else None,
        )
        rejections.append((proposed.text, None, occasion))
    return _merged("rejected", rejections, view)


def resampled_away(view: RunView, dataset: Dataset) -> tuple[RuledOut, ...]:
    losses = [
        (view.texts[hypothesis], None, occasion)
        for step in view.steps.values()
        if step.resampled
        for hypothesis, occasion in _lost(step, step.resampled, dataset)
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


def _lost(step: StepView, resampled: Resampled, dataset: Dataset) -> Iterator[tuple[str, Occasion]]:
    drawn = [step.scored[ancestor] for ancestor in resampled.ancestors]
    weights = step.reweighted.weights if step.reweighted else ()
    heaviest = step.scored[max(range(len(weights)), key=lambda slot: weights[slot])]
    for hypothesis, slots in grouped((scored.hypothesis, slot) for slot, scored in sorted(step.scored.items())).items():
        if any(each.hypothesis == hypothesis for each in drawn):
            continue
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
                case=Case(dataset=dataset, scored=scored, against=heaviest),
            ),
        )


def _by_row(scored: Scored) -> dict[int, Value | None]:
    return dict(zip(scored.rows, scored.predictions, strict=True))


def contradictions(case: Case) -> tuple[Contradiction, ...]:
    """Rows with a loss, largest excess over `against` first; for regression only rows with an excess."""
    rows, answers = rows_by_id(case.dataset), _by_row(case.scored)
    losses, others = _losses(case.scored, case.dataset), _losses(case.against, case.dataset) if case.against else {}
    excess = {row: loss - others.get(row, 0.0) for row, loss in losses.items()}
    contradicting = [row for row in losses if losses[row] > 0 and (case.dataset.classes or excess[row] > 0)]
    worst_first = sorted(contradicting, key=lambda row: (-excess[row], -losses[row], row))
    return tuple(Contradiction(row=rows[row], said=answers[row], is_decisive=excess[row] > 0) for row in worst_first)


def _losses(scored: Scored, dataset: Dataset) -> dict[int, float]:
    """Losses by row id: 1 if wrong and 0 if right, or the squared error."""
    by_id = rows_by_id(dataset)
    losses = losses_of(dataset, scored.predictions, [by_id[row].target for row in scored.rows])
    return dict(zip(scored.rows, losses.tolist(), strict=True))


# In words

PLACE = "ruled-out"
"""Element id, for links to the section."""
MOST_ROWS = 6
MOST_INPUTS = 4
HEAD = ("row", "true", "its answer", "the rival", "inputs")
NOTHING_OUT = "Nothing so far: no proposal was rejected, and no hypothesis was dropped."


def ruled_out_heading(entries: Sequence[RuledOut], config: Config) -> Iterator[object]:
    """Yield the heading with the counts; nothing for a method that rules out nothing."""
    if not entries and (config.is_weighing or not (config.is_filtered or config.is_weighted)):
        return
    counts = Counter(entry.reason for entry in entries)
    yield Heading(
        "Ruled out", listed([f"{integer(counts[each])} {MARKS[each][1]}" for each in MARKS if counts[each]]), PLACE
    )
    if not entries:
        yield Note(NOTHING_OUT)


def ruled_out_lines(
    entries: Sequence[RuledOut], *, seed_text: str, most: int | None = None, opened: int | None = None
) -> Lines:
    """Return a line a text. most: how many; all if None. opened: place of the one with its details."""

    def line(place: int, entry: RuledOut) -> Line:
        mark, status = MARKS[entry.reason]
        return Line(
            key=place,
            mark=mark,
            status="refused" if entry.newest.is_refused else status,
            words=entry.text.removeprefix(seed_text).strip() or entry.text.strip() or "an empty answer",
            reason=_reason(entry),
            details=tuple(_details(entry)) if place == opened else (),
        )

    return Lines(tuple(line(place, entry) for place, entry in enumerate(entries[:most])))


def _reason(entry: RuledOut) -> str:
    """`step 4, wrong on 2 of 10 rows`: eight words at most."""
    step, rows = nth_step(entry.newest.step), entry.newest.contradictions
    if entry.reason == "unparsable" or not entry.newest.n_rows:
        return step
    verb = "further off" if rows and isinstance(rows[0].row.target, float) else "wrong"
    return f"{step}, {verb} on {integer(len(rows))} of {counted(entry.newest.n_rows, 'row')}"


def _details(entry: RuledOut) -> Iterator[object]:
    """Yield when and why it was ruled out, and the rows that decided."""
    newest, rows = entry.newest, entry.newest.contradictions
    times = f"{capitalised(in_words(entry.times))} times, last at" if entry.times > 1 else "At"
    words = [f"{times} {nth_step(newest.step)}."]
    if entry.reason == "unparsable":
        words.append(f"{capitalised(entry.why_unread or 'no reason is recorded')}.")
    elif rows:
        decisive = sum(each.is_decisive for each in rows)
        rival = "The hypothesis it would replace" if newest.weight is None else "The heaviest hypothesis"
        words.append(f"{rival} does better on {integer(decisive)} of {counted(len(rows), 'such row')}.")
    words += arithmetic(newest)
    words += ["The same words are in the posterior again."] if entry.held_by else []
    yield Note(" ".join(words))
    if rows:
        yield Table(head=HEAD, rows=[_row(each, entry.text) for each in rows[:MOST_ROWS]], name=entry.text)


def _row(against: Contradiction, hypothesis: str) -> tuple[str, ...]:
    row, rival = against.row, "better" if against.is_decisive else "no better"
    return str(row.id), value_text(row.target), value_text(against.said), rival, inputs_words(row, hypothesis)


def inputs_words(row: Row, hypothesis: str) -> str:
    """Return a few cells of a row in a line: those that the hypothesis names come first."""
    named = [cell for cell in row.inputs if re.search(rf"(?<!\w){re.escape(cell[0])}(?!\w)", hypothesis)]
    cells = (named or row.inputs)[:MOST_INPUTS]
    return " · ".join(f"{name} {'missing' if cell is None else cell}" for name, cell in cells)


def arithmetic(occasion: Occasion) -> Iterator[str]:
    """Eq. 9 in numbers, or the weight before resampling; natural logarithms."""
    if occasion.weight is not None and occasion.log_likelihood is not None:
        yield f"Weight {percent(occasion.weight)} before resampling, no copy after."
        against = f"against {fixed(occasion.log_likelihood_heaviest or 0.0)} of the heaviest"
        yield f"Log-likelihood {fixed(occasion.log_likelihood)}, {against}."
    elif occasion.u is not None and occasion.log_alpha is not None and occasion.log_likelihood_proposal is not None:
        log_u = math.log(occasion.u) if occasion.u > 0 else -math.inf
        against = against_words(occasion.log_likelihood or 0.0, occasion.exponent)
        yield f"Log-likelihood {fixed(occasion.log_likelihood_proposal)}, {against}"
        compared = "is below" if occasion.log_alpha < log_u else "is not below"
        yield f"log α = {fixed(occasion.log_alpha)} {compared} log u = {fixed(log_u)}."


def against_words(log_likelihood: float, exponent: float | None = None) -> str:
    """`against −10.30 of the one it would replace.` exponent: of a tempered likelihood; None if 1."""
    tempered = f", times φ = {number(exponent, 3)}" if exponent is not None else ""
    return f"against {fixed(log_likelihood)} of the one it would replace{tempered}."
