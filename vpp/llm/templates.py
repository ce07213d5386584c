"""Prompt templates with named slots, the user's own or shipped. Slot values are data: never slots, never fences.

A template is one user turn, or several chat turns, each below a line that names its role:

    --- system
    --- user
    --- assistant

The last turn is the user's and holds every slot. The fixed turns before it hold instructions and worked examples.
The command line imports this module to parse its options, so it imports nothing that takes long.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from vpp.errors import InputError

Message = Mapping[str, str]
Messages = Sequence[Message]
Role = Literal["learner", "optimizer", "prior"]
"""Roles whose templates a user may write."""
ROLES: tuple[Role, ...] = get_args(Role)
AUTO, PAPER, EXAMPLES, NUMBERS, TEXT, LETTERED = "auto", "paper", "examples", "numbers", "text", "letters"
GALLERY: dict[str, str] = {
    EXAMPLES: "Worked examples on made-up tables, as chat turns: for language models, small ones above all.",
    NUMBERS: "Worked examples with formulas on made-up tables whose output is a number.",
    TEXT: "Worked examples on made-up texts: the learner asks, answers, quotes; the optimizer seeks features in words.",
    PAPER: "One message laid out as in the paper, with a short explanation first. For large models that think.",
}
"""Shipped template sets: name -> description. `LETTERED` is the learner's alone, where log-probabilities are read."""
TEMPLATES = (AUTO, *GALLERY)
AUTO_WORDS = (
    "Worked examples for a language model, with formulas if the output is a number, on texts if a column holds free "
    "text; the paper's layout for the demo model and the preset paper."
)
Style = Literal["text", "shown", "letter"]
"""Form of an answer: an explanation and the answer below headings; the same, but worked examples show it, so that no
words are added; or one letter, which the prompt gives each label, for log-probabilities."""
FORM_SLOTS: Mapping[str, Style] = {"answer_form": "text", "answer_form_shown": "shown", "answer_form_letter": "letter"}
SLOTS: Mapping[str, str] = {
    "learner": "hypothesis|rule input outputs?",
    "optimizer": "hypothesis|rule inputs|rows predictions|mistakes targets|rows task|outputs values?",
    "prior": "hypothesis|rule columns outputs?",
}
"""Slots by role: one of each group and of `FORM_SLOTS`; with a `?` it may be absent."""

_TURN = re.compile(r"^---[ \t]*(system|user|assistant)[ \t]*$", re.MULTILINE)
_BRACES = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_BREAK = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_FENCE_LINE = re.compile(rf"(^|[{_BREAK}])(?=[ \t]*+(?:<<<|>>>)[ \t]*+(?:[{_BREAK}]|\Z))")


class Template:
    """A role's prompt: `{name}` is a slot, a doubled brace is a single brace, any other brace stands for itself."""

    def __init__(self, text: str, *, role: str) -> None:
        """Raise InputError if a slot is missing or unknown."""
        self.text = text
        self.role = role
        self.sha256 = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        self.style: Style = _style_of(text, role) if role in ROLES else "shown"
        fixed, self._question = _turns(text, role)
        self.opening: tuple[Message, ...] = tuple({"role": who, "content": _filled(words, {})} for who, words in fixed)
        self.slots = frozenset(_slots(self._question))

    def opening_for(self, seed: int) -> tuple[Message, ...]:
        """Return the turns before the question; bit 4 of `seed` swaps the last two worked examples.

        Small models follow the last example most, so proposals vary more if it varies.
        """
        if not seed >> 4 & 1 or len(self.opening) < 4:
            return self.opening
        return (*self.opening[:-4], *self.opening[-2:], *self.opening[-4:-2])

    def fill(self, *, answer_form: str = "", **slots: str) -> str:
        """Return the question. Raises KeyError if a slot of the template is not given."""
        return _filled(self._question, {**slots, **dict.fromkeys(FORM_SLOTS, answer_form)})


