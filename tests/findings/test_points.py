"""Points and rows: votes, sides, doubt, the information of a label, and when to trust the answers; counted by hand."""

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests import inspected
from tests.inspected import EVEN, LABELS, NUMBERS, SEED, label_answers, number_answers, plain
from tests.reporting.builders import YES_NO, evaluated, rows, run, started
from vpp.data.dataset import Dataset
from vpp.data.labelling import input_fields
from vpp.events import Evaluated, Event
from vpp.findings import points
from vpp.findings.asking import answer_blocks, answers_table, table_words
from vpp.findings.points import Point
from vpp.findings.rows import (
    Rows,
    answer_words,
    columns_by_use,
    evaluated_rows,
    headline,
    mistakes,
    opened_row,
    possible_sentence,
    row_table,
    trust,
)
from vpp.findings.verdict import run_verdict
from vpp.posterior.calibration import Conformal, RejectOption
from vpp.posterior.prediction import Value, leader
from vpp.reporting.document import report_markdown
from vpp.reporting.exports import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import RunDirectory, RunReader
from vpp.show.blocks import Metrics, Table
from vpp.show.figures import PartsBar, Rivals
from vpp.show.markup import html
from vpp.show.words import percent


def test_in_the_papers_setting_the_label_with_most_weight_decides_however_little_that_is() -> None:
    reader = RunReader(RunDirectory(Path("assets/examples/example-sum-parity")))
    snapshot, data = reader.refresh(), reader.dataset()
    view, config = snapshot.view, snapshot.spec.config
    found = view.evaluations["test"]
    voted = points.points(found, data, points.reject_option(view, config, data, of=found))
    assert all(point.decision == leader(dict(point.shares)) is not None for point in voted)
    careful = points.points(
        found, data, points.reject_option(view, replace(config, abstention_cost=1 / 3), data, of=found)
    )
    assert sum(point.decision is None for point in careful) == 5


def on_test(reader: RunReader) -> dict[int, Point]:
    view, data = reader.refresh().view, reader.dataset()
    test = view.evaluations["test"]
    rule = points.reject_option(view, reader.directory.spec().config, data, of=test)
    return {point.row.id: point for point in points.points(test, data, rule)}


def test_abstentions_count_against_the_weight_behind_an_answer_alone_and_tiny_weights_count(labels: RunReader) -> None:
    found = on_test(labels)
    assert {row: point.behind for row, point in found.items()} == {4: 1, 5: 1, 6: 0.9, 7: 0.7, 8: 0.6, 9: 0.9}
    assert {row: point.confidence for row, point in found.items()} == {4: 1, 5: 1, 6: 1, 7: 0.7, 8: 0.6, 9: 0.9}
    assert [found[row].prediction for row in range(4, 10)] == ["yes", "no", "yes", "no", "yes", "yes"]
    assert [row for row, point in found.items() if point.is_wrong] == [9]
    assert [row for row, point in found.items() if point.is_undecided] == [8]

    said = evaluated(
        YES_NO, {"a": ["yes", "no", "no"], "b": ["no", None, "no"]}, slots=("a", "b"), weights=(0.999, 0.001)
    )
    found = points.points(said, YES_NO)
    assert [point.row.id for point in found if point.is_uncertain] == [4]


def test_the_log_score_is_the_mean_log_probability_of_the_true_labels() -> None:
    answers = {"a": ["yes", "no", "no"], "b": ["no", "no", "no"]}
    found = points.points(evaluated(YES_NO, answers, slots=("a", "b"), weights=(0.75, 0.25)), YES_NO)
    assert points.log_score(found) == pytest.approx((math.log(0.75) + 2 * math.log(1)) / 3)
    never = points.points(evaluated(YES_NO, {"b": answers["b"]}, slots=("b",), weights=(1.0,)), YES_NO)
    assert points.log_score(never) == -math.inf, "the truth of row 4 has no weight"


