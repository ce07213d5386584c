"""The sentence on what happened in a step, checked on runs of every method."""

from pathlib import Path

from tests.inspected import labels
from tests.reporting.sampled import sampled_run
from vpp.findings.ideas import Names
from vpp.findings.step import happened
from vpp.runs.reader import RunReader


def happenings(reader: RunReader) -> dict[int | None, str]:
    """Sentences by step; None stands for the end."""
    snapshot = reader.refresh()
    config, view = snapshot.spec.config, snapshot.view
    return {step: happened(view, step, config, Names(view)) for step in (*view.steps, None)}


def test_a_step_of_smc_says_who_is_heaviest_what_is_copied_and_what_is_accepted(tmp_path: Path) -> None:
    assert happenings(labels(tmp_path)) == {
        -1: "Four hypotheses written from the first rows.",
        0: "Hypothesis 1 is the heaviest, with 75\N{NO-BREAK SPACE}%. The weights are even enough: none is copied. "
        "One of four rewrites accepted.",
        1: "Hypothesis 1 is the heaviest, with 80\N{NO-BREAK SPACE}%. One copied, one dropped. "
        "One of four rewrites accepted.",
        None: "The last hypotheses were weighed once more, each text once, on the last rows.",
    }


BY_METHOD = (
    ("mh", 0, "Two of four rewrites accepted."),
    ("mh on train", -1, "Four hypotheses written from the task alone"),
    ("always accept", 0, "Four of four rewrites taken."),
    ("vml", -1, "Every chain begins with the seed sentence."),
    ("vml", 0, "One of one rewrite taken."),
    ("incremental", 1, "Hypothesis "),
)


def test_every_method_names_what_it_does() -> None:
    for name, step, words in BY_METHOD:
        assert happenings(sampled_run(name))[step].startswith(words), name
