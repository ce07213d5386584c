"""`predict` puts a table’s rows to every particle; `baseline` asks the learner about the test rows without them."""

import csv
import io
import signal
from pathlib import Path

import pytest

from tests.inspected import askable_labels
from tests.llm.stub import refusal
from tests.processes import PENGUINS, Desk, Model, Outcome, wait_until
from vpp.findings.baselines import PROMPTED, PromptedBaselines
from vpp.reporting.document import report_markdown
from vpp.runs.directory import RunDirectory, RunReader, read_json
from vpp.trials import WITH, WITHOUT

TABLE = "a,note\n4,=1+1\n7,x\n8,x\n9,x\n10,x\n"


@pytest.fixture
def run_dir(desk: Desk, served: Model) -> Path:
    """A run of four sentences, and a table to ask about, `new.csv`: 20 questions."""
    (desk.folder / "new.csv").write_text(TABLE)
    return askable_labels(desk.runs, served).directory.path


def test_a_table_is_predicted_with_reasons(desk: Desk, run_dir: Path) -> None:
    outcome = desk.vpp("predict", run_dir, "new.csv", "-o", "out.csv", "--reasons")
    assert outcome.code == 0, outcome.err
    assert outcome.out == "5 rows predicted by 4 particles: out.csv\n"
    assert outcome.err == ""
    first, *_ = csv.DictReader(io.StringIO((desk.folder / "out.csv").read_text()))
    # a = 4: EVEN and ODD say yes (0.4 + 0.1), BIG says no (0.3), and PAIR, which the demo model cannot read, no (0.2).
    assert (first["a"], first["share_yes"], first["share_no"], first["entropy_bits"]) == ("4", "0.5", "0.5", "1")
    assert first["because_1"] == "Here a = 4, so the rule gives no."


def test_a_calibrated_run_says_which_labels_are_possible(desk: Desk, served: Model) -> None:
    rows = ("--train-size", "30", "--test-size", "10", "--calibration-size", "40")
    assert desk.run("calibrated", *served.options, *rows).finish().code == 0
    outcome = desk.vpp("predict", desk.folder / "calibrated", PENGUINS, "-o", "out.csv")
    assert outcome.code == 0, outcome.err
    found = list(csv.DictReader(io.StringIO((desk.folder / "out.csv").read_text())))
    possible = [
        {label for label in ("Adelie", "Chinstrap", "Gentoo") if row[f"possible_{label}"] == "1"} for row in found
    ]
    held = sum(row["species"] in labels for row, labels in zip(found, possible, strict=True))
    assert held / len(found) > 0.8, "the promise is 90 %"
    assert min(map(len, possible)) < 3, "not every label is possible everywhere"


def test_a_stopped_prediction_writes_no_file_and_says_so(desk: Desk, served: Model, run_dir: Path) -> None:
    served.hold_after = 10
    running = desk.start("predict", run_dir, "new.csv", "-o", "out.csv")
    wait_until(lambda: served.is_holding, "half of the questions are answered")
    running.signal(signal.SIGINT)
    outcome = running.finish()
    assert outcome.code == 130
    assert outcome.err.endswith("stopped: out.csv was not written; this run has no cache\n")
    assert not (desk.folder / "out.csv").exists()


def test_a_refused_prediction_writes_no_file(desk: Desk, served: Model, run_dir: Path) -> None:
    served.refusal = refusal(401, "no such key")
    outcome = desk.vpp("predict", run_dir, "new.csv", "-o", "out.csv")
    assert (outcome.code, "no such key" in outcome.complaint) == (3, True)
    assert not (desk.folder / "out.csv").exists()


def test_rows_that_are_refused_cost_nothing_else(desk: Desk, served: Model) -> None:
    run_dir = askable_labels(desk.runs, served, cache=True).directory.path
    (desk.folder / "new.csv").write_text(TABLE)
    served.refusal, served.refused_word = refusal(401, "no such key"), "a: 10"
    (desk.folder / "four.csv").write_text(TABLE.removesuffix("10,x\n"))
    assert desk.vpp("predict", run_dir, "four.csv", "-o", "out.csv").code == 0
    outcome = desk.vpp("predict", run_dir, "new.csv", "-o", "out.csv")
    assert (outcome.code, outcome.out) == (3, "4 of 5 rows predicted by 4 particles: out.csv\n")
    served.refusal = refusal(400, "The prompt was filtered", code="content_filter")
    outcome = desk.vpp("predict", run_dir, "new.csv", "-o", "out.csv")
    assert outcome.code == 0, outcome.err
    assert "1 row: withheld by the server's filter (HTTP 400 The prompt was filtered)" in outcome.err
    *_, last = csv.DictReader(io.StringIO((desk.folder / "out.csv").read_text()))
    assert (last["a"], last["abstained"]) == ("10", "1")


# The learner without a rule, and with examples

N_ROWS, N_TRAIN = 10, 30


@pytest.fixture
def finished_run(desk: Desk, served: Model) -> Path:
    """A finished run."""
    done = desk.run("run", *served.options).finish()
    assert done.code == 0, done.err
    return desk.folder / "run"


def test_the_learner_is_asked_without_a_rule_then_with_examples_at_equal_calls(
    desk: Desk, served: Model, finished_run: Path
) -> None:
    before = len(served.bodies)
    result = desk.vpp("baseline", finished_run, "--json").result
    prompts = [body["messages"][-1]["content"] for body in served.bodies[before:]]
    calls = result["learner_calls"]
    draws = calls // N_ROWS
    zero, few, vote = (result["prompted"][name] for name in ("zero-shot", "few-shot", "few-shot vote"))
    assert (zero["calls"], zero["examples"]) == (N_ROWS, 0)
    assert (few["calls"], few["examples"]) == (N_ROWS, N_TRAIN)
    assert vote["calls"] == draws * N_ROWS
    assert calls - N_ROWS < vote["calls"] <= calls
    assert [sum(words in prompt for prompt in prompts) for words in (WITHOUT, WITH)] == [N_ROWS, draws * N_ROWS]
    shown = next(prompt for prompt in prompts if WITH in prompt)
    assert shown.count(" -> ") == N_TRAIN
    own = desk.vpp("resume", finished_run, "--json").result["metric"]
    assert (result["metric"], result["test"]["posterior"]) == (own["name"], own["test"])
    assert set(result["test"]) == {"posterior", "constant", "linear", "tree", *result["prompted"]}


def test_calls_can_be_limited_and_the_report_shows_them(desk: Desk, served: Model, finished_run: Path) -> None:
    done = desk.vpp("baseline", finished_run, "--calls", "20")
    assert done.code == 0, done.err
    assert "Examples, voting at equal calls" in done.out
    directory = RunDirectory(finished_run)
    found = read_json(directory.path / PROMPTED, PromptedBaselines)
    assert found
    assert [(each.calls, each.examples) for each in found.models] == [(10, 0), (10, N_TRAIN), (20, N_TRAIN)]
    report = report_markdown(RunReader(directory))
    assert report == (finished_run / "report.md").read_text()
    assert "The learner without a rule" in report


def test_a_number_below_1_is_refused(shared_desk: Desk, undisturbed: dict[str, Outcome]) -> None:
    done = shared_desk.vpp("baseline", shared_desk.folder / "vml", "--calls", "0")
    assert (done.code, done.complaint) == (2, "calls is 0: give at least 1")
