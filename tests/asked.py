"""Runs written by hand whose particles can be asked: their learner is the demo model behind a server of the test's."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests import inspected
from tests.inspected import prediction
from tests.processes import Model
from tests.reporting import builders
from tests.reporting.builders import drawn, finished, run, started
from vpp.data.dataset import Dataset, Row, Value
from vpp.runs.asking import Answers
from vpp.runs.journal import RunReader
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config


def asked_labels(folder: Path, served: Model, **endpoint_options: Any) -> RunReader:
    """Run of `inspected.labels`, four sentences, before any answer."""
    endpoint = EndpointSpec(**{"base_url": served.base_url, "model": "demo", "cache": False, **endpoint_options})
    events = inspected.label_events()
    return run(folder, *events, data=inspected.LABELS, config=inspected.LABEL_CONFIG, endpoint=endpoint)


def run_of(
    folder: Path, served: Model, *texts: str, data: Dataset = inspected.LABELS, reading: Any = "rows"
) -> RunReader:
    """Run of particles with these texts."""
    config = Config(method="mh", particles=len(texts), reading=reading)
    endpoint = EndpointSpec(base_url=served.base_url, model="demo", cache=False)
    events = [started(config, data), *drawn(*texts), finished(0, texts)]
    return run(folder, *events, data=data, config=config, endpoint=endpoint)


def pair_run(folder: Path, served: Model, *, data: Dataset = inspected.LABELS) -> RunReader:
    """Run of three particles with two different sentences."""
    return run_of(folder, served, inspected.EVEN, inspected.ODD, inspected.EVEN, data=data)


def votes(*said: Sequence[Value | None], weights: Sequence[float], rows: Sequence[Row] = (), **rest: Any) -> Answers:
    """Answers of particles. said: for each particle, a value a row."""
    rows = tuple(rows or builders.rows([0.0] * len(said[0]), first_id=0))
    is_label = any(isinstance(value, str) for values in said for value in values)
    values: dict[str, Any] = {
        "texts": tuple(f"rule {k}" for k in range(len(said))),
        "predictions": tuple(tuple(prediction(row.id, v) for row, v in zip(rows, one, strict=True)) for one in said),
        "task": "classification" if is_label else "regression",
        "classes": ("no", "yes") if is_label else (),
        **rest,
    }
    return Answers(rows=rows, weights=tuple(weights), target="y", **values)


def told_labels() -> Answers:
    """Answers of `inspected.labels` on its test rows."""
    said = [inspected.ON_TEST[text] for text in inspected.LABEL_SLOTS]
    given = {"rows": inspected.LABELS.test, "texts": inspected.LABEL_SLOTS, "step": 1}
    return votes(*said, weights=inspected.LABEL_WEIGHTS, **given)


def told_numbers() -> Answers:
    """Answers of `inspected.numbers` on its test rows."""
    said = [inspected.NUMBERS_ON_TEST[text] for text in inspected.NUMBER_SLOTS]
    given = {"rows": inspected.NUMBERS.test, "texts": inspected.NUMBER_SLOTS, "step": 0}
    return votes(*said, weights=inspected.NUMBER_WEIGHTS, **given)
