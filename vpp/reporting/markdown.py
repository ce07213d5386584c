"""report.md: a run as it is now, whole and readable without the app.

Text from a model, a CSV or a user is data: it passes through `escaping` and can be nothing but text.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from vpp.data.dataset import Dataset
from vpp.inspection.ideas import Ideas, merge_ideas
from vpp.reporting.brief import Measure, headline, measures
from vpp.reporting.caveats import caveats, is_demo, steps_text
from vpp.reporting.escaping import markdown_table, markdown_text
from vpp.reporting.markdown_findings import disagreement, posterior, steps, what_was_ruled_out
from vpp.reporting.markdown_record import calls, data, method, reproduce
from vpp.reporting.sizes import sizes_text
from vpp.reporting.words import capitalised
from vpp.runs.reader import RunReader, Snapshot
from vpp.settings import METHOD_NAMES

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


def report_markdown(reader: RunReader) -> str:
    """The whole report, of an unfinished run too; what is not there yet is said."""
    snapshot, dataset = reader.refresh(), reader.dataset()
    view = snapshot.view
    ideas = merge_ideas(view, dataset)
    parts = (
        *_head(snapshot, reader.directory.id),
        f"**{headline(view, snapshot.spec.config, dataset, ideas)}**",
        *_section("In brief", _brief(snapshot, dataset, ideas)),
        *_section("Data", data(dataset)),
        *_section("Method and settings", method(snapshot)),
        *_section("The posterior", posterior(snapshot, dataset, ideas)),
        *_section("Step by step", steps(snapshot)),
        *_section("What the data ruled out", what_was_ruled_out(view, dataset)),
        *_section("Where the particles disagree", disagreement(view, dataset)),
        *_section("How far to trust this", _trust(snapshot, dataset)),
        *_section("Calls", calls(snapshot)),
        *_section("Reproduce", reproduce(snapshot)),
    )
    return "\n\n".join(parts) + "\n"


def _section(title: str, parts: Iterator[str]) -> Iterator[str]:
    yield f"## {title}"
    yield from parts


def _head(snapshot: Snapshot, run_id: str) -> Iterator[str]:
    yield f"# {markdown_text(snapshot.spec.name)}"
    yield from _banners(snapshot)
    yield _what(snapshot, run_id)


def _banners(snapshot: Snapshot) -> Iterator[str]:
    if is_demo(snapshot):
        yield (
            "> **Built-in demo model.** It is a small program that reads and writes plain English rules, "
            "not a language model."
        )
    if snapshot.damage:
        yield f"> **Damaged journal.** {markdown_text(snapshot.damage)}"
    if snapshot.view.detail:
        yield f"> **{capitalised(snapshot.state)}.** {markdown_text(snapshot.view.detail)}"


def _what(snapshot: Snapshot, run_id: str) -> str:
    config, view = snapshot.spec.config, snapshot.view
    begun = f", begun {_moment(view.began_at)}" if view.began_at is not None else ""
    return (
        f"{METHOD_NAMES[config.method]}, K = {sizes_text(view, config)}, seed {config.seed}, {steps_text(view)} "
        f"({_STATES[snapshot.state]}){begun}. Run {markdown_text(run_id)}."
    )


def _moment(unix_time: float) -> str:
    return f"{datetime.fromtimestamp(unix_time, UTC):%Y-%m-%d %H:%M} UTC"


def _brief(snapshot: Snapshot, dataset: Dataset, ideas: Ideas | None) -> Iterator[str]:
    found = measures(snapshot, dataset, ideas)
    yield markdown_table(("measure", "value", "in words"), [_measure(each) for each in found], right=(1,))
    if "test" not in snapshot.view.evaluated:
        yield "The test rows are not evaluated yet, so no error can be given."


def _measure(measure: Measure) -> tuple[str, str, str]:
    outside = f" {markdown_text(measure.outside)}" if measure.outside else ""
    return measure.name, measure.value, measure.words + outside


def _trust(snapshot: Snapshot, dataset: Dataset) -> Iterator[str]:
    yield "\n".join(f"- {sentence}" for sentence in caveats(snapshot, dataset))
