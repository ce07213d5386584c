"""When to trust a posterior: right where it answers, as sure as it is right; its mistakes, and calibrated doubt."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import mean, quantiles

from vpp.findings.points import Point, holds_truth
from vpp.findings.rows import Rows, promise_sentence
from vpp.findings.scores import Score, averaged_score
from vpp.posterior.calibration import RejectOption
from vpp.posterior.metric import wilson
from vpp.posterior.prediction import TIE
from vpp.show.blocks import Metric, Metrics, Note, Table, count_metric
from vpp.show.figures import Kind, Part, PartsBar
from vpp.show.words import ROW_OF, counted, fixed, integer, interval_text, number, percent, share_words

FEW_ROWS = 30
"""With 30 rows, a share has an error of up to about 18 points either way."""
FITS, SURER, LESS = "fits", "surer than right", "less sure than right"
MOST_LABELS = 8
"""Most labels of a confusion matrix; of more, the commonest mistakes are listed."""
DONT_KNOW = "“I don’t know”"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Mean probability of the leading label beside how often it is right."""

    sure: float
    n_right: int
    n: int

    @property
    def verdict(self) -> str:
        """Judged by Wilson's 95 % interval of how often it is right."""
        low, high = wilson(self.n_right, self.n)
        return SURER if self.sure > high else LESS if self.sure < low else FITS


def calibration(points: Sequence[Point]) -> Calibration | None:
    """Return None if no row has a leading label."""
    led = [(point, share) for point in points if point.leader is not None and (share := point.confidence) is not None]
    if not led:
        return None
    n_right = sum(point.leader == point.row.target for point, _ in led)
    return Calibration(sure=math.fsum(share for _, share in led) / len(led), n_right=n_right, n=len(led))


def tiles(rows: Rows) -> Metrics:
    """Return three figures at most."""
    found = _label_tiles(rows) if rows.points[0].is_label else _number_tiles(rows.points)
    if rows.test.split != "test":
        found = [replace(found[0], words="On the rows that the weights were made from: new rows may differ.")]
    return Metrics(tuple(found))


def _label_tiles(rows: Rows) -> list[Metric]:
    points = rows.points
    n, n_answered = len(points), sum(not point.is_undecided for point in points)
    n_right = sum(point.is_right for point in points)
    name = "Right where answered"
    found = [Metric(name=name, value="–", words="No row is answered.")]
    if n_answered:
        words = f"{percent(n_right / n_answered)}; on more such rows {interval_text(n_right, n_answered)}."
        found = [count_metric(name, n_right, n_answered, words)]
    if not rows.is_alone or points[0].reject.conformal:
        others = "The answer to the others is “I don’t know”." if n_answered < n else "None is “I don’t know”."
        found.append(count_metric("Rows answered", n_answered, n, others))
    by = calibration(points)
    if by and (not rows.is_alone or rows.test.shares):
        words = f"{percent(by.sure)} sure on average, right on {percent(by.n_right / by.n)}.{_few(n)}"
        found.append(Metric(name="Calibration", value=by.verdict, words=words))
    return found


def _few(n: int) -> str:
    return " Few rows: this tells little." if n < FEW_ROWS else ""


def _number_tiles(points: Sequence[Point]) -> list[Metric]:
    off = [float(p.prediction) - float(p.row.target or 0.0) for p in points if p.prediction is not None]
    typical = math.hypot(*off) / math.sqrt(len(off)) if off else 0.0
    own = f"Typical distance from the truth; the targets spread by {number(points[0].scale, 3)}."
    found = [Metric(name="Off by", value=number(typical, 3), words=own)]
    ranges = [(point.interval or (math.inf, 0.0), float(point.row.target or 0.0)) for point in points]
    n_inside = sum(low <= truth <= high for (low, high), truth in ranges)
    low, high = wilson(n_inside, len(points))
    verdict = SURER if high < 0.9 else LESS if low > 0.9 else FITS
    words = f"The truth is in the range of 90 % on {integer(n_inside)} of {counted(len(points), 'row')}."
    if any(point.doubt for point in points):
        found.append(Metric(name="Calibration", value=verdict, words=words + _few(len(points))))
    return found


def sure_and_right(rows: Rows) -> tuple[PartsBar, ...]:
    """Return rows by sure and right as one bar; empty for one hypothesis, and for numbers."""
    points = rows.points
    if rows.test.split != "test" or not points[0].is_label or (rows.is_alone and not rows.test.shares):
        return ()

    def part(name: str, kind: Kind, *, is_sure: bool, is_right: bool) -> Part:
        n = sum(
            (not point.is_split and not point.is_undecided) == is_sure
            and (point.leader == point.row.target) == is_right
            for point in points
        )
        return Part(name=name, value=counted(n, "row"), size=n, kind=kind)

    parts = (
        part("sure and right", "good", is_sure=True, is_right=True),
        part("sure and wrong", "bad", is_sure=True, is_right=False),
        part("unsure and right", "unsure good", is_sure=False, is_right=True),
        part("unsure and wrong", "unsure bad", is_sure=False, is_right=False),
    )
    return (PartsBar(name="How sure, and how right", parts=parts),)


