"""report.md: a run as it is now, complete and readable without the app.

Text from a model, a CSV or a user passes through `vpp.show.markup`, so it can never become markup.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from textwrap import shorten

from vpp.data.dataset import PARTS, Dataset, Row
from vpp.data.labelling import n_answered
from vpp.drawing import idea_deck
from vpp.drawing.comparison import MODEL_NAMES, left_out_text
from vpp.drawing.deck import without_seed
from vpp.drawing.dissent import NOT_ALONE, decided_words, judged
from vpp.drawing.idea_deck import facts, meaning, verdict
from vpp.drawing.ledger import counts_words, status_of, why_words
from vpp.drawing.matrix import inputs_line, mean_and_range
from vpp.events import hypothesis_id
from vpp.findings.baselines import Baselines, baselines, with_prompted
from vpp.findings.ideas import NEAR, Idea, Ideas, merge_ideas, nearness, survivors
from vpp.findings.options import changed_words
from vpp.findings.points import Point, points, reject_option
from vpp.findings.programs import ProgramReading, program_readings
from vpp.findings.ruled_out import ruled_out, without_survivors
from vpp.findings.scores import by_label, score_text
from vpp.findings.servers import structured_words
from vpp.findings.splits import cut_columns_sentence, split_text
from vpp.findings.summary import deciding_rows
from vpp.posterior.prediction import Value
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.view import RunView
from vpp.settings import METHOD_NAMES, Config
from vpp.show.blocks import Metric
from vpp.show.markup import markdown_code, markdown_quote, markdown_table, markdown_text, one_line
from vpp.show.words import (
    NBSP,
    ROW_OF,
    capitalised,
    counted,
    in_words,
    integer,
    number,
    particles,
    percent,
    share_words,
    value_text,
    weight_text,
)
from vpp.trials.trial import read_trial
from vpp.wording.brief import (
    caveats,
    compared_words,
    constant_note,
    deciding_sentence,
    evidence_measure,
    headline,
    held_by,
    ideas_metric,
    is_demo,
    result_metrics,
    shares_sentence,
    uncertain_metric,
    weights_measure,
)
from vpp.wording.command import repeat_command, without_credentials
from vpp.wording.counts import LABEL_HEAD, LABEL_NUMBERS, label_cells, other_scores_text, steps_text
from vpp.wording.programs import apart_words, branch_line, certificate_words, question_words, reading_words
from vpp.wording.progress import calls_metric, population_metrics
from vpp.wording.verdicts import possible_words, promise_sentence, promised_metric, rule_sentence, too_few_words

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
        return "\n\n".join((f"## {self.title}", *self.parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    head: str
    """Markdown of the title, what the run was, and what came out in one sentence."""
    sections: tuple[Section, ...]

    @property
    def markdown(self) -> str:
        return "\n\n".join((self.head, *(section.markdown for section in self.sections))) + "\n"


def report_markdown(reader: RunReader, *, simple_models: bool = True) -> str:
    """Return the whole report; for an unfinished run it says what is missing. simple_models: see `write_all`."""
    return report(reader, simple_models=simple_models).markdown


def report(reader: RunReader, *, simple_models: bool = True) -> Report:
    """The report by its sections, the same for every run: findings first, then the record of how they were made."""
    snapshot, dataset = reader.refresh(), reader.dataset()
    view, config = snapshot.view, snapshot.spec.config
    ideas = merge_ideas(view, dataset)
    readings = program_readings(view, reader.read_answers(), dataset) if config.has_programs else {}
    scale = with_prompted(baselines(dataset), reader.directory, dataset) if simple_models and dataset.test else None
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        ("In brief", _brief(snapshot, dataset, ideas, scale)),
        ("The posterior", _posterior(reader.directory, snapshot, dataset, ideas, readings)),
        ("What the data ruled out", what_was_ruled_out(view, dataset, ideas)),
        ("Where the particles disagree", disagreement(view, dataset, config)),
        ("Does uncertainty mean error?", doubt_and_error(view, dataset, config)),
        ("How far to trust this", ["\n".join(f"- {sentence}" for sentence in caveats(snapshot, dataset))]),
        ("Data", data(dataset, snapshot.spec.cell_limit)),
        ("Method and settings", method(snapshot)),
        ("Reproduce", reproduce(snapshot)),
    )
    return Report(
        head="\n\n".join((*_head(snapshot, reader.directory.id), f"**{headline(view, config, dataset, ideas)}**")),
        sections=tuple(Section(title=title, parts=tuple(parts)) for title, parts in sections),
    )


def _head(snapshot: Snapshot, run_id: str) -> Iterator[str]:
    config, view = snapshot.spec.config, snapshot.view
    yield f"# {markdown_text(snapshot.spec.name)}"
    if is_demo(snapshot):
        yield (
            "> **Built-in demo model.** It is a small program that reads and writes plain English rules, "
            "not a language model."
        )
    if view.detail:
        yield f"> **{capitalised(snapshot.state)}.** {markdown_text(view.detail)}"
    began_at = datetime.fromtimestamp(view.began_at or 0, UTC)
    begun = f", begun {began_at:%Y-%m-%d %H:%M} UTC" if view.began_at is not None else ""
    yield (
        f"{METHOD_NAMES[config.method]}, K = {config.size}, seed {config.seed}, {steps_text(view)} "
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
        yield "For scale, simple models on the same training and test rows:"
        rows = [(MODEL_NAMES[m.name], score_text(m.score), other_scores_text(m.score), m.about) for m in simple.models]
        yield markdown_table(("model", "on the test rows", "beside", "what it is"), rows, right=(1,))
        if simple.left_out:
            yield markdown_text(left_out_text(simple))
    else:
        yield (
            "The page Compare, `python -m vpp report` and a downloaded report show what a linear model and a tree of "
            "depth 2 reach on these rows."
        )


def _figures(snapshot: Snapshot, dataset: Dataset, ideas: Ideas | None) -> Iterator[Metric]:
    """Yield the figures known so far."""
    view, test = snapshot.view, snapshot.view.evaluated.get("test")
    yield from result_metrics(snapshot, dataset)
    if ideas:
        yield weights_measure(snapshot)
        yield from population_metrics(snapshot)
        yield from evidence_measure(snapshot)
        if view.size > 1:
            yield ideas_metric(ideas)
            yield from [uncertain_metric(test)] if test else []
    yield calls_metric(snapshot)


# Findings: ideas, their agreement, disagreement, and whether it marks errors

NONE = "–"
LONGEST_INPUTS = 300
"""Characters of a row's inputs shown in a table."""
NEWEST = 5
"""Texts ruled out that are listed."""