def test_sides_are_those_of_a_vote_its_outcome_first_and_of_numbers_those_of_their_mean(
    labels: RunReader, tmp_path: Path
) -> None:
    point = on_test(labels)[8]
    assert points.sides(point) == {"yes": [0, 2], "no": [1, 3]}
    assert [points.weight_of(point, slots) for slots in points.sides(point).values()] == pytest.approx([0.6, 0.4])

    found = on_test(inspected.numbers(tmp_path / "numbers"))
    # 1, 2 and 0 around 1; 4, 6 and 4 around 4.5; 2, no answer and 4 around 8/3.
    assert {row: [*points.sides(found[row]).items()] for row in found} == {
        4: [(points.AT, [0]), (points.ABOVE, [1]), (points.BELOW, [2])],
        5: [(points.AT, [0, 1, 2])],
        6: [(points.BELOW, [0, 2]), (points.ABOVE, [1])],
        7: [(points.BELOW, [0]), (points.ABOVE, [2])],
    }


def test_inputs_come_by_the_bits_their_label_would_tell(labels: RunReader) -> None:
    found = points.questions(label_answers(), labels.refresh().view, inspected.LABEL_CONFIG, labels.dataset())
    assert [(q.row.id, round(q.bits, 4)) for q in found] == [
        (8, 0.6901),  # yes .6, no .4: H(.59) - H(.05)
        (7, 0.6180),  # no .7, yes .3: H(.32) - H(.05)
        (9, 0.2978),  # yes .9, no .1: H(.86) - H(.05)
        (6, 0.0952),  # yes .9, .1 abstains: H(.905) - (.9 H(.05) + .1)
        (4, 0.0),
        (5, 0.0),
    ]


def calibrated_labels(folder: Path, wrong: int, n: int = 10) -> RunReader:
    """The run of labels, split by group, with n calibration rows, whose last `wrong` all particles answer wrongly."""
    origin = replace(inspected.LABELS.provenance, split="group:g")
    data = replace(inspected.LABELS, calibration=rows(["yes"] * n, first_id=100), provenance=origin)
    answers: dict[str, list[Value | None]] = {
        text: ["yes"] * (n - wrong) + ["no"] * wrong for text in inspected.LABEL_SLOTS
    }
    return _run(folder, data, answers, inspected.label_events())


def _run(folder: Path, data: Dataset, answers: dict[str, list[Value | None]], events: list[Event]) -> RunReader:
    is_label = data.task == "classification"
    config = inspected.LABEL_CONFIG if is_label else inspected.NUMBER_CONFIG
    weights, step = (inspected.LABEL_WEIGHTS, 1) if is_label else (inspected.NUMBER_WEIGHTS, 0)
    more = evaluated(data, answers, slots=tuple(answers), weights=weights, split="calibration", step=step)
    first = started(config, data, steps=step + 1)
    return run(folder, first, *events[1:-2], more, *events[-2:], data=data, config=config)


def test_a_posterior_that_is_right_decides_every_row_with_two_thirds(tmp_path: Path) -> None:
    reader = calibrated_labels(tmp_path, wrong=0)
    found = on_test(reader)
    assert {row: points.possible_labels(point) for row, point in found.items()} == {
        4: ("yes",), 5: ("no",), 6: ("yes",), 7: ("no",), 8: ("no", "yes"), 9: ("yes",),
    }  # fmt: skip
    assert [row for row, point in found.items() if point.is_undecided] == [8]
    assert [row for row, point in found.items() if not points.holds_truth(point)] == [9]
    # a calibration counts only for its own step and weights
    view, data = reader.refresh().view, reader.dataset()
    test = view.evaluations["test"]
    assert points.reject_option(view, inspected.LABEL_CONFIG, data, of=test).conformal
    other = replace(test, weights=test.weights[::-1])
    assert not points.reject_option(view, inspected.LABEL_CONFIG, data, of=other).conformal
    view.steps[2] = replace(view.steps[1], step=2)
    assert not points.reject_option(view, inspected.LABEL_CONFIG, data, of=test).conformal


