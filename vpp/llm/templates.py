"""Prompt templates: text with named slots. What fills a slot is data, and is never read as a slot or as a fence."""

import hashlib
import re
from importlib.resources import files
from typing import Literal

from vpp.errors import InputError

Role = Literal["learner", "optimizer", "prior"]
SLOTS: dict[Role, frozenset[str]] = {
    "learner": frozenset({"hypothesis", "input", "answer_form"}),
    "optimizer": frozenset({"hypothesis", "inputs", "predictions", "targets", "task", "answer_form"}),
    "prior": frozenset({"hypothesis", "columns", "answer_form"}),
}

_BRACES = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_BREAK = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_FENCE_LINE = re.compile(rf"(^|[{_BREAK}])(?=[ \t]*+(?:<<<|>>>)[ \t]*+(?:[{_BREAK}]|\Z))")


class Template:
    """A role's prompt with its slots: `{name}` is a slot, a doubled brace is a brace, any other brace is itself."""

    def __init__(self, text: str, *, role: Role) -> None:
        """Raises InputError where a slot is missing or unknown."""
        self.text = text
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        _check_slots(text, role)

    @classmethod
    def shipped(cls, role: Role) -> "Template":
        """The template that comes with the package."""
        return cls((files("vpp.llm") / "templates" / f"{role}.txt").read_text(encoding="utf-8"), role=role)

    def fill(self, **slots: str) -> str:
        """The prompt, made in one pass. Raises KeyError where a slot of the template is not given."""
        values = {name: keep_inside_fence(value) for name, value in slots.items()}
        return _BRACES.sub(lambda brace: values[brace[1]] if brace[1] else brace[0][0], self.text)


def keep_inside_fence(value: str) -> str:
    """`value` with one more leading space on each line that is a fence, so that data cannot close its own fence."""
    return _FENCE_LINE.sub(r"\1 ", value)


def _check_slots(text: str, role: Role) -> None:
    found = {brace[1] for brace in _BRACES.finditer(text) if brace[1]}
    faults = [
        f"{fault} {', '.join(f'{{{name}}}' for name in sorted(names))}"
        for fault, names in (("lacks", SLOTS[role] - found), ("has the unknown slot", found - SLOTS[role]))
        if names
    ]
    if faults:
        raise InputError(f"the {role} template {' and '.join(faults)}: write a brace that is no slot doubled")
