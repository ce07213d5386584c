"""Match the words of an answer with the labels of a dataset."""

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from vpp.data.lines import cut_thinking, cut_turns, one_line, quoted, without_invisible
from vpp.data.numbers import compatible, read_float

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
        layers.append(_inside(wrapped).strip())
    return layers


def without_noun(layers: list[str]) -> list[str]:
    """Return the layers of `1` for `Class 1` or `label: 1`; empty if no layer begins with such a noun."""
    values = [match["value"] for layer in layers if (match := _NOUN.fullmatch(layer))]
    return [layer for value in values for layer in peel(value)]


def _inside(wrapped: re.Match[str]) -> str:
    return next(text for name, text in wrapped.groupdict().items() if name != "tag" and text is not None)


def match_label(value: str, classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classes that `value` may name, under the strictest normal form with a match.

    Normal forms, strictest first: as a prompt shows the label; ignoring case, width and spacing; without markup; as a
    number; without a noun such as `Class` before it.
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
        if not shown:
            return "a label is blank"
        if cut_thinking(shown) != shown:
            return f"the label {quoted(label)} reads as a mark of a model's thinking"
        if cut_turns(shown) != shown:
            return f"the label {quoted(label)} contains a mark that begins or ends a chat turn"
        others = [other for other in match_label(shown, known) if other != label]
        if others:
            return f"the labels {quoted(label)} and {quoted(others[0])} look the same in a prompt"
    return None


def look_alike(classes: Sequence[str]) -> list[tuple[str, ...]]:
    """Group the labels that differ only in case, spacing, markup or the format of a number.

    An answer must spell such a label exactly.
    """
    norms = (_squashed, _bare, _numeric, _nounless)
    groups = [group for norm in norms for group in _named(tuple(classes), norm).values()]
    return list(dict.fromkeys(group for group in groups if len(group) > 1))


def shown_label(label: str) -> str:
    """The label as a prompt shows it."""
    return one_line(label).strip()


def _squashed(label: str) -> str:
    return " ".join(compatible(without_invisible(label)).casefold().split())


def _bare(label: str) -> str:
    return _squashed(peel(label)[-1])


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
    """Group the classes by their normal form."""
    named: dict[str, tuple[str, ...]] = {}
    for label in classes:
        named[norm(label)] = (*named.get(norm(label), ()), label)
    named.pop("", None)
    return named
