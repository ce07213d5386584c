"""Columns of a table from the texts of its file: kinds of cells, words for a missing one, a note on each decision."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from vpp.data.dataset import DETECT, Column, Kind, ReadAs
from vpp.data.descriptions import nearest
from vpp.data.numbers import (
    Notation,
    certain_decimal,
    is_integer,
    is_number,
    is_sequence,
    is_written_number,
    read_notation,
    read_number,
    unit_of,
)
from vpp.errors import DataError, quoted

FEW_VALUES = 20
"""Most values of a category in which not every value repeats."""
SENTENCE = 5
"""Least words of a sentence: a column of more than FEW_VALUES values, most of them sentences, is text."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_PHONE = re.compile(r"\d{3,}(-\d{3,})+", re.ASCII)
_DIGITS = re.compile(r"\d+(E\d+)?")
_ZERO_FIRST = re.compile(r"0\d+(E\d+)?", re.ASCII)
SHORTEST_CODE = 4
"""Least digits of a code that is recognised by its column's name alone."""
LONGEST_COUNT = 15
"""Most digits of an integer that a float represents exactly; longer ones are codes."""
_CODE_NAME = re.compile(
    r"(.*[^a-z])?(zip|zip_?code|post(al)?[ _-]?code|plz|phone|tele?fon|telephone|tel|mobile|fax|ssn|iban|isbn|ean|gtin|"
    r"barcode)([ _-]?(no|nr|number|nummer|code))?\.?",
    re.IGNORECASE,
)
_ID_NAME = re.compile(r"(?i:(.*[^a-z])?(id|uuid|guid|index|idx|key|nr|no))|.*[a-z](Id|ID)")
_CODE = re.compile(r"[\w./#:+@-]+")
_CODE_MARK = re.compile(r"[0-9@]|://")
MOSTLY_CODES = 0.9
"""Least share of words with a digit, an @ or `://` in a column of codes."""
MOST_UNITS = 4


def find_kind(distinct: Sequence[str], *, n: int, are_numbers: bool, name: str) -> Kind:
    """Return the kind of a column's distinct cells; an empty column is text.

    n: present cells. are_numbers: whether `is_number` holds for all distinct cells. A column of 0 and 1 is a category.
    Codes of digits (`00123`, phone numbers, codes by the column's name) are categories or text.
    """
    if find_form(distinct):
        return "date"
    if are_numbers and distinct and not are_codes(distinct, name=name):
        return "category" if set(distinct) == {"0", "1"} else "number"
    are_others = any(all(map(other.fullmatch, distinct)) for other in (_DECIMAL_COMMA, _PHONE))
    are_others = are_others or (len(distinct) < n and all(map(_is_range, distinct)))
    if all(map(is_sequence, distinct)) and not are_others and not is_code_name(name):
        return "sequence"
    if len(distinct) <= FEW_VALUES:
        return "category" if len(distinct) < n else "text"
    n_sentences = sum(len(text.split()) >= SENTENCE for text in distinct)
    return "category" if 2 * len(distinct) <= n and 2 * n_sentences <= len(distinct) else "text"


def _is_range(text: str) -> bool:
    """True for 18-24, a band of ages."""
    low, _, high = text.partition("-")
    return low.isdecimal() and high.isdecimal() and int(low) < int(high)


def are_codes(present: Sequence[str], *, name: str = "") -> bool:
    """True if integers are codes: by the column's name, a leading zero (`07`, `01E5`), or more digits than floats.

    So are some of the form `12E5` beside others of as many digits.
    """
    if not all(map(_DIGITS.fullmatch, present)):
        return False
    lengths = set(map(len, present))
    if is_code_name(name) and max(lengths) >= SHORTEST_CODE:
        return True
    if len(lengths) == 1 and 0 < sum("E" in text for text in present) < len(present):
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
        if not all(map(is_integer, present)):
            return False
        values = list(map(int, present))
        return max(values) - min(values) == len(values) - 1 or _ID_NAME.fullmatch(name) is not None
    n_marked = sum(_CODE_MARK.search(cell) is not None for cell in present)
    if kind == "date" or n_marked < MOSTLY_CODES * len(present) or not all(map(_CODE.fullmatch, present)):
        return kind == "date"
    units = set(map(unit_of, present))  # 16GB and 1TB are measures
    return "" in units or len(units) > MOST_UNITS