def _posterior(
    directory: RunDirectory,
    snapshot: Snapshot,
    dataset: Dataset,
    ideas: Ideas | None,
    readings: Mapping[str, ProgramReading],
) -> Iterator[str]:
    """Ideas by weight, each with every wording in full; then what decided between them, and their trial."""
    config = snapshot.spec.config
    if ideas is None:
        drawn = integer(len(snapshot.view.drawn))
        yield f"No population is complete yet: {drawn} of {counted(config.size, 'particle')} drawn."
    else:
        weights = weights_measure(snapshot).words
        is_one = snapshot.view.size == 1
        yield (
            weights if is_one else f"{shares_sentence(ideas, config, snapshot.view)} {compared_words(ideas)}. {weights}"
        )
        for rank, idea in enumerate(ideas, 1):
            holds = "Weight" if config.is_weighted else "Share"
            yield from _idea(rank, idea, holds, readings.get(hypothesis_id(idea.text)))
        if standing := constant_note(snapshot.view, config, dataset):
            yield markdown_text(standing)
    if near := nearness(ideas, dataset) if ideas and len(ideas) > 1 else None:
        yield f"{verdict(near, near.groups(NEAR), NEAR)} {meaning(near, NEAR)}"
    if config.is_weighing and (decided := deciding_rows(snapshot.view, config, dataset)):
        yield deciding_sentence(decided)
    found = read_trial(directory, snapshot.view)
    if found is None:
        return
    yield f"### On trial\n\n{idea_deck.trial_verdict(found)} {idea_deck.INTERVALS}"
    yield markdown_table(idea_deck.HEAD, idea_deck.table_rows(found), right=(1, 4))


