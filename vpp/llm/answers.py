"""Reads a model's answer: a label, a number or a rule; and grades it. Text in, a value or a reason out; never raises.

A label or number is looked for in the `Output:` lines, then in JSON (`{"output": …}`), then in an answer of one line.
Within a form the last readable value wins. Text after the answer's own turn, or below the heading of a next example, is
ignored. Any other answer is asked for again. Time is linear in the length of the text.
A graded answer is the probability of each label, from the log-probabilities of its letter or from several answers.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic, TypeVar

from vpp.data.answers import cut_thinking, cut_turns, match_label, peel, read_float, read_other_way, without_noun
from vpp.posterior.prediction import winner
from vpp.problem import Prediction

EXPLANATION_LIMIT = 600
VALUE_LIMIT = 2_100
"""Characters of an answer's value: enough for the longest label that a prompt shows."""
RULE_LIMIT = 8_000
"""Characters of a rule."""
CANDIDATES = 20
"""Values of one form that are tried, from the last one backwards."""
TAKEN_BACK = "the answer is taken back after its value: think first, and write the value last"
Bounds = tuple[float, float]
"""The lowest and the highest target of the training rows."""
Candidate = tuple[str, int]
"""A value, and the place after it in the answer."""
T = TypeVar("T")


class Unreadable(Exception):
    """A value that is neither label nor number as asked; its text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Generic[T]):
    """The value of an answer, or the reason why it cannot be read."""

    value: T | None = None
    explanation: str = ""
    reason: str | None = None
    """Why the answer cannot be read."""


def parse_label(text: str, classes: tuple[str, ...]) -> Parsed[str]:
    """Return the one known class that the answer gives."""
    return _parse(text, lambda value: _label_in(value, classes))


def parse_number(text: str, *, unit: str = "", expected: Bounds | None = None) -> Parsed[float]:
    """Return the finite number that the answer gives, alone or with the target's own unit.

    expected: a point or comma before three digits may mark decimals or thousands. `12.345` is read as 12.345, and
    `12,345` as 12345, only if the other reading is farther from these bounds.
    """
    return _parse(text, lambda value: _number_in(value, unit, expected))


def shortened(text: str, limit: int = 60) -> str:
    """Return `text` in one line of at most `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[:limit] + "…"


# --- labels and numbers ---------------------------------------------------------------------------------------------

_HEDGE = re.compile(r"(?:about|approximately|approx\.?|around|roughly|circa|ca\.|nearly)\s+", re.IGNORECASE)
_CURRENCIES = ("$", "€", "£", "¥")
"""Ignored around a number if the target has no unit of its own."""
_EQUATION = re.compile(r"(?:[^\W\d]\w*|\w[\w.]*(?:\s?[-+*/]\s?\w[\w.]*)+)\s?=\s?(?=[^=]+\Z)")
"""The left side of `y = 3.5` or `2*3 + 4 = 10`."""


def _label_in(value: str, classes: tuple[str, ...]) -> str:
    named = match_label(value, classes)
    if len(named) == 1:
        return named[0]
    listed = ", ".join(map(shortened, (named or classes)[:10])) + (", …" if len(named or classes) > 10 else "")
    raise Unreadable(f"{_quoted(value)} {'could be any' if named else 'is none'} of the labels {listed}")


def _number_in(value: str, unit: str, expected: Bounds | None) -> float:
    layers = peel(value)
    for layer in (*layers, *without_noun(layers)):
        if (number := _read_with(layer, unit, expected)) is not None:
            if math.isfinite(number):
                return number
            raise Unreadable(f"{_quoted(value)} is not a finite number")
    raise Unreadable(f"{_quoted(value)} is not a number alone: write nothing after it, and a point before decimals")


def _read_with(layer: str, unit: str, expected: Bounds | None) -> float | None:
    """Return the number of a layer, without a hedge or an equation's left side before it, and without its unit.

    Raises Unreadable for `3,141` or `3.141` unless it is nearer to the expected numbers than its other reading.
    """
    bare = _HEDGE.sub("", equation.string[equation.end() :] if (equation := _EQUATION.match(layer)) else layer)
    marks = [mark for mark in ((unit,) if unit else _CURRENCIES) if mark in bare]
    ends = [bare.removesuffix(mark).removeprefix(mark).strip() for mark in marks]
    signed = [re.sub(rf"^([+\-−])\s?{re.escape(mark)}\s*", r"\1", bare) for mark in marks]
    for form in (bare, *ends, *signed):
        if (number := read_float(form)) is None:
            continue
        if expected and (other := read_other_way(form)) is not None:
            distance, others = (max(expected[0] - each, 0.0, each - expected[1]) for each in (number, other))
            if distance >= others:
                decimal, thousands = sorted((number, other), key=abs)
                readings = f"{_quoted(form)} may be {decimal:g} or {thousands:g}"
                raise Unreadable(f"{readings}: write {decimal:.4f} or {thousands:g}")
        return number
    return None


def _quoted(value: str) -> str:
    return f"'{shortened(value.strip(), 80)}'"


# --- forms of an answer ---------------------------------------------------------------------------------------------

_UNSEEN = r"\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_LEAD = rf"[ \t>#*_\-`•→{_UNSEEN}]{{0,12}} (?:<\w{{1,8}}>){{0,3}} (?:\d{{1,2}}[.)][ ])? [*_`]{{0,3}}"
_COLON = r"[*_`]{0,3} (?:</\w{1,8}>){0,3} [ \t]{0,4} [:：=] (?:</\w{1,8}>){0,3} (?:[*_`]{1,3}(?=\s|$))?"
_FLAGS = re.IGNORECASE | re.MULTILINE | re.VERBOSE
_OUTPUT = re.compile(
    rf"(?: ^ {_LEAD} | (?<=[.!?]) [ \t]{{1,4}} [*_`]{{0,3}} ) (?: (?:final|predicted|the) [ \t] )? output"
    rf"{_COLON} (?P<value> .*+ )",
    _FLAGS,
)
_NEXT_EXAMPLE = re.compile(
    rf"""^ {_LEAD} (?: (?:the|a|new|next|another|test|current|your|here[ ]is[ ]another) [ ] )?
        (?: (?:input|row|rule|example|question|query|instruction|human|user|task|sample|problem|test[ ]case)
            (?: [ ]? [#\[(]{{0,2}} \d{{1,6}} [\])]? )? {_COLON}
          | example [ ] \d{{1,6}} [*_` \t]{{0,6}} $
          | (?: (?<=[#][ ]) (?:(?:new|next|another)[ ])? | (?:new|next|another)[ ] )
            (?:instruction|input|question|example) s? [*_` \t]{{0,6}} $ )""",
    _FLAGS,
)
"""Heading of another example, invented by a model that does not stop."""
UNSURE_ALONE = re.compile(r"[-–−]\s.*|[A-Za-z_]\w*\s*=[^=]*")
"""Unreadable below `Output:`, or without it: `- 5` may be a list, and `x = 5` may repeat the input."""
_NEXT_LINE = re.compile(r"(?:\s*+(?:```\w*+(?=\s)|\$\$))*+\s*+(?P<value>\S.*+)")
_RETRACTION = re.compile(
    r"""(?: ^ | [^\w\s] | \\n ) [^\w\n]{0,8} (?: (?:but|oh|ah|no|well|hmm+)[ ,]{1,3} )?
        (?: wait (?![ ]time) | actually | corrected | correction | hmm+ | oops | (?:i['’]m[ ])?sorry | apologi\w+
          | my[ ](?:mistake|bad|error) | (?:scratch|strike)[ ]that | hold[ ]on | hang[ ]on | never[ ]?mind
          | (?:up)?on[ ] (?:reflection|(?:second|further|closer)[ ]\w+) | let[ ]me[ ](?:re|correct|check|double)\w*
          | re-?(?:check|reading|exam|consider|calculat|think|vis)\w* | i[ ](?:made|was[ ]wrong|mis\w+|take)
        ) \b
      | ^ [^\w\n]{0,8} no [ ]? [,.:;!—–-] """,
    _FLAGS,
)
"""Begins a sentence or a clause that takes an answer back."""
_JSON_OUTPUT = re.compile(r'"(?:output|answer|label|class|prediction|value)"\s*+:\s*+', re.IGNORECASE)
_JSON_EXPLANATION = re.compile(r'"explanation"\s*+:\s*+', re.IGNORECASE)
_EXPLANATION = re.compile(
    r"^ [ \t>#*_\-`]{0,12} (?:explanation|reasoning|notes?) [*_`]{0,3} [ \t]{0,4} [:：] [*_`]{0,3}", _FLAGS
)


