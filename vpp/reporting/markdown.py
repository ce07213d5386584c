"""report.md: a run as it is now, whole and readable without the app.

Text from a model, a CSV or a user is data: it passes through `escaping` and can be nothing but text.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from textwrap import shorten

from vpp.data.dataset import Column, Dataset, Row
from vpp.posterior.prediction import Value
from vpp.reporting.brief import Measure, compared_sentence, headline, measures, weights_measure
from vpp.reporting.caveats import caveats, is_demo, steps_text
from vpp.reporting.command import repeat_command, without_credentials
from vpp.reporting.escaping import markdown_code, markdown_quote, markdown_table, markdown_text
from vpp.reporting.ideas import Idea, Ideas, merge_ideas
from vpp.reporting.matrix import Point, inputs_line, points
from vpp.reporting.ruled_out import Occasion, RuledOut, rejected, resampled_away, unparsable
from vpp.reporting.scores import rows_by_id
from vpp.reporting.words import (
    NBSP,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    listed,
    number,
    percent,
    seconds,
    value_text,
    weights_sentence,
)
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.view import StepView
from vpp.settings import METHOD_NAMES, option_docs

MOST_POINTS = 50
"""Uncertain points shown; predictions.csv has all."""
WIDEST_POINTS = 10
"""Points shown for regression, where all differ."""
WORST_ROWS = 3
"""Rows shown beside a hypothesis that was ruled out."""
LONGEST_INPUTS = 300
"""Characters of a row's inputs shown in a table."""
NONE = "–"

