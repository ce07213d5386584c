"""The list of runs in the sidebar."""

from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts import frame
from vpp.errors import VppError
from vpp.files import read_json
from vpp.inspection.scores import balanced_accuracy
from vpp.runs.directory import NAME_LENGTH, RunDirectory
from vpp.runs.glance import glance, is_large
from vpp.runs.reader import Snapshot
from vpp.runs.session import load_dataset
from vpp.runs.shipped import EXAMPLES
from vpp.runs.store import made_at
from vpp.wording.listing import Listed, distinguished, listed, unreadable, when_words

AT_ONCE = 60
"""Runs listed, and added by "Show more"; with more than these there is a field to find one by its name."""
_RUNS = st.components.v2.component("vpp_runs", js=(frame.ASSETS / "runs.js").read_text(), isolate_styles=False)


@st.fragment
def draw() -> None:
    """Every run with its state when the page was drawn; a click opens it.

    It does not refresh by itself: a timer beside those of Watch, while pages are switched, emptied the page. Watch
    draws the whole app anew where the state of the open run changes.
    """
    directories = frame.store().runs()
    if not directories:
        return
    chosen = st.session_state.get("run") or st.query_params.get("run")
    asked: dict[str, Any] = st.session_state.get("frame.runs", {})
    find, most = str(asked.get("find") or ""), int(asked.get("most") or AT_ONCE)
    found = [directory for directory in directories if find.casefold() in _name(directory).casefold()]
    rows = distinguished([_listed(directory) for directory in found[:most]])
    data = {
        "runs": [{**asdict(row), "open": row.id == chosen} for row in rows],
        "more": min(AT_ONCE, len(found) - len(rows)),
        "most": most + AT_ONCE,
        "searched": len(directories) > AT_ONCE,
        "of": len(directories),
    }
    picked = _RUNS(data=data, key="frame.runs", **dict.fromkeys(_HEARD, lambda: None)).picked
    if picked and picked != chosen:
        frame.open_in(picked, "pages/watch.py")


_HEARD = ("on_picked_change", "on_find_change", "on_most_change")


def _listed(directory: RunDirectory) -> Listed:
    try:
        snapshot = _snapshot(directory)
    except VppError:
        return unreadable(directory.id)
    is_shipped = directory.id in EXAMPLES
    when = "shipped example" if is_shipped else when_words(made_at(directory), datetime.now())
    balanced = _balanced(str(directory.path), snapshot.view.last_at) if snapshot.state == "finished" else None
    return listed(directory.id, snapshot, when, balanced=balanced)


def _snapshot(directory: RunDirectory) -> Snapshot:
    return glance(directory) if is_large(directory) else frame.reader(str(directory.path)).refresh()


@lru_cache(maxsize=10_000)
def _balanced(path: str, last_at: float | None) -> float | None:
    """Balanced accuracy as of a run's last event: its rows are read once, and not kept."""
    directory = RunDirectory(path)
    snapshot = _snapshot(directory)
    return balanced_accuracy(snapshot.view, lambda: load_dataset(directory, snapshot.spec))


def _name(directory: RunDirectory) -> str:
    """What a run is called; its id where that cannot be read."""
    path = directory.path / "run.json"
    try:
        return _name_in(path, path.stat().st_mtime)
    except OSError:
        return directory.id


@lru_cache(maxsize=10_000)
def _name_in(path: Path, changed_at: float) -> str:
    try:
        return str(read_json(path)["name"])[:NAME_LENGTH]
    except (OSError, ValueError, KeyError, TypeError):
        return path.parent.name
