"""Sentences on a run that its pages and its report still share."""

import math
from collections.abc import Iterator

from vpp.data.dataset import Dataset
from vpp.events import Evaluated
from vpp.findings.counts import error_text, r2_text
from vpp.findings.ideas import Ideas
from vpp.findings.result import constant_answer, surpassed_sentences, uncertain_points
from vpp.findings.scores import Score, averaged_score, baseline, rows_of, score_text
from vpp.posterior.metric import Estimate, LabelFigures, NumberFigures
from vpp.runs.reader import Snapshot, unread
from vpp.runs.view import RunView, constant_weight, n_candidates
from vpp.settings import Config
from vpp.show.blocks import Metric
from vpp.show.markup import state
from vpp.show.words import (
    EQUAL,
    MAJORITY,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    listed,
    number,
    percent,
    share_sentence,
    target_text,
    uncertain_sentence,
    weight_text,
    weights_sentence,
)

LITTLE = "the results below are unreliable"


def unread_sentence(view: RunView) -> str:
    """`777 of 800 answers to rows could not be read: the results below are unreliable.`; empty if enough could."""
    words = _unread(view)
    return f"{words}: {LITTLE}." if words else ""


def unread_html(view: RunView) -> str:
    words = _unread(view)
    where = f"{capitalised(LITTLE)}. Open a card’s answer on Watch to see why."
    return state(words, where, failed=True) if words else ""


def _unread(view: RunView) -> str:
    found = unread(view)
    if found is None:
        return ""
    all_or_some = "all" if found.answers == found.of else f"{integer(found.answers)} of"
    parts = [f"{all_or_some} {integer(found.of)} answers to rows"] if found.answers else []
    parts += [f"all {integer(found.proposals)} proposals"] if found.proposals else []
    refused = " or were refused as no rule" if found.proposals and any(p.refused for p in view.proposals) else ""
    return capitalised(f"{' and '.join(parts)} could not be read{refused}")


# The headline and the figures


def headline(view: RunView, config: Config, dataset: Dataset, ideas: Ideas | None) -> str:
    """Return the result in two sentences, after warnings, if there are any."""
    if ideas is None:
        return "The first population is incomplete: this report has only the settings."
    test = view.evaluated.get("test")
    outcome = "The test rows are not evaluated yet." if dataset.test else ""
    if test:
        outcome = _outcome(averaged_score(test, dataset), voting(config, view.size))
    first = (unread_sentence(view), " ".join(surpassed_sentences(view, dataset)))
    odds = constant_sentence(view, config, dataset)
    return " ".join(filter(None, (*first, shares_sentence(ideas, config, view), odds, outcome)))


def voting(config: Config, size: int) -> str:
    """Return `weighted` or `unweighted`, as hypotheses count in the average; empty for a single one."""
    if size == 1:
        return ""
    return "weighted" if config.is_weighted else "unweighted"


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


def _metric(dataset: Dataset) -> str:
    return "accuracy" if dataset.task == "classification" else "mean squared error"


def _test(score: Score, dataset: Dataset, voting: str) -> Metric:
    voter = f", {voting} {'vote' if score.n_correct is not None else 'mean'}" if voting else ""
    if score.n_correct is not None:
        words = f"{share_sentence(score.n_correct, score.n)} (Wilson, 95 %)"
    else:
        root = number(math.sqrt(score.mse or 0.0))
        error = error_text(score.numbers.mse) if score.numbers else ""
        within = f"{capitalised(error.strip())}, one standard error. " if error else ""
        words = f"{within}Root mean squared error {root}, in the target's unit, over {counted(score.n, 'row')}."
    return Metric(name=f"Test {_metric(dataset)}{voter}", value=score_text(score), words=words)


def other_metrics(figures: LabelFigures | NumberFigures | None) -> Iterator[Metric]:
    if isinstance(figures, LabelFigures):
        labels = f"the {counted(len(figures.by_label), 'label')} here{_within(figures.balanced, points=True)}"
        value = percent(figures.balanced.value, 1)
        yield Metric(name="Balanced accuracy", value=value, words=f"Mean per-class recall, over {labels}.")
    elif figures:
        words = f"How far off it is on average, in the target’s unit{_within(figures.mae)}."
        yield Metric(name="Mean absolute error", value=number(figures.mae.value), words=words)
        value, words = "–", "All truths are equal."
        if r2 := figures.r2:
            value, words = r2_text(r2.value), f"1 is best; 0 is no better than the truths’ own mean{_within(r2)}."
        yield Metric(name="R²", value=value, words=words)


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
    answer = f"the most frequent training label: {constant.answer}"
    if not isinstance(constant.answer, str):
        answer = f"the mean of the training targets: {number(constant.answer)}"
    words = f"The same test rows, always answered with {answer}"
    return Metric(name="Baseline", value=score_text(constant.score), words=words)


