"""`vpp bench`: killed, stopped and extended in processes; refused in this one."""

import csv
import io
import itertools
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Desk, Model, Outcome, Running, model, wait_until
from vpp.bench.runner import Progress, share
from vpp.bench.sweep import Cell, Setting, SweepDirectory, SweepSpec, prepare
from vpp.runs.directory import is_locked
from vpp.runs.spec import EndpointSpec

SMALL = ("--train-size", "20", "--test-size", "10", "--epochs", "1", "--jobs", "1", "--seeds", "1")
SETTING = Setting(train=20, test=10, epochs=1)
TWO = ("--tasks", "two-blobs", "--methods", "vml,mh", *SMALL)
FOUND = ("task", "method", "seed", "metric", "train", "test", "optimizer_calls", "K", "n_unique", "acceptance_rate")
"""Columns that do not depend on timing. Counts of calls do: mh asks ahead while it judges a rewrite."""
KEY = "sk-right"
Refusal = Callable[..., str]
VML, MH = (Cell(task="two-blobs", method=method, seed=0) for method in ("vml", "mh"))


def bench(desk: Desk, name: str, *words: str | Path, **environment: str) -> Running:
    return desk.start("bench", "-o", desk.folder / name, *words, **environment)


def sweep(desk: Desk, name: str) -> SweepDirectory:
    return SweepDirectory(desk.folder / name)


def results(directory: SweepDirectory) -> list[dict[str, Any]]:
    rows = csv.DictReader(io.StringIO(directory.results.read_text()))
    return [{name: row[name] for name in FOUND} for row in rows]


def methods(directory: SweepDirectory) -> list[str]:
    return [row["method"] for row in results(directory)]


def tables(directory: SweepDirectory) -> str:
    """Return tables.md without its table of times."""
    return re.sub(r"## Seconds per run.*?(?=\n## |\Z)", "", directory.tables.read_text(), flags=re.DOTALL)


def holds(server: Model) -> bool:
    """Whether the server has been asked more than it answers for now."""
    return server.hold_after is not None and server.asked > server.hold_after


def at_rest(server: Model) -> int:
    """Return how many calls were made once half a second brings no more: those in flight wait for the server."""
    before = -1
    while before < server.asked:
        before = server.asked
        time.sleep(0.5)
    return before


def run_ended(running: Running) -> Outcome:
    ended = running.finish()
    assert ended.code == 0, ended.err
    return ended


@pytest.fixture(scope="module")
def server() -> Iterator[Model]:
    with model() as served:
        served.key = KEY
        yield served


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, server: Model) -> Iterator[Desk]:
    """A desk with two sweeps of two cells: one refused for its key and then run, one without interruption."""
    desk = Desk(tmp_path_factory.mktemp("sweeps"), environment={"OPENAI_API_KEY": KEY})
    words = ("undisturbed", *server.options, *TWO)
    desk.outcomes["refused"] = bench(desk, *words, OPENAI_API_KEY="sk-wrong-secret").finish()
    desk.outcomes["undisturbed"] = run_ended(bench(desk, *words))
    yield desk
    desk.close()


@pytest.fixture
def copy(finished: Desk, desk: Desk, server: Model) -> Iterator[SweepDirectory]:
    """A copy of the finished sweep that a test may change."""
    desk.environment["OPENAI_API_KEY"] = KEY
    shutil.copytree(finished.folder / "undisturbed", desk.folder / "copy")
    yield sweep(desk, "copy")
    server.hold_after = None


def test_a_sweep_runs_every_cell_and_reports_each(finished: Desk) -> None:
    directory = sweep(finished, "undisturbed")
    cells = [(row["task"], row["method"], row["seed"]) for row in results(directory)]
    assert cells == [("two-blobs", "vml", "0"), ("two-blobs", "mh", "0")]
    err = finished.outcomes["undisturbed"].err
    assert re.search(r"two-blobs-vml-0: accuracy [\d.]+ \(1 of 2 cells, about .* left\)", err), err
    assert re.search(r"two-blobs-mh-0: accuracy [\d.]+ \(2 of 2 cells\)", err), err
    again = run_ended(bench(finished, "undisturbed"))
    assert again.err == ""
    assert "2 of 2 cells finished" in again.out.splitlines()[-1]


def test_a_refused_key_ends_the_sweep_and_no_key_is_stored(finished: Desk) -> None:
    refused = finished.outcomes["refused"]
    assert refused.code == 3
    assert "sk-wrong-secret" not in refused.err + refused.out
    assert refused.err.splitlines()[-1].startswith("vpp: two-blobs-vml-0: ")
    stored = b"".join(path.read_bytes() for path in finished.folder.rglob("*") if path.is_file())
    assert KEY.encode() not in stored
    assert b"sk-wrong-secret" not in stored


def test_a_sweep_killed_at_a_cell_waits_for_its_worker_and_ends_with_the_same_tables(
    copy: SweepDirectory, desk: Desk, server: Model
) -> None:
    expected = results(copy), tables(copy)
    shutil.rmtree(copy.path)
    server.hold_after = server.asked + 100  # of the 42 calls of vml and the more of mh
    killed = bench(desk, "copy", *server.options, *TWO)
    wait_until(lambda: holds(server), "the second cell is at work")
    killed.kill()
    journal = copy.run_of(VML).journal.read_bytes()
    again = bench(desk, "copy", "--jobs", "1")
    wait_until(lambda: is_locked(copy.path / ".lock"), "the next sweep has begun")
    assert copy.run_of(MH).is_held(), "its worker goes on"
    server.hold_after = None
    run_ended(again)
    assert copy.run_of(VML).journal.read_bytes() == journal, "a finished cell is not repeated"
    assert (results(copy), tables(copy)) == expected