def test_ranges_of_numbers_are_widened_by_the_misses_of_the_calibration_rows(tmp_path: Path) -> None:
    data = replace(inspected.NUMBERS, calibration=rows([float(i) for i in range(10)], first_id=100))
    answers: list[Value | None] = [i + 2.0 for i in range(10)]
    said = dict.fromkeys(inspected.NUMBER_SLOTS, answers)
    found = on_test(_run(tmp_path, data, said, inspected.number_events()))
    assert found[4].interval == (0.0, 2.0)
    assert points.possible_range(found[4]) == (-2.0, 4.0)
    assert points.holds_truth(found[4])


def test_exports_and_the_report_hold_what_is_possible(tmp_path: Path) -> None:
    reader = calibrated_labels(tmp_path, wrong=0)
    table = list(csv.DictReader(io.StringIO(predictions_csv(reader).decode())))
    by_row = {line["row"]: (line["possible_no"], line["possible_yes"]) for line in table}
    assert (by_row["4"], by_row["5"]) == (("0", "1"), ("1", "0"))
    exported = json.loads(posterior_json(reader))
    assert {line["row"]: line["possible"] for line in exported["disagreement"]}[7] == ["no"]
    assert exported["result"]["calibrated"] == {
        "level": 0.9, "rows": 10, "threshold": 0.0, "test_rows": 6, "truth_possible": 5,
    }  # fmt: skip
    assert exported["result"]["undecided"] == {"count": 1, "rows": [8]}
    report = report_markdown(reader)
    assert "The truth was possible on 5 of 6 rows" in report
    assert "With 10 calibration rows, each of another group, the truth is possible for at least 90 % of new" in report
    assert "| rows | Of 20 rows 4 train, 6 test and 10 calibrate. No value of g has rows in two parts." in report


LABEL_VOTES = {vote.row.id: vote for vote in points.votes_on(label_answers())}
NUMBER_VOTES = {vote.row.id: vote for vote in points.votes_on(number_answers(), scale=points.target_spread(NUMBERS))}


def said(vote: Point) -> str:
    return plain(answer_words(vote))


def test_a_label_has_its_share() -> None:
    # Row 9: yes 0.4 + 0.3 + 0.2; no 0.1. Row 6: one gives no answer. Row 8: yes 0.6, less than two thirds.
    assert {row: said(LABEL_VOTES[row]) for row in (9, 6, 8)} == {
        9: "yes (90 %)",
        6: "yes (90 %)",
        8: "I don’t know: yes leads (60 %)",
    }
    equal = {vote.row.id: vote for vote in points.votes_on(label_answers((0.25,) * 4))}
    assert said(equal[9]) == "yes (75 %)"
    assert said(equal[8]) == "I don’t know: a tie between no and yes (50 % each)"


def test_a_calibrated_vote_says_what_is_possible() -> None:
    """Row 9: yes 0.9, no 0.1. It decides if 90 % exceed the threshold."""
    sure, unsure = (Conformal(scores=(0.0,) * (40 - n) + (0.95,) * n, classes=("no", "yes")) for n in (0, 8))
    rules = (RejectOption(conformal=doubt, n_decided=30, n_right=27) for doubt in (sure, unsure))
    decided, undecided = ({vote.row.id: vote for vote in points.votes_on(label_answers(), rule)}[9] for rule in rules)
    promise = (
        "With 40 calibration rows, the truth is possible for at least 90 % of similar new rows on average; one draw of "
        "them typically gives 82 % to 97 %."
    )
    assert [said(decided), said(undecided)] == ["yes (90 %)", "I don’t know: one of no, yes"]
    assert [plain(possible_sentence(vote, doubt)) for vote, doubt in ((decided, sure), (undecided, unsure))] == [
        "Possible: yes alone. Of such answers to calibration rows, 27 of 30 were right: that means 74 % to 97 %.",
        f"Possible: one of no, yes. {promise}",
    ]


