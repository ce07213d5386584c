"""The result of a run: one JSON object (`--json`, the end of posterior.json), what its weights are, and its limits.

Sentences are plain text; those on how good the result is are in verdict.py.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from pydantic_core import from_json, to_json

from vpp.data.dataset import Dataset
from vpp.events import Constant, Evaluated, Usage
from vpp.findings import points
from vpp.findings.hypotheses import hypotheses_of, weight_words
from vpp.findings.programs import program_readings
from vpp.findings.rows import evaluated_rows
from vpp.findings.slices import slices, slices_result
from vpp.findings.status import (
    cut_cells_text,
    finish_words,
    is_key_refused,
    server_sentences,
    steps_text,
    withheld,
    withheld_sentences,
)
from vpp.findings.verdict import blocks, constant_words, run_verdict
from vpp.inference.plan import ending_rounds, first_rounds, step_rounds
from vpp.llm.prompts import cut_cells
from vpp.llm.protocol import SCHEMA
from vpp.posterior.disagreement import NEAR, is_uncertain, missing_mass, rough_closeness, share_alike
from vpp.problem import constant_of, is_final_on_train, likelihood_of, n_pool
from vpp.runs.directory import JournalReader, RunDirectory, Snapshot, readable_rows
from vpp.runs.preparation import is_structured
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView, constant_weight, ess_of_sentences, log_evidence, priors
from vpp.settings import Config
from vpp.show.blocks import Block, Metric, Note, Quote, Say, Table
from vpp.show.words import (
    EQUAL,
    MAJORITY,
    NOTICEABLE,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    number,
    percent,
    seconds,
)

MILLION = 1e6

# The numbers


def result(directory: RunDirectory, view: RunView) -> dict[str, Any]:
    """Return the result. Only times, ids, `calls.cached` and `spent` differ between equal runs."""
    spec, usage = directory.spec(), view.usage
    test, train = view.evaluations.get("test"), view.evaluations.get("train")
    dataset = readable_rows(directory) if view.evaluations else None
    judged = [each for each in view.proposals if each.why == "likelihood"]
    constant = constant_answer(view, spec.config, dataset) if dataset else None
    rows = evaluated_rows(view, spec.config, dataset) if dataset else None
    on_test = rows.points if rows and rows.test is test else ()
    on_train = points.final_answers(view, dataset, "train") if dataset else None
    uncertain = None  # test points without a unanimous vote (Section 5.3); numbers hardly ever agree to the digit
    if test and test.metric == "accuracy":
        uncertain = sum(is_uncertain(votes, test.weights) for votes in zip(*test.predictions, strict=True))
    ending, answers, programs = run_verdict(directory, view), JournalReader(directory.journal).read().answers, None
    descriptions = spec.dataset.get("descriptions", {})
    if dataset and spec.config.has_programs:
        readings = program_readings(view, answers, dataset)
        programs = [{"hypothesis": hypothesis, **each.as_json()} for hypothesis, each in readings.items()]
    found = {
        "run": directory.id,
        "verdict": str(ending) if ending else None,
        "grade": ending.grade if ending else None,
        "confidence": ending.confidence if ending else None,
        "dir": str(directory.path),
        "status": directory.state(view),
        "finish_reason": view.finish_reason,
        "method": spec.config.method,
        "structured": {"option": spec.endpoint.structured, "carrier": SCHEMA if is_structured(spec) else None},
        "cells": {"limit": spec.cell_limit, "shown_in_part": cut_cells(dataset, spec.cell_limit) if dataset else None},
        "described": {kind: len(descriptions.get(kind, {})) for kind in ("columns", "labels")},
        "notes": spec.dataset["provenance"]["notes"],
        "metric": {
            "name": "accuracy" if spec.dataset["task"] == "classification" else "mse",
            "train": train.value if train else None,
            "test": test.value if test else None,
        },
        "scores": {
            "train": points.averaged_score(train, dataset) if train and dataset else None,
            "test": points.averaged_score(test, dataset) if test and dataset else None,
        },
        "calibrated": points.calibration_result(on_test) if on_test else None,
        "calls": {
            name: getattr(usage, name)
            for name in ("learner", "optimizer", "cached", "failed", "unparsable", "refused", "contradictory")
        },
        "spent": {  # retries included, cached answers not
            "requests": usage.sent,
            "cost": round(usage.cost, 6) if spec.prices.are_given else None,
            "max_calls": spec.cap.calls or None,
            "max_cost": spec.cap.cost or None,
        },
        "rounds": rounds(spec, view),
        "wall_s": round(view.wall_s, 3),
        "tokens": {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens},
        "n_unique": view.n_unique,
        "ess": ess_of_sentences(view),
        "log_score": points.log_score(on_test) if on_test else None,
        "ess_by_step": view.ess_by_step,
        "resampled_at": [at.step for at in view.complete_steps if at.resampling],
        "acceptance_rate": sum(p.accepted for p in judged) / len(judged) if judged else None,
        "uncertain": {"points": uncertain, "of": len(test.rows) if test else 0},
        "withheld": withheld(answers),
        "undecided": points.undecided_result(on_test) if on_test else None,
        "weights": list(view.weights),
        "missing_mass": novelty(view, spec.config, dataset) if dataset else None,
        "noise": [points.noise(each, on_train[0], dataset) for each in on_train[1]] if dataset and on_train else None,
        "constant": constant.as_json() if constant else None,
        "log_evidence": evidence(spec, view),
        "slices": slices_result(slices(rows)) if rows else None,
        "individual": {"test": _metrics_by_slot(test, dataset), "train": _metrics_by_slot(train, dataset)},
        "reading": spec.config.reading,
        "programs": programs,
        **(sentence_weights(spec, view) if spec.config.is_weighing else {}),
    }
    # JSON has no infinity: infinite and undefined numbers are strings.
    return cast(dict[str, Any], from_json(to_json(found, inf_nan_mode="strings")))


def _metrics_by_slot(evaluated: Evaluated | None, dataset: Dataset | None) -> list[float] | None:
    if evaluated is None or dataset is None:
        return None
    rows = points.rows_of(evaluated, dataset)
    return [points.score(answers, rows, dataset).value for answers in evaluated.predictions]


def evidence(spec: RunSpec, view: RunView) -> dict[str, Any] | None:
    """Return the log evidence: exact if it is a plain sum over given sentences with a likelihood fixed in advance."""
    value = log_evidence(view)
    if value is None:
        return None
    made, config = [step.reweighting for step in view.complete_steps if step.reweighting], spec.config
    is_exact = config.is_weighing and config.learner_samples == 1 and not spec.pooled
    return {"value": value, "exponent": 1 / made[-1].beta, "label": "exact" if is_exact else "nominal"}


def sentence_weights(spec: RunSpec, view: RunView) -> dict[str, Any]:
    found = evidence(spec, view)
    return {
        "sentences": [view.texts[state.hypothesis] for state in view.population],
        "priors": list(priors(view)),
        "log_likelihoods": list(points.weighed_log_likelihoods(view)),
        "log_evidence": found["value"] if found else None,
        "evidence": found,
    }


def rounds(spec: RunSpec, view: RunView) -> int:
    """Count the rounds in sequence: first draw, finished steps, final weights, evaluations."""
    done = [step for step in view.complete_steps if step.step >= 0]
    drawn = first_rounds(spec.config, given=len(spec.start)) if view.complete_steps else 0
    steps = sum(step_rounds(spec.config, s.step, n_train=spec.dataset["n_train"]) for s in done)
    return drawn + steps + ending_rounds(spec.config, n_test=spec.dataset["n_test"]) * bool(view.evaluations)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantAnswer:
    constant: Constant
    """Scored on the training rows."""
    weight: float | None
    """In the final weights; None if it is not part of them."""
    log_odds: float
    """Log-likelihood of the heaviest sentence on the training rows, minus the constant's; natural log."""

    @property
    def words(self) -> str:
        """`Odds by the training rows: about 40 : 1 for the heaviest hypothesis against always answering “no”.`"""
        odds = math.exp(min(abs(self.log_odds), math.log(MILLION)))
        ratio = "over a million" if odds >= MILLION * (1 - EQUAL) else f"about {number(float(f'{odds:.2g}'))}"
        two = ("the heaviest hypothesis", constant_words(self.constant.answer))
        likely, other = two if self.log_odds >= 0 else two[::-1]
        nothing = " Nothing was found." if (self.weight or 0.0) > MAJORITY else ""
        return f"Odds by the training rows: {ratio} : 1 for {likely} against {other}.{nothing}"

    def as_json(self) -> dict[str, Any]:
        numbers = {"log_likelihood": self.constant.log_likelihood, "log_odds": self.log_odds}
        return {"answer": self.constant.answer, "weight": self.weight, **numbers}


