"""Posterior: the hypotheses with their weights, and what the data ruled out."""

from functools import partial

import streamlit as st

from pages.parts import asking, blocks, frame, opening
from pages.parts.opening import OpenRun
from vpp.findings.hypotheses import deck, hypotheses_of, shares_words, with_constant
from vpp.findings.progress import nothing_yet
from vpp.findings.result import evidence_measure, novelty, odds_words, posterior_words, target_words, weights_words
from vpp.findings.rows import evaluated_rows, mistakes
from vpp.findings.ruled_out import ruled_out, ruled_out_heading, ruled_out_lines
from vpp.findings.step import Names, weights_curve
from vpp.posterior.disagreement import NEAR
from vpp.runs.directory import Snapshot
from vpp.show import markup
from vpp.show.blocks import Fold, Heading, Note, Say
from vpp.show.words import counted, integer

REFRESH_S = 3.0
AT_ONCE = 3  # cards drawn until the others are asked for, so that the parts below stay near
FOLDED = 3  # fewest cards that are worth a button
NEWEST = 3  # lines drawn of what was ruled out, until the others are asked for


def draw_page(run: OpenRun) -> None:
    opening.head(run, "Posterior: hypotheses that survived")
    # Every place is there before a fragment draws into it, so that a late refresh never meets a page without it.
    above, questions = st.container(), st.container()
    trial, last = st.container(key="posterior_trial"), st.container()
    with above:
        opening.follow(run, partial(draw_hypotheses, run), every_s=REFRESH_S)
    if not run.snapshot.view.population:
        return
    with questions:
        asking.draw(run)
    with trial:
        asking.draw_trial(run)
    with last:
        opening.follow(run, partial(draw_ruled_out, run), every_s=REFRESH_S)
    if not run.is_live and (curve := weights_curve(run.snapshot.view, run.reader.dataset())):
        blocks.draw_chart(curve)


def draw_hypotheses(run: OpenRun, snapshot: Snapshot) -> None:
    view, config, dataset = snapshot.view, snapshot.spec.config, run.reader.dataset()
    apart_key, all_key = f"posterior.apart.{run.id}", f"posterior.all.{run.id}"
    is_apart = bool(st.session_state.get(apart_key))
    make = partial(hypotheses_of, view, dataset, threshold=None if is_apart else NEAR)
    every = blocks.remembered("posterior.made", (run.id, view.last_at, is_apart), make)
    if not every:
        opening.not_yet(run, "No hypotheses yet", nothing_yet(snapshot.state))
        return
    count = partial(novelty, view, config, dataset)
    missing = blocks.remembered("posterior.novelty", (run.id, view.last_at), count)
    words = filter(None, (shares_words(every, config, view), odds_words(view, config, dataset, missing)))
    blocks.draw(Say(" ".join(words)), Heading("Hypotheses", posterior_words(snapshot.spec)))
    is_cut = len(every) >= AT_ONCE + FOLDED and not st.session_state.get(all_key)
    first, live = every[: AT_ONCE if is_cut else len(every)], snapshot.state in opening.LIVE
    readings = opening.readings(run, snapshot, (each.id for each in first))
    cards = with_constant(deck(first, view, config, readings, Names(view).end(every)), view, dataset)
    blocks.deck(
        markup.html([cards]), deck_id="live" if live else str(view.last_step), key="posterior.cards", steady=live
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if is_cut:
            more = f"Show {counted(len(every) - AT_ONCE, 'more hypothesis', 'more hypotheses')}"
            st.button(more, key="posterior.more", on_click=st.session_state.update, args=({all_key: True},))
        if is_apart or any(len(each.members) > 1 for each in every):
            st.toggle("Show those apart that agree on 95 % of the rows", **blocks.lasting(apart_key))
        st.page_link("pages/report.py", label="Get the report", query_params={"run": run.id})
    draw_notes(run, snapshot, missing)


def draw_notes(run: OpenRun, snapshot: Snapshot, missing: float | None) -> None:
    config = snapshot.spec.config
    weights = [target_words(config), weights_words(snapshot, missing)]
    weights += [f"{each.name} {each.value}. {each.words}" for each in evidence_measure(snapshot)]
    parts = [Fold(title="More on the weights", blocks=tuple(map(Note, weights)))]
    if rows := evaluated_rows(snapshot.view, config, run.reader.dataset()):
        title = "Right and wrong by label" if run.reader.dataset().classes else "Errors"
        parts.append(Fold(title=title, blocks=tuple(mistakes(rows))))
    blocks.draw(*parts)


def draw_ruled_out(run: OpenRun, snapshot: Snapshot) -> None:
    made = partial(ruled_out, snapshot.view, run.reader.dataset())
    entries = blocks.remembered("posterior.ruled_out.made", (run.id, snapshot.view.last_at), made)
    if head := tuple(ruled_out_heading(entries, snapshot.spec.config)):
        blocks.draw(*head)
    if not entries:
        return
    place = st.container()
    everything = len(entries) > NEWEST and st.toggle(
        f"Show all {integer(len(entries))}", key=f"posterior.ruled_out.all.{run.id}"
    )
    lines = ruled_out_lines(entries if everything else entries[:NEWEST], seed_text=snapshot.view.seed_text)
    with place:
        blocks.steady(markup.block_html(lines), key="posterior.ruled_out")


frame.enter()
draw_page(opening.open_run("Posterior", "shows which sentences the data support, and which they ruled out."))
