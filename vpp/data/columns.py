"""Columns of a table from the texts of its file: kinds of cells, notations of numbers, and a note on each decision."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from vpp.data.answers import quoted
from vpp.data.cells import (
    ERRORS,
    MISSING,
    DateForm,
    find_form,
    is_date,
    is_missing,
    is_period,
    labels_among,
    words_by_column,
)
from vpp.data.dataset import DETECT, Column, Kind, Notation, ReadAs
from vpp.errors import DataError

FEW_VALUES = 20
"""Most values of a category in which not every value repeats."""
SENTENCE = 5
"""Least words of a sentence: a column of more than FEW_VALUES values, most of them sentences, is text."""

_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_ITEMS = r"[+-]?\d+((\s*[,;|]\s*|\s+)[+-]?\d+)+"
_SEQUENCE = re.compile(rf"{_ITEMS}|\[\s*{_ITEMS}\s*\]|\(\s*{_ITEMS}\s*\)|\d+(-\d+)+", re.ASCII)
_HYPHENATED = re.compile(r"\d+(-\d+)+", re.ASCII)
_ITEM = re.compile(r"[+-]?\d+", re.ASCII)
PLAIN = {"NUMBER": _NUMBER, "INTEGER": _INTEGER, "SEQUENCE": _SEQUENCE, "HYPHENATED": _HYPHENATED, "ITEM": _ITEM}
"""Patterns of cells that no notation changes."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_CODE = re.compile(r"[\w./#:+@-]+")
_CODE_MARK = re.compile(r"[0-9@]|://")
MOSTLY_CODES = 0.9
"""Least share of words with a digit, an @ or `://` in a column of codes."""
_CODE_NAME = re.compile(
    r"(.*[^a-z])?(zip|zip_?code|post(al)?[ _-]?code|plz|phone|tele?fon|telephone|tel|mobile|fax|ssn|iban|isbn|ean|gtin|"
    r"barcode)([ _-]?(no|nr|number|nummer|code))?\.?",
    re.IGNORECASE,
)
"""Column names of codes and phone numbers."""
_ZERO_FIRST = re.compile(r"0\d+", re.ASCII)
_PHONE = re.compile(r"\d{3,}(-\d{3,})+", re.ASCII)
SHORTEST_CODE = 4
"""Least digits of a code that is recognised by its column's name alone."""
LONGEST_COUNT = 15
"""Most digits of an integer that a float represents exactly; longer ones are codes."""
_ID_NAME = re.compile(r"(?i:(.*[^a-z])?(id|uuid|guid|index|idx|key|nr|no))|.*[a-z](Id|ID)")


def is_number(text: str) -> bool:
    """True for a finite decimal number without thousands separators and with a decimal point."""
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def is_integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


def is_sequence(text: str) -> bool:
    """True for two or more integers: `3 4 0 7`, `[3, 4, 0, 7]`, `3;4;0;7`, `3-4-0-7`."""
    return _SEQUENCE.fullmatch(text) is not None


def sequence_items(text: str) -> tuple[float, ...] | None:
    """Return the integers of a sequence in order; None for other text and for integers beyond the range of floats."""
    if not is_sequence(text):
        return None
    items = text.split("-") if _HYPHENATED.fullmatch(text) else _ITEM.findall(text)
    values = tuple(map(float, items))
    return values if all(map(math.isfinite, values)) else None


def find_kind(distinct: Sequence[str], *, n: int, are_numbers: bool, name: str) -> Kind:
    """Return the kind of a column's distinct cells, unless they are dates; an empty column is text.

    n: present cells. are_numbers: whether `is_number` holds for all distinct cells. A column of 0 and 1 is a category.
    Codes of digits (`00123`, phone numbers, codes by the column's name) are categories or text.
    """
    if not distinct:
        return "text"
    if are_numbers and not are_codes(distinct, name=name):
        return "category" if set(distinct) == {"0", "1"} else "number"
    are_others = any(all(map(other.fullmatch, distinct)) for other in (_DECIMAL_COMMA, _PHONE))
    if all(map(is_sequence, distinct)) and not are_others and not is_code_name(name):
        return "sequence"
    if len(distinct) <= FEW_VALUES:
        return "category" if len(distinct) < n else "text"
    n_sentences = sum(len(text.split()) >= SENTENCE for text in distinct)
    return "category" if 2 * len(distinct) <= n and 2 * n_sentences <= len(distinct) else "text"


def are_codes(present: Sequence[str], *, name: str = "") -> bool:
    """True if integers are codes: by the column's name, a leading zero, or more digits than a float represents."""
    if not all(map(str.isdecimal, present)):
        return False
    if is_code_name(name) and max(map(len, present)) >= SHORTEST_CODE:
        return True
    return any(_ZERO_FIRST.fullmatch(text) or len(text) > LONGEST_COUNT for text in present)


def is_code_name(name: str) -> bool:
    return _CODE_NAME.fullmatch(name) is not None


def is_identifier(name: str, cells: Sequence[str | None], kind: Kind) -> bool:
    """True if a column only names its rows.

    All cells are present and distinct, and they are consecutive integers (an index), integers under a name such as
    `id`, dates, or codes: single words, mostly with a digit or an @ (`A-017`, an e-mail address, a UUID, a zip code).
    Distinct measurements (`1.37kg`), sequences, plain words and free text are not identifiers.
    """
    present = [cell for cell in cells if cell is not None]
    if kind == "sequence" or len(set(present)) < len(cells):
        return False
    if kind == "number":
        integers = all(map(is_integer, present))
        values = set(map(int, present)) if integers else set()
        is_consecutive = integers and max(values) - min(values) == len(values) - 1
        return integers and (is_consecutive or _ID_NAME.fullmatch(name) is not None)
    n_marked = sum(_CODE_MARK.search(cell) is not None for cell in present)
    are_codes = n_marked >= MOSTLY_CODES * len(present) and all(map(_CODE.fullmatch, present))
    return kind == "date" or (are_codes and not _are_measures(present))


def _are_measures(present: Sequence[str]) -> bool:
    """True for numbers with units, such as `16GB` and `1TB`, unless each has its own."""
    units = {part.unit + part.scale if (part := _part(cell)) else "" for cell in present}
    return "" not in units and len(units) <= MOST_UNITS


MOST_UNITS = 4
Marks = tuple[str, str]
"""(Decimal, grouping)."""

LONGEST = 60
"""Most characters of a cell that is parsed as a formatted number."""
_BLANKS = " \u00a0\u2007\u2009\u202f"
MINUS = str.maketrans(dict.fromkeys("−–‒﹣－", "-"))
_CURRENCY = (
    "(?:[A-Z]{0,3}[$€£¥₹₽₩₺₴₪₫฿₦₱₡₲₵₸₮₭₾₿¢]|(?:EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|HUF|"
    "RON|BGN|RUB|UAH|TRY|ILS|ZAR|BRL|MXN|ARS|CLP|COP|PEN|KRW|TWD|HKD|SGD|THB|IDR|MYR|PHP|VND|AED|SAR|EGP|NGN|KES|BTC|"
    r"Rs|Fr|kr|zł|Kč|Ft|lei|лв|руб)\.?)"
)
_MEASURE = r"(?:°?[^\W\d_]{1,8}[²³]?(?:/[^\W\d_]{1,4}[²³]?)?|°)"
"""A unit: cm, km/h, m², °C."""
_UNITS = re.compile(
    r"[kmµ]?g|t|lbs?|oz|[kcmdµn]?m[²³23]?|ft|in|mi|yd|[cmdh]?l|gal|[kKMGTP]i?[Bb](?:ps)?|[kMGmT]?(?:Hz|Wh?|VA?|A|J|Pa)|"
    r"mAh|MP|M?px|dpi|rpm|mph|kmh|kph|km/h|km/l|kmpl|m/s|[mnµ]?s|secs?|mins?|hr?s?|hours?|d|days?|w|weeks?|months?|yrs?|"
    r"years?|k?cal|bar|m?bar|psi|hPa|dB|b?hp|PS|[cC][cC]m?|Nm|x|pts?|pcs?|mol|mM|[°]?[CFK]|[kM]|[bm]n"
)
"""Units that may follow a number without a blank. Others may so only in a column with decimals: `3D` is a name."""
SCALES = {"k": 3, "K": 3, "m": 6, "mn": 6, "M": 6, "bn": 9, "B": 9}
"""Powers of ten of a suffix, as in €17.5M."""
FORMATTED = re.compile(
    rf"""(?P<open>\()? (?P<sign>[+-])? [{_BLANKS}]*+ (?!0[0-9]+[^\W\d_])
         (?:(?P<before>{_CURRENCY}) [{_BLANKS}]*+)? (?P<inner>[+-])?
         (?P<body>[0-9](?:[0-9.,'’{_BLANKS}]*[0-9])?|[.,][0-9]+) (?:[.,][-—]{{0,2}})? (?P<power>[eE][+-]?[0-9]+)?
         (?:(?P<scale>[kKMBm]|bn|mn)(?![^\W\d_]))?
         (?:[{_BLANKS}]*(?P<after>[%‰°]|{_CURRENCY}) | (?P<gap>[{_BLANKS}]?)(?P<measure>{_MEASURE}))?
         (?P<trailing>-)? (?P<close>\))?""",
    re.VERBOSE,
)
STANDS_FOR = {
    mark: frozenset(characters) for mark, characters in {"": "", ",": ",", ".": ".", "'": "'’", " ": _BLANKS}.items()
}
"""Characters that a cell may use for each mark."""
_WITHOUT = {mark: dict.fromkeys(map(ord, characters)) for mark, characters in STANDS_FOR.items()}
_BLANK_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?: [0-9]{3})+")
_POINTS = re.compile(r"[+-]?(?:[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)")
"""Plain numbers that could be integers with points between thousands."""


