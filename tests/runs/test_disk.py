"""A disk that takes no more: full, read-only, locked away, gone; the cache's too. On a real file system of 1 MB."""

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.processes import PENGUINS, SMALL, TARGET, Desk, Model, Outcome, posterior, wait_until
from vpp.environment import Environment
from vpp.findings.status import server_sentences
from vpp.runs.directory import Entry, Journal, JournalReader, RunDirectory, refusal
from vpp.runs.spec import Keys
from vpp.runs.worker import work

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
    listed = desk.vpp("list", VPP_RUNS_DIR=str(small_disk)).out
    assert f"  {look.state}  " in listed
    journal, more = directory.journal.read_bytes(), fill(small_disk, "more")
    again = work(directory, Keys(), Environment.of({"VPP_RUNS_DIR": str(desk.folder)}))
    assert (again.phase, again.failure) == ("failed", "disk")
    assert "(the disk is full): free some space" in again.detail
    assert directory.journal.read_bytes().startswith(journal), "a line may still have room in the journal's last block"
    filler.unlink()
    more.unlink()
    assert desk.start("resume", directory.path, "--json", "--quiet").finish().code == 0
    assert posterior(directory) == posterior(shared_desk.directory("smc"))


@pytest.mark.parametrize("refusals", [1, 2])
def test_answers_that_wait_are_kept_unless_the_disk_refuses_them_twice(
    vpp: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusals: int
) -> None:
    """The second time, the line that says why the run failed is written alone."""
    add_entry, flush, entries, n_refused = Journal.add_entry, Journal.flush, list[Entry](), list[int]()

    def add(journal: Journal, entry: Entry) -> None:
        entries.append(entry)
        add_entry(journal, entry)

    def refuse(journal: Journal, *, sync: bool = False) -> None:
        if entries and (not sync or len(n_refused) < refusals):
            n_refused.extend([1] * sync)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(journal, sync=sync)

    monkeypatch.setattr(Journal, "add_entry", add)
    monkeypatch.setattr(Journal, "flush", refuse)
    vpp("run", PENGUINS, *TARGET, *SMALL, "--demo", "--quiet", "--run-dir", tmp_path / "run")
    found = JournalReader(tmp_path / "run" / "events.jsonl").read()
    assert (found.view.phase, found.view.failure, found.n_lines > 0) == ("failed", "disk", True)
    assert len(n_refused) == refusals
    assert len(found.answers.by_pair) == (len(entries) if refusals == 1 else 0)


def test_a_run_removed_under_its_worker_ends_and_asks_no_more(desk: Desk, served: Model) -> None:
    directory = held_in_a_step(desk, served, desk.folder)
    shutil.rmtree(directory.path)
    served.hold_after = None
    ended = desk.started[0].finish()
    assert ended.code == 1
    assert "events.jsonl cannot be written (it is gone)" in ended.err
    assert not directory.path.exists()


def test_answers_that_the_cache_cannot_keep_are_counted(
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
    assert " ".join(server_sentences(usage)).startswith("Answers are not kept: database or disk is full. ")
    assert ended.result["metric"] == undisturbed["vml"].result["metric"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.ENOLCK, errno.ENOENT])
def test_a_refusal_is_one_line_that_says_what_where_and_the_mend(number: int) -> None:
    error = OSError(number, os.strerror(number))
    told = refusal(error, Path("runs/a"))
    assert told.startswith("runs/a cannot be written (")
    assert told.partition("): ")[2]
