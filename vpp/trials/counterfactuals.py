"""Counterfactual rows: a row with one cell changed, so that a sentence's answer must change, or must stay.

Which it is follows from the sentence alone, without a model: the built-in reader of plain rules works out both answers
(`vpp.demo.reading`). A column that the sentence does not name must not matter. A sentence that cannot be read
completely has no such rows: it may mean a column by other words.


Clauses of a hypothesis: the parts that can be left out one at a time, by punctuation and conjunctions alone."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from vpp.data.dataset import Dataset, Row, Value
from vpp.demo.reading import read_rule
from vpp.demo.rules import read_row
from vpp.llm.rendering import render_input
from vpp.posterior.prediction import settled

PAIRS = 107
"""Purpose number of the draw of changes: SeedSequence(seed, spawn_key=(PAIRS, sentence's number))."""
TRIES = 40
"""Most draws for each change."""
Program = Callable[[Row], Value | None]
"""A sentence's answer to a row, worked out without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A row of the data with another value in one cell."""

    base: Row
    row: Row
    """Under an id of its own, without a target."""
    column: str
    must_change: bool
    """True if the answer must change to `wanted`; else it must stay as it was."""
    wanted: tuple[Value, Value] | None = None
    """The sentence's answers to the base and to the row; None if the answer must stay."""

    @property
    def cells(self) -> tuple[str | None, str | None]:
        """Cell of the column before and after."""
        return dict(self.base.inputs)[self.column], dict(self.row.inputs)[self.column]

    def is_obeyed(self, before: Value | None, after: Value | None) -> bool:
        """Return whether answers to the base and to the row follow the sentence; an unreadable answer does not."""
        if self.wanted is None:
            return agree(before, after)
        return agree(before, self.wanted[0]) and agree(after, self.wanted[1])


def agree(one: Value | None, other: Value | None) -> bool:
    """Return whether two answers are equal, numbers to twelve digits; an unreadable one equals none."""
    if one is None or other is None:
        return False
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return settled(float(one) - float(other), of=max(abs(float(one)), abs(float(other)))) == 0


def program_of(text: str, dataset: Dataset) -> Program | None:
    """Return a sentence as a program; None if the reader of plain rules leaves any part of it unread.

    text: the whole hypothesis, seed sentence included.
    """
    names, labels = tuple(dataset.inputs), tuple(dataset.classes)
    reading = read_rule(text, names, labels)
    if reading.rule is None or reading.unread:
        return None
    rule = reading.rule

    def program(row: Row) -> Value | None:
        answer = rule.answer(read_row(render_input(row)))
        return answer if isinstance(answer, str | float) else None

    return program


def is_named(column: str, sentence: str) -> bool:
    """Return whether a sentence names a column, underscores as spaces too, in any case."""
    words = {column.casefold(), column.replace("_", " ").casefold()}
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence.casefold()) for word in words)


def changes(
    text: str, dataset: Dataset, *, n: int, seed: int, number: int, first_id: int, sentence: str = ""
) -> tuple[Change, ...]:
    """Draw at most n changes that must matter and n that must not, in this order, under ids from `first_id` on.

    text: the whole hypothesis. sentence: the same without the seed sentence, in which columns are looked for.
    """
    program = program_of(text, dataset)
    if program is None:
        return ()
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(PAIRS, number)))
    named = {column for column in dataset.inputs if is_named(column, sentence or text)}
    matter, spare = _Draws(dataset, rng, named or dataset.inputs), _Draws(dataset, rng, set(dataset.inputs) - named)
    found = [*_distinct(matter, partial(_matters, program), n), *_distinct(spare, partial(_spares, program), n)]
    return tuple(replace(each, row=replace(each.row, id=first_id + place)) for place, each in enumerate(found))


class _Draws:
    """Random changes of training rows in some columns: another value of the column, as some row has it."""

    def __init__(self, dataset: Dataset, rng: np.random.Generator, columns: Collection[str]) -> None:
        self._rows, self._rng = dataset.train, rng
        kinds = {column.name: column.kind for column in dataset.columns}
        seen = {
            name: sorted({row.inputs[place][1] or "" for row in self._rows} - {""})
            for place, name in enumerate(dataset.inputs)
            if name in columns and kinds[name] != "text"
        }
        self._values: Mapping[str, Sequence[str]] = {name: each for name, each in seen.items() if len(each) > 1}

    def draw(self) -> Change | None:
        """Draw a row, a column that varies, and another value; None if no column varies."""
        if not self._values:
            return None
        base = self._rows[int(self._rng.integers(len(self._rows)))]
        column = sorted(self._values)[int(self._rng.integers(len(self._values)))]
        others = [value for value in self._values[column] if value != dict(base.inputs)[column]]
        value = others[int(self._rng.integers(len(others)))]
        cells = tuple((name, value if name == column else cell) for name, cell in base.inputs)
        return Change(base=base, row=Row(id=-1, inputs=cells, target=None), column=column, must_change=False)


