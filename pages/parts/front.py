"""The introduction on New run: what the app does, in three sentences and a picture, and three ways to try it."""

import streamlit as st

from pages.parts import blocks, opening, person
from vpp.runs.store import EXAMPLES, REAL_EXAMPLE
from vpp.settings import Config
from vpp.wording import markup

FILE = "new.file"
"""Session key: the upload in use, as (name, bytes)."""
FROM = "new.again"
"""Session key: id of the run that is started again."""
IN_SHORT = "A table goes in; competing explanations of one column come out."
SENTENCES = (
    "You give a table; ten explanations of one column come out, each a sentence that a model applies to your rows.",
    "The data weigh them: what fits gains weight, what fails is dropped, and the rest are rewritten, step by step.",
    "Where those left disagree too much, the answer is “I don’t know”, and you see the sentences for and against.",
)
PENGUINS = (
    "Penguins: which species? The finished one opens at once. A live one takes less than a minute on the built-in demo "
    "model, with no key and no network."
)
TITANIC = (
    "Titanic: who survived? Learned by Qwen2.5-Coder-1.5B-Instruct, a small language model, on two processor cores "
    "in 17 minutes: 1,486 answers, 1,169 of them from the cache, and 1,699,000 tokens."
)
"""Figures from the run's own journal."""


def draw() -> None:
    """Draw it in full for a newcomer, folded for a visitor who has a run or a table."""
    if words := person.open_words():
        blocks.captions(words)
    is_begun = FILE in st.session_state or FROM in st.session_state
    if not is_begun and all(run.id in EXAMPLES for run in person.store().runs()):
        blocks.draw(markup.title("New run"))
        introduce()
        return
    blocks.draw(markup.title("New run", IN_SHORT))
    with st.expander("What this does, and an example to look at"):
        introduce()


def introduce() -> None:
    """Draw the sentences and buttons beside the picture."""
    words, beside = st.columns([1, 1.15], gap="large")
    with words:
        blocks.draw(*map(markup.saying, SENTENCES))
        with st.container(horizontal=True):
            if st.button("Look at a finished example", type="primary", key="new.look"):
                opening.open_example()
            if st.button("Run the example", key="new.run_example"):
                opening.start_new(opening.prepare_example(Config(), latency_ms=opening.READABLE_MS))
        blocks.captions(PENGUINS)
        if st.button("Look at a finished run of a real language model", key="new.look_real"):
            opening.open_example(REAL_EXAMPLE)
        blocks.captions(TITANIC)
    beside.html(markup.block((opening.ASSETS / "first_look.html").read_text(encoding="utf-8")))
