"""Commands on runs that are there, and what a command has imported by when."""

import importlib
import inspect
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from tests.inspected import LABEL_CONFIG, LABELS, label_events
from tests.processes import PENGUINS, ROOT, Desk, Outcome, answers_at, demo_server, model, wait_until
from tests.reporting.builders import run
from vpp import load_run
from vpp.cli import Lines, main
from vpp.cli.parser import build_parser
from vpp.cli.progress import Progress
from vpp.events import Event, RunPaused
from vpp.findings.status import pending_words
from vpp.runs.directory import Heartbeat, RunDirectory, RunReader, try_lock
from vpp.show.words import percent

Vpp = Callable[..., str]


@pytest.fixture
def vpp(
    desk: Desk, undisturbed: dict[str, Outcome], shared_desk: Desk, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Vpp:  # fmt: skip
    """Run a command that succeeds in this process, where a finished run `vml` exists."""
    shutil.copytree(shared_desk.folder / "vml", desk.runs / "vml")
    monkeypatch.chdir(desk.folder)
    for name in ("VPP_RUNS_DIR", "VPP_CACHE_DIR", "PYTHONPATH"):
        monkeypatch.setenv(name, desk.variables[name])

    def command(*words: str | Path) -> str:
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    return command


def test_every_command_with_an_end_yields_its_lines_and_returns_a_result_for_json() -> None:
    actions = build_parser()._subparsers._group_actions  # type: ignore[union-attr]
    commands: dict[str, ArgumentParser] = actions[0].choices  # type: ignore[assignment]
    for name, parser in commands.items():
        module, function = parser.get_default("command").split(":")
        returned = inspect.signature(getattr(importlib.import_module(module), function)).return_annotation
        has_json = "--json" in parser.format_usage()
        assert (returned is Lines) == has_json == (name != "app"), name


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (("rename", "vml", "Pinguine"), {"run": "vml", "name": "Pinguine"}),
        (("delete", "vml"), {"run": "vml", "status": "deleted"}),
        (("task", "linear", "-o", "linear.csv"), {"file": "linear.csv"}),
        (("sheet", "programs", "-o", "sheet.csv", "--rows", "2"), {"file": "sheet.csv", "rows": 2}),
        (("predict", "programs", PENGUINS, "-o", "out.csv"), {"file": "out.csv", "rows": 344, "predicted": 344}),
        (("export", "programs", "--python", "posterior.py"), {"file": "posterior.py", "left_out": []}),
        (("verify", "vml"), {"run": "vml", "holds": True, "faults": []}),
        (("trial", "vml", "--plan"), {"run": "vml"}),
        (("run", PENGUINS, "--demo", "--plan"), {"runs": 1, "cost": None}),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_a_result_is_one_line_of_json(
    vpp: Vpp, desk: Desk, shared_desk: Desk, words: tuple[str, ...], result: dict[str, object]
) -> None:
    shutil.copytree(shared_desk.folder / "programs", desk.runs / "programs")
    line = vpp(*words, "--json")
    assert line.count("\n") == 1
    found = json.loads(line)
    assert {name: found[name] for name in result} == result


def test_list_shows_every_run_and_its_result(vpp: Vpp, desk: Desk, undisturbed: dict[str, Outcome]) -> None:
    shutil.copytree(desk.runs / "vml", desk.runs / "torn")
    (desk.runs / "torn" / "events.jsonl").write_bytes(b"?\n")
    (desk.runs / "spoiled").mkdir()
    (desk.runs / "spoiled" / "run.json").write_text("{")
    rows = {row["run"]: row for row in json.loads(vpp("list", "--json"))}
    expected = undisturbed["vml"].result
    found = rows["vml"]
    assert (found["name"], found["status"], found["problem"]) == ("penguins", "finished", "")
    assert (found["method"], found["metric"]) == (expected["method"], expected["metric"])
    assert found["steps"] == {"done": 3, "of": 3}
    assert found["spent"]["requests"] == expected["spent"]["requests"]
    assert rows["torn"]["status"] == rows["spoiled"]["status"] == "unreadable"
    assert "line 1 cannot be read" in rows["torn"]["problem"]
    lines = vpp("list").splitlines()
    accuracy = percent(rows["vml"]["metric"]["test"], decimals=1)
    assert f"torn  unreadable   {rows['torn']['problem']}" in lines
    assert re.search(rf"^vml  finished     {accuracy}, .*  penguins$", "\n".join(lines), re.M)
    assert len(lines) == 3


def test_an_empty_list_says_how_to_begin(vpp: Vpp, desk: Desk) -> None:
    assert vpp("delete", desk.runs / "vml") == "vml: deleted\n"
    assert "no runs yet" in vpp("list")
    assert json.loads(vpp("list", "--json")) == []


def test_a_report_is_written_into_the_runs_folder(vpp: Vpp, desk: Desk) -> None:
    (desk.runs / "vml" / "report.md").unlink()
    written = [Path(line) for line in vpp("report", "--nc", "vml").splitlines()]
    expected = ["report.md", "posterior.json", "predictions.csv", "report.html", "posterior.nc"]
    assert [path.name for path in written] == expected
    assert all(path.parent == written[0].parent and path.is_file() for path in written)
    assert written[3].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert written[4].stat().st_size > 1000


def test_export_writes_a_file_of_plain_python_and_names_what_it_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, file = inspected.labels(tmp_path / "run"), tmp_path / "posterior.py"
    run = [str(reader.directory.path), "--python", str(file)]
    assert main(["export", *run]) == 2
    assert capsys.readouterr().err.endswith(
        "no hypothesis can be written as Python (the heaviest: it has no program): use predict with the model\n"
    )
    code = "def predict(a):\n    return 'no' if a % 2 else 'yes'"
    inspected.translate(reader, {inspected.EVEN: code, inspected.PAIR: code, inspected.BIG: None, inspected.ODD: code})
    assert main(["export", *run]) == 0
    out, err = capsys.readouterr()
    assert out == f"{file}\n"
    reason = "the model says that no program can follow it"
    assert err.replace("\N{NO-BREAK SPACE}", " ").splitlines() == [
        f"left out, 30 % of the weight: {inspected.BIG} (it has no program: {reason})",
        "30 % of the weight is left out, and the weights of the others are rescaled.",
    ]
    assert runpy.run_path(str(file))["predict"]({"a": 4})["prediction"] == "yes"
    left_out = load_run(reader.directory.path).export_python(tmp_path / "again.py")
    assert [each.text for each in left_out] == [inspected.BIG]
    assert (tmp_path / "again.py").read_bytes() == file.read_bytes()


SMALLEST = ("--epochs", "1", "--train-size", "20", "--test-size", "5", "--demo")


@pytest.fixture
def toy(desk: Desk) -> str:
    """A table of 40 rows."""
    (desk.folder / "toy.csv").write_text("x,kind\n" + "".join(f"{i},{i % 2}\n" for i in range(40)))
    return "toy.csv"


def test_an_unused_option_is_reported_once_on_standard_error(desk: Desk, toy: str) -> None:
    unused = ("--method", "vml", "--particles", "3", "--tempering", "paper")
    outcome = desk.vpp("run", toy, *SMALLEST, *unused, "--json")
    assert outcome.code == 0
    assert outcome.result["status"] == "finished"
    assert outcome.err.count("options without effect here") == 1
    assert "--particles and --tempering" in outcome.err
    assert "without effect" not in desk.vpp("run", toy, *SMALLEST, *unused, "--quiet").err


def test_the_plan_comes_after_how_the_file_was_read(desk: Desk) -> None:
    lines = "".join(f"{i},5;{i};{'ab'[i % 2]}\n" for i in range(40))
    (desk.folder / "halves.csv").write_text(f"x;y;kind\n{lines}")
    outcome = desk.vpp("run", "halves.csv", *SMALLEST, "--target", "kind", "--plan")
    said = outcome.err.splitlines()
    assert said[0] == "halves.csv is read as: semicolon, UTF-8, header"
    assert "note: column 'x': line 12 holds '10,5', read as 10.5; if that is wrong, --kind 'x=text' says so" in said
    assert "calls" in outcome.out
    assert desk.vpp("run", "halves.csv", *SMALLEST, "--target", "kind", "--plan", "--quiet").err == ""


def test_odd_tables_are_read_as_the_options_say(desk: Desk) -> None:
    lines = "".join(f'{i},"z {i}",{":" if i % 5 else i},{"ab"[i % 2]}\n' for i in range(40))
    (desk.folder / "odd.csv").write_text(f'"x, raw",z,rate,kind\n{lines}')
    options = ("--missing", "rate=:", "--inputs", '"x, raw", rate', "--read", "as-is=yes", "--target", "kind", "--plan")
    outcome = desk.vpp("run", "odd.csv", *SMALLEST, *options)
    assert outcome.code == 0
    assert "note: 32 cells are missing, written as ':' (32, as in line 3)" in outcome.err.splitlines()


def test_descriptions_come_from_options_and_the_file_beside_the_table(desk: Desk, toy: str) -> None:
    (desk.folder / "toy.columns.csv").write_text("column,description\nx,size of the box\nlabel:1,it is odd\n")
    words = ("run", toy, *SMALLEST, "--describe", "x=size, in <cm>", "--method", "vml", "--json", "--run-dir", "run")
    outcome = desk.vpp(*words)
    assert "header; columns are described in toy.columns.csv\n" in outcome.err
    assert "note: prompts describe 1 column and 1 label\n" in outcome.err
    assert outcome.result["described"] == {"columns": 1, "labels": 1}
    described = {"columns": {"x": "size, in <cm>"}, "labels": {"1": "it is odd"}}
    assert desk.directory("run").spec().dataset["descriptions"] == described
    assert r"| x | size, in \<cm> |" in (desk.folder / "run" / "report.md").read_text()


def test_progress_names_the_steps_and_the_end_counts_cached_answers(desk: Desk, toy: str) -> None:
    done = desk.vpp("run", toy, *SMALLEST, "--method", "vml", "--reading", "rows")
    assert done.code == 0
    assert ", 2 of 2 steps, " in done.err
    assert re.search(r"^finished after .* \d+ calls, 0 from the cache$", done.out, re.M)
    assert "could not be read" not in done.out
    again = desk.vpp("run", toy, *SMALLEST, "--method", "vml", "--reading", "rows").out
    assert re.search(r"^finished after .* (\d+) calls, \1 from the cache$", again, re.M)
    shutil.rmtree(desk.folder / "cache")  # as docs/guide.md says
    emptied = desk.vpp("run", toy, *SMALLEST, "--method", "vml", "--reading", "rows").out
    assert ", 0 from the cache\n" in emptied


def test_the_demo_endpoint_checks_out(vpp: Vpp) -> None:
    text = vpp("check-endpoint", "--demo").splitlines()
    assert re.fullmatch(r"learner and optimizer: demo at http://127.0.0.1:\d+/v1", text[0])
    assert text[2] == "  works  models: demo is served"
    assert any(line.startswith("  works  learner prompt: read: wug, as the rule says") for line in text)
    assert text[-1] == "A run can begin."


def test_both_servers_are_checked_where_they_differ(vpp: Vpp) -> None:
    with model() as learner, model() as optimizer:
        text = json.loads(
            vpp("check-endpoint", "--json", *learner.options, "--optimizer-model", f"@{optimizer.base_url}")
        )
    assert text["usable"]
    findings = {(each["name"], each["base_url"], *each["roles"]) for each in text["findings"]}
    prompts = {each for each in findings if each[0].endswith("r prompt")}
    assert prompts == {
        ("learner prompt", learner.base_url, "learner"),
        ("optimizer prompt", optimizer.base_url, "optimizer"),
    }


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_demo_server_ends_on_a_signal(number: signal.Signals) -> None:
    """It is one process: nothing stays behind."""
    with demo_server() as (url, process):
        assert url.endswith("/v1")
        process.send_signal(number)
        process.wait(20)
        assert not answers_at(f"{url}/models")


# Imports: the time to a help text, and to a run's first call


def imported(code: str) -> set[str]:
    """Modules, and the packages that they lie in, after a fresh interpreter has run the code."""
    text = "\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code + text], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def helped(*words: str) -> str:
    return f"import contextlib\nfrom vpp.cli import main\nwith contextlib.suppress(SystemExit): main({list(words)})"


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["bench", "--help"], ["no-such-command"]])
def test_a_help_text_imports_no_other_package(words: list[str]) -> None:
    heavy = {"asyncio", "numpy", "pydantic", "openai", "vpp.runs", "vpp.inference", "vpp.llm.endpoint"}
    assert imported(helped(*words)) & heavy == set()


