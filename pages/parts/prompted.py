"""Prompted baselines of a run: its learner asked without a rule, and with examples instead."""

import streamlit as st

from pages.parts import blocks, opening, person
from pages.parts.asking import ask_beside, consent, follow, is_running, job_of, served_words
from vpp.errors import VppError
from vpp.inspection.baselines import has_prompted
from vpp.runs.prompted import Asked, PromptedAsking
from vpp.wording import markup
from vpp.wording.words import counted

JOB = "baselines"
TITLE = "Prompted baselines"
ABOUT = (
    "They show what the rules add to the model itself: it answers the test rows without a rule, with training rows as "
    "examples, and with several draws of examples that vote, at as many calls as the run’s."
)
LATER = "They can be asked once the run has ended, since its calls are counted then."


def draw(run: opening.OpenRun, letter: str) -> None:
    """Draw the section, outside any fragment that has a timer; nothing where the results are known.

    letter: of the run on the page.
    """
    snapshot, job = opening.fresh(run), job_of(run, JOB)
    is_known = has_prompted(run.directory, run.reader.dataset())
    if snapshot.spec.dataset["n_test"] == 0 or (is_known and not (job and job.is_running)):
        return
    blocks.draw(markup.group(f"{TITLE} of {letter}"), markup.caption(ABOUT))
    if snapshot.state in opening.LIVE:
        blocks.captions(LATER)
        return
    with st.container():
        blocks.refreshed(lambda: section(run), is_live=lambda: is_running(run, JOB), every_s=1.0)


def section(run: opening.OpenRun) -> None:
    """Draw the cost and the button, or the progress; after a failure the reason above them."""
    job = job_of(run, JOB)
    if job and job.is_running:
        follow(job, "compare.baselines.stop", stop="Stop")
        return
    if job and job.outcome == "failed":
        blocks.failed("The baselines could not be asked", job.failure)
    elif job and job.outcome == "stopped":
        is_cached = run.snapshot.spec.endpoint.cache
        kept = "the answers so far are in the cache, so asking again takes less" if is_cached else "nothing is kept"
        blocks.captions(f"Stopped: {kept}.")
    try:
        asking = PromptedAsking(run.directory, Asked(), view=opening.fresh(run).view)
    except VppError as error:
        blocks.captions(str(error))
        return
    allowed = consent(run, JOB)
    left, right = st.columns([1, 3], vertical_alignment="center")
    right.html(markup.block(markup.caption(f"{counted(asking.calls, 'call')} {served_words(run, asking.calls)}.")))
    if left.button("Ask the baselines", key="compare.baselines", width="stretch", disabled=not allowed):
        with opening.refusals("The baselines cannot be asked"):
            ask_beside(run, JOB, asking)
            st.rerun()
    if job and job.outcome == "failed" and not run.snapshot.spec.endpoint.is_demo:
        person.ask_keys(run.snapshot.spec.endpoint)
