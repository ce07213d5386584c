"""All that pages and exports make of a run, without Streamlit: what a view must be fit for."""

from collections.abc import Iterator
from datetime import datetime

from vpp.events import INITIAL_STEP
from vpp.findings.baselines import Baselines
from vpp.findings.comparison import candidate, compare, others, outcome, settings_block, standings
from vpp.findings.curves import accuracy_curve, ess_curve
from vpp.findings.hypotheses import deck, hypotheses, merge_ideas, order_words, shares_words, similarity
from vpp.findings.progress import asking_words, calls_metric, health, pace, phase
from vpp.findings.result import constant_answer, evidence_measure, odds_words, result, target_words, weights_words
from vpp.findings.rows import calibrated, evaluated_rows, mistakes, opened_row, row_table, timing_words, trust
from vpp.findings.rows import headline as rows_headline
from vpp.findings.ruled_out import ruled_out, ruled_out_heading, ruled_out_lines
from vpp.findings.status import listed, when_words
from vpp.findings.step import Cards, Names, happened, phases, shown_step
from vpp.findings.verdict import run_verdict, unread_alert
from vpp.reporting.document import report_html
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.budget import distinct_rows
from vpp.runs.journal import RunReader, Snapshot, read_summary
from vpp.show.cards import Deck
from vpp.show.markup import block_html, html, text

NO_MODELS = Baselines(models=(), left_out=())
MOST_STEPS = 6
"""Steps that are drawn: the first and the last ones."""


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
    """Every step, its cards, and its figures."""
    view, config, dataset = snapshot.view, snapshot.spec.config, reader.dataset()
    phase(snapshot), pace(snapshot, now=0.0, rows=distinct_rows(dataset)), calls_metric(snapshot)
    yield html(unread_alert(view)) + text(asking_words(snapshot))
    if view.started is None:
        return
    names = Names(view)
    cards = Cards(view, config, dataset, names=names)
    health(view, dataset, names)
    newest = shown_step(view)
    steps = range((-1 if newest is None else newest) + 1)
    for step in dict.fromkeys((*steps[: MOST_STEPS // 2], *steps[-MOST_STEPS // 2 :])):
        happened(view, step, config, names)
        yield html([accuracy_curve(view, dataset, at=step), ess_curve(view, at=step)])
        for each in phases(view.steps[step]):
            yield html([Deck(cards.at(step, each))])
    happened(view, None if newest is not None else INITIAL_STEP, config, names)
    yield html([Deck(cards.first())])
    if newest is not None:
        yield html([Deck(cards.end())])


def posterior(reader: RunReader, snapshot: Snapshot) -> Iterator[str]:
    """The hypotheses apart and merged, and every line of what was ruled out."""
    view, config, dataset = snapshot.view, snapshot.spec.config, reader.dataset()
    ideas = merge_ideas(view, dataset)
    if ideas is None or view.started is None:
        return
    seed_text = view.started.seed_text
    weights_words(snapshot), list(evidence_measure(snapshot)), target_words(config)
    for near in (None, similarity(ideas, dataset)):
        every = hypotheses(ideas, near, seed_text=seed_text, labels=dataset.classes)
        shares_words(every, config, view), order_words(every, config)
        odds_words(constant_answer(view, config, dataset), dataset)
        yield block_html(deck(every, view, config, {}))
    gone = ruled_out(view, dataset)
    yield html(ruled_out_heading(gone, config))
    yield block_html(ruled_out_lines(gone, seed_text=seed_text))


def disagreement(reader: RunReader, snapshot: Snapshot) -> Iterator[str]:
    """The table of rows with some of them open, and when to trust the answers."""
    rows = evaluated_rows(snapshot.view, snapshot.spec.config, reader.dataset())
    if rows is None:
        return
    timing_words(rows.test, snapshot)
    yield html(
        (
            *rows_headline(rows),
            *calibrated(rows),
            *trust(rows, run_verdict(reader.directory, snapshot.view)),
            *mistakes(rows),
        )
    )
    for point in rows.points[:3]:
        inside = opened_row(rows, point, reasons=reader.read_answers().by_pair, readings={})
        yield html([row_table(rows, rows.points, open_row=point.row.id, inside=inside)])


def comparison(reader: RunReader, _: Snapshot) -> Iterator[str]:
    """The run beside itself."""
    run = candidate(reader)
    found = compare([run, run], reference=0)
    parts = [outcome(found, None), *others(found), settings_block(found)]
    yield html([*filter(None, parts), *(standings(found, NO_MODELS) if found.comparable else ())])
