"""Disagreement: the test rows in dispute, the rival sentences, and whether uncertainty means error."""

from functools import partial
from importlib import import_module

import streamlit as st

from pages.parts import blocks, frame, opening, pieces, settling
from vpp.drawing import dissent
from vpp.drawing.figures import Figure, doubt_figures
from vpp.drawing.matrix import TABLE, Matrix, Opened, picks_html, usual_distance
from vpp.events import Evaluated
from vpp.findings.points import Point, by_answers, points, reject_option
from vpp.runs.reader import Snapshot
from vpp.show import markup
from vpp.show.words import ROW_OF, counted
from vpp.wording.brief import held_by, unread_html, voting
from vpp.wording.verdicts import promise_sentence, rule_sentence, too_few_words

MOST = 60  # rows of the matrix at a time
ROW = "disagreement.row"
ASKED = "disagreement.asked"
JUDGED = "Does uncertainty mean error?"


def page(run: opening.OpenRun) -> None:
    pieces.head(run, "Where the particles disagree")
    with st.container():
        opening.follow(run, lambda snapshot: draw(run, snapshot), every_s=3.0)
    with st.container(key="disagreement.labels"):
        settling.draw(run)


def draw(run: opening.OpenRun, snapshot: Snapshot) -> None:
    test = snapshot.view.evaluated.get("test" if run.reader.dataset().test else "train")
    if test is None:
        opening.not_yet(
            run,
            "The test rows have not been asked yet",
            "They are asked when the run ends or is stopped, or every n steps if the run is set so. "
            "A run that was interrupted or failed asks them once it is resumed.",
        )
        return
    if st.session_state.pop(ASKED, False):
        # The section on labels stands outside this part.
        st.rerun()
    dataset, config = run.reader.dataset(), snapshot.spec.config
    reject, measure = reject_option(snapshot.view, config, dataset, of=test), held_by(config, test.noise)
    test_points = points(test, dataset, reject)
    progress = dissent.asked_words(test, snapshot.view, live=snapshot.state in opening.LIVE)
    notes = [" · ".join(filter(None, (dissent.decided_words(test_points), progress)))]
    notes += [f"{rule_sentence(reject, measure)} {promise_sentence(reject.conformal)}"] if reject.conformal else []
    summary = markup.saying(dissent.saying(test_points, test, config))
    blocks.draw(unread_html(snapshot.view), summary, *map(markup.caption, notes))
    columns, decimals = by_answers(test), dataset.target_decimals
    drawing = Opened(
        test=test,
        view=snapshot.view,
        columns=columns,
        held=held_by(config),
        decimals=decimals,
        readings=pieces.readings(run, snapshot, test.hypotheses),
    )
    draw_dispute(run, drawing, test_points)
    draw_rows(run, drawing, test_points)
    blocks.draw(markup.strip(dissent.metrics(test_points, test, snapshot, dataset)))
    if test.split == "test":  # weights that were made from the rows cannot be judged on them
        draw_verdict(run, test, test_points, measure)


def draw_dispute(run: opening.OpenRun, drawing: Opened, test_points: list[Point]) -> None:
    """Draw the rows in dispute, one of them open: the one that was picked, else the most uncertain."""
    rows = dissent.in_dispute(test_points)
    if not rows:
        return
    key = f"disagreement.picked.{run.directory.id}"
    point = next((each for each in rows if each.row.id == st.session_state.get(key)), rows[0])
    html = picks_html(rows, point.row.id) + drawing.html(point)
    pick = partial(st.session_state.__setitem__, key)
    pieces.steady(html, key="disagreement.open", on_open=pick, on_ask=partial(ask, run))


def ask(run: opening.OpenRun, row: int) -> None:
    settling.choose_row(run, row)
    st.session_state[ASKED] = True


