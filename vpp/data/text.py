"""Text of a table: decode the bytes, find delimiter, names and rows among the lines, and read a grid of columns."""

import codecs
import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count, islice, zip_longest
from typing import Literal, NamedTuple

from vpp.data.columns import MISSING, MOSTLY, Lines, is_date, is_quantity
from vpp.data.dataset import DELIMITER_NAMES, ReadAs
from vpp.data.numbers import is_integer, is_number, is_written_number
from vpp.errors import DataError
from vpp.runtime import no_collecting

ENCODING_NAMES = {
    "utf-8": "UTF-8", "utf-16": "UTF-16", "mac_roman": "Mac Roman", "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)", "cp1252": "Windows-1252 (Western)", "cp1253": "Windows-1253 (Greek)",
    "koi8_r": "KOI8-R (Cyrillic)", "cp932": "Shift-JIS (Japanese)", "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)", "big5": "Big5 (Chinese)", "euc_kr": "EUC-KR (Korean)",
}  # fmt: skip
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_ONE_BYTE = ("cp1251", "koi8_r", "cp1253")
_MANY_BYTES = ("cp932", "euc_jp", "gb18030", "big5", "euc_kr")
_SURE = 0.3
"""Least coherence, from 0 to 1 as charset-normalizer measures it, for a guess of a one-byte encoding."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_AT_END = re.compile(r"\x1a\s*\Z")
"""Mark of DOS for the end of a file."""
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
    """Return text, encoding and notes of a file in the given encoding, or the detected one. Raises DataError."""
    marked = next((codec for mark, codec in _MARKS if content.startswith(mark)), None)
    codec, notes = encoding or marked or "utf-8", list[str]()
    try:
        text = content.decode(codec)
    except UnicodeError as error:
        line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
        remedy = f"(line {line}): save the table as CSV in UTF-8, or choose its encoding"
        if encoding or marked:
            raise DataError(f"{name} is not text in {encoding_name(codec)} {remedy}") from None
        codec = _guess(content, name, line)
        text = content.decode(codec, errors="replace")
        if "\ufffd" in text or _CONTROL.search(_AT_END.sub("", text)):  # nearly any binary file decodes in one byte
            raise DataError(f"{name} is not text in UTF-8, UTF-16 or Windows-1252 {remedy}") from None
        notes.append(
            f"not UTF-8: read as {encoding_name(codec)}; if letters look wrong, --read encoding=NAME reads another"
        )
    if wrong := NO_TEXT.search(text) or _AT_END.search(text):
        line = text.count("\n", 0, wrong.start()) + 1
        what = f"{name} holds a character that is no text (0x{ord(wrong[0]):02x}) in line {line}"
        raise DataError(f"{what}: remove it, or choose the file's encoding, such as utf-16-le")
    return text.lstrip("\ufeff"), codec, notes


def encoding_name(encoding: str) -> str:
    return ENCODING_NAMES.get(encoding, encoding)


def _guess(content: bytes, name: str, line: int) -> str:
    """Return the encoding of a file that is not UTF-8: another alphabet if it is certain, else Windows-1252.

    line: the first with a wrong byte. Raises DataError if all but a few letters are UTF-8: any other encoding would
    garble the rest.
    """
    from charset_normalizer import from_bytes  # imported late: most files are UTF-8 and do not need it

    lossy = content.decode("utf-8", errors="replace")
    if sum(character > "\x7f" for character in lossy) > 11 * lossy.count("\ufffd"):
        raise DataError(f"{name} is UTF-8 except line {line}: fix that line, or choose another encoding")
    sample = b"\n".join(line for line in content.splitlines() if not line.isascii())[:32_768]
    matches = list(from_bytes(sample, cp_isolation=["cp1252", *_ONE_BYTE, *_MANY_BYTES]))
    plausible = {other for match in matches for other in (match.encoding, *match.could_be_from_charset)}
    is_sure = matches and (matches[0].encoding in _MANY_BYTES or matches[0].coherence >= _SURE)
    return matches[0].encoding if is_sure and "cp1252" not in plausible else "cp1252"


# --- records ----------------------------------------------------------------------------------------------------------

PLAIN_QUOTES = "--read quotes=plain"
AS_IS = "--read as-is=yes"
NO_DELIMITER = ""
"""Stands for no delimiter: each line is one cell."""
_UNUSED = "\x1f"
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


def read_records(
    text: str, delimiter: str, *, name: str, first_line: int = 1, quotes: str | None = None, is_strict: bool = True
) -> Iterator[Record]:
    """Yield every record with any text.

    first_line: number of the text's first line in the file. quotes: `plain` if they are text, `csv` if they enclose
    cells. Raises DataError, if strict, for quotes that do not enclose a cell: they would lose their mark, or swallow
    lines, as where a cell holds lines as wide as its record.
    """
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter or _UNUSED,
        skipinitialspace=True,
        quoting=csv.QUOTE_NONE if quotes == "plain" else csv.QUOTE_MINIMAL,
        strict=is_strict,
    )
    line, stripped = first_line, lru_cache(_MAX_INTERNED)(clean)  # equal texts are one in memory
    try:
        for cells in reader:
            start, line = line, first_line + reader.line_num
            own = tuple(map(stripped, cells))
            if any(own):
                if line - start > 2 and is_strict and quotes is None and _holds_records(cells, delimiter):
                    how = f"if quotes are text, choose {PLAIN_QUOTES}; if they enclose it, --read quotes=csv"
                    raise DataError(f"{name}: line {start} has a quoted cell that holds lines like rows: {how}")
                yield Record(start, own)
    except csv.Error as error:
        why = str(error) if delimiter else "no delimiter detected"
        remedy = f"double each quote in a cell, read quotes as text ({PLAIN_QUOTES}), or choose the delimiter"
        raise DataError(f"{name}: line {line} cannot be split into cells ({why}): {remedy}") from None


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
    return len(cells) > 1 and bool(longest) and all(line.count(delimiter) == len(cells) - 1 for line in longest)


def _is_rule(record: Record) -> bool:
    """True for a line that sets the header apart, as in Markdown and in the output of a database."""
    if next(filter(None, record.cells))[0] not in "|+:=-" or "".join(record.cells).strip("|+:=-"):
        return False
    filled = list(filter(None, record.cells))
    return any("---" in cell or "===" in cell for cell in filled) or all("--" in cell for cell in filled)


def shown_name(name: str) -> str:
    """The name, or the beginning of another text, cut at LONG_NAME characters."""
    return name if len(name) <= LONG_NAME else f"{name[: LONG_NAME - 1]}…"


# --- where names and rows begin ---------------------------------------------------------------------------------------

SAMPLE_RECORDS = 100
"""Records at the top of a file that decide its dialect and its header."""
_SAMPLE_CHARACTERS = 262_144
MAX_ABOVE = 20
"""Largest number of lines above a table."""
ROWS_COMPARED = 30
_ITEMS = r"[+-]?\d+(?:(?:\s*[,;|]\s*|\s+)[+-]?\d+)+"
_SEVERAL = re.compile(rf"{_ITEMS}|\[\s*{_ITEMS}\s*\]|\(\s*{_ITEMS}\s*\)|\d+(?:-\d+)+", re.ASCII)
"""Several integers in a cell, such as `3-4-0-7`, which are no name of a column."""


def _is_data(cell: str) -> bool:
    """True for numbers and dates; parts of a year may be names."""
    return is_written_number(cell) or _SEVERAL.fullmatch(cell) is not None or is_date(cell)


def _is_missing(cell: str) -> bool:
    return cell.lower() in MISSING


def _is_word(cell: str) -> bool:
    return not (_is_missing(cell) or is_quantity(cell) or _SEVERAL.fullmatch(cell))


def _is_year(cell: str) -> bool:
    return re.fullmatch(r"(1[89]|2[01])\d\d", cell, re.ASCII) is not None


def table_start(records: Sequence[Record]) -> int:
    """Count comments and titles: lines of one cell or an unusual width, if a table clearly follows them."""
    lines = [record.cells for record in records[: MAX_ABOVE + 1]]
    widths = Counter(len(record.cells) for record in records)
    usual = max(widths, key=lambda width: (widths[width], width), default=1)
    comments = [cells[0].startswith("#") for cells in lines]
    alone = [sum(map(bool, cells)) == 1 for cells in lines]
    above = [is_alone or len(cells) != usual for is_alone, cells in zip(alone, lines, strict=True)]
    n = comments.index(False) if False in comments else len(lines) - 1
    if usual == 1 or n < 0:
        return max(n, 0)
    if n and len(lines[n - 1]) == usual and not _is_plain_header(records[n:]):
        n -= 1  # the last comment is the header
    start = next((at for at in range(n, len(lines)) if not above[at]), n)
    title, head = records[start - 1], records[start]
    is_padded = len(title.cells) > 1 and not any(map(_is_data, head.cells))
    is_whole = start + 2 < len(records) and all(len(record.cells) == usual for record in records[start:])
    is_even = is_whole and not (title.cells[0] == "" and _is_data(head.cells[0]))
    is_apart = head.line > title.line + 1 or (usual > 2 and (is_padded or is_even))
    are_titles = start > n and all(alone[n:start]) and is_apart
    return start if are_titles or _is_plain_header(records[start:]) else n


def _is_plain_header(records: Sequence[Record]) -> bool:
    """True if the first line holds names and the second one, of as many cells, a number or a date."""
    first, second = (record.cells for record in records[:2]) if len(records) > 1 else ([], [])
    are_names = all(cell and not _is_data(cell) for cell in first)
    return len(first) == len(second) > 0 and are_names and any(map(_is_data, second))


def _columns_below(records: Sequence[Record], n_columns: int) -> list[list[str]]:
    """(column, row) cells of the first records, without missing ones."""
    lines = [record.cells for record in records[:ROWS_COMPARED]]
    return [[cells[at] for cells in lines if at < len(cells) and not _is_missing(cells[at])] for at in range(n_columns)]


def why_no_header(records: Sequence[Record]) -> str:
    """Return why the first line does not name the columns, as it is like those below; empty if it does or may."""
    first = records[0].cells
    below = [record for record in records[1:] if record.cells != first]
    alike, again = list[int](), list[int]()
    for at, column in enumerate(_columns_below(below, len(first))):
        if _is_missing(first[at]) or not column:
            continue
        if sum(map(_is_data, column)) >= MOSTLY * len(column):
            if not _is_data(first[at]):
                return ""
            alike.append(at)
        elif first[at] in column:
            again.append(at)
    are_names = _are_names(first) and not any(_are_names(record.cells) for record in below[:ROWS_COMPARED])
    if alike and not are_names:
        return f"{first[alike[0]][:40]!r} in column {alike[0] + 1} is like the cells below it"
    if not alike and again and (len(again) > 1 or len(first) == 1):
        return f"{first[again[0]][:40]!r} in column {again[0] + 1} is repeated below"
    return ""


def _are_names(cells: Sequence[str]) -> bool:
    """True if all numbers and dates of a line may be names: years, or 1, 2, 3, …"""
    data = [cell for cell in cells if _is_data(cell)]
    are_counted = len(data) > 2 and is_integer(data[0]) and data == [str(int(data[0]) + i) for i in range(len(data))]
    return bool(data) and (are_counted or all(map(_is_year, data)))


def _has_two_headers(records: Sequence[Record]) -> bool:
    """True if the second line names members of groups in the first, as in a pivot table.

    So it seems where a name stands for several columns, and below it a word or a year, and then only other numbers.
    """
    first, second = records[0].cells, records[1].cells
    groups = [next(filter(None, reversed(first[: at + 1])), "") for at in range(len(first))]
    are_members = []
    for at, column in enumerate(_columns_below(records[2:], min(len(first), len(second)))):
        if column and groups[at] and groups.count(groups[at]) > 1:
            is_name = not _is_data(second[at]) or (_is_year(second[at]) and not any(map(_is_year, column)))
            are_members.append(is_name and not _is_missing(second[at]) and all(map(_is_data, column)))
    return len(are_members) > 1 and all(are_members)


# --- the delimiter ----------------------------------------------------------------------------------------------------

DELIMITERS = (",", ";", "\t", "|")
_IN_CELLS = 1.5
"""Handicap of the comma in cells a line: decimals and names contain commas too."""


def find_delimiter(text: str, *, quotes: str | None = None) -> tuple[str, str]:
    """Return the delimiter that divides the sampled records most evenly, and a note if another does so as well.

    Of equal delimiters the one that gives more cells is taken. A delimiter that does not exist is NO_DELIMITER.
    """
    evenness = {mark: _evenness(text, mark, quotes) for mark in DELIMITERS}
    best, other = sorted(DELIMITERS, key=evenness.__getitem__, reverse=True)[:2]
    if not evenness[best][0]:
        how = "if blanks or another mark set the columns apart, choose it (--read delimiter=space)"
        return NO_DELIMITER, f"no delimiter detected: each line is one cell; {how}"
    if evenness[other][:-1] < evenness[best][:-1]:
        return best, ""
    called, other_called = DELIMITER_NAMES[best], DELIMITER_NAMES[other]
    how = f"if the columns look wrong, choose --read delimiter={other_called}"
    return (
        best,
        f"the {called} was taken as the delimiter, though the {other_called} divides the lines as evenly: {how}",
    )


def _evenness(text: str, delimiter: str, quotes: str | None) -> tuple[bool, int, bool, float]:
    """Tuple that is greatest for the delimiter that divides best.

    Whether it divides; the records as wide as the table's first one, minus the others; whether the table starts at the
    first record; the cells of the table's first record, minus the handicap of the comma.
    """
    cut = text[:_SAMPLE_CHARACTERS]
    lenient = read_records(cut, delimiter, name="", quotes=quotes, is_strict=False)
    records = list(islice((record for record in lenient if not _is_rule(record)), SAMPLE_RECORDS))
    if len(cut) < len(text) and 1 < len(records) < SAMPLE_RECORDS:
        records.pop()  # the end of the sample cuts it
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
_SEP = re.compile(r'\A\s*"?sep=(.)"?[ \t,;|]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)
"""A first line that names the delimiter, as Excel writes it."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Named columns of stripped texts; an empty text is an empty cell."""

    names: tuple[str, ...]
    texts: Sequence[Sequence[str]]
    """(column, row)."""
    file_notes: tuple[str, ...] = ()
    """Decisions on the file's format and grid, a sentence each."""
    lines: Lines = ()
    reading: Reading


