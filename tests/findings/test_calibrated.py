"""A run with calibration rows: what is possible, on every page and in every export, and a whole run that verifies."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

import vpp
from tests import inspected
from tests.reporting.builders import evaluated, rows, run, started
from vpp.data.dataset import Dataset
from vpp.data.tasks import generate
from vpp.events import Event
from vpp.findings.points import Point, holds_truth, points, possible_labels, possible_range, reject_option
from vpp.posterior.calibration import Conformal
from vpp.posterior.prediction import Value
from vpp.reporting.document import report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import load_dataset
from vpp.runs.reader import RunReader
from vpp.verification import verify

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


def test_a_posterior_that_is_often_wrong_decides_nothing(tmp_path: Path) -> None:
    found = on_test(labels(tmp_path, wrong=3))
    assert all(possible_labels(point) == ("no", "yes") and point.is_undecided for point in found.values())


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
    report = report_markdown(reader)
    assert "A label decides a row with two thirds of the weight: the calibration rows ask for no more." in report
    assert "The truth was possible on 5 of 6 rows" in report
    assert "With 10 calibration rows, each of another group, the truth is possible for at least 90 % of new" in report
    assert "| rows | 4 train, 6 test and 10 calibrate" in report


def test_a_truth_exactly_at_the_threshold_is_possible() -> None:
    low, high = Conformal(scores=(0.1,) * 20).interval((0.7, 0.7))
    assert (low, high) == (0.6, 0.8)


def test_a_whole_run_asks_its_calibration_rows_and_verifies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    table = tmp_path / "sum-parity.csv"
    table.write_bytes(generate("sum-parity", seed=0, train_size=40, test_size=60))
    sizes = {"train_size": 20, "test_size": 20, "calibration_size": 20}
    posterior = vpp.fit(str(table), target="label", particles=3, epochs=1, **sizes)
    assert posterior.result["calibrated"]["rows"] == 20
    dataset = load_dataset(posterior.directory, posterior.directory.spec())
    assert (len(dataset.train), len(dataset.test), len(dataset.calibration)) == (20, 20, 20)
    frame = posterior.disagreement()
    assert set(map(type, frame["possible"])) == {tuple}
    held = sum(line.truth in line.possible for line in frame.itertuples())
    assert posterior.result["calibrated"]["truth_possible"] == held
    found = verify(posterior.directory)
    assert not found.faults, found.faults
