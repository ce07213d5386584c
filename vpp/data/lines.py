"""Text in prompts and answers: one line out; thinking and chat marks cut off on the way back."""

import re

TEXT_LIMIT = 2_000
"""Most characters of a name or cell in a prompt."""
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
"""Sections that may also follow the answer, so only one left open is unfinished thinking."""
_THOUGHT_SIGNS = ("<", "[", "◁")
"""First characters of the thinking marks."""


def one_line(text: str) -> str:
    """Escape the control characters of `text` and cut it at 2,000 characters.

    A backslash that could begin an escape is doubled, so that different short texts stay different.
    """
    cut = text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + CUT
    if "\\" not in cut and cut.isprintable():
        return cut
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[0], f"\\u{ord(match[0]):04x}"), cut)


def quoted(text: str) -> str:
    """Quote a cell or label for a message, cut at 40 characters."""
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


def without_invisible(text: str) -> str:
    """Remove characters of zero width: joiners, direction marks, soft hyphens."""
    return _INVISIBLE.sub("", text)


def cut_thinking(text: str) -> str:
    """Remove a model's thinking: everything up to its last end mark, and from a begin mark that is left open."""
    if not any(sign in text for sign in _THOUGHT_SIGNS):
        return text
    answer = _THOUGHT_BEGINS.split(text[_last_end(_THOUGHT_ENDS, text) :], maxsplit=1)[0]
    left_open = _REASON_BEGINS.search(answer, _last_end(_REASON_ENDS, answer))
    return answer[: left_open.start()] if left_open else answer


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    """Position after the last match; 0 without a match."""
    return max((match.end() for match in pattern.finditer(text)), default=0)


_TOKEN = (
    r"<\|(?!channel\|)\w{1,30}\|>|<｜[^｜<>\n]{1,30}｜>|</?s>|<(?:start|end)_of_turn>|<eos>|<bos>|\[/?INST\]|<</?SYS>>"
)
_ROLE = r"(?:user|human|assistant|system|model)"
_TURN = re.compile(rf"{_TOKEN}|^[ \t]*+{_ROLE}[ \t]*+:?[ \t]*+$", re.IGNORECASE | re.MULTILINE)
_OPENING = re.compile(rf"\s*+(?:(?:{_TOKEN})\s*+|{_ROLE}[ \t]*+:?[ \t]*+(?:\n\s*+|(?=<)))++", re.IGNORECASE)
_HEADING_END = re.compile(r"[:：=][\s*_`$]*+\Z")
_HEADING_CHARACTERS = 40
"""Characters before a line that are searched for the end of a heading."""


def cut_turns(text: str) -> str:
    """Return the first turn of `text`: drop chat marks before it, cut at the first mark after it.

    Small models often write on after the answer, as the user or as a new example. The name of a role alone on a line
    is a mark, except below a heading: there it may be a label.
    """
    opening = _OPENING.match(text)
    begin = opening.end() if opening and opening.end() < len(text) else 0
    for mark in _TURN.finditer(text, begin):
        is_role = mark[0].strip(" \t:").isalpha()
        before = text[max(begin, mark.start() - _HEADING_CHARACTERS) : mark.start()]
        if not is_role or (before.strip() and not _HEADING_END.search(before)):
            return text[begin : mark.start()]
    return text[begin:]