def named_grid(
    names: Sequence[str], texts: Sequence[Sequence[str]], *, file: str, reading: Reading, notes: Sequence[str] = ()
) -> Grid:
    """Build the grid of a format that names its columns. Raises DataError for a table without rows."""
    if not any(texts):
        raise DataError(f"{file} has no rows: rows are needed")
    own_names, name_notes = unique_names(dict(enumerate(names)))
    return Grid(names=own_names, texts=texts, file_notes=(*notes, *name_notes), reading=reading)


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


def read_csv(text: str, encoding: str, name: str, read_as: ReadAs, notes: Sequence[str]) -> Grid:
    """Read a CSV. Raises DataError for text that is no table."""
    named = _SEP.match(text) if read_as.skip_lines is None else None
    skipped = (read_as.skip_lines or 0) + (1 if named else 0)
    body = "".join(islice(io.StringIO(text, newline=""), skipped, None)) if skipped else text
    if not body.strip():
        raise DataError(f"{name} has no lines below the {skipped} skipped ones: skip fewer lines")
    delimiter, note = read_as.delimiter or (named and named[1]), ""
    if not delimiter:
        delimiter, note = find_delimiter(body, quotes=read_as.quotes)
    check_size(name, n_columns=1, n_rows=body.count(delimiter or "\n") + body.count("\n"))
    reading = Reading(encoding=encoding, delimiter=delimiter, skipped_lines=skipped)
    with no_collecting():  # records are many, and no garbage
        records = list(read_records(body, delimiter, name=name, first_line=skipped + 1, quotes=read_as.quotes))
        return read_lines(records, reading, name, read_as, [*notes, note])


