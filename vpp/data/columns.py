"""The columns of a table from the texts of its file: each its kind, its cells, and a note on what was decided."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from vpp.data import missing
from vpp.data.dataset import Column, Kind, Notation
from vpp.data.dates import DateForm, find_form, is_date
from vpp.data.kinds import are_codes, find_kind, is_code_name, is_number, is_sequence
from vpp.data.notation import (
    Cells,
    is_beyond,
    is_in_parentheses,
    is_written_number,
    read_notation,
    read_number,
    told_decimal,
    two_ways,
    units_of,
)
from vpp.errors import DataError

MOSTLY = 0.8
"""A column that is mostly numbers is said to be none because of the others."""
FEWEST_NUMBERS = 3
"""Fewer do not tell that a column is one of numbers."""
LOOKED_AT = 200
"""Cells among which an example is looked for."""
FEWEST_DATES = 3
NAMED = 3
"""Columns that a note names; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What was read."""

    columns: tuple[Column, ...]
    values: tuple[Cells, ...]
    """(column, row): None is a missing cell; numbers are plain decimal ones, all else is as written."""
    notes: tuple[str, ...]


def read_columns(
    names: Sequence[str],
    texts: Sequence[Sequence[str]],
    *,
    decimal: str | None = None,
    delimiter: str = ",",
    chosen: Mapping[str, Kind] | None = None,
) -> Columns:
    """texts: (column, row) without outer blanks. decimal: the mark before decimals, where a person chose it.

    chosen: kinds by column. Raises DataError where a column's cells are not of the kind chosen for it.
    """
    asked = chosen or {}
    found = [_Found.of(name, column, asked.get(name)) for name, column in zip(names, texts, strict=True)]
    likely = "," if delimiter == ";" else "."
    for one in found:
        one.read(decimal, likely)
    if decimal is None:
        _settle([one for one in found if one.notation and one.notation.is_doubtful], _told(found))
    columns = tuple(one.column() for one in found)
    return Columns(
        columns=columns,
        values=tuple(one.cells for one in found),
        notes=tuple(_notes(found)),
    )


@dataclass(slots=True)
class _Found:
    """A column while it is read."""

    name: str
    absent: dict[str, int]
    """Texts that stand for a missing cell, and how often each does."""
    chosen: Kind | None
    kept_words: tuple[str, ...]
    written: Cells
    """None is a missing cell; all else as written."""
    given: list[str]
    """Each value once, as written."""
    cells: Cells = ()
    notation: Notation | None = None
    present: list[str] = field(default_factory=list)
    """Each value once, as read."""
    is_plain: bool = False
    """Whether all are plain numbers as written."""
    kind: Kind = "text"
    form: DateForm | None = None

    @classmethod
    def of(cls, name: str, texts: Sequence[str], chosen: Kind | None) -> "_Found":
        counts = Counter(texts)
        words = missing.labels_among(counts)
        cells = {text: text if text in words else missing.cell(text) for text in counts}
        absent = {text: counts[text] for text, cell in cells.items() if cell is None}
        present = [cell for cell in cells.values() if cell is not None]
        written = tuple(map(cells.__getitem__, texts)) if absent else tuple(texts)
        return cls(name, absent, chosen, tuple(sorted(words)), written, present)

    def read(self, decimal: str | None, likely: str) -> None:
        """Numbers in their notation, where they are such."""
        self.cells, self.notation, self.present = self.written, None, self.given
        self.is_plain = bool(self.given) and all(map(is_number, self.given))
        if self.is_plain and (decimal or likely) == ".":
            return
        if self.chosen == "number" or (self.chosen is None and not self._is_code()):
            read, self.notation = read_notation(self.given, decimal=decimal, likely=likely)
            if self.notation:
                by_text = dict(zip(self.given, read, strict=True))
                self.cells = tuple(None if cell is None else by_text[cell] for cell in self.written)
                self.present = [cell for cell in dict.fromkeys(read) if cell is not None]

    def _found_kind(self) -> Kind:
        if self.notation or self.form:
            return "number" if self.notation else "date"
        if self.is_plain and len(self.given) > 2 and not self._is_code():
            return "number"
        return find_kind(self.cells, name=self.name)

    def _is_code(self) -> bool:
        return is_code_name(self.name) or are_codes(self.given)

    def column(self) -> Column:
        if self.chosen is not None:
            self._check(self.chosen)
        self.form = None if self.chosen or self.notation else find_form(self.present)
        self.kind = self.chosen or self._found_kind()
        return Column(
            name=self.name,
            kind=self.kind,
            n_missing=self.cells.count(None),
            n_distinct=len(self.present),
            notation=self.notation,
            is_chosen=self.chosen is not None,
            kept_words=self.kept_words,
        )

    def _check(self, kind: Kind) -> None:
        """Raises DataError for the first cell that is not of the kind."""
        if kind == "number":
            self._check_units()
            wrong = next((cell for cell in self.present if not is_written_number(cell)), None)
            wrong = wrong or next((cell for cell in self.present if not is_number(cell)), None)
        elif kind == "date":
            wrong = next(iter(self.present), None) if self.present and find_form(self.present) is None else None
        elif kind == "sequence":
            wrong = next((cell for cell in self.present if not is_sequence(cell)), None)
        else:
            return
        if wrong is not None:
            raise DataError(
                f"column {self.name!r} cannot be read as {_PLURAL[kind]}: row {self.cells.index(wrong)} holds "
                f"{_short(wrong)}: mend the cells, or choose another kind"
            )

    def _check_units(self) -> None:
        """Raises DataError where all are numbers, of more than one unit or currency."""
        units = [unit or "none" for unit in units_of(self.present)]
        if len(units) > 1 and all(map(is_written_number, self.present)):
            listed = ", ".join(units[:NAMED]) + (", …" if len(units) > NAMED else "")
            raise DataError(
                f"column {self.name!r} cannot be read as numbers: its cells have more than one unit ({listed}), "
                f"such as {two_ways(self.present)}: bring them to one unit, or choose another kind"
            )


_PLURAL = {"number": "numbers in one notation", "date": "dates in one form", "sequence": "sequences of integers"}


def read_cell(text: str, *, kind: Kind, notation: Notation | None, kept_words: Sequence[str] = ()) -> str | None:
    """A cell as a column's were read; None where it is missing. A number's is as written where it is none."""
    stripped = text.strip()
    if stripped in kept_words:
        return stripped
    cell = missing.cell(stripped)
    if cell is None or kind != "number":
        return cell
    return read_number(cell, notation) or cell


def read_known(column: Column, texts: Sequence[str]) -> tuple[Column, Cells]:
    """Other texts read as the column's were. A cell of a column of numbers that is none stays as it is written."""
    kind, notation, words = column.kind, column.notation, column.kept_words
    cells = {text: read_cell(text, kind=kind, notation=notation, kept_words=words) for text in dict.fromkeys(texts)}
    read = tuple(cells[text] for text in texts)
    return replace(column, n_missing=read.count(None), n_distinct=len(set(read) - {None})), read


