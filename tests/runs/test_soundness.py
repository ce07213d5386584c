"""A record that cannot come next is damage, named with its line; the records of a run are none."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from vpp.errors import JournalDamaged
from vpp.events import Event, ParticleDrawn, RunFinished, RunPaused, RunResumed, StepFinished
from vpp.runs.journal import Record, encode
from vpp.runs.journal_reader import JournalReader, Lost, view_to_go_on_from
from vpp.usage import Usage

CHANGES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("scored", {"particle": 99}, "there is no slot 99"),
    ("scored", {"rows": (0, 10**9)}, "row 1000000000 is no train row"),
    ("scored", {"predictions": (1.5, "no")}, "an answer is none of the target's labels"),
    ("scored", {"step": 10**12}, "there is no step"),
    ("reweighted", {"weights": (2.0, 0.0, 0.0, 0.0)}, "the weights do not sum to 1"),
    ("resampled", {"ancestors": (0, 0, 1, 7)}, "there is no slot 7"),
    ("proposed", {"parent": "nobody"}, "no line before it has the text of its hypothesis"),
    ("proposed", {"text": None}, "text, id and reason contradict"),
    ("evaluated", {"predictions": (("yes",),) * 4}, "it has 1 answers for 6 rows"),
    ("evaluated", {"value": -1.0}, "accuracy is -1.0"),
)


def lines_of(events: list[Event]) -> list[bytes]:
    return [encode(Record(at=1.0 + i, usage=Usage(), answers=0, event=event)) for i, event in enumerate(events)]


def lost_in(folder: Path, lines: list[bytes]) -> Lost | None:
    """The line at which a reader stops."""
    path = folder / "events.jsonl"
    path.write_bytes(b"".join(lines))
    reader = JournalReader(path, dataset=lambda: inspected.LABELS)
    assert len(list(reader.new_records())) == (reader.lost.line - 1 if reader.lost else len(lines))
    return reader.lost


def lost_of(folder: Path, events: list[Event]) -> tuple[int, str] | None:
    lost = lost_in(folder, lines_of(events))
    return (lost.line, lost.reason) if lost else None


def changed(events: list[Event], kind: str, change: dict[str, Any]) -> int:
    """Changes the first event of a kind; its place."""
    at = next(place for place, event in enumerate(events) if event.type == kind)
    events[at] = replace(events[at], **change)
    return at


def test_a_step_comes_again_only_after_a_resume_from_before_it(tmp_path: Path) -> None:
    events = inspected.label_events()
    assert lost_of(tmp_path, events) is None
    first, last = (place for place, event in enumerate(events) if isinstance(event, StepFinished) and event.step >= 0)
    done, again = events[: first + 1], events[first + 1 :]
    assert lost_of(tmp_path, [*done, *again[:2], RunResumed(step=0), *again]) is None
    assert lost_of(tmp_path, [*events[: last + 1], *again]) == (last + 2, "step 1 is over")
    assert lost_of(tmp_path, [*done, again[0], *again]) == (first + 3, "the same event is recorded before it")
    assert lost_of(tmp_path, [*done, RunPaused(reason="user"), *again]) == (
        first + 3,
        "no line run_resumed comes before it",
    )
    assert lost_of(tmp_path, [*events[:first], *again]) == (first + 1, "lines of step 0 are missing before it")


@pytest.mark.parametrize(("kind", "change", "reason"), CHANGES)
def test_a_worker_continues_from_before_the_record_that_a_page_names(
    tmp_path: Path, kind: str, change: dict[str, Any], reason: str
) -> None:
    directory = inspected.labels(tmp_path / "run").directory
    events = [event for event in inspected.label_events() if not isinstance(event, RunFinished)]
    at = changed(events, kind, change)
    lines = lines_of(events)
    directory.journal.write_bytes(b"".join(lines))
    with pytest.raises(JournalDamaged, match=f"line {at + 1}.*{reason}"):
        view_to_go_on_from(directory)
    view_to_go_on_from(directory, from_before_damage=True)
    assert directory.journal.read_bytes() == b"".join(lines[:at])


HUGE = 10**400
HUGE_NUMBERS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("run_started", {"config": {name: HUGE}}) for name in ("particles_max", "seed")),
    ("run_started", {"dataset": {"columns": [{"n_missing": -HUGE}]}}),
    ("scored", {"rows": ["9" * 400]}),
    ("step_finished", {"few_for": HUGE}),
)


@pytest.mark.parametrize(("kind", "change"), HUGE_NUMBERS)
def test_an_integer_beyond_64_bits_is_damage_wherever_it_stands(
    tmp_path: Path, kind: str, change: dict[str, Any]
) -> None:
    lines = lines_of(inspected.label_events())
    at, record = next((i, json.loads(line)) for i, line in enumerate(lines) if f'"type":"{kind}"'.encode() in line)
    lines[at] = json.dumps({**record, "event": {**record["event"], **change}}).encode() + b"\n"
    lost = lost_in(tmp_path, lines)
    assert lost is not None
    assert (lost.line, lost.reason) == (at + 1, "it holds an integer beyond 64 bits")


def test_long_rows_of_digits_in_a_text_or_a_fraction_are_no_damage(tmp_path: Path) -> None:
    events = inspected.label_events()
    text = "9" * 400
    drawn = next(i for i, event in enumerate(events) if isinstance(event, ParticleDrawn))
    events[drawn] = replace(events[drawn], raw=text)  # type: ignore[call-arg]
    records = [Record(at=1.0000000000000002, usage=Usage(), answers=0, event=event) for event in events]
    assert lost_in(tmp_path, list(map(encode, records))) is None
