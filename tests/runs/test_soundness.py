"""A record that tells of what cannot be is damage, told with its line; the records of a run are not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from vpp.events import Event
from vpp.runs.journal import JournalReader, Record, encode
from vpp.runs.lines import Lost
from vpp.usage import Usage

CHANGES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("scored", {"particle": 99}, "there is no slot 99"),
    ("scored", {"rows": (0, 10**9)}, "row 1000000000 is no train row"),
    ("scored", {"predictions": (1.5, "no")}, "an answer that the target cannot have"),
    ("scored", {"step": 10**12}, "there is no step"),
    ("reweighted", {"weights": (2.0, 0.0, 0.0, 0.0)}, "weights that do not sum to 1"),
    ("resampled", {"ancestors": (0, 0, 1, 7)}, "an ancestor that there is not"),
    ("proposed", {"parent": "nobody"}, "a hypothesis that nothing tells of"),
    ("evaluated", {"predictions": (("yes",),) * 4}, "1 answers for 6 rows"),
    ("evaluated", {"value": -1.0}, "accuracy of -1.0"),
)


def read(folder: Path, events: list[Event]) -> list[Record | Lost]:
    path = folder / "events.jsonl"
    records = (Record(at=1.0 + i, usage=Usage(), answers=0, event=event) for i, event in enumerate(events))
    path.write_bytes(b"".join(map(encode, records)))
    return list(JournalReader(path, dataset=lambda: inspected.LABELS).new_records())


def test_every_record_of_a_run_stands(tmp_path: Path) -> None:
    assert not [found for found in read(tmp_path, inspected.label_events()) if isinstance(found, Lost)]


@pytest.mark.parametrize(("kind", "change", "reason"), CHANGES)
def test_what_cannot_be_is_told_with_its_line(tmp_path: Path, kind: str, change: dict[str, Any], reason: str) -> None:
    events = inspected.label_events()
    at = next(place for place, event in enumerate(events) if event.type == kind)
    events[at] = replace(events[at], **change)
    first = next(found for found in read(tmp_path, events) if isinstance(found, Lost))
    assert first.line == at + 1
    assert reason in first.reason
