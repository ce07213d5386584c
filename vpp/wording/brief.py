"""A run in brief: warnings, its headline, figures of its result with a sentence each, its limits; and all as lines.

No sentence holds outside text, but `constant_note` does.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from vpp.data.dataset import Dataset, Task
from vpp.events import Evaluated, Scored
from vpp.findings.ideas import Ideas, merge_ideas
from vpp.findings.scores import (
    Ensemble,
    Score,
    averaged_score,
    baseline,
    ensemble,
    particle_scores,
    rows_of,
    score_text,
    weighed_log_likelihoods,
)
from vpp.findings.splits import cut_cells_text, rows_sentence
from vpp.findings.summary import (
    Against,
    Decided,
    collapsed,
    constant_answer,
    deciding_rows,
    evidence,
    predicted,
    uncertain_points,
    undecided_rows,
)
from vpp.posterior.metric import CHANCE, Estimate, LabelFigures, NumberFigures
from vpp.problem import is_final_on_train, n_pool
from vpp.runs.directory import RunDirectory, known_rows
from vpp.runs.reader import Snapshot, surpassed, unread
from vpp.runs.view import RunView, StepView, constant_weight, log_evidence, n_candidates, priors
from vpp.settings import Config
from vpp.show.blocks import Metric
from vpp.show.markup import one_line, state
from vpp.show.words import (
    EQUAL,
    MAJORITY,
    ROW_OF,
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
    share_sentence,
    target_text,
    uncertain_sentence,
    weight_text,
    weights_sentence,
)
from vpp.wording.counts import cut_sentences, error_text, miss_words, other_scores_text, r2_text, steps_text
from vpp.wording.status import cache_sentence, is_key_refused
from vpp.wording.verdicts import FEW_ROWS


def support_sentence(view: RunView, dataset: Dataset, ideas: Ideas | None) -> str:
    sentences, prediction = [], predicted(view, dataset)
    if prediction is not None and prediction.is_beaten:
        sentences.append(f"No better than always answering {_figures(prediction)}.")
    if ideas and (against := collapsed(view, dataset, ideas)) is not None:
        weight = ideas.all[0].weight
        share = "all" if weight > 1 - EQUAL else percent(weight)
        lead = f"Collapsed on one hypothesis, which holds {share} of the weight"
        sentences.append(f"{lead} and is no better than always answering {_figures(against)}.")
    return " ".join((*sentences, *surpassed_sentences(view, dataset)))


def surpassed_sentences(view: RunView, dataset: Dataset) -> Iterator[str]:
    """Name hypotheses that beat the averaged prediction on training rows beyond chance."""
    for by in (each for each in surpassed(view, dataset) if each.p < CHANCE):
        which = "a hypothesis that was ruled out" if by.slot is None else f"particle {by.slot} alone"
        average, figures = "mean", f"mean squared error {number(by.prediction)} against {number(by.other)}"
        if dataset.task == "classification":
            right, other = (integer(round((1 - loss) * by.n)) for loss in (by.prediction, by.other))
            average, figures = "vote", f"{right} against {other} right"
        figures += f", on the same {counted(by.n, 'training row')}"
        test = f"best of {integer(by.best_of)}, corrected sign test p = {p_text(by.p)}"
        yield f"The {average} does worse than {which}: {figures} ({test})."


def _figures(against: Against) -> str:
    """`the most frequent training label: 2 against 2 right, on 4 test rows`."""
    own, constant = against.own, against.constant.score
    answer = "the mean of the training targets"
    figures = f"mean squared error {number(own.error)} against {number(constant.error)}"
    if own.n_correct is not None and constant.n_correct is not None:
        answer = "the most frequent training label"
        figures = f"{integer(own.n_correct)} against {integer(constant.n_correct)} right"
    return f"{answer}: {figures}, on {counted(own.n, ROW_OF[against.split])}"


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
    first = (unread_sentence(view), support_sentence(view, dataset, ideas))
    odds = constant_sentence(view, config, dataset)
    return " ".join(filter(None, (*first, shares_sentence(ideas, config, view), odds, outcome)))


def voting(config: Config, size: int) -> str:
    """Return `weighted` or `unweighted`, as hypotheses count in the average; empty for a single one."""
    if size == 1:
        return ""
    return "weighted" if config.is_weighted else "unweighted"


def held_by(config: Config, noise: Sequence[float] = ()) -> str:
    """Return what a label's share is a share of: `weight`, `chains` or `hypotheses`; with noise `probability`."""
    if noise:
        return "probability"
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
        prior = "The given" if snapshot.spec.start_prior else "Equal"
        words = f"{prior} prior weights times the likelihood of all {rows}; a constant answer has half of the prior."
        return "posterior", words
    if config.is_weighted and view.final:
        n = len(next(iter(view.final_scored.values())).rows)
        rows = counted(n, "training row") if is_final_on_train(config) else f"{counted(n, 'row')} last seen"
        tempered = "" if view.final.beta == 1 else f" Log-likelihoods are divided by β = {fixed(view.final.beta)}."
        words = f"The last texts, each counted once and scored on the {rows}, from which they were written.{tempered}"
        return config.final_weights, f"{words}{_repeats(view.final_scored)}"
    if config.is_weighted:
        return _step_weights(last, config, counted(snapshot.spec.dataset["n_train"], "training row"))
    if view.size == 1:
        return "one", "There is one hypothesis, and it holds all the weight."
    if config.method == "mh":
        return "equal", f"Each of the {counted(view.size, 'chain')} counts alike."
    hypotheses = counted(view.size, "hypothesis", "hypotheses")
    return "none", f"Each of the {hypotheses} counts alike: this method has no weights."


