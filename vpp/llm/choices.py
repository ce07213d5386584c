"""What is chosen by name of how models are asked. It imports nothing of vpp: the command line is parsed with it."""

from typing import Literal

Role = Literal["learner", "optimizer", "prior"]
ROLES: tuple[Role, ...] = ("learner", "optimizer", "prior")
"""Whose templates there are."""
DEFAULT = "default"
GALLERY: dict[str, str] = {
    DEFAULT: "Says what each part is for, and asks for a short explanation before the answer.",
    "terse": "The fewest words and no explanation: fewer tokens, and nothing to read about why.",
    "json": "Asks for one JSON object: for models that were trained to answer so.",
}
"""Templates that come with the package: name -> what it is like."""
EFFORTS = ("none", "low", "medium", "high")
"""How much a thinking model is to think."""
PREFETCH = ("auto", "on", "off")
"""Whether a chain's next rows are asked about before it is known which hypothesis goes on."""
STRUCTURED = ("auto", "off", "choice", "regex")
"""What a server is asked to hold a learner's answers to (see `structure.py`); auto: the whole form, if it can."""
