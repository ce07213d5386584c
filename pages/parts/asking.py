"""Ask about new rows: one typed, or a CSV; every hypothesis answers, and their weights decide."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts import blocks, opening, person
from vpp.data.dataset import Column, Row
from vpp.data.labelling import Field, input_fields, typed_row
from vpp.data.table import Table, other_columns, read_like, unlabelled_rows
from vpp.data.text import shown_name
from vpp.errors import VppError
from vpp.findings import new_rows
from vpp.findings.points import Point, reject_option, target_spread, votes_on
from vpp.findings.progress import nothing_yet
from vpp.reporting.predictions import prediction_csv
from vpp.runs.asking import Asking, Background, Q
from vpp.show import markup
from vpp.show.blocks import Heading, Note
from vpp.show.markup import markdown_text
from vpp.show.words import counted, integer, seconds

WHAT = ("row", "table")
ACROSS, AT_FIRST = 4, 12
"""Fields in a line; fields that are not folded away."""
PREVIEWED = 20
AT_ONCE_S = 1.0
"""Seconds that a page waits for answers before it shows their progress."""
FEW = 20
"""Questions up to which no bar is drawn."""


def draw(run: opening.OpenRun) -> None:
    snapshot = opening.fresh(run)
    decides = "their weights decide" if snapshot.spec.config.is_weighted else "each counts alike"
    blocks.draw(Heading("Ask about new rows", f"every hypothesis answers; {decides}"))
    if not snapshot.view.population:
        blocks.draw(markup.state("No hypotheses yet", nothing_yet(snapshot.state)))
        return
    for place, what, part in zip(st.tabs(["One row", "A CSV of rows"]), WHAT, (ask_row, ask_table), strict=True):
        with place:
            refreshed(run, what, part)
    if asks_key(run):
        person.ask_keys(snapshot.spec.endpoint)


# What is asked, and who is asking, is kept in the browser session: a page may be left and come back to.


def _key(run: opening.OpenRun, what: str) -> str:
    return f"posterior.ask.{what}.{run.directory.id}"


def job_of(run: opening.OpenRun, what: str) -> Background[Any] | None:
    job: Background[Any] | None = st.session_state.get(_key(run, what))
    return job


def asks_key(run: opening.OpenRun) -> bool:
    jobs = [job_of(run, what) for what in WHAT]
    return not run.snapshot.spec.endpoint.is_demo and any(job and job.outcome == "failed" for job in jobs)


def refreshed(run: opening.OpenRun, what: str, draw: Callable[[opening.OpenRun], None]) -> None:
    """Draw a part of a page in a container of its own, every second while its job runs."""

    def is_running() -> bool:
        job = job_of(run, what)
        return job is not None and job.is_running

    with st.container():
        blocks.refreshed(lambda: draw(run), is_live=is_running, every_s=1.0)


def begin(run: opening.OpenRun, what: str, rows: Sequence[Row]) -> Background[Asking]:
    return ask_beside(run, what, Asking(run.directory, rows, view=opening.fresh(run).view))


def ask_beside(run: opening.OpenRun, what: str, asking: Q) -> Background[Q]:
    keys = person.keys_of(run.snapshot.spec.endpoint)
    job = Background(asking, keys=keys, cache_dir=person.cache_dir())
    st.session_state[_key(run, what)] = job
    if not job.wait(AT_ONCE_S) or job.outcome == "failed":
        st.rerun()
    return job


def follow(run: opening.OpenRun, what: str, key: str, *, stop: str = "Stop and keep") -> bool:
    """Draw how far a job is, with a button that stops it; return whether there is one that runs."""
    job = job_of(run, what)
    if job is None or not job.is_running:
        return False
    left = job.seconds_left()
    done, total = job.asking.done, job.asking.total
    words = f"{integer(done)} of {integer(total)} answers{f', about {seconds(left)} left' if left else ''}"
    if total > FEW:
        st.progress(done / total, text=words)
    else:
        blocks.captions(words)
    if st.button(stop if total > FEW else "Stop", key=key, type="secondary" if total > FEW else "tertiary"):
        job.stop()
    return True


def ask_row(run: opening.OpenRun) -> None:
    fields = input_fields(run.reader.dataset())
    cells, pressed = form(run, fields)
    try:
        job = begin(run, "row", [typed_row(fields, cells)]) if pressed else job_of(run, "row")
    except VppError as error:
        blocks.failed("This row cannot be asked about", str(error))
        return
    if not follow(run, "row", "posterior.ask.stop") and job:
        answered(run, job, fields)


def form(run: opening.OpenRun, fields: Sequence[Field]) -> tuple[list[str | None], bool]:
    fill_from(run, fields)
    meanings = {name: markdown_text(meaning) for name, meaning in run.reader.dataset().descriptions.columns}
    allowed = consent(run, "row")
    with st.form(_key(run, "form"), border=False):
        cells: list[str | None] = [None] * len(fields)
        by_use = new_rows.columns_of(opening.fresh(run).view, run.reader.dataset())
        places = sorted(range(len(fields)), key=lambda place: by_use.index(fields[place].column.name))
        short = [place for place in places if fields[place].column.kind != "text"]

        def draw_fields(places: Sequence[int]) -> None:
            for column, place in blocks.in_columns(places, ACROSS):
                with column:
                    cells[place] = cell_of(fields[place], _key(run, f"cell.{place}"), meanings)

        draw_fields(short[:AT_FIRST])
        if more := short[AT_FIRST:]:
            with st.expander(counted(len(more), "more input")):
                draw_fields(more)
        for place, field in enumerate(fields):
            if field.column.kind != "text":
                continue
            example = f"e.g. {shown_name(' '.join(field.example.split()))}" if field.example else ""
            label, about = markdown_text(field.column.name), meanings.get(field.column.name)
            keep = {**blocks.lasting(_key(run, f"cell.{place}")), "help": about}
            cells[place] = st.text_area(label, **keep, placeholder=example, height="content")
        left, right = st.columns([1, 3], vertical_alignment="center")
        job = job_of(run, "row")
        is_off = not allowed or bool(job and job.is_running)
        pressed = left.form_submit_button("Ask about this row", type="primary", width="stretch", disabled=is_off)
        right.html(markup.block(markup.caption(f"{plan_words(run, 1)}. A field left empty is a missing value.")))
    return cells, pressed


def cell_of(field: Field, key: str, meanings: Mapping[str, str]) -> str | None:
    """Draw one field. Its name comes from the file, so Markdown in it is escaped. meanings: Markdown, by column."""
    label = markdown_text(f"{field.column.name}, in {field.unit}" if field.unit else field.column.name)
    about = [meanings[field.column.name]] if field.column.name in meanings else []
    if field.low is not None and field.high is not None:
        about.append(f"The training rows have {field.written(field.low)} to {field.written(field.high)}.")
    keep = {"help": "\n\n".join(about) or None, **blocks.lasting(key)}
    if field.column.kind == "category":
        return st.selectbox(label, field.values, None, **keep, accept_new_options=True, placeholder="missing")
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


def votes_of(run: opening.OpenRun, job: Background[Asking]) -> tuple[Point, ...]:
    answers, dataset = job.asking.whole(), run.reader.dataset()
    reject = reject_option(opening.fresh(run).view, run.snapshot.spec.config, dataset, of=answers)
    return votes_on(answers, reject, scale=target_spread(dataset))


def unanswered(job: Background[Asking]) -> None:
    if job.outcome == "stopped":
        blocks.draw(markup.state("Stopped", "Not every hypothesis had answered. Ask again to go on."))
    else:
        blocks.failed("The hypotheses could not be asked", job.failure)


def ask_table(run: opening.OpenRun) -> None:
    job, dataset = job_of(run, "table"), run.reader.dataset()
    file = st.file_uploader("A CSV with the input columns of this run", type=None, key=_key(run, "upload"))
    table: Table | None = None
    rows: tuple[Row, ...] = ()
    with opening.refusals("This table cannot be asked about"):
        if file:
            table = _read(file.getvalue(), file.name, dataset.columns)
            rows = unlabelled_rows(table, dataset.inputs)
    if follow(run, "table", "posterior.ask.table_stop"):
        return
    if file and table and rows:
        allowed = consent(run, "table")
        left, right = st.columns([1, 3], vertical_alignment="center")
        right.html(markup.block(markup.caption(f"{plan_words(run, len(rows))}.")))
        label, key = f"Ask about {counted(len(rows), 'row')}", "posterior.ask.table"
        if left.button(label, key=key, type="primary", width="stretch", disabled=not allowed):
            st.session_state[_key(run, "file")] = file.name
            st.session_state[_key(run, "beside")] = other_columns(table, dataset.inputs)
            with opening.refusals():
                job = begin(run, "table", rows)
    if job:
        draw_predictions(run, job)
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


def plan_words(run: opening.OpenRun, n_rows: int) -> str:
    """Return the calls, as in `70 calls to the demo model, about 4 s at this run’s pace`."""
    view = opening.fresh(run).view
    calls = view.n_unique * run.snapshot.spec.config.learner_samples * n_rows
    return f"{counted(calls, 'call')} {served_words(run, calls if n_rows > 1 else 0)}"


def served_words(run: opening.OpenRun, calls: int) -> str:
    view, endpoint = opening.fresh(run).view, run.snapshot.spec.endpoint
    fresh = view.usage.calls - view.usage.cached
    pace = view.wall_s / fresh * calls if fresh > view.usage.cached and view.wall_s else 0.0
    where = "the demo model" if endpoint.is_demo else endpoint.model
    return f"to {where}{f', about {seconds(pace)} at this run’s pace' if pace >= 1 else ''}"


def consent(run: opening.OpenRun, what: str) -> bool:
    endpoint = run.snapshot.spec.endpoint
    label, key = "What I ask about may be sent to the address above", f"posterior.ask.consent.{what}"
    return endpoint.is_started_here or person.consent(label, key, endpoint.base_url)
