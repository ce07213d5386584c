"""Blocks of HTML in the app's style, captions and errors, which most pages draw."""

from typing import NoReturn

import streamlit as st

from vpp.errors import VppError
from vpp.wording import markup


def draw(*parts: str, label: str = "") -> None:
    """Draw parts of HTML as one block. label: its name for a screen reader."""
    st.html(markup.block(*parts, label=label))


def captions(*words: str) -> None:
    """Draw lines of small text, each escaped."""
    st.html(markup.block(*map(markup.caption, words)))


def failed(head: str, *words: str) -> None:
    """Draw an error box; the page goes on."""
    st.html(markup.block(markup.state(head, *words, failed=True)))


def refuse(head: str, error: VppError) -> NoReturn:
    """Draw an error box, and end the page."""
    failed(head, str(error))
    st.stop()
