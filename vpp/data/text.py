"""Text of a file: decode the bytes, find the delimiter of a CSV, and read its records."""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal, NamedTuple

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
Format = Literal["csv", "json", "excel", "parquet", "frame"]

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_ONE_BYTE = ("cp1251", "koi8_r", "cp1253")
_MANY_BYTES = ("cp932", "euc_jp", "gb18030", "big5", "euc_kr")
_SURE = 0.3
"""Least coherence, from 0 to 1 as charset-normalizer measures it, for a guess of a one-byte encoding."""
_SAMPLE_BYTES = 32_768
"""Bytes of the lines beyond ASCII that the guess of an encoding reads."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_LAST_CONTROLS = re.compile(r"(?:(?<=[\r\n])[\x00-\x08\x0e-\x1f\x7f]+|[\x00\x1a]+)[\s\x00\x1a]*\Z")
"""A last line of control characters, or the marks of DOS for the end of a file."""
NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Format, encoding and dialect that a file was read with."""

    format: Format = "csv"
    encoding: str = ""
    """Python's name; empty for Excel, Parquet and frames."""
    delimiter: str = ""
    """Empty if each line is one cell, and for other formats than CSV."""
    header: bool = True
    skipped_lines: int = 0
    """Lines above the table."""
    sheet: str = ""
    sheets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    text: str
    encoding: str
    """Python's name."""
    notes: tuple[str, ...] = ()


def decode(content: bytes, *, name: str, encoding: str | None = None) -> Decoded:
    """Decode a file in the given encoding, or in the detected one. Control characters at its end are cut, with a note.

    Raises DataError if the bytes are not text in the encoding.
    """
    marked = next((codec for mark, codec in _MARKS if content.startswith(mark)), None)
    codec, notes = encoding or marked or "utf-8", []
    try:
        text = content.decode(codec)
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        if encoding or marked:
            raise _no_text(name, codec, _line(content, start)) from None
        text, codec = _guess(content, name, start)
        notes.append(f"not UTF-8: read as {encoding_name(codec)}; if letters look wrong, choose another encoding")
    if last := _LAST_CONTROLS.search(text, max(0, len(text) - 1_000)):
        notes.append(f"the control character 0x{ord(last[0][0]):02x} at the end was not read")
        text = text[: last.start()]
    if wrong := NO_TEXT.search(text):
        line = text.count("\n", 0, wrong.start()) + 1
        if wrong[0] != "\0":  # utf-7 and unicode_escape can spell a lone surrogate
            raise _no_text(name, codec, line)
        raise DataError(
            f"{name} holds a NUL byte in line {line}, which is no text: remove it, or choose the file's encoding "
            "(utf-16-le if every other byte is NUL)"
        )
    return Decoded(text=text.lstrip("\ufeff"), encoding=codec, notes=tuple(notes))


def encoding_name(encoding: str) -> str:
    return ENCODING_NAMES.get(encoding, encoding)


def _guess(content: bytes, name: str, start: int) -> tuple[str, str]:
    """Return text and encoding of a file that is not UTF-8: another alphabet if it is certain, else Windows-1252.

    start: place of the first wrong byte. Raises DataError if all but a few letters are UTF-8: any other encoding would
    garble the rest.
    """
    lossy = content.decode("utf-8", errors="replace")
    if sum(character > "\x7f" for character in lossy) > 11 * lossy.count("\ufffd"):
        raise DataError(
            f"{name} is UTF-8 except line {_line(content, start)} (byte 0x{content[start]:02x}): fix that line, or "
            "choose another encoding"
        )
    for codec in filter(None, (_other_alphabet(content), "cp1252")):
        try:
            text = content.decode(codec)
        except UnicodeDecodeError as wrong:
            line = _line(content, wrong.start)
            continue
        control = _CONTROL.search(_LAST_CONTROLS.sub("", text))  # nearly any binary file decodes in a one-byte encoding
        if control is None:
            return text, codec
        line = text.count("\n", 0, control.start()) + 1
    raise _no_text(name, "UTF-8, UTF-16 or Windows-1252", line)


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
    return str(best.encoding) if best.encoding in _MANY_BYTES or best.coherence >= _SURE else None


