"""Names, labels, cells, hypotheses, answers and reasons that contain HTML are shown as text by every drawing."""

from dataclasses import replace
from pathlib import Path

from tests.asked import told_labels
from tests.beside import side_by_side
from tests.inspected import LABELS
from tests.reporting.builders import dataset, proposed, run
from tests.reporting.test_markdown import smc_run
from tests.show.every_page import draw_all
from vpp.data.labelling import input_fields
from vpp.events import Proposed
from vpp.findings.baselines import baselines
from vpp.findings.comparison import settings as settings_of
from vpp.findings.comparison import standings
from vpp.findings.new_rows import answer_blocks, answers_table, question_row
from vpp.findings.points import votes_on
from vpp.runs.journal import RunReader
from vpp.show.blocks import Table
from vpp.show.markup import html

BAD = '"><img src=x onerror="alert(1)"> **b** </td>'
DATA = dataset([f"{BAD} 1", f"{BAD} 2"] * 2, [f"{BAD} 1", f"{BAD} 2"], name=f"column {BAD}", target=BAD)


def hostile(folder: Path) -> RunReader:
    """A run whose every text is hostile, with an answer that could not be read."""
    texts = (f"first {BAD}", f"second {BAD}")
    unread = proposed(1, 0, texts[0], None, why="unparsable", raw=BAD + "x" * 400, reason=BAD)
    events = [
        unread if isinstance(event, Proposed) and (event.step, event.particle) == (1, 0) else event
        for event in smc_run(DATA, texts)
    ]
    return run(folder, *events, data=DATA, name=BAD)


def of_two_runs(first: RunReader, second: RunReader) -> list[str]:
    pair = side_by_side(first, second)
    head = ("setting", "A", "B")
    settings = Table(head=head, rows=[(name, *values) for name, values in settings_of(pair.runs).items()])
    return [html(standings(pair, baselines(DATA))), html([settings])]


def of_new_rows() -> list[str]:
    answers = replace(told_labels(), texts=(BAD,) * 4)
    vote = votes_on(answers)[0]
    vote = replace(vote, row=replace(vote.row, inputs=((BAD, BAD),)), prediction=BAD)
    blocks = answer_blocks(vote, answers, LABELS, input_fields(LABELS), "", is_weighted=True)
    question = question_row(replace(vote, bits=0.5), (BAD,), LABELS, BAD)
    return [html([answers_table([vote], LABELS)]), html(blocks), html(question)]


def test_every_drawing_shows_html_as_text(tmp_path: Path) -> None:
    one = hostile(tmp_path / "a")
    drawn = [*draw_all(one), *of_two_runs(one, hostile(tmp_path / "b")), *of_new_rows()]
    assert [n for n, html in enumerate(drawn) if "<img" in html] == []
    assert sum("&lt;img" in html for html in drawn) >= 16