def test_a_run_imports_nothing_before_its_first_call_that_comes_after_it() -> None:
    later = {"pandas", "sklearn", "streamlit", "charset_normalizer", "vpp.reporting", "vpp.drawing"}
    assert imported("import vpp.cli.running, vpp.llm.client") & (later | {"vpp.cli.stored", "vpp.bench"}) == set()


# What a run says where it waits, gives up, or cannot go on


RunMaker = Callable[..., RunReader]


@pytest.fixture
def make_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunMaker:
    """A run that broke off after some events, in the runs folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    monkeypatch.setenv("VPP_CACHE_DIR", str(tmp_path / "cache"))

    def make(*events: Event) -> RunReader:
        return run(tmp_path, *events, data=LABELS, config=LABEL_CONFIG)

    return make


def test_a_run_that_waits_for_its_turn_says_so_and_one_stopped_there_that_it_never_began(
    make_run: RunMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VPP_MAX_RUNNING", "1")
    directory = make_run().directory

    def stop() -> None:
        wait_until(lambda: (directory.last_beat() or Heartbeat()).waits, "the worker waits")
        directory.send_command("stop")

    slot = try_lock(tmp_path / ".slot-0")
    assert slot is not None
    with slot, ThreadPoolExecutor() as pool:
        pool.submit(stop)
        code = main(["resume", str(directory.path)])
    out, err = capsys.readouterr()
    assert code == 130
    assert err == "queued: 1 running, the most allowed (VPP_MAX_RUNNING)\n"
    assert out.splitlines() == [
        "stopped before it began: no call was sent",
        f"continue with: python -m vpp resume {directory.path}",
    ]


@pytest.mark.parametrize(("reason", "why"), [("user", ""), ("endpoint", ": nothing listens.")])
def test_progress_says_that_a_run_is_paused_and_when_it_goes_on_that_it_waits_and_loads(
    make_run: RunMaker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reason: Any, why: str
) -> None:
    monkeypatch.setenv("VPP_MAX_RUNNING", "3")
    reader = make_run(*label_events()[:-3], RunPaused(reason=reason, detail="nothing listens"))
    progress = Progress(reader.directory.spec())
    for beat in (Heartbeat(), Heartbeat(queued=True, waits=True), Heartbeat(queued=True, loading_s=3.0)):
        progress(reader.refresh().view, beat)
    waits = "queued: 3 running, the most allowed (VPP_MAX_RUNNING)"
    assert capsys.readouterr().err.splitlines() == [f"paused{why}", waits, "Loading the model: 3\N{NO-BREAK SPACE}s"]


def test_the_last_line_of_progress_counts_the_steps_once(capsys: pytest.CaptureFixture[str]) -> None:
    settled = RunReader(RunDirectory(ROOT / "assets" / "examples" / "example-titanic"))
    Progress(settled.directory.spec())(settled.refresh().view, Heartbeat())
    assert capsys.readouterr().err.count("11 of 20 steps") == 1


def test_faults_that_are_not_printed_are_counted(
    make_run: RunMaker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("vpp.cli.stored.MOST_FAULTS", 0)
    assert main(["verify", str(make_run(*label_events()).directory.path)]) == 1
    assert capsys.readouterr().out.startswith("and 1 more: --json lists all\nnot checked: ")


def test_a_command_that_is_not_obeyed_in_time_says_what_happens(
    make_run: RunMaker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("vpp.cli.stored.PATIENCE_S", 0.0)
    directory = make_run(*label_events()[:-3]).directory
    with directory.lock():
        directory.beat(Heartbeat())
        assert main(["stop", str(directory.path)]) == 0
        directory.beat(Heartbeat(queued=True))
        assert main(["pause", str(directory.path)]) == 0
    stopping, queued = capsys.readouterr().out.splitlines()
    assert stopping == f"{directory.id}: running. {pending_words('stop', 'running')} Stop again to skip that."
    assert queued == f"{directory.id}: queued. The command is pending: the worker has not read it yet."


def test_a_terminal_that_lacks_a_sign_shows_a_question_mark_in_its_place(tmp_path: Path) -> None:
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("If bill_length_mm ≥ 43, output Gentoo; otherwise, output Adelie.\n", encoding="utf-8")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("VPP_", "OPENAI_", "PYTHON"))}
    latin = {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1", "VPP_RUNS_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    words = (sys.executable, "-m", "vpp", "weigh", PENGUINS, "--target", "species", "--demo", "--start", sentences)
    ended = subprocess.run(words, cwd=tmp_path, env=plain | latin, capture_output=True, encoding="latin-1", check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False)
    assert "If bill_length_mm ? 43, output Gentoo" in ended.stdout
    assert "“" not in ended.stderr
