"""All that pages and exports make of a run, without Streamlit: what a view must be fit for."""

from collections.abc import Iterator
from datetime import datetime

from vpp.drawing.cards import CardMaker
from vpp.drawing.deck import deck_html
from vpp.drawing.rail import band_html, bars_html
from vpp.events import INITIAL_STEP
from vpp.findings.baselines import Baselines
from vpp.findings.comparison import Candidate, compare, cost, others, outcome, settings_block, standings
from vpp.findings.counts import label_cells
from vpp.findings.genealogy import genealogy
from vpp.findings.hypotheses import (
    compared_words,
    constant_words,
    deck,
    hypotheses,
    odds_words,
    order_words,
    shares_words,
)
from vpp.findings.ideas import merge_ideas, nearness, survivors
from vpp.findings.listing import listed, when_words
from vpp.findings.result import evidence_measure, result, weights_measure
from vpp.findings.rows import asked_when, evaluated_rows, opened_row, row_table
from vpp.findings.rows import headline as rows_headline
from vpp.findings.ruled_out import ruled_out, ruled_out_heading, ruled_out_lines, without_survivors
from vpp.findings.scores import by_label
from vpp.findings.trust import calibrated, sure_and_right, tiles
from vpp.reporting.document import report_html
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader, Snapshot, balanced_accuracy, read_summary
from vpp.show.page import block_html, html
from vpp.wording.brief import unread_html
from vpp.wording.progress import happened, headline, phase, shown_step

NO_MODELS = Baselines(models=(), left_out=())
MOST_STEPS = 6
"""Steps that are drawn: the first and the last ones."""
MOST_OPENED = 3


def draw_all(reader: RunReader) -> list[str]:
    """Draw every page and export of the run as it is now; return the HTML of the pages."""
    snapshot = reader.refresh()
    when = when_words(datetime(2026, 1, 1), datetime(2026, 1, 2))
    listed(reader.directory.id, snapshot.spec, snapshot.state, read_summary(reader.directory), when)
    exports(reader)
    parts = (watch, posterior, disagreement, comparison)
    return [html for part in parts for html in part(reader, snapshot)]


def exports(reader: RunReader) -> None:
    """The files beside a run."""
    report_html(reader)
    posterior_json(reader)
    predictions_csv(reader)
    result(reader.directory, reader.refresh().view)


def watch(reader: RunReader, snapshot: Snapshot) -> Iterator[str]:
    """Every step, its cards, its numbers and its bars."""
    view, config, dataset = snapshot.view, snapshot.spec.config, reader.dataset()
    phase(snapshot)
    yield unread_html(view)
    newest = shown_step(view)
    maker = CardMaker(view, config, dataset, PromptMaker(snapshot.spec, dataset, answers=reader.read_answers))
    seed_text = view.started.seed_text if view.started else ""
    steps = range((-1 if newest is None else newest) + 1)
    for step in dict.fromkeys((None, *steps[: MOST_STEPS // 2], *steps[-MOST_STEPS // 2 :])):
        headline(snapshot, step)
        if view.last_step is not None:
            balanced = balanced_accuracy(view, reader.dataset) if step is None else None
            happened(view, INITIAL_STEP if newest is None else step, config, balanced=balanced)
            yield band_html(view, shown=step, has_end=step is None)
            yield bars_html(view, config, dataset, step)
    if view.started is not None and view.drawn:
        yield deck_html(maker.initial(), seed_text=seed_text)
        if newest is not None:
            yield deck_html(maker.final(), seed_text=seed_text)
            yield deck_html(maker.at(newest), seed_text=seed_text)


def posterior(reader: RunReader, snapshot: Snapshot) -> Iterator[str]:
    """The hypotheses apart and merged, and every line of what was ruled out."""
    view, config, dataset = snapshot.view, snapshot.spec.config, reader.dataset()
    ideas = merge_ideas(view, dataset)
    if ideas is None or view.started is None:
        return
    seed_text, family = view.started.seed_text, genealogy(view)
    compared_words(ideas), weights_measure(snapshot), list(evidence_measure(snapshot))
    odds_words(view, config, dataset), constant_words(view, config, dataset)
    label_cells(by_label(view.evaluated.get("test"), dataset))
    for near in (None, nearness(ideas, dataset)):
        every = hypotheses(ideas, near, seed_text=seed_text, labels=dataset.classes)
        shares_words(every, config, view), order_words(every, config)
        yield block_html(deck(every, config, readings={}, family=family, seed_text=seed_text))
    gone = without_survivors(ruled_out(view, dataset), survivors(view, ideas))
    yield html(ruled_out_heading(gone, config))
    for opened in (None, *range(min(len(gone), MOST_OPENED))):
        yield block_html(ruled_out_lines(gone, seed_text=seed_text, opened=opened))


def disagreement(reader: RunReader, snapshot: Snapshot) -> Iterator[str]:
    """The table of rows with some of them open, and when to trust the answers."""
    rows = evaluated_rows(snapshot.view, snapshot.spec.config, reader.dataset())
    if rows is None:
        return
    asked_when(rows.test, snapshot, is_live=False)
    yield html((*rows_headline(rows), *calibrated(rows), tiles(rows, None), *sure_and_right(rows)))
    for point in rows.points[:3]:
        inside = opened_row(rows, point, reasons=reader.read_answers().by_pair, readings={})
        yield html([row_table(rows, rows.points, open_row=point.row.id, inside=inside)])


def comparison(reader: RunReader, snapshot: Snapshot) -> Iterator[str]:
    """The run beside itself."""
    run = Candidate(id="run", label=snapshot.spec.name, snapshot=snapshot, dataset=reader.dataset())
    found = compare([run, run], reference=0)
    parts = [outcome(found, None), *others(found), cost(found), settings_block(found, {})]
    yield html([*filter(None, parts), *(standings(found, NO_MODELS) if found.comparable else ())])
