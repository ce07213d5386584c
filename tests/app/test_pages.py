"""Every page over runs whose every text means harm: it is shown as its characters, and the page is accessible."""

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, TimeoutError, expect

from pages.parts.asking import ASKING
from tests.app import axe
from tests.app.conftest import App, opening, serving
from tests.app.survey import SETTLED, SIDEWAYS, TEXT, check_arrows, check_tab, open_whole, settle, survey
from tests.hostile.detector import Detector
from tests.hostile.payload import MARK, WORDS, harm, seen
from tests.hostile.runs import Hostile
from tests.hostile.server import REFUSED, listener
from tests.processes import wait_until
from vpp.reporting.document import report_html
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import RunDirectory, RunReader
from vpp.show import markup
from vpp.show.markup import skeletons_html

pytestmark = pytest.mark.browser
IN_A_REPORT = {
    "finished": "hypothesis seed label-no",
    "continued": "meaning meaning-of-label file note target library version",
}
"""Texts that the file of a report shows, by run."""


@dataclass(frozen=True)
class Folder:
    """Runs that mean harm, a table that does, the app on them, and who listens outside."""

    app: App
    hostile: Hostile
    runs: dict[str, RunDirectory]
    table: Path
    heard: list[str]

    def address(self, place: str) -> str:
        ids = {name: quote(run.id) for name, run in self.runs.items()}
        return f"{self.app.url}/{place.format(**ids, none=quote(self.hostile.harm('id')))}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    runs = tmp_path_factory.mktemp("hostile")
    with listener() as (leak, heard):
        hostile = Hostile(runs, leak)
        table = tmp_path_factory.mktemp("table") / f"<b>{MARK}tag<b> **{MARK}bold** :red[{MARK}red] ${MARK}math$.csv"
        table.write_bytes(hostile.table())
        made = hostile.all()
        with serving(runs) as app:
            yield Folder(app, hostile, made, table, heard)


@pytest.fixture(scope="module")
def over_app(browser: Browser, folder: Folder) -> Iterator[Detector]:
    """A detector over the one page that is taken through the app."""
    with opening(browser) as context:
        detector = Detector(context, folder.app.url)
        context.new_page()
        yield detector


@pytest.fixture
def page(over_app: Detector) -> Page:
    """The page that is watched; what it did before is forgotten."""
    over_app.notes.clear()
    return over_app.context.pages[0]


@contextmanager
def watched(browser: Browser, home: str) -> Iterator[tuple[Page, Detector]]:
    with opening(browser) as context:
        detector = Detector(context, home)
        yield context.new_page(), detector


def open_list(page: Page, label: str) -> None:
    """Press a key until the options show: a key pressed while the page still settles can be lost."""
    options = page.get_by_role("option")
    for _ in range(20):
        page.get_by_label(label).first.press("ArrowDown")
        with suppress(TimeoutError):
            options.first.wait_for(timeout=3000)
            return
    raise AssertionError(f"the list of {label!r} does not open")


def choose(page: Page, label: str, option: str = "") -> None:
    """Take the first option of that text, again until a click takes: a page that still settles can close the list."""
    for _ in range(5):
        open_list(page, label)
        with suppress(TimeoutError):
            page.get_by_role("option", name=option).first.click(timeout=3000)
            return
    raise AssertionError(f"no option {option!r} of {label!r} can be taken")


def fill_form(page: Page, folder: Folder) -> None:
    """Upload the table, and test a server whose models, and then whose refusal, mean harm."""

    def test_model(name: str) -> None:
        page.get_by_label("Model", exact=True).fill(name)
        page.keyboard.press("Tab")
        settle(page)
        page.get_by_role("button", name="Test the endpoint").click()

    page.locator('input[type="file"]').set_input_files(str(folder.table))
    page.get_by_role("button", name="Start the run").wait_for()
    settle(page)
    page.get_by_text("My endpoint", exact=True).click()
    page.get_by_label("Address", exact=True).fill(f"{folder.hostile.leak}/v1")
    test_model(folder.hostile.short("model"))
    page.get_by_label("Models on this server").first.wait_for()
    test_model(REFUSED)
    page.get_by_text(seen("error")).first.wait_for()
    settle(page)
    open_list(page, "Models on this server")
    assert seen("listed") in page.evaluate(TEXT)
    page.keyboard.press("Escape")
    open_whole(page)
    assert folder.table.name in page.evaluate(TEXT)


