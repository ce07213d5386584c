"""Posterior: what the data supported, how it came to its words, and what was ruled out."""

from functools import partial

import streamlit as st

from pages.parts import asking, beside, blocks, frame, opening, pieces
from vpp.drawing.cards import ancestry_html, n_changes
from vpp.drawing.idea_deck import best_first, groups_html, ideas_html, meaning, more_words, order_words, verdict
from vpp.drawing.ledger import counts_words, ruled_out_html, ruled_out_sentence
from vpp.events import hypothesis_id
from vpp.findings.counts import LABEL_HEAD, LABEL_NUMBERS, label_cells
from vpp.findings.genealogy import genealogy
from vpp.findings.ideas import NEAR, Ideas, Nearness, merge_ideas, nearness, survivors
from vpp.findings.progress import nothing_yet
from vpp.findings.ruled_out import RuledOut, ruled_out, without_survivors
from vpp.findings.scores import by_label, ensemble
from vpp.findings.summary import deciding_rows
from vpp.runs.reader import Snapshot
from vpp.show import markup
from vpp.show.words import integer
from vpp.wording.brief import (
    compared_words,
    constant_note,
    constant_sentence,
    deciding_sentence,
    ensemble_metrics,
    evidence_measure,
    shares_sentence,
    support_sentence,
    unread_html,
    weights_measure,
)

REFRESH_S = 3.0
AT_ONCE = 3  # ideas drawn until the others are asked for, so that the parts below stay near
MOST_CHANGES = 30
NEWEST = 5  # texts ruled out that are drawn until the others are asked for
PLACE = "ruled-out"  # element id, for links to it
NOTHING_OUT = "Nothing was ruled out: no proposal was rejected and none resampled away."
DROPS_NOTHING = "Nothing can be ruled out: this method accepts every proposal and drops no hypothesis."


def page(run: opening.OpenRun) -> None:
    pieces.head(run, "Posterior: hypotheses that survived")
    # Every place is there before a fragment draws into it, so that a late refresh never meets a page without it.
    above, reworded = st.container(), st.container(key="posterior_reworded")
    questions, middle, trial, below, last = (st.container() for _ in range(5))
    with above:
        opening.follow(run, lambda snapshot: draw_standing(run, snapshot), every_s=REFRESH_S)
    if not run.snapshot.view.population:
        return
    with reworded:
        beside.draw_rewording(run, has_key_field=asking.asks_key(run))
    with questions:
        asking.draw(run)
    with trial:
        beside.draw_trial(run)
    for place, draw in ((middle, draw_nearness), (below, draw_ancestors), (last, draw_ruled_out)):
        with place:
            opening.follow(run, partial(draw, run), every_s=REFRESH_S)


def ideas_of(run: opening.OpenRun, snapshot: Snapshot) -> tuple[Ideas | None, Nearness | None, str]:
    """Return the ideas at a state of the journal, how near they are, and what supports them."""

    def make() -> tuple[Ideas | None, Nearness | None, str]:
        dataset = run.reader.dataset()
        merged = merge_ideas(snapshot.view, dataset)
        ideas = best_first(merged) if merged else None
        near = nearness(ideas, dataset) if ideas else None
        return ideas, near, support_sentence(snapshot.view, dataset, ideas)

    return pieces.remembered("posterior.made", (run.directory.id, snapshot.view.last_at), make)


def draw_standing(run: opening.OpenRun, snapshot: Snapshot) -> None:
    ideas, _, support = ideas_of(run, snapshot)
    if ideas is None:
        opening.not_yet(run, "No particles yet", nothing_yet(snapshot.state))
        return
    config, view, dataset = snapshot.spec.config, snapshot.view, run.reader.dataset()
    is_weighted, live = config.is_weighted, snapshot.state in opening.LIVE
    entries, _ = out(run, snapshot)
    gone = ruled_out_sentence(entries, config)
    words = (support, shares_sentence(ideas, config, view), constant_sentence(view, config, dataset))
    standing = " ".join(filter(None, words))
    link = (gone, PLACE) if entries else ("", "")
    blocks.draw(
        unread_html(view),
        markup.saying(standing if entries else f"{standing} {gone}".strip(), link=link),
        markup.heading("Hypotheses grouped by identical predictions", order_words(ideas, is_weighted=is_weighted)),
    )
    place = st.container()
    most = choose_most(run, ideas, is_weighted=is_weighted)
    ids = (hypothesis_id(wording.text) for idea in ideas.all[:most] for wording in idea.wordings)
    readings = pieces.readings(run, snapshot, ids)
    cards = ideas_html(ideas, seed_text=view.seed_text, is_weighted=is_weighted, most=most, readings=readings)
    with place:
        pieces.deck(cards, deck_id="live" if live else str(ideas.step), key="posterior.ideas", steady=live)
    bars = "summed weight" if is_weighted else "share of the hypotheses"
    notes = [constant_note(view, config, dataset), f"{compared_words(ideas)}. Bar length = {bars}."]
    notes += [f"{'Weights: ' if is_weighted else ''}{weights_measure(snapshot).words}"]
    notes += [f"{metric.name} {metric.value}. {metric.words}" for metric in evidence_measure(snapshot)]
    parts = list(map(markup.caption, filter(None, notes)))
    if config.is_weighing and (rows := deciding_rows(view, config, dataset)):
        parts.append(markup.caption(deciding_sentence(rows)))
    if lines := by_label(view.evaluated.get("test"), dataset):
        table = markup.table(LABEL_HEAD, label_cells(lines), right=LABEL_NUMBERS)
        parts += [f'<details class="astable"><summary>Label by label, on the test rows</summary>{table}</details>']
    if config.method == "vml5" and (five := ensemble(view, dataset)):
        parts += [markup.strip(ensemble_metrics(five))]
    blocks.draw(*parts)