def _body(marks: Marks) -> re.Pattern[str]:
    decimal, grouping = (f"[{''.join(STANDS_FOR[mark])}]" if mark else "(?!)" for mark in marks)
    lakhs = f"|[1-9][0-9]?(?:{grouping}[0-9]{{2}})+{grouping}[0-9]{{3}}" if marks == (".", ",") else ""
    whole = rf"[0-9]+|[1-9][0-9]{{0,2}}(?:{grouping}[0-9]{{3}})+{lakhs}"
    return re.compile(rf"(?:{whole})(?:{decimal}[0-9]*)?|{decimal}[0-9]+")


BODIES = {
    marks: _body(marks)
    for marks in ((".", ""), (",", ""), (".", ","), (",", "."), (".", "'"), (",", "'"), (".", " "), (",", " "))
}
"""Patterns of a number's digits by its marks, in order of preference."""


def read_notation(
    texts: Sequence[str], *, decimal: str | None = None, likely: str = "."
) -> tuple[Sequence[str], Notation | None]:
    """Return the texts of a column as plain decimal numbers with every digit, and their notation.

    Return the texts unchanged and None if they are plain already, or if no one notation fits all of them.
    decimal: the decimal mark chosen by the user. likely: the decimal mark preferred if either fits.
    """
    wanted = decimal or likely
    are_grouped = wanted == "," and any("." in text for text in texts) and all(map(_POINTS.fullmatch, texts))
    if all(map(is_number, texts)) and not are_grouped:
        return texts, None
    column, is_scaled = _parts(texts)
    readings = _readings(column)
    if not readings:
        return texts, None
    marks, plain = next((reading for reading in readings if reading[0][0] == wanted), readings[0])
    is_usual = likely == "." and marks == (".", "")
    is_doubtful = len(readings) > 1 and decimal is None and not is_usual
    is_doubtful = is_doubtful or (marks[1] == " " and all(map(_BLANK_GROUPS.fullmatch, texts)))
    if plain == list(texts) or not all(math.isfinite(float(number)) for number in plain):
        return texts, None
    return plain, Notation(
        decimal=marks[0],
        grouping=marks[1],
        unit=column[0].unit,
        before=column[0].before,
        is_doubtful=is_doubtful,
        is_scaled=is_scaled,
    )


