"""Predictions as CSV: of the test rows (predictions.csv), and of rows a run was asked about.

Columns: row, the inputs, other columns that came with rows asked about, truth (of test rows), prediction; for
classification its share of the weight, the vote's entropy in bits, the weight of those that abstained and a share for
each class; for regression the weighted standard deviation, the interval that holds 90 % of the particles' weight
(both of the particles' spread alone, noise not included) and the weight of those that abstained. Then each particle's
answer, and its reason where asked for. A run with calibration rows adds what is possible: 1 or 0 for each class, or
the range of the true number. An abstention is an empty cell. An own column whose name an input has gets a
`_`.

Every cell, the header's too, is safe to open in a spreadsheet: see `vpp.wording.escaping`, which also undoes it.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from vpp.data.dataset import Row
from vpp.inspection.points import calibrated
from vpp.inspection.scores import rows_of
from vpp.posterior.calibration import Conformal
from vpp.posterior.disagreement import vote_entropy, weighted_interval, weighted_spread
from vpp.posterior.prediction import Answer, Value, silent_weight, vote_shares
from vpp.runs.asking import Answers, averages_asked
from vpp.runs.reader import RunReader
from vpp.wording.escaping import safe_cell
from vpp.wording.verdicts import reason_words
from vpp.wording.words import shortest

DIGITS = 12
"""Significant digits of sums of weights and of what is made from them."""
Line = Sequence[Value | None]
Beside = Mapping[str, Sequence[str | None]]
"""Cells of columns that are no input, by name; row `id` has the cell at this index."""


def predictions_csv(reader: RunReader) -> bytes:
    """A line for each evaluated test row; the header alone before the test rows are evaluated."""
    dataset = reader.dataset()
    view = reader.refresh().view
    test = view.evaluated.get("test")
    if test is None:
        return _csv((), ("truth", *_Summary(dataset.task, dataset.classes).names), (), inputs=dataset.inputs)
    summary = _Summary(dataset.task, dataset.classes, calibrated(view, dataset, of=test))
    rows, votes, answers = rows_of(test, dataset), zip(*test.predictions, strict=True), zip(*test.answers, strict=True)
    lines = (
        (row.target, *summary.cells(said, average, test.weights), *labels)
        for row, labels, said, average in zip(rows, votes, answers, test.averaged, strict=True)
    )
    own = ("truth", *summary.names, *_numbered("particle", test.weights))
    return _csv(rows, own, lines, inputs=dataset.inputs)


def prediction_csv(
    answers: Answers, *, doubt: Conformal | None = None, with_reasons: bool = False, beside: Beside | None = None
) -> bytes:
    """A line for each row asked about: the columns of predictions.csv but the truth.

    doubt: the run's calibration, if it has one.
    beside: columns that stand behind the inputs as they were read, such as a name of each row.
    with_reasons: also a column `because_0`… for each particle: why it said so, or why nothing could be read.
    """
    summary = _Summary(answers.task, answers.classes, doubt)
    averaged = averages_asked(answers)
    by_row = list(zip(*answers.predictions, strict=True))
    own = (*summary.names, *_numbered("particle", answers.weights))
    lines: list[Line] = []
    for row, average in zip(by_row, averaged, strict=True):
        votes, said = ([prediction.value for prediction in row], [prediction.answer for prediction in row])
        reasons = [reason_words(p) for p in row] if with_reasons else []
        lines.append((*summary.cells(said, average, answers.weights), *votes, *reasons))
    if with_reasons:
        own = (*own, *_numbered("because", answers.weights))
    inputs = tuple(name for name, _ in answers.rows[0].inputs) if answers.rows else ()
    return _csv(answers.rows, own, lines, inputs=inputs, beside=beside)


def _numbered(name: str, weights: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"{name}_{slot}" for slot in range(len(weights)))


class _Summary:
    """The columns between the truth and the particles' answers."""

    def __init__(self, task: str, classes: Sequence[str], doubt: Conformal | None = None) -> None:
        self._is_label = task == "classification"
        self._classes = classes
        self._doubt = doubt

    @property
    def names(self) -> tuple[str, ...]:
        if not self._is_label:
            ends = ("possible_low", "possible_high") if self._doubt else ()
            return ("prediction", "spread", "low", "high", "abstained", *ends)
        shares = (f"share_{label}" for label in self._classes)
        possible = (f"possible_{label}" for label in self._classes) if self._doubt else ()
        return ("prediction", "share", "entropy_bits", "abstained", *shares, *possible)

    def cells(self, said: Sequence[Answer], prediction: Value | None, weights: Sequence[float]) -> Line:
        """Cells of a row; empty except for the shares if all abstain."""
        abstained = _tidy(silent_weight(said, weights))
        if not self._is_label:
            votes = [None if isinstance(answer, dict) else answer for answer in said]
            interval = weighted_interval(votes, weights)
            low, high = interval or (None, None)
            possible = map(_tidy, self._doubt.interval(interval)) if self._doubt else ()
            return prediction, _tidy(weighted_spread(votes, weights)), low, high, abstained, *possible
        shares = vote_shares(said, weights)
        share = shares.get(prediction, 0.0) if prediction is not None else 0.0
        each = (_tidy(shares.get(label, 0.0)) for label in self._classes)
        held = self._doubt.labels(said, weights) if self._doubt else ()
        can_be = (float(label in held) for label in self._classes) if self._doubt else ()
        return prediction, _tidy(share), _tidy(vote_entropy(said, weights)), abstained, *each, *can_be


def _tidy(value: float) -> float | None:
    """Value without its last digits, which depend on the order of summation; None if it is not finite."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _csv(
    rows: Sequence[Row],
    own: Sequence[str],
    lines: Iterable[Line],
    *,
    inputs: Sequence[str],
    beside: Beside | None = None,
) -> bytes:
    """UTF-8 with `\\r\\n` after each line (RFC 4180). own: names of the columns behind those that came."""
    others = beside or {}
    text = io.StringIO()
    writer = csv.writer(text)
    row_column, *own = _unlike(("row", *own), (*inputs, *others))
    writer.writerow(map(safe_cell, (row_column, *inputs, *others, *own)))
    for row, line in zip(rows, lines, strict=True):
        came = (*(cell for _, cell in row.inputs), *(cells[row.id] for cells in others.values()))
        writer.writerow(map(_cell, (str(row.id), *came, *line)))
    return text.getvalue().encode(errors="replace")


def _unlike(names: Sequence[str], taken: Sequence[str]) -> Iterator[str]:
    """Names made unique, also among `taken`."""
    used = set(taken)
    for name in names:
        while name in used:
            name += "_"
        used.add(name)
        yield name


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    return safe_cell(value) if isinstance(value, str) else shortest(value)
