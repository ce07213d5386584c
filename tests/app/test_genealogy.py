"""The genealogy: what is pointed at is read, what is clicked or chosen is opened, and text stays text."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import ROOT, App, Visit
from tests.hostile.detector import Detector
from tests.hostile.payload import harm, seen
from tests.inspected import labels
from tests.reporting.builders import SEED, YES_NO, drawn, finished, proposed, reweighted, run, started
from vpp.events import RunFinished
from vpp.settings import Config

HOSTILE = f"{SEED} {harm('genealogy', 'http://127.0.0.1:9')} Say b."
TREE = ".vpp.tree"
PLACE = """async ([i, k]) => {
    const tree = document.querySelector('.vpp.tree')
    const frame = () => new Promise(requestAnimationFrame)
    const box = () => tree.lines.getBoundingClientRect()
    for (let frames = 0, since = performance.now(), top; frames < 20 || performance.now() - since < 300; frames += 1) {
        if (top !== box().top) [frames, since, top] = [0, performance.now(), box().top]
        await frame()
    }
    return [box().left + 16 + tree.layout.dx * i, box().top + 24 + tree.layout.dy * k]
}"""
"""Of a particle, once the page has come to rest: what was opened before is scrolled into view."""


def opened(visit: Visit, app: App, run_id: str) -> None:
    visit.page.goto(f"{app.url}/posterior?run={run_id}")
    visit.page.locator(f"{TREE} .lines .node").wait_for(state="attached")
    visit.page.locator(TREE).scroll_into_view_if_needed()
    visit.page.wait_for_timeout(1000)


@pytest.fixture(scope="module")
def labels_run(app: App) -> str:
    return moved(labels(app.runs / "labels").directory.path, app, "20260102-0000-labels-smc-0000")


def moved(path: Path, app: App, name: str) -> str:
    path.rename(app.runs / name)
    return name


def test_a_particle_of_now_is_chosen_without_the_drawing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = labels(tmp_path).directory.id
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    page.session_state["run"] = run_id
    page.run()
    page.switch_page("pages/posterior.py").run()
    assert "Two particles descend from first hypothesis 0." in shown(page)
    assert "Its ancestors" not in shown(page)
    page.selectbox(key=f"posterior.genealogy.particle.{run_id}").set_value(2).run()
    assert not page.exception
    assert "Particle 2 after step 1, and which step brought in each sentence" in shown(page)
    page.selectbox(key=f"posterior.genealogy.particle.{run_id}").set_value(None).run()
    assert "Its ancestors" not in shown(page)
    assert not page.warning


def shown(page: AppTest) -> str:
    return "".join(str(element.proto.body) for element in page.get("html"))


@pytest.mark.browser
def test_a_particle_is_read_by_keyboard_and_opened_by_keyboard_or_click(
    app: App, visit: Visit, labels_run: str
) -> None:
    """The last population is EVEN, BIG, PAIR, ODD; PAIR, in slot 2, came from slot 1."""
    page = visit.page
    opened(visit, app, labels_run)
    told = page.locator(f"{TREE} .told")
    page.locator(f"{TREE} .astable summary").click()
    page.keyboard.press("Shift+Tab")
    assert "Particle 0 after step 1" in told.inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert "Particle 2 after step 1 · weight 0.200 · copied from particle 1" in told.inner_text()
    assert "Say yes if a can be halved, else no." in told.inner_text()
    page.keyboard.press("ArrowLeft")
    assert "Particle 1 after step 0 · weight 0.100 · rewritten, accepted" in told.inner_text()
    page.keyboard.press("Enter")
    page.get_by_text("Particle 1 after step 0, and which step brought in each sentence").wait_for()
    page.get_by_text("Particle 2 of step 1 descends from it.").wait_for()
    assert page.locator(f"{TREE} .astable").evaluate("(fold) => fold.open")
    page.mouse.click(*page.evaluate(PLACE, [2, 1]))
    page.get_by_text("Particle 1 after step 1, and which step brought in each sentence").wait_for()
    page.mouse.click(*page.evaluate(PLACE, [1, 3]))
    page.get_by_text("No particle of step 1 descends from it: its line ended at step 1.").wait_for()


@pytest.mark.browser
def test_hostile_words_stay_text_wherever_the_genealogy_shows_them(app: App, visit: Visit) -> None:
    config = Config(particles=2)
    step = (
        reweighted(0, (0.5, 0.5)),
        proposed(0, 0, HOSTILE, f"{HOSTILE} Else c.", why="taken", accepted=True),
        finished(0, (f"{HOSTILE} Else c.", HOSTILE)),
    )
    events = (started(config, YES_NO, steps=1), *drawn(HOSTILE, HOSTILE), *step, RunFinished(outcome="stopped"))
    reader = run(app.runs / "hostile", *events, config=config)
    detector = Detector(visit.page.context, app.url)
    opened(visit, app, moved(reader.directory.path, app, "20260102-0000-hostile-smc-0000"))
    page = visit.page
    page.mouse.click(*page.evaluate(PLACE, [1, 0]))
    page.get_by_text("Its ancestors, from first hypothesis 0 on").wait_for()
    assert seen("genealogy") in page.locator(f"{TREE} .told").inner_text()
    page.locator(f"{TREE} .astable summary").click()
    assert seen("genealogy") in page.locator(f"{TREE} .astable").inner_text()
    assert seen("genealogy") in page.locator(".way").inner_text()
    assert detector.faults(page) == []
