"""A record that tells of what cannot be is damage, told with its line; the records of a run are not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from vpp.errors import JournalDamaged
from vpp.events import Event, ParticleDrawn, RunFinished, RunResumed, StepFinished
from vpp.runs.damage import view_to_go_on_from
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
    ("proposed", {"unanswered": 2}, "a decision on some rows without its numbers"),
    ("evaluated", {"predictions": (("yes",),) * 4}, "1 answers for 6 rows"),
    ("evaluated", {"value": -1.0}, "accuracy of -1.0"),
)


def lines_of(events: list[Event]) -> list[bytes]:
    return [encode(Record(at=1.0 + i, usage=Usage(), answers=0, event=event)) for i, event in enumerate(events)]


def found_in(folder: Path, lines: list[bytes]) -> list[Record | Lost]:
    path = folder / "events.jsonl"
    path.write_bytes(b"".join(lines))
    return list(JournalReader(path, dataset=lambda: inspected.LABELS).new_records())


def read(folder: Path, events: list[Event]) -> list[Record | Lost]:
    return found_in(folder, lines_of(events))


def changed(events: list[Event], kind: str, change: dict[str, Any]) -> int:
    """Changes the first event of a kind; its place."""
    at = next(place for place, event in enumerate(events) if event.type == kind)
    events[at] = replace(events[at], **change)
    return at


def test_every_record_of_a_run_stands(tmp_path: Path) -> None:
    assert not [found for found in read(tmp_path, inspected.label_events()) if isinstance(found, Lost)]


def test_a_step_comes_again_only_where_the_run_went_on_from_before_it(tmp_path: Path) -> None:
    events = inspected.label_events()
    first, last = (place for place, event in enumerate(events) if isinstance(event, StepFinished) and event.step >= 0)
    done, again = events[: last + 1], events[first + 1 :]
    assert not [found for found in read(tmp_path, [*done, RunResumed(step=0), *again]) if isinstance(found, Lost)]
    lost = [found for found in read(tmp_path, [*done, *again]) if isinstance(found, Lost)]
    assert (lost[0].line, lost[0].reason) == (last + 2, "step 1 is over")


@pytest.mark.parametrize(("kind", "change", "reason"), CHANGES)
def test_what_cannot_be_is_told_with_its_line(tmp_path: Path, kind: str, change: dict[str, Any], reason: str) -> None:
    events = inspected.label_events()
    at = changed(events, kind, change)
    first = next(found for found in read(tmp_path, events) if isinstance(found, Lost))
    assert first.line == at + 1
    assert reason in first.reason


@pytest.mark.parametrize(("kind", "change", "reason"), CHANGES)
def test_a_worker_goes_on_from_before_it_as_the_page_says(
    tmp_path: Path, kind: str, change: dict[str, Any], reason: str
) -> None:
    """The rows are the run's own: what only they show to be damage is damage to a worker too."""
    directory = inspected.labels(tmp_path / "run").directory
    events = [event for event in inspected.label_events() if not isinstance(event, RunFinished)]
    at = changed(events, kind, change)
    lines = lines_of(events)
    directory.journal.write_bytes(b"".join(lines))
    with pytest.raises(JournalDamaged, match=f"line {at + 1}.*{reason}"):
        view_to_go_on_from(directory)
    assert not view_to_go_on_from(directory, from_before_damage=True).is_damaged
    assert directory.journal.read_bytes() == b"".join(lines[:at])


def test_what_follows_a_line_that_cannot_be_read_is_not_judged_by_it(tmp_path: Path) -> None:
    """It may have told the text that a score is about."""
    events = inspected.label_events()
    lines = lines_of(events)
    at = next(place for place, event in enumerate(events) if event.type == "particle_drawn")
    lines[at] = b"{\n"
    end = next(place for place, event in enumerate(events) if isinstance(event, StepFinished))
    lost = [found.line for found in found_in(tmp_path, lines[: end + 1]) if isinstance(found, Lost)]
    assert lost == [at + 1]


HUGE = 10**400
HUGE_NUMBERS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("run_started", {"config": {name: HUGE}}) for name in ("beta_end", "ess_threshold", "particles_max", "seed")),
    ("run_started", {"dataset": {"columns": [{"n_missing": -HUGE}]}}),
    ("scored", {"rows": ["9" * 400]}),
    ("proposed", {"unanswered": HUGE}),
    ("step_finished", {"few_for": HUGE}),
)


@pytest.mark.parametrize(("kind", "change"), HUGE_NUMBERS)
def test_an_integer_beyond_64_bits_is_damage_wherever_it_stands(
    tmp_path: Path, kind: str, change: dict[str, Any]
) -> None:
    lines = lines_of(inspected.label_events())
    at, record = next((i, json.loads(line)) for i, line in enumerate(lines) if f'"type":"{kind}"'.encode() in line)
    lines[at] = json.dumps({**record, "event": {**record["event"], **change}}).encode() + b"\n"
    first = next(found for found in found_in(tmp_path, lines) if isinstance(found, Lost))
    assert (first.line, first.reason) == (at + 1, "it holds an integer beyond 64 bits")


def test_a_count_beyond_64_bits_is_damage(tmp_path: Path) -> None:
    record = Record(at=1.0, usage=Usage(unparsable=HUGE), answers=0, event=inspected.label_events()[0])
    (lost,) = found_in(tmp_path, [encode(record)])
    assert isinstance(lost, Lost)
    assert lost.reason == "it holds an integer beyond 64 bits"


def test_long_rows_of_digits_in_a_text_or_a_fraction_are_no_damage(tmp_path: Path) -> None:
    events = inspected.label_events()
    text = "9" * 400
    drawn = next(i for i, event in enumerate(events) if isinstance(event, ParticleDrawn))
    events[drawn] = replace(events[drawn], raw=text)  # type: ignore[call-arg]
    records = [Record(at=1.0000000000000002, usage=Usage(), answers=0, event=event) for event in events]
    assert not [found for found in found_in(tmp_path, list(map(encode, records))) if isinstance(found, Lost)]
