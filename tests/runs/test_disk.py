"""A disk that takes no more: full, read-only, locked away, gone; the cache's too. On a real file system of 1 MB."""

import asyncio
import errno
import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.processes import PENGUINS, SMALL, TARGET, Desk, Model, Outcome, posterior, wait_until
from tests.runs.conftest import empty_run, surroundings
from vpp.errors import DiskRefused
from vpp.events import RunFinished, RunResumed, StepFinished
from vpp.llm.counters import Counters
from vpp.runs import store, worker
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import is_of_the_disk, refusal
from vpp.runs.journal import Record
from vpp.runs.session import open_cache
from vpp.runs.view import RunView
from vpp.runs.worker import work
from vpp.wording.status import cache_sentence

IN_A_STEP = 20
VML = ("--method", "vml")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """1 MB of memory as a file system: this takes the right to mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("a file system of 1 MB cannot be mounted here: that takes root on Linux")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path, name: str = "filler") -> Path:
    """Until not a byte goes in."""
    filler = place / name
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 512):
                pass
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    return filler


def remount(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True)


def held_in_a_step(desk: Desk, served: Model, place: Path) -> RunDirectory:
    """A run on the small disk, in mid-step, whose further calls get no answer yet."""
    served.hold_after = IN_A_STEP
    desk.run("run", *served.options, "--run-dir", str(place / "run"))
    wait_until(lambda: served.is_holding, "the run waits in its first step")
    return RunDirectory(place / "run")


def test_a_full_disk_ends_the_run_in_a_clear_state_and_a_resume_loses_nothing(
    desk: Desk, served: Model, small_disk: Path, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    directory = held_in_a_step(desk, served, small_disk)
    filler = fill(small_disk)
    served.hold_after = None
    ended = desk.started[0].finish()
    look = Desk(small_disk).look("run")
    assert ended.code == 1
    assert "(the disk is full): free some space" in ended.complaint
    assert look.state in ("failed", "interrupted"), "its end may have found no room"
    assert look.view.last_step == -1
    assert "the disk is full" in directory.obstacle("failed")
    listed = desk.vpp("list", VPP_RUNS_DIR=str(small_disk)).out
    assert f"  {look.state}  " in listed
    assert "the disk is full" in listed
    journal, more = directory.journal.read_bytes(), fill(small_disk, "more")
    with pytest.raises(DiskRefused, match="the disk is full"):
        work(directory, surroundings(desk.folder))
    assert directory.journal.read_bytes() == journal
    filler.unlink()
    more.unlink()
    assert directory.obstacle("failed") == ""
    assert desk.start("resume", directory.path, "--json", "--quiet").finish().code == 0
    assert posterior(directory) == posterior(shared_desk.directory("smc"))


def test_what_a_read_only_disk_cannot_record_is_told_by_who_looks(
    desk: Desk, served: Model, small_disk: Path, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    directory = held_in_a_step(desk, served, small_disk)
    desk.started[0].kill()
    remount(small_disk, "ro")
    assert Desk(small_disk).state("run") == "interrupted"
    assert "(the disk is read-only): mount it for writing" in directory.obstacle("interrupted")
    with pytest.raises(DiskRefused, match="read-only"):
        work(directory, surroundings(desk.folder))
    with pytest.raises(DiskRefused, match="read-only"):
        directory.send_command("stop")
    remount(small_disk, "rw")
    served.hold_after = None
    assert desk.start("resume", directory.path, "--json", "--quiet").finish().code == 0
    assert posterior(directory) == posterior(shared_desk.directory("smc"))


def test_a_folder_of_another_user_is_told_in_one_line(directory: RunDirectory) -> None:
    """A child that drops its rights asks for the run, since nothing is denied to root."""
    if os.getuid() != 0:
        pytest.skip("another user's folder takes root to make")
    for folder in (directory.path, *directory.path.parents[:4]):
        folder.chmod(0o755)
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            work(directory, surroundings(directory.path.parent))
        except DiskRefused as error:
            os.write(tell, f"{error}|{directory.obstacle('interrupted')}".encode())
        finally:
            os._exit(0)
    os.close(tell)
    os.waitpid(child, 0)
    refused, _, seen = os.read(told, 2000).decode().partition("|")
    mend = "cannot be written (permission denied): give this user the right to write there"
    assert refused == f"{directory.path / 'lock'} {mend}"
    assert seen == f"{directory.path} {mend}"


def test_a_run_removed_under_its_worker_ends_and_asks_no_more(desk: Desk, served: Model) -> None:
    directory = held_in_a_step(desk, served, desk.folder)
    shutil.rmtree(directory.path)
    served.hold_after = None
    ended = desk.started[0].finish()
    assert ended.code == 1
    assert "events.jsonl cannot be written (it is gone)" in ended.err
    assert not directory.path.exists()


def test_answers_that_the_cache_cannot_keep_are_counted_and_told_once(
    desk: Desk, served: Model, small_disk: Path, undisturbed: dict[str, Outcome]
) -> None:
    """A run whose cache alone is full ends as it would without one."""
    served.hold_after = 5
    words = ("run", PENGUINS, *TARGET, *SMALL, *VML, *served.options, "--json", "--quiet")
    running = desk.start(*words, "--run-dir", desk.folder / "run", VPP_CACHE_DIR=str(small_disk))
    wait_until(lambda: served.is_holding, "its cache is open")
    fill(small_disk)
    served.hold_after = None
    ended = running.finish()
    usage = desk.look("run").view.usage
    assert ended.code == 0
    assert usage.unkept > 20
    assert cache_sentence(usage).startswith("Answers are not kept: database or disk is full. ")
    assert ended.result["metric"] == undisturbed["vml"].result["metric"]
    assert desk.directory("run").log.read_text().count("\n") == 1


def test_a_cache_that_cannot_be_opened_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "no folder").write_text("")
    counters = Counters()

    async def opened() -> object:
        async with AsyncExitStack() as stack:
            return await open_cache(stack, tmp_path / "no folder", counters)

    assert asyncio.run(opened()) is None
    assert cache_sentence(counters.snapshot()).startswith("Answers are not kept: the response cache ")


@pytest.mark.parametrize(
    "number",
    [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EMFILE, errno.EIO, errno.ENOLCK, errno.ENOENT],
)
def test_a_refusal_is_one_line_that_says_what_where_and_the_mend(number: int) -> None:
    error = OSError(number, os.strerror(number))
    assert is_of_the_disk(error)
    told = refusal(error, Path("runs/a"))
    assert told.startswith("runs/a cannot be written (")
    assert told.partition("): ")[2]


def test_a_file_system_that_locks_nothing_is_named(directory: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refused)
    with pytest.raises(DiskRefused, match="locks no files"), directory.lock():
        pass
    assert not directory.is_held()


def test_a_run_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refused)
    with pytest.raises(DiskRefused, match="the disk is full"):
        empty_run(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_half_deleted_run_is_none(directory: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an interrupted delete leaves behind goes with the next one."""
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    store.delete(directory)
    runs = store.RunStore(directory.path.parent)
    assert runs.runs() == []
    assert [path.name.startswith(".deleted-run.") for path in runs.folder.iterdir()] == [True]
    monkeypatch.undo()
    store.delete(empty_run(directory.path))
    assert list(runs.folder.iterdir()) == []


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what was synced, in order: as far as what is asked of the system tells, since no power is cut here."""
    names: list[str] = []
    sync = os.fsync

    def note(descriptor: int) -> None:
        names.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        sync(descriptor)

    if not Path("/proc/self/fd").exists():
        pytest.skip("which file a descriptor is, only Linux tells")
    monkeypatch.setattr(os, "fsync", note)
    return names


def test_a_new_run_and_its_steps_reach_the_disk_and_their_folders_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synced: list[str]
) -> None:
    directory = empty_run(tmp_path / "runs" / "run")
    kinds = [name.lstrip(".").split(".")[0] for name in synced]
    assert kinds == ["data", "run", "run", "run", "run", "runs"]

    async def attempt(self: worker._Attempt) -> None:
        self.recorder.record(RunResumed(step=None))
        self.recorder.record(StepFinished(step=-1, population=(), batch=(), tau=None))
        self.recorder.record(RunFinished(outcome="finished"))

    by_then: list[list[str]] = []

    def listen(_: RunView, record: Record) -> None:
        by_then.append(list(synced))

    monkeypatch.setattr(worker._Attempt, "run", attempt)
    synced.clear()
    assert work(directory, surroundings(tmp_path, listener=listen)).phase == "finished"
    begun, at_a_step, at_the_end = by_then
    assert begun[0] == "run"
    assert begun[1].startswith(".run.json.")
    assert at_a_step[len(begun) :] == ["answers.jsonl", "events.jsonl"]
    assert at_the_end[len(at_a_step) :] == ["events.jsonl"]
