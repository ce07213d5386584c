"""How a hypothesis is read, on its card: the program with its branches, the certificate, and questions about texts."""

import keyword
import re
from collections.abc import Iterator, Mapping

from vpp.findings.programs import ProgramReading
from vpp.show.markup import caption, fold, heading, hypothesis, text
from vpp.show.words import capitalised, counted
from vpp.wording.programs import apart_words, branch_rows, certificate_words, question_words, reading_words

_TOKEN = re.compile(
    r"""(?P<str>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|(?P<num>(?<!\w)\d[\w.]*)|(?P<word>[^\W\d]\w*)"""
)


def exception_html(reading: ProgramReading | None) -> str:
    """Return how a hypothesis is read that has no program, and why; empty for one that has, or is not read yet."""
    return caption(reading_words(reading)) if reading and reading.reason else ""


def program_html(reading: ProgramReading | None, within: str = "") -> str:
    """Return the fold with a hypothesis's program; empty without one. within: begins the name of the fold."""
    if reading is None or reading.program is None:
        return ""
    return fold(f"{within}program", "program", "".join(_parts(reading, code_html(reading.program.code))))


def _parts(reading: ProgramReading, code: str) -> Iterator[str]:
    yield code
    branches = (
        f"<li><code>{text(each.words)}</code><span>{text(branch_rows(each))}</span></li>" for each in reading.branches
    )
    yield f'<ul class="branches">{"".join(branches)}</ul>'
    if n := reading.n_unanswered:
        yield caption(f"No answer on {counted(n, 'training row')}.")
    if found := reading.certificate:
        yield caption(capitalised(f"{certificate_words(found)}."))
        yield from map(caption, filter(None, (apart_words(found),)))
    for question in reading.questions:
        yield caption(question_words(question))


def apart_html(readings: Mapping[str, ProgramReading], texts: Mapping[str, str], seed_text: str) -> str:
    """Return the hypotheses of which the learner read some certified rows otherwise than their program, with the rows.

    Empty without any. readings, texts: by hypothesis id.
    """
    found = ((id_, apart_words(each.certificate)) for id_, each in readings.items() if each.certificate)
    parts = [hypothesis(texts[id_].removeprefix(seed_text).strip()) + caption(words) for id_, words in found if words]
    return heading("Where program and model part", "training rows that both read") + "".join(parts) if parts else ""


def code_html(code: str) -> str:
    """Return Python as escaped HTML, a span a line, with its keywords, strings and numbers marked."""
    lines = "".join(f"<span>{''.join(_marked(line))}</span>" for line in code.splitlines())
    return f'<pre class="raw code">{lines}</pre>'


def _marked(line: str) -> Iterator[str]:
    end = 0
    for found in _TOKEN.finditer(line):
        yield text(line[end : found.start()])
        kind, words, end = found.lastgroup, text(found[0]), found.end()
        kind = ("kw" if keyword.iskeyword(found[0]) else "") if kind == "word" else kind
        yield f'<i class="{kind}">{words}</i>' if kind else words
    yield text(line[end:])
