"""Answer forms: the words that tell a model how to answer. A template's slot chooses the style.

text     an explanation or reasoning, then the answer, each below its heading: `{answer_form}`
brief    the answer alone, below its heading: `{answer_form_brief}`
json     one JSON object: `{answer_form_json}`
shown    as text; worked examples show the form, no words are added: `{answer_form_shown}`

letter   one letter, which the prompt gives each label: for log-probabilities (`grading.py`): `{answer_form_letter}`

`json_brief`, one JSON object with the answer alone, has no slot. A server that takes only a JSON schema may need it.
"""

import json
from collections.abc import Mapping
from typing import Literal

from vpp.data.answers import one_line
from vpp.data.dataset import Dataset
from vpp.llm.grading import LETTERS
from vpp.llm.rendering import render_labels, units

Style = Literal["text", "brief", "json", "json_brief", "shown", "letter"]
FORM_SLOTS: Mapping[str, Style] = {
    "answer_form": "text",
    "answer_form_brief": "brief",
    "answer_form_json": "json",
    "answer_form_shown": "shown",
    "answer_form_letter": "letter",
}

_ASKED = "Answer in exactly this form:"
_ASKED_JSON = "Answer in exactly this form (one JSON object and nothing else):"
_EXPLAINED = "one or two short sentences"


def learner_form(style: Style, dataset: Dataset) -> str:
    """Return the learner's answer form."""
    if style == "shown":
        return ""
    if style == "letter":
        return f"{lettered_labels(dataset)}\n\nAnswer with the letter of the label and nothing else."
    if style in ("json", "json_brief"):
        output = {"output": answer_kind(dataset)}
        fields = output if style == "json_brief" else {"explanation": _EXPLAINED, **output}
        return after_labels(dataset, f"{_ASKED_JSON}\n{json.dumps(fields)}")
    explanation = "" if style == "brief" else f"Explanation: {_EXPLAINED}\n"
    return after_labels(dataset, f"{_ASKED}\n{explanation}Output: {answer_kind(dataset)}, nothing else")


def optimizer_form(style: Style) -> str:
    """Return the optimizer's answer form for a batch."""
    return _rule_form(style, "a few sentences on what the current rule gets right and wrong", "the whole new rule")


def prior_form(style: Style) -> str:
    """Return the optimizer's answer form for a draw from the prior, which shows no row."""
    return _rule_form(style, "a few sentences on why such a rule could hold", "the whole rule")


def _rule_form(style: Style, reasoning: str, rule: str) -> str:
    if style == "shown":
        return ""
    if style == "text":
        return f"{_ASKED}\nReasoning: {reasoning}\nNew rule: {rule}, complete in itself, and nothing after it"
    whole = "the whole rule, complete in itself"
    if style == "brief":
        return f"{_ASKED}\nNew rule: {whole}, and nothing else"
    return f"{_ASKED_JSON}\n{json.dumps({'reasoning': reasoning, 'new_rule': whole})}"


def lettered_labels(dataset: Dataset) -> str:
    """Return the list of labels, each with its letter."""
    lines = [f"- {letter} = {one_line(label)}" for letter, label in zip(LETTERS, dataset.classes, strict=False)]
    return "\n".join(("Labels:", *lines))


def answer_kind(dataset: Dataset) -> str:
    """Return the placeholder of a value in a form."""
    if dataset.task == "classification":
        return "one of the labels"
    unit = units(dataset).get(dataset.target)
    return f"a number (in {unit})" if unit else "a number"


def outputs_of(dataset: Dataset) -> str:
    """Describe the possible outputs in one line."""
    if dataset.task == "classification":
        return "one of: " + ", ".join(map(one_line, dataset.classes))
    return answer_kind(dataset)


def after_labels(dataset: Dataset, text: str) -> str:
    """Return `text` below the list of labels, or alone if the outputs are numbers."""
    return f"{render_labels(dataset)}\n\n{text}" if dataset.task == "classification" else text
