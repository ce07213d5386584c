"""A run in brief: its headline, and figures of its result with a sentence each."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from vpp.data.dataset import Dataset
from vpp.events import Evaluated, Scored
from vpp.inspection.ideas import Ideas
from vpp.inspection.scores import (
    Ensemble,
    Score,
    averaged_score,
    baseline,
    ensemble,
    particle_scores,
    rows_of,
    weighed_log_likelihoods,
)
from vpp.inspection.settling import tau_of
from vpp.inspection.summary import Decided, evidence, uncertain_points
from vpp.posterior.metric import Estimate, LabelFigures, NumberFigures
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView, StepView, log_evidence
from vpp.settings import Config
from vpp.wording.counts import error_text, r2_text
from vpp.wording.escaping import one_line
from vpp.wording.markup import Metric
from vpp.wording.support import support_sentence, unread_sentence
from vpp.wording.words import (
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    interval_text,
    number,
    percent,
    score_text,
    share_sentence,
    uncertain_sentence,
    value_text,
    weight_text,
    weights_sentence,
)


def headline(view: RunView, config: Config, dataset: Dataset, ideas: Ideas | None) -> str:
    """Return the result in two sentences, after warnings, if there are any."""
    if ideas is None:
        return "The first population is incomplete: this report has only the settings."
    test = view.evaluated.get("test")
    outcome = "The test rows are not evaluated yet." if dataset.test else ""
    if test:
        outcome = _outcome(averaged_score(test, dataset), voting(config, view.size))
    first = (unread_sentence(view), support_sentence(view, dataset, ideas))
    return " ".join(filter(None, (*first, shares_sentence(ideas, config), outcome)))


def voting(config: Config, size: int) -> str:
    """Return `weighted` or `unweighted`, as hypotheses count in the average; empty for a single one."""
    if size == 1:
        return ""
    return "weighted" if config.is_weighted else "unweighted"


def held_by(config: Config) -> str:
    """Return what a share of the vote is a share of: `weight`, `chains` or `hypotheses`."""
    if config.is_weighted:
        return "weight"
    return "chains" if config.method == "mh" else "hypotheses"


def _outcome(score: Score, voting: str) -> str:
    if score.n_correct is not None:
        voter = f"The {voting} vote" if voting else "It"
        return f"{voter} gets {integer(score.n_correct)} of {counted(score.n, 'test row')} right."
    voter = f"The {voting} mean’s" if voting else "Its"
    return f"{voter} mean squared error on {counted(score.n, 'test row')} is {number(score.mse or 0.0)}."


def result_metrics(snapshot: Snapshot, dataset: Dataset) -> Iterator[Metric]:
    view, config = snapshot.view, snapshot.spec.config
    test, train = view.evaluated.get("test"), view.evaluated.get("train")
    if test:
        score = averaged_score(test, dataset)
        yield _test(score, dataset, voting(config, len(test.weights)))
        yield from other_metrics(score.labels or score.numbers)
    if train:
        yield _train(train, dataset)
    if test:
        yield _baseline(test, dataset)
        five = ensemble(view, dataset) if config.method == "vml5" else None
        yield from _picks(five) if five else _best_particle(test, dataset)


def _metric(dataset: Dataset) -> str:
    return "accuracy" if dataset.task == "classification" else "mean squared error"


def _test(score: Score, dataset: Dataset, voting: str) -> Metric:
    voter = f", {voting} {'vote' if score.n_correct is not None else 'mean'}" if voting else ""
    return Metric(name=f"Test {_metric(dataset)}{voter}", value=score_text(score), words=_test_words(score))


def _test_words(score: Score) -> str:
    if score.n_correct is not None:
        return f"{share_sentence(score.n_correct, score.n)} (Wilson, 95 %)"
    root = number(math.sqrt(score.mse or 0.0))
    error = error_text(score.numbers.mse) if score.numbers else ""
    within = f"{capitalised(error.strip())}, one standard error. " if error else ""
    return f"{within}Root mean squared error {root}, in the target's unit, over {counted(score.n, 'row')}."


def other_metrics(figures: LabelFigures | NumberFigures | None) -> Iterator[Metric]:
    if isinstance(figures, LabelFigures):
        yield Metric(
            name="Balanced accuracy",
            value=percent(figures.balanced.value, 1),
            words=f"Mean per-class recall, over the {counted(len(figures.by_label), 'label')} here"
            f"{_within(figures.balanced, points=True)}.",
        )
    elif figures:
        words = f"How far off it is on average, in the target’s unit{_within(figures.mae)}."
        yield Metric(name="Mean absolute error", value=number(figures.mae.value), words=words)
        yield _r2(figures.r2)


def _r2(r2: Estimate | None) -> Metric:
    if r2 is None:
        return Metric(name="R²", value="–", words="All truths are equal.")
    words = f"1 is best; 0 is no better than the truths’ own mean{_within(r2)}."
    return Metric(name="R²", value=r2_text(r2.value), words=words)


def _within(figure: Estimate, *, points: bool = False) -> str:
    """`, ± 2.3 points (one standard error)`; empty if the rows give none."""
    error = figure.standard_error
    if not error:
        return ""
    return f", ± {f'{fixed(100 * error, 1)} points' if points else number(error, 2)} (one standard error)"


def _train(train: Evaluated, dataset: Dataset) -> Metric:
    score = averaged_score(train, dataset)
    share = f"{integer(score.n_correct)} of " if score.n_correct is not None else "Over "
    made = "hypotheses were written" if dataset.test else "weights were made"
    words = f"{share}{counted(score.n, 'row')}, the rows that the {made} from."
    return Metric(name=f"Training {_metric(dataset)}", value=score_text(score), words=words)


def _baseline(test: Evaluated, dataset: Dataset) -> Metric:
    constant = baseline(rows_of(test, dataset), dataset)
    is_label = isinstance(constant.answer, str)
    source = "the most frequent training label" if is_label else "the mean of the training targets"
    answer = constant.answer if isinstance(constant.answer, str) else number(constant.answer)
    words = f"The same test rows, always answered with {source}: {answer}"
    return Metric(name="Baseline", value=score_text(constant.score), words=words)


def _best_particle(test: Evaluated, dataset: Dataset) -> Iterator[Metric]:
    scores = particle_scores(test, dataset)
    if len(scores) > 1:
        best = min(range(len(scores)), key=lambda slot: scores[slot].error)
        words = f"Particle {best}. Chosen after seeing the test rows: nobody could have picked it beforehand."
        yield Metric(name="Best single particle (oracle)", value=score_text(scores[best]), words=words)


def weights_measure(snapshot: Snapshot) -> Metric:
    value, words = _weights(snapshot)
    return Metric(name="Weights used", value=value, words=words)


def _weights(snapshot: Snapshot) -> tuple[str, str]:
    view, config = snapshot.view, snapshot.spec.config
    last = view.finished_steps[-1]
    if config.is_weighing and last.reweighted:
        rows = counted(snapshot.spec.dataset["n_train"], "row")
        return "posterior", f"Equal prior weights times the likelihood of all {rows}."
    if config.is_telescoping:
        return _equal_weights(last) or _carried_weights(last, n_train=snapshot.spec.dataset["n_train"])
    if config.is_weighted:
        return (None if view.final else _equal_weights(last)) or _smc_weights(view, config)
    if view.size == 1:
        return "one", "There is one hypothesis, and it holds all the weight."
    if config.method == "mh":
        return "equal", f"Each of the {counted(view.size, 'chain')} counts alike."
    return (
        "none",
        f"Each of the {counted(view.size, 'hypothesis', 'hypotheses')} counts alike: this method has no weights.",
    )


def _equal_weights(last: StepView) -> tuple[str, str] | None:
    if last.reweighted is None:
        return "equal", "No weights have been made yet."
    if last.resampled:
        return "equal", f"The population was resampled at step {last.step}, which sets the weights equal."
    return None


def _carried_weights(last: StepView, *, n_train: int) -> tuple[str, str]:
    exponent = number(1 / last.reweighted.beta) if last.reweighted else ""
    return "carried", (
        f"Ratios of tempered posteriors on all {counted(n_train, 'training row')}, carried from step to step, "
        f"up to the exponent φ = 1/β = {exponent}."
    )


def _smc_weights(view: RunView, config: Config) -> tuple[str, str]:
    """Name the final weights, or the paper's w_T, which the last step made before it rewrote the texts."""
    if view.final is None:
        last = view.finished_steps[-1]
        beta = fixed(last.reweighted.beta) if last.reweighted else ""
        words = f"Those of step {last.step}, β = {beta}, as in the paper: made before that step rewrote the texts."
        return f"step {last.step}", f"{words}{_repeats(last.scored)}"
    n = len(next(iter(view.final_scored.values())).rows)
    rows = counted(n, "training row") if config.final_weights == "train" else f"{counted(n, 'row')} last seen"
    words = f"The last texts, scored on the {rows}; log-likelihoods divided by β = {fixed(view.final.beta)}."
    return config.final_weights, f"{words}{_repeats(view.final_scored)}"


