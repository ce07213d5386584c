"""The form that names a server, where the app's owner has a say in which."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.drawn import shown
from tests.app.test_endpoint_field import WITHIN_S, form

HOME = "https://llm.lab.org/v1"
SECRET = "sk-of-the-owner-0123"


def drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **variables: str) -> AppTest:
    """The form's third part, on an owner's variables."""
    own = {"VPP_RUNS_DIR": str(tmp_path), "OPENAI_BASE_URL": HOME, "OPENAI_API_KEY": SECRET, "VPP_MODEL": "big"}
    for name, value in {**own, **variables}.items():
        monkeypatch.setenv(name, value)
    app = AppTest.from_function(form, default_timeout=WITHIN_S)
    app.session_state["new.who"] = "My endpoint"
    return app.run()


def test_a_server_that_may_not_be_asked_is_shown_and_cannot_be_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = drawn(tmp_path, monkeypatch, VPP_ALLOWED_ENDPOINTS="https://big.lab.org/v1")
    assert "cannot be used" not in shown(app)
    app.text_input(key="new.base_url").set_value("https://evil.org/v1").run()
    assert "This address cannot be used" in shown(app)
    assert "take one that its owner has listed" in shown(app)
    assert app.button(key="new.test_endpoint").disabled
    assert app.session_state["chosen"].base_url == ""


def test_a_public_demo_offers_the_demo_model_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = drawn(tmp_path, monkeypatch, VPP_DEMO_ONLY="1", VPP_ALLOW_MODEL_FILES="1")
    assert not app.exception
    assert app.segmented_control(key="new.who").options == ["Built-in demo model"]
    assert app.session_state["chosen"].demo
