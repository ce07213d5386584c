"""Reads an answer about several inputs: lines `Output [2]: …` or JSON objects that carry the number of their input."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from vpp.llm.answers import (
    CANDIDATES,
    JSON_EXPLANATION,
    JSON_OUTPUT,
    NEXT_LINE,
    UNSURE_ALONE,
    VALUE_LIMIT,
    Parsed,
    answer_text,
    in_one_line,
    json_values,
)

P = TypeVar("P", bound=Parsed[Any])


def parse_pack(text: str, numbers: Iterable[int], parse: Callable[[str], P]) -> dict[int, P]:
    """Return the answer for each numbered input, its lines read by `parse`; the last readable one wins.

    An `Output:` without a number is ignored, unless only one input was asked about and the answer has no number.
    """
    asked = tuple(numbers)
    answer = answer_text(text)
    marks = _marks(answer)
    if len(asked) == 1 and all(mark.number is None for mark in marks):
        return {asked[0]: parse(text)}
    outputs, explanations = _by_number(marks) if marks else _objects_by_number(answer, asked)
    return {
        number: _parse_numbered(number, outputs.get(number, ()), explanations.get(number, ()), parse)
        for number in asked
    }


Texts = Mapping[int, Sequence[str]]
"""Texts by number of the input, from the end of the answer backwards."""

_MARK = re.compile(
    r"""(?: ^ [ \t>#*_\-`]{0,12} | (?<=[.!?]) [ \t]{1,4} [*_`]{0,3} )
        (?: (?: input [ \t] )? \\?\[ (?P<heading>\d{1,6}) \\?\] [*_`:. \t]{0,6} $
          | (?: \\?[\[(] (?P<before>\d{1,6}) \\?[\])] [*_`:.\- \t]{0,6} )?
            (?: (?:final|predicted|the) [ \t] )? (?P<kind>output|explanation)
            (?: [*_`]{0,3} [ \t]{0,4} \\?[\[(\#]? (?P<after>\d{1,6}) (?: \\?[\])] )? )?
            [*_`]{0,3} [ \t]{0,4} [:：=] (?:[*_`]{1,3}(?=\s|$))? )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_JSON_NUMBER = re.compile(r'"number"\s*+:\s*+"?(?P<number>\d{1,6})', re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """`Output [2]:` or `Explanation [2]:`, and the text up to the next mark."""

    kind: str
    """In lower case."""
    number: int | None
    """Its own number, or that of the line `[2]` above it."""
    text: str


def _marks(answer: str) -> list[_Mark]:
    marks, heading = [], None
    for match, text in _with_texts(_MARK, answer):
        if match["kind"] is None:
            heading = int(match["heading"])
            continue
        own = match["after"] or match["before"]
        marks.append(_Mark(kind=match["kind"].lower(), number=int(own) if own else heading, text=text))
    return marks


def _with_texts(pattern: re.Pattern[str], answer: str) -> list[tuple[re.Match[str], str]]:
    """Return each match with the text up to the next one."""
    matches = list(pattern.finditer(answer))
    ends = [match.start() for match in matches[1:]] + [len(answer)] * bool(matches)
    return [(match, answer[match.end() : end]) for match, end in zip(matches, ends, strict=True)]


def _by_number(marks: Sequence[_Mark]) -> tuple[Texts, Texts]:
    """Return the outputs and the explanations of an answer to several rows, by row number, the last text first.

    An explanation without a number belongs to the output after it; an output without one to no row.
    """
    texts: dict[str, dict[int, list[str]]] = {"output": {}, "explanation": {}}
    following: int | None = None
    for mark in reversed(marks):
        following = mark.number if mark.kind == "output" else following
        number = following if mark.number is None and mark.kind == "explanation" else mark.number
        if number is not None:
            texts[mark.kind].setdefault(number, []).append(mark.text)
    return texts["output"], texts["explanation"]


def _objects_by_number(answer: str, asked: Sequence[int]) -> tuple[Texts, Texts]:
    """Return outputs and explanations in JSON objects that begin with their number."""
    outputs: dict[int, list[str]] = {}
    explanations: dict[int, list[str]] = {}
    for match, text in reversed(_with_texts(_JSON_NUMBER, answer)):
        number = int(match["number"])
        if number in asked and len(outputs.get(number, ())) < CANDIDATES:
            outputs.setdefault(number, []).extend(json_values(text, JSON_OUTPUT))
            explanations.setdefault(number, []).extend(json_values(text, JSON_EXPLANATION))
    return outputs, explanations


def _parse_numbered(number: int, outputs: Sequence[str], explanations: Sequence[str], parse: Callable[[str], P]) -> P:
    """Return the last readable output with the last explanation."""
    read = [parse(f"Output: {_value_in(text)}") for text in outputs[:CANDIDATES]]
    best = next((one for one in read if one.value is not None), next(iter(read), None))
    best = best or replace(parse(""), reason=f"there is no 'Output [{number}]:' line")
    return replace(best, explanation=in_one_line(explanations[0]) if explanations else "")


def _value_in(text: str) -> str:
    """Return the first line, or the next one if that is bare."""
    value, _, _ = text.strip(" \t").partition("\n")
    below = None if value.strip("`$* ") else NEXT_LINE.match(text)
    if below and UNSURE_ALONE.fullmatch(below["value"]):
        return ""
    return (below["value"] if below else value)[:VALUE_LIMIT]
