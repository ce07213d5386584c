"""Text of a table: decode the bytes, find delimiter, names and rows among the lines, and read a grid of columns."""

import codecs
import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count, filterfalse, islice, repeat
from typing import Literal, NamedTuple

from vpp.data.columns import MISSING, MOSTLY, date_forms, is_date, is_quantity
from vpp.data.dataset import DELIMITER_NAMES, ReadAs
from vpp.data.numbers import is_integer, is_number, is_sequence, is_written_number
from vpp.errors import DataError

ENCODING_NAMES = {
    "utf-8": "UTF-8", "utf-8-sig": "UTF-8 with a byte order mark", "utf-16": "UTF-16",
    "utf-16-le": "UTF-16, little-endian", "utf-16-be": "UTF-16, big-endian", "cp1252": "Windows-1252 (Western)",
    "cp1250": "Windows-1250 (Central European)", "cp1251": "Windows-1251 (Cyrillic)", "koi8_r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)", "cp1254": "Windows-1254 (Turkish)", "mac_roman": "Mac Roman",
    "cp850": "DOS 850 (Western)", "cp932": "Shift-JIS (Japanese)", "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)", "big5": "Big5 (Chinese)", "euc_kr": "EUC-KR (Korean)",
}  # fmt: skip
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_ONE_BYTE = ("cp1251", "koi8_r", "cp1253")
_MANY_BYTES = ("cp932", "euc_jp", "gb18030", "big5", "euc_kr")
_SURE = 0.3
"""Least coherence, from 0 to 1 as charset-normalizer measures it, for a guess of a one-byte encoding."""
_SAMPLE_BYTES = 32_768
"""Bytes of the lines beyond ASCII that the guess of an encoding reads."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_END_MARKS = "\0\x1a"
_ENDS = f"{_END_MARKS} \t\r\n"
"""Marks of DOS for the end of a file."""
NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""Characters that no cell may hold; utf-7 and unicode_escape can spell a lone surrogate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Format, encoding and dialect that a file was read with."""

    format: Literal["csv", "json", "excel", "parquet", "frame"] = "csv"
    encoding: str = ""
    """Python's name; empty for Excel, Parquet and frames."""
    delimiter: str = ""
    """Empty if each line is one cell, and for other formats than CSV."""
    header: bool = True
    skipped_lines: int = 0
    sheet: str = ""
    sheets: tuple[str, ...] = ()


def decode(content: bytes, *, name: str, encoding: str | None = None) -> tuple[str, str, list[str]]:
    """Return text, encoding and notes of a file in the given encoding, or in the detected one.

    Marks at its end are cut. Raises DataError if the bytes are not text in the encoding.
    """
    marked = next((codec for mark, codec in _MARKS if content.startswith(mark)), None)
    codec, notes = encoding or marked or "utf-8", []
    try:
        text = content.decode(codec)
    except UnicodeError as error:
        line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
        if encoding or marked:
            raise _no_text(name, encoding_name(codec), line) from None
        text, codec = _guess(content, name, line)
        notes.append(f"not UTF-8: read as {encoding_name(codec)}; if letters look wrong, choose another encoding")
    end = len(text.rstrip(_ENDS))
    if mark := next((character for character in text[end:] if character in _END_MARKS), ""):
        notes.append(f"the control character 0x{ord(mark):02x} at the end was not read")
        text = text[: text.index(mark, end)]
    if wrong := NO_TEXT.search(text):
        what = "a NUL byte" if wrong[0] == "\0" else "half a character"
        endian = "be" if content[::2].count(0) > content[1::2].count(0) else "le"
        raise DataError(
            f"{name} holds {what} in line {text.count(chr(10), 0, wrong.start()) + 1}, which is no text: remove it, or "
            f"choose the file's encoding" + (f", utf-16-{endian}" if 3 * content.count(0) > len(content) else "")
        )
    return text.lstrip("\ufeff"), codec, notes


def encoding_name(encoding: str) -> str:
    return ENCODING_NAMES.get(encoding, encoding)


