"""Small pieces of HTML in the product's own classes. Every string from outside is escaped here, once.

Names of pieces are those of assets/vpp.css. Nothing here draws text from a model or a CSV but through `text`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from vpp.wording.words import EQUAL, weight_text

Mark = Literal["acc", "rej", "gone", "uns", "abs", "same", "live", ""]


def text(value: object) -> str:
    """Any value as text that can be nothing else, in content or attribute."""
    return escape(str(value), quote=True)


def block(*parts: str, label: str = "") -> str:
    """A part of a page."""
    named = f' aria-label="{text(label)}"' if label else ""
    return f'<div class="vpp"{named}>{"".join(parts)}</div>'


def badge(mark: Mark, words: str) -> str:
    """A status: its shape and its word."""
    shape = f'<i class="m {mark}" aria-hidden="true"></i>' if mark else ""
    return f'<span class="badge {mark}">{shape}{text(words)}</span>'


def heading(title: str, caption: str = "") -> str:
    """A section's head, with a caption at its right."""
    return f'<div class="sec"><h2>{text(title)}</h2><span class="cap">{text(caption)}</span></div>'


def group(title: str) -> str:
    """The head of some fields that belong together."""
    return f'<h3 class="group">{text(title)}</h3>'


def title(words: str, meta: str = "") -> str:
    """A page's title and the line under it."""
    under = f'<p class="meta">{text(meta)}</p>' if meta else ""
    return f'<div class="title"><h1>{text(words)}</h1>{under}</div>'


def saying(words: str) -> str:
    """The sentence that says what a page shows."""
    return f'<p class="say">{text(words)}</p>'


def caption(words: str) -> str:
    """A line under a figure."""
    return f'<p class="cap">{text(words)}</p>'


def banner(lead: str, words: str) -> str:
    """A line that stays on top of a page."""
    return f'<div class="banner" role="note"><b>{text(lead)}</b> <span>{text(words)}</span></div>'


def copy_button(words: str, label: str) -> str:
    """A button that puts words on the clipboard; it works where assets/deck.js draws it."""
    return f'<button type="button" class="copy" data-copy="{text(words)}" aria-label="{text(label)}">Copy</button>'


DEMO_BANNER = banner(
    "Built-in demo model.",
    "It is a small program that reads and writes plain English rules, not a language model. "
    "Use it to learn the instrument, not to judge the method.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One number of the strip, with its scale and a sentence."""

    name: str
    value: str
    scale: str = ""
    words: str = ""


def strip(metrics: Iterable[Metric]) -> str:
    """Numbers side by side, none alone."""
    cells = [
        f"<div><dt>{text(m.name)}</dt><dd>{text(m.value)}<small>{text(m.scale)}</small></dd><p>{text(m.words)}</p></div>"
        for m in metrics
    ]
    return f'<dl class="strip" style="--n:{len(cells)}">{"".join(cells)}</dl>'


def quiet(words: str) -> str:
    """A sentence over a figure."""
    return f'<p class="quiet">{text(words)}</p>'


def state(head: str, *paragraphs: str, failed: bool = False) -> str:
    """An empty page, or what went wrong and the mend."""
    kind, role = ("state err", "alert") if failed else ("state", "status")
    body = "".join(map(quiet, paragraphs))
    return f'<div class="{kind}" role="{role}"><h3>{text(head)}</h3>{body}</div>'


def waiting(words: str) -> str:
    """Grey lines where sentences will stand."""
    lines = "".join(f'<i style="width:{width}%"></i>' for width in (94, 88, 41))
    return f'<div class="wait" role="status" aria-label="{text(words)}">{lines}<p class="cap">{text(words)}</p></div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """A plain table; columns whose index is in `right` are set to the right."""

    def cell(tag: str, index: int, words: str) -> str:
        aligned = ' class="r"' if index in right else ""
        return f"<{tag}{aligned}>{text(words)}</{tag}>"

    top = "".join(cell("th", i, words) for i, words in enumerate(head))
    body = "".join("<tr>" + "".join(cell("td", i, words) for i, words in enumerate(row)) + "</tr>" for row in rows)
    return f'<div class="scroll"><table class="t"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def votes(shares: Sequence[tuple[str, float]], abstained: float = 0.0) -> str:
    """A weighted vote as one bar, heaviest first."""
    label = ", ".join(f"{name} {_share(share)}" for name, share in shares)
    spans = "".join(
        f'<span class="{"c0" if i == 0 else "c1"}" style="--v:{share:.4f}">{text(name)} {_share(share)}</span>'
        for i, (name, share) in enumerate(shares)
        if share > 0
    )
    rest = f'<span class="ca" style="--v:{abstained:.4f}"></span>' if abstained > 0.0005 else ""
    return f'<span class="vote" role="img" aria-label="{text(label)}">{spans}{rest}</span>'


def _share(share: float) -> str:
    """A sum of all weights may miss 1 by its rounding, and is all of them nevertheless."""
    return weight_text(1.0 if 1 - share < EQUAL else share, 2)
