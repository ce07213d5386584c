"""Slices beside pandas, and the worst of them corrected for the number looked at."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from tests.inspected import plain
from tests.reporting.builders import dataset, drawn, evaluated, started, view_of
from vpp.data.columns import date_forms
from vpp.data.dataset import Column, Row
from vpp.findings import slices
from vpp.findings.points import holds_truth
from vpp.findings.rows import Rows, evaluated_rows
from vpp.findings.slices import Slices
from vpp.findings.verdict import Verdict
from vpp.posterior.metric import wilson
from vpp.settings import Config
from vpp.show.blocks import Table

KINDS = {"island": "category", "size": "number", "few": "number", "site": "category", "day": "date", "note": "text"}
WEIGHTS = (0.4, 0.3, 0.2, 0.1)


def rows_of(cells: dict[str, list[str | None]], truth: list[object], answers: np.ndarray, **config: object) -> Rows:
    """Test rows whose last two columns are no inputs. answers: (K, N)."""
    data = dataset([truth[0], truth[-1], *sorted({*truth}, key=str)[:2]], truth)
    names = list(cells)
    lines = list(zip(*([(name, cell) for cell in cells[name]] for name in names), strict=True))
    test = tuple(
        Row(id=row.id, target=row.target, inputs=line[:-2], beside=line[-2:])
        for row, line in zip(data.test, lines, strict=True)
    )
    columns = tuple(Column(name=name, kind=KINDS[name], n_missing=0, n_distinct=9) for name in names)
    data = replace(data, columns=columns, inputs=tuple(names[:-2]), test=test)
    texts = tuple(f"h{k}" for k in range(len(answers)))
    said = dict(zip(texts, answers.tolist(), strict=True))
    settings = Config(reading="rows", **config)
    view = view_of(
        started(settings, data), *drawn(*texts), evaluated(data, said, slots=texts, weights=WEIGHTS[: len(texts)])
    )
    found = evaluated_rows(view, settings, data)
    assert found is not None
    return found


def cells_by_chance(rng: np.random.Generator, n: int) -> dict[str, list[str | None]]:
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    return {
        "island": rng.choice(["Biscoe", "Dream", "Torgersen", None], n).tolist(),
        "size": [f"{each:.2f}" for each in rng.normal(50, 10, n)],
        "few": rng.choice(["1", "2", "3"], n).tolist(),
        "note": [f"words {at}" for at in range(n)],
        "day": [each.strftime("%Y-%m-%d") for each in days],
        "site": rng.choice([f"s{k:02}" for k in range(12)], n).tolist(),
    }


def by_chance(seed: int, *, n: int = 60, right: float = 0.8) -> Rows:
    rng = np.random.default_rng(seed)
    truth = rng.choice(["yes", "no"], n)
    wrong = np.where(truth == "yes", "no", "yes")
    answers = np.where(rng.random((4, n)) < right, truth, wrong)
    return rows_of(cells_by_chance(rng, n), truth.tolist(), answers)


def frame_of(rows: Rows) -> pd.DataFrame:
    """The rows with their cells, in the order of the evaluation, and what their answers are worth."""
    points = {point.row.id: point for point in rows.points}
    frame = pd.DataFrame([points[row].row.cells for row in rows.test.rows])
    own = [points[row] for row in rows.test.rows]
    return frame.assign(answered=[point.decision is not None for point in own], right=[point.is_right for point in own])


@pytest.mark.parametrize("seed", range(4))
def test_slices_count_as_pandas_groups(seed: int) -> None:
    rows = by_chance(seed)
    found, frame = slices.slices(rows), frame_of(rows)
    assert list(found.by_column) == ["island", "size", "few", "day", "site"], "texts have no slices"
    commonest = frame["site"].value_counts(sort=True)
    kept = [name for name in (each.name for each in found.by_column["site"]) if name != slices.OTHER]
    assert commonest[kept].min() >= commonest.drop(kept).max()
    keys = {
        "island": frame["island"].fillna(slices.MISSING),
        "few": frame["few"],
        "size": pd.qcut(frame["size"].astype(float), 4, labels=False),
        "day": pd.qcut(pd.to_datetime(frame["day"]).astype("int64"), 4, labels=False),
        "site": frame["site"].where(frame["site"].isin(kept), slices.OTHER),
    }
    for column, key in keys.items():
        groups = frame.groupby(key, sort=True)
        due = pd.DataFrame({"n": groups.size(), "answered": groups["answered"].sum(), "right": groups["right"].sum()})
        own = found.by_column[column]
        if column in ("size", "day"):
            assert [(each.n, each.n_answered, each.n_right) for each in own] == list(due.itertuples(index=False))
        else:
            assert {each.name: (each.n, each.n_answered, each.n_right) for each in own} == {
                str(name): tuple(counts) for name, counts in zip(due.index, due.to_numpy(), strict=True)
            }
    assert (found.n_right, found.n_answered) == (frame["right"].sum(), frame["answered"].sum())


@pytest.mark.parametrize("seed", range(4))
def test_the_heaviest_hypothesis_of_a_slice_counts_equal_answers_there_as_one(seed: int) -> None:
    rows = by_chance(seed, n=16, right=0.9)
    votes = pd.DataFrame(list(rows.test.predictions)).T.set_axis(list("abcd"), axis=1)
    frame = frame_of(rows)
    for each in slices.slices(rows).by_column["few"]:
        some = votes[(frame["few"] == each.name).to_numpy()]
        shares: dict[tuple[str, ...], float] = {}
        for name, weight in zip("abcd", WEIGHTS, strict=True):
            shares[tuple(some[name])] = shares.get(tuple(some[name]), 0.0) + weight
        assert each.weight == pytest.approx(max(shares.values()))
        assert shares[tuple(some["abcd"[each.hypothesis]])] == pytest.approx(max(shares.values()))


def test_quarters_keep_equal_numbers_together_and_are_named_by_their_ends() -> None:
    column = Column(name="size", kind="number", n_missing=0, n_distinct=9)
    cells = [*["0"] * 30, *map(str, range(1, 11)), None, "n/a"]
    assert {name: len(places) for name, places in slices.parted(column, cells).items()} == {
        "0": 30, "1 to 10": 10, slices.OTHER: 1, slices.MISSING: 1,
    }  # fmt: skip
    site, names = replace(column, kind="category"), [f"s{k}" for k in range(slices.MOST_VALUES)]
    assert list(slices.parted(site, names)) == names
    assert list(slices.parted(site, [*names, "one", "more"])) == [*names[:-1], slices.OTHER]
    day = replace(column, kind="date")
    days = [f"{day}/01/2024" for day in range(13, 29)]
    assert date_forms(days)
    assert list(slices.parted(day, days)) == [f"{first}/01/2024 to {first + 3}/01/2024" for first in (13, 17, 21, 25)]


def biscoe(n_right: int, *, n: int = 20, of: int = 60) -> Slices:
    """A slice of n rows with so many right; all other rows are right."""
    islands = ["Biscoe"] * n + ["Dream"] * (of - n)
    truth = ["yes", "no"] * (of // 2)
    wrong = {"yes": "no", "no": "yes"}
    answers = [wrong[y] if at < n - n_right else y for at, y in enumerate(truth)]
    cells = {"island": islands, "few": ["1", "2"] * (of // 2), "note": ["x"] * of, "site": ["a"] * of}
    return slices.slices(rows_of(cells, truth, np.array([answers])))


def test_the_worst_slice_is_said_with_an_interval_corrected_for_all_that_were_looked_at() -> None:
    found = biscoe(5)
    low, high = binomtest(5, 20).proportion_ci(1 - 0.05 / 4, method="wilson")
    assert found.stands_out
    ends = f"({100 * low:.0f} % to {100 * high:.0f} %, corrected for 4)"
    assert plain(slices.worst_words(found)) == (
        f"All rows: 75 %. The worst of 4 slices: island = Biscoe, right on 5 of 20 {ends}."
    )
    record = slices.slices_result(found)["worst"]
    assert (record["low"], record["high"]) == (pytest.approx(low), pytest.approx(high))


def test_an_interval_that_holds_the_share_of_all_rows_does_not_stand_out() -> None:
    """Wilson's interval of 16 of 20 ends at 91.9 %, corrected for four at 93.6 %; all rows reach 93.3 %."""
    found = biscoe(16)
    lead = "All rows: 93 %. No slice stands out. The worst of 4 slices: island = Biscoe, right on 16 of 20"
    assert plain(slices.worst_words(found)).startswith(lead)
    assert wilson(16, 20)[1] < 56 / 60
    assert slices.worst_words(biscoe(20)) == "No slice stands out: all 60 answers are right."
    assert not slices.slices_result(found)["stands_out"]
    few = biscoe(0, n=slices.LEAST - 1)
    assert "Biscoe" not in slices.worst_words(few), "a slice with few answers is no candidate"
    assert [each.name for each in few.by_column["island"]] == ["Dream", "Biscoe"]


