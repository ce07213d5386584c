"""Runs side by side, against figures worked out by hand from tests/inspected.py and tests/beside.py."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests import inspected
from tests.beside import all_right, candidate, other, side_by_side
from tests.inspected import BIG, EVEN, LABELS, LUCK, ODD
from tests.reporting.builders import YES_NO, dataset, run
from vpp.findings.baselines import baselines
from vpp.findings.comparison import against, conditions, same_rows, standing, standing_of
from vpp.findings.options import has_effect
from vpp.settings import Config


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def pair(folder: Path):  # type: ignore[no-untyped-def]
    return side_by_side(inspected.labels(folder / "a"), other(folder / "b"))


def test_a_run_stands_where_its_averaged_answers_put_it(folder: Path) -> None:
    a, b = pair(folder).standings
    assert a.answers == ("yes", "no", "yes", "no", "yes", "yes")
    assert (a.score.n_correct, a.losses) == (5, (0, 0, 0, 0, 0, 1))
    assert b.answers == ("yes", "no", "yes", "no", "no", "yes")
    assert (b.score.n_correct, b.losses) == (4, (0, 0, 0, 0, 1, 1))


def test_numbers_stand_by_squared_errors(folder: Path) -> None:
    found = standing(candidate(inspected.numbers(folder)))
    assert found is not None
    # Means 1, 3, 4.5 and 8/3 against 1, 3, 5 and 2.
    assert found.losses == pytest.approx((0, 0, 0.25, 4 / 9))
    assert found.score.error == pytest.approx((0.25 + 4 / 9) / 4)
    mean = (0.25 + 4 / 9) / 4
    squares = 2 * mean**2 + (0.25 - mean) ** 2 + (4 / 9 - mean) ** 2
    assert found.standard_error == pytest.approx(math.sqrt(squares / 3) / 2)


def test_the_difference_is_paired_row_by_row(folder: Path) -> None:
    found = pair(folder).difference(1)
    # Losses differ by 0 0 0 0 1 0: mean 1/6, sample variance (1 - 1/6) / 5 = 1/6, standard error sqrt(1/6 / 6).
    assert (found.mean, found.standard_error) == (pytest.approx(1 / 6), pytest.approx(1 / 6))
    assert (found.better, found.worse, found.p) == (0, 1, 1)
    assert pair(folder / "again").difference(0) is None


def test_simple_models_are_set_against_a_run_too(folder: Path) -> None:
    base = pair(folder).standings[0]
    constant = standing_of(baselines(LABELS).models[0], LABELS)
    # Always "no" is wrong on rows 4, 6, 8; the run on row 9.
    found = against(constant, base)
    assert (found.better, found.worse, found.mean) == (1, 3, pytest.approx(2 / 6))


def test_rows_are_the_same_in_any_order_and_never_by_their_number_alone() -> None:
    rows = LABELS.test
    assert same_rows(rows, tuple(reversed(rows)))
    assert not same_rows(rows, rows[1:])
    assert not same_rows(rows, (replace(rows[0], target="no"), *rows[1:]))
    assert not same_rows(rows, (replace(rows[0], inputs=(("a", "other"),)), *rows[1:]))
    assert not same_rows(rows, (replace(rows[0], inputs=(("b", "4"),)), *rows[1:]))
    assert same_rows(rows, (replace(rows[0], inputs=(("a", "4"), ("b", "x"))), *rows[1:]))


def test_runs_with_other_rows_or_none_stand_apart(folder: Path) -> None:
    found = side_by_side(
        inspected.labels(folder / "a"),
        all_right(folder / "b", YES_NO),
        inspected.numbers(folder / "c"),
        other(folder / "d", asked=False),
        other(folder / "e"),
    )
    assert (found.comparable, found.elsewhere, found.unanswered) == ((0, 4), (1, 2), (3,))
    assert found.difference(1) is None
    assert (
        side_by_side(*[inspected.labels(folder / "f"), other(folder / "g", asked=False)], reference=1).comparable == ()
    )


def test_the_run_that_another_goes_on_from_is_one_of_its_settings(folder: Path) -> None:
    runs = side_by_side(
        inspected.labels(folder / "a"),
        other(folder / "b", start=(EVEN, BIG), started_from="first"),
        other(folder / "c", start=(ODD, LUCK), started_from="second"),
    )
    named = conditions(runs.runs, used=has_effect, labels={"first": "toy · SMC · 14:32"})
    found = {each.name: each.values for each in named}
    assert found["goes on from"] == ("no run", "toy · SMC · 14:32", "second"), "a run that is gone has its id"


def test_only_the_seed_differs_between_runs_of_two_seeds(folder: Path) -> None:
    found = conditions(pair(folder).runs, used=has_effect)
    assert [(each.name, each.values) for each in found if each.differs] == [("seed", ("0", "1"))]


def test_only_settings_that_can_change_a_result_matter(folder: Path) -> None:
    """An option that only one method has matters if it is not at its default; the cache never does."""
    smc, endpoint = candidate(inspected.labels(folder / "a")), candidate(other(folder / "b")).snapshot.spec.endpoint
    mh = run(folder / "c", data=LABELS, config=Config(method="mh", particles=3, reading="rows", mh_rows="train"),
             endpoint=replace(endpoint, model="another", cache=False))  # fmt: skip
    found = conditions([smc, candidate(mh)], used=has_effect)
    differing = {each.name for each in found if each.differs}
    matter = {each.name: each.values for each in found if each.matters and each.kind == "options"}
    assert {"mutate", "cache"} <= differing
    assert not differing & {"seed"}
    assert not {each.name for each in found if each.matters} & {"cache", "python"}
    assert "model" in {each.name for each in found if each.matters}
    assert (matter["method"], matter["particles"], matter["mh_rows"]) == (("smc", "mh"), ("4", "3"), (None, "train"))


def test_other_columns_of_the_same_rows_are_compared_all_the_same(folder: Path) -> None:
    fewer = dataset(["yes", "no"], ["yes", "no"])
    wider = replace(
        fewer,
        test=tuple(replace(row, inputs=(*row.inputs, ("more", "x"))) for row in fewer.test),
        train=tuple(replace(row, inputs=(*row.inputs, ("more", "x"))) for row in fewer.train),
        inputs=("a", "more"),
        columns=(*fewer.columns[:1], replace(fewer.columns[0], name="more"), fewer.columns[1]),
    )
    found = side_by_side(all_right(folder / "a", fewer), all_right(folder / "b", wider))
    assert found.comparable == (0, 1)
