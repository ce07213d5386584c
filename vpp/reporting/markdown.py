"""report.md: a run as it is now, complete and readable without the app.

Text from a model, a CSV or a user passes through `vpp.wording.escaping`, so it can never become markup.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from vpp.data.dataset import Dataset, Task
from vpp.drawing.comparison import MODEL_NAMES, left_out_text
from vpp.inspection.baselines import Baselines, baselines, with_prompted
from vpp.inspection.genealogy import genealogy
from vpp.inspection.ideas import Ideas, merge_ideas
from vpp.inspection.quoted import with_quotes
from vpp.inspection.scores import by_label
from vpp.reporting.markdown_findings import (
    deciding,
    disagreement,
    doubt_and_error,
    lineage,
    near_agreement,
    on_trial,
    posterior,
    what_was_ruled_out,
)
from vpp.reporting.markdown_record import calls, data, method, reproduce, steps
from vpp.runs.reader import RunReader, Snapshot
from vpp.settings import METHOD_NAMES, Config
from vpp.wording.brief import (
    caveats,
    evidence_measure,
    headline,
    ideas_metric,
    is_demo,
    result_metrics,
    uncertain_metric,
    weights_measure,
)
from vpp.wording.counts import LABEL_HEAD, LABEL_NUMBERS, label_cells, other_scores_text, sizes_text, steps_text
from vpp.wording.escaping import markdown_table, markdown_text
from vpp.wording.glossary import BY_LABEL, terms
from vpp.wording.markup import Metric
from vpp.wording.progress import calls_metric, population_metrics
from vpp.wording.words import capitalised, score_text

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
class Section:
    """A part of the report under a head of its own."""

    title: str
    parts: tuple[str, ...]
    """Blocks of markdown."""

    @property
    def markdown(self) -> str:
        """The head and all under it."""
        return "\n\n".join((f"## {self.title}", *self.parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run in words."""

    head: str
    """Markdown of the title, what the run was, and what came out in one sentence."""
    sections: tuple[Section, ...]

    @property
    def markdown(self) -> str:
        """The whole report."""
        return "\n\n".join((self.head, *(section.markdown for section in self.sections))) + "\n"


def report_markdown(reader: RunReader, *, simple_models: bool = True) -> str:
    """The whole report; for an unfinished run it says what is missing.

    simple_models: whether to fit simple models for comparison, which takes a second or two.
    """
    return report(reader, simple_models=simple_models).markdown


def report(reader: RunReader, *, simple_models: bool = True) -> Report:
    """The report by its sections, the same for every run: findings first, then the record of how they were made."""
    snapshot, dataset = reader.refresh(), reader.dataset()
    view, config = snapshot.view, snapshot.spec.config
    merged, seed_text = merge_ideas(view, dataset), view.started.seed_text if view.started else ""
    ideas = with_quotes(merged, lambda: reader.read_answers().by_pair, dataset) if merged else None
    name, what = markdown_text(snapshot.spec.name), _what(snapshot, reader.directory.id)
    head = (f"# {name}", *_banners(snapshot), what, f"**{headline(view, config, dataset, ideas)}**")
    scale = with_prompted(baselines(dataset), reader.directory, dataset) if simple_models and dataset.test else None
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        ("In brief", _brief(snapshot, dataset, ideas, scale)),
        (
            "The posterior",
            (*posterior(snapshot, ideas), *deciding(snapshot, dataset), *on_trial(reader.directory, snapshot)),
        ),
        ("Agreement between hypotheses", near_agreement(ideas, dataset, is_weighted=config.is_weighted)),
        ("Where the ideas came from", lineage(genealogy(view), ideas, seed_text)),
        ("What the data ruled out", what_was_ruled_out(view, dataset, ideas)),
        ("Where the particles disagree", disagreement(view, dataset, config)),
        ("Does uncertainty mean error?", doubt_and_error(view, dataset, config)),
        ("How far to trust this", ["\n".join(f"- {sentence}" for sentence in caveats(snapshot, dataset))]),
        ("Step by step", steps(snapshot)),
        ("Data", data(dataset, snapshot.spec.cell_limit)),
        ("Method and settings", method(snapshot)),
        ("Calls", calls(snapshot)),
        ("Reproduce", reproduce(snapshot)),
        ("Terms used here", glossary(config, dataset.task)),
    )
    return Report(
        head="\n\n".join(head), sections=tuple(Section(title=title, parts=tuple(parts)) for title, parts in sections)
    )


