"""Ask about new rows: one typed, or a CSV; every hypothesis answers, and their weights decide."""

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.parts import blocks, opening, person
from pages.parts.job import Job, plan_words
from vpp.data.dataset import Column, Row
from vpp.data.labelling import Field, input_fields, typed_row
from vpp.data.table import Table, other_columns, read_like, unlabelled_rows
from vpp.data.text import shown_name
from vpp.errors import VppError
from vpp.findings import new_rows
from vpp.findings.points import Vote, reject_option, target_spread, votes_on
from vpp.findings.progress import nothing_yet
from vpp.reporting.predictions import prediction_csv
from vpp.runs.asking import Asking, Background
from vpp.show import markup
from vpp.show.blocks import Heading, Note
from vpp.show.markup import markdown_text
from vpp.show.words import counted, integer, seconds

WHAT = ("row", "table")
"""Names of the jobs."""
ACROSS, AT_FIRST = 4, 12
"""Fields in a line; fields that are not folded away."""
PREVIEWED = 20


def draw(run: opening.OpenRun) -> None:
    snapshot = opening.fresh(run)
    decides = "their weights decide" if snapshot.spec.config.is_weighted else "each counts alike"
    blocks.draw(Heading("Ask about new rows", f"every hypothesis answers; {decides}"))
    if not snapshot.view.population:
        blocks.draw(markup.state("No hypotheses yet", nothing_yet(snapshot.state)))
        return
    for place, name, section in zip(st.tabs(["One row", "A CSV of rows"]), WHAT, (ask_row, ask_table), strict=True):
        with place:
            Job(run, name).draw(section)
    if asks_key(run):
        person.ask_keys(snapshot.spec.endpoint)


def asks_key(run: opening.OpenRun) -> bool:
    return not run.snapshot.spec.endpoint.is_demo and any(Job(run, name).has_failed for name in WHAT)


def _key(run: opening.OpenRun, what: str) -> str:
    return f"posterior.ask.{what}.{run.directory.id}"


def ask_row(run: opening.OpenRun) -> None:
    fields, job = input_fields(run.reader.dataset()), Job(run, "row")
    cells, is_pressed = form(run, job, fields)
    try:
        if is_pressed:
            job.ask_rows([typed_row(fields, cells)])
    except VppError as error:
        blocks.failed("This row cannot be asked about", str(error))
        return
    if not job.follow() and job.now:
        answered(run, job.now, fields)


def form(run: opening.OpenRun, job: Job, fields: Sequence[Field]) -> tuple[list[str | None], bool]:
    fill_from(run, fields)
    meanings = {name: markdown_text(meaning) for name, meaning in run.reader.dataset().descriptions.columns}
    allowed = job.consent()
    with st.form(_key(run, "form"), border=False):
        cells: list[str | None] = [None] * len(fields)
        by_use = new_rows.columns_of(opening.fresh(run).view, run.reader.dataset())
        places = sorted(range(len(fields)), key=lambda place: by_use.index(fields[place].column.name))
        short = [place for place in places if fields[place].column.kind != "text"]

        def draw_fields(places: Sequence[int], across: int = ACROSS) -> None:
            for column, place in blocks.in_columns(places, across):
                with column:
                    cells[place] = cell_of(fields[place], _key(run, f"cell.{place}"), meanings)

        draw_fields(short[:AT_FIRST])
        if more := short[AT_FIRST:]:
            with st.expander(counted(len(more), "more input")):
                draw_fields(more)
        draw_fields([place for place in range(len(fields)) if place not in short], across=1)
        left, right = st.columns([1, 3], vertical_alignment="center")
        is_off = not allowed or job.is_running
        is_pressed = left.form_submit_button("Ask about this row", type="primary", width="stretch", disabled=is_off)
        right.html(markup.block(markup.caption(f"{plan_words(run, 1)}. A field left empty is a missing value.")))
    return cells, is_pressed


def cell_of(field: Field, key: str, meanings: Mapping[str, str]) -> str | None:
    """Draw one field. Its name comes from the file, so Markdown in it is escaped. meanings: Markdown, by column."""
    label = markdown_text(f"{field.column.name}, in {field.unit}" if field.unit else field.column.name)
    about = [meanings[field.column.name]] if field.column.name in meanings else []
    if field.low is not None and field.high is not None:
        about.append(f"The training rows have {field.written(field.low)} to {field.written(field.high)}.")
    keep = {"help": "\n\n".join(about) or None, **blocks.lasting(key)}
    if field.column.kind == "category":
        return st.selectbox(label, field.values, None, **keep, accept_new_options=True, placeholder="missing")
    if field.column.kind == "text":
        example = f"e.g. {shown_name(' '.join(field.example.split()))}" if field.example else ""
        return st.text_area(label, **keep, placeholder=example, height="content")
    example = f"e.g. {field.written(field.example)}" if field.example else ""
    return str(st.text_input(label, **keep, placeholder=example))


