"""The part of the form that names a server, and what is shown of one while a run goes on."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.drawn import shown
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
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The form's third part, with a server of one's own chosen."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "VPP_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    app = AppTest.from_function(form, default_timeout=WITHIN_S)
    app.session_state["new.who"] = "My endpoint"
    return app.run()


def test_a_server_is_tested_and_its_models_are_offered(field: AppTest) -> None:
    with model() as served:
        field.text_input(key="new.base_url").set_value(served.base_url).run()
        assert not field.selectbox(key="new.structured").disabled
        field.button(key="new.test_endpoint").click().run()
        assert "the server has demo" in shown(field)
        field.selectbox(key="new.model.listed").set_value("demo").run()
        assert field.text_input(key="new.model").value == "demo"
        field.button(key="new.test_endpoint").click().run()
    assert not field.exception
    html = shown(field)
    assert "A run can begin." in html
    assert "<td>learner prompt</td><td>works</td><td>read: wug" in html
    assert html.count("<td>works</td>") > 5
    pace = field.session_state["model"].pace
    assert pace.round_trip_s > 0
    assert pace.calls_per_s > 0


def test_a_servers_refusal_is_shown_as_text_and_a_key_typed_later_makes_the_test_old(field: AppTest) -> None:
    with model() as served:
        field.text_input(key="new.base_url").set_value(served.base_url)
        field.text_input(key="new.model").set_value("demo").run()
        served.refusal = refusal(400, "<script>alert(1)</script>")
        field.button(key="new.test_endpoint").click().run()
        assert "&lt;script&gt;" in shown(field)
        assert "<script>" not in shown(field)
        assert field.session_state["model"].pace is None
        served.refusal, served.key = None, "one"
        field.button(key="new.test_endpoint").click().run()
        assert "Key refused, as none was given" in shown(field)
        next(each for each in field.text_input if each.label.startswith("Key")).set_value("one").run()
    assert "Key refused" not in shown(field)


def test_an_unknown_model_is_an_error_that_names_the_servers_models(field: AppTest) -> None:
    with model() as served:
        field.text_input(key="new.base_url").set_value(served.base_url)
        field.text_input(key="new.model").set_value("demon").run()
        field.button(key="new.test_endpoint").click().run()
        assert "<h2>The server does not have this model</h2>" in shown(field)
        assert "Unknown model demon: the server has demo. Did you mean demo?" in shown(field)
        assert field.session_state["model"].lacks == "The server does not have this model: see Model."
        assert field.selectbox(key="new.model.listed").options == ["demo"]


def test_how_a_server_is_asked_goes_into_the_run(field: AppTest) -> None:
    field.selectbox(key="new.structured").set_value("off")
    field.number_input(key="new.learner_max_tokens").set_value(4096)
    field.selectbox(key="new.reasoning_effort").set_value("none").run()
    chosen: EndpointSpec = field.session_state["chosen"]
    assert (chosen.learner_max_tokens, chosen.optimizer_max_tokens) == (4096, 1536)
    assert (chosen.structured, chosen.reasoning_effort) == ("off", "none")
    at_most = field.number_input(key="new.concurrency")
    assert at_most.value == 0
    assert field.session_state["chosen"].concurrency == 0
    at_most.set_value(8).run()
    assert field.session_state["chosen"].concurrency == 8
    field.number_input(key="new.timeout_s").set_value(900.0).run()
    assert field.session_state["chosen"].timeout_s == 900
