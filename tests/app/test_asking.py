"""Questions of pages: a row, a table, a trial, and inputs whose labels are informative."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import opening
from tests import inspected
from tests.app import screen
from tests.app.screen import app as app
from tests.app.screen import launched as launched
from tests.app.screen import names, press, shown
from tests.inspected import askable_labels, pair_run, run_of
from tests.llm.stub import refusal
from tests.processes import Model, wait_until
from tests.reporting import builders
from tests.trials.test_trial import A_ONLY, AND, DATA
from vpp.data.dataset import Row
from vpp.data.descriptions import Descriptions
from vpp.findings.asking import read_trial
from vpp.runs.asking import Asking, Background
from vpp.runs.directory import RunDirectory, RunReader

Opened = Callable[[RunReader], AppTest]
WITHIN_S = 60


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """The Posterior page of a run in the test's folder."""
    monkeypatch.setenv("VPP_CACHE_DIR", str(tmp_path / "cache"))

    def draw(reader: RunReader) -> AppTest:
        app = screen.app_over(tmp_path, monkeypatch)
        app.session_state["posterior.asking"] = True
        return screen.opened(app, reader, "posterior")

    return draw


def key(reader: RunReader, what: str) -> str:
    return f"posterior.ask.{what}.{reader.directory.id}"


def job(app: AppTest, reader: RunReader, what: str) -> Background[Asking]:
    found: Background[Asking] = app.session_state[key(reader, what)]
    return found


def page_after(app: AppTest, reader: RunReader, what: str) -> str:
    """Return the page once all have answered."""
    assert job(app, reader, what).wait(WITHIN_S)
    return shown(app.run())


def test_a_row_of_the_data_with_one_cell_changed_is_asked_about(opened: Opened, tmp_path: Path, served: Model) -> None:
    reader = askable_labels(tmp_path, served)
    app = opened(reader)
    assert "4 calls to the demo model" in shown(app)
    app.selectbox(key=key(reader, "from")).set_value(9).run()
    assert app.text_input(key=key(reader, "cell.0")).value == "9"
    app.text_input(key=key(reader, "cell.0")).set_value("8")
    press(app, "Ask about this row")
    # a = 8: EVEN, BIG and ODD say yes (0.4 + 0.3 + 0.1); PAIR, which the demo model cannot read, no (0.2).
    html = page_after(app, reader, "row")
    assert ">yes (80 %)<" in html
    assert "a is 8; the training rows have 0 to 3." in html
    app.switch_page("pages/report.py").run()
    app.switch_page("pages/posterior.py").run()
    assert ">yes (80 %)<" in shown(app)
    assert app.text_input(key=key(reader, "cell.0")).value == "8"


def test_an_invalid_row_is_refused_and_not_asked_about(opened: Opened, tmp_path: Path, served: Model) -> None:
    reader = askable_labels(tmp_path, served)
    app = opened(reader)
    for typed, said in (("eight", "takes a number, such as 0"), ("", "every field is empty")):
        app.text_input(key=key(reader, "cell.0")).set_value(typed)
        press(app, "Ask about this row")
        assert said in shown(app)
        assert 'role="alert"' in shown(app)
    assert served.asked == 0


def test_a_refusal_is_shown_with_its_reason_and_a_key_is_asked_for_once(
    opened: Opened, tmp_path: Path, served: Model
) -> None:
    served.refusal = refusal(401, "no such key")
    reader = askable_labels(tmp_path, served, model="large")
    app = with_table(opened(reader), reader, TABLE)
    app.text_input(key=key(reader, "cell.0")).set_value("8")
    press(app, "Ask about this row")
    page_after(app, reader, "row")
    press(app, "Ask about 6 rows")
    html = page_after(app, reader, "table")
    assert html.count("The hypotheses could not be asked") == 2
    assert "no such key" in html
    assert [field.label for field in app.text_input].count("Key, where the server wants one") == 1


def with_table(app: AppTest, reader: RunReader, content: bytes) -> AppTest:
    app.file_uploader(key=key(reader, "upload")).set_value(("new.csv", content, "text/csv"))
    return app.run()


TABLE = b"a\n" + b"".join(b"%d\n" % n for n in range(4, 10))


def test_a_table_is_asked_about_and_shown(opened: Opened, tmp_path: Path, served: Model) -> None:
    reader = pair_run(tmp_path, served)
    app = with_table(opened(reader), reader, TABLE)
    assert "12 calls to the demo model" in shown(app)
    press(app, "Ask about 6 rows")
    html = page_after(app, reader, "table")
    assert "<h3>new.csv</h3>" in html
    assert " of 6 rows are in doubt" in html
    assert "<td>yes (100 %)</td>" in html


