"""Ruled out: rejected proposals, hypotheses that resampling dropped, and answers without a readable hypothesis.

The rows that contradict a text are found on demand, so that long lists stay cheap.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from vpp.data.dataset import Dataset, Row
from vpp.events import ParticleDrawn, Proposed, Scored
from vpp.findings.points import grouped, rows_by_id
from vpp.findings.rows import cells_of, columns_by_use
from vpp.posterior.prediction import Value
from vpp.problem import losses_of
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.blocks import Heading, Line, Lines, Mark, Note, Table
from vpp.show.words import capitalised, counted, cut, in_words, integer, listed, nth_step, value_text

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
class RuledOut:
    """A text, and the last time that it was ruled out for one reason."""

    reason: Reason
    text: str
    """Complete hypothesis; the optimizer's raw answer if unparsable."""
    step: int
    dataset: Dataset = field(repr=False, compare=False)
    times: int = 1
    why_unread: str | None = None
    is_refused: bool = False
    """True if the text is readable, but not a rule for this table."""
    scored: Scored | None = field(default=None, repr=False, compare=False)
    rival: Scored | None = field(default=None, repr=False, compare=False)
    """Rejected: the text that it would replace; resampled away: the heaviest hypothesis; on the same rows."""

    @property
    def n_rows(self) -> int:
        return len(set(self.scored.rows)) if self.scored else 0

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Contradicting rows, largest excess over the rival first.

        Classification: rows answered wrongly. Regression: rows with a larger error than the rival's.
        """
        if self.scored is None:
            return ()
        dataset = self.dataset
        rows, answers = rows_by_id(dataset), dict(zip(self.scored.rows, self.scored.predictions, strict=True))
        losses, others = _losses(self.scored, dataset), _losses(self.rival, dataset) if self.rival else {}
        excess = {row: loss - others.get(row, 0.0) for row, loss in losses.items()}
        contradicting = [row for row in losses if losses[row] > 0 and (dataset.classes or excess[row] > 0)]
        worst_first = sorted(contradicting, key=lambda row: (-excess[row], -losses[row], row))
        return tuple(
            Contradiction(row=rows[row], said=answers[row], is_decisive=excess[row] > 0) for row in worst_first
        )


def _losses(scored: Scored, dataset: Dataset) -> dict[int, float]:
    """Losses by row id: 1 if wrong and 0 if right, or the squared error."""
    rows = rows_by_id(dataset)
    losses = losses_of(dataset, scored.predictions, [rows[row].target for row in scored.rows])
    return dict(zip(scored.rows, losses.tolist(), strict=True))


def ruled_out(view: RunView, dataset: Dataset) -> tuple[RuledOut, ...]:
    """Return every text that was ruled out, once a reason, newest first."""
    every = (*_rejected(view, dataset), *_dropped(view, dataset), *_unread(view, dataset))
    newest_first = sorted(every, key=lambda each: -each.step)
    times = grouped(((each.reason, each.text, each.why_unread), each) for each in newest_first)
    return tuple(replace(same[0], times=len(same)) for same in times.values())


def _rejected(view: RunView, dataset: Dataset) -> Iterator[RuledOut]:
    """Yield the proposals rejected by their likelihood (Eq. 9)."""
    for proposed in view.proposals:
        if proposed.why != "likelihood" or proposed.accepted or proposed.text is None:
            continue
        step = view.steps[proposed.step]
        parent = step.scores.get(step.resampling.ancestors[proposed.particle] if step.resampling else proposed.particle)
        yield RuledOut(
            reason="rejected",
            text=proposed.text,
            step=proposed.step,
            dataset=dataset,
            scored=step.proposal_scores.get(proposed.particle),
            rival=parent if parent and parent.hypothesis == proposed.parent else None,
        )


def _dropped(view: RunView, dataset: Dataset) -> Iterator[RuledOut]:
    """Yield what resampling dropped, unless a text with the same answers was drawn, or the text is held now."""
    population = {state.hypothesis for state in view.population}
    for step in view.steps.values():
        if not step.resampling or not step.reweighting:
            continue
        weights = step.reweighting.weights
        heaviest = step.scores[max(range(len(weights)), key=lambda slot: weights[slot])]
        drawn = {step.scores[slot].behaviour for slot in step.resampling.ancestors}
        gone = {each.hypothesis: each for each in step.scores.values() if each.behaviour not in drawn}
        for hypothesis in (each for each in gone if each not in population):
            yield RuledOut(
                reason="resampled away",
                text=view.texts[hypothesis],
                step=step.step,
                dataset=dataset,
                scored=gone[hypothesis],
                rival=heaviest,
            )


def _unread(view: RunView, dataset: Dataset) -> Iterator[RuledOut]:
    unread: list[ParticleDrawn | Proposed] = [each for each in view.draws.values() if each.reason is not None]
    unread += [each for each in view.proposals if each.why == "unparsable"]
    for each in unread:
        yield RuledOut(
            reason="unparsable",
            text=each.raw,
            step=each.step,
            dataset=dataset,
            why_unread=each.reason,
            is_refused=each.refused,
        )


# In words

MOST_ROWS = 6
MOST_LINES, LONGEST = 5, 160
MOST_INPUTS = 4
HEAD = ("row", "true", "its answer", "the rival", "inputs")


def ruled_out_heading(entries: Sequence[RuledOut], config: Config) -> Iterator[object]:
    """Yield the heading with the counts; nothing for a method that rules out nothing."""
    if not entries and (config.is_weighing or not (config.is_filtered or config.is_weighted)):
        return
    yield Heading("Ruled out", _counts(entries))
    if not entries:
        yield Note("Nothing so far: no proposal was rejected, and no hypothesis was dropped.")


def ruled_out_lines(entries: Sequence[RuledOut], *, seed_text: str) -> Lines:
    """Return a line a text, which opens to when and why it was ruled out, and to the rows that decided."""

    def line(place: int, entry: RuledOut) -> Line:
        mark, status = MARKS[entry.reason]
        against = entry.contradictions
        return Line(
            key=place,
            mark=mark,
            status="refused" if entry.is_refused else status,
            words=entry.text.removeprefix(seed_text).strip() or entry.text.strip() or "an empty answer",
            reason=_reason(entry, against),
            details=tuple(_details(entry, against)),
        )

    return Lines(tuple(line(place, entry) for place, entry in enumerate(entries)))


def ruled_out_table(entries: Sequence[RuledOut], *, seed_text: str) -> Iterator[Note | Table]:
    """Yield how many texts were ruled out, and a line for each of the newest."""
    if entries:
        newest = ruled_out_lines(entries[:MOST_LINES], seed_text=seed_text).items
        rows = [(each.status, each.reason, cut(each.words, LONGEST)) for each in newest]
        yield Note(f"{capitalised(_counts(entries))}; the newest:")
        yield Table(head=("what", "when and why", "hypothesis"), rows=rows)


def _counts(entries: Sequence[RuledOut]) -> str:
    """`12 rejected and 3 dropped`."""
    counts = Counter(entry.reason for entry in entries)
    return listed([f"{integer(counts[each])} {MARKS[each][1]}" for each in MARKS if counts[each]])


def _reason(entry: RuledOut, against: Sequence[Contradiction]) -> str:
    """`step 4, wrong on 2 of 10 rows`: eight words at most."""
    if not entry.n_rows:
        return nth_step(entry.step)
    verb = "further off" if against and isinstance(against[0].row.target, float) else "wrong"
    return f"{nth_step(entry.step)}, {verb} on {integer(len(against))} of {counted(entry.n_rows, 'row')}"


def _details(entry: RuledOut, against: Sequence[Contradiction]) -> Iterator[object]:
    times = f"{capitalised(in_words(entry.times))} times, last at" if entry.times > 1 else "At"
    words = [f"{times} {nth_step(entry.step)}."]
    if entry.reason == "unparsable":
        words.append(f"{capitalised(entry.why_unread or 'no reason is recorded')}.")
    elif against:
        n = integer(sum(each.is_decisive for each in against))
        rival = "The hypothesis it would replace" if entry.reason == "rejected" else "The heaviest hypothesis"
        words.append(f"{rival} does better on {n} of {counted(len(against), 'such row')}.")
    yield Note(" ".join(words))
    if against:
        yield Table(head=HEAD, rows=[_row(each, entry.text) for each in against[:MOST_ROWS]], name=entry.text)


def _row(against: Contradiction, hypothesis: str) -> tuple[str, ...]:
    """Return a line of the table; of the inputs a few, those that the hypothesis names first."""
    row, rival = against.row, "better" if against.is_decisive else "no better"
    columns = columns_by_use([hypothesis], [1.0], [name for name, _ in row.inputs])
    inputs = " · ".join(f"{name} {cell}".strip() for name, cell in cells_of(row, columns[:MOST_INPUTS]))
    return str(row.id), value_text(row.target), value_text(against.said), rival, inputs
