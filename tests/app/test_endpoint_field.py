"""The part of the form that names a model: a server, where the owner has a say too, or a model file."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.endpoint import DEMO, MODEL_FILE, SERVER
from tests.app.screen import shown
from tests.llama import model_file
from tests.llm.stub import refusal
from tests.processes import model
from vpp.runs.spec import EndpointSpec

WITHIN_S = 60


def form() -> None:
    import streamlit as st

    from pages.parts.endpoint import choose_model

    st.session_state["model"] = model = choose_model(st.container())
    st.session_state["chosen"] = model.endpoint


@pytest.fixture
def draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Draw the form's third part, on the owner's variables."""

    def run(who: str = SERVER, **variables: str) -> AppTest:
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "VPP_MODEL", "VPP_SHARED"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"VPP_RUNS_DIR": str(tmp_path / "runs"), **variables}.items():
            monkeypatch.setenv(name, value)
        app = AppTest.from_function(form, default_timeout=WITHIN_S)
        app.session_state["new.who"] = who
        return app.run()

    return run


@pytest.fixture
def field(draw: Callable[..., AppTest]) -> AppTest:
    """A server of one's own is chosen."""
    return draw()


def test_a_server_is_tested_and_its_models_are_offered(field: AppTest) -> None:
    with model() as served:
        field.text_input(key="new.base_url").set_value(served.base_url).run()
        assert not field.selectbox(key="new.structured").disabled
        field.button(key="new.test_endpoint").click().run()
        assert "the server has demo" in shown(field)
        field.selectbox(key="new.model.listed").set_value("demo").run()
        assert field.text_input(key="new.model").value == "demo"
        field.button(key="new.test_endpoint").click().run()
    html = shown(field)
    assert "A run can begin." in html
    assert "<td>learner prompt</td><td>works</td><td>read: wug" in html
    assert html.count("<td>works</td>") > 5
    pace = field.session_state["model"].pace
    assert pace.round_trip_s > 0
    assert pace.calls_per_s > 0


def name_server(field: AppTest, base_url: str, name: str) -> AppTest:
    field.text_input(key="new.base_url").set_value(base_url)
    return field.text_input(key="new.model").set_value(name).run()


def test_a_servers_refusal_is_shown_as_text_and_a_key_typed_later_makes_the_test_old(field: AppTest) -> None:
    with model() as served:
        name_server(field, served.base_url, "demo")
        served.refusal = refusal(400, "<script>alert(1)</script>")
        field.button(key="new.test_endpoint").click().run()
        assert "&lt;script&gt;" in shown(field)
        assert "<script>" not in shown(field)
        assert field.session_state["model"].pace is None
        served.refusal, served.key = None, "one"
        field.button(key="new.test_endpoint").click().run()
        assert "Key refused (" in shown(field)
        next(each for each in field.text_input if each.label.startswith("Key")).set_value("one").run()
    assert "Key refused" not in shown(field)


def test_an_unknown_model_is_an_error_that_names_the_servers_models(field: AppTest) -> None:
    with model() as served:
        name_server(field, served.base_url, "demon")
        field.button(key="new.test_endpoint").click().run()
        assert "<h2>The server does not have this model</h2>" in shown(field)
        assert "Unknown model or address (HTTP 404 " in shown(field)
        assert "list: demo" in shown(field)
        assert field.session_state["model"].lacks == "The server does not have this model: see Model."
        assert field.selectbox(key="new.model.listed").options == ["demo"]


def test_how_a_server_is_asked_goes_into_the_run(field: AppTest) -> None:
    field.selectbox(key="new.structured").set_value("off")
    field.number_input(key="new.learner_max_tokens").set_value(4096)
    field.selectbox(key="new.reasoning_effort").set_value("none").run()
    chosen: EndpointSpec = field.session_state["chosen"]
    assert (chosen.learner_max_tokens, chosen.optimizer_max_tokens) == (4096, 1536)
    assert (chosen.structured, chosen.reasoning_effort) == ("off", "none")
    assert (field.number_input(key="new.concurrency").value, chosen.concurrency) == (0, 0)
    field.number_input(key="new.concurrency").set_value(8)
    field.number_input(key="new.timeout_s").set_value(900.0).run()
    assert (field.session_state["chosen"].concurrency, field.session_state["chosen"].timeout_s) == (8, 900)


