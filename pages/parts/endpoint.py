"""The model of a new run: the demo model, an OpenAI-compatible server, or a model file; and a server's load."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import blocks, person
from vpp.environment import Environment
from vpp.errors import InputError, VppError
from vpp.findings.cost import demo_pace
from vpp.findings.status import check_blocks, failure, model_file_words, verdict, wait_words, window_words
from vpp.llm.choices import EFFORTS, STRUCTURED
from vpp.llm.gate import checked_address
from vpp.runs.budget import Pace
from vpp.runs.model_file import TIMEOUT_S, endpoint_for
from vpp.runs.reader import Snapshot
from vpp.runs.session import Checked, checking
from vpp.runs.spec import MOST_AT_ONCE, EndpointSpec
from vpp.show import markup, render
from vpp.show.blocks import Note
from vpp.show.words import capitalised

DEMO, SERVER, MODEL_FILE = "Built-in demo model", "My endpoint", "A model file on this machine"
SPEEDS = ("readable", "instant")
OWN_WAY = "the model’s own"
SERVERS = {
    "base_url": "Address",
    "model": "Model",
    "optimizer_base_url": "Optimizer’s address",
    "optimizer_model": "Optimizer’s model",
}
"""Labels of what names a server, in EndpointSpec as in Environment."""
STRUCTURED_WORDS = {
    "auto": "auto: if a test call shows that the server can hold the model to a JSON schema, it is asked for JSON.",
    "off": "off: the model writes freely and ends with its output. It can reason first.",
}
HAS_MODEL = ("context length", "answers")
"""Findings after which a server is known to have the model."""
DEMO_WORDS = markup.BY_LABEL["demo model"].meaning
TOKENS_WORDS = "Of one answer, thoughts included: a thinking model needs thousands, or the effort none."


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The chosen model, and what a test of this very endpoint found."""

    endpoint: EndpointSpec
    """Without a model, an address or a file if it is incomplete."""
    lacks: str = ""
    """First reason why a run cannot begin, such as a missing address or a failed test; empty if it can."""
    checks: tuple[Checked, ...] = ()

    def measure(self, name: str, of: str) -> Any:
        """Return a value that the test found for the learner, or None."""
        of_learner = (one.finding for one in self.checks if "learner" in one.roles)
        return next((finding.values.get(of) for finding in of_learner if finding.name == name), None)

    @property
    def carrier(self) -> str:
        return str(self.measure("structured output", "carrier") or "")

    @property
    def context_length(self) -> int:
        return int(self.measure("context length", "tokens") or 0)

    @property
    def pace(self) -> Pace | None:
        if self.endpoint.demo:
            return demo_pace(self.endpoint)
        round_trip_s, rate = self.measure("answers", "latency_s"), self.measure("throughput", "calls_per_s")
        return None if round_trip_s is None else Pace(round_trip_s=round_trip_s, calls_per_s=rate)


def offered() -> tuple[str, ...]:
    if person.environment().demo_only:
        return (DEMO,)
    return (DEMO, SERVER, MODEL_FILE) if person.may_use_model_files() else (DEMO, SERVER)


def choose_model(readable_ms: int, *, settings: DeltaGenerator | None = None, writes: bool = True) -> Model:
    """Ask for the model.

    settings: place for how the server is asked. writes: whether the run writes hypotheses, with an optimizer.
    """
    settings = settings or st.container()
    choices = offered()
    if st.session_state.get("new.who") not in choices:
        st.session_state["new.who"] = DEMO
    field = {**blocks.lasting("new.who"), "required": True, "label_visibility": "collapsed"}
    kind = st.segmented_control("Source of the answers", choices, **field)
    if kind == DEMO:
        blocks.captions(DEMO_WORDS)
        speed = settings.selectbox("Demo speed", SPEEDS, **blocks.begun("new.speed", SPEEDS[0]))
        latency_ms = readable_ms if speed == SPEEDS[0] else 0
        return Model(endpoint=EndpointSpec(demo=True, demo_latency_ms=latency_ms, model="demo", cache=False))
    if kind == SERVER:
        return server(settings, writes=writes)
    path = _text(st.container(), "Path of the model file (GGUF)", "gguf", None, hint="/home/me/models/name.gguf")
    below = st.container()
    endpoint = _asking(settings, writes=writes, timeout_s=TIMEOUT_S)
    if path:
        try:
            endpoint = endpoint_for(path, endpoint, may_use=person.may_use_model_files())
            below.html(markup.block(markup.caption(model_file_words(endpoint))))
        except InputError as error:
            below.html(markup.block(markup.state("This file cannot be used", str(error), failed=True)))
    checks = _test(endpoint)
    lacks = _failed(checks) if endpoint.gguf else "Enter the path of a model file, or choose the demo model."
    return Model(endpoint=endpoint, lacks=lacks, checks=checks)


