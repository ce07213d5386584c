"""Inputs whose true labels would tell most, and a new run that goes on with those labels."""

from collections.abc import Sequence
from hashlib import sha256

import streamlit as st

from pages.parts import blocks, opening, person, pieces
from pages.parts.asking import begin, consent, follow, job_of, refreshed
from pages.parts.beside import describe_next
from vpp.data.dataset import Row
from vpp.data.labelling import Answered, Key, Source, candidate_rows, input_key
from vpp.data.table import Table
from vpp.drawing import answering
from vpp.findings.points import (
    Point,
    Question,
    calls_to_ask,
    contenders,
    most_bits,
    points,
    question_of,
    questions,
    reject_option,
    tau_of,
)
from vpp.findings.progress import nothing_yet
from vpp.reporting.predictions import filled_rows, sheet_csv
from vpp.runs.asking import Answers
from vpp.runs.preparation import continuation
from vpp.show import markup
from vpp.show.words import counted
from vpp.trials.trial import parting_rows, read_trial

JOB = "settle"
AT_ONCE, USUAL, MOST = 8, 24, 200
"""Inputs listed unasked; inputs asked about by default, and at most."""
LIKE, OF_FILE, MADE_UP = "Inputs like this row", "Rows without a target", "Made-up inputs"
OF_TRIAL = "Rows of the trial"


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
        blocks.captions("There is one hypothesis: no input can divide it, so no answer would settle anything.")
    else:
        refreshed(run, JOB, section)


def section(run: opening.OpenRun) -> None:
    if point := test_point(run):
        view, config, dataset = opening.fresh(run).view, run.snapshot.spec.config, run.reader.dataset()
        html = answering.question_html(
            question_of(point, view, config, dataset), (), dataset,
            name=f"row {point.row.id}", seed_text="", is_weighted=config.is_weighted,
        )  # fmt: skip
        blocks.draw(html, markup.caption(answering.test_row_words(point.row.id)))
    ask(run)
    job = job_of(run, JOB)
    if job and not job.is_running:
        if job.outcome == "failed":
            blocks.failed("The particles could not be asked", job.failure)
            if not run.snapshot.spec.endpoint.is_demo:
                person.ask_keys(run.snapshot.spec.endpoint)
        if job.asking.whole().rows:
            list_questions(run, job.asking.whole())
    take_sheet(run)
    if answers_of(run):
        go_on(run)


def _key(run: opening.OpenRun, what: str) -> str:
    return f"disagreement.settle.{what}.{run.directory.id}"


def test_point(run: opening.OpenRun) -> Point | None:
    """Return the test row that was chosen above."""
    row, view, dataset = st.session_state.get(_key(run, "row")), opening.fresh(run).view, run.reader.dataset()
    test = view.evaluated.get("test")
    if row is None or test is None:
        return None
    every = points(test, dataset, reject_option(view, run.snapshot.spec.config, dataset, of=test))
    return next((point for point in every if point.row.id == row), None)


def ask(run: opening.OpenRun) -> None:
    if follow(run, JOB, "disagreement.settle.stop"):
        return
    # Each time draws other inputs.
    draws = int(st.session_state.get(_key(run, "draw"), 0))
    rows = choose(run, draws)
    if not rows:
        return
    job, allowed, config = job_of(run, JOB), consent(run, JOB), run.snapshot.spec.config
    calls = calls_to_ask(opening.fresh(run).view, config, n_rows=len(rows))
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
    point = test_point(run)
    parting = parting_rows(read_trial(run.directory, opening.fresh(run).view), dataset, n)
    kinds = [*([LIKE] if point else []), *([OF_FILE] if dataset.unlabelled else []), MADE_UP]
    kinds += [OF_TRIAL] if parting else []
    kind: str | None = kinds[0]
    if len(kinds) > 1:
        kind = right.segmented_control("Which", kinds, **blocks.begun(_key(run, "source"), kinds[0]), required=True)
    if kind == OF_TRIAL:
        blocks.captions(answering.parting_words(len(parting)))
        return parting
    source: Source = "unlabelled" if kind == OF_FILE else "made up"
    like = point.row if point and kind == LIKE else None
    rows = candidate_rows(dataset, source=source, n=n, seed=config.seed, draw=draws, like=like)
    words = answering.source_words(source, n=len(rows), n_kept=len(dataset.unlabelled), wanted=n)
    blocks.captions(answering.like_words(like.id, n=len(rows)) if like else words)
    return rows


