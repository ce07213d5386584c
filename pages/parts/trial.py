"""The trial of a run's ideas: does the learner follow them, and what is each clause worth."""

import streamlit as st

from pages.parts import blocks, opening
from pages.parts.asking import follow, is_running, job_of, offer
from vpp.drawing import trying
from vpp.trials.asking import TrialAsking
from vpp.trials.record import read_trial
from vpp.wording import markup

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
    offer(
        run,
        JOB,
        lambda: TrialAsking(run.reader, view=snapshot.view),
        button="Put the ideas on trial",
        key="posterior.trial",
        refused="The trial could not be held",
    )
