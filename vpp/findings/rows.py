"""Rows with the hypotheses' answers: where they are split, what each says, what is possible, and when to trust them."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean, quantiles
from typing import Literal

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated
from vpp.findings import points
from vpp.findings.baselines import MODEL_NAMES
from vpp.findings.points import SURE, Point
from vpp.findings.programs import ProgramReading, branch_of
from vpp.findings.verdict import FEW_ROWS, Verdict
from vpp.posterior.calibration import Conformal
from vpp.posterior.metric import CHANCE
from vpp.posterior.prediction import Value
from vpp.problem import Prediction
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.blocks import Metric, Metrics, Note, Say, Table
from vpp.show.figures import Cells, Inputs, Kind, PartsBar, Rival, Rivals, RowLine, RowTable, VoteBar
from vpp.show.words import (
    ROW_OF,
    capitalised,
    counted,
    fixed,
    integer,
    interval_text,
    listed,
    number,
    p_text,
    percent,
    to_spread,
    value_text,
)

MOST_COLUMNS = 3
MOST_GRADES = 4
NEAR_TIE = 0.02
"""Probability by which a label leads that is called a tie."""
Which = Literal["In doubt", "Wrong", "All"]
Reasons = Mapping[tuple[str, int], Prediction]
"""Recorded answers, by hypothesis id and row id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The evaluated rows of a run with the answers of its hypotheses."""

    test: Evaluated
    points: tuple[Point, ...]
    """The most divided first; at least one."""
    dataset: Dataset
    is_weighted: bool
    """Whether a share is one of the weight, else of the hypotheses."""
    texts: tuple[str, ...]
    """(K,) hypotheses without the seed sentence."""
    columns: tuple[str, ...]
    """All inputs, those that the hypotheses use first."""

    @property
    def is_alone(self) -> bool:
        return len(self.test.weights) == 1

    def which(self, which: Which) -> list[Point]:
        if which == "All":
            return list(self.points)
        if which == "Wrong":
            return [point for point in self.points if point.is_wrong]
        return [point for point in self.points if point.is_split or point.is_undecided]


def evaluated_rows(view: RunView, config: Config, dataset: Dataset) -> Rows | None:
    """Return the test rows, or the training rows of a run without test rows; None before they are asked."""
    test = view.evaluations.get("test" if dataset.test else "train")
    if test is None:
        return None
    texts = tuple(own_words(view.texts[hypothesis], view.seed_text) for hypothesis in test.hypotheses)
    return Rows(
        test=test,
        points=tuple(points.evaluated_points(test, view, config, dataset)),
        dataset=dataset,
        is_weighted=config.is_weighted,
        texts=texts,
        columns=columns_by_use(texts, test.weights, dataset.inputs),
    )


def own_words(hypothesis: str, seed_text: str) -> str:
    """Return a hypothesis without the seed sentence; the seed sentence alone if nothing else was written."""
    return hypothesis.removeprefix(seed_text).strip() or hypothesis


def columns_by_use(texts: Sequence[str], weights: Sequence[float], inputs: Sequence[str]) -> tuple[str, ...]:
    """Sort columns by the weight of the hypotheses that name them; unnamed ones follow as they are in the file."""

    def weight(name: str) -> float:
        spelling = re.escape(name).replace("_", "[_ ]")
        named = re.compile(rf"(?<!\w){spelling}(?!\w)", re.IGNORECASE)
        return math.fsum(weight for text, weight in zip(texts, weights, strict=True) if named.search(text))

    by_weight = {name: weight(name) for name in inputs}
    return tuple(sorted(inputs, key=lambda name: -by_weight[name]))


def cells_of(row: Row, columns: Sequence[str]) -> Cells:
    """Return the inputs in this order; a single one has no name."""
    cells = dict(row.inputs)
    return tuple((name if len(cells) > 1 else "", cells[name] or "missing") for name in columns)


# The headline


ALONE = "There is one hypothesis: it says nothing of how sure it is."


def headline(rows: Rows) -> tuple[Say | Note, ...]:
    """Say on how many rows the answer is “I don't know”, and on how many others the hypotheses are split."""
    of, is_label = counted(len(rows.points), ROW_OF[rows.test.split]), rows.points[0].is_label
    if rows.is_alone and not (is_label and rows.test.shares):
        return (Say(ALONE),)
    split = sum(point.is_split and not point.is_undecided for point in rows.points)
    if not is_label:
        rule = "the hypotheses’ answers spread by more than a tenth of the target’s spread."
        return (Say(f"On {integer(split)} of {of} {rule}"),)
    reject, unknown = rows.points[0].reject, sum(point.is_undecided for point in rows.points)
    weight, s = ("weight", "s") if rows.is_weighted else ("hypotheses", "")
    despite = f"although more than {percent(1 - SURE)} of the {weight} say{s} otherwise."
    if not unknown:
        agree = f"; on each, at least {percent(SURE)} of the {weight} agree{s}."
        return (Say(f"It answers all {of}{f', on {integer(split)} {despite}' if split else agree}"),)
    clear = "two thirds" if math.isclose(reject.clear, 2 / 3) else percent(reject.clear)
    why = "several labels are possible" if reject.conformal else f"no label has {clear} of the probability"
    others = f" On {counted(split, 'other')} it answers {despite}" if split else ""
    return (Say(f"On {integer(unknown)} of {of} the answer is “I don’t know”: {why}.{others}"),)