def test_hypotheses_with_different_answers_stand_side_by_side_without_the_seed() -> None:
    answers = replace(label_answers(), texts=(EVEN, "x", EVEN, "y"))
    blocks = answer_blocks(LABEL_VOTES[9], answers, input_fields(LABELS), SEED, is_weighted=True)
    rivals = blocks[-1]
    assert isinstance(rivals, Rivals)
    assert [(each.answer, plain(each.facts), each.hypothesis) for each in rivals.all] == [
        ("yes", "90 % of the weight", EVEN.removeprefix(SEED).strip()),
        ("no", "10 % of the weight", "y"),
    ]
    answers = replace(number_answers(), texts=("a", "b", "c"))
    blocks = answer_blocks(NUMBER_VOTES[4], answers, input_fields(NUMBERS), SEED, is_weighted=True)
    assert [each.answer for each in blocks[-1].all] == ["1, at the mean", "2, above the mean", "0, below the mean"]
    assert "<summary>1 lighter answer</summary>" in html(blocks[-1:])
    assert "lighter" not in html([rivals])


def test_a_number_is_unknown_if_answers_spread_over_half_a_deviation_of_the_targets_and_a_table_is_counted() -> None:
    """Deviation of 0, 1, 2 and 4: 1.48. The answers spread by 0.71 on row 4, 0.87 on row 6, 0.94 on row 7."""
    assert points.target_spread(NUMBERS) == pytest.approx((35 / 16) ** 0.5)
    assert {row: points.is_unknown(vote) for row, vote in NUMBER_VOTES.items()} == {
        4: False,
        5: False,
        6: True,
        7: True,
    }

    found = list(LABEL_VOTES.values())
    # Less than 95 % agree on rows 7 (no 0.7), 8 (yes 0.6) and 9 (yes 0.9); below two thirds is row 8.
    assert table_words(found) == "3 of 6 rows are in doubt: on 1 of them the answer is “I don’t know”."
    assert [line[-1] for line in answers_table([NUMBER_VOTES[7]], NUMBERS).rows] == [
        "I don’t know; about 2.67 (2 to 4)"
    ]


def rows_of(reader: RunReader) -> Rows:
    snapshot = reader.refresh()
    found = evaluated_rows(snapshot.view, snapshot.spec.config, reader.dataset())
    assert found is not None
    return found


def as_answered(rows: Rows, test: Evaluated) -> Rows:
    return replace(rows, test=test, points=tuple(points.points(test, rows.dataset)))


def words_of(rows: Rows) -> str:
    return plain(headline(rows)[0].words)


def test_split_is_counted_by_weight_and_not_by_heads(labels: RunReader) -> None:
    """EVEN and PAIR answer alike. BIG says otherwise on rows 7 and 8, ODD on 8 and 9; ODD has no answer to row 6."""

    def weighed(*weights: float) -> str:
        slots = inspected.LABEL_SLOTS
        test = evaluated(inspected.LABELS, dict(inspected.ON_TEST), slots=slots, weights=weights)
        return words_of(as_answered(rows_of(labels), test))

    despite = "although more than 5 % of the weight says otherwise."
    unknown = "of 6 test rows the answer is “I don’t know”: no label has two thirds of the probability."
    assert weighed(0.4, 0.3, 0.2, 0.1) == f"On 1 {unknown} On 2 others it answers {despite}"
    agree = "It answers all 6 test rows; on each, at least 95 % of the weight agrees."
    assert weighed(0.5, 0.04, 0.45, 0.01) == agree
    assert weighed(0.5, 0.06, 0.43, 0.01) == f"It answers all 6 test rows, on 2 {despite}"
    assert weighed(0.5, 0.36, 0.12, 0.02) == f"On 2 {unknown}"

    # one hypothesis is never split
    said_by = {inspected.EVEN: inspected.ON_TEST[inspected.EVEN]}
    rows = as_answered(rows_of(labels), evaluated(inspected.LABELS, said_by, slots=(inspected.EVEN,)))
    assert words_of(rows) == "There is one hypothesis: it says nothing of how sure it is."
    assert list(trust(rows, None)) == []


