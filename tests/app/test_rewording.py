"""Another wording: what is refused. tests/app/test_finished_run.py writes one in a browser."""

from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.app.drawn import app as app
from tests.app.drawn import opened, shown
from tests.asked import asked_labels
from tests.llm.stub import refusal
from tests.processes import Model, wait_until

FOLD, SCORE = "rewording.fold", "rewording.score"
NEW = "If a is less than 1, answer yes; otherwise answer no."


def button(app: AppTest, key: str) -> Any:
    return next((each for each in app.button if each.key == key), None)


def test_a_servers_refusal_is_one_line_and_a_key_is_asked_for_once(app: AppTest, tmp_path: Path, served: Model) -> None:
    served.refusal = refusal(401, "no such key")
    app.session_state[FOLD] = True
    opened(app, asked_labels(tmp_path, served, model="large"), "posterior")
    app.text_area[0].set_value(NEW).run()
    assert button(app, SCORE).label == "Score it on 4 rows: 8 calls"
    button(app, SCORE).click().run()
    wait_until(lambda: "The wording could not be scored" in shown(app.run()), "the server has refused")
    assert "no such key" in shown(app)
    assert [field.label for field in app.text_input].count("Key, where the server wants one") == 1
    assert not app.exception