def open_cards(page: Page, _: Folder) -> None:
    """Open what is folded away on Watch, at the last step, whose cards have folds, and the meaning of a term."""
    fold = page.locator(".card .folds > details").first
    fold.wait_for()
    assert page.locator("input[type=range]").get_attribute("aria-valuetext") == "step 2 of 2"
    fold.locator("summary").first.press("Enter")
    assert fold.evaluate("(fold) => fold.open")
    open_whole(page)
    page.get_by_role("button", name="Delete this run", exact=True).wait_for()
    page.locator(".at-rail button.term").click()
    page.locator("#term-ess").wait_for(state="visible")


def ask_and_open(page: Page, _: Folder) -> None:
    """Begin with a row of the data, whose column and cells are hostile, and show what the server says of it.

    Then open the history of a hypothesis, and what came of an answer that could not be read.
    """
    page.get_by_text(ASKING).click()
    choose(page, "Begin with a row of the data", "row 5")
    expect(page.locator('[class*="st-key-posterior-ask-cell-0-"] input')).to_have_value("5")
    labels = page.get_by_test_id("stForm").get_by_test_id("stWidgetLabel").all_inner_texts()
    assert [label.replace("\N{WORD JOINER}", "").strip().startswith(seen(f"column-{kind}"))
            for label, kind in zip(labels, ("number", "category", "text"), strict=True)] == [True] * 3  # fmt: skip
    page.wait_for_function(SETTLED)
    for _ in range(3):  # a page that is drawn anew at that moment can lose a press
        page.get_by_role("button", name="Ask about this row").click()
        with suppress(TimeoutError):
            page.get_by_label("what the hypotheses say").wait_for(timeout=20_000)
            break
    settle(page)
    expect(page.get_by_label("what the hypotheses say")).to_be_visible()
    page.locator(".card [data-fold=history] summary").first.press("Enter")
    page.locator(".vpp .way").first.wait_for()
    page.locator(".ledger summary").first.press("Enter")
    page.locator(".ledger table").first.wait_for()
    open_whole(page)
    page.locator(".out summary", has_text="unreadable").first.click()
    settle(page)
    assert seen("hypothesis") in page.locator(".way").first.inner_text().replace("\N{WORD JOINER}", "")


def open_row(page: Page, _: Folder) -> None:
    page.locator(".mx button.row").nth(1).press("Enter")
    page.locator(".mx tr.now:nth-child(2) + tr.under").wait_for()
    open_whole(page)


@dataclass(frozen=True, slots=True)
class Place:
    """An address, a selector of what is drawn last, texts that are seen there, and what is done before."""

    address: str
    drawn: str
    texts: str
    act: Callable[[Page, Folder], None] = lambda page, _: open_whole(page)


