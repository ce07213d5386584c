"""The end of a run: final weights, the averaged prediction, and abstentions in its denominator."""

import math
from dataclasses import replace

import pytest

from vpp.events import Evaluated, Resampled, Reweighted, Scored
from vpp.inference.evaluation import conclude, evaluate
from vpp.inference.population import Particle, Population

from . import scripted, transcription

TASKS = pytest.mark.parametrize("task", ["classification", "regression"])
CHOICES = pytest.mark.parametrize("final_weights", ["paper", "rescored", "train"])


def ended(task, method="smc", *, final_weights="paper", seed=0, **options):
    config = scripted.paper(method=method, final_weights=final_weights, seed=seed, particles=6, **options)
    problem = scripted.make_problem(config, scripted.Script(task))
    events = scripted.run(problem, config)
    last = scripted.populations(events)[-1]
    return problem, events, last, scripted.run_conclusion(problem, config, last)


def softmax(log_weights):
    powers = [math.exp(x - max(log_weights)) for x in log_weights]
    return [p / sum(powers) for p in powers]


def literal_log_p(problem, text, rows):
    literal = transcription.Literal(problem.dataset, seed=0, K=1, M=1, B=1, epochs=1)
    return literal.log_p(rows, literal.f(text, rows))


@TASKS
@pytest.mark.parametrize("seed", range(4))
def test_the_papers_final_weights_are_those_of_the_last_step(task, seed):
    _, events, last, end = ended(task, seed=seed)
    resampled = scripted.of_kind(events, Resampled, step=last.step)
    expected = [1 / 6] * 6 if resampled else scripted.of_kind(events, Reweighted, step=last.step)[0].weights
    assert not scripted.of_kind(end, Reweighted)
    for evaluated in scripted.of_kind(end, Evaluated):
        assert evaluated.weights == pytest.approx(expected, abs=1e-12)


@TASKS
@pytest.mark.parametrize("final_weights", ["rescored", "train"])
def test_rescored_weights_are_of_the_final_texts_at_beta_one(task, final_weights):
    problem, _, last, end = ended(task, final_weights=final_weights)
    rows = problem.dataset.train if final_weights == "train" else problem.buffer(last.step, size=12)
    log_liks = [literal_log_p(problem, p.text, rows) for p in last.particles]
    reweighted = scripted.of_kind(end, Reweighted)[0]
    assert (reweighted.role, reweighted.beta, reweighted.step) == ("final", 1.0, last.step)
    assert list(reweighted.weights) == pytest.approx(softmax(log_liks), rel=1e-9, abs=1e-12)
    for evaluated in scripted.of_kind(end, Evaluated):
        assert evaluated.weights == pytest.approx(softmax(log_liks), rel=1e-9, abs=1e-12)
    finals = sorted(scripted.of_kind(end, Scored, role="final"), key=lambda e: e.particle)
    assert [e.log_likelihood for e in finals] == pytest.approx(log_liks)
    assert {e.rows for e in finals} == {tuple(row.id for row in rows)}
    assert [e.hypothesis for e in finals] == [p.id for p in last.particles]


@CHOICES
@pytest.mark.parametrize("method", ["vml", "mh"])
def test_methods_without_weights_predict_with_equal_ones(method, final_weights):
    _, _, last, end = ended("classification", method, final_weights=final_weights)
    size = len(last.particles)
    assert [type(e) for e in end] == [Evaluated, Evaluated]
    assert all(e.weights == pytest.approx([1 / size] * size) for e in end)


@CHOICES
def test_an_initial_population_is_evaluated_with_equal_weights(final_weights):
    config = scripted.paper(method="smc", final_weights=final_weights)
    problem = scripted.make_problem(config, scripted.Script("classification"))
    first = scripted.populations(scripted.run(problem, config))[0]
    end = scripted.run_conclusion(problem, config, first)
    assert [(e.step, e.split) for e in end] == [(-1, "test"), (-1, "train")]
    assert all(e.weights == pytest.approx([0.2] * 5) for e in end)


@TASKS
@CHOICES
def test_every_particle_is_applied_to_every_row_of_the_split(task, final_weights):
    problem, _, last, end = ended(task, final_weights=final_weights)
    for split, rows in (("test", problem.dataset.test), ("train", problem.dataset.train)):
        evaluated = scripted.of_kind(end, Evaluated, split=split)[0]
        assert evaluated.rows == tuple(row.id for row in rows)
        assert evaluated.hypotheses == tuple(p.id for p in last.particles)
        for particle, answers in zip(last.particles, evaluated.predictions, strict=True):
            assert answers == tuple(scripted.answer(particle.text, row, task=task) for row in rows)


