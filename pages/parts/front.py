"""The introduction on New run: five ways to try the app, and for a newcomer what it does, with a picture."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.parts import blocks, opening, person
from vpp.runs.store import CHAINS_EXAMPLE, EXAMPLES, REAL_EXAMPLE, TEXT_EXAMPLE
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
PENGUINS = "Penguin species: ten sentences and how they changed."
LIVE = "The same, live: under a minute, no key, no network."
CHAINS = "Metropolis-Hastings: each change is accepted or rejected."
TITANIC = "Titanic survivors, by Qwen2.5-Coder-1.5B in 17 minutes."
OWN_HUNCHES = "Look at hunches about texts"
MESSAGES = "Three hunches about messages to a shop, weighed by the same model."
JUMP = '<p class="jump"><a href="#new-data">Use your own table</a></p>'
"""Link to the upload, on a narrow page."""


def draw() -> None:
    if words := person.open_words():
        blocks.captions(words)
    blocks.draw(markup.title("New run", IN_SHORT))
    offer_examples()
    is_begun = FILE in st.session_state or FROM in st.session_state
    if not is_begun and all(run.id in EXAMPLES for run in person.store().runs()):
        introduce()


def offer_examples() -> None:
    ways: tuple[tuple[str, str, str, Callable[[], None]], ...] = (
        ("Look at a finished example", "new.look", PENGUINS, opening.open_example),
        ("Run the example", "new.run_example", LIVE, run_example),
        ("Look at three chains", "new.look_chains", CHAINS, partial(opening.open_example, CHAINS_EXAMPLE)),
        ("Look at a language model’s run", "new.look_real", TITANIC, partial(opening.open_example, REAL_EXAMPLE)),
        (OWN_HUNCHES, "new.look_texts", MESSAGES, partial(opening.open_example, TEXT_EXAMPLE)),
    )
    with st.container(key="new_ways"):
        for place, (label, key, line, act) in blocks.in_columns(ways, len(ways)):
            if place.button(label, type="primary" if key == "new.look" else "secondary", key=key):
                act()
            place.html(markup.block(markup.caption(line)))


def run_example() -> None:
    opening.start_new(opening.prepare_example(Config(), latency_ms=opening.READABLE_MS))


def introduce() -> None:
    """Draw three sentences and a picture: at their right, on a narrow page after the first."""
    first, *others = map(markup.saying, SENTENCES)
    picture = (opening.ASSETS / "first_look.html").read_text(encoding="utf-8")
    blocks.draw(f'<div class="intro">{first}{JUMP}{picture}{"".join(others)}</div>')
