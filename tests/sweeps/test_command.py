"""`vpp bench` in processes of its own: killed, stopped, extended, refused."""

import csv
import io
import os
import re
import signal
from collections.abc import Iterator
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
"""An mh cell has ten rounds, so that a signal meets it half way."""
TIMES = {"wall_s"}
VML, MH = (Cell(task="two-blobs", method=method, seed=0) for method in ("vml", "mh"))


def bench(desk: Desk, name: str, *words: str | Path, **environment: str) -> Running:
    return desk.start("bench", "-o", desk.folder / name, *words, **environment)


def sweep(desk: Desk, name: str) -> SweepDirectory:
    return SweepDirectory(desk.folder / name)


def results(found: SweepDirectory) -> list[dict[str, Any]]:
    rows = csv.DictReader(io.StringIO(found.results.read_text()))
    return [{name: value for name, value in row.items() if name not in TIMES} for row in rows]


def tables(found: SweepDirectory) -> str:
    """Without the one table of times."""
    return re.sub(r"## Seconds per run.*?(?=\n## |\Z)", "", found.tables.read_text(), flags=re.DOTALL)


def is_at_work(found: SweepDirectory, cell: Cell, *, from_step: int = 1) -> bool:
    if not found.exists:
        return False
    view = SweepReader(found).look(cell)
    return view.state == "running" and view.step >= from_step