@CHOICES
@pytest.mark.parametrize("method", ["smc", "mh", "vml"])
def test_accuracy_is_the_literal_share_of_weighted_votes_that_are_right(method, final_weights):
    problem, _, _, end = ended("classification", method, final_weights=final_weights)
    for evaluated in scripted.of_kind(end, Evaluated):
        rows = problem.dataset.test if evaluated.split == "test" else problem.dataset.train
        right = 0
        for row, votes in zip(rows, zip(*evaluated.predictions, strict=True), strict=True):
            shares = {
                label: sum(w for v, w in zip(votes, evaluated.weights, strict=True) if v == label) for label in votes
            }
            shares.pop(None, None)
            top = max(shares.values(), default=0)
            right += min((s for s in shares if shares[s] > top - 1e-9), default=None) == row.target
        assert (evaluated.metric, evaluated.value) == ("accuracy", pytest.approx(right / len(rows)))


@CHOICES
@pytest.mark.parametrize("method", ["smc", "mh", "vml"])
def test_mse_is_the_literal_mean_over_every_row(method, final_weights):
    problem, _, _, end = ended("regression", method, final_weights=final_weights)
    targets = [row.target for row in problem.dataset.train]
    span = max(targets) - min(targets)
    for evaluated in scripted.of_kind(end, Evaluated):
        rows = problem.dataset.test if evaluated.split == "test" else problem.dataset.train
        total = 0.0
        for row, votes in zip(rows, zip(*evaluated.predictions, strict=True), strict=True):
            said = [(v, w) for v, w in zip(votes, evaluated.weights, strict=True) if v is not None]
            mean = sum(v * w for v, w in said) / sum(w for _, w in said) if said else row.target + span
            total += (mean - row.target) ** 2
        assert (evaluated.metric, evaluated.value) == ("mse", pytest.approx(total / len(rows)))


def evaluate_with(task, answer, *, texts=("a", "b")):
    """The test rows' evaluation of equally weighted texts."""
    config = scripted.paper(particles=len(texts))
    problem = scripted.make_problem(config, scripted.Script(task, answer=answer))
    particles = tuple(Particle(text=text, parent=k) for k, text in enumerate(texts))
    population = Population(step=-1, particles=particles, tau=1.0 if task == "regression" else None)

    async def once():
        yield await evaluate(problem, config, population, "test")

    return problem, scripted.asyncio.run(scripted.collect(once()))[0]


def test_a_row_on_which_all_abstain_is_wrong_and_stays_in_the_denominator():
    problem, evaluated = evaluate_with(
        "classification", lambda text, row, *, task: None if row.id in (100, 101) else row.target
    )
    assert len(problem.dataset.test) == 7
    assert evaluated.value == pytest.approx(5 / 7)


def test_a_row_on_which_all_abstain_is_the_targets_range_off_and_stays_in_the_denominator():
    problem, evaluated = evaluate_with("regression", lambda text, row, *, task: None if row.id == 100 else row.target)
    targets = [row.target for row in problem.dataset.train]
    assert evaluated.value == pytest.approx((max(targets) - min(targets)) ** 2 / 7)


def test_one_abstention_leaves_the_prediction_to_the_others():
    _, evaluated = evaluate_with("regression", lambda text, row, *, task: None if text == "a" else row.target + 2)
    assert evaluated.value == pytest.approx(4.0)
    _, evaluated = evaluate_with("classification", lambda text, row, *, task: None if text == "a" else row.target)
    assert evaluated.value == 1.0


def test_nothing_but_abstentions_scores_zero():
    assert evaluate_with("classification", lambda text, row, *, task: None)[1].value == 0.0


def test_final_weights_of_a_run_stopped_early_use_the_beta_of_its_last_step():
    config = scripted.paper(method="smc", final_weights="rescored")
    problem = scripted.make_problem(config, scripted.Script("classification"))
    stopped = scripted.populations(scripted.run(problem, config))[3]
    end = scripted.asyncio.run(scripted.collect(conclude(problem, config, stopped)))
    reweighted = scripted.of_kind(end, Reweighted)[0]
    assert (reweighted.step, reweighted.beta) == (2, pytest.approx(10 - 9 * 2 / 7))
    log_liks = [literal_log_p(problem, p.text, problem.buffer(2, size=12)) for p in stopped.particles]
    assert list(reweighted.weights) == pytest.approx(softmax([x / reweighted.beta for x in log_liks]))


def test_concluding_twice_gives_the_same():
    config = replace(scripted.paper(method="smc"), final_weights="rescored")
    problem = scripted.make_problem(config, scripted.Script("regression"))
    last = scripted.populations(scripted.run(problem, config))[-1]
    once, twice = (scripted.run_conclusion(problem, config, last) for _ in range(2))
    assert once == twice
