"""Disagreement: the test points on which the particles differ, and whether doubt means error."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import frame, settling
from vpp.drawing import dissent, trust
from vpp.drawing.calibration_figures import reliability_figure, risk_figure, spread_figure
from vpp.drawing.contrast import point_html, sentences
from vpp.drawing.matrix import Matrix, usual_distance
from vpp.events import Evaluated
from vpp.inspection.columns import by_answers, by_particle
from vpp.inspection.points import Point, points
from vpp.inspection.reliability import spread_reliability, vote_reliability
from vpp.inspection.scores import rows_by_id
from vpp.inspection.voices import voices
from vpp.runs.reader import Snapshot
from vpp.wording import markup
from vpp.wording.brief import voting

# Rows of the matrix at a time; particles of the table before the rest is folded away; particles from which on those
# with the same answers share a column unless told otherwise. (Streamlit would draw a docstring here.)
MOST, MOST_VOICES, MANY = 60, 12, 16
EACH, ALIKE = "Each particle", "Same answers together"
JUDGED = "Does uncertainty mean error?"


def page(run: frame.OpenRun) -> None:
    """What refreshes while the run is live, then what asks the model."""
    live = run.snapshot.state in frame.LIVE
    frame.head(run, "Where the particles disagree")

    @st.fragment(run_every=3.0 if live else None)
    def now() -> None:
        snapshot = run.reader.refresh()
        draw(run, snapshot)
        if snapshot.state != run.snapshot.state:
            st.rerun()

    now()
    settling.draw(run)


def draw(run: frame.OpenRun, snapshot: Snapshot) -> None:
    """The last evaluation of the test rows."""
    test = snapshot.view.evaluated.get("test")
    if test is None:
        not_asked(run)
        return
    found = points(test, rows_by_id(run.reader.dataset()))
    live = snapshot.state in frame.LIVE
    asked = dissent.asked_words(test, snapshot.view, snapshot.spec.config, live=live)
    st.html(markup.block(markup.saying(dissent.saying(found, test)), markup.caption(asked)))
    counts(snapshot, test, found)
    matrix(run, snapshot, test, found)
    opened(run, snapshot, test, found)
    particles(run, test)
    judged(run, test, found)


def not_asked(run: frame.OpenRun) -> None:
    """The page before the test rows are evaluated."""
    st.html(
        markup.block(
            markup.state(
                "The test rows have not been asked yet",
                "They are asked when the run ends or is stopped, or every n steps where the run was told to. "
                "A run that was interrupted or failed asks them once it is resumed.",
            )
        )
    )
    st.page_link("pages/watch.py", label="Watch the run", query_params={"run": run.directory.id})


def counts(snapshot: Snapshot, test: Evaluated, found: list[Point]) -> None:
    """The numbers of the page, and for labels from which weight on an answer is well backed."""
    config = snapshot.spec.config
    if test.metric == "mse":
        st.html(markup.block(markup.strip(dissent.number_strip(found, test, config))))
        return
    strip = st.container()
    left, _ = st.columns([1, 2])
    percent = left.slider("Weakly backed: weight below, in %", 50, 100, 95, key="disagreement.below")
    strip.html(markup.block(markup.strip(dissent.vote_strip(found, test, config, below=percent / 100))))


def matrix(run: frame.OpenRun, snapshot: Snapshot, test: Evaluated, found: list[Point]) -> None:
    """Points x particles, some rows at a time."""
    config, size, numeric = snapshot.spec.config, len(test.weights), test.metric == "mse"
    st.html(markup.block(markup.heading("Point by point", dissent.order_words(test, config))))
    left, right = st.columns([1, 2]) if not numeric else (st.container(), st.container())
    uncertain = [point for point in found if point.is_uncertain]
    only = not numeric and left.toggle("Only where they differ", bool(uncertain), key="disagreement.only")
    alike = size > 1 and columns_chosen(right, size) == ALIKE
    shown = uncertain if only else found
    if not shown:
        st.html(markup.block(markup.caption("The particles agree on every test point.")))
        return
    unit, classes = usual_distance(found) if numeric else 0.0, run.reader.dataset().classes
    columns = by_answers(test) if alike else by_particle(test.weights)
    drawn = Matrix(columns=columns, labels=classes, voting=voting(config, size), unit=unit)
    most = int(st.session_state.get(_most(run), MOST))
    legend = dissent.number_legend(unit) if numeric else dissent.vote_legend(classes)
    merged = dissent.merged_words(len(columns), size) if alike else ""
    told = f"{min(most, len(shown))} of {len(found)} test rows."
    st.html(markup.block(markup.caption(f"{legend} {merged}"), drawn.html(shown[:most]), markup.caption(told)))
    if most < len(shown):
        more = min(MOST, len(shown) - most)
        st.button(f"Show {more} more", on_click=show, args=(run, most + more), key="disagreement.more")


def show(run: frame.OpenRun, rows: int) -> None:
    """So many rows of this run's matrix from now on."""
    st.session_state[_most(run)] = rows


