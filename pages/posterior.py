"""Posterior: what the data supported, and what they ruled out."""

import streamlit as st

from pages.parts import frame
from vpp.inspection.ensemble import ensemble
from vpp.inspection.ideas import merge_ideas
from vpp.inspection.ruled_out import ruled_out
from vpp.reporting import markup
from vpp.reporting.brief import ensemble_metrics, evidence_measure, shares_sentence
from vpp.reporting.ledger import ideas_html, ruled_out_html
from vpp.reporting.progress import nothing_yet
from vpp.reporting.words import counted
from vpp.settings import Config

MOST = 40


def page(run: frame.OpenRun) -> None:
    """Ideas by weight, then the ledger."""
    live = run.snapshot.state in frame.LIVE
    frame.head(run, "What the data left standing")

    @st.fragment(run_every=3.0 if live else None)
    def now() -> None:
        snapshot = run.reader.refresh()
        if live and snapshot.state != run.snapshot.state:
            st.rerun()
        draw(run)

    now()


def draw(run: frame.OpenRun) -> None:
    """As of the last whole step."""
    view, dataset = run.reader.refresh().view, run.reader.dataset()
    ideas = merge_ideas(view, dataset)
    if ideas is None or view.started is None:
        st.html(markup.block(markup.state("No particles yet", nothing_yet(run.reader.refresh().state))))
        return
    config = run.snapshot.spec.config
    st.html(markup.block(markup.saying(shares_sentence(ideas, config)), *at_a_glance(run, config)))
    compared = f"compared on all {ideas.n_rows} rows" if ideas.n_rows else "compared word for word so far"
    bars = "summed weight" if config.is_weighted else "share of the hypotheses"
    head = markup.heading("Hypotheses, merged when they answer alike", f"{compared} · bar length = {bars}")
    st.html(markup.block(head))
    cards = ideas_html(ideas, seed_text=view.started.seed_text, is_weighted=config.is_weighted)
    frame.deck(cards, deck_id=str(ideas.step), key="posterior.ideas")
    entries = ruled_out(view, dataset)
    st.html(markup.block(markup.heading("Ruled out", f"{counted(len(entries), 'sentence')} · newest first")))
    if not entries:
        st.html(markup.block(markup.caption(nothing_out(config))))
        return
    everything = st.toggle(f"Show all {len(entries)}", key="posterior.all") if len(entries) > MOST else True
    shown = entries if everything else entries[:MOST]
    st.html(markup.block(ruled_out_html(shown, seed_text=view.started.seed_text)))


def at_a_glance(run: frame.OpenRun, config: Config) -> list[str]:
    """Five runs read in three ways; the evidence of carried weights."""
    snapshot = run.reader.refresh()
    five = ensemble(snapshot.view, run.reader.dataset()) if config.method == "vml5" else None
    parts = [markup.strip(ensemble_metrics(five))] if five else []
    return [*parts, *(markup.caption(f"{m.name} {m.value}. {m.words}") for m in evidence_measure(snapshot))]


def nothing_out(config: Config) -> str:
    """Why the ledger is empty."""
    if config.is_filtered or config.is_weighted:
        return "Nothing was ruled out: no proposal was rejected and none resampled away."
    return "Nothing can be ruled out: this method takes every proposal and drops no hypothesis for the data’s sake."


frame.enter()
page(frame.open_run("Posterior shows which sentences the data support, and which they ruled out."))
