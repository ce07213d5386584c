"""The frame of every page: the way in, the list of runs, and what a server imports ahead."""

import gc
import inspect
import runpy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib import import_module
from threading import Event, Thread
from typing import Any

import streamlit as st
from streamlit.starlette import App

from pages.parts import blocks, opening, person
from vpp.errors import VppError
from vpp.findings.status import Listed, distinguished, listed, unreadable
from vpp.runs.directory import RunDirectory, read_summary
from vpp.show import markup


def enter() -> None:
    """Begin a page; each page calls this first.

    On a fresh server, Streamlit runs the file of a page opened by link without app.py:
    the frame is then drawn first, and draws the page inside it.
    """
    if not st.session_state.get("frame.entered"):
        runpy.run_path(str(blocks.ASSETS.parent / "app.py"))
        st.stop()
    st.html(markup.glossary())


AT_ONCE = 60  # runs listed, and added by "Show more"; with more than these there is a field to find one by its name
_RUNS = blocks.component("runs")


@st.fragment
def list_runs() -> None:
    """List every run with its state when the page was drawn; a click opens it.

    It has no timer: one beside those of Watch emptied the page when pages were switched. Watch
    draws the whole app anew where the state of the open run changes.
    """
    directories = person.store().runs()
    if not directories:
        return
    chosen = st.session_state.get("run") or st.query_params.get("run")
    asked: dict[str, Any] = st.session_state.get("frame.runs", {})
    find, most = str(asked.get("find") or ""), int(asked.get("most") or AT_ONCE)
    matching = directories
    if find:
        names = ((run, spec.name if (spec := opening.settings(run)) else run.id) for run in directories)
        matching = [run for run, name in names if find.casefold() in name.casefold()]
    rows = distinguished([_listed(directory) for directory in matching[:most]])
    st.session_state["frame.queued"] = any(row.id == chosen and "queued" in row.note for row in rows)
    data = {
        "runs": [{**asdict(row), "open": row.id == chosen} for row in rows],
        "more": min(AT_ONCE, len(matching) - len(rows)),
        "next_most": most + AT_ONCE,
        "searched": len(directories) > AT_ONCE,
        "of": len(directories),
    }
    # A component returns only the values that have a callback.
    callbacks = dict.fromkeys(("on_picked_change", "on_find_change", "on_most_change"), lambda: None)
    picked = _RUNS(data=data, key="frame.runs", **callbacks).picked
    if picked and picked != chosen:
        opening.open_in(picked, "pages/watch.py")


def _listed(directory: RunDirectory) -> Listed:
    spec = opening.settings(directory)
    try:
        summary = read_summary(directory)
        state = directory.state(summary)
    except (VppError, OSError):
        spec = None
    return listed(directory.id, spec, state, summary, opening.made(directory)) if spec else unreadable(directory.id)


# Imports ahead of the visitors who need them

FIRST = ("PIL.Image", "pages.parts.form", "vpp.findings.step", "vpp.findings.progress")
LATER = ("pandas", "sklearn.linear_model", "sklearn.tree")
REST_S = 10.0  # delay in which a first page, and a first run, have the machine to themselves


@asynccontextmanager
async def warming(_: App) -> AsyncIterator[None]:
    """Import ahead in a thread while the server is up.

    It is no daemon: in the middle of an import it would hold the lock that the server's end needs.
    """
    ends = Event()
    Thread(target=warm, args=(ends,)).start()
    try:
        yield
    finally:
        ends.set()


def warm(ends: Event) -> None:
    """Import what the first pages need, and after a rest what the others need, unless the server ends first."""
    # With its first element Streamlit looks through all modules for who called it, which takes a quarter of a second
    # the first time: `inspect` keeps what it has found.
    inspect.stack()
    for name in FIRST:
        import_module(name)
    # What is there now stays: a collection that looks through all of it would hold every watcher up for 0.1 s.
    gc.freeze()
    if not ends.wait(REST_S):
        for name in LATER:
            import_module(name)