def read_number(text: str, notation: Notation | None) -> str | None:
    """Read a number in the column's notation, with or without its unit; else a plain number; else None."""
    if notation is not None and (part := _part(text)):
        part = part.with_scale(notation.is_scaled)
        for marks, pattern in BODIES.items():
            if part.unit in ("", notation.unit) and marks[0] == notation.decimal and pattern.fullmatch(part.body):
                return _plain(part, marks)
    return text if is_number(text) else None


def write_number(number: str, notation: Notation | None) -> str:
    return number if notation is None else number.replace(".", notation.decimal)


def is_written_number(text: str) -> bool:
    """True for a finite number in any of the notations."""
    part = _part(text)
    if part is None:
        return False
    return any(body.fullmatch(part.body) and is_number(_plain(part, marks)) for marks, body in BODIES.items())


def is_quantity(text: str) -> bool:
    """True for a number in any of the notations, and for a date or a part of a year."""
    return is_written_number(text) or is_date(text) or is_period(text)


def two_ways(numbers: Sequence[str]) -> str:
    """Quote the first number and one of another unit, or else of another shape: `'$12.00' and '(CHF 17.84)'`."""
    first = numbers[0]
    ways: tuple[Callable[[str], str], ...] = (
        lambda number: "".join((_part(number) or _NO_PART)[-2:]),
        lambda number: re.sub(r"\d+", "0", number),
    )
    others = (next((n for n in numbers if way(n) != way(first)), None) for way in ways)
    return f"{quoted(first)} and {quoted(next(filter(None, others), numbers[-1]))}"


