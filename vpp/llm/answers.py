r"""Reads what a learner answered: a label or a number. Pure text in, a value or a reason out; never raises.

A value is looked for in the `Output:` lines, then in JSON `{"output": …}`, in `<output>…</output>`, in `\boxed{}`,
then under other names (`Label: …`, `Ausgabe: …`, `{"answer": …}`), then in an answer of one line: in each form the last
that can be read wins. Where none of these gives a label, one that the explanation asserts is read. What follows the
answer's own turn, or the heading of a next example, is ignored. All of it is linear in the text's length.
An answer about several inputs is looked for in the lines `Output [2]: …` that carry each input's number.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Generic, TypeVar

from vpp.llm.asserted import asserted_label, is_truth_word, mentioned_labels
from vpp.llm.scanning import CANDIDATES, answer_text, json_values, last, latest, without_fences
from vpp.llm.values import Bounds, Unreadable, label_in, number_in

EXPLANATION_LIMIT = 600
VALUE_LIMIT = 2_100
"""Characters of an answer's value: a label as long as a prompt shows it."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Generic[T]):
    """What was read."""

    value: T | None = None
    explanation: str = ""
    reason: str | None = None
    """Why nothing could be read."""
    inferred: bool = False
    """Whether the value is a label that the explanation asserts, in an answer without a readable `Output:` line."""


def parse_label(text: str, classes: tuple[str, ...]) -> Parsed[str]:
    """The one known class that the answer gives, or else the one that its explanation asserts."""
    parsed = _parse(text, lambda value: label_in(value, classes))
    if parsed.value is not None:
        return parsed
    answer = answer_text(text).strip()
    label = _inferred(answer, classes)
    if label is None:
        return parsed
    return Parsed(value=label, explanation=parsed.explanation or _shown(answer), inferred=True)


def parse_number(text: str, *, unit: str = "", expected: Bounds | None = None) -> Parsed[float]:
    """The finite number that the answer gives, alone or with the target's own unit.

    expected: where given, decides whether `3,141` may be 3141 or is too likely to be 3.141 to be read.
    """
    return _parse(text, lambda value: number_in(value, unit, expected))


P = TypeVar("P", bound=Parsed[Any])


def parse_pack(text: str, numbers: Iterable[int], parse: Callable[[str], P]) -> dict[int, P]:
    """What the answer gives for each numbered input, each line read by `parse`; the last that can be read wins.

    An `Output:` that stands under no number is nobody's, unless one input alone was asked about and no number is named.
    """
    asked = tuple(numbers)
    answer = answer_text(text)
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


def _parse(text: str, read: Callable[[str], T]) -> Parsed[T]:
    """The value before the heading of the first next example that follows one; else the value of the whole answer."""
    answer = answer_text(text).strip()
    if not answer:
        return Parsed(reason="the answer is empty")
    for heading in islice(_NEXT_EXAMPLE.finditer(answer), CANDIDATES):
        parsed = _parse_one(answer[: heading.start()].rstrip(), read)
        if parsed.value is not None:
            return parsed
    return _parse_one(answer, read)


def _parse_one(answer: str, read: Callable[[str], T]) -> Parsed[T]:
    reason = None
    outputs = latest(_OUTPUT.finditer(answer))
    for value in _candidates(answer, outputs):
        try:
            return Parsed(value=read(value), explanation=_explanation(answer, outputs))
        except Unreadable as fault:
            reason = reason or str(fault)
    return Parsed(explanation=_explanation(answer, outputs), reason=reason or "there is no 'Output:' line")