def test_a_stopped_sweep_leaves_nothing_running_and_can_be_continued(
    copy: SweepDirectory, desk: Desk, server: Model
) -> None:
    expected = results(copy), tables(copy)
    shutil.rmtree(copy.run_of(MH).path)
    server.hold_after = server.asked + 150  # the first step of mh needs 90 calls, both need 160
    running = bench(desk, "copy")
    wait_until(lambda: holds(server), "the second step of the second cell is at work")
    held = at_rest(server)
    running.signal(signal.SIGINT)
    wait_until(lambda: server.asked > held, "the stopped cell evaluates its test rows")
    server.hold_after = None
    ended = running.finish()
    assert ended.code == 130
    assert "1 of 2 cells finished" in ended.out
    assert ended.out.splitlines()[-1].endswith(f"python -m vpp bench -o {copy.path}")
    assert not copy.run_of(MH).is_held()
    assert not is_locked(copy.path / ".lock")
    run_ended(bench(desk, "copy"))
    assert (results(copy), tables(copy)) == expected


def test_a_cell_that_fails_is_reported_and_can_be_run_again(copy: SweepDirectory, desk: Desk) -> None:
    shutil.rmtree(copy.run_of(VML).path)
    run = copy.run_of(VML)
    prepare(VML, SETTING, copy.spec().endpoint).create(run.path.parent, run_dir=run.path)
    content = run.data.read_bytes()
    run.data.write_bytes(content.replace(b"test", b"tset"))
    ended = bench(desk, "copy").finish()
    assert ended.code == 1
    assert "two-blobs-vml-0 failed, can be run again: data.csv" in ended.err
    assert methods(copy) == ["mh"]
    run.data.write_bytes(content)
    run_ended(bench(desk, "copy"))
    assert methods(copy) == ["vml", "mh"]


@pytest.fixture
def refusal(vpp: Callable[..., tuple[int, str, str]]) -> Refusal:
    """Run a command that must be refused, in this process; return its complaint."""

    def complaint(*words: str | Path) -> str:
        ended = Outcome(*vpp("bench", *words))
        assert ended.code == 2, words
        return ended.complaint

    return complaint


def test_impossible_sweeps_are_refused_in_one_line(refusal: Refusal, tmp_path: Path) -> None:
    for words, reason in (
        (("--tasks", "two-blob"), "two-circles"),
        (("--methods", "smc,hmc"), "mh-k1"),
        (("--tasks", "poly", "--methods", "mh-k1"), "makes no cell"),
        (("--seeds", "0"), "seeds is 0"),
        (("--jobs", "0"), "jobs is 0"),
        (("--tasks", ","), "name at least one"),
        (("--train-size", "5"), "batch"),
        (("--test-size", "0"), "test size 0 is too small"),
    ):
        assert reason in refusal("-o", tmp_path / "bad", "--demo", *words), words
    assert "no endpoint" in refusal()


def test_a_folder_takes_one_sweep_at_a_time_of_one_model_and_size(refusal: Refusal, finished: Desk) -> None:
    directory = sweep(finished, "undisturbed")
    before = directory.tables.read_bytes()
    other = ("--base-url", "http://127.0.0.1:9/v1", "--model", "other")
    for words in (other, ("--train-size", "30"), ("--reading", "program")):
        complaint = refusal("-o", directory.path, *words, "--tasks", "two-blobs", "--methods", "vml")
        assert "holds a sweep of" in complaint, words
    assert directory.tables.read_bytes() == before
    with directory.lock():
        assert "held by another sweep" in refusal("-o", directory.path)


def test_a_request_extends_the_folders_sweep_and_runs_its_own_cells(tmp_path: Path) -> None:
    directory, endpoint = SweepDirectory(tmp_path), EndpointSpec(demo=True, model="demo")
    directory.begin(SweepSpec(endpoint=endpoint, tasks=("sum-parity",), methods=("vml",), seeds=2))
    request = SweepSpec(endpoint=endpoint, tasks=("contains-zero",), methods=("smc",), seeds=1)
    directory.begin(request)
    progress = Progress(directory, request, print)
    assert progress.open == request.cells
    assert {(cell.task, cell.method, cell.seed) for cell in progress.spec.cells} == {
        *itertools.product(("sum-parity", "contains-zero"), ("vml", "smc"), (0, 1))
    }


@pytest.mark.parametrize(("limit", "jobs", "each"), [(0, 1, 0), (0, 2, 512), (2048, 2, 1024), (3, 8, 1)])
def test_cells_side_by_side_share_the_limit_of_calls_in_flight(limit: int, jobs: int, each: int) -> None:
    assert share(EndpointSpec(concurrency=limit), jobs).concurrency == each


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed here")
def test_ray_that_is_not_installed_is_one_line(refusal: Refusal) -> None:
    assert "pip install -r requirements-ray.txt" in refusal("--demo", "--ray", "local")