def certain_decimal(texts: Sequence[str]) -> str | None:
    """Return the decimal mark of a column of numbers if only one is possible and the texts show it, else None."""
    column, _ = _parts(texts)
    readings = _readings(column)
    if len(readings) != 1:
        return None
    (decimal, grouping), _ = readings[0]
    marks = [decimal, *([grouping] if grouping in (",", ".") else [])]
    return decimal if any(mark in part.body for part in column for mark in marks) else None


class _Part(NamedTuple):
    negative: bool
    plus: bool
    in_parentheses: bool
    body: str
    power: str
    before: bool
    is_currency: bool
    is_attached: bool
    """True if a unit follows without a blank."""
    unit: str
    scale: str

    def with_scale(self, is_scaled: bool) -> "_Part":
        """Take the suffix as a unit, unless the column's suffixes are powers of ten."""
        return self if is_scaled or not self.scale else self._replace(unit=self.unit or self.scale, scale="")


_NO_PART = _Part(False, False, False, "", "", False, False, False, "", "")


def _part(cell: str) -> _Part | None:
    plain = cell if cell.isascii() else cell.translate(MINUS)
    match = FORMATTED.fullmatch(plain) if len(cell) <= LONGEST else None
    if match is None:
        return None
    in_parentheses = match["open"] is not None
    signs = [sign for sign in (match["sign"], match["inner"], match["trailing"]) if sign]
    if in_parentheses != (match["close"] is not None) or len(signs) + in_parentheses > 1:
        return None
    after = match["after"] or match["measure"]
    if (match["before"] or (match["scale"] and match["measure"])) and after:
        return None
    return _Part(
        negative=in_parentheses or "-" in signs,
        plus="+" in signs,
        in_parentheses=in_parentheses,
        body=match["body"],
        power=match["power"] or "",
        before=match["before"] is not None,
        is_currency=bool(match["before"] or (match["after"] or "%") not in "%‰°"),
        is_attached=bool(match["measure"]) and not match["gap"],
        unit=match["before"] or after or "",
        scale=match["scale"] or "",
    )