def columns_chosen(place: DeltaGenerator, size: int) -> str | None:
    """What a column of the matrix is."""
    return place.segmented_control(
        "Columns", (EACH, ALIKE), default=ALIKE if size > MANY else EACH, key="disagreement.columns",
        required=True, label_visibility="collapsed",
    )  # fmt: skip


def _most(run: frame.OpenRun) -> str:
    """Where a browser session keeps how many rows of this run are shown."""
    return f"disagreement.most.{run.directory.id}"


def opened(run: frame.OpenRun, snapshot: Snapshot, test: Evaluated, found: list[Point]) -> None:
    """One point, whichever rows the matrix shows; the choices never change, so that a new evaluation keeps it open."""
    by_id = {point.row.id: point for point in found}
    left, _ = st.columns([1, 2])
    chosen = left.selectbox("Open a row", sorted(by_id), None, key="disagreement.row", placeholder="its number")
    if chosen is None:
        return
    view = snapshot.view
    sentence = sentences(test, view.texts, view.started.seed_text if view.started else "")
    st.html(markup.block(point_html(by_id[chosen], test, run.reader.read_answers().by_pair, sentence)))


def particles(run: frame.OpenRun, test: Evaluated) -> None:
    """A line a particle."""
    head, rows = trust.voice_table(voices(test, run.reader.dataset()))
    right = range(1, len(head))
    table, rest = markup.table(head, rows[:MOST_VOICES], right=right), rows[MOST_VOICES:]
    if rest:
        more = markup.table(head, rest, right=right)
        table += f'<details class="astable"><summary>The other {len(rest)}</summary>{more}</details>'
    words = trust.VOICES_OF_NUMBERS if test.metric == "mse" else trust.VOICES_OF_LABELS
    st.html(markup.block(markup.heading("Particle by particle", "on the test rows"), table, markup.caption(words)))


def judged(run: frame.OpenRun, test: Evaluated, found: list[Point]) -> None:
    """Doubt against error; no curve where every answer is as sure as the next."""
    why_not, few = trust.why_not_judged(len(test.weights)), trust.too_few_words(len(found))
    if why_not:
        st.html(markup.block(markup.heading(JUDGED), markup.caption(why_not)))
        return
    left = markup.heading(JUDGED, "the test rows, whose truth is known")
    if test.metric == "mse":
        spread = spread_reliability(found, run.reader.dataset())
        said, numbers, curve = trust.spread_saying(spread), trust.spread_metrics(spread), spread.curve
        equal = spread.is_equally_sure
    else:
        vote = vote_reliability(found)
        said, numbers, curve = trust.vote_saying(vote), trust.vote_metrics(vote), vote.curve
        equal = vote.is_equally_sure
    st.html(markup.block(left, markup.saying(f"{few} {said}".strip()), markup.strip(numbers)))
    first, second = st.columns(2)
    if not equal:
        with first:
            frame.figure(
                lambda mode: risk_figure(curve, mode, is_label=test.metric != "mse"),
                title="Risk against coverage", caption="error if only the most certain rows are answered",
                key="disagreement.risk",
            )  # fmt: skip
    with first if equal else second:
        if test.metric != "mse":
            frame.figure(
                lambda mode: reliability_figure(vote, mode),
                title="Reliability", caption="right answers by the vote’s share · numbers: rows",
                key="disagreement.reliability",
            )  # fmt: skip
        elif not equal:
            frame.figure(
                lambda mode: spread_figure(spread, mode),
                title="Error by spread", caption="a dot a row", key="disagreement.spread",
            )  # fmt: skip


frame.enter()
page(frame.open_run("Disagreement shows the test points on which the sentences differ."))
