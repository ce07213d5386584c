"""A run in words: its line in a list, its steps, rows and cells, its server's check, faults, waiting and windows."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from math import ceil
from pathlib import Path

from vpp.data.dataset import Dataset
from vpp.events import Usage
from vpp.findings.scores import Score
from vpp.findings.verdict import beside_text
from vpp.llm.check import Mark as Result
from vpp.llm.protocol import KEY_REFUSED, NO_API, RETRY_AFTER_LIMIT_S
from vpp.llm.rendering import cut_cells
from vpp.runs.directory import Command, State
from vpp.runs.reader import Summary
from vpp.runs.session import Checked
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import RunView
from vpp.show.blocks import Alert, Block, Mark, Note, Table
from vpp.show.words import EQUAL, capitalised, counted, fixed, integer, number, percent, seconds

MARKS: dict[State, Mark] = {
    "queued": "uns",
    "running": "live",
    "paused": "uns",
    "stalled": "rej",
    "interrupted": "rej",
    "finished": "done",
    "stopped": "same",
    "failed": "rej",
}
SHORT = {"smc": "SMC", "mh": "MH", "always-accept": "Always accept", "vml": "VML", "vml5": "5 × VML", "weigh": "Weigh"}
APART = 0.05
"""Least difference between accuracy and balanced accuracy for a list to show both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    id: str
    name: str
    mark: Mark
    note: str
    seed: int | None = None


def listed(run: str, spec: RunSpec, state: State, summary: Summary, when: str) -> Listed:
    """Return the line of a readable run. when: when it was made, or a word instead."""
    unread = " · mostly unreadable" if summary.is_unread and state not in ("queued", "running") else ""
    note = f"{SHORT[spec.config.method]} · {where(state, summary)}{unread} · {when}"
    return Listed(id=run, name=spec.name, mark=MARKS[state], note=note, seed=spec.config.seed)


def labels(runs: Mapping[str, tuple[RunSpec, str] | None]) -> dict[str, str]:
    """Return `Penguins · SMC · 25 Nov 17:40` for each run; alike ones get their seed, then the end of their id.

    runs: by id, settings and when the run was made; None if unreadable.
    """
    rows = [unreadable(run) if known is None else _label(run, *known) for run, known in runs.items()]
    return {row.id: f"{row.name} · {row.note}" for row in distinguished(rows)}


def _label(run: str, spec: RunSpec, when: str) -> Listed:
    config = spec.config
    return Listed(id=run, name=spec.name, mark="", note=f"{SHORT[config.method]} · {when}", seed=config.seed)


def unreadable(run: str) -> Listed:
    return Listed(id=run, name=run, mark="rej", note="cannot be read")


def distinguished(rows: Sequence[Listed]) -> list[Listed]:
    """Add the seed to lines that read alike, and to those that still do the end of the id."""
    found = list(rows)
    more: tuple[Callable[[Listed], str], ...] = (
        lambda row: "" if row.seed is None else f" · seed {row.seed}",
        lambda row: f" · {row.id.rpartition('-')[2]}",
    )
    for words in more:
        alike = Counter((row.name, row.note) for row in found)
        found = [replace(row, note=row.note + words(row)) if alike[row.name, row.note] > 1 else row for row in found]
    return found


def where(state: State, summary: Summary) -> str:
    if state == "finished" and summary.metric and summary.test is not None:
        score = metric_text(summary.metric, summary.test, summary.balanced_accuracy)
        return f"finished · {beside_text(summary.verdict) or score}"
    if summary.last_step is None or state in ("queued", "running"):
        return state
    return f"{state} · {steps_text(summary)}"


def metric_text(metric: str, value: float, balanced: float | None = None) -> str:
    """`96.7 %` or `MSE 1.05`; `96.7 % · balanced 50.0 %` if the two differ by 5 points or more.

    balanced: balanced accuracy, a fraction, if known.
    """
    if metric != "accuracy":
        return f"MSE {number(value, 3)}"
    shown = percent(value, decimals=1)
    if balanced is None or abs(value - balanced) < APART - EQUAL:
        return shown
    return f"{shown} · balanced {percent(balanced, decimals=1)}"


def when_words(made: datetime, now: datetime) -> str:
    """`14:32`, with the day if it is not today, and the year if it is another."""
    if made.date() == now.date():
        return f"{made:%H:%M}"
    return f"{made.day} {made:%b}" + ("" if made.year == now.year else f" {made.year}") + f" {made:%H:%M}"


# Steps. A step is named by its number, from 0 as in the journal; counts are of complete steps. One phrase never holds
# both: step 7 is the eighth, so "step 7 of 8" would read as if another step followed.


def steps_done(view: RunView | Summary) -> int:
    return 0 if view.last_step is None else view.last_step + 1


def steps_text(view: RunView | Summary) -> str:
    """`8 of 20 steps`."""
    return f"{integer(steps_done(view))} of {counted(view.total_steps, 'step')}"


# Cells and prompts cut to the model's context


