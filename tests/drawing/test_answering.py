"""What is said of a row that the particles were asked about, against votes counted by hand."""

import re
from dataclasses import replace

from tests.asked import told_labels, told_numbers
from tests.inspected import EVEN, LABELS, NUMBERS, SEED
from vpp.data.dataset import Row
from vpp.data.labelling import input_fields
from vpp.drawing import answering
from vpp.drawing.answering import answers_html, dissent_sentence, headline, sure_sentence, vote_html
from vpp.findings.points import Vote, votes_on
from vpp.posterior.calibration import Conformal, RejectOption
from vpp.problem import Prediction

LABEL_VOTES = {vote.row.id: vote for vote in votes_on(told_labels())}
NUMBER_VOTES = {vote.row.id: vote for vote in votes_on(told_numbers())}


def plain(words: str) -> str:
    return words.replace("\N{NO-BREAK SPACE}", " ")


def sentences(vote: Vote, *, is_weighted: bool = True) -> list[str]:
    dataset = LABELS if vote.is_label else NUMBERS
    return [
        plain(headline(vote, dataset, is_weighted=is_weighted)),
        plain(sure_sentence(vote, dataset, is_weighted=is_weighted)),
        plain(dissent_sentence(vote, is_weighted=is_weighted)),
    ]


def test_a_vote_of_labels_says_how_far_it_is_backed_and_who_dissents() -> None:
    # Row 9: yes 0.4 + 0.3 + 0.2; no 0.1. Row 6: the abstention does not break unanimity.
    # Row 8: yes 0.4 + 0.2, no 0.3 + 0.1, less than two thirds: 0.97 bits.
    assert {row: sentences(LABEL_VOTES[row]) for row in (9, 6, 8)} == {
        9: [
            "Class yes, with 90 % of the weight behind it.",
            "Nearly all agree: vote entropy 0.47 bits, where 0 is unanimous and 1.00 an even split.",
            "The one dissent, particle 3, says no: “because no”",
        ],
        6: [
            "Class yes, with 90 % of the weight behind it.",
            "All particles that hold weight and answered agree (three of four); 10 % of the weight gave no answer.",
            "",
        ],
        8: [
            "I don’t know: class yes leads, with only 60 % of the weight behind it.",
            "They differ too much for an answer: vote entropy 0.97 bits, where 0 is unanimous and 1.00 an even split.",
            "Two dissent, with 40 % of the weight. The heaviest, particle 1, says no: “because no”",
        ],
    }
    # Without weights the particles are counted.
    answers = replace(told_labels(), weights=(0.25, 0.25, 0.25, 0.25))
    vote = {vote.row.id: vote for vote in votes_on(answers)}[9]
    assert sentences(vote, is_weighted=False)[0] == "Class yes, with three of four particles behind it."
    assert sentences(vote, is_weighted=False)[1].startswith("They are divided")


def test_a_calibrated_vote_says_what_is_possible() -> None:
    """Row 9: yes 0.9, no 0.1. It decides if 90 % exceed the threshold."""
    sure, unsure = (Conformal(scores=(0.0,) * (40 - n) + (0.95,) * n, classes=("no", "yes")) for n in (0, 8))
    rules = (RejectOption(conformal=doubt, n_decided=30, n_right=27) for doubt in (sure, unsure))
    decided, undecided = ({vote.row.id: vote for vote in votes_on(told_labels(), rule)}[9] for rule in rules)
    promise = (
        "With 40 calibration rows, the truth is possible for at least 90 % of similar new rows on average; one draw of "
        "them typically gives 82 % to 97 %."
    )
    assert sentences(decided)[:2] == [
        "Class yes, with 90 % of the weight behind it.",
        "Possible: yes alone. Of such answers to calibration rows, 27 of 30 were right: that means 74 % to 97 %.",
    ]
    assert sentences(undecided)[:2] == ["I don’t know: one of no, yes.", f"Possible: one of no, yes. {promise}"]


def test_numbers_have_a_mean_a_spread_and_its_scale() -> None:
    # Training targets 0 1 2 4: variance (1.75² + 0.75² + 0.25² + 2.25²) / 4 = 2.1875, so 1.479.
    # Row 4: 1 2 0 at 0.5, 0.25, 0.25: mean 1, spread √0.5 = 0.7071, 0.48 of 1.479.
    assert sentences(NUMBER_VOTES[4]) == [
        "1, the weighted mean of three answers.",
        "They are divided: a spread of 0.7071, where the training targets spread by 1.479. "
        "It is the particles’ spread alone: the target’s own noise is not included.",
        "The lowest, particle 2 of weight 0.250, says 0: “because 0.0” "
        "The highest, particle 1 of weight 0.250, says 2: “because 2.0”",
    ]
    # Row 5: 3 3 3.
    assert sentences(NUMBER_VOTES[5])[1:] == ["All particles that hold weight and answered agree (three of three).", ""]
    assert "0 to 2" in vote_html(NUMBER_VOTES[4], NUMBERS, is_weighted=True)
    # Row 7: 2 at 0.5 and 4 at 0.25 of 0.75, a mean of 8/3, to a decimal more than the training targets have.
    assert headline(NUMBER_VOTES[7], NUMBERS, is_weighted=True).startswith("I don’t know; about 2.7,")
    assert "2.7" in vote_html(NUMBER_VOTES[7], NUMBERS, is_weighted=True)
    assert "2.7</td>" in answering.preview_html([NUMBER_VOTES[7]], NUMBERS, is_weighted=True)


def one(*said: str | None, weights: tuple[float, ...]) -> Vote:
    row = Row(id=0, inputs=(("a", "1"),), target=None)
    answers = replace(
        told_labels(),
        rows=(row,),
        texts=tuple("abc"[: len(said)]),
        weights=weights,
        predictions=tuple((Prediction(row=0, value=value),) for value in said),
    )
    return votes_on(answers)[0]


NOBODY, AGREE = "There is no answer to count.", "All particles that hold weight and answered agree"


def test_particles_that_hold_one_sentence_stand_in_one_line_without_the_seed() -> None:
    answers = replace(told_labels(), texts=(EVEN, "<b>x</b>", EVEN, "y"))
    html = answers_html(LABEL_VOTES[9], answers.texts, seed_text=SEED, is_weighted=True)
    assert re.findall(r'<tr><td>([^<]*)</td><td class="r">([^<]*)<', html) == [
        ("0, 2", "0.600"),
        ("1", "0.300"),
        ("3", "0.100"),
    ]
    assert SEED not in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html
    assert "<b>no</b> (dissents)" in html


def test_a_table_is_shown_in_numbers() -> None:
    found = list(LABEL_VOTES.values())
    metrics = {
        metric.name: (metric.value, metric.scale)
        for metric in answering.table_metrics(found, 10, LABELS, is_weighted=True)
    }
    # Not unanimous: row 7 (no 0.7), row 8 (yes 0.6), row 9 (yes 0.9). Below two thirds: row 8.
    # Bits 0.8813 + 0.9710 + 0.4690 over six rows: 0.3869; abstained 0.1 of six rows: 1.7 %.
    assert {name: (plain(value), scale) for name, (value, scale) in metrics.items()} == {
        "Rows answered": ("6", "of 10"),
        "Uncertain rows": ("3", "of 6"),
        "I don’t know": ("1", "of 6"),
        "Mean vote entropy": ("0.39", "bits"),
        "Abstained": ("2 %", ""),
    }
    assert answering.outside_sentence(input_fields(LABELS), found).startswith("Six of six rows hold a value")
