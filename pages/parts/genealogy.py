"""The ancestors of a particle, and the texts that the data ruled out."""

from functools import partial
from typing import NamedTuple

import streamlit as st

from pages.parts import blocks, opening, pieces
from vpp.drawing.genealogy import ancestry_html, n_changes
from vpp.drawing.ledger import counts_words, lived_on_sentence, ruled_out_html
from vpp.inspection.genealogy import genealogy
from vpp.inspection.ideas import merge_ideas, survivors
from vpp.inspection.ruled_out import RuledOut, parted, ruled_out
from vpp.runs.reader import Snapshot
from vpp.wording import markup
from vpp.wording.words import counted, integer

KEY = "posterior.genealogy"
MOST_CHANGES = 30


def draw_ancestors(run: opening.OpenRun, snapshot: Snapshot) -> None:
    view, is_weighted = snapshot.view, snapshot.spec.config.is_weighted
    blocks.draw(markup.heading("Genealogy", "how a hypothesis came to its words"))
    field = f"{KEY}.particle.{run.directory.id}"
    left, _ = st.columns([1, 3])
    slots, hint = range(view.size), "Choose a current particle"
    slot = left.selectbox("Ancestors of particle", slots, None, key=field, placeholder=hint)
    family = None if slot is None else genealogy(view)
    if slot is None or family is None:
        return
    line = family.ancestry(slot)
    changes = n_changes(line)
    is_long, label = changes > MOST_CHANGES, f"Show all {changes} changes"
    everything = st.toggle(label, key=f"{KEY}.all.{run.directory.id}") if is_long else True
    most = None if everything else MOST_CHANGES
    blocks.draw(ancestry_html(line, seed_text=view.seed_text, is_weighted=is_weighted, most=most))


# The texts that the data ruled out, newest first

RULED_OUT = "posterior.ruled_out"
PLACE = "ruled-out"
"""Element id of the section, for links to it."""
AT_ONCE = 40
NOTHING_OUT = "Nothing was ruled out: no proposal was rejected and none resampled away."
DROPS_NOTHING = "Nothing can be ruled out: this method accepts every proposal and drops no hypothesis."


class Out(NamedTuple):
    """The ruled-out texts at a state of the journal."""

    entries: tuple[RuledOut, ...]
    lived_on: tuple[RuledOut, ...]
    """Texts not drawn in resampling, though others with the same answers were."""
    survivors: dict[str, int]


def out(run: opening.OpenRun, snapshot: Snapshot) -> Out:
    view = snapshot.view

    def make() -> Out:
        dataset = run.reader.dataset()
        ideas = merge_ideas(view, dataset)
        alike = survivors(view, ideas) if ideas else {}
        return Out(*parted(ruled_out(view, dataset), alike), alike)

    return pieces.remembered(f"{RULED_OUT}.made", (run.directory.id, view.last_at), make)


def draw_ruled_out(run: opening.OpenRun, snapshot: Snapshot) -> None:
    texts = out(run, snapshot)
    draw_gone(run, texts, snapshot.view.seed_text)
    if n := len(texts.lived_on):
        newest = texts.lived_on[:AT_ONCE]
        html = ruled_out_html(newest, seed_text=snapshot.view.seed_text, survivors=texts.survivors)
        left = markup.caption(f"The newest {AT_ONCE} of {integer(n)}.") if n > AT_ONCE else ""
        with st.expander(f"{counted(n, 'text')} not drawn, though the idea was kept", key=f"{RULED_OUT}.lived_on"):
            blocks.draw(markup.caption(lived_on_sentence(n)), f'<div class="ledger">{html}</div>', left)


def draw_gone(run: opening.OpenRun, texts: Out, seed_text: str) -> None:
    head = counts_words(texts.entries) or "nothing so far"
    blocks.draw(f'<div id="{PLACE}" tabindex="-1">{markup.heading("Ruled out", head)}</div>')
    if not texts.entries:
        config = run.snapshot.spec.config
        can_be = config.is_filtered or config.is_weighted
        blocks.captions(NOTHING_OUT if can_be else DROPS_NOTHING)
        return
    key, total = f"{RULED_OUT}.at_once.{run.directory.id}", len(texts.entries)
    n = int(st.session_state.get(key, AT_ONCE))
    html = ruled_out_html(texts.entries[:n], seed_text=seed_text, survivors=texts.survivors)
    pieces.deck(f'<div class="ledger">{html}</div>', deck_id="ruled out", key=f"{RULED_OUT}.deck")
    if total <= n:
        blocks.captions(f"{counted(total, 'text')}: all are shown.")
        return
    blocks.captions(f"The newest {integer(n)} of {counted(total, 'text')}.")
    show = partial(st.session_state.__setitem__, key, n + AT_ONCE)
    st.button(f"Show {min(AT_ONCE, total - n)} more", key=f"{RULED_OUT}.more", on_click=show)