def _repeats(scored: Mapping[int, Scored]) -> str:
    rows = next((each.rows for each in scored.values()), ())
    n = len(rows) - len(set(rows))
    if not n:
        return ""
    repeated = f"{integer(n)} of the {counted(len(rows), 'scored row')} are repeats"
    return f" {repeated}, and each repeat counts as new evidence."


COMPARABLE = (
    "The likelihood leaves out constants, so evidences compare only between runs of equal rows, tau, epsilon and "
    "exponent."
)


def evidence_measure(snapshot: Snapshot) -> Iterator[Metric]:
    view = snapshot.view
    found = evidence(snapshot.spec, view)
    value = log_evidence(view)
    if found is None or value is None:
        return
    of = "of the given sentences" if snapshot.spec.config.is_weighing else "under the first draw"
    words = f"Natural log of the average likelihood {of}, at φ = {number(found['exponent'])}."
    if found["because"]:
        words += f" Nominal, an estimate without a guarantee: {'; '.join(found['because'])}."
    yield Metric(name="Log evidence", value=f"{fixed(value)}, {found['label']}", words=f"{words} {COMPARABLE}")


def tau_of_weights(snapshot: Snapshot) -> float | None:
    """Return tau if it decides weights: regression with several weighted particles. Else None."""
    config = snapshot.spec.config
    is_used = config.is_weighted and config.size > 1 and snapshot.spec.dataset["task"] == "regression"
    return tau_of(snapshot.view, config) if is_used else None


