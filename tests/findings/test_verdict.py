"""The figures and the verdict of a run: no success if a simple model is better, or if it was certain and wrong."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tests.inspected import plain
from tests.reporting.builders import SEED, dataset, drawn, evaluated, finished, reweighted, run, started
from vpp.data.dataset import Dataset
from vpp.events import Constant, Event, RunFinished
from vpp.findings import verdict as module
from vpp.findings.baselines import Baselines, Name, SimpleModel
from vpp.findings.points import SURER, score
from vpp.findings.result import ConstantAnswer, evidence, result, summary, target_words
from vpp.findings.rows import evaluated_rows, trust
from vpp.findings.verdict import Verdict, beside_text, blocks, constant_words, record_verdict, run_verdict, verdict
from vpp.posterior.prediction import Value
from vpp.problem import Prediction
from vpp.reporting.document import report_markdown
from vpp.runs.directory import Journal, RunReader, read_summary
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import RunView, StepView
from vpp.settings import Config
from vpp.show.blocks import Metrics
from vpp.show.markup import lines, one_line

A, B = f"{SEED} Yes if a is even.", f"{SEED} Yes if a is odd."
REAL = EndpointSpec(base_url="http://localhost:1", model="m")
TRUTHS = ["yes", "no", "no"] * 20
OTHER = {"yes": "no", "no": "yes"}
LABELS = dataset(["yes", "no", "no"], TRUTHS)
NUMBERS = dataset([0.0, 1.0, 2.0], [float(i % 3) for i in range(60)])


def but(truths: Sequence[str], *wrong: int) -> tuple[str, ...]:
    """The truths, wrong on these rows."""
    return tuple(OTHER[truth] if i in wrong else truth for i, truth in enumerate(truths))


def run_with(
    folder: Path,
    one: Sequence[Value | None],
    two: Sequence[Value | None] = (),
    *,
    data: Dataset = LABELS,
    weight: float = 0.5,
    endpoint: EndpointSpec = REAL,
    train: Sequence[Value] = (),
) -> RunReader:
    """A run that ended with one or two hypotheses, which gave these answers to the test rows."""
    slots, weights = ((A, B), (weight, 1 - weight)) if two else ((A,), (1.0,))
    config = Config(method="smc" if two else "vml", particles=len(slots), epochs=1)
    events: list[Event] = [started(config, data, steps=1, model=endpoint.model), *drawn(*slots)]
    events.append(finished(0, slots, weights=weights))
    if one:
        given = {A: one, B: two}
        events.append(evaluated(data, {each: given[each] for each in slots}, slots=slots, weights=weights, step=0))
    if train:
        given = dict.fromkeys(slots, train)
        events.append(evaluated(data, given, slots=slots, weights=weights, split="train", step=0))
    return run(folder, *events, RunFinished(outcome="finished"), data=data, config=config, endpoint=endpoint)


def beside(data: Dataset, answers: Sequence[Value], name: Name = "linear") -> Baselines:
    """Simple models: the constant, and one that gives these answers to the test rows."""
    constant = (data.constant,) * len(data.test)
    models = [SimpleModel(name="constant", answers=constant, score=score(constant, data.test, data))]
    models.append(SimpleModel(name=name, answers=tuple(answers), score=score(answers, data.test, data)))
    return Baselines(models=tuple(models), left_out=())


def verdict_of(reader: RunReader, simple: Baselines | None = None) -> Verdict:
    snapshot = reader.refresh()
    return verdict(snapshot.view, snapshot.spec, reader.dataset(), simple or beside(LABELS, but(TRUTHS, 0)))


def test_a_better_simple_model_and_wrong_confidence_are_named_first_hand(tmp_path: Path) -> None:
    wrong = but(TRUTHS, *range(10))
    found = verdict_of(run_with(tmp_path, wrong, wrong))
    assert str(found).replace("\xa0", " ") == (
        "Right on 50 of 60 test rows. A linear model is right on 59, significantly more (p = 0.008). "
        "It was 100 % sure on average and right on 83 %: do not trust its confidence."
    )
    assert (found.grade, found.is_success) == ("worse", False)
    assert [each.words for each in blocks(found)] == [str(found)]


@pytest.mark.parametrize(("weight", "n_wrong", "words"), [
    (0.93, 9, "It was 93 % sure on average and right on 85 %: do not trust its confidence."),
    (0.93, 3, "Where it was wrong it was 93 % sure on average."),
    (0.93, 0, ""),
])  # fmt: skip
def test_confidence_is_judged_though_no_row_is_certain(tmp_path: Path, weight: float, n_wrong: int, words: str) -> None:
    """The hypotheses differ on every row, so no label has 95 %; the tile on Disagreement says the same."""
    first = but(TRUTHS, *range(n_wrong))
    reader = run_with(tmp_path, first, but(first, *range(60)), weight=weight)
    found, snapshot = verdict_of(reader), reader.refresh()
    assert plain(found.sentences[-1]) == words if words else len(found.sentences) == 2
    rows = evaluated_rows(snapshot.view, snapshot.spec.config, reader.dataset())
    assert rows is not None
    assert found.confidence is not None
    tiles = next(each for each in trust(rows, found) if isinstance(each, Metrics))
    assert (tiles.items[2].name, tiles.items[2].value) == ("Calibration", found.confidence.judgement)
    assert (found.confidence.judgement == SURER) == ("do not trust" in str(found))


def test_one_right_about_all_is_better_only_beyond_chance(tmp_path: Path) -> None:
    reader = run_with(tmp_path, TRUTHS, TRUTHS)
    found = verdict_of(reader, beside(LABELS, but(TRUTHS, *range(8))))
    assert found.grade == "better"
    assert "right on 52, significantly fewer (p = 0.016)" in str(found)
    # p is corrected for the models from which the best was chosen: 2 * 2^-7 * 2 = 0.03, and with two more 0.06.
    simple = beside(LABELS, but(TRUTHS, *range(7)))
    more = replace(simple, models=(*simple.models, *beside(LABELS, but(TRUTHS, *range(20))).models))
    two, four = verdict_of(reader, simple), verdict_of(reader, more)
    assert [(each.grade, round(each.p or 0.0, 3)) for each in (two, four)] == [("better", 0.031), ("equal", 0.062)]
    close = verdict_of(reader, beside(LABELS, but(TRUTHS, 0, 1)))
    assert (close.grade, close.is_success) == ("equal", True)
    assert "A linear model is right on 58: no clear difference." in str(close)
    few = dataset(["yes", "no", "no"], TRUTHS[:6])
    found = verdict_of(run_with(tmp_path / "few", TRUTHS[:6], TRUTHS[:6], data=few), beside(few, but(TRUTHS[:6], 0)))
    assert found.grade == "unknown"
    assert "6 rows are too few to tell" in str(found)


def test_a_result_no_better_than_the_commonest_label_is_nothing(tmp_path: Path) -> None:
    found = verdict_of(run_with(tmp_path, ("no",) * 60, ("no",) * 60), beside(LABELS, ("no",) * 60))
    assert (found.grade, found.is_success) == ("nothing", False)
    assert "No better than always answering “no”." in str(found)


def test_withheld_rows_are_counted_apart_and_do_not_hide_a_better_model(tmp_path: Path) -> None:
    split = but(TRUTHS, *range(6))
    found = verdict_of(run_with(tmp_path, TRUTHS, split), beside(LABELS, but(TRUTHS, 7)))
    assert str(found).startswith("Right on all 54 test rows that it answered, “I don’t know” on 6.")
    assert (found.n_right, found.n_unknown) == (54, 6)
    assert "A linear model is right on 53 of these: no clear difference." in str(found)
    assert plain(beside_text(asdict(found))) == "100.0 % of 54, linear model 98.1 %"
    many = verdict_of(run_with(tmp_path / "many", but(TRUTHS, *range(18)), TRUTHS, weight=0.6), beside(LABELS, TRUTHS))
    assert str(many).startswith("Right on all 42 test rows that it answered, “I don’t know” on 18.")
    assert many.grade == "worse"
    assert "If it had to answer all 60 rows, it would be right on 42. A linear model is right on 60" in str(many)
    none = verdict_of(run_with(tmp_path / "none", but(TRUTHS, *range(60)), TRUTHS))
    assert (none.grade, none.sentences) == ("nothing", ("“I don’t know” on all 60 test rows.",))


def test_numbers_are_compared_by_their_mean_error(tmp_path: Path) -> None:
    truths = [float(i % 3) for i in range(60)]
    off = [truth + 0.5 for truth in truths]
    found = verdict_of(run_with(tmp_path, off, off, data=NUMBERS), beside(NUMBERS, [truth + 0.1 for truth in truths]))
    assert str(found).replace("\xa0", " ") == (
        "Off by 0.5 on average on 60 test rows. A linear model is off by 0.1, significantly less (p < 0.001). "
        "Its 90 % ranges hold the truth on 0 of 60 rows: do not trust them."
    )
    assert (found.grade, found.is_success) == ("worse", False)
    good = verdict_of(run_with(tmp_path / "good", truths, truths, data=NUMBERS), beside(NUMBERS, off))
    assert good.grade == "better"
    assert good.sentences[-1].startswith("Its 90")
    # Worse on 35 rows by 0.1 to 0.3, better on 25 by 0.02: the sign test has p = 0.25.
    one = [truth + (0.2 + i % 3 / 10 if i < 35 else 0.05) for i, truth in enumerate(truths)]
    other = [truth + (0.1 if i < 35 else 0.07) for i, truth in enumerate(truths)]
    sized = verdict_of(run_with(tmp_path / "sized", one, one, data=NUMBERS), beside(NUMBERS, other))
    assert sized.grade == "worse"
    assert "significantly less (p < 0.001)" in str(sized)
    flat = verdict_of(run_with(tmp_path / "flat", [5.0] * 60, [5.0] * 60, data=NUMBERS), beside(NUMBERS, off))
    assert flat.grade == "nothing"
    assert "No better than always answering 1." in str(flat)
    assert constant_words(35 + 29 / 60) == "always answering 35.48"


def test_without_test_rows_nothing_is_called_good(tmp_path: Path) -> None:
    whole = dataset(["yes", "no", "no"], [])
    found = verdict_of(run_with(tmp_path, (), data=whole, train=["yes", "no", "no"]))
    assert found.grade == "unknown"
    assert str(found) == (
        "Right on all 3 training rows. There are no test rows: nothing says how good it is on new rows."
    )
    assert verdict_of(run_with(tmp_path / "flat", (), data=whole, train=["no"] * 3)).grade == "nothing"
    skipped = verdict_of(run_with(tmp_path / "skipped", ()))
    assert skipped.grade == "unknown"
    assert "The test rows were not evaluated" in str(skipped)


@settings(max_examples=25)
@given(own=st.lists(st.booleans(), min_size=60, max_size=60), other=st.lists(st.booleans(), min_size=60, max_size=60))
def test_no_success_is_significantly_worse_or_surely_wrong(
    own: list[bool], other: list[bool], tmp_path_factory: pytest.TempPathFactory
) -> None:
    answers = but(TRUTHS, *(i for i, right in enumerate(own) if not right))
    rival = but(TRUTHS, *(i for i, right in enumerate(other) if not right))
    found = verdict_of(run_with(tmp_path_factory.mktemp("run"), answers, answers), beside(LABELS, rival))
    if found.is_success:
        assert found.p is None or found.p >= 0.05 or sum(own) > sum(other)
        assert sum(own) > TRUTHS.count("no")
        assert binom.sf(59 - sum(own), 60, 0.05) >= 0.05


def test_it_is_made_once_and_read_from_the_summary(labels: RunReader, monkeypatch: pytest.MonkeyPatch) -> None:
    view = labels.refresh().view
    made = record_verdict(labels.directory, view)
    assert made is not None
    record = read_summary(labels.directory).verdict
    assert record == json.loads(json.dumps(asdict(made)))
    assert beside_text(record)
    monkeypatch.setattr(module, "verdict", None)
    assert run_verdict(labels.directory, view) == made
    assert run_verdict(labels.directory, replace(view, phase="running")) is None


def test_the_result_has_its_scores_the_noise_of_each_particle_and_its_verdict(labels: RunReader) -> None:
    """The vote is wrong on the last of six rows, a no: 3 of 3 and 2 of 3 are right.

    There are four training rows. Three particles have no mistake, one has one. The prior of the noise is Beta(1, 9).
    """
    view = labels.refresh().view
    written = result(labels.directory, view)
    test, train = written["scores"]["test"], written["scores"]["train"]
    assert (test["n"], test["n_correct"], train["n_correct"]) == (6, 5, 4)
    assert (test["balanced"], test["mae"], test["r2"]) == (pytest.approx(5 / 6), None, None)
    assert [each["estimate"] for each in written["noise"]] == pytest.approx([1 / 14, 1 / 14, 1 / 14, 2 / 14])
    assert all(each["low"] < each["estimate"] < each["high"] for each in written["noise"])
    assert (written["verdict"], written["grade"]) == (str(run_verdict(labels.directory, view)), "unknown")
    said = list(lines(summary(labels.directory, view)))
    assert said[0] == one_line(written["verdict"])
    assert any(line.startswith("heaviest hypothesis · 60") for line in said)
    assert said[-1] == f"report: {labels.directory.path / 'report.md'}"


def test_rows_that_the_server_refused_are_counted_once_with_its_words(labels: RunReader) -> None:
    journal, filtered = Journal(labels.directory.journal), "withheld by the server's filter (HTTP 400 flagged)"
    for hypothesis, row in product("ab", (1, 2, 3)):
        journal.add_answer(hypothesis, Prediction(row=row, value=None, reason=filtered), 1)
    journal.close()
    for text in (" ".join(lines(summary(labels.directory, labels.refresh().view))), report_markdown(labels)):
        assert f"3 rows: {filtered}." in text
    assert result(labels.directory, labels.refresh().view)["withheld"] == {filtered: 3}


def test_the_evidence_has_the_exponent_of_its_weights_and_is_exact_for_given_sentences_alone() -> None:
    weighed = replace(reweighted(3, (0.5, 0.5), beta=4.0), log_evidence=-1.5)
    view = RunView(steps={3: StepView(step=3, reweighting=weighed, end=finished(3, ("a", "b")))})

    def found(pooled: tuple[str, ...] = (), **options: Any) -> dict[str, Any] | None:
        config = Config(particles=2, **options)
        spec = RunSpec(name="", config=config, endpoint=EndpointSpec(demo=True), dataset={}, pooled=pooled)
        return evidence(spec, view)

    exact = {"value": -1.5, "exponent": 0.25, "label": "exact"}
    assert found(method="weigh") == exact
    nominal = {**exact, "label": "nominal"}
    assert found(tempering="incremental") == found(tempering="incremental", restart=1.0, reading="rows") == nominal
    assert found(method="weigh", learner_samples=5) == found(("a", "b"), method="weigh") == nominal


EXACT = "the acceptance rule is exact"
AFRESH: dict[str, Any] = {"restart": 1.0, "method": "mh", "mh_rows": "train"}
BY_PROGRAM: dict[str, Any] = {"reading": "auto"}
WORDS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"mutate": "every"}, "Every hypothesis is rewritten after it was weighed, without a correction"),
    ({}, "accept step on the last rows"),
    (BY_PROGRAM, "ratios of successive tempered posteriors. Every change passes an accept step on all training rows"),
    ({**BY_PROGRAM, "method": "mh"}, "on all training rows, the same at every step"),
    ({"tempering": "incremental"}, "ratios of successive tempered posteriors"),
    ({"method": "mh"}, "on one batch, a new one each step"),
    ({"method": "mh", "mh_rows": "buffer"}, "on the last rows"),
    ({"method": "mh", "mh_rows": "train"}, "on all training rows, the same at every step"),
    ({"method": "mh", "restart": 0.25}, "near the posterior, not exactly it"),
    ({"method": "always-accept"}, "no sample of a posterior"),
    ({"method": "vml5"}, "averaged without weights"),
    ({"method": "vml"}, "There is one hypothesis and no posterior"),
    (AFRESH, EXACT),
    ({"restart": 1.0, "tempering": "incremental"}, EXACT),
)


def target(**options: Any) -> str:
    return target_words(Config(**{"reading": "rows", **options}))


def test_each_method_says_what_it_samples_and_only_draws_from_the_prior_judged_on_all_rows_are_exact() -> None:
    for options, words in WORDS:
        assert words in target(**options), options
    for spoilt in ({"restart": 0.99}, {"mh_rows": "buffer"}, {"learner_samples": 3}, {"method": "always-accept"}):
        assert EXACT not in target(**{**AFRESH, **spoilt}), spoilt


ODDS = (
    (40.0, None, "about 40 : 1 for the heaviest hypothesis against always answering “no”."),
    (1e9, 1e-9, "over a million : 1 for the heaviest hypothesis against always answering “no”."),
    (1 / 3, 0.3, "about 3 : 1 for always answering “no” against the heaviest hypothesis."),
    (4.6, 0.91, "about 4.6 : 1 for the heaviest hypothesis against always answering “no”. Nothing was found."),
)


@pytest.mark.parametrize(("odds", "weight", "words"), ODDS)
def test_the_odds_against_a_constant_answer_say_when_nothing_was_found(
    odds: float, weight: float | None, words: str
) -> None:
    constant = Constant(answer="no", shares=(0.7, 0.3), log_likelihood=-9.0)
    found = ConstantAnswer(constant=constant, weight=weight, log_odds=math.log(odds))
    assert found.words == f"Odds by the training rows: {words}"