def _guess(content: bytes, name: str, line: int) -> tuple[str, str]:
    """Return text and encoding of a file that is not UTF-8: another alphabet if it is certain, else Windows-1252.

    line: the first with a wrong byte. Raises DataError if all but a few letters are UTF-8: any other encoding would
    garble the rest.
    """
    # Imported late: most files are UTF-8 and do not need it.
    from charset_normalizer import from_bytes

    lossy = content.decode("utf-8", errors="replace")
    if sum(character > "\x7f" for character in lossy) > 11 * lossy.count("\ufffd"):
        raise DataError(f"{name} is UTF-8 except line {line}: fix that line, or choose another encoding")
    sample = b"\n".join(line for line in content.splitlines() if not line.isascii())[:_SAMPLE_BYTES]
    matches = list(from_bytes(sample, cp_isolation=["cp1252", *_ONE_BYTE, *_MANY_BYTES]))
    plausible = {other for match in matches for other in (match.encoding, *match.could_be_from_charset)}
    is_sure = matches and (matches[0].encoding in _MANY_BYTES or matches[0].coherence >= _SURE)
    codec = matches[0].encoding if is_sure and "cp1252" not in plausible else "cp1252"
    with suppress(UnicodeDecodeError):
        text = content.decode(codec)
        if not _CONTROL.search(text.rstrip(_ENDS)):  # nearly any binary file decodes in a one-byte encoding
            return text, codec
    raise _no_text(name, "UTF-8, UTF-16 or Windows-1252", line)


def _no_text(name: str, encodings: str, line: int) -> DataError:
    return DataError(
        f"{name} is not text in {encodings} (line {line}): save the table as CSV in UTF-8, or choose its encoding"
    )


# --- records ----------------------------------------------------------------------------------------------------------

SAMPLE_RECORDS = 100
"""Records at the top of a file that decide its dialect and its header."""
_SAMPLE_CHARACTERS = 262_144
NO_DELIMITER = ""
"""Stands for no delimiter: each line is one cell."""
_UNUSED = "\x1f"
PLAIN_QUOTES = "--read quotes=plain"
AS_IS = "--read as-is=yes"
_BY_BLANKS = "if blanks set the columns apart, choose that (--read delimiter=space)"
_BY_COLONS = "if colons set the columns apart, choose that (--read delimiter=:)"
_EXCEL_TEXT = re.compile(r'\A="([^"]*)"\Z')  # so written, Excel keeps the zeros of ="007"
_UNSEEN = re.compile("[\ufeff\u200b\u2060]+")
_MAX_INTERNED = 200_000
LONG_NAME = 60
"""Characters of a name shown in a message; longer names are cut."""


class Record(NamedTuple):
    """One line of the table, or several if a cell contains line ends."""

    line: int
    """First line in the file, counted from 1."""
    cells: Sequence[str]
    """Stripped."""
    holds_records: bool = False
    """True if a cell holds lines as wide as the record, as after a quote that was never meant as one."""


def read_records(
    text: str, delimiter: str, *, name: str, first_line: int = 1, has_quotes: bool = True, is_strict: bool = True
) -> Iterator[Record]:
    """Yield every record with any text.

    first_line: number of the text's first line in the file. has_quotes: whether quotes enclose cells, or are text.
    Raises DataError, if strict, for quotes that do not enclose a cell: they would lose their mark, or swallow lines.
    """
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter or _UNUSED,
        skipinitialspace=True,
        quoting=csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE,
        strict=is_strict,
    )
    line, stripped = first_line, lru_cache(_MAX_INTERNED)(clean)  # equal texts are one in memory
    try:
        for cells in reader:
            start, line = line, first_line + reader.line_num
            own = list(map(stripped, cells))
            if any(own):
                yield Record(start, own, line - start > 2 and delimiter != "" and _holds_records(cells, delimiter))
    except csv.Error as error:
        why, remedy = str(error), "quote cells as CSV does, each quote in a cell doubled, or read quotes as text"
        if delimiter == NO_DELIMITER:
            why, remedy = "no delimiter detected", f"{_BY_BLANKS}, else {remedy}"
        raise DataError(f"{name}: line {line} cannot be split into cells ({why}): {remedy} ({PLAIN_QUOTES})") from None


def clean(cell: str) -> str:
    """Return the text of a cell without what nobody sees: blanks at its ends, marks of no width, no-break spaces."""
    text = cell.strip()
    if not text.isascii():
        text = _UNSEEN.sub("", text).strip()
        if "\u00a0" in text and any(map(str.isalpha, text)):  # between digits it groups thousands
            text = text.replace("\u00a0", " ")
    return _EXCEL_TEXT.sub(r"\1", text) if text.startswith('="') else text