def server(settings: DeltaGenerator, *, writes: bool) -> Model:
    env = person.environment()
    if env.endpoint_fixed:  # nobody can change the owner's endpoint here; its key stays hidden
        named: dict[str, Any] = {name: getattr(env, name) or "" for name in SERVERS}
        blocks.draw(*(markup.caption(f"{SERVERS[name]}: {value}") for name, value in named.items() if value))
        blocks.captions("Set by this app’s owner, with the key where one is needed.")
    else:
        named = _ask_names(env, settings, writes=writes)
    endpoint = replace(_asking(settings, writes=writes), **named)
    person.ask_keys(endpoint)
    addresses = (endpoint.base_url, endpoint.optimizer_base_url)
    try:
        for url in () if env.endpoint_fixed else filter(None, addresses):
            person.gate().check(checked_address(url))
    except InputError as error:
        blocks.failed("This address cannot be used", str(error))
        endpoint = replace(endpoint, base_url="")
    checks = _test(endpoint)
    label = "Rows of this table may be sent to the address above"
    may_send = endpoint.base_url and person.consent(label, "new.consent", *addresses)
    if not endpoint.base_url:
        lacks = "Enter the server’s full address, or choose the demo model."
    elif not endpoint.model:
        lacks = "Enter the model’s name, or choose the demo model."
    else:
        lacks = _failed(checks) or ("" if may_send else "Allow that rows of this table are sent.")
    return Model(endpoint=endpoint, lacks=lacks, checks=checks)


def _ask_names(env: Environment, settings: DeltaGenerator, *, writes: bool) -> dict[str, Any]:
    one, two = st.columns(2)
    url = _text(one, "Address", "url", env.base_url, hint="http://localhost:8000/v1")
    named = {"base_url": url, "model": _text(two, "Model", "model", env.model, hint="llama-3.3-70b-instruct")}
    _offer_models(two, url, "model")
    if not writes:
        return named
    with settings.expander("Another model writes hypotheses"):
        one, two = st.columns(2)
        fields = (one, "optimizer_base_url", "optimizer_url"), (two, "optimizer_model", "optimizer_model")
        for place, name, field in fields:
            named[name] = _text(place, SERVERS[name], field, getattr(env, name), hint="as the learner’s")
        _offer_models(two, named["optimizer_base_url"] or url, "optimizer_model")
    return named


def _text(place: DeltaGenerator, label: str, name: str, value: str | None, *, hint: str) -> str:
    return str(place.text_input(label, **blocks.begun(f"new.{name}", value or ""), placeholder=hint)).strip()


