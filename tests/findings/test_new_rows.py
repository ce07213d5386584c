"""Words on a row that the hypotheses were asked about, against votes counted by hand."""

from dataclasses import replace

from tests.asked import told_labels, told_numbers
from tests.inspected import EVEN, LABELS, NUMBERS, SEED, plain
from vpp.data.labelling import input_fields
from vpp.findings.new_rows import answer_blocks, answers_table, table_words
from vpp.findings.points import Point, target_spread, votes_on
from vpp.findings.rows import answer_words, possible_sentence
from vpp.posterior.calibration import Conformal, RejectOption
from vpp.show.matrix import Rivals

LABEL_VOTES = {vote.row.id: vote for vote in votes_on(told_labels())}
NUMBER_VOTES = {vote.row.id: vote for vote in votes_on(told_numbers(), scale=target_spread(NUMBERS))}


def said(vote: Point) -> str:
    return plain(answer_words(vote, (LABELS if vote.is_label else NUMBERS).target_decimals))


def test_a_label_has_its_share() -> None:
    # Row 9: yes 0.4 + 0.3 + 0.2; no 0.1. Row 6: one gives no answer. Row 8: yes 0.6, less than two thirds.
    assert {row: said(LABEL_VOTES[row]) for row in (9, 6, 8)} == {
        9: "yes (90 %)",
        6: "yes (90 %)",
        8: "I don’t know: yes leads (60 %)",
    }
    equal = {vote.row.id: vote for vote in votes_on(replace(told_labels(), weights=(0.25,) * 4))}
    assert said(equal[9]) == "yes (75 %)"
    assert said(equal[8]) == "I don’t know: no and yes are tied (50 % each)"


def test_a_calibrated_vote_says_what_is_possible() -> None:
    """Row 9: yes 0.9, no 0.1. It decides if 90 % exceed the threshold."""
    sure, unsure = (Conformal(scores=(0.0,) * (40 - n) + (0.95,) * n, classes=("no", "yes")) for n in (0, 8))
    rules = (RejectOption(conformal=doubt, n_decided=30, n_right=27) for doubt in (sure, unsure))
    decided, undecided = ({vote.row.id: vote for vote in votes_on(told_labels(), rule)}[9] for rule in rules)
    promise = (
        "With 40 calibration rows, the truth is possible for at least 90 % of similar new rows on average; one draw of "
        "them typically gives 82 % to 97 %."
    )
    assert [said(decided), said(undecided)] == ["yes (90 %)", "I don’t know: one of no, yes"]
    assert [plain(possible_sentence(vote, doubt, None)) for vote, doubt in ((decided, sure), (undecided, unsure))] == [
        "Possible: yes alone. Of such answers to calibration rows, 27 of 30 were right: that means 74 % to 97 %.",
        f"Possible: one of no, yes. {promise}",
    ]


def test_hypotheses_with_different_answers_stand_side_by_side_without_the_seed() -> None:
    answers = replace(told_labels(), texts=(EVEN, "x", EVEN, "y"))
    blocks = answer_blocks(LABEL_VOTES[9], answers, LABELS, input_fields(LABELS), SEED, is_weighted=True)
    rivals = blocks[-1]
    assert isinstance(rivals, Rivals)
    assert [(each.answer, plain(each.facts), each.hypothesis) for each in rivals.all] == [
        ("yes", "90 % of the weight", EVEN.removeprefix(SEED).strip()),
        ("no", "10 % of the weight", "y"),
    ]
    answers = replace(told_numbers(), texts=("a", "b", "c"))
    blocks = answer_blocks(NUMBER_VOTES[4], answers, NUMBERS, input_fields(NUMBERS), SEED, is_weighted=True)
    assert [each.answer for each in blocks[-1].all] == ["1, at the mean", "2, above the mean", "0, below the mean"]


def test_a_table_is_counted() -> None:
    found = list(LABEL_VOTES.values())
    # Less than 95 % agree on rows 7 (no 0.7), 8 (yes 0.6) and 9 (yes 0.9); below two thirds is row 8.
    assert table_words(found) == "3 of 6 rows are in doubt: on 1 of them the answer is “I don’t know”."
    assert [line[-1] for line in answers_table([NUMBER_VOTES[7]], NUMBERS).rows] == ["I don’t know; about 2.7 (2 to 4)"]
