"""Opening runs and starting them: the run in the address, the shipped examples, new runs and resumed ones."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import streamlit as st

from pages.parts import blocks, person
from vpp.environment import command_path
from vpp.errors import RunError, VppError
from vpp.findings.cost import demo_time_words
from vpp.runs.directory import RunDirectory, State
from vpp.runs.process import launch
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.store import CHAINS_EXAMPLE, EXAMPLE, REAL_EXAMPLE, TEXT_EXAMPLE, unpack
from vpp.runs.store import EXAMPLES as SHIPPED_RUNS
from vpp.settings import Config
from vpp.show import markup
from vpp.show.words import capitalised

if TYPE_CHECKING:
    from vpp.runs.preparation import Preparation

ASSETS = Path(__file__).parents[2] / "assets"
EXAMPLES = ASSETS / "examples"
LIVE: tuple[State, ...] = ("queued", "running", "paused", "stalled")
DELETED = "frame.deleted"  # session key: id of the run that was just deleted, until a page has said so
FILE = "new.file"  # session key: the upload in use, as (name, bytes)
FROM = "new.again"  # session key: id of the run that is started again
SOURCE, TASK = "new.source", "new.task"  # session keys: where the table comes from, and the task of the paper
MOST_READ = 24  # runs held in memory, besides those that somebody watches: a large one takes some 100 MB
PICK = "Pick one of the list of runs, or begin here."
UPLOAD = "Upload a file"
PRODUCT = "Sentences that explain a column, weighed by your data"
ABOUT = "A model writes hypotheses, your rows weigh them. Where they disagree, the answer is “I don’t know”."
OWN = '<p><a href="#new-data">Use your own table</a></p>'
PENGUINS = "Penguin species: hypotheses compete to the end. Right on all 55 rows they answer, “I don’t know” on 5."
FINISHED, WATCH_LIVE = "Look at a finished example", "Watch the example live"
SHIPPED_WORDS = {
    EXAMPLE: "Penguin species, finished",
    CHAINS_EXAMPLE: "Penguin species, three chains",
    REAL_EXAMPLE: "Titanic survivors, by a language model",
    TEXT_EXAMPLE: "Hypotheses about messages, by a language model",
}


@dataclass(frozen=True, slots=True)
class OpenRun:
    """The run that a page shows."""

    directory: RunDirectory
    reader: RunReader
    snapshot: Snapshot

    @property
    def key(self) -> str:
        """Name of the run in component keys. A folder's name would not do: Streamlit refuses `__`."""
        return sha256(os.fsencode(self.directory.id)).hexdigest()[:12]


@st.cache_resource(max_entries=MOST_READ, show_spinner=False)
def reader(path: str) -> RunReader:
    return RunReader(RunDirectory(path))


def settings(directory: RunDirectory) -> RunSpec | None:
    """Return the run's settings, read again once they have changed; None if they cannot be read."""
    try:
        return _settings(directory.path, (directory.path / "run.json").stat().st_mtime_ns)
    except (OSError, VppError):
        return None


@lru_cache(maxsize=2_000)
def _settings(path: Path, changed_at: int) -> RunSpec:
    return RunDirectory(path).spec()


def open_in(run: str, page: str) -> None:
    st.session_state["run"] = run
    st.switch_page(page, query_params={"run": run})


def open_run(page: str, shows: str) -> OpenRun:
    """Return the run named in the address, or opened before; without one, end with an empty page that says what to do.

    page: its title. shows: what it does with a run, as the rest of a sentence that begins with the title.
    """
    name = st.query_params.get("run") or st.session_state.get("run")
    if not name:
        deleted = st.session_state.pop(DELETED, None)
        about = f"Deleted run {deleted}." if deleted else f"{page} {shows}"
        if person.store().runs():
            empty(page, "No run is open", about, PICK)
        empty(page, "No runs yet", about, "Begin with an example, or with a table of your own.")
    try:
        directory = person.store().get(name)
    except RunError:
        st.session_state.pop("run", None)
        why = "it may have been deleted, or the link was made elsewhere."
        gone = f"There is no run {name} among the runs of this app: {why}"
        empty(page, "This run cannot be opened", gone, PICK, failed=True)
    try:
        of_run = reader(str(directory.path))
        snapshot = of_run.refresh()
        of_run.dataset()
    except VppError as error:
        st.session_state.pop("run", None)
        empty(page, "This run cannot be opened", str(error), failed=True)
    st.session_state["run"] = st.query_params["run"] = directory.id
    return OpenRun(directory, of_run, snapshot)


def fresh(run: OpenRun) -> Snapshot:
    """Return the open run's present state. If it can no longer be read, rerun the page: `open_run` then says why."""
    try:
        return run.reader.refresh()
    except VppError:
        st.rerun()


def follow(run: OpenRun, draw: Callable[[Snapshot], None], *, every_s: float) -> None:
    """Draw a part of a page, again and again while the run is live."""

    def has_changed() -> bool:
        now, before = fresh(run), run.snapshot
        return now.state != before.state or bool(now.view.population) != bool(before.view.population)

    blocks.refreshed(lambda: draw(fresh(run)), has_changed, every_s=every_s if run.snapshot.state in LIVE else None)


