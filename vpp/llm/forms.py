"""Answer forms: the words that tell a model how to answer. A template's slot chooses the style.

text     an explanation or reasoning, then the answer, each below its heading: `{answer_form}`
brief    the answer alone, below its heading: `{answer_form_brief}`
json     one JSON object: `{answer_form_json}`
shown    as text; worked examples show the form, no words are added: `{answer_form_shown}`

letter   one letter, which the prompt gives each label: for log-probabilities (`grading.py`): `{answer_form_letter}`

A server that takes only a JSON schema is asked for JSON in any style, for the answer alone if it is `brief`.

Structured output is the learner's answer form that the server enforces. One of these carriers in the request names it:

structured_outputs   vLLM's field: a regular expression
grammar              llama.cpp's field: a grammar in GBNF
json_schema          `response_format` of OpenAI, llama.cpp, Ollama, LM Studio, SGLang and TGI: a JSON schema

Servers silently ignore unknown fields, so every answer is read and checked as if it were free text. Each pattern
exists twice: as a regular expression for vLLM, and in GBNF, llama.cpp's grammar notation.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vpp.data.answers import one_line
from vpp.data.dataset import Dataset
from vpp.llm.grading import LETTERS
from vpp.llm.rendering import render_labels, units

Style = Literal["text", "brief", "json", "shown", "letter"]
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


# --- structured output ----------------------------------------------------------------------------------------------

Carrier = Literal["structured_outputs", "grammar", "json_schema"]
FIELDS: dict[Carrier, str] = {
    "structured_outputs": "structured_outputs",
    "grammar": "grammar",
    "json_schema": "response_format",
}
"""Request field of each carrier, in the order in which a server is tested for them."""
CARRIERS = tuple(FIELDS)
Structure = dict[str, Any]
"""`{"regex": …}` for vLLM, `{"json_schema": …}`, or `{"grammar": …, "regex": …}` for llama.cpp.

The regular expression of a grammar is not sent; it checks the answer.
"""
EXPLANATION_LIMIT = 400
"""Maximum characters of an explanation."""


# --- patterns -------------------------------------------------------------------------------------------------------

_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]|()])")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One set of texts in both notations."""

    regex: str
    gbnf: str


NUMBER = Pattern(
    regex=r"-?[0-9]{1,15}(\.[0-9]{1,12})?(e-?([12]?[0-9]{1,2}|30[0-8]))?",
    gbnf='"-"? [0-9]{1,15} ("." [0-9]{1,12})? ("e" "-"? ([12]? [0-9]{1,2} | "30" [0-8]))?',
)
EXPLANATION = Pattern(regex=r"[^ \t\n\r][^\n\r]{0,399}", gbnf=r"[^ \t\n\r] [^\n\r]{0,399}")
"""One line of 1 to 400 characters without a blank at its start."""
QUOTED = Pattern(
    regex=r'([^ \t"\\\n\r]|\\")([^"\\\n\r]|\\"){0,399}',
    gbnf=r'([^ \t"\\\n\r] | "\\" "\"") ([^"\\\n\r] | "\\" "\""){0,399}',
)
"""An explanation inside the quotes of a JSON string, with escaped double quotes and no other escape."""


