"""Posterior: what the data supported, and what they ruled out."""

import streamlit as st

from pages.parts import frame
from vpp.reporting import markup
from vpp.reporting.ideas import merge_ideas
from vpp.reporting.ledger import ideas_html, ruled_out_html
from vpp.reporting.progress import nothing_yet
from vpp.reporting.ruled_out import ruled_out
from vpp.reporting.words import counted, weights_sentence

MOST = 40


def page(run: frame.OpenRun) -> None:
    """Ideas by weight, then the ledger."""
    live = run.snapshot.state in frame.LIVE
    frame.head(run, "What the data left standing")

    @st.fragment(run_every=3.0 if live else None)
    def now() -> None:
        snapshot = run.reader.refresh()
        if live and snapshot.state not in frame.LIVE:
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
    st.html(markup.block(markup.saying(weights_sentence(ideas.weights))))
    compared = f"compared on all {ideas.n_rows} rows" if ideas.n_rows else "compared word for word so far"
    head = markup.heading("Hypotheses, merged when they answer alike", f"{compared} · bar length = summed weight")
    st.html(markup.block(head))
    frame.deck(ideas_html(ideas, seed_text=view.started.seed_text), deck_id=str(ideas.step), key="posterior.ideas")
    entries = ruled_out(view, dataset)
    st.html(markup.block(markup.heading("Ruled out", f"{counted(len(entries), 'sentence')} · newest first")))
    if not entries:
        st.html(
            markup.block(markup.caption("Nothing was ruled out: no proposal was rejected and none resampled away."))
        )
        return
    everything = st.toggle(f"Show all {len(entries)}", key="posterior.all") if len(entries) > MOST else True
    shown = entries if everything else entries[:MOST]
    st.html(markup.block(ruled_out_html(shown, seed_text=view.started.seed_text)))


frame.enter()
page(frame.open_run("Posterior shows which sentences the data support, and which they ruled out."))
