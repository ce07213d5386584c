"""Posterior: what the data supported, and what they ruled out."""

from functools import partial

import streamlit as st

from pages.parts import asking, beside, blocks, frame, genealogy, opening, pieces
from vpp.drawing.idea_deck import (
    alt_words,
    best_first,
    groups_html,
    ideas_html,
    matrix_html,
    meaning,
    more_words,
    order_words,
    verdict,
)
from vpp.drawing.ledger import ruled_out_sentence
from vpp.events import hypothesis_id
from vpp.inspection.ideas import Ideas, Nearness, merge_ideas, nearness, with_quotes
from vpp.inspection.scores import by_label, ensemble
from vpp.inspection.summary import deciding_rows
from vpp.runs.reader import Snapshot
from vpp.wording import markup
from vpp.wording.brief import (
    DECIDING_HEAD,
    compared_words,
    constant_note,
    constant_sentence,
    deciding_sentence,
    deciding_table,
    ensemble_metrics,
    evidence_measure,
    shares_sentence,
    support_sentence,
    unread_html,
    weights_measure,
)
from vpp.wording.counts import LABEL_HEAD, LABEL_NUMBERS, label_cells
from vpp.wording.progress import nothing_yet

REFRESH_S = 3.0
THRESHOLD = 95  # percent
AT_ONCE = 3  # ideas drawn until the others are asked for, so that the parts below stay near


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
    for place, draw in ((middle, genealogy.draw_ancestors), (below, genealogy.draw_ruled_out), (last, draw_nearness)):
        with place:
            opening.follow(run, partial(draw, run), every_s=REFRESH_S)


def ideas_of(run: opening.OpenRun, snapshot: Snapshot) -> tuple[Ideas | None, Nearness | None, str]:
    """Return the ideas at a state of the journal, how near they are, and what supports them."""

    def make() -> tuple[Ideas | None, Nearness | None, str]:
        dataset = run.reader.dataset()
        merged = merge_ideas(snapshot.view, dataset)
        ideas = with_quotes(best_first(merged), lambda: run.reader.read_answers().by_pair, dataset) if merged else None
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
    entries = genealogy.out(run, snapshot).entries
    gone = ruled_out_sentence(entries, config)
    words = (support, shares_sentence(ideas, config, view), constant_sentence(view, config, dataset))
    standing = " ".join(filter(None, words))
    link = (gone, genealogy.PLACE) if entries else ("", "")
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
        table = markup.table(DECIDING_HEAD, deciding_table(rows), right=(0, 4)) if rows.rows else ""
        parts += [markup.group("Rows that decide"), markup.caption(deciding_sentence(rows)), table]
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
    ideas, near, _ = ideas_of(run, snapshot)
    config, seed_text = snapshot.spec.config, snapshot.view.seed_text
    if ideas is None or config.size == 1:
        return
    title = "Agreement between hypotheses"
    if near is None or near.n < 3:
        words = "This is known once all particles have answered the same rows: at the latest when the run ends."
        if near is not None:
            words = alt_words(near) if near.n == 2 else verdict(near, near.groups(1.0), 1.0)
        blocks.draw(markup.heading(title), markup.quiet(words))
        return
    place, (left, _) = st.container(), st.columns([2, 3])
    label, key = "Merge hypotheses that agree on at least", "posterior.threshold"
    threshold = left.slider(label, 50, 100, THRESHOLD, format="%d %%", key=key) / 100
    groups = near.groups(threshold)
    head = markup.heading(title, "Darker = more disagreement; lines separate groups")
    about = markup.quiet(verdict(near, groups, threshold)) + markup.caption(meaning(near, threshold))
    place.html(markup.block(head, about))
    matrix = matrix_html(near, groups, seed_text=seed_text, is_weighted=config.is_weighted)
    parts = [markup.CUE, matrix, markup.caption(alt_words(near))]
    if len(groups) < near.n:
        parts += [markup.CUE, groups_html(near, groups, seed_text=seed_text, is_weighted=config.is_weighted)]
    pieces.steady("".join(parts), key="posterior.nearness")


frame.enter()
page(opening.open_run("Posterior", "shows which sentences the data support, and which they ruled out."))
