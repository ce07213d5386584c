"""Runs side by side and beside simple models, against figures worked out by hand from tests/inspected.py."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from tests import inspected
from tests.inspected import EVEN, LABELS, ON_TEST, all_right, other, plain, side_by_side, under
from tests.reporting.builders import YES_NO, drawn, evaluated, finished, run, started, table
from vpp.data.dataset import Kind
from vpp.events import RunFinished
from vpp.findings import comparison
from vpp.findings.baselines import Baselines, SimpleModel, baselines
from vpp.findings.options import OPTIONS
from vpp.runs.group import Group
from vpp.runs.spec import RunSpec
from vpp.settings import Config
from vpp.show.blocks import Deck, Note, Say, Table


def pair(tmp_path: Path):  # type: ignore[no-untyped-def]
    return side_by_side(inspected.labels(tmp_path / "a"), other(tmp_path / "b"))


def test_the_difference_is_paired_row_by_row(tmp_path: Path) -> None:
    found = pair(tmp_path)
    a, b = (run.standing for run in found.runs)
    assert a is not None
    assert b is not None
    assert (a.score.n_correct, a.losses) == (5, (0, 0, 0, 0, 0, 1))
    assert (b.score.n_correct, b.losses) == (4, (0, 0, 0, 0, 1, 1))
    difference = comparison.against(b, a)
    assert difference.mean == pytest.approx(1 / 6)
    assert (difference.better, difference.worse, difference.p) == (0, 1, 1)
    constant = baselines(LABELS).models[0]
    # Always "no" is wrong on rows 4, 6, 8; the run on row 9.
    standing = comparison.standing_of(constant.answers, LABELS.test, LABELS)
    difference = comparison.against(standing, a)
    assert (difference.better, difference.worse, difference.mean) == (1, 3, pytest.approx(2 / 6))
    assert comparison.against(standing, replace(a, rows=a.rows[::-1], losses=a.losses[::-1])) == difference


def test_rows_are_the_same_in_any_order_and_never_by_their_number_alone() -> None:
    rows = LABELS.test
    assert comparison.same_rows(rows, tuple(reversed(rows)))
    assert not comparison.same_rows(rows, rows[1:])
    assert not comparison.same_rows(rows, (replace(rows[0], target="no"), *rows[1:]))
    assert not comparison.same_rows(rows, (replace(rows[0], inputs=(("a", "other"),)), *rows[1:]))
    assert not comparison.same_rows(rows, (replace(rows[0], inputs=(("b", "4"),)), *rows[1:]))
    assert comparison.same_rows(rows, (replace(rows[0], inputs=(("a", "4"), ("b", "x"))), *rows[1:]))


def test_runs_with_other_rows_or_none_stand_apart(tmp_path: Path) -> None:
    found = side_by_side(
        inspected.labels(tmp_path / "a"),
        all_right(tmp_path / "b", YES_NO),
        inspected.numbers(tmp_path / "c"),
        other(tmp_path / "d", asked=False),
        other(tmp_path / "e"),
    )
    assert list(found.comparable) == [0, 4]
    assert [note.words for note in comparison.others(found)] == [
        "B and C have other test rows than A (another table, or another split of it) and are not compared with it.",
        "Without evaluated test rows: D (interrupted, 2 of 2 steps).",
    ]
    waiting = side_by_side(inspected.labels(tmp_path / "f"), other(tmp_path / "g", asked=False), reference=1)
    assert not waiting.comparable


def test_only_settings_that_can_change_a_result_matter(tmp_path: Path) -> None:
    """An option that only one method has matters if it is not at its default; the cache never does."""
    assert comparison.settings(pair(tmp_path / "seeds").runs) == {"Seed": ("0", "1")}
    smc, endpoint = (
        comparison.candidate(inspected.labels(tmp_path / "a")),
        comparison.candidate(other(tmp_path / "b")).snapshot.spec.endpoint,
    )
    mh = run(tmp_path / "c", data=LABELS, config=Config(method="mh", particles=3, reading="rows", mh_rows="train"),
             endpoint=replace(endpoint, model="another", cache=False))  # fmt: skip
    differing = comparison.settings([smc, comparison.candidate(mh)])
    assert (differing["model"], differing["Particles K"]) == (("demo", "another"), ("4", "3"))
    assert ("smc", "mh") in differing.values()
    assert not {name for name in differing if "cache" in name or "python" in name}
    endpoint = replace(endpoint, base_url="https://me:secret@host/v1")
    spec = replace(smc.snapshot.spec, endpoint=endpoint, started_from="r1", cell_limit=100)
    differing = comparison.settings([replace(smc, snapshot=replace(smc.snapshot, spec=spec)), smc])
    assert (differing["goes on from"], differing["characters shown of a cell"]) == (("r1", "no run"), ("100", "all"))
    assert differing["base url"] == ("https://host/v1", "as usual")


def test_every_field_of_a_spec_is_compared_or_named_as_one_that_changes_no_result(tmp_path: Path) -> None:
    one = comparison.candidate(inspected.labels(tmp_path))

    def changed(value: object) -> object:
        if isinstance(value, bool):
            return not value
        return value + 1 if isinstance(value, int | float) else ("x",) if isinstance(value, tuple) else "x"

    def is_noticed(spec: RunSpec) -> bool:
        return bool(comparison.settings([one, replace(one, snapshot=replace(one.snapshot, spec=spec))]))

    spec = one.snapshot.spec
    specs = {each.name: replace(spec, **{each.name: changed(getattr(spec, each.name))}) for each in fields(spec)}
    for each in fields(spec.endpoint):
        new = changed(getattr(spec.endpoint, each.name))
        specs[each.name] = replace(spec, endpoint=replace(spec.endpoint, **{each.name: new}))
    by_parts = {"config", "endpoint", "dataset", "templates"}
    found = {name: is_noticed(each) for name, each in specs.items() if name not in by_parts}
    assert found == {name: name not in comparison.NEUTRAL for name in specs if name not in by_parts}
    assert {each.name for each in fields(spec.config)} <= {*OPTIONS}


def test_the_best_of_several_runs_is_named_with_its_lead_over_the_reference(tmp_path: Path) -> None:
    runs = (other(tmp_path / "a"), all_right(tmp_path / "b", LABELS), inspected.labels(tmp_path / "c"))
    assert plain(comparison.outcome(side_by_side(*runs), None).words) == (
        "Of three runs on the same test rows, B is best: right on 6 of 6 test rows (100.0 %), against 66.7 % of A. "
        "Not significant: better on 2 rows, worse on 0 (p = 0.50)."
    )


def test_every_line_of_the_table_is_set_against_the_reference(tmp_path: Path) -> None:
    simple, runs = baselines(LABELS), pair(tmp_path)
    assert plain(comparison.outcome(runs, simple).words).endswith(" The best simple model reaches 50.0 %.")
    (table,) = (block for block in comparison.standings(runs, simple) if isinstance(block, Table))
    rows = [[plain(cell) for cell in row[1:]] for row in table.rows]
    assert rows[0] == ["5 of 6, 83.3 %", "44 % to 97 %", "", ""]
    assert rows[1] == ["4 of 6, 66.7 %", "30 % to 90 %", "0, 1", "1.00"]
    # Always "no": losses 1 0 1 0 1 0 against 0 0 0 0 0 1.
    assert (table.rows[2][0], rows[2]) == ("Always “no”", ["3 of 6, 50.0 %", "19 % to 81 %", "1, 3", "0.62"])
    without = replace(simple, left_out=(("id", "all different"),))
    assert comparison.left_out_text(without) == "The simple models leave out id (all different)."


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
    assert comparison.seeds(Group(runs, "g")).pooled is None
    assert Group(runs, "g").pool()
    found = comparison.seeds(Group(runs, "g"))
    said, beside, _, deck, *_ = comparison.seeds_blocks(found)
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
    assert [row[0] for row in comparison.seeds_table(found).rows] == ["0", "1"]
    numbers = comparison.Seeds(runs=[comparison.candidate(inspected.numbers(tmp_path / "n"))], pooled=None, vml=())
    assert "mean squared error" in next(
        each.words for each in comparison.seeds_blocks(numbers) if isinstance(each, Say)
    )


def by_name(found: Baselines) -> dict[str, SimpleModel]:
    return {model.name: model for model in found.models}


def test_numbers_by_hand() -> None:
    found = by_name(baselines(inspected.NUMBERS))
    # The mean of 0, 1, 2, 4 against 1, 3, 5, 2: (0.5625 + 1.5625 + 10.5625 + 0.0625) / 4.
    assert found["constant"].answers == pytest.approx((1.75,) * 4)
    assert found["constant"].score.mse == pytest.approx(3.1875)
    # Least squares through (0, 0), (1, 1), (2, 2), (3, 4): slope 1.3, intercept -0.2.
    assert found["linear"].answers == pytest.approx((5.0, 6.3, 7.6, 8.9))
    assert found["linear"].score.mse == pytest.approx((16 + 10.89 + 6.76 + 47.61) / 4)
    # Row 3 alone is the right-most leaf (squared error 2 on the left, against 2.5 and 4.67 for the other cuts).
    assert found["tree"].answers == pytest.approx((4.0,) * 4)
    assert found["tree"].score.mse == pytest.approx((9 + 1 + 1 + 4) / 4)
    assert baselines(inspected.NUMBERS).best.name == "constant"


def test_a_missing_number_is_the_median_and_a_column_of_its_own() -> None:
    cells: list[str | None] = ["0", "2", "4", None, None, "6"]
    data = table({"a": ("number", cells)}, [0.0, 2.0, 4.0, 10.0, 0.0, 0.0], n_train=4)
    # a itself is the target where it is there, 2 + 8 where it is not: four rows, three coefficients, no error left.
    assert by_name(baselines(data))["linear"].answers == pytest.approx((10.0, 6.0))


def test_texts_are_read_word_by_word_and_column_by_column() -> None:
    said, heard = ["good one", "good two", "bad one", "bad two"], ["bad one", "bad two", "good one", "good two"]
    cells: dict[str, tuple[Kind, list[str | None]]] = {
        "said": ("text", [*said, "a good day", "bad", None]),
        "heard": ("text", [*heard, "bad", "a good day", "bad bad"]),
    }
    found = baselines(table(cells, ["yes", "yes", "no", "no", "yes", "no", "yes"], n_train=4))
    # The same words mean the opposite in the other column: a term belongs to its column.
    assert (by_name(found)["text"].answers, found.left_out) == (("yes", "no", "yes"), ())
    assert "linear" not in by_name(found)


def test_columns_that_cannot_be_used_are_named_with_why() -> None:
    n = 40
    cells: dict[str, tuple[Kind, list[str | None]]] = {
        "day": ("date", ["2024-01-01"] * n),
        "code": ("category", [f"c{i}" for i in range(31)] + ["c0"] * (n - 31)),
        "empty": ("number", [None] * 35 + ["1"] * 5),
    }
    found = baselines(table(cells, ["yes", "no"] * 20, n_train=35))
    assert [model.name for model in found.models] == ["constant"]
    assert found.left_out == (
        ("day", "dates"),
        ("code", "more than 30 values"),
        ("empty", "no training row has a value"),
    )