def _idea(rank: int, idea: Idea, holds: str, reading: ProgramReading | None) -> Iterator[str]:
    yield f"### {rank}. {holds} {weight_text(idea.weight)}, {particles(idea.slots)}"
    yield markdown_quote(idea.text)
    known = (fact for fact in facts(idea, idea.wordings[0]) if fact != particles(idea.slots))
    yield f"{capitalised('; '.join(known))}."
    yield from _program(reading)
    if n := len(idea.wordings) - 1:
        yield f"{capitalised(in_words(n))} other {'wording' if n == 1 else 'wordings'} with the same answers."


def _program(reading: ProgramReading | None) -> Iterator[str]:
    """The program as text, its branches and questions, and the certificate; or why there is none."""
    if reading is None:
        return
    certificate = reading.certificate
    words = [reading_words(reading), *([certificate_words(certificate)] if certificate else [])]
    yield f"{capitalised(markdown_text('; '.join(words)))}."
    if reading.program is None:
        return
    yield markdown_code(reading.program.code)
    found = [branch_line(number, branch) for number, branch in enumerate(reading.branches, 1)]
    yield "\n".join(f"- {markdown_text(each)}" for each in (*found, *map(question_words, reading.questions)))
    yield from map(markdown_text, filter(None, [apart_words(certificate)] if certificate else []))


# Disagreement

MOST_POINTS = 5
"""Points listed, the most uncertain first; predictions.csv has all."""


def disagreement(view: RunView, dataset: Dataset, config: Config) -> Iterator[str]:
    """The uncertain test points with their votes, or the points with the widest spread."""
    test = view.evaluated.get("test" if dataset.test else "train")
    if test is None:
        yield "The test rows are not evaluated yet."
        return
    reject, held = reject_option(view, config, dataset, of=test), held_by(config, test.noise)
    row, doubt = ROW_OF[test.split], reject.conformal
    rows = points(test, dataset, reject)
    if doubt:
        figure = promised_metric(rows, doubt)
        yield f"{rule_sentence(reject, held)} {promise_sentence(doubt)}".strip()
        yield f"The truth was possible on {figure.value} of {counted(len(rows), 'row')}: {figure.words}"
    if len(test.weights) == 1:
        yield "There is one hypothesis: it cannot disagree with itself."
        return
    is_number = dataset.task == "regression"
    yield from _spreads(rows, held, dataset.target_decimals) if is_number else _votes(rows, held, row)


def _votes(rows: Sequence[Point], held: str, row: str) -> Iterator[str]:
    uncalibrated = f"if no label has {share_words(rows[0].reject.clear)} of the {held}"
    rule = "if several labels are possible" if rows[0].reject.conformal else uncalibrated
    yield f"{decided_words(rows)}. A row is undecided (“I don’t know”) {rule}."
    uncertain = [point for point in rows if point.is_uncertain]
    first = uncertain[:MOST_POINTS]
    cut = f"; the first {in_words(len(first))}, predictions.csv has all" if len(first) < len(uncertain) else ""
    order = f", the most divided first{cut}" if first else ""
    yield f"{integer(len(uncertain))} of {counted(len(rows), row)} in dispute{order}."
    lines = [
        (*_row_cells(point), _vote(point), ", ".join(f"{answer_cell(label)} {percent(s)}" for label, s in point.shares))
        for point in first
    ]
    if lines:
        yield markdown_table(("row", "inputs", "true", "the vote", "shares"), lines, right=(0,))


