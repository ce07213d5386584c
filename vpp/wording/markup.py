"""Small pieces of HTML in the product's own classes. Every string from outside is escaped here, once.

Names of pieces are those of assets/vpp.css. Nothing here draws text from a model or a CSV but through `text`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from vpp.wording.escaping import plain
from vpp.wording.glossary import BY_LABEL, GLOSSARY, Entry
from vpp.wording.words import EQUAL, weight_text

Mark = Literal["acc", "rej", "new", "copy", "gone", "uns", "abs", "same", "up", "down", "live", "done", ""]


def text(value: object) -> str:
    """Any value as text that can be nothing else, in content or attribute, and turns nothing around it."""
    return escape(plain(str(value)), quote=True)


def block(*parts: str, label: str = "") -> str:
    """A part of a page."""
    named = f' role="group" aria-label="{text(label)}"' if label else ""
    return f'<div class="vpp"{named}>{"".join(parts)}</div>'


def badge(mark: Mark, words: str) -> str:
    """A status: its shape and its word."""
    shape = f'<i class="m {mark}" aria-hidden="true"></i>' if mark else ""
    return f'<span class="badge {mark}">{shape}{text(words)}</span>'


def term(label: str) -> str:
    """A label with its meaning one press away, where the glossary has it; else the label alone."""
    entry = BY_LABEL.get(label)
    if entry is None:
        return text(label)
    return f'<button type="button" class="term" popovertarget="{entry.id}">{text(label)}</button>'


def glossary() -> str:
    """Every term's meaning, unseen until its label is pressed. A page has it once, apart from what refreshes."""
    return block(*map(_meaning, GLOSSARY))


def _meaning(entry: Entry) -> str:
    source = caption(f"Paper: {entry.source}.") if entry.source else ""
    close = f'<button type="button" class="close" popovertarget="{entry.id}" popovertargetaction="hide">Close</button>'
    return (
        f'<div popover id="{entry.id}" class="meaning" role="note"><dfn class="name">{text(entry.name)}</dfn>'
        f"<p>{text(entry.meaning)}</p>{source}{close}</div>"
    )


def phase(mark: Mark, words: str) -> str:
    """What a run is doing: its mark, and a line that may be long."""
    return f'<p class="cap phase">{badge(mark, words)}</p>'


def heading(title: str, caption: str = "") -> str:
    """A section's head, with a caption at its right."""
    return f'<div class="sec"><h2>{term(title)}</h2><span class="cap">{text(caption)}</span></div>'


def group(title: str) -> str:
    """The head of some fields that belong together."""
    return f'<h3 class="group">{text(title)}</h3>'


def title(words: str, meta: str = "", *, of: str = "") -> str:
    """A page's title and the line under it. of: the name of what the page is about, where the title is another."""
    named = f"<b>{text(of)}</b> · " if of else ""
    under = f'<p class="meta">{named}{text(meta)}</p>' if meta else ""
    return f'<div class="title"><h1>{text(words)}</h1>{under}</div>'


def saying(words: str) -> str:
    """The sentence that says what a page shows."""
    return f'<p class="say">{text(words)}</p>'


def happening(words: str) -> str:
    """What a step did; it takes the room of its longest, so that what follows stays where it is."""
    return f'<p class="happened">{text(words)}</p>'


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
        f"<div><dt>{term(m.name)}</dt><dd>{text(m.value)}<small>{text(m.scale)}</small></dd>"
        f'<dd class="words">{text(m.words)}</dd></div>'
        for m in metrics
    ]
    return f'<dl class="strip" style="--n:{len(cells)}">{"".join(cells)}</dl>'


def quiet(words: str) -> str:
    """A sentence over a figure."""
    return f'<p class="quiet">{text(words)}</p>'


def state(head: str, *paragraphs: str, failed: bool = False, alone: bool = False) -> str:
    """An empty page, or what went wrong and the mend. alone: whether the page has no other title."""
    tag = "h1" if alone else "h2"
    kind, role = ("state err", "alert") if failed else ("state", "status")
    body = "".join(map(quiet, paragraphs))
    return f'<div class="{kind}" role="{role}"><{tag}>{text(head)}</{tag}>{body}</div>'


def waiting(words: str) -> str:
    """Grey lines where sentences will stand."""
    lines = "".join(f'<i style="width:{width}%"></i>' for width in (94, 88, 41))
    return f'<div class="wait" role="status" aria-label="{text(words)}">{lines}<p class="cap">{text(words)}</p></div>'


NAMED = 4
"""Columns that name a table."""
CUE = '<p class="cap cue" hidden></p>'
"""Before a region that scrolls: where the page draws both with `frame.steady`, how much of a wide table is in view."""


def scrolling(html: str, name: str, kind: str = "scroll") -> str:
    """What may be wider than its place: it scrolls by itself, by keyboard too. name: one that the page has once."""
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="{text(name)}">{html}</div>'


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[int] = (),
    terms: bool = False,
    name: str = "",
) -> str:
    """A plain table; columns whose index is in `right` are set to the right.

    terms: whether the head may be terms. name: where another table of the page has the same head.
    """

    def cell(tag: str, index: int, html: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        aligned = ' class="r"' if index in right else ""
        return f"<{tag}{scope}{aligned}>{html}</{tag}>"

    top = "".join(cell("th", i, term(words) if terms else text(words)) for i, words in enumerate(head))
    lines = ("".join(cell("td", i, text(words)) for i, words in enumerate(row)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    drawn = f'<table class="t"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    return scrolling(drawn, "Table: " + (name or ", ".join(head[:NAMED])))


def votes(shares: Sequence[tuple[str, float]], abstained: float = 0.0) -> str:
    """A weighted vote as one bar, heaviest first."""
    label = ", ".join(f"{name} {_share(share)}" for name, share in shares)
    spans = "".join(
        f'<span class="{("c0", "c1")[i > 0]}" style="--v:{share:.4f}">{text(_unbroken(name))} {_share(share)}</span>'
        for i, (name, share) in enumerate(shares)
        if share > 0
    )
    rest = f'<span class="ca" style="--v:{abstained:.4f}"></span>' if abstained > 0.0005 else ""
    return f'<span class="vote" role="img" aria-label="{text(label)}">{spans}{rest}</span>'


def _unbroken(name: str) -> str:
    """A label that is shown whole or not at all."""
    return name.replace(" ", "\N{NO-BREAK SPACE}")


def _share(share: float) -> str:
    """A sum of all weights may miss 1 by its rounding, and is all of them nevertheless."""
    return weight_text(1.0 if 1 - share < EQUAL else share, 2)
