"""A run in words: its line in a list, its steps, rows and cells, its server's check, faults, waiting and windows."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from math import ceil
from pathlib import Path

from vpp.data.dataset import PARTS, Dataset
from vpp.events import Usage
from vpp.findings.options import METHODS
from vpp.findings.verdict import beside_text
from vpp.llm.check import Finding
from vpp.llm.prompts import cut_cells
from vpp.llm.protocol import KEY_REFUSED, NO_API, OF_PROMPT, RETRY_AFTER_LIMIT_S
from vpp.problem import Prediction
from vpp.runs.directory import Command, JournalAnswers, State, Summary
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import FinishReason, RunView
from vpp.show.blocks import Alert, Block, Mark, Note, Table
from vpp.show.words import capitalised, counted, integer, seconds
from vpp.show.words import listed as named

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    id: str
    name: str
    mark: Mark
    note: str


def listed(run: str, spec: RunSpec, state: State, summary: Summary, when: str) -> Listed:
    """Return the line of a readable run. when: when it was made, or a word instead."""
    where: str = state
    if state == "finished" and (numbers := beside_text(summary.verdict)):
        where = f"finished · {numbers}"
    elif summary.last_step is not None and state not in ("queued", "running"):
        where = f"{state} · {steps_text(summary)}"
    return Listed(id=run, name=spec.name, mark=MARKS[state], note=f"{method_word(spec)} · {where} · {when}")


def method_word(spec: RunSpec) -> str:
    return "Pooled" if spec.pooled else METHODS[spec.config.method].short


def labels(runs: Mapping[str, tuple[RunSpec, str] | None]) -> dict[str, str]:
    """Return `Penguins · SMC · 25 Nov 17:40` for each run.

    runs: by id, settings and when the run was made; None if unreadable.
    """
    rows = [
        Listed(id=run, name=known[0].name, mark="", note=f"{method_word(known[0])} · {known[1]}")
        if known
        else unreadable(run)
        for run, known in runs.items()
    ]
    return {row.id: f"{row.name} · {row.note}" for row in distinguished(rows)}


def unreadable(run: str) -> Listed:
    return Listed(id=run, name=run, mark="rej", note="cannot be read")


def distinguished(rows: Sequence[Listed]) -> list[Listed]:
    """Add the end of the id to lines that read alike."""
    alike = Counter((row.name, row.note) for row in rows)
    ends = {row.id: f" · {row.id.rpartition('-')[2]}" if alike[row.name, row.note] > 1 else "" for row in rows}
    return [replace(row, note=row.note + ends[row.id]) for row in rows]


def when_words(made: datetime, now: datetime) -> str:
    """`14:32`, with the day if it is not today, and the year if it is another."""
    if made.date() == now.date():
        return f"{made:%H:%M}"
    return f"{made.day} {made:%b}" + ("" if made.year == now.year else f" {made.year}") + f" {made:%H:%M}"


def steps_done(view: RunView | Summary) -> int:
    return 0 if view.last_step is None else view.last_step + 1


def steps_text(view: RunView | Summary) -> str:
    return f"{integer(steps_done(view))} of {counted(view.total_steps, 'step')}"


REASONS: Mapping[FinishReason, str] = {
    "settled": "settled: {patience} steps in a row changed neither the hypotheses nor their vote",
    "stopped": "stopped by a person",
    "limit": "the limit of calls or money is reached",
    "endpoint": "the endpoint was lost",
    "input": "the data or an option is wrong",
    "error": "the program failed",
    "disk": "the disk refused",
}


def finish_words(view: RunView) -> str:
    """Return why the run ended: ` (the endpoint was lost)`; empty if all steps are done, or while it goes on."""
    words = REASONS.get(view.finish_reason or "completed", "")
    return f" ({words.format(**view.start.config)})" if words and view.start else ""


def task_sentence(dataset: Dataset) -> str:
    if dataset.classes:
        return f"{dataset.target} has {len(dataset.classes)} labels, so this is classification."
    return f"{dataset.target} is a number, so this is regression."


def rows_sentence(dataset: Dataset) -> str:
    """`Of 99,940 rows 100 train, 60 test and 40 calibrate; 99,740 are not used.`"""
    left, verbs = dataset.provenance.n_left_out, {"calibration": "calibrate"}
    parts = [f"{integer(len(rows))} {verbs.get(part, part)}" for part in PARTS if (rows := dataset.part(part))]
    rest = f"; {integer(left)} {'is' if left == 1 else 'are'} not used" if left else ""
    return f"Of {counted(len(dataset.labelled) + left, 'row')} {named(parts)}{rest}."


def unlabelled_sentence(dataset: Dataset) -> str:
    n = dataset.provenance.n_unlabelled
    return f"{counted(n, 'row')} without a target: not used, and you can ask about them later." if n else ""


def cut_cells_text(dataset: Dataset, limit: int) -> str:
    """`3 cells of note are shown in part, their first 2,000 characters`; empty if all are whole.

    limit: characters shown of a cell, as in the run's spec.
    """
    cut = cut_cells(dataset, limit)
    if not cut:
        return ""
    n = sum(cut.values())
    are, their = ("is", "its") if n == 1 else ("are", "their")
    return f"{counted(n, 'cell')} of {', '.join(cut)} {are} shown in part, {their} first {counted(limit, 'character')}"


# The server


def pending_words(command: Command, state: State) -> str:
    if state == "stalled":
        return "The command is saved. The worker does not respond; it will carry the command out once it does."
    if command == "stop":
        return "Stopping: the test rows are evaluated with the last complete step."
    return "Pausing: calls in flight finish." if command == "pause" and state == "running" else ""


def model_name(endpoint: EndpointSpec) -> str:
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


def faults_named(usage: Usage) -> str:
    """`HTTP 503 (37), timeout (2)`: the most frequent kinds of failed or odd replies; empty without any."""
    kinds = sorted(usage.faults.items(), key=lambda kind: (-kind[1], kind[0]))
    rest = sum(count for _, count in kinds[NAMED:])
    return ", ".join(f"{name} ({integer(n)})" for name, n in [*kinds[:NAMED], ("others", rest)] if n)


def server_sentences(usage: Usage) -> Iterator[str]:
    """Yield what went wrong between the run and its server. A call may take several attempts."""
    if usage.faults:
        yield f"Failed or odd attempts: {faults_named(usage)}."
    if usage.refused_fields:
        yield f"Refused by the server, so left out, renamed or changed: {named(usage.refused_fields, most=NAMED)}."
    if usage.cache_fault:
        n = usage.unkept
        so_far = f" {integer(n)} {'answer is' if n == 1 else 'answers are'} not in the cache." if n else ""
        yield f"Answers are not kept: {usage.cache_fault}.{so_far}"


def refused_rows(answers: Iterable[Prediction]) -> Counter[str]:
    """Count the rows that the server refused to answer, by its words."""
    kinds = tuple(OF_PROMPT)
    words = {each.row: each.reason for each in answers if each.reason and each.reason.startswith(kinds)}
    return Counter(words.values())


def withheld(answers: JournalAnswers) -> Counter[str]:
    """Count the rows that the server refused to answer in a run, by its words."""
    return refused_rows((*answers.by_pair.values(), *answers.readings.values()))


def withheld_sentences(answers: JournalAnswers) -> Iterator[str]:
    """Yield `3 rows: withheld by the server's filter (…).`"""
    yield from (f"{counted(n, 'row')}: {words}." for words, n in withheld(answers).most_common())


def wait_words(usage: Usage, *, now: float) -> str:
    """`the server asked to wait: next calls in 80 s`; empty if no wait is on. now: Unix time."""
    if not usage.held_until > now:
        return ""
    wait_s = ceil(min(usage.held_until - now, RETRY_AFTER_LIMIT_S))
    return f"the server asked to wait: next calls in {seconds(wait_s)}"


def is_key_refused(view: RunView) -> bool:
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


def failure(checks: Sequence[Finding]) -> str:
    """`The server refuses the key: see Model.`; empty if nothing fails."""
    failing = next((one.name for one in checks if one.mark == "fails"), "")
    return f"{FAILURES.get(failing, failing)}: see Model." if failing else ""


def check_blocks(checks: Sequence[Finding]) -> list[Block]:
    blocks: list[Block] = []
    for roles, of_roles in groupby(checks, lambda one: one.roles):
        found = list(of_roles)
        server = f"{found[0].model or 'no model named'} at {found[0].base_url}"
        works = [one for one in found if one.mark != "fails"]
        rows = [(each.name, each.mark, each.words.removeprefix(f"{server}: ")) for each in works]
        title = f"{' and '.join(roles).capitalize()}: {server}"
        blocks += [Note(title), Table(head=("check", "result", "details"), rows=rows, name=title)]
        for each in (one for one in found if one.mark == "fails"):
            words = each.words.removeprefix(f"{server}: ").removeprefix(f"{NO_API}: ")
            blocks.append(Alert(FAILURES.get(each.name, each.name), (capitalised(words),)))
    return blocks


def verdict(checks: Sequence[Finding]) -> tuple[str, str]:
    for one in checks:
        if one.mark == "fails":
            return "fails", f"A run cannot begin: {one.name}: {one.words}"
    if nameless := [one for one in checks if not one.model]:
        return "fails", f"A run cannot begin: no model is named for the {' and '.join(nameless[0].roles)}."
    by_name = {one.name: one for one in checks}
    for name in PROMPTS:
        if name in by_name and by_name[name].mark != "works":
            mend = by_name[name].value
            unread = f"answers could not be read ({name}): {mend}." if mend else f"the {name} was {by_name[name].words}"
            return "note", f"A run can begin, but {unread}"
    return "works", "A run can begin."