# --- missing cells ----------------------------------------------------------------------------------------------------

ERRORS = frozenset({"#n/a", "#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!"})
"""Results of a spreadsheet's formula that failed."""
MISSING = ERRORS | frozenset(
    {"", "na", "n/a", "n.a.", "#na", "#n/a n/a", "<na>", "nan", "-nan", "1.#qnan", "-1.#ind", "null", "<null>"}
    | {"(null)", "\\n", "none", "missing", "(blank)", "?", "-", "--", "---", "–", "—", ".", ".."}
    | {"k.a.", "k. a.", "keine angabe", "n.d.", "n. d."}
)

MOST_OTHERS = 50
"""Most other labels of a column in which a word for a missing cell is a label too."""
_LIKE = {"NA": re.compile(r"[A-Z]{2}"), "-": re.compile(r"[+±/-]+")} | dict.fromkeys(
    ("None", "none", "NONE"), re.compile(r"[^\W\d_].*")
)
"""Labels beside which a word for a missing cell is a label too: codes of two capitals, signs, words that repeat."""


def labels_among(counts: Counter[str], *, is_typed: bool, is_words: bool) -> frozenset[str]:
    """Return the words for a missing cell that are labels in this column. counts: occurrences of each stripped text.

    is_typed: the source has missing cells of its own: words are labels, except among numbers and dates. is_words: the
    user chose a kind of words.
    """
    if not (is_typed or _LIKE.keys() & counts.keys()):
        return frozenset()
    usual = {text for text in counts if text.lower() in MISSING}
    if is_typed and (is_words or not all(map(is_quantity, others := counts.keys() - usual)) or not others):
        return frozenset(text for text in usual if text and text.lower() not in ERRORS)
    doubtful = _LIKE.keys() & usual
    repeats = {text: n for text, n in counts.items() if text not in usual} if doubtful else {}
    are_few = 2 <= len(repeats) <= MOST_OTHERS and 2 * len(repeats) <= sum(repeats.values())
    enough = {"NA": len(repeats) > 1, "-": len(repeats) > 0}
    likely = (text for text in doubtful if enough.get(text, are_few))
    return frozenset(text for text in likely if all(map(_LIKE[text].fullmatch, repeats)))


