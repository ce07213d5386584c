"""The model of a new run: the demo model, an OpenAI-compatible server, or a model file; and a server's load."""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import blocks, person
from pages.parts.opening import READABLE_MS
from vpp.errors import InputError, VppError
from vpp.findings.status import check_blocks, failure, model_file_words, verdict
from vpp.llm.check import Finding
from vpp.runs.asking import check_servers
from vpp.runs.budget import Pace
from vpp.runs.process import TIMEOUT_S, endpoint_for
from vpp.runs.spec import EndpointSpec
from vpp.settings import EFFORTS, SERVER_DOCS, STRUCTURED
from vpp.show import markup
from vpp.show.blocks import Note
from vpp.show.words import capitalised

DEMO, SERVER, MODEL_FILE = "Built-in demo model", "My endpoint", "A model file on this machine"
SPEEDS = {READABLE_MS: "readable", 0: "instant"}
NAMES = {
    "base_url": ("Address", "http://localhost:8000/v1"),
    "model": ("Model", "llama-3.3-70b-instruct"),
    "optimizer_base_url": ("Optimizer’s address", "as the learner’s"),
    "optimizer_model": ("Optimizer’s model", "as the learner’s"),
}
"""Label and example of what names a server, in EndpointSpec as in Environment."""
SETTINGS = {
    "concurrency": "Calls in flight at most",
    "structured": "Structured answers",
    "reasoning_effort": "Thinking effort",
    "learner_max_tokens": "Learner’s tokens at most",
    "optimizer_max_tokens": "Optimizer’s tokens at most",
    "timeout_s": "Seconds for a call",
}
CHOICES = {"structured": STRUCTURED, "reasoning_effort": ("", *EFFORTS)}
HAS_MODEL = ("context length", "answers")  # findings after which a server is known to have the model


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    endpoint: EndpointSpec
    """Without a model, an address or a file if it is incomplete."""
    lacks: str = ""
    """First reason why a run cannot begin, such as a missing address or a failed test; empty if it can."""
    checks: tuple[Finding, ...] = ()

    def measure(self, name: str) -> Any:
        of_learner = (finding for finding in self.checks if "learner" in finding.roles)
        return next((finding.value for finding in of_learner if finding.name == name), None)

    @property
    def carrier(self) -> str:
        return str(self.measure("structured output") or "")

    @property
    def pace(self) -> Pace | None:
        round_trip_s, rate = self.measure("answers"), self.measure("throughput")
        return None if round_trip_s is None else Pace(round_trip_s=round_trip_s, calls_per_s=rate or float("inf"))


def choose_model(settings: DeltaGenerator, *, writes: bool = True) -> Model:
    """Ask for the model.

    settings: place for how the server is asked. writes: whether the run writes hypotheses, with an optimizer.
    """
    choices = [DEMO, *([] if person.environment().demo_only else [SERVER])]
    choices += [MODEL_FILE] if person.may_use_model_files() else []
    if st.session_state.get("new.who") not in choices:
        st.session_state["new.who"] = DEMO
    field = {**blocks.lasting("new.who"), "required": True, "label_visibility": "collapsed"}
    kind = st.segmented_control("Source of the answers", choices, **field)
    if kind == SERVER:
        return _server(settings, writes=writes)
    if kind == MODEL_FILE:
        return _model_file(settings, writes=writes)
    blocks.captions(markup.BY_LABEL["demo model"].meaning)
    field = blocks.begun("new.demo_latency_ms", next(iter(SPEEDS)))
    latency_ms = settings.selectbox("Demo speed", list(SPEEDS), format_func=SPEEDS.__getitem__, **field)
    return Model(endpoint=EndpointSpec(demo=True, demo_latency_ms=latency_ms, model="demo", cache=False))


def _model_file(settings: DeltaGenerator, *, writes: bool) -> Model:
    path = _text(st.container(), "Path of the model file (GGUF)", "gguf", "", hint="/home/me/models/name.gguf")
    endpoint = _settings(settings, writes=writes, timeout_s=TIMEOUT_S)
    try:
        if path:
            endpoint = endpoint_for(path, endpoint, may_use=person.may_use_model_files())
            blocks.captions(model_file_words(endpoint))
    except InputError as error:
        blocks.failed("This file cannot be used", str(error))
    checks = _test(endpoint)
    lacks = failure(checks) if endpoint.gguf else "Enter the path of a model file, or choose the demo model."
    return Model(endpoint=endpoint, lacks=lacks, checks=checks)


def _server(settings: DeltaGenerator, *, writes: bool) -> Model:
    env = person.environment()
    if env.endpoint_fixed:  # nobody can change the owner's endpoint here; its key stays hidden
        named: dict[str, Any] = {name: getattr(env, name) or "" for name in NAMES}
        blocks.draw(*(markup.caption(f"{NAMES[name][0]}: {value}") for name, value in named.items() if value))
        blocks.captions("Set by this app’s owner, with the key where one is needed.")
    else:
        named = _ask_names(settings, writes=writes)
    endpoint = replace(_settings(settings, writes=writes), **named)
    person.ask_keys(endpoint)
    addresses = (endpoint.base_url, endpoint.optimizer_base_url)
    try:
        for url in () if env.endpoint_fixed else filter(None, addresses):
            person.gate().check(url)
    except InputError as error:
        blocks.failed("This address cannot be used", str(error))
        endpoint = replace(endpoint, base_url="")
    checks = _test(endpoint)
    label = "Rows of this table may be sent to the address above"
    may_send = endpoint.base_url and person.consent(label, "new.consent", *addresses)
    lacks = {
        "Enter the server’s full address, or choose the demo model.": not endpoint.base_url,
        "Enter the model’s name, or choose the demo model.": not endpoint.model,
        (fault := failure(checks)): fault,
        "Allow that rows of this table are sent.": not may_send,
    }
    first = next((words for words, is_lacking in lacks.items() if is_lacking), "")
    return Model(endpoint=endpoint, lacks=first, checks=checks)