def test_a_server_that_may_not_be_asked_is_shown_and_cannot_be_tested(draw: Callable[..., AppTest]) -> None:
    home = "https://llm.lab.org/v1"
    own = {"OPENAI_BASE_URL": home, "OPENAI_API_KEY": "sk-of-the-owner-0123", "VPP_MODEL": "big"}
    app = draw(**own, VPP_ALLOWED_ENDPOINTS="https://big.lab.org/v1")
    assert "cannot be used" not in shown(app)
    app.text_input(key="new.base_url").set_value("https://evil.org/v1").run()
    assert "This address cannot be used" in shown(app)
    assert "take one that its owner has listed" in shown(app)
    assert app.button(key="new.test_endpoint").disabled
    assert app.session_state["chosen"].base_url == ""


def test_a_public_demo_offers_the_demo_model_alone(draw: Callable[..., AppTest]) -> None:
    app = draw(VPP_DEMO_ONLY="1", VPP_ALLOW_MODEL_FILES="1")
    assert app.segmented_control(key="new.who").options == ["Built-in demo model"]
    assert app.session_state["chosen"].demo


LACKS = "Enter the path of a model file, or choose the demo model."


@pytest.fixture
def file_field(draw: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setitem(sys.modules, "xllamacpp", pytest)
    return draw(MODEL_FILE)


def enter_path(file_field: AppTest, path: object) -> str:
    file_field.run().text_input(key="new.gguf").set_value(str(path)).run()
    return shown(file_field)


def test_a_file_is_described_and_can_be_run(file_field: AppTest, tmp_path: Path) -> None:
    file_field.run()
    assert "cannot be used" not in shown(file_field)
    assert file_field.session_state["model"].lacks == LACKS
    assert file_field.button(key="new.test_endpoint").disabled
    path = model_file(tmp_path, "small.gguf")
    html = enter_path(file_field, path)
    assert "small: 0.0 GB. llama.cpp serves it on this machine: 4 calls at a time" in html
    chosen = file_field.session_state["chosen"]
    assert (chosen.gguf, chosen.model, chosen.base_url, chosen.timeout_s) == (str(path), "small", "", 3600)
    assert file_field.session_state["model"].lacks == ""
    assert not file_field.button(key="new.test_endpoint").disabled


def test_another_file_is_refused_and_nothing_of_it_is_shown(file_field: AppTest, tmp_path: Path) -> None:
    (tmp_path / "passwords").write_text("root:<b>toor</b>")
    assert "<script>" not in enter_path(file_field, "<script>alert(1)</script>")
    there, missing = enter_path(file_field, tmp_path / "passwords"), enter_path(file_field, tmp_path / "nothing")
    assert "This file cannot be used" in there
    assert "toor" not in there
    assert there.replace("passwords", "") == missing.replace("nothing", "")
    assert file_field.session_state["model"].lacks == LACKS


def test_a_shared_app_offers_a_model_file_only_where_its_owner_allows_it_and_a_missing_library_has_its_command(
    file_field: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VPP_SHARED", "1")
    monkeypatch.setenv("VPP_ALLOW_MODEL_FILES", "1")
    assert "llama.cpp serves it on this machine" in enter_path(file_field, model_file(tmp_path))
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert "pip install -r requirements-local.txt" in enter_path(file_field, model_file(tmp_path))
    assert file_field.session_state["model"].lacks != ""
    monkeypatch.delenv("VPP_ALLOW_MODEL_FILES")
    file_field.run()
    assert file_field.session_state["new.who"] == DEMO
    assert "new.gguf" not in {each.key for each in file_field.text_input}
    assert file_field.session_state["chosen"].demo
