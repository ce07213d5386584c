"""The result of a run: one JSON object (`--json`, the head of posterior.json), what its weights are, and its limits.

Sentences are plain text; those on how good the result is are in verdict.py.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

import numpy as np

from vpp.data.dataset import Dataset, Row, Value
from vpp.data.descriptions import NOTHING
from vpp.events import Constant, Evaluated, Scored, Usage
from vpp.findings.counts import cut_cells_text, cut_sentences, other_scores_text, rows_sentence, steps_text
from vpp.findings.points import calibration_result, points, reject_option
from vpp.findings.programs import program_readings
from vpp.findings.scores import (
    Score,
    averaged_score,
    baseline,
    noise,
    particle_scores,
    rows_of,
    score_text,
    totals,
    weighed_log_likelihoods,
)
from vpp.findings.status import cache_sentence, is_key_refused
from vpp.findings.verdict import blocks, run_verdict
from vpp.inference.plan import ending_rounds, first_rounds, step_rounds
from vpp.inference.tempered import why_nominal
from vpp.llm.protocol import SCHEMA
from vpp.llm.rendering import cut_cells
from vpp.posterior.disagreement import is_uncertain
from vpp.posterior.likelihood import Noise
from vpp.posterior.metric import CHANCE, Estimate
from vpp.problem import constant_of, is_final_on_train, likelihood_of, n_pool
from vpp.runs.directory import RunDirectory, known_rows
from vpp.runs.journal import AnswerReader
from vpp.runs.prompts import is_structured
from vpp.runs.reader import Snapshot, surpassed
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView, StepView, constant_weight, ess_of_sentences, log_evidence, priors, resampled_at
from vpp.settings import Config
from vpp.show.blocks import Block, Metric, Note, Quote, Say, Table
from vpp.show.words import (
    EQUAL,
    MAJORITY,
    cached_words,
    capitalised,
    contradictory_answers,
    counted,
    fixed,
    in_words,
    integer,
    interval_text,
    listed,
    number,
    p_text,
    percent,
    refused_answers,
    seconds,
)

MOST_ROWS = 20
"""Most deciding rows that are listed, the most decisive first."""
MOST_NAMED = 6

# The numbers


def result(directory: RunDirectory, view: RunView) -> dict[str, Any]:
    """Return the result. Only times, ids, `calls.cached` and `spent` differ between equal runs."""
    spec, usage = directory.spec(), view.usage
    test, train = view.evaluated.get("test"), view.evaluated.get("train")
    dataset = known_rows(directory) if view.evaluated else None
    judged = [each for each in view.proposals if each.why == "likelihood"]
    standing = constant_answer(view, spec.config, dataset) if dataset else None
    ending = run_verdict(directory, view)
    found = {
        "run": directory.id,
        "verdict": str(ending) if ending else None,
        "dir": str(directory.path),
        "status": directory.state(view),
        "method": spec.config.method,
        "structured": {"option": spec.endpoint.structured, "carrier": SCHEMA if is_structured(spec) else None},
        "cells": {
            "limit": spec.cell_limit,
            "shown_in_part": None if dataset is None else cut_cells(dataset, spec.cell_limit),
        },
        "described": {kind: len(texts) for kind, texts in spec.dataset.get("descriptions", NOTHING.record).items()},
        "notes": spec.dataset["provenance"]["notes"],
        "metric": {
            "name": "accuracy" if spec.dataset["task"] == "classification" else "mse",
            "train": train.value if train else None,
            "test": test.value if test else None,
        },
        "scores": {
            "train": _figures(averaged_score(train, dataset) if train and dataset else None),
            "test": _figures(averaged_score(test, dataset) if test and dataset else None),
        },
        **_beside_constant(view, dataset),
        "calibrated": calibration_result(view, spec.config, dataset) if dataset else None,
        "surpassed_by": _surpassed(dataset, view),
        "calls": {
            "learner": usage.learner,
            "optimizer": usage.optimizer,
            "cached": usage.cached,
            "failed": usage.failed,
            "unparsable": usage.unparsable,
            "refused": usage.refused,
            "contradictory": usage.contradictory,
        },
        "spent": {  # retries included, cached answers not
            "requests": view.usage.sent,
            "cost": round(view.usage.cost, 6) if spec.prices.are_given else None,
            "max_calls": spec.cap.calls or None,
            "max_cost": spec.cap.cost or None,
        },
        "rounds": rounds(spec, view),
        "wall_s": round(view.wall_s, 3),
        "tokens": {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens},
        "n_unique": view.n_unique,
        "ess": ess_of_sentences(view),
        "ess_by_step": view.ess_by_step,
        "resampled_at": resampled_at(view),
        "acceptance_rate": sum(p.accepted for p in judged) / len(judged) if judged else None,
        "uncertain": {"points": uncertain_points(test), "of": len(test.rows) if test else 0},
        "weights": list(view.weights),
        "noise": [asdict(each) for each in _noise(train, dataset)] if train and dataset else None,
        "constant": standing.as_json() if standing else None,
        "undecided": undecided_rows(view, spec.config, dataset) if dataset else None,
        "log_evidence": evidence(spec, view),
        "individual": {"test": _particle_metrics(test, dataset), "train": _particle_metrics(train, dataset)},
        "reading": spec.config.reading,
        "programs": _programs(directory, view, dataset) if dataset and spec.config.has_programs else None,
        **(weighed(spec, view, known_rows(directory)) if spec.config.is_weighing else {}),
    }
    return cast(dict[str, Any], finite(found))


def _programs(directory: RunDirectory, view: RunView, dataset: Dataset) -> list[dict[str, Any]]:
    """How each distinct hypothesis of the population is read."""
    answers = AnswerReader(directory.answers)
    answers.refresh()
    found = program_readings(view, answers, dataset)
    return [{"hypothesis": hypothesis, **each.as_json()} for hypothesis, each in found.items()]


def _particle_metrics(evaluated: Evaluated | None, dataset: Dataset | None) -> list[float] | None:
    if evaluated is None or dataset is None:
        return None
    return [each.value for each in particle_scores(evaluated, dataset)]


def _noise(train: Evaluated, dataset: Dataset) -> Iterator[Noise]:
    rows = rows_of(train, dataset)
    return (noise(answers, rows, dataset) for answers in train.answers)


def finite(value: Any) -> Any:
    """Return a value for JSON, which has no infinity, with infinite and undefined numbers as strings."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _beside_constant(view: RunView, dataset: Dataset | None) -> dict[str, Any]:
    """The constant answer on the test rows, or on the training rows if there are no test rows."""
    split: Literal["test", "train"] = "test" if dataset and dataset.test else "train"
    evaluated = view.evaluated.get(split)
    if dataset is None or evaluated is None or not evaluated.rows:
        return {"baseline": None, "beats_baseline": None}
    constant = baseline(rows_of(evaluated, dataset), dataset)
    beats = averaged_score(evaluated, dataset).error < constant.score.error
    return {
        "baseline": {"answer": constant.answer, "rows": split, "value": constant.score.value},
        "beats_baseline": beats,
    }