@pytest.fixture(scope="module")
def quiet_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    found = Desk(tmp_path_factory.mktemp("sweeps"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def undisturbed(quiet_desk: Desk) -> SweepDirectory:
    """A sweep that nothing happened to."""
    ended = bench(quiet_desk, "undisturbed", "--demo", *SLOW, *TWO).finish()
    assert ended.code == 0, ended.err
    quiet_desk.outcomes["undisturbed"] = ended
    return sweep(quiet_desk, "undisturbed")


def test_a_sweep_works_every_cell_and_tells_of_each(desk: Desk, undisturbed: SweepDirectory) -> None:
    assert [(row["task"], row["method"], row["seed"]) for row in results(undisturbed)] == [
        ("two-blobs", "vml", "0"),
        ("two-blobs", "mh", "0"),
    ]
    again = bench(desk, str(undisturbed.path), "--demo", *SLOW, *TWO).finish()
    assert again.code == 0
    assert "2 of 2 cells finished" in again.out.splitlines()[-1]
    assert again.err == ""
    overhead_s = SweepReader(undisturbed).look(MH).overhead_s
    assert overhead_s is not None
    assert overhead_s > 0


def test_progress_names_what_is_done_left_and_in_flight(quiet_desk: Desk, undisturbed: SweepDirectory) -> None:
    err = quiet_desk.outcomes["undisturbed"].err
    assert re.search(r"two-blobs-vml-0: accuracy [\d.]+ \(1 of 2 cells, 1 left", err), err
    assert re.search(r"two-blobs-mh-0: accuracy [\d.]+ \(2 of 2 cells, 0 left", err), err


def test_a_sweep_killed_with_its_worker_goes_on_and_ends_with_the_same_tables(
    desk: Desk, undisturbed: SweepDirectory
) -> None:
    running = bench(desk, "killed", "--demo", *SLOW, *TWO)
    found = sweep(desk, "killed")
    wait_until(lambda: is_at_work(found, MH), "the second cell is at work")
    journal = found.run_of(VML).journal
    before = journal.read_bytes(), journal.stat().st_mtime_ns
    worker = found.run_of(MH).last_beat()
    running.kill()
    assert worker is not None
    os.kill(worker.pid, signal.SIGKILL)
    assert bench(desk, "killed", "--demo", *SLOW, *TWO).finish().code == 0
    assert (journal.read_bytes(), journal.stat().st_mtime_ns) == before
    assert results(found) == results(undisturbed)
    assert tables(found) == tables(undisturbed)


def test_a_sweep_killed_again_and_again_ends_with_the_same_tables(desk: Desk, undisturbed: SweepDirectory) -> None:
    found = sweep(desk, "hunted")
    moments = (
        lambda: found.exists,
        lambda: found.run_of(VML).path.exists(),
        lambda: is_at_work(found, VML, from_step=0),
        lambda: is_at_work(found, MH),
    )
    for number, is_reached in enumerate(moments):
        running = bench(desk, "hunted", "--demo", *SLOW, *TWO)
        wait_until(is_reached, f"moment {number} is reached")
        running.kill()
    before = found.run_of(VML).journal.read_bytes()
    assert bench(desk, "hunted", "--demo", *SLOW, *TWO).finish().code == 0
    assert found.run_of(VML).journal.read_bytes() == before, "a finished cell is not repeated"
    assert results(found) == results(undisturbed)
    assert tables(found) == tables(undisturbed)


def test_cells_side_by_side_share_the_limit_of_calls_in_flight(desk: Desk) -> None:
    two = ("--tasks", "two-blobs,sum-parity", "--methods", "vml", *SMALL, "--jobs", "2", "--concurrency", "7")
    assert bench(desk, "shared", "--demo", *two).finish().code == 0
    found = sweep(desk, "shared")
    assert {found.run_of(cell).spec().endpoint.concurrency for cell in found.spec().cells} == {3}


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_is_passed_on_and_nothing_is_left_running(desk: Desk, name: str) -> None:
    running = bench(desk, "stopped", "--demo", *SLOW, *TWO)
    found = sweep(desk, "stopped")
    wait_until(lambda: is_at_work(found, MH), "the second cell is at work")
    running.signal(getattr(signal, name))
    ended = running.finish()
    assert ended.code == 130
    assert "1 of 2 cells finished" in ended.out
    assert ended.out.splitlines()[-1].endswith(f"python -m vpp bench -o {found.path}")
    assert not found.run_of(MH).is_held()
    assert not found.is_held()


def test_a_word_to_stop_ends_a_sweep_and_does_not_bind_the_next(desk: Desk, undisturbed: SweepDirectory) -> None:
    running = bench(desk, "asked", "--demo", *SLOW, *TWO)
    found = sweep(desk, "asked")
    wait_until(lambda: is_at_work(found, MH), "the second cell is at work")
    found.ask_to_stop()
    assert running.finish().code == 130
    assert bench(desk, "asked").finish().code == 0
    assert SweepReader(found).look(MH).overhead_s is None, "its pause is nobody's time"
    assert results(found) == results(undisturbed)
    assert tables(found) == tables(undisturbed)


def test_more_seeds_and_methods_extend_a_sweep_without_repeating_a_cell(desk: Desk) -> None:
    small = ("--demo", "--tasks", "two-blobs", *SMALL[:-2])
    assert bench(desk, "grown", *small, "--methods", "vml", "--seeds", "1").finish().code == 0
    found = sweep(desk, "grown")
    before = found.run_of(VML).journal.read_bytes()
    assert bench(desk, "grown", *small, "--methods", "vml5", "--seeds", "2").finish().code == 0
    assert {(row["method"], row["seed"]) for row in results(found)} == {("vml", "0"), ("vml5", "0"), ("vml5", "1")}
    assert found.run_of(VML).journal.read_bytes() == before
    assert found.spec().methods == ("vml", "vml5")
    five = next(row for row in results(found) if row["method"] == "vml5")
    assert five["K"] == "5"
    assert float(five["oracle_best_test"]) >= float(five["best_on_train"])


def test_a_cell_that_fails_is_said_and_does_not_end_the_sweep(desk: Desk) -> None:
    found = sweep(desk, "failing")
    demo = EndpointSpec(demo=True, model="demo", cache=False)
    run = create(VML, Sizes(train=20, test=10, epochs=1), demo, run_dir=found.run_of(VML).path)
    whole = run.data.read_bytes()
    run.data.write_bytes(whole.replace(b"test", b"tset"))
    ended = bench(desk, "failing", "--demo", *TWO).finish()
    assert ended.code == 1
    assert "two-blobs-vml-0 failed, can be run again: data.csv" in ended.err
    assert [row["method"] for row in results(found)] == ["mh"]
    run.data.write_bytes(whole)
    assert bench(desk, "failing", "--demo", *TWO).finish().code == 0
    assert [row["method"] for row in results(found)] == ["vml", "mh"]


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--tasks", "two-blob"), "two-circles"),
        (("--methods", "smc,hmc"), "smc-rescored"),
        (("--tasks", "poly", "--methods", "mh-k1"), "makes no cell"),
        (("--seeds", "0"), "seeds is 0"),
        (("--jobs", "0"), "jobs is 0"),
        (("--tasks", ","), "--tasks names nothing"),
        (("--train-size", "5"), "batch"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    code = main(["bench", "-o", str(tmp_path / "bad"), "--demo", *words])
    ended = Outcome(code, *capsys.readouterr())
    assert ended.code == 2
    assert said in ended.complaint


def test_no_endpoint_is_refused_in_one_line(desk: Desk) -> None:
    ended = desk.vpp("bench")
    assert ended.code == 2
    assert "no endpoint" in ended.complaint


@pytest.mark.parametrize(
    "words", [("--base-url", "http://127.0.0.1:9/v1", "--model", "other"), ("--demo", "--train-size", "30")]
)
def test_a_folder_takes_no_sweep_of_another_model_or_size(
    desk: Desk, undisturbed: SweepDirectory, words: tuple[str, ...]
) -> None:
    before = undisturbed.tables.read_bytes()
    ended = bench(desk, str(undisturbed.path), *words, "--tasks", "two-blobs", "--methods", "vml").finish()
    assert ended.code == 2
    assert "holds a sweep of" in ended.complaint
    assert undisturbed.tables.read_bytes() == before


def test_a_folder_of_other_things_is_refused_and_left_as_it_is(desk: Desk) -> None:
    folder = desk.folder / "thesis"
    folder.mkdir()
    (folder / "chapter.txt").write_text("mine")
    ended = bench(desk, "thesis", "--demo", *TWO).finish()
    assert ended.code == 2
    for words in (str(folder), "'chapter.txt'", "no sweep", "empty folder with -o"):
        assert words in ended.complaint
    assert [path.name for path in folder.iterdir()] == ["chapter.txt"]


def test_what_a_sweep_killed_early_leaves_is_still_a_sweeps_folder(tmp_path: Path) -> None:
    found = SweepDirectory(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in (".lock", "bench.log", "control", ".sweep.json.12.34.part"):
        (tmp_path / name).touch()
    with found.lock():
        assert found.is_held()
    (tmp_path / "run.json").touch()
    with pytest.raises(InputError, match=r"run\.json"):
        found.check_is_ours()


def test_help_names_every_method_and_variant(desk: Desk) -> None:
    named = set(re.findall(r"[\w-]+", desk.vpp("bench", "--help").out.split("methods of the paper")[1]))
    assert set(VARIANTS) <= named


def test_a_folder_takes_one_sweep_at_a_time(desk: Desk, undisturbed: SweepDirectory) -> None:
    with undisturbed.lock():
        ended = bench(desk, str(undisturbed.path)).finish()
    assert ended.code == 2
    assert "held by another sweep" in ended.complaint