def read_lines(records: Sequence[Record], reading: Reading, name: str, read_as: ReadAs, notes: Sequence[str]) -> Grid:
    """Read the table among the lines of a text or a sheet.

    Titles, comments, rules, repeated headers, units, totals and footnotes are left out, with a note, unless read_as
    takes every line as it is. Raises DataError for a table without rows or beyond the limits, and for two headers.
    """
    is_whole = bool(read_as.as_is)
    rules = {record.line for record in records if not is_whole and _is_rule(record)}
    lines = [record for record in records if record.line not in rules]
    if not lines:
        raise DataError(f"{name} is empty: a header line and rows are needed")
    start = table_start(lines[:SAMPLE_RECORDS]) if read_as.skip_lines is None else 0
    top = lines[start : start + SAMPLE_RECORDS]
    why = why_no_header(top) if read_as.header is None else ""
    header = not why if read_as.header is None else read_as.header
    heads = top[0].cells if header else [""] * max(len(record.cells) for record in top)
    is_again = header and not is_whole and len(heads) > 1
    again = {record.line for record in lines[start + 1 :] if is_again and record.cells == heads}
    rows = [record for record in lines[start + header :] if record.line not in again]
    columns = _columns(rows, heads, name)
    first, end = (0, len(rows)) if is_whole else _find_rows(columns, has_header=header)
    has_own_names = first and any(cell and not head for head, cell in zip(heads, rows[0].cells, strict=False))
    if has_own_names or (header and not is_whole and len(top) > 1 and _has_two_headers(top)):
        remedy = f"write one line of names, or choose {AS_IS}, which reads the second line as a row"
        raise DataError(f"{name}: lines {top[0].line} and {top[1].line} both seem to name the columns: {remedy}")
    texts = {at: column[first:end] for at, column in enumerate(columns)}
    names, name_notes = unique_names({at: head for at, head in enumerate(heads) if head or any(texts[at])})
    if not header:
        called = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        reason = f"{why}, so the first line was read as data; " if why else ""
        undo = "; --read header=yes takes it as names" if why else ""
        name_notes = [f"{reason}the columns are called {called}{undo}"]
    n_named = max((at for at, head in enumerate(heads, 1) if head), default=len(heads))
    short = [record.line for record in rows[first:end] if len(record.cells) < n_named]
    leave_out = f"left out; {AS_IS} reads every line"
    own_notes = (
        _excerpt("above the table", lines[:start], "--read skip-lines=0 reads every line"),
        _have(sorted(rules), f"nothing but a rule: {leave_out}"),
        _have(sorted(again), f"the header again: {leave_out}"),
        _have(short, f"fewer than {n_named} cells: the others are missing"),
        _excerpt("no data", rows[:first], f"{AS_IS} reads it"),
        _excerpt("below the table", rows[end:], f"{AS_IS} reads every line"),
    )
    return Grid(
        names=names,
        texts=[texts[at] for at, head in enumerate(heads) if head or any(texts[at])],
        file_notes=(*filter(None, (*notes, *own_notes)), *name_notes),
        lines=[record.line for record in rows[first:end]],
        reading=replace(reading, header=header, skipped_lines=top[0].line - 1 if start else reading.skipped_lines),
    )


