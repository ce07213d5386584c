"""The report of a run: two pages and an appendix, as Markdown and HTML.

The HTML has the app's own stylesheet and fonts inside, no script, and fetches nothing. Paper is always light and white.
"""

import re
import shlex
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice, pairwise

from vpp.data.dataset import Dataset
from vpp.environment import app_folder
from vpp.findings.baselines import baselines, with_prompted
from vpp.findings.comparison import Comparison, candidate, seeds, seeds_blocks, seeds_table, standings
from vpp.findings.hypotheses import hypotheses_of, weight_cards, weight_words
from vpp.findings.options import GRADINGS, METHODS
from vpp.findings.programs import program_folds, program_readings
from vpp.findings.result import caveats, evidence_measure, novelty, odds_words, posterior_words, weights_words
from vpp.findings.rows import Rows, calibrated, evaluated_rows, headline, mistakes, row_table, trust
from vpp.findings.ruled_out import ruled_out, ruled_out_table
from vpp.findings.slices import slices, worst_by_column
from vpp.findings.status import finish_words, rows_sentence, steps_done, withheld_sentences
from vpp.findings.verdict import blocks, run_verdict
from vpp.runs.directory import RunReader, Snapshot
from vpp.runs.group import Group
from vpp.settings import Config
from vpp.show.blocks import Code, Heading, Metrics, Note, Quote, Table
from vpp.show.markup import CREDENTIALS, html, markdown, markdown_text, plain, text
from vpp.show.words import NOTICEABLE, capitalised, counted, cut, integer, listed

MOST_ROWS = 5
LONGEST_CELL = 160
HASH = 12
SPLITS: Mapping[str, str] = {
    "random": "split by chance",
    "file": "the test rows are a file of their own",
    "group": "no value of {} has rows in two parts",
    "time": "the latest rows by {} test",
}


# The two pages


def two_pages(reader: RunReader) -> Iterator[object]:
    snapshot, dataset = reader.refresh(), reader.dataset()
    view, config = snapshot.view, snapshot.spec.config
    missing = novelty(view, config, dataset)
    yield from blocks(run_verdict(reader.directory, view))
    yield from map(Note, filter(None, [odds_words(view, config, dataset, missing), view.detail]))
    group = Group(reader.directory.path.parent, snapshot.spec.group if snapshot.spec.pooled else "")
    if group.runs:
        found = seeds(group)
        yield from (*seeds_blocks(found), Heading("The runs"), seeds_table(found))
    else:
        yield Heading("Hypotheses by weight", posterior_words(snapshot.spec))
        yield from weight_cards(hypotheses_of(view, dataset), view, config, dataset)
    if rows := evaluated_rows(view, config, dataset):
        yield Heading("Right and wrong")
        yield from mistakes(rows)
        yield Heading("Rows in doubt or wrong")
        yield from headline(rows)
        # The most divided, then those answered wrongly.
        doubt = rows.which("In doubt")
        first = [*doubt, *(each for each in rows.which("Wrong") if each not in doubt)]
        if first:
            yield replace(row_table(rows, first[:MOST_ROWS]), opens=False)
    yield Heading("Method and data")
    yield method(snapshot, missing)
    yield data(dataset)
    yield citation(snapshot, reader.directory.id)


def method(snapshot: Snapshot, missing: float | None) -> Table:
    spec, view, usage = snapshot.spec, snapshot.view, snapshot.usage
    config = spec.config
    ran = f"{METHODS[config.method].name}: {counted(config.size, 'hypothesis', 'hypotheses')}"
    if spec.pooled:
        ran = f"The last hypotheses of {counted(len(spec.pooled), 'run')}, weighed together: {integer(config.size)}"
    if not config.is_weighing:
        steps = f"{integer(steps_done(view))} of {counted(view.total_steps, 'step')}"
        ran += f", {steps} of {counted(config.batch_size, 'row')}, seed {config.seed}"
    models = view.start.models if view.start else {}
    roles = ", ".join(f"{role} {model}" for role, model in models.items()) or spec.endpoint.model
    roles = "the built-in demo model, which is not a language model" if spec.endpoint.is_demo else roles
    tokens = integer(usage.prompt_tokens + usage.completion_tokens)
    reading = "Row by row: the model reads the hypothesis again for every row."
    if config.has_programs:
        reading = "Once: the model writes the hypothesis as a program where it can, and reads row by row where not."
    rows = (
        ("what ran", f"{ran}. The run is {snapshot.state}{finish_words(view)}."),
        ("models", f"{capitalised(roles)}; {counted(usage.calls, 'call')}, {tokens} tokens."),
        ("reading", reading),
        ("likelihood", _likelihood(config, spec.dataset["task"])),
        ("weights", weights_words(snapshot, missing)),
    )
    return Table(head=("method", "in this run"), rows=rows)


