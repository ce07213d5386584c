"""What a run's servers tell of their load while it runs, where they tell it: one short line a server."""

import time

import streamlit as st

from pages.parts import person
from vpp.llm.gate import Gate
from vpp.llm.gauges import Gauge, load_words
from vpp.runs.reader import Snapshot
from vpp.wording import markup
from vpp.wording.status import wait_words, window_words
from vpp.wording.words import capitalised


@st.cache_resource(max_entries=100, show_spinner=False)
def gauge(base_url: str, gate: Gate) -> Gauge:
    """One a server, shared by every watcher: it reads in a thread of its own, so that no page waits."""
    return Gauge(base_url, gate=gate)


def line(snapshot: Snapshot) -> str:
    """HTML; empty for a run that is not at work, and for a server that keeps up and tells nothing."""
    endpoint = snapshot.spec.endpoint
    if snapshot.state != "running":
        return ""
    told_of = (
        capitalised(wait_words(snapshot.usage, now=time.time())),
        window_words(snapshot.usage, snapshot.spec.ceiling),
    )
    narrowed = "".join(markup.caption(words) for words in told_of if words)
    if endpoint.is_started_here:
        return narrowed
    servers = {endpoint.base_url: "Server"}
    if endpoint.optimizer_base_url not in ("", endpoint.base_url):
        servers = {endpoint.base_url: "Learner’s server", endpoint.optimizer_base_url: "Optimizer’s server"}
    gate = person.gate()
    told = ((name, gauge(url, gate).latest()) for url, name in servers.items())
    return narrowed + "".join(markup.caption(f"{name}: {load_words(load)}") for name, load in told if load)
