"""Reads a model's answer: a label, a number or a rule; and grades it. Text in, a value or a reason out; never raises.

A label or number is looked for in the `Output:` lines, then in JSON (`{"output": …}`), then in an answer of one line.
Within a form all readable values must be the same one, and nothing after it may take it back: a model that goes on with
an example of its own, or has second thoughts, is asked again. Time is linear in the length of the text.
A graded answer is the probability of each label, from the log-probabilities of its letter or from several answers.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from vpp.data.answers import cut_thinking, cut_turns, match_label, peel, without_noun
from vpp.data.numbers import read_float, read_other_way
from vpp.llm.protocol import printable
from vpp.posterior.prediction import winner
from vpp.problem import Prediction

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


def shortened(text: str, limit: int = 60) -> str:
    """Return `text` in one line of at most `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[:limit] + "…"


_CURRENCIES = ("$", "€", "£", "¥")
"""Ignored around a number if the target has no unit of its own."""


def _label_in(value: str, classes: tuple[str, ...]) -> str:
    named = match_label(value, classes)
    if len(named) == 1:
        return named[0]
    listed = ", ".join(map(shortened, (named or classes)[:10])) + (", …" if len(named or classes) > 10 else "")
    raise Unreadable(f"{quoted(value)} {'could be any' if named else 'is none'} of the labels {listed}")


def _number_in(value: str, unit: str, expected: tuple[float, float] | None) -> float:
    layers = peel(value)
    marks = ("", *((unit,) if unit else _CURRENCIES))
    forms = (layer.replace(mark or " ", " ").strip() for layer in (*layers, *without_noun(layers)) for mark in marks)
    form, number = next(((form, number) for form in forms if (number := read_float(form)) is not None), ("", math.nan))
    if not form:
        raise Unreadable(f"{quoted(value)} is not a number alone: write nothing after it, and a point before decimals")
    if not math.isfinite(number):
        raise Unreadable(f"{quoted(value)} is not a finite number")
    if expected and (other := read_other_way(form)) is not None:
        distance, others = (max(expected[0] - each, 0.0, each - expected[1]) for each in (number, other))
        if distance >= others:
            decimal, thousands = sorted((number, other), key=abs)
            readings = f"{quoted(form)} may be {decimal:g} or {thousands:g}"
            raise Unreadable(f"{readings}: write {decimal:.4f} or {thousands:g}")
    return number


def quoted(value: str) -> str:
    return f"'{printable(shortened(value.strip(), 80))}'"


_FLAGS = re.IGNORECASE | re.MULTILINE
_LEAD = r"(?:^[\W_]{0,16}(?:\d{1,2}[.)] )?|(?<=[.!?])[ \t]{1,4})[*_`]{0,3}"
_COLON = r"[*_`]{0,3}[ \t]{0,4}[:：=](?:[*_`]{1,3}(?=\s|$))?"
_OUTPUT = re.compile(rf"{_LEAD}(?:(?:final|predicted|the) )?output{_COLON}(?P<value>.*)", _FLAGS)
_BELOW = re.compile(r"\s*(?:(?:```\w*|\$\$)\s+)?(?P<value>\S.*)")
"""The value below an `Output:` that ends its line."""
_RETRACTION = re.compile(
    r"(?:\b|\\n)(?:wait|actually|correct(?:ed|ion)|oops|sorry|mistake|hmm+|hold on|let me|i mis\w+"
    r"|on (?:reflection|second thoughts?|closer look))\b|^\W{0,16}no[,.]",
    _FLAGS,
)
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
        elif any(_RETRACTION.search(answer, end) for end in readable.values()):
            reason = "the answer is taken back after its value: think first, and write the value last"
        elif readable:
            return Parsed(value=next(iter(readable)), explanation=explanation)
        if readable:
            break
    return Parsed(explanation=explanation, reason=reason or "there is no 'Output:' line")


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


LETTERS = "ABCDEFGHIJKLMNOPQRST"
"""One token each, in the order of the labels; servers list at most 20 alternatives."""
BLANKS = " \t\r\nĠ▁"
"""Blanks around a token, and the marks that stand for a blank in vocabularies."""
Tokens = Sequence[tuple[str, float]]
NO_LOGPROBS = "the learner's server sends no log-probabilities: use --likelihood 5, or --likelihood labels"
NO_LETTER = "no letter of a label is among the likeliest first tokens"


def letter_shares(first_tokens: Tokens, n: int) -> tuple[float, ...]:
    """(n,) probability of each of the first n letters; blanks around a token do not count.

    The rest is on other tokens. However large, it is no abstention: the likelihood then has no jump.
    """
    shares = dict.fromkeys(LETTERS[:n], 0.0)
    for token, log_probability in first_tokens:
        if (letter := token.strip(BLANKS)) in shares:
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