def _columns(rows: Sequence[Record], heads: Sequence[str], name: str) -> list[list[str]]:
    """Return the (column, row) cells. Raises DataError for no row, text beyond the header, and beyond the limits."""
    n_columns = len(heads)
    check_size(name, n_columns=n_columns, n_rows=len(rows))
    if not rows:
        raise DataError(f"{name} has one line only: write a header and rows, or choose that there is no header")
    if wide := next((row for row in rows if len(row.cells) > n_columns and any(row.cells[n_columns:])), None):
        fault = f"line {wide.line} has {len(wide.cells)} cells where {n_columns} are expected"
        remedy = "quote cells that contain the delimiter, name every column (R leaves out that of its row names)"
        raise DataError(f"{name}: {fault}: {remedy}, or skip the lines above the table")
    columns = zip_longest(heads, *(row.cells for row in rows), fillvalue="")
    return [list(column[1:]) for column in islice(columns, n_columns)]


# --- lines that are no rows -------------------------------------------------------------------------------------------

FEWEST_QUANTITIES = 3
"""Least numbers or dates of a column whose kind a line can break."""
MAX_END = 20
_TOTAL = re.compile(
    r"(grand |sub-?|overall )?totals?( \d{4})?|sum|average|mean|(gesamt)?summe|(ins)?gesamt|mittelwert|somme|moyenne",
    re.IGNORECASE,
)


