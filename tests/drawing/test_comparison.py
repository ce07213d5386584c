"""Runs side by side in words, HTML and charts, from the runs of tests/inspected.py and tests/beside.py."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from tests import inspected
from tests.beside import all_right, other, side_by_side
from tests.inspected import LABELS
from tests.reporting.builders import YES_NO
from vpp.drawing.comparison import (
    change_text,
    elsewhere_html,
    elsewhere_sentence,
    left_out_text,
    p_text,
    paired_sentence,
    spread_html,
    standings_html,
    state_words,
    verdict,
)
from vpp.drawing.comparison_figures import acceptance_overlay, ess_overlay
from vpp.drawing.differences import (
    conditions_html,
    cost_html,
    idea_rows,
    ideas_html,
    ideas_sentences,
    points_html,
    points_sentence,
)
from vpp.inspection.baselines import baselines
from vpp.inspection.comparison import Comparison, differing_points, spreads
from vpp.inspection.conditions import conditions
from vpp.inspection.shared_ideas import shared_ideas
from vpp.posterior.metric import paired_difference
from vpp.wording.options import has_effect


def words(html: str) -> str:
    """What a reader sees, runs of white space as one."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).replace("\N{NO-BREAK SPACE}", " ").split())


def plain(sentence: str) -> str:
    """The sentence with plain spaces."""
    return sentence.replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture
def pair(tmp_path: Path) -> Comparison:
    return side_by_side(inspected.labels(tmp_path / "a"), other(tmp_path / "b"))


def test_a_run_alone_stands_beside_the_best_simple_model(tmp_path: Path) -> None:
    alone = side_by_side(inspected.numbers(tmp_path))
    assert verdict(alone, baselines(inspected.NUMBERS)) == (
        "A: mean squared error 0.1736 on 4 test rows. The best simple baseline, one answer, reaches 3.188."
    )


def test_runs_that_do_equally_well_are_shown_in_one_breath(tmp_path: Path) -> None:
    runs = side_by_side(*(inspected.labels(tmp_path / name) for name in "abc"))
    assert plain(verdict(runs, None)) == ("A, B and C do equally well: the vote is right on 5 of 6 test rows (83.3 %).")
    two = side_by_side(*(inspected.labels(tmp_path / name) for name in "de"))
    assert verdict(two, None).endswith("Neither is better on any of the 6 rows.")
    assert paired_sentence(paired_difference([1, 0, 0], [0, 1, 0])) == "Each is better on 1 of 3 rows."


def test_the_best_of_several_runs_is_named_with_its_lead_over_the_reference(tmp_path: Path) -> None:
    runs = (other(tmp_path / "a"), all_right(tmp_path / "b", LABELS), inspected.labels(tmp_path / "c"))
    assert plain(verdict(side_by_side(*runs), None)) == (
        "Of three runs on the same test rows, B is best: the vote is right on 6 of 6 test rows (100.0 %), 33.3 points "
        "more than A. Not significant on these rows: better on 2 rows, worse on 0 (sign test p = 0.50)."
    )


def test_a_lower_error_on_fewer_rows_is_not_called_significant() -> None:
    """One large error decides the mean, seven small ones the sign test."""
    found = paired_difference([0.0, *[1.0] * 7], [100.0, *[0.9] * 7])
    assert found.mean < 0
    assert paired_sentence(found) == "Yet it is worse on more rows: better on 1 row, worse on 7 (sign test p = 0.070)."


def test_a_reference_without_test_rows_is_shown(tmp_path: Path) -> None:
    runs = side_by_side(inspected.labels(tmp_path / "a"), other(tmp_path / "b", asked=False), reference=1)
    assert verdict(runs, None) == "The test rows of B are not evaluated yet, so the runs cannot be compared."
    assert standings_html(runs, None) == ""
    assert state_words(runs.runs[1]) == "interrupted, 2 of 2 steps"


def test_sentence_and_table_have_metric_interval_difference_and_sign_test(pair: Comparison) -> None:
    assert plain(verdict(pair, None)) == (
        "A is better: the vote is right on 5 of 6 test rows (83.3 %), 16.7 points more than B. "
        "Not significant on these rows: better on 1 row, worse on 0 (sign test p = 1.00)."
    )
    simple = baselines(LABELS)
    assert plain(verdict(pair, simple)).endswith(" The best simple baseline, one answer, reaches 50.0 %.")
    assert left_out_text(simple) == ""
    without = replace(simple, left_out=(("id", "all different"),))
    assert left_out_text(without) == "The simple baselines leave out id (all different)."
    written = words(standings_html(pair, simple))
    assert "83.3 % 5 of 6 balanced 83.3 % 44 % to 97 % the reference" in written
    assert "66.7 % 4 of 6 balanced 66.7 % 30 % to 90 % −16.7 ± 16.7 points 0 better, 1 worse 1.00" in written
    # Always "no": losses 1 0 1 0 1 0 against 0 0 0 0 0 1 differ by 1 0 1 0 1 -1, mean 1/3.
    assert "Always “no”" in written
    assert "50.0 % 3 of 6 balanced 50.0 % 19 % to 81 % −33.3 ± 33.3 points 1 better, 3 worse 0.62" in written
    # Over the two seeds: 83.3 and 66.7, mean 75.0, sample standard deviation 16.67 / sqrt 2 = 11.8.
    assert "75.0 ± 11.8 % (2) 0: 83.3 %; 1: 66.7 %" in words(spread_html(pair, spreads(pair)))
    assert "A 2 of 2 30 6 4 0 2 0 0" in words(cost_html(dict(enumerate(pair.runs))))


