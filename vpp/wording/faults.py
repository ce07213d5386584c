"""What went wrong with a run's calls, by kind, and what its servers would not take: short whatever they do."""

from vpp.llm.endpoint import KEY_REFUSED
from vpp.runs.view import RunView
from vpp.usage import Usage
from vpp.wording.words import integer

NAMED = 4
"""Kinds that a sentence names."""


def faults_sentence(usage: Usage) -> str:
    """The most frequent kinds of failed or odd reply; empty where there was none. A call may take several attempts."""
    if not usage.faults:
        return ""
    kinds = sorted(usage.faults.items(), key=lambda kind: (-kind[1], kind[0]))
    named = [f"{name} ({integer(count)})" for name, count in kinds[:NAMED]]
    rest = sum(count for _, count in kinds[NAMED:])
    others = [f"others ({integer(rest)})"] if rest else []
    return f"Single attempts that failed or were odd: {', '.join([*named, *others])}."


def window_words(window: int, ceiling: int) -> str:
    """`64 of 512 calls at a time: the server is full`; empty where it keeps up. window: 0 for as many as may be."""
    if not 0 < window < ceiling:
        return ""
    return f"{integer(window)} of {integer(ceiling)} calls at a time: the server is full"


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
