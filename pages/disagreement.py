"""Disagreement: the test rows in dispute, the rival sentences, and whether uncertainty means error."""

from functools import partial

import streamlit as st

from pages.parts import blocks, frame, opening, pieces, settling
from vpp.drawing import dissent
from vpp.drawing.figures import reliability_figure, risk_figure, spread_figure
from vpp.drawing.matrix import TABLE, Matrix, Opened, is_read, picks_html, usual_distance
from vpp.events import Evaluated
from vpp.inspection.points import Point, VoteReliability, by_answers, by_particle, calibrated, points, voices
from vpp.inspection.scores import rows_by_id
from vpp.posterior.prediction import CLEAR_WORDS
from vpp.runs.reader import Snapshot
from vpp.wording import markup
from vpp.wording.brief import held_by, unread_html, voting
from vpp.wording.verdicts import promise_sentence, rule_sentence, too_few_words
from vpp.wording.words import ROW_OF, counted

# Rows of the matrix at a time; particles of the table before the rest is folded away. (Streamlit would draw a docstring
# here.)
MOST, MOST_VOICES = 60, 12
EACH, ALIKE = "Each particle", "Same answers together"
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
    doubt = calibrated(snapshot.view, dataset, of=test)
    test_points = points(test, rows_by_id(dataset), doubt)
    asked = dissent.asked_words(test, snapshot.view, live=snapshot.state in opening.LIVE)
    known = " · ".join(filter(None, (dissent.decided_words(test_points), asked)))
    summary = markup.saying(dissent.saying(test_points, test, config))
    promise = f"{rule_sentence(doubt, held_by(config))} {promise_sentence(doubt)}" if doubt else ""
    blocks.draw(unread_html(snapshot.view), summary, markup.caption(known), markup.caption(promise) if promise else "")
    drawing = Opened(
        test=test, view=snapshot.view, columns=by_answers(test), held=held_by(config), decimals=dataset.target_decimals
    )
    disputed(run, drawing, test_points)
    matrix(run, drawing, test_points)
    blocks.draw(markup.strip(dissent.metrics(test_points, test, snapshot, dataset)))
    particles(run, test, is_weighted=config.is_weighted)
    if test.split == "test":  # weights that were made from the rows cannot be judged on them
        judged(run, test, test_points, drawing.held)


def disputed(run: opening.OpenRun, drawing: Opened, test_points: list[Point]) -> None:
    """Draw the rows in dispute, one of them open: the one that was picked, else the most uncertain."""
    rows = dissent.in_dispute(test_points)
    if not rows:
        return
    key = f"disagreement.picked.{run.directory.id}"
    point = next((each for each in rows if each.row.id == st.session_state.get(key)), rows[0])
    reasons = run.reader.read_answers().by_pair if is_read(point.row) else None
    html = picks_html(rows, point.row.id) + drawing.html(point, reasons)
    pick = partial(st.session_state.__setitem__, key)
    pieces.steady(html, key="disagreement.open", on_open=pick, on_ask=partial(ask, run))
    if st.toggle("Answers and reasons", key="disagreement.reasons"):
        blocks.draw(drawing.answers_html(point, run.reader.read_answers().by_pair))


def ask(run: opening.OpenRun, row: int) -> None:
    settling.choose_row(run, row)
    st.session_state[ASKED] = True


def matrix(run: opening.OpenRun, drawing: Opened, test_points: list[Point]) -> None:
    test = drawing.test
    size, numeric = len(test.weights), test.metric == "mse"
    heading = markup.heading("Row by row", dissent.order_words(test))
    blocks.draw(f'<div class="target" id="{TABLE}">{heading}</div>')
    left, right = st.columns([1, 2]) if not numeric else (st.container(), st.container())
    uncertain = [point for point in test_points if point.is_uncertain]
    only = not numeric and left.toggle("Only where they differ", bool(uncertain), key="disagreement.only")
    columns = ALIKE
    if size > 1:
        columns = right.segmented_control(
            "Columns", (ALIKE, EACH), default=ALIKE, key="disagreement.columns", required=True,
            label_visibility="collapsed",
        )  # fmt: skip
    shown = uncertain if only else test_points
    key = f"disagreement.most.{run.directory.id}"
    most = int(st.session_state.get(key, MOST))
    inside = draw_matrix(run, drawing, test_points, shown[:most], alike=columns == ALIKE)
    if most < len(shown):
        more = min(MOST, len(shown) - most)
        show = partial(st.session_state.__setitem__, key, most + more)
        st.button(f"Show {more} more", on_click=show, key="disagreement.more")
    opened(run, drawing, test_points, is_drawn=inside)


