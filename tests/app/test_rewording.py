"""Another wording: what is refused. tests/app/test_finished_run.py writes one in a browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.drawn import app_over, opened, shown
from tests.asked import asked_labels
from tests.llm.stub import refusal
from tests.processes import Model, wait_until
from vpp.runs.reader import RunReader

On = Callable[[RunReader, str], AppTest]
FOLD, SCORE = "rewording.fold", "rewording.score"
NEW = "If a is less than 1, answer yes; otherwise answer no."


def button(app: AppTest, key: str) -> Any:
    return next((each for each in app.button if each.key == key), None)


@pytest.fixture
def on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> On:
    """A page with the run open, and the section unfolded."""

    def page_of(reader: RunReader, page: str) -> AppTest:
        app = app_over(tmp_path, monkeypatch)
        app.session_state[FOLD] = True
        return opened(app, reader, page)

    return page_of


@pytest.mark.parametrize("page", ["watch", "posterior"])
def test_a_servers_refusal_is_one_line_and_a_key_is_asked_for_once(
    page: str, on: On, tmp_path: Path, served: Model
) -> None:
    served.refusal = refusal(401, "no such key")
    app = on(asked_labels(tmp_path, served, model="large"), page)
    app.text_area[0].set_value(NEW).run()
    assert button(app, SCORE).label == "Score it on 4 rows: 8 calls"
    button(app, SCORE).click().run()
    wait_until(lambda: "The wording could not be scored" in shown(app.run()), "the server has refused")
    assert "no such key" in shown(app)
    assert [field.label for field in app.text_input].count("Key, where the server wants one") == 1
    assert not app.exception
