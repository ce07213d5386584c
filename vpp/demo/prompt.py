"""Parser of prompts: a question to the learner (a rule with an input or columns), or to the optimizer."""

import re
from typing import Literal, NamedTuple

_SECTION = re.compile(r"^([A-Z][\w ]+):\n<<<\n(.*?)\n?^>>>$", re.MULTILINE | re.DOTALL)
_LABEL, _LETTERED_LABEL = re.compile(r"(?m)^- (.+)$"), re.compile(r"(?m)^- [A-Z] = (.+)$")
_LETTER_FORM, _JSON_FORM = "\nAnswer with the letter of the label and nothing else.\n", '\n{"explanation"'
_PROGRAM = re.compile(r"(?m)^Columns:\n((?:.+\n)+)Output: (?:one of:? (.+)|a number.*)\nRule: ((?s:.+))\Z")
_COLUMN = re.compile(
    r"(\w+)(?: \(“(.*)”\))?: (?:(number)|(?:a )?(text)|(?:a )?list of [\w ]+?)( or None)?(?:, (?:one of (.*)|.*))?"
)
"""Alias, name, kind, whether cells may be missing, and all texts; a number's values and unit are left unread."""

Kind = Literal["number", "numbers", "text", "unknown"]
"""What the cells of a column hold: `numbers` is a list of numbers, `unknown` stands for a column without any."""
Style = Literal["text", "json", "letter"]
"""Form of a learner's answer: reasons under headings, a JSON object, or a label's letter."""


class Column(NamedTuple):
    """A column as an argument of a program."""

    alias: str
    name: str
    """As rules call it."""
    kind: Kind
    values: tuple[str, ...]
    """All texts, if they are stated."""
    may_miss: bool


class LearnerQuestion(NamedTuple):
    """Apply a rule to an input. Without labels the answer is a number, here and below."""

    rule: str
    input: str
    labels: tuple[str, ...]
    style: Style = "text"


class ProgramQuestion(NamedTuple):
    """Translate a rule into Python."""

    rule: str
    columns: tuple[Column, ...]
    labels: tuple[str, ...]


class PriorQuestion(NamedTuple):
    """Write a rule without any row. rule: sentences at the beginning of every rule. columns: (name, kind)."""

    rule: str
    columns: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]


class OptimizerQuestion(NamedTuple):
    """Improve a rule on a batch. Draws follow from all fields."""

    rule: str
    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    labels: tuple[str, ...]


Question = LearnerQuestion | OptimizerQuestion | PriorQuestion | ProgramQuestion


def read_prompt(text: str) -> Question | None:
    if match := _PROGRAM.search(text):
        lines = list(map(_COLUMN.fullmatch, match[1].strip().split("\n")))
        columns = tuple(_column(*line.groups()) for line in lines if line)
        return ProgramQuestion(match[3].strip(), columns, _texts(match[2])) if all(lines) else None
    sections = {name: section.strip("\n") for name, section in reversed(_SECTION.findall(text))}
    form = _SECTION.sub("", text)
    labels = tuple(label.strip() for label in _LABEL.findall(form))
    match sections:
        case {"What the rule is for": rule, "Columns": about}:
            lines, _, listed = about.partition("\n\nLabels:\n")
            named = (line.rpartition(": ") for line in lines.split("\n"))
            kinds = tuple((name.strip(), kind) for name, _, kind in named if name)
            return PriorQuestion(rule, kinds, tuple(_LABEL.findall(listed)))
        case {"Inputs": inputs, "Current rule": rule, "Correct outputs": outputs}:
            rows, targets = _blocks(inputs), _blocks(outputs)
            keys = [key for key in rows if key in targets]
            some, wanted = (tuple(each[key] for key in keys) for each in (rows, targets))
            return OptimizerQuestion(rule, some, wanted, labels) if keys else None
        case {"Rule": rule, "Input": cells} if _LETTER_FORM in form:
            return LearnerQuestion(rule, cells, tuple(_LETTERED_LABEL.findall(form)), "letter")
        case {"Rule": rule, "Input": cells}:
            return LearnerQuestion(rule, cells, labels, "json" if _JSON_FORM in form else "text")
    return None


def _column(alias: str, name: str | None, number: str | None, text: str | None, missing: str, values: str) -> Column:
    kind: Kind = "number" if number else "text" if text else "numbers"
    return Column(alias, name or alias, kind, _texts(values) if text else (), bool(missing))


def _texts(listed: str | None) -> tuple[str, ...]:
    return tuple(listed.split(", ")) if listed else ()


def _blocks(section: str) -> dict[str, str]:
    """Return `[1] …` blocks by number."""
    return {number: text.strip() for number, text in re.findall(r"(?ms)^\[(\d+)\]\s(.*?)(?=^\[\d+\]\s|\Z)", section)}
