"""Plan for serving a model file on this machine: parallel answers, their context, and the memory they take."""

import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from vpp.errors import InputError
from vpp.gguf.header import Header

MOST_SLOTS = 8
SLOTS_PER_CORE = 4
USUAL_CONTEXT = 4_096
"""Tokens of prompt and answer in one slot: the prompts of a run fit in."""
LEAST_CONTEXT = 2_048
SHARE = 0.8
"""Share of the machine's memory that a model may take."""
OVERHEAD_BYTES = 512 * 2**20
"""Buffers of a batch under way, and the program itself."""
KV_NUMBER_BYTES = 2
"""The KV cache holds 16-bit floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Slots and context of a server, and its memory."""

    slots: int
    """Answers that are written at the same time."""
    context: int
    """Tokens of prompt and answer in each slot."""
    memory_bytes: int
    """Estimate: weights, KV cache and buffers."""


def plan(header: Header, *, memory_bytes: int, cores: int, context: int = 0) -> Plan:
    """Choose slots and context: as many as the cores use and the memory holds.

    memory_bytes: of the whole machine, so that every run chooses the same. context: tokens in each slot; 0 chooses.
    Raises InputError if the model takes too much memory even with one slot.
    """
    most = min(MOST_SLOTS, max(2, SLOTS_PER_CORE * cores))
    slots = [n for n in (8, 4, 2, 1) if n <= most]
    usual = min(context or USUAL_CONTEXT, header.context_length)
    contexts = [usual] if context else list(dict.fromkeys((usual, min(LEAST_CONTEXT, usual))))
    choices = [Plan(slots=n, context=c, memory_bytes=needed(header, n * c)) for c, n in product(contexts, slots)]
    fitting = [choice for choice in choices if choice.memory_bytes <= SHARE * memory_bytes]
    if not fitting:
        smaller = ", or a smaller --limit context" if context else ""
        raise InputError(f"{too_large(header, choices[-1], memory_bytes=memory_bytes)}{smaller}")
    return fitting[0]


def check_fits(header: Header, *, slots: int, context: int, memory_bytes: int) -> None:
    """Raise InputError if a plan, made earlier and perhaps elsewhere, takes too much of this machine's memory."""
    recorded = Plan(slots=slots, context=context, memory_bytes=needed(header, slots * context))
    if min(slots, context) < 1 or recorded.memory_bytes > SHARE * memory_bytes:
        raise InputError(too_large(header, recorded, memory_bytes=memory_bytes))


def too_large(header: Header, refused: Plan, *, memory_bytes: int) -> str:
    """Return the message for a plan that does not fit."""
    return (
        f"the model {header.name[:120]!r} takes about {gigabytes(refused.memory_bytes)} with a context of "
        f"{refused.slots * refused.context:,} tokens, and a model may take {gigabytes(SHARE * memory_bytes)} of this "
        f"machine's {gigabytes(memory_bytes)} of memory: take a smaller model or a smaller quantization"
    )


def needed(header: Header, tokens: int) -> int:
    """Return the bytes of weights, KV cache and buffers."""
    return header.bytes + header.kv_width * KV_NUMBER_BYTES * tokens + OVERHEAD_BYTES


def gigabytes(size: float) -> str:
    """Return a size as `1.2 GB`."""
    return f"{size / 1e9:.1f} GB"


def machine_memory() -> int:
    """Return the bytes of memory of this machine, or of the container that this process runs in."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # "max" is no number
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return total


def machine_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