def choose_most(run: opening.OpenRun, ideas: Ideas, *, is_weighted: bool) -> int | None:
    key = f"posterior.all.{run.directory.id}"
    words = more_words(ideas, AT_ONCE, is_weighted=is_weighted)
    if st.session_state.get(key) or not words:
        return None
    st.button(words, key="posterior.more", on_click=st.session_state.update, args=({key: True},))
    return AT_ONCE


def draw_nearness(run: opening.OpenRun, snapshot: Snapshot) -> None:
    """Draw what remains if hypotheses that nearly agree count as one."""
    ideas, near, _ = ideas_of(run, snapshot)
    config, seed_text = snapshot.spec.config, snapshot.view.seed_text
    if ideas is None or config.size == 1:
        return
    title = markup.heading("Agreement between hypotheses")
    if near is None:
        words = "This is known once all particles have answered the same rows: at the latest when the run ends."
        blocks.draw(title, markup.quiet(words))
        return
    groups = near.groups(NEAR)
    parts = [title, markup.quiet(verdict(near, groups, NEAR))]
    parts += [markup.caption(meaning(near, NEAR))] if near.n > 1 else []
    blocks.draw(*parts)
    if len(groups) < near.n:
        html = groups_html(near, groups, seed_text=seed_text, is_weighted=config.is_weighted)
        pieces.steady(markup.CUE + html, key="posterior.nearness")


def draw_ancestors(run: opening.OpenRun, snapshot: Snapshot) -> None:
    view, is_weighted = snapshot.view, snapshot.spec.config.is_weighted
    blocks.draw(markup.heading("Genealogy", "how a hypothesis came to its words"))
    left, _ = st.columns([1, 3])
    field = f"posterior.genealogy.particle.{run.directory.id}"
    slot = left.selectbox(
        "Ancestors of particle", range(view.size), None, key=field, placeholder="Choose a current particle"
    )
    family = None if slot is None else genealogy(view)
    if slot is None or family is None:
        return
    line = family.ancestry(slot)
    changes = n_changes(line)
    is_long, label = changes > MOST_CHANGES, f"Show all {changes} changes"
    everything = st.toggle(label, key=f"posterior.genealogy.all.{run.directory.id}") if is_long else True
    most = None if everything else MOST_CHANGES
    blocks.draw(ancestry_html(line, seed_text=view.seed_text, is_weighted=is_weighted, most=most))


def out(run: opening.OpenRun, snapshot: Snapshot) -> tuple[tuple[RuledOut, ...], dict[str, int]]:
    """Return the texts that the data ruled out, newest first; and the current idea of every text that survived."""
    view = snapshot.view

    def make() -> tuple[tuple[RuledOut, ...], dict[str, int]]:
        dataset = run.reader.dataset()
        ideas = merge_ideas(view, dataset)
        alike = survivors(view, ideas) if ideas else {}
        return without_survivors(ruled_out(view, dataset), alike), alike

    return pieces.remembered("posterior.ruled_out.made", (run.directory.id, view.last_at), make)


def draw_ruled_out(run: opening.OpenRun, snapshot: Snapshot) -> None:
    entries, alike = out(run, snapshot)
    head = counts_words(entries) or "nothing so far"
    blocks.draw(f'<div id="{PLACE}" tabindex="-1">{markup.heading("Ruled out", head)}</div>')
    if not entries:
        config = run.snapshot.spec.config
        blocks.captions(NOTHING_OUT if config.is_filtered or config.is_weighted else DROPS_NOTHING)
        return
    place, n = st.container(), len(entries)
    everything = n > NEWEST and st.toggle(f"Show all {integer(n)}", key=f"posterior.ruled_out.all.{run.directory.id}")
    html = ruled_out_html(
        entries if everything else entries[:NEWEST], seed_text=snapshot.view.seed_text, survivors=alike
    )
    with place:
        pieces.steady(html, key="posterior.ruled_out")


frame.enter()
page(opening.open_run("Posterior", "shows which sentences the data support, and which they ruled out."))