def _holds_records(cells: Sequence[str], delimiter: str) -> bool:
    longest = max((cell.splitlines()[1:-1] for cell in cells), key=len)
    return bool(longest) and all(line.count(delimiter) == len(cells) - 1 for line in longest)


def _is_rule(record: Record) -> bool:
    """True for a line that sets the header apart, as in Markdown and in the output of a database."""
    filled = list(filter(None, record.cells))
    if filled[0][0] not in "|+:=-" or "".join(filled).strip("|+:=-"):
        return False
    return any("---" in cell or "===" in cell for cell in filled) or all("--" in cell for cell in filled)


def shown_name(name: str) -> str:
    """The name, or the beginning of another text, cut at LONG_NAME characters."""
    return name if len(name) <= LONG_NAME else f"{name[: LONG_NAME - 1]}…"


# --- where names and rows begin ---------------------------------------------------------------------------------------

MAX_ABOVE = 20
"""Largest number of lines above a table."""
ROWS_COMPARED = 30
_YEARS = range(1800, 2200)


def _is_data(cell: str) -> bool:
    """True for a number, a sequence of integers or a date; parts of a year may be names."""
    return is_written_number(cell) or is_sequence(cell) or is_date(cell)


def _is_missing(cell: str) -> bool:
    return cell.lower() in MISSING


def _is_word(cell: str) -> bool:
    return not (_is_missing(cell) or is_quantity(cell) or is_sequence(cell))


def _is_year(cell: str) -> bool:
    return re.fullmatch(r"\d{4}", cell, re.ASCII) is not None and int(cell) in _YEARS


def _is_time(cell: str) -> bool:
    return _is_year(cell) or date_forms([cell]) != []


def table_start(records: Sequence[Record]) -> int:
    """Count comments and titles: lines of one cell or an unusual width, if a table clearly follows them."""
    widths = Counter(len(record.cells) for record in records)
    usual = max(widths, key=lambda width: (widths[width], width), default=1)
    most = min(MAX_ABOVE, len(records) - 1)
    n = next((n for n in range(most) if not records[n].cells[0].startswith("#")), max(most, 0))
    if usual == 1:
        return n
    if n and len(records[n - 1].cells) == usual and not _is_plain_header(records[n:]):
        n -= 1  # the last comment is the header
    alone = [sum(map(bool, cells)) == 1 and (len(cells) == 1 or usual > 2) for _, cells, _ in records]
    odd = [is_alone or len(record.cells) != usual for is_alone, record in zip(alone, records, strict=True)]
    start = next((start for start in range(n, most + 1) if not odd[start]), n)
    if start > n and all(alone[n:start]):
        title, head = records[start - 1], records[start]
        is_padded = len(title.cells) > 1 and not any(map(_is_data, head.cells))
        is_even = all(len(record.cells) == usual > 2 for record in records[start:]) and start + 2 < len(records)
        if head.line > title.line + 1 or is_padded or (is_even and title.cells[0]):
            return start
    return start if _is_plain_header(records[start:]) else n


def _is_plain_header(records: Sequence[Record]) -> bool:
    """True if the first line holds names and the second one, of as many cells, a number or a date."""
    first, second = (record.cells for record in records[:2]) if len(records) > 1 else ([], [])
    are_names = all(cell and not _is_data(cell) for cell in first)
    return len(first) == len(second) > 0 and are_names and any(map(_is_data, second))


def why_no_header(records: Sequence[Record]) -> str:
    """Return why the first line does not name the columns, as it is like those below; empty if it does or may."""
    first, *lines = (record.cells for record in records[: 1 + ROWS_COMPARED])
    below = [cells for cells in lines if cells != first]
    alike, again = list[int](), list[int]()
    for place, cell in enumerate(first):
        column = [cells[place] for cells in below if place < len(cells) and not _is_missing(cells[place])]
        if _is_missing(cell) or not column:
            continue
        if sum(map(_is_data, column)) >= MOSTLY * len(column):
            if not _is_data(cell):
                return ""
            alike.append(place)
        elif cell in column:
            again.append(place)
    if alike and not (_are_names(first) and not any(map(_are_names, below))):
        return f"{first[alike[0]][:40]!r} in column {alike[0] + 1} is like the cells below it"
    if not alike and again and (len(again) > 1 or len(first) == 1):
        return f"{first[again[0]][:40]!r} in column {again[0] + 1} is repeated below"
    return ""


