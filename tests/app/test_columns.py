"""The kinds of an uploaded table's columns: what was decided is shown, and can be changed."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.drawn import app_over, shown, upload

ROWS = [f"{1 + i % 7}.{100 + i},50 €;{i % 5 + 1};{'ja' if i % 2 else 'nein'}" for i in range(80)]
GERMAN = "\n".join(["preis;note;kauf", *ROWS]).encode()


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    return upload(app_over(tmp_path, monkeypatch), GERMAN, "haus.csv")


def kind(app: AppTest, name: str, value: str) -> None:
    column = next(box for box in app.selectbox if (box.key or "").startswith("new.kind.column."))
    column.set_value(name).run()
    next(box for box in app.selectbox if (box.key or "").startswith("new.kind.of.")).set_value(value).run()
    assert not app.exception


def test_a_notation_and_a_guess_are_shown(app: AppTest) -> None:
    assert "number in €" in shown(app)
    assert "is read as" in shown(app)
    assert "the target &#x27;kauf&#x27; is a guess" in shown(app)


def test_a_kind_that_is_chosen_is_used_and_stays(app: AppTest) -> None:
    kind(app, "note", "category")
    assert "column &#x27;note&#x27; is of the kind category, as chosen" in shown(app)
    app.selectbox(key="new.target").set_value("note").run()
    assert "note has 5 labels, so this is classification." in shown(app)
    kind(app, "note", "as found")
    assert "as chosen" not in shown(app)


def test_a_kind_that_does_not_fit_the_cells_is_refused_in_one_line(app: AppTest) -> None:
    kind(app, "kauf", "number")
    assert 'role="alert"' in shown(app)
    assert "cannot be read as numbers in one notation: row 0 holds" in shown(app)
    kind(app, "kauf", "as found")
    assert 'role="alert"' not in shown(app)
