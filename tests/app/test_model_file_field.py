"""The part of the form that takes a model file on this machine."""

import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.endpoint import DEMO, MODEL_FILE
from tests.app.drawn import shown
from tests.app.test_endpoint_field import WITHIN_S, form
from tests.llama import model_file

LACKS = "Enter the path of a model file, or choose the demo model."


@pytest.fixture
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The form's third part, with a model file chosen."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "VPP_MODEL", "VPP_SHARED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setitem(sys.modules, "xllamacpp", pytest)
    app = AppTest.from_function(form, default_timeout=WITHIN_S)
    app.session_state["new.who"] = MODEL_FILE
    return app


def typed(field: AppTest, path: object) -> str:
    field.run().text_input(key="new.gguf").set_value(str(path)).run()
    assert not field.exception
    return shown(field)


def test_a_file_is_described_and_can_be_run(field: AppTest, tmp_path: Path) -> None:
    field.run()
    assert "cannot be used" not in shown(field)
    assert field.session_state["model"].lacks == LACKS
    assert field.button(key="new.test_endpoint").disabled
    path = model_file(tmp_path, "small.gguf")
    html = typed(field, path)
    assert "small: 0.0 GB. llama.cpp serves it on this machine: 4 calls at a time" in html
    chosen = field.session_state["chosen"]
    assert (chosen.gguf, chosen.model, chosen.base_url, chosen.timeout_s) == (str(path), "small", "", 3600)
    assert field.session_state["model"].lacks == ""
    assert not field.button(key="new.test_endpoint").disabled


def test_another_file_is_refused_and_nothing_of_it_is_shown(field: AppTest, tmp_path: Path) -> None:
    (tmp_path / "passwords").write_text("root:<b>toor</b>")
    assert "<script>" not in typed(field, "<script>alert(1)</script>")
    there, missing = typed(field, tmp_path / "passwords"), typed(field, tmp_path / "nothing")
    assert "This file cannot be used" in there
    assert "toor" not in there
    assert there.replace("passwords", "") == missing.replace("nothing", "")
    assert field.session_state["model"].lacks == LACKS


def test_a_missing_library_is_shown_with_the_command(
    field: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert "pip install -r requirements-local.txt" in typed(field, model_file(tmp_path))
    assert field.session_state["model"].lacks != ""


def test_a_shared_app_offers_no_model_file(field: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_SHARED", "1")
    field.run()
    assert field.session_state["new.who"] == DEMO
    assert "new.gguf" not in {each.key for each in field.text_input}
    assert field.session_state["chosen"].demo


def test_a_shared_app_offers_it_where_its_owner_allows_it(
    field: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VPP_SHARED", "1")
    monkeypatch.setenv("VPP_ALLOW_MODEL_FILES", "1")
    assert "llama.cpp serves it on this machine" in typed(field, model_file(tmp_path))