def _have(lines: Sequence[int], fault: str) -> str:
    """Note what lines have; empty for no line."""
    listed = ", ".join(map(str, lines[:3])) + (", …" if len(lines) > 3 else "")
    have = f"line {listed} has" if len(lines) == 1 else f"{len(lines):,} lines ({listed}) have"
    return f"{have} {fault}" if lines else ""


def _excerpt(what: str, records: Sequence[Record], undo: str) -> str:
    """Note the lines that were not read, with the text of the first; empty for none."""
    if not records:
        return ""
    text = ", ".join(repr(shown_name(cell)) for cell in records[0].cells if cell)[:200]
    first, last = records[0].line, records[-1].line
    were = f"line {first} was" if first == last else f"lines {first} to {last} were"
    return f"{were} not read, as {what} ({text}); {undo}"


def _find_rows(columns: Sequence[Sequence[str]], *, has_header: bool) -> tuple[int, int]:
    """Return the first row below units, and the one after the last above totals and footnotes."""
    n_rows = len(columns[0])
    last = n_rows - min(MAX_END, n_rows // 3)  # rows from there on may be below the table
    ends = (0, *range(last, n_rows))
    broken = (cells for cells in columns if any(_is_word(cells[row]) for row in ends))
    quantities = [cells for cells in broken if _are_quantities(cells[1:last])]
    first, end = 0, n_rows
    if has_header and last < n_rows and _breaks_kinds(columns, 0, quantities):
        first = 1
    while end > last and (_breaks_kinds(columns, end - 1, quantities) or _is_total(columns, end - 1, last)):
        end -= 1
    is_broken = any(_is_word(cells[row]) for cells in quantities for row in ends if first <= row < end)
    return (0, n_rows) if is_broken else (first, end)


def _breaks_kinds(columns: Sequence[Sequence[str]], row: int, quantities: Sequence[Sequence[str]]) -> bool:
    """True for a row with words in several columns of numbers or dates, or in one and nothing else."""
    n_broken = sum(_is_word(cells[row]) for cells in quantities)
    return n_broken > 1 or (n_broken == 1 and sum(not _is_missing(cells[row]) for cells in columns) == 1)


def _is_total(columns: Sequence[Sequence[str]], row: int, last: int) -> bool:
    """True for a row that begins with a word such as Total, for one of sums, and for one cell alone: a footnote."""
    filled = [cells for cells in columns if not _is_missing(cells[row])]
    if not filled:
        return False
    if _TOTAL.fullmatch(filled[0][row].rstrip(": ")) and filled[0].count(filled[0][row]) == 1:
        return True
    if not columns[0][row] and "" not in columns[0][:last] and all(_is_sum(cells, row) for cells in columns):
        return True
    if len(filled) > 1 or columns[0] is not filled[0] or len(columns) < 3 or _is_data(columns[0][row]):
        return False
    above = zip(*(cells[:last] for cells in columns), strict=True)
    return all(sum(not _is_missing(cell) for cell in cells) != 1 for cells in above)


def _are_quantities(cells: Sequence[str]) -> bool:
    """True for a column of numbers or dates; the first word ends the search."""
    return not any(map(_is_word, cells)) and len({cell for cell in cells if not _is_missing(cell)}) >= FEWEST_QUANTITIES


def _is_sum(column: Sequence[str], row: int) -> bool:
    """True if the cell is empty, or the sum of its column above."""
    cells = list(filter(None, column[: row + 1])) if column[row] else []
    return all(map(is_number, cells)) and (
        not cells or math.isclose(math.fsum(map(float, cells[:-1])), float(cells[-1]), abs_tol=0.01)
    )
