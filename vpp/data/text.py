"""Text of a file: decode the bytes, find the dialect of a CSV, and build a grid of named columns."""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count, islice, pairwise
from typing import Literal, NamedTuple

from vpp.data.columns import MISSING, find_form, is_number, is_sequence, read_notation
from vpp.data.dataset import DELIMITER_NAMES, ReadAs
from vpp.errors import DataError

ENCODING_NAMES = {
    "utf-8": "UTF-8", "utf-8-sig": "UTF-8 with a byte order mark", "utf-16": "UTF-16",
    "utf-16-le": "UTF-16, little-endian", "utf-16-be": "UTF-16, big-endian", "cp1252": "Windows-1252 (Western)",
    "cp1250": "Windows-1250 (Central European)", "cp1251": "Windows-1251 (Cyrillic)", "koi8_r": "KOI8-R (Cyrillic)",
    "cp866": "DOS 866 (Cyrillic)", "iso8859_5": "ISO 8859-5 (Cyrillic)", "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)", "mac_roman": "Mac Roman", "cp850": "DOS 850 (Western)",
    "cp932": "Shift-JIS (Japanese)", "euc_jp": "EUC-JP (Japanese)", "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)", "euc_kr": "EUC-KR (Korean)",
}  # fmt: skip

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_ONE_BYTE = ("cp1251", "koi8_r", "cp1253")
_MANY_BYTES = ("cp932", "euc_jp", "gb18030", "big5", "euc_kr")
_SURE = 0.3
"""Least coherence, from 0 to 1 as charset-normalizer measures it, for a guess of a one-byte encoding."""
_SAMPLE_BYTES = 32_768
"""Bytes of the lines beyond ASCII that the guess of an encoding reads."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    text: str
    encoding: str
    """Python's name."""
    note: str = ""


def decode(content: bytes, *, name: str, encoding: str | None = None) -> Decoded:
    """Decode a file in the given encoding, or in the detected one.

    Raises DataError if the bytes are not text in the encoding.
    """
    if encoding is not None:
        try:
            text = content.decode(encoding)
            if "\0" in text or _SURROGATE.search(text):  # utf-7 and unicode_escape can spell a lone surrogate
                raise ValueError
        except ValueError as error:
            at = f" (line {_line(content, error.start)})" if isinstance(error, UnicodeDecodeError) else ""
            raise DataError(f"{name} is not text in {encoding_name(encoding)}{at}: choose another encoding") from None
        return Decoded(text=text, encoding=encoding)
    marked = next((marked for mark, marked in _MARKS if content.startswith(mark)), None)
    try:
        text = content.decode(marked or "utf-8")
    except UnicodeDecodeError as error:
        if marked:
            raise _no_text(name) from None
        return _guessed(content, name, error)
    if "\0" in text:
        raise _no_text(name)
    return Decoded(text=text, encoding=marked or "utf-8")


def encoding_name(encoding: str) -> str:
    return ENCODING_NAMES.get(encoding, encoding)


def _guessed(content: bytes, name: str, error: UnicodeDecodeError) -> Decoded:
    """Decode a file that is not UTF-8: another alphabet if charset-normalizer is sure, else Windows-1252."""
    _check_damaged(content, name, error)
    for encoding in (_other_alphabet(content), "cp1252"):
        if encoding is None:
            continue
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not _CONTROL.search(text):  # nearly any binary file decodes in a one-byte encoding
            note = f"not UTF-8: read as {encoding_name(encoding)}; if letters look wrong, choose another encoding"
            return Decoded(text=text, encoding=encoding, note=note)
    raise _no_text(name)


def _check_damaged(content: bytes, name: str, error: UnicodeDecodeError) -> None:
    """Raises DataError if all but a few letters are UTF-8: any other encoding would garble the rest."""
    lossy = content.decode("utf-8", errors="replace")
    n_bad = lossy.count("\ufffd")
    n_good = sum(character > "\x7f" for character in lossy) - n_bad if n_bad else 0
    if n_good > 10 * n_bad:
        raise DataError(
            f"{name} is UTF-8 except line {_line(content, error.start)} (byte 0x{content[error.start]:02x}): "
            "fix that line, or choose another encoding"
        )


