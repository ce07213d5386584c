"""A run's worker in words: pending commands, retries, failed and slowed calls, and the model file it serves."""

import time
from math import ceil
from pathlib import Path

from vpp.events import Usage
from vpp.llm.errors import KEY_REFUSED
from vpp.llm.protocol import RETRY_AFTER_LIMIT_S
from vpp.runs.directory import Command, State
from vpp.runs.spec import EndpointSpec
from vpp.runs.view import RunView
from vpp.show.words import counted, integer, seconds


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
