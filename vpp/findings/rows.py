"""Rows with the hypotheses' answers: where they are split, what each says, and what is possible."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated
from vpp.findings.points import (
    SURE,
    Point,
    Side,
    by_answers,
    is_unknown,
    points,
    possible_labels,
    possible_range,
    reject_option,
    sides,
    voices,
)
from vpp.findings.programs import ProgramReading, branch_of
from vpp.findings.scores import grouped
from vpp.posterior.calibration import Conformal
from vpp.posterior.prediction import Value, leaders
from vpp.problem import Prediction
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.blocks import Note, Say, Table
from vpp.show.figures import VoteBar
from vpp.show.matrix import AnswerHead, Cells, Inputs, Rival, Rivals, RowLine, RowTable
from vpp.show.words import (
    ROW_OF,
    counted,
    in_words,
    integer,
    interval_text,
    listed,
    number,
    percent,
    share_words,
    target_text,
    value_text,
)

MOST_COLUMNS = 3
"""Inputs in a line of the table."""
MOST_ANSWERS = 6
"""Columns of hypotheses, the heaviest ones."""
LEAST = 0.01
"""Share of a hypothesis that has a column."""
MOST_GRADES = 4
Which = Literal["Split", "Wrong", "All"]
Reasons = Mapping[tuple[str, int], Prediction]
"""Recorded answers, by hypothesis id and row id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The evaluated rows of a run with the answers of its hypotheses."""

    test: Evaluated
    points: tuple[Point, ...]
    """The most divided first; at least one."""
    dataset: Dataset
    measure: str
    """What a share is a share of: `weight`, `chains`, `hypotheses`, or `probability`."""
    texts: tuple[str, ...]
    """(K,) hypotheses without the seed sentence."""
    columns: tuple[str, ...]
    """All inputs, those that the hypotheses use first."""

    @property
    def is_alone(self) -> bool:
        return len(self.test.weights) == 1

    @property
    def alike(self) -> tuple[Side, ...]:
        """Hypotheses with the same answers to all rows, heaviest first."""
        return by_answers(self.test)

    @property
    def heads(self) -> tuple[Side, ...]:
        """Those of `alike` that have a column in the table."""
        first, *others = self.alike[:MOST_ANSWERS]
        return first, *(side for side in others if side.weight >= LEAST)

    def which(self, which: Which) -> list[Point]:
        if which == "All":
            return list(self.points)
        if which == "Wrong":
            return [point for point in self.points if point.is_wrong]
        return [point for point in self.points if point.is_split or point.is_undecided]


def evaluated_rows(view: RunView, config: Config, dataset: Dataset) -> Rows | None:
    """Return the test rows, or the training rows of a run without test rows; None before they are asked."""
    test = view.evaluated.get("test" if dataset.test else "train")
    if test is None:
        return None
    texts = tuple(own_words(view.texts[hypothesis], view.seed_text) for hypothesis in test.hypotheses)
    return Rows(
        test=test,
        points=tuple(points(test, dataset, reject_option(view, config, dataset, of=test))),
        dataset=dataset,
        measure="probability" if test.noise and dataset.classes else measure(config),
        texts=texts,
        columns=columns_by_use(texts, test.weights, dataset.inputs),
    )


def own_words(hypothesis: str, seed_text: str) -> str:
    """Return a hypothesis without the seed sentence; the seed sentence alone if nothing else was written."""
    return hypothesis.removeprefix(seed_text).strip() or hypothesis


def measure(config: Config) -> str:
    """Return what a share of the hypotheses is a share of."""
    return "weight" if config.is_weighted else "chains" if config.method == "mh" else "hypotheses"


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
    return tuple((name if len(cells) > 1 else "", shown_cell(cells[name])) for name in columns)


def shown_cell(cell: str | None) -> str:
    return "missing" if cell is None else cell


# The headline


def headline(rows: Rows) -> tuple[Say | Note, ...]:
    """Say on how many rows the hypotheses are split, and on how many the answer is “I don't know”."""
    n, row = len(rows.points), ROW_OF[rows.test.split]
    of = f"{integer(n)} {row}{'' if n == 1 else 's'}"
    unknown = _unknown(rows)
    if rows.is_alone:
        alone = "" if rows.test.shares or unknown else ": it cannot be split, and says nothing of how sure it is"
        return (Say(f"There is one hypothesis{alone}.{unknown}"),)
    split, is_label = sum(point.is_split for point in rows.points), rows.points[0].is_label
    whole = f"{percent(SURE)} of {'their weight' if rows.measure != 'chains' else 'the chains'}"
    if not split:
        agreed = f", with at least {whole}" if is_label else ", nearly"
        return (Say(f"The hypotheses agree on all {of}{agreed}.{unknown}"),)
    rule = f"no label has {whole}"
    if not is_label:
        rule = "their answers spread by more than a tenth of the target’s own spread"
    return (Say(f"On {integer(split)} of {of} the hypotheses are split: {rule}.{unknown}"),)