def words_by_column(missing: Sequence[str], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read WORDS for all columns, or COLUMN=WORDS, with commas, by column. Raises DataError for an unknown column."""
    words: dict[str, tuple[str, ...]] = {}
    for text in sorted(missing, key=lambda text: "=" in text):
        owner = max((name for name in names if text.startswith(f"{name}=")), key=len, default=None)
        if owner is None and "=" in text:
            column = text.partition("=")[0]
            raise DataError(f"missing words are given for {column!r}: {nearest(column, names, 'the columns are')}")
        own = text if owner is None else text[len(owner) + 1 :]
        given = tuple(word.strip() for word in own.split(",") if word.strip())
        words |= {name: (*words.get(name, ()), *given) for name in names} if owner is None else {owner: given}
    return words


def is_missing(text: str, words: Sequence[str] | None) -> bool:
    """True if the stripped text means a missing cell: empty, an error, or one of these words (None: the usual)."""
    lower = text.lower()
    if words is None or not text or lower in ERRORS:
        return lower in MISSING
    number = float(text) if is_number(text) else None
    return any(lower == word.lower() or (is_number(word) and float(word) == number) for word in words)


# --- dates ------------------------------------------------------------------------------------------------------------

_TIME = (
    r"(?:(?:[T ]\s?|,\s)(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?"
)
_MONTHS = {
    word: number
    for number, words in enumerate(
        (
            "january jan januar jänner", "february feb februar", "march mar märz mär mrz", "april apr", "may mai",
            "june jun juni", "july jul juli", "august aug", "september sept sep", "october oct oktober okt",
            "november nov", "december dec dezember dez",
        ),
        start=1,
    )
    for word in words.split()
}  # fmt: skip
"""English and German names of months."""
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_NAMED = rf"(?P<named>{_MONTH})\.?"
_NO_YEAR = re.compile(rf"\d\d?[-. ]+(?:{_MONTH})\.?|(?:{_MONTH})\.?[- ]\d\d?", re.ASCII)
"""A day and a month, or a month and a number: spreadsheets make them of texts such as 1-10."""
_YEAR = r"(?P<year>(?:1[89]|20)\d\d)"
_FORMS = {
    "year-month-day": r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)",
    "yearmonthday": r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)",
    "month/day/year": r"(?P<month>\d\d?)(?P<mark>[/-])(?P<day>\d\d?)(?P=mark)(?P<year>\d{4}|(?<=[/.])\d\d)",
    "day/month/year": r"(?P<day>\d\d?)(?P<mark>[/.-])(?P<month>\d\d?)(?P=mark)(?P<year>\d{4}|(?<=[/.])\d\d)",
    "day month year": rf"(?P<day>\d\d?)(?P<mark>[- ]|\.\s?){_NAMED}(?:[- ]|,\s)(?P<year>\d{{4}}|\d\d)",
    "month day, year": rf"{_NAMED}\s(?P<day>\d\d?),?\s(?P<year>\d{{4}})",
    "year-month": rf"{_YEAR}[-/](?P<month>\d\d?)",
    "month/year": rf"(?P<month>\d\d?)[-/]{_YEAR}",
    "month year": rf"{_NAMED}(?:[- /]|,\s){_YEAR}",
    "year month": rf"{_YEAR}[- /]{_NAMED}",
    "year and part": rf"{_YEAR}[-/ ]?(?P<unit>[MQHW]|[KC]W)[- ]?(?P<number>\d\d?)",
    "part and year": rf"(?P<unit>[QHW]|[KC]W|week)[- ]?(?P<number>\d\d?)[-/ ]?{_YEAR}",
    "quarter and year": rf"(?P<number>[1-4])(?P<unit>Q)[-/ ]?{_YEAR}",
}
"""Days, most with a time, then months, quarters, halves and weeks of a year: each is its first day."""
_MONTHS_IN = {"m": 1, "q": 3, "h": 6}
_PATTERNS = {
    name: re.compile(form + (_TIME if "<day>" in form else ""), re.ASCII | re.IGNORECASE)
    for name, form in _FORMS.items()
}
COMPACT = "yearmonthday"
_SPELT = tuple(pattern for name, pattern in _PATTERNS.items() if name != COMPACT)
FEWEST_COMPACT = 3
"""Least distinct numbers such as 20240131 that are read as dates."""


@dataclass(frozen=True, slots=True)
class DateForm:
    name: str
    """Order of the parts: year-month-day, day/month/year, …"""
    other: str | None = None
    """A second order in which every cell is a date."""

    def read(self, text: str) -> datetime:
        """Parse a date into a naive datetime, in UTC if the text has a zone. Raises ValueError for other text."""
        moment = _read(_PATTERNS[self.name], text)
        if moment is None:
            raise ValueError(f"{text!r} is not a date")
        return moment


def is_date(text: str) -> bool:
    """True for a day in any form but the compact one, with or without a time."""
    return any(_read(pattern, text) for pattern in _SPELT if "day" in pattern.groupindex)


def is_quantity(text: str) -> bool:
    """True for a number in any of the notations, and for a date or a part of a year."""
    return is_written_number(text) or any(_read(pattern, text) for pattern in _SPELT)


def find_form(present: Sequence[str]) -> DateForm | None:
    """Return the form in which every cell is a date, a month, a quarter or a week of a year, or None."""
    fits = [name for name, pattern in _PATTERNS.items() if present and all(_read(pattern, text) for text in present)]
    if not fits or (fits == [COMPACT] and len(set(present)) < FEWEST_COMPACT):
        return None
    first, last = (_PATTERNS[name] for name in (fits[0], fits[-1]))
    is_doubtful = any(_read(first, text) != _read(last, text) for text in present)
    return DateForm(fits[0], fits[-1] if is_doubtful else None)


def _read(pattern: re.Pattern[str], text: str) -> datetime | None:
    match = pattern.fullmatch(text.lower()) if len(text) <= 60 else None
    parts = match.groupdict() if match else {}
    try:
        year, day, named = int(parts["year"]), int(parts.get("day") or 1), parts.get("named")
        if len(parts["year"]) == 2:
            year += 2000 if year < 70 else 1900
        if unit := parts.get("unit"):  # a period is its first day
            number, months = int(parts["number"]), _MONTHS_IN.get(unit)
            return datetime(year, 1 + (number - 1) * months, 1) if months else datetime.fromisocalendar(year, number, 1)
        month = _MONTHS[named] if named else int(parts["month"])
        hour, half, zone = parts.get("hour") or "0", parts.get("half"), parts.get("zone")
        if half:  # a half of a day has the hours 1 to 12
            hour = f"{datetime.strptime(f'{hour}{half}m', '%I%p').hour}"
        moment = datetime(year, month, day, int(hour), int(parts.get("minute") or 0), int(parts.get("second") or 0))
        if zone in (None, "z", "utc"):
            return moment
        return moment - (datetime.strptime(str(zone), "%z").utcoffset() or timedelta())
    except (KeyError, ValueError, OverflowError):
        return None


# --- columns ----------------------------------------------------------------------------------------------------------

WORDS = ("category", "text")
Cells = tuple[str | None, ...]
"""None is a missing cell."""
MOSTLY = 0.8
"""Least share of numbers, or dates, in a column that mostly holds them."""
FEWEST = 3
"""Least numbers in a column for such a note."""
LONGEST_WORD = 12
"""Most characters of a word that may mean a missing cell."""


def read_columns(
    names: Sequence[str],
    texts: Sequence[Sequence[str]],
    *,
    read_as: ReadAs = DETECT,
    delimiter: str = ",",
    chosen: Mapping[str, Kind] | None = None,
    is_typed: bool = False,
) -> tuple[tuple[Column, ...], tuple[Cells, ...], tuple[str, ...]]:
    """Return the columns with their kinds, their cells (column, row), and a note on each decision.

    A None is a missing cell; numbers are plain decimal, other cells as written.

    texts: (column, row) stripped. chosen: the user's kinds, by column. is_typed: the source has its own missing cells,
    so words such as NA are values, except in a column of numbers or dates.
    Raises DataError if a cell is not of the kind chosen for its column.
    """
    words, likely = words_by_column(read_as.missing or (), names), "," if delimiter == ";" else "."
    drafts = [
        _Draft(name, column, (chosen or {}).get(name), words=words.get(name), is_typed=is_typed)
        for name, column in zip(names, texts, strict=True)
    ]
    for draft in drafts:
        draft.read(read_as.decimal, likely)
    doubtful = [draft for draft in drafts if draft.notation and draft.notation.is_doubtful]
    if doubtful and read_as.decimal is None:
        numbers = (draft.given for draft in drafts if draft.notation or draft.are_numbers)
        marks = {mark for given in numbers if (mark := certain_decimal(given))}
        for draft in doubtful if len(marks) == 1 else ():  # another column shows the mark
            draft.read(min(marks), min(marks))
    for draft in doubtful if read_as.decimal is None and delimiter == ";" else ():
        if draft.notation and draft.notation.is_doubtful and any("." in text for text in draft.given):
            written, plain = next(pair for pair in zip(draft.given, draft.present, strict=True) if pair[0] != pair[1])
            how = "choose --read decimal=comma or --read decimal=point"
            raise DataError(f"column {draft.name!r}: {quoted(written)} may be {plain} or a number below 1,000: {how}")
    columns = tuple(draft.column() for draft in drafts)
    notes = (*_notation_notes(drafts), *chain.from_iterable(map(_kind_notes, drafts)), *_missing_notes(drafts))
    return columns, tuple(draft.cells for draft in drafts), notes


_TESTS: dict[str, tuple[str, Callable[[str], bool], Callable[[Sequence[str]], bool]]] = {
    "number": ("numbers in one notation", is_written_number, lambda cells: all(map(is_number, cells))),
    "date": ("dates in one form", is_date, lambda cells: not cells or find_form(cells) is not None),
    "sequence": ("sequences of integers", is_sequence, lambda cells: all(map(is_sequence, cells))),
}
"""(Name, test of a cell, test of a column) of each kind that a cell may not be of."""


class _Draft:
    """A column while it is read. words: those that mean a missing cell here, if the user said so."""

    def __init__(
        self, name: str, texts: Sequence[str], choice: Kind | None, *, words: tuple[str, ...] | None, is_typed: bool
    ) -> None:
        counts = Counter(texts)
        labels = labels_among(counts, is_typed=is_typed, is_words=choice in WORDS) if words is None else frozenset()
        self.name, self.choice, self.is_typed = name, choice, is_typed
        self.texts, self.words, self.kept_words = texts, words, tuple(sorted(labels))
        self.absent = {text: n for text, n in counts.items() if text not in labels and is_missing(text, words)}
        self.given = [text for text in counts if text not in self.absent]
        """Distinct values as written; `present`: as read."""
        self.are_numbers = all(map(is_number, self.given))

    def read(self, decimal: str | None, likely: str) -> None:
        self.present: Sequence[str] = self.given
        self.notation: Notation | None = None
        are_plain = self.are_numbers and (decimal or likely) == "."
        are_labels = self.choice is None and (is_code_name(self.name) or are_codes(self.given))
        if self.choice in ("number", None) and not are_plain and not are_labels:
            self.present, self.notation = read_notation(self.given, decimal=decimal, likely=likely)

    def column(self) -> Column:
        """Raises DataError for a cell of another kind than the chosen one."""
        self.cells: Cells = tuple(self.texts)
        if self.absent or self.notation:
            self.cells = tuple(map(dict(zip(self.given, self.present, strict=True)).get, self.texts))
        name, fits, all_fit = _TESTS.get(self.choice or "", ("", is_number, bool))
        if name and not all_fit(self.present):
            wrong = next((cell for cell in self.present if not fits(cell)), None)
            row = f"row {self.cells.index(wrong)} holds {quoted(wrong)}" if wrong is not None else ""
            raise DataError(
                f"column {self.name!r} cannot be read as {name}: {row or f'it holds {_two_ways(self.present)}'}: fix "
                "the cells, or choose another kind"
            )
        n_missing = sum(self.absent.values())
        own: Kind | None = self.choice or ("number" if self.notation else None)
        n, are_numbers = len(self.cells) - n_missing, self.are_numbers
        self.kind = own or find_kind(self.given, n=n, are_numbers=are_numbers, name=self.name)
        return Column(
            name=self.name,
            kind=self.kind,
            n_missing=n_missing,
            n_distinct=len(set(self.present)),
            notation=self.notation,
            is_chosen=self.choice is not None,
            kept_words=self.kept_words,
            missing=() if self.words is None and self.is_typed and self.kind in WORDS else self.words,
        )


def read_cell(text: str, column: Column) -> str | None:
    """Read a cell as those of the column were read; None if missing. A cell that is not a number stays as written."""
    stripped = text.strip()
    if stripped in column.kept_words:
        return stripped
    if is_missing(stripped, column.missing):
        return None
    return (read_number(stripped, column.notation) if column.kind == "number" else None) or stripped


# --- notes ------------------------------------------------------------------------------------------------------------


def _notation_notes(drafts: Sequence[_Draft]) -> Iterator[str]:
    alike: dict[Notation, list[_Draft]] = {}
    for draft in drafts:
        if draft.notation is not None:
            alike.setdefault(draft.notation, []).append(draft)
    for notation, columns in alike.items():
        pairs = zip(columns[0].given, columns[0].present, strict=True)
        written, cell = max((pair for pair in pairs if pair[0] != pair[1]), key=lambda pair: len(pair[0]))
        more = f" and {len(columns) - 3:,} more" if len(columns) > 3 else ""
        named = f"column{'s' if len(columns) > 1 else ''} {', '.join(repr(each.name) for each in columns[:3])}{more}"
        undo = "; if that is wrong, choose the decimal mark, or the kind sequence" if notation.is_doubtful else ""
        undo = "; the kind text keeps such cells as they are written" if notation.is_scaled else undo
        yield f"{named}: {quoted(written)} is read as {f'{cell} {notation.unit}'.strip()}{undo}"


def _kind_notes(draft: _Draft) -> Iterator[str]:
    name, cells = f"column {draft.name!r}", draft.given
    for word in draft.kept_words:
        how = f"--missing '{draft.name}={word}' says so"
        yield f"{name}: {word!r} is read as a label; if it means a missing cell, {how}"
    if draft.choice is not None or not cells:
        return
    if draft.kind == "date" and (form := find_form(cells)) and form.other:
        either = f"{form.name} or {form.other}"
        yield f"{name}: dates such as {cells[0]!r} could be {either}; prompts show them as written"
    elif draft.kind in WORDS and draft.are_numbers:
        if draft.kind == "text" or are_codes(cells, name=draft.name):
            yield f"{name} holds codes of digits, not numbers; the kind number reads them as numbers"
    elif altered := [cell for cell in cells if _NO_YEAR.fullmatch(cell.lower())]:
        about = f"row {draft.cells.index(altered[0])} holds {quoted(altered[0])}, a date without its year or its day"
        yield f"{name}: {about}, read as text; if a spreadsheet made it of a text such as 1-10, correct it there"
    elif draft.kind in (*WORDS, "sequence"):
        if draft.kind != "sequence" and not is_code_name(draft.name):
            yield from _mostly_notes(draft, "numbers", is_written_number)
        yield from _mostly_notes(draft, "dates", is_date)


def _mostly_notes(draft: _Draft, what: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Name the first cell that is none in a column that mostly holds numbers or dates."""
    name, cells = f"column {draft.name!r} is {draft.kind}", draft.given
    others = [cell for cell in cells if not fits(cell)]
    if len(others) > max(1, (1 - MOSTLY) * len(cells)) or len(others) == len(cells):
        return
    if are_codes([cell for cell in cells if cell not in others], name=draft.name):
        return
    if not others and what == "numbers":
        yield f"{name}: its numbers are not in one notation, such as {_two_ways(cells)}"
    elif others and len(cells) >= FEWEST:
        is_word = len(others[0]) <= LONGEST_WORD and others[0].isprintable() and "," not in others[0]
        how = f"; if that means a missing cell, --missing '{draft.name}={others[0]}' says so" if is_word else ""
        yield f"{name}, though mostly {what}: row {draft.cells.index(others[0])} holds {quoted(others[0])}{how}"


def _two_ways(numbers: Sequence[str]) -> str:
    """Quote the first number and one of another unit, or else the last: `'$12.00' and '(CHF 17.84)'`."""
    other = next((number for number in numbers if unit_of(number) != unit_of(numbers[0])), numbers[-1])
    return f"{quoted(numbers[0])} and {quoted(other)}"


def _missing_notes(drafts: Sequence[_Draft]) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for draft in drafts:
        counts.update(draft.absent)
    words = [f"{text!r} ({n:,})" for text, n in counts.most_common() if text]
    chosen = [draft for draft in drafts if draft.words is not None]
    kept = [f"{text!r} in {draft.name!r}" for draft in chosen for text in draft.given if text.lower() in MISSING]
    if kept:
        yield f"read as values, since --missing names other words: {_first_five(kept)}"
    if words:
        cells = "1 cell is" if counts.total() == 1 else f"{counts.total():,} cells are"
        empty = f"; {counts['']:,} are empty" if counts[""] else ""
        undo = "" if chosen else "; if one of these words is a value, name those that are not with --missing"
        yield f"{cells} missing, written as {_first_five(words)}{empty}{undo}"


def _first_five(items: Sequence[str]) -> str:
    return ", ".join(items[:5]) + (", …" if len(items) > 5 else "")
