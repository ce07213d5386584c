"""Names, labels, cells, hypotheses, answers and reasons that contain HTML are shown as text by every drawing."""

from dataclasses import replace
from pathlib import Path

from tests.asked import told_labels
from tests.beside import side_by_side
from tests.drawing.every_page import draw_all
from tests.drawing.test_settling import BOTH, question
from tests.inspected import LABELS
from tests.reporting.builders import dataset, proposed, run
from tests.reporting.test_markdown import smc_run
from vpp.drawing.answering import answers_html, preview_html, question_html, vote_html
from vpp.drawing.comparison import conditions_html, legend_html, standings_html
from vpp.events import Proposed
from vpp.findings.baselines import baselines
from vpp.findings.comparison import conditions
from vpp.findings.options import has_effect
from vpp.findings.points import Contender, votes_on
from vpp.runs.reader import RunReader

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
    runs = dict(enumerate(pair.runs))
    return [
        standings_html(pair, baselines(DATA)),
        legend_html(runs),
        conditions_html(conditions(pair.runs, used=has_effect), (0, 1), reference=0, name="all"),
    ]


def of_new_rows() -> list[str]:
    answers = replace(told_labels(), texts=(BAD,) * 4)
    vote = votes_on(answers)[0]
    vote = replace(vote, row=replace(vote.row, inputs=((BAD, BAD),)), prediction=BAD)
    held = [Contender(text=BAD, slots=(0,), weight=0.6)]
    asked = replace(question(*BOTH), row=vote.row)
    return [
        preview_html([vote], LABELS, is_weighted=True),
        answers_html(vote, answers.texts, seed_text="", is_weighted=True),
        vote_html(vote, LABELS, is_weighted=True),
        question_html(asked, held, LABELS, name=BAD, seed_text="", is_weighted=True),
    ]


def test_every_drawing_shows_html_as_text(tmp_path: Path) -> None:
    one = hostile(tmp_path / "a")
    drawn = [*draw_all(one), *of_two_runs(one, hostile(tmp_path / "b")), *of_new_rows()]
    assert [n for n, html in enumerate(drawn) if "<img" in html] == []
    assert sum("&lt;img" in html for html in drawn) >= 16
