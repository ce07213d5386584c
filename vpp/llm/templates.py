"""Prompt templates: text with named slots. What fills a slot is data, and is never read as a slot or as a fence.

A template is one user turn, or several chat turns, each below a line that names its role:

    --- system
    --- user
    --- assistant

The last turn is the user's and holds every slot. The turns before it are fixed: instructions and worked examples.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from importlib.resources import files

from vpp.errors import InputError
from vpp.llm.choices import Role
from vpp.llm.forms import FORM_SLOTS, Style
from vpp.llm.protocol import Message

Alternatives = tuple[str, ...]
"""Slots of which a template holds at least one."""
NEEDED: dict[Role, tuple[Alternatives, ...]] = {
    "learner": (("hypothesis", "rule"), ("input",)),
    "optimizer": (
        ("hypothesis", "rule"),
        ("inputs", "rows"),
        ("predictions", "mistakes"),
        ("targets", "rows"),
        ("task", "outputs"),
    ),
    "prior": (("hypothesis", "rule"), ("columns",)),
}
"""What a role's template must hold besides one of the slots that say how to answer (`FORM_SLOTS`)."""
OPTIONAL: dict[Role, frozenset[str]] = {
    "learner": frozenset({"outputs"}),
    "optimizer": frozenset({"values"}),
    "prior": frozenset({"outputs"}),
}
"""What it may hold."""
SLOTS: dict[Role, frozenset[str]] = {
    role: frozenset(slot for slots in needed for slot in slots) | OPTIONAL[role] for role, needed in NEEDED.items()
}
"""Every slot of a role's template but those of `FORM_SLOTS`."""
LENGTH_LIMIT = 20_000
"""Characters of a template."""

_TURN = re.compile(r"^---[ \t]*(system|user|assistant)[ \t]*$", re.MULTILINE)
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
        self.opening, last = _turns(text, role)
        self._parts = tuple(_parts(last))
        self.slots = frozenset(slot for _, slot in self._parts if slot is not None)

    @property
    def examples(self) -> str:
        """The worked examples: what users and assistants say before the question; empty where there are none."""
        return "\n\n".join(turn["content"] for turn in self.opening if turn["role"] != "system")

    def opening_for(self, seed: int) -> tuple[Message, ...]:
        """The turns before the question, the last two worked examples exchanged where bit 4 of `seed` is set.

        Small models follow the last example most: proposals that end with different ones differ more.
        """
        if not seed >> 4 & 1 or len(self.opening) < 4:
            return self.opening
        return (*self.opening[:-4], *self.opening[-2:], *self.opening[-4:-2])

    @property
    def instructions(self) -> str:
        """The fixed words that are no worked example: the system turn and the question without its slots."""
        fixed = [turn["content"] for turn in self.opening if turn["role"] == "system"]
        return "\n\n".join([*fixed, "".join(words for words, _ in self._parts)])

    @classmethod
    def shipped(cls, role: Role, name: str) -> "Template":
        """The template of a set that comes with the package."""
        return cls((files("vpp.llm") / "templates" / name / f"{role}.txt").read_text(encoding="utf-8"), role=role)

    def fill(self, *, answer_form: str, **slots: str) -> str:
        """The question. Raises KeyError where a slot of the template is not given."""
        (whole,) = self.around(None, answer_form=answer_form, **slots)
        return whole

    def around(self, left_open: str | None, *, answer_form: str, **slots: str) -> tuple[str, ...]:
        """The question in pieces, between which the slot left open stands; `keep_inside_fence` what joins them.

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


def _turns(text: str, role: Role) -> tuple[tuple[Message, ...], str]:
    """The fixed turns, and the last one with its slots. Raises InputError."""
    marks = list(_TURN.finditer(text))
    if not marks:
        return (), text
    if text[: marks[0].start()].strip():
        raise InputError(f"the {role} template has text before its first turn: begin with a line such as '--- system'")
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    turns = [(mark[1], text[mark.end() : end].strip("\n")) for mark, end in zip(marks, ends, strict=True)]
    *fixed, (speaker, last) = turns
    if speaker != "user":
        raise InputError(f"the {role} template ends with the turn of '{speaker}': end it with '--- user', the question")
    for said, words in fixed:
        if any(brace[1] for brace in _BRACES.finditer(words)):
            raise InputError(f"the {role} template has a slot in an earlier turn ({said}): slots go in the last turn")
    opening = tuple({"role": said, "content": "".join(part for part, _ in _parts(words))} for said, words in fixed)
    return opening, last


def _check_slots(text: str, role: Role) -> Style:
    """The style of answer that the template asks for. Raises InputError."""
    found = {brace[1]: _line(text, brace.start()) for brace in reversed([*_BRACES.finditer(text)]) if brace[1]}
    forms = [name for name in FORM_SLOTS if name in found]
    missing = sorted(slots[0] for slots in NEEDED[role] if not any(slot in found for slot in slots))
    missing = sorted({*missing, *(() if forms else ("answer_form",))})
    known = SLOTS[role] | set(FORM_SLOTS)
    unknown = sorted(set(found) - known, key=lambda name: (found[name], name))
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
    theta = "rule" if "rule" in places else "hypothesis"
    if template.role == "learner" and first["input"] < places[theta]:
        yield (
            f"The learner template puts {{input}} (line {_line(template.text, first['input'])}) before {{{theta}}}: "
            "a server cannot reuse the part that all rows share (its prefix cache), and each call costs more."
        )
    if not template.text.isprintable() and any(c in template.text for c in "\x00\ufffd"):
        yield f"The {template.role} template holds characters that are no text: was it saved as UTF-8?"
