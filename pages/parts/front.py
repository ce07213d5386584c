"""The first minute: what the product does in three sentences and a picture, and three ways to see it at work."""

import streamlit as st

from pages.parts import frame, person
from pages.parts.keeping import is_begun
from vpp.drawing.first_look import picture
from vpp.runs.shipped import EXAMPLES, REAL_EXAMPLE
from vpp.wording import markup

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
"""Figures of the run's own record."""


def draw() -> None:
    """In full for a newcomer; one line that unfolds for someone who has a run or a table of their own."""
    if words := person.open_words():
        st.html(markup.block(markup.caption(words)))
    if not is_begun() and all(run.id in EXAMPLES for run in frame.store().runs()):
        st.html(markup.block(markup.title("New run")))
        introduce()
        return
    st.html(markup.block(markup.title("New run", IN_SHORT)))
    with st.expander("What this does, and an example to look at"):
        introduce()


def introduce() -> None:
    """Three sentences and three ways beside the picture."""
    words, beside = st.columns([1, 1.15], gap="large")
    with words:
        st.html(markup.block(*map(markup.saying, SENTENCES)))
        with st.container(horizontal=True):
            if st.button("Look at a finished example", type="primary", key="new.look"):
                frame.open_example()
            if st.button("Run the example", key="new.run_example"):
                frame.start_example()
        st.html(markup.block(markup.caption(PENGUINS)))
        if st.button("Look at a finished run of a real language model", key="new.look_real"):
            frame.open_example(REAL_EXAMPLE)
        st.html(markup.block(markup.caption(TITANIC)))
    beside.html(markup.block(picture()))
