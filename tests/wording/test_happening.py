"""What happened in a step, against what runs of every method are known to have done."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.inspected import LABEL_CONFIG, label_events, labels, numbers
from tests.reporting.builders import SEED, drawn, finished, proposed, resampled, reweighted, scored, started, view_of
from tests.reporting.builders import YES_NO as DATA
from tests.reporting.sampled import SMALL, agreeing, sampled, sampled_run
from vpp.events import Event, RunFinished
from vpp.runs.reader import RunReader
from vpp.settings import Config
from vpp.wording.happening import happened

A, B, C = (f"{SEED} {letter}" for letter in "ABC")


def happenings(reader: RunReader) -> dict[int | None, str]:
    """By step; None the end."""
    snapshot = reader.refresh()
    config, view = snapshot.spec.config, snapshot.view
    return {step: happened(view, step, config) for step in (*view.steps, None)}


def described(config: Config, *events: Event, step: int | None = 0) -> str:
    """Of a run of two steps on four training rows."""
    return happened(view_of(started(config, DATA), *events), step, config)


def test_a_step_of_smc_names_its_weights_its_resampling_and_its_proposals(tmp_path: Path) -> None:
    assert happenings(labels(tmp_path)) == {
        -1: "The optimizer wrote 4 hypotheses from the first batch: 4 different texts.",
        0: "Step 0: ESS 3.2 of 4, no resampling. 1 of 4 proposals accepted, 2 rejected, 1 unchanged.",
        1: "Step 1: ESS 1.9 of 4, below 2, so the population was resampled: particle 0 now has two copies, "
        "and particle 3 ended. 1 of 4 proposals accepted, 2 rejected, 1 unreadable.",
        None: "The last texts were weighed once more, on the last buffer: ESS 3.3 of 4. "
        "Of 6 test rows the weighted vote got 3 right, 50.0\N{NO-BREAK SPACE}%.",
    }


def test_without_an_accept_step_changes_are_rewritings_and_an_error_is_no_vote(tmp_path: Path) -> None:
    of = happenings(numbers(tmp_path))
    assert of[0].endswith("1 of 3 hypotheses rewritten, without an accept step, 2 unchanged.")
    assert of[None] == (
        "The weights are those of the last step. On 4 test rows the weighted mean is off by about "
        "0.7071 (root of the mean squared error 0.5)."
    )


def test_resampling_names_few_particles_and_counts_many() -> None:
    config = Config(particles=6, epochs=1)
    weighed = [reweighted(0, (0.5, 0.5, 0, 0, 0, 0)), resampled(0, 0, 0, 0, 1, 1, 1)]
    assert described(config, *drawn(*[A] * 6), *weighed) == (
        "Step 0: ESS 2.0 of 6, below 3, so the population was resampled: particle 0 now has three copies, "
        "particle 1 now has three copies, and particles 2, 3, 4 and 5 ended."
    )
    all_but_one = [reweighted(0, (1, 0, 0, 0, 0, 0)), resampled(0, *[0] * 6)]
    assert described(config, *drawn(*[A] * 6), *all_but_one).endswith(
        "particle 0 now has six copies, and five others ended."
    )
    each_once = [reweighted(0, (0.5, 0.5, 0, 0, 0, 0)), resampled(0, *range(6))]
    assert described(config, *drawn(*[A] * 6), *each_once).endswith("resampled: each particle was kept once.")
    pairs = [reweighted(0, (0.2,) * 5 + (0.0,) * 5), resampled(0, *sorted([*range(5)] * 2))]
    assert described(Config(particles=10), *drawn(*[A] * 10), *pairs).endswith(
        "five particles now have copies, and five others ended."
    )


def test_a_step_that_goes_on_counts_the_proposals_still_to_come() -> None:
    config = Config(method="mh", particles=3)
    begun = [scored(0, slot, text, {0: "yes"}) for slot, text in enumerate((A, B, C))]
    two = [proposed(0, 0, A, B, accepted=True), proposed(0, 1, B, C)]
    assert described(config, *drawn(A, B, C), *begun) == "Step 0: scoring."
    assert described(config, *drawn(A, B, C), *begun, *two) == (
        "Step 0: 1 of 3 proposals accepted, 1 rejected, 1 still to come."
    )


RESULTS = {
    "aarruuu?": "2 of 8 proposals accepted, 2 rejected, 3 unchanged, 1 unreadable",
    "a": "1 of 1 proposal accepted",
    "uu": "0 of 2 proposals accepted, 2 unchanged",
}


@pytest.mark.parametrize("became", RESULTS)
def test_proposals_are_counted_by_their_result(became: str) -> None:
    """a accepted, r rejected, u left as it was, ? not to be read."""
    made: list[Event] = [scored(0, slot, A, {0: "yes"}) for slot in range(len(became))]
    for slot, what in enumerate(became):
        if what in "ar":
            made.append(proposed(0, slot, A, B, accepted=what == "a"))
        else:
            why, text = ("unchanged", A) if what == "u" else ("unparsable", None)
            made.append(proposed(0, slot, A, text, why=why, accepted=what == "u", log_alpha=None, u=None))
    made.append(finished(0, tuple([A] * len(became))))
    words = described(Config(method="mh", particles=len(became)), *drawn(*[A] * len(became)), *made)
    assert words == f"Step 0: {RESULTS[became]}."


BY_METHOD = (
    ("mh", 0, "Step 0: 2 of 4 proposals accepted, 2 rejected. 2 proposals drawn afresh from the prior, 0 of them"),
    ("mh on buffer", 0, "Step 0: 4 of 4 proposals accepted."),
    ("mh on train", -1, "The optimizer wrote 4 hypotheses from no data: "),
    ("always accept", -1, "The optimizer wrote 4 hypotheses from the first batch: 4 different texts."),
    ("always accept", 0, "Step 0: 4 of 4 hypotheses rewritten, without an accept step."),
    ("vml", -1, "First text of 1 hypothesis: the seed sentence."),
    ("vml", 0, "Step 0: 1 of 1 hypothesis rewritten, without an accept step."),
    ("vml", None, "Of 7 test rows it got "),
    ("vml5", -1, "First text of 5 hypotheses: the seed sentence."),
    ("incremental", 1, "Step 1: exponent φ 0.129, ESS 3.7 of 4, no resampling. 1 of 4 proposals"),
    ("adaptive", 0, "Step 0: exponent φ 0.519, ESS 2.0 of 4, just below 2, so the population was"),
)


def test_every_method_names_what_it_does() -> None:
    for name, step, words in BY_METHOD:
        assert happenings(sampled_run(name))[step].startswith(words), name


def test_a_k_that_grows_or_falls_is_named_at_its_step(tmp_path: Path) -> None:
    growing = sampled_run("growing mh", "regression")
    grown = {step for step, at in growing.refresh().view.steps.items() if at.joined}
    assert {step for step, words in happenings(growing).items() if "K grew from " in words} == grown
    config = Config(**{**SMALL, "epochs": 2}, particles_max=8)
    shrinking = sampled(tmp_path / "fallen", config, answer=agreeing)
    fallen = {step for step, at in shrinking.refresh().view.steps.items() if at.shrunk}
    assert {
        step for step, words in happenings(shrinking).items() if "All agreed, so K fell from 4 to 3." in words
    } == fallen
    assert grown
    assert fallen


def test_balanced_accuracy_stands_beside_accuracy_if_it_differs(tmp_path: Path) -> None:
    snapshot = labels(tmp_path).refresh()

    def end(balanced: float) -> str:
        return happened(snapshot.view, None, snapshot.spec.config, balanced=balanced).replace("\N{NO-BREAK SPACE}", " ")

    assert end(5 / 6).endswith("got 3 right, 50.0 %; balanced accuracy 83.3 %.")
    assert end(0.5).endswith("got 3 right, 50.0 %.")


def test_a_run_that_ended_early_says_where_and_that_no_test_row_was_asked() -> None:
    config = Config(method="always-accept", particles=2)
    happenings = described(config, *drawn(A, B), finished(0, (A, B)), RunFinished(outcome="stopped"), step=None)
    assert happenings == "The run ended after 1 of 2 steps. The test rows were not evaluated."
    before_any = described(config, *drawn(A, B), RunFinished(outcome="stopped"), step=None)
    assert before_any.startswith("The run ended after 0 of 2 steps.")


def test_first_hypotheses_that_are_alike_unreadable_or_taken_over_are_named() -> None:
    config = Config(particles=2)
    unread = [replace(event, reason="no rule") for event in drawn(A, A)[:2]]
    assert described(config, *unread, step=-1) == (
        "The optimizer wrote 2 hypotheses from the first batch: 1 different text. "
        "2 of the answers gave no usable rule: the seed sentence stays there."
    )
    over = [replace(event, origin="continued", raw="") for event in drawn(A, B)[:2]]
    assert described(config, *over, step=-1) == "2 hypotheses taken over from the earlier run."
    yours = replace(over[1], origin="yours")
    assert described(config, over[0], yours, step=-1) == "1 hypothesis taken over from the earlier run, 1 given by you."


def test_a_run_without_events_has_no_description() -> None:
    assert described(LABEL_CONFIG, step=-1) == ""
    assert happened(view_of(*label_events()[:1]), None, LABEL_CONFIG) == ""
