"""Runs written by hand whose particles can be asked: their learner is the demo model behind a server of the test's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import inspected
from tests.processes import Model
from tests.reporting.builders import drawn, finished, run, started
from vpp.data.dataset import Dataset, Row, Value
from vpp.problem import Prediction
from vpp.runs.asking import Answers
from vpp.runs.journal import RunReader
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config


def asked_labels(folder: Path, served: Model, **endpoint_options: Any) -> RunReader:
    """Run of `inspected.labels`, four sentences, before any answer."""
    endpoint = EndpointSpec(**{"base_url": served.base_url, "model": "demo", "cache": False, **endpoint_options})
    events = inspected.label_events()
    return run(folder, *events, data=inspected.LABELS, config=inspected.LABEL_CONFIG, endpoint=endpoint)


def asked_pair(folder: Path, served: Model, *, data: Dataset = inspected.LABELS) -> RunReader:
    """Run of three particles with two different sentences."""
    config = Config(method="mh", particles=3, reading="rows")
    texts = (inspected.EVEN, inspected.ODD, inspected.EVEN)
    endpoint = EndpointSpec(base_url=served.base_url, model="demo", cache=False)
    events = [started(config, data), *drawn(*texts), finished(0, texts)]
    return run(folder, *events, data=data, config=config, endpoint=endpoint)


def told_labels() -> Answers:
    """Answers of `inspected.labels` on its test rows."""
    return _told(inspected.LABELS, inspected.LABEL_SLOTS, inspected.LABEL_WEIGHTS, inspected.ON_TEST, step=1)


def told_numbers() -> Answers:
    """Answers of `inspected.numbers` on its test rows."""
    return _told(inspected.NUMBERS, inspected.NUMBER_SLOTS, inspected.NUMBER_WEIGHTS, inspected.NUMBERS_ON_TEST, step=0)


def _told(
    data: Dataset,
    slots: tuple[str, ...],
    weights: tuple[float, ...],
    on_test: Mapping[str, Sequence[Value | None]],
    *,
    step: int,
) -> Answers:
    return Answers(
        rows=data.test,
        texts=slots,
        weights=weights,
        predictions=tuple(tuple(map(_answer, data.test, on_test[text])) for text in slots),
        task=data.task,
        target="y",
        classes=data.classes,
        step=step,
    )


def _answer(row: Row, value: Value | None) -> Prediction:
    if value is None:
        return Prediction(row=row.id, value=None, reason="the answer has no “Output:” line")
    return Prediction(row=row.id, value=value, explanation=f"because {value}")
