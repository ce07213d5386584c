"""A weighted vote as one bar, and a count in parts as one bar. Each label of the target has one hue everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vpp.show.blocks import Table
from vpp.show.markdown import block_markdown
from vpp.show.markup import text
from vpp.show.page import block_html
from vpp.show.words import EQUAL, NBSP, percent

HUES = 6
"""Custom properties --l0 to --l5 of assets/vpp.css; the seventh label has the first one's hue again."""
Kind = Literal["good", "bad", "unsure good", "unsure bad"]


def hue(label: str, labels: Sequence[str]) -> str:
    """Return the class of a label's hue; empty for a word that is no label."""
    return f"l{labels.index(label) % HUES}" if label in labels else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteBar:
    """The leading label is solid, the others are tinted; at a tie all are tinted."""

    shares: tuple[tuple[str, float], ...]
    """Labels and their shares, the largest first."""
    labels: tuple[str, ...]
    """Labels of the target, in order."""
    abstained: float = 0.0

    @property
    def words(self) -> str:
        return ", ".join(f"{label} {share_percent(share)}" for label, share in self.shares if share > 0)


def share_percent(share: float) -> str:
    """A sum that misses 1 only by rounding counts as 1."""
    return percent(1.0 if 1 - share < EQUAL else share)


@block_html.register
def _(block: VoteBar) -> str:
    shares = block.shares
    is_tied = len(shares) > 1 and shares[0][1] - shares[1][1] < EQUAL
    # No-break spaces: a label is complete or left out.
    spans = "".join(
        f'<span class="{hue(label, block.labels)}{" lead" if not i and not is_tied else ""}" '
        f'style="--v:{share:.4f}">{text(f"{label} {share_percent(share)}".replace(" ", NBSP))}</span>'
        for i, (label, share) in enumerate(shares)
        if share > 0
    )
    rest = f'<span class="ca" style="--v:{block.abstained:.4f}"></span>' if block.abstained > 0.0005 else ""
    return f'<span class="vote" role="img" aria-label="{text(block.words or "no answer")}">{spans}{rest}</span>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    value: str
    """The size in words, as `45 rows`."""
    size: float
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsBar:
    """Sizes side by side, with a legend under them."""

    name: str
    parts: tuple[Part, ...]


@block_html.register
def _(block: PartsBar) -> str:
    words = "; ".join(f"{part.name}: {part.value}" for part in block.parts)
    bars = "".join(f'<i class="{part.kind}" style="--v:{part.size:.4f}"></i>' for part in block.parts if part.size > 0)
    legend = "".join(
        f'<li><i class="{part.kind}"></i>{text(part.name)} <b>{text(part.value)}</b></li>' for part in block.parts
    )
    label = text(f"{block.name}. {words}")
    return (
        f'<figure class="parts"><div class="bar" role="img" aria-label="{label}">{bars}</div><ul>{legend}</ul></figure>'
    )


@block_markdown.register
def _(block: PartsBar, level: int) -> str:
    return block_markdown(Table(head=(block.name, "size"), rows=[(p.name, p.value) for p in block.parts]), level)
