"""The report as HTML: rendered from its markdown, with neither links nor images, whatever a text may hold."""

from html import escape

from markdown_it import MarkdownIt

STYLE = """
:root{color-scheme:light dark;--ink:light-dark(#16202a,#e9ece8);--ink-3:light-dark(#5b6771,#929da6);
--paper:light-dark(#f7f8f6,#12171c);--sunk:light-dark(#edf0ee,#0d1115);--rule:light-dark(#d9ddda,#2b343c);
--edge:light-dark(#7f8a92,#6a7680)}
body{margin:2.5rem auto;max-width:52rem;padding:0 1.25rem;background:var(--paper);color:var(--ink);
font:15px/1.5 "Fira Sans","Segoe UI",sans-serif}
h1,h2,h3,blockquote{font-family:"Source Serif 4",Georgia,serif;line-height:1.25}
h2{border-top:1px solid var(--ink);padding-top:.5rem;margin-top:2rem}
p,li,td{overflow-wrap:anywhere}
blockquote{margin:0;padding-left:.75rem;border-left:2px solid var(--edge);font-size:1.06rem}
table{border-collapse:collapse;font-size:.82rem;display:block;overflow-x:auto}
th{font-weight:400;color:var(--ink-3);border-bottom:1px solid var(--edge);padding:4px 14px 4px 0;text-align:left}
td{padding:5px 14px 5px 0;border-bottom:1px solid var(--rule);vertical-align:top}
pre{background:var(--sunk);padding:.75rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.82rem}
@media print{body{margin:0 auto}h2,h3,tr{break-after:avoid}}
"""


def report_body(markdown: str) -> str:
    """The report's elements, to stand inside a page."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    renderer.disable(["link", "image", "autolink", "reference", "html_inline", "html_block"])
    return str(renderer.render(markdown))


def report_html(markdown: str, *, title: str) -> str:
    """A file of its own: no script, and nothing fetched from anywhere."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>{report_body(markdown)}</body></html>\n"
    )
