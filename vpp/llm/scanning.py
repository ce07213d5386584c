"""Parts of a model's answer that every parser looks for. Linear in the text: only the last 20 of a form are tried."""

import json
import re
from collections.abc import Iterable, Iterator

from vpp.data.answers import cut_thinking, cut_turns

CANDIDATES = 20
_JSON = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)
_FENCE = re.compile(r"^[ \t]{0,8}(?:```|~~~)[\w-]{0,20}[ \t]*+$\n?", re.MULTILINE)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def answer_text(text: str) -> str:
    """What a model answered in its first turn, without its thoughts; lines end in a line feed."""
    return cut_turns(cut_thinking(text).replace("\r\n", "\n").replace("\r", "\n"))


def latest(found: Iterable[re.Match[str]]) -> list[re.Match[str]]:
    """The last matches, the last first."""
    return list(found)[: -CANDIDATES - 1 : -1]


def last(found: Iterable[re.Match[str]]) -> re.Match[str] | None:
    """The last match; None without one."""
    return next(iter(latest(found)), None)


def json_values(answer: str, name: re.Pattern[str]) -> Iterator[str]:
    """The JSON strings, numbers and booleans that follow a key, the last first."""
    for key in latest(name.finditer(answer)):
        try:
            value, _ = _JSON.raw_decode(answer, key.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, bool | str):
            yield str(value)


def without_fences(text: str) -> str:
    """`text` without code fences and control characters."""
    bare = _UNPRINTABLE.sub("", _FENCE.sub("", text)).strip()
    return bare.removeprefix("```").removesuffix("```").strip()
