"""The Paper page's states, without a browser."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.drawn import shown
from tests.processes import Desk, wait_until
from vpp.bench.sweep import SweepDirectory, SweepSpec
from vpp.bench.tables import inconsistencies, paper
from vpp.wording import markup

ROOT = Path(__file__).parents[2]
SMALL = ("--train-size", "20", "--test-size", "10", "--epochs", "1", "--seeds", "1")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A runs folder with one finished sweep."""
    desk = Desk(tmp_path_factory.mktemp("page"))
    ended = desk.vpp("bench", "--demo", "--tasks", "two-blobs", "--methods", "vml,smc", *SMALL)
    assert ended.code == 0, ended.err
    yield desk
    desk.close()


def opened(runs: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("VPP_RUNS_DIR", str(runs))
    monkeypatch.chdir(ROOT)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.run()
    app.switch_page("pages/paper.py").run()
    assert not app.exception
    assert not app.markdown, "a bare string of the page is drawn"
    return app


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def test_without_a_sweep_the_page_shows_the_papers_tables_and_how_to_fill_in_yours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(tmp_path, monkeypatch)
    text = shown(app)
    for words in (
        "<b>Verbalized Particle Posterior: Bayesian Inference over Natural Language Hypotheses</b>",
        "Yan Zhang, Shikan Lian and Shibo Li",
        "You have no results yet: run the sweep below",
        "80.0\n± 26.0",
        "Accuracy in %, higher is better</th>",
        "132 cells: at most",
        *(markup.text(cell) for row in (*inconsistencies().rows, [paper()["prompts"]]) for cell in row),
    ):
        assert words in text
    assert app.code[0].value == "python -m vpp bench --demo --seeds 3"
    assert labels(app) == ["Start the sweep"]


def test_a_finished_sweep_shows_its_model_and_its_tables_beside_the_papers(
    swept: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(swept.runs, monkeypatch)
    text = shown(app)
    for words in ("built-in demo model", "no language model", "2<small>of 2", "Main results", "80.0\n± 26.0"):
        assert words in text
    accept = text.partition("With and without the accept step")[2].partition("</table>")[0]
    assert "0.88\n± 0.78" in accept, "tables that the sweep does not cover have the paper's numbers"
    assert "yours" not in accept
    assert "2 cells, all finished: nothing would run" in text
    assert app.button(key="paper.start").disabled
    assert "Stop and keep" not in labels(app)


def test_the_time_left_is_known_once_each_method_has_a_finished_cell(
    swept: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = SweepDirectory(swept.runs / "bench-demo")
    whole = sweep.spec()
    try:
        for methods, words in ((("mh",), "Known once each method"), ((), "At the pace of finished cells")):
            sweep.write(replace(whole, methods=(*whole.methods, *methods), seeds=2))
            with sweep.lock():
                assert words in shown(opened(swept.runs, monkeypatch))
    finally:
        sweep.write(whole)


def test_a_running_sweep_can_be_stopped_from_the_page(swept: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = SweepDirectory(swept.runs / "bench-demo")
    whole = sweep.spec()
    sweep.write(replace(whole, seeds=2))
    with sweep.lock():
        app = opened(swept.runs, monkeypatch)
        assert "Continue the sweep" not in labels(app)
        assert "Stopping" not in shown(app)
        app.button(key="paper.stop").click().run()
        assert not app.exception
        text = shown(app)
        assert "Stopping: the cells in flight" in text
        assert ">Stopping.</dd>" in text
        assert "Starting" not in text
        assert "<dt>Time left</dt><dd>–" in text
        assert app.button(key="paper.stop").disabled
    sweep.write(whole)
    assert sweep.is_stopped()


def test_a_sweep_started_on_the_page_runs_in_its_own_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(tmp_path, monkeypatch)
    app.multiselect(key="paper.tasks.new").set_value(["two-blobs"])
    app.multiselect(key="paper.methods.new").set_value(["vml"])
    app.number_input(key="paper.seeds.new").set_value(1).run()
    assert "1 cell: at most" in shown(app)
    app.button(key="paper.start").click().run()
    assert not app.exception
    assert app.selectbox(key="paper.sweep").value == "bench-demo"
    sweep = SweepDirectory(tmp_path / "bench-demo")
    wait_until(lambda: not sweep.is_held(), "the sweep ends")
    app.run()
    assert "Every" in shown(app)
    assert "two-blobs,vml,0,accuracy" in sweep.results.read_text()


def test_a_sweep_starts_with_its_users_folders_and_within_the_users_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VPP_MAX_RUNS_PER_USER", "1")
    asked: list[dict[str, str]] = []
    with ExitStack() as held:

        def launch(sweep: SweepDirectory, spec: SweepSpec, *, environment: dict[str, str], **_: object) -> None:
            asked.append(environment)
            held.enter_context(sweep.lock())
            sweep.write(spec)

        monkeypatch.setattr("vpp.bench.sweep.launch", launch)
        app = opened(tmp_path, monkeypatch)
        app.button(key="paper.start").click().run()
        assert [environment["VPP_CACHE_DIR"] for environment in asked] == [str(tmp_path / ".cache")]
        (tmp_path / "bench-demo").rename(tmp_path / "bench-other")
        app = opened(tmp_path, monkeypatch)
        app.selectbox(key="paper.sweep").set_value("A new sweep").run()
        app.button(key="paper.start").click().run()
        assert "1 run goes on, and one user may have 1 at once" in shown(app)
        assert len(asked) == 1
