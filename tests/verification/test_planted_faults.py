"""Every kind of change to a run's files is found, and told with its line."""

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.inference import scripted
from tests.inference.test_resizing import keep, right
from tests.verification.kept import GROWING, SHRINKING, kept_run, write
from vpp.cli import main
from vpp.errors import RunError
from vpp.events import (
    Evaluated,
    Event,
    ParticleDrawn,
    Proposed,
    Resampled,
    Reweighted,
    RunFinished,
    RunStarted,
    Scored,
    StepFinished,
)
from vpp.runs.directory import RunDirectory
from vpp.verification.verify import Verification, verify
from vpp.wording.verification import verification_lines

Run = tuple[RunDirectory, list[Event]]
Change = Callable[[Any], dict[str, Any]]
RUNS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "filtered": (
        "classification",
        {
            "method": "smc",
            "mutate": "filtered",
            "ess_threshold": 0.9,
            "final_weights": "rescored",
            "evaluate_every": 3,
            "epochs": 1,
        },
        {},
    ),
    "carried": ("regression", {"method": "smc", "tempering": "adaptive", "tau": "auto", "epochs": 1}, {}),
    "chains": ("classification", {"method": "mh", "history": 1, "epochs": 1}, {}),
    "growing": ("classification", GROWING, {"write": keep}),
    "shrinking": ("classification", SHRINKING, {"write": scripted.rewrite_anew, "answer": right}),
    "cut short": ("regression", {"method": "mh", "early_rejection": True}, {"delay": scripted.jitter(0)}),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("sound")
    made: dict[str, Run] = {}
    for name, (task, options, script) in RUNS.items():
        made[name] = kept_run(folder / name, scripted.paper(**options), task, **script)
        made[name][0].amend(status="finished")
        assert verify(made[name][0]).holds
    return made


def copy_of(run: Run, folder: Path) -> Run:
    """To be spoiled."""
    shutil.copytree(run[0].path, folder / "copy")
    return RunDirectory(folder / "copy"), list(run[1])


