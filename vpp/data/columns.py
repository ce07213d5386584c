"""Columns of a table from the texts of its file: kinds of cells, words for a missing one, a note on each decision."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain

from vpp.data.dataset import DETECT, Column, Kind, ReadAs
from vpp.data.descriptions import first_of, nearest, split_at_key
from vpp.data.numbers import (
    Notation,
    certain_decimal,
    is_integer,
    is_number,
    is_written_number,
    read_notation,
    read_number,
    unit_of,
)
from vpp.errors import DataError, quoted

FEW_VALUES = 20  # most values of a category in which not every value repeats
SENTENCE = 5  # least words of a sentence: a column of more than FEW_VALUES values, most of them sentences, is text
SHORTEST_CODE = 4  # least digits of a code that is recognised by its column's name alone
LONGEST_COUNT = 15  # most digits of an integer that a float represents exactly; longer ones are codes
MOSTLY_CODES = 0.9  # least share of words with a digit, an @ or `://` in a column of codes
MOST_UNITS = 4
_DIGITS = re.compile(r"\d+(E\d+)?")
_ZERO_FIRST = re.compile(r"0\d+(E\d+)?", re.ASCII)
_CODE_NAME = re.compile(
    r"(.*[^a-z])?(zip|zip_?code|post(al)?[ _-]?code|plz|phone|tele?fon|telephone|tel|mobile|fax|ssn|iban|isbn|ean|gtin|"
    r"barcode)([ _-]?(no|nr|number|nummer|code))?\.?",
    re.IGNORECASE,
)
_ID_NAME = re.compile(r"(?i:(.*[^a-z])?(id|uuid|guid|index|idx|key|nr|no))|.*[a-z](Id|ID)")
_CODE = re.compile(r"[\w./#:+@-]+")
_CODE_MARK = re.compile(r"[0-9@]|://")


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
    Distinct measurements (`1.37kg`), plain words and free text are not identifiers.
    """
    present = [cell for cell in cells if cell is not None]
    if len(set(present)) < len(cells):
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
MOST_OTHERS = 50  # most other labels of a column in which None is a label too
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
    others = counts.keys() - usual
    if is_typed and (is_words or not others or not all(map(is_quantity, others))):
        return frozenset(text for text in usual if text and text.lower() not in ERRORS)
    do_repeat = 2 <= len(others) <= MOST_OTHERS and 2 * len(others) <= sum(counts[text] for text in others)
    enough = {"NA": len(others) > 1, "-": len(others) > 0}
    likely = (text for text in _LIKE.keys() & usual if enough.get(text, do_repeat))
    return frozenset(text for text in likely if all(map(_LIKE[text].fullmatch, others)))


