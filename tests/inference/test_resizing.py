"""A population that grows while ideas are few and shrinks when all agree, within its bounds."""

import math
from itertools import pairwise

import pytest

from vpp.events import ParticleDrawn, Proposed, Resampled, Reweighted, StepFinished
from vpp.inference.drawing import shrink
from vpp.inference.plan import PATIENCE
from vpp.inference.population import Particle, Population
from vpp.posterior.weights import systematic_resample

from . import scripted


def keep(text, rows, predictions, temperature, seed):
    """An optimizer that is content with whatever stands."""
    return text, "Keep it."


def first_draw(good, bad):
    """An optimizer that writes `good` or `bad` from the seed sentence, by its temperature, and then keeps it."""

    def write(text, rows, predictions, temperature, seed):
        if text != scripted.SEED_TEXT:
            return text, "Keep it."
        return (good if temperature < 0.5 else bad), "New rule."

    return write


def right(text, row, *, task):
    return row.target


def run(name, *, write, answer=scripted.answer, **options):
    config = scripted.variant(name, **{"epochs": 4, **options})
    problem = scripted.make_problem(config, scripted.Script("classification", write=write, answer=answer))
    return config, problem, scripted.run(problem, config)


def sizes(events):
    return [len(e.population) for e in scripted.of_kind(events, StepFinished)]


@pytest.mark.parametrize("name", ["mh with a growing K", "smc with a growing K"])
def test_k_doubles_after_three_steps_of_few_texts_and_no_further_than_its_bound(name):
    config, _, events = run(name, write=keep)
    assert sizes(events)[: PATIENCE + 1] == [config.particles] * (PATIENCE) + [config.particles * 2]
    assert max(sizes(events)) == sizes(events)[-1] == config.particles_max
    steps = sizes(events)
    assert all(after in (before, min(2 * before, config.particles_max)) for before, after in pairwise(steps))


def test_newcomers_are_drawn_from_the_steps_batch_and_told_with_their_step():
    config, _, events = run("smc with a growing K", write=keep)
    joined = [e for e in scripted.of_kind(events, ParticleDrawn) if e.step >= 0]
    assert [e.particle for e in joined if e.step == 2] == [3, 4, 5]
    assert {e.step for e in joined} <= {e.step for e in scripted.of_kind(events, StepFinished)}
    last = {e.step: len(e.population) for e in scripted.of_kind(events, StepFinished)}
    for drawn in joined:
        assert last[drawn.step - 1] <= drawn.particle < last[drawn.step]
    assert sizes(events)[-1] > config.particles


def test_a_newcomer_counts_as_the_average_particle_until_it_is_weighed():
    *_, events = run("smc with a growing K", write=first_draw(scripted.TEXTS[4], scripted.TEXTS[14]))
    grown = [
        e
        for e in scripted.of_kind(events, StepFinished)
        if any(d.step == e.step for d in scripted.of_kind(events, ParticleDrawn)) and e.step >= 0
    ]
    assert grown
    for finished in grown:
        population = next(p for p in scripted.populations(events) if p.step == finished.step)
        new = [d.particle for d in scripted.of_kind(events, ParticleDrawn, step=finished.step)]
        for slot in new:
            assert population.weights[slot] == pytest.approx(1 / population.size)


@pytest.mark.parametrize("name", ["mh with a growing K", "smc with a growing K"])
def test_k_halves_after_three_steps_of_agreement_and_no_further_than_its_bound(name):
    *_, events = run(name, write=scripted.rewrite_anew, answer=right, particles=12, particles_max=12)
    steps = sizes(events)
    assert steps[: PATIENCE + 1] == [12, 12, 12, 6]
    assert steps[-1] == 3
    shrunk = scripted.of_kind(events, Resampled, why="agreement")
    assert [len(e.ancestors) for e in shrunk] == [6, 3]
    for event in shrunk:
        assert len(set(event.ancestors)) == len(event.ancestors), "equal weights: nobody is copied"


def test_who_shrinks_goes_by_the_weights_which_are_equal_afterwards():
    weights = (0.03, 0.32, 0.02, 0.31, 0.01, 0.31)
    particles = tuple(
        Particle(text=f"text {k}", parent=k, log_weight=math.log(w), log_likelihood=-float(k))
        for k, w in enumerate(weights)
    )
    event, smaller = shrink(0, Population(step=3, particles=particles, agreed_for=PATIENCE))
    assert list(event.ancestors) == systematic_resample(weights, u=event.u, size=3).tolist() == [1, 3, 5]
    assert [(p.text, p.log_weight, p.log_likelihood) for p in smaller.particles] == [
        ("text 1", 0.0, -1.0),
        ("text 3", 0.0, -3.0),
        ("text 5", 0.0, -5.0),
    ]
    assert smaller.agreed_for == 0


def test_those_who_agree_on_a_wrong_idea_do_not_shrink():
    def wrong(text, row, *, task):
        return "no" if row.target == "yes" else "yes"

    *_, events = run("mh with a growing K", write=scripted.rewrite_anew, answer=wrong, particles=6, particles_max=6)
    assert set(sizes(events)) == {6}


@pytest.mark.parametrize(
    ("name", "size", "options"),
    [
        ("smc with a growing K", 3, {"write": keep}),
        ("mh with a growing K", 9, {"write": scripted.rewrite_anew, "answer": right, "particles": 9}),
    ],
)
def test_the_last_step_leaves_k_alone_so_that_weights_and_particles_belong_together(name, size, options):
    _, problem, events = run(name, epochs=1, batch_size=7, **options)
    assert problem.steps == PATIENCE
    assert sizes(events) == [size] * 4


def test_a_low_ess_that_stays_low_makes_k_grow_though_every_text_is_new():
    def one_knows(text, row, *, task):
        return row.target if text.endswith(("0", "1")) else None

    *_, events = run(
        "smc with a growing K",
        write=scripted.rewrite_anew,
        answer=one_knows,
        particles=6,
        particles_max=12,
        beta_start=1.0,
    )
    low = [e.ess < 0.5 * len(e.weights) for e in scripted.of_kind(events, Reweighted)]
    first = next(step for step in range(len(low)) if all(low[step : step + PATIENCE]))
    assert not any(
        len(e.population) != 6 for e in scripted.of_kind(events, StepFinished) if e.step < first + PATIENCE - 1
    )
    assert sizes(events)[first + PATIENCE] == 12
    assert len({e.proposal for e in scripted.of_kind(events, Proposed)}) > 6, "though every text is new"
