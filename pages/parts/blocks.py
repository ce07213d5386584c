"""Blocks of HTML in the app's style, captions, errors, and fields in columns, which most pages draw."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NoReturn, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from vpp.errors import VppError
from vpp.show import markup
from vpp.show.markup import block_html

T = TypeVar("T")


def draw(*parts: object, label: str = "") -> None:
    """Draw blocks, and strings of HTML, as one block. label: its name for a screen reader."""
    html = (part if isinstance(part, str) else block_html(part) for part in parts)
    st.html(markup.block(*html, label=label))


def captions(*words: str) -> None:
    st.html(markup.block(*map(markup.caption, words)))


def failed(head: str, *words: str) -> None:
    st.html(markup.block(markup.state(head, *words, failed=True)))


def refuse(head: str, error: VppError) -> NoReturn:
    failed(head, str(error))
    st.stop()


def refreshed(draw: Callable[[], None], has_changed: Callable[[], bool], *, every_s: float | None) -> None:
    """Draw a part of a page, again and again; once its state has changed, the whole page is drawn anew.

    every_s: None to draw it once. Give each part a container of its own: Streamlit tells fragments apart by place.
    """

    @st.fragment(run_every=every_s)
    def part() -> None:
        if has_changed():
            st.rerun()  # a timer left over would empty the page that is switched to
        draw()

    part()


def in_use(html: str, *, key: str) -> DeltaGenerator:
    place = st.container(horizontal=True, vertical_alignment="center", key=key)
    place.html(markup.block(f'<p class="file">{html}</p>'), width="content")
    return place


def beside(words: str) -> DeltaGenerator:
    """Draw words, and return the place at their right, for a button."""
    left, right = st.columns([2.6, 1], vertical_alignment="center")
    left.html(markup.block(markup.caption(words)))
    return right


def lasting(key: str) -> dict[str, Any]:
    """Return keywords of a field with this key that keeps its value while it is not shown."""
    return {"key": key, "persist_state": "session"}


def begun(key: str, value: object) -> dict[str, Any]:
    """Return keywords of such a field that begins with a value, unless it was filled from elsewhere."""
    st.session_state.setdefault(key, value)
    return lasting(key)


def in_columns(
    items: Sequence[T], across: int, gap: Literal["small", "large"] = "small"
) -> Iterator[tuple[DeltaGenerator, T]]:
    for first in range(0, len(items), across):
        yield from zip(st.columns(across, gap=gap), items[first : first + across], strict=False)
