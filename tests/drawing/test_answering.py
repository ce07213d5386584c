"""What is said of a row that the particles were asked about, against votes counted by hand."""

import re
from dataclasses import replace

from tests.asked import told_labels, told_numbers
from tests.inspected import EVEN, LABEL_WEIGHTS, LABELS, NUMBERS, SEED, label_events
from tests.reporting.builders import view_of
from vpp.data.dataset import Row
from vpp.data.labelling import input_fields
from vpp.drawing import answering
from vpp.drawing.answering import (
    answers_html,
    asked_caption,
    dissent_sentence,
    headline,
    known_words,
    outside_html,
    sure_sentence,
    vote_html,
)
from vpp.inspection.votes import Vote, known_row, votes_on
from vpp.posterior.conformal import Conformal
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
    decided, undecided = ({vote.row.id: vote for vote in votes_on(told_labels(), doubt)}[9] for doubt in (sure, unsure))
    promise = (
        "With 40 calibration rows, the truth is possible for at least 90 % of similar new rows on average; one draw of "
        "them typically gives 82 % to 97 %."
    )
    assert sentences(decided)[:2] == [
        "Class yes, with 90 % of the weight behind it.",
        f"Possible: yes alone. {promise}",
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
ODD_VOTES = (
    (one("yes", weights=(1.0,)), "Class yes, says the one hypothesis.", "One hypothesis cannot disagree"),
    (one(None, None, weights=(0.5, 0.5)), "No particle gave a readable answer.", NOBODY),
    (one("yes", "no", weights=(1.0, 0.0)), "Class yes, with 100 % of the weight", f"{AGREE} (one of two)."),
    (one("yes", "yes", "no", weights=(0.5, 0.5, 0.0)), "Class yes, with 100 %", f"{AGREE} (two of three)."),
    (one("yes", None, weights=(0.0, 1.0)), "No particle with weight gave a readable", NOBODY),
)


def test_odd_votes_have_words_of_their_own() -> None:
    for vote, head, sure in ODD_VOTES:
        assert sentences(vote)[0].startswith(head)
        assert sentences(vote)[1].startswith(sure)


def test_no_class_leads_and_no_particle_dissents_at_a_tie() -> None:
    vote = one("yes", "no", weights=(0.5, 0.5))
    assert sentences(vote)[::2] == ["I don’t know: classes no and yes are tied, each with 50 % of the weight.", ""]
    counted = "I don’t know: classes no and yes are tied, each with one of two particles."
    assert sentences(vote, is_weighted=False)[0] == counted
    assert "dissents" not in answers_html(vote, ("a", "b"), seed_text=SEED, is_weighted=True)
    rows = answering.preview_html([vote, LABEL_VOTES[8]], LABELS, is_weighted=True)
    assert re.findall("I don’t know[^<]*", rows) == ["I don’t know; a tie", "I don’t know; yes leads"]


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


def test_an_input_beyond_the_training_rows_is_shown() -> None:
    # Training rows 0 to 3; row 9 asks about a = 9.
    html = outside_html(input_fields(LABELS), LABEL_VOTES[9])
    assert "a is 9; the training rows have 0 to 3. The sentences were never tested there." in html
    vote = replace(LABEL_VOTES[9], row=LABELS.train[2])
    assert outside_html(input_fields(LABELS), vote) == ""


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


def test_a_number_of_a_particle_without_weight_is_no_answer() -> None:
    answers = replace(told_numbers(), weights=(0.0, 0.0, 1.0))
    silent = tuple(Prediction(row=row.id, value=None) for row in answers.rows)
    vote = votes_on(replace(answers, predictions=(*answers.predictions[:2], silent)))[0]
    assert sentences(vote)[:2] == [
        "No particle with weight gave a readable answer.",
        "There is no answer to count. What each of them said is in the table.",
    ]
    assert ">none with weight</td><td>–</td><td>–<" in answering.preview_html([vote], NUMBERS, is_weighted=True)
    shown = {metric.name: metric.value for metric in answering.table_metrics([vote], 1, NUMBERS, is_weighted=True)}
    assert (shown["Mean spread"], plain(shown["Abstained"])) == ("–", "100 %")


def test_without_weights_no_words_speak_of_weight() -> None:
    for vote, dataset, texts in ((LABEL_VOTES[6], LABELS, told_labels().texts), (NUMBER_VOTES[7], NUMBERS, "abc")):
        shown = (
            vote_html(vote, dataset, is_weighted=False),
            answers_html(vote, tuple(texts), seed_text=SEED, is_weighted=False),
            answering.preview_html([vote], dataset, is_weighted=False),
            *(metric.words for metric in answering.table_metrics([vote], 1, dataset, is_weighted=False)),
        )
        assert [words for words in shown if "weight" in re.sub("<[^>]+>", " ", words).lower()] == []


def test_a_vote_of_abstentions_is_still_a_vote_of_labels() -> None:
    vote = one(None, None, weights=(0.5, 0.5))
    metrics = answering.table_metrics([vote], 1, LABELS, is_weighted=True)
    assert {metric.name: metric.value for metric in metrics}["Mean vote entropy"] == "–"
    assert 'class="vote"' not in vote_html(vote, LABELS, is_weighted=True)


def test_an_answer_of_an_earlier_population_says_so() -> None:
    ended, going_on = view_of(*label_events()), view_of(*label_events()[:-1])
    cases = (
        (ended, 1, LABEL_WEIGHTS, "it took 2 s."),
        (ended, 0, LABEL_WEIGHTS, "As of step 0. The run has ended since: ask again."),
        (ended, 1, (0.25,) * 4, "As of step 1. The run has ended since: ask again."),
        (going_on, 0, LABEL_WEIGHTS, "As of step 0. The run is at step 1 now: ask again."),
        (going_on, 1, LABEL_WEIGHTS, "As of step 1."),
    )
    for view, step, weights, ending in cases:
        vote = replace(LABEL_VOTES[9], weights=weights)
        assert plain(asked_caption(vote, step, view, took_s=2)).endswith(ending)


def test_a_long_text_is_shown_with_the_words_marked_that_particles_quote() -> None:
    said = tuple(replace(answer, explanation='"very <kind>", "a tip"') for answer in LABEL_VOTES[9].said)
    read = replace(LABEL_VOTES[9], said=said, row=Row(id=9, inputs=(("a", "Very <kind> staff. " * 5),), target=None))
    html = answering.texts_html(read)
    assert html.count("<mark>Very &lt;kind&gt;</mark> staff.") == 5
    assert "Quoted, but not in the row: “a tip”." in html
    assert asked_caption(read, 1, view_of(*label_events()), took_s=2).startswith("The answers took")
    assert answering.texts_html(LABEL_VOTES[9]) == ""


def test_a_row_of_the_data_is_recognised_by_its_cells() -> None:
    known = known_row(replace(LABELS.test[1], id=77, target=None), LABELS)
    assert known == LABELS.test[1]
    assert known_words(LABELS.test[1]) == "Row 5 of the data has these inputs; its true value is no."
    assert known_row(replace(LABELS.test[1], inputs=(("a", "5.0"),)), LABELS) is None
