"""Gallery: every piece of the app, drawn from a made-up run."""

import streamlit as st

from pages.parts import frame, genealogy, illustration, pieces
from vpp.drawing.band import band_html
from vpp.drawing.cards import CardMaker
from vpp.drawing.deck import deck_html, mark_legend
from vpp.drawing.figures import ess_figure, weights_figure
from vpp.drawing.genealogy import drawing, founders_table, genealogy_caption, genealogy_sentence
from vpp.drawing.idea_deck import ideas_html
from vpp.drawing.ledger import ruled_out_html
from vpp.drawing.matrix import Matrix, code_legend
from vpp.drawing.nearness import alt_words, matrix_html
from vpp.inspection.camps import by_answers
from vpp.inspection.genealogy import genealogy as genealogy_of
from vpp.inspection.ideas import merge_ideas
from vpp.inspection.points import points
from vpp.inspection.ruled_out import ruled_out
from vpp.inspection.similarity import nearness
from vpp.runs.prompts import PromptMaker
from vpp.wording import markup
from vpp.wording.words import fixed

STEP = 1
TREE_KEY = "gallery.genealogy"


def page() -> None:
    """Draw every piece, from the banner to the fields."""
    st.html(
        markup.block(
            markup.banner("Illustration.", "Every sentence and number on this page is made up; no run made them."),
            markup.title("Gallery", "the named pieces of the instrument, on five sentences about leaves"),
            markup.saying("4 different sentences; the heaviest holds 57 % of the weight."),
            markup.strip(metrics()),
        )
    )
    band_and_charts()
    deck()
    ideas()
    matrix()
    lineage()
    ledger()
    states()
    fields()


def metrics() -> list[markup.Metric]:
    """Return numbers of the last step, each with its scale and a sentence."""
    weighed = illustration.view().steps[STEP].reweighted
    ess = weighed.ess if weighed else 0.0
    return [
        markup.Metric(name="ESS", value=f"{ess:.1f}", scale="of 5", words="About three voices carry the posterior."),
        markup.Metric(name="Different sentences", value="4", scale="of 5", words="One repeats another."),
        markup.Metric(name="Proposals accepted", value="2", scale="of 6", words="Four changes fell at the filter."),
        markup.Metric(name="Log evidence", value=fixed(-4.31), scale="nominal", words="An estimate, for comparison."),
        markup.Metric(name="Calls", value="64", scale="of 80 at most", words="Three answers came from the cache."),
    ]


def band_and_charts() -> None:
    """Draw the band of steps and two charts."""
    view = illustration.view()
    st.html(markup.block(markup.heading("Band and charts", "a bar a step"), band_html(view, shown=STEP)))
    left, right = st.columns(2, gap="large")
    with left:
        pieces.figure(
            lambda mode: ess_figure(view, mode), title="Effective sample size", caption="by step", key="gallery.ess"
        )
    with right:
        pieces.figure(
            lambda mode: weights_figure(view, mode), title="Weight by step", caption="more ink", key="gallery.weights"
        )


def deck() -> None:
    """Draw cards of every fate, a rejected proposal opened; then one before its first weight."""
    view, dataset = illustration.view(), illustration.dataset()
    maker = CardMaker(view, illustration.CONFIG, dataset, PromptMaker(illustration.spec(), dataset))
    cards = deck_html(maker.at(STEP), seed_text=illustration.SEED)
    rejected = cards.replace('<details class="" ', '<details class="" open ', 1)
    st.html(markup.block(markup.heading("Deck", "bar length = weight · underlined: added · struck: removed")))
    pieces.deck(rejected, deck_id="gallery", key="gallery.deck")
    first = deck_html(maker.initial()[:1], seed_text="")
    st.html(markup.block(mark_legend(illustration.CONFIG), markup.group("Before the first weight"), first))