def fill_from(run: opening.OpenRun, fields: Sequence[Field]) -> None:
    dataset = run.reader.dataset()
    parts = {"training": dataset.train, "test": dataset.test, "no target": dataset.unlabelled}
    by_id = {row.id: row for rows in parts.values() for row in rows}
    part_of = {row.id: part for part, rows in parts.items() for row in rows}
    key = _key(run, "from")

    def fill() -> None:
        chosen = st.session_state[key]
        if chosen is not None:
            for place, (_, cell) in enumerate(by_id[chosen].inputs):
                empty = None if fields[place].column.kind == "category" else ""
                st.session_state[_key(run, f"cell.{place}")] = empty if cell is None else fields[place].written(cell)

    place, _ = st.columns([1, 3])
    place.selectbox(
        "Begin with a row of the data", sorted(by_id), index=None, **blocks.lasting(key),
        format_func=lambda row: f"row {row} ({part_of[row]})", placeholder="row number", on_change=fill,
    )  # fmt: skip


def answered(run: opening.OpenRun, job: Background[Asking], fields: Sequence[Field]) -> None:
    snapshot, answers = opening.fresh(run), job.asking.whole()
    if not answers.rows:
        unanswered(job)
        return
    parts = new_rows.answer_blocks(
        votes_of(run, job)[0],
        answers,
        run.reader.dataset(),
        fields,
        snapshot.view.seed_text,
        is_weighted=snapshot.spec.config.is_weighted,
    )
    took = new_rows.asked_words(answers.step, answers.weights, snapshot.view, job.seconds)
    blocks.draw(*parts, *([Note(took)] if took else []), label="what the hypotheses say")


def votes_of(run: opening.OpenRun, job: Background[Asking]) -> tuple[Vote, ...]:
    answers, dataset = job.asking.whole(), run.reader.dataset()
    reject = reject_option(opening.fresh(run).view, run.snapshot.spec.config, dataset, of=answers)
    return votes_on(answers, reject, scale=target_spread(dataset))


def unanswered(job: Background[Asking]) -> None:
    if job.outcome == "stopped":
        blocks.draw(markup.state("Stopped", "Not every hypothesis had answered. Ask again to go on."))
    else:
        blocks.failed("The hypotheses could not be asked", job.failure)


def ask_table(run: opening.OpenRun) -> None:
    job, dataset = Job(run, "table"), run.reader.dataset()
    file = st.file_uploader("A CSV with the input columns of this run", type=None, key=_key(run, "upload"))
    table: Table | None = None
    rows: tuple[Row, ...] = ()
    with opening.refusals("This table cannot be asked about"):
        if file:
            table = _read(file.getvalue(), file.name, dataset.columns)
            rows = unlabelled_rows(table, dataset.inputs)
    if job.follow():
        return
    if file and table and rows:
        allowed = job.consent()
        left, right = st.columns([1, 3], vertical_alignment="center")
        right.html(markup.block(markup.caption(f"{plan_words(run, len(rows))}.")))
        label, key = f"Ask about {counted(len(rows), 'row')}", "posterior.ask.table"
        if left.button(label, key=key, type="primary", width="stretch", disabled=not allowed):
            st.session_state[_key(run, "file")] = file.name
            st.session_state[_key(run, "beside")] = other_columns(table, dataset.inputs)
            with opening.refusals():
                job.ask_rows(rows)
    if job.now:
        draw_predictions(run, job.now)
    elif file is None:
        blocks.captions(f"It needs these columns: {', '.join(dataset.inputs)}. Others stay beside the answers.")


@st.cache_data(max_entries=4, show_spinner=False)
def _read(content: bytes, name: str, columns: tuple[Column, ...]) -> Table:
    return read_like(Table.read(content, name=name), columns)


def draw_predictions(run: opening.OpenRun, job: Background[Asking]) -> None:
    answers = job.asking.whole()
    if not answers.rows:
        unanswered(job)
        return
    are = "is" if len(answers.rows) == 1 else "are"
    rest = f"{counted(len(answers.rows), 'row')} answered by every hypothesis {are} kept."
    if job.outcome == "failed":
        blocks.failed("Not all rows were asked", job.failure, rest)
    elif job.outcome == "stopped":
        blocks.captions(f"Stopped after {seconds(job.seconds)}: {rest}")
    dataset, votes = run.reader.dataset(), votes_of(run, job)
    outside = new_rows.outside_sentence(input_fields(dataset), votes)
    blocks.draw(
        markup.group(str(st.session_state.get(_key(run, "file"), ""))),
        new_rows.table_metrics(votes, len(job.asking.rows)),
        *([Note(outside)] if outside else []),
    )
    beside = st.session_state.get(_key(run, "beside"), {})
    left, right = st.columns([1, 3], vertical_alignment="center")
    reasons = right.toggle("With reasons, a column for each copy", key="posterior.ask.reasons")
    left.download_button(
        "Download predictions.csv",
        lambda: prediction_csv(answers, reject=votes[0].reject, with_reasons=reasons, beside=beside),
        file_name=f"{run.directory.id}-predictions-new.csv",
        mime="text/csv",
        key="posterior.ask.download",
        on_click="ignore",
        width="stretch",
    )
    first = f"The first {PREVIEWED} of {integer(len(votes))} rows, in file order; the download has all."
    notes = [Note(first)] if len(votes) > PREVIEWED else []
    table = new_rows.answers_table(votes[:PREVIEWED], dataset)
    blocks.draw(table, *notes, label="predictions of the uploaded rows")