def constant_answer(view: RunView, config: Config, dataset: Dataset) -> ConstantAnswer | None:
    """None before the training rows are evaluated, and for methods whose hypotheses have no weights."""
    train = view.evaluations.get("train")
    if train is None or not config.is_weighted:
        return None
    rows = points.rows_of(train, dataset)
    constant = constant_of(dataset, config, rows)
    shares = points.totals(zip(train.hypotheses, train.weights, strict=True))
    heaviest = train.hypotheses.index(max(shares, key=lambda text: shares[text]))
    best = likelihood_of(dataset, config).log_likelihood(train.answers[heaviest], [row.target for row in rows])
    gap = 0.0 if best == constant.log_likelihood else best - constant.log_likelihood  # 0 where both are infinite
    return ConstantAnswer(constant=constant, weight=train.constant.weight if train.constant else None, log_odds=gap)


def odds_words(view: RunView, config: Config, dataset: Dataset, missing: float | None) -> str:
    """Return what stands beside the weights: the odds against a constant answer, and whether the right one is there.

    missing: from `novelty`.
    """
    found = constant_answer(view, config, dataset)
    words = [found.words] if found else []
    if missing is not None and missing >= NOTICEABLE:
        chance = f"There is a chance of about {percent(missing)} that none of the hypotheses is right"
        words.append(f"{chance}: so often the model wrote a new one.")
    return " ".join(words)