def ideas_metric(ideas: Ideas) -> Metric:
    texts, merged = counted(ideas.n_texts, "text"), counted(len(ideas), "idea")
    return Metric(name="Distinct texts, ideas", value=f"{texts}, {merged}", words=compared_sentence(ideas))


def shares_sentence(ideas: Ideas, config: Config) -> str:
    if config.is_weighted:
        return weights_sentence(ideas.weights)
    n, first = sum(len(idea.slots) for idea in ideas), len(ideas.all[0].slots)
    if n == 1:
        return "There is one hypothesis."
    if len(ideas) == 1:
        return f"{capitalised(in_words(n))} hypotheses hold one idea."
    if len(ideas) == n:
        return f"All {in_words(n)} hypotheses answer differently; each counts alike."
    held = f"{capitalised(in_words(n))} hypotheses hold {counted(len(ideas), 'idea')}"
    return f"{held}; {in_words(first)} share the most common."


def compared_sentence(ideas: Ideas) -> str:
    if ideas.n_rows == 0:
        return "Only equal texts are merged: the particles share no answered rows."
    if ideas.by == "step":
        rows = counted(ideas.n_rows, "training row")
        return f"Texts with the same answers to the {rows} that all particles have answered lately are one idea."
    return f"Texts with the same answers to all {integer(ideas.n_rows)} evaluated rows are one idea."