def test_four_figures_say_when_to_trust_the_labels_and_a_bar_counts_rows_by_sure_and_right(labels: RunReader) -> None:
    """Split rows 7, 8 and 9; the vote is wrong on row 9 alone. Confidence 1 1 1 .7 .6 .9, and only the .9 is wrong."""
    found = run_verdict(labels.directory, labels.refresh().view)
    tiles, bar = trust(rows_of(labels), found)
    assert isinstance(bar, PartsBar)
    assert [(name, n) for name, n, _ in bar.parts] == [
        ("sure and right", 3), ("sure and wrong", 0), ("unsure and right", 2), ("unsure and wrong", 1),
    ]  # fmt: skip
    assert isinstance(tiles, Metrics)
    right, answered, calibration, simple = tiles.items
    # 4 of 5 answered rows are right; the least sure one, row 8, is not answered.
    assert (right.value, right.scale, plain(right.words)) == ("4", "of 5", "80 %; on more such rows 38 % to 96 %.")
    assert (answered.value, answered.scale) == ("5", "of 6")
    # The label of row 8 is right, though it is no answer.
    words = "87 % sure on average of its likeliest label, which is right on 83 % of all 6 rows. Few rows: this tells "
    words += "little."
    assert (calibration.value, plain(calibration.words)) == ("fits", words)
    assert found is not None
    assert simple.value == percent(found.model_value or 0)
    assert "on all test rows: no clear difference" in simple.words


def test_a_confusion_matrix_counts_unanswered_rows_apart_and_the_most_divided_row_is_first(labels: RunReader) -> None:
    """Row 8 is undecided, its truth is yes; row 9, a no, is answered yes."""
    rows = rows_of(labels)
    matrix, note = mistakes(rows)
    assert isinstance(matrix, Table)
    assert (matrix.head, matrix.rows) == (
        ("true label", "no", "yes", "“I don’t know”"), [("no", "2", "1", "0"), ("yes", "0", "2", "1")],
    )  # fmt: skip
    assert plain(note.words).startswith("By the likeliest label, 83.3 % of 6 test rows are right, which means 44 % to")

    table = row_table(rows, rows.points)
    assert [line.row for line in table.lines] == [8, 7, 9, 4, 5, 6]
    assert [line.mark for line in table.lines] == ["I don’t know", "", "wrong", "", "", ""]
    assert '<span class="l1 lead" style="--v:0.6000">yes 60 %</span>' in plain(html([table]))


def test_an_opened_row_has_its_rivals_side_by_side_with_the_words_that_differ_marked(labels: RunReader) -> None:
    rows = rows_of(labels)
    reasons = labels.read_answers().by_pair
    blocks = opened_row(rows, rows.points[0], reasons=reasons, readings={})
    drawn = plain(html([row_table(rows, rows.points, open_row=8, inside=blocks)]))
    assert drawn.count('aria-expanded="true"') == 1
    assert "<b>yes</b> 60 % of the weight" in drawn
    assert "Say yes if a is <mark>even,</mark> else no." in drawn
    assert "Say yes if a is <mark>above 6,</mark> else no." in drawn
    assert "because yes" in drawn
    alone = next(point for point in rows.points if point.row.id == 4)
    (rivals,) = (block for block in opened_row(rows, alone, reasons=reasons, readings={}) if isinstance(block, Rivals))
    assert len(rivals.all) == 1


def test_columns_that_heavier_hypotheses_name_are_first() -> None:
    texts = ("If worst area is above 9, say a.", "If `mean_radius` or worst area", "If radius")
    order = columns_by_use(texts, (0.5, 0.3, 0.2), ("radius", "mean_radius", "worst area", "x"))
    assert order == ("worst area", "mean_radius", "radius", "x")
    assert columns_by_use(("The mean radius",), (1.0,), ("area", "mean_radius")) == ("mean_radius", "area")
