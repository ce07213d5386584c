"""Growth laws: what the page of figures reads off."""

from itertools import accumulate

import pytest

from tests.performance.scaling import growth
from vpp.inference.plan import _scored_rows as scored_rows
from vpp.problem import batch_length
from vpp.settings import Config


def test_the_exponent_of_a_power_is_recovered() -> None:
    assert growth([1, 10, 100], [3, 3 * 10**1.5, 3 * 10**3]) == pytest.approx(1.5)


def test_what_is_not_above_nothing_has_no_part_in_a_law() -> None:
    assert growth([1, 10, 100], [0, 1, 10]) is None
    assert growth([1, 10, 100, 1000], [0, 1, 10, 100]) == pytest.approx(1)


@pytest.mark.parametrize(("n_train", "batch_size"), [(7, 3), (12, 4), (5, 9)])
def test_rows_on_a_buffer_are_counted_over_epochs_as_batches_have_them(n_train: int, batch_size: int) -> None:
    config = Config(method="smc", batch_size=batch_size, buffer_size=10**6, deduplicate_buffer=False)
    lengths = [batch_length(t, n_train=n_train, batch_size=batch_size) for t in range(10)]
    assert [scored_rows(config, t, n_train) for t in range(10)] == list(accumulate(lengths))