def no_number_note(column: Column, cells: Cells) -> str:
    """What to say of cells that are no numbers in a column of numbers; empty where there are none."""
    wrong = [row for row, cell in enumerate(cells) if cell is not None and not is_number(cell)]
    if column.kind != "number" or not wrong:
        return ""
    said = f"row {wrong[0]} holds {_short(str(cells[wrong[0]]))}, which is no number"
    others = f" ({len(wrong) - 1:,} more rows have such cells)" if len(wrong) > 1 else ""
    return f"column {column.name!r}: {said}{others}; it is taken as written"


# The decimal mark of the file


def _told(found: Sequence[_Found]) -> str | None:
    """The one decimal mark that columns tell without doubt."""
    if not any(one.notation and one.notation.is_doubtful for one in found):
        return None
    numbers = (one for one in found if one.notation or all(map(is_number, one.present)))
    told = {mark for one in numbers if (mark := told_decimal(one.given))}
    return told.pop() if len(told) == 1 else None


def _settle(doubtful: Sequence[_Found], decimal: str | None) -> None:
    """What other columns tell."""
    for one in doubtful if decimal else ():
        one.read(decimal, decimal or ".")


# Notes


def _notes(found: Sequence[_Found]) -> Iterator[str]:
    yield from _notation_notes(found)
    for one in found:
        yield from _kind_notes(one)
    yield from _missing_notes(found)


