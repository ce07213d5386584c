"""What went wrong with a run's calls, by kind, and what its servers would not take: short whatever they do."""

from math import ceil

from vpp.llm.errors import KEY_REFUSED
from vpp.llm.protocol import RETRY_AFTER_LIMIT_S
from vpp.runs.view import RunView
from vpp.usage import Usage
from vpp.wording.words import integer, seconds

NAMED = 4
"""Kinds that a sentence names."""


def faults_sentence(usage: Usage) -> str:
    """The most frequent kinds of failed or odd reply; empty where there was none. A call may take several attempts."""
    return f"Single attempts that failed or were odd: {faults_named(usage)}." if usage.faults else ""


def faults_named(usage: Usage) -> str:
    """`HTTP 503 (37), timeout (2)`: the most frequent kinds; empty where there was none."""
    kinds = sorted(usage.faults.items(), key=lambda kind: (-kind[1], kind[0]))
    named = [f"{name} ({integer(count)})" for name, count in kinds[:NAMED]]
    rest = sum(count for _, count in kinds[NAMED:])
    others = [f"others ({integer(rest)})"] if rest else []
    return ", ".join([*named, *others])


def window_words(usage: Usage, ceiling: int) -> str:
    """`64 of 1,024 calls at a time: the server is full`; empty where as many as may be are sent."""
    if not 0 < usage.window < ceiling:
        return ""
    if usage.narrowed_by == "files":
        return files_words(usage)
    why = ": the server is full" if usage.narrowed_by == "full" else ", as many as the server keeps up with"
    return f"{integer(usage.window)} of {integer(ceiling)} calls at a time{why}"


def files_words(usage: Usage) -> str:
    """That this process is what keeps the calls few; empty where it does not."""
    if usage.narrowed_by != "files":
        return ""
    calls = "call" if usage.window == 1 else "calls"
    return f"{integer(usage.window)} {calls} at a time: this process may open no more files (ulimit -n)"


def held_words(usage: Usage, *, now: float) -> str:
    """`the server asked to wait: next calls in 80 s`; empty where nothing is waited for. now: Unix time."""
    if not usage.held_until > now:
        return ""
    wait_s = ceil(min(usage.held_until - now, RETRY_AFTER_LIMIT_S))
    return f"the server asked to wait: next calls in {seconds(wait_s)}"


def cache_sentence(usage: Usage) -> str:
    """That the cache keeps no answers, and why; empty where it does."""
    if not usage.cache_fault:
        return ""
    n = usage.unkept
    so_far = f" {integer(n)} {'answer is' if n == 1 else 'answers are'} not in the cache." if n else ""
    return f"Answers are not kept: {usage.cache_fault}.{so_far}"


def refused_sentence(usage: Usage) -> str:
    """The optional fields that a server refused; empty where it took all."""
    if not usage.refused_fields:
        return ""
    shown = ", ".join(usage.refused_fields[:NAMED])
    more = f" and {len(usage.refused_fields) - NAMED} more" if len(usage.refused_fields) > NAMED else ""
    return f"Refused by the server, so left out or renamed: {shown}{more}."


def is_key_refused(view: RunView) -> bool:
    """Whether a run failed as its server would not take the key."""
    return view.failure == "endpoint" and KEY_REFUSED in view.detail
