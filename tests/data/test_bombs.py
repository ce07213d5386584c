"""Small files that claim to be large, and answers without end: refused or cut by size, in bounded memory."""

import gzip
import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.llm.stub import chat
from vpp.answers import EXPLANATION_LIMIT, parse_label
from vpp.llm.protocol import ID_LIMIT, REASONING_LIMIT, TEXT_LIMIT, Failure, read_completion, read_reply

ROOT = Path(__file__).parents[2]
ZOO = ROOT / "tests" / "data_zoo"
MOST_MB, MOST_S = 500, 10
"""Limits for hostile files: memory for all of them, without imports; processor time for each."""
READS = """
import resource, sys, time
from pathlib import Path
import openpyxl, pyarrow.parquet
from vpp.data.table import Table
from vpp.data.dataset import ReadAs
from vpp.errors import InputError

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)

before = peak_mb()
for path in map(Path, sys.argv[1:]):
    start = time.process_time()
    try:
        Table.read(path.read_bytes(), name=path.name, read_as=ReadAs())
        how = "read"
    except InputError as error:
        how = "refused"
    print(path.name, how, round(peak_mb() - before), time.process_time() - start)
"""


def workbook(rows: str, sheets: int = 1) -> bytes:
    """A workbook with these rows in one or more of its three sheets."""
    content = io.BytesIO()
    with zipfile.ZipFile(ZOO / "workbook.xlsx") as old, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            is_full = part in [f"xl/worksheets/sheet{n}.xml" for n in range(1, sheets + 1)]
            new.writestr(part, f"<worksheet {NAMESPACE}><sheetData>{rows}" if is_full else old.read(part))
    return content.getvalue()


NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
BOMBS: dict[str, Callable[[], bytes]] = {
    "workbook.xlsx": (ZOO / "workbook_bomb.xlsx").read_bytes,
    "gzip.csv": lambda: gzip.compress(bytes(50_000_000), 1),
    "one_cell.csv": lambda: b"a,b\n" + b'"' + b"x" * 5_000_000,
    "commas.csv": lambda: b"a,b\n" + b"," * 5_000_000,
    "parquet.parquet": (ZOO / "bomb.parquet").read_bytes,
    "entities.xlsx": (ZOO / "workbook_entities.xlsx").read_bytes,
    "cells.xlsx": lambda: workbook(f"<row>{'<c/>' * 1000}</row>" * 20_000),
    "sheets.xlsx": lambda: workbook(f"<row>{'<c><v>1</v></c>' * 500_000}</row>", sheets=3),
    "nested.xlsx": lambda: workbook("<row>" * 3_000_000),
    "gap.xlsx": lambda: workbook('<row r="1000000000"><c><v>1</v></c></row>'),
    "wide.xlsx": lambda: workbook("".join(f'<row><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 100_000))),
    "rows.csv": lambda: b"a,b\n" + b"1,2\n" * 6_000_000,
    "lines.csv": lambda: b"a,b\n" + b'"x\ny",1\n' * 3_000_000,
    "list.json": lambda: b"[" + b'{"a":1},' * 5_000_001 + b'{"a":1}]',
}
"""By file name."""


def test_bombs_are_refused_in_little_memory(tmp_path: Path) -> None:
    for name, made in BOMBS.items():
        (tmp_path / name).write_bytes(made())
    files = [str(tmp_path / name) for name in BOMBS]
    done = subprocess.run([sys.executable, "-c", READS, *files], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        _, how, grown_mb, used_s = line.split()
        assert how == "refused", line
        assert int(grown_mb) < MOST_MB, line
        assert float(used_s) < MOST_S, line
    assert len(done.stdout.splitlines()) == len(BOMBS)


def test_an_answer_is_cut_in_all_its_parts() -> None:
    reply = read_reply(200, {}, chat("x" * 3_000_000, finish="f" * 5_000, reasoning="t" * 3_000_000).body, {})
    with pytest.raises(Failure) as stopped:
        read_completion(reply)
    assert (read := stopped.value.completion)
    assert len(read.text) == TEXT_LIMIT
    assert len(read.reasoning or "") == REASONING_LIMIT
    assert len(stopped.value.words) < 2 * ID_LIMIT


def test_an_explanation_is_cut() -> None:
    said = parse_label("Explanation: " + "x" * 190_000 + "\nOutput: yes", ("yes", "no"))
    assert (said.value, said.explanation) == ("yes", "x" * EXPLANATION_LIMIT)