def literal(text: str) -> Pattern:
    """Return the pattern of exactly this text."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return Pattern(regex=_SPECIAL.sub(r"\\\1", text).replace("\n", "\\n"), gbnf=f'"{quoted}"')


def one_of(texts: Iterable[str]) -> Pattern:
    """Return the pattern of any one of these texts."""
    each = [literal(text) for text in texts]
    return Pattern(regex=f"({'|'.join(one.regex for one in each)})", gbnf=f"({' | '.join(one.gbnf for one in each)})")


def sequence(parts: Sequence[Pattern | str]) -> Pattern:
    """Return the pattern of the parts in sequence; a text matches itself."""
    each = [literal(part) if isinstance(part, str) else part for part in parts]
    return Pattern(regex="".join(one.regex for one in each), gbnf=" ".join(one.gbnf for one in each))


# --- how answers are enforced ---------------------------------------------------------------------------------------


def carrier_for(option: str, carrier: str) -> Carrier | None:
    """Return the carrier to use; None for free text.

    option: of `choices.STRUCTURED`. carrier: the one that the server honours; empty or off if unknown.
    """
    return None if option == "off" else next((each for each in CARRIERS if each == carrier), None)


def answer_form(carrier: Carrier | None, style: Style, dataset: Dataset) -> str:
    """Return the learner's answer form. style: the template's own."""
    output, is_json = answer_kind(dataset), carrier == "json_schema" or style == "json"
    if style == "shown" and not is_json:
        return ""
    if style == "letter":
        lines = [f"- {letter} = {one_line(label)}" for letter, label in zip(LETTERS, dataset.classes, strict=False)]
        return "\n".join(("Labels:", *lines, "", "Answer with the letter of the label and nothing else."))
    if is_json:
        explanation = {} if style == "brief" else {"explanation": _EXPLAINED}
        form = f"{_ASKED_JSON}\n{json.dumps({**explanation, 'output': output})}"
    else:
        explained = "" if style == "brief" else f"Explanation: {_EXPLAINED}\n"
        form = f"{_ASKED}\n{explained}Output: {output}, nothing else"
    labels = f"{render_labels(dataset)}\n\n" if dataset.task == "classification" else ""
    gap = "\n\n" if style == "shown" else ""  # its slot follows the input
    return f"{gap}{labels}{form}"


def structure(carrier: Carrier | None, style: Style, dataset: Dataset) -> Structure | None:
    """Return the structure of an answer, or None for free text. style: the template's own."""
    if carrier is None:
        return None
    labels = [one_line(label) for label in dataset.classes]
    if carrier == "json_schema":
        explanation = {"explanation": {"type": "string", "minLength": 1, "maxLength": EXPLANATION_LIMIT}}
        output: dict[str, Any] = {"type": "string", "enum": labels} if labels else {"type": "number"}
        return {"json_schema": _object({**({} if style == "brief" else explanation), "output": output})}
    if style == "json":
        value = one_of([json.dumps(label, ensure_ascii=False) for label in labels]) if labels else NUMBER
        return _carried(sequence(['{"explanation": "', QUOTED, '", "output": ', value, "}"]), carrier)
    explained: list[Pattern | str] = ["Explanation: ", EXPLANATION, "\n"] if style in ("text", "shown") else []
    return _carried(sequence([*explained, "Output: ", one_of(labels) if labels else NUMBER]), carrier)


def one_of_words(words: Sequence[str], carrier: Carrier) -> Structure:
    """Return the structure of an answer that is one of these words."""
    if carrier == "json_schema":
        return {"json_schema": _object({"output": {"type": "string", "enum": list(words)}})}
    return _carried(one_of(words), carrier)


def _carried(pattern: Pattern, carrier: Carrier) -> Structure:
    return {"regex": pattern.regex, **({"grammar": f"root ::= {pattern.gbnf}"} if carrier == "grammar" else {})}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with exactly these properties, which servers write in this order."""
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def carrier_of(asked: Structure) -> Carrier:
    """Return the carrier that a structure was made for."""
    return next((carrier for carrier in CARRIERS if carrier in asked), "structured_outputs")


def request_options(asked: Structure | None) -> dict[str, Any]:
    """Return the request options that carry a structure, named as in `vpp.llm.protocol.NAMES`."""
    if not asked:
        return {}
    if "grammar" in asked:
        return {"grammar": asked["grammar"]}
    if "json_schema" in asked:
        schema = {"name": "answer", "strict": True, "schema": asked["json_schema"]}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {"structured": asked}


def is_kept(asked: Structure, text: str) -> bool:
    """Return whether an answer has the requested structure."""
    if "json_schema" in asked:
        try:
            return _follows(json.loads(text), asked["json_schema"])
        except (ValueError, RecursionError):
            return False
    return re.fullmatch(asked["regex"], text.strip()) is not None


def _follows(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether a value follows one of the schemas made here, with its properties in order."""
    if "enum" in schema:
        return value in schema["enum"]
    if schema["type"] == "object":
        properties = schema["properties"]
        return (
            isinstance(value, dict)
            and list(value) == list(properties)
            and all(_follows(value[name], each) for name, each in properties.items())
        )
    if schema["type"] == "string":
        return isinstance(value, str) and schema["minLength"] <= len(value) <= schema["maxLength"]
    return isinstance(value, int | float) and not isinstance(value, bool)
