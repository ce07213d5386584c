"""The form's part on rows: how a file is read, the kinds of its columns, what parts them, and a test file."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.drawn import app as app
from tests.app.drawn import app_over, shown, upload

# How it is read

ROWS = "".join(f"{i};{i % 7},5;{'ja' if i % 2 else 'nein'}\n" for i in range(40))
NAMED = f"größe;breite;gut\n{ROWS}".encode("cp1252")


def read_field(app: AppTest, content: bytes, name: str) -> Any:
    return app.selectbox(key=f"new.read.table.csv.{len(content)}.{name}")


def test_each_decision_stands_in_its_field_and_a_choice_reads_the_table_anew(app: AppTest) -> None:
    upload(app, NAMED)
    assert [read_field(app, NAMED, name).format_func(None) for name in ("encoding", "delimiter", "header")] == [
        "Automatic (Windows-1252 (Western))",
        "Automatic (semicolon)",
        "Automatic (first line)",
    ]
    assert "not UTF-8: read as Windows-1252" in shown(app)
    read_field(app, NAMED, "header").set_value(False).run()
    assert "column_1" in shown(app)
    assert "größe</td>" in shown(app)


# Types of columns

GERMAN = "preis;note;kauf\n" + "".join(
    f"{1 + i % 7}.{100 + i},50 €;{i % 5 + 1};{'ja' if i % 2 else 'nein'}\n" for i in range(80)
)


def choose_kind(app: AppTest, name: str, value: str) -> None:
    column = next(box for box in app.selectbox if (box.key or "").startswith("new.kind.column."))
    column.set_value(name).run()
    next(box for box in app.selectbox if (box.key or "").startswith("new.kind.of.")).set_value(value).run()
    assert not app.exception


def test_a_kind_that_is_chosen_is_used_and_stays_or_is_refused_in_one_line(app: AppTest) -> None:
    upload(app, GERMAN.encode(), "haus.csv")
    assert "number in €" in shown(app)
    assert "is read as" in shown(app)
    assert "A guess, as the last suitable column." in shown(app)
    assert shown(app).index("kauf</th>") < shown(app).index("preis</th>")
    choose_kind(app, "note", "category")
    assert "column &#x27;note&#x27; is of the kind category, as chosen" in shown(app)
    app.selectbox(key="new.target").set_value("note").run()
    assert "note has 5 labels, so this is classification." in shown(app)
    choose_kind(app, "kauf", "number")
    assert 'role="alert"' in shown(app)
    assert "cannot be read as numbers in one notation: row 0 holds" in shown(app)
    choose_kind(app, "kauf", "Automatic")
    assert 'role="alert"' not in shown(app)
    choose_kind(app, "note", "Automatic")
    assert "as chosen" not in shown(app)


# What columns and labels mean

HEART = "x1,x2,*num*\n" + "".join(f"{i % 20}.5,{i % 7},{'yes' if i % 2 else 'no'}\n" for i in range(40))


def test_columns_and_labels_are_described_a_line_each_and_reach_the_run(app: AppTest, tmp_path: Path) -> None:
    upload(app, HEART.encode(), "heart.csv")
    (field,) = (field for field in app.text_area if field.label == "What columns and labels mean")
    field.set_value("x1 cholesterol").run()
    assert "&#x27;x1 cholesterol&#x27; describes nothing" in shown(app)
    field.set_value("x1 = cholesterol, mg/dl <b>\nlabel:yes = ill").run()
    assert "prompts describe 1 column and 1 label" in shown(app)
    asked = "What the columns mean:\n<<<\nx1: cholesterol, mg/dl <b>\n*num* = yes: ill\n>>>\n\nYou apply a rule"
    assert asked in "".join(block.value for block in app.code)
    app.button(key="new.start").click().run()
    (record,) = tmp_path.glob("*/run.json")
    described = {"columns": {"x1": "cholesterol, mg/dl <b>"}, "labels": {"yes": "ill"}}
    assert json.loads(record.read_text("utf-8"))["dataset"]["descriptions"] == described


# The split

TABLE = "shop,day,size,label\n" + "".join(
    f"shop {i % 20},2024-{i // 56 + 1:02}-{i // 2 % 28 + 1:02},{i % 9}.5,{'ab'[i // 20 % 2]}\n" for i in range(300)
)
MORE = "size,label,shop,day\n" + "".join(f"{i}.25,{'abc'[i % 3]},shop 77,2025-01-{i + 1:02}\n" for i in range(12))


@pytest.fixture
def form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The form with a table."""
    return upload(app_over(tmp_path, monkeypatch), TABLE.encode(), "shops.csv")


def choose_split(form: AppTest, kind: str) -> str:
    form.segmented_control(key="new.split").set_value(kind)
    form.run()
    assert not form.exception
    return shown(form)


def test_a_column_is_left_out_and_more_rows_train_with_their_cost(form: AppTest) -> None:
    rows = form.selectbox(key="new.train.300")
    assert rows.options == ["100 of 300 rows", "240 of 300 rows: about 2.3 × the calls"]
    left_out = next(field for field in form.multiselect if field.label == "Columns left out")
    assert left_out.value == []
    left_out.set_value(["shop"]).run()
    assert shown(form).count("left out</td>") == 1


def test_a_test_file_is_described_or_refused_in_one_line(form: AppTest) -> None:
    assert "Until there is one, rows are drawn by chance." in choose_split(form, "A test file")
    give_test_file(form, MORE.encode())
    assert form.selectbox(key="new.train.300").options[-1].startswith("300 of 300 rows")
    assert "no training row has the label" in shown(form)
    form.button(key="new.test_file.replace").click().run()
    assert "Until there is one" in shown(form)
    give_test_file(form, b"size,label\n1,a\n2,b\n")
    assert "more.csv lacks &#x27;shop&#x27;, &#x27;day&#x27;, which shops.csv has" in shown(form)


def give_test_file(form: AppTest, content: bytes) -> None:
    form.file_uploader(key="new.test_file.upload").set_value(("more.csv", content, "text/csv"))
    form.run()
    assert not form.exception