# What the weights are


def posterior_words(spec: RunSpec) -> str:
    """Return what the weights are in one clause, for a heading; empty for chains, which have none."""
    if not spec.config.is_weighted:
        return ""
    if spec.config.is_weighing and not spec.pooled:
        return "heaviest first: the posterior over the given sentences"
    return "heaviest first: the posterior over the sentences found; they were written from the rows that weigh them"


def novelty(view: RunView, config: Config, dataset: Dataset) -> float | None:
    """Estimate how probably the right sentence was never written, from those that the model wrote.

    They are compared on the rows that the steps score. None without final weights or programs, if no model wrote a
    sentence, and for a run that continues another, whose own sentences it does not know.
    """
    if view.final is None or not config.has_programs or any(each.origin == "continued" for each in view.draws.values()):
        return None
    steps = (score for step in view.steps.values() for score in (*step.scores.values(), *step.proposal_scores.values()))
    scores = (*steps, *view.final_scores.values())
    answers = {each.hypothesis: each.predictions for each in scores if each.rows == scores[0].rows}
    first = (each.hypothesis for each in view.draws.values() if each.origin == "drawn" and each.reason is None)
    rewrites = (each.proposal for each in view.proposals if each.proposal)
    counts = Counter(answers[each] for each in (*first, *rewrites) if each in answers)
    if not counts:
        return None
    kinds = [*counts]
    similarity = share_alike(kinds) if dataset.classes else rough_closeness(kinds, span=dataset.target_range)
    return missing_mass([*counts.values()], similarity)


NEW = (
    f"of the sentences written are less than {percent(NEAR)} similar to any other. The next one would be new with "
    "about that probability, and the right one is missing with at least about that probability."
)


def weights_words(snapshot: Snapshot, missing: float | None) -> str:
    """missing: from `novelty`."""
    view, config = snapshot.view, snapshot.spec.config
    if not view.population:
        return "No weights have been made yet."
    if not config.is_weighted:
        every = counted(view.size, "hypothesis", "hypotheses")
        return f"Each of the {every} counts alike." if view.size > 1 else "One hypothesis holds all the weight."
    last, rows = view.complete_steps[-1], counted(snapshot.spec.dataset["n_train"], "training row")
    if config.is_weighing:
        prior, n = "The given" if snapshot.spec.start_prior else "Equal", snapshot.spec.n_written
        every = counted(snapshot.spec.dataset["n_train"], "row")
        if n:
            return (
                f"The {counted(n, 'sentence')} that the runs wrote share half of the prior, and a constant has half. "
                f"Weights are prior times the likelihood of all {every}, from which they were written."
            )
        return f"{prior} prior weights times the likelihood of all {every}; a constant answer has half of the prior."
    if view.final:
        n = len(next(iter(view.final_scores.values())).rows)
        rows = counted(n, "training row") if is_final_on_train(config) else f"last {counted(n, 'row')}"
        tempered = "" if view.final.beta == 1 else f" Log-likelihoods are divided by β = {fixed(view.final.beta)}."
        constant = " A constant answer has half of the prior." if view.final.constant else ""
        once = f"Each different hypothesis counts once, scored on the {rows}, from which it was written."
        new = "" if missing is None else f" {percent(missing)} {NEW}"
        return f"{once}{constant}{tempered}{new}"
    if last.resampling:
        return f"The hypotheses were copied by weight at step {last.step + 1}, which sets the weights equal."
    beta = last.reweighting.beta if last.reweighting else 1.0
    if config.is_telescoping:
        phi = f"up to the exponent φ = 1/β = {number(1 / beta)}"
        return f"Ratios of tempered posteriors on all {rows}, carried from step to step, {phi}."
    made = f"Those of step {last.step + 1}, β = {fixed(beta)}, as in the paper"
    return f"{made}: made before that step rewrote the hypotheses."


