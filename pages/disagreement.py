"""Disagreement: the test points on which the particles differ."""

import streamlit as st

from pages.parts import frame
from vpp.inspection.points import Point, points
from vpp.reporting import markup
from vpp.reporting.brief import voting
from vpp.reporting.matrix import code_legend, matrix_html
from vpp.reporting.words import fixed, number, percent, uncertain_sentence

MOST = 60
NUMERIC_LEGEND = (
    "Each cell is a particle’s answer. Hatched: no readable answer. At the right the mean, and the range that holds "
    "90 % of the particles’ weight: how far they differ; noise not included."
)
I_DO_NOT_KNOW = " There the answer is “I don’t know”: read the vote before you trust it."


def page(run: frame.OpenRun) -> None:
    """The matrix of the last evaluation."""
    frame.head(run, "Where the particles disagree")
    view = run.snapshot.view
    test = view.evaluated.get("test")
    if test is None:
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
        st.stop()
    dataset = run.reader.dataset()
    found = points(test, {row.id: row for row in dataset.test})
    numeric = test.metric == "mse"
    uncertain = [point for point in found if point.is_uncertain]
    said = numeric_saying(found) if numeric else saying(len(uncertain), len(found))
    if len(test.weights) == 1:
        said = "There is one hypothesis: it cannot disagree with itself, and says nothing of how sure it is."
    kind = voting(run.snapshot.spec.config, len(test.weights))
    st.html(markup.block(markup.saying(said), markup.strip(strip(found, test.value, numeric, kind))))
    by = "columns by weight" if kind == "weighted" else "columns by number: each counts alike"
    st.html(markup.block(markup.heading("Point by point", f"most uncertain first · {by}")))
    only = not numeric and st.toggle("Only where they differ", value=bool(uncertain), key="disagreement.only")
    shown = [p for p in found if p.is_uncertain] if only else found
    if not shown:
        st.html(markup.block(markup.caption("The particles agree on every test point.")))
        return
    signs = code_legend(dataset.classes)
    legend = f"Quiet cell: agrees with the vote. Inked: dissents. Hatched: no readable answer. {signs}"
    st.html(
        markup.block(
            markup.caption(legend if not numeric else NUMERIC_LEGEND),
            matrix_html(shown[:MOST], test.weights, dataset.classes, voting=kind),
            markup.caption(f"{len(shown[:MOST])} of {len(found)} test rows."),
        )
    )
    opened(run, shown)


def saying(uncertain: int, n: int) -> str:
    """For labels."""
    return uncertain_sentence(uncertain, n) + (I_DO_NOT_KNOW if uncertain else "")


def numeric_saying(found: list[Point]) -> str:
    """For numbers, which hardly ever agree to the digit."""
    widest = found[0]
    return f"The answers spread most on row {widest.row.id}: a standard deviation of {number(widest.doubt)}."


def strip(found: list[Point], value: float, numeric: bool, kind: str) -> list[markup.Metric]:
    """The numbers of the page; `kind` says whether the average is weighted, empty for one hypothesis."""
    of = f"Of the {kind} {'mean' if numeric else 'vote'}" if kind else "Of the one hypothesis"
    n = len(found)
    uncertain = sum(p.is_uncertain for p in found)
    abstained = sum(vote is None for p in found for vote in p.votes)
    asked = sum(len(p.votes) for p in found)
    unread = markup.Metric(
        name="Abstained", value=str(abstained), scale=f"of {asked}", words="Unreadable answers, counted as wrong."
    )
    if numeric:
        spread = sum(p.doubt for p in found) / n
        return [
            markup.Metric(name="Mean squared error", value=number(value), words=f"{of} on the test rows."),
            markup.Metric(
                name="Mean spread",
                value=number(spread),
                words=f"{'Weighted s' if kind == 'weighted' else 'S'}tandard deviation of the answers.",
            ),
            unread,
        ]
    finite = [p.doubt for p in found if p.doubt != float("inf")]
    entropy = sum(finite) / len(finite) if finite else 0.0
    return [
        markup.Metric(
            name="Uncertain points", value=str(uncertain), scale=f"of {n}", words="Rows on which not all voices agree."
        ),
        markup.Metric(
            name="Mean vote entropy",
            value=fixed(entropy),
            scale="bits",
            words="0 is unanimous; 1 is an even split in two.",
        ),
        unread,
        markup.Metric(name="Vote accuracy", value=percent(value, 1), words=f"{of} on the test rows."),
    ]


def opened(run: frame.OpenRun, shown: list[Point]) -> None:
    """One point: inputs, truth, each particle's answer and its reason."""
    by_id = {point.row.id: point for point in shown}
    chosen = st.selectbox("Open a row", list(by_id), index=None, key="disagreement.row", placeholder="row number")
    if chosen is None:
        return
    point, test = by_id[chosen], run.snapshot.view.evaluated["test"]
    said = run.reader.read_answers().by_pair
    rows = []
    for slot in sorted(range(len(test.weights)), key=lambda k: (-test.weights[k], k)):
        prediction = said.get((test.hypotheses[slot], point.row.id))
        answer = "no readable answer" if point.votes[slot] is None else str(point.votes[slot])
        why = prediction.explanation or prediction.reason or "" if prediction else ""
        rows.append((str(slot), f"{test.weights[slot]:.3f}", answer, why))
    inputs = [(name, "missing" if cell is None else cell) for name, cell in point.row.inputs]
    st.html(
        markup.block(
            markup.heading(f"Row {point.row.id}", f"true: {point.row.target}"),
            markup.table(("input", "value"), inputs),
            markup.table(("particle", "weight", "answer", "its reason"), rows, right=(1,)),
        )
    )


frame.enter()
page(frame.open_run("Disagreement shows the test points on which the sentences differ."))