def _line(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1


def _no_text(name: str, codec: str, line: int) -> DataError:
    where = f"{name} is not text in {encoding_name(codec)} (line {line})"
    return DataError(f"{where}: save the table as CSV in UTF-8, or choose its encoding")


# --- records ----------------------------------------------------------------------------------------------------------

SAMPLE_RECORDS = 100
"""Records at the top of a file that decide its dialect."""
_SAMPLE_CHARACTERS = 262_144
NO_DELIMITER = ""
"""Stands for no delimiter: each line is one cell."""
_UNUSED = "\x1f"
_END = "\0"
"""Extra last line, as no file has it: the csv module returns it as a record of its own unless a quote is still open."""
PLAIN_QUOTES = "--read quotes=plain"


class Record(NamedTuple):
    """One line of the table, or several if a cell contains line ends."""

    line: int
    """First line in the file, counted from 1."""
    cells: Sequence[str]
    """Verbatim, outer blanks included."""
    n_lines: int = 1


def read_records(
    text: str, delimiter: str, *, name: str, first_line: int = 1, has_quotes: bool = True
) -> Iterator[Record]:
    """Yield every record with any text. Raises DataError for a quote that is never closed.

    first_line: number of the text's first line in the file. has_quotes: whether quotes enclose cells, or are text.
    """
    closed = text if text.endswith(("\n", "\r")) else f"{text}\n"
    reader = csv.reader(
        chain(io.StringIO(closed, newline=""), (_END,)),
        delimiter=delimiter or _UNUSED,
        skipinitialspace=True,
        quoting=csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE,
    )
    line = start = first_line
    cells: list[str] = []
    try:
        for cells in reader:
            start, line = line, first_line + reader.line_num
            if any(map(str.strip, cells)) and cells != [_END]:
                yield Record(start, cells, line - start)
    except csv.Error:
        raise DataError(
            f"{name}: a cell is longer than {csv.field_size_limit():,} characters: close the quote that opens it "
            f"(after line {start}), shorten it, or read quotes as text ({PLAIN_QUOTES})"
        ) from None
    if cells != [_END]:
        raise DataError(
            f"{name}: line {start} opens a quote that is never closed: close it, double each quote in a cell, or "
            f"read quotes as text ({PLAIN_QUOTES})"
        )


def sample(text: str, delimiter: str, *, has_quotes: bool = True) -> list[Record]:
    """The first records, at most SAMPLE_RECORDS; a record cut by the end of the sample is dropped."""
    cut = text[:_SAMPLE_CHARACTERS]
    records: list[Record] = []
    with suppress(DataError):
        records.extend(islice(read_records(cut, delimiter, name="", has_quotes=has_quotes), SAMPLE_RECORDS))
    return records[:-1] if len(cut) < len(text) and 1 < len(records) < SAMPLE_RECORDS else records


def holds_records(lines: Sequence[str], record: Record, delimiter: str) -> bool:
    """True if most lines of a record would be records of their own, as after a quote that was never meant as one.

    lines: the record's own, as in the file. Where the quotes are well-formed, every line has to be a record.
    """
    n_alike = sum(line.count(delimiter) == len(record.cells) - 1 for line in lines) if delimiter else 0
    if 2 * n_alike <= len(lines):
        return False
    try:
        next(csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error:
        return True
    return n_alike == len(lines) > 2


def backslash_note(body: str, delimiter: str, skipped: int) -> str:
    """Note the first cell with a quote escaped by a backslash, at which the csv module ends the cell too early."""
    if delimiter == NO_DELIMITER or '\\"' not in body:
        return ""
    mark = re.escape(delimiter)
    match = re.search(rf'(?:^|{mark}) ?"[^"\r\n]*\\"(?![{mark}"\r\n]|\Z)', body, re.MULTILINE)
    if match is None:
        return ""
    line = len(LINE_END.findall(body[: match.end()])) + skipped + 1
    return f'line {line} writes a quote in a cell as \\": CSV doubles it (""), so that cell may be read wrong'


LINE_END = re.compile(r"\r\n|\r|\n")
_SEP = re.compile(r'\A\s*"?sep=(.)"?[ \t,;|]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)


def named_delimiter(text: str) -> str | None:
    """Read the delimiter from a first line such as `sep=;`, which Excel writes."""
    match = _SEP.match(text)
    return match[1] if match else None


def skip_lines(text: str, n_lines: int) -> str:
    ends = [match.end() for match in islice(LINE_END.finditer(text), min(n_lines, len(text) + 1))]
    if len(ends) < n_lines:
        return ""
    return text[ends[-1] :] if ends else text


LONG_NAME = 60
"""Characters of a name shown in a message; longer names are cut."""


def shown_name(name: str) -> str:
    """The name, or the beginning of another text, cut at LONG_NAME characters."""
    return name if len(name) <= LONG_NAME else f"{name[: LONG_NAME - 1]}…"