_STATES = {
    "queued": "waiting for its turn",
    "running": "still running",
    "paused": "paused",
    "stalled": "its worker gives no sign of life",
    "interrupted": "interrupted: its worker is gone, and it can be resumed",
    "finished": "finished",
    "stopped": "stopped by the user",
    "failed": "failed, and can be resumed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What the sections are made from."""

    id: str
    snapshot: Snapshot
    dataset: Dataset
    ideas: Ideas | None


def report_markdown(reader: RunReader) -> str:
    """The whole report, of an unfinished run too; what is not there yet is said."""
    snapshot, dataset = reader.refresh(), reader.dataset()
    run = _Run(id=reader.directory.id, snapshot=snapshot, dataset=dataset, ideas=merge_ideas(snapshot.view, dataset))
    sections = (
        _head(run),
        _section("In brief", _brief(run)),
        _section("Data", _data(run)),
        _section("Method and settings", _method(run)),
        _section("The posterior", _posterior(run)),
        _section("ESS and acceptance by step", _steps(run)),
        _section("What the data ruled out", _ruled_out(run)),
        _section("Where the particles disagree", _disagreement(run)),
        _section("How far to trust this", _trust(run)),
        _section("Calls", _calls(run)),
        _section("Reproduce", _reproduce(run)),
    )
    return "\n\n".join(sections) + "\n"


def _section(title: str, parts: Iterator[str]) -> str:
    return "\n\n".join((f"## {title}", *parts))


# Head


def _head(run: _Run) -> str:
    return "\n\n".join((f"# {markdown_text(run.snapshot.spec.name)}", *_banners(run), _what(run), _headline(run)))


def _banners(run: _Run) -> Iterator[str]:
    if is_demo(run.snapshot):
        yield (
            "> **Built-in demo model.** It is a small program that reads and writes plain English rules, "
            "not a language model."
        )
    if run.snapshot.damage:
        yield f"> **Damaged journal.** {markdown_text(run.snapshot.damage)}"
    if run.snapshot.view.detail:
        yield f"> **{capitalised(run.snapshot.state)}.** {markdown_text(run.snapshot.view.detail)}"


def _what(run: _Run) -> str:
    config, view = run.snapshot.spec.config, run.snapshot.view
    begun = f", begun {_moment(view.began_at)}" if view.began_at is not None else ""
    return (
        f"{METHOD_NAMES[config.method]}, K = {config.size}, seed {config.seed}, {steps_text(view)} "
        f"({_STATES[run.snapshot.state]}){begun}. Run {markdown_text(run.id)}."
    )


def _moment(unix_time: float) -> str:
    return f"{datetime.fromtimestamp(unix_time, UTC):%Y-%m-%d %H:%M} UTC"


def _headline(run: _Run) -> str:
    return f"**{headline(run.snapshot.view, run.dataset, run.ideas)}**"


# In brief


def _brief(run: _Run) -> Iterator[str]:
    found = measures(run.snapshot, run.dataset, run.ideas)
    yield markdown_table(("measure", "value", "in words"), [_measure(m) for m in found], right=(1,))
    if "test" not in run.snapshot.view.evaluated:
        yield "The test rows are not evaluated yet, so no error can be given."


def _measure(measure: Measure) -> tuple[str, str, str]:
    outside = f" {markdown_text(measure.outside)}" if measure.outside else ""
    return measure.name, measure.value, measure.words + outside


# Data


def _data(run: _Run) -> Iterator[str]:
    dataset, provenance = run.dataset, run.dataset.provenance
    used = len(dataset.train) + len(dataset.test)
    facts = [
        ("file", markdown_text(provenance.file)),
        ("SHA-256", provenance.sha256),
        ("rows in the file", integer(provenance.n_rows)),
        ("rows used", f"{integer(used)}: {integer(len(dataset.train))} training, {integer(len(dataset.test))} test"),
        ("left out", _left_out(provenance.n_unlabelled, provenance.n_left_out)),
        ("target", f"{markdown_text(dataset.target)} ({dataset.task})"),
    ]
    if dataset.classes:
        facts.append(("labels", markdown_text(", ".join(dataset.classes))))
    yield markdown_table(("", ""), facts)
    yield markdown_table(
        ("column", "kind", "role", "distinct values", "missing cells"),
        [_column(column, dataset) for column in dataset.columns],
        right=(3, 4),
    )
    if provenance.notes:
        yield "\n".join(f"- {markdown_text(note)}" for note in provenance.notes)


def _left_out(n_unlabelled: int, n_left_out: int) -> str:
    return f"{integer(n_unlabelled)} without a target, {integer(n_left_out)} beyond the sizes asked for"


def _column(column: Column, dataset: Dataset) -> tuple[str, ...]:
    role = "target" if column.name == dataset.target else "input" if column.name in dataset.inputs else "not used"
    return markdown_text(column.name), column.kind, role, integer(column.n_distinct), integer(column.n_missing)


# Method and settings


def _method(run: _Run) -> Iterator[str]:
    spec, view = run.snapshot.spec, run.snapshot.view
    docs = option_docs()
    options = [
        (name, markdown_text(str(getattr(spec.config, name))) or "(none)", markdown_text(doc))
        for name, doc in docs.items()
    ]
    yield markdown_table(("option", "value", "what it means"), options)
    yield markdown_table(("", ""), list(_served_by(run)))
    if view.started is None:
        yield "The run has not begun: the seed sentence and the templates are not recorded yet."
        return
    yield "Every hypothesis begins with the seed sentence:"
    yield markdown_quote(view.started.seed_text)


def _served_by(run: _Run) -> Iterator[tuple[str, str]]:
    endpoint, started = run.snapshot.spec.endpoint, run.snapshot.view.started
    address = "the built-in demo model" if endpoint.demo else markdown_text(without_credentials(endpoint.base_url))
    yield "endpoint", address
    if endpoint.optimizer_base_url:
        yield "endpoint of the optimizer", markdown_text(without_credentials(endpoint.optimizer_base_url))
    if started is not None:
        yield from ((f"model, {role}", markdown_text(name)) for role, name in started.models.items())
        yield from ((f"template, {role} (SHA-256)", sha256) for role, sha256 in started.templates.items())


# The posterior


def _posterior(run: _Run) -> Iterator[str]:
    if run.ideas is None:
        n = len(run.snapshot.view.drawn)
        yield f"No population is whole yet: {integer(n)} of {counted(run.snapshot.spec.config.size, 'particle')} drawn."
        return
    yield f"{weights_sentence(run.ideas.weights)} {compared_sentence(run.ideas)} {weights_measure(run.snapshot).words}"
    for rank, idea in enumerate(run.ideas, 1):
        yield from _idea(rank, idea)


def _idea(rank: int, idea: Idea) -> Iterator[str]:
    yield f"### {rank}. Weight {fixed(idea.weight, 3)}, {_particles(idea.slots)}"
    yield markdown_quote(idea.text)
    if idea.n_test is not None:
        yield _on_test(idea)
    others = list(zip(idea.texts, idea.text_weights, strict=True))[1:]
    if others:
        yield f"{capitalised(in_words(len(others)))} other {'wording' if len(others) == 1 else 'wordings'} of it:"
        yield "\n".join(f"- {fixed(weight, 3)}: {markdown_text(text)}" for text, weight in others)


def _particles(slots: Sequence[int]) -> str:
    return f"{'particle' if len(slots) == 1 else 'particles'} {listed(slots)}"


def _on_test(idea: Idea) -> str:
    n = idea.n_test or 0
    abstained = f" {counted(idea.n_abstained_test, 'answer')} could not be read." if idea.n_abstained_test else ""
    if idea.n_correct_test is not None:
        return f"{integer(idea.n_correct_test)} of {counted(n, 'test row')} right.{abstained}"
    return f"Mean squared error {number(idea.mse_test or 0.0)} on {counted(n, 'test row')}.{abstained}"


# Steps


def _steps(run: _Run) -> Iterator[str]:
    whole = [step for step in run.snapshot.view.finished_steps if step.step >= 0]
    if not whole:
        yield "No step is whole yet."
        return
    head = ("step", "β", "ESS", "resampled", "proposed", "accepted", "unchanged", "unparsable")
    yield markdown_table(head, [_step(step) for step in whole], right=(0, 1, 2, 4, 5, 6, 7))
    yield _STEPS_READ[run.snapshot.spec.config.method]


_STEPS_READ = {
    "smc": (
        "β divides the log-likelihood: 10 is flat, 1 is sharp. ESS is that of the weights before resampling. "
        "Every changed text is taken: there is no filter."
    ),
    "mh": "The chains have no weights, so there is no ESS. Accepted are proposals that the likelihood let through.",
    "vml": "One hypothesis has no weights. Every changed text is taken: there is no filter.",
}


def _step(view: StepView) -> tuple[str, ...]:
    proposed = view.proposed.values()
    weighed = view.reweighted
    return (
        str(view.step),
        fixed(weighed.beta) if weighed else NONE,
        fixed(weighed.ess) if weighed else NONE,
        "yes" if view.resampled else NONE,
        str(len(proposed)),
        str(sum(p.accepted for p in proposed)),
        str(sum(p.why == "unchanged" for p in proposed)),
        str(sum(p.why == "unparsable" for p in proposed)),
    )


# What the data ruled out


def _ruled_out(run: _Run) -> Iterator[str]:
    view = run.snapshot.view
    kinds = (
        ("Rejected", rejected(view, run.dataset)),
        ("Resampled away", resampled_away(view, run.dataset)),
        ("Not readable", unparsable(view)),
    )
    if not any(found for _, found in kinds):
        yield "Nothing so far." if run.snapshot.spec.config.method != "vml" else "Nothing: this method rejects nothing."
    for title, found in kinds:
        if found:
            yield f"### {title}: {counted(len(found), 'text')}, {counted(sum(r.times for r in found), 'time')} in all"
            for each in found:
                yield from _ruled_out_text(each)


def _ruled_out_text(out: RuledOut) -> Iterator[str]:
    yield markdown_quote(out.text)
    yield f"{_when(out)} {_why(out)}{_still_held(out)}".strip()
    shown = out.newest.contradictions[:WORST_ROWS]
    if shown:
        yield markdown_table(
            ("row", "inputs", "it said", "true"),
            [(str(c.row.id), _inputs(c.row), _value(c.said), _value(c.target)) for c in shown],
            right=(0,),
        )


def _when(out: RuledOut) -> str:
    steps = ["the first draw" if step < 0 else f"step {step}" for step in out.steps]
    times = f", {in_words(out.times)} times in all" if out.times > 1 else ""
    return f"{capitalised(listed(steps))}{times}; {'last ' if out.times > 1 else ''}{_particles(out.newest.particles)}."


def _why(out: RuledOut) -> str:
    occasion = out.newest
    if out.reason == "unparsable":
        return f"No hypothesis could be read: {markdown_text(out.why_unread or 'no reason is recorded')}."
    decided = _weight_before(occasion) if out.reason == "resampled away" else _arithmetic(occasion)
    return f"{decided} {_contradicted(occasion)}"


def _weight_before(occasion: Occasion) -> str:
    return f"Weight {fixed(occasion.weight or 0.0, 3)} before, no copy after."


def _arithmetic(occasion: Occasion) -> str:
    """Eq. 9 in numbers."""
    return (
        f"log-likelihood {_log(occasion.log_likelihood_proposal)} against {_log(occasion.log_likelihood)} of the text "
        f"that stayed: log α = {_log(occasion.log_alpha)} is below log u = {_log(_log_of(occasion.u))}."
    )


def _log(value: float | None) -> str:
    return "not recorded" if value is None else fixed(value)


def _log_of(u: float | None) -> float | None:
    return None if u is None else math.log(u) if u > 0 else -math.inf


def _contradicted(occasion: Occasion) -> str:
    n = len(occasion.contradictions)
    if n == 0:
        return ""
    worst = "" if n == 1 else "; the worst" if n > WORST_ROWS else ""
    return f"{integer(n)} of {counted(occasion.n_rows, 'row')} speak against it{worst}:"


def _still_held(out: RuledOut) -> str:
    return f" The same words are held by {_particles(out.held_by)} now." if out.held_by else ""


# Where the particles disagree


def _disagreement(run: _Run) -> Iterator[str]:
    test = run.snapshot.view.evaluated.get("test")
    if test is None:
        yield "The test rows are not evaluated yet."
        return
    found = points(test, rows_by_id(run.dataset))
    yield from _spreads(found) if run.dataset.task == "regression" else _votes(found)


def _votes(found: Sequence[Point]) -> Iterator[str]:
    uncertain = [point for point in found if point.is_uncertain]
    if not uncertain:
        yield f"Nowhere: the particles agree on all {counted(len(found), 'test row')}."
        return
    shown = uncertain[:MOST_POINTS]
    yield (
        f"{capitalised(counted(len(uncertain), 'test row'))} of {integer(len(found))}, the most divided first"
        f"{_cut(len(uncertain), len(shown))}. A share is weight; particles without weight have no voice."
    )
    yield markdown_table(
        ("row", "inputs", "true", "the vote", "camps"),
        [(str(p.row.id), _inputs(p.row), _value(p.row.target), _vote(p), _camps(p)) for p in shown],
        right=(0,),
    )


def _cut(n: int, shown: int) -> str:
    return f" (the first {integer(shown)}; predictions.csv has all)" if shown < n else ""


def _vote(point: Point) -> str:
    verdict = "wrong" if point.is_wrong else "right"
    return f"{_quoted(point.prediction)}: {verdict}" if point.prediction is not None else "all abstained: wrong"


def _camps(point: Point) -> str:
    shares = [f"{_quoted(label)} {percent(share)} ({_said_by(point, label)})" for label, share in point.shares]
    if any(vote is None for vote in point.votes):
        shares.append(f"no answer {percent(point.abstained)} ({_said_by(point, None)})")
    return "; ".join(shares)


def _said_by(point: Point, label: str | None) -> str:
    return _particles([slot for slot, vote in enumerate(point.votes) if vote == label])


def _quoted(label: Value) -> str:
    return f"“{_value(label)}”"


def _spreads(found: Sequence[Point]) -> Iterator[str]:
    shown = found[:WIDEST_POINTS]
    yield (
        f"The {counted(len(shown), 'test row')} with the widest spread, of {integer(len(found))}. Spread is the "
        "weighted standard deviation of the particles' numbers; the interval holds 90 % of the weight."
    )
    yield markdown_table(
        ("row", "inputs", "true", "prediction", "spread", "90 % interval"),
        [_spread(point) for point in shown],
        right=(0, 2, 3, 4),
    )


def _spread(point: Point) -> tuple[str, ...]:
    said = point.prediction
    low, high = point.interval or (math.nan, math.nan)
    return (
        str(point.row.id),
        _inputs(point.row),
        _value(point.row.target),
        number(float(said)) if said is not None else "no answer",
        number(point.doubt) if math.isfinite(point.doubt) else "all abstained",
        f"{number(low)} to {number(high)}" if point.interval else NONE,
    )


# How far to trust this, calls


def _trust(run: _Run) -> Iterator[str]:
    yield "\n".join(f"- {sentence}" for sentence in caveats(run.snapshot, run.dataset))


def _calls(run: _Run) -> Iterator[str]:
    usage = run.snapshot.usage
    counts = [
        ("learner calls", integer(usage.learner), "re-asks included"),
        ("optimizer calls", integer(usage.optimizer), "re-asks included"),
        ("of these from the cache", integer(usage.cached), ""),
        ("failed", integer(usage.failed), "given up after every retry"),
        ("retried", integer(usage.retried), "extra attempts, not counted above"),
        ("answers that could not be read", integer(usage.unparsable), ""),
        ("prompt tokens", integer(usage.prompt_tokens), "as the server counts them"),
        ("completion tokens", integer(usage.completion_tokens), "as the server counts them"),
        ("time at work", seconds(run.snapshot.view.wall_s), "without pauses and interruptions"),
    ]
    yield markdown_table(("", "", ""), counts, right=(1,))


# Reproduce


def _reproduce(run: _Run) -> Iterator[str]:
    command = repeat_command(run.snapshot.spec)
    yield markdown_code(command.line)
    yield from command.notes
    started = run.snapshot.view.started
    yield f"Data SHA-256 {run.dataset.provenance.sha256}. Equal data, options, answers and versions give an equal run."
    if started is not None:
        yield f"Versions: {', '.join(f'{name}{NBSP}{markdown_text(v)}' for name, v in started.versions.items())}."


# Cells


def _value(value: Value | None) -> str:
    return "no answer" if value is None else markdown_text(value_text(value))


def _inputs(row: Row) -> str:
    return markdown_text(shorten(inputs_line(row, most=len(row.inputs)), LONGEST_INPUTS, placeholder=" …"))
