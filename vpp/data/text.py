"""Text of a file: decode the bytes, split the text into CSV records."""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from vpp.errors import DataError

ENCODING_NAMES = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16, little-endian",
    "utf-16-be": "UTF-16, big-endian",
    "cp1252": "Windows-1252 (Western)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp866": "DOS 866 (Cyrillic)",
    "iso8859_5": "ISO 8859-5 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "mac_roman": "Mac Roman",
    "cp850": "DOS 850 (Western)",
    "cp932": "Shift-JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "euc_kr": "EUC-KR (Korean)",
}
"""Labels of the encodings, by Python's names."""

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
    """A file's text."""

    text: str
    encoding: str
    """Python's name."""
    note: str = ""
    """The guess that was made; empty if none."""


def decode(content: bytes, *, name: str, encoding: str | None = None) -> Decoded:
    """Decode a file in the given encoding, or in the detected one.

    Raises DataError if the bytes are not text in the encoding.
    """
    if encoding is not None:
        return _in_chosen(content, name, encoding)
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


def _in_chosen(content: bytes, name: str, encoding: str) -> Decoded:
    try:
        text = content.decode(encoding)
        if "\0" in text or _SURROGATE.search(text):  # utf-7 and unicode_escape can spell a lone surrogate
            raise ValueError
    except ValueError as error:
        where = f" (line {_line(content, error.start)})" if isinstance(error, UnicodeDecodeError) else ""
        raise DataError(f"{name} is not text in {encoding_name(encoding)}{where}: choose another encoding") from None
    return Decoded(text=text, encoding=encoding)


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
    is_sure = best.encoding in _MANY_BYTES or (best.encoding in _ONE_BYTE and best.coherence >= _SURE)
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
