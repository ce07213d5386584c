"""A step is named by its number, from 0; whole steps are counted."""

from tests.inspected import label_events
from tests.reporting.builders import view_of
from vpp.events import StepFinished
from vpp.wording.counts import step_name, steps_done, steps_text


def test_a_step_that_is_not_whole_is_named_as_under_way_and_not_counted() -> None:
    events = label_events()
    ends = [i for i, event in enumerate(events) if isinstance(event, StepFinished)]
    view = view_of(*events[: ends[-1]])
    assert (steps_done(view), steps_text(view)) == (1, "1 of 2 steps")
    assert [step_name(view, step) for step in (0, 1)] == ["step 0", "step 1, under way"]
    whole = view_of(*events)
    assert (steps_text(whole), step_name(whole, 1)) == ("2 of 2 steps", "step 1")
    assert steps_text(view_of(events[0])) == "0 of 2 steps"
