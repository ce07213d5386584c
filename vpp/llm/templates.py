"""Prompt templates with named slots, the user's own or shipped. Slot values are data: never slots, never fences.

A template is one user turn, or several chat turns, each below a line that names its role:

    --- system
    --- user
    --- assistant

The last turn is the user's and holds every slot. The fixed turns before it hold instructions and worked examples.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from vpp.errors import InputError
from vpp.llm.choices import GALLERY, PAPER, ROLES, Role
from vpp.llm.protocol import Message

Style = Literal["text", "shown", "letter"]
"""Form of an answer: an explanation and the answer below headings; the same, but worked examples show it, so that no
words are added; or one letter, which the prompt gives each label, for log-probabilities."""
FORM_SLOTS: Mapping[str, Style] = {"answer_form": "text", "answer_form_shown": "shown", "answer_form_letter": "letter"}
SLOTS: Mapping[Role, str] = {
    "learner": "hypothesis|rule input outputs?",
    "optimizer": "hypothesis|rule inputs|rows predictions|mistakes targets|rows task|outputs values?",
    "prior": "hypothesis|rule columns outputs?",
}
"""Slots of the roles that a user may write: one of each group and of `FORM_SLOTS`; with a `?` it may be absent."""

_TURN = re.compile(r"^---[ \t]*(system|user|assistant)[ \t]*$", re.MULTILINE)
_BRACES = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_BREAK = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_FENCE_LINE = re.compile(rf"(^|[{_BREAK}])(?=[ \t]*+(?:<<<|>>>)[ \t]*+(?:[{_BREAK}]|\Z))")


class Template:
    """A role's prompt: `{name}` is a slot, a doubled brace is a single brace, any other brace stands for itself."""

    def __init__(self, text: str, *, role: Role) -> None:
        """Raise InputError if a slot is missing or unknown."""
        self.text = text
        self.role: Role = role
        self.sha256 = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        self.style: Style = _check_slots(text, role) if role in SLOTS else "shown"
        self.opening, last = _turns(text, role)
        self._parts = tuple(_parts(last))
        self.slots = frozenset(slot for _, slot in self._parts if slot is not None)

    def opening_for(self, seed: int) -> tuple[Message, ...]:
        """Return the turns before the question; bit 4 of `seed` swaps the last two worked examples.

        Small models follow the last example most, so proposals vary more if it varies.
        """
        if not seed >> 4 & 1 or len(self.opening) < 4:
            return self.opening
        return (*self.opening[:-4], *self.opening[-2:], *self.opening[-4:-2])

    def fill(self, *, answer_form: str = "", **slots: str) -> str:
        """Return the question. Raises KeyError if a slot of the template is not given."""
        given = {**slots, **dict.fromkeys(FORM_SLOTS, answer_form)}
        return "".join(words + ("" if slot is None else keep_inside_fence(given[slot])) for words, slot in self._parts)


def keep_inside_fence(value: str) -> str:
    """Return `value` with a space before each line that is a fence, so that data cannot close its own fence."""
    if "<<<" not in value and ">>>" not in value:
        return value
    return _FENCE_LINE.sub(r"\1 ", value)


def _parts(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield each stretch of words, with single braces for doubled ones, and the slot after it."""
    end = 0
    for brace in _BRACES.finditer(text):
        yield text[end : brace.start()] + ("" if brace[1] else brace[0][0]), brace[1]
        end = brace.end()
    yield text[end:], None


def _turns(text: str, role: Role) -> tuple[tuple[Message, ...], str]:
    """Return the fixed turns, and the text of the last one with its slots. Raises InputError."""
    marks = list(_TURN.finditer(text))
    if not marks:
        return (), text
    if text[: marks[0].start()].strip():
        raise InputError(f"the {role} template has text before its first turn: begin with a line such as '--- system'")
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    turns = [(mark[1], text[mark.end() : end].strip("\n")) for mark, end in zip(marks, ends, strict=True)]
    *fixed, (asker, last) = turns
    if asker != "user":
        raise InputError(f"the {role} template ends with the turn of '{asker}': end it with '--- user', the question")
    for speaker, words in fixed:
        if any(brace[1] for brace in _BRACES.finditer(words)):
            raise InputError(
                f"the {role} template has a slot in an earlier turn ({speaker}): slots go in the last turn"
            )
    return tuple({"role": name, "content": "".join(part for part, _ in _parts(words))} for name, words in fixed), last


def _check_slots(text: str, role: Role) -> Style:
    """Return the style of answer that the template asks for. Raises InputError."""
    slots = dict.fromkeys(brace[1] for brace in _BRACES.finditer(text) if brace[1])
    forms, groups = [slot for slot in slots if slot in FORM_SLOTS], [*SLOTS[role].split(), "|".join(FORM_SLOTS)]
    known = "|".join(groups).replace("?", "").split("|")
    missing = [
        group.split("|")[0] for group in groups if "?" not in group and slots.keys().isdisjoint(group.split("|"))
    ]
    unknown = [slot for slot in slots if slot not in known]
    faults = [f"lacks {_listed(missing)}"] if missing else []
    faults += [f"has the unknown slot {_listed(unknown)}"] if unknown else []
    if faults:
        raise InputError(f"the {role} template {' and '.join(faults)}: write a brace that is no slot doubled")
    if len(forms) > 1:
        raise InputError(f"the {role} template asks for several forms of answer ({_listed(forms)}): keep one of them")
    return FORM_SLOTS[forms[0]]


def _listed(slots: Iterable[str]) -> str:
    return ", ".join(f"{{{slot}}}" for slot in slots)


# --- templates that come with the package ---------------------------------------------------------------------------


@cache
def packaged(role: Role, *path: str) -> Template:
    """Return a role's template in a folder of this package; without one, those that no set and no user replaces."""
    return Template(files("vpp.llm").joinpath("templates", *path, f"{role}.txt").read_text("utf-8"), role=role)


def shipped(role: Role, name: str = PAPER) -> Template:
    """Return a role's template of a shipped set. Raises InputError for an unknown name."""
    if name not in GALLERY:
        raise InputError(f"no templates are named {name!r}: take one of {', '.join(GALLERY)}, or a file's path")
    return packaged(role, name)


def lettered() -> Template:
    """Return the learner's template that asks for a label's letter, in place of a set's own."""
    return packaged("learner", "letters")


def template_of(text: str | None, *, role: Role) -> Template:
    """Return the template of a text that a run recorded; None stands for the set `paper`. Raises InputError."""
    return shipped(role) if text is None else Template(text, role=role)


def set_texts(name: str) -> dict[Role, str | None]:
    """Return the texts that a run records for a shipped set, by role: None for the set `paper`."""
    return {role: None if name == PAPER else shipped(role, name).text for role in ROLES}


def name_of(text: str | None, role: Role) -> str | None:
    """Return the name of the shipped set that has this text, or None for the user's own text."""
    return next((name for name in GALLERY if template_of(text, role=role).text == shipped(role, name).text), None)


def check_templates(texts: dict[Role, str | None]) -> None:
    """Raise InputError for a user's own template that cannot be used."""
    for role, text in texts.items():
        template_of(text, role=role)