def _unknown(rows: Rows) -> str:
    unknown = sum(point.is_undecided for point in rows.points)
    if not unknown:
        return ""
    reject = rows.points[0].reject
    rule = "several labels are possible" if reject.conformal else f"no label has {share_words(reject.clear)}"
    return f" On {in_words(unknown)} the answer is “I don’t know”: {rule}."


def asked_when(test: Evaluated, snapshot: Snapshot, *, is_live: bool) -> str:
    """Return when the rows were asked, if that was not at the end."""
    now = snapshot.view.last_step
    if not is_live and test.step == now:
        return ""
    when = "before the first step" if test.step < 0 else f"after step {test.step + 1}"
    at = f" The run is at step {now + 1}." if now is not None and now > test.step else ""
    again = " They are asked again at the end." if is_live else ""
    return f"The {ROW_OF[test.split]}s as answered {when}.{at}{again}"


# The table


def row_table(
    rows: Rows, shown: Sequence[Point], *, open_row: int | None = None, inside: tuple[object, ...] = ()
) -> RowTable:
    heads = () if rows.is_alone else rows.heads
    columns = rows.columns[:MOST_COLUMNS]
    return RowTable(
        columns=columns,
        heads=tuple(AnswerHead(min(side.weight, 1.0), rows.texts[side.speaker]) for side in heads),
        lines=tuple(_line(point, columns, heads, rows.dataset) for point in shown),
        labels=rows.dataset.classes,
        vote="vote" if rows.dataset.classes else "answer" if rows.is_alone else "mean",
        open_row=open_row,
        inside=inside,
    )


def table_words(rows: Rows) -> str:
    """Explain the columns of the table."""
    if rows.is_alone:
        return ""
    n, other = len(rows.heads), len(rows.columns) - MOST_COLUMNS
    heads = "the heaviest hypothesis" if n == 1 else f"the {in_words(n)} heaviest hypotheses that differ on any row"
    rest = f" An opened row has the other {counted(other, 'input')}." if other > 0 else ""
    far = "" if rows.dataset.classes else " Marked: far from the mean."
    return f"Columns: the inputs that they use first, then {heads}.{rest}{far} Press a row to open it."


def _line(point: Point, columns: Sequence[str], heads: Sequence[Side], dataset: Dataset) -> RowLine:
    cells, decimals = dict(point.row.inputs), dataset.target_decimals
    votes = (point.votes[side.speaker] for side in heads)
    return RowLine(
        row=point.row.id,
        inputs=tuple(shown_cell(cells[name]) for name in columns),
        answers=tuple(("" if vote is None else value_of(vote, decimals), is_far(vote, point)) for vote in votes),
        vote=vote_of(point, decimals),
        truth=value_of(point.row.target, decimals),
        mark="wrong" if point.is_wrong else "I don’t know" if point.is_undecided else "",
    )


def value_of(value: Value | None, decimals: int | None) -> str:
    """Return an answer or a target; `no answer` for an abstention."""
    return target_text(value, decimals) if isinstance(value, float) else value_text(value)


def is_far(vote: Value | None, point: Point) -> bool:
    """True for a number further from the mean than half of the target's own spread."""
    if not isinstance(vote, float) or not isinstance(point.prediction, float):
        return False
    return abs(vote - point.prediction) > point.scale / 2


def vote_of(point: Point, decimals: int | None) -> VoteBar | str:
    if point.is_label:
        return VoteBar(shares=point.shares, labels=point.mixture.classes, abstained=point.abstained)
    return mean_words(point, decimals) or "no readable answer"


def mean_words(point: Point, decimals: int | None) -> str:
    """Return `2.7 (2 to 4)`: the mean, and the range of 90 %; empty if none with weight answered."""
    if point.interval is None or not isinstance(point.prediction, float):
        return ""
    mean, low, high = (target_text(value, decimals) for value in (point.prediction, *point.interval))
    return mean if low == high == mean else f"{mean} ({low} to {high})"


# One row: the answer, and what each hypothesis says


def opened_row(
    rows: Rows, point: Point, *, reasons: Reasons, readings: Mapping[str, ProgramReading]
) -> tuple[object, ...]:
    """Return the row's inputs, its answer and the truth, the rival hypotheses, and what each says.

    readings: how hypotheses are read, by id, if they may be programs.
    """
    test = rows.test

    def branch(slot: int) -> str:
        """Return the branch of a program that answered; empty if the learner read the hypothesis itself."""
        reading, place = readings.get(test.hypotheses[slot]), branch_of(test, slot, point.row.id)
        return reading.program.words(place) if reading and reading.program and place is not None else ""

    def why(slot: int) -> str:
        prediction = reasons.get((test.hypotheses[slot], point.row.id))
        return reason_words(prediction) if prediction else branch(slot)

    measure = "weight" if rows.measure == "probability" else rows.measure
    inputs = Inputs(cells_of(point.row, rows.columns))
    answers = answers_of(point, rows.texts, rows.dataset.target_decimals, measure=measure, why=why, branch=branch)
    return (inputs, Note(outcome(point, rows.dataset.target_decimals)), *answers)


