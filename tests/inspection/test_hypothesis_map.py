"""The map of the two small runs of tests/inspected.py, and of runs with few particles or few answers."""

from math import hypot

import pytest

from tests.inspected import BIG, EVEN, LABEL_CONFIG, LABELS, NONE, NUMBER_CONFIG, NUMBERS, ODD
from tests.reporting.builders import drawn, finished, proposed, scored, started, view_of
from vpp.events import Event
from vpp.inspection.hypothesis_map import ASPECT, HypothesisMap, Point, hypothesis_map
from vpp.runs.reader import RunReader
from vpp.settings import Config

MH = Config(method="mh", particles=2, batch_size=2, epochs=1)


def far(a: Point, b: Point) -> float:
    return hypot(a.x - b.x, a.y - b.y)


def map_of(*events: Event, config: Config = MH, step: int | None = 0) -> HypothesisMap:
    return hypothesis_map(view_of(started(config, LABELS), *events), config, LABELS, step)


def test_the_end_shows_the_shares_of_evaluated_rows_that_are_answered_differently(labels: RunReader) -> None:
    """EVEN and PAIR answer alike. On 10 rows BIG differs from them on 2, ODD on 4 from both: a triangle, so exact."""
    found = hypothesis_map(labels.refresh().view, LABEL_CONFIG, LABELS, None)
    first, second, third = found.alive
    assert [point.slots for point in found.alive] == [(0, 2), (1,), (3,)]
    assert [point.text for point in found.alive] == [EVEN, BIG, ODD]
    assert [point.weight for point in found.alive] == pytest.approx([0.6, 0.3, 0.1])
    assert [point.apart for point in found.alive] == pytest.approx([0, 0.2, 0.4])
    assert [far(first, second), far(first, third), far(second, third)] == pytest.approx([0.2, 0.4, 0.4])
    assert (found.n_rows, found.n_particles) == (10, 4)
    assert found.stress == pytest.approx(0, abs=1e-9)


def test_a_step_shows_the_texts_it_weighs_on_the_rows_it_scored_them_on(labels: RunReader) -> None:
    """Step 1 scores rows 0 to 3: ODD differs from EVEN on one, NONE on two."""
    found = hypothesis_map(labels.refresh().view, LABEL_CONFIG, LABELS, 1)
    assert [(point.slots, point.front, round(point.apart, 2)) for point in found.alive] == [
        ((0, 1), 0, 0.0),
        ((2,), 2, 0.25),
        ((3,), 3, 0.5),
    ]
    assert found.n_rows == 4


def test_a_text_that_is_gone_stays_where_it_was_and_lines_come_from_parents_that_are_drawn(labels: RunReader) -> None:
    """Step 1 resamples slots 0, 0, 1, 2: NONE is dropped, BIG in slot 1 comes from EVEN, the others stay."""
    end = hypothesis_map(labels.refresh().view, LABEL_CONFIG, LABELS, None)
    (gone,) = (point for point in end.points if point.is_gone)
    assert (gone.text, gone.slots, gone.weight) == (NONE, (3,), pytest.approx(0.1))
    even, *_ = end.alive
    assert [point.parents for point in end.alive] == [(), ((even.x, even.y),), ()]
    before = hypothesis_map(labels.refresh().view, LABEL_CONFIG, LABELS, 1)
    assert far(before.alive[0], before.alive[2]) == pytest.approx(0.5)
    assert far(even, gone) == pytest.approx(0.5, abs=0.1), "the places of one step are aligned to those before"


def test_numbers_are_apart_by_their_mean_difference_as_a_share_of_the_range(numbers: RunReader) -> None:
    """The range is 4. LINE and SLOPE: test 1 0 2 and 4 (abstained), training 0 0 0 1; and FLAT: 1 0 0 2, 2 1 0 1."""
    found = hypothesis_map(numbers.refresh().view, NUMBER_CONFIG, NUMBERS, None)
    assert {point.slots: point.apart for point in found.alive} == pytest.approx(
        {(0,): 0, (1,): 8 / 8 / 4, (2,): 7 / 8 / 4}
    )
    assert not found.is_label


def two_chains(steps: int) -> list[Event]:
    """Chain 0 says yes, chain 1 no; neither ever changes. Each step asks both about the next two rows."""
    events: list[Event] = list(drawn("yes", "no"))
    for step in range(steps):
        rows = (2 * step % 4, 2 * step % 4 + 1)
        for slot, text in enumerate(("yes", "no")):
            events.append(scored(step, slot, text, dict.fromkeys(rows, text)))
            events.append(proposed(step, slot, text, text, why="unchanged", log_alpha=None, u=None))
        events.append(finished(step, ("yes", "no")))
    return events


def test_chains_are_compared_on_the_rows_of_all_steps_since_the_youngest_text() -> None:
    assert [map_of(*two_chains(3), step=step).n_rows for step in range(3)] == [2, 4, 4]
    found = map_of(*two_chains(2), step=1)
    assert [(point.slots, point.weight, point.apart) for point in found.alive] == [((0,), 0.5, 0), ((1,), 0.5, 1)]
    assert not found.is_weighted


def test_hypotheses_that_stay_do_not_jump() -> None:
    view = view_of(started(MH, LABELS), *two_chains(6))
    places = {
        tuple((round(point.x, 9), round(point.y, 9)) for point in hypothesis_map(view, MH, LABELS, step).points)
        for step in range(6)
    }
    assert len(places) == 1


def test_every_dot_lies_in_the_frame(labels: RunReader) -> None:
    view = labels.refresh().view
    for step in (0, 1, None):
        found = hypothesis_map(view, LABEL_CONFIG, LABELS, step)
        assert all(abs(p.x) <= found.half + 1e-9 and abs(p.y) <= found.half * ASPECT + 1e-9 for p in found.points)
