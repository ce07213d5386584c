"""Reads a model's answer: a label, a number or a rule; and says whether a label survives being read back.

Text in, a value or a reason out; never raises. A label or number is looked for in the `Output:` lines, then in JSON
(`{"output": …}`), then in an answer of one line. Within a form all readable values must be the same one, and nothing
after it may take it back: a model that goes on with an example of its own, or has second thoughts, is asked again.
Time is linear in the length of the text.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from vpp.data.numbers import BODIES, MINUS, STANDS_FOR, digits_of
from vpp.errors import quoted

TEXT_LIMIT = 2_000
"""Most characters of a name or label in a prompt."""
WORDS_LIMIT = 4_000
"""Characters of a server's or model's words that are read to quote them."""

_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_ESCAPED = re.compile(rf"{_CONTROL}|\\(?=[nrtu\\]|{_CONTROL})")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def one_line(text: str) -> str:
    """Escape the control characters of `text` and cut it at 2,000 characters.

    A backslash that could begin an escape is doubled, so that different short texts stay different.
    """
    return escaped(text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + " […]")


def escaped(text: str) -> str:
    """Escape the control characters of `text`, line breaks among them, at its full length."""
    if "\\" not in text and text.isprintable():
        return text
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[0], f"\\u{ord(match[0]):04x}"), text)


def printable(words: str) -> str:
    """Return the text as one line of printable characters, which no terminal takes for a command."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in words[:WORDS_LIMIT]).split())


def shortened(text: str, limit: int = 60) -> str:
    """Return `text` in one line of at most `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[:limit] + "…"


def quotation(text: str) -> str:
    return f"'{printable(shortened(text.strip(), 80))}'"


# --- turns and thoughts -----------------------------------------------------------------------------------------------

_THOUGHT_ENDS = re.compile(
    r"</think(?:ing)?>|</thought>|</scratchpad>|</seed:think>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
    r"|<\|channel\|>final<\|message\|>"
)
_THOUGHT_BEGINS = re.compile(
    r"""^[ \t]*+ (?: <think(?:ing)?> | <thought> | <scratchpad> | <seed:think> | \[THINK\] | ◁think▷
        | <\|begin_of_thought\|> | <\|channel\|>analysis<\|message\|> )""",
    re.MULTILINE | re.VERBOSE,
)
_REASON_ENDS = re.compile(r"</(?:reasoning|reflection)>")
_REASON_BEGINS = re.compile(r"^[ \t]*+<(?:reasoning|reflection)>", re.MULTILINE)
"""Sections that may also follow the answer, so only one left open is unfinished thinking."""


def cut_thinking(text: str) -> str:
    """Remove a model's thinking: everything up to its last end mark, and from a begin mark that is left open."""
    answer = _THOUGHT_BEGINS.split(text[_last_end(_THOUGHT_ENDS, text) :], maxsplit=1)[0]
    left_open = _REASON_BEGINS.search(answer, _last_end(_REASON_ENDS, answer))
    return answer[: left_open.start()] if left_open else answer


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    return max((match.end() for match in pattern.finditer(text)), default=0)


