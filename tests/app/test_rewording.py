"""Another wording: what is refused. tests/app/test_finished_run.py writes one in a browser."""

from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.app.drawn import app as app
from tests.app.drawn import opened, shown
from tests.asked import asked_labels
from tests.llm.stub import refusal
from tests.processes import Model, wait_until

On = Callable[[RunReader], AppTest]
FOLD, SCORE = "rewording.fold", "rewording.score"
NEW = "If a is less than 1, answer yes; otherwise answer no."
HOSTILE = f"{NEW} <img src=x onerror=\"document.title='read'\"> **bold** [link](javascript:alert(1))"


def write(page: Page, text: str) -> None:
    page.get_by_label("New text of particle 0").fill(text)
    page.get_by_role("button", name="Score it on 4 rows").click()


@pytest.mark.browser
def test_a_text_is_scored_and_kept_as_a_new_run_that_verifies(app: App, visit: Visit) -> None:
    """EVEN is right on rows 0 to 3 (yes no yes no); NEW is wrong on row 2."""
    earlier = placed(app, inspected.labels(app.runs / "made"), "20260103-0000-labels-smc-0000")
    before = (earlier / "events.jsonl").read_bytes()
    runs = set(app.runs.glob("*/run.json"))
    page = visit.page
    page.goto(f"{app.url}/posterior?run={earlier.name}")
    page.get_by_text("Try another wording").click()
    expect(page.get_by_label("New text of particle 0")).to_have_value(inspected.EVEN.removeprefix(SEED).strip())
    expect(page.get_by_role("button", name="Score it on 4 rows: 4 calls")).to_be_visible()
    write(page, "")
    expect(page.get_by_text("the new text is empty: write it, or leave it out")).to_be_visible()
    write(page, HOSTILE)
    scored = page.get_by_label("both texts on the same rows")
    expect(scored.locator(".hyp")).to_contain_text("<img src=x onerror=")
    assert page.title() != "read"
    write(page, NEW)
    chance = round(100 * math.exp(math.log(0.05) - math.log(0.95)))
    expect(scored).to_contain_text(f"Acceptance probability {chance}")
    expect(scored).to_contain_text("No row won. 1 row lost (2). No row without a readable answer.")
    expect(scored.locator(".sq i.ok")).to_have_count(3)
    expect(scored.get_by_role("row", name="2 yes yes no lost")).to_be_visible()
    assert set(app.runs.glob("*/run.json")) == runs
    page.wait_for_timeout(1000)  # the scoring's last rerun begins up to a second later, and would take the click away
    page.locator(ENDED).wait_for()
    page.get_by_role("button", name="Keep as a new run").click()
    expect(page).to_have_url(re.compile("run=.*reworded"))
    kept = RunReader(RunDirectory(app.runs / page.url.partition("run=")[2]))
    wait_until(lambda: kept.refresh().state == "finished", "the new run ends")
    drawn = kept.refresh().view.drawn
    assert [drawn[slot].origin for slot in drawn] == ["yours", "continued", "continued", "continued"]
    assert drawn[0].text == f"{SEED} {NEW}"
    assert json.loads((kept.directory.path / "run.json").read_text())["started_from"] == earlier.name
    with ThreadPoolExecutor() as threads:  # Playwright's event loop runs in this thread
        assert threads.submit(lambda: verify(kept.directory, ways(kept.directory))).result().faults == ()
    assert (earlier / "events.jsonl").read_bytes() == before


def button(app: AppTest, key: str) -> Any:
    return next((each for each in app.button if each.key == key), None)


@pytest.fixture
def on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> On:
    """Posterior with the run open, and the section unfolded."""

    def page_of(reader: RunReader) -> AppTest:
        app = app_over(tmp_path, monkeypatch)
        app.session_state[FOLD] = True
        return opened(app, reader, "posterior")

    return page_of


def test_a_servers_refusal_is_one_line_and_a_key_is_asked_for_once(on: On, tmp_path: Path, served: Model) -> None:
    served.refusal = refusal(401, "no such key")
    app = on(asked_labels(tmp_path, served, model="large"))
    app.text_area[0].set_value(NEW).run()
    assert button(app, SCORE).label == "Score it on 4 rows: 8 calls"
    button(app, SCORE).click().run()
    wait_until(lambda: "The wording could not be scored" in shown(app.run()), "the server has refused")
    assert "no such key" in shown(app)
    assert [field.label for field in app.text_input].count("Key, where the server wants one") == 1
    assert not app.exception
