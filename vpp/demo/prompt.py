"""Parser of prompts: a learner's question (a rule, inputs) or an optimizer's (a batch, or columns alone)."""

import re
from dataclasses import dataclass, field, replace
from typing import Literal

_HEADING = re.compile(r"[\s*#]*([A-Za-z][A-Za-z .'()/-]{0,70}?)\s*:[\s*]*")
_NUMBERED = re.compile(r"(?m)^\[(\d+)\]\s?")
_SECTIONS = (
    ("targets", ("correct output", "target", "ground truth", "true label", "true output")),
    ("predictions", ("answers given", "prediction", "outputs", "model answered")),
    ("rule", ("current rule", "rule", "hypothesis", "description")),
    ("labels", ("labels",)),
    ("inputs", ("input",)),
)
_FENCES = {"<<<": ">>>", "```": "```", '"""': '"""'}
_JSON_FORM = re.compile(r'(?m)^\{"(?:explanation|reasoning|output|new_rule)"')
_BRIEF_FORM = re.compile(r"(?m)^(?:Output|New rule)\b.*\bnothing else$")
_LETTER_FORM = re.compile(r"(?m)^Answer with the letter of the label and nothing else\.$")
_LETTERED = re.compile(r"[A-Z] = (.+)")
_EXPLAINED_FORM = re.compile(r"(?m)^(?:Explanation|Reasoning)\b")
_MEANINGS = re.compile(r"\AWhat the columns mean:\n<<<\n(?:(?!>>>$).*\n)++>>>\n\n", re.MULTILINE)
"""Descriptions of columns, which the demo model leaves unread."""
_NO_SECTION = ("new ", "answer in", "reasoning", "explanation", "format", "example")


Style = Literal["text", "brief", "json", "letter"]
"""Form of the answer: reasons under headings, no reasons, a JSON object, or a label's letter."""


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
    heading: str = field(default="New rule")
    style: Style = field(default="text", repr=False)


@dataclass(frozen=True, slots=True)
class OptimizerQuestion:
    """Improve a rule, given its answers on a batch."""

    rule: str
    inputs: tuple[str, ...]
    predictions: tuple[str | None, ...]
    """None for a missing answer."""
    targets: tuple[str, ...]
    labels: tuple[str, ...]
    heading: str = field(default="New rule")
    """Heading of the rule in the answer."""
    style: Style = field(default="text", repr=False)


Kind = Literal["number", "numbers", "text"]
"""Of a column's cells: `numbers` is a list."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as an argument of a program."""

    alias: str
    name: str
    """As rules call it."""
    kind: Kind
    values: tuple[str, ...]
    """All texts, if they are stated."""
    may_miss: bool


@dataclass(frozen=True, slots=True)
class ProgramQuestion:
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
    question = _question(_MEANINGS.sub("", text))
    if isinstance(question, LearnerQuestion) and _LETTER_FORM.search(text):
        lettered = [_LETTERED.fullmatch(label) for label in question.labels]
        return replace(question, labels=tuple(each[1] for each in lettered if each), style="letter")
    return None if question is None else replace(question, style=_style(text))


def _style(text: str) -> Style:
    form = text.rpartition("\n>>>")[2]
    if _JSON_FORM.search(form):
        return "json"
    return "brief" if _BRIEF_FORM.search(form) and not _EXPLAINED_FORM.search(form) else "text"


def _question(text: str) -> LearnerQuestion | OptimizerQuestion | PriorQuestion | None:
    sections = _sections(text)
    rule, inputs = sections.get("rule"), sections.get("inputs")
    if rule is None:
        return None
    if inputs is None:
        return _prior_question(rule, sections["columns"]) if "columns" in sections else None
    labels = _labels(sections.get("labels", ""))
    if "targets" not in sections:
        return LearnerQuestion(rule, inputs, labels)
    rows, targets, answers = (_blocks(sections.get(name, "")) for name in ("inputs", "targets", "predictions"))
    keys = [key for key in rows if key in targets]
    heading = re.search(r"(?m)^\W{0,4}(New [A-Za-z ]{1,40}?)\W{0,4}:", text)
    question = OptimizerQuestion(
        rule=rule,
        inputs=tuple(rows[key] for key in keys),
        predictions=tuple(None if answers.get(key) == "no answer" else answers.get(key) for key in keys),
        targets=tuple(targets[key] for key in keys),
        labels=labels,
        heading=heading[1] if heading else "New rule",
    )
    return question if keys else None


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


def _sections(text: str) -> dict[str, str]:
    """Return the text under each heading. The first of a kind counts; headings within a fence are ignored."""
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    fence = ""
    for line in text.split("\n"):
        bare = line.strip()
        if fence and bare == fence:
            fence, current = "", None
        elif not fence and current is not None and bare in _FENCES and not any(current):
            fence = _FENCES[bare]
        elif not fence and bare.endswith((":", "*")) and (heading := _heading(bare)):
            current = sections.setdefault(heading, []) if heading not in sections else None
        elif current is not None:
            current.append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in sections.items()}


def _heading(line: str) -> str | None:
    """Return the section that a heading opens, `closing` if it only ends one, None if it is no heading."""
    match = _HEADING.fullmatch(line)
    if match is None:
        return None
    words = match[1].lower()
    if words.startswith(_NO_SECTION):
        return "closing"
    if words == "columns":
        return "columns"
    return next((name for name, signs in _SECTIONS if any(sign in words for sign in signs)), None)


def _labels(section: str) -> tuple[str, ...]:
    return tuple(line[2:].strip() for line in section.split("\n") if line.startswith("- ") and line[2:].strip())


def _blocks(section: str) -> dict[str, str]:
    """Return `[1] …` blocks by number."""
    _, *parts = _NUMBERED.split(section)
    return {number: text.strip() for number, text in zip(parts[::2], parts[1::2], strict=True)}