def _parts(texts: Sequence[str]) -> tuple[list[_Part], bool]:
    """Parse the texts, and say whether their suffixes are powers of ten.

    Empty unless all parse with the same unit in the same place, and not all are in parentheses.
    """
    column: list[_Part] = []
    for text in texts:
        part = _part(text)
        if part is None or (column and (part.unit, part.before) != (column[0].unit, column[0].before)):
            return [], False
        column.append(part)
    has_decimals = any("." in part.body or "," in part.body for part in column)
    scales = {part.scale for part in column}
    is_scaled = any(part.is_currency for part in column) or (len(scales) > 1 and has_decimals and "m" not in scales)
    column = [part.with_scale(is_scaled) for part in column]
    is_odd = any(part.unit != column[0].unit for part in column) or all(part.in_parentheses for part in column)
    names = any((part.is_attached or scales != {""}) and not _UNITS.fullmatch(part.unit) for part in column)
    if is_odd or (names and not (has_decimals or is_scaled)):
        return [], False
    return column, is_scaled and scales != {""}


def _readings(column: Sequence[_Part]) -> list[tuple[Marks, list[str]]]:
    """Return each possible reading of the column: its preferred marks and the plain numbers they give."""
    readings: list[tuple[Marks, list[str]]] = []
    if not column:
        return readings
    used = set().union(*(part.body for part in column)) - set("0123456789")
    for marks, pattern in BODIES.items():
        if not STANDS_FOR[marks[1]] & used and marks[1]:
            continue  # the same as without grouping
        # A number such as `+49 170 123` is a phone's.
        are_phones = marks[1] == " " and any(p.plus and not STANDS_FOR[" "].isdisjoint(p.body) for p in column)
        if not are_phones and all(pattern.fullmatch(part.body) for part in column):
            plain = [_plain(part, marks) for part in column]
            if all(plain != other for _, other in readings):
                readings.append((marks, plain))
    return readings


def _plain(part: _Part, marks: Marks) -> str:
    decimal, grouping = marks
    whole, _, decimals = part.body.partition(decimal)
    digits = whole.translate(_WITHOUT[grouping]) or "0"
    fraction = f".{decimals}" if decimals else ""
    plain = f"{'-' if part.negative else ''}{digits}{fraction}{part.power}"
    return f"{Decimal(plain).scaleb(SCALES[part.scale]):f}" if part.scale else plain


