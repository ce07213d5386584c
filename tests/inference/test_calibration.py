"""Simulation-based calibration (Talts et al., 2018) of the shipped samplers, on 24 hypotheses with a uniform prior.

A hypothesis drawn from the prior makes the labels of a table, with a noise drawn from Beta(1, 9); half of the tables
have labels of chance, by a share drawn evenly, as the prior of the constant answer has it. The truth's place in the
sampler's posterior, from the likeliest down, the constant answer among them, is uniform if the weights are right. The
optimizer is a fake that draws and refines in this space, since no model has a known prior: how well a model writes is
no part of this.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import kstest

from vpp.data.dataset import Row
from vpp.events import Reweighted
from vpp.posterior.likelihood import ERROR_PRIOR
from vpp.settings import Config

from . import scripted

SIZE, ROWS, TABLES = 24, 12, 120
FALSE_ALARM = 1e-4
"""Probability that a test fails although the weights are right. The error of 60 particles comes on top."""
TEXTS = [f"{scripted.SEED_TEXT} below {j}" for j in range(SIZE)]
NUMBER = {text: j for j, text in enumerate([*TEXTS, scripted.SEED_TEXT])}
SAMPLERS = {"default": {}, "rows": {"reading": "rows"}, "exact": {"tempering": "incremental", "restart": 1.0}}


def answer(text, row, *, task):
    return "yes" if int(row.inputs[0][1]) < NUMBER[text] else "no"


def draw(temperature, seed):
    """Return a hypothesis of the prior; three in ten cannot be read."""
    is_unread = scripted.digest("unread", seed) % 10 < 3
    return None if is_unread else TEXTS[scripted.digest("prior", seed) % SIZE], "raw"


def refine(text, rows, predictions, temperature, seed):
    """Return a neighbour or any hypothesis, whichever is right on more of these rows."""
    number = scripted.digest(text, seed)
    choices = (TEXTS[j % SIZE] for j in (NUMBER[text] + number % 7 - 3, number // 7))
    return max(choices, key=lambda one: sum(answer(one, row, task="") == row.target for row in rows)), "raw"


def table(rng):
    """A data set, and the number of the hypothesis that made it; SIZE is the constant answer."""
    true, noise = int(rng.integers(SIZE)), rng.beta(*ERROR_PRIOR)
    if rng.random() < 0.5:
        true, noise = SIZE, rng.random()
    cells, flips = rng.integers(0, SIZE, ROWS), rng.random(ROWS) < noise
    rows = tuple(
        Row(id=i, inputs=(("x", str(x)),), target="yes" if (x < true) != flip else "no")
        for i, (x, flip) in enumerate(zip(cells, flips, strict=True))
    )
    return replace(scripted.make_dataset("classification"), train=rows, test=()), true


def posterior(dataset, config):
    """(25,) weights at the end of a run, the constant answer's last."""
    script = scripted.Script("classification", write=refine, answer=answer, imagine=draw)
    problem = scripted.make_problem(config, script, dataset=dataset)
    last = scripted.populations(scripted.run(problem, config))[-1]
    final = scripted.of_kind(scripted.run_conclusion(problem, config, last), Reweighted)
    numbers = [NUMBER[particle.text] for particle in last.particles]
    weights = np.bincount(numbers, weights=final[0].weights if final else last.weights, minlength=SIZE)
    return np.append(weights, final[0].constant.weight if final else 0.0)


def place(weights, true, u):
    """Weight of the hypotheses likelier than the true one, plus a share u of those as likely, itself included."""
    alike = np.isclose(weights, weights[true])
    return weights[(weights > weights[true]) & ~alike].sum() + u * weights[alike].sum()


@cache
def runs(sampler):
    """(posterior, true, u) of each table."""
    found = []
    for seed in range(TABLES):
        rng = np.random.default_rng(seed)
        dataset, true = table(rng)
        config = Config(particles=60, batch_size=6, epochs=1, seed=seed, **SAMPLERS[sampler])
        found.append((posterior(dataset, config), true, rng.random()))
    return found


def p_value(sampler, *, power=1):
    raised = ((weights**power, true, u) for weights, true, u in runs(sampler))
    return kstest([place(weights / weights.sum(), true, u) for weights, true, u in raised], "uniform").pvalue


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_true_hypothesis_has_any_place_in_the_posterior_unless_weights_count_the_likelihood_twice(sampler):
    assert p_value(sampler) > FALSE_ALARM
    assert p_value(sampler, power=2) < FALSE_ALARM