def test_a_stop_keeps_the_rows_that_all_have_answered(opened: Opened, tmp_path: Path, served: Model) -> None:
    served.hold_after = 20
    reader = askable_labels(tmp_path, served)
    app = with_table(opened(reader), reader, TABLE)
    press(app, "Ask about 6 rows")
    asking = job(app, reader, "table")
    wait_until(lambda: asking.asking.done == 20, "20 of 24 questions are answered")
    app.run()
    assert "Ask about 6 rows" not in names(app)
    press(app, "Stop and keep")
    html = page_after(app, reader, "table")
    n = len(asking.asking.complete_rows().rows)
    assert 2 <= n <= 5
    assert f"{n} rows answered by every hypothesis are kept." in html


def test_a_trial_is_run_shown_and_offered_again(opened: Opened, tmp_path: Path, served: Model) -> None:
    reader = run_of(tmp_path, served, AND, A_ONLY, data=DATA)
    app = opened(reader)
    app.button(key="posterior.trial").click().run()
    assert "improvement over no rule" in page_after(app, reader, "trial")
    assert app.button(key="posterior.trial").label == "Test again"
    assert read_trial(reader.directory, reader.refresh().view)


MEANT = Descriptions(columns={"a": "hours of <sleep>"}, labels={"yes": "rested"})
ASK = "disagreement.settle.ask"
CONTINUE = "disagreement.settle.continue"


def run_with_unlabelled(folder: Path, cells: Sequence[int] = range(10, 34)) -> RunReader:
    """A run written by hand, described, and rows that came without a target, of these inputs: a = 10 to 33."""
    rows = tuple(Row(id=i, inputs=(("a", str(cell)),), target=None) for i, cell in enumerate(cells, 10))
    data = replace(inspected.LABELS, unlabelled=rows, descriptions=MEANT)
    return builders.run(folder, *inspected.label_events(), data=data, config=inspected.LABEL_CONFIG)


def ask(app: AppTest) -> AppTest:
    """Presses the button, and waits for the demo model."""
    app.button(key=ASK).click().run()
    wait_until(lambda: any(b.key == ASK for b in app.run().button), "the demo model has answered")
    assert not app.exception
    return app


def truths(app: AppTest) -> list[Any]:
    return [w for kind in ("selectbox", "text_input") for w in app.get(kind) if ".truth." in (w.key or "")]


def test_labels_are_asked_answered_and_gone_on_from(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launched: list[RunDirectory]
) -> None:
    monkeypatch.setattr(opening, "open_in", lambda *_: None)
    screen.opened(app, run_with_unlabelled(tmp_path), "disagreement")
    assert "24 of the 24 rows of your table that this run does not use." in shown(app)
    assert "made-up row" not in shown(app)
    html = shown(ask(app))
    assert "would tell something, the most informative first." in html
    assert re.search(r"row \d+ · 0\.\d\d bits", html)
    field = truths(app)[0]
    assert field.options == ["no", "yes"]
    field.set_value("yes").run()
    assert "Go on with 1 true answer" in shown(app)
    assert "has 1 training row more" in shown(app)
    assert "First hypotheses" not in shown(app)
    app.number_input(key=f"posterior.ask.n.{app.session_state['run']}").set_value(3).run()
    ask(app)
    assert "Go on with 1 true answer" in shown(app), "it stays when others are asked about"
    app.button(key=CONTINUE).click().run()
    assert not app.exception
    (directory,) = launched
    spec = directory.spec()
    assert spec.start == inspected.LABEL_SLOTS
    assert spec.config.final_weights == "train"
    data = RunReader(directory).dataset()
    assert (data.train[-1].id, data.train[-1].target) == (34, "yes")
    assert data.descriptions == MEANT


def test_each_input_keeps_its_own_answer(app: AppTest, tmp_path: Path) -> None:
    """Python gives -1 and -2 the same hash, so a hash cannot tell their rows apart."""
    ask(screen.opened(app, run_with_unlabelled(tmp_path, (-1, -2)), "disagreement"))
    if len(truths(app)) < 2:
        next(toggle for toggle in app.toggle if ".ask.all." in (toggle.key or "")).set_value(True).run()
    assert not app.exception
    truths(app)[0].set_value("no").run()
    truths(app)[1].set_value("yes").run()
    assert [field.value for field in truths(app)] == ["no", "yes"]
    assert "Go on with 2 true answers" in shown(app)
    truths(app)[0].set_value(None).run()
    assert "Go on with 1 true answer" in shown(app)


def test_a_label_of_the_table_is_taken_by_a_press(app: AppTest, tmp_path: Path) -> None:
    own = tuple(Row(id=20 + cell, inputs=(("a", str(cell)),), target="yes") for cell in (20, 21))
    data = replace(inspected.LABELS, unused=own)
    reader = builders.run(tmp_path, *inspected.label_events(), data=data, config=inspected.LABEL_CONFIG)
    screen.opened(app, reader, "disagreement")
    assert "2 of the 2 rows of your table that this run does not use." in shown(app)
    ask(app)
    next(box for box in app.checkbox if box.label == "Use yes").set_value(True).run()
    assert "Go on with 1 true answer" in shown(app)
