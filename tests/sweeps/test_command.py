"""`vpp bench`: killed, stopped and extended in processes of its own; refused."""

import csv
import io
import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Desk, Model, Outcome, Running, wait_until
from vpp.bench.cells import Cell, Sizes, create
from vpp.bench.sweep import SweepDirectory, SweepReader
from vpp.bench.variants import VARIANTS
from vpp.cli import main
from vpp.errors import InputError
from vpp.runs.spec import EndpointSpec

SMALL = ("--train-size", "20", "--test-size", "10", "--epochs", "1", "--jobs", "1", "--seeds", "1")
TWO = ("--tasks", "two-blobs", "--methods", "vml,mh", *SMALL)
SLOW = ("--demo-latency-ms", "150")
"""Makes an mh cell of ten rounds slow enough to be interrupted half way."""
TIMES = {"wall_s"}
Refusal = Callable[..., str]
VML, MH = (Cell(task="two-blobs", method=method, seed=0) for method in ("vml", "mh"))


def bench(desk: Desk, name: str, *words: str | Path, **environment: str) -> Running:
    return desk.start("bench", "-o", desk.folder / name, *words, **environment)


def sweep(desk: Desk, name: str) -> SweepDirectory:
    return SweepDirectory(desk.folder / name)


def results(directory: SweepDirectory) -> list[dict[str, Any]]:
    rows = csv.DictReader(io.StringIO(directory.results.read_text()))
    return [{name: value for name, value in row.items() if name not in TIMES} for row in rows]


def tables(directory: SweepDirectory) -> str:
    """Return tables.md without its table of times."""
    return re.sub(r"## Seconds per run.*?(?=\n## |\Z)", "", directory.tables.read_text(), flags=re.DOTALL)


def is_at_work(directory: SweepDirectory, cell: Cell, *, from_step: int = 1) -> bool:
    if not directory.exists:
        return False
    view = SweepReader(directory).look(cell)
    return view.state == "running" and view.step >= from_step


@pytest.fixture(scope="module")
def quiet_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("sweeps"))
    yield desk
    desk.close()


@pytest.fixture(scope="module")
def undisturbed(quiet_desk: Desk) -> SweepDirectory:
    """A sweep without interruption; read only."""
    ended = bench(quiet_desk, "undisturbed", "--demo", *SLOW, *TWO).finish()
    assert ended.code == 0, ended.err
    quiet_desk.outcomes["undisturbed"] = ended
    return sweep(quiet_desk, "undisturbed")


def test_a_sweep_runs_every_cell_and_reports_each(quiet_desk: Desk, undisturbed: SweepDirectory) -> None:
    assert [(row["task"], row["method"], row["seed"]) for row in results(undisturbed)] == [
        ("two-blobs", "vml", "0"),
        ("two-blobs", "mh", "0"),
    ]
    err = quiet_desk.outcomes["undisturbed"].err
    assert re.search(r"two-blobs-vml-0: accuracy [\d.]+ \(1 of 2 cells, 1 left", err), err
    assert re.search(r"two-blobs-mh-0: accuracy [\d.]+ \(2 of 2 cells, 0 left", err), err
    again = bench(quiet_desk, "undisturbed", "--demo", *SLOW, *TWO).finish()
    assert (again.code, again.err) == (0, "")
    assert "2 of 2 cells finished" in again.out.splitlines()[-1]
    overhead_s = SweepReader(undisturbed).look(MH).overhead_s
    assert overhead_s is not None
    assert overhead_s > 0