def empty(page: str, head: str, *words: str, failed: bool = False) -> NoReturn:
    """End the page with a box: why there is no run to show, and the ways to begin."""
    blocks.draw(markup.title(page))
    with st.container(key="empty"):
        blocks.draw(markup.state(head, *words, failed=failed))
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Look at a finished example", type="primary", key="frame.finished"):
                open_example()
            if st.button("Use my own CSV", key="frame.own"):
                st.switch_page("pages/new_run.py")
            if failed:
                st.page_link("pages/new_run.py", label="Back to New run")
    st.stop()


def not_yet(run: OpenRun, head: str, *words: str) -> None:
    with st.container(key="empty"):
        blocks.draw(markup.state(head, *words))
        if st.button("Watch the run", key="frame.watch"):
            open_in(run.directory.id, "pages/watch.py")


def open_example(name: str = EXAMPLE) -> None:
    try:
        directory = unpack(EXAMPLES / name, person.store().folder)
    except VppError as error:
        blocks.refuse("The example cannot be opened", error)
    open_in(directory.id, "pages/watch.py")


def start(directory: RunDirectory) -> None:
    """Resume a run, or raise its cap, with a new worker; then show it on Watch."""
    with refusals():
        with person.starting(directory.spec().endpoint, directory) as keys:
            launch(directory, keys=keys, environment=person.variables())
        open_in(directory.id, "pages/watch.py")


def start_new(prepared: "Preparation") -> None:
    """Write a new run, start its worker, and show it on Watch. Nothing is written where a cap is reached."""
    with refusals("The run cannot start"):
        with person.starting(prepared.spec.endpoint) as keys:
            directory = prepared.create(person.store().folder)
            launch(directory, keys=keys, environment=person.variables())
        open_in(directory.id, "pages/watch.py")


@contextmanager
def refusals(head: str = "That could not be done") -> Iterator[None]:
    try:
        yield
    except VppError as error:
        blocks.failed(head, str(error))


# The penguins, explained by the demo model: live, and the finished run that is shipped

READABLE_MS = 900  # latency at which a person can read along
SHIPPED = EXAMPLES / EXAMPLE
TABLE = EXAMPLES / "penguins.csv"
EXAMPLE_ROWS = {"n_train": 100, "n_test": 60}
EXAMPLE_CONFIG = Config(epochs=1, seed=95)  # most seeds end with one heavy hypothesis, this one with two
COMMAND: tuple[str, ...] = (
    *("run", str(command_path(TABLE)), "--target", "species", "--name", "Penguins", "--demo", "--no-cache"),
    *("--epochs", "1", "--seed", "95"),
)


def prepare_example(config: Config = EXAMPLE_CONFIG, *, latency_ms: int = 0) -> "Preparation":
    """Prepare a run on the penguins, without the cache: a second run would end before it could be read."""
    # Late: only a start needs pandas, and the first paint should not wait for it.
    from vpp.data.build import build_dataset
    from vpp.data.split import SplitPlan
    from vpp.data.table import Table
    from vpp.runs.preparation import Preparation

    table = Table.read(TABLE.read_bytes(), name=TABLE.name)
    return Preparation(
        dataset=build_dataset(table, target="species", split=SplitPlan(seed=config.seed)),
        spec=RunSpec(
            name="Penguins",
            config=config,
            endpoint=EndpointSpec(demo=True, demo_latency_ms=latency_ms, model="demo", cache=False),
            command=COMMAND,
        ),
    )


def introduce() -> None:
    """Draw the page's title and the examples in one menu; for a newcomer the product, with a picture."""
    if words := person.open_words():
        blocks.captions(words)
    is_begun = FILE in st.session_state or FROM in st.session_state or st.session_state.get(TASK)
    is_begun = is_begun or st.session_state.get(SOURCE) not in (None, UPLOAD)
    if is_begun or any(run.id not in SHIPPED_RUNS for run in person.store().runs()):
        acts = {WATCH_LIVE: run_example} | {words: partial(open_example, run) for run, words in SHIPPED_WORDS.items()}
        with st.container(key="new_head", horizontal=True, vertical_alignment="center"):
            blocks.draw(markup.title("New run"))
            chosen = st.menu_button("Examples", list(acts), key="new.examples")
        if chosen:
            acts[chosen]()
        return
    left, right = st.columns([1, 1.2], gap="large")
    with left:
        blocks.draw(markup.title(PRODUCT), f'<p class="say">{markup.text(ABOUT)}</p>')
        with st.container(key="new_ways"):
            if st.button(WATCH_LIVE, type="primary", key="new.run_example", width=260):
                run_example()
            blocks.captions(f"{capitalised(live_words())}, without a key or a network.")
            if st.button(FINISHED, key="new.look", width=260):
                open_example()
            blocks.captions(PENGUINS)
            blocks.draw(OWN)
    right.html(markup.block((ASSETS / "first_look.html").read_text(encoding="utf-8")))


def live_words() -> str:
    """Say what the live example takes, by the estimate that the form shows for any run."""
    return demo_time_words(EXAMPLE_CONFIG, latency_ms=READABLE_MS, **EXAMPLE_ROWS)


def run_example() -> None:
    start_new(prepare_example(latency_ms=READABLE_MS))
