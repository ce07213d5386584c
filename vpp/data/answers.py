"""Texts of prompts and answers: one line out; thinking, chat marks and markup off, labels read back."""

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from vpp.data.numbers import compatible, read_float, without_invisible

TEXT_LIMIT = 2_000
"""Most characters of a name or label in a prompt."""
CUT = " […]"

_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_ESCAPED = re.compile(rf"{_CONTROL}|\\(?=[nrtu\\]|{_CONTROL})")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
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


def one_line(text: str) -> str:
    """Escape the control characters of `text` and cut it at 2,000 characters.

    A backslash that could begin an escape is doubled, so that different short texts stay different.
    """
    return escaped(text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + CUT)


def escaped(text: str) -> str:
    """Escape the control characters of `text`, line breaks among them, at its full length."""
    if "\\" not in text and text.isprintable():
        return text
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[0], f"\\u{ord(match[0]):04x}"), text)


def quoted(text: str) -> str:
    """Quote a cell or label for a message, cut at 40 characters."""
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


def counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def cut_thinking(text: str) -> str:
    """Remove a model's thinking: everything up to its last end mark, and from a begin mark that is left open."""
    if not any(sign in text for sign in _THOUGHT_SIGNS):
        return text
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


_WRAPPED = re.compile(
    r"""\*\*(?P<bold>.+)\*\* | __(?P<strong>.+)__ | \*(?P<star>.+)\* | _(?P<under>.+)_ | `{1,3}(?P<code>[^`]+)`{1,3}
      | "(?P<double>.+)" | '(?P<single>.+)' | “(?P<curly>.+)” | ‘(?P<curled>.+)’ | «(?P<angled>.+)» | 「(?P<corner>.+)」
      | \$\$(?P<display>[^$]+)\$\$ | \$(?P<dollar>[^$]+)\$ | \\\((?P<math>.+)\\\) | \\\[(?P<shown>.+)\\\]
      | \[(?P<square>.+)\] | \((?P<round>.+)\)
      | <(?P<tag>(?!(?:del|strike|s|sub|sup)>)[A-Za-z]\w{0,9})>(?P<tagged>.+)</(?P=tag)>
      | (?P<ended>.+?)<\|[^|<>]{1,30}\|>
      | (?P<before>.+)(?:<br[ ]?/?>|</?s>|</?p>|<eos>|<end_of_turn>) | <(?P<less>.+)>
      | \\boxed\s?\{(?P<boxed>.+)\} | \\(?:text|textbf|mathrm|mathbf)\{(?P<text>.+)\}
      | (?P<stopped>.+)[.,;!。] | (?:[=≈~:→]|\\approx\b)(?P<equated>.+)
      | (?P<closed>.*[^*_`])(?:\*{1,3}|_{1,3}|`{1,3}) | [*_`]{1,3}(?P<opened>[^*_`].*)""",
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
        inside = (text for name, text in wrapped.groupdict().items() if name != "tag" and text is not None)
        layers.append(next(inside).strip())
    return layers


def without_noun(layers: list[str]) -> list[str]:
    """Return the layers of `1` for `Class 1` or `label: 1`; empty if no layer begins with such a noun."""
    values = [match["value"] for layer in layers if (match := _NOUN.fullmatch(layer))]
    return [layer for value in values for layer in peel(value)]


def match_label(value: str, classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classes that `value` may name, under the strictest normal form with a match.

    Normal forms, strictest first: as a prompt shows the label; ignoring case, width and spacing; without markup; as a
    number; with spaces for underscores; without a noun such as `Class` before it.
    """
    layers = peel(value)
    for layer in layers:
        if shown := _named(classes, shown_label).get(layer):
            return shown
    if value in classes:
        return (value,)
    for candidates, norms in ((layers, _NORMS), (without_noun(layers), _NORMS), (layers, (_nounless,))):
        for norm in norms:
            for candidate in candidates:
                if named := _named(classes, norm).get(norm(candidate)):
                    return named
    return ()


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
    return _squashed(peel(label)[-1])


def _numeric(label: str) -> str:
    """Equal for 1, 1.0 and +1; empty if not a number."""
    number = read_float(peel(label)[-1])
    return "" if number is None or not math.isfinite(number) else repr(number + 0.0)


def _spaced(label: str) -> str:
    """`headline 1 wins` for `Headline_1 wins`, as a model writes that has read of a column `headline_1`."""
    return " ".join(_bare(label).replace("_", " ").split())


def _nounless(label: str) -> str:
    """`1` for `Class 1`."""
    return _bare((without_noun(peel(label)) or [label])[-1])


_NORMS = (shown_label, _squashed, _bare, _numeric, _spaced)


@lru_cache(maxsize=256)
def _named(classes: tuple[str, ...], norm: Callable[[str], str]) -> dict[str, tuple[str, ...]]:
    named: dict[str, tuple[str, ...]] = {}
    for label in classes:
        named[norm(label)] = (*named.get(norm(label), ()), label)
    named.pop("", None)
    return named
