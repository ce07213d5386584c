"""Whether the campaign sees: a killed run whose resume is broken on purpose must be found to have lost something."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.processes import served_by_thread, wait_until
from tests.torture.broken import BREAKAGES
from tests.torture.cases import VARIANTS, Case
from tests.torture.judging import lost
from tests.torture.place import WITHIN_S, Place, place_for
from tests.torture.references import data_for, reference_for
from tests.torture.trouble import TroubledModel
from vpp.runs.directory import RunDirectory

AS_IT_IS = ""
CARRIED = next(variant for variant in VARIANTS if variant.name == "smc, tempered")
"""Its weights are carried from step to step, so that they can be forgotten."""


@contextmanager
def killed_run(folder: Path) -> Iterator[tuple[RunDirectory, RunDirectory]]:
    """A run killed at the end of its third step, half a line behind its journal; and the undisturbed one."""
    case = Case(100, "worker killed", CARRIED, cached=False, part="in a step")
    reference = reference_for(case, folder / "undisturbed")
    place = place_for(case, folder / "killed")
    with served_by_thread(TroubledModel(latency_ms=0)) as served:
        served.hold_after = reference.marks[3] - 2
        worker = place.begin(case, served.base_url, data_for(case, folder / "undisturbed"))
        wait_until(lambda: served.is_holding, "the third step is all but whole", within_s=WITHIN_S)
        wait_until(lambda: b'"type":"proposed"' in _unfinished(place.the_run), "it is on disk", within_s=WITHIN_S)
        worker.kill()
        served.hold_after = None
        with place.the_run.journal.open("ab") as file:
            file.write(b'{"v":2,"at":17')
        yield place.the_run, reference.directory
    place.close()


def _unfinished(run: RunDirectory) -> bytes:
    """What the journal holds of the step under way."""
    return run.journal.read_bytes().rpartition(b'"type":"step_finished"')[2]


def lost_when_resumed(killed: RunDirectory, reference: RunDirectory, folder: Path, breakage: str) -> tuple[str, ...]:
    """What a copy of the killed run loses when it is resumed so."""
    place = Place(folder, environment={"BROKEN": breakage}, run_dir=folder / "run")
    place.program = "tests.torture.broken" if breakage else "vpp"
    shutil.copytree(killed.path, place.run_dir)
    place.go_on().process.communicate(timeout=WITHIN_S)
    return tuple(lost(place.the_run, reference))


def sight(folder: Path, *, jobs: int) -> dict[str, tuple[str, ...]]:
    """What each breakage loses, and the resume as it is."""
    with killed_run(folder) as (killed, reference), ThreadPoolExecutor(jobs) as threads:
        names = (AS_IT_IS, *BREAKAGES)
        found = threads.map(
            lambda name: lost_when_resumed(killed, reference, folder / f"resumed-{name or 'as-it-is'}", name), names
        )
        return dict(zip(names, found, strict=True))
