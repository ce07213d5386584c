"""Posterior: the hypotheses with their weights, and what the data ruled out."""

from functools import partial

import streamlit as st

from pages.parts import asking, blocks, frame, opening, pieces
from vpp.events import hypothesis_id
from vpp.findings.counts import LABEL_HEAD, LABEL_NUMBERS, label_cells
from vpp.findings.curves import weights_figure
from vpp.findings.genealogy import genealogy
from vpp.findings.hypotheses import (
    Hypothesis,
    compared_words,
    constant_words,
    deck,
    hypotheses,
    meaning_words,
    odds_words,
    order_words,
    shares_words,
)
from vpp.findings.ideas import Ideas, Nearness, merge_ideas, nearness, survivors
from vpp.findings.progress import nothing_yet
from vpp.findings.result import deciding_rows, deciding_sentence, evidence_measure, weights_measure
from vpp.findings.ruled_out import RuledOut, ruled_out, ruled_out_heading, ruled_out_lines, without_survivors
from vpp.findings.scores import by_label
from vpp.runs.reader import Snapshot
from vpp.show import page
from vpp.show.blocks import Heading, Note, Say, Table
from vpp.show.cards import Fold
from vpp.show.words import counted, integer

REFRESH_S = 3.0
AT_ONCE = 3  # cards drawn until the others are asked for, so that the parts below stay near
FOLDED = 3  # fewest cards that are worth a button
NEWEST = 3  # lines drawn of what was ruled out, until the others are asked for


def draw_page(run: opening.OpenRun) -> None:
    pieces.head(run, "Posterior: hypotheses that survived")
    # Every place is there before a fragment draws into it, so that a late refresh never meets a page without it.
    above, reworded = st.container(), st.container(key="posterior_reworded")
    questions, trial, last = st.container(), st.container(key="posterior_trial"), st.container()
    with above:
        opening.follow(run, partial(draw_hypotheses, run), every_s=REFRESH_S)
    if not run.snapshot.view.population:
        return
    with reworded:
        asking.draw_rewording(run, has_key_field=asking.asks_key(run))
    with questions:
        asking.draw(run)
    with trial:
        asking.draw_trial(run)
    with last:
        opening.follow(run, partial(draw_ruled_out, run), every_s=REFRESH_S)
    if run.snapshot.state not in opening.LIVE and (figure := weights_figure(run.snapshot.view)):
        blocks.draw_figure(figure)


def merged_of(run: opening.OpenRun, snapshot: Snapshot) -> tuple[Ideas | None, Nearness | None]:
    def make() -> tuple[Ideas | None, Nearness | None]:
        dataset = run.reader.dataset()
        ideas = merge_ideas(snapshot.view, dataset)
        return ideas, nearness(ideas, dataset) if ideas else None

    return pieces.remembered("posterior.made", (run.directory.id, snapshot.view.last_at), make)


def draw_hypotheses(run: opening.OpenRun, snapshot: Snapshot) -> None:
    ideas, near = merged_of(run, snapshot)
    if ideas is None:
        opening.not_yet(run, "No hypotheses yet", nothing_yet(snapshot.state))
        return
    view, config, dataset = snapshot.view, snapshot.spec.config, run.reader.dataset()
    apart_key, all_key = f"posterior.apart.{run.directory.id}", f"posterior.all.{run.directory.id}"
    is_apart = bool(st.session_state.get(apart_key))
    every = hypotheses(ideas, None if is_apart else near, seed_text=view.seed_text, labels=dataset.classes)
    words = (shares_words(every, config, view), odds_words(view, config, dataset))
    head = Heading("Hypotheses", order_words(every, config))
    blocks.draw(Say(" ".join(filter(None, words))), head)
    is_cut = len(every) >= AT_ONCE + FOLDED and not st.session_state.get(all_key)
    first = every[:AT_ONCE] if is_cut else every
    draw_deck(run, snapshot, first)
    with st.container(horizontal=True, vertical_alignment="center"):
        if is_cut:
            more = f"Show {counted(len(every) - AT_ONCE, 'more hypothesis', 'more hypotheses')}"
            st.button(more, key="posterior.more", on_click=st.session_state.update, args=({all_key: True},))
        if is_apart or len(every) < len(ideas):
            st.toggle("Show those apart that agree on 95 % of the rows", **blocks.lasting(apart_key))
    draw_notes(run, snapshot, ideas)


