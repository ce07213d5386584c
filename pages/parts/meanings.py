"""The data part of the form: what columns and labels mean, typed in a field each or filled in from a file."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from pages.parts import blocks
from vpp.data.dataset import Task
from vpp.data.descriptions import LABEL, MOST_CHARACTERS, checked
from vpp.data.table import Table, sort_labels
from vpp.data.text import shown_name
from vpp.errors import InputError
from vpp.wording.escaping import markdown_text
from vpp.wording.words import counted

ACROSS = 2
MOST_FIELDS = 60
"""Most fields drawn; a file can describe more columns."""
ABOUT = (
    "Models see only names and kinds. For names that say little, describe them here: every prompt then begins with it."
)
UPLOAD = "Fill in from a file: a CSV with column,description, or JSON {column: description}"
REFUSED = "new.meanings_refused"


def choose_meanings(table: Table, *, target: str, inputs: Sequence[str], task: Task) -> dict[str, str]:
    labels = sort_labels(cell for cell in table.cells(target) if cell is not None) if task == "classification" else ()
    fields = {name: shown_name(name) for name in (target, *inputs)}
    unlike = (label for label in labels if LABEL + label not in table.names)
    fields |= {LABEL + label: f"{shown_name(target)} = {shown_name(label)}" for label in unlike}
    keys = {key: f"new.meaning.{table.sha256}.{key}" for key in dict.fromkeys((*fields, *table.names))}
    given = _given(keys)
    with st.expander(
        "What the columns mean" + (f", {counted(len(given), 'description')}" if given else ""), key="new.meanings_fold"
    ):
        blocks.captions(ABOUT)
        for place, key in blocks.in_columns(list(fields)[:MOST_FIELDS], ACROSS):
            place.text_input(markdown_text(fields[key]), max_chars=MOST_CHARACTERS, **blocks.lasting(keys[key]))
        if len(fields) > MOST_FIELDS:
            blocks.captions(f"{len(fields) - MOST_FIELDS:,} more can be described in a file.")
        upload = f"new.meanings_file.{table.sha256}"
        st.file_uploader(UPLOAD, type=None, key=upload, on_change=partial(_fill, upload, table, target))
        if refused := st.session_state.get(REFUSED):
            blocks.failed("This file cannot be used", refused)
    return _given(keys)


def _given(keys: Mapping[str, str]) -> dict[str, str]:
    """Return the descriptions that are not blank. keys: of the fields, by key of the description."""
    texts = {key: str(st.session_state.get(field) or "") for key, field in keys.items()}
    return {key: text for key, text in texts.items() if text.strip()}


def _fill(upload: str, table: Table, target: str) -> None:
    st.session_state[REFUSED] = ""
    file = st.session_state[upload]
    if file is None:
        return
    try:
        text = bytes(file.getvalue()).decode("utf-8-sig")
        given = checked(text, name=file.name, columns=table.names, cells=table.cells(target))
    except UnicodeDecodeError:
        st.session_state[REFUSED] = f"{file.name} is not UTF-8 text: save it as UTF-8"
    except InputError as error:
        st.session_state[REFUSED] = str(error)
    else:
        st.session_state.update({f"new.meaning.{table.sha256}.{key}": line for key, line in given.items()})
