"""The pages of a run at any moment, and of several runs side by side, without a browser."""

import re
import shutil
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.screen import app as app
from tests.app.screen import names, opened, press, shown
from tests.findings.test_points import calibrated_labels
from tests.inspected import LABEL_CONFIG, LABELS, all_right, label_events, other, under
from tests.reporting.builders import USAGE, YES_NO, run
from tests.sampled import VARIANTS, kept_run, write
from vpp.events import RunFailed, RunPaused, RunResumed
from vpp.findings.step import Cards, Names
from vpp.runs.directory import Heartbeat, Journal, RunDirectory, RunReader
from vpp.show import markup
from vpp.show.blocks import Deck


def test_a_finished_run_is_read_from_its_hypotheses_to_what_was_ruled_out(app: AppTest, tmp_path: Path) -> None:
    page = shown(opened(app, inspected.labels(tmp_path), "posterior"))
    for words in ("One hypothesis has 60 % of the weight; two others share the rest.", markup.DEMO_CHIP):
        assert words in page
    sections = re.findall(r"<h2><button[^>]*>([^<]+)|<h2>([^<]+)", page)
    assert ["".join(names) for names in sections] == [
        "Hypotheses",
        "Ask about new rows",
        "Does the model obey the rule?",
        "Ruled out",
        "Weight by step",
    ]
    assert "Hypothesis 1 ends heaviest, with 60 %." in page
    ledger = page[page.index('class="ledger"') :]
    assert ">Sorry.</span>" in ledger
    assert "holds a 7" not in ledger, "the newest three are shown"
    assert not app.warning


def rows(html: str) -> list[str]:
    return re.findall(r'<tr data-row="(\d+)"', html)


def test_figures_come_first_then_the_split_rows_the_most_divided_of_them_open(app: AppTest, tmp_path: Path) -> None:
    html = shown(opened(app, inspected.labels(tmp_path), "disagreement"))
    assert "On 1 of 6 test rows the answer is “I don’t know”: no label has two thirds of the probability." in html
    places = [html.index(words) for words in ("On 1 of 6", "Right where answered", "sure and wrong", "Row by")]
    assert places == sorted(places)
    assert "Say yes if a is <mark>above 6,</mark> else no." in html
    assert rows(html) == ["8", "7", "9"]
    assert html.count('aria-expanded="true" aria-label="Row 8"') == 1
    assert "Most informative labels to collect" in html
    app.segmented_control(key="disagreement.which").set_value("All").run()
    app.session_state["disagreement.row"] = 6
    press(app, "Show 2 more")
    html = shown(app)
    assert rows(html) == ["8", "7", "9", "4", "5", "6"]
    assert html.count('aria-expanded="true" aria-label="Row 6"') == 1
    assert "10 % of the weight gave no readable answer: the answer has no “Output:” line." in html
    app.segmented_control(key="disagreement.which").set_value("Wrong").run()
    assert rows(shown(app)) == ["9"]


def test_a_calibrated_run_says_what_is_possible_and_what_was_promised(app: AppTest, tmp_path: Path) -> None:
    html = shown(opened(app, calibrated_labels(tmp_path, wrong=3), "disagreement"))
    assert "On 6 of 6 test rows the answer is “I don’t know”: several labels are possible." in html
    assert "With 10 calibration rows, each of another group, the truth is possible for at least 90 % of" in html
    assert "The truth was possible on 6 of 6 rows." in html
    assert "I don’t know: one of no, yes" in html


def test_numbers_have_their_own_figures_and_table(app: AppTest, tmp_path: Path) -> None:
    html = shown(opened(app, reader := inspected.numbers(tmp_path), "disagreement"))
    assert "On 3 of 4 test rows the hypotheses’ answers spread by more than a tenth of the target’s spread." in html
    assert "90 % ranges hold the truth on 4 of 4 rows. Few rows: this tells little." in html
    assert rows(html) == ["7", "6", "4"]
    assert "above the mean" in html
    assert "2.67 (2 to 4)" in html
    assert "ended before its first hypotheses" not in shown(opened(app, reader, "watch"))


