"""Runs side by side, against figures worked out by hand from tests/inspected.py and tests/beside.py."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests import inspected
from tests.beside import all_right, candidate, other, side_by_side, under
from tests.inspected import EVEN, LABELS, ON_TEST, plain
from tests.reporting.builders import YES_NO, drawn, evaluated, finished, run, started
from vpp.events import RunFinished
from vpp.findings.baselines import baselines
from vpp.findings.comparison import (
    Seeds,
    against,
    left_out_text,
    others,
    outcome,
    same_rows,
    seeds,
    seeds_blocks,
    seeds_table,
    settings,
    standing_of,
    standings,
)
from vpp.runs.group import Group
from vpp.settings import Config
from vpp.show.blocks import Note, Say, Table
from vpp.show.cards import Deck


def pair(tmp_path: Path):  # type: ignore[no-untyped-def]
    return side_by_side(inspected.labels(tmp_path / "a"), other(tmp_path / "b"))


def test_the_difference_is_paired_row_by_row(tmp_path: Path) -> None:
    found = pair(tmp_path)
    a, b = found.standings
    assert (a.score.n_correct, a.losses) == (5, (0, 0, 0, 0, 0, 1))
    assert (b.score.n_correct, b.losses) == (4, (0, 0, 0, 0, 1, 1))
    difference = against(b, a)
    assert difference.mean == pytest.approx(1 / 6)
    assert (difference.better, difference.worse, difference.p) == (0, 1, 1)
    constant = baselines(LABELS).models[0]
    # Always "no" is wrong on rows 4, 6, 8; the run on row 9.
    standing = standing_of(constant.answers, LABELS.test, LABELS)
    difference = against(standing, a)
    assert (difference.better, difference.worse, difference.mean) == (1, 3, pytest.approx(2 / 6))
    assert against(standing, replace(a, rows=a.rows[::-1], losses=a.losses[::-1])) == difference


def test_rows_are_the_same_in_any_order_and_never_by_their_number_alone() -> None:
    rows = LABELS.test
    assert same_rows(rows, tuple(reversed(rows)))
    assert not same_rows(rows, rows[1:])
    assert not same_rows(rows, (replace(rows[0], target="no"), *rows[1:]))
    assert not same_rows(rows, (replace(rows[0], inputs=(("a", "other"),)), *rows[1:]))
    assert not same_rows(rows, (replace(rows[0], inputs=(("b", "4"),)), *rows[1:]))
    assert same_rows(rows, (replace(rows[0], inputs=(("a", "4"), ("b", "x"))), *rows[1:]))


def test_runs_with_other_rows_or_none_stand_apart(tmp_path: Path) -> None:
    found = side_by_side(
        inspected.labels(tmp_path / "a"),
        all_right(tmp_path / "b", YES_NO),
        inspected.numbers(tmp_path / "c"),
        other(tmp_path / "d", asked=False),
        other(tmp_path / "e"),
    )
    assert list(found.comparable) == [0, 4]
    assert [note.words for note in others(found)] == [
        "B and C have other test rows than A (another table, or another split of it) and are not compared with it.",
        "Without evaluated test rows: D (interrupted, 2 of 2 steps).",
    ]
    waiting = side_by_side(inspected.labels(tmp_path / "f"), other(tmp_path / "g", asked=False), reference=1)
    assert not waiting.comparable


def test_only_settings_that_can_change_a_result_matter(tmp_path: Path) -> None:
    """An option that only one method has matters if it is not at its default; the cache never does."""
    assert settings(pair(tmp_path / "seeds").runs) == {"Seed": ("0", "1")}
    smc, endpoint = candidate(inspected.labels(tmp_path / "a")), candidate(other(tmp_path / "b")).snapshot.spec.endpoint
    mh = run(tmp_path / "c", data=LABELS, config=Config(method="mh", particles=3, reading="rows", mh_rows="train"),
             endpoint=replace(endpoint, model="another", cache=False))  # fmt: skip
    differing = settings([smc, candidate(mh)])
    assert (differing["model"], differing["Particles K"]) == (("demo", "another"), ("4", "3"))
    assert ("smc", "mh") in differing.values()
    assert not {name for name in differing if "cache" in name or "python" in name}


def test_the_best_of_several_runs_is_named_with_its_lead_over_the_reference(tmp_path: Path) -> None:
    runs = (other(tmp_path / "a"), all_right(tmp_path / "b", LABELS), inspected.labels(tmp_path / "c"))
    assert plain(outcome(side_by_side(*runs), None).words) == (
        "Of three runs on the same test rows, B is best: right on 6 of 6 test rows (100.0 %), against 66.7 % of A. "
        "Not significant: better on 2 rows, worse on 0 (p = 0.50)."
    )


def test_every_line_of_the_table_is_set_against_the_reference(tmp_path: Path) -> None:
    simple, runs = baselines(LABELS), pair(tmp_path)
    assert plain(outcome(runs, simple).words).endswith(" The best simple model reaches 50.0 %.")
    (table,) = (block for block in standings(runs, simple) if isinstance(block, Table))
    rows = [[plain(cell) for cell in row[1:]] for row in table.rows]
    assert rows[0] == ["5 of 6, 83.3 %", "44 % to 97 %", "", ""]
    assert rows[1] == ["4 of 6, 66.7 %", "30 % to 90 %", "0, 1", "1.00"]
    # Always "no": losses 1 0 1 0 1 0 against 0 0 0 0 0 1.
    assert (table.rows[2][0], rows[2]) == ("Always “no”", ["3 of 6, 50.0 %", "19 % to 81 %", "1, 3", "0.62"])
    without = replace(simple, left_out=(("id", "all different"),))
    assert left_out_text(without) == "The simple models leave out id (all different)."


def test_seeds_of_one_setting_are_one_finding(tmp_path: Path) -> None:
    """EVEN and PAIR answer alike and weigh 0.6 and 0.45, BIG 0.3 and 0.15, ODD 0.1 and LUCK 0.4 in one run alone."""
    vml = run(tmp_path / "v", started(Config(method="vml"), LABELS), *drawn(EVEN), finished(1, (EVEN,)),
              evaluated(LABELS, dict(ON_TEST), slots=(EVEN,)), RunFinished(outcome="finished"), data=LABELS,
              config=Config(method="vml"))  # fmt: skip
    runs = tmp_path / "runs"
    runs.mkdir()
    under(vml, runs, "vml")
    for name, reader in (("a", inspected.labels(tmp_path / "a")), ("b", other(tmp_path / "b"))):
        under(reader, runs, name).directory.amend(group="g")
    assert seeds(Group(runs, "g")).pooled is None
    assert Group(runs, "g").pool()
    found = seeds(Group(runs, "g"))
    said, beside, _, deck, *_ = seeds_blocks(found)
    assert isinstance(said, Say)
    assert isinstance(beside, Note)
    assert isinstance(deck, Deck)
    assert plain(said.words) == (
        "Two runs of one setting, with different seeds: right on 4 to 5 of 6 test rows, “I don’t know” on 1 to 4, "
        "36 calls each."
    )
    assert (
        beside.words == "VML, one sentence without weights, by the same model, in one run: right on 5 of 6 test rows."
    )
    facts = {plain(card.facts[-1]) for card in deck.cards}
    assert facts >= {
        "found by all 2 seeds, with 45 % to 60 % of the weight",
        "found by all 2 seeds, with 15 % to 30 % of the weight",
        "found by 1 of 2 seeds (0), with 10 % of the weight",
        "found by 1 of 2 seeds (1), with 40 % of the weight",
    }
    assert [row[0] for row in seeds_table(found).rows] == ["0", "1"]
    numbers = Seeds(runs=[candidate(inspected.numbers(tmp_path / "n"))], pooled=None, vml=())
    assert "mean squared error" in next(each.words for each in seeds_blocks(numbers) if isinstance(each, Say))
