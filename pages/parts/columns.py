"""The kinds of a table's columns: as found, or as a person chooses."""

from typing import get_args

import streamlit as st

from vpp.data.dataset import Column, Kind
from vpp.data.table import Table, with_kinds
from vpp.wording import markup
from vpp.wording.words import counted

AS_FOUND = "as found"


def choose_kinds(table: Table) -> Table:
    """The table with the kinds chosen here. Raises DataError where a cell is not of its column's kind."""
    chosen = _chosen(table)
    with st.expander("Kinds of columns" + (f", {counted(len(chosen), 'choice')}" if chosen else "")):
        left, right = st.columns(2)
        name = left.selectbox("Column", table.names, key=f"new.kind.column.{table.sha256}", persist_state="session")
        key = f"new.kind.of.{table.sha256}.{table.names.index(name)}"
        st.session_state[key] = chosen.get(name, AS_FOUND)
        right.selectbox(
            "Kind",
            (AS_FOUND, *get_args(Kind)),
            key=key,
            format_func=lambda kind: f"{kind} ({table.column(name).kind})" if kind == AS_FOUND else kind,
            on_change=_keep,
            args=(table, name, key),
        )
        told = "A category or text is taken as it is written; a number needs every cell to be one."
        st.html(markup.block(markup.caption(told), *(markup.caption(f"{c}: {kind}") for c, kind in chosen.items())))
    return _read(table, chosen)


def kind_words(column: Column) -> str:
    """`number in €`."""
    return f"number in {column.notation.unit}" if column.notation and column.notation.unit else column.kind


def _chosen(table: Table) -> dict[str, Kind]:
    """By column; kept for this browser session, for each file by itself."""
    kept: dict[str, Kind] = st.session_state.setdefault(f"new.kinds.{table.sha256}", {})
    return {name: kind for name, kind in kept.items() if name in table.names}


def _keep(table: Table, name: str, key: str) -> None:
    kept = st.session_state[f"new.kinds.{table.sha256}"]
    kind = st.session_state[key]
    if kind == AS_FOUND:
        kept.pop(name, None)
    else:
        kept[name] = kind


def _read(table: Table, chosen: dict[str, Kind]) -> Table:
    """Read anew only where the file or a choice is new."""
    if not chosen:
        return table
    made_from = (table.sha256, table.read_as, tuple(chosen.items()))
    kept = st.session_state.get("new.kinds.table")
    if kept is None or kept[0] != made_from:
        st.session_state["new.kinds.table"] = kept = (made_from, with_kinds(table, chosen))
    read: Table = kept[1]
    return read