def _inferred(answer: str, classes: tuple[str, ...]) -> str | None:
    """The label that the explanation asserts, unless the answer refuses or an output in it names something else."""
    outputs = latest(_OUTPUT.finditer(answer))
    if _is_refused(answer, outputs) or _JSON_OUTPUT.search(answer):
        return None
    label = asserted_label(answer, classes)
    given = [value for headed in outputs if (value := headed["value"].strip("`$*_ \t"))]
    return label if all(label in mentioned_labels(value, classes) for value in given) else None


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
_NEXT_EXAMPLE = re.compile(
    rf"""^ {_LEAD} (?: (?:the|a|new|next|another|test|current|your|here[ ]is[ ]another) [ ] )?
        (?: (?:input|row|rule|example|question|query|instruction|human|user|task|sample|problem|test[ ]case)
            (?: [ ]? [#\[(]{{0,2}} \d{{1,6}} [\])]? )? {_COLON}
          | example [ ] \d{{1,6}} [*_` \t]{{0,6}} $
          | (?: (?<=[#][ ]) (?:(?:new|next|another)[ ])? | (?:new|next|another)[ ] )
            (?:instruction|input|question|example) s? [*_` \t]{{0,6}} $ )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""The heading under which a model that writes on invents another example."""
_FIELD = re.compile(
    r"""[ \t>*_\-•]{0,12}
        (?! (?:explanation|reason|reasoning|analysis|thought|note|step|confidence|output|final|because
            |erklärung|begründung|explication|explicación|explicação|spiegazione|объяснение|解释|説明) \b )
        [^\s:：=][^:：=\n]{0,60} [:：=] [ \t]{0,4} (?=\S) [^\n]{1,79} (?<![.!?。])""",
    re.IGNORECASE | re.VERBOSE,
)
"""A line of an input: a column's name and its cell."""
_FIELD_LIMIT = 200
"""Characters of a line that may be one."""
_REFUSAL = re.compile(
    r"""\b (?: i(?:['’]m|[ ]am)[ ](?:very[ ])?(?:sorry|unable|unsure|not[ ](?:able|sure|certain)) | unable[ ]to
        | (?:can[ ]?not|can['’]t|could[ ]not|couldn['’]t) [ ] (?:be[ ])?
          (?:say|tell|answer|determine|apply|predict|decide|classify|provide|give|assist|help|infer|conclude|know)
        | (?:do[ ]not|don['’]t)[ ]know | (?:not[ ]enough|insufficient)[ ]information ) """,
    re.IGNORECASE | re.VERBOSE,
)
_NO_VALUE = re.compile(
    r"[^\w]*(?:i )?(?:can ?not|can['’]t|unknown|undetermined|undefined|uncertain|unsure|none|null|n/?a|no|not)\b",
    re.I,
)
_UNSURE_ALONE = re.compile(r"[-–−]\s.*|[A-Za-z_]\w*\s*=[^=]*")
"""`- 5` may be a list, and `x = 5` may repeat the input; below `Output:`, or without it, neither is read."""
_TAGGED = re.compile(r"<(?P<tag>output|answer|label)>(?P<value>[^<]{1,2100})</(?P=tag)>", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed[ ]{0,4}(?=\{)")
_BOX_LIMIT = 400
"""Characters of a box."""
_NEXT_LINE = re.compile(r"(?:\s*+(?:```\w*+(?=\s)|\$\$))*+\s*+(?P<value>\S.*+)")
_AFTERTHOUGHT = re.compile(
    r"""[ \t] (?: [*_`(]{0,3} (?:explanation|reasoning|because|based[ ]on|according[ ]to)
        | [*_`]{0,3} \( (?:rounded|since|calculated|computed|as[ ](?:the|per)|(?:by|per|from|following)[ ]the[ ]rule) )
        \b .*+""",
    re.IGNORECASE | re.VERBOSE,
)
_JSON_OUTPUT = re.compile(r'"output"\s*+:\s*+', re.IGNORECASE)
_JSON_OTHER = re.compile(r'"(?:answer|label|class|prediction|value)"\s*+:\s*+', re.IGNORECASE)
_JSON_NUMBER = re.compile(r'"number"\s*+:\s*+"?(?P<number>\d{1,6})', re.IGNORECASE)
_JSON_EXPLANATION = re.compile(r'"explanation"\s*+:\s*+', re.IGNORECASE)
_LITERAL = re.compile(r"'output'[ ]{0,4}:[ ]{0,4}(?:'(?P<text>[^'\n]{1,2100})'|(?P<bare>[^',{}\[\]\n]{1,400}))", re.I)


def _candidates(answer: str, outputs: Sequence[re.Match[str]]) -> Iterator[str]:
    """Values in the order of trust. outputs: the last `Output:` lines, the last first."""
    yield from _headed(answer, outputs)
    yield from json_values(answer, _JSON_OUTPUT)
    yield from ((found["text"] or found["bare"]) for found in latest(_LITERAL.finditer(answer)))
    yield from (tagged["value"] for tagged in latest(_TAGGED.finditer(answer)))
    yield from _boxed(answer)
    if not _is_refused(answer, outputs):
        yield from _under_other_names(answer)
    whole = without_fences(answer)
    if "\n" not in whole and len(whole) <= VALUE_LIMIT and not _UNSURE_ALONE.fullmatch(whole):
        yield whole


def _is_refused(answer: str, outputs: Iterable[re.Match[str]]) -> bool:
    """Whether the answer says that it gives none."""
    return bool(_REFUSAL.search(answer)) or any(_NO_VALUE.match(headed["value"]) for headed in outputs)


def _under_other_names(answer: str) -> Iterator[str]:
    for headed in latest(_OTHER_HEADING.finditer(answer)):
        if not _is_echoed(answer, headed) and not _is_asked(answer, headed):
            yield headed["value"][:VALUE_LIMIT]
    yield from json_values(answer, _JSON_OTHER)


def _is_echoed(answer: str, headed: re.Match[str]) -> bool:
    """Whether the line before or after it is a column's too, so that it repeats an input with such a column."""
    before = answer[max(0, headed.start() - _FIELD_LIMIT) : max(0, headed.start() - 1)].rpartition("\n")[2]
    after = answer[headed.end() + 1 : headed.end() + _FIELD_LIMIT].partition("\n")[0]
    return any(_FIELD.fullmatch(line.rstrip()) for line in (before, after))


def _is_asked(answer: str, headed: re.Match[str]) -> bool:
    """Whether it is a yes or no below a question, which may be about a condition of the rule."""
    before = answer[max(0, headed.start() - _FIELD_LIMIT) : headed.start()].rstrip().endswith("?")
    return before and is_truth_word(headed["value"].strip(" \t.*_`\"'"))


def _headed(answer: str, outputs: Sequence[re.Match[str]]) -> Iterator[str]:
    """What stands after each `Output:`, on its line or, where that is bare, on the next."""
    for headed in outputs:
        value = headed["value"].strip()
        below = None if value.strip("`$") else _NEXT_LINE.match(answer, headed.end("value"))
        if below and _UNSURE_ALONE.fullmatch(below["value"]):
            continue
        given = (below["value"] if below else value)[:VALUE_LIMIT]
        yield given
        if afterthought := _AFTERTHOUGHT.search(given):
            yield given[: afterthought.start()].rstrip(" \t,;.-–—")


def _boxed(answer: str) -> Iterator[str]:
    r"""What stands in each `\boxed{…}`, braces in it included."""
    for box in latest(_BOXED.finditer(answer)):
        depth = 0
        for place in range(box.end(), min(len(answer), box.end() + _BOX_LIMIT)):
            depth += {"{": 1, "}": -1}.get(answer[place], 0)
            if depth == 0:
                yield answer[box.end() + 1 : place]
                break


_EXPLANATION = re.compile(r"^[ \t>#*_\-`]{0,12}explanation[*_`]{0,3}[ \t]{0,4}[:：][*_`]{0,3}", re.I | re.M)


def _explanation(answer: str, outputs: Sequence[re.Match[str]]) -> str:
    """What follows the last `Explanation:`, or stands before the last `Output:`."""
    output = outputs[0] if outputs else None
    before = answer[: output.start()] if output else answer
    heading = last(_EXPLANATION.finditer(before))
    if heading:
        return _shown(before[heading.end() :])
    return _shown(before if output else next(json_values(answer, _JSON_EXPLANATION), ""))


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
            outputs.setdefault(number, []).extend(json_values(said, _JSON_OUTPUT))
            explanations.setdefault(number, []).extend(json_values(said, _JSON_EXPLANATION))
    return {n: _parse_numbered(n, outputs.get(n, ()), explanations.get(n, ()), parse) for n in asked}


def _value_in(said: str) -> str:
    """The first line, or the next where that is bare."""
    value, _, _ = said.strip(" \t").partition("\n")
    below = None if value.strip("`$* ") else _NEXT_LINE.match(said)
    if below and _UNSURE_ALONE.fullmatch(below["value"]):
        return ""
    return (below["value"] if below else value)[:VALUE_LIMIT]
