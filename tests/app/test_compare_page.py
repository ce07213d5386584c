"""The states of Compare, without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.screen import app as app
from tests.app.screen import names, press, shown
from tests.inspected import all_right, other, under
from tests.reporting.builders import YES_NO
from vpp.runs.directory import Heartbeat, RunDirectory

OLD, NEW, FAR = "20260101-0000-old-smc-0001", "20260102-0000-new-smc-0002", "20260103-0000-far-smc-0003"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs on the same rows, and one on others."""
    under(inspected.labels(tmp_path / "a"), tmp_path, OLD)
    under(other(tmp_path / "b"), tmp_path, NEW)
    under(all_right(tmp_path / "c", YES_NO), tmp_path, FAR)
    return tmp_path


def opened(app: AppTest, run: str = "", **query: str) -> str:
    """Open the page with a run and the parameters of the address; return what it shows."""
    if run:
        app.session_state["run"] = run
    app.run()
    for name, value in {**query, **({"run": run} if run else {})}.items():
        app.query_params[name] = value
    app.switch_page("pages/compare.py").run()
    assert not app.exception
    return shown(app)


def picked(app: AppTest) -> list[str]:
    return sorted(app.multiselect(key="compare.runs").value)


def test_the_open_run_is_set_against_runs_of_the_same_rows_or_these_against_another(app: AppTest, runs: Path) -> None:
    html = opened(app, OLD)
    assert picked(app) == [OLD, NEW]
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
    assert "worse than B" in opened(app)


def test_a_link_opens_the_runs_it_names_in_its_order_and_says_which_are_not_there(app: AppTest, runs: Path) -> None:
    html = opened(app, compare=f"{NEW},{FAR},gone")
    assert picked(app) == [NEW, FAR]
    assert "B has other test rows than A" in html
    assert "Not in the runs folder: gone." in html
    app.multiselect(key="compare.runs").set_value([NEW, FAR, OLD]).run()
    assert "B has other test rows than A" in shown(app)
    assert app.query_params["compare"] == f"{NEW},{FAR},{OLD}"


def test_a_run_whose_rows_were_changed_is_named_with_why(app: AppTest, runs: Path) -> None:
    (runs / NEW / "data.csv").write_bytes(b"other")
    html = opened(app, OLD)
    assert "00:00 · seed 1 cannot be compared" in html
    assert "was changed after the run wrote it" in html
    assert "Right on 4 of 5 test rows that it answered" in html


def test_a_run_that_goes_on_is_compared_as_it_is_now(app: AppTest, runs: Path, tmp_path: Path) -> None:
    name = "20260104-0000-now-smc-0004"
    directory = under(other(tmp_path / "d", asked=False), runs, name).directory
    with directory.lock():
        directory.beat(Heartbeat())
        html = opened(app, OLD)
    assert picked(app) == [OLD, NEW, name]
    assert "As things stand now: C running, 2 of 2 steps." in html
    assert "Without evaluated test rows: C (running, 2 of 2 steps)." in html


def test_the_runs_of_a_group_are_stopped_and_resumed_as_one(app: AppTest, runs: Path, tmp_path: Path) -> None:
    name = "20260104-0000-now-smc-0004"
    directory = under(other(tmp_path / "d", asked=False), runs, name).directory
    for each in (OLD, name):
        RunDirectory(runs / each).amend(group="g")
    with directory.lock():
        directory.beat(Heartbeat())
        html = opened(app, OLD)
        assert picked(app) == [OLD, name]
        assert "Two runs of one setting, with different seeds: right on 5 of 6 test rows" in html
        press(app, "Stop all")
        assert directory.command() == "stop"
    html = opened(app, OLD)
    assert "<h1>One setting, 2 seeds</h1>" in html
    assert "found by the one seed," in html
    assert "Hypotheses of all runs" in html
    assert "Resume the others" in names(app)
