"""Jobs beside a run, offered with their cost: another wording, and the trial of its hypotheses."""

import streamlit as st

from pages.parts import blocks, opening, pieces
from pages.parts.job import Job, describe_next, model_words, served_words
from vpp.errors import RunError, VppError
from vpp.findings.experiments import comparison_blocks, keeping_words, read_trial, rows_name, trial_blocks
from vpp.findings.scores import grouped
from vpp.runs.asking import Rewording, asking_of, comparison_of, last_rows, reworded_run, rewording
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView
from vpp.show import markup
from vpp.show.blocks import Heading
from vpp.show.markup import one_line
from vpp.show.words import counted, cut, percent
from vpp.trials.trial import TrialAsking

TRIAL, REFUSED = "trial", "The test could not be run"
ABOUT_TRIAL = (
    "It changes cells so that a hypothesis’s answer must change, or must stay, and asks the model. Then it leaves out "
    "each clause, and the whole rule, and scores what is lost."
)


def draw_trial(run: opening.OpenRun) -> None:
    blocks.draw(Heading("Does the model obey the rule?", "changed rows, and what each clause is worth"))
    Job(run, TRIAL).draw(trial)


def trial(run: opening.OpenRun) -> None:
    snapshot = opening.fresh(run)
    if Job(run, TRIAL).follow(stop="Stop"):
        return
    if last := read_trial(run.directory, snapshot.view):
        blocks.draw(*trial_blocks(last, snapshot.view.seed_text), label="the trial")
    if snapshot.state in opening.LIVE and snapshot.state != "paused":
        blocks.captions(f"{ABOUT_TRIAL} This takes a run that has ended or is paused.")
        return
    offer_trial(run, snapshot, is_again=last is not None)


def offer_trial(run: opening.OpenRun, snapshot: Snapshot, *, is_again: bool) -> None:
    """Draw what became of the last trial, the cost of a new one, and its button."""
    job, endpoint = Job(run, TRIAL), snapshot.spec.endpoint
    if job.now and job.has_failed:
        blocks.failed(REFUSED, job.now.failure)
    elif job.now and job.now.outcome == "stopped":
        rest = "the answers so far are in the cache, so asking again takes less"
        blocks.captions(f"Stopped: {rest if endpoint.cache else 'nothing is kept'}.")
    try:
        asking = pieces.remembered(
            f"trial.{run.directory.id}", snapshot.view.last_at, lambda: TrialAsking(run.reader, view=snapshot.view)
        )
    except VppError as error:
        blocks.captions(str(error))
        return
    allowed = job.consent()
    left, right = st.columns([1, 3], vertical_alignment="center")
    cost = f"{counted(asking.calls, 'call')} {served_words(run, asking.calls)}."
    right.html(markup.block(markup.caption(cost if is_again else f"{ABOUT_TRIAL} {cost}")))
    label = "Test again" if is_again else "Test the hypotheses"
    if left.button(label, key="posterior.trial", width="stretch", disabled=not allowed):
        with opening.refusals(REFUSED):
            job.begin(asking)
            st.rerun()
    job.ask_key()


# Another wording: a person's text beside a hypothesis on the same rows, and a new run with it if they say so

REWORDING, TITLE = "reword", "Try another wording"
FOLD = "rewording.fold"
LONGEST = 110
"""Characters of a hypothesis in the list."""


def draw_rewording(run: opening.OpenRun, *, has_key_field: bool) -> None:
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
        if fold.open:
            job = Job(run, REWORDING)
            job.draw(form)
            if not has_key_field:
                job.ask_key()


def _key(run: opening.OpenRun, what: str) -> str:
    return f"rewording.{what}.{run.directory.id}"


def _text_key(run: opening.OpenRun, slot: int, view: RunView) -> str:
    return _key(run, f"text.{slot}.{view.population[slot].hypothesis}")


def form(run: opening.OpenRun) -> None:
    job = Job(run, REWORDING)
    if job.follow(stop="Stop"):
        return
    snapshot = opening.fresh(run)
    view, config, endpoint = snapshot.view, snapshot.spec.config, snapshot.spec.endpoint
    slot = choose(run, snapshot)
    old = sentence(view, view.population[slot].hypothesis)
    begins = blocks.begun(_text_key(run, slot, view), old)
    text = str(st.text_area("Your text", height="content", **begins))
    failure = ""
    try:
        wording = rewording(view, config, slot, text)
    except VppError as error:
        wording, failure = None, str(error)
    allowed = job.consent()
    left, right = st.columns([1, 2], vertical_alignment="center")
    cached = "; cached answers cost nothing" if endpoint.cache and not endpoint.demo else ""
    rows = f"the {rows_name(view, config)} that scored it last"
    right.html(markup.block(markup.caption(f"By {model_words(run)}, on {rows}{cached}. The run stays as it is.")))
    questions = len(set(last_rows(view)))
    asking = asking_of(run.reader, wording, view) if wording else None
    calls = config.learner_samples * (asking.total if asking else questions)
    label = f"Score it on {counted(questions, 'row')}: {counted(calls, 'call') if calls else 'no call'}"
    if left.button(label, key="rewording.score", type="primary", disabled=not allowed):
        if asking is None:
            blocks.failed("This wording cannot be scored", failure)
            return
        with opening.refusals("This wording cannot be scored"):
            st.session_state[_key(run, "scored")] = wording
            job.begin(asking)
            st.rerun()
    compared(run, snapshot)


def choose(run: opening.OpenRun, snapshot: Snapshot) -> int:
    view, is_weighted = snapshot.view, snapshot.spec.config.is_weighted
    slots = grouped((state.hypothesis, slot) for slot, state in enumerate(view.population))
    weights = {hypothesis: sum(view.weights[slot] for slot in each) for hypothesis, each in slots.items()}
    names = {}
    for hypothesis in sorted(slots, key=lambda each: -weights[each]):
        weight = f"{percent(weights[hypothesis])} · " if is_weighted else ""
        names[slots[hypothesis][0]] = weight + cut(one_line(sentence(view, hypothesis)), LONGEST)
    keep = blocks.lasting(_key(run, f"particle.{view.last_step}"))
    return int(st.selectbox("Hypothesis", list(names), format_func=names.__getitem__, **keep))


def sentence(view: RunView, hypothesis: str) -> str:
    return view.texts[hypothesis].removeprefix(view.seed_text).strip() or view.texts[hypothesis]


def compared(run: opening.OpenRun, snapshot: Snapshot) -> None:
    job, wording = Job(run, REWORDING).now, st.session_state.get(_key(run, "scored"))
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
        parts = comparison_blocks(wording, result, rows=rows, seed_text=snapshot.view.seed_text)
        blocks.draw(*parts, label="both texts on the same rows")
        keep(run, snapshot, wording)


def keep(run: opening.OpenRun, snapshot: Snapshot, wording: Rewording) -> None:
    try:
        prepared = reworded_run(snapshot.spec, run.reader.dataset(), snapshot.view, wording, run=run.directory.id)
    except VppError as error:
        blocks.captions(f"It cannot be kept: {error}.")
        return
    if describe_next(prepared, keeping_words(prepared, wording.old)).button("Keep as a new run", key="rewording.keep"):
        st.session_state[_key(run, "next")] = prepared
        st.rerun()
