"""Parser of prompts: a learner's question (a rule, inputs) or an optimizer's (a batch, or columns alone)."""

import re
from typing import Literal, NamedTuple

_SECTION = re.compile(r"^([A-Z][\w ]+):\n<<<\n(.*?)\n?^>>>$", re.MULTILINE | re.DOTALL)
_NUMBERED = re.compile(r"(?m)^\[(\d+)\]\s?")
_JSON_FORM = re.compile(r'(?m)^\{"explanation"')
_LETTER_FORM = re.compile(r"(?m)^Answer with the letter of the label and nothing else\.$")
_LABEL, _LETTERED_LABEL = re.compile(r"(?m)^- (.+)$"), re.compile(r"(?m)^- [A-Z] = (.+)$")
_PROGRAM = re.compile(r"(?m)^Columns:\n((?:.+\n)+)Output: (?:one of:? (.+)|a number.*)\nRule: ((?s:.+))\Z")
_COLUMN = re.compile(
    r"(\w+)(?: \(“(.*)”\))?: (number|a text|text|(?:a )?list of [\w ]+?)( or None)?(?:, (one of )?(.*))?"
)
"""Alias, name, kind and values of a column; a number's values and unit are left unread."""

Style = Literal["text", "json", "letter"]
"""Form of a learner's answer: reasons under headings, a JSON object, or a label's letter."""


class LearnerQuestion(NamedTuple):
    """Apply a rule to an input."""

    rule: str
    input: str
    labels: tuple[str, ...]
    """Empty if the answer is a number."""
    style: Style = "text"


class PriorQuestion(NamedTuple):
    """Write a rule without any row."""

    rule: str
    """Sentences at the beginning of every rule."""
    columns: tuple[tuple[str, str], ...]
    """(name, kind)."""
    labels: tuple[str, ...]
    heading: str = "New rule"


class OptimizerQuestion(NamedTuple):
    """Improve a rule, given its answers on a batch."""

    rule: str
    inputs: tuple[str, ...]
    predictions: tuple[str | None, ...]
    """None for a missing answer."""
    targets: tuple[str, ...]
    labels: tuple[str, ...]
    heading: str = "New rule"
    """Heading of the rule in the answer; the draws of the optimizer follow from all fields."""


class Column(NamedTuple):
    """A column as an argument of a program."""

    alias: str
    name: str
    """As rules call it."""
    kind: Literal["number", "numbers", "text"]
    """What its cells are; `numbers` is a list of numbers."""
    values: tuple[str, ...]
    """All texts, if they are stated."""
    may_miss: bool


class ProgramQuestion(NamedTuple):
    """Translate a rule into Python."""

    rule: str
    columns: tuple[Column, ...]
    labels: tuple[str, ...]
    """Empty if the answer is a number."""


Question = LearnerQuestion | OptimizerQuestion | PriorQuestion | ProgramQuestion


def read_prompt(text: str) -> Question | None:
    if match := _PROGRAM.search(text):
        lines, labels, rule = match.groups()
        columns = tuple(map(_column, lines.strip().split("\n")))
        known = tuple(column for column in columns if column)
        return ProgramQuestion(rule.strip(), known, _texts(labels)) if known == columns else None
    sections = {name: section.strip("\n") for name, section in reversed(_SECTION.findall(text))}
    form = text.rpartition("\n>>>")[2]
    match sections:
        case {"What the rule is for": rule, "Columns": about}:
            lines, _, labels = f"\n\n{about}".partition("\n\nLabels:\n")
            named = (line.rpartition(": ") for line in lines.split("\n"))
            return PriorQuestion(rule, tuple((name.strip(), kind) for name, _, kind in named if name), _labels(labels))
        case {
            "Current rule": rule,
            "Inputs": inputs,
            "Answers given with this rule": answers,
            "Correct outputs": outputs,
        }:
            rows, said, targets = map(_blocks, (inputs, answers, outputs))
            keys = [key for key in rows if key in targets]
            predictions = tuple(None if said.get(key) == "no answer" else said.get(key) for key in keys)
            some, wanted = tuple(map(rows.__getitem__, keys)), tuple(map(targets.__getitem__, keys))
            return OptimizerQuestion(rule, some, predictions, wanted, _labels(form)) if keys else None
        case {"Rule": rule, "Input": cells} if _LETTER_FORM.search(text):
            return LearnerQuestion(rule, cells, tuple(_LETTERED_LABEL.findall(text)), "letter")
        case {"Rule": rule, "Input": cells}:
            return LearnerQuestion(rule, cells, _labels(form), "json" if _JSON_FORM.search(form) else "text")
    return None


def _column(line: str) -> Column | None:
    if not (match := _COLUMN.fullmatch(line)):
        return None
    alias, name, words, missing, is_whole, values = match.groups()
    kind: Literal["number", "numbers", "text"] = (
        "numbers" if "list" in words else "text" if "text" in words else "number"
    )
    return Column(alias, name or alias, kind, _texts(values) if is_whole else (), bool(missing))


def _texts(listed: str | None) -> tuple[str, ...]:
    return tuple(listed.split(", ")) if listed else ()


def _labels(text: str) -> tuple[str, ...]:
    return tuple(label.strip() for label in _LABEL.findall(text))


def _blocks(section: str) -> dict[str, str]:
    """Return `[1] …` blocks by number."""
    _, *parts = _NUMBERED.split(section)
    return {number: text.strip() for number, text in zip(parts[::2], parts[1::2], strict=True)}
