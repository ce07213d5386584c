"""Jobs beside a run, offered with their cost: prompted baselines on Compare, the trial of its ideas on Posterior."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.parts import blocks, opening, person, pieces, rewording
from pages.parts.asking import ask_beside, consent, follow, is_running, job_of, served_words
from vpp.drawing import trying
from vpp.errors import VppError
from vpp.inspection.baselines import has_prompted
from vpp.runs.prompted import Asked, PromptedAsking
from vpp.trials.counterfactuals import clauses
from vpp.trials.trial import Trial, TrialAsking, read_trial
from vpp.wording import markup
from vpp.wording.words import counted

BASELINES = "baselines"
BASELINES_TITLE = "Prompted baselines"
ABOUT_BASELINES = (
    "They show what the rules add to the model itself: it answers the test rows without a rule, with training rows as "
    "examples, and with several draws of examples that vote, at as many calls as the run’s."
)
BASELINES_LATER = "They can be asked once the run has ended, since its calls are counted then."
MOST_OFFERED = 3
"""Most clauses that get a button."""
TRIAL = "trial"
ABOUT_TRIAL = (
    "The trial changes cells so that an idea’s answer must change, or must stay, and asks the learner. It then "
    "leaves out each clause, and the rule, and scores the loss."
)
TRIAL_LATER = "The ideas can be put on trial once the run has ended or is paused."


def offer(run: opening.OpenRun, what: str, make: Callable[[], Any], *, button: str, key: str, refused: str) -> None:
    """Draw what became of the last job, the cost of a new one, and its button.

    make: the job, which names its `calls`; it may raise VppError. refused: the title of a failure.
    """
    job, endpoint = job_of(run, what), run.snapshot.spec.endpoint
    if job and job.outcome == "failed":
        blocks.failed(refused, job.failure)
    elif job and job.outcome == "stopped":
        kept = "the answers so far are in the cache, so asking again takes less"
        blocks.captions(f"Stopped: {kept if endpoint.cache else 'nothing is kept'}.")
    try:
        asking = make()
    except VppError as error:
        blocks.captions(str(error))
        return
    allowed = consent(run, what)
    left, right = st.columns([1, 3], vertical_alignment="center")
    right.html(markup.block(markup.caption(f"{counted(asking.calls, 'call')} {served_words(run, asking.calls)}.")))
    if left.button(button, key=key, width="stretch", disabled=not allowed):
        with opening.refusals(refused):
            ask_beside(run, what, asking)
            st.rerun()
    if job and job.outcome == "failed" and not endpoint.is_demo:
        person.ask_keys(endpoint)


def draw_baselines(run: opening.OpenRun, letter: str) -> None:
    """Draw the section, outside any fragment that has a timer; nothing where the results are known.

    letter: of the run on the page.
    """
    snapshot, job = opening.fresh(run), job_of(run, BASELINES)
    is_known = has_prompted(run.directory, run.reader.dataset())
    if snapshot.spec.dataset["n_test"] == 0 or (is_known and not (job and job.is_running)):
        return
    blocks.draw(markup.group(f"{BASELINES_TITLE} of {letter}"), markup.caption(ABOUT_BASELINES))
    if snapshot.state in opening.LIVE:
        blocks.captions(BASELINES_LATER)
        return
    with st.container():
        blocks.refreshed(lambda: baselines(run), is_live=lambda: is_running(run, BASELINES), every_s=1.0)


def baselines(run: opening.OpenRun) -> None:
    job = job_of(run, BASELINES)
    if job and job.is_running:
        follow(job, "compare.baselines.stop", stop="Stop")
        return
    offer(
        run,
        BASELINES,
        lambda: PromptedAsking(run.directory, Asked(), view=opening.fresh(run).view),
        button="Ask the baselines",
        key="compare.baselines",
        refused="The baselines could not be asked",
    )


def offer_shorter(run: opening.OpenRun, found: Trial, seed_text: str) -> None:
    """Offer a button for each clause that hurts: it fills the sentence without the clause into Try another wording."""
    hurting = [(place, idea, each) for place, idea in enumerate(found.ideas, 1) for each in trying.hurting(idea)]
    for place, idea, clause in hurting[:MOST_OFFERED]:
        left, right = st.columns([2, 1], vertical_alignment="center")
        left.html(markup.block(markup.caption(trying.hurting_words(place, clause))))
        whole = clauses(trying.sentence_of(idea, seed_text))
        shorter = next((each.without for each in whole if each.start == clause.start), "")
        right.button(
            "Try without this clause", key=f"posterior.trial.without.{place}.{clause.start}", width="stretch",
            on_click=rewording.begin, args=(run, idea.text, shorter), disabled=not shorter,
        )  # fmt: skip
    rewording.draw_begun(run)


def draw_trial(run: opening.OpenRun) -> None:
    blocks.draw(markup.heading("Put it on trial", "does the learner follow the sentences, and what are they worth"))
    with st.container():
        blocks.refreshed(lambda: trial(run), is_live=lambda: is_running(run, TRIAL), every_s=1.0)


def trial(run: opening.OpenRun) -> None:
    job, snapshot = job_of(run, TRIAL), opening.fresh(run)
    if job and job.is_running:
        follow(job, "posterior.trial.stop", stop="Stop")
        return
    if found := read_trial(run.directory, snapshot.view):
        seed_text = snapshot.view.started.seed_text if snapshot.view.started else ""
        blocks.draw(markup.saying(trying.verdict(found)), trying.trial_html(found, seed_text), label="the trial")
        offer_shorter(run, found, seed_text)
        return
    blocks.captions(ABOUT_TRIAL)
    if snapshot.state in opening.LIVE and snapshot.state != "paused":
        blocks.captions(TRIAL_LATER)
        return
    offer(
        run,
        TRIAL,
        lambda: pieces.remembered(
            f"trial.{run.directory.id}", (snapshot.view.last_at,), lambda: TrialAsking(run.reader, view=snapshot.view)
        ),
        button="Put the ideas on trial",
        key="posterior.trial",
        refused="The trial could not be held",
    )
