"""A run in brief: its headline, and each measure with its value and a sentence."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vpp.data.dataset import Dataset
from vpp.events import Evaluated
from vpp.posterior.weights import ess
from vpp.reporting.ideas import Ideas
from vpp.reporting.scores import Score, averaged_score, baseline, particle_scores, rows_of
from vpp.reporting.words import (
    EQUAL,
    MAJORITY,
    acceptance_sentence,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    interval_text,
    number,
    percent,
    share_sentence,
    taken_sentence,
    uncertain_sentence,
    voices_sentence,
)
from vpp.runs.reader import Snapshot
from vpp.runs.summary import uncertain_points
from vpp.runs.view import RunView, StepView


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A line of the table."""

    name: str
    value: str
    words: str
    """A sentence or two; where `outside` is given, it ends before that."""
    outside: str = ""
    """Text from the data, to be escaped by whoever draws it."""


def headline(view: RunView, dataset: Dataset, ideas: Ideas | None) -> str:
    """What came out, in one sentence."""
    if ideas is None:
        return "No population is whole yet: there is nothing to report but what was asked for."
    test = view.evaluated.get("test")
    outcome = _outcome(averaged_score(test, dataset), view.size) if test else "the test rows are not evaluated yet"
    return f"{_leading(ideas)}, and {outcome}."


def _leading(ideas: Ideas) -> str:
    first, last = ideas.weights[0], ideas.weights[-1]
    if sum(len(idea.slots) for idea in ideas) == 1:
        return "There is one hypothesis"
    if len(ideas) > 1 and first - last < EQUAL:
        return f"{capitalised(in_words(len(ideas)))} ideas hold equal weight"
    if first > MAJORITY:
        return f"One idea holds {percent(first) if first < 1 else 'all'} of the weight"
    return f"No idea has a majority (the heaviest of {in_words(len(ideas))} holds {percent(first)} of the weight)"


def _outcome(score: Score, size: int) -> str:
    """Of the averaged prediction, or of the one particle."""
    if score.n_correct is not None:
        voter = "it" if size == 1 else "the weighted vote"
        return f"{voter} gets {integer(score.n_correct)} of {counted(score.n, 'test row')} right"
    voter = "its" if size == 1 else "the weighted mean's"
    return f"{voter} mean squared error on {counted(score.n, 'test row')} is {number(score.mse or 0.0)}"


def measures(snapshot: Snapshot, dataset: Dataset, ideas: Ideas | None) -> tuple[Measure, ...]:
    """All that can be said so far, in the order of the table."""
    return (*_errors(snapshot.view, dataset), *_population(snapshot, ideas), _calls(snapshot))


def _errors(view: RunView, dataset: Dataset) -> Iterator[Measure]:
    test, train = view.evaluated.get("test"), view.evaluated.get("train")
    if test:
        yield _test(test, dataset)
    if train:
        yield _train(train, dataset)
    if test:
        yield _baseline(test, dataset)
        yield from _best_particle(test, dataset)


def _population(snapshot: Snapshot, ideas: Ideas | None) -> Iterator[Measure]:
    """What one particle cannot have is left out where there is one only."""
    view = snapshot.view
    if ideas is None:
        return
    yield weights_measure(snapshot)
    if view.size > 1:
        yield _ess(view)
        yield _ideas(ideas)
    yield _proposals(view, is_judged=snapshot.spec.config.method == "mh")
    test = view.evaluated.get("test")
    if test and view.size > 1:
        yield _uncertain(test)


def score_text(score: Score) -> str:
    """`98.3 %`, or the mean squared error."""
    if score.n_correct is not None:
        return percent(score.n_correct / score.n, decimals=1)
    return number(score.mse or 0.0)


def _metric(dataset: Dataset) -> str:
    return "accuracy" if dataset.task == "classification" else "mean squared error"


def _test(test: Evaluated, dataset: Dataset) -> Measure:
    score = averaged_score(test, dataset)
    voter = "" if len(test.weights) == 1 else ", weighted vote" if score.n_correct is not None else ", weighted mean"
    return Measure(name=f"Test {_metric(dataset)}{voter}", value=score_text(score), words=_test_words(score))


def _test_words(score: Score) -> str:
    if score.n_correct is not None:
        return f"{share_sentence(score.n_correct, score.n)} (Wilson, 95 %)"
    root = number(math.sqrt(score.mse or 0.0))
    return f"Root mean squared error {root}, in the target's unit, over {counted(score.n, 'row')}."


def _train(train: Evaluated, dataset: Dataset) -> Measure:
    score = averaged_score(train, dataset)
    share = f"{integer(score.n_correct)} of " if score.n_correct is not None else "Over "
    words = f"{share}{counted(score.n, 'row')}, the rows that the hypotheses were written from."
    return Measure(name=f"Training {_metric(dataset)}", value=score_text(score), words=words)