# The table


def row_table(
    rows: Rows, of: Sequence[Point], *, open_row: int | None = None, inside: tuple[object, ...] = ()
) -> RowTable:
    columns = rows.columns[:MOST_COLUMNS]
    return RowTable(
        columns=columns,
        lines=tuple(_line(point, columns) for point in of),
        vote="vote" if rows.dataset.classes else "answer" if rows.is_alone else "mean",
        open_row=open_row,
        inside=inside,
    )


def _line(point: Point, columns: Sequence[str]) -> RowLine:
    return RowLine(
        row=point.row.id,
        inputs=tuple(cell for _, cell in cells_of(point.row, columns)),
        vote=vote_of(point),
        truth=value_text(point.row.target),
        mark="wrong" if point.is_wrong else "I don’t know" if point.is_undecided else "",
    )


def vote_of(point: Point, *, room: int = 24) -> VoteBar | str:
    if point.is_label:
        return VoteBar(shares=point.shares, labels=point.mixture.classes, abstained=point.abstained, room=room)
    return mean_words(point) or "no readable answer"


def mean_words(point: Point) -> str:
    """Return `2.67 (2 to 4)`: the mean, and the range of 90 %; empty if none with weight answered."""
    if point.interval is None or not isinstance(point.prediction, float):
        return ""
    mean, low, high = (_number(point, value) for value in (point.prediction, *point.interval))
    return mean if low == high == mean else f"{mean} ({low} to {high})"


def _number(point: Point, value: Value | None) -> str:
    return to_spread(value, point.scale) if isinstance(value, float) else value_text(value)


# One row: the answer, and what each hypothesis says


def opened_row(
    rows: Rows, point: Point, *, reasons: Reasons, readings: Mapping[str, ProgramReading]
) -> tuple[object, ...]:
    """Return the row's inputs, its answer and the truth, and the hypotheses with different answers.

    readings: how hypotheses are read, by id, if they may be programs.
    """
    test = rows.test

    def branch(slot: int) -> str:
        """Return the branch of a program that answered; empty if the learner read the hypothesis itself."""
        reading, place = readings.get(test.hypotheses[slot]), branch_of(test, slot, point.row.id)
        return reading.program.words(place) if reading and reading.program and place is not None else ""

    def why(slot: int) -> str:
        prediction = reasons.get((test.hypotheses[slot], point.row.id))
        return reason_words(prediction) if prediction else ""

    rivals = rivals_of(point, rows.texts, is_weighted=rows.is_weighted, why=why, branch=branch)
    noise = filter(None, [share_note(point)])
    return (Inputs(cells_of(point.row, rows.columns)), Note(outcome(point)), *rivals, *map(Note, noise))


