"""A program on its card, a sentence without one, and the branch that decided a row."""

import re
from dataclasses import replace
from pathlib import Path

from tests.inspection.test_programs import CODE, MOOD, SMALL, program, readings
from tests.reporting.builders import YES_NO, drawn, evaluated, run, started
from vpp.drawing.cards import CardMaker
from vpp.drawing.deck import deck_html
from vpp.drawing.matrix import Opened
from vpp.drawing.programs import code_html, exception_html, program_html
from vpp.events import Certified, hypothesis_id
from vpp.inspection.points import by_answers, points
from vpp.inspection.programs import Certificate, ProgramReading, QuestionShare
from vpp.programs.source import read_program
from vpp.runs.prompts import PromptMaker
from vpp.settings import Config
from vpp.wording.programs import MOST_APART, apart_words, branch_words

TAG = re.compile(r"<[^>]+>")
TRAIN = replace(
    evaluated(YES_NO, {SMALL: ["yes", "no", "no", None]}, slots=(SMALL,), split="train"), branches=((0, 1, 1, None),)
)


def test_a_card_has_the_program_with_its_branches_and_its_certificate(tmp_path: Path) -> None:
    id_ = hypothesis_id(SMALL)
    certified = Certified(step=1, hypothesis=id_, rows=(0, 1), program=("yes", "no"), reading=("yes", None))
    reader = run(tmp_path, started(Config(), YES_NO), *drawn(SMALL), TRAIN, certified)
    [reading] = readings(reader, program(SMALL, CODE))
    snapshot = reader.refresh()
    maker = CardMaker(
        snapshot.view, snapshot.spec.config, YES_NO, PromptMaker(snapshot.spec, YES_NO), readings={id_: reading}
    )
    html = deck_html(maker.final(), seed_text="")
    assert 'data-fold="program"><summary>program</summary><pre class="raw code">' in html
    assert "<li><code>a &lt; 1: &#x27;yes&#x27;</code><span>1 of 1 row right</span></li>" in html
    assert "No answer on 1 training row." in html
    assert "The model reads it alike on 1 of 2 rows" in html
    assert "Row 1: no by the program, no answer by the model. The sentence may have two meanings." in html


def test_a_sentence_without_a_program_says_so_and_has_no_fold() -> None:
    reading = ProgramReading(by="rows", reason="the model says <no>")
    assert "read row by row: the model says &lt;no&gt;" in exception_html(reading)
    assert program_html(reading) == ""
    for silent in (None, ProgramReading(by="nothing"), ProgramReading(by="rows")):
        assert exception_html(silent) == program_html(silent) == ""


def test_code_is_escaped_and_keeps_its_text() -> None:
    code = read_program(
        "def predict(a):\n    if a != 'x</pre><script>\"' and a > 1.5e3: return 'not'\n    return '''b\n'''", ("a",)
    ).code
    html = code_html(code)
    assert "<script>" not in html
    assert '<i class="kw">return</i> <i class="str">&#x27;not&#x27;</i>' in html
    assert '<i class="num">1500.0</i>' in html
    plain = "\n".join(TAG.sub("", line) for line in html.split("</span>")[:-1])
    assert plain == code.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#x27;").replace('"', "&quot;")


def test_a_question_about_texts_has_its_share_of_yes() -> None:
    source = read_program("def predict(a):\n    return 'yes' if ask('kind?', a) else 'no'", ("a",), frozenset({"a"}))
    share = QuestionShare(question="kind?", column="a", n=4, n_yes=1)
    html = program_html(ProgramReading(by="program", program=source, questions=(share,)), "2-")
    assert "kind? (a): yes for 1 of 4 texts" in html
    assert 'data-fold="2-program"' in html, "of a particle in a stack"


def test_guards_against_missing_cells_are_no_part_of_a_branch_in_words() -> None:
    assert branch_words("a is not None and a < 1 and (b is not None and b > 2): 'x'") == "a < 1 and (b > 2): 'x'"
    assert branch_words("a is not None: 'x'") == "a is not None: 'x'"


def test_only_the_first_rows_read_in_two_ways_are_named() -> None:
    apart = tuple((row, 0.5, 1.0) for row in range(MOST_APART + 2))
    words = apart_words(Certificate(n=10, apart=apart))
    assert words.startswith("Row 0: 0.5 by the program, 1 by the model.")
    assert words.endswith("2 more rows. The sentence may have two meanings.")
    assert apart_words(Certificate(n=10, apart=())) == ""


def test_a_row_in_dispute_names_the_branch_that_decided(tmp_path: Path) -> None:
    said = {SMALL: ["yes", "no", "no", "yes"][: len(YES_NO.test)], MOOD: ["no"] * len(YES_NO.test)}
    test = evaluated(YES_NO, said, slots=(SMALL, MOOD))
    test = replace(test, branches=(tuple(int(answer == "no") for answer in said[SMALL]), ()))
    reader = run(tmp_path, started(Config(), YES_NO), *drawn(SMALL, MOOD), test)
    found = readings(reader, program(SMALL, CODE), program(MOOD, None, "no program"))
    by_id = dict(zip(test.hypotheses, found, strict=True))
    view = reader.refresh().view
    opened = Opened(test=test, view=view, columns=by_answers(test), held="weight", readings=by_id)
    first = next(point for point in points(test, YES_NO) if point.row.id == test.rows[0])
    html = opened.html(first)
    assert html.count("branch <code>") == 1, "the other sentence has no program"
    assert "branch <code>a &lt; 1: &#x27;yes&#x27;</code>" in html
    assert "<td>a &lt; 1: &#x27;yes&#x27;</td>" in opened.answers_html(first, {}), "in place of a reason"
