"""Rows in doubt, and when to trust the answers: counted by hand on the two runs of tests/inspected.py."""

from dataclasses import replace

from tests import inspected
from tests.inspected import plain
from tests.reporting.builders import evaluated
from vpp.events import Evaluated
from vpp.findings.points import points
from vpp.findings.rows import Rows, columns_by_use, evaluated_rows, headline, mistakes, opened_row, row_table, trust
from vpp.findings.verdict import run_verdict
from vpp.runs.journal import RunReader
from vpp.show.blocks import Metrics, Table
from vpp.show.figures import PartsBar
from vpp.show.markup import html
from vpp.show.matrix import Rivals
from vpp.show.words import percent


def rows_of(reader: RunReader) -> Rows:
    snapshot = reader.refresh()
    found = evaluated_rows(snapshot.view, snapshot.spec.config, reader.dataset())
    assert found is not None
    return found


def as_answered(rows: Rows, test: Evaluated) -> Rows:
    return replace(rows, test=test, points=tuple(points(test, rows.dataset)))


def said(rows: Rows) -> str:
    return plain(headline(rows)[0].words)


def test_split_is_counted_by_weight_and_not_by_heads(labels: RunReader) -> None:
    """EVEN and PAIR answer alike. BIG says otherwise on rows 7 and 8, ODD on 8 and 9; ODD has no answer to row 6."""

    def weighed(*weights: float) -> str:
        slots = inspected.LABEL_SLOTS
        test = evaluated(inspected.LABELS, dict(inspected.ON_TEST), slots=slots, weights=weights)
        return said(as_answered(rows_of(labels), test))

    despite = "although more than 5 % of the weight says otherwise."
    unknown = "of 6 test rows the answer is “I don’t know”: no label has two thirds of the probability."
    assert weighed(0.4, 0.3, 0.2, 0.1) == f"On 1 {unknown} On 2 others it answers {despite}"
    agree = "It answers all 6 test rows; on each, at least 95 % of the weight agrees."
    assert weighed(0.5, 0.04, 0.45, 0.01) == agree
    assert weighed(0.5, 0.06, 0.43, 0.01) == f"It answers all 6 test rows, on 2 {despite}"
    assert weighed(0.5, 0.36, 0.12, 0.02) == f"On 2 {unknown}"


def test_one_hypothesis_is_never_split_and_nothing_is_said_of_its_confidence(labels: RunReader) -> None:
    said_by = {inspected.EVEN: inspected.ON_TEST[inspected.EVEN]}
    rows = as_answered(rows_of(labels), evaluated(inspected.LABELS, said_by, slots=(inspected.EVEN,)))
    assert said(rows) == "There is one hypothesis: it says nothing of how sure it is."
    assert list(trust(rows, None)) == []


def test_four_figures_say_when_to_trust_the_labels_and_a_bar_counts_rows_by_sure_and_right(labels: RunReader) -> None:
    """Split rows 7, 8 and 9; the vote is wrong on row 9 alone. Confidence 1 1 1 .7 .6 .9, and only the .9 is wrong."""
    found = run_verdict(labels.directory, labels.refresh().view)
    tiles, bar = trust(rows_of(labels), found)
    assert isinstance(bar, PartsBar)
    assert [(part.name, part.size) for part in bar.parts] == [
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


def test_a_confusion_matrix_counts_rows_without_an_answer_apart(labels: RunReader) -> None:
    """Row 8 is undecided, its truth is yes; row 9, a no, is answered yes."""
    table, note = mistakes(rows_of(labels))
    assert isinstance(table, Table)
    assert (table.head, table.rows) == (
        ("true label", "no", "yes", "“I don’t know”"), [("no", "2", "1", "0"), ("yes", "0", "2", "1")],
    )  # fmt: skip
    assert plain(note.words).startswith("By the likeliest label, 83.3 % of 6 test rows are right, which means 44 % to")


def test_the_most_divided_row_is_first_and_its_vote_has_the_leading_label(labels: RunReader) -> None:
    rows = rows_of(labels)
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