def ideas_metric(ideas: Ideas) -> Metric:
    texts, merged = counted(ideas.n_texts, "text"), counted(len(ideas), "idea")
    return Metric(name="Distinct texts, ideas", value=f"{texts}, {merged}", words=f"{compared_words(ideas)}.")


def shares_sentence(ideas: Ideas, config: Config, view: RunView) -> str:
    if config.is_weighted:
        return weights_sentence(ideas.weights, constant=constant_weight(view))
    n, first = sum(len(idea.slots) for idea in ideas), len(ideas.all[0].slots)
    if n == 1:
        return "There is one hypothesis."
    if len(ideas) == 1:
        return f"{capitalised(in_words(n))} hypotheses hold one idea."
    if len(ideas) == n:
        return f"All {in_words(n)} hypotheses answer differently; each counts alike."
    held = f"{capitalised(in_words(n))} hypotheses hold {counted(len(ideas), 'idea')}"
    return f"{held}; {in_words(first)} share the most common."


MILLION = 1e6
"""Odds from which no number is given."""


def constant_sentence(view: RunView, config: Config, dataset: Dataset) -> str:
    """Odds of the training rows, heaviest hypothesis to constant answer, in words; empty before they are known."""
    constant = constant_answer(view, config, dataset)
    if constant is None:
        return ""
    odds = math.exp(min(abs(constant.log_odds), math.log(MILLION)))
    times = "over a million" if odds >= MILLION * (1 - EQUAL) else f"about {number(float(f'{odds:.2g}'))}"
    ratio = f"{times} : 1" if constant.log_odds >= 0 else f"1 : {times}"
    n = n_candidates(view)
    best = f"the heaviest of {integer(n)} hypotheses" if n > 1 else "the hypothesis"
    found = " Nothing was found." if (constant.weight or 0.0) > MAJORITY else ""
    return f"Odds of the training rows under {best} and under a constant answer: {ratio}.{found}"


def constant_note(view: RunView, config: Config, dataset: Dataset) -> str:
    """`The constant answer (“no”; each label as often as it occurs) has weight 0.900.`, with outside text."""
    constant = constant_answer(view, config, dataset)
    if constant is None or constant.weight is None:
        return ""
    value = constant.constant.answer
    answer = f"“{value}”" if isinstance(value, str) else target_text(value, dataset.target_decimals)
    law = "; each label as often as it occurs" if constant.constant.shares else ""
    return f"The constant answer ({answer}{law}) has weight {weight_text(constant.weight)}, and half of the prior."


def compared_words(ideas: Ideas) -> str:
    if ideas.by == "text":
        return "Compared by their words only: they have not all answered the same rows yet"
    if ideas.by == "step":
        rows = counted(ideas.n_rows, "training row")
        return f"Compared on the {rows} that all have answered since step {max(ideas.step, 0)}"
    n_test, n_train = ideas.n_test_rows, ideas.n_rows - ideas.n_test_rows
    parts = [f"{integer(n)} {name}" for n, name in ((n_test, "test"), (n_train, "training")) if n]
    return f"Compared on {counted(ideas.n_rows, 'row')}: {listed(parts)}"


def uncertain_metric(test: Evaluated) -> Metric:
    n, name = len(test.rows), "Uncertain test points"
    uncertain = uncertain_points(test)
    if uncertain is None:
        words = "Numbers rarely agree to the digit: see the points with the widest spread."
        return Metric(name=name, value="not counted", words=words)
    return Metric(name=name, value=f"{integer(uncertain)} of {integer(n)}", words=uncertain_sentence(uncertain, n))


def is_demo(snapshot: Snapshot) -> bool:
    models = snapshot.view.started.models if snapshot.view.started else {}
    return snapshot.spec.endpoint.is_demo or "demo" in models.values()
