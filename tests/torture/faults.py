"""The faults of the campaign: each disturbs a run at its moment and brings it to its end again."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.processes import Outcome, Running, answers_at, demo_server, free_port, wait_until
from tests.torture.cases import Case
from tests.torture.place import WITHIN_S, Place
from tests.torture.references import Reference, data_for
from tests.torture.trace import Moment, lines_of, moment_of, synced_bytes
from tests.torture.trouble import Trouble, TroubledModel, breakage, storm

CONCURRENCY = 4
UNWRITTEN = 8
"""Answers that may be on their way into the cache when a worker is killed."""
SMALL_DISK = "4m"


class Skipped(Exception):
    """This machine cannot make the fault."""


@dataclass
class Scene:
    """A case under way."""

    case: Case
    place: Place
    reference: Reference
    served: TroubledModel
    folder: Path
    """Of what cases share: tables."""
    chance: random.Random
    moments: list[Moment] = field(default_factory=list)
    """Where the run was at each disturbance."""
    resumes: int = 0
    remarks: list[str] = field(default_factory=list)
    """What was not as it should be on the way."""

    def at_moment(self, *more: str, base_url: str | None = None) -> Running:
        """Begin the run, wait for its moment, and note where it is. base_url: of a model that counts no calls."""
        url = self.served.base_url if base_url is None else base_url
        running = self.place.begin(self.case, url, data_for(self.case, self.folder), *more)
        self.wait(self.has_begun, running, "there is a run")
        self.reach(running, counts_calls=base_url is None)
        return running

    def wait(self, happens: Callable[[], bool], running: Running, what: str) -> None:
        """Wait for what happens, or for the end of the process."""
        wait_until(lambda: happens() or running.process.poll() is not None, what, within_s=WITHIN_S)

    def reach(self, running: Running, *, counts_calls: bool) -> None:
        """Wait for as many answers, or lines of the journal, as are drawn, and a moment more; note where the run is."""
        if counts_calls:
            enough = self.served.answered + self._calls_until()
            self.wait(lambda: self.served.answered >= enough or self.is_over(running), running, "its moment comes")
        else:
            lines = self.chance.randrange(1, self.reference.lines)
            self.wait(lambda: self._lines() >= lines or self.is_over(running), running, "its moment comes")
        self.pause_a_while(0, 0.06 if counts_calls else 0.3)
        self.note_moment()

    def finish(self, running: Running, *codes: int) -> Outcome:
        """Waits for its end; any other exit code than these (0 where none is named) is remarked."""
        outcome = running.finish(within_s=WITHIN_S)
        if outcome.code not in (codes or (0,)):
            self.remark(f"exit code {outcome.code}: {outcome.err.strip()[-300:]}")
        return outcome

    def resume(self, *codes: int) -> Outcome:
        self.resumes += 1
        return self.finish(self.place.go_on(), *codes)

    def remark(self, what: str) -> None:
        self.remarks.append(what)

    def is_over(self, running: Running) -> bool:
        """The run's end is its journal's: its worker may be nobody's child here."""
        if running.process.poll() is not None:
            return True
        return self._lines() > 1 and lines_of(self.place.the_run.journal)[-1]["event"]["type"] == "run_finished"

    def _calls_until(self) -> int:
        first, *_, last, asked = self.reference.marks
        low, high = {
            "before the first hypotheses": (0, 0),
            "among the first hypotheses": (0, first),
            "in a step": (first, last),
            "in the end": (last, asked),
        }[self.case.part]
        return self.chance.randint(low, max(low, high - 1))

    def _lines(self) -> int:
        return len(lines_of(self.place.the_run.journal))

    def note_moment(self) -> None:
        """Note where the run is now, as its disk and its model tell."""
        beat = self.place.the_run.last_beat() if self.place.run_dir.exists() else None
        known = beat.usage.calls if beat else 0
        self.moments.append(moment_of(self.place.the_run.journal, answered=max(known, self.served.answered)))

    def kill(self, running: Running) -> None:
        """Kill the worker, and note where the run was."""
        self.expect_calls_again()
        running.kill()
        self.note_moment()

    def kill_or_wait(self, running: Running) -> None:
        """Once in two kill the worker and resume; else wait for its end."""
        if self.chance.random() < 0.5:
            self.kill(running)
            self.resume()
        else:
            self.finish(running)

    def expect_calls_again(self) -> None:
        """Those in flight, those that go out until it is done, and those on their way into the cache."""
        self.place.lost_calls += max(0, self.served.asked - self.served.answered) + CONCURRENCY + UNWRITTEN

    def pause_a_while(self, shortest_s: float, longest_s: float) -> None:
        time.sleep(self.chance.uniform(shortest_s, longest_s))

    def has_begun(self) -> bool:
        return (self.place.run_dir / "run.json").exists()


Fault = Callable[[Scene], None]


def worker_killed(scene: Scene) -> None:
    scene.kill(scene.at_moment())
    scene.resume()


