import csv
import io
import json
import math
from pathlib import Path

import pytest

from vpp.data.dataset import Value
from vpp.events import Event, ParticleState, RunFinished, StepFinished
from vpp.hypothesis import hypothesis_id
from vpp.problem import Prediction
from vpp.reporting.exports import posterior_json, prediction_csv, predictions_csv, write_all
from vpp.runs.asking import Answers
from vpp.runs.journal import Record
from vpp.settings import Config
from vpp.usage import Usage

from .builders import NUMBERS, YES_NO, dataset, drawn, evaluated, finished, reweighted, rows, run, scored, started

SLOTS = ("even", "odd")
VOTES = {"even": ["yes", "no", None], "odd": ["yes", "yes", None]}


def whole_run(answers: dict[str, list[Value | None]] = VOTES) -> list[Event]:  # type: ignore[assignment]
    return [
        started(Config(particles=2), YES_NO),
        *drawn(*SLOTS),
        finished(0, SLOTS),
        finished(1, SLOTS),
        *(scored(1, k, text, {0: "yes"}, role="final") for k, text in enumerate(SLOTS)),
        reweighted(1, (0.75, 0.25), role="final"),
        evaluated(YES_NO, answers, slots=SLOTS, weights=(0.75, 0.25)),
        RunFinished(outcome="finished"),
    ]


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def test_predictions_have_a_line_for_each_test_row(tmp_path: Path) -> None:
    head, first, second, third = read(predictions_csv(run(tmp_path, *whole_run())))
    assert head == ["row", "a", "truth", "prediction", "share", "entropy_bits", "particle_0", "particle_1"]
    assert first == ["4", "4", "yes", "yes", "1", "0", "yes", "yes"]
    assert second[:5] == ["5", "5", "no", "no", "0.75"]
    assert float(second[5]) == pytest.approx(0.8113, abs=1e-4)
    assert third == ["6", "6", "no", "", "0", "", "", ""]


def test_predictions_of_numbers_have_a_spread_and_an_interval(tmp_path: Path) -> None:
    events = [
        started(Config(particles=2), NUMBERS),
        *drawn(*SLOTS),
        evaluated(NUMBERS, {"even": [1.0, None], "odd": [3.0, None]}, slots=SLOTS, step=-1),
    ]
    head, first, second = read(predictions_csv(run(tmp_path, *events, data=NUMBERS)))
    assert head == ["row", "a", "truth", "prediction", "spread", "low", "high", "particle_0", "particle_1"]
    assert first == ["4", "4", "1", "2", "1", "1", "3", "1", "3"]
    assert second == ["5", "5", "3", "", "", "", "", "", ""]


def test_before_the_test_rows_are_evaluated_there_is_the_header_alone(tmp_path: Path) -> None:
    content = predictions_csv(run(tmp_path, *whole_run()[:4]))
    assert read(content) == [["row", "a", "truth", "prediction", "share", "entropy_bits"]]


def test_an_input_keeps_its_name_and_own_columns_give_way() -> None:
    asked = Answers(
        rows=rows(["x"], first_id=0, name="prediction"),
        texts=("even",),
        weights=(1.0,),
        predictions=((Prediction(row=0, value="yes"),),),
        task="classification",
        target="y",
    )
    head, line = read(prediction_csv(asked))
    assert head == ["row", "prediction", "prediction_", "share", "entropy_bits", "particle_0"]
    assert line == ["0", "0", "yes", "1", "0", "yes"]


def test_new_rows_have_the_same_columns_but_the_truth() -> None:
    asked = Answers(
        rows=rows([0.0, 0.0], first_id=0),
        texts=("even", "odd"),
        weights=(0.5, 0.5),
        predictions=(
            (Prediction(row=0, value=1.5), Prediction(row=1, value=None)),
            (Prediction(row=0, value=1.5), Prediction(row=1, value=2.0)),
        ),
        task="regression",
        target="y",
    )
    assert read(prediction_csv(asked)) == [
        ["row", "a", "prediction", "spread", "low", "high", "particle_0", "particle_1"],
        ["0", "0", "1.5", "0", "1.5", "1.5", "1.5", "1.5"],
        ["1", "1", "2", "0", "2", "2", "", "2"],
    ]


def test_cells_come_back_as_they_were(tmp_path: Path) -> None:
    """Quotes, commas, line ends and what a spreadsheet would take for a formula."""
    hostile = ['=HYPERLINK("http://evil")', "a,b", "line\r\nend", "lone\rreturn", "+1", "ünïcode"]
    data = dataset(hostile, hostile, name='a "b", c')
    answers = {"even": hostile, "odd": hostile}
    events = [started(Config(particles=2), data), *drawn(*SLOTS), evaluated(data, answers, slots=SLOTS, step=-1)]
    head, *lines = read(predictions_csv(run(tmp_path, *events, data=data)))
    assert head[1] == 'a "b", c'
    assert [line[2] for line in lines] == hostile
    assert [line[-1] for line in lines] == hostile


def test_posterior_json_holds_ideas_particles_and_the_result(tmp_path: Path) -> None:
    content = json.loads(posterior_json(run(tmp_path, *whole_run())))
    assert [idea["text"] for idea in content["ideas"]] == ["even", "odd"]
    assert content["rows_compared"] == 3
    assert [(p["text"], p["weight"], p["idea"]) for p in content["particles"]] == [("even", 0.75, 0), ("odd", 0.25, 1)]
    assert content["weights_are"] == "rescored"
    assert content["settings"]["particles"] == 2
    assert content["dataset"]["provenance"]["sha256"] == "ab" * 32
    assert content["result"]["status"] == "finished"
    assert content["result"]["metric"]["name"] == "accuracy"


def test_posterior_json_is_strict_json_where_a_likelihood_is_nothing(tmp_path: Path) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    reader = run(tmp_path, *whole_run())
    state = ParticleState(hypothesis=hypothesis_id("even"), parent=0, log_likelihood=-math.inf, log_weight=0.0)
    end = StepFinished(step=1, population=(state, state), batch=(), tau=None)
    reader.refresh().view.apply(Record(at=0, usage=Usage(), answers=0, event=end))
    content = json.loads(posterior_json(reader), parse_constant=refuse)
    assert [particle["log_likelihood"] for particle in content["particles"]] == ["-Infinity", "-Infinity"]


def test_posterior_json_of_a_run_without_particles_is_empty(tmp_path: Path) -> None:
    content = json.loads(posterior_json(run(tmp_path)))
    assert (content["ideas"], content["particles"], content["weights_are"]) == ([], [], None)


def test_all_files_are_written_and_the_reports_path_returned(tmp_path: Path) -> None:
    directory = run(tmp_path, *whole_run()).directory
    report = write_all(directory)
    assert report == directory.path / "report.md"
    assert report.read_text(encoding="utf-8").startswith("# toy\n")
    written = {path.name for path in directory.path.iterdir()}
    assert {"posterior.json", "predictions.csv", "report.md", "report.html"} <= written
    assert not list(directory.path.glob(".*.part"))


def test_writing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    directory = run(tmp_path, *whole_run()).directory
    first = [write_all(directory).read_bytes(), (directory.path / "posterior.json").read_bytes()]
    assert first == [write_all(directory).read_bytes(), (directory.path / "posterior.json").read_bytes()]
