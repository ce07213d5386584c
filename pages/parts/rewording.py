"""Try another wording: a person's text beside a particle's on the same rows, and a new run with it if they say so."""

import streamlit as st

from pages.parts import blocks, opening, person
from pages.parts.asking import ask_beside, consent, follow, is_running, job_of
from vpp.drawing.answering import plan_html
from vpp.drawing.deck import without_seed
from vpp.drawing.ledger import button_words, comparison_html, keeping_words, rows_name
from vpp.errors import RunError, VppError
from vpp.inference.plan import plan
from vpp.inspection.slots import grouped
from vpp.runs.asking import Rewording, asking_of, comparison_of, last_rows, reworded_run, rewording
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView
from vpp.wording import markup
from vpp.wording.escaping import one_line
from vpp.wording.words import cut, particles, short_weight

JOB, TITLE = "reword", "Try another wording"
FOLD, PLACE = "rewording.fold", "another-wording"
LONGEST = 110
"""Characters of a text in the list of particles."""


def draw(run: opening.OpenRun, *, has_key_field: bool) -> None:
    """Draw the section, outside any fragment that has a timer, unless the run goes on or nothing is scored yet.

    has_key_field: whether the page asks for the endpoint's key elsewhere.
    """
    if prepared := st.session_state.pop(_key(run, "next"), None):
        opening.start_new(prepared)
    snapshot = opening.fresh(run)
    if snapshot.state in ("queued", "running", "stalled"):
        return
    try:
        last_rows(snapshot.view)
    except RunError:
        return
    with st.expander(TITLE, key=FOLD, on_change="rerun") as fold:
        st.html(f'<div id="{PLACE}" tabindex="-1"></div>')
        if fold.open:
            section = st.container()
            with section:
                blocks.refreshed(lambda: form(run), is_live=lambda: is_running(run, JOB), every_s=1.0)
            job = job_of(run, JOB)
            if job and job.outcome == "failed" and not (has_key_field or snapshot.spec.endpoint.is_demo):
                person.ask_keys(snapshot.spec.endpoint)


def begin(run: opening.OpenRun, old: str, new: str) -> None:
    """Open the section with `new` as the text of the particle that holds `old`, ready to score."""
    view = opening.fresh(run).view
    slots = [slot for slot, state in enumerate(view.population) if view.texts[state.hypothesis] == old]
    if slots:
        st.session_state[FOLD] = True
        st.session_state[_key(run, f"particle.{view.last_step}")] = slots[0]
        st.session_state[_text_key(run, slots[0], view)] = new
        st.session_state[_key(run, "begun")] = "pressed"


def draw_begun(run: opening.OpenRun) -> None:
    key = _key(run, "begun")
    if st.session_state.get(key) == "pressed":
        st.session_state[key] = "open"
        st.rerun()  # the section is outside the fragment of the button
    if st.session_state.get(key):
        blocks.draw(markup.saying("The shorter wording is ready to score and keep:", link=(TITLE, PLACE)))


def _key(run: opening.OpenRun, what: str) -> str:
    return f"rewording.{what}.{run.directory.id}"


def _text_key(run: opening.OpenRun, slot: int, view: RunView) -> str:
    return _key(run, f"text.{slot}.{view.population[slot].hypothesis}")


def form(run: opening.OpenRun) -> None:
    snapshot, job = opening.fresh(run), job_of(run, JOB)
    if job and job.is_running:
        follow(job, "rewording.stop", stop="Stop")
        return
    slot = choose(run, snapshot)
    text = write(run, snapshot, slot)
    failure = ""
    try:
        wording = rewording(snapshot.view, snapshot.spec.config, slot, text)
    except VppError as error:
        wording, failure = None, str(error)
    allowed = consent(run, JOB)
    left, right = st.columns([1, 2], vertical_alignment="center")
    right.html(markup.block(markup.caption(about(snapshot))))
    if left.button(label(run, snapshot, wording), key="rewording.score", type="primary", disabled=not allowed):
        if wording is None:
            blocks.failed("This wording cannot be scored", failure)
            return
        with opening.refusals("This wording cannot be scored"):
            st.session_state[_key(run, "scored")] = wording
            st.session_state.pop(_key(run, "begun"), None)
            ask_beside(run, JOB, asking_of(run.reader, wording, snapshot.view))
            st.rerun()
    compared(run, snapshot)