def words_by_column(missing: Sequence[str], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read WORDS for all columns, or COLUMN=WORDS, with commas, by column. Raises DataError for an unknown column."""
    words: dict[str, tuple[str, ...]] = {}
    for text in sorted(missing, key=lambda text: "=" in text):
        column, own = split_at_key(text, names) if "=" in text else ("", text)
        if "=" in text and column not in names:
            raise DataError(f"missing words are given for {column!r}: {nearest(column, names, 'the columns are')}")
        given = tuple(word.strip() for word in own.split(",") if word.strip())
        words |= {column: given} if "=" in text else {name: (*words.get(name, ()), *given) for name in names}
    return words


def is_missing(text: str, words: Sequence[str] | None) -> bool:
    """True if the stripped text means a missing cell: empty, an error, or one of these words (None: the usual)."""
    lower = text.lower()
    if words is None or not text or lower in ERRORS:
        return lower in MISSING
    number = float(text) if is_number(text) else None
    return any(lower == word.lower() or (is_number(word) and float(word) == number) for word in words)


# --- dates ------------------------------------------------------------------------------------------------------------

_MONTHS = {
    word: number
    for number, words in {
        1: "january jan januar jänner", 2: "february feb februar", 3: "march mar märz mär mrz", 4: "april apr",
        5: "may mai", 6: "june jun juni", 7: "july jul juli", 8: "august aug", 9: "september sept sep",
        10: "october oct oktober okt", 11: "november nov", 12: "december dec dezember dez",
    }.items()
    for word in words.split()
}  # fmt: skip
"""English and German names of months."""
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_NAMED = rf"(?P<named>{_MONTH})\.?"
_NO_YEAR = re.compile(rf"\d\d?[-. ]+(?:{_MONTH})\.?|(?:{_MONTH})\.?[- ]\d\d?", re.ASCII)
"""A day and a month, or a month and a number: spreadsheets make them of texts such as 1-10."""
_YEAR = r"(?P<year>(?:1[89]|20)\d\d)"
_TIME = (
    r"(?:(?:[T ]\s?|,\s)(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
    r"(?:\s?(?P<half>[AP])\.?M\.?)?\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?"
)
COMPACT = "yearmonthday"
_DAYS = {
    "year-month-day": r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)",
    COMPACT: r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)",
    "month/day/year": r"(?P<month>\d\d?)(?P<mark>[/-])(?P<day>\d\d?)(?P=mark)(?P<year>\d{4}|(?<=[/.])\d\d)",
    "day/month/year": r"(?P<day>\d\d?)(?P<mark>[/.-])(?P<month>\d\d?)(?P=mark)(?P<year>\d{4}|(?<=[/.])\d\d)",
    "day month year": rf"(?P<day>\d\d?)(?P<mark>[- ]|\.\s?){_NAMED}(?:[- ]|,\s)(?P<year>\d{{4}}|\d\d)",
    "month day, year": rf"{_NAMED}\s(?P<day>\d\d?),?\s(?P<year>\d{{4}})",
}
_PERIODS = {
    "year-month": rf"{_YEAR}[-/](?P<month>\d\d?)",
    "month/year": rf"(?P<month>\d\d?)[-/]{_YEAR}",
    "month year": rf"{_NAMED}(?:[- /]|,\s){_YEAR}",
    "year month": rf"{_YEAR}[- /]{_NAMED}",
    "year and part": rf"{_YEAR}[-/ ]?(?P<unit>[MQHW]|[KC]W)[- ]?(?P<number>\d\d?)",
    "part and year": rf"(?P<unit>[QHW]|[KC]W|week)[- ]?(?P<number>\d\d?)[-/ ]?{_YEAR}",
    "quarter and year": rf"(?P<number>[1-4])(?P<unit>Q)[-/ ]?{_YEAR}",
}
"""Months, quarters, halves and weeks of a year: each is its first day."""
_MONTHS_IN = {"m": 1, "q": 3, "h": 6}
_PATTERNS = {
    name: re.compile(form, re.ASCII | re.IGNORECASE)
    for name, form in ({name: form + _TIME for name, form in _DAYS.items()} | _PERIODS).items()
}
_SPELT = tuple(name for name in _PATTERNS if name != COMPACT)
FEWEST_COMPACT = 3  # least distinct numbers such as 20240131 that are read as dates


def is_date(text: str) -> bool:
    """True for a day in any form but the compact one, with or without a time."""
    return any(read_date(text, form) for form in _SPELT if form in _DAYS)


def is_quantity(text: str) -> bool:
    """True for a number in any of the notations, and for a date or a part of a year."""
    return is_written_number(text) or any(read_date(text, form) for form in _SPELT)


def date_forms(present: Sequence[str]) -> list[str]:
    """Return the forms in which every cell is a date, a month, a quarter or a week of a year, likely ones first."""
    forms = [form for form in _PATTERNS if present and all(read_date(text, form) for text in present)]
    return [] if forms == [COMPACT] and len(set(present)) < FEWEST_COMPACT else forms


def read_date(text: str, form: str) -> datetime | None:
    """Read a date into a naive datetime, in UTC if the text has a zone; None for other text."""
    match = _PATTERNS[form].fullmatch(text.lower()) if len(text) <= 60 else None
    if match is None:
        return None
    parts = defaultdict(str, match.groupdict(default=""))
    year, hour, unit = int(parts["year"]), int(parts["hour"] or 0), parts["unit"]
    if len(parts["year"]) == 2:
        year += 2000 if year < 70 else 1900
    if parts["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (parts["half"] == "p")
    zone = parts["zone"].upper().replace("UTC", "Z")
    try:
        if unit and unit not in _MONTHS_IN:
            return datetime.fromisocalendar(year, int(parts["number"]), 1)
        month = 1 + (int(parts["number"]) - 1) * _MONTHS_IN[unit] if unit else _MONTHS.get(parts["named"], 0)
        month = month or int(parts["month"])
        time = f"{hour:02}:{parts['minute'] or '00'}:{parts['second'] or '00'}"
        moment = datetime.fromisoformat(f"{year:04}-{month:02}-{parts['day'] or '1':0>2}T{time}{zone}")
        return moment.astimezone(UTC).replace(tzinfo=None) if zone else moment
    except (ValueError, OverflowError):
        return None


# --- columns ----------------------------------------------------------------------------------------------------------

WORDS = ("category", "text")
Cells = tuple[str | None, ...]
"""None is a missing cell."""
Lines = Sequence[int]  # line of each row in the file, counted from 1; empty for a source without lines
Words = tuple[str, ...] | None
MOSTLY = 0.8  # least share of numbers, or dates, in a column that mostly holds them
FEWEST = 3  # least numbers in a column for such a note
LONGEST_WORD = 12  # most characters of a word for a missing cell that a note proposes


_TESTS: dict[Kind | None, tuple[str, Callable[[str], bool], Callable[[Sequence[str]], bool]]] = {
    "number": ("numbers in one notation", is_written_number, lambda cells: all(map(is_number, cells))),
    "date": ("dates in one form", is_date, lambda cells: not cells or date_forms(cells) != []),
}
"""(Name, test of a cell, test of a column) of each kind that a cell may not be of."""


def place_of(row: int, lines: Lines) -> str:
    return f"line {lines[row]}" if lines else f"row {row + 1} from the top"


def read_columns(
    texts: Mapping[str, Sequence[str]],
    *,
    lines: Lines = (),
    read_as: ReadAs = DETECT,
    delimiter: str = ",",
    chosen: Mapping[str, Kind] | None = None,
    is_typed: bool = False,
) -> tuple[tuple[Column, ...], tuple[Cells, ...], tuple[str, ...]]:
    """Return the columns with their kinds, their cells (column, row), and a note on each decision.

    A None is a missing cell; numbers are plain decimal, other cells as written.

    texts: (row,) stripped cells by column. chosen: the user's kinds. is_typed: the source has its own missing cells, so
    words such as NA are values, except in a column of numbers or dates.
    Raises DataError if a cell is not of the kind chosen for its column.
    """
    words, likely = words_by_column(read_as.missing or (), list(texts)), "," if delimiter == ";" else "."
    drafts = [
        _Draft(name, column, lines, (chosen or {}).get(name), words=words.get(name), is_typed=is_typed)
        for name, column in texts.items()
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
            raise DataError(f"column {draft.name!r}: {draft.place(written)}, {plain} or a number below 1,000: {how}")
    columns = tuple(draft.column() for draft in drafts)
    notes = (*_notation_notes(drafts), *chain.from_iterable(map(_kind_notes, drafts)), *_missing_notes(drafts))
    return columns, tuple(draft.cells for draft in drafts), notes


class _Draft:
    """A column while it is read. words: those that mean a missing cell here, if the user said so."""

    def __init__(
        self, name: str, texts: Sequence[str], lines: Lines, choice: Kind | None, *, words: Words, is_typed: bool
    ) -> None:
        counts = Counter(texts)
        labels = labels_among(counts, is_typed=is_typed, is_words=choice in WORDS) if words is None else frozenset()
        self.name, self.choice, self.is_typed = name, choice, is_typed
        self.texts, self.lines, self.words, self.kept_words = texts, lines, words, tuple(sorted(labels))
        self.absent = {text: n for text, n in counts.items() if text not in labels and is_missing(text, words)}
        self.given = [text for text in counts if text not in self.absent]  # distinct, as written; `present`: as read
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
        what, fits, all_fit = _TESTS.get(self.choice, ("", bool, lambda cells: True))
        if not all_fit(self.present):
            wrong = next((cell for cell in self.given if not fits(cell)), None)
            why = self.two_ways() if wrong is None else self.place(wrong)
            unfit = f"column {self.name!r} cannot be read as {what}: {why}"
            raise DataError(f"{unfit}: fix the cells, or choose another kind")
        self.cells: Cells = tuple(self.texts)
        if self.absent or self.notation:
            self.cells = tuple(map(dict(zip(self.given, self.present, strict=True)).get, self.texts))
        self.kind = self.choice or self.find_kind()
        return Column(
            name=self.name,
            kind=self.kind,
            n_missing=sum(self.absent.values()),
            n_distinct=len(set(self.present)),
            notation=self.notation,
            is_chosen=self.choice is not None,
            kept_words=self.kept_words,
            missing=() if self.words is None and self.is_typed and self.kind in WORDS else self.words,
        )

    def find_kind(self) -> Kind:
        """Return the kind of the cells: 0 and 1 are a category, codes of digits a category or text."""
        distinct, n = self.given, len(self.texts) - sum(self.absent.values())
        if self.notation or date_forms(distinct):
            return "number" if self.notation else "date"
        if self.are_numbers and distinct and not are_codes(distinct, name=self.name):
            return "category" if set(distinct) == {"0", "1"} else "number"
        if len(distinct) <= FEW_VALUES:
            return "category" if len(distinct) < n else "text"
        n_sentences = sum(len(text.split()) >= SENTENCE for text in distinct)
        return "category" if 2 * len(distinct) <= n and 2 * n_sentences <= len(distinct) else "text"

    def place(self, text: str) -> str:
        return f"{place_of(self.texts.index(text), self.lines)} holds {quoted(text)}"

    def two_ways(self) -> str:
        """Place the first number and one of another unit, or else the last."""
        other = next((text for text in self.given if unit_of(text) != unit_of(self.given[0])), self.given[-1])
        return f"{self.place(self.given[0])}, {self.place(other)}"


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
    for notation in dict.fromkeys(draft.notation for draft in drafts if draft.notation):
        columns = [draft for draft in drafts if draft.notation == notation]
        pairs = ((draft, *pair) for draft in columns[:3] for pair in zip(draft.given, draft.present, strict=True))
        draft, written, cell = max((each for each in pairs if each[1] != each[2]), key=lambda each: len(each[1]))
        named = first_of([repr(each.name) for each in columns], 3)
        is_open = notation.is_doubtful or is_number(written)
        undo = f"--kind '{draft.name}=text'"
        if is_open and not set(written).isdisjoint(",."):
            undo = f"--read decimal={'comma' if notation.decimal == '.' else 'point'} or {undo}"
        read = f"{draft.place(written)}, read as {f'{cell} {notation.unit}'.strip()}"
        yield f"column{'s' if len(columns) > 1 else ''} {named}: {read}; if that is wrong, {undo} says so"


def _kind_notes(draft: _Draft) -> Iterator[str]:
    name, cells = f"column {draft.name!r}", draft.given
    for word in draft.kept_words:
        how = f"--missing '{draft.name}={word}' says so"
        yield f"{name}: {draft.place(word)}, read as a label; if it means a missing cell, {how}"
    if draft.choice is not None or not cells or draft.kind == "number":
        return
    first = f"{name}: {draft.place(cells[0])}"
    if draft.kind == "date":
        forms = date_forms(cells)
        if any(read_date(cell, forms[0]) != read_date(cell, forms[-1]) for cell in cells):
            how = f"prompts show such dates as written, and --kind '{draft.name}=text' takes them as text"
            yield f"{first}, which could be {forms[0]} or {forms[-1]}; {how}"
    elif draft.are_numbers:
        if draft.kind == "text" or are_codes(cells, name=draft.name):
            yield f"{first}, read as a code of digits; --kind '{draft.name}=number' reads such codes as numbers"
    elif altered := next((cell for cell in cells if _NO_YEAR.fullmatch(cell.lower())), None):
        about = f"{draft.place(altered)}, a date without its year or its day"
        yield f"{name}: {about}, read as text; if a spreadsheet made it of a text such as 1-10, correct it there"
    else:
        if not is_code_name(draft.name):
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
        how = "write them alike, or leave the column out with --inputs"
        yield f"{name}: its numbers are not in one notation ({draft.two_ways()}): {how}"
    elif others and len(cells) >= FEWEST:
        is_word = len(others[0]) <= LONGEST_WORD and others[0].isprintable() and "," not in others[0]
        how = f"if that means a missing cell, --missing '{draft.name}={others[0]}' says so"
        yield f"{name}, though mostly {what}: {draft.place(others[0])}; {how if is_word else 'correct it in the file'}"


def _missing_notes(drafts: Sequence[_Draft]) -> Iterator[str]:
    counts = sum((Counter(draft.absent) for draft in drafts), Counter[str]())
    at = {text: place_of(draft.texts.index(text), draft.lines) for draft in reversed(drafts) for text in draft.absent}
    words = [f"{text!r} ({n:,}, as in {at[text]})" for text, n in counts.most_common() if text]
    chosen = [draft for draft in drafts if draft.words is not None]
    if kept := [f"{text!r} in {draft.name!r}" for draft in chosen for text in draft.given if text.lower() in MISSING]:
        yield f"read as values, since --missing names other words: {first_of(kept, 5)}"
    if words:
        cells = "1 cell is" if counts.total() == 1 else f"{counts.total():,} cells are"
        empty = f"; {counts['']:,} are empty" if counts[""] else ""
        undo = "" if chosen else "; if one of these words is a value, name those that are not with --missing"
        yield f"{cells} missing, written as {first_of(words, 5)}{empty}{undo}"