_TOKEN = (
    r"<\|(?!channel\|)\w{1,30}\|>|<｜[^｜<>\n]{1,30}｜>|</?s>|<(?:start|end)_of_turn>|<eos>|<bos>|\[/?INST\]|<</?SYS>>"
)
_ROLE = r"(?:user|human|assistant|system|model)"
_TURN = re.compile(rf"{_TOKEN}|^[ \t]*+{_ROLE}[ \t]*+:?[ \t]*+$", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(r"[:：=][\s*_`$]*+\Z")
_HEADING_LIMIT = 40
"""Characters before a line that are searched for the end of a heading."""
_OPENING = re.compile(rf"\s*+(?:(?:{_TOKEN})\s*+|{_ROLE}[ \t]*+:?[ \t]*+(?:\n\s*+|(?=<)))++", re.IGNORECASE)


def cut_turns(text: str) -> str:
    """Return the first turn of `text`: drop chat marks before it, cut at the first mark after it.

    Small models often write on after the answer, as the user or as a new example. The name of a role alone on a line
    is a mark, except below a heading or at the beginning: there it may be a label.
    """
    opening = _OPENING.match(text)
    begin = opening.end() if opening and opening.end() < len(text) else 0
    for mark in _TURN.finditer(text, begin):
        turn, is_role = text[begin : mark.start()], mark[0].strip(" \t:").isalpha()
        if not is_role or (turn.strip() and not _HEADING.search(turn[-_HEADING_LIMIT:])):
            return turn
    return text[begin:]


# --- labels -----------------------------------------------------------------------------------------------------------

_WRAPPED = re.compile(
    r"""\*\*(.+)\*\* | __(.+)__ | \*(.+)\* | _(.+)_ | `{1,3}([^`]+)`{1,3} | "(.+)" | '(.+)' | “(.+)” | ‘(.+)’ | «(.+)»
      | 「(.+)」 | \$\$([^$]+)\$\$ | \$([^$]+)\$ | \\\((.+)\\\) | \\\[(.+)\\\] | \[(.+)\] | \((.+)\)
      | <(?P<tag>(?!(?:del|strike|s|sub|sup)>)[A-Za-z]\w{0,9})>(.+)</(?P=tag)> | (.+?)<\|[^|<>]{1,30}\|>
      | (.+)(?:<br[ ]?/?>|</?s>|</?p>|<eos>|<end_of_turn>) | <(.+)>
      | \\boxed\s?\{(.+)\} | \\(?:text|textbf|mathrm|mathbf)\{(.+)\} | (.+)[.,;!。] | (?:[=≈~:→]|\\approx\b)(.+)
      | (.*[^*_`])(?:\*{1,3}|_{1,3}|`{1,3}) | [*_`]{1,3}([^*_`].*)""",
    re.VERBOSE,
)
_NOUN = re.compile(
    r"(?:the )?(?:predicted |final )?(?:class|label|category|output|answer|prediction|value|number)(?: label)?"
    r"(?: is\b)?(?:\s*[:=#]\s*|\s+)(?P<value>\S.*)",
    re.IGNORECASE,
)
_LAYERS = 8


def peel(value: str) -> list[str]:
    """Return `value` and the text inside each layer of markup: bold, quotes, boxes, tags, a full stop."""
    layers = [value.strip()]
    while len(layers) <= _LAYERS and (wrapped := _WRAPPED.fullmatch(layers[-1])):
        layers.append(wrapped[wrapped.lastindex or 0].strip())
    return layers


def without_noun(layers: list[str]) -> list[str]:
    """Return the layers of `1` for `Class 1` or `label: 1`; empty if no layer begins with such a noun."""
    values = [match["value"] for layer in layers if (match := _NOUN.fullmatch(layer))]
    return [layer for value in values for layer in peel(value)]


def match_label(value: str, classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classes that `value` may name, under the strictest normal form with a match.

    Normal forms, strictest first: as a prompt shows the label; ignoring case, width and spacing; without markup, and
    with spaces for underscores; as a number; without a noun such as `Class` before it.
    """
    layers, shown = peel(value), _named(classes, shown_label)
    exact = next((shown[layer] for layer in layers if layer in shown), (value,) if value in classes else ())
    stages = ((layers, _NORMS), (without_noun(layers), _NORMS), (layers, (_nounless,)))
    others = (_named(classes, norm).get(norm(text)) for texts, norms in stages for norm in norms for text in texts)
    return exact or next(filter(None, others), ())


def why_unreadable(classes: Sequence[str]) -> str | None:
    """Return why an answer that copies a label from a prompt would be misread; None if every label is read back."""
    known = tuple(classes)
    for label in known:
        shown = shown_label(label)
        if not shown or cut_turns(cut_thinking(shown)) != shown:
            return f"the label {quoted(label)} is blank, or reads as a mark of a chat or of a model's thinking"
        if others := [other for other in match_label(shown, known) if other != label]:
            return f"the labels {quoted(label)} and {quoted(others[0])} look the same in a prompt"
    return None


def look_alike(classes: Sequence[str]) -> list[tuple[str, ...]]:
    """Group the labels that differ only in case and spacing."""
    return [group for group in _named(tuple(classes), _squashed).values() if len(group) > 1]


def shown_label(label: str) -> str:
    return one_line(label).strip()


def _squashed(label: str) -> str:
    return " ".join(compatible(without_invisible(label)).casefold().split())


def _bare(label: str) -> str:
    """`headline 1 wins` for `**Headline_1 wins**`: a model that has read of a column `headline_1` writes so."""
    return " ".join(_squashed(peel(label)[-1]).replace("_", " ").split())


def _numeric(label: str) -> str:
    """Equal for 1, 1.0 and +1; empty if not a number."""
    number = read_float(peel(label)[-1])
    return "" if number is None or not math.isfinite(number) else repr(number + 0.0)


def _nounless(label: str) -> str:
    """`1` for `Class 1`."""
    return _bare((without_noun(peel(label)) or [label])[-1])


_NORMS = (shown_label, _squashed, _bare, _numeric)


@lru_cache(maxsize=256)
def _named(classes: tuple[str, ...], norm: Callable[[str], str]) -> dict[str, tuple[str, ...]]:
    named: dict[str, tuple[str, ...]] = {}
    for label in classes:
        named[norm(label)] = (*named.get(norm(label), ()), label)
    named.pop("", None)
    return named


# --- values of an answer ----------------------------------------------------------------------------------------------

EXPLANATION_LIMIT = 600
VALUE_LIMIT = 2_100
"""Characters of an answer's value: enough for the longest label that a prompt shows."""
RULE_LIMIT = 8_000
"""Characters of a rule."""
CANDIDATES = 20
"""Values of one form that are tried, from the last one backwards."""
T = TypeVar("T")


class Unreadable(Exception):
    """A value that is neither label nor number as asked; its text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Generic[T]):
    value: T | None = None
    explanation: str = ""
    reason: str | None = None


def parse_label(text: str, classes: tuple[str, ...]) -> Parsed[str]:
    """Return the one known class that the answer gives."""
    return _parse(text, lambda value: _label_in(value, classes))


def parse_number(text: str, *, unit: str = "", expected: tuple[float, float] | None = None) -> Parsed[float]:
    """Return the finite number that the answer gives, alone or with the target's own unit.

    expected: lowest and highest target. A point or comma before three digits may mark decimals or thousands. `12.345`
    is read as 12.345, and `12,345` as 12345, only if the other reading is farther from these bounds.
    """
    return _parse(text, lambda value: _number_in(value, unit, expected))


_CURRENCIES = ("$", "€", "£", "¥")
"""Ignored around a number if the target has no unit of its own."""


def _label_in(value: str, classes: tuple[str, ...]) -> str:
    named = match_label(value, classes)
    if len(named) == 1:
        return named[0]
    listed = ", ".join(map(shortened, (named or classes)[:10])) + (", …" if len(named or classes) > 10 else "")
    raise Unreadable(f"{quotation(value)} {'could be any' if named else 'is none'} of the labels {listed}")


def _number_in(value: str, unit: str, expected: tuple[float, float] | None) -> float:
    layers = peel(value)
    marks = ("", *((unit,) if unit else _CURRENCIES))
    forms = (layer.replace(mark or " ", " ").strip() for layer in (*layers, *without_noun(layers)) for mark in marks)
    form, number = next(((form, number) for form in forms if (number := read_float(form)) is not None), ("", math.nan))
    if not form:
        words = "is not a number alone: write nothing after it, and a point before decimals"
        raise Unreadable(f"{quotation(value)} {words}")
    if not math.isfinite(number):
        raise Unreadable(f"{quotation(value)} is not a finite number")
    if expected and (other := read_other_way(form)) is not None:
        distance, others = (max(expected[0] - each, 0.0, each - expected[1]) for each in (number, other))
        if distance >= others:
            decimal, thousands = sorted((number, other), key=abs)
            readings = f"{quotation(form)} may be {decimal:g} or {thousands:g}"
            raise Unreadable(f"{readings}: write {decimal:.4f} or {thousands:g}")
    return number


_FLAGS = re.IGNORECASE | re.MULTILINE
_LEAD = r"(?:^[\W_]{0,16}(?:\d{1,2}[.)] )?|(?<=[.!?])[ \t]{1,4})[*_`]{0,3}"
_COLON = r"[*_`]{0,3}[ \t]{0,4}[:：=](?:[*_`]{1,3}(?=\s|$))?"
_OUTPUT = re.compile(rf"{_LEAD}(?:(?:final|predicted|the) )?output{_COLON}(?P<value>.*)", _FLAGS)
_BELOW = re.compile(r"\s*(?:(?:```\w*|\$\$)\s+)?(?P<value>\S.*)")
"""The value below an `Output:` that ends its line."""
_RETRACTION = re.compile(
    r"(?:\b|\\n)(?:wait|actually|correct(?:ed|ion)|scratch that|oops|sorry|mistake|hmm+|hold on|let me|i mis\w+"
    r"|(?<!nothing )(?:is|was) wrong|on (?:reflection|\w{1,20} (?:thoughts?|look)))\b"
    r"|^\W{0,16}(?:(?:no|wrong)[,.]|rather\b)",
    _FLAGS,
)
_CLAIM = re.compile(
    r"(?:(?:\bthe |\bso |^\W{0,16})(?:(?:final|predicted|correct|right|true) )?"
    r"(?:answer|output|label|class|prediction|result)\b\W{0,4}(?:(?:is|(?:should|must) be)\b)?"
    r"|\bso\b,?(?: (?:it|that|this) (?:is|gives)\b)?|\b(?:that|this) gives\b(?: \w{1,40} =)?)"
    r"(?=\s*+(?P<value>[^\s:=].{0,80}?)\}*+(?:\s*+$|[.;!?]+(?:\s|$)))",
    _FLAGS,
)
"""A value that a sentence ends with and calls the output: `b is 8, so the label is no.` `b is 8.` is about an input."""
_UNSURE = re.compile(r"[-–−]\s.*|[A-Za-z_]\w*\s*=[^=]*")
"""Unreadable without `Output:` before it in its line: `- 5` may be a list, and `x = 5` may repeat the input."""
_JSON_OUTPUT = re.compile(r'"(?:output|answer|label|class|prediction|value)"\s*+:\s*+', re.IGNORECASE)
_JSON_EXPLANATION = re.compile(r'"explanation"\s*+:\s*+', re.IGNORECASE)
_EXPLANATION = re.compile(rf"^[\W_]{{0,12}}(?:explanation|reasoning|notes?){_COLON}", _FLAGS)


def _parse(text: str, read: Callable[[str], T]) -> Parsed[T]:
    answer = answer_text(text).strip()
    outputs = _latest(_OUTPUT, answer)
    explanation, reason = _explanation(answer, outputs), "" if answer else "the answer is empty"
    for candidates in _forms(answer, outputs):
        readable: dict[T, int] = {}
        for value, end in candidates:
            try:
                readable[read(value[:VALUE_LIMIT])] = end
            except Unreadable as fault:
                reason = reason or str(fault)
        if len(readable) > 1:
            reason = "it gives several outputs: write one, and nothing after it"
        elif any(_is_taken_back(answer[end:], value, read) for value, end in readable.items()):
            reason = "the answer is taken back after its value: think first, and write the value last"
        elif readable:
            return Parsed(value=next(iter(readable)), explanation=explanation)
        if readable:
            break
    return Parsed(explanation=explanation, reason=reason or "there is no 'Output:' line")


def _is_taken_back(rest: str, value: T, read: Callable[[str], T]) -> bool:
    """Return whether the text after a value says that it is wrong, or ends with another value."""
    if _RETRACTION.search(rest):
        return True
    for claim in _latest(_CLAIM, rest):
        with suppress(Unreadable):
            return read(claim["value"]) != value
    return False


def _forms(answer: str, outputs: Sequence[re.Match[str]]) -> Iterator[list[tuple[str, int]]]:
    """Yield the values of each form, the most trusted form first, each with the place after it."""
    headed = []
    for output in outputs:
        value, end = output["value"].strip(), output.end()
        below = None if value.strip("`$") else _BELOW.match(answer, end)
        is_below = below is not None and not _UNSURE.fullmatch(below["value"])
        headed.append((below["value"], below.end()) if below and is_below else (value, end))
    yield headed
    yield list(_json_values(answer, _JSON_OUTPUT))
    whole = _without_fences(answer)
    if whole and "\n" not in whole and len(whole) <= VALUE_LIMIT and not _UNSURE.fullmatch(whole):
        yield [(whole, len(answer))]


def _explanation(answer: str, outputs: Sequence[re.Match[str]]) -> str:
    """Return the text after the last `Explanation:`, or else before the last `Output:`, in one line."""
    before = answer[: outputs[0].start()] if outputs else answer
    if headings := _latest(_EXPLANATION, before):
        before = before[headings[0].end() :]
    elif not outputs:
        before = next(_json_values(answer, _JSON_EXPLANATION), ("", 0))[0]
    return " ".join(before[: 4 * EXPLANATION_LIMIT].split())[:EXPLANATION_LIMIT]


_RULE_HEADING = re.compile(
    rf"{_LEAD}(?:the )?(?:new|revised|updated|improved) (?:rule|hypothesis|(?:pattern|model) descriptions?)"
    rf"(?:{_COLON}|[*_`: \t]*$)",
    _FLAGS,
)
_JSON_RULE = re.compile(r'"(?:new|revised|updated|improved)[ _](?:rule|hypothesis)"\s*+:\s*+', re.IGNORECASE)


def parse_rule(text: str) -> Parsed[str]:
    """Return the text after the last `New rule:` heading, or else in JSON `{"new_rule": …}`, without code fences.

    The rule ends before a line that explains it.
    """
    answer = answer_text(text)
    written, _ = next(_json_values(answer, _JSON_RULE), (None, 0))
    if headings := _latest(_RULE_HEADING, answer):
        written = answer[headings[0].end() :]
        explained = _EXPLANATION.search(written)
        written = (written[: explained.start()].rstrip() if explained else "") or written
    if written is None:
        return Parsed(reason="there is no 'New rule:' heading" if answer.strip() else "the answer is empty")
    rule = _without_fences(written)
    if not rule:
        return Parsed(reason="nothing follows 'New rule:'")
    if len(rule) > RULE_LIMIT:
        return Parsed(reason=f"the new rule has {len(rule)} characters, at most {RULE_LIMIT} are taken")
    return Parsed(value=rule)


_JSON = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)
_FENCE = re.compile(r"^[ \t]{0,8}(?:```|~~~)[\w-]{0,20}[ \t]*+$\n?", re.MULTILINE)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def answer_text(text: str) -> str:
    """Return the model's first turn without its thoughts; lines end in a line feed."""
    return cut_turns(cut_thinking(text).replace("\r\n", "\n").replace("\r", "\n"))


def _latest(heading: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the last matches, from the end backwards."""
    return list(heading.finditer(text))[: -CANDIDATES - 1 : -1]


def _json_values(answer: str, name: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """Yield the JSON strings, numbers and booleans after a key, from the end backwards, with the place after each."""
    for key in _latest(name, answer):
        try:
            value, end = _JSON.raw_decode(answer, key.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, bool | str):
            yield str(value), end


def _without_fences(text: str) -> str:
    """Return `text` without code fences and control characters."""
    bare = _UNPRINTABLE.sub("", _FENCE.sub("", text)).strip()
    return bare.removeprefix("```").removesuffix("```").strip()


# --- numbers of answers -----------------------------------------------------------------------------------------------

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0e\ufe0f\ufeff]")
_SUPERSCRIPT = re.compile(r"(?<=\d)[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SUBSCRIPT = re.compile(r"(?<=\d)[₊₋₀-₉]+")
_SIGN_APART = re.compile(r"(?<=^[+-])\s+(?=[\d.])")
_POWER = re.compile(r"(?<!\s)\s*(?:×|x|\*|·|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*\{?([+-]?\d{1,6})\}?$", re.ASCII)
_BARE_POWER = re.compile(r"^([+-]?)10\s?(?:\^|\*\*)\s?\{?([+-]?\d{1,6})\}?$", re.ASCII)
_ANSWER = re.compile(r"([+-]?)([\d.][\d.,'’ ]*)([eE][+-]?\d+)?", re.ASCII)
_EITHER_WAY = re.compile(r"([+-]?[1-9]\d{0,2})([,.])(\d{3})\.?", re.ASCII)
_LONGEST_ANSWER = 400


def without_invisible(text: str) -> str:
    """Remove characters of zero width: joiners, direction marks, soft hyphens."""
    return _INVISIBLE.sub("", text)


def compatible(text: str) -> str:
    """Normalise `text` (NFKC), with powers and indices after a digit spelled out: 10² becomes 10^2."""
    raised = _SUPERSCRIPT.sub(lambda power: "^" + power[0], text)
    return unicodedata.normalize("NFKC", _SUBSCRIPT.sub(lambda index: "_{" + index[0] + "}", raised))


def read_float(text: str) -> float | None:
    """Read a number from a model's answer: 1,234.5, 1.2e-5, 1.2 × 10⁻⁵, −3, ٣٫٥, 1.234,56.

    Return inf for inf, nan and numbers beyond the range of floats; None for other text. A comma before three digits
    separates thousands (3,141 is 3141), except after a group that thousands cannot begin with (0,500). A decimal comma
    is read only if the number has another mark for its thousands (1.234,56); 0,5 gives None.
    """
    plain = _ascii_number(text)
    if not (number := _ANSWER.fullmatch(plain)):
        return math.inf if plain.lower().lstrip("+-") in ("inf", "infinity", "nan", "∞") else None
    sign, body, power = number.groups(default="")
    for decimal, grouping in BODIES:
        digits = digits_of(body, (decimal, grouping))
        is_sure = decimal == "." or (not STANDS_FOR[grouping].isdisjoint(body) and len(body) - body.rfind(",") != 4)
        if digits is not None and is_sure:
            return float(f"{sign}{digits}{power}")
    return None


def read_other_way(text: str) -> float | None:
    """Read `3,141` as 3.141 and `3.141` as 3141, unlike `read_float`; None for other shapes."""
    groups = _EITHER_WAY.fullmatch(_ascii_number(text))
    return float(groups[1] + "." * (groups[2] == ",") + groups[3]) if groups else None


def _ascii_number(text: str) -> str:
    narrow = compatible(without_invisible(text[:_LONGEST_ANSWER])).replace("{,}", ",").replace("\\,", " ")
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in narrow)
    signed = _SIGN_APART.sub("", digits.translate(MINUS | {ord("٫"): ".", ord("٬"): ",", ord("_"): "'"}).strip())
    return _POWER.sub(r"e\1", _BARE_POWER.sub(r"\g<1>1e\2", signed)).strip()