def list_questions(run: opening.OpenRun, answers: Answers) -> None:
    view, config, dataset = opening.fresh(run).view, run.snapshot.spec.config, run.reader.dataset()
    every, rivals = pieces.remembered(
        _key(run, "made"),
        (answers, view.last_at),
        lambda: (questions(answers, view, config, dataset), contenders(answers, view, dataset)),
    )
    summary = answering.finding(every, ceiling=most_bits(rivals, dataset))
    tau = tau_of(view, config, dataset)
    notes = [answering.INDICATIVE, *([answering.reach_words(tau)] if tau is not None else [])]
    if answers.texts != tuple(view.texts[state.hypothesis] for state in view.population):
        notes.append(f"Asked of the particles after step {answers.step}; the run has gone on since.")
    blocks.draw(markup.saying(summary), *map(markup.caption, notes))
    telling = [question for question in every if question.bits >= answering.LITTLE][:AT_ONCE]
    everything = len(every) > len(telling) and st.toggle(f"Show all {len(every)}", key=_key(run, "all"))
    of_file = {row.id for row in dataset.unlabelled}
    for number, question in enumerate(every if everything else telling, 1):
        name = f"row {question.row.id}" if question.row.id in of_file else f"input {number}"
        left, right = st.columns([4, 1], vertical_alignment="top")
        html = answering.question_html(
            question, rivals, dataset, name=name, seed_text=view.seed_text, is_weighted=config.is_weighted
        )
        left.html(markup.block(html))
        with right.container(key=f"settle_truth_{number}"):
            note_answer(run, question, name, dataset.classes)
    st.download_button(
        "Labelling sheet (CSV)", lambda: sheet_csv(every, dataset), file_name=f"{run.directory.id}-sheet.csv",
        mime="text/csv", key="disagreement.settle.sheet", on_click="ignore",
    )  # fmt: skip


def take_sheet(run: opening.OpenRun) -> None:
    """Take a filled sheet: its answers are noted once, so that a field may correct them."""
    key = _key(run, "filled")
    file = st.file_uploader("A filled labelling sheet", type=None, key=f"{key}.{st.session_state.get(key, 0)}")
    if file is None:
        return
    content = file.getvalue()
    with opening.refusals("This sheet cannot be used"):
        answers = filled_rows(Table.read(content, name=file.name), run.reader.dataset())
        if st.session_state.get(_key(run, "taken")) != (digest := sha256(content).hexdigest()):
            st.session_state[_key(run, "taken")] = digest
            rows = (Row(id=0, inputs=tuple(each.inputs.items()), target=None) for each in answers)
            answers_of(run).update(zip(map(input_key, rows), answers, strict=True))
        blocks.captions(f"{counted(len(answers), 'true answer')} read from {file.name}.")


def answers_of(run: opening.OpenRun) -> dict[Key, Answered]:
    answers: dict[Key, Answered] = st.session_state.setdefault(_key(run, "answered"), {})
    return answers


def note_answer(run: opening.OpenRun, question: Question, name: str, labels: Sequence[str]) -> None:
    place = input_key(question.row)
    label, field = f"True answer, {name}", {**blocks.lasting(_field_key(run, place)), "placeholder": "not known"}
    truth = st.selectbox(label, labels, None, **field) if labels else st.text_input(label, **field).strip()
    if truth:
        answers_of(run)[place] = Answered(inputs=dict(question.row.inputs), target=truth)
    else:
        answers_of(run).pop(place, None)


def _field_key(run: opening.OpenRun, place: Key) -> str:
    # A SHA-256, since Python's hashes of -1 and -2 are equal.
    return _key(run, f"truth.{sha256(repr(place).encode()).hexdigest()}")


def go_on(run: opening.OpenRun) -> None:
    answers, snapshot = list(answers_of(run).values()), opening.fresh(run)
    blocks.draw(markup.group(f"Go on with {counted(len(answers), 'true answer')}"))
    place = None
    with opening.refusals("These answers cannot be used"):
        prepared = continuation(snapshot.spec, run.reader.dataset(), snapshot.view, answers, run=run.directory.id)
        place = describe_next(prepared, answering.going_on_words(prepared, n_added=len(answers)))
        label, key = "Continue with these rows as a new run", "disagreement.settle.continue"
        if place.button(label, type="primary", key=key):
            answers_of(run).clear()
            st.session_state[_key(run, "next")] = prepared
            st.rerun()
    with place or st.container():
        forget(run)


def forget(run: opening.OpenRun) -> None:
    def clear() -> None:
        for place in answers_of(run):
            st.session_state.pop(_field_key(run, place), None)
        answers_of(run).clear()
        key = _key(run, "filled")
        st.session_state[key] = st.session_state.get(key, 0) + 1  # another uploader, which is empty
        st.session_state.pop(_key(run, "taken"), None)

    st.button("Forget these answers", key="disagreement.settle.forget", on_click=clear)
