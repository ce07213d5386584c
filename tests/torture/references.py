"""Undisturbed runs that disturbed ones are compared with: one a variant, and one whose answers are garbled."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from tests.processes import PENGUINS, served_by_thread
from tests.torture.cases import Case
from tests.torture.place import WITHIN_S, place_for
from tests.torture.trace import calls_at_steps, lines_of
from tests.torture.trouble import TroubledModel
from vpp.data.tasks import generate
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import write_atomically


@dataclass(frozen=True)
class Reference:
    """An undisturbed run."""

    directory: RunDirectory
    asked: int
    """The most calls that an undisturbed run sends to its model."""

    @property
    def marks(self) -> tuple[int, ...]:
        """Calls answered by the end of the first hypotheses, of each step, and of the run."""
        return (*calls_at_steps(self.directory.journal), self.asked)

    @property
    def lines(self) -> int:
        """Of its journal."""
        return len(lines_of(self.directory.journal))


def data_for(case: Case, folder: Path) -> Path:
    """The table of the case's task."""
    if case.variant.task == "penguins":
        return PENGUINS
    linear = folder / "linear.csv"
    if not linear.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(linear, generate("linear", train_size=40, test_size=20))
    return linear


def name_of(case: Case) -> str:
    """Of the reference's folder."""
    return case.variant.name.replace(", ", "-").replace(" ", "-") + ("-garbled" if case.garble_rate else "")


def reference_for(case: Case, folder: Path) -> Reference:
    """Runs it where it has not been run yet. Raises AssertionError where it does not finish."""
    place = folder / name_of(case)
    if not (place / "asked.json").exists():
        _run(case, folder, place)
    return Reference(RunDirectory(place / "run"), json.loads((place / "asked.json").read_text()))


def _run(case: Case, folder: Path, folder_of_run: Path) -> None:
    place = place_for(case, folder_of_run)
    with served_by_thread(TroubledModel(garble_rate=case.garble_rate, latency_ms=0)) as served:
        # MH asks ahead where calls are idle: more where it finds answers in the cache, most where every call is free.
        free = ("--concurrency", "64")
        running = place.begin(replace(case, cached=False), served.base_url, data_for(case, folder), *free)
        outcome = running.finish(within_s=WITHIN_S)
        assert outcome.code == 0, outcome
        (folder_of_run / "asked.json").write_text(json.dumps(served.asked))
