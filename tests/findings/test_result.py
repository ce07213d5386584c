"""The figures of a run's result, by hand from the two hand-made runs (tests/inspected.py)."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from tests.reporting.builders import finished, reweighted
from vpp.events import Constant
from vpp.findings.result import ConstantAnswer, evidence, odds_words, result, summary, target_words
from vpp.findings.verdict import run_verdict
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import RunView, StepView
from vpp.settings import Config
from vpp.show.markup import lines, one_line


def test_a_run_of_labels_tells_accuracy_and_balanced_accuracy(tmp_path: Path) -> None:
    """The vote is wrong on the last of six rows, a no: 3 of 3 and 2 of 3."""
    reader = inspected.labels(tmp_path)
    scores = result(reader.directory, reader.refresh().view)["scores"]
    labels = scores["test"]["labels"]
    assert (scores["test"]["n"], scores["test"]["n_correct"], scores["train"]["n_correct"]) == (6, 5, 4)
    assert labels["accuracy"] == pytest.approx({"value": 5 / 6, "standard_error": math.sqrt(5 / 36 / 5)})
    assert labels["balanced"] == pytest.approx({"value": 5 / 6, "standard_error": math.sqrt(2 / 9 / 2) / 2})


def test_the_result_has_the_noise_of_each_particle(tmp_path: Path) -> None:
    """There are four training rows. Three particles have no mistake, one has one. The prior is Beta(1, 9)."""
    reader = inspected.labels(tmp_path)
    noise = result(reader.directory, reader.refresh().view)["noise"]
    assert [each["estimate"] for each in noise] == pytest.approx([1 / 14, 1 / 14, 1 / 14, 2 / 14])
    assert all(each["low"] < each["estimate"] < each["high"] for each in noise)


def test_the_result_has_its_verdict(tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    written = result(reader.directory, reader.refresh().view)
    assert (written["verdict"], written["grade"]) == (
        str(run_verdict(reader.directory, reader.refresh().view)), "unknown",
    )  # fmt: skip
    said = list(lines(summary(reader.directory, reader.refresh().view)))
    assert said[0] == one_line(written["verdict"])
    assert any(line.startswith("heaviest hypothesis · 60") for line in said)
    assert said[-1] == f"report: {reader.directory.path / 'report.md'}"


def test_the_evidence_has_the_exponent_that_its_weights_were_made_with() -> None:
    weighed = replace(reweighted(3, (0.5, 0.5), beta=4.0), log_evidence=-1.5)
    view = RunView(steps={3: StepView(step=3, reweighted=weighed, finished=finished(3, ("a", "b")))})
    config = Config(particles=2, tempering="incremental")
    told = evidence(
        RunSpec(name="", config=config, endpoint=EndpointSpec(demo=True), dataset={"task": "classification"}), view
    )
    assert told is not None
    assert (told["value"], told["exponent"]) == (-1.5, 0.25)


EXACT = "the acceptance rule is exact"
AFRESH: dict[str, Any] = {"restart": 1.0, "method": "mh", "mh_rows": "train"}


def target(**options: Any) -> str:
    return target_words(Config(**{"reading": "rows", **options}))


WORDS: list[tuple[dict[str, Any], str]] = [
    ({"mutate": "every"}, "Every hypothesis is rewritten after it was weighed, without a correction"),
    ({}, "accept step on the last rows"),
    (
        {"reading": "auto"},
        "ratios of successive tempered posteriors. Every change passes an accept step on all training rows",
    ),
    ({"reading": "auto", "method": "mh"}, "on all training rows, the same at every step"),
    ({"tempering": "incremental"}, "ratios of successive tempered posteriors"),
    ({"method": "mh"}, "on one batch, a new one each step"),
    ({"method": "mh", "mh_rows": "buffer"}, "on the last rows"),
    ({"method": "mh", "mh_rows": "train"}, "on all training rows, the same at every step"),
    ({"method": "mh", "restart": 0.25}, "near the posterior, not exactly it"),
    ({"method": "always-accept"}, "no sample of a posterior"),
    ({"method": "vml5"}, "averaged without weights"),
    ({"method": "vml"}, "There is one hypothesis and no posterior"),
]


def test_each_method_says_what_it_samples() -> None:
    for options, words in WORDS:
        assert words in target(**options), options


def test_only_draws_from_the_prior_judged_on_all_rows_are_exact() -> None:
    assert EXACT in target(**AFRESH)
    assert EXACT in target(restart=1.0, tempering="incremental")
    for spoilt in ({"restart": 0.99}, {"mh_rows": "buffer"}, {"learner_samples": 3}, {"method": "always-accept"}):
        assert EXACT not in target(**{**AFRESH, **spoilt}), spoilt


@pytest.mark.parametrize(
    ("odds", "weight", "words"),
    [
        (9.0, None, "about 9 times more probable under the heaviest hypothesis than under always answering “no”."),
        (40.0, None, "Beside always answering “no”, the training rows are about 40 times more probable under the"),
        (1e9, 1e-9, "over a million times more probable under the heaviest hypothesis: it found something."),
        (1 / 3, 0.3, "about 3 times more probable under always answering “no” than under the heaviest hypothesis."),
        (4.6, 0.91, "than under always answering “no”. Nothing was found."),
    ],
)
def test_the_odds_against_a_constant_answer_say_when_nothing_was_found(
    odds: float, weight: float | None, words: str
) -> None:
    constant = Constant(answer="no", shares=(0.7, 0.3), log_likelihood=-9.0)
    found = ConstantAnswer(constant=constant, weight=weight, log_odds=math.log(odds))
    assert words in odds_words(found, inspected.LABELS)
    assert found.is_beaten == (odds > 20)