def test_a_sweep_killed_again_and_again_ends_with_the_same_tables(desk: Desk, undisturbed: SweepDirectory) -> None:
    directory = sweep(desk, "killed")
    moments = (
        lambda: directory.exists,
        lambda: directory.run_of(VML).path.exists(),
        lambda: is_at_work(directory, VML, from_step=0),
        lambda: is_at_work(directory, MH),
    )
    for number, is_reached in enumerate(moments):
        running = bench(desk, "killed", "--demo", *SLOW, *TWO)
        wait_until(is_reached, f"moment {number} is reached")
        worker = directory.run_of(MH).last_beat() if number == 3 else None
        running.kill()
    assert worker is not None
    with suppress(ProcessLookupError):  # it also ends by itself with its parent
        os.kill(worker.pid, signal.SIGKILL)
    journal = directory.run_of(VML).journal
    before = journal.read_bytes(), journal.stat().st_mtime_ns
    assert bench(desk, "killed", "--demo", *SLOW, *TWO).finish().code == 0
    assert (journal.read_bytes(), journal.stat().st_mtime_ns) == before, "a finished cell is not repeated"
    assert results(directory) == results(undisturbed)
    assert tables(directory) == tables(undisturbed)


def test_a_stopped_sweep_leaves_nothing_running_and_can_be_continued(desk: Desk, undisturbed: SweepDirectory) -> None:
    directory = sweep(desk, "stopped")
    for stop in ("SIGTERM", "SIGINT", "ask_to_stop"):
        running = bench(desk, "stopped", "--demo", *SLOW, *TWO)
        wait_until(lambda: is_at_work(directory, MH, from_step=0), "the second cell is at work")
        if stop == "ask_to_stop":
            directory.ask_to_stop()
        else:
            running.signal(getattr(signal, stop))
        ended = running.finish()
        assert ended.code == 130, stop
        assert "1 of 2 cells finished" in ended.out
        assert ended.out.splitlines()[-1].endswith(f"python -m vpp bench -o {directory.path}")
        assert not directory.run_of(MH).is_held(), stop
        assert not directory.is_held(), stop
    assert bench(desk, "stopped").finish().code == 0, "the stop does not bind the next sweep"
    assert SweepReader(directory).look(MH).overhead_s is None, "a pause between sweeps is no overhead"
    assert results(directory) == results(undisturbed)
    assert tables(directory) == tables(undisturbed)


def test_more_seeds_and_methods_extend_a_sweep_without_repeating_a_cell(desk: Desk) -> None:
    small = ("--demo", "--tasks", "two-blobs", *SMALL[:-4], "--jobs", "2", "--concurrency", "7")
    assert bench(desk, "grown", *small, "--methods", "vml", "--seeds", "1").finish().code == 0
    directory = sweep(desk, "grown")
    before = directory.run_of(VML).journal.read_bytes()
    assert bench(desk, "grown", *small, "--methods", "vml5", "--seeds", "2").finish().code == 0
    assert {(row["method"], row["seed"]) for row in results(directory)} == {("vml", "0"), ("vml5", "0"), ("vml5", "1")}
    assert directory.run_of(VML).journal.read_bytes() == before
    assert directory.spec().methods == ("vml", "vml5")
    five = next(row for row in results(directory) if row["method"] == "vml5")
    assert five["K"] == "5"
    assert float(five["oracle_best_test"]) >= float(five["best_on_train"])
    runs = [directory.run_of(cell) for cell in directory.spec().cells]
    in_flight = {run.spec().endpoint.concurrency for run in runs if run.path.exists()}
    assert in_flight == {3}, "cells side by side share the limit of calls in flight"


def test_a_cell_that_fails_is_reported_and_does_not_end_the_sweep(desk: Desk) -> None:
    directory = sweep(desk, "failing")
    demo = EndpointSpec(demo=True, model="demo", cache=False)
    run = create(VML, Sizes(train=20, test=10, epochs=1), demo, run_dir=directory.run_of(VML).path)
    whole = run.data.read_bytes()
    run.data.write_bytes(whole.replace(b"test", b"tset"))
    ended = bench(desk, "failing", "--demo", *TWO).finish()
    assert ended.code == 1
    assert "two-blobs-vml-0 failed, can be run again: data.csv" in ended.err
    assert [row["method"] for row in results(directory)] == ["mh"]
    run.data.write_bytes(whole)
    assert bench(desk, "failing", "--demo", *TWO).finish().code == 0
    assert [row["method"] for row in results(directory)] == ["vml", "mh"]


