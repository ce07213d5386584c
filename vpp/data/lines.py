"""Text as prompts and answers carry it: one line out, thoughts cut off what comes back."""

import re

TEXT_LIMIT = 2_000
"""Characters of a name or cell that a prompt shows."""
CUT = " […]"

_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_ESCAPED = re.compile(rf"{_CONTROL}|\\(?=[nrtu\\]|{_CONTROL})")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0e\ufe0f\ufeff]")
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
"""Parts of an answer that may also follow it, so only one that is left open is unfinished thinking."""
_THOUGHT_SIGNS = ("<", "[", "◁")
"""How each of these marks begins."""


def one_line(text: str) -> str:
    """`text` with control characters written out and cut at 2,000 characters.

    A backslash is doubled where it could be taken for the beginning of one, so that no two short texts become one.
    """
    cut = text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + CUT
    if "\\" not in cut and cut.isprintable():
        return cut
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[0], f"\\u{ord(found[0]):04x}"), cut)


def without_invisible(text: str) -> str:
    """`text` without characters of no width: joiners, marks of direction, soft hyphens."""
    return _INVISIBLE.sub("", text)


def cut_thinking(text: str) -> str:
    """`text` without what was thought aloud: all up to the last end of it, all from a line that leaves one open."""
    if not any(sign in text for sign in _THOUGHT_SIGNS):
        return text
    answer = _THOUGHT_BEGINS.split(text[_last_end(_THOUGHT_ENDS, text) :], maxsplit=1)[0]
    left_open = _REASON_BEGINS.search(answer, _last_end(_REASON_ENDS, answer))
    return answer[: left_open.start()] if left_open else answer


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    """End of the last match; 0 without one."""
    return max((found.end() for found in pattern.finditer(text)), default=0)
