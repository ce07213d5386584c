"""What is said of a model file before and while it is loaded."""

from vpp.gguf.header import Header
from vpp.gguf.plan import Plan, gigabytes
from vpp.wording.words import counted, integer, seconds


def model_file_words(header: Header, plan: Plan, *, memory_bytes: int) -> str:
    """What was read of the file, and how it will be served."""
    return (
        f"{header.name}: {_parameters(header.parameters)} parameters ({header.architecture}), "
        f"{gigabytes(header.bytes)}. llama.cpp serves it on this machine: {counted(plan.slots, 'call')} at a time, "
        f"{integer(plan.context)} tokens of prompt and answer each. That takes about "
        f"{gigabytes(plan.memory_bytes)} of the machine’s {gigabytes(memory_bytes)} of memory."
    )


def loading_words(loading_s: float) -> str:
    """`loading the model: 12 s`."""
    return f"loading the model: {seconds(int(loading_s))}"


def _parameters(count: int) -> str:
    """`1.8 billion`."""
    return f"{count / 1e9:.1f} billion" if count >= 950_000_000 else f"{integer(round(count / 1e6))} million"