def answers_of(
    point: Point,
    texts: Sequence[str],
    decimals: int | None,
    *,
    measure: str,
    why: Callable[[int], str],
    branch: Callable[[int], str] = lambda slot: "",
) -> Iterator[Rivals | Table]:
    """Yield hypotheses with different answers side by side, and a line for each. texts, and of the functions: by slot.

    measure: what a share is a share of.
    """
    is_alone, weights = len(point.votes) == 1, point.weights
    rivals = []
    for side in sides(point, weights):
        n = f" · the heaviest of {counted(len(side.slots), 'copy', 'copies')}" if len(side.slots) > 1 else ""
        facts = "" if is_alone else f"{percent(min(side.weight, 1.0))} of the {measure}{n}"
        text, code = texts[side.speaker], branch(side.speaker)
        rivals.append(Rival(answer=side.name, facts=facts, hypothesis=text, code=code))
    if rivals:
        yield Rivals(tuple(rivals))
    if is_alone:
        return
    said = ((value_of(vote, decimals), why(slot), texts[slot]) for slot, vote in enumerate(point.votes))
    groups = grouped(zip(said, range(len(texts)), strict=True))
    shares = {words: math.fsum(weights[slot] for slot in slots) for words, slots in groups.items()}
    lines = [
        (percent(min(shares[words], 1.0)), integer(len(groups[words])), *words)
        for words in sorted(groups, key=lambda words: -shares[words])
    ]
    head = ("share", "copies", "answer", "reason", "hypothesis")
    yield Table(head=head, rows=lines, right=(0, 1), name=f"answers to row {point.row.id}", fold="What each says")


def reason_words(prediction: Prediction) -> str:
    why = prediction.explanation or prediction.reason or ""
    if not prediction.shares:
        return why
    likeliest_first = sorted(prediction.shares.items(), key=lambda each: (-each[1], each[0]))[:MOST_GRADES]
    return f"{', '.join(f'{label} {percent(share)}' for label, share in likeliest_first)}. {why}".strip()


def answer_words(point: Point, decimals: int | None, *, is_weighted: bool = True) -> str:
    """`yes (99 %)`, `2.7 (2 to 4)`, `I don’t know: yes leads (60 %)`. decimals: of the training targets."""
    if not voices(point):
        return "No hypothesis with weight gave a readable answer" if point.votes else ""
    if not point.is_label:
        return f"{'I don’t know; about ' if point.said and is_unknown(point) else ''}{mean_words(point, decimals)}"
    if point.reject.conformal and point.is_undecided:
        return f"I don’t know: {possible_words(point)}"
    if len(point.votes) == 1 and not point.mixture.noise:
        return f"{point.prediction}"
    share = percent(point.behind)
    if not is_weighted and not point.mixture.noise:
        share = f"{integer(sum(vote == point.prediction for vote in point.votes))} of {integer(len(point.votes))}"
    if point.leader is None:
        return f"I don’t know: {listed(leaders(dict(point.shares)))} are tied ({share} each)"
    return f"I don’t know: {point.leader} leads ({share})" if point.is_undecided else f"{point.decision} ({share})"


def outcome(point: Point, decimals: int | None = None) -> str:
    """`True: yes. Answer: no (60 %), wrong.` decimals: of the training targets."""
    truth, answer = f"True: {value_text(point.row.target)}.", answer_words(point, decimals)
    if point.decision is not None:
        return f"{truth} Answer: {answer}, {'right' if point.is_right else 'wrong'}."
    if not isinstance(point.prediction, float) or not isinstance(point.row.target, float):
        return f"{truth} {answer}."
    off = number(abs(point.prediction - point.row.target))
    possible = f" Possible: {range_words(point, decimals)}." if point.reject.conformal else ""
    return f"{truth} Answer: {answer}, off by {off}.{possible}"


# What is possible by calibration rows


def possible_words(point: Point) -> str:
    """`one of A, B` or `any label`. The point is calibrated."""
    labels = possible_labels(point)
    is_all = point.reject.conformal is not None and len(labels) == len(point.reject.conformal.classes) > 2
    return "any label" if is_all else f"one of {', '.join(labels)}"


def range_words(point: Point, decimals: int | None) -> str:
    """`2.1 to 3.4`, or `any number`; empty without a calibration."""
    ends = possible_range(point)
    if ends is None:
        return ""
    low, high = (target_text(each, decimals) for each in ends)
    return f"{low} to {high}" if all(map(math.isfinite, ends)) else "any number"


def possible_sentence(point: Point, conformal: Conformal, decimals: int | None) -> str:
    """What is possible, and what that is worth: for one label, how often it was right on the calibration rows."""
    reject = point.reject
    if point.decision is not None:
        right = "No calibration row was decided"
        if n := reject.n_decided:
            right = f"Of such answers to calibration rows, {integer(reject.n_right)} of {integer(n)} were right"
            right += f": that means {interval_text(reject.n_right, n)}"
        return f"Possible: {point.decision} alone. {right}."
    what = possible_words(point) if point.is_label else range_words(point, decimals)
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