def _step_weights(last: StepView, config: Config, rows: str) -> tuple[str, str]:
    """Name the weights carried to the last step, or the paper's w_T, made before that step rewrote the texts."""
    if last.reweighted is None:
        return "equal", "No weights have been made yet."
    if last.resampled:
        return "equal", f"The population was resampled at step {last.step}, which sets the weights equal."
    beta = last.reweighted.beta
    if config.is_telescoping:
        words = f"Ratios of tempered posteriors on all {rows}, carried from step to step, up to the exponent φ = 1/β ="
        return "carried", f"{words} {number(1 / beta)}."
    words = f"Those of step {last.step}, β = {fixed(beta)}, as in the paper: made before that step rewrote the texts."
    return f"step {last.step}", f"{words}{_repeats(last.scored)}"


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
    metric, average = ("mean squared error", "mean") if five.together.n_correct is None else ("accuracy", "vote")
    name = f"Test {metric}, all {in_words(five.size)} together"
    words = f"The unweighted {average}: the run’s metric."
    together = Metric(name=name, value=score_text(five.together), words=words)
    return [together, *(replace(pick, scale="on test") for pick in _picks(five))]


MOST_NAMED = 6


def deciding_sentence(decided: Decided | None) -> str:
    if decided is None:
        return ""
    first, second = decided.slots
    pair, (one, other) = f"Particles {first} and {second}, the two heaviest,", decided.priors
    before = "" if math.isclose(one, other) else f" Their priors are {weight_text(one)} and {weight_text(other)}."
    if not decided.n_deciding:
        return f"{pair} have equal log-likelihoods on every row: no row decides between them.{before}"
    most = listed([each.row.id for each in decided.rows[:MOST_NAMED]])
    rows = f"{counted(decided.n_deciding, 'row')}, the most decisive {most}"
    by = f"by {fixed(decided.difference)} in log-likelihood (natural log) in all"
    return f"{pair} differ on {rows}, {by}.{before}"


def weight_lines(view: RunView, seed_text: str) -> Iterator[str]:
    log_liks = weighed_log_likelihoods(view)
    for held, weight, prior, log_lik in zip(view.population, view.weights, priors(view), log_liks, strict=True):
        scored = "not scored" if log_lik is None else f"log-likelihood {fixed(log_lik)}"
        sentence = one_line(view.texts[held.hypothesis].removeprefix(seed_text).strip())
        yield f"weight {weight_text(weight)}, prior {weight_text(prior)}, {scored}: {sentence}"
    yield f"weight {weight_text(constant_weight(view))}: a constant answer, which has half of the prior"
    if (value := log_evidence(view)) is not None:
        yield f"log evidence {fixed(value)} (natural log)"


