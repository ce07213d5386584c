"""Structured output: what a server is asked to hold a learner's answer to (vLLM's `structured_outputs`).

off      free text: the model reasons, then gives its `Output:` line
choice   the answer is the label, or the number, and nothing else: no explanation
regex    the whole form that the template asks for, its explanation kept

Servers that do not know the field ignore it in silence, so every answer is read and checked as without it.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from vpp.data.dataset import Dataset
from vpp.data.lines import one_line
from vpp.llm.forms import Style, learner_form
from vpp.llm.prompts import after_labels, answer_kind

Structure = dict[str, Any]
"""`{"choice": […]}` or `{"regex": …}`, as vLLM takes them."""

NUMBER = r"-?[0-9]{1,15}(\.[0-9]{1,12})?(e-?([12]?[0-9]{1,2}|30[0-8]))?"
EXPLANATION = r"[^\n]{1,400}"
QUOTED = r'[^"\\\n]{1,400}'
_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]|()])")


def structure(kind: str, style: Style, dataset: Dataset, *, numbers: Sequence[int], of: int) -> Structure | None:
    """What an answer about these inputs, of so many in the question, is held to; None where it is free.

    style: the form that the template asks for. numbers: under which each stands; a single input has none.
    """
    if kind == "off":
        return None
    if of == 1 and kind == "choice":
        is_label = dataset.task == "classification"
        return {"choice": [one_line(label) for label in dataset.classes]} if is_label else {"regex": NUMBER}
    form = _form("brief" if kind == "choice" else style, dataset, is_single=of == 1)
    return {"regex": "\\n".join(form.replace("{0}", str(number)) for number in numbers)}


def _form(style: Style, dataset: Dataset, *, is_single: bool) -> str:
    """One input's answer as a pattern, its number as {0}."""
    labels = [one_line(label) for label in dataset.classes]
    if style == "json":
        value = _one_of([json.dumps(label) for label in labels]) if labels else NUMBER
        number = "" if is_single else '"number": {0}, '
        return f'\\{{{number}"explanation": "{QUOTED}", "output": {value}\\}}'
    value = _one_of(labels) if labels else NUMBER
    number = "" if is_single else r" \[{0}\]"
    explained = f"Explanation{number}: {EXPLANATION}\\n" if style == "text" else ""
    return f"{explained}Output{number}: {value}"


def _one_of(texts: Sequence[str]) -> str:
    escaped = (_SPECIAL.sub(r"\\\1", text) for text in texts)
    return f"({'|'.join(escaped)})"


def answer_form(kind: str, style: Style, dataset: Dataset, count: int) -> str:
    """How the learner is to answer about so many inputs, in step with what the server holds it to."""
    if kind != "choice":
        return learner_form(style, dataset, count)
    if count > 1:
        return learner_form("brief", dataset, count)
    bare = f"Answer with {answer_kind(dataset)} and nothing else: no heading, no explanation, no other word."
    return after_labels(dataset, bare)


def is_kept(asked: Structure, text: str) -> bool:
    """Whether an answer is as it was asked to be."""
    if "choice" in asked:
        return text.strip() in asked["choice"]
    return re.fullmatch(asked["regex"], text.strip()) is not None
