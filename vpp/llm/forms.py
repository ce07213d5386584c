"""How a model is asked to answer: the style that a template's slot names.

text     an explanation or reasoning, then the answer, a heading each: `{answer_form}`
brief    the answer alone under its heading: `{answer_form_brief}`
json     one JSON object: `{answer_form_json}`
shown    as text, by the template's worked examples alone: `{answer_form_shown}` adds words only about several rows

A server that takes only a JSON schema may also ask for `json_brief`: one JSON object with the answer alone.
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

Style = Literal["text", "brief", "json", "json_brief", "shown"]
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
        return "" if count == 1 else pack_answer_form(dataset, count)
    if style == "text":
        return learner_answer_form(dataset) if count == 1 else pack_answer_form(dataset, count)
    if style == "brief":
        return after_labels(dataset, _learner_brief(dataset, count))
    return after_labels(dataset, _learner_json(style, dataset, count))


def _learner_brief(dataset: Dataset, count: int) -> str:
    kind = answer_kind(dataset)
    if count == 1:
        return f"{_ASKED}\nOutput: {kind}, nothing else"
    return f"{_EACH.format(count=count)}number in the brackets:\nOutput [1]: {kind}, nothing else"


def _learner_json(style: Style, dataset: Dataset, count: int) -> str:
    asked = _json_fields(style, dataset)
    if count == 1:
        return f"{_ASKED_JSON}\n{_object(asked)}"
    return f"{_EACH.format(count=count)}number (one JSON object a line):\n{_object({'number': 1, **asked})}"


def _json_fields(style: Style, dataset: Dataset) -> dict[str, Any]:
    output = {"output": answer_kind(dataset)}
    return output if style == "json_brief" else {"explanation": _EXPLAINED, **output}


def numbered_object_form(style: Style, dataset: Dataset, count: int) -> str:
    """How the learner is asked to answer about several inputs in one JSON object, as a JSON schema can require."""
    entry = _object({"1": {"number": 1, **_json_fields(style, dataset)}})
    form = f"{_EACH.format(count=count)}number (one JSON object for all inputs, an entry for each):\n{entry}"
    return after_labels(dataset, form)


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