# Limits of the result, and the target that the options sample


def caveats(snapshot: Snapshot, dataset: Dataset) -> Iterator[str]:
    view = snapshot.view
    if is_demo(snapshot):
        yield (
            "The answers came from the built-in demo model. It is a small program that reads and writes plain English "
            "rules, not a language model: use it to learn the instrument, not to judge the method."
        )
    if view.phase != "finished":
        made = [step.reweighted for step in view.finished_steps if step.reweighted]
        flatter = ""
        if made and made[-1].beta > 1:
            flatter = f" With β = {fixed(made[-1].beta)}, weights are flatter than a finished run's."
        yield f"The run is incomplete: {steps_text(view)} are done.{flatter}"
    yield from _evaluation(view, dataset)
    config, n_train = snapshot.spec.config, len(dataset.train)
    pool = n_pool(config, n_train)
    yield from target_words(config, dataset.task)
    if pool < n_train:
        rows = f"{integer(pool)} of the {integer(n_train)} training rows, drawn at random"
        yield f"The steps use {rows}; the final weights use all."
    if (found := evidence(snapshot.spec, view)) and found["because"]:
        yield f"The log evidence is nominal: {'; '.join(found['because'])}."
    yield from _unread_calls(snapshot)
    yield from cut_sentences(view)
    if cells := cut_cells_text(dataset, snapshot.spec.cell_limit):
        yield f"Of the longest texts the models saw only the beginning: {cells}."
    if dataset.provenance.n_left_out:
        yield rows_sentence(dataset)
    if not config.is_weighing:
        yield "This is one run with one seed: other seeds show how much of it is luck."


def is_demo(snapshot: Snapshot) -> bool:
    models = snapshot.view.started.models if snapshot.view.started else {}
    return snapshot.spec.endpoint.is_demo or "demo" in models.values()


def _evaluation(view: RunView, dataset: Dataset) -> Iterator[str]:
    test = view.evaluated.get("test")
    if not dataset.test:
        yield "Every row was used for the weights: nothing here says how well the hypotheses predict new rows."
        return
    if test is None:
        yield "The test rows are not evaluated yet: nothing here says how well the hypotheses predict new rows."
        return
    if test.step != view.last_step:
        yield f"The test rows were evaluated after step {test.step}, not with the last population."
    score = averaged_score(test, dataset)
    few = " So few rows tell little." if score.n < FEW_ROWS else ""
    if score.n_correct is None:
        yield f"The test error comes from {counted(score.n, 'row')}: a few large misses can make most of it.{few}"
    else:
        interval = interval_text(score.n_correct, score.n)
        yield f"With {counted(score.n, 'test row')}, the true accuracy may lie anywhere from {interval}.{few}"
    answers = [answer for each in test.predictions for answer in each]
    if n := answers.count(None):
        counts_as = "wrong" if test.metric == "accuracy" else "off by the whole range of the training targets"
        yield (
            f"{integer(n)} of {integer(len(answers))} answers on the test rows are missing: a program failed there, or "
            f"the model's answer could not be read. They abstain in the average, and count as {counts_as}."
        )


def _unread_calls(snapshot: Snapshot) -> Iterator[str]:
    usage, view = snapshot.usage, snapshot.view
    if usage.unparsable:
        share = percent(usage.unparsable / max(1, usage.calls), decimals=1)
        calls = counted(usage.calls, "call")
        yield f"{integer(usage.unparsable)} of {calls} ({share}) gave answers that could not be read."
    if odd := contradictory_answers(usage.contradictory):
        yield f"{odd}: the learner may not follow its own reading of a rule."
    if refused := refused_answers(usage.refused):
        yield f"{refused}. The model was asked again, up to twice a proposal."
    if bare := sum(drawn.reason is not None for drawn in view.drawn.values()):
        began = f"{in_words(bare)} of {in_words(len(view.drawn))} particles began as the bare seed sentence"
        yield f"{capitalised(began)}: the optimizer's first answer could not be read, or was refused."


