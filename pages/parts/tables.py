"""Where a new run's table comes from: an upload, a shipped example, or one of the paper's tasks."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from vpp.data.table import Table
from vpp.data.tasks import TASKS, describe, generate

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"
UPLOAD, EXAMPLE, TASK = "Upload a CSV", "An example", "A task of the paper"


@dataclass(frozen=True, slots=True)
class Source:
    """A table and what comes with it."""

    table: Table
    notes: tuple[str, ...] = ()
    prior: str = ""
    is_task: bool = False


@st.cache_data(max_entries=20, show_spinner=False)
def _read(content: bytes, name: str) -> Table:
    return Table.read(content, name=name)


def choose() -> Source | None:
    """Asks for a table; None until there is one. Raises DataError."""
    kind = st.segmented_control(
        "Where the table comes from", (UPLOAD, EXAMPLE, TASK), default=UPLOAD, key="new.source", required=True
    )
    if kind == EXAMPLE:
        return _example()
    if kind == TASK:
        return _task()
    return _upload()


def _upload() -> Source | None:
    file = st.file_uploader("A CSV with one row an example and a column to predict", type=None, key="new.upload")
    if file is None:
        return None
    return Source(_read(file.getvalue(), file.name))


def _example() -> Source:
    paths = sorted(EXAMPLES.glob("*.csv"))
    path = st.selectbox("Example", paths, format_func=lambda p: p.stem, key="new.example")
    return Source(_read(path.read_bytes(), path.name))


def _task() -> Source:
    name = st.selectbox("Task", list(TASKS), key="new.task")
    st.caption(TASKS[name].description)
    table = _read(generate(name, seed=0), f"{name}.csv")
    return Source(table, (describe(name, seed=0),), TASKS[name].prior or "", is_task=True)
