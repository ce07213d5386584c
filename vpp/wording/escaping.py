"""Text from a model or a CSV inside Markdown: what comes out is text, and nothing else.

Two layers. Punctuation that could mean something where it stands gets a backslash, which keeps a parser from reading
markup; the rest stays as it is, so that the raw file reads well. Some renderers look again at the finished text and
make links of addresses, mails and mentions, or pictures of `:names:` (GitHub, Streamlit); for them an invisible WORD
JOINER (U+2060) parts the sign from what follows it. Control characters, lone surrogates and marks that turn the
direction of writing are shown as U+FFFD.
"""

import re
from collections.abc import Collection, Sequence

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
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def plain(text: str) -> str:
    """The same without what would act on the text around it: control characters and the like are U+FFFD."""
    # Nothing of them is printable: most texts need no closer look.
    return text if text.replace("\n", "").isprintable() else _REPLACED.sub(REPLACEMENT, text)


def one_line(text: str) -> str:
    """Plain text for a terminal: runs of white space as one space, control characters as U+FFFD."""
    return plain(_SPACE.sub(" ", text).strip())


def markdown_text(text: str) -> str:
    """One line of Markdown that renders as `text`, with runs of white space as one space; also fit for a table cell."""
    line = _SPACE.sub(" ", plain(text)).strip()
    parted = _RECOGNISED_LATER.sub(lambda found: found[0] + JOINER, line)
    return _ACTIVE.sub(lambda found: _PUNCTUATION.sub(r"\\\1", found[0]), parted)


def markdown_quote(text: str) -> str:
    """A block quote that renders as `text`, line by line; lines without a visible character are left out."""
    lines = [markdown_text(line) for line in _LINE_END.split(text)]
    shown = [line for line in lines if line] or ["*(no text)*"]
    return "\\\n".join(f"> {line}" for line in shown)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> str:
    """A table of cells that are Markdown already: outside text goes through `markdown_text` first.

    right: the columns that stand at the right.
    """
    rule = ["---:" if column in right else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def markdown_code(text: str) -> str:
    """A fenced block that `text` cannot close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{plain(text)}\n{fence}"
