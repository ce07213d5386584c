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
    spread_html,
    standings_html,
    state_words,
    verdict,
)
from vpp.drawing.comparison_figures import acceptance_overlay, ess_overlay
from vpp.drawing.differences import (
    conditions_html,
    conditions_sentence,
    cost_html,
    ideas_html,
    kind_sentence,
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


@pytest.fixture
def pair(tmp_path: Path) -> Comparison:
    return side_by_side(inspected.labels(tmp_path / "a"), other(tmp_path / "b"))


def test_a_run_alone_stands_beside_the_best_simple_model(tmp_path: Path) -> None:
    alone = side_by_side(inspected.numbers(tmp_path))
    assert verdict(alone, baselines(inspected.NUMBERS)) == (
        "A has a mean squared error of 0.1736 on 4 test rows; the best simple baseline, one answer, 3.188."
    )


def test_runs_that_do_equally_well_are_shown_in_one_breath(tmp_path: Path) -> None:
    runs = side_by_side(*(inspected.labels(tmp_path / name) for name in "abc"))
    assert verdict(runs, None) == "Each of three runs gets 5 of 6 test rows right."
    two = side_by_side(*(inspected.labels(tmp_path / name) for name in "de"))
    assert verdict(two, None).endswith("On none of the 6 rows does one do better than the other.")


def test_a_reference_without_test_rows_is_shown(tmp_path: Path) -> None:
    runs = side_by_side(inspected.labels(tmp_path / "a"), other(tmp_path / "b", asked=False), reference=1)
    assert verdict(runs, None) == "The test rows of B are not evaluated yet, so the runs cannot be compared."
    assert standings_html(runs, None) == ""
    assert state_words(runs.runs[1]) == "interrupted, 2 of 2 steps"


def test_sentence_and_table_have_metric_interval_difference_and_sign_test(pair: Comparison) -> None:
    assert verdict(pair, None) == (
        "B gets 4 of 6 test rows right; A, the reference, 5. B does better on 0 rows, worse on 1 (of 6): "
        "sign test p = 1.00, not significant on these rows."
    )
    simple = baselines(LABELS)
    assert left_out_text(simple) == ""
    without = replace(simple, left_out=(("id", "all different"),))
    assert left_out_text(without) == "The simple baselines leave out id (all different)."
    written = words(standings_html(pair, simple))
    assert "83.3 % 5 of 6: 44 % to 97 % the reference" in written
    assert "66.7 % 4 of 6: 30 % to 90 % −16.7 ± 16.7 points 0, 1 1.00" in written
    # Always "no": losses 1 0 1 0 1 0 against 0 0 0 0 0 1 differ by 1 0 1 0 1 -1, mean 1/3.
    assert "Always “no”" in written
    assert "50.0 % 3 of 6: 19 % to 81 % −33.3 ± 33.3 points 1, 3 0.62" in written
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
    assert "100.0 % 3 of 3: 44 % to 100 %" in table
    assert "MSE 0.1736" in table
    assert "3.188 20.31 3.75" in table


def test_ideas_have_their_weight_in_each_run(pair: Comparison) -> None:
    runs = dict(enumerate(pair.runs))
    found = shared_ideas(runs)
    both = found.held_by(0, 1)
    written = words(ideas_html(both, runs))
    assert (
        "A 0.600 B 0.450 Say yes if a is even, else no. The heaviest of 2 wordings in A and 1 wording in B." in written
    )
    assert "5 of 6 test rows right 2 particles of A and 2 particles of B" in written
    assert kind_sentence(both, found).replace("\N{NO-BREAK SPACE}", " ") == (
        "2 ideas, 90 % of A’s weight and 60 % of B’s weight."
    )


def test_a_point_says_who_is_right(pair: Comparison) -> None:
    found = differing_points([own for own in pair.standings if own])
    assert words(points_html(found, (0, 1))) == "row inputs true A B 8 a 8 yes yes right no wrong"
    assert points_sentence(1, 6, is_label=True) == "1 of 6 test rows, by row."
    assert points_sentence(0, 6, is_label=True) == "The runs give the same answer on all 6 test rows."


def test_what_differs_from_the_reference_is_bold(pair: Comparison) -> None:
    found = conditions(pair.runs, used=has_effect)
    html = conditions_html([each for each in found if each.differs], (0, 1), reference=0)
    assert words(html) == "condition A B Options of the method Seed 0 1"
    assert "<td>0</td><td><b>1</b></td>" in html
    assert conditions_sentence(found).startswith("1 of ")
    assert "not used" in conditions_html(
        conditions(pair.runs, used=lambda name, config, task: name != "seed" or config.seed == 0), (0, 1), reference=0
    )


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
