"""Where a new run's table comes from: an upload, a shipped example, or one of the paper's tasks."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.parts.keeping import FILE, REPLACING
from pages.parts.reading import read, read_upload
from vpp.data.table import Table
from vpp.data.tasks import TASKS, describe, generate
from vpp.wording import markup

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"
UPLOAD, EXAMPLE, TASK = "Upload a CSV", "An example", "A paper task"


@dataclass(frozen=True, slots=True)
class Source:
    """A table and what comes with it."""

    table: Table
    notes: tuple[str, ...] = ()
    prior: str = ""
    is_task: bool = False


def choose() -> Source | None:
    """Asks for a table; None until there is one. Raises DataError."""
    kind = st.segmented_control(
        "Where the table comes from",
        (UPLOAD, EXAMPLE, TASK),
        default=UPLOAD,
        key="new.source",
        required=True,
        persist_state="session",
    )
    if kind == EXAMPLE:
        return _example()
    if kind == TASK:
        return _task()
    return _upload()


def _upload() -> Source | None:
    """The file in use, which stays in use until another one is chosen, or the field for the first."""
    file: tuple[str, bytes] | None = st.session_state.get(FILE)
    if file is None:
        _field()
        return None
    if st.session_state.get(REPLACING):
        _field()
        st.button("Keep the table in use", key="new.keep", type="tertiary", on_click=_replace, args=(False,))
    with st.container(horizontal=True, vertical_alignment="center", key="new_file"):
        st.html(markup.block(f'<p class="file"><b>{markup.text(file[0])}</b></p>'), width="content")
        if not st.session_state.get(REPLACING):
            st.button("Replace", key="new.replace", type="tertiary", on_click=_replace, args=(True,))
    return Source(read_upload(file[1], file[0]))


def _field() -> None:
    label = "A CSV, Excel or Parquet file with one row an example and a column to predict"
    st.file_uploader(label, type=None, key="new.upload", on_change=_take)


def _take() -> None:
    """Keeps what was uploaded for this browser session: the field forgets it when the page is left."""
    file = st.session_state["new.upload"]
    if file is not None:
        st.session_state[FILE] = (file.name, file.getvalue())
        _replace(False)


def _replace(wanted: bool) -> None:
    st.session_state[REPLACING] = wanted


def _example() -> Source:
    paths = sorted(EXAMPLES.glob("*.csv"))
    path = st.selectbox("Example", paths, format_func=lambda p: p.stem, key="new.example", persist_state="session")
    return Source(read(path.read_bytes(), path.name))


def _task() -> Source:
    name = st.selectbox("Task", list(TASKS), key="new.task", persist_state="session")
    st.caption(TASKS[name].description)
    table = read(generate(name, seed=0), f"{name}.csv")
    return Source(table, (describe(name, seed=0),), TASKS[name].prior or "", is_task=True)
