r"""Reads what a model answered: a label, a number, or a new rule. Pure text in, a value or a reason out; never raises.

A learner's answer is looked for in its `Output:` lines, then in JSON `{"output": …}`, in `<output>…</output>`, in
`\boxed{}`, then under other names (`Label: …`, `Ausgabe: …`, `{"answer": …}`), then in an answer of one line: in each
form the last that can be read wins. All of it is linear in the text's length; of each form only the last 20 are tried.
An answer about several inputs is looked for in the lines `Output [2]: …` that carry each input's number.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from vpp.data.labels import match_label
from vpp.data.layers import peel, unsaid
from vpp.data.lines import cut_thinking
from vpp.data.numerals import read_float

RULE_LIMIT = 8_000
"""Characters of a rule."""
EXPLANATION_LIMIT = 600
VALUE_LIMIT = 2_100
"""Characters of an answer's value: a label as long as a prompt shows it."""
CANDIDATES = 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Generic[T]):
    """What was read."""

    value: T | None = None
    explanation: str = ""
    reason: str | None = None
    """Why nothing could be read."""


def parse_label(text: str, classes: tuple[str, ...]) -> Parsed[str]:
    """The one known class that the answer gives; a label inside a sentence is none."""
    return _parse(text, lambda value: _label(value, classes))


def parse_number(text: str, *, unit: str = "") -> Parsed[float]:
    """The finite number that the answer gives, alone or with the target's own unit."""
    return _parse(text, lambda value: _number(value, unit))


P = TypeVar("P", bound=Parsed[Any])


def parse_pack(text: str, numbers: Iterable[int], parse: Callable[[str], P]) -> dict[int, P]:
    """What the answer gives for each numbered input, each line read by `parse`; the last that can be read wins.

    An `Output:` that stands under no number is nobody's, unless one input alone was asked about and no number is named.
    """
    asked = tuple(numbers)
    answer = _answer(text)
    marks = _marks(answer)
    if len(asked) == 1 and all(mark.number is None for mark in marks):
        return {asked[0]: parse(text)}
    if not marks:
        return _parse_objects(answer, asked, parse)
    outputs, explanations = _by_number(marks, "output"), _by_number(marks, "explanation")
    return {
        number: _parse_numbered(number, outputs.get(number, ()), explanations.get(number, ()), parse)
        for number in asked
    }


def parse_rule(text: str) -> Parsed[str]:
    """The text after the last `New rule:` heading, or else in JSON `{"new_rule": …}`, without code fences."""
    answer = _answer(text)
    heading = _last(_RULE_HEADING.finditer(answer))
    given = answer[heading.end() :] if heading else next(_json_values(answer, _JSON_RULE), None)
    if given is None:
        return Parsed(reason="there is no 'New rule:' heading" if answer.strip() else "the answer is empty")
    rule = _plain(given)
    if not rule:
        return Parsed(reason="nothing follows 'New rule:'")
    if len(rule) > RULE_LIMIT:
        return Parsed(reason=f"the new rule has {len(rule)} characters, at most {RULE_LIMIT} are taken")
    return Parsed(value=rule)


def _answer(text: str) -> str:
    return cut_thinking(text).replace("\r\n", "\n").replace("\r", "\n")


class _Unreadable(Exception):
    """A value that is not what was asked for; its text says why."""


def _parse(text: str, read: Callable[[str], T]) -> Parsed[T]:
    answer = _answer(text).strip()
    if not answer:
        return Parsed(reason="the answer is empty")
    reason = None
    outputs = _latest(_OUTPUT.finditer(answer))
    for value in _candidates(answer, outputs):
        try:
            return Parsed(value=read(value), explanation=_explanation(answer, outputs))
        except _Unreadable as fault:
            reason = reason or str(fault)
    return Parsed(explanation=_explanation(answer, outputs), reason=reason or "there is no 'Output:' line")


# --- where an answer's value may stand ---------------------------------------------------------------------------

