"""Genealogy of the particles, the ancestors of one, and the texts that the data ruled out."""

from functools import partial
from typing import Any, NamedTuple, cast

import streamlit as st

from pages.parts import blocks, opening, pieces
from vpp.drawing.genealogy import (
    ancestry_html,
    drawing,
    founders_table,
    genealogy_caption,
    genealogy_sentence,
    n_changes,
    outcome_sentence,
)
from vpp.drawing.ledger import counts_words, lived_on_sentence, reason_counts, ruled_out_html
from vpp.errors import InputError
from vpp.events import INITIAL_STEP
from vpp.inspection.genealogy import Genealogy, Place, genealogy
from vpp.inspection.ideas import merge_ideas, survivors
from vpp.inspection.ruled_out import Order, Reason, RuledOut, Search, parted, ruled_out
from vpp.runs.reader import Snapshot
from vpp.wording import markup
from vpp.wording.words import counted, integer

KEY = "posterior.genealogy"
MOST_CHANGES = 30
_TREE = pieces.component("genealogy")


def draw_tree(run: opening.OpenRun, snapshot: Snapshot) -> None:
    view, is_weighted, seed_text = snapshot.view, snapshot.spec.config.is_weighted, snapshot.view.seed_text
    # The drawing changes with a step, the final weights, or the run's state.
    of = (run.directory.id, view.last_step, hash(view.population), view.final is None, snapshot.state)

    def make() -> tuple[Genealogy, dict[str, Any]] | None:
        steps = 0 if snapshot.state in ("finished", "stopped") else view.total_steps
        family = genealogy(view)
        if family is None:
            return None
        data = drawing(family, seed_text=seed_text, is_weighted=is_weighted, steps=steps)
        table = founders_table(family, seed_text=seed_text, is_weighted=is_weighted)
        return family, {**data, "table": table, "made": " ".join(map(str, of)), "run": run.directory.id}

    made = pieces.remembered(f"{KEY}.made", of, make)
    if made is None:
        return
    family, data = made
    how = markup.quiet(genealogy_caption(family, is_weighted=is_weighted))
    blocks.draw(markup.heading("Genealogy", genealogy_sentence(family)), how)
    key = f"{KEY}.{run.directory.id}"
    place: Place | None = st.session_state.get(key)
    if place is not None:
        try:
            family.at(place)
        except InputError:
            place = st.session_state[key] = None
    opened = None if place is None else [place.step - INITIAL_STEP, place.slot]

    def open_clicked() -> None:
        generation, _, slot = str(st.session_state[KEY].opened).partition(":")
        if generation.isdigit() and slot.isdigit():
            st.session_state[key] = Place(int(generation) + INITIAL_STEP, int(slot))

    _TREE(data={**data, "opened": opened}, key=KEY, on_opened_change=open_clicked)
    field = f"{KEY}.particle.{run.directory.id}"
    st.session_state[field] = place.slot if place is not None and place.step == family.last_step else None

    def choose() -> None:
        slot = st.session_state[field]
        st.session_state[key] = None if slot is None else Place(family.last_step, slot)

    left, _ = st.columns([1, 3])
    slots, hint = range(len(family.last)), "Choose a current particle"
    left.selectbox("Ancestors of particle", slots, None, key=field, on_change=choose, placeholder=hint)
    if place is None:
        return
    changes = n_changes(family, place)
    is_long, label = changes > MOST_CHANGES, f"Show all {changes} changes"
    everything = st.toggle(label, key=f"{KEY}.all.{run.directory.id}") if is_long else True
    most = None if everything else MOST_CHANGES
    blocks.draw(ancestry_html(family, place, seed_text=seed_text, is_weighted=is_weighted, most=most))
    # Apart from the ancestors: the later fate changes while a run goes on.
    if outcome := outcome_sentence(family, place):
        blocks.captions(outcome)


# The texts that the data ruled out, searched by words, by reason, or by how far each fell short

RULED_OUT = "posterior.ruled_out"
PLACE = "ruled-out"
"""Element id of the section, for links to it."""
AT_ONCE = 40
ALL = "all"
ORDERS: dict[Order, str] = {"newest": "Newest first", "worst": "Largest gap first", "often": "Most frequent first"}
GAP = "Gap: log-likelihood of the text that was kept, or of the heaviest, minus that of the ruled-out text."
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
    search = choose_search(texts.entries)
    found = search.among(texts.entries, seed_text=seed_text)
    if not found:
        blocks.captions("No ruled-out text matches. Use fewer or other words.")
        return
    # Another search begins anew.
    of, n = st.session_state.get(f"{RULED_OUT}.at_once", (None, 0))
    n = n if of == (run.directory.id, search) else AT_ONCE
    html = ruled_out_html(found[:n], seed_text=seed_text, survivors=texts.survivors)
    pieces.deck(f'<div class="ledger">{html}</div>', deck_id=repr(search), key=f"{RULED_OUT}.deck")
    if len(found) <= n:
        blocks.captions(f"{counted(len(found), 'text')}: all are shown.")
        return
    blocks.captions(f"{integer(n)} of {counted(len(found), 'text')}.")
    show = partial(st.session_state.__setitem__, f"{RULED_OUT}.at_once", ((run.directory.id, search), n + AT_ONCE))
    st.button(f"Show {min(AT_ONCE, len(found) - n)} more", key=f"{RULED_OUT}.more", on_click=show)


def choose_search(entries: tuple[RuledOut, ...]) -> Search:
    counts = reason_counts(entries)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    words = left.text_input("Find", key=f"{RULED_OUT}.search", placeholder="words in the text, in any order")
    order = right.selectbox("Order", list(ORDERS), key=f"{RULED_OUT}.order", format_func=ORDERS.__getitem__)
    names = {ALL: f"All {integer(len(entries))}", **counts}
    reason: str | None = ALL
    if len(counts) > 1:
        reason = st.segmented_control(
            "Why it was ruled out", list(names), default=ALL, key=f"{RULED_OUT}.reason",
            format_func=lambda reason: names.get(reason, reason), label_visibility="collapsed",
        )  # fmt: skip
    if order == "worst":
        blocks.captions(GAP)
    return Search(words=words, reason=None if reason in (None, ALL) else cast(Reason, reason), order=order)
