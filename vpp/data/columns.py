"""Columns of a table from the texts of its file: kind, cells, and a note on each decision."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from vpp.data.answers import quoted
from vpp.data.dataset import Column, Kind, Notation
from vpp.data.kinds import (
    DateForm,
    are_codes,
    clean_cell,
    find_form,
    find_kind,
    is_code_name,
    is_date,
    is_number,
    is_sequence,
    labels_among,
)
from vpp.data.numbers import certain_decimal, is_written_number, read_notation, read_number, two_ways
from vpp.errors import DataError

Cells = tuple[str | None, ...]
"""None is a missing cell."""
MOSTLY = 0.8
"""Least share of numbers (or dates) in a column for a note on its other cells."""
FEWEST_NUMBERS = 3
"""Least numbers in a column for such a note."""
LOOKED_AT = 200
"""Cells that are searched for an example."""
FEWEST_DATES = 3
NAMED = 3
"""Most columns that a note lists; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Columns, their cells, and notes on how they were read."""

    columns: tuple[Column, ...]
    values: tuple[Cells, ...]
    """(column, row): None is a missing cell; numbers are plain decimal, other cells as written."""
    notes: tuple[str, ...]


def read_columns(
    names: Sequence[str],
    texts: Sequence[Sequence[str]],
    *,
    decimal: str | None = None,
    delimiter: str = ",",
    chosen: Mapping[str, Kind] | None = None,
) -> Columns:
    """Detect the kind of each column and read its cells.

    texts: (column, row) stripped. decimal: the user's decimal mark. chosen: the user's kinds, by column.
    Raises DataError if a cell is not of the kind chosen for its column.
    """
    kinds = chosen or {}
    drafts = [_Draft.of(name, column, kinds.get(name)) for name, column in zip(names, texts, strict=True)]
    likely = "," if delimiter == ";" else "."
    for draft in drafts:
        draft.read(decimal, likely)
    if decimal is None and (shown := _certain_decimal(drafts)):
        for draft in drafts:
            if draft.is_doubtful:
                draft.read(shown, shown)
    columns = tuple(draft.column() for draft in drafts)
    return Columns(columns=columns, values=tuple(draft.cells for draft in drafts), notes=tuple(_notes(drafts)))


@dataclass(slots=True)
class _Draft:
    """A column while it is read."""

    name: str
    absent: dict[str, int]
    """Texts of missing cells, with their counts."""
    chosen: Kind | None
    kept_words: tuple[str, ...]
    written: Cells
    """Cells as written; None is a missing cell."""
    given: list[str]
    """Distinct values as written."""
    cells: Cells = ()
    notation: Notation | None = None
    present: list[str] = field(default_factory=list)
    """Distinct values as read."""
    are_numbers: bool = False
    """True if every value is a plain number as written."""
    kind: Kind = "text"
    form: DateForm | None = None

    @classmethod
    def of(cls, name: str, texts: Sequence[str], chosen: Kind | None) -> "_Draft":
        counts = Counter(texts)
        words = labels_among(counts)
        cells = {text: text if text in words else clean_cell(text) for text in counts}
        absent = {text: counts[text] for text, cell in cells.items() if cell is None}
        present = [cell for cell in cells.values() if cell is not None]
        written = tuple(map(cells.__getitem__, texts)) if absent else tuple(texts)
        return cls(name, absent, chosen, tuple(sorted(words)), written, present)

    def read(self, decimal: str | None, likely: str) -> None:
        """Read the cells; numbers in the column's notation become plain decimal numbers."""
        self.cells, self.notation, self.present = self.written, None, self.given
        self.are_numbers = all(map(is_number, self.given))
        if self.are_numbers and (decimal or likely) == ".":
            return
        is_code = is_code_name(self.name) or are_codes(self.given)
        if self.chosen == "number" or (self.chosen is None and not is_code):
            read, self.notation = read_notation(self.given, decimal=decimal, likely=likely)
            if self.notation:
                by_text = dict(zip(self.given, read, strict=True))
                self.cells = tuple(None if cell is None else by_text[cell] for cell in self.written)
                self.present = list(dict.fromkeys(read))

    @property
    def is_doubtful(self) -> bool:
        return self.notation is not None and self.notation.is_doubtful

    def column(self) -> Column:
        if self.chosen is not None:
            self._check(self.chosen)
        self.form = None if self.chosen or self.notation else find_form(self.present)
        n_missing = self.cells.count(None)
        if self.notation or self.form:
            detected: Kind = "number" if self.notation else "date"
        else:
            n = len(self.cells) - n_missing
            detected = find_kind(self.present, n=n, are_numbers=self.are_numbers, name=self.name)
        self.kind = self.chosen or detected
        return Column(
            name=self.name,
            kind=self.kind,
            n_missing=n_missing,
            n_distinct=len(self.present),
            notation=self.notation,
            is_chosen=self.chosen is not None,
            kept_words=self.kept_words,
        )

    def _check(self, kind: Kind) -> None:
        """Raises DataError for the first cell of another kind."""
        if kind == "number":
            wrong = next((cell for cell in self.present if not is_written_number(cell)), None)
            wrong = wrong or next((cell for cell in self.present if not is_number(cell)), None)
        elif kind == "date":
            wrong = next(iter(self.present), None) if self.present and find_form(self.present) is None else None
        elif kind == "sequence":
            wrong = next((cell for cell in self.present if not is_sequence(cell)), None)
        else:
            return
        if wrong is None:
            return
        held = f"row {self.cells.index(wrong)} holds {quoted(wrong)}"
        if kind == "number" and is_written_number(wrong):  # so all cells are numbers, in several notations
            held = f"it holds {two_ways(self.present)}"
        raise DataError(
            f"column {self.name!r} cannot be read as {_PLURAL[kind]}: {held}: fix the cells, or choose another kind"
        )


