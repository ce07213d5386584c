"""`baseline`: a run's learner without a rule and with examples, by HTTP, on the run's test rows."""

from pathlib import Path

import pytest

from tests.processes import Desk, Model, Outcome
from vpp.reporting.document import report_markdown
from vpp.runs.asking import WITH, WITHOUT, read_prompted
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

N_TEST, N_TRAIN = 10, 30


@pytest.fixture
def run_dir(desk: Desk, served: Model) -> Path:
    """A finished run."""
    done = desk.run("run", *served.options).finish()
    assert done.code == 0, done.err
    return desk.folder / "run"


def test_the_learner_is_asked_without_a_rule_then_with_examples_at_equal_calls(
    desk: Desk, served: Model, run_dir: Path
) -> None:
    before = len(served.bodies)
    result = desk.vpp("baseline", run_dir, "--json").result
    prompts = [body["messages"][-1]["content"] for body in served.bodies[before:]]
    calls = result["learner_calls"]
    draws = calls // N_TEST
    zero, few, vote = (result["prompted"][name] for name in ("zero-shot", "few-shot", "few-shot vote"))
    assert (zero["calls"], zero["examples"]) == (N_TEST, 0)
    assert (few["calls"], few["examples"]) == (N_TEST, N_TRAIN)
    assert vote["calls"] == draws * N_TEST
    assert calls - N_TEST < vote["calls"] <= calls
    assert [sum(words in prompt for prompt in prompts) for words in (WITHOUT, WITH)] == [N_TEST, draws * N_TEST]
    shown = next(prompt for prompt in prompts if WITH in prompt)
    assert shown.count(" -> ") == N_TRAIN
    assert set(result["test"]) == {"posterior", "constant", "linear", "tree", *result["prompted"]}


def test_calls_can_be_limited_and_the_report_shows_them(desk: Desk, served: Model, run_dir: Path) -> None:
    done = desk.vpp("baseline", run_dir, "--calls", "20")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].startswith("the run ")
    directory = RunDirectory(run_dir)
    found = read_prompted(directory)
    assert found is not None
    assert [(each.calls, each.examples) for each in found.models] == [(10, 0), (10, N_TRAIN), (20, N_TRAIN)]
    report = report_markdown(RunReader(directory))
    assert report == (run_dir / "report.md").read_text()
    assert "the learner without a rule" in report


def test_a_number_below_1_is_refused(shared_desk: Desk, undisturbed: dict[str, Outcome]) -> None:
    done = shared_desk.vpp("baseline", shared_desk.folder / "vml", "--calls", "0")
    assert (done.code, done.complaint) == (2, "calls is 0: give at least 1")