def _notation_notes(found: Sequence[_Found]) -> Iterator[str]:
    """One for all columns of a notation."""
    alike: dict[Notation, list[_Found]] = {}
    for one in found:
        if one.notation is not None:
            alike.setdefault(one.notation, []).append(one)
    for notation, columns in alike.items():
        written, cell = max(_rewritten(columns[0]), key=lambda pair: len(pair[0]))
        named = _named([column.name for column in columns])
        if notation.unit and "".join(written.split()) in (f"{cell}{notation.unit}", f"{notation.unit}{cell}"):
            yield f"{named}: numbers in {notation.unit}"
        else:
            read = f"{cell} {notation.unit}".strip()
            yield f"{named}: {_short(written)} is read as {read}{_doubt(notation)}"


def _rewritten(one: _Found) -> list[tuple[str, str]]:
    """Some cells as written that are read as another text, and what they are read as."""
    pairs = zip(one.written, one.cells, strict=True)
    return list(islice(((w, c) for w, c in pairs if w is not None and c is not None and w != c), LOOKED_AT))


def _doubt(notation: Notation) -> str:
    if not notation.is_doubtful:
        return ""
    mark = {",": "comma", ".": "point"}
    if notation.grouping == " ":
        return ": if a cell is two numbers or more, choose the kind sequence"
    if notation.grouping:
        return f": if the {mark[notation.grouping]} parts the decimals, choose it as the decimal mark"
    other = mark["." if notation.decimal == "," else ","]
    return f": if the {mark[notation.decimal]} parts thousands, choose the {other} as the decimal mark"


def _kind_notes(one: _Found) -> Iterator[str]:
    name = f"column {one.name!r}"
    for word in one.kept_words:
        yield f"{name}: {word!r} is a label as the others are; where it means a missing cell, leave the cell empty"
    if one.chosen is not None:
        yield f"{name} is of the kind {one.chosen}, as chosen"
        return
    if one.form is not None:
        if one.form.other:
            either = f"{one.form.name} or {one.form.other}"
            yield f"{name}: dates such as {one.present[0]!r} could be {either}; prompts show them as written"
    elif one.kind in ("category", "text") and one.present:
        yield from _not_numbers(one, name)
    if one.form is None and one.kind in ("category", "text", "sequence"):
        yield from _not_dates(one, name)


def _not_numbers(one: _Found, name: str) -> Iterator[str]:
    if all(map(is_number, one.present)):
        if one.kind == "text" or are_codes(one.present, name=one.name):
            yield f"{name} holds codes of digits, not numbers"
        return
    if sum(map(_seems_number, one.present[:LOOKED_AT])) < MOSTLY * min(LOOKED_AT, len(one.present)):
        return
    numbers = [cell for cell in one.present if _seems_number(cell)]
    if len(numbers) < MOSTLY * len(one.present) or are_codes(numbers, name=one.name) or is_code_name(one.name):
        return
    other = next((cell for cell in one.present if not _seems_number(cell)), None)
    if other is None:
        yield f"{name} is {one.kind}: {_why_no_numbers(one, numbers)}"
    elif len(numbers) >= FEWEST_NUMBERS:
        row = one.cells.index(other)
        yield f"{name} is {one.kind}, though mostly numbers: row {row} holds {_short(other)}"


def _seems_number(cell: str) -> bool:
    return is_written_number(cell) or is_beyond(cell)


def _why_no_numbers(one: _Found, numbers: Sequence[str]) -> str:
    beyond = next(filter(is_beyond, numbers), None)
    if beyond is not None:
        return f"row {one.cells.index(beyond)} holds {_short(beyond)}, which is beyond the range of numbers"
    if all(map(is_in_parentheses, numbers)):
        return "all its numbers stand in parentheses, which mean a minus only beside numbers without them"
    return f"its numbers are written in more than one way, such as {two_ways(numbers)}"


def _not_dates(one: _Found, name: str) -> Iterator[str]:
    if not any(map(is_date, one.present[:LOOKED_AT])):
        return
    others = [cell for cell in one.present if not is_date(cell)]
    if others and len(one.present) >= FEWEST_DATES and len(others) <= max(1, (1 - MOSTLY) * len(one.present)):
        row = one.cells.index(others[0])
        yield f"{name} is {one.kind}, though mostly dates: row {row} holds {_short(others[0])}"


def _missing_notes(found: Sequence[_Found]) -> Iterator[str]:
    """Words for a missing cell that stand in the file, the commonest first."""
    counts: Counter[str] = Counter()
    for one in found:
        counts.update(one.absent)
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


def _short(cell: str) -> str:
    line = re.sub(r"\s+", " ", cell)
    return repr(line if len(line) <= 40 else f"{line[:39]}…")