_REFINED = (
    "Proposals are refined from the data, and the acceptance ratio leaves out their densities. So texts that the "
    "optimizer likes to write are too frequent: the result is near the posterior, not exactly the posterior."
)
_COMPARED_ON = {
    "batch": "one batch, a new one each step, so the chains have no common target",
    "buffer": "the rows last seen, which change each step, so the chains have no common target",
    "train": "all training rows, the same at every step",
}


def target_words(config: Config, task: Task) -> Iterator[str]:
    """Yield a few sentences on the target: what the run's weights or chains stand for."""
    if config.is_weighing:
        yield (
            "Weights are the posterior over the given sentences and a constant answer, which has half of the prior: "
            "prior weights times the likelihood of all rows. A sentence that nobody gave has no weight."
        )
    elif config.is_telescoping:
        yield (
            "From step to step, weights are ratios of successive tempered posteriors on all training rows; every "
            "change passes an accept step on the current target."
        )
        if config.schedule == "adaptive":
            yield "Each exponent φ = 1/β was chosen so that the ESS stays at its threshold."
        else:
            yield "The exponents φ = 1/β follow a schedule fixed in advance."
        yield from _draws(config, task)
        if config.is_rescored:
            yield (
                "The weights at the end are of another kind: each different sentence counts once, on all training "
                "rows, beside a constant answer with half of the prior."
            )
    elif config.is_weighted:
        weights = (
            "The weights approximate a posterior. They weigh each text on the rows last seen, tempered, and are made "
            "anew each step"
        )
        if config.mutate == "filtered":
            yield f"{weights}; rewritten texts pass an accept step on those same rows. {_REFINED}"
            yield "The rows change each step, so the steps have no common target."
        else:
            uncorrected = "without a correction: a pragmatic reweighting, not an exact posterior"
            yield f"{weights}; every text is rewritten after it was weighed, {uncorrected}."
    elif config.method == "mh":
        yield f"Each chain has an accept step, which compares likelihoods on {_COMPARED_ON[config.scored_on]}."
        yield from _draws(config, task)
    elif config.size == 1:
        yield "There is one hypothesis and no posterior: this run cannot say how sure it is."
    else:
        yield (
            "Every proposal was kept, so the hypotheses are no sample of a posterior; they are averaged without "
            "weights. Their differences show how much the optimizer varies, not what the data support."
        )
    if config.seeks_mistakes and config.restart < 1:
        yield "A text that is right on all rows it was scored on is not rewritten, but drawn afresh from the prior."


def _draws(config: Config, task: Task) -> Iterator[str]:
    """Say how near the target proposals and prior lead. Only fresh draws on fixed rows and tau are exact."""
    # The target never changes, and f(x; theta) is a function of one row and one text.
    is_exact = config.scored_on == "train" and config.learner_samples == 1
    if config.restart == 0:
        yield _REFINED
    elif config.restart < 1:
        yield f"A share of {config.restart:g} of the proposals is drawn afresh from the prior. {_REFINED}"
    elif not is_exact:
        yield (
            "Every proposal is drawn afresh from the prior. That is exact only on all training rows, with "
            "answers that depend on one row."
        )
    else:
        yield (
            "Every proposal is drawn afresh from the prior, without data, and judged on all training rows: the "
            "acceptance rule is exact for the posterior with these draws as its prior."
        )