def _figures(score: Score | None) -> dict[str, Any] | None:
    if score is None:
        return None
    figures: dict[str, Estimate | None] = {}
    if score.labels:
        figures = {"accuracy": score.labels.accuracy, "balanced_accuracy": score.labels.balanced}
    elif score.numbers:
        figures = {"mse": score.numbers.mse, "mae": score.numbers.mae, "r2": score.numbers.r2}
    written: dict[str, Any] = {"n": score.n}
    for name, figure in figures.items():
        error = figure.standard_error if figure else None
        written[name] = figure.value if figure else None
        written[f"{name}_standard_error"] = error
    return written


def _surpassed(dataset: Dataset | None, view: RunView) -> list[dict[str, Any]]:
    def value(loss: float) -> float:
        return 1 - loss if dataset and dataset.task == "classification" else loss

    return [
        {
            "by": found.by,
            "slot": found.slot,
            "text": view.texts.get(found.hypothesis, ""),
            "rows": found.n,
            "prediction": value(found.prediction),
            "value": value(found.other),
            "best_of": found.best_of,
            "sign_test_p": found.p,
        }
        for found in (surpassed(view, dataset) if dataset else ())
    ]


def evidence(spec: RunSpec, view: RunView) -> dict[str, Any] | None:
    value = log_evidence(view)
    if value is None:
        return None
    made = [step.reweighted for step in view.finished_steps if step.reweighted]
    bare = sum(drawn.reason is not None for drawn in view.drawn.values())
    because = [*why_nominal(spec.config, source=given_by(spec))]
    because += [f"{bare} of the first hypotheses could not be read: the seed sentence stands for them"] if bare else []
    because += [] if spec.config.is_weighing else ["a model's draws cannot be shown to be independent"]
    label = "exact" if is_exact(spec) else "nominal"
    return {"value": finite(value), "exponent": 1 / made[-1].beta, "label": label, "because": because}