def _banners(snapshot: Snapshot) -> Iterator[str]:
    if is_demo(snapshot):
        yield (
            "> **Built-in demo model.** It is a small program that reads and writes plain English rules, "
            "not a language model."
        )
    if snapshot.view.detail:
        yield f"> **{capitalised(snapshot.state)}.** {markdown_text(snapshot.view.detail)}"


def _what(snapshot: Snapshot, run_id: str) -> str:
    config, view = snapshot.spec.config, snapshot.view
    began_at = datetime.fromtimestamp(view.began_at or 0, UTC)
    begun = f", begun {began_at:%Y-%m-%d %H:%M} UTC" if view.began_at is not None else ""
    return (
        f"{METHOD_NAMES[config.method]}, K = {sizes_text(view, config)}, seed {config.seed}, {steps_text(view)} "
        f"({_STATES[snapshot.state]}){begun}. Run {markdown_text(run_id)}."
    )


def _brief(snapshot: Snapshot, dataset: Dataset, ideas: Ideas | None, simple: Baselines | None) -> Iterator[str]:
    """Yield the measures and the results of simple models. simple: None to say where they are shown."""
    lines = []
    for each in _figures(snapshot, dataset, ideas):
        # `1.6 of 2`, `25 % (2 of 8 judged)`
        scale = each.scale if each.scale.startswith("of ") or not each.scale else f"({each.scale})"
        lines.append((each.name, f"{each.value} {scale}".rstrip(), markdown_text(each.words)))
    yield markdown_table(("measure", "value", "in words"), lines, right=(1,))
    # With two labels there is no table.
    if by_labels := by_label(snapshot.view.evaluated.get("test"), dataset):
        rows = [tuple(map(markdown_text, cells)) for cells in label_cells(by_labels)]
        yield "The averaged prediction, label by label:"
        yield markdown_table(LABEL_HEAD, rows, right=LABEL_NUMBERS)
    if dataset.test and "test" not in snapshot.view.evaluated:
        yield "The test rows are not evaluated yet, so no error can be given."
    elif simple:
        yield from _for_scale(simple)
    else:
        yield (
            "The page Compare, `python -m vpp report` and a downloaded report show what a linear model and a tree of "
            "depth 2 reach on these rows."
        )


def _for_scale(simple: Baselines) -> Iterator[str]:
    """Results of simple and prompted models on the same rows."""
    yield "For scale, simple models on the same training and test rows:"
    rows = [(MODEL_NAMES[m.name], score_text(m.score), other_scores_text(m.score), m.about) for m in simple.models]
    yield markdown_table(("model", "on the test rows", "beside", "what it is"), rows, right=(1,))
    if simple.left_out:
        yield markdown_text(left_out_text(simple))


def _figures(snapshot: Snapshot, dataset: Dataset, ideas: Ideas | None) -> Iterator[Metric]:
    """Yield the figures known so far."""
    view, test = snapshot.view, snapshot.view.evaluated.get("test")
    yield from result_metrics(snapshot, dataset)
    if ideas:
        yield weights_measure(snapshot)
        yield from population_metrics(snapshot, None)
        yield from evidence_measure(snapshot)
        if view.size > 1:
            yield ideas_metric(ideas)
            yield from [uncertain_metric(test)] if test else []
    yield calls_metric(snapshot)


# Terms


def glossary(config: Config, task: Task) -> Iterator[str]:
    """Terms as a Markdown list."""
    yield "\n".join(f"- **{name}**: {BY_LABEL[name].meaning}" for name in terms(config, task))
