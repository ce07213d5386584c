"""The first minute: what the front page says, the finished example, empty pages, and what a form keeps."""

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import opening
from pages.parts.opening import EXAMPLES
from tests.app.screen import app as app
from tests.app.screen import names, opened, press, shown, upload
from tests.inspected import labels
from tests.reporting.builders import run
from vpp.runs.store import EXAMPLE, REAL_EXAMPLE, TEXT_EXAMPLE

TABLE = b"a,b,label\n" + b"".join(b"%d,%d,%d\n" % (i, i % 7, i % 2) for i in range(80))
OTHER = b"price,size\n" + b"".join(b"%d.5,%d\n" % (i, i % 9) for i in range(80))


def test_a_newcomer_sees_the_product_and_whoever_has_a_table_the_form(app: AppTest) -> None:
    app.run()
    assert f"<h1>{opening.PRODUCT}</h1>" in shown(app)
    assert names(app)[:2] == [opening.WATCH_LIVE, opening.FINISHED]
    assert f"{opening.live_words().capitalize()}, without a key" in shown(app)
    assert opening.live_words() == "about 30\N{NO-BREAK SPACE}s"
    upload(app, TABLE)
    assert "<h1>New run</h1>" in shown(app)
    assert opening.FINISHED not in names(app)


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (EXAMPLE, "run example-penguins"),
        (REAL_EXAMPLE, "qwen2.5-coder-1.5b"),
        (TEXT_EXAMPLE, "qwen2.5-coder-1.5b-instruct"),
    ],
)
def test_a_finished_example_opens_on_every_page_and_starts_nothing(
    app: AppTest, tmp_path: Path, run: str, says: str
) -> None:
    upload(app, TABLE)
    (menu,) = app.get("menu_button")
    menu.set_value(opening.SHIPPED_WORDS[run]).run()
    assert [path.name for path in tmp_path.iterdir()] == [run]
    assert says in shown(app)
    for page in ("posterior", "disagreement", "compare", "report"):
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception
        assert run in shown(app) + str([field.value for field in app.multiselect])
    shipped = sorted(path.name for path in (EXAMPLES / run).iterdir())
    assert sorted(path.name for path in (tmp_path / run).iterdir()) == shipped


def test_a_page_without_a_run_or_with_a_missing_one_says_how_to_begin(app: AppTest) -> None:
    app.run()
    for page in ("watch", "posterior", "disagreement", "compare", "report"):
        app.switch_page(f"pages/{page}.py").run()
        assert "No runs yet" in shown(app)
        assert names(app) == ["Look at a finished example", "Use my own CSV"]
        app.session_state["run"] = "20200101-0000-nothing-smc-0000"
        app.switch_page(f"pages/{page}.py").run()
        assert "This run cannot be opened" in shown(app), page
        assert "There is no run 20200101-0000-nothing-smc-0000 among the runs of this app" in shown(app), page
        assert names(app) == ["Look at a finished example", "Use my own CSV"], page


def test_a_name_that_a_run_has_already_gets_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    taken = []
    for name in ("toy", "toy", "toy 2", "toy 7"):
        directory = run(tmp_path / "made", name=opening.free_name(name)).directory
        taken.append(directory.spec().name)
        directory.path.rename(tmp_path / f"run-{len(taken)}")
    assert taken == ["toy", "toy 2", "toy 3", "toy 7"]


def test_a_run_without_results_leads_to_watch(app: AppTest, tmp_path: Path) -> None:
    reader = run(tmp_path)
    for page, said in (
        ("posterior", "No hypotheses yet"),
        ("disagreement", "have not been asked yet"),
        ("report", "Nothing to report yet"),
    ):
        assert said in shown(opened(app, reader, page)), page
        assert not app.get("download_button")
        assert "Ruled out" not in shown(app)
        assert "Ask the posterior" not in shown(app)
    press(app, "Watch the run")
    assert ">Interrupted</span>" in shown(app), "no worker was started for it"


def test_a_table_and_its_fields_stay_after_another_page_until_it_is_replaced(app: AppTest) -> None:
    upload(app, TABLE, "mine.csv")
    app.number_input(key="new.test").set_value(20)
    app.selectbox(key="new.target").set_value("b").run()
    app.switch_page("pages/watch.py").run()
    app.switch_page("pages/new_run.py").run()
    assert not app.exception
    assert "<b>mine.csv</b>" in shown(app)
    assert (app.number_input(key="new.test").value, app.selectbox(key="new.target").value) == (20, "b")
    upload(app, OTHER, "other.csv")
    assert "<b>other.csv</b>" in shown(app)
    assert "<b>mine.csv</b>" not in shown(app)
    assert "new.file.upload" not in [field.key for field in app.file_uploader]


def test_a_run_is_renamed_and_deleted(app: AppTest, tmp_path: Path) -> None:
    reader = labels(tmp_path)
    app.session_state["this_run"] = True
    opened(app, reader, "watch")
    app.text_input(key=f"this_run.name.{reader.directory.id}").set_value("Halves <b>")
    press(app, "Rename the run")
    assert reader.directory.spec().name == "Halves <b>"
    assert "<h1>Halves &lt;b&gt;</h1>" in shown(app)
    assert f"Run {reader.directory.id}: its hypotheses" in shown(app)
    press(app, "Delete it for good")
    assert not reader.directory.path.exists()
    assert f"Deleted run {reader.directory.id}." in shown(app)
    assert "No runs yet" in shown(app)


def test_a_run_is_started_again_on_its_rows_with_its_settings(app: AppTest, tmp_path: Path) -> None:
    reader = labels(tmp_path)
    spec = reader.directory.spec()
    reader.directory.amend(config=replace(spec.config, epsilon="0.125", prior="Say yes often."))
    app.session_state["this_run"] = True
    opened(app, reader, "watch")
    press(app, "Start again with changes")
    assert f"run {reader.directory.id}</p>" in shown(app)
    assert not app.warning
    assert app.text_input(key="new.option.epsilon").value == "0.125"
    assert app.text_area(key="new.option.prior").value == "Say yes often."
    assert app.number_input(key="new.option.batch_size").value == spec.config.batch_size
    app.switch_page("pages/new_run.py").run()
    press(app, "Use another table")
    assert app.file_uploader
