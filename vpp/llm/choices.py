"""What is chosen by name of how models are asked. It imports nothing of vpp: the command line is parsed with it."""

from typing import Literal

Role = Literal["learner", "optimizer", "prior"]
ROLES: tuple[Role, ...] = ("learner", "optimizer", "prior")
"""Whose templates there are."""
AUTO = "auto"
PAPER = "paper"
EXAMPLES = "examples"
GALLERY: dict[str, str] = {
    EXAMPLES: "Worked examples on made-up tables, as chat turns: for language models, small ones above all.",
    PAPER: "One message laid out as in the paper, with a short explanation first. For large models that think.",
    "terse": "The fewest words and no explanation: fewer tokens, and nothing to read about why.",
    "json": "Asks for one JSON object: for models that were trained to answer so.",
}
"""Templates that come with the package: name -> what it is like."""
TEMPLATES = (AUTO, *GALLERY)
"""What a person can choose."""
FORMER_NAMES = {"default": PAPER}
"""Former names of sets, which recorded commands may hold: former name -> name."""
DEMO_READS = (PAPER, "terse", "json")
"""Sets that the demo model reads: it follows no worked examples."""
AUTO_WORDS = "Worked examples for a language model; the paper's layout for the demo model and the preset paper."


def chosen_templates(name: str, *, is_demo: bool, preset: str) -> str:
    """The set of the gallery that a choice stands for."""
    if name != AUTO:
        return name
    return PAPER if is_demo or preset == PAPER else EXAMPLES


def current_name(name: str) -> str:
    """The name that a set has today."""
    return FORMER_NAMES.get(name, name)


EFFORTS = ("none", "low", "medium", "high")
"""How much a thinking model is to think."""
PREFETCH = ("auto", "on", "off")
"""Whether a chain's next rows are asked about before it is known which hypothesis goes on."""
STRUCTURED = ("auto", "off", "choice", "regex")
"""What a server is asked to hold a learner's answers to (see `structure.py`); auto: the whole form, if it can."""
