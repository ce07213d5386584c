"""A sentence with weight 0.9 is the right one nine times in ten. `python -m tests.figures` measures whole runs."""

import numpy as np
import pytest

from vpp.settings import Config

from .__main__ import SAMPLERS, bins
from .simulated import run, run_on_chance, sentence, simulate, weighed

SENTENCES, ROWS = 6, 6  # so few that some posterior is unsure


def test_weights_are_calibrated_at_any_noise() -> None:
    """200 tables, and sentences of the truth's own law: what a sampler adds by fitting sentences to rows is left out.

    A bin fails by chance with probability 1e-3 at most, if its weights are right.
    """
    meanings: list[tuple[float, bool]] = []
    for seed in range(200):
        table = data, truth = simulate(seed, unseen=40)
        rng = np.random.default_rng([seed, 1])
        rivals = [sentence((*data.train, *data.test), rng) for _ in range(SENTENCES - 1)]
        meanings += weighed(table, [truth, *rivals], n_rows=ROWS).meanings
    found = bins(meanings)
    assert len(found) == 5
    assert all(abs(weight - share) < 0.1 + 3.3 * error for weight, share, error, _ in found), found


def test_labels_of_chance_single_out_no_sentence_and_decide_hardly_a_row() -> None:
    """Five tables, whose labels are put in random order. The runs are deterministic."""
    heaviest, ess, undecided = np.mean([run_on_chance(seed, Config()) for seed in range(5)], axis=0)
    assert heaviest < 0.3
    assert ess > 0.7
    assert undecided > 0.8


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samplers_find_the_truth_without_noise(sampler: str) -> None:
    """The runs are deterministic: a failure is a change of behaviour, not of luck."""
    runs = [run(seed, SAMPLERS[sampler]) for seed in (0, 10)]
    assert any(each.is_found for each in runs)
    assert all(each.accuracy > 0.9 for each in runs)