_PLURAL = {"number": "numbers in one notation", "date": "dates in one form", "sequence": "sequences of integers"}


def read_cell(text: str, column: Column) -> str | None:
    """Read a cell as those of the column were read; None if missing. A cell that is not a number stays as written."""
    stripped = text.strip()
    if stripped in column.kept_words:
        return stripped
    cell = clean_cell(stripped)
    if cell is None or column.kind != "number":
        return cell
    return read_number(cell, column.notation) or cell


def read_known(column: Column, texts: Sequence[str]) -> tuple[Column, Cells]:
    """Read other texts as those of the column were read. A cell that is not a number stays as written."""
    cells = {text: read_cell(text, column) for text in dict.fromkeys(texts)}
    read = tuple(cells[text] for text in texts)
    return replace(column, n_missing=read.count(None), n_distinct=len(set(read) - {None})), read


def no_number_note(column: Column, cells: Cells) -> str:
    wrong = [row for row, cell in enumerate(cells) if cell is not None and not is_number(cell)]
    if column.kind != "number" or not wrong:
        return ""
    first = f"row {wrong[0]} holds {quoted(str(cells[wrong[0]]))}, which is not a number"
    others = f" ({len(wrong) - 1:,} more rows have such cells)" if len(wrong) > 1 else ""
    return f"column {column.name!r}: {first}{others}; such cells stay as written"


def _certain_decimal(drafts: Sequence[_Draft]) -> str | None:
    """Return the one decimal mark that the unambiguous columns show, if any column is doubtful; else None."""
    if not any(draft.is_doubtful for draft in drafts):
        return None
    numbers = (draft for draft in drafts if draft.notation or draft.are_numbers)
    marks = {mark for draft in numbers if (mark := certain_decimal(draft.given))}
    return marks.pop() if len(marks) == 1 else None


def _notes(drafts: Sequence[_Draft]) -> Iterator[str]:
    yield from _notation_notes(drafts)
    for draft in drafts:
        yield from _kind_notes(draft)
    yield from _missing_notes(drafts)


