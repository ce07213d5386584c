r"""Reads what a model answered: a label, a number, or a new rule. Pure text in, a value or a reason out; never raises.

A learner's answer is looked for in its `Output:` lines, then in JSON `{"output": …}`, then in `\boxed{}`, then in lines
such as `Label: …`, then in an answer of one line: in each form the last that can be read wins. All of it is linear in
the text's length; of each form only the last 20 are tried. An answer about several inputs is looked for in the lines
`Output [2]: …` that carry each input's number.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, TypeVar

from vpp.llm.prompts import one_line

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
    return _parse(text, lambda value: _match(value, classes))


def parse_number(text: str) -> Parsed[float]:
    """The finite number that the answer gives."""
    return _parse(text, _number)


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
    outputs, explanations = _by_number(marks, "output"), _by_number(marks, "explanation")
    return {
        number: _parse_numbered(number, outputs.get(number, ()), explanations.get(number, ()), parse)
        for number in asked
    }


def parse_rule(text: str) -> Parsed[str]:
    """The text after the last `New rule:` heading, without code fences and control characters."""
    answer = _answer(text)
    heading = _last(_RULE_HEADING.finditer(answer))
    if heading is None:
        return Parsed(reason="there is no 'New rule:' heading")
    rule = _plain(answer[heading.end() :])
    if not rule:
        return Parsed(reason="nothing follows 'New rule:'")
    if len(rule) > RULE_LIMIT:
        return Parsed(reason=f"the new rule has {len(rule)} characters, at most {RULE_LIMIT} are taken")
    return Parsed(value=rule)


def cut_thinking(text: str) -> str:
    """`text` without what was thought aloud: all up to the last `</think>`, all from a line that leaves one open."""
    return _THINKING.split(text.rpartition("</think>")[2], maxsplit=1)[0]


_THINKING = re.compile(r"^[ \t]*+<think>", re.MULTILINE)


def _answer(text: str) -> str:
    return cut_thinking(text).replace("\r\n", "\n").replace("\r", "\n")


class _Unreadable(Exception):
    """A value that is not what was asked for; its text says why."""


def _parse(text: str, read: Callable[[str], T]) -> Parsed[T]:
    answer = _answer(text).strip()
    if not answer:
        return Parsed(reason="the answer is empty")
    reason = None
    for value in _candidates(answer):
        try:
            return Parsed(value=read(value), explanation=_explanation(answer))
        except _Unreadable as fault:
            reason = reason or str(fault)
    return Parsed(explanation=_explanation(answer), reason=reason or "there is no 'Output:' line")


# --- where an answer's value may stand ---------------------------------------------------------------------------

_OUTPUT = re.compile(
    r"""(?: ^ [ \t>#*_\-`]{0,12} | (?<=[.!?]) [ \t]{1,4} [*_`]{0,3} )
        (?: (?:final|predicted|the) [ \t] )? output
        [*_`]{0,3} [ \t]{0,4} [:：=] (?:[*_`]{1,3}(?=\s|$))? (?P<value> .*+ )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_OTHER_HEADING = re.compile(
    r"""^ [ \t>#*_\-`]{0,12} (?: (?:final|predicted) [ \t] )? (?:label|class|answer|prediction) [*_`]{0,3}
        [ \t]{0,4} [:：=] (?:[*_`]{1,3}(?=\s|$))? (?P<value> .*+ )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_BOXED = re.compile(r"\\boxed[ ]{0,4}\{(?:\\(?:text|textbf|mathrm|mathbf)\{)?(?P<value>[^{}\n]{1,400})\}")
_NEXT_LINE = re.compile(r"(?:\s*+(?:```\w*+(?=\s)|\$\$))*+\s*+(?P<value>\S.*+)")
_JSON_OUTPUT = re.compile(r'"output"\s*+:\s*+', re.IGNORECASE)
_JSON_EXPLANATION = re.compile(r'"explanation"\s*+:\s*+', re.IGNORECASE)
_JSON = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)


def _candidates(answer: str) -> Iterator[str]:
    """Values in the order of trust."""
    yield from _headed(answer)
    yield from _json_values(answer, _JSON_OUTPUT)
    yield from (boxed["value"] for boxed in _latest(_BOXED.finditer(answer)))
    yield from (headed["value"][:VALUE_LIMIT] for headed in _latest(_OTHER_HEADING.finditer(answer)))
    whole = _plain(answer)
    if "\n" not in whole and len(whole) <= VALUE_LIMIT:
        yield whole


def _headed(answer: str) -> Iterator[str]:
    """What stands after each `Output:`, on its line or, where that is bare, on the next."""
    for headed in _latest(_OUTPUT.finditer(answer)):
        value = headed["value"].strip()
        below = None if value.strip("`$") else _NEXT_LINE.match(answer, headed.end("value"))
        yield (below["value"] if below else value)[:VALUE_LIMIT]


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


def _explanation(answer: str) -> str:
    """What follows the last `Explanation:`, or stands before the last `Output:`."""
    output = _last(_OUTPUT.finditer(answer))
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
    none = replace(parse(""), reason=f"there is no 'Output [{number}]:' line")
    best = next((one for one in read if one.value is not None), next(iter(read), none))
    return replace(best, explanation=_shown(explanations[0]) if explanations else "")


def _value_in(said: str) -> str:
    """The first line, or the next where that is bare."""
    value, _, _ = said.strip(" \t").partition("\n")
    below = None if value.strip("`$* ") else _NEXT_LINE.match(said)
    return (below["value"] if below else value)[:VALUE_LIMIT]


# --- layers around a value: bold, quotes, boxes, a full stop, a word that says what it is -------------------------

_WRAPPED = re.compile(
    r"""\*\*(?P<bold>.+)\*\* | __(?P<strong>.+)__ | \*(?P<star>.+)\* | _(?P<under>.+)_ | `{1,3}(?P<code>[^`]+)`{1,3}
      | "(?P<double>.+)" | '(?P<single>.+)' | “(?P<curly>.+)” | ‘(?P<curled>.+)’ | «(?P<angled>.+)»
      | \$(?P<dollar>[^$]+)\$ | \\\((?P<math>.+)\\\) | \[(?P<square>.+)\] | \((?P<round>.+)\) | <(?P<less>.+)>
      | \\boxed\s?\{(?P<boxed>.+)\} | \\(?:text|textbf|mathrm|mathbf)\{(?P<text>.+)\}
      | (?P<stopped>.+)[.,;!] | [=≈~:](?P<told>.+)
      | (?P<closed>.*[^*_`])(?:\*{1,3}|_{1,3}|`{1,3}) | [*_`]{1,3}(?P<opened>[^*_`].*)""",
    re.VERBOSE,
)
_SAID = re.compile(
    r"(?:the )?(?:predicted |final )?(?:class|label|category|output|answer|prediction|value|number)(?: label)?"
    r"(?: is\b)?(?:\s*[:=#]\s*|\s+)(?P<value>\S.*)",
    re.IGNORECASE,
)
_LAYERS = 8


def _peel(value: str) -> list[str]:
    """`value`, then what is left after each layer of markup is taken off."""
    layers = [value.strip()]
    while len(layers) <= _LAYERS and (wrapped := _WRAPPED.fullmatch(layers[-1])):
        layers.append((wrapped[wrapped.lastgroup or 0]).strip())
    return layers


def _unsaid(layers: list[str]) -> list[str]:
    """The layers left of `Class 1` or `label: 1` once the word is gone; none where there is no such word."""
    said = [match["value"] for layer in layers if (match := _SAID.fullmatch(layer))]
    return [layer for value in said for layer in _peel(value)]


# --- labels -------------------------------------------------------------------------------------------------------


def _squashed(label: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", label).casefold().split())


def _bare(label: str) -> str:
    return _squashed(_peel(label)[-1])


def _numeric(label: str) -> str:
    """Equal for 1, 1.0 and +1; '' for what is no number."""
    number = _float(_peel(label)[-1])
    return "" if number is None or not math.isfinite(number) else repr(number + 0.0)


def _nameless(label: str) -> str:
    """`Class 1` without its word."""
    return _bare((_unsaid(_peel(label)) or [label])[-1])


_NORMS = (one_line, _squashed, _bare, _numeric)


@lru_cache(maxsize=256)
def _named(classes: tuple[str, ...], norm: Callable[[str], str]) -> dict[str, tuple[str, ...]]:
    """The classes that share a normal form, by that form."""
    named: dict[str, tuple[str, ...]] = {}
    for label in classes:
        named[norm(label)] = (*named.get(norm(label), ()), label)
    named.pop("", None)
    return named


def _match(value: str, classes: tuple[str, ...]) -> str:
    """The class that `value` names, under the strictest norm by which it names any. Raises _Unreadable."""
    if value in classes:
        return value
    layers = _peel(value)
    for candidates, norms in ((layers, _NORMS), (_unsaid(layers), _NORMS), (layers, (_nameless,))):
        for norm in norms:
            for candidate in candidates:
                if named := _named(classes, norm).get(norm(candidate)):
                    return _only(named, value)
    raise _Unreadable(f"{_quoted(value)} is none of the labels {_listed(classes)}")


def _only(named: tuple[str, ...], value: str) -> str:
    if len(named) > 1:
        raise _Unreadable(f"{_quoted(value)} could be any of the labels {_listed(named)}")
    return named[0]


def _listed(labels: tuple[str, ...]) -> str:
    shown = ", ".join(_shortened(label, 40) for label in labels[:10])
    return f"{shown}, …" if len(labels) > 10 else shown


def _quoted(value: str) -> str:
    return f"'{_shortened(value.strip(), 80)}'"


def _shortened(text: str, limit: int) -> str:
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[:limit] + "…"


# --- numbers ------------------------------------------------------------------------------------------------------

_MINUS = str.maketrans(dict.fromkeys("−–‒﹣－", "-"))
_SUPERSCRIPT = re.compile("[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_GROUPED = re.compile(r"(?<=\d)[,_' ’](?=\d)")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?P<mark>[,_' ’])\d{3}(?:(?P=mark)\d{3})*(?:\.\d*)?(?:[eE][+-]?\d+)?", re.ASCII)
_POWER = re.compile(r"\s*(?:×|x|\*|·|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*\{?([+-]?\d{1,6})\}?$", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def _number(value: str) -> float:
    """The number that `value` writes. Raises _Unreadable."""
    layers = _peel(value)
    for layer in (*layers, *_unsaid(layers)):
        number = _float(layer)
        if number is not None:
            return _finite(number, value)
    raise _Unreadable(f"{_quoted(value)} is not a number")


def _finite(number: float, value: str) -> float:
    if not math.isfinite(number):
        raise _Unreadable(f"{_quoted(value)} is not a finite number")
    return number


def _float(text: str) -> float | None:
    """Reads 1,234.5, 1.2e-5, 1.2 × 10^-5, 1.2 × 10⁻⁵, −3; inf and nan as such; None for anything else."""
    raised = _SUPERSCRIPT.sub(lambda power: "^" + power[0], text[:400])
    plain = _POWER.sub(r"e\1", unicodedata.normalize("NFKC", raised).translate(_MINUS))
    if _THOUSANDS.fullmatch(plain):
        plain = _GROUPED.sub("", plain)
    if _DECIMAL.fullmatch(plain):
        return float(plain)
    return math.inf if plain.lower().lstrip("+-") in ("inf", "infinity", "nan", "∞") else None


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
