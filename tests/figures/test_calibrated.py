"""A hypothesis with weight 0.9 is the right one nine times in ten. `python -m tests.figures` measures whole runs."""

import numpy as np
import pytest

from vpp.settings import Config

from .__main__ import SAMPLERS, bins
from .simulated import judge, run, run_on_chance, sentence, simulate, weigh

SENTENCES, ROWS = 6, 6  # so few that some posterior is unsure


def test_weights_are_calibrated_at_any_noise() -> None:
    """400 tables, and sentences of the truth's own law: what a sampler adds by fitting sentences to rows is left out.

    A bin is off by more than 3.3 standard errors with probability 1e-3. The prior of the noise may add 0.05.
    """
    tables = []
    for seed in range(400):
        table = data, truth = simulate(seed, unseen=40)
        rng = np.random.default_rng([seed, 1])
        rivals = [sentence((*data.train, *data.test), rng) for _ in range(SENTENCES - 1)]
        tables.append(weigh(table, [truth, *rivals], n_rows=ROWS).meanings)
    found = bins(tables)
    assert len(found) == 5
    assert all(abs(weight - share) < 0.05 + 3.3 * error for weight, share, error, _ in found), found


def test_a_hypothesis_is_meanings_alike_on_95_percent_and_true_if_its_text_is_as_near_the_truth() -> None:
    """Numbers are 10, 20, to 80: bounds of 40 and 45 mean the same; the exception is 2 % of the rows, a = 50 16 %."""
    rule = "You predict y. {}If a is at most {}, output no; otherwise, output yes."
    exception = rule.format("If a is at most 40 and b is at most 10 and c is at most 20, output yes; otherwise, ", 40)
    texts = [rule.format("", bound) for bound in (40, 45, 50)]
    judged = judge((simulate(0)[0], texts[0]), [*texts, exception], [0.125, 0.125, 0.25, 0.5])
    assert judged.meanings == ((0.25, True), (0.25, False), (0.5, False))
    assert judged.hypotheses == ((0.75, True), (0.25, False))


def test_labels_of_chance_single_out_no_sentence_and_decide_hardly_a_row() -> None:
    """Twenty tables, whose labels are put in random order. The runs are deterministic.

    Where one label has more than two thirds of the rows, that label is a rightful answer to each.
    """
    runs = [run_on_chance(seed, Config()) for seed in range(20)]
    assert np.mean([run.heaviest for run in runs]) < 0.3
    assert np.mean([run.ess for run in runs]) > 0.7
    even = [run for run in runs if run.commonest < 2 / 3]
    assert len(even) >= 10
    assert np.mean([run.undecided for run in even]) > 0.8
    assert all(run.is_constant for run in runs if run not in even)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samplers_find_the_truth_without_noise(sampler: str) -> None:
    """The runs are deterministic: a failure is a change of behaviour, not of luck."""
    runs = [run(seed, SAMPLERS[sampler]) for seed in (0, 5, 10)]
    assert sum(each.is_found for each in runs) >= 2
    assert all(each.accuracy > 0.9 for each in runs)
