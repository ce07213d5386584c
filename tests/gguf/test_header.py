"""The header of a model file, and bytes that try to harm its reader."""

import os
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gguf.built import ARRAY, MODEL, STRING, U32, gguf, numbers, string
from vpp.errors import InputError
from vpp.gguf.header import Header, read_header

HEAD = b"GGUF" + struct.pack("<I", 3)
HUGE = 2**63


def read(tmp_path: Path, content: bytes) -> Header:
    path = tmp_path / "some model.gguf"
    path.write_bytes(content)
    return read_header(path)


def test_a_header_tells_what_memory_is_estimated_from(tmp_path: Path) -> None:
    content = gguf()
    assert read(tmp_path, content) == Header(
        name="some model",
        bytes=len(content),
        architecture="llama",
        parameters=6400,
        layers=30,
        context_length=8192,
        kv_width=2 * 64 * 3 * 30,
    )


@pytest.mark.parametrize(
    ("more", "kv_width"),
    [
        ({"llama.attention.key_length": (U32, 128), "llama.attention.value_length": (U32, 256)}, (128 + 256) * 3 * 30),
        ({"llama.attention.head_count_kv": (ARRAY, numbers([3] * 10 + [0] * 20))}, 2 * 64 * 30),
    ],
)
def test_key_and_value_lengths_and_numbers_per_layer_count(
    tmp_path: Path, more: dict[str, tuple[int, object]], kv_width: int
) -> None:
    assert read(tmp_path, gguf({**MODEL, **more})).kv_width == kv_width


def test_tokenizers_are_skipped(tmp_path: Path) -> None:
    words = struct.pack("<IQ", STRING, 1000) + b"".join(string(f"word {i}") for i in range(1000))
    scores = struct.pack("<IQ", U32, 5000) + bytes(20_000)
    tokenizer = {"tokenizer.ggml.tokens": (ARRAY, words), "tokenizer.ggml.scores": (ARRAY, scores)}
    plain, header = read(tmp_path, gguf()), read(tmp_path, gguf({**tokenizer, **MODEL}))
    assert replace(header, bytes=plain.bytes) == plain


def test_a_link_is_followed_and_gives_the_name(tmp_path: Path) -> None:
    (tmp_path / "3f2a").write_bytes(gguf())
    (tmp_path / "model.gguf").symlink_to(tmp_path / "3f2a")
    assert read_header(tmp_path / "model.gguf").name == "model"


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    assert read(tmp_path, gguf()).context_length == 8192
    assert read(tmp_path, gguf({**MODEL, "llama.context_length": (U32, 64)}) + b" ").context_length == 64


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gguf()[:-64], "ends before its last tensor: download it again"),
        (gguf(offset=10**9), "ends before its last tensor"),
        (gguf(offset=HUGE), "ends before its last tensor"),
        (gguf()[:200], "is damaged or cut off"),
        (gguf(version=1), "has version 1 of the format"),
        (gguf(version=3 << 24), "has version 50331648"),
        (gguf({**MODEL, "split.count": (U32, 3)}), "is one of 3 parts: merge them"),
        (gguf({"general.architecture": (STRING, "clip")}), "holds no language model"),
        (gguf({}), "holds no language model"),
        (HEAD + struct.pack("<QQ", HUGE, 1), "is damaged"),
        (HEAD + struct.pack("<QQ", 1, HUGE), "is damaged"),
        (HEAD + struct.pack("<QQQ", 1, 1, HUGE), "is damaged"),
        (HEAD + struct.pack("<QQ", 1, 1) + string("a") + struct.pack("<IQ", STRING, HUGE), "is damaged"),
        (HEAD + struct.pack("<QQ", 1, 1) + string("a") + struct.pack("<IIQ", ARRAY, STRING, HUGE), "is damaged"),
        (HEAD + struct.pack("<QQ", 1, 1) + string("a") + struct.pack("<IIQ", ARRAY, U32, HUGE), "is damaged"),
        (HEAD + struct.pack("<QQ", 1, 1) + string("a") + struct.pack("<IIQ", ARRAY, ARRAY, 1), "is damaged"),
        (HEAD + struct.pack("<QQ", 1, 1) + string("a") + struct.pack("<I", 99), "is damaged"),
        (HEAD + struct.pack("<QQ", 1, 0) + string("t") + struct.pack("<I", HUGE >> 32), "is damaged"),
        (HEAD, "is damaged"),
    ],
)
def test_a_file_that_is_no_whole_model_is_refused_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        read(tmp_path, content)
    assert "\n" not in str(refused.value)
    assert "'some model'" in str(refused.value)


def test_every_other_file_gets_the_same_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("secret")
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    names = ["text", "empty", "pipe", "circle", "missing", ".", "text/below", "a\0b", "x" * 5000]
    lines = []
    for name in names:
        with pytest.raises(InputError) as refused:
            read_header(f"{tmp_path}/{name}")
        lines.append(str(refused.value).partition(" is no GGUF file")[2])
    assert set(lines) == {" that can be read: give the path of a model file (.gguf)"}


@given(st.data())
def test_a_model_with_any_bytes_changed_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(gguf())
    for at in data.draw(st.lists(st.integers(4, len(content) - 1), min_size=1, max_size=8)):
        content[at] = data.draw(st.integers(0, 255))
    content = data.draw(st.just(content) | st.binary(max_size=200).map(lambda tail: bytearray(b"GGUF" + tail)))
    path = tmp_path_factory.mktemp("changed") / "changed.gguf"
    path.write_bytes(bytes(content))
    try:
        header = read_header(path)
    except InputError:
        return
    assert (header.name, header.bytes) == ("changed", len(content))
    assert min(header.layers, header.parameters, header.context_length, header.kv_width) >= 0


def test_no_more_is_read_than_any_header_has(tmp_path: Path) -> None:
    entries = b"".join(string(f"{i}") + struct.pack("<I", STRING) + string("x" * 2**20) for i in range(65))
    with pytest.raises(InputError, match="is damaged"):
        read(tmp_path, HEAD + struct.pack("<QQ", 0, 65) + entries)


def test_more_words_than_any_tokenizer_has_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "sparse.gguf"
    with path.open("wb") as file:
        file.write(HEAD + struct.pack("<QQ", 1, 1) + string("a") + struct.pack("<IIQ", ARRAY, STRING, 2_000_001))
        file.truncate(2**40)
    with pytest.raises(InputError, match="is damaged"):
        read_header(path)
