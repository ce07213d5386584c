"""Marks of a chat's turns. A small model often writes on after its answer, as the user or as a new example."""

import re

_TOKEN = (
    r"<\|(?!channel\|)\w{1,30}\|>|<｜[^｜<>\n]{1,30}｜>|</?s>|<(?:start|end)_of_turn>|<eos>|<bos>|\[/?INST\]|<</?SYS>>"
)
_ROLE = r"(?:user|human|assistant|system|model)"
_TURN = re.compile(rf"{_TOKEN}|^[ \t]*+{_ROLE}[ \t]*+:?[ \t]*+$", re.IGNORECASE | re.MULTILINE)
_OPENING = re.compile(rf"\s*+(?:(?:{_TOKEN})\s*+|{_ROLE}[ \t]*+:?[ \t]*+(?:\n\s*+|(?=<)))++", re.IGNORECASE)
_HEADING_END = re.compile(r"[:：=][\s*_`$]*+\Z")
_HEADING_ROOM = 40
"""Characters before a line in which a heading's end is looked for."""


def cut_turns(text: str) -> str:
    """The first turn of `text`: without chat marks before it, cut at the first mark after it.

    A role's name alone on a line is such a mark, but not below a heading: there it may be a label.
    """
    opening = _OPENING.match(text)
    begin = opening.end() if opening and opening.end() < len(text) else 0
    for mark in _TURN.finditer(text, begin):
        is_role = mark[0].strip(" \t:").isalpha()
        before = text[max(begin, mark.start() - _HEADING_ROOM) : mark.start()]
        if not is_role or (before.strip() and not _HEADING_END.search(before)):
            return text[begin : mark.start()]
    return text[begin:]
