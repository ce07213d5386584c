"""Files as people have them: each is read as its sidecar says, or refused in the line that it gives.

A sidecar NAME.json stands beside NAME.ext in tests/data_zoo; a large file is made by the recipe in its sidecar instead.
What a sidecar does not name is not looked at. `read_as`: what a person says; `kinds`: those that a person chooses;
`target`: what is predicted.
"""

import json
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from vpp.data.build import build_dataset, target_guess
from vpp.data.dataset import Dataset, ReadAs
from vpp.data.table import Table, with_kinds
from vpp.errors import InputError

ZOO = Path(__file__).parents[1] / "data_zoo"
SIDECARS = sorted(ZOO.glob("*.json"))
FILES = sorted(path for path in ZOO.iterdir() if path.suffix != ".json")
KEYS = {"about", "read_as", "kinds", "target", "expect", "error", "recipe"}


@pytest.mark.parametrize("sidecar", SIDECARS, ids=lambda path: path.stem)
def test_a_file_is_read_or_refused_as_expected(sidecar: Path) -> None:
    case = json.loads(sidecar.read_text(encoding="utf-8"))
    assert set(case) <= KEYS
    name, content = file_of(sidecar, case)
    refused = case.get("error")
    with pytest.raises(InputError) if refused is not None else nullcontext() as caught:
        table = Table.read(content, name=name, read_as=ReadAs(**case.get("read_as", {})))
        table = with_kinds(table, case.get("kinds", {}))
        dataset = build_dataset(table, target=case["target"]) if "target" in case else None
    if caught is not None:
        assert str(caught.value) == refused
    else:
        check(table, dataset, case["expect"])


def test_every_file_has_a_sidecar_and_the_zoo_is_large() -> None:
    assert {path.stem for path in FILES} <= {path.stem for path in SIDECARS}
    assert len({path.stem for path in FILES}) == len(FILES)
    assert len(SIDECARS) >= 60


def file_of(sidecar: Path, case: dict[str, Any]) -> tuple[str, bytes]:
    """Name and bytes."""
    if "recipe" in case:
        return f"{sidecar.stem}.csv", made(**case["recipe"])
    (path,) = (path for path in FILES if path.stem == sidecar.stem)
    return path.name, path.read_bytes()


def made(*, rows: int, columns: int) -> bytes:
    """Whole numbers by row and column, and a label at the end."""
    lines = [",".join([*(f"c{j}" for j in range(1, columns)), "label"])]
    lines += [",".join([*(str(i * j % 97) for j in range(1, columns)), "ab"[i % 2]]) for i in range(rows)]
    return "\n".join(lines).encode()


def check(table: Table, dataset: Dataset | None, expect: dict[str, Any]) -> None:
    found = {
        **asdict(table.reading),
        "columns": [[column.name, column.kind] for column in table.columns],
        "n_columns": len(table.columns),
        "n_rows": table.n_rows,
        "first": [cells[0] for cells in table.values],
        "last": [cells[-1] for cells in table.values],
        "cells": {name: list(table.cells(name)) for name in expect.get("cells", {})},
        "n_notes": len(table.notes),
        "units": {column.name: column.notation.unit for column in table.columns if column.notation},
        "guess": target_guess(table),
        "task": dataset and dataset.task,
        "classes": dataset and list(dataset.classes),
        "inputs": dataset and list(dataset.inputs),
    }
    expected_notes = expect.pop("notes", ())
    assert {name: found[name] for name in expect} == expect
    notes = dataset.provenance.notes if dataset else table.notes
    for note in expected_notes:
        assert any(note in said for said in notes), f"{note!r} is none of {notes}"
