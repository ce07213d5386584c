from itertools import accumulate

import pytest

from vpp.inference.plan import _scored_rows as scored_rows
from vpp.problem import batch_length
from vpp.settings import Config


@pytest.mark.parametrize(("n_train", "batch_size"), [(7, 3), (12, 4), (5, 9)])
def test_rows_on_a_buffer_are_counted_over_epochs_as_batches_have_them(n_train: int, batch_size: int) -> None:
    config = Config(method="smc", batch_size=batch_size, buffer_size=10**6, deduplicate_buffer=False)
    lengths = [batch_length(t, n_train=n_train, batch_size=batch_size) for t in range(10)]
    assert [scored_rows(config, t, n_train) for t in range(10)] == list(accumulate(lengths))