def _baseline(test: Evaluated, dataset: Dataset) -> Measure:
    constant = baseline(rows_of(test, dataset), dataset)
    is_label = isinstance(constant.answer, str)
    source = "the most frequent training label" if is_label else "the mean of the training targets"
    return Measure(
        name="Baseline",
        value=score_text(constant.score),
        words=f"The same test rows, always answered with {source}:",
        outside=constant.answer if isinstance(constant.answer, str) else number(constant.answer),
    )


def _best_particle(test: Evaluated, dataset: Dataset) -> Iterator[Measure]:
    scores = particle_scores(test, dataset)
    if len(scores) > 1:
        best = min(range(len(scores)), key=lambda slot: scores[slot].error)
        words = f"Particle {best}. Chosen after seeing the test rows: nobody could have picked it beforehand."
        yield Measure(name="Best single particle (oracle)", value=score_text(scores[best]), words=words)


def weights_measure(snapshot: Snapshot) -> Measure:
    """Which weights predictions use, and how they were made."""
    value, words = _WEIGHTS[snapshot.spec.config.method](snapshot)
    return Measure(name="Weights used", value=value, words=words)


def _equal_weights(snapshot: Snapshot) -> tuple[str, str]:
    return "equal", f"Each of the {counted(snapshot.view.size, 'chain')} counts alike."


def _one_weight(snapshot: Snapshot) -> tuple[str, str]:
    return "one", "There is one hypothesis, and it holds all the weight."


def _smc_weights(snapshot: Snapshot) -> tuple[str, str]:
    view, config = snapshot.view, snapshot.spec.config
    if view.final is None:
        return _step_weights(view.finished_steps[-1])
    n = len(next(iter(view.final_scored.values())).rows)
    rows = counted(n, "training row") if config.final_weights == "train" else f"{counted(n, 'row')} last seen"
    words = f"The last texts, scored on the {rows}; log-likelihoods divided by β = {fixed(view.final.beta)}."
    return config.final_weights, words


def _step_weights(last: StepView) -> tuple[str, str]:
    """The paper's w_T: they scored theta_{T-1} (choice 3)."""
    if last.reweighted is None:
        return "equal", "Nothing has been weighed yet."
    if last.resampled:
        return "equal", f"The population was resampled at step {last.step}, which sets the weights equal."
    beta = fixed(last.reweighted.beta)
    words = f"Those of step {last.step}, β = {beta}, as in the paper: made before that step rewrote the texts."
    return f"step {last.step}", words


_WEIGHTS: dict[str, Callable[[Snapshot], tuple[str, str]]] = {
    "smc": _smc_weights,
    "mh": _equal_weights,
    "vml": _one_weight,
}


def _ess(view: RunView) -> Measure:
    value = view.final.ess if view.final else ess(view.weights)
    words = voices_sentence(value, view.size)
    return Measure(name="ESS of these weights", value=f"{fixed(value)} of {integer(view.size)}", words=words)


def _ideas(ideas: Ideas) -> Measure:
    texts, merged = counted(ideas.n_texts, "text"), counted(len(ideas), "idea")
    return Measure(name="Distinct texts, ideas", value=f"{texts}, {merged}", words=compared_sentence(ideas))


def compared_sentence(ideas: Ideas) -> str:
    """On how many rows ideas were told apart."""
    if ideas.n_rows == 0:
        return "Only equal texts are merged: these particles' answers to all rows are not known."
    return f"Texts with the same answers to all {integer(ideas.n_rows)} evaluated rows are one idea."


def _proposals(view: RunView, *, is_judged: bool) -> Measure:
    proposals, judged = view.proposals, view.decided_by_likelihood
    accepted = sum(p.accepted for p in proposals)
    verdict = acceptance_sentence(accepted, len(judged)) if is_judged else taken_sentence(accepted)
    rest = ", ".join(counted(n, word, word) for word in ("unchanged", "unparsable") if (n := _n_why(view, word)))
    return Measure(
        name="Proposals accepted",
        value=f"{integer(accepted)} of {integer(len(proposals))}",
        words=verdict + (f" {rest} besides." if rest else ""),
    )


def _n_why(view: RunView, why: str) -> int:
    return sum(p.why == why for p in view.proposals)


def _uncertain(test: Evaluated) -> Measure:
    n, name = len(test.rows), "Uncertain test points"
    uncertain = uncertain_points(test)
    if uncertain is None:
        words = "Numbers hardly ever agree to the digit; see the points with the widest spread below."
        return Measure(name=name, value="not counted", words=words)
    return Measure(name=name, value=f"{integer(uncertain)} of {integer(n)}", words=uncertain_sentence(uncertain, n))


def _calls(snapshot: Snapshot) -> Measure:
    usage = snapshot.usage
    both = f"{integer(usage.learner)} of the learner and {integer(usage.optimizer)} of the optimizer"
    words = f"{both}; the cache answered {integer(usage.cached)}."
    return Measure(name="Calls", value=integer(usage.calls), words=words)


def accuracy_interval(test: Evaluated, dataset: Dataset) -> str | None:
    """`94 % to 100 %` for the averaged prediction's accuracy; None for regression."""
    score = averaged_score(test, dataset)
    return None if score.n_correct is None else interval_text(score.n_correct, score.n)
