"""The end of a run: final weights, the averaged prediction, and abstentions in its denominator."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from vpp.events import Evaluated, Resampled, Reweighted, Scored
from vpp.inference.population import Particle, Population

from . import scripted
from .transcription import Literal

TASKS = pytest.mark.parametrize("task", ["classification", "regression"])
SPAN = scripted.make_dataset("regression").target_range
CHOICES = pytest.mark.parametrize("final_weights", ["paper", "rescored", "train"])


def whole_run(task, method="smc", *, final_weights="paper", seed=0, **options):
    config = scripted.paper(method=method, final_weights=final_weights, seed=seed, particles=6, **options)
    problem = scripted.make_problem(config, scripted.Script(task))
    events = scripted.run(problem, config)
    last = scripted.populations(events)[-1]
    return problem, events, last, scripted.run_conclusion(problem, config, last)


def literal_alone(problem, rows):
    """log p(y) of the mean, or of the commoner label, of the training targets."""
    train = [row.target for row in problem.dataset.train]
    numbers = problem.dataset.task == "regression"
    answer = sum(train) / len(train) if numbers else max("no", "yes", key=train.count)
    return Literal(problem.dataset.task).log_p(rows, [answer] * len(rows))


@TASKS
@pytest.mark.parametrize("seed", range(4))
def test_the_papers_final_weights_are_those_of_the_last_step(task, seed):
    _, events, last, end = whole_run(task, seed=seed)
    resampled = scripted.of_kind(events, Resampled, step=last.step)
    expected = [1 / 6] * 6 if resampled else scripted.of_kind(events, Reweighted, step=last.step)[0].weights
    assert not scripted.of_kind(end, Reweighted)
    for evaluated in scripted.of_kind(end, Evaluated):
        assert evaluated.weights == pytest.approx(expected, abs=1e-12)


@TASKS
@pytest.mark.parametrize("final_weights", ["rescored", "train"])
def test_rescored_weights_are_of_the_final_texts_at_beta_one(task, final_weights):
    problem, _, last, end = whole_run(task, final_weights=final_weights)
    rows = problem.dataset.train if final_weights == "train" else problem.buffer(last.step, size=12)
    literal = Literal(task)
    log_liks = [literal.log_p(rows, literal.f(p.text, rows)) for p in last.particles]
    texts = [p.text for p in last.particles]
    sentences = {t: lik - math.log(last.n_candidates) for t, lik in zip(texts, log_liks, strict=True)}
    *shares, constant = softmax([*sentences.values(), literal_alone(problem, rows)])
    once = dict(zip(sentences, shares, strict=True))
    expected = [once[text] / texts.count(text) for text in texts]
    assert len(once) < len(texts), "copies share the weight of their sentence"
    reweighted = scripted.of_kind(end, Reweighted)[0]
    assert (reweighted.role, reweighted.beta, reweighted.step) == ("final", 1.0, last.step)
    assert list(reweighted.weights) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert reweighted.ess == pytest.approx(1 / sum((weight + constant / len(once)) ** 2 for weight in once.values()))
    assert reweighted.constant.weight == pytest.approx(constant)
    for evaluated in scripted.of_kind(end, Evaluated):
        assert evaluated.weights == pytest.approx(expected, rel=1e-9, abs=1e-12)
    finals = sorted(scripted.of_kind(end, Scored, role="final"), key=lambda e: e.particle)
    assert [e.log_likelihood for e in finals] == pytest.approx(log_liks)
    assert {e.rows for e in finals} == {tuple(row.id for row in rows)}
    assert [e.hypothesis for e in finals] == [p.id for p in last.particles]


@TASKS
@CHOICES
@pytest.mark.parametrize("method", ["smc", "mh", "vml"])
def test_the_metric_is_the_literal_mean_over_every_row(method, final_weights, task):
    problem, _, _, end = whole_run(task, method, final_weights=final_weights)
    for evaluated in scripted.of_kind(end, Evaluated):
        rows = problem.dataset.test if evaluated.split == "test" else problem.dataset.train
        total = 0.0
        for row, votes in zip(rows, zip(*evaluated.predictions, strict=True), strict=True):
            said = [(v, w) for v, w in zip(votes, evaluated.weights, strict=True) if v is not None]
            if constant := evaluated.constant:
                said.append((constant.answer, constant.weight))
            total += literal_score(said, row.target)
        name = "accuracy" if task == "classification" else "mse"
        assert (evaluated.metric, evaluated.value) == (name, pytest.approx(total / len(rows)))


def literal_score(said, target):
    """1 if the vote of (answer, weight) is right; for numbers the squared error of their mean."""
    if not isinstance(target, str):
        mean = sum(v * w for v, w in said) / sum(w for _, w in said) if said else target + SPAN
        return (mean - target) ** 2
    shares = {label: sum(w for v, w in said if v == label) for label, _ in said}
    top = max(shares.values(), default=0)
    return min((label for label in shares if shares[label] > top - 1e-9), default=None) == target


SILENT = (
    ("classification", lambda text, row: row.id in (100, 101), 5 / 7),  # two of seven rows without an answer
    ("regression", lambda text, row: row.id == 100, SPAN**2 / 7),
    ("classification", lambda text, row: text == "a", 1.0),  # the other text answers
    ("regression", lambda text, row: text == "a", 0.0),
    ("classification", lambda text, row: True, 0.0),
)


@pytest.mark.parametrize(("task", "silent", "value"), SILENT)
def test_abstentions_leave_the_prediction_to_the_others_and_rows_without_an_answer_count(task, silent, value):
    def answer(text, row, *, task):
        return None if silent(text, row) else row.target

    config = scripted.paper(particles=2)
    problem = scripted.make_problem(config, scripted.Script(task, answer=answer))
    particles = tuple(Particle(text=text, parent=k) for k, text in enumerate("ab"))
    population = Population(step=-1, particles=particles)
    evaluated = scripted.run_conclusion(problem, config, population)[0]
    assert evaluated.value == pytest.approx(value)


EPSILON = 0.1


def graded_problem(config):
    return scripted.make_problem(config, scripted.Script("classification", grade=scripted.grade))


def test_weights_and_evidence_of_graded_sentences_are_the_exact_ones():
    """Each row's label is drawn by the reader, then flipped by epsilon."""
    texts = scripted.TEXTS[2:9]
    config = scripted.paper(method="weigh", particles=len(texts), epsilon=EPSILON, batch_size=20, epochs=1)
    problem = replace(graded_problem(config), start_texts=texts, start_origin="yours")
    weighed = scripted.of_kind(scripted.run(problem, config), Reweighted)[-1]
    rows = problem.dataset.train
    shares = np.array([[(scripted.grade(t, row) or {}).get(row.target, 0.0) for row in rows] for t in texts])
    joint = np.prod(shares * (1 - EPSILON) + (1 - shares) * EPSILON, axis=1) / len(texts)
    assert weighed.weights == pytest.approx(joint / joint.sum(), rel=1e-12)
    assert weighed.log_evidence == pytest.approx(math.log(joint.sum()), rel=1e-12)


def test_the_vote_of_graded_answers_is_the_mixture_and_each_recorded_label_the_likeliest():
    config = scripted.paper(method="smc", epsilon=EPSILON)
    problem = graded_problem(config)
    population = scripted.populations(scripted.run(problem, config))[-1]
    evaluated = scripted.of_kind(scripted.run_conclusion(problem, config, population), Evaluated)[0]
    rows, texts = {row.id: row for row in problem.dataset.labelled}, {p.id: p.text for p in population.particles}
    for place, (row, averaged) in enumerate(zip(evaluated.rows, evaluated.averaged, strict=True)):
        grades = [scripted.grade(texts[hypothesis], rows[row]) or {} for hypothesis in evaluated.hypotheses]
        mixture = {
            label: math.fsum(w * grade.get(label, 0) for w, grade in zip(evaluated.weights, grades, strict=True))
            for label in ("no", "yes")
        }
        assert averaged == max(mixture, key=mixture.__getitem__)
        said = [votes[place] for votes in evaluated.predictions]
        assert said == [max(grade, key=grade.__getitem__) if grade else None for grade in grades]