def ideas() -> None:
    """Draw hypotheses grouped by identical predictions, and their agreement."""
    merged = merge_ideas(illustration.view(), illustration.dataset())
    near = nearness(merged, illustration.dataset()) if merged else None
    if merged is None or near is None:
        return
    st.html(markup.block(markup.heading("Ideas", "wordings that answer alike are one")))
    pieces.deck(ideas_html(merged, seed_text=illustration.SEED, is_weighted=True), deck_id="ideas", key="gallery.ideas")
    groups = near.groups(1.0)
    drawn = matrix_html(near, groups, seed_text=illustration.SEED, is_weighted=True)
    st.html(markup.block(markup.group("How near they are"), drawn, markup.caption(alt_words(near))))


def matrix() -> None:
    """Draw the matrix of answers, and a vote."""
    test, dataset = illustration.view().evaluated["test"], illustration.dataset()
    test_points = points(test, {row.id: row for row in dataset.test})
    table = Matrix(columns=by_answers(test), labels=dataset.classes).html(test_points)
    vote = markup.votes([("oak", 0.58), ("elm", 0.37)], abstained=0.05)
    head = markup.heading("Matrix and vote", "agreement is silent, dissent is inked")
    st.html(markup.block(head, table, markup.caption(code_legend(dataset.classes)), markup.group("Vote"), vote))


def lineage() -> None:
    """Draw the genealogy, with its sentence and table."""
    view = illustration.view()
    tree = genealogy_of(view)
    if tree is None:
        return
    head = markup.heading("Genealogy", genealogy_caption(tree, is_weighted=True))
    st.html(markup.block(head, markup.quiet(genealogy_sentence(tree))))
    data = drawing(tree, seed_text=illustration.SEED, is_weighted=True, steps=0)
    table = founders_table(tree, seed_text=illustration.SEED, is_weighted=True)
    genealogy.tree({**data, "table": table, "made": "gallery", "run": "gallery", "opened": None}, key=TREE_KEY)


def ledger() -> None:
    """Draw the ruled-out texts."""
    entries = ruled_out(illustration.view(), illustration.dataset())
    head = markup.heading("Ledger", "what the data ruled out")
    st.html(markup.block(head, ruled_out_html(entries, seed_text=illustration.SEED)))


def states() -> None:
    """Draw the states empty, failed and waiting, and a table."""
    st.html(markup.block(markup.heading("States and table")))
    left, right = st.columns(2, gap="large")
    with left:
        st.html(markup.block(markup.state("No run is open", "This page would show its sentences.")))
        st.html(markup.block(markup.waiting("Writing the first hypotheses: 3 of 5.")))
    with right:
        failed = markup.state(
            "The endpoint does not answer", "Two whole steps are saved; it is asked again.", failed=True
        )
        rows = [("oak", "4", "100 %"), ("elm", "4", "75 %")]
        st.html(markup.block(failed))
        st.html(markup.block(markup.table(("tree", "rows", "right"), rows, right=(1, 2))))


def fields() -> None:
    """Draw Streamlit's own fields in our style; none of them does anything."""
    st.html(markup.block(markup.heading("Fields and buttons")))
    left, middle, right = st.columns(3)
    with left:
        st.text_input("Name", "Leaves", key="gallery.name")
        st.number_input("Particles K", 1, 50, 5, key="gallery.k")
        st.selectbox("Target", illustration.dataset().inputs, key="gallery.target")
    with middle:
        st.slider("Agreement", 50, 100, 95, key="gallery.agreement")
        st.segmented_control("Wording", ["heaviest", "shortest"], default="heaviest", key="gallery.wording")
        st.checkbox("Only where they differ", value=True, key="gallery.differ")
        st.toggle("Show as table", value=True, key="gallery.toggle")
    with right:
        st.button("Start the run", type="primary", key="gallery.start", width="stretch")
        st.button("Stop and keep", key="gallery.stop", width="stretch")
        st.button("Resume", key="gallery.resume", disabled=True, width="stretch")
        st.page_link("pages/new_run.py", label="Use my own CSV")
    st.file_uploader("A CSV with one row an example", type="csv", key="gallery.file")
    st.text_area("What you already believe, in words", "Elms are lopsided.", key="gallery.prior")
    with st.expander("More options"):
        st.radio("Batch order", ["shuffled", "fixed"], key="gallery.order", horizontal=True)


frame.enter()
page()
