"""Answer forms: the words that tell a model how to answer. A template's slot chooses the style.

text     an explanation or reasoning, then the answer, each below its heading: `{answer_form}`
shown    as text; worked examples show the form, no words are added: `{answer_form_shown}`
letter   one letter, which the prompt gives each label: for log-probabilities (`answers.py`): `{answer_form_letter}`

Structured output is the learner's answer as JSON of a pydantic model, whose schema the request carries
(`response_format`: OpenAI, vLLM, llama.cpp, Ollama, LM Studio, SGLang, TGI). Servers silently ignore unknown fields, so
every answer is read and checked as if it were free text.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from vpp.data.answers import one_line
from vpp.data.dataset import Dataset
from vpp.llm.answers import LETTERS
from vpp.llm.rendering import render_labels, units

Style = Literal["text", "shown", "letter"]
FORM_SLOTS: Mapping[str, Style] = {"answer_form": "text", "answer_form_shown": "shown", "answer_form_letter": "letter"}
FIELD = "response_format"
"""The request's field that carries a structure."""
SCHEMA = "json_schema"
"""Name under which a run records that its server honours that field."""
Structure = type[BaseModel]
"""The model that an answer's JSON follows."""
EXPLANATION_LIMIT = 400
"""Maximum characters of a structured answer's explanation."""

_ASKED = "Answer in exactly this form:"
_EXPLAINED = "one or two short sentences"


def optimizer_form(style: Style) -> str:
    return _rule_form(style, "a few sentences on what the current rule gets right and wrong", "the whole new rule")


def prior_form(style: Style) -> str:
    """Return the optimizer's answer form for a draw from the prior, which shows no row."""
    return _rule_form(style, "a few sentences on why such a rule could hold", "the whole rule")


def _rule_form(style: Style, reasoning: str, rule: str) -> str:
    if style == "shown":
        return ""
    return f"{_ASKED}\nReasoning: {reasoning}\nNew rule: {rule}, complete in itself, and nothing after it"


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


def answer_form(style: Style, dataset: Dataset, *, is_structured: bool = False) -> str:
    """Return the learner's answer form. style: the template's own."""
    output = answer_kind(dataset)
    if style == "letter":
        lines = [f"- {letter} = {one_line(label)}" for letter, label in zip(LETTERS, dataset.classes, strict=False)]
        return "\n".join(("Labels:", *lines, "", "Answer with the letter of the label and nothing else."))
    if is_structured:
        words = json.dumps({"explanation": _EXPLAINED, "output": output})
        form = f"Answer in exactly this form (one JSON object and nothing else):\n{words}"
    elif style == "shown":
        return ""
    else:
        form = f"{_ASKED}\nExplanation: {_EXPLAINED}\nOutput: {output}, nothing else"
    labels = f"{render_labels(dataset)}\n\n" if dataset.task == "classification" else ""
    gap = "\n\n" if style == "shown" else ""  # its slot follows the input
    return f"{gap}{labels}{form}"


# --- structured output ----------------------------------------------------------------------------------------------


def structure(dataset: Dataset) -> Structure:
    """Return the model of a learner's answer: an explanation, then a label as prompts show it, or a finite number."""
    explanation = Annotated[str, Field(min_length=1, max_length=EXPLANATION_LIMIT)]
    output = Annotated[float, Field(allow_inf_nan=False)]
    labels = [one_line(label) for label in dataset.classes]
    return _model(explanation=explanation, output=Literal[*labels] if labels else output)


def one_of_words(words: Sequence[str]) -> Structure:
    """Return the model of an answer that is one of these words."""
    return _model(output=Literal[*words])


def _model(**fields: Any) -> Structure:
    definitions: dict[str, Any] = {name: (kind, ...) for name, kind in fields.items()}
    return create_model("answer", __config__=ConfigDict(strict=True, extra="forbid"), **definitions)


@lru_cache(maxsize=16)  # a schema costs as much processor time as the call that carries it
def request_options(structured: Structure | None) -> dict[str, Any]:
    """Return the request option that carries a structure."""
    if structured is None:
        return {}
    schema = {"name": "answer", "strict": True, "schema": structured.model_json_schema()}
    return {FIELD: {"type": SCHEMA, "json_schema": schema}}


def is_kept(structured: Structure, text: str) -> bool:
    """Return whether an answer has the requested structure."""
    try:
        structured.model_validate_json(text)
    except ValidationError:
        return False
    return True
