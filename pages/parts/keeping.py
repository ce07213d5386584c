"""What a browser session keeps of the form, whichever page is shown: names in its state. It imports nothing heavy."""

import streamlit as st

FILE = "new.file"
"""The upload in use: (name, bytes)."""
TEST_FILE = "new.test_file"
"""The upload whose rows test: (name, bytes)."""
REPLACING = "new.replacing"
"""Whether another upload is asked for."""
FROM = "new.again"
"""Id of the run that is started again."""


def is_begun() -> bool:
    """Whether a person has brought a table, or a run, to the form."""
    return FILE in st.session_state or FROM in st.session_state


def at_first(key: str, value: object) -> str:
    """The key of a field that begins with a value. Fields that may be filled from elsewhere have no default."""
    st.session_state.setdefault(key, value)
    return key
