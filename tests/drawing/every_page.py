"""All that pages and exports make of a run, without Streamlit: what a view must be fit for."""

from collections.abc import Iterator
from datetime import datetime

from vpp.drawing import dissent
from vpp.drawing.cards import CardMaker
from vpp.drawing.comparison import conditions_html, cost_html, standings_html, state_words, verdict
from vpp.drawing.deck import deck_html
from vpp.drawing.figures import charts
from vpp.drawing.matrix import Matrix, Opened, usual_distance
from vpp.drawing.rail import band_html, bars_html
from vpp.events import INITIAL_STEP
from vpp.findings.baselines import Baselines
from vpp.findings.comparison import Candidate, compare, conditions
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
from vpp.findings.points import by_answers, points
from vpp.findings.ruled_out import ruled_out, ruled_out_heading, ruled_out_lines, without_survivors
from vpp.findings.scores import by_label, ensemble
from vpp.findings.summary import result
from vpp.reporting.document import report_body
from vpp.reporting.markdown import report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader, Snapshot, balanced_accuracy, read_summary
from vpp.show.page import block_html, html
from vpp.wording.brief import ensemble_metrics, evidence_measure, held_by, unread_html, voting, weights_measure
from vpp.wording.counts import label_cells
from vpp.wording.listing import listed, when_words
from vpp.wording.options import has_effect
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
    report_body(report_markdown(reader, simple_models=False))
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
    five = ensemble(view, dataset) if config.method == "vml5" else None
    ensemble_metrics(five) if five else None


def disagreement(reader: RunReader, snapshot: Snapshot) -> Iterator[str]:
    """Points, the matrix, particles, and doubt against error."""
    test, dataset, config = snapshot.view.evaluated.get("test"), reader.dataset(), snapshot.spec.config
    if test is None:
        return
    found = points(test, dataset)
    dissent.saying(found, test, config), dissent.asked_words(test, snapshot.view, live=False)
    dissent.metrics(found, test, snapshot, dataset)
    unit = usual_distance(found) if test.metric == "mse" else 0.0
    opened = Opened(test=test, view=snapshot.view, columns=by_answers(test), held=held_by(config))
    for point in found[:3]:
        yield opened.html(point, reader.read_answers().by_pair)
    columns, voted, decimals = by_answers(test), voting(config, len(test.weights)), dataset.target_decimals
    yield Matrix(columns=columns, labels=dataset.classes, voting=voted, unit=unit, decimals=decimals).html(found)
    charts(snapshot.view, dataset)


def comparison(reader: RunReader, snapshot: Snapshot) -> Iterator[str]:
    """The run beside itself."""
    run = Candidate(id="run", label=snapshot.spec.name, snapshot=snapshot, dataset=reader.dataset())
    found = compare([run, run], reference=0)
    state_words(run), verdict(found, None)
    yield cost_html({0: run, 1: run})
    if found.comparable:
        yield standings_html(found, NO_MODELS)
    yield conditions_html(conditions(found.runs, used=has_effect), range(2), reference=0, name="all")
