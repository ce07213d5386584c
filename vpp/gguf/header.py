"""The header of a GGUF file: what a model's memory is estimated from.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little-endian).
The file may be hostile: every count and length is bounded, and nothing is allocated from a size that it claims.
"""

import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from vpp import files
from vpp.errors import InputError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_ENTRIES = 65_536
"""Metadata entries, or tensors. The largest models have a few thousand tensors."""
MOST_STRINGS = 2_000_000
"""Strings in all arrays together. Vocabulary and merges of the largest tokenizers make fewer than one million."""
MOST_BYTES = 2**26
"""Bytes that are read in all, apart from what is skipped."""
MOST_DIMENSIONS = 4
MOST_HEADS = 4_096
"""Most elements of an array of numbers that is read; such an array has one per layer."""
LARGEST_NUMBER = 2**31
"""Larger numbers make no sense for layers, heads, widths and contexts."""

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9

Value = int | float | bool | str | tuple[int | float | bool, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A model file: its name, its size, and the shape of its network."""

    name: str
    """The file's name without its suffix."""
    bytes: int
    """Size of the file."""
    architecture: str
    parameters: int
    """Weights of all tensors."""
    layers: int
    context_length: int
    """Tokens that the model was trained for."""
    kv_width: int
    """Numbers that the KV cache holds for each token: keys and values of all heads in all layers."""


def read_header(path: Path | str) -> Header:
    """Read a model file's header. Raises InputError in one line.

    Every other file gets the same line, whether it exists or not: a path may come from somebody else.
    """
    refusal = InputError(f"{str(path)[:300]!r} is no GGUF file that can be read: give the path of a model file (.gguf)")
    try:
        str(path).encode()  # a name that is no text could not be written to run.json
        file = Path(path).expanduser().resolve()
        header = _header(file, Path(path).stem, file.stat().st_size, file.stat().st_mtime_ns)
    except (OSError, ValueError, RuntimeError):
        raise refusal from None
    if header is None:
        raise refusal
    return header


@lru_cache(maxsize=16)
def _header(path: Path, name: str, size: int, changed_ns: int) -> Header | None:
    """Return the header of a file of this size and time; None if it is no GGUF file. Raises OSError and InputError."""
    with files.read(path) as file:
        return _Reader(file, name).header() if file.read(4) == MAGIC else None


class _Reader:
    """Reads a GGUF file from behind its magic bytes."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._size = file.seek(0, 2)
        self._at = file.seek(len(MAGIC))
        self._taken = self._strings = 0

    def header(self) -> Header:
        """Return the header. Raises InputError if the file is damaged or holds no language model."""
        version = self._number("<I")
        if version not in VERSIONS:
            raise self._broken(f"has version {version} of the format, and only 2 and 3 can be read", "convert it again")
        n_tensors, n_entries = self._count(), self._count()
        entries = {self._string(): self._value(self._number("<I")) for _ in range(n_entries)}
        parameters, last = self._tensors(n_tensors)
        if not n_tensors or self._at + last >= self._size:
            raise self._broken("ends before its last tensor", "download it again")
        return self._described(entries, parameters)

    def _described(self, entries: dict[str, Value], parameters: int) -> Header:
        architecture = str(entries.get("general.architecture", ""))[:40]
        if isinstance(splits := entries.get("split.count"), int) and splits > 1:
            raise self._broken(f"is one of {splits} parts", "merge them with llama-gguf-split --merge")

        def whole(name: str) -> int:
            """Return a number of the architecture, or the sum of its numbers per layer; 0 if absent."""
            value = entries.get(f"{architecture}.{name}")
            numbers = value if isinstance(value, tuple) else (value,)
            known = [n for n in numbers if isinstance(n, int) and 0 <= n < LARGEST_NUMBER]
            return sum(known) if len(known) == len(numbers) else 0

        layers, width, heads = whole("block_count"), whole("embedding_length"), whole("attention.head_count")
        context = whole("context_length")
        if not (layers and width and context):
            raise self._broken("holds no language model", "give the file of a chat model")
        per_layer = isinstance(entries.get(f"{architecture}.attention.head_count"), tuple)
        head = width // max(1, heads // layers if per_layer else heads)
        key, value = whole("attention.key_length") or head, whole("attention.value_length") or head
        kv_heads = whole("attention.head_count_kv") or heads
        is_listed = isinstance(entries.get(f"{architecture}.attention.head_count_kv"), tuple)
        return Header(
            name=self._name,
            bytes=self._size,
            architecture=architecture,
            parameters=parameters,
            layers=layers,
            context_length=context,
            kv_width=(key + value) * (kv_heads if is_listed else kv_heads * layers),
        )

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array()
        if kind in _SCALARS:
            value: int | float | bool = struct.unpack(_SCALARS[kind], self._take(struct.calcsize(_SCALARS[kind])))[0]
            return value
        raise self._damaged()

    def _array(self) -> Value:
        """Return the elements if they are few and numbers; skip others and return None."""
        kind, count = self._number("<I"), self._number("<Q")
        if kind == _STRING:
            self._skip_strings(count)
            return None
        if kind not in _SCALARS:
            raise self._damaged()
        layout = _SCALARS[kind]
        if count > MOST_HEADS:
            self._skip(count * struct.calcsize(layout))
            return None
        return struct.unpack(f"<{count}{layout[1]}", self._take(count * struct.calcsize(layout)))

    def _skip_strings(self, count: int) -> None:
        self._strings += count
        if self._strings > MOST_STRINGS:
            raise self._damaged()
        for _ in range(count):
            self._skip(self._number("<Q"))

    def _tensors(self, count: int) -> tuple[int, int]:
        """Return the number of weights in all tensors, and the largest offset of a tensor."""
        weights = last = 0
        for _ in range(count):
            self._skip(self._number("<Q"))
            dimensions = self._number("<I")
            if dimensions > MOST_DIMENSIONS:
                raise self._damaged()
            product = 1
            for _ in range(dimensions):
                product *= self._number("<Q")
            self._number("<I")
            weights, last = weights + product, max(last, self._number("<Q"))
        return weights, last

    def _string(self) -> str:
        return self._take(self._number("<Q")).decode("utf-8", errors="replace")

    def _count(self) -> int:
        count = self._number("<Q")
        if count > MOST_ENTRIES:
            raise self._damaged()
        return count

    def _number(self, layout: str) -> int:
        number: int = struct.unpack(layout, self._take(struct.calcsize(layout)))[0]
        return number

    def _take(self, size: int) -> bytes:
        """Return the next bytes. Refuses a size beyond the end of the file before it is allocated."""
        self._move(size)
        self._taken += size
        if self._taken > MOST_BYTES:
            raise self._damaged()
        return self._file.read(size)

    def _skip(self, size: int) -> None:
        self._move(size)
        self._file.seek(size, 1)

    def _move(self, size: int) -> None:
        if size > self._size - self._at:
            raise self._damaged()
        self._at += size

    def _damaged(self) -> InputError:
        return self._broken("is damaged or cut off", "download it again")

    def _broken(self, what: str, remedy: str) -> InputError:
        return InputError(f"the model file {self._name[:120]!r} {what}: {remedy}, or take another model file")
