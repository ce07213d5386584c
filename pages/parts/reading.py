"""How an upload was read: every decision as it was found, and a field that changes it."""

from typing import Any

import streamlit as st

from vpp.data.dataset import DELIMITER_NAMES, DETECT, ReadAs
from vpp.data.table import Reading, Table
from vpp.data.text import ENCODING_NAMES, encoding_name
from vpp.errors import DataError
from vpp.wording import markup

MARKS = {".": "point", ",": "comma"}
HEADERS = {True: "first line", False: "none"}


@st.cache_data(max_entries=20, show_spinner=False)
def read(content: bytes, name: str, read_as: ReadAs = DETECT) -> Table:
    """The table in a file. Raises DataError."""
    return Table.read(content, name=name, read_as=read_as)


def read_upload(content: bytes, name: str) -> Table:
    """The table, read as it is found or as the fields here say. Raises DataError, with the fields drawn."""
    found = _found(content, name)
    with st.expander("How this was read", expanded=found is None):
        read_as = _fields(found, f"new.read.{name}.{len(content)}")
    return read(content, name, read_as)


def _found(content: bytes, name: str) -> Reading | None:
    """None where nothing can be found, so that a person must say."""
    try:
        return read(content, name).reading
    except DataError:
        return None


def _fields(found: Reading | None, key: str) -> ReadAs:
    """Those that the format of the file has."""
    if found and found.format == "parquet":
        st.html(markup.block(markup.caption("A Parquet file holds names and kinds itself: nothing was to be found.")))
        return DETECT
    one, two, three = st.columns(3)
    read_as: dict[str, Any] = {}
    if found and found.format == "excel":
        read_as["sheet"] = _pick(one, "Sheet", found.sheets, found.sheet, f"{key}.sheet")
    else:
        encodings = {name: called for name, called in ENCODING_NAMES.items() if name != "utf-8-sig"}
        was = found and encoding_name(found.encoding)
        read_as["encoding"] = _pick(one, "Encoding", encodings, was, f"{key}.encoding")
        was = found and DELIMITER_NAMES.get(found.delimiter, found.delimiter or "none")
        read_as["delimiter"] = _pick(two, "Delimiter", DELIMITER_NAMES, was, f"{key}.delimiter")
    read_as["header"] = _pick(three, "Header", HEADERS, found and HEADERS[found.header], f"{key}.header")
    read_as["skip_lines"] = one.number_input(
        "Lines above the table",
        min_value=0,
        value=None,
        placeholder=f"{found.skipped_lines}, as found" if found else "as found",
        key=f"{key}.skip",
        persist_state="session",
    )
    read_as["decimal"] = _pick(two, "Decimal mark", MARKS, found and "by column", f"{key}.decimal")
    return ReadAs(**read_as)


def _pick(place: Any, label: str, options: Any, was: str | None, key: str) -> Any:
    """One of the options, or None: as found. Options may have names."""
    named = options if isinstance(options, dict) else {}
    as_found = f"{was}, as found" if was else "as found"
    return place.selectbox(
        label,
        (None, *options),
        format_func=lambda option: as_found if option is None else named.get(option, option),
        key=key,
        persist_state="session",
    )