def place_of(events: list[Event], kind: type[Event], **where: Any) -> int:
    """Of a middle event of the kind."""
    found = [
        i for i, e in enumerate(events) if isinstance(e, kind) and all(getattr(e, k) == v for k, v in where.items())
    ]
    assert found, f"the run tells no {kind.__name__} of {where}"
    return found[len(found) // 2]


def claims_at(found: Verification, line: int) -> set[str]:
    return {fault.claim for fault in found.faults if fault.at.line == line}


def first(values: tuple[Any, ...], change: Callable[[Any], Any]) -> tuple[Any, ...]:
    return (change(values[0]), *values[1:])


def of_slot(field: str, value: Callable[[Any], Any]) -> Change:
    """A change to the first particle's state."""
    return lambda e: {
        "population": first(e.population, lambda state: replace(state, **{field: value(getattr(state, field))}))
    }


JUDGED = {"why": "likelihood"}
CUT = {"why": "likelihood", "log_likelihood_proposal": None}
CHANGES: list[tuple[str, str, str, type[Event], dict[str, Any], Change]] = [
    ("a drawn text", "texts", "filtered", ParticleDrawn, {}, lambda e: {"text": e.text + "!"}),
    ("a proposed text", "texts", "filtered", Proposed, JUDGED, lambda e: {"text": e.text + " "}),
    ("an id", "lines", "filtered", Scored, {}, lambda e: {"hypothesis": "0" * 12}),
    ("the seed sentence", "texts", "chains", RunStarted, {}, lambda e: {"seed_text": "You predict z."}),
    ("an option", "data", "chains", RunStarted, {}, lambda e: {"config": {**e.config, "seed": 7}}),
    ("who answered", "data", "chains", RunStarted, {}, lambda e: {"models": {**e.models, "learner": "another"}}),
    ("when the end is", "lines", "chains", Evaluated, {}, lambda e: {"step": e.step + 1}),
    ("the rows' count", "data", "chains", RunStarted, {}, lambda e: {"dataset": {**e.dataset, "n_train": 9}}),
    ("scored rows", "rows", "filtered", Scored, {"role": "buffer"}, lambda e: {"rows": e.rows[::-1]}),
    ("a batch", "rows", "chains", StepFinished, {}, lambda e: {"batch": e.batch[1:]}),
    ("evaluated rows", "rows", "chains", Evaluated, {}, lambda e: {"rows": e.rows[::-1]}),
    ("an answer", "answers", "carried", Scored, {}, lambda e: {"predictions": first(e.predictions, lambda _: 1e-9)}),
    ("a label", "lines", "filtered", Scored, {}, lambda e: {"predictions": tuple("maybe" for _ in e.rows)}),
    (
        "a log-likelihood",
        "likelihoods",
        "carried",
        Scored,
        {},
        lambda e: {"log_likelihood": e.log_likelihood * (1 + 1e-8)},
    ),
    ("tau", "tau", "carried", StepFinished, {}, lambda e: {"tau": e.tau * 1.01}),
    ("the first tau", "tau", "carried", StepFinished, {"step": -1}, lambda e: {"tau": e.tau * 1.01}),
    ("beta", "tempering", "filtered", Reweighted, {"role": "step"}, lambda e: {"beta": e.beta + 0.1}),
    ("an exponent that was found", "tempering", "carried", Reweighted, {}, lambda e: {"beta": e.beta * 1.01}),
    ("an exponent that is kept", "tempering", "carried", StepFinished, {}, lambda e: {"exponent": 0.123}),
    ("a weight", "lines", "filtered", Reweighted, {}, lambda e: {"weights": first(e.weights, lambda w: w + 1e-6)}),
    (
        "log-weights",
        "weights",
        "carried",
        Reweighted,
        {},
        lambda e: {"log_weights": first(e.log_weights, lambda w: w - 1)},
    ),
    (
        "a final weight",
        "lines",
        "filtered",
        Reweighted,
        {"role": "final"},
        lambda e: {"weights": first(e.weights, lambda w: w / 2)},
    ),
    ("weights of a prediction", "weights", "chains", Evaluated, {}, lambda e: {"weights": (0.2, 0.2, 0.2, 0.3, 0.1)}),
    ("ESS", "ess", "filtered", Reweighted, {}, lambda e: {"ess": e.ess - 1e-6}),
    ("evidence", "evidence", "carried", Reweighted, {}, lambda e: {"log_evidence": e.log_evidence + 1e-6}),
    ("evidence that is kept", "evidence", "carried", StepFinished, {}, lambda e: {"log_evidence": 1.0}),
    (
        "an ancestor",
        "resampling",
        "filtered",
        Resampled,
        {},
        lambda e: {"ancestors": first(e.ancestors, lambda a: a + 1)},
    ),
    ("u of a resampling", "resampling", "carried", Resampled, {}, lambda e: {"u": e.u / 2}),
    ("a halving's ancestor", "resampling", "shrinking", Resampled, {}, lambda e: {"ancestors": e.ancestors[::-1]}),
    ("a proposal's parent", "lines", "chains", Proposed, {}, lambda e: {"parent": "0" * 12}),
    ("u of a decision", "decisions", "chains", Proposed, JUDGED, lambda e: {"u": 1 - e.u}),
    ("log alpha", "decisions", "filtered", Proposed, JUDGED, lambda e: {"log_alpha": e.log_alpha - 1}),
    ("what was decided", "decisions", "chains", Proposed, JUDGED, lambda e: {"accepted": not e.accepted}),
    ("why", "decisions", "chains", Proposed, JUDGED, lambda e: {"why": "taken"}),
    ("a side of a ratio", "decisions", "carried", Proposed, JUDGED, lambda e: {"log_likelihood": 0.0}),
    ("rows not waited for", "decisions", "cut short", Proposed, CUT, lambda e: {"unanswered": e.unanswered + 1}),
    (
        "a bound",
        "decisions",
        "cut short",
        Proposed,
        CUT,
        lambda e: {"log_likelihood_bound": e.log_likelihood_bound * (1 + 1e-8)},
    ),
    ("who is held", "lines", "chains", StepFinished, {}, of_slot("hypothesis", lambda _: "0" * 12)),
    ("a slot's parent", "populations", "filtered", StepFinished, {}, of_slot("parent", lambda p: p + 1)),
    ("a slot's log-weight", "populations", "filtered", StepFinished, {}, of_slot("log_weight", lambda w: w - 1)),
    ("a slot's log-likelihood", "populations", "carried", StepFinished, {}, of_slot("log_likelihood", lambda _: None)),
    ("what is remembered", "populations", "chains", StepFinished, {}, of_slot("exchange", lambda _: (0, 4))),
    ("K", "lines", "chains", StepFinished, {}, lambda e: {"population": e.population[1:]}),
    (
        "a test answer",
        "lines",
        "chains",
        Evaluated,
        {"split": "test"},
        lambda e: {"averaged": ("?", *e.averaged[1:])},
    ),
    ("a metric", "predictions", "chains", Evaluated, {}, lambda e: {"value": e.value + 0.01}),
    ("an early metric", "predictions", "filtered", Evaluated, {"step": 2}, lambda e: {"value": e.value + 0.01}),
]


@pytest.mark.parametrize(
    ("what", "claim", "run", "kind", "where", "change"), CHANGES, ids=[each[0] for each in CHANGES]
)
def test_a_changed_value_is_found_at_its_line(
    what: str, claim: str, run: str, kind: type[Event], where: dict[str, Any], change: Change, runs: dict[str, Run],
    tmp_path: Path,
) -> None:  # fmt: skip
    directory, events = copy_of(runs[run], tmp_path)
    place = place_of(events, kind, **where)
    events[place] = replace(events[place], **change(events[place]))
    write(directory, events)
    assert claim in claims_at(verify(directory), place + 1), what


KINDS: list[tuple[str, type[Event], dict[str, Any]]] = [
    ("filtered", RunStarted, {}),
    ("filtered", ParticleDrawn, {}),
    ("filtered", Scored, {"role": "buffer"}),
    ("filtered", Scored, {"role": "proposal"}),
    ("filtered", Scored, {"role": "final"}),
    ("filtered", Reweighted, {"role": "step"}),
    ("filtered", Reweighted, {"role": "final"}),
    ("filtered", Resampled, {}),
    ("filtered", Proposed, {"why": "likelihood"}),
    ("filtered", Proposed, {"why": "unparsable"}),
    ("filtered", StepFinished, {}),
    ("filtered", Evaluated, {"step": 2}),
    ("filtered", Evaluated, {"split": "train"}),
    ("filtered", RunFinished, {}),
    ("chains", Scored, {"role": "forward"}),
    ("growing", ParticleDrawn, {"particle": 3}),
    ("shrinking", Resampled, {}),
]


@pytest.mark.parametrize(("run", "kind", "where"), KINDS)
def test_a_line_that_is_missing_or_stands_twice_is_found(
    run: str, kind: type[Event], where: dict[str, Any], runs: dict[str, Run], tmp_path: Path
) -> None:
    directory, events = copy_of(runs[run], tmp_path)
    place = place_of(events, kind, **where)
    write(directory, events[:place] + events[place + 1 :])
    assert not verify(directory).holds
    write(directory, events[: place + 1] + events[place:])
    assert "lines" in {fault.claim for fault in verify(directory).faults}


@pytest.mark.parametrize("kind", [RunStarted, Reweighted, Resampled, StepFinished, RunFinished])
def test_a_line_that_stands_too_early_is_found(kind: type[Event], runs: dict[str, Run], tmp_path: Path) -> None:
    directory, events = copy_of(runs["filtered"], tmp_path)
    place = max(1, place_of(events, kind))
    events[place - 1], events[place] = events[place], events[place - 1]
    write(directory, events)
    assert "lines" in {fault.claim for fault in verify(directory).faults}


@pytest.mark.parametrize(
    ("run", "kind", "change"),
    [
        ("filtered", Scored, lambda e: {"log_likelihood": math.nan}),
        ("filtered", Reweighted, lambda e: {"beta": 0.0}),
        ("carried", Reweighted, lambda e: {"log_weights": first(e.log_weights, lambda _: math.inf)}),
        ("carried", StepFinished, of_slot("log_weight", lambda _: math.nan)),
        ("carried", StepFinished, lambda e: {"exponent": math.nan}),
    ],
)
def test_a_number_that_nothing_can_be_weighed_by_is_told_with_its_line(
    run: str, kind: type[Event], change: Change, runs: dict[str, Run], tmp_path: Path
) -> None:
    directory, events = copy_of(runs[run], tmp_path)
    place = place_of(events, kind)
    events[place] = replace(events[place], **change(events[place]))
    write(directory, events)
    assert "lines" in claims_at(verify(directory), place + 1)


def test_a_run_json_without_a_status_is_refused_in_one_line(
    runs: dict[str, Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory, _ = copy_of(runs["chains"], tmp_path)
    spec = directory.path / "run.json"
    spec.write_text(json.dumps({name: kept for name, kept in json.loads(spec.read_text()).items() if name != "status"}))
    assert main(["verify", str(directory.path)]) == 2
    assert "run.json has no status: restore it from a copy" in capsys.readouterr().err


def test_other_answers_in_answers_jsonl_are_found(runs: dict[str, Run], tmp_path: Path) -> None:
    directory, _ = copy_of(runs["chains"], tmp_path)
    lines = directory.answers.read_text().splitlines()
    told = json.loads(lines[-1])
    told["prediction"]["value"] = "maybe"
    directory.answers.write_text("\n".join([*lines[:-1], json.dumps(told), ""]))
    assert {fault.claim for fault in verify(directory).faults} == {"answers"}
    directory.answers.unlink()
    found = verify(directory)
    assert found.holds
    assert ("answers.jsonl is missing", 1) in found.unchecked


def test_another_data_csv_is_found(runs: dict[str, Run], tmp_path: Path) -> None:
    directory, _ = copy_of(runs["chains"], tmp_path)
    content = directory.data.read_text()
    directory.data.write_text(content.replace("train,8,yes", "train,8,no"))
    assert directory.data.read_text() != content
    claims = {fault.claim for fault in verify(directory).faults}
    assert claims >= {"data", "likelihoods"}


@pytest.mark.parametrize("left", [1, 3])
def test_a_data_csv_that_lost_rows_is_refused_in_one_line(left: int, runs: dict[str, Run], tmp_path: Path) -> None:
    directory, _ = copy_of(runs["filtered"], tmp_path)
    lines = directory.data.read_bytes().splitlines(keepends=True)
    directory.data.write_bytes(b"".join(lines[:left]))
    with pytest.raises(RunError, match=r"data\.csv has other rows than run\.json says \(n_train\): restore it"):
        verify(directory)


def test_the_files_of_a_run_with_another_task_are_refused_in_one_line(runs: dict[str, Run], tmp_path: Path) -> None:
    directory, _ = copy_of(runs["filtered"], tmp_path)
    for name in ("run.json", "data.csv"):
        shutil.copy(runs["carried"][0].path / name, directory.path / name)
    with pytest.raises(RunError, match=r"two runs \(classification and regression\): restore both from a copy"):
        verify(directory)


def test_the_command_tells_what_holds_and_what_does_not(
    runs: dict[str, Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory, events = copy_of(runs["filtered"], tmp_path)
    assert main(["verify", str(directory.path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("The journal is consistent")
    place = place_of(events, Reweighted)
    events[place] = replace(events[place], ess=1.25)
    write(directory, events)
    assert main(["verify", str(directory.path)]) == 1
    out = capsys.readouterr().out
    step = events[place].step  # type: ignore[union-attr]
    assert f"does not hold: line {place + 1}, step {step}: ess: ess is 1.25, and should be " in out
    assert out.splitlines()[-1].startswith("The journal is inconsistent: ")
    assert main(["verify", str(directory.path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] is False
    assert [fault["line"] for fault in told["faults"] if fault["claim"] == "ess"] == [place + 1]
    assert told["claims"]["ess"]["hold"] == told["claims"]["ess"]["of"] - 1


def test_verification_stops_at_a_line_that_cannot_be_read_and_says_where(runs: dict[str, Run], tmp_path: Path) -> None:
    directory, events = copy_of(runs["chains"], tmp_path)
    place = place_of(events, Proposed)
    lines = directory.journal.read_bytes().splitlines(keepends=True)
    directory.journal.write_bytes(b"".join([*lines[:place], b'{"v"}\n', *lines[place + 1 :]]))
    shown = list(verification_lines(verify(directory), run="r"))
    assert any(f"line {place + 1}: cannot be read (expected `:` at column 5)" in line for line in shown)
    assert shown[-1].startswith(f"The journal is damaged: it is checked only up to line {place + 1}.")


@pytest.mark.parametrize("n_bytes", [-9, 9000])
def test_a_finished_run_without_its_last_lines_does_not_hold(
    n_bytes: int, runs: dict[str, Run], tmp_path: Path
) -> None:
    directory, _ = copy_of(runs["chains"], tmp_path)
    directory.journal.write_bytes(directory.journal.read_bytes()[:n_bytes])
    found = verify(directory)
    assert [(fault.what, fault.follows) for fault in found.faults] == [("status", "not ended")]
    assert any("the last line is cut off" in line for line in verification_lines(found, run="r"))


def test_the_command_refuses_what_is_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