def test_a_refused_key_ends_the_sweep_and_no_key_is_kept(desk: Desk, served: Model) -> None:
    served.key = "sk-right"
    refused = bench(desk, "keyed", *served.options, *TWO, OPENAI_API_KEY="sk-wrong-secret").finish()
    assert refused.code == 3
    assert "sk-wrong-secret" not in refused.err + refused.out
    assert refused.err.splitlines()[-1].startswith("vpp: two-blobs-vml-0: ")
    done = bench(desk, "keyed", *served.options, *TWO, OPENAI_API_KEY="sk-right").finish()
    assert done.code == 0, done.err
    kept = b"".join(path.read_bytes() for path in (desk.folder / "keyed").rglob("*") if path.is_file())
    assert b"sk-right" not in kept
    assert b"sk-wrong-secret" not in kept


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Refusal:
    """Run a command that must be refused, in this process; return its complaint."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "VPP_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def complaint(*words: str | Path) -> str:
        ended = Outcome(main(["bench", *map(str, words)]), *capsys.readouterr())
        assert ended.code == 2, words
        return ended.complaint

    return complaint


def test_impossible_sweeps_are_refused_in_one_line(refusal: Refusal, tmp_path: Path) -> None:
    for words, reason in (
        (("--tasks", "two-blob"), "two-circles"),
        (("--methods", "smc,hmc"), "smc-rescored"),
        (("--tasks", "poly", "--methods", "mh-k1"), "makes no cell"),
        (("--seeds", "0"), "seeds is 0"),
        (("--jobs", "0"), "jobs is 0"),
        (("--tasks", ","), "--tasks names nothing"),
        (("--train-size", "5"), "batch"),
    ):
        assert reason in refusal("-o", tmp_path / "bad", "--demo", *words), words
    assert "no endpoint" in refusal()


def test_a_folder_takes_no_sweep_of_another_model_or_size(refusal: Refusal, undisturbed: SweepDirectory) -> None:
    before = undisturbed.tables.read_bytes()
    for words in (("--base-url", "http://127.0.0.1:9/v1", "--model", "other"), ("--demo", "--train-size", "30")):
        complaint = refusal("-o", undisturbed.path, *words, "--tasks", "two-blobs", "--methods", "vml")
        assert "holds a sweep of" in complaint, words
    assert undisturbed.tables.read_bytes() == before


def test_a_folder_of_other_things_is_refused_and_left_unchanged(refusal: Refusal, tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.txt").write_text("mine")
    complaint = refusal("-o", folder, "--demo", *TWO)
    for words in (str(folder), "'chapter.txt'", "no sweep", "empty folder with -o"):
        assert words in complaint
    assert [path.name for path in folder.iterdir()] == ["chapter.txt"]


def test_a_folder_takes_one_sweep_at_a_time(refusal: Refusal, undisturbed: SweepDirectory) -> None:
    with undisturbed.lock():
        assert "held by another sweep" in refusal("-o", undisturbed.path)


def test_the_remains_of_a_sweep_killed_early_are_a_sweeps_folder(tmp_path: Path) -> None:
    remains = SweepDirectory(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in (".lock", "bench.log", "control", ".sweep.json.12.34.part"):
        (tmp_path / name).touch()
    with remains.lock():
        assert remains.is_held()
    (tmp_path / "run.json").touch()
    with pytest.raises(InputError, match=r"run\.json"):
        remains.check_is_ours()


def test_help_names_every_method_and_variant(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    named = set(re.findall(r"[\w-]+", capsys.readouterr().out.split("methods of the paper")[1]))
    assert set(VARIANTS) <= named
