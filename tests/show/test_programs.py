"""A program on its card, a sentence without one, and the branch that decided a row."""

from dataclasses import replace
from pathlib import Path

from tests.inspected import MOOD, SHORT, programs
from tests.reporting.builders import evaluated
from vpp.findings.points import points
from vpp.findings.programs import (
    MOST_APART,
    Apart,
    Certificate,
    ProgramReading,
    apart_words,
    program_folds,
    program_readings,
)
from vpp.findings.rows import Rows, opened_row
from vpp.findings.step import Cards
from vpp.programs.source import read_program
from vpp.runs.reader import RunReader
from vpp.show.blocks import Code
from vpp.show.cards import Deck
from vpp.show.render import block_html, html

FOLD = 'data-fold="program"><summary>program</summary><pre class="raw">'
IN_FOLD = (
    "<td>otherwise: &#x27;no&#x27;</td><td>1 of 2 rows right</td>",
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
    drawn = html([Deck([replace(card, folds=program_folds(found.get(card.id))) for card in cards])])
    assert drawn.count(FOLD) == 1
    assert all(words in drawn for words in IN_FOLD)
    assert "Read row by row: *no program*" in drawn


def test_a_sentence_that_is_not_read_yet_or_always_by_row_says_nothing() -> None:
    for silent in (None, ProgramReading(by="nothing"), ProgramReading(by="rows")):
        assert program_folds(silent) == ()
    row_by_row = ProgramReading(by="rows", reason="the model says <no>")
    assert "the model says &lt;no&gt;" in html(program_folds(row_by_row))


def test_code_is_escaped_and_keeps_its_text() -> None:
    text = "def predict(a):\n    if a != 'x</pre><script>\"' and a > 1.5e3: return 'not'\n    return '''b\n'''"
    code = read_program(text, ("a",)).code
    plain = code.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#x27;").replace('"', "&quot;")
    assert block_html(Code(code)) == f'<pre class="raw">{plain}</pre>'


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
    data, found = reader.dataset(), readings(reader)
    every = tuple(points(test, data))
    rows = Rows(test=test, points=every, dataset=data, measure="weight", texts=(SHORT, MOOD), columns=data.inputs)
    first = next(point for point in rows.points if point.row.id == test.rows[0])
    drawn = html(opened_row(rows, first, reasons={}, readings=found))
    branch = "ask(&#x27;is it `short`?&#x27;, a): &#x27;yes&#x27;"
    assert drawn.count("branch <code>") == 1, "the other sentence has no program"
    assert f"branch <code>{branch}</code>" in drawn
    assert f"<td>{branch}</td>" in drawn, "in place of a reason"
