"""report.html in a real browser, from disk and without a network: live charts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.reporting.builders import dataset, run
from tests.reporting.test_document import HOSTILE
from tests.reporting.test_markdown import smc_run
from vpp.reporting.document import report_html

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run whose every text is hostile."""
    folder = tmp_path_factory.mktemp("report")
    labels = [f"{HOSTILE} 1", f"{HOSTILE} 2"]
    data = dataset(labels, labels, name=f"col {HOSTILE}", target=f"target {HOSTILE}")
    reader = run(folder, *smc_run(data, (f"a {HOSTILE}", f"b {HOSTILE}")), data=data, name=HOSTILE)
    path = folder / "report.html"
    path.write_text(report_html(reader), encoding="utf-8")
    return path


@dataclass
class Opened:
    """The page, what it asked for, and what it complained of."""

    page: Page
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def opened(browser: Browser, report: Path) -> Iterator[Opened]:
    """Open the report offline, in light."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000}, offline=True, color_scheme="light")
    found = Opened(context.new_page())
    found.page.on("request", lambda request: found.asked.append(request.url))
    found.page.on("console", lambda said: found.complaints.append(said.text))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.goto(report.as_uri())
    found.page.locator(".chart").last.locator(".main-svg").first.wait_for()
    yield found
    context.close()


def test_the_report_asks_for_nothing_complains_of_nothing_and_fits(opened: Opened, report: Path) -> None:
    page = opened.page
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
    assert page.locator(".chart").count() == page.locator(".chart .plot-container").count() == 3
    assert opened.asked == [report.as_uri()]
    assert opened.complaints == []


def test_a_chart_answers_the_pointer_and_zooms(opened: Opened) -> None:
    page, chart = opened.page, opened.page.locator(".chart").first
    box = chart.locator(".scatterlayer .trace").last.locator(".point").last.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    hover = chart.locator(".hoverlayer .hovertext")
    hover.wait_for()
    assert hover.text_content() == "at the end: ESS 1.60"
    span = "() => document.querySelector('.chart').layout.xaxis.range"
    before = page.evaluate(span)
    inside = chart.locator(".nsewdrag").bounding_box()
    assert inside is not None
    page.mouse.move(inside["x"] + 40, inside["y"] + 40)
    page.mouse.down()
    page.mouse.move(inside["x"] + 160, inside["y"] + 120, steps=4)
    page.mouse.up()
    page.wait_for_function("before => document.querySelector('.chart').layout.xaxis.range[0] !== before[0]", arg=before)


def test_ink_follows_the_theme_and_paper_is_light(opened: Opened) -> None:
    inked(opened.page, "rgb(22, 32, 42)")
    opened.page.emulate_media(color_scheme="dark")
    inked(opened.page, "rgb(233, 236, 232)")
    opened.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    inked(opened.page, "rgb(22, 32, 42)")


def inked(page: Page, colour: str) -> None:
    """Wait until some line has this colour."""
    lines = "[...document.querySelectorAll('.chart .js-line')]"
    page.wait_for_function(f"colour => {lines}.some((line) => getComputedStyle(line).stroke === colour)", arg=colour)