def _distinct(draws: _Draws, judged: Callable[[Change], Change | None], n: int) -> Iterator[Change]:
    """Yield at most n changes that `judged` accepts, each row once."""
    seen: set[object] = set()
    for _ in range(TRIES * n):
        drawn = draws.draw()
        change = judged(drawn) if drawn else None
        if change and change.row.inputs not in seen:
            seen.add(change.row.inputs)
            yield change
        if len(seen) == n:
            return


def _matters(program: Program, change: Change) -> Change | None:
    """Return the change if the sentence's answer differs."""
    before, after = program(change.base), program(change.row)
    if before is None or after is None or agree(before, after):
        return None
    return replace(change, must_change=True, wanted=(before, after))


def _spares(program: Program, change: Change) -> Change | None:
    """Return the change, in a column that the sentence does not name, if the sentence's answer stays."""
    return change if program(change.base) == program(change.row) else None


MOST = 12
"""Most clauses of a sentence that are tried; later ones are ignored."""
_PART = re.compile(
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.;])\s{1,4}|,\s{1,4}(?=(?:otherwise|else|unless|except|but)\b)|\n+", re.IGNORECASE
)
_CONDITION = re.compile(
    r"\b(?:if|when|where|unless)\s{1,4}(?P<all>.{1,400}?)(?=,|;|\bthen\b|\.\s|\.$|$)", re.IGNORECASE
)
_BETWEEN = re.compile(r"\bbetween\s{1,4}[^,;]{1,40}?\s{1,4}and\b", re.IGNORECASE)
_ASKS = re.compile(
    r"[<>=≤≥]|\b(?:is|are|was|were|be|has|have|had|contains?|holds?|equals?|exceeds?|mentions?|above|below|over|under|least"
    r"|most|more|less|fewer|greater|higher|lower|between|begins?|ends?|starts?)\b",
    re.IGNORECASE,
)
"""A word without which a part between “and” or “or” is a value, not a condition."""
_JOINT = re.compile(
    r",?\s{1,4}(?:and|or)\s{1,4}(?!(?:more|less|fewer|higher|lower|above|below|over|under|greater|earlier|later|equal)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a sentence, and the sentence without it."""

    start: int
    end: int
    """Its place in the sentence."""
    text: str
    without: str


def clauses(sentence: str) -> tuple[Clause, ...]:
    """Return the clauses in order; empty if only the whole could be left out.

    Parts end at a full stop, a semicolon or before “otherwise”. Where “and” or “or” joins conditions, each condition is
    a clause in place of its part. A list of values is not cut.
    """
    parts = _spans(sentence, _PART)
    found = [clause for start, end in parts for clause in _within(sentence, start, end, is_alone=len(parts) == 1)]
    return tuple(found[:MOST]) if len(found) > 1 else ()


def _spans(text: str, separator: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the places of the parts between separators, empty ones left out."""
    cuts = [(match.start(), match.end()) for match in separator.finditer(text)]
    starts, ends = [0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(text)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if text[start:end].strip(" .;,")]


def _within(sentence: str, start: int, end: int, *, is_alone: bool) -> list[Clause]:
    """Return the joined conditions of a part, or the part itself."""
    condition = _CONDITION.search(sentence, start, end)
    if condition:
        # “between 2 and 8” is one condition: its “and” is hidden, length kept.
        hidden = _BETWEEN.sub(lambda match: match[0][:-3] + "~~~", condition["all"])
        operands = _spans(hidden, _JOINT)
        if len(operands) > 1 and all(_ASKS.search(hidden[first:last]) for first, last in operands):
            base = condition.start("all")
            return [_operand(sentence, base, operands, place) for place in range(len(operands))]
    return [] if is_alone else [_clause(sentence, start, end, start, end)]


def _operand(sentence: str, base: int, operands: list[tuple[int, int]], place: int) -> Clause:
    """Return a condition; without it, the conjunction before it goes too, or that behind the first."""
    start, end = (base + each for each in operands[place])
    first, last = (start, base + operands[1][0]) if place == 0 else (base + operands[place - 1][1], end)
    return _clause(sentence, start, end, first, last)


def _clause(sentence: str, start: int, end: int, first: int, last: int) -> Clause:
    rest = re.sub(r"\s+", " ", sentence[:first] + (" " if first == start else "") + sentence[last:]).strip()
    rest = re.sub(r"\s([,;.])", r"\1", rest).rstrip(",; ")
    if rest and rest[-1] not in ".!?":
        rest += "."
    return Clause(start=start, end=end, text=sentence[start:end], without=rest)
