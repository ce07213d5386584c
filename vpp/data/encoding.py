"""The encoding of a file: found from its bytes, or as a person says."""

import codecs
import re
from dataclasses import dataclass, replace

from vpp.errors import DataError

ENCODING_NAMES = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16, little-endian",
    "utf-16-be": "UTF-16, big-endian",
    "utf-32": "UTF-32",
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
"""What encodings are called, by Python's names."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ONE_BYTE = ("cp1251", "koi8_r", "cp866", "iso8859_5", "cp1253")
_MANY_BYTES = ("cp932", "euc_jp", "gb18030", "big5", "euc_kr")
_SURE = 0.3
"""How like a language the letters of a one-byte encoding must be, on charset-normalizer's scale of 0 to 1."""
_SAMPLE_BYTES = 32_768
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_END_MARK = "\x1a"
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A file's text."""

    text: str
    encoding: str
    """Python's name of it."""
    note: str = ""
    """What was guessed, if anything was."""


def decode(content: bytes, *, name: str, encoding: str | None = None) -> Decoded:
    """The file's text in the encoding that is said, else found. Raises DataError for what is no text in it.

    Without marks of byte order at its start, and the end marks of DOS at its end.
    """
    found = _decoded(content, name, encoding)
    return replace(found, text=found.text.lstrip("\ufeff").rstrip(_END_MARK))


def _decoded(content: bytes, name: str, encoding: str | None) -> Decoded:
    if encoding is not None:
        return _as_said(content, name, encoding)
    for mark, marked in _MARKS:
        if content.startswith(mark):
            return _whole(content, name, marked)
    wide = _unmarked_wide(content)
    if wide is not None:
        return replace(_whole(content, name, wide), note=f"taken for {encoding_name(wide)}, though it has no mark")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return _guessed(content, name, error)
    if "\0" in text:
        raise _no_text(name)
    return Decoded(text=text, encoding="utf-8")


def encoding_name(encoding: str) -> str:
    """What an encoding is called."""
    return ENCODING_NAMES.get(encoding, encoding)


def _as_said(content: bytes, name: str, encoding: str) -> Decoded:
    try:
        text = content.decode(encoding)
    except (UnicodeError, ValueError) as error:
        where = f" (line {_line(content, error.start)})" if isinstance(error, UnicodeDecodeError) else ""
        raise DataError(f"{name} is no text in {encoding_name(encoding)}{where}: choose another encoding") from None
    if "\0" in text or _SURROGATE.search(text):  # utf-7 and unicode_escape can spell a lone surrogate
        raise DataError(f"{name} is no text in {encoding_name(encoding)}: choose another encoding")
    return Decoded(text=text, encoding=encoding)


def _whole(content: bytes, name: str, encoding: str) -> Decoded:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise _no_text(name) from None
    if "\0" in text:
        raise _no_text(name)
    return Decoded(text=text, encoding=encoding)


def _unmarked_wide(content: bytes) -> str | None:
    """UTF-16 without its mark: in a table every other byte is mostly NUL, and no other one is."""
    sample = content[:_SAMPLE_BYTES]
    if len(content) % 2 or b"\0" not in sample:
        return None
    even, odd = sample[0::2], sample[1::2]
    for nuls, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if 2 * nuls.count(0) > len(nuls) and others.count(0) == 0:
            return encoding
    return None


def _guessed(content: bytes, name: str, error: UnicodeDecodeError) -> Decoded:
    """What is not UTF-8: another alphabet where that is sure, else Windows-1252."""
    _check_damaged(content, name, error)
    for encoding in (_other_alphabet(content), "cp1252"):
        if encoding is None:
            continue
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not _CONTROL.search(text.rstrip(_END_MARK)):  # nearly any binary file decodes in a one-byte encoding
            note = f"not UTF-8: taken for {encoding_name(encoding)}; if letters look wrong, choose another encoding"
            return Decoded(text=text, encoding=encoding, note=note)
    raise _no_text(name)


def _check_damaged(content: bytes, name: str, error: UnicodeDecodeError) -> None:
    """Raises DataError where all but a few letters are UTF-8: in another encoding the many would be wrong."""
    lossy = content.decode("utf-8", errors="replace")
    n_bad = lossy.count("\ufffd")
    n_good = sum(character > "\x7f" for character in lossy) - n_bad if n_bad else 0
    if n_good > 10 * n_bad:
        raise DataError(
            f"{name} is UTF-8 but for line {_line(content, error.start)} (byte 0x{content[error.start]:02x}): "
            "mend that line, or choose another encoding"
        )


def _other_alphabet(content: bytes) -> str | None:
    """An encoding of another alphabet than the Latin, where charset-normalizer is sure of it."""
    # Late: most files are UTF-8, and are read without it.
    from charset_normalizer import from_bytes

    sample = _not_ascii(content)
    matches = list(from_bytes(sample, cp_isolation=["cp1252", *_ONE_BYTE, *_MANY_BYTES]))
    plausible = {other for match in matches for other in (match.encoding, *match.could_be_from_charset)}
    if not matches or "cp1252" in plausible:
        return None
    best = matches[0]
    is_sure = best.encoding in _MANY_BYTES or (best.encoding in _ONE_BYTE and best.coherence >= _SURE)
    return str(best.encoding) if is_sure else None


def _not_ascii(content: bytes) -> bytes:
    """The first lines that hold more than ASCII, up to a sample's size."""
    found, end = bytearray(), 0
    while len(found) < _SAMPLE_BYTES and (match := _NOT_ASCII.search(content, end)):
        start = max(end, content.rfind(b"\n", end, match.start()) + 1, match.start() - _SAMPLE_BYTES)
        end = content.find(b"\n", match.start()) + 1 or len(content)
        found += content[start : min(end, match.start() + _SAMPLE_BYTES)]
    return bytes(found)


def _line(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1


def _no_text(name: str) -> DataError:
    return DataError(
        f"{name} is no text in UTF-8, UTF-16 or Windows-1252: save the table as CSV in UTF-8, or choose its encoding"
    )
