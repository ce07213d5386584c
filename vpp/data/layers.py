"""Layers that a model puts around a value: bold, quotes, boxes, tags, a full stop, a word that says what it is."""

import re

_WRAPPED = re.compile(
    r"""\*\*(?P<bold>.+)\*\* | __(?P<strong>.+)__ | \*(?P<star>.+)\* | _(?P<under>.+)_ | `{1,3}(?P<code>[^`]+)`{1,3}
      | "(?P<double>.+)" | '(?P<single>.+)' | “(?P<curly>.+)” | ‘(?P<curled>.+)’ | «(?P<angled>.+)» | 「(?P<corner>.+)」
      | \$\$(?P<display>[^$]+)\$\$ | \$(?P<dollar>[^$]+)\$ | \\\((?P<math>.+)\\\) | \\\[(?P<shown>.+)\\\]
      | \[(?P<square>.+)\] | \((?P<round>.+)\)
      | <(?P<tag>(?!(?:del|strike|s|sub|sup)>)[A-Za-z]\w{0,9})>(?P<tagged>.+)</(?P=tag)>
      | (?P<ended>.+?)<\|[^|<>]{1,30}\|>
      | (?P<before>.+)(?:<br[ ]?/?>|</?s>|</?p>|<eos>|<end_of_turn>) | <(?P<less>.+)>
      | \\boxed\s?\{(?P<boxed>.+)\} | \\(?:text|textbf|mathrm|mathbf)\{(?P<text>.+)\}
      | (?P<stopped>.+)[.,;!。] | (?:[=≈~:→]|\\approx\b)(?P<told>.+)
      | (?P<closed>.*[^*_`])(?:\*{1,3}|_{1,3}|`{1,3}) | [*_`]{1,3}(?P<opened>[^*_`].*)""",
    re.VERBOSE,
)
_SAID = re.compile(
    r"(?:the )?(?:predicted |final )?(?:class|label|category|output|answer|prediction|value|number)(?: label)?"
    r"(?: is\b)?(?:\s*[:=#]\s*|\s+)(?P<value>\S.*)",
    re.IGNORECASE,
)
_LAYERS = 8


def peel(value: str) -> list[str]:
    """`value`, then what is left after each layer of markup is taken off."""
    layers = [value.strip()]
    while len(layers) <= _LAYERS and (wrapped := _WRAPPED.fullmatch(layers[-1])):
        layers.append(_inside(wrapped).strip())
    return layers


def unsaid(layers: list[str]) -> list[str]:
    """The layers left of `Class 1` or `label: 1` once the word is gone; none where there is no such word."""
    said = [match["value"] for layer in layers if (match := _SAID.fullmatch(layer))]
    return [layer for value in said for layer in peel(value)]


def _inside(wrapped: re.Match[str]) -> str:
    return next(text for name, text in wrapped.groupdict().items() if name != "tag" and text is not None)