def _likelihood(config: Config, task: str) -> str:
    if task == "regression":
        tau = "is integrated out" if config.tau == "auto" else f"is {config.tau}"
        return f"Normal: an answer misses with variance τ, which {tau}."
    noise = "is integrated out for each hypothesis" if config.epsilon == "auto" else f"is {config.epsilon}"
    return GRADINGS[config.likelihood][1].format(noise)


def data(dataset: Dataset) -> Table:
    source = dataset.provenance
    kind, _, column = source.split.partition(":")
    split = f" {capitalised(SPLITS[kind].format(column))}." if dataset.test else ""
    labels = f"labels {', '.join(dataset.classes)}" if dataset.classes else "a number"
    lines = (
        ("file", f"{source.file}, {counted(source.n_rows, 'row')}, SHA-256 {source.sha256[:HASH]}."),
        ("rows", f"{rows_sentence(dataset)}{split}"),
        ("columns", f"{dataset.target} ({cut(labels, LONGEST_CELL)}) from {cut(', '.join(dataset.inputs), 300)}."),
    )
    return Table(head=("data", "in this run"), rows=lines)


def citation(snapshot: Snapshot, run: str) -> Note:
    view = snapshot.view
    version = view.start.versions.get("vpp", "") if view.start else ""
    day = f", {datetime.fromtimestamp(view.began_at, UTC):%Y-%m-%d}" if view.began_at is not None else ""
    program = f"Verbalized Particle Posterior {version}".strip()
    return Note(
        f"To cite: “{snapshot.spec.name}”, run {run} of {program}{day}; for the method, the paper in CITATION.cff."
    )


# The appendix


def appendix(reader: RunReader) -> Mapping[str, tuple[object, ...]]:
    snapshot, dataset = reader.refresh(), reader.dataset()
    rows = evaluated_rows(snapshot.view, snapshot.spec.config, dataset)
    sections: Mapping[str, Iterable[object]] = {
        "Programs": programs(reader, snapshot, dataset),
        "Simple models": simple_models(reader, dataset),
        "Calibration and evidence": calibration(reader, snapshot, rows),
        "Slices": worst_by_column(slices(rows)) if rows else (),
        "Ruled out": ruled_out_table(ruled_out(snapshot.view, dataset), seed_text=snapshot.view.seed_text),
        "How far to trust this": map(Note, (*caveats(snapshot, dataset), *withheld_sentences(reader.read_answers()))),
        "Options and table": options(snapshot, dataset),
        "The command that repeats the run": command(snapshot),
    }
    every = {title: tuple(section) for title, section in sections.items()}
    return {title: section for title, section in every.items() if section}


def programs(reader: RunReader, snapshot: Snapshot, dataset: Dataset) -> Iterator[object]:
    """Yield the hypotheses of 1 % or more, each with its program, or why it has none."""
    every = [each for each in hypotheses_of(snapshot.view, dataset) if each.weight >= NOTICEABLE]
    readings = program_readings(snapshot.view, reader.read_answers(), dataset, [each.id for each in every])
    for each in every:
        for fold in program_folds(readings[each.id]):
            share = weight_words(each, snapshot.view, snapshot.spec.config)
            yield from (Quote(each.words, tuple(filter(None, [share]))), *fold.blocks)


def simple_models(reader: RunReader, dataset: Dataset) -> Iterator[object]:
    """Yield the run and the simple models side by side, without a heading; nothing before the test rows are asked."""
    if dataset.test:
        simple = with_prompted(baselines(dataset), reader.directory, dataset)
        yield from islice(standings(Comparison(runs=[candidate(reader)]), simple), 1, None)