def test_two_pages_and_their_files_are_offered(app: AppTest, tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    labels = ["Download the report (HTML)", "Markdown", "Posterior as JSON", "Predictions as CSV"]
    assert [button.proto.label for button in opened(app, reader, "report").get("download_button")] == labels
    page = shown(app)
    assert page.count("Right on 4 of 5 test rows that it answered") == 1
    assert "Rows in doubt or wrong" in page
    assert "The command that repeats the run" not in page


UNFINISHED = label_events()[:-3]


def test_a_run_without_its_endpoint_says_when_it_tries_again_and_can_be_asked_to(app: AppTest, tmp_path: Path) -> None:
    at = time.time() + 500
    lost = RunPaused(reason="endpoint", detail="m: no <connection>", retry_at=at, gives_up_at=at + 600)
    reader = run(tmp_path, *UNFINISHED, lost, data=LABELS, config=LABEL_CONFIG)
    with reader.directory.lock():
        reader.directory.beat(Heartbeat())
        opened(app, reader, "watch")
        html = shown(app)
        assert "The endpoint does not answer" in html
        assert ">m: no &lt;connection&gt;<" in html
        assert f"(at {time.strftime('%H:%M:%S', time.localtime(at))}); gives up at " in html
        assert [button.label for button in app.button if button.key == "watch.go_on"] == ["Try again now"]
        app.button(key="watch.go_on").click().run()
    assert reader.directory.command() == "go on"


def test_a_stop_keeps_the_step_in_view_while_the_test_rows_are_evaluated(app: AppTest, tmp_path: Path) -> None:
    """The worker goes back to the last complete step before it evaluates that."""
    reader = run(tmp_path, *label_events()[:26], data=LABELS, config=LABEL_CONFIG)
    with reader.directory.lock():
        reader.directory.beat(Heartbeat())
        assert '"title": "Step 2 of 2"' in shown(opened(app, reader, "watch"))
        app.button(key="watch.stop").click().run()
        assert reader.directory.command() == "stop"
        assert names(app)[:2] == ["Skip the test rows", "Stopping…"]
        sent = reader.directory.control.stat().st_mtime_ns
        stop = app.button(key="watch.stop")
        stop.proto.disabled = False  # as it is until the page answers
        stop.click().run()
        assert reader.directory.control.stat().st_mtime_ns == sent
        app.button(key="watch.skip").click().run()
        assert reader.directory.control.stat().st_mtime_ns > sent
        journal = Journal(reader.directory.journal)
        journal.add(RunResumed(step=0), usage=USAGE)
        journal.close()
        html = shown(app.run())
    assert '"title": "Step 2 of 2"' in html
    assert "Stopping: the test rows are evaluated" in html
    assert ". The verdict comes at the end" in html


def test_a_full_disk_is_shown_beside_the_way_to_go_on(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = RunFailed(reason="disk", detail="runs/a cannot be written (the disk is full): free some space")
    reader = run(tmp_path, *UNFINISHED, full, data=LABELS, config=LABEL_CONFIG)
    opened(app, reader, "watch")
    assert "runs/a cannot be written (the disk is full): free some space" in shown(app)
    assert [button.label for button in app.button if button.key == "watch.resume"] == ["Resume"]
    monkeypatch.setattr("vpp.runs.process.start", refuse)
    app.button(key="watch.resume").click().run()
    assert "That could not be done" in shown(app)


def refuse(_: object, log: Path, *__: object, **___: object) -> None:
    raise OSError(28, "No space left on device", str(log))


PAGES = ("pages/watch.py", "pages/posterior.py", "pages/disagreement.py", "pages/compare.py", "pages/report.py")


RIGHT = "How often they are right"
SAID = {
    "smc": ("rewritten",),
    "smc filtered": ("new draw rejected",),
    "incremental": ("Log evidence",),
    "adaptive": ("Log evidence",),
    "mh": (RIGHT, "rewritten, accepted"),
    "mh on train": (RIGHT, "the whole answer"),
    "mh on buffer": (RIGHT, "rewritten, accepted"),
    "always accept": (RIGHT, "the whole answer"),
    "vml": (RIGHT, "the whole answer"),
    "vml5": (RIGHT, "rewritten"),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_page_shows_a_run_of_each_kind_at_any_moment(app: AppTest, tmp_path: Path, name: str) -> None:
    directory, events = kept_run(tmp_path / "made", VARIANTS[name])
    html: dict[str, str] = {}
    for quarter in range(5):
        shutil.copytree(directory.path, run := tmp_path / f"run-{quarter}")
        write(RunDirectory(run), events[: quarter * len(events) // 4 or 1])
        app.query_params["run"] = run.name
        app.run()
        for page in PAGES:
            app.switch_page(page).run()
            assert not app.exception, (page, quarter)
            html[page] = shown(app)
    watch, posterior, *_ = html.values()
    snapshot, data = (reader := RunReader(directory)).refresh(), reader.dataset()
    cards, names = Cards(data, snapshot.spec.config), Names(snapshot.view)
    watch += markup.html([Deck([card for step in range(snapshot.view.total_steps) for card in cards.at(names, step)])])
    for words in SAID[name]:
        assert words in watch + posterior
    assert ("Effective sample size" in watch) == VARIANTS[name].is_weighted


OLD, NEW, FAR = "20260101-0000-old-smc-0001", "20260102-0000-new-smc-0002", "20260103-0000-far-smc-0003"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs on the same rows, and one on others."""
    under(inspected.labels(tmp_path / "a"), tmp_path, OLD)
    under(other(tmp_path / "b"), tmp_path, NEW)
    under(all_right(tmp_path / "c", YES_NO), tmp_path, FAR)
    return tmp_path


def compare(app: AppTest, run: str = "", **query: str) -> str:
    """Open the page with a run and the parameters of the address; return what it shows."""
    if run:
        app.session_state["run"] = run
    app.run()
    for name, value in {**query, **({"run": run} if run else {})}.items():
        app.query_params[name] = value
    app.switch_page("pages/compare.py").run()
    return shown(app)


def selection(app: AppTest) -> list[str]:
    return sorted(app.multiselect(key="compare.runs").value)


def test_the_open_run_is_set_against_runs_of_the_same_rows_or_these_against_another(app: AppTest, runs: Path) -> None:
    html = compare(app, OLD)
    assert selection(app) == [OLD, NEW]
    better = "A is better: right on 5 of 6 test rows (83.3 %), against 66.7 % of B."
    assert better in html
    order = ("Right on ", better, ">setting<")
    places = [html.find(title) for title in order]
    assert -1 not in places
    assert places == sorted(places)
    assert "Not significant: better on 1 row, worse on 0 (p = 1.00)." in html
    assert app.query_params["compare"] == f"{OLD},{NEW}"
    assert "1 setting that may explain the difference" in html
    app.query_params["run"] = NEW
    assert "worse than B" in compare(app)


def test_a_link_opens_the_runs_it_names_in_its_order_and_says_which_are_not_there(app: AppTest, runs: Path) -> None:
    html = compare(app, compare=f"{NEW},{FAR},gone")
    assert selection(app) == [NEW, FAR]
    assert "B has other test rows than A" in html
    assert "Not in the runs folder: gone." in html
    app.multiselect(key="compare.runs").set_value([NEW, FAR, OLD]).run()
    assert "B has other test rows than A" in shown(app)
    assert app.query_params["compare"] == f"{NEW},{FAR},{OLD}"


def test_a_run_whose_rows_were_changed_is_named_with_why(app: AppTest, runs: Path) -> None:
    (runs / NEW / "data.csv").write_bytes(b"other")
    html = compare(app, OLD)
    assert "2 Jan 00:00 cannot be compared" in html
    assert "was changed after the run wrote it" in html
    assert "Right on 4 of 5 test rows that it answered" in html


def test_a_run_that_goes_on_is_compared_as_it_is_now(app: AppTest, runs: Path, tmp_path: Path) -> None:
    name = "20260104-0000-now-smc-0004"
    directory = under(other(tmp_path / "d", asked=False), runs, name).directory
    with directory.lock():
        directory.beat(Heartbeat())
        html = compare(app, OLD)
    assert selection(app) == [OLD, NEW, name]
    assert "As things stand now: C running, 2 of 2 steps." in html
    assert "Without evaluated test rows: C (running, 2 of 2 steps)." in html


def test_the_runs_of_a_group_are_stopped_and_resumed_as_one(app: AppTest, runs: Path, tmp_path: Path) -> None:
    name = "20260104-0000-now-smc-0004"
    directory = under(other(tmp_path / "d", asked=False), runs, name).directory
    for each in (OLD, name):
        RunDirectory(runs / each).amend(group="g")
    with directory.lock():
        directory.beat(Heartbeat())
        html = compare(app, OLD)
        assert selection(app) == [OLD, name]
        assert "Two runs of one setting, with different seeds: right on 5 of 6 test rows" in html
        press(app, "Stop all")
        assert directory.command() == "stop"
    html = compare(app, OLD)
    assert "<h1>One setting, 2 seeds</h1>" in html
    assert "found by the one seed," in html
    assert "Hypotheses of all runs" in html
    assert "Resume the others" in names(app)
