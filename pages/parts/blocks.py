"""Parts that most pages use: HTML, captions, errors, charts, fields and components."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from vpp.show import markup
from vpp.show.blocks import Heading, Note, Table
from vpp.show.figures import Curve, Mode, plotly_figure
from vpp.show.markup import block_html
from vpp.show.words import capitalised, percent

T = TypeVar("T")
ASSETS = Path(__file__).parents[2] / "assets"


def draw(*parts: object, label: str = "") -> None:
    """Draw blocks, and strings of HTML, as one block. label: its name for a screen reader."""
    html = (part if isinstance(part, str) else block_html(part) for part in parts)
    st.html(markup.block(*html, label=label))


def draw_chart(curve: Curve) -> None:
    import pandas  # noqa: F401 - Plotly looks into pandas where another thread may have begun to import it

    mode: Mode = "dark" if st.context.theme.type == "dark" else "light"
    draw(Heading(curve.title, curve.words), Note(curve.alt))
    figure, config = plotly_figure(curve, mode), {"displayModeBar": False}
    st.plotly_chart(figure, theme=None, key=f"chart.{curve.title}", config=config, alt=curve.alt)
    rows = [
        (name, *map(percent, dict(points).values()))
        for name, points in zip(curve.names, curve.lines.values(), strict=True)
    ]
    head = ("hypothesis", *("end" if step > curve.total else str(step) for step, _ in next(iter(curve.lines.values()))))
    draw(Table(head=head, rows=rows, right=range(1, len(head)), name=curve.title, fold="Show as table"))


FIELDS = {
    "--read quotes=plain": "“Quotes” under File format",
    "--read as-is=yes": "“Lines and cells left out” under File format",
    "--read": "“File format”",
    "--missing": "“Words for a missing cell” under File format:",
    "--inputs": "“Columns left out”",
    "--kind": "“Its type” under Columns:",
    "--split": "“Split”,",
    "--train-size": "the list beside Start",
}
"""Fields of New run, by the option of the command line that does the same."""


def on_page(words: str) -> str:
    for option, field in FIELDS.items():
        words = words.replace(option, field)
    return words.removesuffix(":")


def sentence(note: str) -> str:
    return f"{capitalised(on_page(note))}."


def captions(*words: str) -> None:
    draw(*map(markup.caption, words))


def failed(head: str, *words: str) -> None:
    draw(markup.state(head, *map(on_page, words), failed=True))


def refreshed(draw: Callable[[], None], has_changed: Callable[[], bool], *, every_s: float | None) -> None:
    """Draw a part of a page, again and again; once its state has changed, the whole page is drawn anew.

    every_s: None to draw it once. Streamlit tells fragments apart by place, so each has a container of its own.
    """

    @st.fragment(run_every=every_s)
    def part() -> None:
        if has_changed():
            st.rerun()  # a timer left over would empty the page that is switched to
        draw()

    with st.container():
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


def in_columns(items: Sequence[T], across: int) -> Iterator[tuple[DeltaGenerator, T]]:
    for first in range(0, len(items), across):
        yield from zip(st.columns(across), items[first : first + across], strict=False)


def remembered(key: str, made_from: object, make: Callable[[], T]) -> T:
    """Return a value of this browser session, made again only if `made_from` is not what it was."""
    entry = st.session_state.get(key)
    if entry is None or entry[0] != made_from:
        st.session_state[key] = entry = (made_from, make())
    value: T = entry[1]
    return value


# HTML that a script patches in place: what a reader has focused, selected or scrolled stays over a refresh

EXPORT, MAIN = "export default function", "function main"


def component(name: str, *parts: str) -> Any:
    scripts = [f"const {part} = (() => {{\n{_script(part).replace(EXPORT, MAIN)}return main\n}})()\n" for part in parts]
    script = "".join((*scripts, _script(name)))
    return st.components.v2.component(f"vpp_{name}", js=script, isolate_styles=False)


def _script(name: str) -> str:
    return (ASSETS / f"{name}.js").read_text()


_DECK, _STEADY = component("deck", "patch"), component("steady", "patch")


def deck(html: str, *, deck_id: str, key: str, steady: bool = False) -> None:
    """Draw cards that keep a reader's place; a deck with another `deck_id` is sorted immediately.

    steady: keep the greatest height so far, so that nothing below moves up.
    """
    _DECK(data={"deck": deck_id, "steady": steady, "html": html}, key=key)


def steady(html: str, *, key: str, on_open: Callable[[int], None] | None = None) -> None:
    """Draw HTML that is patched in place. A wide table after `markup.CUE` says how much of it is in view.

    on_open: gets the id of a row that is opened, before the page is drawn again.
    """

    def hear() -> None:
        row = st.session_state[key].get("row")
        if on_open and row is not None:
            on_open(int(row))

    _STEADY(data={"html": html}, key=key, on_row_change=hear)