def given_by(spec: RunSpec) -> Literal["", "continued", "reworded", "yours"]:
    if spec.reworded is not None:
        return "reworded"
    return "continued" if spec.is_continued else "yours" if spec.start else ""


def is_exact(spec: RunSpec) -> bool:
    """True if the evidence is a plain sum over given sentences with a likelihood fixed in advance."""
    return spec.config.is_weighing and not why_nominal(spec.config, source=given_by(spec))


def weighed(spec: RunSpec, view: RunView, dataset: Dataset | None) -> dict[str, Any]:
    found = evidence(spec, view)
    decided = deciding_rows(view, spec.config, dataset) if dataset else None
    return {
        "sentences": [view.texts[state.hypothesis] for state in view.population],
        "priors": list(priors(view)),
        "log_likelihoods": list(weighed_log_likelihoods(view)),
        "log_evidence": found["value"] if found else None,
        "evidence": found,
        "deciding_rows": decided.as_json() if decided else None,
    }


def rounds(spec: RunSpec, view: RunView) -> int:
    """Count the rounds in sequence: first draw, finished steps, final weights, evaluations."""
    done = [step for step in view.finished_steps if step.step >= 0]
    drawn = first_rounds(spec.config, given=len(spec.start)) if view.finished_steps else 0
    steps = sum(step_rounds(spec.config, s.step, n_train=spec.dataset["n_train"]) for s in done)
    return drawn + steps + ending_rounds(spec.config, n_test=spec.dataset["n_test"]) * bool(view.evaluations)


