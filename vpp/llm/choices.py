"""Named choices for asking models. Imports nothing of vpp, so that the command line parses fast."""

from typing import Literal

Role = Literal["learner", "optimizer", "prior", "program", "question"]
ROLES: tuple[Role, ...] = ("learner", "optimizer", "prior")
"""Roles whose templates a user may write."""
AUTO = "auto"
PAPER = "paper"
EXAMPLES = "examples"
NUMBERS = "numbers"
TEXT = "text"
GALLERY: dict[str, str] = {
    EXAMPLES: "Worked examples on made-up tables, as chat turns: for language models, small ones above all.",
    NUMBERS: "Worked examples with formulas on made-up tables whose output is a number.",
    TEXT: "Worked examples on made-up texts: the learner asks, answers, quotes; the optimizer seeks features in words.",
    PAPER: "One message laid out as in the paper, with a short explanation first. For large models that think.",
}
"""Shipped template sets: name -> description."""
TEMPLATES = (AUTO, *GALLERY)
"""Names that a user can choose."""
AUTO_WORDS = (
    "Worked examples for a language model, with formulas if the output is a number, on texts if a column holds free "
    "text; the paper's layout for the demo model and the preset paper."
)


def chosen_templates(
    name: str, *, is_demo: bool, preset: str, has_text: bool = False, is_regression: bool = False
) -> str:
    """Return the shipped set that a choice stands for. has_text: whether an input column holds free text."""
    if name != AUTO:
        return name
    if is_demo or preset == PAPER:
        return PAPER
    return TEXT if has_text else NUMBERS if is_regression else EXAMPLES


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
"""Reasoning efforts of a thinking model."""
STRUCTURED = ("auto", "off")
"""Whether the server enforces the form of the learner's answers (`forms.py`); auto: if it can."""
