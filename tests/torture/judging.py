"""Whether a disturbed run ended as the undisturbed one did: every difference in a line."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.processes import but_times_and_ids, posterior
from tests.torture.faults import Scene
from tests.torture.place import ended
from tests.torture.trace import what_counts
from vpp.errors import RunLocked
from vpp.inspection.summary import result
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader
from vpp.verification import verify

PUT = ("report.md", "posterior.json", "predictions.csv")


def differences(scene: Scene) -> list[str]:
    """Nothing, where nothing was lost."""
    return [*scene.remarks, *scene.place.seen_wrong, *_leftovers(scene), *_results(scene)]


def _parts_left(run: RunDirectory) -> list[Path]:
    """Return the part files that the next worker leaves, when those of a killed one are old enough to be removed."""
    for part in run.path.rglob("*.part"):
        os.utime(part, (0, 0))
    with suppress(RunLocked), run.lock():
        pass
    return list(run.path.rglob("*.part"))


def _results(scene: Scene) -> Iterator[str]:
    yield from lost(scene.place.the_run, scene.reference.directory)
    if scene.case.counts_calls:
        allowed = scene.reference.asked + scene.place.lost_calls
        if scene.served.asked > allowed:
            yield f"{scene.served.asked} calls were sent, {scene.reference.asked} undisturbed: more than {allowed}"


def lost(run: RunDirectory, reference: RunDirectory) -> Iterator[str]:
    """What a run has not in common with the undisturbed one, or does not hold by itself."""
    snapshot = RunReader(run).refresh()
    if snapshot.state != "finished":
        yield f"the run is {snapshot.state}: {snapshot.view.detail}"
        return
    if snapshot.damage:
        yield f"the journal is damaged: {snapshot.damage}"
        return
    yield from unequal(run, reference)
    yield from _events(run, reference)
    yield from (f"verify: {fault}" for fault in verify(run).faults[:3])


def unequal(run: RunDirectory, reference: RunDirectory) -> Iterator[str]:
    """What differs between the posteriors, and between the objects that `--json` prints."""
    for what, one, other in (
        ("posterior", posterior(run), posterior(reference)),
        ("result", _result(run), _result(reference)),
    ):
        yield from (f"{what}: {name} differs" for name in one if one[name] != other[name])


def _result(run: RunDirectory) -> dict[str, object]:
    return but_times_and_ids(result(run, RunReader(run).refresh().view))


def _events(run: RunDirectory, reference: RunDirectory) -> Iterator[str]:
    """Events that count: none more, none fewer, none other than in the undisturbed run."""
    ours, theirs = what_counts(run.journal), what_counts(reference.journal)
    for words, events in (("twice, or another", ours - theirs), ("lost", theirs - ours)):
        if events:
            yield f"{events.total()} events {words}: {next(iter(events))[:160]}"


def _leftovers(scene: Scene) -> Iterator[str]:
    try:
        ended(scene.place)
    except AssertionError:
        yield f"processes are left: {scene.place.processes()}"
    run = scene.place.the_run
    if run.is_held():
        yield "the run's lock is held"
    yield from (f"a part file is left: {path.name}" for path in _parts_left(run))
    yield from (f"{name} was not written" for name in PUT if not (run.path / name).is_file())
