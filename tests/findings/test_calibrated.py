"""A run with calibration rows: what is possible, on every page and in every export, and a whole run that verifies."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

from tests import inspected
from tests.reporting.builders import evaluated, rows, run, started
from vpp.data.dataset import Dataset
from vpp.events import Event
from vpp.findings.points import Point, holds_truth, points, possible_labels, possible_range, reject_option
from vpp.posterior.prediction import Value
from vpp.reporting.document import report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.journal import RunReader

SAYS = inspected.LABEL_SLOTS


def labels(folder: Path, wrong: int, n: int = 10) -> RunReader:
    """The run of labels, split by group, with n calibration rows, whose last `wrong` all particles answer wrongly."""
    origin = replace(inspected.LABELS.provenance, split="group:g")
    data = replace(inspected.LABELS, calibration=rows(["yes"] * n, first_id=100), provenance=origin)
    answers: dict[str, list[Value | None]] = {text: ["yes"] * (n - wrong) + ["no"] * wrong for text in SAYS}
    return _run(folder, data, answers, inspected.label_events())


def numbers(folder: Path, off: float, n: int = 10) -> RunReader:
    """The run of numbers with n calibration rows, which all particles miss by `off`."""
    data = replace(inspected.NUMBERS, calibration=rows([float(i) for i in range(n)], first_id=100))
    answers: dict[str, list[Value | None]] = {text: [i + off for i in range(n)] for text in inspected.NUMBER_SLOTS}
    return _run(folder, data, answers, inspected.number_events())


def _run(folder: Path, data: Dataset, answers: dict[str, list[Value | None]], events: list[Event]) -> RunReader:
    is_label = data.task == "classification"
    config = inspected.LABEL_CONFIG if is_label else inspected.NUMBER_CONFIG
    weights, step = (inspected.LABEL_WEIGHTS, 1) if is_label else (inspected.NUMBER_WEIGHTS, 0)
    more = evaluated(data, answers, slots=tuple(answers), weights=weights, split="calibration", step=step)
    first = started(config, data, steps=step + 1)
    return run(folder, first, *events[1:-2], more, *events[-2:], data=data, config=config)


def on_test(reader: RunReader) -> dict[int, Point]:
    view, dataset = reader.refresh().view, reader.dataset()
    test = view.evaluated["test"]
    return {
        p.row.id: p
        for p in points(test, dataset, reject_option(view, reader.directory.spec().config, dataset, of=test))
    }


def test_a_posterior_that_is_right_decides_every_row_with_two_thirds(tmp_path: Path) -> None:
    found = on_test(labels(tmp_path, wrong=0))
    assert {row: possible_labels(point) for row, point in found.items()} == {
        4: ("yes",), 5: ("no",), 6: ("yes",), 7: ("no",), 8: ("no", "yes"), 9: ("yes",),
    }  # fmt: skip
    assert [row for row, point in found.items() if point.is_undecided] == [8]
    assert [row for row, point in found.items() if not holds_truth(point)] == [9]


def test_ranges_of_numbers_are_widened_by_the_misses(tmp_path: Path) -> None:
    found = on_test(numbers(tmp_path, off=2.0))
    assert found[4].interval == (0.0, 2.0)
    assert possible_range(found[4]) == (-2.0, 4.0)
    assert holds_truth(found[4])


def test_exports_and_the_report_hold_what_is_possible(tmp_path: Path) -> None:
    reader = labels(tmp_path, wrong=0)
    table = list(csv.DictReader(io.StringIO(predictions_csv(reader).decode())))
    by_row = {line["row"]: (line["possible_no"], line["possible_yes"]) for line in table}
    assert (by_row["4"], by_row["5"]) == (("0", "1"), ("1", "0"))
    exported = json.loads(posterior_json(reader))
    assert {line["row"]: line["possible"] for line in exported["disagreement"]}[7] == ["no"]
    assert exported["result"]["calibrated"] == {
        "level": 0.9, "rows": 10, "threshold": 0.0, "test_rows": 6, "truth_possible": 5,
    }  # fmt: skip
    assert exported["result"]["undecided"] == {"count": 1, "rows": [8]}
    report = report_markdown(reader)
    assert "The truth was possible on 5 of 6 rows" in report
    assert "With 10 calibration rows, each of another group, the truth is possible for at least 90 % of new" in report
    assert "| rows | Of 20 rows 4 train, 6 test and 10 calibrate. No value of g has rows in two parts." in report
