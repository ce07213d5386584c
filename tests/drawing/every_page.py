"""All that pages and exports make of a run, without Streamlit: what a view must be fit for."""

from collections.abc import Iterator
from datetime import datetime

from vpp.drawing import dissent
from vpp.drawing.cards import CardMaker, ancestry_html
from vpp.drawing.comparison import conditions_html, cost_html, standings_html, state_words, verdict
from vpp.drawing.deck import deck_html
from vpp.drawing.figures import charts
from vpp.drawing.idea_deck import groups_html, ideas_html, meaning
from vpp.drawing.idea_deck import verdict as near_verdict
from vpp.drawing.ledger import counts_words, ruled_out_html, ruled_out_sentence
from vpp.drawing.matrix import Matrix, Opened, usual_distance
from vpp.drawing.rail import band_html, bars_html
from vpp.events import INITIAL_STEP
from vpp.findings.baselines import Baselines
from vpp.findings.comparison import Candidate, compare, conditions
from vpp.findings.genealogy import genealogy
from vpp.findings.ideas import merge_ideas, nearness, survivors
from vpp.findings.listing import listed, when_words
from vpp.findings.options import has_effect
from vpp.findings.points import by_answers, points
from vpp.findings.ruled_out import ruled_out, without_survivors
from vpp.findings.scores import by_label, ensemble
from vpp.findings.summary import result
from vpp.reporting.document import report_body
from vpp.reporting.markdown import report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader, Snapshot, balanced_accuracy, read_summary
from vpp.wording.brief import (
    compared_words,
    ensemble_metrics,
    evidence_measure,
    held_by,
    shares_sentence,
    unread_html,
    voting,
    weights_measure,
)
from vpp.wording.counts import label_cells
from vpp.wording.progress import happened, headline, phase, shown_step

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
    """Ideas, how near they are, the genealogy and the ledger."""
    view, config, dataset = snapshot.view, snapshot.spec.config, reader.dataset()
    ideas = merge_ideas(view, dataset)
    if ideas is None or view.started is None:
        return
    seed_text, weighted = view.started.seed_text, config.is_weighted
    gone = without_survivors(ruled_out(view, dataset), survivors(view, ideas))
    (
        shares_sentence(ideas, config, view),
        ruled_out_sentence(gone, config),
        compared_words(ideas),
        weights_measure(snapshot),
    )
    evidence_measure(snapshot), counts_words(gone), label_cells(by_label(view.evaluated.get("test"), dataset))
    yield ideas_html(ideas, seed_text=seed_text, is_weighted=weighted)
    yield ruled_out_html(gone, seed_text=seed_text, survivors=survivors(view, ideas))
    five = ensemble(view, dataset) if config.method == "vml5" else None
    ensemble_metrics(five) if five else None
    near = nearness(ideas, dataset)
    if near is not None and near.n > 1:
        groups = near.groups(0.95)
        near_verdict(near, groups, 0.95), meaning(near, 0.95)
        yield groups_html(near, groups, seed_text=seed_text, is_weighted=weighted)
    family = genealogy(view)
    if family is not None:
        for slot in range(len(family.last)):
            yield ancestry_html(family.ancestry(slot), seed_text=seed_text, is_weighted=weighted, most=None)


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
