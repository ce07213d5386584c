"""What the particles say of a table they were asked about: its numbers, and its first rows."""

import math
from collections.abc import Iterator, Sequence

from vpp.data.labelling import Field
from vpp.inspection.votes import Vote
from vpp.wording.markup import Metric, caption, table
from vpp.wording.words import capitalised, counted, fixed, in_words, integer, listed, number, percent, target_text

MOST_INPUTS = 6
MOST_NAMED = 4
LONGEST_CELL = 60


def metrics(found: Sequence[Vote], n_asked: int, *, scale: float = 0.0) -> Iterator[Metric]:
    """How many rows are answered, how many doubtful, and how far the particles agree."""
    yield Metric(
        name="Rows answered", value=integer(len(found)), scale=f"of {integer(n_asked)}", words="By every particle."
    )
    if not found:
        return
    if len(found[0].said) > 1:
        doubtful = sum(vote.doubt > 0 for vote in found)
        unsure = sum(vote.agreement(scale) == 0 for vote in found)
        yield Metric(
            name="Uncertain rows",
            value=integer(doubtful),
            scale=f"of {integer(len(found))}",
            words="Rows on which not all voices agree.",
        )
        yield Metric(
            name="I don’t know",
            value=integer(unsure),
            scale=f"of {integer(len(found))}",
            words="No clear answer: read the vote.",
        )
        yield _mean_doubt(found)
    abstained = math.fsum(vote.abstained for vote in found) / len(found)
    yield Metric(name="Abstained", value=percent(abstained), words="Weight without a readable answer, on average.")


def _mean_doubt(found: Sequence[Vote]) -> Metric:
    """Over the rows that a particle with weight answered."""
    is_label = found[0].is_label
    name = "Mean vote entropy" if is_label else "Mean spread"
    finite = [vote.doubt for vote in found if math.isfinite(vote.doubt)]
    if not finite:
        return Metric(name=name, value="–", words="No particle with weight gave a readable answer.")
    mean = math.fsum(finite) / len(finite)
    if is_label:
        return Metric(name=name, value=fixed(mean), scale="bits", words="0 is unanimous.")
    return Metric(name=name, value=number(mean), words="Standard deviation of the answers.")


def preview_html(found: Sequence[Vote], decimals: int | None = None) -> str:
    """A line a row: its first inputs, the outcome, and how sure.

    found: at least one. decimals: of the training targets.
    """
    own = ("weight behind", "entropy, bits") if found[0].is_label else ("spread", "middle 90 %")
    names = [name for name, _ in found[0].row.inputs]
    lines = [(str(vote.row.id), *_inputs(vote), *_outcome(vote, decimals)) for vote in found]
    more = counted(len(names) - MOST_INPUTS, "more input")
    told = caption(f"{more} in the file.") if len(names) > MOST_INPUTS else ""
    return table(("row", *names[:MOST_INPUTS], "prediction", *own), lines) + told


def _inputs(vote: Vote) -> list[str]:
    return ["missing" if cell is None else _short(cell) for _, cell in vote.row.inputs[:MOST_INPUTS]]


def _short(cell: str) -> str:
    return cell if len(cell) <= LONGEST_CELL else f"{cell[: LONGEST_CELL - 1]}…"


def _outcome(vote: Vote, decimals: int | None) -> tuple[str, str, str]:
    if vote.answer is None:
        return "no readable answer", "–", "–"
    if not vote.voices:
        return "none with weight", "–", "–"
    if vote.interval:
        low, high = (target_text(end, decimals) for end in vote.interval)
        return target_text(float(vote.answer), decimals), number(vote.doubt), f"{low} to {high}"
    return str(vote.answer), percent(vote.behind), fixed(vote.doubt)


def outside_sentence(fields: Sequence[Field], found: Sequence[Vote]) -> str:
    """How many rows hold an input that no training row is like; empty where none does."""
    columns: dict[str, None] = {}
    rows = 0
    for vote in found:
        named = [name for field, (name, cell) in zip(fields, vote.row.inputs, strict=True) if field.is_outside(cell)]
        columns.update(dict.fromkeys(named))
        rows += bool(named)
    if not rows:
        return ""
    names = listed([_short(name) for name in list(columns)[:MOST_NAMED]])
    hold = "holds" if rows == 1 else "hold"
    return (
        f"{capitalised(in_words(rows))} of {in_words(len(found))} rows {hold} a value beyond the training rows’ "
        f"({names}{', …' if len(columns) > MOST_NAMED else ''}): the sentences were never tested there."
    )