def _ask_names(settings: DeltaGenerator, *, writes: bool) -> dict[str, str]:
    env = person.environment()

    def ask(address: str, model: str, *, at: str = "") -> dict[str, str]:
        left, right = st.columns(2)
        named = {
            name: _text(place, NAMES[name][0], name, getattr(env, name), hint=NAMES[name][1])
            for place, name in ((left, address), (right, model))
        }
        _offer_models(right, named[address] or at, model)
        return named

    named = ask("base_url", "model")
    if writes:
        with settings.expander("Another model writes hypotheses"):
            named |= ask("optimizer_base_url", "optimizer_model", at=named["base_url"])
    return named


def _text(place: DeltaGenerator, label: str, name: str, value: str | None, *, hint: str) -> str:
    return str(place.text_input(label, **blocks.begun(f"new.{name}", value or ""), placeholder=hint)).strip()


def _settings(settings: DeltaGenerator, *, writes: bool, timeout_s: float | None = None) -> EndpointSpec:
    """Ask how to call the server. timeout_s: seconds for a call; None asks for them."""
    usual = EndpointSpec(structured="auto")
    values: dict[str, Any] = {} if timeout_s is None else {"timeout_s": timeout_s}
    names = [name for name in SETTINGS if name not in values and (writes or name != "optimizer_max_tokens")]
    with settings.expander("Server settings"):
        for place, name in blocks.in_columns(names, 3):
            value = getattr(usual, name)
            field = {**blocks.begun(f"new.{name}", value), "help": capitalised(f"{SERVER_DOCS[name]}.")}
            if name in CHOICES:
                words = {choice: choice or "the model’s own" for choice in CHOICES[name]}
                values[name] = place.selectbox(SETTINGS[name], list(words), format_func=words.__getitem__, **field)
            else:
                least, form = type(value)(name != "concurrency"), "%d" if isinstance(value, int) else "%g"
                values[name] = place.number_input(SETTINGS[name], least, format=form, **field)
    return replace(usual, **values)


def _offer_models(place: DeltaGenerator, url: str, field: str) -> None:
    listed = st.session_state.get("new.listed", {}).get(url.rstrip("/"), ())
    if not listed:
        return
    key = f"new.{field}.listed"

    def take() -> None:
        st.session_state[f"new.{field}"] = st.session_state[key] or st.session_state[f"new.{field}"]

    place.selectbox("Models on this server", listed, index=None, key=key, on_change=take, placeholder="Choose one")


def _test(endpoint: EndpointSpec) -> tuple[Finding, ...]:
    """Draw the test button and the findings of the last test of this very endpoint; return them."""
    if st.button("Test the endpoint", key="new.test_endpoint", disabled=not (endpoint.base_url or endpoint.gguf)):
        words = "Testing the endpoint; about a minute a server at most. No row of your table is sent."
        with st.status(words, expanded=True) as status:
            try:
                _check(endpoint, st.empty())
            except VppError as error:
                blocks.draw(markup.badge("rej", str(error)))
                status.update(label="The endpoint was not tested", state="error")
            else:
                st.rerun()  # the fields above offer the models
    of, checks = st.session_state.get("new.check", (None, ()))
    checks = checks if of == (endpoint, person.keys_of(endpoint)) else ()
    if checks:
        mark, words = verdict(checks)
        blocks.draw(*check_blocks(checks), Note("" if mark == "fails" else words))
    return checks


def _check(endpoint: EndpointSpec, place: DeltaGenerator, *, until: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    """Test the endpoint up to one of these findings, and keep what was found. place: of what is found so far."""
    checks: list[Finding] = []
    for one in check_servers(endpoint, person.keys_of(endpoint)):
        checks.append(one)
        place.html(markup.block(markup.html(check_blocks(checks))))
        if until and (one.mark == "fails" or one.name in until):
            break
    if not until or failure(checks):
        st.session_state["new.check"] = ((endpoint, person.keys_of(endpoint)), tuple(checks))
    listed = {one.base_url: one.value for one in checks if one.name == "models" and one.value}
    st.session_state["new.listed"] = {**st.session_state.get("new.listed", {}), **listed}
    return tuple(checks)


def ask_for_model(model: Model) -> None:
    """Ask an untested server for its model before a run begins; draw the page anew, with the failure, if that fails."""
    if model.checks or model.endpoint.is_started_here:
        return
    with st.spinner("Asking the server for its models"):
        checks = _check(model.endpoint, st.empty(), until=HAS_MODEL)
    if failure(checks):
        st.rerun()