def keep_inside_fence(value: str) -> str:
    """Return `value` with a space before each line that is a fence, so that data cannot close its own fence."""
    if "<<<" not in value and ">>>" not in value:
        return value
    return _FENCE_LINE.sub(r"\1 ", value)


def _slots(text: str) -> list[str]:
    return list(dict.fromkeys(filter(None, _BRACES.findall(text))))


def _filled(text: str, slots: Mapping[str, str]) -> str:
    return _BRACES.sub(lambda brace: keep_inside_fence(slots[brace[1]]) if brace[1] else brace[0][0], text)


def _turns(text: str, role: str) -> tuple[list[tuple[str, str]], str]:
    """Return the fixed turns, each with its speaker, and the text of the last one. Raises InputError."""
    before, *marked = _TURN.split(text)
    if not marked:
        return [], text
    *fixed, (asker, last) = zip(marked[::2], (words.strip("\n") for words in marked[1::2]), strict=True)
    if before.strip():
        raise InputError(f"the {role} template has text before its first turn: begin with a line such as '--- system'")
    if asker != "user":
        raise InputError(f"the {role} template ends with the turn of '{asker}': end it with '--- user', the question")
    if wrong := [speaker for speaker, words in fixed if _slots(words)]:
        raise InputError(f"the {role} template has a slot in an earlier turn ({wrong[0]}): slots go in the last turn")
    return fixed, last


def _style_of(text: str, role: str) -> Style:
    """Return the style of answer that the template asks for. Raises InputError."""
    slots = _slots(text)
    groups = [group.split("|") for group in (*SLOTS[role].replace("?", "|?").split(), "|".join(FORM_SLOTS))]
    forms = [slot for slot in slots if slot in FORM_SLOTS]
    found = {
        "lacks": [group[0] for group in groups if "?" not in group and not {*group} & {*slots}],
        "has the unknown slot": [slot for slot in slots if not any(slot in group for group in groups)],
    }
    faults = [f"{fault} {_listed(which)}" for fault, which in found.items() if which]
    if faults:
        raise InputError(f"the {role} template {' and '.join(faults)}: write a brace that is no slot doubled")
    if len(forms) > 1:
        raise InputError(f"the {role} template asks for several forms of answer ({_listed(forms)}): keep one of them")
    return FORM_SLOTS[forms[0]]


def _listed(slots: Sequence[str]) -> str:
    return ", ".join(f"{{{slot}}}" for slot in slots)


@cache
def shipped(role: str, name: str = PAPER) -> Template:
    """Return a role's template of a shipped set, or one that no user may write. Raises InputError."""
    if name not in (*GALLERY, LETTERED):
        raise InputError(f"no templates are named {name!r}: take one of {', '.join(GALLERY)}, or a file's path")
    folder = name if role in ROLES else ""
    return Template(Path(__file__).with_name("templates").joinpath(folder, f"{role}.txt").read_text("utf-8"), role=role)


def template_of(text: str | None, *, role: Role) -> Template:
    """Return the template of a text that a run recorded; None stands for the set `paper`. Raises InputError."""
    return shipped(role) if text is None else Template(text, role=role)


def set_texts(name: str) -> dict[Role, str | None]:
    """Return the texts that a run records for a shipped set, by role: None for the set `paper`."""
    return {role: None if name == PAPER else shipped(role, name).text for role in ROLES}


def name_of(text: str | None, role: Role) -> str | None:
    """Return the name of the shipped set that has this text, or None for the user's own text."""
    return next((name for name in GALLERY if text in (set_texts(name)[role], shipped(role, name).text)), None)


def check_templates(texts: dict[Role, str | None]) -> None:
    """Raise InputError for a user's own template that cannot be used."""
    for role, text in texts.items():
        template_of(text, role=role)


def chosen_templates(
    name: str, *, is_demo: bool, preset: str, has_text: bool = False, is_regression: bool = False
) -> str:
    """Return the shipped set that a choice stands for. has_text: whether an input column holds free text."""
    if name != AUTO:
        return name
    if is_demo or preset == PAPER:
        return PAPER
    return TEXT if has_text else NUMBERS if is_regression else EXAMPLES
