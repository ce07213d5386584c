"""Files of tables: every decision that a page takes of them, and the run's own copy of the rows."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from tests.fuzz import stretching
from tests.fuzz.choices import Choices
from tests.fuzz.promises import promise
from vpp.data.build import build_dataset
from vpp.data.dataset import DELIMITER_NAMES, Dataset, Kind, ReadAs, SplitRule
from vpp.data.labelling import candidate_rows
from vpp.data.record import dataset_from_csv, rows_csv, spec
from vpp.data.split import SplitPlan
from vpp.data.table import Table, guess_note, target_guess, with_kinds
from vpp.errors import DataError, InputError
from vpp.llm.prompts import seed_sentence
from vpp.llm.rendering import render_columns, render_inputs, render_targets, units

ZOO = Path(__file__).parents[1] / "data_zoo"
MOST = 200_000
"""Bytes of a stretched file: a table of 50 MB may take its time."""


def text(data: bytes) -> None:
    """A CSV, as found."""
    _read(stretching.content(Choices(data), most=MOST), "a.csv")


def text_seeds() -> Iterator[bytes]:
    for path in sorted(ZOO.glob("*.csv")):
        if path.stat().st_size < 4_000:
            yield stretching.PLAIN + path.read_bytes()
    yield from (b"\x03\x0a\x03a,b\n\x0c\x031,2\n", b'\x03\x00\x03a,b\n\x10\x01"', b"\x03\x10\x02a,\x01\x01\n\x10\x021,")


def parquet(data: bytes) -> None:
    """A Parquet file with some bytes changed."""
    _read(data if data.startswith(b"PAR1") else b"PAR1" + data, "a.parquet")


def parquet_seeds() -> Iterator[bytes]:
    for path in sorted(ZOO.glob("*.parquet")):
        if path.stat().st_size < 40_000:
            yield path.read_bytes()


def workbook(data: bytes) -> None:
    """A workbook with some bytes of its parts changed: of the archive itself too, where the first byte says so."""
    choices = Choices(data)
    source = choices.pick(_books())
    if choices.byte() % 4 == 0:
        content = bytearray(source)
        while not choices.is_over:
            content[int.from_bytes(choices.bytes(2), "big") % len(content)] = choices.byte()
        return _read(bytes(content), "a.xlsx")
    parts = _parts(source)
    while not choices.is_over:
        name = choices.pick(sorted(parts))
        at = int.from_bytes(choices.bytes(2), "big") % (len(parts[name]) + 1)
        cut, added = choices.below(16), choices.bytes(choices.below(16))
        parts[name] = parts[name][:at] + added * choices.pick((1, 1, 1, 50, 1_000)) + parts[name][at + cut :]
    return _read(_zipped(parts), "a.xlsx")


def workbook_seeds() -> Iterator[bytes]:
    for book in range(len(_books())):
        yield bytes([book, 1])
        yield bytes([book, 1, 0, 0, 9, 3, 5]) + b"<a/>x"


def _books() -> list[bytes]:
    found = [path.read_bytes() for path in sorted(ZOO.glob("*.xlsx"))]
    return [content for content in found if len(content) < 40_000]


def _parts(book: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        return {part.filename: archive.read(part) for part in archive.infolist() if part.file_size < 200_000}


def _zipped(parts: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return packed.getvalue()


def options(data: bytes) -> None:
    """A file read as somebody says, with kinds, a split and inputs of their choice."""
    choices = Choices(data)
    try:
        rule = SplitRule.read(choices.pick(("random", "group:a", "time:a", "time:b", choices.text())))
        read_as = ReadAs(
            encoding=choices.pick((None, "utf-8", "utf-16", "cp1252", "idna", "punycode", "rot13", choices.text())),
            delimiter=choices.pick((None, *DELIMITER_NAMES, *DELIMITER_NAMES.values(), choices.text())),
            header=choices.pick((None, True, False)),
            skip_lines=choices.pick((None, 0, 1, 3, 10**6)),
            sheet=choices.pick((None, choices.text())),
            decimal=choices.pick((None, "point", "comma", choices.text())),
        )
    except InputError:
        return
    kinds = {choices.pick(("a", "b", "c")): choices.pick(get_args(Kind)) for _ in range(choices.below(3))}
    sizes = {"train_size": choices.pick((100, 1, 0, 10**9)), "test_size": choices.pick((60, 1, 0, 10**9))}
    fraction = choices.pick((0.375, 0.0, 1.0, 0.5))
    lines = b"a,b,c\n" + b"".join(b"%d,x%d,2020-01-%02d\n" % (i, i % 3, i + 1) for i in range(12))
    try:
        table = with_kinds(Table.read(lines + choices.rest(), name="a.csv", read_as=read_as), kinds)
        _used(build_dataset(table, target="b", split=SplitPlan(rule=rule, test_fraction=fraction, **sizes)))
    except InputError:
        return


def _read(content: bytes, name: str) -> None:
    try:
        table = Table.read(content, name=name)
        guess_note(table)
        target = target_guess(table)
        dataset = build_dataset(table, target=target or table.names[-1])
    except DataError as error:
        promise("\n" not in str(error), "a refusal of several lines")
        return
    _used(dataset)


def _used(dataset: Dataset) -> None:
    """The run's own copy is the dataset, and prompts can be written of it."""
    promise(
        dataset_from_csv(rows_csv(dataset), header=spec(dataset)) == dataset, "the run's rows are not the dataset's"
    )
    shown = dataset.train[:10]
    render_inputs(shown, units(dataset)), render_targets(shown), render_columns(dataset), seed_sentence(dataset)
    candidate_rows(dataset, source="made up", n=3, seed=0)
