"""Inputs whose true labels would tell most, and a new run that goes on with those labels."""

from collections.abc import Sequence
from hashlib import sha256

import streamlit as st

from pages.parts import blocks, opening, person, pieces
from pages.parts.asking import begin, consent, follow, is_running, job_of
from vpp.data.dataset import Row
from vpp.data.labelling import Answered, Key, Source, candidate_rows, input_key
from vpp.data.table import Table
from vpp.drawing import answering
from vpp.errors import VppError
from vpp.inference.plan import plan
from vpp.inspection.points import (
    Point,
    Question,
    calibrated,
    calls_to_ask,
    contenders,
    most_bits,
    points,
    question_of,
    questions,
    tau_of,
)
from vpp.inspection.scores import rows_by_id
from vpp.reporting.predictions import filled_rows, sheet_csv
from vpp.runs.asking import Answers
from vpp.runs.preparation import continuation
from vpp.trials.trial import parting_rows, read_trial
from vpp.wording import markup
from vpp.wording.progress import nothing_yet
from vpp.wording.words import counted

JOB = "settle"
SHOWN, USUAL, MOST = 8, 24, 200
"""Inputs listed unasked; inputs asked about by default, and at most."""
LIKE, OF_FILE, MADE_UP = "Inputs like this row", "Rows without a target", "Made-up inputs"
OF_TRIAL = "Rows of the trial"
SOURCES: dict[str, Source] = {LIKE: "made up", OF_FILE: "unlabelled", MADE_UP: "made up"}
ONE = "There is one hypothesis: no input can divide it, so no answer would settle anything."


def choose_row(run: opening.OpenRun, row: int) -> None:
    st.session_state[_key(run, "row")] = row
    st.session_state[_key(run, "source")] = LIKE


def draw(run: opening.OpenRun) -> None:
    # Here, since a page that is switched to from within a fragment may come up empty.
    if prepared := st.session_state.pop(_key(run, "next"), None):
        opening.start_new(prepared)
    blocks.draw(markup.heading("Most informative labels to collect", "inputs by expected information gain"))
    snapshot = opening.fresh(run)
    if not snapshot.view.population:
        blocks.draw(markup.state("No particles yet", nothing_yet(snapshot.state)))
        return
    if snapshot.view.n_unique == 1:
        blocks.captions(ONE)
        return
    with st.container():
        blocks.refreshed(lambda: section(run), is_live=lambda: is_running(run, JOB), every_s=1.0)


def section(run: opening.OpenRun) -> None:
    if point := chosen(run):
        view, config, dataset = opening.fresh(run).view, run.snapshot.spec.config, run.reader.dataset()
        drawn = answering.question_html(
            question_of(point, view, config, dataset), (), dataset,
            name=f"row {point.row.id}", seed_text="", is_weighted=config.is_weighted,
        )  # fmt: skip
        blocks.draw(drawn, markup.caption(answering.test_row_words(point.row.id)))
    ask(run)
    job = job_of(run, JOB)
    if job and not job.is_running:
        asked = job.asking.whole()
        if job.outcome == "failed":
            blocks.failed("The particles could not be asked", job.failure)
            if not run.snapshot.spec.endpoint.is_demo:
                person.ask_keys(run.snapshot.spec.endpoint)
        if asked.rows:
            list_questions(run, asked)
    take_sheet(run)
    if answered_of(run):
        go_on(run)


def _key(run: opening.OpenRun, what: str) -> str:
    return f"disagreement.settle.{what}.{run.directory.id}"


# The test row that was chosen above


def chosen(run: opening.OpenRun) -> Point | None:
    row, test = st.session_state.get(_key(run, "row")), opening.fresh(run).view.evaluated.get("test")
    if row is None or test is None:
        return None
    dataset, view = run.reader.dataset(), opening.fresh(run).view
    every = points(test, rows_by_id(dataset), calibrated(view, dataset, of=test))
    return next((point for point in every if point.row.id == row), None)