def _row_cells(point: Point) -> tuple[str, str, str]:
    return str(point.row.id), inputs_cell(point.row), answer_cell(point.row.target)


def _vote(point: Point) -> str:
    if point.decision is not None:
        return f"“{answer_cell(point.decision)}”: {'wrong' if point.is_wrong else 'right'}"
    if point.reject.conformal:
        return f"undecided: {answer_cell(possible_words(point))}"
    return f"undecided{'' if point.leader else ': a tie' if point.shares else ': all abstained'}"


def _spreads(rows: Sequence[Point], held: str, decimals: int | None) -> Iterator[str]:
    first = rows[:MOST_POINTS]
    yield (
        f"The {counted(len(first), 'row')} with the widest spread, of {integer(len(rows))}. Spread is the "
        f"weighted standard deviation of the particles' numbers; the range holds 90 % of the {held}. Both "
        "say how far the particles differ; noise is not included."
    )
    lines = []
    for point in first:
        mean, middle = mean_and_range(point.prediction, point.interval, decimals) or ("no answer", NONE)
        lines.append((*_row_cells(point), mean, "all abstained" if middle == NONE else number(point.doubt), middle))
    head = ("row", "inputs", "true", "prediction", "spread", "90 % of the particles")
    yield markdown_table(head, lines, right=(0, 2, 3, 4))


# Whether doubt marks error


def doubt_and_error(view: RunView, dataset: Dataset, config: Config) -> Iterator[str]:
    """Accuracy where all agree and where they differ, and the proper scores; or the reason why they say nothing."""
    test = view.evaluated.get("test")
    if not dataset.test:
        yield "There are no test rows, and weights cannot be judged on the rows that they were made from."
        return
    if test is None:
        yield "The test rows are not evaluated yet."
        return
    if len(test.weights) == 1:
        yield NOT_ALONE
        return
    rows = points(test, dataset, reject_option(view, config, dataset, of=test))
    _, saying, metrics = judged(rows, dataset, held_by(config, test.noise))
    yield " ".join(filter(None, (saying, too_few_words(len(rows)))))
    lines = [(each.name, f"{each.value} {each.scale}".strip(), each.words) for each in metrics]
    yield markdown_table(("measure", "value", "in words"), lines, right=(1,))


# Ruled out


def what_was_ruled_out(view: RunView, dataset: Dataset, ideas: Ideas | None) -> Iterator[str]:
    """The newest texts rejected, resampled away or unreadable, a line each."""
    alike = survivors(view, ideas) if ideas else {}
    gone = without_survivors(ruled_out(view, dataset), alike)
    if not gone:
        yield f"Nothing{'' if view.has_ended else ' so far'}: no text was rejected, resampled away or unreadable."
        return
    more = f"; the newest {in_words(NEWEST)}, of which posterior.json has all" if len(gone) > NEWEST else ""
    yield f"{counts_words(gone)}{more}:"
    lines = (
        (status_of(entry)[1], one_line(without_seed(entry.text, view.seed_text)), why_words(entry, alike))
        for entry in gone[:NEWEST]
    )
    yield "\n".join(f"- {status}: {markdown_text(words)} ({markdown_text(why)})" for status, words, why in lines)


# Cells


def answer_cell(value: Value | None) -> str:
    """An answer or a target."""
    return markdown_text(value_text(value))


def inputs_cell(row: Row) -> str:
    """All inputs of a row, cut to `LONGEST_INPUTS`."""
    return markdown_text(shorten(inputs_line(row, most=len(row.inputs)), LONGEST_INPUTS, placeholder=" …"))


# The record of the run: its data, method and calls, and how to repeat it