def evidence_measure(snapshot: Snapshot) -> Iterator[Metric]:
    if (estimate := evidence(snapshot.spec, snapshot.view)) is None:
        return
    of = "of the given hypotheses" if snapshot.spec.config.is_weighing else "under the first draw"
    words = f"Natural log of the average likelihood {of}, at φ = {number(estimate['exponent'])}."
    if estimate["label"] == "nominal":
        words += " Nominal, an estimate without a guarantee, which needs independent draws from the prior and a "
        words += "likelihood fixed in advance."
    words += " It leaves out constants: compare it only between runs of equal rows, tau, epsilon and exponent."
    yield Metric(name="Log evidence", value=f"{fixed(estimate['value'])}, {estimate['label']}", words=words)


_JUDGED_ON = {
    "batch": "one batch, a new one each step, so there is no common target",
    "buffer": "the last rows, which change each step, so there is no common target",
    "train": "all training rows, the same at every step",
}


def target_words(config: Config) -> str:
    if config.is_weighing:
        return "Weights are the posterior over the given hypotheses and a constant answer. No other one has weight."
    if config.is_weighted and not config.is_filtered:
        return (
            "The weights are tempered and made anew each step on the last rows. Every hypothesis is rewritten after it "
            "was weighed, without a correction: a pragmatic reweighting, not an exact posterior."
        )
    if not config.is_filtered and config.size == 1:
        return "There is one hypothesis and no posterior: this run cannot say how sure it is."
    if not config.is_filtered:
        return (
            "Every proposal was kept, so the hypotheses are no sample of a posterior, and are averaged without "
            "weights. Their differences show how much the optimizer varies, not what the data support."
        )
    weights = "" if config.method == "mh" else "The weights approximate a posterior, tempered. "
    if config.is_telescoping:
        weights = "The weights are ratios of successive tempered posteriors. "
    judged = f"{weights}Every change passes an accept step on {_JUDGED_ON[config.scored_on]}."
    # Only fresh draws, judged on fixed rows by a function of one row and one text, have an exact acceptance ratio.
    if config.restart == 1 and config.scored_on == "train" and config.learner_samples == 1:
        return f"{judged} Every proposal is drawn afresh from the prior: the acceptance rule is exact for such draws."
    return (
        f"{judged} Proposals are refined from the data, and the acceptance ratio leaves out their densities: the "
        "hypotheses that the optimizer likes are too frequent. So the result is near the posterior, not exactly it."
    )


# Limits of the result


def caveats(snapshot: Snapshot, dataset: Dataset) -> Iterator[str]:
    view, config, n_train = snapshot.view, snapshot.spec.config, len(dataset.train)
    if view.phase != "finished":
        yield f"The run is incomplete: {steps_text(view)} are done{finish_words(view)}."
    test = view.evaluations.get("test")
    answers = [answer for each in test.predictions for answer in each] if test else []
    if n := answers.count(None):
        counts_as = "wrong" if dataset.classes else "off by the whole range of the training targets"
        yield (
            f"{integer(n)} of {integer(len(answers))} answers on the test rows are missing: a program failed there, or "
            f"the model's answer could not be read. They abstain in the average, and count as {counts_as}."
        )
    yield target_words(config)
    if (pool := n_pool(config, n_train)) < n_train:
        rows = f"{integer(pool)} of the {integer(n_train)} training rows, drawn at random"
        yield f"The steps use {rows}; the final weights use all."
    yield from _faults(snapshot.usage, view)
    yield from _cuts(dataset, snapshot.spec)
    if not config.is_weighing:
        yield "This is one run with one seed: other seeds (--seeds 5) show how much of it is luck."


