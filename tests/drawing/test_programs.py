"""A program on its card, a sentence without one, and the branch that decided a row."""

import re
from dataclasses import replace
from pathlib import Path

from tests.inspected import MOOD, SHORT, programs
from tests.reporting.builders import evaluated
from vpp.drawing.idea_deck import ideas_html
from vpp.drawing.matrix import Opened
from vpp.drawing.programs import apart_html, code_html, exception_html, program_html
from vpp.findings.ideas import merge_ideas
from vpp.findings.points import by_answers, points
from vpp.findings.programs import Apart, Certificate, ProgramReading, program_readings
from vpp.findings.step import Cards
from vpp.programs.source import read_program
from vpp.runs.reader import RunReader
from vpp.show.deck import deck_html
from vpp.wording.programs import MOST_APART, apart_words

TAG = re.compile(r"<[^>]+>")
FOLD = 'data-fold="program"><summary>program</summary><pre class="raw code">'
IN_FOLD = (
    "<li><code>otherwise: &#x27;no&#x27;</code><span>1 of 2 rows right</span></li>",
    "No answer on 1 training row.",
    "The model reads it alike on 1 of 2 rows",
    "Row 1: no by the program, no answer by the model. The sentence may have two meanings.",
    "“is it `short`?” (a): yes for 1 of 3 texts",
)


def readings(reader: RunReader) -> dict[str, ProgramReading]:
    return program_readings(reader.refresh().view, reader.read_answers(), reader.dataset())


def test_cards_have_a_fold_with_the_program_or_say_why_there_is_none(tmp_path: Path) -> None:
    reader = programs(tmp_path)
    snapshot, data, found = reader.refresh(), reader.dataset(), readings(reader)
    cards = Cards(snapshot.view, snapshot.spec.config, data).end()
    extra = {card.number: (exception_html(found.get(card.id)), program_html(found.get(card.id))) for card in cards}
    ideas = merge_ideas(snapshot.view, data)
    assert ideas is not None
    for html in (deck_html(cards, extra=extra), ideas_html(ideas, seed_text="", readings=found)):
        assert html.count(FOLD) == 1
        assert all(words in html for words in IN_FOLD)
        assert "read row by row: *no program*" in html


def test_a_sentence_that_is_not_read_yet_or_always_by_row_says_nothing() -> None:
    for silent in (None, ProgramReading(by="nothing"), ProgramReading(by="rows")):
        assert exception_html(silent) == program_html(silent) == ""
    assert "the model says &lt;no&gt;" in exception_html(ProgramReading(by="rows", reason="the model says <no>"))


def test_code_is_escaped_and_keeps_its_text() -> None:
    text = "def predict(a):\n    if a != 'x</pre><script>\"' and a > 1.5e3: return 'not'\n    return '''b\n'''"
    code = read_program(text, ("a",)).code
    html = code_html(code)
    assert "<script>" not in html
    assert '<i class="kw">return</i> <i class="str">&#x27;not&#x27;</i>' in html
    assert '<i class="num">1500.0</i>' in html
    plain = "\n".join(TAG.sub("", line) for line in html.split("</span>")[:-1])
    assert plain == code.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#x27;").replace('"', "&quot;")


def test_only_the_first_rows_read_in_two_ways_are_named() -> None:
    words = apart_words(Certificate(n=10, apart=tuple(Apart(row, 0.5, 1.0) for row in range(MOST_APART + 2))))
    assert words.startswith("Row 0: 0.5 by the program, 1 by the model.")
    assert " 2 more rows. " in words
    assert apart_words(Certificate(n=10, apart=())) == ""


def test_a_row_in_dispute_names_the_branch_that_decided(tmp_path: Path) -> None:
    reader = programs(tmp_path)
    said = {SHORT: ["yes", "no", "yes", "no", "no", "no"], MOOD: ["no"] * 6}
    test = evaluated(reader.dataset(), said, slots=(SHORT, MOOD))
    test = replace(test, branches=(tuple(int(answer == "no") for answer in said[SHORT]), ()))
    view, found = reader.refresh().view, readings(reader)
    opened = Opened(test=test, view=view, columns=by_answers(test), held="weight", readings=found)
    first = next(point for point in points(test, reader.dataset()) if point.row.id == test.rows[0])
    html = opened.html(first)
    branch = "ask(&#x27;is it `short`?&#x27;, a): &#x27;yes&#x27;"
    assert html.count("branch <code>") == 1, "the other sentence has no program"
    assert f"branch <code>{branch}</code>" in html
    assert f"<td>{branch}</td>" in opened.answers_html(first, {}), "in place of a reason"
    apart = apart_html(found, view.texts, view.seed_text)
    assert apart.count('<p class="hyp">') == 1
    assert IN_FOLD[3] in apart
    assert apart_html({}, view.texts, view.seed_text) == ""
