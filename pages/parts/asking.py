"""Questions to a run's models: about new rows, in a trial, and about rows whose true labels would tell most.

The browser session keeps them while the page is left.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import streamlit as st

from pages.parts import blocks, opening, person
from pages.parts.opening import OpenRun
from vpp.data.dataset import Column, Row
from vpp.data.labelling import Field, Key, input_fields, input_key, typed_row
from vpp.data.table import Table, other_columns, read_like, unlabelled_rows
from vpp.data.text import shown_name
from vpp.errors import VppError
from vpp.findings import asking as findings
from vpp.findings.asking import LITTLE
from vpp.findings.points import Point, questions, reject_option, target_spread, votes_on
from vpp.findings.progress import nothing_yet
from vpp.reporting.predictions import prediction_csv, sheet_rows
from vpp.runs.asking import Answers, Asking, Background, Questions
from vpp.runs.directory import Snapshot
from vpp.runs.preparation import continue_run
from vpp.show import markup
from vpp.show.blocks import Heading, Note, Say
from vpp.show.markup import html, markdown_text
from vpp.show.words import capitalised, counted, integer, seconds, shortest
from vpp.trials import TrialAsking

AT_ONCE_S = 1.0  # seconds that a page waits for answers before it shows their progress
FEW = 20  # questions up to which no bar is drawn


@dataclass(frozen=True, slots=True)
class Job:
    run: OpenRun
    name: str

    @property
    def now(self) -> Background[Any] | None:
        """The job as it runs or has ended; None before it has begun."""
        job: Background[Any] | None = st.session_state.get(key_of(self.run, self.name))
        return job

    @property
    def is_running(self) -> bool:
        return self.now is not None and self.now.is_running

    @property
    def has_failed(self) -> bool:
        return self.now is not None and self.now.outcome == "failed"

    def draw(self, section: Callable[["Job"], None]) -> None:
        was_running = self.is_running
        every_s = 1.0 if was_running else None
        blocks.refreshed(lambda: section(self), lambda: was_running and not self.is_running, every_s=every_s)

    def begin(self, asking: Questions[object]) -> None:
        keys = person.keys_of(self.run.snapshot.spec.endpoint)
        job = Background(asking, keys=keys, cache_dir=person.cache_dir())
        st.session_state[key_of(self.run, self.name)] = job
        if not job.wait(AT_ONCE_S) or job.outcome == "failed":
            st.rerun()

    def ask_rows(self, rows: Sequence[Row]) -> None:
        self.begin(Asking(self.run.reader, rows))

    def follow(self, *, stop: str = "Stop and keep") -> bool:
        """Draw how far the job is, with a button that stops it; return whether it runs."""
        job = self.now
        if job is None or not job.is_running:
            return False
        left, done, total = job.seconds_left(), job.asking.done, job.asking.total
        words = f"{integer(done)} of {integer(total)} answers{f', about {seconds(left)} left' if left else ''}"
        if total > FEW:
            st.progress(done / total, text=words)
        else:
            blocks.captions(words)
        if st.button(stop if total > FEW else "Stop", key=f"{self.name}.stop"):
            job.stop()
        return True

    def consent(self) -> bool:
        endpoint = self.run.snapshot.spec.endpoint
        label, key = "What I ask about may be sent to the address above", f"posterior.ask.consent.{self.name}"
        return endpoint.is_started_here or person.consent(label, key, endpoint.base_url)

    def ask_key(self) -> None:
        if self.has_failed and not self.run.snapshot.spec.endpoint.is_demo:
            person.ask_keys(self.run.snapshot.spec.endpoint)


def key_of(run: OpenRun, what: str) -> str:
    return f"posterior.ask.{what}.{run.id}"


def model_words(run: OpenRun) -> str:
    endpoint = run.snapshot.spec.endpoint
    return "the demo model" if endpoint.is_demo else endpoint.model


def plan_words(run: OpenRun, n_rows: int) -> str:
    """Return what rows cost: hypotheses without a program are asked about each; programs only ask about texts."""
    config, translations = run.snapshot.spec.config, run.reader.read_answers().translations
    codes = {
        each.hypothesis: translations[each.hypothesis].code
        for each in run.now().view.population
        if config.has_programs and each.hypothesis in translations
    }
    calls = config.learner_samples * n_rows * (run.now().view.n_unique - sum(map(bool, codes.values())))
    if calls:
        return f"{counted(calls, 'call')} to {model_words(run)}"
    has_questions = any("ask(" in code for code in codes.values() if code)
    return f"calls to {model_words(run)} about texts alone" if has_questions else "no calls: programs answer"


# New rows: one, or those of a table

ROW, ROWS = "row", "table"  # names of the jobs
ACROSS, AT_FIRST = 4, 12  # fields in a line; fields that are not folded away
PREVIEWED = 20
ASKING = "One row, or a CSV of rows"


def draw(run: OpenRun) -> None:
    snapshot = run.now()
    decides = "their weights decide" if snapshot.spec.config.is_weighted else "each counts alike"
    blocks.draw(Heading("Ask about new rows", f"every hypothesis answers; {decides}"))
    if not snapshot.view.population:
        blocks.draw(markup.state("No hypotheses yet", nothing_yet(snapshot.state)))
        return
    has_asked = any(Job(run, name).now for name in (ROW, ROWS))
    fold = st.expander(ASKING, has_asked, key="posterior.asking", on_change="rerun")
    with fold:
        if not fold.open:
            return
        one, many = st.tabs(["One row", "A CSV of rows"])
        with one:
            Job(run, ROW).draw(ask_row)
        with many:
            Job(run, ROWS).draw(ask_table)
    if not snapshot.spec.endpoint.is_demo and any(Job(run, name).has_failed for name in (ROW, ROWS)):
        person.ask_keys(snapshot.spec.endpoint)


def ask_row(job: Job) -> None:
    fields = input_fields(job.run.reader.dataset())
    cells, is_pressed = row_form(job, fields)
    try:
        if is_pressed:
            job.ask_rows([typed_row(fields, cells)])
    except VppError as error:
        blocks.failed("This row cannot be asked about", str(error))
        return
    if not job.follow() and job.now:
        answered(job.run, job.now, fields)


def row_form(job: Job, fields: Sequence[Field]) -> tuple[list[str | None], bool]:
    run, dataset = job.run, job.run.reader.dataset()
    fill_from(run, fields)
    meanings = {name: markdown_text(meaning) for name, meaning in dataset.descriptions.columns.items()}
    allowed = job.consent()
    with st.form(key_of(run, "form"), border=False):
        cells: list[str | None] = [None] * len(fields)
        by_use = findings.columns_of(run.now().view, dataset)
        places = sorted(range(len(fields)), key=lambda place: by_use.index(fields[place].column.name))
        short = [place for place in places if fields[place].column.kind != "text"]

        def draw_fields(places: Sequence[int], across: int = ACROSS) -> None:
            for column, place in blocks.in_columns(places, across):
                with column:
                    cells[place] = cell_of(fields[place], key_of(run, f"cell.{place}"), meanings)

        draw_fields(short[:AT_FIRST])
        if more := short[AT_FIRST:]:
            with st.expander(counted(len(more), "more input")):
                draw_fields(more)
        draw_fields([place for place in places if place not in short], across=1)
        left, right = st.columns([1, 3], vertical_alignment="center")
        is_off = not allowed or job.is_running
        is_pressed = left.form_submit_button("Ask about this row", type="primary", width="stretch", disabled=is_off)
        right.html(
            markup.block(markup.caption(f"{capitalised(plan_words(run, 1))}. A field left empty is a missing value."))
        )
    return cells, is_pressed


def cell_of(field: Field, key: str, meanings: Mapping[str, str]) -> str | None:
    """Draw one field. Its name comes from the file, so Markdown in it is escaped. meanings: Markdown, by column."""
    unit = field.column.notation.unit if field.column.notation else ""
    label = markdown_text(f"{field.column.name}, in {unit}" if unit else field.column.name)
    about = [meanings[field.column.name]] if field.column.name in meanings else []
    if field.range:
        about.append(f"The training rows have {' to '.join(map(field.written, field.range))}.")
    keep = {"help": "\n\n".join(about) or None, **blocks.lasting(key)}
    if field.column.kind == "category":
        return st.selectbox(label, sorted(field.cells), None, **keep, accept_new_options=True, placeholder="missing")
    if field.column.kind == "text":
        example = f"e.g. {shown_name(' '.join(field.example.split()))}" if field.example else ""
        return str(st.text_area(label, **keep, placeholder=example, height="content"))
    example = f"e.g. {field.written(field.example)}" if field.example else ""
    return str(st.text_input(label, **keep, placeholder=example))


def fill_from(run: OpenRun, fields: Sequence[Field]) -> None:
    dataset = run.reader.dataset()
    parts = {"training": dataset.train, "test": dataset.test, "no target": dataset.unlabelled}
    by_id = {row.id: (row, part) for part, rows in parts.items() for row in rows}
    key = key_of(run, "from")

    def fill() -> None:
        chosen = st.session_state[key]
        for place, (_, cell) in enumerate(by_id[chosen][0].inputs if chosen is not None else ()):
            empty = None if fields[place].column.kind == "category" else ""
            st.session_state[key_of(run, f"cell.{place}")] = empty if cell is None else fields[place].written(cell)

    place, _ = st.columns([1, 3])
    place.selectbox(
        "Begin with a row of the data", sorted(by_id), index=None, **blocks.lasting(key),
        format_func=lambda row: f"row {row} ({by_id[row][1]})", placeholder="row number", on_change=fill,
    )  # fmt: skip


def answered(run: OpenRun, job: Background[Asking], fields: Sequence[Field]) -> None:
    snapshot, answers = run.now(), job.asking.complete_rows()
    if not answers.rows:
        unanswered(job)
        return
    is_weighted = snapshot.spec.config.is_weighted
    vote, seed_text = votes_of(run, job)[0], snapshot.view.seed_text
    parts = findings.answer_blocks(vote, answers, fields, seed_text, is_weighted=is_weighted)
    blocks.draw(*parts, label="what the hypotheses say")


def votes_of(run: OpenRun, job: Background[Asking]) -> tuple[Point, ...]:
    answers, dataset = job.asking.complete_rows(), run.reader.dataset()
    reject = reject_option(run.now().view, run.snapshot.spec.config, dataset, of=answers)
    return votes_on(answers, reject, scale=target_spread(dataset))


def unanswered(job: Background[Asking]) -> None:
    if job.outcome == "stopped":
        blocks.draw(markup.state("Stopped", "Not every hypothesis had answered. Ask again to go on."))
    else:
        blocks.failed("The hypotheses could not be asked", job.failure)


def ask_table(job: Job) -> None:
    run, dataset = job.run, job.run.reader.dataset()
    file = st.file_uploader("A CSV with the input columns of this run", type=None, key=key_of(run, "upload"))
    table: Table | None = None
    rows: tuple[Row, ...] = ()
    with opening.refusals("This table cannot be asked about"):
        if file:
            table = _read(file.getvalue(), file.name, dataset.columns, dataset.cells)
            rows = unlabelled_rows(table, dataset.inputs)
    if job.follow():
        return
    if file and table and rows:
        allowed, label = job.consent(), f"Ask about {counted(len(rows), 'row')}"
        words, key = f"{capitalised(plan_words(run, len(rows)))}.", "posterior.ask.table"
        if blocks.beside(words).button(label, key=key, type="primary", width="stretch", disabled=not allowed):
            st.session_state[key_of(run, "file")] = file.name
            st.session_state[key_of(run, "beside")] = other_columns(table, dataset.inputs)
            with opening.refusals():
                job.ask_rows(rows)
    if job.now:
        draw_predictions(run, job.now)
    elif file is None:
        blocks.captions(f"It needs these columns: {', '.join(dataset.inputs)}. Others stay beside the answers.")


@st.cache_data(max_entries=4, show_spinner=False)
def _read(content: bytes, name: str, columns: tuple[Column, ...], cells: dict[str, tuple[str | None, ...]]) -> Table:
    return read_like(Table.read(content, name=name), columns, cells)


def draw_predictions(run: OpenRun, job: Background[Asking]) -> None:
    answers = job.asking.complete_rows()
    if not answers.rows:
        unanswered(job)
        return
    are = "is" if len(answers.rows) == 1 else "are"
    rest = f"{counted(len(answers.rows), 'row')} answered by every hypothesis {are} kept."
    if job.outcome == "failed":
        blocks.failed("Not all rows were asked", job.failure, rest)
    elif job.outcome == "stopped":
        blocks.captions(f"Stopped: {rest}")
    votes = votes_of(run, job)
    blocks.draw(markup.group(str(st.session_state.get(key_of(run, "file"), ""))), Note(findings.table_words(votes)))
    beside = st.session_state.get(key_of(run, "beside"), {})
    left, right = st.columns([1, 3], vertical_alignment="center")
    reasons = right.toggle("With reasons, a column for each copy", key="posterior.ask.reasons")
    left.download_button(
        "Download predictions.csv",
        lambda: prediction_csv(answers, reject=votes[0].reject, with_reasons=reasons, beside=beside),
        file_name=f"{run.id}-predictions-new.csv",
        mime="text/csv",
        key="posterior.ask.download",
        on_click="ignore",
        width="stretch",
    )
    first = f"The first {PREVIEWED} of {integer(len(votes))} rows, in file order; the download has all."
    notes = [Note(first)] if len(votes) > PREVIEWED else []
    table = findings.answers_table(votes[:PREVIEWED], run.reader.dataset())
    blocks.draw(table, *notes, label="predictions of the uploaded rows")


# The trial: does the model obey the rule?

TRIAL, REFUSED = "trial", "The test could not be run"
ABOUT_TRIAL = (
    "It changes cells so that a hypothesis’s answer must change, or must stay, and asks the model. Then it leaves out "
    "each clause, and the whole rule, and scores what is lost."
)


def draw_trial(run: OpenRun) -> None:
    blocks.draw(Heading("Does the model obey the rule?", "changed rows, and what each clause is worth"))
    Job(run, TRIAL).draw(trial_section)


def trial_section(job: Job) -> None:
    run = job.run
    if job.follow(stop="Stop"):
        return
    snapshot = run.now()
    last = findings.read_trial(run.directory, snapshot.view)
    if last:
        blocks.draw(*findings.trial_blocks(last, snapshot.view.seed_text), label="the trial")
    if snapshot.state in opening.LIVE and snapshot.state != "paused":
        blocks.captions(f"{ABOUT_TRIAL} This takes a run that has ended or is paused.")
        return
    if job.now and job.has_failed:
        blocks.failed(REFUSED, job.now.failure)
    elif job.now and job.now.outcome == "stopped":
        rest = "the answers so far are in the cache, so asking again takes less"
        blocks.captions(f"Stopped: {rest if snapshot.spec.endpoint.cache else 'nothing is kept'}.")
    offer_trial(job, snapshot, is_again=last is not None)


def offer_trial(job: Job, snapshot: Snapshot, *, is_again: bool) -> None:
    run, view = job.run, snapshot.view
    try:
        asking = blocks.remembered(f"trial.{run.id}", view.last_at, lambda: TrialAsking(run.reader))
    except VppError as error:
        blocks.captions(str(error))
        return
    allowed = job.consent()
    cost = f"{counted(asking.calls, 'call')} to {model_words(run)}."
    label, words = "Test again" if is_again else "Test the hypotheses", cost if is_again else f"{ABOUT_TRIAL} {cost}"
    if blocks.beside(words).button(label, key="posterior.trial", width="stretch", disabled=not allowed):
        with opening.refusals(REFUSED):
            job.begin(asking)
            st.rerun()
    job.ask_key()


# Rows whose true labels would tell most, and a new run that goes on with those labels

LISTED, USUAL, MOST = 8, 24, 200  # rows listed unasked; rows asked about by default, and at most


def draw_labels(run: OpenRun) -> None:
    # Here, since a page that is switched to from within a fragment may come up empty.
    if prepared := st.session_state.pop(key_of(run, "next"), None):
        opening.start_new(prepared)
    snapshot = run.now()
    if snapshot.view.n_unique == 1:
        return  # no row can divide one hypothesis
    blocks.draw(Heading("Most informative labels to collect", "rows by expected information gain"))
    if not snapshot.view.population:
        blocks.draw(markup.state("No hypotheses yet", nothing_yet(snapshot.state)))
        return
    Job(run, "settle").draw(label_section)


def label_section(job: Job) -> None:
    run = job.run
    if not job.follow():
        ask_for_labels(run, job)
    if job.now and not job.is_running:
        if job.has_failed:
            blocks.failed("The hypotheses could not be asked", job.now.failure)
            job.ask_key()
        if job.now.asking.complete_rows().rows:
            list_questions(run, job.now.asking.complete_rows())
    if answers_of(run):
        go_on(run)


def ask_for_labels(run: OpenRun, job: Job) -> None:
    """Draw from the table's rows that the run does not use; from made-up ones only if the person asks for them."""
    dataset = run.reader.dataset()
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    n = int(left.number_input("Rows to ask about", 1, MOST, USUAL, **blocks.lasting(key_of(run, "n"))))
    made_up = right.toggle("Made-up rows too", **blocks.lasting(key_of(run, "made_up")))
    # Each time draws other rows.
    draws = int(st.session_state.get(key_of(run, "draw"), 0))
    rows = sheet_rows(run.reader, n=n, made_up=made_up, draw=draws)
    own = {row.id for row in (*dataset.unlabelled, *dataset.unused)}
    n_own = sum(row.id in own for row in rows)
    words = findings.pool_words(dataset, n_found=n_own, n_made_up=len(rows) - n_own, made_up=made_up)
    blocks.draw(Note(words))
    if not rows:
        return
    allowed, words = job.consent(), f"Ask about {counted(len(rows), 'row')}: {plan_words(run, len(rows))}"
    if st.button(markup.markdown_text(words), key="disagreement.settle.ask", disabled=not allowed):
        st.session_state[key_of(run, "draw")] = draws + 1
        job.ask_rows(rows)
        st.rerun()