def choose(run: opening.OpenRun, snapshot: Snapshot) -> int:
    view, seed_text = snapshot.view, _seed(snapshot)
    held = grouped((state.hypothesis, slot) for slot, state in enumerate(view.population))
    weights = {hypothesis: sum(view.weights[slot] for slot in slots) for hypothesis, slots in held.items()}
    names = {}
    for hypothesis in sorted(held, key=lambda each: -weights[each]):
        weight = [short_weight(weights[hypothesis])] if snapshot.spec.config.is_weighted else []
        words = cut(one_line(without_seed(view.texts[hypothesis], seed_text)), LONGEST)
        names[held[hypothesis][0]] = " · ".join((*weight, particles(held[hypothesis]), words))
    key = _key(run, f"particle.{view.last_step}")
    chosen: int = st.selectbox(
        "Text to reword", list(names), format_func=lambda slot: names[slot], **blocks.lasting(key)
    )
    return chosen


def write(run: opening.OpenRun, snapshot: Snapshot, slot: int) -> str:
    hypothesis, seed_text = snapshot.view.population[slot].hypothesis, _seed(snapshot)
    key = _text_key(run, slot, snapshot.view)
    begins = without_seed(snapshot.view.texts[hypothesis], seed_text)
    return str(st.text_area(f"New text of particle {slot}", height="content", **blocks.begun(key, begins)))


def label(run: opening.OpenRun, snapshot: Snapshot, wording: Rewording | None) -> str:
    rows = len(set(last_rows(snapshot.view)))
    questions = asking_of(run.reader, wording, snapshot.view).total if wording else rows
    return button_words(rows, snapshot.spec.config.learner_samples * questions)


def about(snapshot: Snapshot) -> str:
    spec, rows = snapshot.spec, rows_name(snapshot.view, snapshot.spec.config)
    where = "the demo model" if spec.endpoint.is_demo else spec.endpoint.model
    cached = "; cached answers cost nothing" if spec.endpoint.cache and not spec.endpoint.demo else ""
    return f"By {where}, on the {rows} that scored the particle last{cached}. The run stays as it is."


def compared(run: opening.OpenRun, snapshot: Snapshot) -> None:
    job, wording = job_of(run, JOB), st.session_state.get(_key(run, "scored"))
    if job is None or wording is None:
        return
    dataset, config, answers = run.reader.dataset(), snapshot.spec.config, job.asking.whole()
    if answers.texts != (wording.old, wording.new):  # a cap refused the last question
        return
    result = comparison_of(wording, answers, dataset, config)
    if job.outcome == "failed":
        blocks.failed("The wording could not be scored", job.failure)
    elif result is None:
        blocks.draw(markup.state("Stopped", "Not every row was answered. Score it again to go on."))
    else:
        rows = rows_name(snapshot.view, config)
        html = comparison_html(wording, result, dataset, rows=rows, seed_text=_seed(snapshot))
        blocks.draw(html, label="both texts on the same rows")
        keep(run, snapshot, wording)


def keep(run: opening.OpenRun, snapshot: Snapshot, wording: Rewording) -> None:
    dataset = run.reader.dataset()
    try:
        prepared = reworded_run(snapshot.spec, dataset, snapshot.view, wording, run=run.directory.id)
    except VppError as error:
        blocks.captions(f"It cannot be kept: {error}.")
        return
    given = len(prepared.spec.start)
    whole = plan(prepared.spec.config, **dataset.sizes, given=given)
    left, right = st.columns([1.4, 1], gap="large")
    right.html(markup.block(plan_html(whole)))
    left.html(markup.block(f"<p>{markup.text(keeping_words(prepared, wording.old))}</p>"))
    if left.button("Keep as a new run", key="rewording.keep"):
        st.session_state[_key(run, "next")] = prepared
        st.rerun()


def _seed(snapshot: Snapshot) -> str:
    return snapshot.view.started.seed_text if snapshot.view.started else ""
