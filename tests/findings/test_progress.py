"""What a page says of the calls and of the rewriting, on hand-made runs."""

from dataclasses import replace

import pytest

from tests.reporting.builders import YES_NO, drawn, evaluated, finished, proposed, scored, started, view_of
from vpp.findings.progress import activity_words
from vpp.findings.status import pending_words
from vpp.runs.directory import State
from vpp.settings import Config


@pytest.mark.parametrize("state", ["running", "stalled"])
def test_a_pending_command_says_whether_the_worker_responds(state: State) -> None:
    words = {pending_words(command, state) for command in ("stop", "pause")}
    assert len(words) == (1 if state == "stalled" else 2)
    assert all(("does not respond" in each) == (state == "stalled") for each in words)


def test_what_a_run_does_now_counts_the_particles_done() -> None:
    """Programs are written at step 0; later steps run those that they have."""
    config, rows = Config(particles=2), {0: "yes", 1: "no"}
    by_row = replace(config, reading="rows")
    begun = started(config, YES_NO)
    score, rewrite = scored(0, 0, "A", rows), proposed(0, 0, "A", "B", accepted=True)
    made = (begun, *drawn("A", "B"), score)
    assert activity_words(view_of(begun), config) == "writing the first hypotheses: 0 of 2"
    assert activity_words(view_of(*made), config) == "writing programs: 1 of 2"
    assert activity_words(view_of(*made), by_row) == "scoring"
    assert activity_words(view_of(*made, rewrite), config) == "rewriting: 1 of 2"
    at_end = (*made, finished(0, ("A", "B")), finished(1, ("A", "B")))
    assert activity_words(view_of(*at_end), config) == "final weights and test rows"
    train = evaluated(YES_NO, {"A": ["yes"] * 4, "B": ["no"] * 4}, slots=("A", "B"), split="train")
    assert activity_words(view_of(*at_end, train), config) == "reading some rows without the programs"
    assert activity_words(view_of(*at_end, train), replace(config, certify=0)) == "final weights and test rows"