def draw_rows(run: opening.OpenRun, drawing: Opened, test_points: list[Point]) -> None:
    """Draw the matrix, and a field that opens a row of it or another: its choice stays over a new evaluation."""
    test = drawing.test
    numeric = test.metric == "mse"
    heading = markup.heading("Row by row", dissent.order_words(test))
    blocks.draw(f'<div class="target" id="{TABLE}">{heading}</div>')
    uncertain = [point for point in test_points if point.is_uncertain or point.is_undecided]
    only = not numeric and st.toggle("Only where they differ", bool(uncertain), key="disagreement.only")
    rows = uncertain if only else test_points
    key = f"disagreement.most.{run.directory.id}"
    most = int(st.session_state.get(key, MOST))
    by_id = {point.row.id: point for point in test_points}
    point = by_id.get(st.session_state.get(ROW, -1))
    html = drawing.html(point, run.reader.read_answers().by_pair, with_answers=True) if point else ""
    is_inside = any(each is point for each in rows[:most])
    draw_matrix(run, drawing, test_points, rows[:most], under=html if is_inside else "")
    if most < len(rows):
        more = min(MOST, len(rows) - most)
        show = partial(st.session_state.__setitem__, key, most + more)
        st.button(f"Show {more} more", on_click=show, key="disagreement.more")
    left, _ = st.columns([1, 2])
    left.selectbox("Open a row", sorted(by_id), None, key=ROW, placeholder="its number")
    if html and not is_inside:
        pieces.steady(html, key="disagreement.opened", on_ask=partial(ask, run))


def draw_matrix(
    run: opening.OpenRun, drawing: Opened, test_points: list[Point], rows: list[Point], *, under: str
) -> None:
    """Draw the matrix. under: what stands under the open row, if it is among `rows`."""
    if not rows:
        blocks.captions("The particles agree on every row.")
        return
    test, dataset = drawing.test, run.reader.dataset()
    numeric, size = test.metric == "mse", len(test.weights)
    unit = usual_distance(test_points) if numeric else 0.0
    table = Matrix(
        columns=drawing.columns,
        labels=dataset.classes,
        voting=voting(run.snapshot.spec.config, size),
        unit=unit,
        decimals=dataset.target_decimals,
        opened=(st.session_state[ROW], under) if under else None,
    )
    legend = dissent.number_legend(unit, drawing.held) if numeric else dissent.vote_legend(dataset.classes)
    merged = dissent.merged_words(len(drawing.columns), size) if size > 1 else ""
    blocks.captions(f"{legend} {merged}".strip())
    pieces.steady(table.html(rows), key="disagreement.matrix", on_open=open_row, on_ask=partial(ask, run))
    of = counted(len(test_points), ROW_OF[test.split])
    blocks.captions(f"{len(rows)} of {of}. Press a row’s number, or the row, to open it.")


def open_row(row: int) -> None:
    st.session_state[ROW] = None if st.session_state.get(ROW) == row else row


def draw_verdict(run: opening.OpenRun, test: Evaluated, test_points: list[Point], held: str) -> None:
    if len(test.weights) == 1:
        blocks.draw(markup.heading(JUDGED), markup.caption(dissent.NOT_ALONE))
        return
    few = too_few_words(len(test_points))
    result, summary, numbers = dissent.judged(test_points, run.reader.dataset(), held)
    heading = markup.heading(JUDGED, "test rows, whose true labels are known")
    blocks.draw(heading, markup.saying(f"{few} {summary}".strip()), markup.strip(numbers))
    # Plotly looks into pandas where another thread has begun to import it: it must not be met half imported.
    import_module("pandas")
    figures = doubt_figures(result, "dark" if st.context.theme.type == "dark" else "light")
    for column, figure in zip(st.columns(2, gap="large"), figures, strict=False):
        with column:
            draw_figure(figure)


def draw_figure(figure: Figure) -> None:
    """Draw a chart under its title, then its finding in words and its numbers as a table."""
    numbers = markup.table(figure.head, figure.rows, right=range(1, len(figure.head)))
    blocks.draw(markup.heading(figure.title, figure.caption))
    key, config = f"disagreement.{figure.title}", {"displayModeBar": False}
    st.plotly_chart(figure.chart, theme=None, key=key, config=config, alt=figure.alt)
    folded = f'<details class="astable"><summary>Show as table</summary>{numbers}</details>'
    blocks.draw(markup.caption(f"{figure.alt}."), folded)


frame.enter()
page(opening.open_run("Disagreement", "shows the test rows on which the sentences differ."))
