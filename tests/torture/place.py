"""Where a case happens: a desk whose processes are known by a mark, and a watcher who reads all the while."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.processes import Desk, Running, wait_until
from tests.torture.cases import SIZE, Case
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

MARK = "TORTURE_CASE"
WITHIN_S = 180.0


@dataclass
class Place(Desk):
    """A folder with one run in it."""

    run_dir: Path = Path()
    seen_wrong: list[str] = field(default_factory=list)
    """What the watcher could not read."""
    lost_calls: int = 0
    """Calls that may be asked anew: those in flight, or not yet in the cache, at each kill."""

    @property
    def the_run(self) -> RunDirectory:
        return RunDirectory(self.run_dir)

    def begin(self, case: Case, base_url: str, data: Path, *more: str) -> Running:
        """Starts the run in a worker of its own."""
        words = ("--base-url", base_url, "--model", "demo") if base_url else ("--demo", "--demo-latency-ms", "30")
        return self.start(
            *("run", data, "--target", "species" if case.variant.task == "penguins" else "y", *SIZE),
            *(*case.variant.words, "--concurrency", "4", "--max-wait", "120", *words, *more),
            *("--json", "--quiet", "--run-dir", self.run_dir, *(() if case.cached else ("--no-cache",))),
        )

    def go_on(self) -> Running:
        """Resumes it."""
        return self.start("resume", self.run_dir, "--json", "--quiet")

    def web_server(self) -> Running:
        """Starts a process that launches a worker as the app does, and stays."""
        return Running(
            subprocess.Popen(
                [sys.executable, "-m", "tests.torture.web", str(self.run_dir)],
                cwd=self.folder,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )

    def copy_prepared(self, reference: Path, *, base_url: str, cached: bool) -> None:
        """The reference's run as it was before any worker took it, at another address."""
        spec = json.loads((reference / "run.json").read_text())
        spec |= {"status": "queued", "id": self.run_dir.name}
        spec["endpoint"] |= {"base_url": base_url, "cache": cached, "concurrency": 4}
        if not base_url:
            spec["endpoint"] |= {"demo": True, "demo_latency_ms": 30, "model": ""}
        self.run_dir.mkdir(parents=True, mode=0o700)
        (self.run_dir / "data.csv").write_bytes((reference / "data.csv").read_bytes())
        (self.run_dir / "run.json").write_text(json.dumps(spec))

    def processes(self) -> list[int]:
        """Ids of living processes that were started here, those that they started included (Linux only).

        A forked command stands in this folder; what it starts inherits the mark in its environment.
        """
        mark, living = f"{MARK}={self.environment[MARK]}".encode(), []
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                is_forked = (entry / "cwd").readlink() == self.folder
                if is_forked or mark in (entry / "environ").read_bytes().split(b"\0"):
                    living.append(int(entry.name))
        return living

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Reads the run over and over meanwhile, as every page does, and notes what cannot be read."""
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _watch(self, over: threading.Event) -> None:
        while not over.wait(0.1):
            if not (self.run_dir / "run.json").exists():
                continue
            try:
                snapshot = RunReader(self.the_run).refresh()
            except Exception as error:
                self.seen_wrong.append(f"a reader failed: {type(error).__name__}: {error}")
                return
            if damage := getattr(snapshot, "damage", ""):
                self.seen_wrong.append(f"a reader saw a damaged journal: {damage}")
                return


def place_for(case: Case, folder: Path) -> Place:
    """A fresh one. The mark is its own, whatever ran before."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {MARK: f"{os.getpid()}-{case.seed}-{folder.name}"}
    return Place(folder.resolve(), environment=environment, run_dir=folder / "run")


def ended(place: Place) -> None:
    """Waits until no process of the case is left."""
    if sys.platform == "linux":
        wait_until(lambda: not place.processes(), "every process of the case has ended", within_s=15)
