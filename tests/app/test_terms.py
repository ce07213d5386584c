"""Every number of a page has its meaning one press away, and a refresh leaves alone what a reader has opened."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests import inspected
from tests.app.conftest import App, Visit, serving
from tests.app.drawn import app_over, opened, shown
from tests.beside import other, under
from tests.reporting.sampled import VARIANTS, sampled
from vpp.reporting.markdown import terms
from vpp.runs.reader import RunReader
from vpp.usage import Usage
from vpp.wording.glossary import BY_LABEL, GLOSSARY

PRESSED = re.compile(r'popovertarget="(term-[^"]+)">')
NUMBERS = re.compile(r"<dt>(.*?)</dt>")
LABELS, OTHER, NUMBERED = "20260101-0000-labels", "20260102-0000-other", "20260103-0000-numbers"


def runs_of(folder: Path) -> dict[str, RunReader]:
    """Runs of labels, two of them on the same rows, and of numbers; methods with numbers of their own."""
    runs = folder / "runs"
    runs.mkdir()
    made = {LABELS: inspected.labels, OTHER: other, NUMBERED: inspected.numbers}
    found = {name: under(make(folder / name), runs, name) for name, make in made.items() if not (folder / name).mkdir()}
    for name in ("adaptive", "vml5", "growing"):
        found[name] = under(sampled(folder / name, VARIANTS[name]), runs, name)
    return found


def seen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Every page that shows numbers, of the runs that have them."""
    runs, app = runs_of(folder), app_over(folder / "runs", monkeypatch)
    shows = dict.fromkeys((LABELS, NUMBERED), ("watch", "posterior", "disagreement"))
    shows |= {"adaptive": ("watch",), "growing": ("watch",), "vml5": ("watch", "posterior"), OTHER: ("compare",)}
    for name, pages in shows.items():
        for page in pages:
            app.query_params["run"] = name
            yield shown(opened(app, runs[name], page))


def test_every_number_has_its_meaning_and_no_meaning_is_unused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = "".join(seen(tmp_path, monkeypatch))
    names = NUMBERS.findall(drawn)
    assert len(names) > 20
    assert [name for name in names if "<button" not in name] == []
    of_reports = {
        BY_LABEL[name].id
        for config in (*VARIANTS.values(), replace(VARIANTS["mh"], early_rejection=True))
        for task in ("classification", "regression")
        for name in terms(config, task)
    }
    unused = {entry.id for entry in GLOSSARY} - set(PRESSED.findall(drawn)) - of_reports
    assert unused == set()


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, RunReader]]:
    """An app with a run of labels that is finished, and one that a worker holds."""
    folder = tmp_path_factory.mktemp("held")
    runs = folder / "runs"
    runs.mkdir()
    under(inspected.labels(folder), runs, LABELS)
    live = under(other(folder, asked=False), runs, OTHER)
    with ExitStack() as held:
        held.enter_context(live.directory.lock())
        live.directory.beat(asdict(Usage(learner=3)), queued=False)
        yield held.enter_context(serving(runs)), live


@pytest.mark.browser
def test_a_meaning_that_is_read_stays_while_the_numbers_move(held: tuple[App, RunReader], visit: Visit) -> None:
    app, live = held
    page = visit.page
    page.goto(f"{app.url}/watch?run={OTHER}")
    term = page.locator(".strip button.term", has_text="ESS")
    calls = page.locator(".strip > div", has_text="Calls").locator("dd").first
    term.focus()
    page.keyboard.press("Enter")
    meaning = page.locator("#term-ess")
    meaning.wait_for(state="visible")
    live.directory.beat(asdict(Usage(learner=7_000)), queued=False)
    calls.filter(has_text="7,000").wait_for()
    assert "Effective sample size" in meaning.inner_text()
    assert page.evaluate("document.activeElement.textContent") == "ESS"
    page.keyboard.press("Escape")
    meaning.wait_for(state="hidden")


@pytest.mark.browser
def test_a_row_is_opened_by_keys_or_by_a_press_and_a_wide_matrix_says_so(
    held: tuple[App, RunReader], visit: Visit
) -> None:
    app, _ = held
    page = visit.page
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{app.url}/disagreement?run={LABELS}")
    rows = page.locator(".mx button.row")
    rows.first.wait_for()
    assert re.fullmatch(r"[1-7] of 8 columns in view: scroll sideways\.", page.locator(".cue").first.inner_text())
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".mx tr.under h2", has_text="Row 7").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "7"
    page.locator('.mx tr[data-row="9"] td.in').click()
    page.locator(".mx tr.under h2", has_text="Row 9").wait_for()
    page.locator('.mx tr[data-row="9"] td.in').click()
    page.locator(".mx tr.under").wait_for(state="detached")
