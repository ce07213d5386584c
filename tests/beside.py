"""Runs to set beside those of tests/inspected.py, written by hand, and runs as they are compared.

`other`: the options of `labels` but for the seed, the same rows. Its weighted vote is 4 of 6, that of `labels` 5 of 6.

    slot  text  weight   test rows 4..9 (truth: yes no yes no yes no)   training rows 0..3 (yes no yes no)
    0     EVEN    0.25   yes no yes no  yes yes                         yes no yes no
    1     EVEN    0.20   as slot 0
    2     BIG     0.15   yes no yes yes no  yes                         yes no yes no
    3     LUCK    0.40   no  no no  no  no  no                          no  no no  no
    vote                 yes no yes no  no  yes
    of `labels`          yes no yes no  yes yes
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests import inspected
from tests.inspected import BIG, EVEN, LABEL_CONFIG, LABELS, LUCK
from tests.reporting.builders import DEMO, drawn, evaluated, finished, run, started
from vpp.data.dataset import Dataset
from vpp.events import Event, RunFinished
from vpp.findings.comparison import Comparison, candidate, compare
from vpp.posterior.prediction import Value
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import RunReader

SLOTS = (EVEN, EVEN, BIG, LUCK)
WEIGHTS = (0.25, 0.2, 0.15, 0.4)
ON_TEST: dict[str, tuple[Value | None, ...]] = {**inspected.ON_TEST, LUCK: ("no",) * 6}
ON_TRAIN: dict[str, tuple[Value | None, ...]] = {**inspected.ON_TRAIN, LUCK: ("no",) * 4}
CONFIG = replace(LABEL_CONFIG, seed=1)


def other_events(*, asked: bool = True) -> list[Event]:
    """Events of the first draw, and the evaluations if `asked`."""
    begun = [started(CONFIG, LABELS), *drawn(*SLOTS), finished(0, SLOTS), finished(1, SLOTS, weights=WEIGHTS)]
    if not asked:
        return begun
    given = {"slots": SLOTS, "weights": WEIGHTS}
    return [
        *begun,
        evaluated(LABELS, dict(ON_TEST), **given),  # type: ignore[arg-type]
        evaluated(LABELS, dict(ON_TRAIN), **given, split="train"),  # type: ignore[arg-type]
        RunFinished(outcome="finished"),
    ]


def other(folder: Path, *, asked: bool = True, **spec: Any) -> RunReader:
    """The finished run; without `asked`, stopped before its test rows."""
    return run(folder, *other_events(asked=asked), data=LABELS, config=CONFIG, **{"endpoint": DEMO, **spec})


def all_right(folder: Path, data: Dataset, *, seed: int = 0) -> RunReader:
    """A finished run on other rows, with one text that is right on every test row."""
    config, slots = replace(LABEL_CONFIG, seed=seed), ("Right.",)
    answers: dict[str, Any] = {"Right.": [row.target for row in data.test]}
    steps = (finished(0, slots), finished(1, slots))
    events = [started(config, data), *drawn(*slots), *steps, evaluated(data, answers, slots=slots)]
    return run(folder, *events, RunFinished(outcome="finished"), data=data, config=config)


def under(reader: RunReader, folder: Path, name: str) -> RunReader:
    """The run under another id, in a folder of runs."""
    reader.directory.path.rename(folder / name)
    return RunReader(RunDirectory(folder / name))


def side_by_side(*readers: RunReader, reference: int = 0) -> Comparison:
    """Comparison of the runs."""
    return compare([candidate(reader) for reader in readers], reference=reference)
