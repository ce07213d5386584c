"""Text from a model or a file made safe for Markdown, a terminal and the cells of a spreadsheet.

Markdown is escaped in two layers. Punctuation that a parser would read as markup gets a backslash; the rest stays as
it is, so that the raw file reads well. Some renderers (GitHub, Streamlit) search the finished text and make links of
addresses, mails and mentions, or pictures of `:names:`; an invisible WORD JOINER (U+2060) after the sign prevents that.
Control characters, lone surrogates and marks that change the direction of writing are shown as U+FFFD.

A spreadsheet reads a cell as a formula if it begins with `=`, `+`, `-` or `@` (plain or full-width), a tab or a line
end. Such a text gets an apostrophe before it; blanks and apostrophes in front make no difference. A finite decimal
number, -3.5 or +2, stays as it is. `original` undoes it.
"""

import re
from collections.abc import Collection, Sequence

from vpp.data.columns import is_number

JOINER = "\N{WORD JOINER}"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_ACTIVE = re.compile(
    r"[\\`{}\[\]#|~$@^]"  # markup anywhere
    r"|(?<=\S)\*|\*(?=\S)|^\*"  # between spaces it is a times sign
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"  # inside a word it is a letter
    r"|<(?![\s=\d])|&(?!\s)|:(?=\S)|\.(?=[^\s\d])"  # tags, entities, names and addresses need something behind
    r"|[-+=]{2,}"  # rules, and the marks of some dialects
    r"|^[-+=:>]|^\d+[.)](?!\S)"  # what begins a block
)
_RECOGNISED_LATER = re.compile(r"[:@#](?=\S)|www(?=\.)", re.IGNORECASE)
_REPLACED = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SPACE = re.compile("[\\s\ufeff]+")
FORMULA = re.compile("[' \xa0\u3000]*[=+\\-@＝＋－＠\t\r\n]")
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def plain(text: str) -> str:
    """Replace characters that act on the text around them, such as control characters, by U+FFFD."""
    # None of them is printable, and most texts are: a cheap test first.
    return text if text.replace("\n", "").isprintable() else _REPLACED.sub(REPLACEMENT, text)


def one_line(text: str) -> str:
    """Return plain text for a terminal: runs of white space as one space, control characters as U+FFFD."""
    return plain(_SPACE.sub(" ", text).strip())


def markdown_text(text: str) -> str:
    """Return one line of Markdown that renders as `text`; runs of white space become one space. Fits a table cell."""
    line = _SPACE.sub(" ", plain(text)).strip()
    parted = _RECOGNISED_LATER.sub(lambda found: found[0] + JOINER, line)
    return _ACTIVE.sub(lambda found: _PUNCTUATION.sub(r"\\\1", found[0]), parted)


def markdown_quote(text: str) -> str:
    """Return a block quote that renders as `text`, line by line, without blank lines."""
    lines = [markdown_text(line) for line in _LINE_END.split(text)]
    shown = [line for line in lines if line] or ["*(no text)*"]
    return "\\\n".join(f"> {line}" for line in shown)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> str:
    """Return a table of cells that are Markdown already: pass outside text through `markdown_text` first.

    right: indices of the right-aligned columns.
    """
    rule = ["---:" if column in right else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def markdown_code(text: str) -> str:
    """Return a fenced block that `text` cannot close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{plain(text)}\n{fence}"


def safe_cell(text: str) -> str:
    return f"'{text}" if FORMULA.match(text) and not is_number(text) else text


def original(cell: str) -> str:
    """Return the text that `safe_cell` was given."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell, 1) else cell
