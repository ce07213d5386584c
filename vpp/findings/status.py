"""What a server does and did: its check, faults, waiting, keys and windows, in words."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from pathlib import Path

from vpp.events import Usage
from vpp.llm.check import Mark
from vpp.llm.protocol import KEY_REFUSED, NO_API, RETRY_AFTER_LIMIT_S
from vpp.runs.directory import Command, State
from vpp.runs.session import Checked
from vpp.runs.spec import EndpointSpec
from vpp.runs.view import RunView
from vpp.show.blocks import Alert, Block, Note, Table
from vpp.show.words import capitalised, counted, integer, seconds


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
    """Conclusion of a check."""

    mark: Mark
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