# Mistakes


def mistakes(rows: Rows) -> Iterator[Table | Note]:
    """Yield a confusion matrix, or of numbers the errors, and the score in a sentence."""
    own, which = averaged_score(rows.test, rows.dataset), ROW_OF[rows.test.split]
    yield from _confusion(rows, own, which) if own.n_correct is not None else _errors(rows, own, which)


def _confusion(rows: Rows, own: Score, which: str) -> Iterator[Table | Note]:
    labels = rows.dataset.classes
    counts = Counter((str(p.row.target), DONT_KNOW if p.is_undecided else str(p.decision)) for p in rows.points)
    answers = [*labels, DONT_KNOW] if any(answer == DONT_KNOW for _, answer in counts) else [*labels]
    if len(labels) <= MOST_LABELS:
        lines = [(truth, *(integer(counts[truth, answer]) for answer in answers)) for truth in labels]
        yield Table(head=("true label", *answers), rows=lines, right=range(1, len(answers) + 1), name="Confusion")
    else:
        wrong = [(pair, n) for pair, n in counts.most_common() if pair[0] != pair[1]]
        lines = [(truth, answer, integer(n)) for (truth, answer), n in wrong[:MOST_LABELS]]
        yield Table(head=("true label", "answer", "rows"), rows=lines, right=(2,), name="Commonest mistakes")
    interval = f"{interval_text(own.n_correct or 0, own.n)} (Wilson, 95 %)"
    balanced = f"; mean per-class recall {percent(own.labels.balanced.value, 1)}" if own.labels else ""
    likeliest = "By the likeliest label, " if DONT_KNOW in answers else ""
    yield Note(
        f"{likeliest}{percent(own.value, 1)} of {counted(own.n, which)} are right, which means {interval}{balanced}."
    )


def _errors(rows: Rows, own: Score, which: str) -> Iterator[Table | Note]:
    errors = [float(p.prediction) - float(p.row.target or 0.0) for p in rows.points if p.prediction is not None]
    if not errors:
        yield Note("No row has a readable answer.")
        return
    off = sorted(map(abs, errors))
    deciles = quantiles(off, n=10, method="inclusive") if len(off) > 1 else off * 9
    lines = [
        ("half of the rows are off by at most", number(deciles[4], 3)),
        ("nine of ten rows", number(deciles[8], 3)),
        ("the worst row", number(off[-1], 3)),
        ("on average too high (too low, if negative)", number(mean(errors), 3)),
        ("root of the mean squared error", number(math.sqrt(own.mse or 0.0), 3)),
    ]
    yield Table(head=("error", "in the target’s unit"), rows=lines, right=(1,), name="Errors")
    r2 = own.numbers.r2 if own.numbers else None
    yield Note(f"On {counted(own.n, which)}{'' if r2 is None else f'; R² {fixed(r2, 3)}'}.")


# Calibrated doubt: what decides a row, and what was promised


def calibrated(rows: Rows) -> tuple[Note, ...]:
    """Return the rule, the promise and whether it held; empty without calibration rows."""
    reject = rows.points[0].reject
    if (conformal := reject.conformal) is None:
        return ()
    held = sum(map(holds_truth, rows.points))
    found = f"The truth was possible on {integer(held)} of {counted(len(rows.points), 'row')}."
    return (Note(" ".join(filter(None, (rule_sentence(reject, rows.measure), promise_sentence(conformal), found)))),)


def rule_sentence(reject: RejectOption, measure: str) -> str:
    """Say what decides a row, or by how much a range is widened. measure: what a label's share is a share of."""
    limit = reject.conformal.threshold if reject.conformal else math.inf
    if not math.isfinite(limit):
        return ""
    if reject.conformal and not reject.conformal.classes:
        how = "narrowed" if limit < 0 else "widened"
        return f"The range of the answers is {how} by {number(abs(limit))} at each end."
    if limit >= 1 - TIE:
        return "No vote decides a row: on too many calibration rows no weight was on the truth."
    if limit < reject.clear:
        least = share_words(reject.clear)
        return f"A label decides a row with {least} of the {measure}: the calibration rows ask for no more."
    return f"A label decides a row with more than {percent(limit)} of the {measure}."
