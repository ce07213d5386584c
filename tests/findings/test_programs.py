"""How hypotheses are read: branches with their rows, certificates and questions, from recorded lines."""

from dataclasses import replace
from pathlib import Path

from tests.inspected import MOOD, SHORT, programs, translate
from tests.reporting.builders import NUMBERS, SEED, YES_NO, drawn, evaluated, run, scored, started
from vpp.events import Certified, hypothesis_id
from vpp.findings.hypotheses import deck, hypotheses_of
from vpp.findings.points import points
from vpp.findings.programs import (
    Apart,
    ProgramReading,
    branch_of,
    branch_rows,
    certificate_words,
    program_folds,
    program_readings,
    question_words,
)
from vpp.findings.rows import Rows, opened_row
from vpp.findings.step import Names
from vpp.runs.directory import RunReader
from vpp.settings import Config
from vpp.show.markup import html, lines

SMALL, NEW = f"{SEED} Small a is yes.", f"{SEED} Never read."
ROUND = "def predict(a):\n    return a / 3"


def readings(reader: RunReader, codes: dict[str, str | None] | None = None) -> dict[str, ProgramReading]:
    """Return how hypotheses are read, by id. codes: programs that the run gets before."""
    translate(reader, codes or {})
    return program_readings(reader.refresh().view, reader.read_answers(), reader.dataset())


def said(reading: ProgramReading) -> str:
    """Why there is no program."""
    return " ".join(lines(block for fold in program_folds(reading) for block in fold.blocks))


def test_branches_have_their_rows_certificates_the_rows_read_otherwise_and_questions_their_texts(
    tmp_path: Path,
) -> None:
    reader = programs(tmp_path)
    short, mood = (found := readings(reader)).values()
    assert [branch.words for branch in short.branches] == ["ask('is it `short`?', a): 'yes'", "otherwise: 'no'"]
    assert [branch_rows(branch) for branch in short.branches] == ["1 of 1 row right", "1 of 2 rows right"]
    assert short.n_unanswered == 1
    assert short.apart == (Apart(1, "no", None),)
    assert certificate_words(short).startswith("The model reads it alike on 1 of 2 rows (9\xa0% to 91\xa0%). Row 1: ")
    assert short.as_json()["certificate"] == {
        "n": 2,
        "n_alike": 1,
        "apart": [{"row": 1, "program": "no", "reading": None}],
    }
    assert (certificate_words(mood), mood.as_json()["certificate"]) == ("", None)
    assert list(map(question_words, short.questions)) == ["“is it `short`?” (a): yes for 1 of 3 texts (33\xa0%)"]
    assert said(mood) == "Read row by row: the model says that no program can follow it."
    train = reader.refresh().view.evaluations["train"]
    assert [[branch_of(train, slot, row) for row in train.rows] for slot in (0, 1)] == [[0, 1, 1, None], [None] * 4]
    view, every = reader.refresh().view, hypotheses_of(reader.refresh().view, reader.dataset())
    drawn = html([deck(every, view, reader.refresh().spec.config, found, Names(view).end(every))])
    assert drawn.count('data-fold="program"><summary>program</summary><pre class="raw">') == 1
    for words in (
        "<td>otherwise: &#x27;no&#x27;</td><td>1 of 2 rows right</td>",
        "No answer on 1 training row.",
        "Row 1: no by the program, no answer by the model. The sentence may have two meanings.",
    ):
        assert words in drawn


def test_branches_of_numbers_have_a_mean_error_and_a_rounded_reading_is_alike(tmp_path: Path) -> None:
    """The run is not evaluated yet, so figures come from the last score."""
    first, last = (
        scored(step, 0, SMALL, answers) for step, answers in ((0, {0: 9.0}), (1, {0: 0.0, 1: 1 / 3, 2: 2 / 3}))
    )
    third = Certified(step=1, hypothesis=hypothesis_id(SMALL), rows=(1, 2), program=(1 / 3, 2 / 3), reading=(0.33, 0.6))
    events = started(Config(), NUMBERS), *drawn(SMALL), replace(first, branches=(0,)), replace(last, branches=(0, 0, 0))
    [found] = readings(run(tmp_path, *events, third, data=NUMBERS), {SMALL: ROUND}).values()
    assert [branch_rows(branch) for branch in found.branches] == ["3 rows, off by 0.667 on average"]
    assert (found.n_certified, found.apart) == (2, (Apart(2, 2 / 3, 0.6),))


def test_a_hypothesis_without_a_program_says_why(tmp_path: Path) -> None:
    for way, words in {"auto": "Read row by row: ", "program": "No answers: "}.items():
        found = readings(run(tmp_path / way, started(Config(reading=way), YES_NO), *drawn(MOOD, NEW)), {MOOD: None})
        assert list(map(said, found.values())) == [f"{words}the model says that no program can follow it.", ""]
    by_row = readings(run(tmp_path / "rows", started(Config(reading="rows"), YES_NO), *drawn(MOOD)))
    assert list(map(said, by_row.values())) == [""]


def test_a_row_in_dispute_names_the_branch_that_decided(tmp_path: Path) -> None:
    reader = programs(tmp_path)
    said = {SHORT: ["yes", "no", "yes", "no", "no", "no"], MOOD: ["no"] * 6}
    test = evaluated(reader.dataset(), said, slots=(SHORT, MOOD))
    test = replace(test, branches=(tuple(int(answer == "no") for answer in said[SHORT]), ()))
    data, found = reader.dataset(), readings(reader)
    every = tuple(points(test, data))
    rows = Rows(test=test, points=every, dataset=data, is_weighted=True, texts=(SHORT, MOOD), columns=data.inputs)
    first = next(point for point in rows.points if point.row.id == test.rows[0])
    drawn = html(opened_row(rows, first, reasons={}, readings=found))
    branch = "ask(&#x27;is it `short`?&#x27;, a): &#x27;yes&#x27;"
    assert drawn.count("branch <code>") == 1, "the other sentence has no program"
    assert f"branch <code>{branch}</code>" in drawn