def uncertain_points(test: Evaluated | None) -> int | None:
    """Count the test points on which the particles are not unanimous (Section 5.3).

    None before the test rows are evaluated, and for regression, where numbers hardly ever agree to the digit.
    """
    if test is None or test.metric != "accuracy":
        return None
    return sum(is_uncertain(votes, test.weights) for votes in zip(*test.predictions, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantAnswer:
    """The constant answer beside the sentences."""

    constant: Constant
    """Scored on the training rows."""
    weight: float | None
    """In the final weights; None if it is not part of them."""
    log_odds: float
    """Log-likelihood of the heaviest sentence on the training rows, minus the constant's; natural log."""

    def as_json(self) -> dict[str, Any]:
        numbers = {"log_likelihood": self.constant.log_likelihood, "log_odds": self.log_odds}
        return {"answer": self.constant.answer, "weight": self.weight, **numbers}


def constant_answer(view: RunView, config: Config, dataset: Dataset) -> ConstantAnswer | None:
    """None before the training rows are evaluated, and for methods whose hypotheses have no weights."""
    train = view.evaluated.get("train")
    if train is None or not config.is_weighted:
        return None
    rows = rows_of(train, dataset)
    constant = constant_of(dataset, config, rows)
    shares = totals(zip(train.hypotheses, train.weights, strict=True))
    heaviest = train.hypotheses.index(max(shares, key=lambda text: shares[text]))
    best = likelihood_of(dataset, config).log_likelihood(train.answers[heaviest], [row.target for row in rows])
    gap = 0.0 if best == constant.log_likelihood else best - constant.log_likelihood  # 0 where both are infinite
    return ConstantAnswer(constant=constant, weight=train.constant.weight if train.constant else None, log_odds=gap)


def undecided_rows(view: RunView, config: Config, dataset: Dataset) -> dict[str, Any] | None:
    """Test rows whose answer is “I don’t know”, in JSON types; None before they are evaluated, and for numbers."""
    test = view.evaluated.get("test")
    if test is None or dataset.task != "classification":
        return None
    every = points(test, dataset, reject_option(view, config, dataset, of=test))
    rows = sorted(point.row.id for point in every if point.is_undecided)
    return {"count": len(rows), "of": len(every), "rows": rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidingRow:
    row: Row
    answers: tuple[Value | None, Value | None]
    difference: float
    """Log-likelihood of the heavier sentence minus that of the other, natural log, with the heavier one's noise."""

    def as_json(self) -> dict[str, Any]:
        answers, difference = list(self.answers), self.difference
        return {"row": self.row.id, "target": self.row.target, "answers": answers, "difference": difference}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The two heaviest sentences, and what decides between them."""

    slots: tuple[int, int]
    """The heavier first."""
    priors: tuple[float, float]
    rows: tuple[DecidingRow, ...]
    """By the size of the difference, at most `MOST_ROWS`."""
    n_deciding: int
    difference: float
    """Log-likelihood of the heavier one minus that of the other, on all rows."""

    def as_json(self) -> dict[str, Any]:
        """Return the sentences by their number, from 0, and the rows by id."""
        return {
            "between": list(self.slots),
            "log_likelihood_difference": self.difference,
            "n": self.n_deciding,
            "rows": [each.as_json() for each in self.rows],
        }


def deciding_rows(view: RunView, config: Config, dataset: Dataset) -> Decided | None:
    last = view.finished_steps[-1] if view.finished_steps else None
    if last is None or last.finished is None or last.reweighted is None or len(last.scored) < 2:
        return None
    first, second = np.argsort(-np.array(view.weights), kind="stable")[:2].tolist()
    scored = last.scored[first], last.scored[second]
    by_id = {row.id: row for row in dataset.train}
    rows = [by_id[row] for row in scored[0].rows]
    targets = [row.target for row in rows]
    law = likelihood_of(dataset, config).predictive(scored[0].answers, targets)
    terms = [law.terms(each.answers, targets) for each in scored]
    with np.errstate(invalid="ignore"):
        gaps = np.where(terms[0] == terms[1], 0.0, terms[0] - terms[1])  # 0 where both are infinite
    order = [int(i) for i in np.argsort(-np.abs(gaps), kind="stable") if gaps[i]]
    listed = tuple(
        DecidingRow(
            row=rows[i], answers=(scored[0].predictions[i], scored[1].predictions[i]), difference=float(gaps[i])
        )
        for i in order[:MOST_ROWS]
    )
    one, other = (each.log_likelihood for each in scored)
    difference = 0.0 if one == other else one - other  # 0 where both are infinite
    before = priors(view)[first], priors(view)[second]
    return Decided(slots=(first, second), priors=before, rows=listed, n_deciding=len(order), difference=difference)


# What the weights are


def held_by(config: Config, noise: Sequence[float] = ()) -> str:
    """Return what a label's share is a share of: `weight`, `chains` or `hypotheses`; with noise `probability`."""
    if noise:
        return "probability"
    if config.is_weighted:
        return "weight"
    return "chains" if config.method == "mh" else "hypotheses"


def weights_measure(snapshot: Snapshot) -> Metric:
    value, words = _weights(snapshot)
    return Metric(name="Weights used", value=value, words=words)


def _weights(snapshot: Snapshot) -> tuple[str, str]:
    view, config = snapshot.view, snapshot.spec.config
    last = view.finished_steps[-1]
    if config.is_weighing and last.reweighted:
        rows = counted(snapshot.spec.dataset["n_train"], "row")
        prior = "The given" if snapshot.spec.start_prior else "Equal"
        words = f"{prior} prior weights times the likelihood of all {rows}; a constant answer has half of the prior."
        return "posterior", words
    if config.is_weighted and view.final:
        n = len(next(iter(view.final_scored.values())).rows)
        rows = counted(n, "training row") if is_final_on_train(config) else f"last {counted(n, 'row')}"
        tempered = "" if view.final.beta == 1 else f" Log-likelihoods are divided by β = {fixed(view.final.beta)}."
        words = f"Each different hypothesis counts once, scored on the {rows}, from which it was written.{tempered}"
        return config.final_weights, f"{words}{_repeats(view.final_scored)}"
    if config.is_weighted:
        return _step_weights(last, config, counted(snapshot.spec.dataset["n_train"], "training row"))
    if view.size == 1:
        return "one", "There is one hypothesis, and it holds all the weight."
    if config.method == "mh":
        return "equal", f"Each of the {counted(view.size, 'chain')} counts alike."
    return "none", f"Each of the {integer(view.size)} hypotheses counts alike: this method has no weights."


def _step_weights(last: StepView, config: Config, rows: str) -> tuple[str, str]:
    """Name the weights carried to the last step, or the paper's w_T, made before that step rewrote the hypotheses."""
    if last.reweighted is None:
        return "equal", "No weights have been made yet."
    if last.resampled:
        return "equal", f"The hypotheses were copied by weight at step {last.step + 1}, which sets the weights equal."
    beta = last.reweighted.beta
    if config.is_telescoping:
        words = f"Ratios of tempered posteriors on all {rows}, carried from step to step, up to the exponent φ = 1/β ="
        return "carried", f"{words} {number(1 / beta)}."
    step = f"step {last.step + 1}"
    words = f"Those of {step}, β = {fixed(beta)}, as in the paper: made before that step rewrote the hypotheses."
    return step, f"{words}{_repeats(last.scored)}"


def _repeats(scored: Mapping[int, Scored]) -> str:
    rows = next((each.rows for each in scored.values()), ())
    n = len(rows) - len(set(rows))
    if not n:
        return ""
    return f" {integer(n)} of the {counted(len(rows), 'row')} are repeats, and each repeat counts as new evidence."


def evidence_measure(snapshot: Snapshot) -> Iterator[Metric]:
    view = snapshot.view
    estimate, value = evidence(snapshot.spec, view), log_evidence(view)
    if estimate is None or value is None:
        return
    of = "of the given hypotheses" if snapshot.spec.config.is_weighing else "under the first draw"
    words = f"Natural log of the average likelihood {of}, at φ = {number(estimate['exponent'])}."
    if estimate["because"]:
        words += f" Nominal, an estimate without a guarantee: {'; '.join(estimate['because'])}."
    words += " It leaves out constants: compare it only between runs of equal rows, tau, epsilon and exponent."
    yield Metric(name="Log evidence", value=f"{fixed(value)}, {estimate['label']}", words=words)


def deciding_sentence(decided: Decided | None) -> str:
    if decided is None:
        return ""
    pair, (one, other) = "The two heaviest hypotheses", decided.priors
    before = "" if math.isclose(one, other) else f" Their priors are {percent(one)} and {percent(other)}."
    if not decided.n_deciding:
        return f"{pair} have equal log-likelihoods on every row: no row decides between them.{before}"
    most = listed([each.row.id for each in decided.rows[:MOST_NAMED]])
    rows = f"{counted(decided.n_deciding, 'row')}, the most decisive {most}"
    return f"{pair} differ on {rows}, by {fixed(decided.difference)} in log-likelihood (natural log) in all.{before}"


# Limits of the result


def surpassed_sentences(view: RunView, dataset: Dataset) -> Iterator[str]:
    """Name hypotheses that beat the averaged prediction on training rows beyond chance."""
    for by in (each for each in surpassed(view, dataset) if each.p < CHANCE):
        which = "a hypothesis that was ruled out" if by.slot is None else "one of its hypotheses alone"
        average, figures = "mean", f"mean squared error {number(by.prediction)} against {number(by.other)}"
        if dataset.task == "classification":
            right, other = (integer(round((1 - loss) * by.n)) for loss in (by.prediction, by.other))
            average, figures = "vote", f"{right} against {other} right"
        test = f"best of {integer(by.best_of)}, corrected sign test p = {p_text(by.p)}"
        yield f"The {average} does worse than {which}: {figures}, on {counted(by.n, 'training row')} ({test})."


def caveats(snapshot: Snapshot, dataset: Dataset) -> Iterator[str]:
    view, config, n_train = snapshot.view, snapshot.spec.config, len(dataset.train)
    if view.phase != "finished":
        yield f"The run is incomplete: {steps_text(view)} are done."
    yield from surpassed_sentences(view, dataset)
    yield from _test_rows(view, dataset)
    yield from target_words(config)
    if (pool := n_pool(config, n_train)) < n_train:
        rows = f"{integer(pool)} of the {integer(n_train)} training rows, drawn at random"
        yield f"The steps use {rows}; the final weights use all."
    yield from _faults(snapshot.usage, view)
    yield from _cuts(view, dataset, snapshot.spec)
    if dataset.provenance.n_left_out:
        yield rows_sentence(dataset)
    if not config.is_weighing:
        yield "This is one run with one seed: other seeds show how much of it is luck."


def _test_rows(view: RunView, dataset: Dataset) -> Iterator[str]:
    test = view.evaluated.get("test")
    if test is None:
        return
    if test.step != view.last_step:
        yield f"The test rows were evaluated after step {test.step + 1}, not with the last hypotheses."
    score = averaged_score(test, dataset)
    if score.n_correct is None:
        yield f"The test error comes from {counted(score.n, 'row')}: a few large misses can make most of it."
    else:
        interval = interval_text(score.n_correct, score.n)
        yield f"With {counted(score.n, 'test row')}, the true accuracy may lie anywhere from {interval}."
    answers = [answer for each in test.predictions for answer in each]
    if n := answers.count(None):
        counts_as = "wrong" if test.metric == "accuracy" else "off by the whole range of the training targets"
        yield (
            f"{integer(n)} of {integer(len(answers))} answers on the test rows are missing: a program failed there, or "
            f"the model's answer could not be read. They abstain in the average, and count as {counts_as}."
        )


def _faults(usage: Usage, view: RunView) -> Iterator[str]:
    if usage.unparsable:
        share = percent(usage.unparsable / max(1, usage.calls), decimals=1)
        calls = counted(usage.calls, "call")
        yield f"{integer(usage.unparsable)} of {calls} ({share}) gave answers that could not be read."
    if odd := contradictory_answers(usage.contradictory):
        yield f"{odd}: the learner may not follow its own reading of a rule."
    if refused := refused_answers(usage.refused):
        yield f"{refused}. The model was asked again, up to twice a proposal."
    if bare := sum(each.reason is not None for each in view.drawn.values()):
        first = f"{in_words(bare)} of {in_words(len(view.drawn))} hypotheses began as the bare seed sentence"
        yield f"{capitalised(first)}: the optimizer's first answer could not be read, or was refused."


def _cuts(view: RunView, dataset: Dataset, spec: RunSpec) -> Iterator[str]:
    yield from cut_sentences(view)
    if cells := cut_cells_text(dataset, spec.cell_limit):
        yield f"Of the longest texts the models saw only the beginning: {cells}."


_REFINED = (
    "Proposals are refined from the data, and the acceptance ratio leaves out their densities. So hypotheses that the "
    "optimizer likes to write are too frequent: the result is near the posterior, not exactly the posterior."
)
_COMPARED_ON = {
    "batch": "one batch, a new one each step, so the chains have no common target",
    "buffer": "the last rows, which change each step, so the chains have no common target",
    "train": "all training rows, the same at every step",
}


def target_words(config: Config) -> Iterator[str]:
    """Say what the run's weights or chains stand for."""
    if config.is_weighing:
        yield "Weights are the posterior over the given hypotheses and a constant answer. No other one has weight."
    elif config.is_telescoping:
        chosen = "follow a schedule fixed in advance"
        if config.schedule == "adaptive":
            chosen = "are chosen so that the ESS stays at its threshold"
        yield (
            "From step to step, weights are ratios of successive tempered posteriors on all training rows; every "
            f"change passes an accept step on the current target. The exponents φ = 1/β {chosen}."
        )
        yield _draws(config)
        if config.is_rescored:
            yield "At the end each different hypothesis counts once, on all training rows, beside a constant answer."
    elif config.is_weighted and config.mutate == "filtered":
        yield (
            "The weights approximate a posterior: tempered, on the last rows, which change each step. Rewrites pass an "
            f"accept step on those same rows. {_REFINED}"
        )
    elif config.is_weighted:
        yield (
            "The weights are tempered and made anew each step on the last rows. Every hypothesis is rewritten after it "
            "was weighed, without a correction: a pragmatic reweighting, not an exact posterior."
        )
    elif config.method == "mh":
        yield f"Each chain has an accept step, which compares likelihoods on {_COMPARED_ON[config.scored_on]}."
        yield _draws(config)
    elif config.size == 1:
        yield "There is one hypothesis and no posterior: this run cannot say how sure it is."
    else:
        yield (
            "Every proposal was kept, so the hypotheses are no sample of a posterior, and are averaged without "
            "weights. Their differences show how much the optimizer varies, not what the data support."
        )
    if config.seeks_mistakes and config.restart < 1:
        yield "A hypothesis that is right on all its rows is not rewritten, but drawn afresh from the prior."


def _draws(config: Config) -> str:
    """Say how near the target proposals and prior lead. Only fresh draws on fixed rows and tau are exact."""
    # The target never changes, and f(x; theta) is a function of one row and one text.
    is_exact = config.scored_on == "train" and config.learner_samples == 1
    if config.restart == 0:
        return _REFINED
    if config.restart < 1:
        return f"A share of {config.restart:g} of the proposals is drawn afresh from the prior. {_REFINED}"
    if is_exact:
        return (
            "Every proposal is drawn afresh from the prior, without data, and judged on all training rows: the "
            "acceptance rule is exact for the posterior with these draws as its prior."
        )
    return (
        "Every proposal is drawn afresh from the prior. That is exact only on all training rows, with answers that "
        "depend on one row."
    )


# The summary on a terminal


def summary(directory: RunDirectory, view: RunView) -> Iterator[Block]:
    """Yield the end of a run for a terminal: the verdict first, and last how to go on."""
    resume = f"continue with: python -m vpp resume {directory.path}"
    if view.phase == "stopped" and not (view.drawn or view.usage.sent):
        yield Say("stopped before it began: no call was sent")
        yield Note(resume)
        return
    spec, dataset, usage = directory.spec(), known_rows(directory), view.usage
    yield from blocks(run_verdict(directory, view))
    yield from map(Note, surpassed_sentences(view, dataset) if dataset else ())
    calls = f"{counted(usage.calls, 'call')}, {cached_words(usage.cached, of=usage.calls)}"
    yield Note(f"{view.phase} after {seconds(view.wall_s)}, {calls}")
    yield from map(Note, _scores(view, dataset) if dataset else ())
    yield from map(Note, (*_faults(usage, view), *(_cuts(view, dataset, spec) if dataset else ())))
    yield from map(Note, filter(None, [cache_sentence(usage)]))
    if spec.config.is_weighing and view.population:
        yield _weight_table(view)
        decided = deciding_rows(view, spec.config, dataset) if dataset else None
        yield from [Note(deciding_sentence(decided))] if decided else []
    elif view.population:
        yield heaviest(view, spec.config)
    if view.phase in ("failed", "stopped"):
        yield Note(f"{resume}{' (reads OPENAI_API_KEY again)' if is_key_refused(view) else ''}")
    if view.phase == "paused":
        yield Note(f"{resume} {'--limit cost=X' if spec.cap.cost else '--limit calls=N'}")
    if view.phase not in ("failed", "paused"):
        yield Note(f"report: {directory.path / 'report.md'}")


def _scores(view: RunView, dataset: Dataset) -> Iterator[str]:
    for split, name in (("test", "test rows"), ("train", "training rows")):
        evaluated = view.evaluated.get(split)
        if evaluated is not None and evaluated.rows:
            score = averaged_score(evaluated, dataset)
            metric = "accuracy" if dataset.task == "classification" else "mean squared error"
            yield f"{name}: {metric} {score_text(score)}, {other_scores_text(score)}"


def _weight_table(view: RunView) -> Table:
    texts = [view.texts[state.hypothesis].removeprefix(view.seed_text).strip() for state in view.population]
    by_slot = zip(view.weights, priors(view), weighed_log_likelihoods(view), texts, strict=True)
    rows = [
        (percent(weight, 1), percent(prior, 1), "not scored" if log_lik is None else fixed(log_lik), text)
        for weight, prior, log_lik, text in by_slot
    ]
    rows.append((percent(constant_weight(view), 1), percent(MAJORITY, 1), "", "a constant answer"))
    return Table(head=("weight", "prior", "log-likelihood", "hypothesis"), rows=rows, right=(0, 1, 2))


def heaviest(view: RunView, config: Config) -> Quote:
    """Return the hypothesis with the largest total weight, or one of equals."""
    ids = [state.hypothesis for state in view.population]
    if not config.is_weighted:
        alike = "one hypothesis" if view.size == 1 else f"one of {view.size} hypotheses that count alike"
        return Quote(view.texts[ids[0]], (alike,))
    weights = totals(zip(ids, view.weights, strict=True))
    first = max(weights, key=lambda hypothesis: weights[hypothesis])
    n_alike = sum(weights[first] - weight < EQUAL for weight in weights.values())
    which = "heaviest hypothesis" if n_alike == 1 else f"one of {n_alike} heaviest hypotheses"
    copies = [f"{n} copies"] if (n := ids.count(first)) > 1 else []
    return Quote(view.texts[first], (which, f"{percent(weights[first])} of the weight", *copies))
