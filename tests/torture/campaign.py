"""Runs cases, some at a time, each in a process of its own."""

import multiprocessing
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tests.processes import served_by_thread
from tests.torture.cases import Case, case_of
from tests.torture.faults import BY_NAME, Scene, Skipped
from tests.torture.judging import differences
from tests.torture.place import place_for
from tests.torture.references import name_of, reference_for
from tests.torture.trace import Moment
from tests.torture.trouble import TroubledModel


@dataclass(frozen=True)
class Finding:
    """What came of a case."""

    case: Case
    moments: tuple[Moment, ...]
    resumes: int
    lost: tuple[str, ...]
    """Every difference from the undisturbed run."""
    again: int | None
    """Calls sent beyond those of the undisturbed run; None where they cannot be counted."""
    seconds: float
    skipped: str = ""
    """Why this machine cannot make the fault."""

    @property
    def phase(self) -> str:
        """Where the first disturbance fell."""
        return self.moments[0].phase if self.moments else "none"


def torture(case: Case, folder: Path) -> Finding:
    """One case, from its undisturbed run to its differences. What was equal is removed."""
    began = time.monotonic()
    reference = reference_for(case, folder / "undisturbed")
    place = place_for(case, folder / f"case-{case.seed}")
    with served_by_thread(TroubledModel(garble_rate=case.garble_rate)) as served:
        scene = Scene(case, place, reference, served, folder / "undisturbed", case.chance())
        lost, skipped = _disturbed(scene)
    place.close()
    if not lost:
        shutil.rmtree(place.folder)
    again = max(0, served.asked - reference.asked) if case.counts_calls and not skipped else None
    seconds = time.monotonic() - began
    return Finding(case, tuple(scene.moments), scene.resumes, tuple(lost), again, seconds, skipped)


def _disturbed(scene: Scene) -> tuple[list[str], str]:
    try:
        with scene.place.watched():
            BY_NAME[scene.case.fault](scene)
        return differences(scene), ""
    except Skipped as reason:
        return [], str(reason)
    except Exception as error:
        return [*scene.remarks, f"{type(error).__name__}: {error}"], ""


def campaign(seeds: Sequence[int], folder: Path, *, jobs: int) -> Iterator[Finding]:
    """Cases as they end. Their undisturbed runs come first, each once."""
    cases = [case_of(seed) for seed in seeds]
    needed = {name_of(case): case for case in cases}
    with ThreadPoolExecutor(jobs) as threads:
        list(threads.map(lambda case: reference_for(case, folder / "undisturbed"), needed.values()))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as processes:
        for done in as_completed([processes.submit(torture, case, folder) for case in cases]):
            yield done.result()