def _other_alphabet(content: bytes) -> str | None:
    """Return the encoding of a non-Latin alphabet if charset-normalizer is sure of it, else None."""
    # Imported late: most files are UTF-8 and do not need it.
    from charset_normalizer import from_bytes

    sample = b"\n".join(line for line in content.splitlines() if not line.isascii())[:_SAMPLE_BYTES]
    matches = list(from_bytes(sample, cp_isolation=["cp1252", *_ONE_BYTE, *_MANY_BYTES]))
    plausible = {other for match in matches for other in (match.encoding, *match.could_be_from_charset)}
    if not matches or "cp1252" in plausible:
        return None
    best = matches[0]
    is_sure = best.encoding in _MANY_BYTES or best.coherence >= _SURE
    return str(best.encoding) if is_sure else None


def _line(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1


def _no_text(name: str) -> DataError:
    return DataError(
        f"{name} is not text in UTF-8, UTF-16 or Windows-1252: save the table as CSV in UTF-8, or choose its encoding"
    )


SAMPLE_RECORDS = 100
"""Records at the top of a file that decide its dialect."""
_SAMPLE_CHARACTERS = 262_144
_UNUSED = "\x1f"
_END = "end"
"""Extra last line: the csv module returns it as a record of its own unless a quote is still open."""


class Record(NamedTuple):
    """One line of the table, or several if a cell contains line ends."""

    line: int
    """First line in the file, counted from 1."""
    cells: Sequence[str]
    """Verbatim, outer blanks included."""


def sample(text: str, delimiter: str) -> list[Record]:
    """The first records, at most SAMPLE_RECORDS; a record cut by the end of the sample is dropped."""
    cut = text[:_SAMPLE_CHARACTERS]
    try:
        records = list(islice(_read(cut, delimiter), SAMPLE_RECORDS))
    except csv.Error:
        return []
    return records[:-1] if len(cut) < len(text) and 1 < len(records) < SAMPLE_RECORDS else records


def read_records(text: str, delimiter: str, *, name: str, first_line: int = 1) -> Iterator[Record]:
    """Yield every record with any text. Raises DataError for a quote that is never closed.

    delimiter: empty if each line is one cell. first_line: number of the text's first line in the file.
    """
    last = Record(first_line, ())
    closed = text if text.endswith(("\n", "\r")) else f"{text}\n"
    try:
        for record in _read(closed, delimiter, first_line=first_line, end=(_END,)):
            if last.cells:
                yield last
            last = record
    except csv.Error:
        raise DataError(
            f"{name}: a cell is longer than {csv.field_size_limit():,} characters: close the quote that opens it, or "
            f"shorten it (after line {last.line})"
        ) from None
    if list(last.cells) != [_END]:
        raise DataError(
            f"{name}: line {last.line} opens a quote that is never closed: close it, or double each quote in a cell"
        )


def _read(text: str, delimiter: str, *, first_line: int = 1, end: Sequence[str] = ()) -> Iterator[Record]:
    """Yield the records with any text; `end` is appended to the lines."""
    reader = csv.reader(
        chain(io.StringIO(text, newline=""), end), delimiter=delimiter or _UNUSED, skipinitialspace=True
    )
    line = first_line
    for cells in reader:
        if any(map(str.strip, cells)):
            yield Record(line, cells)
        line = first_line + reader.line_num


MAX_ABOVE = 20
"""Largest number of lines above a table."""
_MOSTLY = 0.8
"""Least share of numbers in a column of numbers."""
ROWS_COMPARED = 30
"""Lines below the first one that it is compared with."""
_YEARS = range(1800, 2200)


def table_start(records: Sequence[Record]) -> int:
    """Count the comments and titles above the table."""
    widths = [len(record.cells) for record in records]
    usual = max(set(widths), key=lambda width: (widths.count(width), width), default=1)
    n = _comments(records, usual)
    if usual == 1:
        return n
    return n + (_titles(records[n:], usual) or _metadata(records[n:], usual))


def why_no_header(records: Sequence[Record]) -> str:
    """Reason, as a clause, why the first line does not name the columns; empty if it does, or if nothing tells.

    Names differ from the cells of their columns, data are like them.
    """
    if not records:
        return ""
    first = [cell.strip() for cell in records[0].cells]
    below = [[cell.strip() for cell in record.cells] for record in records[1 : 1 + ROWS_COMPARED]]
    below = [cells for cells in below if cells != first]
    alike: list[int] = []
    again: list[int] = []
    for place, cell in enumerate(first):
        column = [cells[place] for cells in below if place < len(cells) and cells[place].lower() not in MISSING]
        if cell.lower() in MISSING or not column:
            continue
        if sum(map(_is_quantity, column)) >= _MOSTLY * len(column):
            if not _is_quantity(cell):
                return ""
            alike.append(place)
        elif cell in column:
            again.append(place)
    if alike and not _counts(first, below):
        return f"{first[alike[0]][:40]!r} in column {alike[0] + 1} is like the cells below it"
    if not alike and again and (len(again) > 1 or len(first) == 1):
        return f"{first[again[0]][:40]!r} in column {again[0] + 1} is repeated below"
    return ""


def _comments(records: Sequence[Record], usual: int) -> int:
    """Count the lines at the top that begin with #; the last of them may be the header and is then not counted."""
    n = 0
    while n < min(MAX_ABOVE, len(records) - 1) and records[n].cells[0].lstrip().startswith("#"):
        n += 1
    is_header = n > 0 and usual > 1 and len(records[n - 1].cells) == usual and not _is_plain_header(records[n:])
    return n - 1 if is_header else n


def _is_plain_header(records: Sequence[Record]) -> bool:
    """True if the first line holds names and the second one a number or a date."""
    if len(records) < 2:
        return False
    is_named = all(cell.strip() and not _is_quantity(cell.strip()) for cell in records[0].cells)
    return is_named and _has_quantity(records[1])


def _titles(records: Sequence[Record], usual: int) -> int:
    """Count the lines of one cell at the top, if a table clearly follows them."""
    n = 0
    while n < min(MAX_ABOVE, len(records) - 1) and _is_alone(records[n], usual):
        n += 1
    if n == 0 or len(records[n].cells) < 2:
        return 0
    before, header, below = records[n - 1], records[n], records[n + 1 :]
    widths = {len(record.cells) for record in records[n:]}
    is_plain = (
        header.line > before.line + 1
        or (len(before.cells) > 1 and not _has_quantity(header))
        or (usual > 2 and len(below) > 1 and widths == {usual})
        or _is_plain_header(records[n:])
    )
    return n if is_plain else 0


def _metadata(records: Sequence[Record], usual: int) -> int:
    """Count the lines of another width at the top, such as `Station;Berlin`, above a header with data below it."""
    for n, record in enumerate(records[:MAX_ABOVE]):
        if len(record.cells) == usual:
            widths = {len(each.cells) for each in records[n : n + 2]}
            return n if n and widths == {usual} and _is_plain_header(records[n:]) else 0
    return 0


def _is_alone(record: Record, usual: int) -> bool:
    first, *rest = record.cells
    return bool(first.strip()) and (not rest or (usual > 2 and not "".join(rest).strip()))


def _has_quantity(record: Record) -> bool:
    return any(_is_quantity(cell.strip()) for cell in record.cells)


def _is_quantity(cell: str) -> bool:
    """True for a number, a sequence of integers or a date."""
    return is_number(cell) or is_sequence(cell) or bool(find_form((cell,))) or read_notation((cell,))[1] is not None


def _counts(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """True if the numbers of the first line are names: years, or 1, 2, 3, … as on no other line."""
    own = _integers(first)
    if own is None:
        return False
    others = [numbers for cells in below if (numbers := _integers(cells)) is not None]
    if all(number in _YEARS for number in own):
        return not any(all(number in _YEARS for number in numbers) for numbers in others if numbers)
    return len(own) > 2 and _is_run(own) and not any(map(_is_run, others))


def _integers(cells: Sequence[str]) -> list[int] | None:
    numbers = [cell for cell in cells if _is_quantity(cell)]
    return [int(cell) for cell in numbers] if all(re.fullmatch(r"\d{1,9}", cell) for cell in numbers) else None


def _is_run(numbers: Sequence[int]) -> bool:
    return len(numbers) > 1 and all(b == a + 1 for a, b in pairwise(numbers))


DELIMITERS = (",", ";", "\t", "|")
NO_DELIMITER = ""
"""Stands for no delimiter: each line is one cell."""

_IN_CELLS = 1.5
"""Handicap of the comma in cells a line: decimals and names contain commas too."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_SEP = re.compile(r'\A\s*"?sep=(.)"?[ \t,;|]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)


def named_delimiter(text: str) -> str | None:
    """Read the delimiter from a first line such as `sep=;`, which Excel writes."""
    match = _SEP.match(text)
    return match[1] if match else None


def find_delimiter(text: str) -> tuple[str, str]:
    """Return the delimiter that divides the sampled records most evenly, and a second one that does so as well.

    Ties go to the delimiter that gives more cells. Either is NO_DELIMITER if there is none.
    """
    agreement = {delimiter: _agreement(text, delimiter) for delimiter in DELIMITERS}
    best, other = sorted(DELIMITERS, key=agreement.__getitem__, reverse=True)[:2]
    if not agreement[best].divides:
        return NO_DELIMITER, NO_DELIMITER
    return best, other if agreement[other][:-1] == agreement[best][:-1] else NO_DELIMITER


def skip_lines(text: str, n_lines: int) -> str:
    ends = [match.end() for match in islice(_LINE_END.finditer(text), min(n_lines, len(text) + 1))]
    if len(ends) < n_lines:
        return ""
    return text[ends[-1] :] if ends else text


class _Agreement(NamedTuple):
    """Evenness of a delimiter's division of a text; the greatest tuple is the best."""

    divides: bool
    n_alike: int
    """Records as wide as the table's first record, minus the others."""
    from_top: bool
    """True if the table starts at the first record."""
    width: float
    """Cells of the table's first record, minus the handicap of the comma."""


def _agreement(text: str, delimiter: str) -> _Agreement:
    records = sample(text, delimiter)
    start = table_start(records)
    widths = [len(record.cells) for record in records[start:]]
    if not widths or widths[0] == 1:
        return _Agreement(False, -len(records), False, 1)
    n_alike = 2 * widths.count(widths[0]) - len(widths)
    return _Agreement(True, n_alike, start == 0, widths[0] - (_IN_CELLS if delimiter == "," else 0))


MAX_NAME = 1_000
"""Characters of the longest name allowed."""
LONG_NAME = 60
"""Characters of a name shown in a message; longer names are cut."""


def unique_names(
    headers: Sequence[str], *, without: Collection[int], say: bool, file: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a name for each header except those at the places `without`, and a note on each name that was made up.

    say: also note columns without a name. Raises DataError for a name longer than MAX_NAME.
    """
    given = [" ".join(header.split()) for header in headers]
    taken = set(given)
    named: dict[str, None] = {}
    notes: list[str] = []
    for number, name in enumerate(given, start=1):
        if number - 1 in without:
            continue
        if len(name) > MAX_NAME:
            raise DataError(
                f"{file}: the name of column {number} has {len(name):,} characters, more than {MAX_NAME:,}: shorten "
                "it, or choose that there is no header"
            )
        if name and name not in named:
            named[name] = None
            continue
        stem = name or f"column_{number}"
        own = next(other for other in chain((stem,), (f"{stem}_{i}" for i in count(2))) if other not in taken)
        taken.add(own)
        named[own] = None
        if name or say:
            fault = f"repeats the name {shown_name(name)!r}" if name else "has no name"
            notes.append(f"column {number} {fault}: called {shown_name(own)!r}")
    return tuple(named), tuple(notes)


def shown_name(name: str) -> str:
    """The name, or the beginning of another text, cut at LONG_NAME characters."""
    return name if len(name) <= LONG_NAME else f"{name[: LONG_NAME - 1]}…"


MAX_COLUMNS = 2_000
MAX_FILLED = 2_000_000
"""Empty cells that may be added to short lines in total: each takes memory that the file does not."""
_ROWS_AT_ONCE = 8_192
_MAX_INTERNED = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Named columns of stripped texts; an empty text is an empty cell."""

    names: tuple[str, ...]
    columns: list[list[str]]
    """(column, row)."""
    notes: tuple[str, ...] = ()


def build_grid(records: Iterator[Record], *, header: bool, width: int, name: str) -> Grid:
    """Build the grid of all records; the first one names the columns if `header`.

    width: cells a line if there is no header. Columns without name and cells are dropped.
    Raises DataError for a row with more cells than columns, for too many columns, and for no rows.
    """
    first = next(records, None)
    if first is None:
        raise DataError(f"{name} is empty: a header line and rows are needed")
    given = list(first.cells) if header else [""] * width
    if len(given) > MAX_COLUMNS:
        raise DataError(
            f"{name} has {len(given):,} columns, more than {MAX_COLUMNS:,}: keep those that matter, or swap rows and "
            "columns"
        )
    n_named = max((place for place, head in enumerate(given, 1) if head.strip()), default=len(given))
    short, long = list[int](), list[int]()
    rows = _even(records if header else chain((first,), records), (len(given), n_named), (short, long), name)
    columns = _columns(rows, len(given))
    if not columns[0]:
        raise DataError(
            f"{name} has one line only: a header line and at least one row are needed; if that line is a row, choose "
            "that there is no header"
        )
    headed = enumerate(zip(given, columns, strict=True))
    empty = [place for place, (head, cells) in headed if not head.strip() and not any(cells)]
    names, notes = unique_names(given, without=empty, say=header, file=name)
    remaining = [cells for i, cells in enumerate(columns) if i not in empty]
    left_out = (_left_out(empty),) if empty else ()
    uneven = (
        f"{_lines(short)} fewer than {n_named} cells: the others are missing" if short else "",
        f"{_lines(long)} empty cells beyond the last column: these were left out" if long else "",
    )
    return Grid(names=names, columns=remaining, notes=(*filter(None, uneven), *left_out, *notes))


_Uneven = tuple[list[int], list[int]]
"""Line numbers of rows with fewer and with more cells than the table."""


def _even(records: Iterable[Record], widths: tuple[int, int], uneven: _Uneven, file: str) -> Iterator[Sequence[str]]:
    """Yield the cells of each row. Raises DataError for text beyond the table, and for too many missing cells.

    widths: of the table, and without the unnamed columns at its end. uneven: gets the numbers of uneven lines.
    """
    (width, n_named), (short, long), n_filled = widths, uneven, 0
    for line, cells in records:
        n_lacking = width - len(cells)
        if n_lacking == 0:
            yield cells
        elif n_lacking > 0:
            short += [line] if len(cells) < n_named else []
            n_filled += n_lacking
            if n_filled > MAX_FILLED:
                raise DataError(
                    f"{file} has {width:,} columns but many shorter lines, with more than {MAX_FILLED:,} cells missing "
                    "in total: keep the columns that are filled, or choose the delimiter"
                )
            yield [*cells, *[""] * n_lacking]
        elif "".join(cells[width:]).strip():
            raise DataError(
                f"{file}: line {line} has {len(cells)} cells where {width} are expected: quote cells that contain the "
                "delimiter, name every column, or skip the lines above the table"
            )
        else:
            long.append(line)
            yield cells[:width]


def _columns(rows: Iterator[Sequence[str]], width: int) -> list[list[str]]:
    columns: list[list[str]] = [[] for _ in range(width)]
    stripped = lru_cache(_MAX_INTERNED)(str.strip)  # equal texts of a column are one in memory
    while chunk := list(islice(rows, _ROWS_AT_ONCE)):
        for column, cells in zip(columns, zip(*chunk, strict=True), strict=True):
            column.extend(map(stripped, cells))
    return columns


def _left_out(places: Sequence[int]) -> str:
    if len(places) == 1:
        return f"column {places[0] + 1} has no name and no cells: left out"
    return f"{len(places)} columns, from column {places[0] + 1}, have no name and no cells: left out"


def _lines(lines: Sequence[int]) -> str:
    listed = ", ".join(map(str, lines[:3])) + (", …" if len(lines) > 3 else "")
    return f"line {listed} has" if len(lines) == 1 else f"{len(lines):,} lines ({listed}) have"


# --- a whole file ---------------------------------------------------------------------------------------------

Format = Literal["csv", "json", "excel", "parquet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Format, encoding and dialect that a file was read with."""

    format: Format = "csv"
    encoding: str = ""
    """Python's name; empty for Excel and Parquet."""
    delimiter: str = ""
    """Empty if each line is one cell, and for JSON, Excel and Parquet."""
    header: bool = True
    skipped_lines: int = 0
    """Lines above the table."""
    sheet: str = ""
    sheets: tuple[str, ...] = ()


Read = tuple[Grid, Reading, tuple[str, ...]]
"""(Grid, how it was read, a note on each guess)."""


def read_csv(decoded: Decoded, name: str, read_as: ReadAs) -> Read:
    text = decoded.text.lstrip("\ufeff")
    named = named_delimiter(text) if read_as.skip_lines is None else None
    skipped = (read_as.skip_lines or 0) + (1 if named else 0)
    body = skip_lines(text, skipped)
    if not body.strip():
        raise DataError(f"{name} has no lines below the {skipped} skipped ones: skip fewer lines")
    given = read_as.delimiter or named
    delimiter, other = (given, NO_DELIMITER) if given else find_delimiter(body)
    records = read_records(body, delimiter, name=name, first_line=skipped + 1)
    reading = Reading(encoding=decoded.encoding, delimiter=delimiter, skipped_lines=skipped)
    grid, reading, notes = read_below_titles(records, reading, name, read_as)
    dialect_notes = (
        decoded.note,
        f"its first line names {_called(named)} as the delimiter" if named and delimiter == named else "",
        "no delimiter detected: each line is one cell" if delimiter == NO_DELIMITER else "",
        f"the {_called(delimiter)} was taken as the delimiter, though the {_called(other)} divides the lines as "
        "evenly: if the columns look wrong, choose the delimiter"
        if other != NO_DELIMITER
        else "",
        _backslash(body, delimiter, skipped),
    )
    return grid, reading, (*filter(None, dialect_notes), *notes)


def read_below_titles(records: Iterator[Record], reading: Reading, name: str, read_as: ReadAs) -> Read:
    seen = list(islice(records, SAMPLE_RECORDS))
    start = table_start(seen) if read_as.skip_lines is None else 0
    why = why_no_header(seen[start:]) if read_as.header is None else ""
    header = not why if read_as.header is None else read_as.header
    width = max((len(record.cells) for record in seen[start:]), default=1)
    grid = build_grid(chain(seen[start:], records), header=header, width=width, name=name)
    skipped = seen[start].line - 1 if start else reading.skipped_lines
    notes = []
    if start:
        first = " ".join(", ".join(cell for cell in map(str.strip, seen[0].cells) if cell).split())
        more = f" and {start - 1} more" if start > 1 else ""
        notes.append(f"lines above the table were not read: {shown_name(first)!r}{more}")
    if not header:
        named = grid.names[0] if len(grid.names) == 1 else f"{grid.names[0]} to {grid.names[-1]}"
        reason = f"{why}, so the first line was read as data; " if why else ""
        notes.append(f"{reason}the columns are called {named}")
    return grid, replace(reading, header=header, skipped_lines=skipped), tuple(notes)


def _backslash(body: str, delimiter: str, skipped: int) -> str:
    """Note the first cell with a quote escaped by a backslash, at which the csv module ends the cell too early."""
    if delimiter == NO_DELIMITER or '\\"' not in body:
        return ""
    mark = re.escape(delimiter)
    match = re.search(rf'(?:^|{mark}) ?"[^"\r\n]*\\"(?![{mark}"\r\n]|\Z)', body, re.MULTILINE)
    if match is None:
        return ""
    line = len(re.findall(r"\r\n|\r|\n", body[: match.end()])) + skipped + 1
    return f'line {line} writes a quote in a cell as \\": CSV doubles it (""), so that cell may be read wrong'


def _called(delimiter: str) -> str:
    return DELIMITER_NAMES.get(delimiter, repr(delimiter))
