"""The trial of a run's ideas: does the learner follow them, and what is each clause worth."""

import streamlit as st

from pages.parts import blocks, opening, person
from pages.parts.asking import ask_beside, consent, follow, is_running, job_of, served_words
from vpp.drawing import trying
from vpp.errors import VppError
from vpp.trials.asking import TrialAsking
from vpp.trials.record import read_trial
from vpp.wording import markup
from vpp.wording.words import counted

JOB = "trial"
ABOUT = (
    "Cells are changed so that a sentence’s answer must change, or must stay: does the learner follow it? Then each "
    "clause is left out, and so is every rule: what is lost?"
)
LATER = "The ideas can be put on trial once the run has ended or is paused."


def draw(run: opening.OpenRun) -> None:
    """Draw the section, outside any fragment that has a timer."""
    blocks.draw(markup.heading("Put it on trial", "does the learner follow the sentences, and what are they worth"))
    with st.container():
        blocks.refreshed(lambda: section(run), is_live=lambda: is_running(run, JOB), every_s=1.0)


def section(run: opening.OpenRun) -> None:
    """Draw the result, or the cost and the button, or the progress."""
    job, snapshot = job_of(run, JOB), opening.fresh(run)
    if job and job.is_running:
        follow(job, "posterior.trial.stop", stop="Stop")
        return
    if found := read_trial(run.directory, snapshot.view):
        seed_text = snapshot.view.started.seed_text if snapshot.view.started else ""
        blocks.draw(markup.saying(trying.verdict(found)), trying.trial_html(found, seed_text), label="the trial")
        return
    blocks.captions(ABOUT)
    if snapshot.state in opening.LIVE and snapshot.state != "paused":
        blocks.captions(LATER)
        return
    if job and job.outcome == "failed":
        blocks.failed("The trial could not be held", job.failure)
        if not run.snapshot.spec.endpoint.is_demo:
            person.ask_keys(run.snapshot.spec.endpoint)
    elif job and job.outcome == "stopped":
        is_cached = run.snapshot.spec.endpoint.cache
        blocks.captions(f"Stopped: {'the answers so far are in the cache' if is_cached else 'nothing is kept'}.")
    try:
        asking = TrialAsking(run.reader, view=snapshot.view)
    except VppError as error:
        blocks.captions(str(error))
        return
    allowed = consent(run, JOB)
    left, right = st.columns([1, 3], vertical_alignment="center")
    right.html(markup.block(markup.caption(f"{counted(asking.calls, 'call')} {served_words(run, asking.calls)}.")))
    if left.button("Put the ideas on trial", key="posterior.trial", width="stretch", disabled=not allowed):
        with opening.refusals("The trial cannot be held"):
            ask_beside(run, JOB, asking)
            st.rerun()
