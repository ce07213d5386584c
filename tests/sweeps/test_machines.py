"""Cells that run on another machine: the exchange of run directories, and lost machines."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.processes import WITHIN_S, Desk, Model, wait_until
from vpp import __version__
from vpp.bench.archive import Archive, ArchivedFile, pack, replace_folder, unpack
from vpp.bench.cells import Cell, Sizes, create
from vpp.bench.cluster import TaskInput, TaskResult, run_task
from vpp.bench.engine import LOST, Job, Progress
from vpp.bench.scheduler import MAX_RESTARTS, SweepResult, run_sweep, shared
from vpp.bench.sweep import CellView, SweepDirectory, SweepSpec, SweepView
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader
from vpp.runs.spec import EndpointSpec

DEMO = EndpointSpec(demo=True, model="demo", cache=False)
SMALL = Sizes(train=20, test=10, epochs=1)
VML = Cell(task="two-blobs", method="vml", seed=0)
JOB = Job(cell=VML, sizes=SMALL, endpoint=DEMO)
SPEC = SweepSpec(endpoint=DEMO, tasks=("two-blobs",), methods=("vml",), seeds=1, sizes=SMALL)
QUIET = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "VPP_"))}


def file(content: bytes = b"x") -> ArchivedFile:
    return ArchivedFile(content=content, changed_at=1.5e9)


def task_input(
    *, archive: Archive | None = None, version: str = __version__, key_variables: tuple[str, ...] = ()
) -> TaskInput:
    return TaskInput(job=JOB, archive=archive or {}, version=version, key_variables=key_variables, slots=2)


def test_a_run_directory_comes_back_unchanged_without_its_workers_files(tmp_path: Path) -> None:
    run = create(VML, SMALL, DEMO, run_dir=tmp_path / "there" / VML.name)
    for name in ("lock", "heartbeat", "control", ".run.json.lock"):
        (run.path / name).write_bytes(b"1")
    os.symlink(run.data, run.path / "link.csv")
    (run.path / "folder").mkdir()
    (tmp_path / "here").mkdir()
    replace_folder(pack(run.path), tmp_path / "here" / VML.name)
    came = tmp_path / "here" / VML.name
    assert {path.name for path in came.iterdir()} == {"run.json", "data.csv", "events.jsonl"} & set(
        os.listdir(run.path)
    )
    assert (came / "data.csv").read_bytes() == run.data.read_bytes()
    assert (came / "data.csv").stat().st_mtime == run.data.stat().st_mtime


def listed(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*")]


def test_a_returned_folder_replaces_the_old_one(tmp_path: Path) -> None:
    unpack({"old.txt": file()}, tmp_path / "cell")
    replace_folder({"new.txt": file(b"new")}, tmp_path / "cell")
    assert listed(tmp_path) == ["cell", "cell/new.txt"]


def test_the_old_folder_stays_if_the_new_one_cannot_be_written(tmp_path: Path) -> None:
    unpack({"old.txt": file()}, tmp_path / "cell")
    with pytest.raises(OSError, match="No such file"):
        replace_folder({"no/such.txt": file()}, tmp_path / "cell")
    assert listed(tmp_path) == ["cell", "cell/old.txt"]


@dataclass(frozen=True)
class Carried:
    """A cell that was stopped on one machine and finished on another."""

    stopped: TaskResult
    done: TaskResult
    reported: list[Progress]


@pytest.fixture(scope="module")
def carried() -> Carried:
    reported: list[Progress] = []

    def report(progress: Progress) -> int:
        reported.append(progress)
        return int(progress.steps > 0)  # stop as soon as it has begun

    slow = Job(cell=VML, sizes=SMALL, endpoint=replace(DEMO, demo_latency_ms=250))
    stopped = run_task(replace(task_input(), job=slow), report, QUIET)
    return Carried(stopped, run_task(task_input(archive=stopped.archive), lambda progress: 0, QUIET), reported)


def test_a_cell_stopped_on_one_machine_is_finished_on_another(carried: Carried, tmp_path: Path) -> None:
    assert carried.stopped.code == 130
    assert carried.reported[-1] == Progress(step=0, steps=2)
    assert carried.done.code == 0
    replace_folder(carried.done.archive, tmp_path / VML.name)
    assert RunReader(RunDirectory(tmp_path / VML.name)).refresh().state == "finished"
    before, after = (each.archive["events.jsonl"].content for each in (carried.stopped, carried.done))
    assert after.startswith(before.splitlines()[0])


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (task_input(version="0.0"), f"has version {__version__} of this program, not 0.0"),
        (task_input(key_variables=("OPENAI_API_KEY",)), "has no OPENAI_API_KEY in its environment"),
    ],
)
def test_a_machine_that_cannot_run_the_cell_refuses_before_it_begins(asked: TaskInput, reason: str) -> None:
    refused = run_task(asked, lambda progress: 0, QUIET)
    assert (refused.code, refused.archive) == (3, {})
    assert reason in refused.reason


@dataclass
class Played:
    """A worker whose end is given."""

    code: int | None
    """None runs until a stop command."""
    reason: str = ""

    def poll(self) -> int | None:
        return self.code

    def stop(self) -> None:
        self.code = 130

    def progress(self) -> Progress | None:
        return Progress(step=1, steps=4)


@dataclass
class Playing:
    """An engine of given ends; a 0 also brings the finished run."""

    codes: list[int | None]
    reason: str = ""
    finish: Callable[[RunDirectory], None] = lambda run: None
    started: list[Job] = field(default_factory=list)

    def start(self, job: Job, run: RunDirectory) -> Played:
        self.started.append(job)
        code = self.codes.pop(0)
        if code == 0:
            self.finish(run)
        return Played(code, self.reason)


@dataclass
class Watched:
    lines: list[str] = field(default_factory=list)
    seen: list[CellView] = field(default_factory=list)
    on_look: Callable[[], None] = lambda: None

    def look(self, view: SweepView, asked: Sequence[CellView], *, jobs: int) -> None:
        self.seen += asked
        self.on_look()

    def say(self, text: str) -> None:
        self.lines.append(text)


def played(folder: Path, engine: Playing, spec: SweepSpec = SPEC) -> tuple[SweepResult, Watched]:
    watched = Watched()
    result = run_sweep(SweepDirectory(folder), spec, jobs=1, engine=engine, watcher=watched, since=0)
    return result, watched


def test_a_cell_that_fails_is_reported_with_its_reason_and_the_next_one_starts(tmp_path: Path) -> None:
    engine = Playing([1, 1], reason="the disk there is full")
    result, watched = played(tmp_path / "sweep", engine, replace(SPEC, methods=("vml", "mh")))
    assert result.ending == "failed"
    assert watched.lines == [
        f"two-blobs-{method}-0 failed, can be run again: the disk there is full" for method in ("vml", "mh")
    ]


def test_a_stop_command_in_the_folder_stops_the_cells_but_not_the_next_sweep(tmp_path: Path) -> None:
    directory = SweepDirectory(tmp_path / "sweep")
    stopping = Watched(on_look=directory.ask_to_stop)
    spec = replace(SPEC, methods=("vml", "mh"))
    result = run_sweep(directory, spec, jobs=1, engine=Playing([None]), watcher=stopping, since=0)
    assert result.ending == "stopped"
    engine = Playing([1, 1])
    run_sweep(directory, spec, jobs=1, engine=engine, watcher=Watched(), since=time.time())
    assert len(engine.started) == 2


def test_a_cell_whose_machine_is_lost_is_restarted(tmp_path: Path, carried: Carried) -> None:
    engine = Playing([LOST, 0], finish=lambda run: replace_folder(carried.done.archive, run.path))
    result, watched = played(tmp_path / "sweep", engine)
    assert result.ending == "done"
    assert len(engine.started) == 2
    assert watched.lines[0] == "two-blobs-vml-0: its machine was lost; restarting it"
    assert [(each.state, each.step, each.steps) for each in watched.seen[:1]] == [("running", 1, 4)]


def test_a_cell_whose_machines_are_lost_again_and_again_is_left_unfinished(tmp_path: Path) -> None:
    engine = Playing([LOST] * 9)
    result, watched = played(tmp_path / "sweep", engine)
    assert result.ending == "failed"
    assert len(engine.started) == MAX_RESTARTS + 1
    assert watched.lines[-1].endswith(f"failed, can be run again: its machine was lost {MAX_RESTARTS + 1} times")


def test_a_worker_whose_task_is_gone_ends_without_further_calls(desk: Desk, served: Model) -> None:
    served.hold_after = 15  # of the 42 calls: the first step is whole, and a stop would evaluate it
    endpoint = EndpointSpec(base_url=served.base_url, model="demo", cache=False)
    run = create(VML, SMALL, endpoint, run_dir=desk.folder / "cell")
    words = [sys.executable, "-m", "vpp.bench.dies_with_parent", "resume", str(run.path), "--quiet"]
    asked = 10 + 1 + 10
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=desk.variables) as process:
        try:
            wait_until(lambda: served.asked == asked, "the second step has asked about all its rows")
            assert process.stdin is not None
            process.stdin.close()
            process.wait(WITHIN_S)
            assert served.asked == asked
        finally:
            process.kill()


@pytest.mark.parametrize(("limit", "jobs", "each"), [(0, 1, 0), (0, 2, 512), (2048, 2, 1024), (3, 8, 1)])
def test_cells_side_by_side_share_the_limit_of_calls_in_flight(limit: int, jobs: int, each: int) -> None:
    assert shared(EndpointSpec(concurrency=limit), jobs).concurrency == each


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed here")
def test_ray_that_is_not_installed_is_one_line(desk: Desk) -> None:
    ended = desk.vpp("bench", "--demo", "--engine", "ray")
    assert ended.code == 2
    assert "pip install -r requirements-ray.txt" in ended.complaint
