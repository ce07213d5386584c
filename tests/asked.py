"""Runs written by hand whose particles can be asked: their learner is the demo model behind a server of the test's."""

from pathlib import Path
from typing import Any

from tests import inspected
from tests.processes import Model
from tests.reporting.builders import drawn, finished, run, started
from vpp.problem import Prediction
from vpp.runs.asking import Answers
from vpp.runs.reader import RunReader
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config


def asked_labels(folder: Path, served: Model, **endpoint_options: Any) -> RunReader:
    """`inspected.labels`, four sentences; none of its answers are known yet."""
    endpoint = EndpointSpec(**{"base_url": served.base_url, "model": "demo", "cache": False, **endpoint_options})
    events = inspected.label_events()
    return run(folder, *events, data=inspected.LABELS, config=inspected.LABEL_CONFIG, endpoint=endpoint)


def asked_pair(folder: Path, served: Model, *, packed: int = 1) -> RunReader:
    """Three particles that hold two sentences."""
    config = Config(method="mh", particles=3, points_per_call=packed)
    texts = (inspected.EVEN, inspected.ODD, inspected.EVEN)
    endpoint = EndpointSpec(base_url=served.base_url, model="demo", cache=False)
    events = [started(config, inspected.LABELS), *drawn(*texts), finished(0, texts)]
    return run(folder, *events, data=inspected.LABELS, config=config, endpoint=endpoint)


def told_labels() -> Answers:
    """What `inspected.labels` says of its test rows, as if it had been asked about them."""
    by_slot = (inspected.ON_TEST[text] for text in inspected.LABEL_SLOTS)
    return Answers(
        rows=inspected.LABELS.test,
        texts=inspected.LABEL_SLOTS,
        weights=inspected.LABEL_WEIGHTS,
        predictions=tuple(
            tuple(
                Prediction(row=row.id, value=value, explanation=f"because {value}")
                if value
                else Prediction(row=row.id, value=None, reason="the answer has no “Output:” line")
                for row, value in zip(inspected.LABELS.test, said, strict=True)
            )
            for said in by_slot
        ),
        task="classification",
        target="y",
        classes=("no", "yes"),
        step=1,
    )


def told_numbers() -> Answers:
    """What `inspected.numbers` says of its test rows."""
    return Answers(
        rows=inspected.NUMBERS.test,
        texts=inspected.NUMBER_SLOTS,
        weights=inspected.NUMBER_WEIGHTS,
        predictions=tuple(
            tuple(
                Prediction(row=row.id, value=value, explanation=f"because {value}")
                for row, value in zip(inspected.NUMBERS.test, inspected.NUMBERS_ON_TEST[text], strict=True)
            )
            for text in inspected.NUMBER_SLOTS
        ),
        task="regression",
        target="y",
        step=0,
    )
