"""Prompted baselines of a run: its learner asked without a rule, and with examples instead."""

import streamlit as st

from pages.parts import blocks, opening
from pages.parts.asking import follow, is_running, job_of, offer
from vpp.inspection.baselines import has_prompted
from vpp.runs.prompted import Asked, PromptedAsking
from vpp.wording import markup

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
    offer(
        run,
        JOB,
        lambda: PromptedAsking(run.directory, Asked(), view=opening.fresh(run).view),
        button="Ask the baselines",
        key="compare.baselines",
        refused="The baselines could not be asked",
    )