def _are_names(cells: Sequence[str]) -> bool:
    """True if all numbers and dates of a line may be names: years, or 1, 2, 3, …"""
    data = [cell for cell in cells if _is_data(cell)]
    are_counted = len(data) > 2 and is_integer(data[0]) and data == [str(int(data[0]) + i) for i in range(len(data))]
    return bool(data) and (are_counted or all(map(_is_year, data)))


def read_header(records: Sequence[Record]) -> tuple[Sequence[str], int]:
    """Return the names of the columns and the number of lines they take: two if members stand below their groups.

    So are pivot tables written. A third line may name the first columns, which have no group.
    """
    first, *below = (record.cells for record in records[: 3 + ROWS_COMPARED])
    if len(below) < 2 or len(below[0]) != len(first):
        return first, 1
    members, n = below.pop(0), 2
    n_first = next(at for at, cell in enumerate(first) if cell)
    if len(below) > 1 and n_first and all(below[0][:n_first]) and not any(below[0][n_first:]):
        members, n = [*below.pop(0)[:n_first], *members[n_first:]], 3
    groups = [next(filter(None, reversed(first[: at + 1])), "") for at in range(len(first))]
    above = groups if len({*groups}) > 1 else [""] * len(groups)  # one above all columns is a title
    names = [f"{group} {member}".strip() for group, member in zip(above, members, strict=True)]
    grouped = {}
    for at, group in enumerate(groups):
        column = [cells[at] for cells in below if at < len(cells) and cells[at]]
        if group and groups.count(group) > 1 and column:
            grouped[at] = _is_no_row(members[at], column)
    others = [at for at, member in enumerate(members) if member and at not in grouped]
    if any(_is_time(members[at]) for at in grouped) and any(groups[at] or _is_data(members[at]) for at in others):
        return first, 1  # years may also be the first row, which has a label
    are_members = len(grouped) > 1 and all(grouped.values()) and len({*names}) == len(names)
    return (names, n) if are_members else (first, 1)


def _is_no_row(cell: str, column: Sequence[str]) -> bool:
    """True for a word above numbers or dates, and for a time above numbers alone."""
    others = [other for other in column if not _is_missing(other)]
    if _is_missing(cell) or not all(map(_is_data, others)):
        return False
    return not any(map(_is_time, others)) if _is_time(cell) else not _is_data(cell)


# --- the delimiter ----------------------------------------------------------------------------------------------------

DELIMITERS = (",", ";", "\t", "|")
_IN_CELLS = 1.5
"""Handicap of the comma in cells a line: decimals and names contain commas too."""


def find_delimiter(text: str, *, has_quotes: bool = True) -> tuple[str, str]:
    """Return the delimiter that divides the sampled records most evenly, and a note if another does so as well.

    Of equal delimiters the one that gives more cells is taken. A delimiter that does not exist is NO_DELIMITER.
    """
    evenness = {mark: _evenness(_sample(text, mark, has_quotes), mark) for mark in DELIMITERS}
    best, other = sorted(DELIMITERS, key=evenness.__getitem__, reverse=True)[:2]
    if not evenness[best][0]:
        hints = []
        for mark, hint, lacking in ((" ", _BY_BLANKS, (0, 1)), (":", _BY_COLONS, (0,))):  # R leaves out one name
            first, *others = [len(record.cells) for record in _sample(text, mark, has_quotes)] or [0]
            hints += [f"; {hint}"] if len({*others}) == 1 < others[0] and others[0] - first in lacking else []
        return NO_DELIMITER, f"no delimiter detected: each line is one cell{''.join(hints)}"
    if evenness[other][:-1] < evenness[best][:-1]:
        return best, ""
    called, other_called = DELIMITER_NAMES[best], DELIMITER_NAMES[other]
    note = f"the {called} was taken as the delimiter, though the {other_called} divides the lines as evenly: if the "
    return best, note + "columns look wrong, choose the delimiter"


def _sample(text: str, delimiter: str, has_quotes: bool) -> list[Record]:
    """Return the first records, at most SAMPLE_RECORDS, without rules and one that the end of the sample cuts."""
    cut, records = text[:_SAMPLE_CHARACTERS], list[Record]()
    with suppress(DataError):
        lenient = read_records(cut, delimiter, name="", has_quotes=has_quotes, is_strict=False)
        records.extend(islice(filterfalse(_is_rule, lenient), SAMPLE_RECORDS))
    return records[:-1] if len(cut) < len(text) and 1 < len(records) < SAMPLE_RECORDS else records


