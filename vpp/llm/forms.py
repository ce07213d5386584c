"""How a model is asked to answer: the style that a template's slot names.

text     an explanation or reasoning, then the answer, a heading each: `{answer_form}`
brief    the answer alone under its heading: `{answer_form_brief}`
json     one JSON object: `{answer_form_json}`
shown    as text, by the template's worked examples alone: `{answer_form_shown}` adds words only about several rows
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

from vpp.data.dataset import Dataset
from vpp.llm.prompts import (
    after_labels,
    answer_kind,
    learner_answer_form,
    optimizer_answer_form,
    pack_answer_form,
    prior_answer_form,
)

Style = Literal["text", "brief", "json", "shown"]
FORM_SLOTS: Mapping[str, Style] = {
    "answer_form": "text",
    "answer_form_brief": "brief",
    "answer_form_json": "json",
    "answer_form_shown": "shown",
}

_ASKED = "Answer in exactly this form:"
_ASKED_JSON = "Answer in exactly this form (one JSON object and nothing else):"
_EACH = (
    "There are {count} inputs, each under its number. Apply the rule to each of them by itself: what it gives for one "
    "says nothing of another. Answer all of them, in their order, each in exactly this form, with the input's own "
)
_EXPLAINED = "one or two short sentences"
_WHOLE = "the whole rule, complete in itself"


def learner_form(style: Style, dataset: Dataset, count: int = 1) -> str:
    """How the learner is to answer about so many inputs."""
    if style == "shown":
        return "" if count == 1 else f"\n\n{pack_answer_form(dataset, count)}"
    if style == "text":
        return learner_answer_form(dataset) if count == 1 else pack_answer_form(dataset, count)
    made = _learner_json if style == "json" else _learner_brief
    return after_labels(dataset, made(dataset, count))


def _learner_brief(dataset: Dataset, count: int) -> str:
    kind = answer_kind(dataset)
    if count == 1:
        return f"{_ASKED}\nOutput: {kind}, nothing else"
    return f"{_EACH.format(count=count)}number in the brackets:\nOutput [1]: {kind}, nothing else"


def _learner_json(dataset: Dataset, count: int) -> str:
    asked = {"explanation": _EXPLAINED, "output": answer_kind(dataset)}
    if count == 1:
        return f"{_ASKED_JSON}\n{_object(asked)}"
    return f"{_EACH.format(count=count)}number (one JSON object a line):\n{_object({'number': 1, **asked})}"


def optimizer_form(style: Style) -> str:
    """How the optimizer is to answer about a batch."""
    if style == "shown":
        return ""
    if style == "text":
        return optimizer_answer_form()
    return _rule_form(style, "a few sentences on what the current rule gets right and wrong")


def prior_form(style: Style) -> str:
    """How the optimizer is to answer where no row is shown."""
    if style == "shown":
        return ""
    if style == "text":
        return prior_answer_form()
    return _rule_form(style, "a few sentences on why such a rule could hold")


def _rule_form(style: Style, reasoning: str) -> str:
    if style == "brief":
        return f"{_ASKED}\nNew rule: {_WHOLE}, and nothing else"
    return f"{_ASKED_JSON}\n{_object({'reasoning': reasoning, 'new_rule': _WHOLE})}"


def _object(asked: Mapping[str, Any]) -> str:
    return json.dumps(asked)
