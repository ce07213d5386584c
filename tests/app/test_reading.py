"""How an upload was read is shown on the form, and can be changed there."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.front import FILE
from tests.app.drawn import app as app
from tests.app.drawn import shown
from vpp.data.table import Table

ROWS = "".join(f"{i};{i % 7},5;{'ja' if i % 2 else 'nein'}\n" for i in range(40))
NAMED = f"größe;breite;gut\n{ROWS}".encode("cp1252")


def test_each_decision_stands_in_its_field(app: AppTest) -> None:
    begin(app, NAMED)
    assert [field(app, NAMED, name).format_func(None) for name in ("encoding", "delimiter", "header")] == [
        "Windows-1252 (Western), as found",
        "semicolon, as found",
        "first line, as found",
    ]
    assert "not UTF-8: read as Windows-1252" in shown(app)


def test_a_choice_reads_the_table_anew(app: AppTest) -> None:
    begin(app, NAMED)
    field(app, NAMED, "header").set_value(False).run()
    assert "column_1" in shown(app)
    assert "größe</td>" in shown(app)


def test_a_file_that_detection_cannot_read_is_read_as_chosen(app: AppTest) -> None:
    content = b"made;by hand\n" + ROWS.encode()
    begin(app, content)
    assert "This table cannot be read" in shown(app)
    app.number_input(key=f"{key(content)}.skip").set_value(1).run()
    assert "40 rows, 3 columns" in shown(app)


def test_an_upload_is_read_once(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    read = Table.read
    monkeypatch.setattr(
        Table, "read", lambda content, name, **how: asked.append(name) or read(content, name=name, **how)
    )
    begin(app, NAMED + b"41;1,5;ja\n")
    app.run()
    assert asked == ["mine.csv"]


def begin(app: AppTest, content: bytes) -> None:
    app.session_state[FILE] = ("mine.csv", content)
    app.run()
    assert not app.exception


def key(content: bytes) -> str:
    return f"new.read.mine.csv.{len(content)}"


def field(app: AppTest, content: bytes, name: str):  # type: ignore[no-untyped-def]
    return app.selectbox(key=f"{key(content)}.{name}")