def calibration(reader: RunReader, snapshot: Snapshot, rows: Rows | None) -> Iterator[object]:
    view = snapshot.view
    if rows and rows.test.split == "test":
        yield from (*trust(rows, run_verdict(reader.directory, view)), *calibrated(rows))
    if view.population and (evidence := tuple(evidence_measure(snapshot))):
        yield Metrics(evidence)


def options(snapshot: Snapshot, dataset: Dataset) -> Iterator[object]:
    """Yield the options that differ from the defaults, how hypotheses begin, and how the table was read."""
    spec, usual = snapshot.spec, Config()
    pairs = [(each.name, getattr(spec.config, each.name), getattr(usual, each.name)) for each in fields(Config)]
    pairs += [("structured answers", spec.endpoint.structured, "auto")]
    pairs += [("thinking effort", spec.endpoint.reasoning_effort, ""), ("cell limit", spec.cell_limit, 0)]
    lines = [(name.replace("_", " "), str(own), str(other)) for name, own, other in pairs if own != other]
    yield Table(head=("option", "here", "default"), rows=lines) if lines else Note("Every option is as by default.")
    if snapshot.view.start:
        yield Quote(snapshot.view.start.seed_text, ("the beginning of every hypothesis",))
    yield from map(Note, dataset.provenance.notes)
    if dataset.descriptions:
        meanings = dataset.descriptions.named(dataset.target)
        yield Table(head=("column or label", "what it means"), rows=meanings)


def command(snapshot: Snapshot) -> Iterator[object]:
    """Yield the command as it was typed, without its directory, a password in an address, or control characters."""
    spec, started = snapshot.spec, snapshot.view.start
    yield Note("Equal data, options, answers and versions give an equal run.")
    if started:
        used = {**started.versions, **{f"{role} model": model for role, model in started.models.items()}}
        yield Note(f"This one ran with {listed([' '.join(each) for each in used.items()])}.")
    if not spec.command:
        yield Note("It was not started on a command line: on Watch, Start again with changes fills in its settings.")
        return
    pairs = pairwise(("", *spec.command))
    words = [word for before, word in pairs if "--run-dir" not in (before, word.partition("=")[0])]
    yield Code(shlex.join(plain(CREDENTIALS.sub("", word)) for word in ("python", "-m", "vpp", *words)))


# Markdown and HTML


def report_markdown(reader: RunReader) -> str:
    """Return the whole report; that of an unfinished run says what is missing."""
    back = (f"### {title}\n\n{markdown(section, level=4)}" for title, section in appendix(reader).items())
    title = f"# {markdown_text(reader.refresh().spec.name)}"
    return "\n\n".join((title, markdown(two_pages(reader)), "## Appendix", *back)) + "\n"


POLICY = "default-src 'none'; style-src 'unsafe-inline'; font-src data:"
TERM = re.compile(r'<button type="button" class="term"[^>]*>(.*?)</button>')
"""A label that opens its glossary entry on a page; a file has no glossary."""


def report_html(reader: RunReader) -> str:
    name, back = text(reader.refresh().spec.name), appendix(reader)
    places = {title: title.lower().replace(" ", "-") for title in back}
    links = "".join(f'<li><a href="#{places[title]}">{text(title)}</a></li>' for title in back)
    sections = "".join(html((Heading(title, place=places[title]), *section)) for title, section in back.items())
    body = (
        f'<div class="report">{html(two_pages(reader))}</div>'
        f'<div class="report appendix"><h2>Appendix</h2><nav aria-label="Appendix"><ol>{links}</ol></nav>'
        f"{sections}</div>"
    )
    body = TERM.sub(r"\1", body)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{name}</title><style>{_style()}</style></head><body>"
        f'<main class="vpp"><h1>{name}</h1>{body}</main></body></html>\n'
    )


@cache
def _style() -> str:
    app = app_folder()

    def inside(url: re.Match[str]) -> str:
        return f"url(data:font/woff2;base64,{b64encode((app / url[1]).read_bytes()).decode()})"

    sheets = ((app / "assets" / name).read_text(encoding="utf-8") for name in ("vpp.css", "report.css"))
    return re.sub(r"url\(([^)]+)\)", inside, "".join(sheets))