def _evenness(records: Sequence[Record], delimiter: str) -> tuple[bool, int, bool, float]:
    """Tuple that is greatest for the delimiter that divides best.

    Whether it divides; the records as wide as the table's first one, minus the others; whether the table starts at the
    first record; the cells of the table's first record, minus the handicap of the comma.
    """
    start = table_start(records)
    widths = [len(record.cells) for record in records[start:]]
    if not widths or widths[0] == 1:
        return False, -len(records), False, 1
    n_alike = 2 * widths.count(widths[0]) - len(widths)
    return True, n_alike, start == 0, widths[0] - (_IN_CELLS if delimiter == "," else 0)


# --- names and cells --------------------------------------------------------------------------------------------------

MAX_COLUMNS = 2_000
MAX_CELLS = 5_000_000
"""Cells that a table may have: it is read in 10 s and 1 GB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Named columns of stripped texts; an empty text is an empty cell."""

    names: tuple[str, ...]
    columns: list[list[str]]
    """(column, row)."""
    notes: tuple[str, ...] = ()
    reading: Reading

    @classmethod
    def of(cls, names: Sequence[str], columns: list[list[str]], *, file: str, reading: Reading) -> "Grid":
        """Build the grid of a format that names its columns. Raises DataError for a table without rows."""
        if not any(columns):
            raise DataError(f"{file} has no rows: rows are needed")
        own_names, notes = unique_names(dict(enumerate(names)))
        return cls(names=own_names, columns=columns, notes=tuple(notes), reading=reading)

    def after(self, notes: Iterable[str]) -> "Grid":
        """Put these notes first, without empty ones."""
        return replace(self, notes=(*filter(None, notes), *self.notes))


def check_size(name: str, *, n_columns: int, n_rows: int = 0) -> None:
    """Raises DataError for too many columns or cells."""
    if n_columns > MAX_COLUMNS:
        remedy = "keep those that matter, or swap rows and columns"
        raise DataError(f"{name} has {n_columns:,} columns, more than {MAX_COLUMNS:,}: {remedy}")
    if n_columns * n_rows > MAX_CELLS:
        raise DataError(f"{name} has more than {MAX_CELLS:,} cells: keep a sample of its rows")


def unique_names(headers: Mapping[int, str]) -> tuple[tuple[str, ...], list[str]]:
    """Return a name for each header, by its place in the file, and a note on each name that was made up."""
    written = {place: " ".join(header.split()) for place, header in headers.items()}
    taken, names, notes = {*written.values()}, dict[str, None](), list[str]()
    for place, name in written.items():
        own = name
        if not name or name in names:
            stem = name or f"column_{place + 1}"
            own = next(other for other in chain((stem,), (f"{stem}_{i}" for i in count(2))) if other not in taken)
            fault = f"repeats the name {shown_name(name)!r}" if name else "has no name"
            notes.append(f"column {place + 1} {fault}: called {shown_name(own)!r}")
        taken.add(own)
        names[own] = None
    return tuple(names), notes