def uncertain_metric(test: Evaluated) -> Metric:
    n, name = len(test.rows), "Uncertain test points"
    uncertain = uncertain_points(test)
    if uncertain is None:
        words = "Numbers rarely agree to the digit: see the points with the widest spread."
        return Metric(name=name, value="not counted", words=words)
    return Metric(name=name, value=f"{integer(uncertain)} of {integer(n)}", words=uncertain_sentence(uncertain, n))


def accuracy_interval(test: Evaluated, dataset: Dataset) -> str | None:
    """`94 % to 100 %` for the averaged prediction's accuracy; None for regression."""
    score = averaged_score(test, dataset)
    return None if score.n_correct is None else interval_text(score.n_correct, score.n)


def _picks(five: Ensemble) -> tuple[Metric, Metric]:
    n, train, oracle = in_words(five.size), five.best_on_train, five.oracle
    chosen = f"Hypothesis {oracle.slot}, chosen after seeing the test rows: nobody could have picked it."
    picked = f"Test score of hypothesis {train.slot}, the best on the training rows, picked without the test rows."
    return (
        Metric(name=f"Best of {n} on test (oracle)", value=score_text(oracle.test), words=chosen),
        Metric(name=f"Best of {n} on train", value=score_text(train.test), words=picked),
    )


def ensemble_metrics(five: Ensemble) -> list[Metric]:
    """Return three test scores of five runs: the average, the best on the test rows, the best on the training rows."""
    is_label = five.together.n_correct is not None
    together = Metric(
        name=f"Test {'accuracy' if is_label else 'mean squared error'}, all {in_words(five.size)} together",
        value=score_text(five.together),
        words=f"The unweighted {'vote' if is_label else 'mean'}: the run’s metric.",
    )
    picks = (replace(pick, scale="on test") for pick in _picks(five))
    return [together, *picks]


# Sentences that were weighed

DECIDING_HEAD = ("row", "target", "heaviest answers", "second answers", "log-likelihood difference")
"""Head of the table of deciding rows."""


def deciding_sentence(decided: Decided | None) -> str:
    if decided is None:
        return ""
    first, second = decided.slots
    pair = f"Particles {first} and {second}, the two heaviest,"
    if not decided.n_deciding:
        return f"{pair} have equal log-likelihoods on every row: no row decides between them."
    shown = f" The {integer(len(decided.rows))} largest:" if len(decided.rows) < decided.n_deciding else ""
    rows = counted(decided.n_deciding, "row")
    return f"{pair} differ on {rows}, by {fixed(decided.difference)} in log-likelihood (natural log) in all.{shown}"


def deciding_table(decided: Decided) -> list[tuple[str, ...]]:
    """Return the cells of the deciding rows, under `DECIDING_HEAD`."""
    return [
        (str(each.row.id), value_text(each.row.target), *map(value_text, each.answers), fixed(each.difference))
        for each in decided.rows
    ]


def weight_lines(view: RunView, seed_text: str) -> Iterator[str]:
    for state, weight, log_lik in zip(view.population, view.weights, weighed_log_likelihoods(view), strict=True):
        scored = "not scored" if log_lik is None else f"log-likelihood {fixed(log_lik)}"
        sentence = one_line(view.texts[state.hypothesis].removeprefix(seed_text).strip())
        yield f"weight {weight_text(weight)}, {scored}: {sentence}"
    if (value := log_evidence(view)) is not None:
        yield f"log evidence {fixed(value)} (natural log)"