def worker_killed_twice(scene: Scene) -> None:
    """The second time while it resumes: at its start, or as soon as it asks again."""
    scene.kill(scene.at_moment())
    scene.resumes += 1
    again = scene.place.go_on()
    asked = scene.served.asked
    if scene.chance.random() < 0.4:
        scene.pause_a_while(0.2, 2.5)
    else:
        later = asked + scene.chance.randint(1, 30)
        scene.wait(lambda: scene.served.asked >= later, again, "it asks")
    scene.kill(again)
    scene.resume()


def _web(scene: Scene, *, base_url: str) -> tuple[Running, int]:
    """A web server and the worker that it launched, at its moment."""
    scene.place.copy_prepared(scene.reference.directory.path, base_url=base_url, cached=scene.case.cached)
    web = scene.place.web_server()
    scene.place.started.append(web)
    assert web.process.stdout is not None
    worker = int(web.process.stdout.readline())
    scene.reach(web, counts_calls=bool(base_url))
    return web, worker


def web_server_and_worker_killed(scene: Scene) -> None:
    web, worker = _web(scene, base_url=scene.served.base_url)
    _kill_both(scene, web, [worker])
    scene.resume()


def web_server_worker_and_model_killed(scene: Scene) -> None:
    """As a loss of the whole machine, but for its disk: the built-in demo model goes too."""
    web, worker = _web(scene, base_url="")
    _kill_both(scene, web, [worker, *(pid for pid in scene.place.processes() if pid not in (worker, web.process.pid))])
    scene.resume()


def _kill_both(scene: Scene, web: Running, others: list[int]) -> None:
    scene.expect_calls_again()
    doomed = [web.process.pid, *others]
    scene.chance.shuffle(doomed)
    for pid in doomed:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    web.kill()
    wait_until(lambda: not scene.place.processes(), "they are gone", within_s=15)


def web_server_killed(scene: Scene) -> None:
    """Its worker goes on by itself."""
    web, _ = _web(scene, base_url=scene.served.base_url)
    web.kill()
    wait_until(lambda: not scene.place.processes(), "the worker has ended", within_s=WITHIN_S)


def stopped_then_continued(scene: Scene) -> None:
    running = _frozen(scene)
    running.process.send_signal(signal.SIGCONT)
    scene.finish(running)


def stopped_then_killed(scene: Scene) -> None:
    scene.kill(_frozen(scene))
    scene.resume()


def _frozen(scene: Scene) -> Running:
    """A worker that SIGSTOP holds, for a while."""
    running = scene.at_moment()
    running.process.send_signal(signal.SIGSTOP)
    scene.pause_a_while(0.3, 3)
    return running


def paused_then_killed(scene: Scene) -> None:
    running = scene.at_moment()
    scene.place.the_run.send_command("pause")
    scene.wait(lambda: scene.place.state("run") == "paused", running, "it pauses")
    scene.kill(running)
    scene.resume()


def stopped_by_its_user(scene: Scene) -> None:
    """A stop keeps the last whole step; a resume goes on as if it had not been said."""
    running = scene.at_moment()
    scene.expect_calls_again()
    scene.place.the_run.send_command("stop")
    scene.finish(running, 0, 130)
    scene.resume()


def disk_full(scene: Scene) -> None:
    """A small disk of its own fills up; once in two the run is resumed in vain before there is room again."""
    with _small_disk(scene.place.folder / "disk") as disk:
        scene.place.run_dir = disk / "run"
        running = scene.at_moment()
        _fill(disk)
        scene.expect_calls_again()
        _must_say_why(scene, running.finish(within_s=WITHIN_S))
        if scene.chance.random() < 0.5:
            _must_say_why(scene, scene.place.go_on().finish(within_s=WITHIN_S))
        (disk / "filler").unlink()
        scene.resume()
        kept = scene.place.folder / "run"
        subprocess.run(["cp", "-a", str(scene.place.run_dir), str(kept)], check=True)
        scene.place.run_dir = kept


def _must_say_why(scene: Scene, outcome: Outcome) -> None:
    """A full disk is told in one line; where the run had ended, there is nothing to tell."""
    if outcome.code and "disk is full" not in outcome.err:
        scene.remark(f"a full disk is not told: exit code {outcome.code}: {outcome.err.strip()[-300:]}")