PLACES = {
    "New run": Place(
        "", ".vpp h1", "column-number column-category column-text target label-yes cell-0 formula-0", fill_form
    ),
    "Watch": Place(
        "watch?run={at_cap}",
        ".card",
        "meaning meaning-of-label name model fault refused capped hypothesis reason unread thoughts",
        open_cards,
    ),
    "Posterior": Place(
        "posterior?run={finished}",
        ".ledger",
        "column-number column-category column-text label-yes hypothesis reason unread said",
        ask_and_open,
    ),
    "Disagreement": Place("disagreement?run={finished}", ".mx", "cell-1 text-7 formula-9 label-no", open_row),
    "Compare": Place(
        f"compare?run={{finished}}&compare={{finished}},{{continued}},<b>{MARK}tag</b>", "table.t", "name label-no"
    ),
    "Report": Place("report?run={continued}", ".report h2", "hypothesis file target"),
    "Watch without a run": Place(f"watch?run={{none}}&compare=<b>{MARK}tag</b>", ".state.err", "id"),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_page_shows_hostile_text_as_its_characters_and_is_accessible(
    folder: Folder, over_app: Detector, page: Page, name: str
) -> None:
    """axe-core checks each page in one theme and width; neighbours in the list differ in both."""
    place = PLACES[name]
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.emulate_media(color_scheme="light")
    page.goto(folder.address(place.address))
    page.wait_for_selector(place.drawn, state="attached")
    page.wait_for_function(SETTLED)
    check_tab(page)
    place.act(page, folder)
    page.wait_for_function(SETTLED)
    text = page.evaluate(TEXT)
    assert [word for word in place.texts.split() if seen(word) not in text] == []
    wrong, structure = survey(page, is_dark=list(PLACES).index(name) % 2 == 1)
    assert {what: found for what, found in wrong.items() if found} == {}
    check_structure(structure, name.partition(" without")[0])
    check_arrows(page)
    assert page.locator("[data-testid=stAppDeployButton], [data-testid=stException]").count() == 0
    assert over_app.faults(page) == []
    assert folder.heard == []
    axe.require()


def check_structure(structure: dict[str, Any], title: str) -> None:
    assert structure["title"] == f"{title} · VPP"
    # An error is announced immediately, a state when the reader pauses, cards and matrices never.
    assert set(structure["errors"]) <= {"alert"}
    assert set(structure["empty"]) <= {"status"}
    assert structure["live"] == []
    for chart in structure["charts"]:
        assert len(chart["name"].split()) >= 5
        assert chart["name"] != chart["head"]
        assert chart["table"] == "Show as table"


MOVING = """() => document.getAnimations()
    .filter((moving) => moving.playState === 'running' && moving.effect.target?.closest('.vpp'))
    .map((moving) => moving.animationName ?? moving.transitionProperty)"""


def test_planted_faults_are_found_and_what_waits_moves_unless_motion_is_reduced(page: Page, folder: Folder) -> None:
    """An image without words, a button without a name, pale text: axe-core names each, and whose it is."""
    axe.require()
    planted = '<img src="data:,"><button></button><p style="color:#ddd;background:#fff">pale</p>'
    page.emulate_media(color_scheme="light")
    page.goto(f"{folder.app.url}/watch?run=none")
    state = page.locator(".state.err")
    state.wait_for()
    page.wait_for_function(SETTLED)
    state.evaluate(
        "(state, html) => state.insertAdjacentHTML('beforeend', html)", planted + markup.block(skeletons_html(1))
    )
    found = [each for each in axe.faults(page) if each.is_ours]
    assert {"image-alt", "button-name", "color-contrast"} <= {each.rule for each in found}
    assert {each.impact for each in found if each.rule != "image-alt"} <= {"serious", "critical"}
    assert page.evaluate(MOVING) == []
    page.emulate_media(reduced_motion="no-preference")
    assert set(page.evaluate(MOVING)) == {"vpp-breathe"}
    page.emulate_media(reduced_motion="reduce")


def test_exports_opened_as_files_act_on_nothing(folder: Folder, browser: Browser, tmp_path: Path) -> None:
    for name, places in IN_A_REPORT.items():
        reader, file = RunReader(folder.runs[name]), tmp_path / f"{name}.html"
        file.write_text(report_html(reader), encoding="utf-8")
        with watched(browser, file.as_uri()) as (opened, detector):
            opened.goto(file.as_uri())
            assert [place for place in places.split() if seen(place) not in opened.evaluate(TEXT)] == []
            assert detector.faults(opened) == []
            assert opened.evaluate(SIDEWAYS) == []
    reader = RunReader(folder.runs["finished"])
    cells = [cell for line in csv.reader(io.StringIO(predictions_csv(reader).decode())) for cell in line]
    assert any("HYPERLINK" in cell for cell in cells)
    assert [cell for cell in cells if cell[:1] in "=+@\t\r" and cell] == []
    assert folder.heard == []


REALLY = {
    "a handler": "<img src=data:, onerror=__pwnd()>",
    "a request": "<script>fetch('LEAK/x')</script>",
    "markup": f"<b>{MARK}bold</b>",
    "within a shadow": "<div id=s></div><script>s.attachShadow({mode:'closed'}).innerHTML='<b>pwndtag</b>'</script>",
    "later": f"<script>setTimeout(() => document.body.innerHTML = '<i>{MARK}red</i>', 50)</script>",
}


def test_the_detector_notices_what_takes_effect_and_is_silent_where_all_of_it_is_text(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    with listener() as (leak, _), watched(browser, file.as_uri()) as (page, detector):
        for what, markup in REALLY.items():
            file.write_text(f"<!doctype html><body>{markup.replace('LEAK', leak)}</body>")
            page.goto(file.as_uri())
            wait_until(lambda: detector.faults(page), what, within_s=30)
            detector.notes.clear()
    file.write_text("<!doctype html><body><p></p></body>")
    with watched(browser, file.as_uri()) as (page, detector):
        page.goto(file.as_uri())
        page.evaluate("(words) => { document.querySelector('p').textContent = words }", harm("a", "http://127.0.0.1:9"))
        assert detector.faults(page) == []
        assert all(word in page.evaluate(TEXT) for word in WORDS)
