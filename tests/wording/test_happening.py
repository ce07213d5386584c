"""What happened in a step, against what runs of every method are known to have done."""

from pathlib import Path

from tests.inspected import labels
from tests.reporting.builders import SEED, started, view_of
from tests.reporting.builders import YES_NO as DATA
from tests.reporting.sampled import sampled_run
from vpp.events import Event
from vpp.findings.step import happened
from vpp.runs.reader import RunReader
from vpp.settings import Config

A, B, C = (f"{SEED} {letter}" for letter in "ABC")


def happenings(reader: RunReader) -> dict[int | None, str]:
    """By step; None the end."""
    snapshot = reader.refresh()
    config, view = snapshot.spec.config, snapshot.view
    return {step: happened(view, step, config) for step in (*view.steps, None)}


def described(config: Config, *events: Event, step: int | None = 0) -> str:
    """Of a run of two steps on four training rows."""
    return happened(view_of(started(config, DATA), *events), step, config)


def test_a_step_of_smc_names_its_weights_its_resampling_and_its_proposals(tmp_path: Path) -> None:
    assert happenings(labels(tmp_path)) == {
        -1: "The optimizer wrote 4 hypotheses from the first batch: 4 different texts.",
        0: "Step 0: ESS 3.2 of 4, no resampling. 1 of 4 proposals accepted, 2 rejected, 1 unchanged.",
        1: "Step 1: ESS 1.9 of 4, below 2, so the population was resampled: particle 0 now has two copies, "
        "and particle 3 ended. 1 of 4 proposals accepted, 2 rejected, 1 unreadable.",
        None: "The last texts were weighed once more, on the last buffer: ESS 3.3 of 4. "
        "Of 6 test rows the weighted vote got 3 right, 50.0\N{NO-BREAK SPACE}%.",
    }


BY_METHOD = (
    ("mh", 0, "Step 0: 2 of 4 proposals accepted, 2 rejected. 2 proposals drawn afresh from the prior, 0 of them"),
    ("mh on buffer", 0, "Step 0: 4 of 4 proposals accepted."),
    ("mh on train", -1, "The optimizer wrote 4 hypotheses from no data: "),
    ("always accept", -1, "The optimizer wrote 4 hypotheses from the first batch: 4 different texts."),
    ("always accept", 0, "Step 0: 4 of 4 hypotheses rewritten, without an accept step."),
    ("vml", -1, "First text of 1 hypothesis: the seed sentence."),
    ("vml", 0, "Step 0: 1 of 1 hypothesis rewritten, without an accept step."),
    ("vml", None, "Of 7 test rows it got "),
    ("vml5", -1, "First text of 5 hypotheses: the seed sentence."),
    ("incremental", 1, "Step 1: exponent φ 0.129, ESS 3.7 of 4, no resampling. 1 of 4 proposals"),
    ("adaptive", 0, "Step 0: exponent φ 0.519, ESS 2.0 of 4, just below 2, so the population was"),
)


def test_every_method_names_what_it_does() -> None:
    for name, step, words in BY_METHOD:
        assert happenings(sampled_run(name))[step].startswith(words), name
