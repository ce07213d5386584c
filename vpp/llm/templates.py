"""Prompt templates: text with named slots. What fills a slot is data, and is never read as a slot or as a fence."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from importlib.resources import files

from vpp.errors import InputError
from vpp.llm.choices import Role
from vpp.llm.forms import FORM_SLOTS, Style

SLOTS: dict[Role, frozenset[str]] = {
    "learner": frozenset({"hypothesis", "input"}),
    "optimizer": frozenset({"hypothesis", "inputs", "predictions", "targets", "task"}),
    "prior": frozenset({"hypothesis", "columns"}),
}
"""What a role's template must hold beside one of the slots that say how to answer (`FORM_SLOTS`)."""
LENGTH_LIMIT = 20_000
"""Characters of a template."""

_BRACES = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_BREAK = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_FENCE_LINE = re.compile(rf"(^|[{_BREAK}])(?=[ \t]*+(?:<<<|>>>)[ \t]*+(?:[{_BREAK}]|\Z))")


class Template:
    """A role's prompt with its slots: `{name}` is a slot, a doubled brace is a brace, any other brace is itself."""

    def __init__(self, text: str, *, role: Role) -> None:
        """Raises InputError for a text that is too long, or in which a slot is missing or unknown."""
        self.text = text
        self.role: Role = role
        self.sha256 = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        _check_length(text, role)
        self.style = _check_slots(text, role)
        self._parts = tuple(_parts(text))

    @classmethod
    def shipped(cls, role: Role, name: str = "") -> "Template":
        """A template that comes with the package: the default, or that of a folder."""
        return cls((files("vpp.llm") / "templates" / name / f"{role}.txt").read_text(encoding="utf-8"), role=role)

    def fill(self, *, answer_form: str, **slots: str) -> str:
        """The prompt. Raises KeyError where a slot of the template is not given."""
        (whole,) = self.around(None, answer_form=answer_form, **slots)
        return whole

    def around(self, left_open: str | None, *, answer_form: str, **slots: str) -> tuple[str, ...]:
        """The prompt in pieces, between which the slot left open stands; `keep_inside_fence` what joins them.

        Raises KeyError where another slot of the template is not given.
        """
        given = {**slots, **dict.fromkeys(FORM_SLOTS, answer_form)}
        values = {name: keep_inside_fence(value) for name, value in given.items()}
        pieces = [""]
        for words, slot in self._parts:
            pieces[-1] += words
            if slot is not None and slot == left_open:
                pieces.append("")
            elif slot is not None:
                pieces[-1] += values[slot]
        return tuple(pieces)

    def warnings(self) -> tuple[str, ...]:
        """What works, but costs more or fails more often than it needs to; a sentence each."""
        return tuple(_warnings(self))


def keep_inside_fence(value: str) -> str:
    """`value` with one more leading space on each line that is a fence, so that data cannot close its own fence."""
    if "<<<" not in value and ">>>" not in value:
        return value
    return _FENCE_LINE.sub(r"\1 ", value)


def _parts(text: str) -> Iterator[tuple[str, str | None]]:
    """Words, with the slot that follows them; braces that were doubled are single."""
    end = 0
    for brace in _BRACES.finditer(text):
        yield text[end : brace.start()] + ("" if brace[1] else brace[0][0]), brace[1]
        end = brace.end()
    yield text[end:], None


def _check_length(text: str, role: Role) -> None:
    if len(text) > LENGTH_LIMIT:
        raise InputError(
            f"the {role} template has {len(text):,} characters, {LENGTH_LIMIT:,} at most: shorten it, since every "
            "call sends it"
        )


def _check_slots(text: str, role: Role) -> Style:
    """The style of answer that the template asks for. Raises InputError."""
    found = {brace[1]: _line(text, brace.start()) for brace in reversed([*_BRACES.finditer(text)]) if brace[1]}
    forms = [name for name in FORM_SLOTS if name in found]
    missing = sorted({*(SLOTS[role] - set(found)), *(() if forms else ("answer_form",))})
    unknown = sorted(set(found) - SLOTS[role] - set(FORM_SLOTS), key=lambda name: (found[name], name))
    faults = [f"lacks {_slots(missing)}"] if missing else []
    if unknown:
        faults.append("has the unknown slot " + ", ".join(f"{{{name}}} (line {found[name]})" for name in unknown))
    if faults:
        raise InputError(f"the {role} template {' and '.join(faults)}: write a brace that is no slot doubled")
    if len(forms) > 1:
        raise InputError(f"the {role} template asks for several forms of answer ({_slots(forms)}): keep one of them")
    return FORM_SLOTS[forms[0]]


def _slots(names: Iterable[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)


def _line(text: str, place: int) -> int:
    return 1 + text.count("\n", 0, place)


def _warnings(template: Template) -> Iterable[str]:
    places = {brace[1]: brace.start() for brace in _BRACES.finditer(template.text) if brace[1]}
    first = {brace[1]: brace.start() for brace in reversed([*_BRACES.finditer(template.text)]) if brace[1]}
    if template.role == "learner" and first["input"] < places["hypothesis"]:
        yield (
            f"The learner template puts {{input}} (line {_line(template.text, first['input'])}) before {{hypothesis}}: "
            "a server cannot reuse the part that all rows share (its prefix cache), and each call costs more."
        )
    if not template.text.isprintable() and any(c in template.text for c in "\x00\ufffd"):
        yield f"The {template.role} template holds characters that are no text: was it saved as UTF-8?"