def list_questions(run: OpenRun, answers: Answers) -> None:
    view, config, dataset = run.now().view, run.snapshot.spec.config, run.reader.dataset()
    every, columns = blocks.remembered(
        key_of(run, "made"),
        (answers, view.last_at),
        lambda: (questions(answers, view, config, dataset), findings.columns_of(view, dataset)),
    )
    notes = []
    if answers.texts != tuple(view.texts[state.hypothesis] for state in view.population):
        notes.append(Note("The run has gone on since these rows were asked about."))
    blocks.draw(Say(findings.labels_words(every)), *notes)
    telling = [question for question in every if question.bits >= LITTLE][:LISTED]
    everything = len(every) > len(telling) and st.toggle(f"Show all {len(every)}", key=key_of(run, "all"))
    own = {row.id: row for row in (*dataset.unlabelled, *dataset.unused)}
    for number, question in enumerate(every if everything else telling, 1):
        row = own.get(question.row.id)
        name = f"row {question.row.id}" if row else f"made-up row {number}"
        left, right = st.columns([4, 1], vertical_alignment="center")
        left.html(markup.block(html(findings.question_row(question, columns, name))))
        with right.container(key=f"settle_truth_{number}"):
            note_answer(run, question, name, dataset.classes, row=row)


def note_answer(run: OpenRun, question: Point, name: str, labels: Sequence[str], *, row: Row | None) -> None:
    """Draw the field of a true label. row: that of the table, whose own label is taken by a press."""
    place = input_key(question.row)
    # A SHA-256, since Python's hashes of -1 and -2 are equal.
    field = blocks.lasting(key_of(run, f"truth.{sha256(repr(place).encode()).hexdigest()}"))
    if row is not None and row.target is not None:
        own = row.target if isinstance(row.target, str) else shortest(row.target)
        truth = own if st.checkbox(f"Use {own}", help="The label in your table", **field) else ""
    else:
        field |= {"placeholder": "not known", "label_visibility": "collapsed"}
        label = f"True answer, {name}"
        truth = (st.selectbox(label, labels, None, **field) or "") if labels else st.text_input(label, **field).strip()
    if truth:
        answers_of(run)[place] = replace(question.row, target=truth)
    else:
        answers_of(run).pop(place, None)


def answers_of(run: OpenRun) -> dict[Key, Row]:
    answers: dict[Key, Row] = st.session_state.setdefault(key_of(run, "answered"), {})
    return answers


def go_on(run: OpenRun) -> None:
    answers = list(answers_of(run).values())
    blocks.draw(markup.group(f"Go on with {counted(len(answers), 'true answer')}"))
    with opening.refusals("These answers cannot be used"):
        prepared = continue_run(run.directory, answers)
        blocks.captions(findings.going_on_words(prepared, n_added=len(answers)))
        label, key = "Continue with these rows as a new run", "disagreement.settle.continue"
        if st.button(label, type="primary", key=key):
            answers_of(run).clear()
            st.session_state[key_of(run, "next")] = prepared
            st.rerun()
