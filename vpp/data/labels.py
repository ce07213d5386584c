"""Which label a model's words name, and whether labels can be told apart in its answers.

A label is read under the strictest norm that finds any: as a prompt shows it; in other case, width or spacing; without
its markup; as the number it writes; without a word such as `Class` before it.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from vpp.data.layers import peel, unsaid
from vpp.data.lines import cut_thinking, one_line, without_invisible
from vpp.data.numerals import compatible, read_float
from vpp.data.turns import cut_turns


def match_label(value: str, classes: tuple[str, ...]) -> tuple[str, ...]:
    """The classes that `value` names: none, one, or several that it could be."""
    layers = peel(value)
    for layer in layers:
        if shown := _named(classes, shown_label).get(layer):
            return shown
    if value in classes:
        return (value,)
    for candidates, norms in ((layers, _NORMS), (unsaid(layers), _NORMS), (layers, (_nameless,))):
        for norm in norms:
            for candidate in candidates:
                if named := _named(classes, norm).get(norm(candidate)):
                    return named
    return ()


def why_unreadable(classes: Sequence[str]) -> str | None:
    """Why an answer that gives one of the labels, as a prompt shows it, would not be read back; None where each is."""
    known = tuple(classes)
    for label in known:
        shown = shown_label(label)
        if not shown:
            return "a label is blank"
        if cut_thinking(shown) != shown:
            return f"the label {_short(label)} reads as the mark of a model's thoughts"
        if cut_turns(shown) != shown:
            return f"the label {_short(label)} contains a mark that begins or ends a turn of a chat"
        others = [other for other in match_label(shown, known) if other != label]
        if others:
            return f"the labels {_short(label)} and {_short(others[0])} look the same in a prompt"
    return None


def look_alike(classes: Sequence[str]) -> list[tuple[str, ...]]:
    """Groups of labels that differ in case, spacing, markup or the way a number is written alone.

    An answer must then give such a label to the letter.
    """
    found = [
        group for norm in (_squashed, _bare, _numeric, _nameless) for group in _named(tuple(classes), norm).values()
    ]
    return list(dict.fromkeys(group for group in found if len(group) > 1))


def shown_label(label: str) -> str:
    """The label as a prompt's line shows it."""
    return one_line(label).strip()


def _squashed(label: str) -> str:
    return " ".join(compatible(without_invisible(label)).casefold().split())


def _bare(label: str) -> str:
    return _squashed(peel(label)[-1])


def _numeric(label: str) -> str:
    """Equal for 1, 1.0 and +1; '' for what is no number."""
    number = read_float(peel(label)[-1])
    return "" if number is None or not math.isfinite(number) else repr(number + 0.0)


def _nameless(label: str) -> str:
    """`Class 1` without its word."""
    return _bare((unsaid(peel(label)) or [label])[-1])


_NORMS = (shown_label, _squashed, _bare, _numeric)


@lru_cache(maxsize=256)
def _named(classes: tuple[str, ...], norm: Callable[[str], str]) -> dict[str, tuple[str, ...]]:
    """The classes that share a normal form, by that form."""
    named: dict[str, tuple[str, ...]] = {}
    for label in classes:
        named[norm(label)] = (*named.get(norm(label), ()), label)
    named.pop("", None)
    return named


def _short(label: str) -> str:
    return repr(label if len(label) <= 40 else f"{label[:39]}…")
