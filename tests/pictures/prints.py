"""The pictures in docs/pictures: the address, what is done there, and the part of the page that is shown."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, expect

from vpp.show.figures import Mode

CSV = Path(__file__).parents[2] / "assets" / "examples" / "penguins.csv"
Stage = Literal["empty", "finished"]

START = "Start the run"
CARD = "article.card"
CURVE = ".stage .curve svg"
MATRIX = "table.mx"
RUN = "{run}"
"""Stands for the run's id."""
MOMENT_MS = 300
AT_REST = """() => !document.querySelector(
  '[data-testid*="skeleton" i], [data-testid="stStatusWidget"], [data-stale="true"]')"""
"""Test ids of Streamlit 1.67."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """A part of a page, from one selector's top to another's; without a first one, of the window with its sidebar."""

    name: str
    stage: Stage = "finished"
    address: str
    """Runs' ids stand in braces."""
    needs: tuple[str, ...]
    """Selectors: without one of them there is no picture."""
    act: Callable[[Page], None] = lambda page: None
    """Done on the page before the picture."""
    first: str = ""
    until: str = ""
    at_most: int = 1400
    """CSS pixels of height."""
    mode: Mode = "light"
    width: int = 1440


def rest(page: Page) -> None:
    """Wait until nothing is being drawn; a moment first, since work begins a little after what asks for it."""
    page.wait_for_timeout(MOMENT_MS)
    page.wait_for_function(AT_REST, timeout=30_000)


def section(title: str) -> str:
    """Return the selector of a section's head."""
    return f'.sec:has(h2:has-text("{title}"))'


def upload(page: Page) -> None:
    """Upload a table."""
    page.locator('input[type="file"]').set_input_files(str(CSV))
    page.get_by_role("button", name=START).wait_for()
    rest(page)


def name_server(page: Page) -> None:
    """Upload a table and name a server."""
    upload(page)
    page.get_by_role("radio", name="My endpoint").or_(page.get_by_role("button", name="My endpoint")).first.click()
    for label, words in (("Address", "http://localhost:8000/v1"), ("Model", "meta-llama/Llama-3.3-70B-Instruct")):
        page.get_by_label(label, exact=True).fill(words)
        page.keyboard.press("Tab")
        rest(page)


def show_step(page: Page, step: int) -> None:
    """Move the slider of Watch."""
    page.get_by_role("slider", name="Step shown").fill(str(step))
    page.get_by_text(f"Step {step} of").first.wait_for()


def ask_row(page: Page) -> None:
    """Ask every particle about a row of the data."""
    choose(page, "Begin with a row of the data", "row 129 (test)")
    expect(page.get_by_label("year", exact=True)).not_to_have_value("")
    page.get_by_role("button", name="Ask about this row").click()
    page.get_by_label("what the hypotheses say").wait_for()


def put_on_trial(page: Page) -> None:
    """Test whether the model obeys, and wait for what came of it."""
    page.get_by_role("button", name="Test the hypotheses").click()
    page.get_by_label("the trial").wait_for()


def ask_inputs(page: Page) -> None:
    """Ask the posterior about unlabelled inputs, and wait for the list."""
    page.get_by_role("button", name=re.compile("Ask about .* rows")).click()
    page.get_by_text("Labelling sheet (CSV)").wait_for()


def choose(page: Page, label: str, option: str) -> None:
    """Choose from a select box by typing."""
    box = page.get_by_role("combobox", name=label)
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).click()


TOP = ".vpp .title"
ASK, TRIAL, OUT = map(section, ("Ask about new rows", "Does the model obey the rule?", "Ruled out"))
LABELS = section("Most informative labels to collect")
WATCH, POSTERIOR, DISAGREEMENT = (f"{page}?run={RUN}" for page in ("watch", "posterior", "disagreement"))
PRINTS = (
    Print(name="front", stage="empty", address="", needs=("h1",), at_most=1000),
    Print(name="new-run", stage="empty", address="", needs=(".cost",), act=upload, first=section("Table"),
          until=section("Model")),
    Print(name="endpoint", stage="empty", address="", needs=(".cost",), act=name_server, first=section("Model")),
    Print(name="watch", address=WATCH, needs=(CARD, CURVE), act=lambda page: show_step(page, 4),
          until="article.card >> nth=3", at_most=1800),
    Print(name="posterior", address=POSTERIOR, needs=(".deck",), first=TOP, until=ASK, at_most=2200),
    Print(name="asked", address=POSTERIOR, needs=(".deck",), act=ask_row, first=ASK, until=TRIAL),
    Print(name="trial", address=POSTERIOR, needs=(".deck",), act=put_on_trial, first=TRIAL, until=OUT),
    Print(name="disagreement", address=DISAGREEMENT, needs=(MATRIX,), first=TOP, until=LABELS),
    Print(name="labelling", address=DISAGREEMENT, needs=(MATRIX,), act=ask_inputs,
          first=LABELS, at_most=900),
    Print(name="report", address=f"report?run={RUN}", needs=(".report",), first=TOP, at_most=1100),
)  # fmt: skip