def _parse(text: str, read: Callable[[str], T]) -> Parsed[T]:
    """Return the value before the first heading of a next example that follows one; else that of the whole answer.

    A value that is taken back is unreadable, and nothing after that heading replaces it.
    """
    answer = answer_text(text).strip()
    if not answer:
        return Parsed(reason="the answer is empty")
    for heading in islice(_NEXT_EXAMPLE.finditer(answer), CANDIDATES):
        parsed = _parse_one(answer[: heading.start()].rstrip(), read)
        if parsed.value is not None or parsed.reason == TAKEN_BACK:
            return parsed
    return _parse_one(answer, read)


def _parse_one(answer: str, read: Callable[[str], T]) -> Parsed[T]:
    reason, outputs = None, latest(_OUTPUT.finditer(answer))
    explanation = _explanation(answer, outputs)
    for value, end in _candidates(answer, outputs):
        try:
            found = read(value)
        except Unreadable as fault:
            reason = reason or str(fault)
            continue
        if _RETRACTION.search(answer, end):
            return Parsed(explanation=explanation, reason=TAKEN_BACK)
        return Parsed(value=found, explanation=explanation)
    return Parsed(explanation=explanation, reason=reason or "there is no 'Output:' line")


def _candidates(answer: str, outputs: list[re.Match[str]]) -> Iterator[Candidate]:
    """Yield values, the most trusted first. outputs: the last `Output:` lines, from the end backwards."""
    for headed in outputs:
        value = headed["value"].strip()
        below = None if value.strip("`$") else _NEXT_LINE.match(answer, headed.end("value"))
        if below and UNSURE_ALONE.fullmatch(below["value"]):
            continue
        value = (below["value"] if below else value)[:VALUE_LIMIT]
        begin = answer.index(value, headed.start("value"))
        yield value, begin + len(value)
    yield from json_values(answer, _JSON_OUTPUT)
    whole = without_fences(answer)
    if "\n" not in whole and len(whole) <= VALUE_LIMIT and not UNSURE_ALONE.fullmatch(whole):
        yield whole, len(answer)


