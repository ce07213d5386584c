"""The result of a run as one JSON object: the output of `--json`, and the head of every report; and its parts."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

import numpy as np

from vpp.data.dataset import Dataset, Row, Value
from vpp.data.descriptions import NOTHING
from vpp.events import Constant, Evaluated
from vpp.findings.ideas import Ideas
from vpp.findings.points import calibration_result, points, reject_option
from vpp.findings.programs import program_readings
from vpp.findings.scores import (
    Baseline,
    Score,
    averaged_score,
    baseline,
    ensemble,
    noise,
    particle_scores,
    rows_of,
    weighed_log_likelihoods,
)
from vpp.findings.slots import totals
from vpp.findings.verdict import run_verdict
from vpp.inference.plan import ending_rounds, first_rounds, step_rounds
from vpp.inference.tempered import why_nominal
from vpp.llm.forms import SCHEMA
from vpp.llm.rendering import cut_cells
from vpp.posterior.disagreement import is_uncertain
from vpp.posterior.likelihood import Noise
from vpp.posterior.metric import Estimate
from vpp.problem import constant_of, likelihood_of
from vpp.runs.directory import RunDirectory, known_rows
from vpp.runs.journal import AnswerReader
from vpp.runs.prompts import is_structured
from vpp.runs.reader import surpassed
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView, ess_of_sentences, log_evidence, priors, resampled_at
from vpp.settings import Config

ALMOST_ALL = 0.95
"""Weight of one idea from which on the posterior has collapsed."""
MOST_ROWS = 20
"""Most deciding rows that are listed, the most decisive first."""


def result(directory: RunDirectory, view: RunView) -> dict[str, Any]:
    """Return the result; Only times, ids, `calls.cached` and `spent` differ between equal runs."""
    spec, usage = directory.spec(), view.usage
    test, train = view.evaluated.get("test"), view.evaluated.get("train")
    dataset = known_rows(directory) if view.evaluated else None
    against = predicted(view, dataset) if dataset else None
    judged = [each for each in view.proposals if each.why == "likelihood"]
    standing = constant_answer(view, spec.config, dataset) if dataset else None
    five = ensemble(view, dataset) if dataset and spec.config.method == "vml5" else None
    independent = {
        "oracle_best_test": five.oracle.test.value if five else None,
        "best_on_train": five.best_on_train.test.value if five else None,
    }
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
        "baseline": against.as_json() if against else None,
        "beats_baseline": against.own.error < against.constant.score.error if against else None,
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
        **(independent if spec.config.method == "vml5" else {}),
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
class Against:
    """Scores of a prediction and of a constant answer on the same rows."""

    split: Literal["test", "train"]
    own: Score
    constant: Baseline

    @property
    def is_beaten(self) -> bool:
        return self.own.error != 0 and not self.own.error < self.constant.score.error

    def as_json(self) -> dict[str, Any]:
        return {"answer": self.constant.answer, "rows": self.split, "value": self.constant.score.value}


def predicted(view: RunView, dataset: Dataset) -> Against | None:
    """Compare the averaged prediction on the test rows, or on the training rows if there are no test rows.

    None before these rows are evaluated.
    """
    split: Literal["test", "train"] = "test" if dataset.test else "train"
    evaluated = view.evaluated.get(split)
    if evaluated is None or not evaluated.rows:
        return None
    constant = baseline(rows_of(evaluated, dataset), dataset)
    return Against(split=split, own=averaged_score(evaluated, dataset), constant=constant)


def collapsed(view: RunView, dataset: Dataset, ideas: Ideas) -> Against | None:
    """Compare the heaviest idea on the training rows, if it has almost all the weight and is no better.

    None if K = 1, and before the training rows are evaluated.
    """
    train, first = view.evaluated.get("train"), ideas.all[0]
    if train is None or first.train is None or first.weight < ALMOST_ALL or ideas.n_particles == 1:
        return None
    against = Against(split="train", own=first.train, constant=baseline(rows_of(train, dataset), dataset))
    return against if against.is_beaten else None


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
