"""Questions of the Posterior page: a row, a table, a stop, a refusal, a trial."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app import screen
from tests.app.screen import app as app
from tests.app.screen import names, press, shown
from tests.inspected import askable_labels, pair_run, run_of
from tests.llm.stub import refusal
from tests.processes import Model, wait_until
from tests.trials.test_trial import A_ONLY, AND, DATA
from vpp.findings.experiments import read_trial
from vpp.runs.asking import Asking, Background
from vpp.runs.journal import RunReader

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


def ended(app: AppTest, reader: RunReader, what: str) -> str:
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
    html = ended(app, reader, "row")
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
    app = uploaded(opened(reader), reader, TABLE)
    app.text_input(key=key(reader, "cell.0")).set_value("8")
    press(app, "Ask about this row")
    ended(app, reader, "row")
    press(app, "Ask about 6 rows")
    html = ended(app, reader, "table")
    assert html.count("The hypotheses could not be asked") == 2
    assert "no such key" in html
    assert [field.label for field in app.text_input].count("Key, where the server wants one") == 1


def uploaded(app: AppTest, reader: RunReader, content: bytes) -> AppTest:
    app.file_uploader(key=key(reader, "upload")).set_value(("new.csv", content, "text/csv"))
    return app.run()


TABLE = b"a\n" + b"".join(b"%d\n" % n for n in range(4, 10))


def test_a_table_is_asked_about_and_shown(opened: Opened, tmp_path: Path, served: Model) -> None:
    reader = pair_run(tmp_path, served)
    app = uploaded(opened(reader), reader, TABLE)
    assert "12 calls to the demo model" in shown(app)
    press(app, "Ask about 6 rows")
    html = ended(app, reader, "table")
    assert "<h3>new.csv</h3>" in html
    assert " 6 rows are in doubt: on" in html
    assert "<td>yes (100 %)</td>" in html


def test_a_stop_keeps_the_rows_that_all_have_answered(opened: Opened, tmp_path: Path, served: Model) -> None:
    served.hold_after = 20
    reader = askable_labels(tmp_path, served)
    app = uploaded(opened(reader), reader, TABLE)
    press(app, "Ask about 6 rows")
    asking = job(app, reader, "table")
    wait_until(lambda: asking.asking.done == 20, "20 of 24 questions are answered")
    app.run()
    assert "Ask about 6 rows" not in names(app)
    press(app, "Stop and keep")
    html = ended(app, reader, "table")
    kept = len(asking.asking.whole().rows)
    assert 2 <= kept <= 5
    assert f"{kept} rows answered by every hypothesis are kept." in html


def test_a_trial_is_run_shown_and_offered_again(opened: Opened, tmp_path: Path, served: Model) -> None:
    reader = run_of(tmp_path, served, AND, A_ONLY, data=DATA)
    app = opened(reader)
    app.button(key="posterior.trial").click().run()
    assert "improvement over no rule" in ended(app, reader, "trial")
    assert app.button(key="posterior.trial").label == "Test again"
    assert read_trial(reader.directory, reader.refresh().view)
