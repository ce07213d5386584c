"""Rows whose true labels would tell most, and a new run that goes on with those labels."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import streamlit as st

from pages.parts import blocks, opening
from pages.parts.asking import Job, calls_of, model_words
from pages.parts.opening import OpenRun
from vpp.data.dataset import Row
from vpp.data.labelling import Key, input_key
from vpp.findings.asking import LITTLE, columns_of, going_on_words, labels_words, pool_words, question_row
from vpp.findings.points import Point, questions
from vpp.findings.progress import nothing_yet
from vpp.reporting.predictions import sheet_rows
from vpp.runs.asking import Answers
from vpp.runs.preparation import continue_run
from vpp.show import markup
from vpp.show.blocks import Heading, Note, Say
from vpp.show.markup import html
from vpp.show.words import counted, value_text

AT_ONCE, USUAL, MOST = 8, 24, 200  # rows listed unasked; rows asked about by default, and at most


def draw(run: OpenRun) -> None:
    # Here, since a page that is switched to from within a fragment may come up empty.
    if prepared := st.session_state.pop(_key(run, "next"), None):
        opening.start_new(prepared)
    snapshot = run.now()
    if snapshot.view.n_unique == 1:
        return  # no row can divide one hypothesis
    blocks.draw(Heading("Most informative labels to collect", "rows by expected information gain"))
    if not snapshot.view.population:
        blocks.draw(markup.state("No hypotheses yet", nothing_yet(snapshot.state)))
        return
    Job(run, "settle").draw(section)


def section(job: Job) -> None:
    run = job.run
    if not job.follow():
        ask(run, job)
    if job.now and not job.is_running:
        if job.has_failed:
            blocks.failed("The hypotheses could not be asked", job.now.failure)
            job.ask_key()
        if job.now.asking.complete_rows().rows:
            list_questions(run, job.now.asking.complete_rows())
    if answers_of(run):
        go_on(run)


def _key(run: OpenRun, what: str) -> str:
    return f"disagreement.settle.{what}.{run.id}"


def ask(run: OpenRun, job: Job) -> None:
    """Draw from the table's rows that the run does not use; from made-up ones only if the person asks for them."""
    dataset = run.reader.dataset()
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    n = int(left.number_input("Rows to ask about", 1, MOST, USUAL, **blocks.lasting(_key(run, "n"))))
    made_up = right.toggle("Made-up rows too", **blocks.lasting(_key(run, "made_up")))
    # Each time draws other rows.
    draws = int(st.session_state.get(_key(run, "draw"), 0))
    rows = sheet_rows(run.reader, n=n, made_up=made_up, draw=draws)
    own = {row.id for row in (*dataset.unlabelled, *dataset.unused)}
    n_own = sum(row.id in own for row in rows)
    words = pool_words(dataset, n_found=n_own, n_made_up=len(rows) - n_own, made_up=made_up)
    blocks.draw(Note(words))
    if not rows:
        return
    allowed, calls = job.consent(), calls_of(run, len(rows))
    words = f"Ask about {counted(len(rows), 'row')}: {counted(calls, 'call')}"
    if st.button(words, key="disagreement.settle.ask", disabled=not allowed, help=f"to {model_words(run)}"):
        st.session_state[_key(run, "draw")] = draws + 1
        job.ask_rows(rows)
        st.rerun()


def list_questions(run: OpenRun, answers: Answers) -> None:
    view, config, dataset = run.now().view, run.snapshot.spec.config, run.reader.dataset()
    every, columns = blocks.remembered(
        _key(run, "made"),
        (answers, view.last_at),
        lambda: (questions(answers, view, config, dataset), columns_of(view, dataset)),
    )
    notes = []
    if answers.texts != tuple(view.texts[state.hypothesis] for state in view.population):
        notes.append(Note("The run has gone on since these rows were asked about."))
    blocks.draw(Say(labels_words(every)), *notes)
    telling = [question for question in every if question.bits >= LITTLE][:AT_ONCE]
    everything = len(every) > len(telling) and st.toggle(f"Show all {len(every)}", key=_key(run, "all"))
    own = {row.id: row for row in (*dataset.unlabelled, *dataset.unused)}
    for number, question in enumerate(every if everything else telling, 1):
        row = own.get(question.row.id)
        name = f"row {question.row.id}" if row else f"made-up row {number}"
        left, right = st.columns([4, 1], vertical_alignment="center")
        left.html(markup.block(html(question_row(question, columns, dataset, name))))
        with right.container(key=f"settle_truth_{number}"):
            note_answer(run, question, name, dataset.classes, row=row)


def note_answer(run: OpenRun, question: Point, name: str, labels: Sequence[str], *, row: Row | None) -> None:
    """Draw the field of a true label. row: that of the table, whose own label is taken by a press."""
    place = input_key(question.row)
    if row is not None and row.target is not None:
        own = value_text(row.target)
        field = {**blocks.lasting(_field_key(run, place)), "help": "The label in your table"}
        truth = own if st.checkbox(f"Use {own}", **field) else ""
    else:
        field = {**blocks.lasting(_field_key(run, place)), "placeholder": "not known", "label_visibility": "collapsed"}
        label = f"True answer, {name}"
        truth = (st.selectbox(label, labels, None, **field) or "") if labels else st.text_input(label, **field).strip()
    if truth:
        answers_of(run)[place] = replace(question.row, target=truth)
    else:
        answers_of(run).pop(place, None)


def answers_of(run: OpenRun) -> dict[Key, Row]:
    answers: dict[Key, Row] = st.session_state.setdefault(_key(run, "answered"), {})
    return answers


def _field_key(run: OpenRun, place: Key) -> str:
    # A SHA-256, since Python's hashes of -1 and -2 are equal.
    return _key(run, f"truth.{sha256(repr(place).encode()).hexdigest()}")


def go_on(run: OpenRun) -> None:
    answers = list(answers_of(run).values())
    blocks.draw(markup.group(f"Go on with {counted(len(answers), 'true answer')}"))
    with opening.refusals("These answers cannot be used"):
        prepared = continue_run(run.directory, answers)
        blocks.captions(going_on_words(prepared, n_added=len(answers)))
        label, key = "Continue with these rows as a new run", "disagreement.settle.continue"
        if st.button(label, type="primary", key=key):
            answers_of(run).clear()
            st.session_state[_key(run, "next")] = prepared
            st.rerun()
