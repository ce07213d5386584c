"""A sweep on a real Ray of this machine: `make test-ray` installs it apart from the app and runs this."""

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import Desk, Model, wait_until
from tests.sweeps.test_command import MH, TWO, Running, bench, results, sweep, tables
from vpp.bench.sweep import SweepReader

pytest.importorskip("ray", reason="ray is not installed here: make test-ray runs this")
RAY = ("--engine", "ray", "--jobs", "2")
KEY = "sk-known-to-the-machine-alone"


@pytest.fixture
def kept_by_ray(desk: Desk) -> Iterator[Path]:
    """Where Ray keeps its files: its sockets bear no long path."""
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:
        desk.environment["RAY_TMPDIR"] = folder
        yield Path(folder)


def on_ray(desk: Desk, name: str, *words: str | Path, **environment: str) -> Running:
    """A sweep with a Ray of its own."""
    return bench(desk, name, *words, *RAY, **environment)


def test_tasks_come_to_the_tables_of_processes_and_ray_keeps_no_key(
    desk: Desk, served: Model, kept_by_ray: Path
) -> None:
    served.key = KEY
    here = bench(desk, "here", *served.options, *TWO, OPENAI_API_KEY=KEY).finish()
    assert here.code == 0, here.err
    there = on_ray(desk, "there", *served.options, *TWO, OPENAI_API_KEY=KEY).finish()
    assert there.code == 0, there.err
    assert results(sweep(desk, "there")) == results(sweep(desk, "here"))
    assert tables(sweep(desk, "there")) == tables(sweep(desk, "here"))
    files = [path for folder in (desk.folder, kept_by_ray) for path in folder.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert any(path.name.startswith("gcs_server") for path in files), "Ray kept its files where they were looked for"


def test_a_stopped_sweep_brings_its_runs_back_and_goes_on_from_them(
    desk: Desk, served: Model, kept_by_ray: Path
) -> None:
    served.hold_after = 200  # vml has 42 calls, a step of mh about 200
    running = on_ray(desk, "stopped", *served.options, *TWO)
    directory = sweep(desk, "stopped")
    wait_until(lambda: served.is_holding, "the second cell is at work")
    assert SweepReader(directory).look(MH).state == "not run", "its run is elsewhere"
    running.process.send_signal(signal.SIGTERM)
    served.hold_after = None
    ended = running.finish()
    assert ended.code in (0, 130), ended.err
    assert SweepReader(directory).look(MH).state in ("stopped", "finished")
    before = directory.run_of(MH).journal.read_bytes().splitlines()[:2]
    assert on_ray(desk, "stopped").finish().code == 0
    assert directory.run_of(MH).journal.read_bytes().splitlines()[:2] == before
    assert len(results(directory)) == 2


def test_a_cell_whose_worker_is_killed_is_begun_again(desk: Desk, kept_by_ray: Path) -> None:
    running = on_ray(desk, "killed", "--demo", *TWO, "--epochs", "20")
    wait_until(lambda: task_of(running, MH.name), "the second cell is at work")
    subprocess.run(["kill", "-KILL", str(task_of(running, MH.name))], check=True)
    ended = running.finish(within_s=120)
    assert ended.code == 0, ended.err
    assert f"{MH.name}: its machine was lost; restarting it" in ended.err
    assert len(results(sweep(desk, "killed"))) == 2


def task_of(running: Running, cell: str) -> int:
    """The process of Ray that works the cell for this sweep; 0 where there is none. Ray names it after the task."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    lines = [line.split(None, 1) for line in listed.splitlines()]
    return next((int(pid) for pid, words in lines if words.startswith(f"ray::{cell}")), 0)