# Which inputs, and asking about them


def ask(run: opening.OpenRun) -> None:
    job = job_of(run, JOB)
    if job and job.is_running:
        follow(job, "disagreement.settle.stop")
        return
    # Each time draws other inputs.
    draws = int(st.session_state.get(_key(run, "draw"), 0))
    rows = choose(run, draws)
    if not rows:
        return
    allowed = consent(run, JOB)
    snapshot = opening.fresh(run)
    calls = calls_to_ask(snapshot.view, snapshot.spec.config, n_rows=len(rows))
    words = answering.asking_words(len(rows), calls, again=job is not None and job.asking.rows != rows)
    if st.button(words, key="disagreement.settle.ask", disabled=not allowed):
        st.session_state[_key(run, "draw")] = draws + 1
        begin(run, JOB, rows)
        st.rerun()


def choose(run: opening.OpenRun, draws: int) -> tuple[Row, ...]:
    """Ask for the inputs, and return them. draws: how often this visitor asked for some."""
    dataset, config = run.reader.dataset(), run.snapshot.spec.config
    left, right, _ = st.columns([1, 2, 1], vertical_alignment="bottom")
    n = int(left.number_input("Inputs to ask about", 1, MOST, USUAL, **blocks.lasting(_key(run, "n"))))
    point = chosen(run)
    parting = parting_rows(read_trial(run.directory, opening.fresh(run).view), dataset, n)
    kinds = [*([LIKE] if point else []), *([OF_FILE] if dataset.unlabelled else []), MADE_UP]
    kinds += [OF_TRIAL] if parting else []
    kind: str | None = kinds[0]
    if len(kinds) > 1:
        kind = right.segmented_control("Which", kinds, **blocks.begun(_key(run, "source"), kinds[0]), required=True)
    if kind == OF_TRIAL:
        blocks.captions(answering.parting_words(len(parting)))
        return parting
    source, like = SOURCES[kind or kinds[0]], point.row if point and kind == LIKE else None
    rows = candidate_rows(dataset, source=source, n=n, seed=config.seed, draw=draws, like=like)
    words = answering.source_words(source, n=len(rows), n_kept=len(dataset.unlabelled), wanted=n)
    blocks.captions(answering.like_words(like.id, n=len(rows)) if like else words)
    return rows


# The answers, and the true labels


def list_questions(run: opening.OpenRun, asked: Answers) -> None:
    snapshot, dataset = opening.fresh(run), run.reader.dataset()
    view, config = snapshot.view, snapshot.spec.config
    listed, held = pieces.remembered(
        _key(run, "made"),
        (asked, view.last_at),
        lambda: (questions(asked, view, config, dataset), contenders(asked, view, dataset)),
    )
    seed_text = view.started.seed_text if view.started else ""
    summary = answering.finding(listed, ceiling=most_bits(held, dataset))
    tau = tau_of(view, config)
    notes = [answering.INDICATIVE, *([answering.reach_words(tau)] if tau is not None else [])]
    gone_on = asked.texts != tuple(view.texts[state.hypothesis] for state in view.population)
    notes += [f"Asked of the particles after step {asked.step}; the run has gone on since."] if gone_on else []
    blocks.draw(markup.saying(summary), *map(markup.caption, notes))
    telling = [question for question in listed if question.bits >= answering.LITTLE][:SHOWN]
    everything = len(listed) > len(telling) and st.toggle(f"Show all {len(listed)}", key=_key(run, "all"))
    of_file = {row.id for row in dataset.unlabelled}
    for number, question in enumerate(listed if everything else telling, 1):
        name = f"row {question.row.id}" if question.row.id in of_file else f"input {number}"
        left, right = st.columns([4, 1], vertical_alignment="top")
        drawn = answering.question_html(
            question, held, dataset, name=name, seed_text=seed_text, is_weighted=config.is_weighted
        )
        left.html(markup.block(drawn))
        with right.container(key=f"settle_truth_{number}"):
            note_answer(run, question, name, dataset.classes)
    st.download_button(
        "Labelling sheet (CSV)", lambda: sheet_csv(listed, dataset), file_name=f"{run.directory.id}-sheet.csv",
        mime="text/csv", key="disagreement.settle.sheet", on_click="ignore",
    )  # fmt: skip