_SEP = re.compile(r'\A\s*"?sep=(.)"?[ \t,;|]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)
"""A first line that names the delimiter, as Excel writes it."""


def read_csv(text: str, encoding: str, name: str, read_as: ReadAs) -> Grid:
    """Read a CSV. Raises DataError for text that is no table."""
    has_quotes = read_as.quotes != "plain"
    named = _SEP.match(text) if read_as.skip_lines is None else None
    skipped = (read_as.skip_lines or 0) + (1 if named else 0)
    body = "".join(islice(io.StringIO(text, newline=""), skipped, None)) if skipped else text
    if not body.strip():
        raise DataError(f"{name} has no lines below the {skipped} skipped ones: skip fewer lines")
    delimiter, note = read_as.delimiter or (named and named[1]), ""
    if not delimiter:
        delimiter, note = find_delimiter(body, has_quotes=has_quotes)
    records = read_records(body, delimiter, name=name, first_line=skipped + 1, has_quotes=has_quotes)
    reading = Reading(encoding=encoding, delimiter=delimiter, skipped_lines=skipped)
    return read_below_titles(records, reading, name, read_as).after([note])


def read_below_titles(records: Iterator[Record], reading: Reading, name: str, read_as: ReadAs) -> Grid:
    """Read the table below titles and comments. Raises DataError for a table without rows, or beyond the limits."""
    body = _Body(name, is_whole=bool(read_as.as_is))
    records = filterfalse(body.is_rule, records)
    seen = list(islice(records, SAMPLE_RECORDS))
    if not seen:
        raise DataError(f"{name} is empty: a header line and rows are needed")
    start = table_start(seen) if read_as.skip_lines is None else 0
    top, notes = seen[start:], list[str]()
    why = why_no_header(top) if read_as.header is None else ""
    header = not why if read_as.header is None else read_as.header
    heads, n_heads = read_header(top) if header and not read_as.as_is else (top[0].cells, 1)
    if not header:
        heads, n_heads = [""] * max(len(record.cells) for record in top), 0
    if start:
        title = " ".join(", ".join(filter(None, seen[0].cells)).split())
        more = f" and {start - 1} more" if start > 1 else ""
        notes.append(f"lines above the table were not read: {shown_name(title)!r}{more}")
        reading = replace(reading, skipped_lines=top[0].line - 1)
    if n_heads > 1:
        about = f"lines {top[0].line} to {top[n_heads - 1].line} name the columns, such as {shown_name(heads[-1])!r}"
        notes.append(f"{about}; {AS_IS} reads the first as the header, and the others as rows")
    body.read(chain(top[n_heads:], records), heads, header=top[0].cells if header else ())
    columns, body_notes = body.rows(has_header=header)
    own = {at: head for at, head in enumerate(heads) if head or any(columns[at])}
    names, name_notes = unique_names(own)
    if not header:
        called = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        reason = f"{why}, so the first line was read as data; " if why else ""
        name_notes = [f"{reason}the columns are called {called}"]
    notes += [*body_notes, *name_notes]
    return Grid(
        names=names, columns=[columns[at] for at in own], notes=tuple(notes), reading=replace(reading, header=header)
    )


# --- lines that are no rows -------------------------------------------------------------------------------------------

FEWEST_QUANTITIES = 3
"""Least numbers or dates of a column whose kind a line can break."""
MAX_END = 20
_TOTAL = re.compile(
    r"(grand |sub-?|overall )?totals?( \d{4})?|sum|average|mean|(gesamt)?summe|(ins)?gesamt|mittelwert|somme|moyenne",
    re.IGNORECASE,
)


class _Body:
    """Rows below a header, without rules, repeated headers, units, totals and footnotes.

    is_whole: every line is a row.
    """

    def __init__(self, name: str, *, is_whole: bool) -> None:
        self._name, self._is_whole = name, is_whole
        self._columns: list[list[str]] = []
        self._lines: list[int] = []
        self._faults: dict[str, list[int]] = {}

    def is_rule(self, record: Record) -> bool:
        if self._is_whole or not _is_rule(record):
            return False
        self._note(record.line, f"nothing but a rule: left out; {AS_IS} reads every line")
        return True

    def _note(self, line: int, fault: str) -> None:
        self._faults.setdefault(fault, []).append(line)

    def read(self, records: Iterable[Record], heads: Sequence[str], *, header: Sequence[str]) -> None:
        """Read the records. Raises DataError for text beyond the table, too many columns or cells, and for no row."""
        check_size(self._name, n_columns=len(heads))
        n_named = max((place for place, head in enumerate(heads, 1) if head), default=len(heads))
        self._columns, most = [[] for _ in heads], MAX_CELLS // len(heads)
        for line, cells, holds_records in records:
            if cells == header and len(cells) > 1 and not self._is_whole:
                self._note(line, f"the header again: left out; {AS_IS} reads every line")
                continue
            self._lines.append(line)
            if len(cells) > len(heads) and any(cells[len(heads) :]):
                raise DataError(
                    f"{self._name}: line {line} has {len(cells)} cells where {len(heads)} are expected: quote cells "
                    "that contain the delimiter, name every column (R leaves out that of its row names), or skip the "
                    "lines above the table"
                )
            if len(cells) < n_named:
                self._note(line, f"fewer than {n_named} cells: the others are missing")
            if holds_records:
                how = f"if quotes are part of the text, {PLAIN_QUOTES} reads every line"
                self._note(line, f"a quoted cell that holds lines like rows: {how}")
            for column, cell in zip(self._columns, chain(cells, repeat("")), strict=False):
                column.append(cell)
            if len(self._lines) > most:
                check_size(self._name, n_columns=len(heads), n_rows=len(self._lines))
        if not self._lines:
            raise DataError(
                f"{self._name} has one line only: a header line and at least one row are needed; if that line is a "
                "row, choose that there is no header"
            )

    def rows(self, *, has_header: bool) -> tuple[list[list[str]], list[str]]:
        """Return the (column, row) cells of rows, and a note on each other line."""
        lines, n_rows = self._lines, len(self._lines)
        top, end = (0, n_rows) if self._is_whole else self._ends(has_header)
        notes, cut = [], {*lines[:top], *lines[end:]}
        for fault, at in self._faults.items():
            if own := [line for line in at if line not in cut]:
                listed = ", ".join(map(str, own[:3])) + (", …" if len(own) > 3 else "")
                have = f"line {listed} has" if len(own) == 1 else f"{len(own):,} lines ({listed}) have"
                notes.append(f"{have} {fault}")
        if top:
            notes.append(f"line {lines[0]} was not read, as no data ({self._excerpt(0)}); {AS_IS} reads it")
        if end < n_rows:
            were = f"line {lines[end]} was" if end + 1 == n_rows else f"lines {lines[end]} to {lines[-1]} were"
            notes.append(f"{were} not read, as below the table ({self._excerpt(end)}); {AS_IS} reads every line")
        return [column[top:end] for column in self._columns], notes

    def _excerpt(self, row: int) -> str:
        return ", ".join(repr(shown_name(column[row])) for column in self._columns if column[row])[:200]

    def _ends(self, has_header: bool) -> tuple[int, int]:
        """Return the first row below units, and the one after the last above totals and footnotes."""
        n_rows = len(self._lines)
        last = n_rows - min(MAX_END, n_rows // 3)  # rows from there on may be below the table
        ends = (0, *range(last, n_rows))
        broken = (cells for cells in self._columns if any(_is_word(cells[row]) for row in ends))
        quantities = [cells for cells in broken if _are_quantities(cells[1:last])]
        top, end = 0, n_rows
        if has_header and last < n_rows and self._is_apart(0, quantities, last):
            top = 1
        while end > last and self._is_apart(end - 1, quantities, last):
            end -= 1
        is_broken = any(_is_word(cells[row]) for cells in quantities for row in ends if top <= row < end)
        return (0, n_rows) if is_broken else (top, end)

    def _is_apart(self, row: int, quantities: Sequence[Sequence[str]], last: int) -> bool:
        """True for a row that breaks the kinds of several columns of numbers or dates, or holds nothing but one cell.

        So are, from the row `last` on, one that begins with a word such as Total, and one of sums.
        """
        columns = self._columns
        cells = [column[row] for column in columns]
        filled = [cell for cell in cells if not _is_missing(cell)]
        n_broken = sum(_is_word(column[row]) for column in quantities)
        if n_broken > 1 or (n_broken and len(filled) == 1):
            return True
        if row == 0 or not filled:
            return False
        if _TOTAL.fullmatch(filled[0].rstrip(": ")) and columns[cells.index(filled[0])].count(filled[0]) == 1:
            return True
        if not cells[0] and "" not in columns[0][:last] and all(_is_sum(column, row) for column in columns):
            return True
        if len(filled) > 1 or cells[0] != filled[0] or len(columns) < 3 or _is_data(cells[0]):
            return False
        above = zip(*(column[:last] for column in columns), strict=True)
        return all(sum(not _is_missing(cell) for cell in cells) != 1 for cells in above)


def _are_quantities(cells: Sequence[str]) -> bool:
    """True for a column of numbers or dates; the first cells are looked at first, which is quick."""
    if any(map(_is_word, cells[:ROWS_COMPARED])):
        return False
    present = {cell for cell in cells if not _is_missing(cell)}
    return len(present) >= FEWEST_QUANTITIES and not any(map(_is_word, present))


def _is_sum(column: Sequence[str], row: int) -> bool:
    """True if the cell is empty, or the sum of its column above."""
    cells = list(filter(None, column[: row + 1])) if column[row] else []
    return all(map(is_number, cells)) and (
        not cells or math.isclose(math.fsum(map(float, cells[:-1])), float(cells[-1]), abs_tol=0.01)
    )