WORDS = ("category", "text")
"""Kinds of columns of words."""
Cells = tuple[str | None, ...]
"""None is a missing cell."""
MOSTLY = 0.8
"""Least share of numbers (or dates) in a column for a note on its other cells."""
FEWEST_NUMBERS = 3
"""Least numbers in a column for such a note."""
LOOKED_AT = 200
"""Cells that are searched for an example."""
FEWEST_DATES = 3
LONGEST_WORD = 12
"""Most characters of a word that may mean a missing cell."""
NAMED = 3
"""Most columns that a note lists; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    columns: tuple[Column, ...]
    values: tuple[Cells, ...]
    """(column, row): None is a missing cell; numbers are plain decimal, other cells as written."""
    notes: tuple[str, ...]


def read_columns(
    names: Sequence[str],
    texts: Sequence[Sequence[str]],
    *,
    read_as: ReadAs = DETECT,
    delimiter: str = ",",
    chosen: Mapping[str, Kind] | None = None,
    is_typed: bool = False,
) -> Columns:
    """Detect the kind of each column and read its cells.

    texts: (column, row) stripped. chosen: the user's kinds, by column. is_typed: the source has its own missing cells,
    so words such as NA are values, except in a column of numbers or dates.
    Raises DataError if a cell is not of the kind chosen for its column.
    """
    kinds, words, decimal = chosen or {}, words_by_column(read_as.missing or (), names), read_as.decimal
    drafts = [
        _Draft.of(name, column, kinds.get(name), words.get(name), is_typed)
        for name, column in zip(names, texts, strict=True)
    ]
    likely = "," if delimiter == ";" else "."
    for draft in drafts:
        draft.read(decimal, likely)
    if decimal is None and any(draft.is_doubtful for draft in drafts):
        numbers = (draft.given for draft in drafts if draft.notation or draft.are_numbers)
        marks = {mark for texts in numbers if (mark := certain_decimal(texts))}
        for draft in drafts if len(marks) == 1 else ():
            if draft.is_doubtful:
                draft.read(min(marks), min(marks))
    columns = tuple(draft.column() for draft in drafts)
    kind_notes = (note for draft in drafts for note in _kind_notes(draft))
    notes = (*_notation_notes(drafts), *kind_notes, *_missing_notes(drafts))
    return Columns(columns=columns, values=tuple(draft.cells for draft in drafts), notes=notes)


@dataclass(slots=True)
class _Draft:
    """A column while it is read."""

    name: str
    absent: dict[str, int]
    """Texts of missing cells, with their counts."""
    chosen: Kind | None
    kept_words: tuple[str, ...]
    missing: tuple[str, ...] | None
    is_typed: bool
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
    def of(
        cls, name: str, texts: Sequence[str], chosen: Kind | None, words: tuple[str, ...] | None, is_typed: bool
    ) -> "_Draft":
        counts = Counter(texts)
        labels = labels_among(counts) if words is None else frozenset()
        if words is None and is_typed and any(text.lower() in MISSING - ERRORS for text in counts if text):
            others = [text for text in counts if text.lower() not in MISSING]
            if chosen in WORDS or not all(map(is_quantity, others)):
                words, labels = (), frozenset(text for text in counts if text and text.lower() in MISSING - ERRORS)
        absent = {text: n for text, n in counts.items() if text not in labels and is_missing(text, words)}
        written = tuple(None if text in absent else text for text in texts) if absent else tuple(texts)
        present = [text for text in counts if text not in absent]
        return cls(name, absent, chosen, tuple(sorted(labels)), words, is_typed, written, present)

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
            missing=() if self.missing is None and self.is_typed and self.kind in WORDS else self.missing,
        )

    def _check(self, kind: Kind) -> None:
        """Raises DataError for the first cell of another kind."""
        of_kind: dict[Kind, tuple[Callable[[str], bool], ...]] = {
            "number": (is_written_number, is_number),
            "date": () if find_form(self.present) else (lambda cell: False,),
            "sequence": (is_sequence,),
        }
        wrong = next((cell for fits in of_kind.get(kind, ()) for cell in self.present if not fits(cell)), None)
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
    if is_missing(stripped, column.missing):
        return None
    return (read_number(stripped, column.notation) if column.kind == "number" else None) or stripped


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
    if notation.is_scaled:
        return "; the kind text keeps such cells as they are written"
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
        how = f"--missing '{draft.name}={word}' says so"
        yield f"{name}: {word!r} is read as a label; if it means a missing cell, {how}"
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
    held = f"column {draft.name!r} is {draft.kind}, though mostly {what}: row {row} holds {quoted(other)}"
    is_word = len(other) <= LONGEST_WORD and other.isprintable() and "," not in other
    return f"{held}; if that means a missing cell, --missing '{draft.name}={other}' says so" if is_word else held


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
    how = "; if one of these is a value, name the words that are not: --missing, or File format in the app"
    how = how if all(draft.missing is None for draft in drafts) else ""
    yield f"{total:,} {'cell is' if total == 1 else 'cells are'} missing, written as {listed}{empty}{how}"


def _named(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"column {names[0]!r}"
    listed = ", ".join(map(repr, names[:NAMED]))
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"columns {listed}{more}"