def summary(directory: RunDirectory, view: RunView) -> str:
    if view.phase == "stopped" and not (view.drawn or view.usage.sent):
        return f"stopped before it began: no call was sent\ncontinue with: python -m vpp resume {directory.path}"
    calls = f"{view.usage.calls:,} calls, {cached_words(view.usage.cached, of=view.usage.calls)}"
    dataset = known_rows(directory)
    support = support_sentence(view, dataset, merge_ideas(view, dataset)) if dataset else ""
    lines = [*filter(None, [unread_sentence(view), support]), f"{view.phase} after {seconds(view.wall_s)}, {calls}"]
    test = view.evaluated.get("test")
    if test is not None:
        lines.append(f"test {_shown(test)}, training {_shown(view.evaluated.get('train'))}")
    if test is not None and dataset is not None:
        lines += filter(None, [other_scores_text(averaged_score(test, dataset)), _constant_line(test, dataset)])
    if dataset is not None and (odds := constant_sentence(view, directory.spec().config, dataset)):
        lines.append(odds)
    if dataset and (unknown := undecided_rows(view, directory.spec().config, dataset)) and unknown["count"]:
        lines.append(f"“I don’t know”: {unknown['count']} of {counted(unknown['of'], 'test row')}")
    if directory.spec().endpoint.is_demo and view.usage.calls:
        lines.append("answered by the built-in demo model: a program that applies rules, not a language model")
    if test is not None and (uncertain := uncertain_points(test)) is not None:
        lines.append(f"uncertain: {uncertain} of {counted(len(test.rows), 'test row')}")
    if view.usage.unparsable:
        lines.append(f"{view.usage.unparsable:,} of {view.usage.calls:,} calls gave answers that could not be read")
    cut = cut_cells_text(dataset, directory.spec().cell_limit) if dataset else ""
    lines += filter(None, (cut, refused_answers(view.usage.refused), cache_sentence(view.usage)))
    if directory.spec().config.is_weighing and view.started:
        decided = deciding_rows(view, directory.spec().config, dataset) if dataset else None
        lines += filter(None, [*weight_lines(view, view.started.seed_text), deciding_sentence(decided)])
    elif view.population:
        lines.append(one_line(heaviest(directory, view)))
    if view.phase in ("failed", "stopped"):
        reads_key = " (reads OPENAI_API_KEY again)" if is_key_refused(view) else ""
        lines.append(f"continue with: python -m vpp resume {directory.path}{reads_key}")
    if view.phase == "paused":
        cap = "--max-cost X" if directory.spec().cap.cost else "--max-calls N"
        lines.append(f"continue with: python -m vpp resume {directory.path} {cap}")
    if view.phase not in ("failed", "paused"):
        lines.append(f"report: {directory.path / 'report.md'}")
    return "\n".join(lines)


def heaviest(directory: RunDirectory, view: RunView) -> str:
    """Describe the text with the largest total weight, or one of equals; without weights, one particle's text."""
    ids = [state.hypothesis for state in view.population]
    if view.size > 1 and not directory.spec().config.is_weighted:
        return f"one of {view.size} hypotheses that count alike (each {1 / view.size:.3f}): {view.texts[ids[0]]}"
    weights = dict.fromkeys(ids, 0.0)
    for hypothesis, weight in zip(ids, view.weights, strict=True):
        weights[hypothesis] += weight
    first = max(weights, key=lambda hypothesis: weights[hypothesis])
    top, text, n = weights[first], view.texts[first], ids.count(first)
    alike = sum(top - weight < EQUAL for weight in weights.values())
    held = f", held by {n} of {view.size} particles" if n > 1 else ""
    which = f"one of the {alike} heaviest hypotheses (each "
    if alike in (1, len(weights)):
        which = "heaviest hypothesis (" if alike == 1 else f"one of {alike} hypotheses that count alike (each "
    return f"{which}{top:.3f}{held}): {text}"


def _shown(evaluated: Evaluated | None) -> str:
    if evaluated is None:
        return "not evaluated"
    is_accuracy = evaluated.metric == "accuracy"
    return f"accuracy {percent(evaluated.value, decimals=1)}" if is_accuracy else miss_words(evaluated.value)


def _constant_line(test: Evaluated, dataset: Dataset) -> str:
    constant = baseline(rows_of(test, dataset), dataset)
    if isinstance(constant.answer, str):
        right = percent(1 - constant.score.error, decimals=1)
        return f"always “{one_line(constant.answer)}” gets {right} of the test rows"
    return f"always {number(constant.answer)} is {miss_words(constant.score.error)} on the test rows"
