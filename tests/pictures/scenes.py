"""What is photographed: an address, what must be on the page, and what is done there first."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, expect

from tests.pictures.flaws import rest

CSV = Path(__file__).parents[2] / "assets" / "examples" / "penguins.csv"
Stage = Literal["empty", "live", "finished"]
Act = Callable[[Page], None]

# What the app calls things: one place to change where a page does.
START = "Start the run"
SERVER = "My endpoint"
SEED = "Seed"
SLIDER = "Step shown"
OPEN_ROW = "Open a row"
DIVIDED = "row 315 (test)"
ANCESTORS = "Ancestors of particle"
PAUSE = 'button:has(p:text-is("Pause"))'
CARD = "article.card"
DECK = ".deck"
STATE = ".vpp .state"
MAIN = '[data-testid="stMain"]'
TITLE = ".vpp h1"
OPENED = ".vpp h1, .vpp .state"
FOLD = "article.card details > summary"
REJECTED = "rejected proposal"
MATRIX = "table.mx"
LEDGER = "article.out"
TREE = ".tree svg"
CHART = ".js-plotly-plot .main-svg"


def nothing(page: Page) -> None:
    """The page as it opens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One page in one state."""

    name: str
    stage: Stage
    address: str
    """With the runs' ids in braces: {run}, {other}, {failed}."""
    needs: tuple[str, ...]
    """Selectors: without one of them there is no picture."""
    act: Act = nothing
    """After the page is there, before the picture."""
    is_alert: bool = False

    @property
    def is_live(self) -> bool:
        """Whether it moves while it is photographed."""
        return self.stage == "live"


def upload(page: Page) -> None:
    """A table of one's own."""
    page.locator('input[type="file"]').set_input_files(str(CSV))
    page.get_by_role("button", name=START).wait_for()
    rest(page)


def name_server(page: Page) -> None:
    """A table and a server."""
    upload(page)
    page.get_by_role("radio", name=SERVER).or_(page.get_by_role("button", name=SERVER)).first.click()
    for label, words in (("Address", "http://localhost:8000/v1"), ("Model", "meta-llama/Llama-3.3-70B-Instruct")):
        page.get_by_label(label, exact=True).fill(words)
        page.keyboard.press("Tab")
        rest(page)


def replay(page: Page) -> None:
    """A step that ended in resampling."""
    show_step(page, 11)


def open_rejected(page: Page) -> None:
    """A proposal that was turned down, with the arithmetic of the decision."""
    show_step(page, 3)
    page.locator(FOLD).filter(has_text=REJECTED).first.click()


def show_step(page: Page, step: int) -> None:
    """On Watch, by the slider."""
    page.get_by_role("slider", name=SLIDER).fill(str(step))
    page.get_by_text(f"Hypotheses at step {step}").wait_for()


def open_ancestors(page: Page) -> None:
    """Those of the first particle."""
    choose(page, ANCESTORS, "0")


def ask_row(page: Page) -> None:
    """A row of the data, put to every particle."""
    choose(page, "Begin with a row of the data", DIVIDED)
    expect(page.get_by_label("year", exact=True)).not_to_have_value("")
    page.get_by_role("button", name="Ask ten particles").click()
    page.get_by_label("what the particles say").wait_for()


def open_point(page: Page) -> None:
    """The point that divides them most: the matrix has it on top."""
    row = page.locator(f"{MATRIX} tbody th").first.inner_text()
    choose(page, OPEN_ROW, row.strip())


def ask_what_settles(page: Page) -> None:
    """Inputs made up, and the particles asked about them."""
    page.get_by_role("button", name="Ask the posterior about").click()
    page.get_by_label("True answer").first.wait_for()


def choose(page: Page, label: str, option: str) -> None:
    """In a select box, by typing."""
    box = page.get_by_role("combobox", name=label)
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).click()


def before_any_run(name: str, page: str, *needs: str, act: Act = nothing, is_alert: bool = False) -> Scene:
    """A page as a stranger finds it."""
    return Scene(name=name, stage="empty", address=page, needs=needs, act=act, is_alert=is_alert)


def of_run(name: str, page: str, *needs: str, act: Act = nothing, stage: Stage = "finished") -> Scene:
    """A page of the run that was started in the app."""
    return Scene(name=name, stage=stage, address=f"{page}?run={{run}}", needs=needs, act=act)


def beside(name: str, address: str, *needs: str, act: Act = nothing, is_alert: bool = False) -> Scene:
    """A page that shows more than that run, or another."""
    return Scene(name=name, stage="finished", address=address, needs=needs, act=act, is_alert=is_alert)


SCENES = (
    before_any_run("front", "", TITLE),
    before_any_run("new-run", "", TITLE, ".plan", act=upload),
    before_any_run("new-run-endpoint", "", TITLE, ".plan", act=name_server),
    before_any_run("watch-empty", "watch", STATE),
    before_any_run("posterior-empty", "posterior", STATE),
    before_any_run("compare-empty", "compare", STATE),
    before_any_run("paper-empty", "paper", STATE),
    of_run("watch-live", "watch", CARD, CHART, PAUSE, stage="live"),
    of_run("watch", "watch", CARD, CHART),
    of_run("watch-step", "watch", CARD, CHART, act=replay),
    of_run("posterior", "posterior", DECK, TREE, LEDGER),
    of_run("posterior-ancestors", "posterior", TREE, act=open_ancestors),
    of_run("posterior-asked", "posterior", TREE, act=ask_row),
    of_run("disagreement", "disagreement", MATRIX, CHART),
    of_run("disagreement-point", "disagreement", MATRIX, act=open_point),
    of_run("disagreement-settle", "disagreement", MATRIX, act=ask_what_settles),
    of_run("report", "report", ".report"),
    beside("front-again", "", TITLE),
    beside("watch-chains", "watch?run={other}", CARD, CHART, act=open_rejected),
    beside("compare", "compare?run={run}&compare={run},{other}", CHART),
    beside("paper", "paper", ".beside"),
    beside("watch-failed", "watch?run={failed}", STATE, is_alert=True),
    beside("run-not-found", "watch?run=none-of-this-name", STATE, is_alert=True),
)
