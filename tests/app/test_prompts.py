"""The form's prompts: a set out of the gallery, checked before anything runs."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.drawn import app as app
from tests.app.drawn import shown, upload
from tests.app.test_states import LABELS


def previewed(app: AppTest) -> str:
    return "\n".join(block.value for block in app.code)


@pytest.fixture
def form(app: AppTest) -> AppTest:
    return upload(app, LABELS)


def test_a_set_of_the_gallery_is_previewed_with_a_row_of_the_table(form: AppTest) -> None:
    assert "Output: one of the labels, nothing else" in previewed(form)
    assert " tokens." in shown(form)
    form.selectbox(key="new.templates").set_value("examples").run()
    asked = next(block.value for block in form.code if block.value.startswith("Instructions"))
    assert "Worked example\n\n" in asked
    assert "Its answer\n\n" in asked
    assert "Earlier" not in asked


def test_the_chosen_templates_reach_the_run_or_keep_it_from_starting(
    form: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The demo model does not follow worked examples."""
    monkeypatch.setattr("pages.parts.opening.launch", lambda *_, **__: None)
    form.selectbox(key="new.templates").set_value("examples").run()
    assert not form.exception
    assert form.button(key="new.start").disabled
    assert "The demo model does not follow worked examples: take templates" in shown(form)
    form.selectbox(key="new.templates").set_value("paper").run()
    form.button(key="new.start").click().run()
    assert not form.exception
    (record,) = tmp_path.glob("*/run.json")
    assert "answer_form_shown" not in record.read_text("utf-8")