def cut_sentences(view: RunView) -> Iterator[str]:
    proposed = [each for step in view.steps.values() for each in step.proposed.values()]
    short = [each.shown for each in proposed if each.shown is not None]
    if short:
        low, high = min(short), max(short)
        span = counted(low, "row") if low == high else f"{integer(low)} to {counted(high, 'row')}"
        few = f"{integer(len(short))} of {counted(len(proposed), 'proposal')} were made from a shortened prompt"
        yield f"{few}, with {span} of the batch: the model's context had no room for more."


def other_scores_text(score: Score) -> str:
    """Figures shown next to the metric: `balanced 95.1 %`, or `MAE 0.81, R² 0.92` for numbers."""
    if score.labels:
        return f"balanced {percent(score.labels.balanced.value, decimals=1)}"
    if score.numbers is None:
        return ""
    r2 = score.numbers.r2
    return f"MAE {number(score.numbers.mae.value)}" + ("" if r2 is None else f", R² {r2_text(r2)}")


def r2_text(value: float) -> str:
    """R² to three digits: decimals within -1 and 1, significant digits beyond."""
    return number(value, 3) if abs(value) >= 1 else fixed(value, 3)


def task_sentence(dataset: Dataset) -> str:
    if dataset.classes:
        return f"{dataset.target} has {len(dataset.classes)} labels, so this is classification."
    return f"{dataset.target} is a number, so this is regression."


def rows_sentence(dataset: Dataset) -> str:
    """`100 of 99,940 rows train, 60 test, 40 calibrate; 99,740 are not used.`"""
    n_train, n_test, left = len(dataset.train), len(dataset.test), dataset.provenance.n_left_out
    train, test = "train" if n_train > 1 else "trains", "test" if n_test > 1 else "tests"
    used = f"{integer(n_train)} of {integer(len(dataset.labelled) + left)} rows {train}, {integer(n_test)} {test}"
    if n := len(dataset.calibration):
        used += f", {integer(n)} {'calibrate' if n > 1 else 'calibrates'}"
    return f"{used}; {integer(left)} {'is' if left == 1 else 'are'} not used." if left else f"{used}."


def unlabelled_sentence(dataset: Dataset) -> str:
    n = dataset.provenance.n_unlabelled
    if not n:
        return ""
    rows = "1 row has" if n == 1 else f"{integer(n)} rows have"
    return f"{rows} no target: {'it is' if n == 1 else 'they are'} not used, and you can ask about them later."


def cut_cells_text(dataset: Dataset, limit: int) -> str:
    """`21 of 160 cells are shown in part, their first 2,000 characters`; empty if all are whole.

    limit: characters shown of a cell, as in the run's spec.
    """
    cut = cut_cells(dataset, limit)
    if not cut:
        return ""
    n, cells = sum(cut.values()), counted(len(cut) * len(dataset.labelled), "cell")
    are, their = ("is", "its") if n == 1 else ("are", "their")
    return f"{integer(n)} of {cells} {are} shown in part, {their} first {counted(limit, 'character')}"


def cut_columns_sentence(dataset: Dataset, limit: int) -> str:
    """Return the same with the number in each column, whose name is to be escaped; empty if all are whole."""
    text = cut_cells_text(dataset, limit)
    by_column = ", ".join(f"{name} {integer(n)}" for name, n in cut_cells(dataset, limit).items())
    return f"{text}: {by_column}." if text else ""


# The server


def pending_words(command: Command, state: State) -> str:
    if state == "stalled":
        return "The command is saved. The worker does not respond; it will carry the command out once it does."
    if command == "stop":
        return "Stopping: the test rows are evaluated with the last complete step. Stop again to skip that."
    return "Pausing: calls in flight finish." if command == "pause" and state == "running" else ""


def model_name(endpoint: EndpointSpec) -> str:
    """Name of the model that writes hypotheses."""
    return "the demo model" if endpoint.is_demo else endpoint.optimizer_model or endpoint.model


def retry_words(view: RunView, *, now: float) -> str:
    """`Next try in 12 s (at 14:05:10); gives up at 15:04.`; empty if no automatic retry is due. now: Unix time."""
    if view.phase != "paused" or view.retry_at is None:
        return ""
    wait_s = ceil(view.retry_at - now)
    when = f"in {seconds(wait_s)} (at {_clock(view.retry_at, '%H:%M:%S')})" if wait_s > 0 else "any moment"
    until = f"; gives up at {_clock(view.gives_up_at, '%H:%M')}" if view.gives_up_at is not None else ""
    return f"Next try {when}{until}."


def _clock(at: float, form: str) -> str:
    return time.strftime(form, time.localtime(at))


NAMED = 4


def faults_sentence(usage: Usage) -> str:
    """Return the most frequent kinds of failed or odd replies; empty without any. A call may take several attempts."""
    return f"Failed or odd attempts: {faults_named(usage)}." if usage.faults else ""


def faults_named(usage: Usage) -> str:
    """`HTTP 503 (37), timeout (2)`: the most frequent kinds; empty without any."""
    kinds = sorted(usage.faults.items(), key=lambda kind: (-kind[1], kind[0]))
    rest = sum(count for _, count in kinds[NAMED:])
    return ", ".join(f"{name} ({integer(n)})" for name, n in [*kinds[:NAMED], ("others", rest)] if n)