def rivals_of(
    point: Point,
    texts: Sequence[str],
    *,
    is_weighted: bool,
    why: Callable[[int], str],
    branch: Callable[[int], str] = lambda slot: "",
) -> Iterator[Rivals | Note]:
    """Yield the sides as one block, each in the words of its heaviest text; then a note on weight without an answer.

    texts, why, branch: by slot.
    """
    rivals, measure = [], "weight" if is_weighted else "hypotheses"
    for name, slots in points.sides(point).items():
        slot, share = _heaviest_text(slots, point, texts), percent(min(points.weight_of(point, slots), 1.0))
        rivals.append(
            Rival(
                answer=name if point.is_label else f"{_number(point, point.votes[slot])}, {name}",
                facts="" if len(point.votes) == 1 else f"{share} of the {measure}",
                hypothesis=texts[slot],
                code=branch(slot),
                reason=why(slot),
            )
        )
    if rivals:
        yield Rivals(tuple(rivals))
    if silent := [slot for slot, vote in enumerate(point.votes) if vote is None and point.weights[slot] > 0]:
        share = percent(min(1.0, points.weight_of(point, silent)))
        yield Note(f"{share} of the {measure} gave no readable answer: {why(silent[0]) or 'its program fails here'}.")


def _heaviest_text(slots: Sequence[int], point: Point, texts: Sequence[str]) -> int:
    """Return a slot of the heaviest text, its copies together; the shortest of equally heavy ones."""
    copies = points.grouped((texts[slot], slot) for slot in slots)
    return min(slots, key=lambda slot: (-round(points.weight_of(point, copies[texts[slot]]), 9), len(texts[slot])))


def share_note(point: Point) -> str:
    """Say why the share of a label is not the weight of its hypotheses; empty where they are equal in percent."""
    shares = dict(point.shares)
    weights = {name: points.weight_of(point, slots) for name, slots in points.sides(point).items()}
    same = all(percent(weight) == percent(shares.get(label, weight)) for label, weight in weights.items())
    return "" if same or not point.mixture.noise else NOISE


NOISE = "A label’s probability is not the weight of its hypotheses: it also counts how often each of them is wrong."


def reason_words(prediction: Prediction) -> str:
    why = prediction.explanation or prediction.reason or ""
    if not prediction.shares:
        return why
    likeliest_first = sorted(prediction.shares.items(), key=lambda each: (-each[1], each[0]))[:MOST_GRADES]
    return f"{', '.join(f'{label} {percent(share)}' for label, share in likeliest_first)}. {why}".strip()


def answer_words(point: Point) -> str:
    """`yes (99 %)`, `2.67 (2 to 4)`, `I don’t know: yes leads (60 %)`."""
    if not points.voices(point):
        return "No hypothesis with weight gave a readable answer" if point.votes else ""
    if not point.is_label:
        lead = "I don’t know; about " if point.said and points.is_unknown(point) else ""
        return f"{lead}{mean_words(point)}"
    if point.reject.conformal and point.is_undecided:
        return f"I don’t know: {possible_words(point)}"
    if len(point.votes) == 1 and not point.mixture.noise:
        return f"{point.prediction}"
    if not point.is_undecided:
        return f"{point.decision} ({percent(point.behind)})"
    most = point.shares[0][1]
    tied = {label: percent(share / most * point.behind) for label, share in point.shares if most - share < NEAR_TIE}
    if len(tied) == 1:
        return f"I don’t know: {point.leader} leads ({percent(point.behind)})"
    if len({*tied.values()}) == 1:
        return f"I don’t know: a tie between {listed([*tied])} ({percent(point.behind)} each)"
    return f"I don’t know: nearly a tie between {listed([f'{label} ({share})' for label, share in tied.items()])}"