def draw_matrix(
    run: opening.OpenRun, drawing: Opened, test_points: list[Point], shown: list[Point], *, alike: bool
) -> bool:
    """Draw the matrix; return whether the opened row is in it."""
    if not shown:
        blocks.captions("The particles agree on every row.")
        return False
    test, dataset = drawing.test, run.reader.dataset()
    numeric, size = test.metric == "mse", len(test.weights)
    unit = usual_distance(test_points) if numeric else 0.0
    columns = drawing.columns if alike else by_particle(test.weights)
    chosen = next((point for point in shown if point.row.id == st.session_state.get(ROW)), None)
    under = (chosen.row.id, opened_html(run, drawing, chosen)) if chosen else None
    voted = voting(run.snapshot.spec.config, size)
    table = Matrix(
        columns=columns, labels=dataset.classes, voting=voted, unit=unit, decimals=dataset.target_decimals, opened=under
    )
    legend = dissent.number_legend(unit, drawing.held) if numeric else dissent.vote_legend(dataset.classes)
    merged = dissent.merged_words(len(columns), size) if alike and size > 1 else ""
    blocks.captions(f"{legend} {merged}".strip())
    pieces.steady(table.html(shown), key="disagreement.matrix", on_open=open_row, on_ask=partial(ask, run))
    rows = counted(len(test_points), ROW_OF[test.split])
    blocks.captions(f"{len(shown)} of {rows}. Press a row’s number, or the row, to open it.")
    return chosen is not None


def open_row(row: int) -> None:
    st.session_state[ROW] = None if st.session_state.get(ROW) == row else row


def opened(run: opening.OpenRun, drawing: Opened, test_points: list[Point], *, is_drawn: bool) -> None:
    """Ask for a row to open, whichever rows the matrix shows. The choices stay, so a new evaluation keeps it open.

    is_drawn: whether the matrix shows it already.
    """
    by_id = {point.row.id: point for point in test_points}
    left, _ = st.columns([1, 2])
    chosen = left.selectbox("Open a row", sorted(by_id), None, key=ROW, placeholder="its number")
    if chosen is not None and not is_drawn:
        html = opened_html(run, drawing, by_id[chosen])
        pieces.steady(html, key="disagreement.opened", on_ask=partial(ask, run))


def opened_html(run: opening.OpenRun, drawing: Opened, point: Point) -> str:
    return drawing.html(point, run.reader.read_answers().by_pair, with_answers=True)


def particles(run: opening.OpenRun, test: Evaluated, *, is_weighted: bool) -> None:
    head, rows = dissent.voice_table(voices(test, run.reader.dataset()), is_weighted=is_weighted)
    right = range(1, len(head))
    table, rest = markup.CUE + markup.table(head, rows[:MOST_VOICES], right=right, terms=True), rows[MOST_VOICES:]
    if rest:
        more = markup.CUE + markup.table(head, rest, right=right, name="the other particles")
        table += f'<details class="astable"><summary>The other {len(rest)}</summary>{more}</details>'
    words = dissent.VOICES_OF_NUMBERS if test.metric == "mse" else dissent.VOICES_OF_LABELS
    section = markup.heading("Particle by particle", f"on the {ROW_OF[test.split]}s") + table + markup.caption(words)
    pieces.steady(section, key="disagreement.particles")


def judged(run: opening.OpenRun, test: Evaluated, test_points: list[Point], held: str) -> None:
    if len(test.weights) == 1:
        blocks.draw(markup.heading(JUDGED), markup.caption(dissent.NOT_ALONE))
        return
    few = too_few_words(len(test_points))
    result, summary, numbers = dissent.judged(test_points, run.reader.dataset(), held)
    left = markup.heading(JUDGED, "test rows, whose true labels are known")
    blocks.draw(left, markup.saying(f"{few} {summary}".strip()), markup.strip(numbers))
    first, second = st.columns(2, gap="large")
    unknown = "" if test_points[0].calibrated else f" · “I don’t know” below {CLEAR_WORDS}"
    if not result.is_equally_sure:
        with first:
            pieces.figure(
                lambda mode: risk_figure(result.curve, mode, is_label=test.metric != "mse"),
                title="Risk against coverage", caption="error if only the most certain rows are answered",
                key="disagreement.risk",
            )  # fmt: skip
    with first if result.is_equally_sure else second:
        if isinstance(result, VoteReliability):
            pieces.figure(
                partial(reliability_figure, result),
                title="Reliability", key="disagreement.reliability",
                caption=f"leading label right, by its share{unknown} · numbers: rows",
            )  # fmt: skip
        elif not result.is_equally_sure:
            pieces.figure(
                partial(spread_figure, result),
                title="Error by spread", caption="a dot a row", key="disagreement.spread",
            )  # fmt: skip


frame.enter()
page(opening.open_run("Disagreement", "shows the test rows on which the sentences differ."))