def test_the_title_does_not_sound_like_success_in_a_bad_run() -> None:
    bad, good = (Verdict(grade=grade, sentences=()) for grade in ("worse", "equal"))
    assert slices.title(biscoe(5), bad) == "By column: the worst slice is island = Biscoe"
    assert slices.title(biscoe(16), bad) == "By column: the mistakes are spread over all values"
    assert plain(slices.title(biscoe(16), good)) == "By column: 93 % right overall, no value clearly worse"
    assert slices.title(biscoe(20), good) == slices.title(biscoe(20), bad) == "By column: all 60 answers are right"


def test_columns_that_mean_nothing_stand_out_in_at_most_one_table_of_twenty() -> None:
    """If one table in twenty were flagged, 34 or more of 400 would be with probability 0.002. Fewer are."""
    assert sum(slices.slices(by_chance(seed)).stands_out for seed in range(400)) < 34


def test_numbers_are_right_where_the_range_holds_the_truth() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=40).tolist()
    answers = np.array([truth]) + np.where(np.arange(40) < 10, 100.0, 0.0)
    cells = {"island": ["A"] * 10 + ["B"] * 30, "few": ["1", "2"] * 20, "note": ["x"] * 40, "site": ["a"] * 40}
    rows = rows_of(cells, truth, answers, tau="1.0")
    found = slices.slices(rows)
    inside = {point.row.id: holds_truth(point) for point in rows.points}
    second, first = found.by_column["island"]
    assert first.n_right == sum(inside[row] for row in rows.test.rows[:10]) == 0
    assert second.n_right == sum(inside[row] for row in rows.test.rows[10:]) == 30
    assert "the truth in the range on 0 of 10" in slices.worst_words(found)


def test_tables_and_the_json_hold_the_same_counts() -> None:
    rows = by_chance(1)
    found = slices.slices(rows)
    table = next(each for each in slices.slice_table(found, "island") if isinstance(each, Table))
    records = [each for each in slices.slices_result(found)["all"] if each["column"] == "island"]
    assert [(line[0], line[1]) for line in table.rows] == [(each["slice"], str(each["rows"])) for each in records]
    said = [line[2].partition(",")[0] for line in table.rows]
    assert said == [f"{each['right']} of {each['answered']}" for each in records]
    _, lowest = slices.worst_by_column(found)
    assert isinstance(lowest, Table)
    assert {line[0] for line in lowest.rows} == set(found.by_column)
    beside = slices.side_by_side({"A": found, "B": slices.slices(by_chance(1, right=0.8))}, "island")
    assert [line[2] for line in beside.rows] == [line[3] for line in beside.rows] == [line[2] for line in table.rows]