def outcome(point: Point) -> str:
    """`Answer: no (60 %), wrong.`"""
    answer = answer_words(point)
    if point.decision is not None:
        return f"Answer: {answer}, {'right' if point.is_right else 'wrong'}."
    if not isinstance(point.prediction, float) or not isinstance(point.row.target, float):
        return f"{answer}."
    off = number(abs(point.prediction - point.row.target))
    possible = f" Possible: {range_words(point)}." if point.reject.conformal else ""
    return f"Answer: {answer}, off by {off}.{possible}"


# What is possible by calibration rows


def possible_words(point: Point) -> str:
    """`one of A, B` or `any label`. The point is calibrated."""
    labels = points.possible_labels(point)
    is_all = point.reject.conformal is not None and len(labels) == len(point.reject.conformal.classes) > 2
    return "any label" if is_all else f"one of {', '.join(labels)}"


def range_words(point: Point) -> str:
    """`2.1 to 3.4`, or `any number`; empty without a calibration."""
    ends = points.possible_range(point)
    if ends is None:
        return ""
    low, high = (_number(point, each) for each in ends)
    return f"{low} to {high}" if all(map(math.isfinite, ends)) else "any number"


def possible_sentence(point: Point, conformal: Conformal) -> str:
    """What is possible, and what that is worth: for one label, how often it was right on the calibration rows."""
    reject = point.reject
    if point.decision is not None:
        right = "No calibration row was decided"
        if n := reject.n_decided:
            right = f"Of such answers to calibration rows, {integer(reject.n_right)} of {integer(n)} were right"
            right += f": that means {interval_text(reject.n_right, n)}"
        return f"Possible: {point.decision} alone. {right}."
    what = possible_words(point) if point.is_label else range_words(point)
    return f"Possible: {what}. {promise_sentence(conformal)}"


def promise_sentence(conformal: Conformal) -> str:
    rows, level, new = counted(conformal.n, "calibration row"), percent(conformal.level), "similar new rows"
    if conformal.by_group:
        rows, new = f"{rows}, each of another group", "new rows of similar groups"
    if conformal.rank > conformal.n:
        return f"{rows}: too few for {level}, which takes {conformal.least_rows}. So everything stays possible."
    if not math.isfinite(conformal.threshold):
        return f"{rows}: on too many of them no hypothesis answered. So everything stays possible."
    low, high = conformal.coverage_band()
    return (
        f"With {rows}, the truth is possible for at least {level} of {new} on average; one draw of them "
        f"typically gives {percent(low)} to {percent(high)}."
    )


# When to trust the answers

MOST_LABELS = 8
DONT_KNOW = "“I don’t know”"


def trust(rows: Rows, found: Verdict | None) -> Iterator[Metrics | PartsBar | Note]:
    """Yield four figures at most, and of labels a bar of rows by sure and right. found: of a run that has ended."""
    is_graded = not rows.is_alone or bool(rows.test.shares)
    if rows.test.split != "test":
        yield Note("The weights were made from these rows: new rows may differ.")
    elif found and found.rows == "test":
        spread = f"On average; the targets spread by {number(rows.points[0].scale, 3)}."
        error = Metric(name="Off by", value=number(found.error or 0.0, 3), words=spread)
        tiles = _answer_tiles(found) if rows.points[0].is_label else [error]
        if sure := found.confidence:
            few = " Few rows: this tells little." if sure.n < FEW_ROWS else ""
            tiles.append(Metric(name="Calibration", value=sure.judgement, words=f"{sure.words}.{few}"))
        yield Metrics((*tiles, *_simple_tile(found)))
    if rows.test.split == "test" and rows.points[0].is_label and is_graded:
        yield _sure_and_right(rows.points)


