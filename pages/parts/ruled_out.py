"""The texts that the data ruled out, searched by words, by reason, or by how far each fell short."""

from typing import NamedTuple, cast

import streamlit as st

from pages.parts import blocks, opening, pieces
from vpp.drawing.ledger import counts_words, lived_on_sentence, reason_counts, ruled_out_html
from vpp.inspection.ideas import merge_ideas, survivors
from vpp.inspection.ruled_out import Order, Reason, RuledOut, Search, parted, ruled_out
from vpp.runs.reader import Snapshot
from vpp.wording import markup
from vpp.wording.words import counted, integer

KEY = "posterior.ruled_out"
PLACE = "ruled-out"
"""Element id of the section, for links to it."""
AT_ONCE = 40
ALL = "all"
ORDERS: dict[Order, str] = {"newest": "Newest first", "worst": "Largest gap first", "often": "Most frequent first"}
GAP = "Gap: log-likelihood of the text that was kept, or of the heaviest, minus that of the ruled-out text."
NOTHING_OUT = "Nothing was ruled out: no proposal was rejected and none resampled away."
DROPS_NOTHING = "Nothing can be ruled out: this method accepts every proposal and drops no hypothesis."


class Made(NamedTuple):
    """The ruled-out texts at a state of the journal."""

    entries: tuple[RuledOut, ...]
    lived_on: tuple[RuledOut, ...]
    """Texts not drawn in resampling, though others with the same answers were."""
    survivors: dict[str, int]


def made(run: opening.OpenRun, snapshot: Snapshot) -> Made:
    view = snapshot.view

    def make() -> Made:
        dataset = run.reader.dataset()
        ideas = merge_ideas(view, dataset)
        alike = survivors(view, ideas) if ideas else {}
        return Made(*parted(ruled_out(view, dataset), alike), alike)

    return pieces.remembered(f"{KEY}.made", (run.directory.id, view.last_at), make)


def draw(run: opening.OpenRun, snapshot: Snapshot) -> None:
    texts, started = made(run, snapshot), snapshot.view.started
    seed_text = started.seed_text if started else ""
    draw_gone(run, texts, seed_text)
    if n := len(texts.lived_on):
        html = ruled_out_html(texts.lived_on[:AT_ONCE], seed_text=seed_text, survivors=texts.survivors)
        left = markup.caption(f"The newest {AT_ONCE} of {integer(n)}.") if n > AT_ONCE else ""
        with st.expander(f"{counted(n, 'text')} not drawn, though the idea was kept", key=f"{KEY}.lived_on"):
            blocks.draw(markup.caption(lived_on_sentence(n)), f'<div class="ledger">{html}</div>', left)


def draw_gone(run: opening.OpenRun, texts: Made, seed_text: str) -> None:
    head = counts_words(texts.entries) or "nothing so far"
    blocks.draw(f'<div id="{PLACE}" tabindex="-1">{markup.heading("Ruled out", head)}</div>')
    if not texts.entries:
        config = run.snapshot.spec.config
        can_be = config.is_filtered or config.is_weighted
        blocks.captions(NOTHING_OUT if can_be else DROPS_NOTHING)
        return
    search = choose(texts.entries)
    shown = search.among(texts.entries, seed_text=seed_text)
    if not shown:
        blocks.captions("No ruled-out text matches. Use fewer or other words.")
        return
    # Another search begins anew.
    of, n = st.session_state.get(f"{KEY}.shown", (None, 0))
    n = n if of == (run.directory.id, search) else AT_ONCE
    html = ruled_out_html(shown[:n], seed_text=seed_text, survivors=texts.survivors)
    pieces.deck(f'<div class="ledger">{html}</div>', deck_id=repr(search), key=f"{KEY}.deck")
    if len(shown) <= n:
        blocks.captions(f"{counted(len(shown), 'text')}: all are shown.")
        return
    blocks.captions(f"{integer(n)} of {counted(len(shown), 'text')}.")

    def show_more() -> None:
        st.session_state[f"{KEY}.shown"] = ((run.directory.id, search), n + AT_ONCE)

    st.button(f"Show {min(AT_ONCE, len(shown) - n)} more", key=f"{KEY}.more", on_click=show_more)


def choose(entries: tuple[RuledOut, ...]) -> Search:
    counts = reason_counts(entries)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        words = st.text_input("Find", key=f"{KEY}.search", placeholder="words in the text, in any order")
    with right:
        order = st.selectbox("Order", list(ORDERS), key=f"{KEY}.order", format_func=lambda order: ORDERS[order])
    names = {ALL: f"All {integer(len(entries))}", **counts}
    reason = (
        ALL
        if len(counts) == 1
        else st.segmented_control(
            "Why it was ruled out",
            list(names),
            default=ALL,
            key=f"{KEY}.reason",
            format_func=lambda reason: names.get(reason, reason),
            label_visibility="collapsed",
        )
    )
    if order == "worst":
        blocks.captions(GAP)
    return Search(words=words, reason=None if reason in (None, ALL) else cast(Reason, reason), order=order)