def _fill(disk: Path) -> None:
    with suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 4 MB in memory. Raises Skipped where none may be mounted."""
    folder.mkdir(parents=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Skipped(f"no small disk can be mounted here: {error}") from None
    if done.returncode:
        raise Skipped(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def endpoint_killed(scene: Scene) -> None:
    """It comes back after a while, and the run goes on by itself."""
    port = free_port()
    with demo_server(port=port, latency_ms=30) as (url, server):
        running = scene.at_moment(base_url=url)
        server.kill()
        scene.pause_a_while(0.3, 4)
        with demo_server(port=port, latency_ms=10):
            scene.finish(running)


def endpoint_killed_for_good(scene: Scene) -> None:
    """The worker gives up; it is resumed when the endpoint is back."""
    port = free_port()
    with demo_server(port=port, latency_ms=30) as (url, server):
        running = scene.at_moment("--max-wait", "0.3", base_url=url)
        server.kill()
        scene.finish(running, 0, 3)
    with demo_server(port=port, latency_ms=10):
        wait_until(lambda: answers_at(f"http://127.0.0.1:{port}/v1"), "the server is back", within_s=WITHIN_S)
        scene.resume()


def storm_of_503(scene: Scene) -> None:
    running = scene.at_moment()
    _trouble(scene, running, storm(scene.chance, share=scene.chance.uniform(0.4, 1)))


def broken_replies(scene: Scene) -> None:
    running = scene.at_moment()
    _trouble(scene, running, breakage(scene.chance, share=scene.chance.uniform(0.2, 0.6)))


def _trouble(scene: Scene, running: Running, trouble: Trouble) -> None:
    """Trouble at the endpoint for a while."""
    scene.served.trouble = trouble
    scene.pause_a_while(0.5, 4)
    scene.served.trouble = None
    scene.finish(running)


def torn_journal(scene: Scene) -> None:
    """Power goes: what had not been synced is cut at any byte, of the journal and of the answers."""
    scene.kill(scene.at_moment())
    _cut(scene, lambda tail: scene.chance.randint(0, len(tail)))
    scene.resume()


def whole_lines_lost(scene: Scene) -> None:
    """Power goes: of what had not been synced, only some whole lines are left."""
    scene.kill(scene.at_moment())
    _cut(scene, lambda tail: scene.chance.choice([0, *(at + 1 for at, byte in enumerate(tail) if byte == 10)]))
    scene.resume()


def _cut(scene: Scene, place: Callable[[bytes], int]) -> None:
    if not scene.has_begun() or scene.moments[-1].phase in ("before it began", "over"):
        return
    run = scene.place.the_run
    _cut_behind(run.journal, synced_bytes(run.journal), place)
    kept = [line for line in lines_of(run.journal) if line["event"]["type"] == "step_finished"]
    answers = run.answers.read_bytes().splitlines(keepends=True)[: kept[-1]["answers"] if kept else 0]
    _cut_behind(run.answers, sum(map(len, answers)), place)


def _cut_behind(path: Path, synced: int, place: Callable[[bytes], int]) -> None:
    os.truncate(path, synced + place(path.read_bytes()[synced:]))


def garbage_behind(scene: Scene) -> None:
    """Zeros, noise or half a line stand where the next line would have come."""
    scene.kill(scene.at_moment())
    for path in (scene.place.the_run.journal, scene.place.the_run.answers):
        if path.exists():
            noise = scene.chance.randbytes(scene.chance.randint(1, 5000)).replace(b"\n", b" ")
            kinds = (
                b"\0" * scene.chance.randint(1, 9000),
                noise,
                b'{"v":2,"at":17',
                path.read_bytes()[:200].split(b"\n")[0],
            )
            with path.open("ab") as file:
                file.write(scene.chance.choice(kinds))
    scene.resume()


def second_worker(scene: Scene) -> None:
    """Refused while the first lives; once in two the first is killed afterwards."""
    running = scene.at_moment()
    second = scene.place.go_on().finish(within_s=WITHIN_S)
    was_over = scene.is_over(running)
    if not was_over and (second.code == 0 or "held by another worker" not in second.err):
        scene.remark(f"a second worker was not refused: exit code {second.code}: {second.err.strip()[-300:]}")
    scene.kill_or_wait(running)


GARBAGE = (
    b"",
    b"\0" * 4096,
    b"stop",
    b'{"command": "stop"',
    b'{"command": "explode", "at": 1e300}',
    b'{"command": ["stop"], "at": "now"}',
    b'{"command": "pause", "at": NaN}',
    b"[" * 20_000,
    b"\xff\xfe\x00s\x00t\x00o\x00p",
    b'{"command": "stop", "at": -1e999}' * 4000,
)


def control_of_garbage(scene: Scene) -> None:
    """Written into its place byte by byte, as no program of ours does; once in two the worker is killed then."""
    running = scene.at_moment()
    for content in scene.chance.sample(GARBAGE, 4):
        (scene.place.run_dir / "control").write_bytes(content)
        scene.pause_a_while(0.05, 0.2)
    scene.kill_or_wait(running)


BY_NAME: dict[str, Fault] = {
    "worker killed": worker_killed,
    "worker killed twice": worker_killed_twice,
    "web server and worker killed": web_server_and_worker_killed,
    "web server, worker and model killed": web_server_worker_and_model_killed,
    "web server killed": web_server_killed,
    "worker stopped, then continued": stopped_then_continued,
    "worker stopped, then killed": stopped_then_killed,
    "paused, then killed": paused_then_killed,
    "stopped by its user": stopped_by_its_user,
    "disk full": disk_full,
    "endpoint killed": endpoint_killed,
    "endpoint killed, worker gives up": endpoint_killed_for_good,
    "503 storm": storm_of_503,
    "broken replies": broken_replies,
    "garbled answers, killed": worker_killed,
    "torn journal": torn_journal,
    "whole lines lost": whole_lines_lost,
    "garbage behind the journal": garbage_behind,
    "second worker": second_worker,
    "control file of garbage": control_of_garbage,
}