def window_words(usage: Usage, ceiling: int) -> str:
    """`64 of 1,024 calls at a time: the server refused more`; empty at the ceiling."""
    if not 0 < usage.window < ceiling:
        return ""
    refused = f"{integer(usage.window)} of {integer(ceiling)} calls at a time: the server refused more"
    return files_words(usage) or refused


def files_words(usage: Usage) -> str:
    if usage.narrowed_by != "files":
        return ""
    calls = "call" if usage.window == 1 else "calls"
    return f"{integer(usage.window)} {calls} at a time: this process may open no more files (ulimit -n)"


def wait_words(usage: Usage, *, now: float) -> str:
    """`the server asked to wait: next calls in 80 s`; empty if no wait is on. now: Unix time."""
    if not usage.held_until > now:
        return ""
    wait_s = ceil(min(usage.held_until - now, RETRY_AFTER_LIMIT_S))
    return f"the server asked to wait: next calls in {seconds(wait_s)}"


def cache_sentence(usage: Usage) -> str:
    if not usage.cache_fault:
        return ""
    n = usage.unkept
    so_far = f" {integer(n)} {'answer is' if n == 1 else 'answers are'} not in the cache." if n else ""
    return f"Answers are not kept: {usage.cache_fault}.{so_far}"


def refused_sentence(usage: Usage) -> str:
    if not usage.refused_fields:
        return ""
    shown = ", ".join(usage.refused_fields[:NAMED])
    more = f" and {len(usage.refused_fields) - NAMED} more" if len(usage.refused_fields) > NAMED else ""
    return f"Refused by the server, so left out or renamed: {shown}{more}."


def is_key_refused(view: RunView) -> bool:
    """True if a run failed because its server refused the key."""
    return view.failure == "endpoint" and KEY_REFUSED in view.detail


def model_file_words(endpoint: EndpointSpec) -> str:
    gigabytes, calls = Path(endpoint.gguf).stat().st_size / 1e9, counted(endpoint.concurrency, "call")
    tokens = f"{integer(endpoint.context_length)} tokens of prompt and answer each"
    return f"{endpoint.model}: {gigabytes:.1f} GB. llama.cpp serves it on this machine: {calls} at a time, {tokens}."


def loading_words(loading_s: float) -> str:
    """`loading the model: 12 s`."""
    return f"loading the model: {seconds(int(loading_s))}"


PROMPTS = ("learner prompt", "optimizer prompt")
FAILURES = {
    "API": capitalised(NO_API),
    "reachable": "The server cannot be reached",
    "key": "The server refuses the key",
    "models": "The server does not have this model",
    "answers": "The model does not answer",
}


def failure(checks: Sequence[Checked]) -> str:
    failing = next((one.finding.name for one in checks if one.finding.mark == "fails"), "")
    return FAILURES.get(failing, failing)


def check_blocks(checks: Sequence[Checked]) -> list[Block]:
    """Return a table of findings for each server, and its failure."""
    blocks: list[Block] = []
    for roles, of_roles in groupby(checks, lambda one: one.roles):
        found = list(of_roles)
        server = f"{found[0].model or 'no model named'} at {found[0].base_url}"
        works = [one.finding for one in found if one.finding.mark != "fails"]
        rows = [(each.name, each.mark, each.words.removeprefix(f"{server}: ")) for each in works]
        title = f"{' and '.join(roles).capitalize()}: {server}"
        blocks += [Note(title), Table(head=("check", "result", "details"), rows=rows, name=title)]
        for each in (one.finding for one in found if one.finding.mark == "fails"):
            words = each.words.removeprefix(f"{server}: ").removeprefix(f"{NO_API}: ")
            blocks.append(Alert(FAILURES.get(each.name, each.name), (capitalised(words),)))
    return blocks


@dataclass(frozen=True, slots=True)
class Verdict:
    mark: Result
    words: str


def verdict(checks: Sequence[Checked]) -> Verdict:
    for one in checks:
        if one.finding.mark == "fails":
            return Verdict("fails", f"A run cannot begin: {one.finding.name}: {one.finding.words}")
    if nameless := [one for one in checks if not one.model]:
        return Verdict("fails", f"A run cannot begin: no model is named for the {' and '.join(nameless[0].roles)}.")
    by_name = {one.finding.name: one.finding for one in checks}
    for name in PROMPTS:
        if name in by_name and by_name[name].mark != "works":
            mend = by_name[name].values.get("mend")
            unread = f"answers could not be read ({name}): {mend}." if mend else f"the {name} was {by_name[name].words}"
            return Verdict("note", f"A run can begin, but {unread}")
    if untried := [name for one in checks for name in one.finding.values.get("untried", ()) if name in PROMPTS]:
        return Verdict("note", f"A run can begin, but whether the {untried[0]} can be read was not tried.")
    return Verdict("works", "A run can begin.")
