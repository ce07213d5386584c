"""Text from a CSV, a model, a server or a run made elsewhere shows as its characters, on every page and export."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, TimeoutError, expect

from tests.app.conftest import App, opening, serving
from tests.hostile.detector import Detector
from tests.hostile.opening import opened_whole, settled, text, wider_by
from tests.hostile.payload import MARK, WORDS, harm, seen
from tests.hostile.runs import Hostile
from tests.hostile.server import REFUSED, listener
from tests.processes import wait_until
from vpp.reporting.document import report_html
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

pytestmark = pytest.mark.browser
OPENED_WHOLE = {
    "watch at_cap": "meaning meaning-of-label name model fault refused capped hypothesis reason unread thoughts",
    "posterior finished": "column-number column-category column-text label-yes hypothesis reason unread said",
    "disagreement finished": "cell-1 text-7 formula-9 label-no",
    "report continued": "hypothesis file target",
    "compare finished": "name label-no",
}
"""Texts that each page of a run shows with every fold open, by the place of the text."""
IN_A_REPORT = {
    "finished": "hypothesis seed label-no",
    "continued": "meaning meaning-of-label file note target library version",
}
"""Texts that the file of a report shows, by run."""


@dataclass(frozen=True)
class Folder:
    """Runs that mean harm, the app on them, and who listens outside."""

    app: App
    hostile: Hostile
    runs: dict[str, RunDirectory]
    heard: list[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    runs = tmp_path_factory.mktemp("hostile")
    with listener() as (leak, heard):
        hostile = Hostile(runs, leak)
        made = hostile.all()
        with serving(runs) as app:
            yield Folder(app, hostile, made, heard)


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
    """Open a page, with a detector of what text does in it."""
    with opening(browser) as context:
        detector = Detector(context, home)
        yield context.new_page(), detector


def address(folder: Folder, name: str, run: str) -> str:
    runs = folder.runs
    beside = f"&compare={quote(runs['finished'].id)},{quote(runs['stopped'].id)},<b>{MARK}tag</b>"
    return f"{folder.app.url}/{name}?run={quote(runs[run].id)}{beside if name == 'compare' else ''}"


@pytest.mark.parametrize("place", OPENED_WHOLE)
def test_a_page_shows_hostile_text_as_its_characters(
    folder: Folder, over_app: Detector, page: Page, place: str
) -> None:
    name, run = place.split()
    page.goto(address(folder, name, run))
    page.locator('[data-testid="stMain"] .vpp .title').wait_for()
    settled(page)
    if name == "posterior":
        ask_about_a_row(page)
    opened_whole(page)
    if name == "posterior":
        page.locator(".out summary", has_text="unreadable").first.click()
        settled(page)
        assert seen("hypothesis") in page.locator(".way").first.inner_text().replace("\N{WORD JOINER}", "")
    shown = text(page)
    assert [told for told in OPENED_WHOLE[place].split() if seen(told) not in shown] == []
    assert over_app.faults(page) == []
    assert page.get_by_test_id("stException").count() == 0
    assert wider_by(page) == 0
    assert folder.heard == []


def ask_about_a_row(page: Page) -> None:
    """Begin with a row of the data, whose column and cells are hostile, and show what the server says of it."""
    choose(page, "Begin with a row of the data", "row 5")
    expect(page.locator('[class*="st-key-posterior-ask-cell-0-"] input')).to_have_value("5")
    labels = page.get_by_test_id("stForm").get_by_test_id("stWidgetLabel").all_inner_texts()
    assert [label.replace("\N{WORD JOINER}", "").strip().startswith(seen(f"column-{kind}"))
            for label, kind in zip(labels, ("number", "category", "text"), strict=True)] == [True] * 3  # fmt: skip
    page.get_by_role("button", name="Ask about this row").click()
    page.get_by_label("what the hypotheses say").wait_for()
    settled(page)


def test_a_link_to_no_run_shows_the_id_it_names(folder: Folder, over_app: Detector, page: Page) -> None:
    page.goto(f"{folder.app.url}/watch?run={quote(folder.hostile.harm('id'))}&compare=<b>{MARK}tag</b>")
    page.get_by_text("This run cannot be opened").wait_for()
    assert seen("id") in text(page)
    assert over_app.faults(page) == []


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


def test_a_table_that_means_harm_is_chosen_from_as_its_characters(
    folder: Folder, over_app: Detector, page: Page, tmp_path: Path
) -> None:
    table = tmp_path / f"<b>{MARK}tag<b> **{MARK}bold** :red[{MARK}red] ${MARK}math$.csv"
    table.write_bytes(folder.hostile.table())
    page.goto(folder.app.url)
    page.locator('input[type="file"]').set_input_files(str(table))
    page.get_by_role("button", name="Start the run").wait_for()
    settled(page)
    page.get_by_text("My endpoint", exact=True).click()
    page.get_by_label("Address", exact=True).fill(f"{folder.hostile.leak}/v1")
    page.get_by_label("Model", exact=True).fill(folder.hostile.short("model"))
    page.keyboard.press("Tab")
    settled(page)
    page.get_by_role("button", name="Test the endpoint").click()
    page.get_by_label("Models on this server").first.wait_for()
    page.get_by_label("Model", exact=True).fill(REFUSED)
    page.keyboard.press("Tab")
    settled(page)
    page.get_by_role("button", name="Test the endpoint").click()
    page.get_by_text(seen("error")).first.wait_for()
    opened_whole(page)
    settled(page)
    open_list(page, "Models on this server")
    shown = text(page)
    places = "column-number column-category column-text target label-yes cell-0 formula-0 listed"
    assert [place for place in places.split() if seen(place) not in shown] == []
    assert table.name in shown
    assert over_app.faults(page) == []
    assert wider_by(page) == 0
    assert folder.heard == []


def test_exports_opened_as_files_act_on_nothing(folder: Folder, browser: Browser, tmp_path: Path) -> None:
    for name, places in IN_A_REPORT.items():
        reader, file = RunReader(folder.runs[name]), tmp_path / f"{name}.html"
        file.write_text(report_html(reader), encoding="utf-8")
        with watched(browser, file.as_uri()) as (opened, detector):
            opened.goto(file.as_uri())
            assert [place for place in places.split() if seen(place) not in text(opened)] == []
            assert detector.faults(opened) == []
            assert wider_by(opened) == 0
    reader = RunReader(folder.runs["finished"])
    cells = [cell for line in csv.reader(io.StringIO(predictions_csv(reader).decode())) for cell in line]
    assert any("HYPERLINK" in cell for cell in cells)
    assert [cell for cell in cells if cell[:1] in "=+@\t\r" and cell] == []
    assert folder.heard == []


# The detector itself


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
        assert all(word in text(page) for word in WORDS)