def _explanation(answer: str, outputs: list[re.Match[str]]) -> str:
    """Return the text after the last `Explanation:`, or else before the last `Output:`."""
    before = answer[: outputs[0].start()] if outputs else answer
    if headings := latest(_EXPLANATION.finditer(before)):
        return in_one_line(before[headings[0].end() :])
    return in_one_line(before if outputs else next(json_values(answer, _JSON_EXPLANATION), ("", 0))[0])


def in_one_line(explanation: str) -> str:
    """Return the beginning of an explanation in one line."""
    return " ".join(explanation[: 4 * EXPLANATION_LIMIT].split())[:EXPLANATION_LIMIT]


# --- rules ----------------------------------------------------------------------------------------------------------

_RULE_HEADING = re.compile(
    r"""(?: ^ [ \t>#*_\-`]{0,12} (?:\d{1,2}[.)][ \t]{1,4})? [*_`]{0,3} | (?<=[.!?]) [ \t]{1,4} [*_`]{0,3} )
        (?:the[ ])?(?:new|revised|updated|improved) [ ]
        (?:rule|hypothesis|pattern[ ]descriptions?|model[ ]descriptions?)
        (?: [*_`]{0,3} [ \t]{0,4} [:：] [*_`]{0,3} | [*_`: \t]{0,8} $ )""",
    _FLAGS,
)
_JSON_RULE = re.compile(r'"(?:new|revised|updated|improved)[ _](?:rule|hypothesis)"\s*+:\s*+', re.IGNORECASE)
_NEXT_QUESTION = re.compile(
    r"""^ [ \t>#*_]{0,12} (?:rows|by[ ]column|inputs|current[ ]rule|correct[ ]outputs|its[ ]answers|its[ ]mistakes)
        [*_]{0,3} [ \t]{0,4} [:：]""",
    _FLAGS,
)


