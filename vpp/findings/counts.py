"""Counts and figures in words: steps, rows, particles, prompts that were cut, errors, and the table of labels."""

from collections.abc import Iterator, Sequence

from vpp.findings.scores import LabelLine, Score
from vpp.runs.reader import Summary
from vpp.runs.view import RunView
from vpp.show.words import counted, fixed, integer, number, percent, value_text

# Steps. A step is named by its number, from 0 as in the journal; counts are of complete steps. One phrase never holds
# both: step 7 is the eighth, so "step 7 of 8" would read as if another step followed.


def steps_done(view: RunView | Summary) -> int:
    return 0 if view.last_step is None else view.last_step + 1


def steps_text(view: RunView | Summary) -> str:
    """`8 of 20 steps`."""
    return f"{integer(steps_done(view))} of {counted(view.total_steps, 'step')}"


# Cells and prompts cut to the model's context


def cut_sentences(view: RunView) -> Iterator[str]:
    proposed = [each for step in view.steps.values() for each in step.proposed.values()]
    short = [each.shown for each in proposed if each.shown is not None]
    if short:
        low, high = min(short), max(short)
        span = counted(low, "row") if low == high else f"{integer(low)} to {counted(high, 'row')}"
        few = f"{integer(len(short))} of {counted(len(proposed), 'proposal')} were made from a shortened prompt"
        yield f"{few}, with {span} of the batch: the model's context had no room for more."


def other_scores_text(score: Score) -> str:
    """Figures shown next to the metric: `balanced 95.1 %`, or `MAE 0.81, R² 0.92` for numbers."""
    if score.labels:
        return f"balanced {percent(score.labels.balanced.value, decimals=1)}"
    if score.numbers is None:
        return ""
    r2 = score.numbers.r2
    return f"MAE {number(score.numbers.mae.value)}" + (f", R² {r2_text(r2.value)}" if r2 else "")


def r2_text(value: float) -> str:
    """R² to three digits: decimals within -1 and 1, significant digits beyond."""
    return number(value, 3) if abs(value) >= 1 else fixed(value, 3)


LABEL_HEAD = ("label", "training rows", "test rows", "right", "share right", "else mostly")
LABEL_NUMBERS = (1, 2, 3, 4)


def label_cells(lines: Sequence[LabelLine]) -> list[tuple[str, ...]]:
    """Return the test rows label by label, a table row each. Labels come from the data and must be escaped."""
    rows = []
    for line in lines:
        counts = map(integer, (line.n_trained, line.n, line.n_correct))
        share = percent(line.n_correct / line.n) if line.n else "–"
        mistaken = f"{value_text(line.mistaken[0])} ({integer(line.mistaken[1])})" if line.mistaken else ""
        rows.append((line.label, *counts, share, mistaken))
    return rows
