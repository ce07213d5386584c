"""The form's part on rows: what parts them, how many, a test file, and the sentence of what came of it."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.drawn import app_over, shown, upload

TABLE = "shop,day,size,label\n" + "".join(
    f"shop {i % 20},2024-{i // 56 + 1:02}-{i // 2 % 28 + 1:02},{i % 9}.5,{'ab'[i // 20 % 2]}\n" for i in range(300)
)
MORE = "size,label,shop,day\n" + "".join(f"{i}.25,{'abc'[i % 3]},shop 77,2025-01-{i + 1:02}\n" for i in range(12))


@pytest.fixture
def form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The form with a table."""
    return upload(app_over(tmp_path, monkeypatch), TABLE.encode(), "shops.csv")


def choose(form: AppTest, kind: str) -> AppTest:
    form.segmented_control(key="new.split").set_value(kind)
    form.run()
    assert not form.exception
    return form


def inputs(form: AppTest) -> list[str]:
    return next(field.value for field in form.multiselect if field.label == "Inputs")


def test_rows_are_drawn_by_chance_and_what_is_left_out_is_said(form: AppTest) -> None:
    assert "100 of 300 rows train, 60 test; 140 are not used." in shown(form)
    assert inputs(form) == ["shop", "day", "size"]


def test_groups_and_dates_are_pointed_at_until_a_split_is_chosen(form: AppTest) -> None:
    said = "if its rows belong together, split by group (--split group:shop)"
    assert "Rows and split: by chance" in [fold.label for fold in form.expander]
    assert shown(form).count(said) == 1
    assert shown(form).count("split by time (--split time:day)") == 1
    choose(form, "By time")
    assert "Rows and split: by time" in [fold.label for fold in form.expander]
    assert said not in shown(form)


def test_a_split_by_group_takes_the_column_out_of_the_inputs(form: AppTest) -> None:
    choose(form, "By group")
    assert next(field.value for field in form.selectbox if field.label == "Column of the groups") == "shop"
    assert inputs(form) == ["day", "size"]
    assert "column 'shop' was left out: the split is by its groups" in shown(form).replace("&#x27;", "'")
    assert "groups for training" in shown(form)


def test_a_split_by_time_offers_dates_first(form: AppTest) -> None:
    choose(form, "By time")
    field = next(field for field in form.selectbox if field.label == "Column of the time")
    assert field.options == ["day", "size"]
    assert "test rows are the latest, 60 rows from" in shown(form)


def test_a_test_file_is_uploaded_kept_and_described(form: AppTest) -> None:
    choose(form, "A test file")
    assert "Until there is one, rows are drawn by chance." in shown(form)
    form.file_uploader(key="new.test_file.upload").set_value(("more.csv", MORE.encode(), "text/csv"))
    form.run()
    assert not form.exception
    html = shown(form)
    assert "100 of 312 rows train, 12 test; 200 are not used." in html
    assert "no training row has the label" in html
    form.button(key="new.test_file.replace").click().run()
    assert "Until there is one" in shown(form)


def test_a_test_file_without_a_column_is_refused_in_one_line(form: AppTest) -> None:
    choose(form, "A test file")
    form.file_uploader(key="new.test_file.upload").set_value(("more.csv", b"size,label\n1,a\n2,b\n", "text/csv"))
    form.run()
    assert "more.csv lacks 'shop', 'day', which shops.csv has" in shown(form).replace("&#x27;", "'")


def test_sizes_are_taken_as_given(form: AppTest) -> None:
    form.number_input(key="new.train").set_value(40)
    form.number_input(key="new.test").set_value(20)
    form.run()
    assert "40 of 300 rows train, 20 test; 240 are not used." in shown(form)
