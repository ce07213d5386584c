"""Which model answers: the built-in demo model, or an OpenAI-compatible server."""

import asyncio
from dataclasses import replace
from urllib.parse import urlsplit

import streamlit as st

from pages.parts import frame
from pages.parts.keeping import at_first
from vpp.cli.surroundings import environment
from vpp.errors import InputError, VppError
from vpp.llm.address import checked_address, is_loopback
from vpp.llm.counters import Counters
from vpp.llm.endpoint import Endpoint, Probe
from vpp.runs.spec import EndpointSpec
from vpp.wording import markup

DEMO, SERVER = "Built-in demo model", "My endpoint"
SPEEDS = ("readable", "instant")


def is_demo() -> bool:
    """Whether the demo model is chosen, also before its field is drawn."""
    return bool(st.session_state.get("new.who", DEMO) == DEMO)


def choose_endpoint(readable_ms: int) -> EndpointSpec:
    """Asks for the model; an incomplete server has no model or no address."""
    kind = st.segmented_control(
        "Who answers", (DEMO, SERVER), key=at_first("new.who", DEMO), persist_state="session", required=True
    )
    if kind == DEMO:
        st.html(markup.block(markup.DEMO_BANNER))
        speed = st.segmented_control(
            "Demo speed", SPEEDS, key=at_first("new.speed", SPEEDS[0]), persist_state="session", required=True
        )
        latency_ms = readable_ms if speed == SPEEDS[0] else 0
        return EndpointSpec(demo=True, demo_latency_ms=latency_ms, model="demo", cache=False)
    return server()


def server() -> EndpointSpec:
    env = environment()
    one, two = st.columns(2)
    url = one.text_input(
        "Address",
        key=at_first("new.url", env.base_url or ""),
        persist_state="session",
        placeholder="http://localhost:8000/v1",
    ).strip()
    model = two.text_input(
        "Model",
        key=at_first("new.model", env.model or ""),
        persist_state="session",
        placeholder="llama-3.3-70b-instruct",
    ).strip()
    with st.expander("Another model writes the hypotheses"):
        three, four = st.columns(2)
        optimizer_url = three.text_input(
            "Optimizer’s address", key="new.optimizer_url", persist_state="session"
        ).strip()
        optimizer_model = four.text_input(
            "Optimizer’s model", key="new.optimizer_model", persist_state="session"
        ).strip()
        concurrency = three.number_input(
            "Calls in flight at most", 1, 4096, 512, key="new.concurrency", persist_state="session"
        )
    endpoint = EndpointSpec(
        base_url=url,
        model=model,
        optimizer_base_url=optimizer_url,
        optimizer_model=optimizer_model,
        concurrency=int(concurrency),
    )
    frame.ask_keys(endpoint)
    if not _are_addresses(url, optimizer_url):
        return replace(endpoint, base_url="")
    if st.button("Test the endpoint", key="new.test_endpoint", disabled=not (url and model)):
        st.session_state["new.probe"] = (url, model, _probe(url, model))
    _show_probe(url, model)
    _ask_consent(url, optimizer_url)
    return endpoint


def _are_addresses(*urls: str) -> bool:
    """Whether each is a whole address; says what is wrong with one that is not."""
    for url in filter(None, urls):
        try:
            checked_address(url)
        except InputError as error:
            st.html(markup.block(markup.state("This address cannot be", str(error), failed=True)))
            return False
    return True


def _probe(url: str, model: str) -> Probe:
    async def look() -> Probe:
        endpoint = Endpoint(base_url=url, model=model, api_key=frame.session_keys().learner, counters=Counters())
        try:
            return await endpoint.probe()
        finally:
            await endpoint.aclose()

    try:
        return asyncio.run(look())
    except VppError as error:
        return Probe(reachable=False, reason=str(error))


def _show_probe(url: str, model: str) -> None:
    """What the last test of this address and model found."""
    asked = st.session_state.get("new.probe")
    st.session_state["new.round_trip_s"] = None
    if not asked or asked[:2] != (url, model):
        return
    probe: Probe = asked[2]
    st.session_state["new.round_trip_s"] = probe.round_trip_s
    if probe.model_ok and probe.round_trip_s is not None:
        context = f", context of {probe.context_length:,} tokens" if probe.context_length else ""
        st.html(markup.block(markup.badge("acc", f"The model answers in {1000 * probe.round_trip_s:.0f} ms{context}")))
        return
    listed = ", ".join(m.id for m in probe.models[:12])
    st.html(
        markup.block(
            markup.badge("rej", probe.reason or "it does not answer"),
            markup.caption(f"It lists: {listed}") if listed else "",
        )
    )


def _ask_consent(*urls: str) -> None:
    """Rows leave this machine only with a person's word."""
    away = sorted({urlsplit(url).hostname or url for url in urls if url and not is_loopback(url)})
    if not away:
        st.session_state["new.sent_ok"] = True
        return
    st.html(markup.block(markup.caption(f"Not this machine: {', '.join(away)}")))
    st.session_state["new.sent_ok"] = st.checkbox(
        "Rows of this table may be sent to the address above",
        key=f"new.consent.{'|'.join(away)}",
        persist_state="session",
    )
