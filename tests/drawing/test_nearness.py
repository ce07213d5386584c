from pathlib import Path

from tests import inspected
from tests.reporting.builders import SEED
from vpp.drawing.nearness import alt_words, groups_html, matrix_html, meaning
from vpp.inspection.ideas import Nearness, merge_ideas, nearness
from vpp.runs.reader import RunReader

NBSP = "\N{NO-BREAK SPACE}"


def near_of(reader: RunReader) -> Nearness:
    ideas = merge_ideas(reader.refresh().view, reader.dataset())
    assert ideas is not None
    near = nearness(ideas, reader.dataset())
    assert near is not None
    return near


def test_agreement_is_shown_in_rows_for_labels_and_in_the_targets_unit_for_numbers(tmp_path: Path) -> None:
    """5 % of a range of 4 is 0.2; LINE and FLAT: 1 - sqrt(11 / 8) / 4; SLOPE and FLAT: 1 - sqrt(33 / 8) / 4."""
    labels, numbers = near_of(inspected.labels(tmp_path / "a")), near_of(inspected.numbers(tmp_path / "b"))
    assert "the same answer on at least 95 % of 10 rows" in meaning(labels, 0.95).replace(NBSP, " ")
    assert "differ by at most 0.2 on 8 rows" in meaning(numbers, 0.95)
    assert alt_words(labels) == "Ideas 1 and 2 agree most, on 8 of 10 rows; ideas 1 and 3 least, on 6 of 10 rows."
    assert alt_words(numbers).replace(NBSP, " ") == (
        "Ideas 1 and 3 agree most, to 70.7 %, a difference of 1.17; "
        "ideas 2 and 3 least, to 49.2 %, a difference of 2.03."
    )


def test_the_matrix_holds_every_number_and_parts_the_groups(tmp_path: Path) -> None:
    near = near_of(inspected.labels(tmp_path))
    html = matrix_html(near, near.groups(0.8), seed_text=SEED, is_weighted=True)
    assert html.count(">80<") == 2
    assert html.count(">60<") == 4
    assert '<th scope="col" class="edge">3</th>' in html
    assert html.count('<tr class="edge">') == 1
    assert '<tr class="edge">' not in matrix_html(near, near.groups(0.5), seed_text=SEED, is_weighted=True)


def test_groups_are_listed_with_their_summed_weights(tmp_path: Path) -> None:
    near = near_of(inspected.labels(tmp_path))
    groups = near.groups(0.8)
    html = groups_html(near, groups, seed_text=SEED, is_weighted=True).replace(NBSP, " ")
    assert "<td>0.900</td><td>1 and 2</td><td>3</td><td>80.0 %</td>" in html
    assert "<td>0.100</td><td>3</td><td>1</td><td>one idea</td>" in html
    assert "3/4" in groups_html(near, groups, seed_text=SEED, is_weighted=False)
