"""report.html in a real browser, from disk and without a network: live charts."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.reporting.builders import dataset, run
from tests.reporting.test_document import HOSTILE
from tests.reporting.test_markdown import smc_run
from vpp.reporting.document import report_html

pytestmark = pytest.mark.browser


def test_a_report_asks_for_nothing_fits_and_has_charts_that_answer_and_follow_the_theme(
    browser: Browser, tmp_path: Path
) -> None:
    """Every text of its run is hostile."""
    labels = [f"{HOSTILE} 1", f"{HOSTILE} 2"]
    data = dataset(labels, labels, name=f"col {HOSTILE}", target=f"target {HOSTILE}")
    reader = run(tmp_path, *smc_run(data, (f"a {HOSTILE}", f"b {HOSTILE}")), data=data, name=HOSTILE)
    report = tmp_path / "report.html"
    report.write_text(report_html(reader), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1440, "height": 1000}, offline=True, color_scheme="light")
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: complaints.append(said.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report.as_uri())
    page.locator(".chart").last.locator(".main-svg").first.wait_for()
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
    assert page.locator(".chart").count() == page.locator(".chart .plot-container").count() == 3
    point_and_zoom(page)
    inked(page, "rgb(22, 32, 42)")
    page.emulate_media(color_scheme="dark")
    inked(page, "rgb(233, 236, 232)")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    inked(page, "rgb(22, 32, 42)")
    assert asked == [report.as_uri()]
    assert complaints == []
    context.close()


def point_and_zoom(page: Page) -> None:
    page.wait_for_timeout(1000)  # a resized chart is redrawn a moment later, which takes its hover label away
    chart = page.locator(".chart").first
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


def inked(page: Page, colour: str) -> None:
    """Wait until some line has this colour."""
    lines = "[...document.querySelectorAll('.chart .js-line')]"
    page.wait_for_function(f"colour => {lines}.some((line) => getComputedStyle(line).stroke === colour)", arg=colour)