_UNSEEN = r"\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_LEAD = rf"[ \t>#*_\-`•→{_UNSEEN}]{{0,12}} (?:<\w{{1,8}}>){{0,3}} (?:\d{{1,2}}[.)][ ])? [*_`]{{0,3}}"
_COLON = r"[*_`]{0,3} (?:</\w{1,8}>){0,3} [ \t]{0,4} [:：=] (?:</\w{1,8}>){0,3} (?:[*_`]{1,3}(?=\s|$))?"
_OUTPUT = re.compile(
    rf"""(?: ^ {_LEAD} | (?<=[.!?]) [ \t]{{1,4}} [*_`]{{0,3}} )
        (?: (?:final|predicted|the) [ \t] )? output {_COLON} (?P<value> .*+ )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_OTHER_HEADING = re.compile(
    rf"""^ {_LEAD} (?: (?:final|predicted) [ \t] )?
        (?:label|class|answer|prediction|ausgabe|antwort|sortie|réponse|salida|respuesta|saída|uscita|вывод|输出|答案|出力)
        {_COLON} (?P<value> .*+ )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_TAGGED = re.compile(r"<(?P<tag>output|answer|label)>(?P<value>[^<]{1,2100})</(?P=tag)>", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed[ ]{0,4}(?=\{)")
_BOX_LIMIT = 400
"""Characters of a box."""
_NEXT_LINE = re.compile(r"(?:\s*+(?:```\w*+(?=\s)|\$\$))*+\s*+(?P<value>\S.*+)")
_AFTERTHOUGHT = re.compile(r"[ \t][*_`(]{0,3}(?:explanation|reasoning|because)\b.*+", re.IGNORECASE)
_JSON_OUTPUT = re.compile(r'"output"\s*+:\s*+', re.IGNORECASE)
_JSON_OTHER = re.compile(r'"(?:answer|label|class|prediction|value)"\s*+:\s*+', re.IGNORECASE)
_JSON_NUMBER = re.compile(r'"number"\s*+:\s*+"?(?P<number>\d{1,6})', re.IGNORECASE)
_JSON_RULE = re.compile(r'"(?:new|revised|updated|improved)[ _](?:rule|hypothesis)"\s*+:\s*+', re.IGNORECASE)
_JSON_EXPLANATION = re.compile(r'"explanation"\s*+:\s*+', re.IGNORECASE)
_JSON = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)
_LITERAL = re.compile(r"'output'[ ]{0,4}:[ ]{0,4}(?:'(?P<text>[^'\n]{1,2100})'|(?P<bare>[^',{}\[\]\n]{1,400}))", re.I)


def _candidates(answer: str, outputs: Iterable[re.Match[str]]) -> Iterator[str]:
    """Values in the order of trust. outputs: the last `Output:` lines, the last first."""
    yield from _headed(answer, outputs)
    yield from _json_values(answer, _JSON_OUTPUT)
    yield from ((found["text"] or found["bare"]) for found in _latest(_LITERAL.finditer(answer)))
    yield from (tagged["value"] for tagged in _latest(_TAGGED.finditer(answer)))
    yield from _boxed(answer)
    yield from (headed["value"][:VALUE_LIMIT] for headed in _latest(_OTHER_HEADING.finditer(answer)))
    yield from _json_values(answer, _JSON_OTHER)
    whole = _plain(answer)
    if "\n" not in whole and len(whole) <= VALUE_LIMIT:
        yield whole


def _headed(answer: str, outputs: Iterable[re.Match[str]]) -> Iterator[str]:
    """What stands after each `Output:`, on its line or, where that is bare, on the next."""
    for headed in outputs:
        value = headed["value"].strip()
        below = None if value.strip("`$") else _NEXT_LINE.match(answer, headed.end("value"))
        given = (below["value"] if below else value)[:VALUE_LIMIT]
        yield given
        if afterthought := _AFTERTHOUGHT.search(given):
            yield given[: afterthought.start()].rstrip(" \t,;.-–—")


def _boxed(answer: str) -> Iterator[str]:
    r"""What stands in each `\boxed{…}`, braces in it included."""
    for box in _latest(_BOXED.finditer(answer)):
        depth = 0
        for place in range(box.end(), min(len(answer), box.end() + _BOX_LIMIT)):
            depth += {"{": 1, "}": -1}.get(answer[place], 0)
            if depth == 0:
                yield answer[box.end() + 1 : place]
                break


def _json_values(answer: str, name: re.Pattern[str]) -> Iterator[str]:
    for key in _latest(name.finditer(answer)):
        try:
            value, _ = _JSON.raw_decode(answer, key.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, bool | str):
            yield str(value)


def _latest(found: Iterable[re.Match[str]]) -> list[re.Match[str]]:
    """The last matches, the last first."""
    return list(found)[: -CANDIDATES - 1 : -1]


def _last(found: Iterable[re.Match[str]]) -> re.Match[str] | None:
    return next(iter(_latest(found)), None)


_EXPLANATION = re.compile(r"^[ \t>#*_\-`]{0,12}explanation[*_`]{0,3}[ \t]{0,4}[:：][*_`]{0,3}", re.I | re.M)


def _explanation(answer: str, outputs: Sequence[re.Match[str]]) -> str:
    """What follows the last `Explanation:`, or stands before the last `Output:`."""
    output = outputs[0] if outputs else None
    before = answer[: output.start()] if output else answer
    heading = _last(_EXPLANATION.finditer(before))
    if heading:
        said = before[heading.end() :]
    else:
        said = before if output else next(_json_values(answer, _JSON_EXPLANATION), "")
    return _shown(said)


def _shown(said: str) -> str:
    return " ".join(said[: 4 * EXPLANATION_LIMIT].split())[:EXPLANATION_LIMIT]


# --- an answer about several inputs ---------------------------------------------------------------------------------

_MARK = re.compile(
    r"""(?: ^ [ \t>#*_\-`]{0,12} | (?<=[.!?]) [ \t]{1,4} [*_`]{0,3} )
        (?: (?: input [ \t] )? \\?\[ (?P<heading>\d{1,6}) \\?\] [*_`:. \t]{0,6} $
          | (?: \\?[\[(] (?P<before>\d{1,6}) \\?[\])] [*_`:.\- \t]{0,6} )?
            (?: (?:final|predicted|the) [ \t] )? (?P<kind>output|explanation)
            (?: [*_`]{0,3} [ \t]{0,4} \\?[\[(\#]? (?P<after>\d{1,6}) (?: \\?[\])] )? )?
            [*_`]{0,3} [ \t]{0,4} [:：=] (?:[*_`]{1,3}(?=\s|$))? )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """`Output [2]:` or `Explanation [2]:`, and what stands between it and the next."""

    kind: str
    """In lower case."""
    number: int | None
    """Its own, or that of the line `[2]` it stands under."""
    said: str


def _marks(answer: str) -> list[_Mark]:
    found = list(_MARK.finditer(answer))
    ends = [match.start() for match in found[1:]] + [len(answer)] * bool(found)
    marks, heading = [], None
    for match, end in zip(found, ends, strict=True):
        if match["kind"] is None:
            heading = int(match["heading"])
            continue
        own = match["after"] or match["before"]
        number = int(own) if own else heading
        marks.append(_Mark(kind=match["kind"].lower(), number=number, said=answer[match.end() : end]))
    return marks


def _by_number(marks: Sequence[_Mark], kind: str) -> Mapping[int, list[str]]:
    """What was said of each number, the last first; an explanation without one belongs to the output after it."""
    said: dict[int, list[str]] = {}
    following: int | None = None
    for mark in reversed(marks):
        following = mark.number if mark.kind == "output" else following
        number = following if mark.number is None and mark.kind == "explanation" else mark.number
        if mark.kind == kind and number is not None:
            said.setdefault(number, []).append(mark.said)
    return said


def _parse_numbered(number: int, outputs: Sequence[str], explanations: Sequence[str], parse: Callable[[str], P]) -> P:
    """The last of the outputs that can be read, with the last explanation."""
    read = [parse(f"Output: {_value_in(said)}") for said in outputs[:CANDIDATES]]
    best = next((one for one in read if one.value is not None), next(iter(read), None))
    best = best or replace(parse(""), reason=f"there is no 'Output [{number}]:' line")
    return replace(best, explanation=_shown(explanations[0]) if explanations else "")


def _parse_objects(answer: str, asked: Sequence[int], parse: Callable[[str], P]) -> dict[int, P]:
    """What stands in JSON objects that each begin with their number."""
    outputs: dict[int, list[str]] = {}
    explanations: dict[int, list[str]] = {}
    found = list(_JSON_NUMBER.finditer(answer))
    ends = [match.start() for match in found[1:]] + [len(answer)] * bool(found)
    for match, end in reversed(list(zip(found, ends, strict=True))):
        number, said = int(match["number"]), answer[match.end() : end]
        if number in asked and len(outputs.get(number, ())) < CANDIDATES:
            outputs.setdefault(number, []).extend(_json_values(said, _JSON_OUTPUT))
            explanations.setdefault(number, []).extend(_json_values(said, _JSON_EXPLANATION))
    return {n: _parse_numbered(n, outputs.get(n, ()), explanations.get(n, ()), parse) for n in asked}


def _value_in(said: str) -> str:
    """The first line, or the next where that is bare."""
    value, _, _ = said.strip(" \t").partition("\n")
    below = None if value.strip("`$* ") else _NEXT_LINE.match(said)
    return (below["value"] if below else value)[:VALUE_LIMIT]


# --- labels and numbers --------------------------------------------------------------------------------------------


def _label(value: str, classes: tuple[str, ...]) -> str:
    """The class that `value` names. Raises _Unreadable."""
    named = match_label(value, classes)
    if not named:
        raise _Unreadable(f"{_quoted(value)} is none of the labels {_listed(classes)}")
    if len(named) > 1:
        raise _Unreadable(f"{_quoted(value)} could be any of the labels {_listed(named)}")
    return named[0]


def _number(value: str, unit: str) -> float:
    """The number that `value` writes. Raises _Unreadable."""
    layers = peel(value)
    for layer in (*layers, *unsaid(layers)):
        number = _read_with(layer, unit)
        if number is not None:
            return _finite(number, value)
    raise _Unreadable(f"{_quoted(value)} is not a number{_why(value)}")


def _read_with(layer: str, unit: str) -> float | None:
    """The number of a layer, a word of doubt before it and its unit left aside."""
    bare = _HEDGE.sub("", layer)
    found = read_float(bare)
    if found is None and unit:
        stripped = bare.removesuffix(unit).removeprefix(unit).strip()
        signed = re.sub(rf"^([+\-−]){re.escape(unit)}\s*", r"\1", bare)
        found = next((n for n in map(read_float, (stripped, signed)) if n is not None), None)
    return found


_HEDGE = re.compile(r"(?:about|approximately|approx\.?|around|roughly|circa|ca\.|nearly)\s+", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+\-−]?\d+,\d+", re.ASCII)
_WITH_WORDS = re.compile(r"[+\-−]?[\d.,]*\d[\d.,]*\s*[^\d\s].{0,60}", re.ASCII)


def _why(value: str) -> str:
    """How a value that was nearly one can become one."""
    layer = peel(value)[-1]
    if _DECIMAL_COMMA.fullmatch(layer):
        return ": write a point before the decimals"
    return " alone: write nothing after it" if _WITH_WORDS.fullmatch(layer) else ""


def _finite(number: float, value: str) -> float:
    if not math.isfinite(number):
        raise _Unreadable(f"{_quoted(value)} is not a finite number")
    return number


def _listed(labels: tuple[str, ...]) -> str:
    shown = ", ".join(_shortened(label, 40) for label in labels[:10])
    return f"{shown}, …" if len(labels) > 10 else shown


def _quoted(value: str) -> str:
    return f"'{_shortened(value.strip(), 80)}'"


def _shortened(text: str, limit: int) -> str:
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[:limit] + "…"


# --- rules --------------------------------------------------------------------------------------------------------

_RULE_HEADING = re.compile(
    r"""(?: ^ [ \t>#*_\-`]{0,12} (?:\d{1,2}[.)][ \t]{1,4})? [*_`]{0,3} | (?<=[.!?]) [ \t]{1,4} [*_`]{0,3} )
        (?:the[ ])?(?:new|revised|updated|improved) [ ]
        (?:rule|hypothesis|pattern[ ]descriptions?|model[ ]descriptions?)
        (?: [*_`]{0,3} [ \t]{0,4} [:：] [*_`]{0,3} | [*_`: \t]{0,8} $ )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_FENCE = re.compile(r"^[ \t]{0,8}(?:```|~~~)[\w-]{0,20}[ \t]*+$\n?", re.MULTILINE)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def _plain(rule: str) -> str:
    """`rule` without code fences and control characters."""
    bare = _UNPRINTABLE.sub("", _FENCE.sub("", rule)).strip()
    return bare.removeprefix("```").removesuffix("```").strip()
