"""Parser of prompts: a learner's question (a rule, inputs) or an optimizer's (a batch, or columns alone)."""

import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

_SECTION = re.compile(r"^([A-Z][\w ]+):\n<<<\n(.*?)\n?^>>>$", re.MULTILINE | re.DOTALL)
_NUMBERED = re.compile(r"(?m)^\[(\d+)\]\s?")
_OF_A_BATCH = ("Inputs", "Answers given with this rule", "Correct outputs")
_JSON_FORM = re.compile(r'(?m)^\{"explanation"')
_LETTER_FORM = re.compile(r"(?m)^Answer with the letter of the label and nothing else\.$")

Style = Literal["text", "json", "letter"]
"""Form of a learner's answer: reasons under headings, a JSON object, or a label's letter."""


@dataclass(frozen=True, slots=True)
class LearnerQuestion:
    """Apply a rule to an input."""

    rule: str
    input: str
    labels: tuple[str, ...]
    """Empty if the answer is a number."""
    style: Style = field(default="text", repr=False)


@dataclass(frozen=True, slots=True)
class PriorQuestion:
    """Write a rule without any row."""

    rule: str
    """Sentences at the beginning of every rule."""
    columns: tuple[tuple[str, str], ...]
    """(name, kind)."""
    labels: tuple[str, ...]
    heading: str = "New rule"


@dataclass(frozen=True, slots=True)
class OptimizerQuestion:
    """Improve a rule, given its answers on a batch."""

    rule: str
    inputs: tuple[str, ...]
    predictions: tuple[str | None, ...]
    """None for a missing answer."""
    targets: tuple[str, ...]
    labels: tuple[str, ...]
    heading: str = "New rule"
    """Heading of the rule in the answer; the draws of the optimizer follow from all fields."""


Kind = Literal["number", "numbers", "text"]
"""What a column's cells are; `numbers` is a list of numbers."""


class Column(NamedTuple):
    """A column as an argument of a program."""

    alias: str
    name: str
    """As rules call it."""
    kind: Kind
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
_PROGRAM = re.compile(r"(?m)^Columns:\n((?:.+\n)+)Output: (?:one of:? (.+)|a number.*)\nRule: ((?s:.+))\Z")
_COLUMN = re.compile(
    r"(\w+)(?: \(“(.*)”\))?: (number|a text|text|(?:a )?list of [\w ]+?)( or None)?(?:, (one of )?(.*))?"
)
"""Alias, name, kind and values of a column; a number's values and unit are left unread."""


def read_prompt(text: str) -> Question | None:
    if match := _PROGRAM.search(text):
        return _program_question(*match.groups())
    sections = {name: section.strip("\n") for name, section in reversed(_SECTION.findall(text))}
    form = text.rpartition("\n>>>")[2]
    match sections:
        case {"What the rule is for": rule, "Columns": columns}:
            return _prior_question(rule, columns)
        case {"Current rule": rule, "Inputs": _, "Answers given with this rule": _, "Correct outputs": _}:
            rows, answers, targets = (_blocks(sections[name]) for name in _OF_A_BATCH)
            keys = [key for key in rows if key in targets]
            question = OptimizerQuestion(
                rule=rule,
                inputs=tuple(rows[key] for key in keys),
                predictions=tuple(None if answers.get(key) == "no answer" else answers.get(key) for key in keys),
                targets=tuple(targets[key] for key in keys),
                labels=_labels(form),
            )
            return question if keys else None
        case {"Rule": rule, "Input": cells}:
            if not _LETTER_FORM.search(text):
                return LearnerQuestion(rule, cells, _labels(form), "json" if _JSON_FORM.search(form) else "text")
            return LearnerQuestion(rule, cells, tuple(re.findall(r"(?m)^- [A-Z] = (.+)$", text)), "letter")
    return None


def _program_question(columns: str, labels: str | None, rule: str) -> ProgramQuestion | None:
    lines = [_COLUMN.fullmatch(line) for line in columns.strip().split("\n")]
    read = tuple(_column(*line.groups()) for line in lines if line)
    texts = tuple(labels.split(", ")) if labels else ()
    return ProgramQuestion(rule.strip(), read, texts) if len(read) == len(lines) else None


def _column(
    alias: str, name: str | None, words: str, missing: str | None, is_whole: str | None, values: str | None
) -> Column:
    kind: Kind = "numbers" if "list" in words else "text" if "text" in words else "number"
    return Column(alias, name or alias, kind, tuple((values or "").split(", ")) if is_whole else (), bool(missing))


def _prior_question(rule: str, section: str) -> PriorQuestion:
    columns, _, labels = f"\n\n{section}".partition("\n\nLabels:\n")
    named = (line.rpartition(": ") for line in columns.split("\n"))
    return PriorQuestion(rule, tuple((name.strip(), kind.strip()) for name, _, kind in named if name), _labels(labels))


def _labels(text: str) -> tuple[str, ...]:
    return tuple(label.strip() for label in re.findall(r"(?m)^- (.+)$", text))


def _blocks(section: str) -> dict[str, str]:
    """Return `[1] …` blocks by number."""
    _, *parts = _NUMBERED.split(section)
    return {number: text.strip() for number, text in zip(parts[::2], parts[1::2], strict=True)}
