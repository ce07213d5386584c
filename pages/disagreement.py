"""Disagreement: on which test rows the hypotheses are split, what each says there, and when to trust the answers."""

from collections.abc import Mapping
from functools import partial
from typing import get_args

import streamlit as st

from pages.parts import asking, blocks, frame, opening
from pages.parts.opening import OpenRun
from vpp.findings.points import Point
from vpp.findings.programs import ProgramReading
from vpp.findings.rows import Rows, Which, calibrated, evaluated_rows, headline, opened_row, row_table, trust
from vpp.findings.slices import slice_table, slices, title, worst_words
from vpp.findings.status import withheld_sentences
from vpp.findings.verdict import Verdict, run_verdict
from vpp.runs.directory import Snapshot
from vpp.show.blocks import Heading, Note
from vpp.show.markup import html

AT_ONCE, MOST = 4, 60  # rows of the table at first, and added by a press
ROW = "disagreement.row"
NOT_ASKED = (
    "The test rows have not been asked yet",
    "They are asked when the run ends or is stopped. "
    "A run that was interrupted or failed asks them once it is resumed.",
)


def page(run: OpenRun) -> None:
    opening.head(run, "Where the hypotheses disagree")
    opening.follow(run, lambda snapshot: draw(run, snapshot), every_s=3.0)
    with st.container(key="disagreement.labels"):
        asking.draw_labels(run)


def draw(run: OpenRun, snapshot: Snapshot) -> None:
    dataset = run.reader.dataset()
    rows = evaluated_rows(snapshot.view, snapshot.spec.config, dataset)
    if rows is None:
        opening.not_yet(run, *NOT_ASKED)
        return
    verdict = run_verdict(run.directory, snapshot.view)
    refused = map(Note, withheld_sentences(run.reader.read_answers()) if snapshot.usage.faults else ())
    blocks.draw(*headline(rows), *refused, *calibrated(rows), *trust(rows, verdict))
    draw_slices(run, snapshot, rows, verdict)
    readings = opening.readings(run, snapshot, rows.test.hypotheses)
    draw_rows(run, rows, readings)


def draw_slices(run: OpenRun, snapshot: Snapshot, rows: Rows, verdict: Verdict | None) -> None:
    by_slice = blocks.remembered("disagreement.slices", (run.id, snapshot.view.last_at), lambda: slices(rows))
    if not by_slice.by_column:
        return
    with st.expander(title(by_slice, verdict), key="disagreement.by_column", on_change="rerun") as fold:
        if fold.open:
            blocks.draw(Note(worst_words(by_slice)))
            first = by_slice.worst.column if by_slice.worst else next(iter(by_slice.by_column))
            key = blocks.begun(f"disagreement.column.{run.id}", first)
            column = st.selectbox("Column", list(by_slice.by_column), **key, label_visibility="collapsed")
            blocks.steady(html(slice_table(by_slice, column)), key="disagreement.slice_table")


def draw_rows(run: OpenRun, rows: Rows, readings: Mapping[str, ProgramReading]) -> None:
    points = choose_rows(rows)
    if not points:
        return
    key = f"disagreement.most.{run.id}"
    most = int(st.session_state.get(key, AT_ONCE))
    chosen = st.session_state.get(ROW, points[0].row.id)
    point = next((point for point in points[:most] if point.row.id == chosen), None)
    reasons = run.reader.read_answers().by_pair if point else {}
    inside = opened_row(rows, point, reasons=reasons, readings=readings) if point else ()
    table = row_table(rows, points[:most], open_row=point.row.id if point else None, inside=inside)
    blocks.steady(html([table]), key="disagreement.matrix", on_open=partial(open_row, chosen))
    if most < len(points):
        more = min(MOST, len(points) - most)
        show = partial(st.session_state.__setitem__, key, most + more)
        st.button(f"Show {more} more", on_click=show, key="disagreement.more")


def choose_rows(rows: Rows) -> list[Point]:
    blocks.draw(Heading("Row by row", "the most divided first; press a row to see what each hypothesis says"))
    counts = {which: len(rows.which(which)) for which in get_args(Which)}
    kinds: list[Which] = [which for which, n in counts.items() if n and not (which == "In doubt" and rows.is_alone)]
    which = st.segmented_control(
        "Rows", kinds, required=True, **blocks.begun("disagreement.which", kinds[0]),
        label_visibility="collapsed",
    )  # fmt: skip
    return rows.which(which if which in kinds else kinds[0])


def open_row(chosen: int | None, row: int) -> None:
    st.session_state[ROW] = None if chosen == row else row


frame.enter()
page(opening.open_run("Disagreement", "shows the test rows on which the hypotheses differ."))
