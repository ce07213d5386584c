"""What is said of a run fits its method: nothing is shown that it does not have."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.reporting.sampled import VARIANTS, sampled_run, world
from tests.show.every_page import draw_all
from vpp.events import Event
from vpp.reporting.document import posterior_json, report_markdown
from vpp.reporting.predictions import predictions_csv
from vpp.runs.journal import JournalReader, RunReader

from . import builders

TASKS = ("classification", "regression")
TELESCOPING = ("incremental", "adaptive")


@cache
def reported(reader: RunReader) -> str:
    return report_markdown(reader)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def events_of(name: str, task: str = "classification") -> list[Event]:
    """Events of a variant's finished run."""
    return [record.event for record in JournalReader(sampled_run(name, task).directory.journal).new_records()]


def begun(folder: Path, name: str, n_events: int, *, task: str = "classification") -> RunReader:
    """A variant's run with its first events alone."""
    return builders.run(folder, *events_of(name, task)[:n_events], data=world(task), config=VARIANTS[name])


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", VARIANTS)
def test_every_method_is_reported_whole_and_has_no_figure_of_another(name: str, task: str) -> None:
    reader, config = sampled_run(name, task), VARIANTS[name]
    report = reported(reader)
    assert report.count("\n## ") == 5
    assert json.loads(posterior_json(reader))["result"]["status"] == "finished"
    assert len(predictions_csv(reader).splitlines()) == 1 + len(reader.dataset().test)
    assert ("| Log evidence |" in report) == config.is_telescoping


@pytest.mark.parametrize("name", VARIANTS)
def test_every_page_can_be_drawn_of_a_run_at_any_moment(tmp_path: Path, name: str) -> None:
    n = len(events_of(name))
    for length in range(n, 0, -(n // 4)):
        draw_all(begun(tmp_path / str(length), name, length))
