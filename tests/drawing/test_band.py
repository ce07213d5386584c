"""The numbers under the step band: as many as have room."""

from itertools import pairwise

import pytest

from vpp.drawing.band import WIDTHS, steps_numbered


@pytest.mark.parametrize(("total", "width"), [(12, WIDTHS["tick"]), (32, WIDTHS["mid"]), (53, WIDTHS["wide"])])
@pytest.mark.parametrize("has_end", [True, False])
def test_each_step_of_a_short_run_is_numbered(total: int, width: int, has_end: bool) -> None:
    assert steps_numbered(total, width, has_end=has_end) == frozenset(range(total))


@pytest.mark.parametrize("width", WIDTHS.values())
@pytest.mark.parametrize("total", [13, 54, 101, 200, 1500, 20_000])
@pytest.mark.parametrize("has_end", [True, False])
def test_no_two_numbers_of_a_long_run_touch(total: int, width: int, has_end: bool) -> None:
    places = [*sorted(steps_numbered(total, width, has_end=has_end)), *([total] if has_end else [])]
    assert all((b - a) * width / total >= 7 * len(str(b)) for a, b in pairwise(places))
    assert (total - 1 in places) is (not has_end or total <= width // 18)