def _faults(usage: Usage, view: RunView) -> Iterator[str]:
    if usage.unparsable:
        calls = usage.calls + usage.failed  # those refused are unreadable too
        share = percent(usage.unparsable / max(1, calls), decimals=1)
        yield f"{integer(usage.unparsable)} of {counted(calls, 'call')} ({share}) gave no answer that could be read."
    if n := usage.contradictory:
        odd = f"{counted(n, 'answer')} {'contradicts its' if n == 1 else 'contradict their'} own explanation"
        yield f"{odd}: the learner may not follow its own reading of a rule."
    if n := usage.refused:
        refused = f"{counted(n, 'answer')} {'was' if n == 1 else 'were'} refused as no rule for this table"
        yield f"{refused}. The model was asked again, up to twice a proposal."
    if bare := sum(each.reason is not None for each in view.draws.values()):
        first = f"{in_words(bare)} of {in_words(len(view.draws))} hypotheses began as the bare seed sentence"
        yield f"{capitalised(first)}: the optimizer's first answer could not be read, or was refused."


def _cuts(dataset: Dataset, spec: RunSpec) -> Iterator[str]:
    if cells := cut_cells_text(dataset, spec.cell_limit):
        yield f"Of the longest texts the models saw only the beginning: {cells}."


# The summary on a terminal


def summary(directory: RunDirectory, view: RunView) -> Iterator[Block]:
    """Yield the end of a run for a terminal: the verdict first, and last how to go on."""
    resume = f"continue with: python -m vpp resume {directory.path}"
    if view.phase == "stopped" and not (view.draws or view.usage.sent):
        yield Say("stopped before it began: no call was sent")
        yield Note(resume)
        return
    spec, dataset, usage = directory.spec(), readable_rows(directory), view.usage
    answers = JournalReader(directory.journal).read().answers
    yield from blocks(run_verdict(directory, view))
    if dataset and (odds := odds_words(view, spec.config, dataset, novelty(view, spec.config, dataset))):
        yield Note(odds)
    calls = f"{counted(usage.calls, 'call')}, {integer(usage.cached)} from the cache"
    yield Note(f"{view.phase} after {steps_text(view)}, {seconds(view.wall_s)}{finish_words(view)}; {calls}")
    for split, name in (("test", "test rows"), ("train", "training rows")):
        evaluated = view.evaluations.get(split)
        if dataset and evaluated and evaluated.rows:
            score_of = points.averaged_score(evaluated, dataset)
            metric = "accuracy" if dataset.classes else "mean squared error"
            yield Note(f"{name}: {metric} {points.score_text(score_of)}, {points.other_scores_text(score_of)}")
    faults = (*_faults(usage, view), *withheld_sentences(answers), *(_cuts(dataset, spec) if dataset else ()))
    yield from map(Note, (*faults, *server_sentences(usage)))
    if spec.config.is_weighing and view.population:
        yield _weight_table(view)
    elif view.population and dataset:
        first, what = hypotheses_of(view, dataset)[0], "heaviest" if spec.config.is_weighted else "most frequent"
        yield Quote(first.words, tuple(filter(None, (f"{what} hypothesis", weight_words(first, view, spec.config)))))
    if view.phase in ("failed", "stopped"):
        yield Note(f"{resume}{' (reads OPENAI_API_KEY again)' if is_key_refused(view) else ''}")
    if view.phase == "paused":
        yield Note(f"{resume} {'--limit cost=X' if spec.cap.cost else '--limit calls=N'}")
    if view.phase not in ("failed", "paused"):
        yield Note(f"report: {directory.path / 'report.md'}")


def _weight_table(view: RunView) -> Table:
    texts = [view.texts[state.hypothesis].removeprefix(view.seed_text).strip() for state in view.population]
    by_slot = zip(view.weights, priors(view), points.weighed_log_likelihoods(view), texts, strict=True)
    rows = [
        (percent(weight, 1), percent(prior, 1), "not scored" if log_lik is None else fixed(log_lik), text)
        for weight, prior, log_lik, text in by_slot
    ]
    rows.append((percent(constant_weight(view), 1), "", "", "a constant answer, which has half of the prior"))
    head = ("weight", "prior among the hypotheses", "log-likelihood", "hypothesis")
    return Table(head=head, rows=rows, right=(0, 1, 2))