def data(dataset: Dataset, cell_limit: int) -> Iterator[str]:
    """The file, the rows used, the columns, and what was decided on the way. cell_limit: that of the run's spec."""
    yield markdown_table(("of the data", "value"), list(_data_facts(dataset)))
    columns = []
    for each in dataset.columns:
        role = "target" if each.name == dataset.target else "input" if each.name in dataset.inputs else "not used"
        words = map(markdown_text, (each.name, each.kind, role))
        columns.append((*words, integer(each.n_distinct), integer(each.n_missing)))
    yield markdown_table(("column", "kind", "role", "distinct values", "missing cells"), columns, right=(3, 4))
    if dataset.descriptions:
        meanings = [tuple(map(markdown_text, each)) for each in dataset.descriptions.named(dataset.target)]
        yield markdown_table(("column or label", "what it means"), meanings)
    cut = cut_columns_sentence(dataset, cell_limit)
    if notes := [*filter(None, (cut,)), *dataset.provenance.notes]:
        yield "\n".join(f"- {markdown_text(note)}" for note in notes)


def _data_facts(dataset: Dataset) -> Iterator[tuple[str, str]]:
    provenance, names = dataset.provenance, {"train": "training"}
    yield "file", markdown_text(provenance.file)
    yield "SHA-256", markdown_text(provenance.sha256)
    yield "rows in the file", integer(provenance.n_rows)
    if answered := n_answered(dataset):
        yield "answered since", integer(answered)
    parts = (f"{integer(len(rows))} {names.get(part, part)}" for part in PARTS if (rows := dataset.part(part)))
    yield "rows used", f"{integer(len(dataset.labelled))}: {', '.join(parts)}"
    yield "parted", markdown_text(split_text(dataset))
    if dataset.unlabelled:
        yield "kept to be asked about", f"{integer(len(dataset.unlabelled))} without a target"
    unused = max(0, provenance.n_unlabelled - len(dataset.unlabelled))
    yield "left out", f"{integer(unused)} without a target, {integer(provenance.n_left_out)} in no part"
    yield "target", f"{markdown_text(dataset.target)} ({markdown_text(dataset.task)})"
    if dataset.classes:
        yield "labels", markdown_text(", ".join(dataset.classes))


def method(snapshot: Snapshot) -> Iterator[str]:
    """Options that are not as by default, who answered, and the seed sentence."""
    started, config = snapshot.view.started, snapshot.spec.config
    changed = ", ".join(changed_words(config, snapshot.spec.dataset["task"]))
    yield f"Not as by default: {markdown_text(changed)}." if changed else "Every option is as by default."
    answering = [(name, markdown_text(value)) for name, value in _answering(snapshot)]
    yield markdown_table(("of the models", "value"), answering)
    if started is None:
        yield "The run has not begun: its seed sentence is not recorded yet."
    else:
        yield "Every hypothesis begins with the seed sentence:"
        yield markdown_quote(started.seed_text)


def _answering(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    endpoint, started = snapshot.spec.endpoint, snapshot.view.started
    address = "the built-in demo model" if endpoint.demo else without_credentials(endpoint.base_url)
    if endpoint.gguf:
        address = f"llama.cpp on the run's own machine, from the file {PurePath(endpoint.gguf).name}"
    yield "endpoint", address
    if words := structured_words(snapshot.spec):
        yield "structured answers", words
    if endpoint.reasoning_effort:
        yield "thinking effort", endpoint.reasoning_effort
    if endpoint.optimizer_base_url:
        yield "endpoint of the optimizer", without_credentials(endpoint.optimizer_base_url)
    if started is not None:
        for role in ("learner", "optimizer"):
            yield f"model of the {role}", started.models.get(role, "not known")


def reproduce(snapshot: Snapshot) -> Iterator[str]:
    """The command that repeats the run, and what must be equal for an equal result."""
    command = repeat_command(snapshot.spec)
    yield markdown_code(command.script)
    yield from map(markdown_text, command.notes)
    sha256 = markdown_text(snapshot.spec.dataset["provenance"]["sha256"])
    yield f"Data SHA-256 {sha256}. Equal data, options, answers and versions give an equal run."
    if started := snapshot.view.started:
        versions = (f"{name}{NBSP}{version}" for name, version in started.versions.items())
        yield f"Versions: {markdown_text(', '.join(versions))}."