def draw_deck(run: opening.OpenRun, snapshot: Snapshot, first: tuple[Hypothesis, ...]) -> None:
    view, live = snapshot.view, snapshot.state in opening.LIVE
    readings = pieces.readings(run, snapshot, (hypothesis_id(each.texts[0].text) for each in first))
    family = pieces.remembered("posterior.family", (run.directory.id, view.last_at), lambda: genealogy(view))
    cards = deck(first, snapshot.spec.config, readings=readings, family=family, seed_text=view.seed_text)
    name = "live" if live else str(view.last_step)
    pieces.deck(page.block_html(cards), deck_id=name, key="posterior.cards", steady=live)


def draw_notes(run: opening.OpenRun, snapshot: Snapshot, ideas: Ideas) -> None:
    """Draw two lines on the weights under the cards; the rest is folded."""
    view, config, dataset = snapshot.view, snapshot.spec.config, run.reader.dataset()
    weights = [Note(weights_measure(snapshot).words)]
    weights += [Note(f"{each.name} {each.value}. {each.words}") for each in evidence_measure(snapshot)]
    if config.is_weighing and (rows := deciding_rows(view, config, dataset)):
        weights.append(Note(deciding_sentence(rows)))
    first = f"{constant_words(view, config, dataset)} {compared_words(ideas)}".strip()
    parts: list[object] = [Note(first), *weights]
    if config.is_weighted:
        parts = [Note(first), Note(meaning_words(config)), Fold(title="More on the weights", blocks=tuple(weights))]
    if lines := by_label(view.evaluated.get("test"), dataset):
        fold = "Label by label, on the test rows"
        parts.append(Table(head=LABEL_HEAD, rows=label_cells(lines), right=LABEL_NUMBERS, fold=fold))
    blocks.draw(*parts)


def entries_of(run: opening.OpenRun, snapshot: Snapshot) -> tuple[RuledOut, ...]:
    """Return the texts that the data ruled out, newest first."""
    view = snapshot.view

    def make() -> tuple[RuledOut, ...]:
        dataset, (ideas, _) = run.reader.dataset(), merged_of(run, snapshot)
        return without_survivors(ruled_out(view, dataset), survivors(view, ideas) if ideas else {})

    return pieces.remembered("posterior.ruled_out.made", (run.directory.id, view.last_at), make)


def draw_ruled_out(run: opening.OpenRun, snapshot: Snapshot) -> None:
    entries = entries_of(run, snapshot)
    if head := tuple(ruled_out_heading(entries, snapshot.spec.config)):
        blocks.draw(*head)
    if not entries:
        return
    key, place = f"posterior.ruled_out.opened.{run.directory.id}", st.container()
    everything = len(entries) > NEWEST and st.toggle(
        f"Show all {integer(len(entries))}", key=f"posterior.ruled_out.all.{run.directory.id}"
    )

    def open_or_close(line: int) -> None:
        text = entries[line].text
        st.session_state[key] = None if st.session_state.get(key) == text else text

    # By its text: while a run goes on, new lines come before it.
    opened = next((place for place, each in enumerate(entries) if each.text == st.session_state.get(key)), None)
    most = None if everything else NEWEST
    lines = ruled_out_lines(entries, seed_text=snapshot.view.seed_text, most=most, opened=opened)
    with place:
        pieces.steady(page.block_html(lines), key="posterior.ruled_out", on_open=open_or_close)


frame.enter()
draw_page(opening.open_run("Posterior", "shows which sentences the data support, and which they ruled out."))