def test_errors_change_in_their_own_unit() -> None:
    found = paired_difference([0.25, 0.25], [0.5, 0.75])
    # Differences -0.25 and -0.5: mean -0.375, sample standard deviation 0.1768 over root 2.
    assert change_text(found, is_label=False) == "−0.375 ± 0.125"
    assert change_text(paired_difference([1.0], [0.0]), is_label=True) == "−100.0 points"
    assert [p_text(p) for p in (1.0, 0.453, 0.0625, 0.0004)] == ["1.00", "0.45", "0.062", "under 0.001"]


def test_other_test_rows_are_shown_and_kept_apart(tmp_path: Path) -> None:
    runs = side_by_side(
        inspected.labels(tmp_path / "a"), all_right(tmp_path / "b", YES_NO), inspected.numbers(tmp_path / "c")
    )
    written = elsewhere_sentence(runs)
    assert written.startswith("B and C have other test rows than A")
    assert written.endswith("C is of another kind of target, with another metric: those are not comparable at all.")
    table = words(elsewhere_html(runs, lambda run: baselines(run.dataset)))
    assert "100.0 % 3 of 3 balanced 100.0 % 44 % to 100 %" in table
    assert "MSE 0.1736" in table
    assert "3.188 20.31 3.75" in table


def test_ideas_stand_side_by_side_with_their_weight_in_each_run(pair: Comparison) -> None:
    runs = dict(enumerate(pair.runs))
    found = shared_ideas(runs)
    written = words(ideas_html(idea_rows(found), runs))
    assert written.startswith(
        "In both A 60 % of the weight 2 particles · heaviest of 2 wordings · 5 of 6 test rows right "
        "Say yes if a is even, else no. "
        "B 45 % of the weight 2 particles · 5 of 6 test rows right Say yes if a is even, else no."
    )
    assert written.endswith(
        "Only in one A 10 % of the weight 1 particle · 4 of 6 test rows right Say no if a is odd, else yes. "
        "B 40 % of the weight 1 particle · 3 of 6 test rows right Say no."
    )
    assert ideas_html(idea_rows(found)[-1:], runs).count("<article") == 1, "one line holds both runs' own"
    assert plain(ideas_sentences(found)) == (
        "In both: 2 ideas, 90 % of A’s weight and 60 % of B’s weight. Only in A: 1 idea, 10 % of A’s weight. "
        "Only in B: 1 idea, 40 % of B’s weight."
    )
    apart = shared_ideas({0: pair.runs[0], 1: pair.runs[1]})
    assert ideas_sentences(replace(apart, all=apart.held_by(0))).startswith("No idea is in both. Only in A: 1 idea")


def test_a_point_says_who_is_right(pair: Comparison) -> None:
    found = differing_points([own for own in pair.standings if own])
    assert words(points_html(found, (0, 1))) == "row true A B inputs 8 yes yes right no wrong a 8"
    assert points_sentence(found, (0, 1), 6) == "1 of 6 test rows. Right: A 1 of 1, B 0 of 1."
    assert points_sentence((), (0, 1), 6) == "The runs give the same answer on all 6 test rows."


def test_numbers_that_differ_name_the_nearest(tmp_path: Path) -> None:
    runs = side_by_side(inspected.numbers(tmp_path / "a"), all_right(tmp_path / "b", inspected.NUMBERS))
    found = differing_points([own for own in runs.standings if own])
    assert points_sentence(found, (0, 1), 4) == "2 of 4 test rows, widest apart first. Nearest: A 0 of 2, B 2 of 2."


def test_what_differs_from_the_reference_is_bold(pair: Comparison) -> None:
    found = conditions(pair.runs, used=has_effect)
    html = conditions_html([each for each in found if each.matters], (0, 1), reference=0, name="differ")
    assert words(html) == "setting A B Options of the method Seed 0 1"
    assert "<td>0</td><td><b>1</b></td>" in html
    facts = conditions(pair.runs, used=lambda name, config, task: name != "seed" or config.seed == 0)
    assert "not used" in conditions_html(facts, (0, 1), reference=0, name="all")


def test_curves_are_shares_with_the_counts_behind_them(pair: Comparison) -> None:
    runs = dict(enumerate(pair.runs))
    ess = ess_overlay(runs, "light", reference=0)
    # 1 / (2 * 0.375^2 + 2 * 0.125^2) = 3.2 of 4 and 1 / 0.52 = 1.92 of 4: mean share 64 %. B was never weighed.
    assert ess is not None
    assert ess.rows == (("0", "3.20 of 4"), ("1", "1.92 of 4"))
    assert [curve.name for curve in ess.chart.data] == ["<b>A</b>"]
    assert ess.alt.replace("\N{NO-BREAK SPACE}", " ") == "ESS as a share of K by step, mean over steps: A 64 %"
    accepted = acceptance_overlay(runs, "dark", reference=1)
    assert accepted is not None
    assert accepted.rows == (("0", "1 of 3"), ("1", "1 of 3"))
    assert ess_overlay({1: pair.runs[1]}, "light", reference=1) is None