def take_sheet(run: opening.OpenRun) -> None:
    """Take a filled sheet: its answers are noted once, so that a field may correct them."""
    key = _key(run, "filled")
    file = st.file_uploader("A filled labelling sheet", type=None, key=f"{key}.{st.session_state.get(key, 0)}")
    if file is None:
        return
    content, dataset = file.getvalue(), run.reader.dataset()
    try:
        answered = filled_rows(Table.read(content, name=file.name), dataset)
    except VppError as error:
        blocks.failed("This sheet cannot be used", str(error))
        return
    if st.session_state.get(_key(run, "taken")) != (digest := sha256(content).hexdigest()):
        st.session_state[_key(run, "taken")] = digest
        rows = (Row(id=0, inputs=tuple(each.inputs.items()), target=None) for each in answered)
        answered_of(run).update(zip(map(input_key, rows), answered, strict=True))
    blocks.captions(f"{counted(len(answered), 'true answer')} read from {file.name}.")


def answered_of(run: opening.OpenRun) -> dict[Key, Answered]:
    answered: dict[Key, Answered] = st.session_state.setdefault(_key(run, "answered"), {})
    return answered


def note_answer(run: opening.OpenRun, question: Question, name: str, labels: Sequence[str]) -> None:
    place = input_key(question.row)
    label, key = f"True answer, {name}", _field_key(run, place)
    given: str | None
    if labels:
        given = st.selectbox(label, labels, index=None, **blocks.lasting(key), placeholder="not known")
    else:
        given = st.text_input(label, **blocks.lasting(key), placeholder="not known").strip()
    if given:
        answered_of(run)[place] = Answered(inputs=dict(question.row.inputs), target=given)
    else:
        answered_of(run).pop(place, None)


def _field_key(run: opening.OpenRun, place: Key) -> str:
    # A SHA-256, since Python's hashes of -1 and -2 are equal.
    return _key(run, f"truth.{sha256(repr(place).encode()).hexdigest()}")


# Going on


def go_on(run: opening.OpenRun) -> None:
    answered, snapshot = list(answered_of(run).values()), opening.fresh(run)
    blocks.draw(markup.group(f"Go on with {counted(len(answered), 'true answer')}"))
    try:
        prepared = continuation(snapshot.spec, run.reader.dataset(), snapshot.view, answered, run=run.directory.id)
    except VppError as error:
        blocks.failed("These answers cannot be used", str(error))
        forget(run)
        return
    data = prepared.dataset
    config, given = prepared.spec.config, len(prepared.spec.start)
    whole = plan(config, **data.sizes, given=given)
    words = answering.going_on_words(prepared, n_added=len(answered))
    left, right = st.columns([1.4, 1], gap="large")
    right.html(markup.block(answering.plan_html(whole)))
    left.html(markup.block(f"<p>{markup.text(words)}</p>"))
    if left.button("Continue with these rows as a new run", type="primary", key="disagreement.settle.continue"):
        answered_of(run).clear()
        st.session_state[_key(run, "next")] = prepared
        st.rerun()
    with left:
        forget(run)


def forget(run: opening.OpenRun) -> None:
    def clear() -> None:
        for place in answered_of(run):
            st.session_state.pop(_field_key(run, place), None)
        answered_of(run).clear()
        key = _key(run, "filled")
        st.session_state[key] = st.session_state.get(key, 0) + 1  # another uploader, which is empty
        st.session_state.pop(_key(run, "taken"), None)

    st.button("Forget these answers", key="disagreement.settle.forget", on_click=clear)