def _answer_tiles(found: Verdict) -> list[Metric]:
    n, right = found.n - found.n_unknown, found.n_right or 0
    odds = f"{percent(right / n)}; on more such rows {interval_text(right, n)}." if n else "No row is answered."
    others = "The answer to the others is “I don’t know”." if found.n_unknown else "None is “I don’t know”."
    return [
        Metric(name="Right where answered", value=integer(right), scale=f"of {integer(n)}", words=odds),
        Metric(name="Rows answered", value=integer(n), scale=f"of {integer(found.n)}", words=others),
    ]


def _simple_tile(found: Verdict) -> Iterator[Metric]:
    if found.model is None or found.model_value is None:
        return
    show = partial(number, digits=3) if found.n_right is None else percent
    is_clear = found.p is not None and found.p < CHANCE
    differs = f"a clear difference (p {p_text(found.p or 0.0)})" if is_clear else "no clear difference"
    words = f"{capitalised(MODEL_NAMES[found.model])}, on all test rows: {differs}."
    yield Metric(name="Best simple model", value=show(found.model_value), words=words)


def _sure_and_right(test: Sequence[Point]) -> PartsBar:
    kinds: dict[tuple[str, str], Kind] = {
        ("sure", "right"): "good",
        ("sure", "wrong"): "bad",
        ("unsure", "right"): "unsure good",
        ("unsure", "wrong"): "unsure bad",
    }
    is_sure = ("unsure" if point.is_split or point.is_undecided else "sure" for point in test)
    is_right = ("right" if point.leader == point.row.target else "wrong" for point in test)
    counts = Counter(zip(is_sure, is_right, strict=True))
    parts = tuple((" and ".join(words), counts[words], kind) for words, kind in kinds.items())
    return PartsBar(name="How sure, and how right", parts=parts)


# Mistakes


def mistakes(rows: Rows) -> Iterator[Table | Note]:
    """Yield a confusion matrix, or of numbers the errors, and the score in a sentence."""
    own, which = points.averaged_score(rows.test, rows.dataset), ROW_OF[rows.test.split]
    yield from _confusion(rows, own, which) if own.n_correct is not None else _errors(rows, own, which)


def _confusion(rows: Rows, own: points.Score, which: str) -> Iterator[Table | Note]:
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
    balanced = "" if own.balanced is None else f"; mean per-class recall {percent(own.balanced, 1)}"
    likeliest = "By the likeliest label, " if DONT_KNOW in answers else ""
    yield Note(
        f"{likeliest}{percent(own.value, 1)} of {counted(own.n, which)} are right, which means {interval}{balanced}; "
        f"log score {fixed(points.log_score(rows.points) or 0.0)} nats a row."
    )


def _errors(rows: Rows, own: points.Score, which: str) -> Iterator[Table | Note]:
    errors = [float(p.prediction) - float(p.row.target or 0.0) for p in rows.points if p.prediction is not None]
    if not errors:
        yield Note("No row has a readable answer.")
        return
    off = sorted(map(abs, errors))
    deciles = quantiles(off, n=10, method="inclusive") if len(off) > 1 else off * 9
    half, nine, worst = (number(each, 3) for each in (deciles[4], deciles[8], off[-1]))
    yield Note(
        f"Half of {counted(own.n, which)} are off by at most {half}, nine of ten by {nine}, the worst by {worst}; on "
        f"average {number(abs(mean(errors)), 3)} too {'high' if mean(errors) > 0 else 'low'}."
    )
    known = "" if own.r2 is None else f"; R² {fixed(own.r2, 3)}"
    yield Note(f"Root of the mean squared error {number(math.sqrt(own.mse or 0.0), 3)}{known}.")


def calibrated(rows: Rows) -> tuple[Note, ...]:
    """Return what the calibration promises and whether it held; empty without calibration rows."""
    conformal = rows.points[0].reject.conformal
    if conformal is None:
        return ()
    inside = f"{integer(sum(map(points.holds_truth, rows.points)))} of {counted(len(rows.points), 'row')}"
    return (Note(f"{promise_sentence(conformal)} The truth was possible on {inside}."),)