def _notation_notes(drafts: Sequence[_Draft]) -> Iterator[str]:
    alike: dict[Notation, list[_Draft]] = {}
    for draft in drafts:
        if draft.notation is not None:
            alike.setdefault(draft.notation, []).append(draft)
    for notation, columns in alike.items():
        pairs = zip(columns[0].written, columns[0].cells, strict=True)
        rewritten = islice(((w, c) for w, c in pairs if w is not None and c is not None and w != c), LOOKED_AT)
        written, cell = max(rewritten, key=lambda pair: len(pair[0]))
        named = _named([column.name for column in columns])
        if notation.unit and "".join(written.split()) in (f"{cell}{notation.unit}", f"{notation.unit}{cell}"):
            yield f"{named}: numbers in {notation.unit}"
        else:
            read = f"{cell} {notation.unit}".strip()
            yield f"{named}: {quoted(written)} is read as {read}{_doubt(notation)}"


def _doubt(notation: Notation) -> str:
    if not notation.is_doubtful:
        return ""
    mark = {",": "comma", ".": "point"}
    if notation.grouping == " ":
        return ": if a cell is two numbers or more, choose the kind sequence"
    if notation.grouping:
        return f": if the {mark[notation.grouping]} is the decimal mark, choose it"
    other = mark["." if notation.decimal == "," else ","]
    return f": if the {mark[notation.decimal]} separates thousands, choose the {other} as the decimal mark"


def _kind_notes(draft: _Draft) -> Iterator[str]:
    name = f"column {draft.name!r}"
    for word in draft.kept_words:
        yield f"{name}: {word!r} is read as a label; if it means a missing cell, leave the cell empty"
    if draft.chosen is not None:
        yield f"{name} is of the kind {draft.chosen}, as chosen"
        return
    if draft.form is not None:
        if draft.form.other:
            either = f"{draft.form.name} or {draft.form.other}"
            yield f"{name}: dates such as {draft.present[0]!r} could be {either}; prompts show them as written"
    elif draft.kind in ("category", "text") and draft.present:
        yield from _not_numbers(draft, name)
    if draft.form is None and draft.kind in ("category", "text", "sequence"):
        yield from _not_dates(draft)


def _not_numbers(draft: _Draft, name: str) -> Iterator[str]:
    if draft.are_numbers:
        if draft.kind == "text" or are_codes(draft.present, name=draft.name):
            yield f"{name} holds codes of digits, not numbers"
        return
    if sum(map(is_written_number, draft.present[:LOOKED_AT])) < MOSTLY * min(LOOKED_AT, len(draft.present)):
        return
    numbers = [cell for cell in draft.present if is_written_number(cell)]
    if len(numbers) < MOSTLY * len(draft.present) or are_codes(numbers, name=draft.name) or is_code_name(draft.name):
        return
    if len(numbers) == len(draft.present):
        yield f"{name} is {draft.kind}: its numbers are not in one notation, such as {two_ways(numbers)}"
    elif len(numbers) >= FEWEST_NUMBERS:
        yield _though_mostly("numbers", draft, next(cell for cell in draft.present if not is_written_number(cell)))


def _not_dates(draft: _Draft) -> Iterator[str]:
    if not any(map(is_date, draft.present[:LOOKED_AT])):
        return
    others = [cell for cell in draft.present if not is_date(cell)]
    if others and len(draft.present) >= FEWEST_DATES and len(others) <= max(1, (1 - MOSTLY) * len(draft.present)):
        yield _though_mostly("dates", draft, others[0])


def _though_mostly(what: str, draft: _Draft, other: str) -> str:
    row = draft.cells.index(other)
    return f"column {draft.name!r} is {draft.kind}, though mostly {what}: row {row} holds {quoted(other)}"


def _missing_notes(drafts: Sequence[_Draft]) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for draft in drafts:
        counts.update(draft.absent)
    words = [(text, n) for text, n in counts.most_common() if text]
    if not words:
        return
    listed = ", ".join(f"{text!r} ({n:,})" for text, n in words[:5]) + (", …" if len(words) > 5 else "")
    empty = f"; {counts['']:,} are empty" if counts[""] else ""
    total = counts.total()
    yield f"{total:,} {'cell is' if total == 1 else 'cells are'} missing, written as {listed}{empty}"


def _named(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"column {names[0]!r}"
    listed = ", ".join(map(repr, names[:NAMED]))
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"columns {listed}{more}"
