"""What only the report says: hypotheses by weight, mistakes, rows in doubt, and in brief what ran on which rows."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from statistics import mean, quantiles

from vpp.data.dataset import PARTS, Dataset
from vpp.events import Evaluated
from vpp.findings.baselines import MODEL_NAMES, Baselines
from vpp.findings.hypotheses import Hypothesis, hypotheses, right_words
from vpp.findings.ideas import merge_ideas, nearness, survivors
from vpp.findings.points import Point
from vpp.findings.rows import Rows, headline, row_table
from vpp.findings.ruled_out import RuledOut, ruled_out, without_survivors
from vpp.findings.scores import Score, averaged_score, score_text
from vpp.findings.trust import calibrated, sure_and_right, tiles
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView, constant_weight
from vpp.settings import METHOD_NAMES, Config
from vpp.show.blocks import Note, Quote, Table
from vpp.show.figures import Weight, Weights
from vpp.show.words import (
    NOTICEABLE,
    ROW_OF,
    capitalised,
    counted,
    cut,
    fixed,
    in_words,
    integer,
    interval_text,
    listed,
    number,
    percent,
    value_text,
)

MOST_HYPOTHESES = 8
MOST_ROWS = 5
MOST_LABELS = 8
"""Most labels of a confusion matrix; of more, the commonest mistakes are listed."""
LONGEST_CELL = 160
DONT_KNOW = "“I don’t know”"
SPLITS: Mapping[str, str] = {
    "random": "split by chance",
    "file": "the test rows are a file of their own",
    "group": "no value of {} has rows in two parts",
    "time": "the latest rows by {} test",
}
HASH = 12
"""Digits of a SHA-256 in a sentence."""


# The hypotheses


def weights(view: RunView, dataset: Dataset) -> Iterator[object]:
    """Yield the last hypotheses by weight; those that agree on 95 % of the rows count as one."""
    ideas = merge_ideas(view, dataset)
    if ideas is None:
        yield Note("No population is complete yet.")
        return
    every = hypotheses(ideas, nearness(ideas, dataset), seed_text=view.seed_text, labels=dataset.classes)
    bars = [Weight(weight=each.weight, words=each.words, facts=tuple(_facts(each))) for each in every[:MOST_HYPOTHESES]]
    if (constant := constant_weight(view)) >= NOTICEABLE:
        answer = value_text(dataset.constant)
        bars.append(Weight(weight=constant, words=f"Always {answer}", facts=("the constant answer, without a rule",)))
    yield Weights(tuple(sorted(bars, key=lambda bar: -bar.weight)))
    if rest := every[MOST_HYPOTHESES:]:
        others, share = in_words(len(rest)), percent(math.fsum(each.weight for each in rest))
        yield Note(f"{capitalised(others)} more {'holds' if len(rest) == 1 else 'hold'} {share} of the weight.")


def _facts(each: Hypothesis) -> Iterator[str]:
    first, copies = each.members[0], len(each.slots)
    yield from filter(None, (right_words(first.test, ROW_OF["test"]), right_words(first.train, ROW_OF["train"])))
    if first.prior is not None:
        yield f"prior {fixed(first.prior, 3)}"
    if copies > 1:
        yield f"{integer(copies)} copies"


def sentence(text: str, seed_text: str) -> str:
    return text.removeprefix(seed_text).strip() or text


# Mistakes


def mistakes(evaluated: Evaluated, rows: Sequence[Point], dataset: Dataset) -> Iterator[object]:
    """Yield a confusion matrix, or of numbers the errors, and the score in a sentence. rows: of this evaluation."""
    own = averaged_score(evaluated, dataset)
    which = ROW_OF[evaluated.split]
    if own.n_correct is None:
        yield from _errors([point for point in rows if point.prediction is not None], own, which)
        return
    counts = Counter((str(point.row.target), _answer(point)) for point in rows)
    answers = [*dataset.classes, DONT_KNOW] if any(a == DONT_KNOW for _, a in counts) else [*dataset.classes]
    if len(dataset.classes) <= MOST_LABELS:
        lines = [(truth, *(integer(counts[truth, answer]) for answer in answers)) for truth in dataset.classes]
        yield Table(head=("true label", *answers), rows=lines, right=range(1, len(answers) + 1), name="Confusion")
    else:
        wrong = [(pair, n) for pair, n in counts.most_common() if pair[0] != pair[1]]
        lines = [(truth, answer, integer(n)) for (truth, answer), n in wrong[:MOST_LABELS]]
        yield Table(head=("true label", "answer", "rows"), rows=lines, right=(2,), name="Commonest mistakes")
    interval = f"{interval_text(own.n_correct, own.n)} (Wilson, 95 %)"
    balanced = f"; mean per-class recall {percent(own.labels.balanced.value, 1)}" if own.labels else ""
    likeliest = "By the likeliest label, " if DONT_KNOW in answers else ""
    right = f"{percent(own.value, 1)} of {counted(own.n, which)} are right"
    yield Note(f"{likeliest}{right}, which means {interval}{balanced}.")


def _answer(point: Point) -> str:
    return DONT_KNOW if point.decision is None else str(point.decision)


def _errors(rows: Sequence[Point], own: Score, which: str) -> Iterator[object]:
    if not rows:
        yield Note("No row has a readable answer.")
        return
    errors = [float(point.prediction or 0.0) - float(point.row.target or 0.0) for point in rows]
    off = sorted(map(abs, errors))
    deciles = quantiles(off, n=10, method="inclusive") if len(off) > 1 else off * 9
    lines = [
        ("half of the rows are off by at most", number(deciles[4], 3)),
        ("nine of ten rows", number(deciles[8], 3)),
        ("the worst row", number(off[-1], 3)),
        ("on average too high (too low, if negative)", number(mean(errors), 3)),
        ("root of the mean squared error", number(math.sqrt(own.mse or 0.0), 3)),
    ]
    yield Table(head=("error", "in the target’s unit"), rows=lines, right=(1,), name="Errors")
    r2 = own.numbers.r2 if own.numbers else None
    yield Note(f"On {counted(own.n, which)}{f'; R² {fixed(r2.value, 3)}' if r2 else ''}.")


# Rows in doubt


def doubtful_rows(rows: Rows) -> Iterator[object]:
    """Yield five rows: the most divided, then those answered wrongly."""
    first = [*rows.which("Split"), *(point for point in rows.which("Wrong") if point not in rows.which("Split"))]
    yield from headline(rows)
    if first:
        yield replace(row_table(rows, first[:MOST_ROWS]), opens=False)


# What ran, and on which rows


def method(snapshot: Snapshot, weights: str) -> Table:
    """Five lines. weights: what they are, in a sentence."""
    spec, view, usage = snapshot.spec, snapshot.view, snapshot.usage
    config, steps = spec.config, view.total_steps
    done = 0 if view.last_step is None else view.last_step + 1
    size = counted(config.size, "hypothesis", "hypotheses")
    ran = f"{METHOD_NAMES[config.method]}: {size}"
    if not config.is_weighing:
        ran += (
            f", {integer(done)} of {counted(steps, 'step')} of {counted(config.batch_size, 'row')}, seed {config.seed}"
        )
    models = view.started.models if view.started else {}
    roles = ", ".join(f"{role} {model}" for role, model in models.items()) or spec.endpoint.model
    roles = "the built-in demo model, which is not a language model" if spec.endpoint.is_demo else roles
    tokens = integer(usage.prompt_tokens + usage.completion_tokens)
    reading = "Row by row: the model reads the hypothesis again for every row."
    if config.has_programs:
        reading = "Once: the model writes the hypothesis as a program where it can, and reads row by row where not."
    rows = (
        ("what ran", f"{ran}. The run is {snapshot.state}."),
        ("models", f"{capitalised(roles)}; {counted(usage.calls, 'call')}, {tokens} tokens."),
        ("reading", reading),
        ("likelihood", _likelihood(config, spec.dataset["task"])),
        ("weights", weights),
    )
    return Table(head=("method", "in this run"), rows=rows)


def _likelihood(config: Config, task: str) -> str:
    if task == "regression":
        tau = "is integrated out" if config.tau == "auto" else f"is {config.tau}"
        return f"Normal: an answer misses with variance τ, which {tau}."
    if config.likelihood == "logprobs":
        return "The probability that the model gives to the true label."
    share = "is integrated out for each hypothesis" if config.epsilon == "auto" else f"is {config.epsilon}"
    return f"An answer is wrong with probability ε, which {share}."


def data(dataset: Dataset) -> Table:
    """Three lines."""
    source, verbs = dataset.provenance, {"calibration": "calibrate"}
    parts = [f"{integer(len(rows))} {verbs.get(part, part)}" for part in PARTS if (rows := dataset.part(part))]
    left = f"; {integer(source.n_left_out)} not used" if source.n_left_out else ""
    labels = f"labels {', '.join(dataset.classes)}" if dataset.classes else "a number"
    lines = (
        ("file", f"{source.file}, {counted(source.n_rows, 'row')}, SHA-256 {source.sha256[:HASH]}."),
        ("rows", f"{listed(parts)}{left}{_split(dataset)}."),
        ("columns", f"{dataset.target} ({cut(labels, LONGEST_CELL)}) from {cut(', '.join(dataset.inputs), 300)}."),
    )
    return Table(head=("data", "in this run"), rows=lines)


def _split(dataset: Dataset) -> str:
    kind, _, column = dataset.provenance.split.partition(":")
    return f"; {SPLITS[kind].format(column)}" if dataset.test else ""


def citation(snapshot: Snapshot, run: str) -> Note:
    view = snapshot.view
    version = view.started.versions.get("vpp", "") if view.started else ""
    day = f", {datetime.fromtimestamp(view.began_at, UTC):%Y-%m-%d}" if view.began_at is not None else ""
    program = f"Verbalized Particle Posterior {version}".strip()
    return Note(
        f"To cite: “{snapshot.spec.name}”, run {run} of {program}{day}; for the method, the paper in CITATION.cff."
    )


# The appendix


def simple_models(simple: Baselines, own: Score | None) -> Iterator[object]:
    lines = [("this run", score_text(own), "The averaged prediction of its hypotheses.")] if own else []
    lines += [(MODEL_NAMES[model.name], score_text(model.score), model.about) for model in simple.models]
    score = "mean squared error" if simple.models[0].score.n_correct is None else "right on test rows"
    yield Table(head=("model", score, "what it is"), rows=lines, right=(1,))
    if simple.left_out:
        columns = listed([f"{name} ({why})" for name, why in simple.left_out])
        yield Note(f"The simple models leave out {columns}.")


def newest_ruled_out(view: RunView, dataset: Dataset) -> Iterator[object]:
    """Yield the five texts that were ruled out last; posterior.json has all."""
    ideas = merge_ideas(view, dataset)
    gone = without_survivors(ruled_out(view, dataset), survivors(view, ideas) if ideas else {})
    if not gone:
        yield Note("Nothing was ruled out.")
        return
    lines = [(sentence(entry.text, view.seed_text), _reason(entry)) for entry in gone[:MOST_ROWS]]
    yield Table(head=("text", "why"), rows=lines)
    if more := len(gone) - MOST_ROWS:
        yield from [Note(f"{integer(more)} more are in posterior.json.")] if more > 0 else []


def _reason(entry: RuledOut) -> str:
    newest = entry.newest
    when = f"step {newest.step + 1}" if newest.step >= 0 else "the first draw"
    if entry.reason == "unparsable":
        return f"{'refused' if newest.is_refused else 'unreadable'} at {when}: {entry.why_unread or 'no reason'}"
    what = "rejected" if entry.reason == "rejected" else "dropped"
    n = len(newest.contradictions)
    return f"{what} at {when}: {integer(n)} of {counted(newest.n_rows, 'row')} against it"


def calibration(rows: Rows) -> Iterator[object]:
    """Yield how sure the answers were and how right."""
    yield tiles(rows, None)
    yield from sure_and_right(rows)
    yield from calibrated(rows)


def options(snapshot: Snapshot) -> Iterator[object]:
    """Yield the options that differ from the defaults, and the words that every hypothesis begins with."""
    config, endpoint, usual = snapshot.spec.config, snapshot.spec.endpoint, Config()
    pairs = ((each.name, getattr(config, each.name), getattr(usual, each.name)) for each in fields(Config))
    lines = [(name.replace("_", " "), str(own), str(other)) for name, own, other in pairs if own != other]
    others = (
        ("structured answers", endpoint.structured, "auto"),
        ("thinking effort", endpoint.reasoning_effort, ""),
        ("characters shown of a cell", snapshot.spec.cell_limit, 0),
    )
    lines += [(name, str(own), str(other)) for name, own, other in others if own and own != other]
    yield Table(head=("option", "here", "default"), rows=lines) if lines else Note("Every option is as by default.")
    if snapshot.view.started:
        yield Quote(snapshot.view.started.seed_text, ("the beginning of every hypothesis",))


def preparation(dataset: Dataset) -> Iterator[object]:
    """Yield what was decided while reading the table, and what its columns and labels mean."""
    yield from map(Note, dataset.provenance.notes)
    if dataset.descriptions:
        meanings = dataset.descriptions.named(dataset.target)
        yield Table(head=("column or label", "what it means"), rows=meanings)


def versions(snapshot: Snapshot) -> Table:
    started, record = snapshot.view.started, snapshot.spec.dataset
    lines = [*started.versions.items()] if started else []
    lines += [("data, SHA-256", record["provenance"]["sha256"]), ("rows and split, SHA-256", record["fingerprint"])]
    lines += [(f"{role} template, SHA-256", sha) for role, sha in started.templates.items()] if started else []
    return Table(head=("version or hash", "value"), rows=lines)