def parse_rule(text: str) -> Parsed[str]:
    """Return the text after the last `New rule:` heading, or else in JSON `{"new_rule": …}`, without code fences.

    The answer ends where the model, after a first such heading, repeats the form of the question. The rule ends before
    a line that explains it.
    """
    answer = answer_text(text)
    first = _RULE_HEADING.search(answer)
    if first and (question := _NEXT_QUESTION.search(answer, first.end())):
        answer = answer[: question.start()]
    written, _ = next(json_values(answer, _JSON_RULE), (None, 0))
    if headings := latest(_RULE_HEADING.finditer(answer)):
        written = answer[headings[0].end() :]
        explained = _EXPLANATION.search(written)
        written = (written[: explained.start()].rstrip() if explained else "") or written
    if written is None:
        return Parsed(reason="there is no 'New rule:' heading" if answer.strip() else "the answer is empty")
    rule = without_fences(written)
    if not rule:
        return Parsed(reason="nothing follows 'New rule:'")
    if len(rule) > RULE_LIMIT:
        return Parsed(reason=f"the new rule has {len(rule)} characters, at most {RULE_LIMIT} are taken")
    return Parsed(value=rule)


# --- parts of any answer --------------------------------------------------------------------------------------------

_JSON = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)
_FENCE = re.compile(r"^[ \t]{0,8}(?:```|~~~)[\w-]{0,20}[ \t]*+$\n?", re.MULTILINE)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def answer_text(text: str) -> str:
    """Return the model's first turn without its thoughts; lines end in a line feed."""
    return cut_turns(cut_thinking(text).replace("\r\n", "\n").replace("\r", "\n"))


def latest(matches: Iterable[re.Match[str]]) -> list[re.Match[str]]:
    """Return the last matches, from the end backwards."""
    return list(matches)[: -CANDIDATES - 1 : -1]


def json_values(answer: str, name: re.Pattern[str]) -> Iterator[Candidate]:
    """Yield the JSON strings, numbers and booleans after a key, from the end backwards."""
    for key in latest(name.finditer(answer)):
        try:
            value, end = _JSON.raw_decode(answer, key.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, bool | str):
            yield str(value), end


def without_fences(text: str) -> str:
    """Return `text` without code fences and control characters."""
    bare = _UNPRINTABLE.sub("", _FENCE.sub("", text)).strip()
    return bare.removeprefix("```").removesuffix("```").strip()


LETTERS = "ABCDEFGHIJKLMNOPQRST"
"""One token each, in the order of the labels; servers list at most 20 alternatives."""
FIELDS = ("logprobs", "top_logprobs")
"""Request fields that ask for log-probabilities."""
ROUNDED_UP = 1e-3
"""Largest value accepted as a log-probability: servers round to just above 0."""
SOUND = 0.5
"""Least probability on the letters; below it `check-endpoint` says that the model does not keep to them."""
STABLE = 0.01
"""Largest difference of a letter's probability between equal questions."""
Tokens = Sequence[tuple[str, float]]
"""Tokens with their natural log-probabilities."""
WITHOUT_LETTERS = "use --likelihood 5, or --likelihood labels"
NO_LOGPROBS = f"the learner's server sends no log-probabilities: {WITHOUT_LETTERS}"
NO_LETTER = "no letter of a label is among the likeliest first tokens"


def letter_shares(first_tokens: Tokens, n: int) -> tuple[float, ...]:
    """(n,) probability of each of the first n letters; blanks around a token do not count.

    The rest is on other tokens. However large, it is no abstention: the likelihood then has no jump.
    """
    shares = dict.fromkeys(LETTERS[:n], 0.0)
    for token, log_probability in first_tokens:
        if (letter := token.strip()) in shares:
            shares[letter] += math.exp(log_probability)
    return tuple(shares.values())


def graded(row: int, shares: Mapping[str, float]) -> Prediction:
    """Return the prediction whose value is the likeliest label, an abstention if no label has any probability.

    shares: probability of each label; a server's rounding may bring it just above 1. Ties go to the first label in
    sort order.
    """
    total = max(1.0, math.fsum(shares.values()))
    likely = {label: share / total for label, share in shares.items() if share > 0}
    value = winner(likely)
    return Prediction(row=row, value=value, shares=likely or None)


def pooled(drawn: Sequence[tuple[Prediction, int]]) -> tuple[Prediction, int]:
    """Return one prediction from several answers to a row, with the calls of all of them.

    Each label's share is its fraction of all answers, unreadable ones included. The explanation is that of the first
    answer that gave the most frequent label.
    """
    every = [prediction for prediction, _ in drawn]
    said = Counter(prediction.value for prediction in every if isinstance(prediction.value, str))
    pool = graded(every[0].row, {label: count / len(every) for label, count in said.items()})
    first = next(prediction for prediction in every if prediction.value == pool.value)
    return replace(first, shares=pool.shares), sum(calls for _, calls in drawn)
