"""Slots and context of a model file, chosen from memory and cores."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpp.errors import InputError
from vpp.gguf.header import Header
from vpp.gguf.plan import SHARE, Plan, check_fits, plan

GB = 10**9
SMALL = Header(
    name="small",
    bytes=GB,
    architecture="qwen2",
    parameters=15 * 10**8,
    layers=28,
    context_length=32_768,
    kv_width=14_336,
)
"""Qwen 2.5 of 1.5 billion parameters in four bits: 28,672 bytes of KV cache a token."""


def test_a_roomy_machine_has_eight_slots() -> None:
    needed = GB + 28_672 * 8 * 4096 + 512 * 2**20
    assert plan(SMALL, memory_bytes=16 * GB, cores=8) == Plan(slots=8, context=4096, memory_bytes=needed)


@pytest.mark.parametrize(
    ("memory", "cores", "slots", "context"), [(4, 8, 8, 4096), (2.6, 8, 4, 4096), (2, 8, 1, 2048), (16, 1, 4, 4096)]
)
def test_less_memory_takes_slots_first_and_then_context_and_one_core_has_fewer_slots(
    memory: float, cores: int, slots: int, context: int
) -> None:
    chosen = plan(SMALL, memory_bytes=round(memory * GB), cores=cores)
    assert (chosen.slots, chosen.context) == (slots, context)


def test_a_context_that_is_asked_for_is_kept_up_to_the_models_own() -> None:
    assert plan(SMALL, memory_bytes=16 * GB, cores=2, context=8192).context == 8192
    for asked in (0, 5000):
        short = replace(SMALL, context_length=1024)
        assert plan(short, memory_bytes=16 * GB, cores=2, context=asked).context == 1024
    with pytest.raises(InputError, match="a smaller --limit context"):
        plan(SMALL, memory_bytes=2 * GB, cores=2, context=32_768)


def test_a_model_that_is_too_large_is_refused_in_one_line() -> None:
    large = replace(SMALL, name="large", bytes=40 * GB)
    with pytest.raises(InputError) as refused:
        plan(large, memory_bytes=16 * GB, cores=8)
    assert str(refused.value) == (
        "the model 'large' takes about 40.6 GB with a context of 2,048 tokens, and a model may take 12.8 GB of this "
        "machine's 16.0 GB of memory: take a smaller model or a smaller quantization"
    )


def test_a_plan_of_another_machine_is_checked_again() -> None:
    check_fits(SMALL, slots=8, context=4096, memory_bytes=16 * GB)
    for slots, context in ((8, 400_000), (10**9, 10**9), (0, 4096), (8, -1)):
        with pytest.raises(InputError, match="take a smaller model"):
            check_fits(SMALL, slots=slots, context=context, memory_bytes=16 * GB)


@given(st.integers(1, 2**70), st.integers(0, 2**40), st.integers(1, 2**40), st.integers(1, 256), st.integers(0, 2**20))
def test_a_plan_fits_or_is_refused(size: int, kv_width: int, memory: int, cores: int, context: int) -> None:
    header = replace(SMALL, bytes=size, kv_width=kv_width)
    try:
        chosen = plan(header, memory_bytes=memory, cores=cores, context=context)
    except InputError:
        return
    assert chosen.memory_bytes <= SHARE * memory
    assert 1 <= chosen.slots <= 8
    assert chosen.context >= 1