def _asking(settings: DeltaGenerator, *, writes: bool, timeout_s: float | None = None) -> EndpointSpec:
    """Ask how to call the server: calls in flight, form, length and time of answers, thinking effort.

    timeout_s: seconds for a call; None asks for them.
    """
    usual = EndpointSpec()
    with settings.expander("Server settings"):
        one, two, three = st.columns(3)
        about = "Left empty, as many as a step's round needs: 1,024 to 4,096."
        field = {**blocks.begun("new.concurrency", usual.concurrency or None), "placeholder": "as needed"}
        concurrency = one.number_input("Calls in flight at most", 1, MOST_AT_ONCE, None, help=about, **field)
        structured = two.selectbox("Structured answers", STRUCTURED, **blocks.begun("new.structured", STRUCTURED[0]))
        effort = three.selectbox("Thinking effort", (OWN_WAY, *EFFORTS), **blocks.begun("new.effort", OWN_WAY))
        blocks.captions(STRUCTURED_WORDS[structured])
        four, five, six = st.columns(3)
        most = {"learner": usual.learner_max_tokens, "optimizer": usual.optimizer_max_tokens}
        for place, role in ((four, "learner"), (five, "optimizer")) if writes else ((four, "learner"),):
            label, field = f"{role.capitalize()}’s tokens at most", blocks.begun(f"new.{role}_max_tokens", most[role])
            most[role] = int(place.number_input(label, 1, 1_000_000, step=256, **field))
        if timeout_s is None:
            words = "A call without an answer by then is repeated. Raise it for a slow server or long texts."
            field = blocks.begun("new.timeout_s", usual.timeout_s)
            timeout_s = float(six.number_input("Seconds for a call", 0.1, step=30.0, format="%g", **field, help=words))
        blocks.captions(TOKENS_WORDS)
    return EndpointSpec(
        concurrency=int(concurrency or 0),
        structured=structured,
        reasoning_effort="" if effort == OWN_WAY else effort,
        timeout_s=timeout_s,
        learner_max_tokens=most["learner"],
        optimizer_max_tokens=most["optimizer"],
    )


def _offer_models(place: DeltaGenerator, url: str, field: str) -> None:
    listed = st.session_state.get("new.listed", {}).get(url.rstrip("/"), ())
    if not listed:
        return
    key = f"new.{field}.listed"

    def take() -> None:
        st.session_state[f"new.{field}"] = st.session_state[key] or st.session_state[f"new.{field}"]

    place.selectbox("Models on this server", listed, index=None, key=key, on_change=take, placeholder="Choose one")


def _test(endpoint: EndpointSpec) -> tuple[Checked, ...]:
    """Draw the test button and the findings of the last test of this very endpoint; return them."""
    if st.button("Test the endpoint", key="new.test_endpoint", disabled=not (endpoint.base_url or endpoint.gguf)):
        _run_test(endpoint)
    of, checks = st.session_state.get("new.check", (None, ()))
    checks = checks if of == (endpoint, person.keys_of(endpoint)) else ()
    if checks:
        conclusion = verdict(checks)
        blocks.draw(*check_blocks(checks), Note("" if conclusion.mark == "fails" else conclusion.words))
    return checks


def _failed(checks: tuple[Checked, ...]) -> str:
    head = failure(checks)
    return f"{head}: see Model." if head else ""


def _run_test(endpoint: EndpointSpec) -> None:
    checks: list[Checked] = []
    words = "Testing the endpoint; about a minute a server at most. No row of your table is sent."
    with st.status(words, expanded=True) as status:
        lines = st.empty()
        try:
            for one in checking(endpoint, person.keys_of(endpoint)):
                checks.append(one)
                lines.html(markup.block(render.html(check_blocks(checks))))
        except VppError as error:
            lines.html(markup.block(markup.badge("rej", str(error))))
            status.update(label="The endpoint was not tested", state="error")
            return
    _keep(endpoint, checks)


def has_model(model: Model) -> bool:
    """Ask an untested server for its model before a run begins; show the Model part again if that fails."""
    if model.checks or model.endpoint.is_started_here:
        return True
    checks: list[Checked] = []
    with st.spinner("Asking the server for its models"):
        for one in checking(model.endpoint, person.keys_of(model.endpoint)):
            checks.append(one)
            if one.finding.mark == "fails" or one.finding.name in HAS_MODEL:
                break
    if not failure(checks):
        return True
    _keep(model.endpoint, checks)
    return False


def _keep(endpoint: EndpointSpec, checks: Sequence[Checked]) -> None:
    st.session_state["new.check"] = ((endpoint, person.keys_of(endpoint)), tuple(checks))
    listed = {one.base_url: one.finding.values["models"] for one in checks if one.finding.values.get("models")}
    st.session_state["new.listed"] = {**st.session_state.get("new.listed", {}), **listed}
    st.rerun()  # the fields above offer the models


# What slows a run's calls down, while it is at work


def slowed_html(snapshot: Snapshot) -> str:
    usage = snapshot.usage
    if snapshot.state != "running":
        return ""
    words = (capitalised(wait_words(usage, now=time.time())), window_words(usage, snapshot.spec.ceiling))
    return "".join(map(markup.caption, filter(None, words)))
