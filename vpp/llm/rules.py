"""Reads the new rule that an optimizer answered. Pure text in, a rule or a reason out; never raises."""

import re

from vpp.llm.answers import Parsed
from vpp.llm.scanning import answer_text, json_values, last, without_fences

RULE_LIMIT = 8_000
"""Characters of a rule."""
_HEADING = re.compile(
    r"""(?: ^ [ \t>#*_\-`]{0,12} (?:\d{1,2}[.)][ \t]{1,4})? [*_`]{0,3} | (?<=[.!?]) [ \t]{1,4} [*_`]{0,3} )
        (?:the[ ])?(?:new|revised|updated|improved) [ ]
        (?:rule|hypothesis|pattern[ ]descriptions?|model[ ]descriptions?)
        (?: [*_`]{0,3} [ \t]{0,4} [:：] [*_`]{0,3} | [*_`: \t]{0,8} $ )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_JSON_RULE = re.compile(r'"(?:new|revised|updated|improved)[ _](?:rule|hypothesis)"\s*+:\s*+', re.IGNORECASE)
_NEXT_QUESTION = re.compile(
    r"""^ [ \t>#*_]{0,12} (?:rows|by[ ]column|inputs|current[ ]rule|correct[ ]outputs|its[ ]answers|its[ ]mistakes)
        [*_]{0,3} [ \t]{0,4} [:：]""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_AFTERTHOUGHT = re.compile(
    r"^[ \t>#*_]{0,12}(?:explanation|reasoning)[*_]{0,3}[ \t]{0,4}[:：]", re.IGNORECASE | re.MULTILINE
)


def parse_rule(text: str) -> Parsed[str]:
    """The text after the last `New rule:` heading, or else in JSON `{"new_rule": …}`, without code fences.

    After the first such heading, the answer ends where the model begins to repeat the form of the question; the rule
    ends where a line begins to explain it.
    """
    answer = _first_answer(answer_text(text))
    heading = last(_HEADING.finditer(answer))
    given = _unexplained(answer[heading.end() :]) if heading else next(json_values(answer, _JSON_RULE), None)
    if given is None:
        return Parsed(reason="there is no 'New rule:' heading" if answer.strip() else "the answer is empty")
    rule = without_fences(given)
    if not rule:
        return Parsed(reason="nothing follows 'New rule:'")
    if len(rule) > RULE_LIMIT:
        return Parsed(reason=f"the new rule has {len(rule)} characters, at most {RULE_LIMIT} are taken")
    return Parsed(value=rule)


def _unexplained(rule: str) -> str:
    after = _AFTERTHOUGHT.search(rule)
    return rule[: after.start()] if after and rule[: after.start()].strip() else rule


def _first_answer(answer: str) -> str:
    first = _HEADING.search(answer)
    after = _NEXT_QUESTION.search(answer, first.end()) if first else None
    return answer[: after.start()] if after else answer
