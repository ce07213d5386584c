"""The states of Compare, without a browser."""

from dataclasses import asdict
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.drawn import shown
from tests.app.test_states import ROOT, START_S
from tests.beside import all_right, other, under
from tests.reporting.builders import YES_NO
from vpp.usage import Usage

OLD, NEW, FAR = "20260101-0000-old-smc-0000", "20260102-0000-new-smc-0000", "20260103-0000-far-smc-0000"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.chdir(ROOT)
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=START_S)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs on the same rows, and one on others."""
    folder = tmp_path / "runs"
    folder.mkdir()
    under(inspected.labels(tmp_path / "a"), folder, OLD)
    under(other(tmp_path / "b"), folder, NEW)
    under(all_right(tmp_path / "c", YES_NO), folder, FAR)
    return folder


def opened(app: AppTest, run: str = "", **query: str) -> str:
    """What the page shows, of a run that is open and with what the address says."""
    if run:
        app.session_state["run"] = run
    app.run()
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page("pages/compare.py").run()
    assert not app.exception
    return shown(app)


def picked(app: AppTest) -> list[str]:
    return sorted(app.multiselect(key="compare.runs").value)


def test_without_a_run_the_page_says_what_to_do(app: AppTest) -> None:
    assert "No runs yet" in opened(app)


def test_the_open_run_is_set_against_runs_of_the_same_rows(app: AppTest, runs: Path) -> None:
    told = opened(app, OLD)
    assert picked(app) == [OLD, NEW]
    assert "B gets 4 of 6 test rows right; A, which it is set against, 5." in told
    for title in (
        "Over seeds",
        "Shared and unshared ideas",
        "Rows they differ on",
        "Cost",
        "Settings",
    ):
        assert title in told
    assert (app.query_params["compare"], app.query_params["against"]) == (f"{OLD},{NEW}", OLD)


def test_letters_follow_the_order_of_picking(app: AppTest, runs: Path) -> None:
    told = opened(app, compare=f"{NEW},{FAR}", against=NEW)
    assert "B has other test rows than A" in told
    app.multiselect(key="compare.runs").set_value([NEW, FAR, OLD]).run()
    assert "B has other test rows than A" in shown(app)
    assert app.query_params["compare"] == f"{NEW},{FAR},{OLD}"


def test_a_threshold_decides_what_is_called_chance(app: AppTest, runs: Path) -> None:
    assert "sign test p = 1.00, not significant on these rows." in opened(app, OLD)


def test_another_run_can_be_the_reference(app: AppTest, runs: Path) -> None:
    opened(app, OLD)
    app.selectbox(key="compare.against").set_value(NEW).run()
    assert "A gets 5 of 6 test rows right; B, which it is set against, 4." in shown(app)
    assert app.query_params["against"] == NEW


def test_a_link_opens_the_runs_it_names_and_says_which_are_not_there(app: AppTest, runs: Path) -> None:
    told = opened(app, compare=f"{NEW},{FAR},gone", against=FAR)
    assert picked(app) == [NEW, FAR]
    assert "A has other test rows than B" in told
    assert "1 run that is not in the runs folder: gone." in told


def test_one_run_stands_beside_simple_models(app: AppTest, runs: Path) -> None:
    told = opened(app, FAR)
    assert picked(app) == [FAR]
    assert "Small tree" in told
    assert "Pick another run above" in told
    app.multiselect(key="compare.runs").set_value([]).run()
    assert "No run is picked" in shown(app)


def test_what_was_picked_is_still_there_on_the_way_back(app: AppTest, runs: Path) -> None:
    opened(app, OLD)
    app.multiselect(key="compare.runs").set_value([OLD, FAR]).run()
    app.switch_page("pages/report.py").run()
    app.switch_page("pages/compare.py").run()
    assert picked(app) == [OLD, FAR]


def test_all_conditions_are_there_when_asked_for(app: AppTest, runs: Path) -> None:
    assert "Particles K" not in opened(app, OLD)
    app.toggle(key="compare.changes.True").set_value(False).run()
    assert "Particles K" in shown(app)


def test_a_run_whose_rows_were_changed_is_named_with_why(app: AppTest, runs: Path) -> None:
    (runs / NEW / "data.csv").write_bytes(b"other")
    told = opened(app, OLD)
    assert f"{NEW} cannot be compared" in told
    assert "was changed after the run wrote it" in told
    assert "A gets 5 of 6 test rows right" in told


def test_a_run_that_goes_on_is_compared_as_it_is_now(app: AppTest, runs: Path, tmp_path: Path) -> None:
    name = "20260104-0000-now-smc-0000"
    directory = under(other(tmp_path / "d", asked=False), runs, name).directory
    with directory.lock():
        directory.beat(asdict(Usage()), queued=False)
        told = opened(app, OLD)
    assert picked(app) == [OLD, NEW, name]
    assert "As things stand now: C running, 2 of 2 steps." in told
    assert "Test rows not asked yet: C (running, 2 of 2 steps)." in told


def test_numbers_are_compared_too(app: AppTest, runs: Path, tmp_path: Path) -> None:
    for letter, name in (("e", "20260105-0000-e-smc-0000"), ("f", "20260106-0000-f-smc-0000")):
        under(inspected.numbers(tmp_path / letter), runs, name)
    told = opened(app, "20260105-0000-e-smc-0000")
    assert "On none of the 4 rows does one do better than the other." in told
    assert "The runs give the same answer on all 4 test rows." in told
