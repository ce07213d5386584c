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
from vpp.runs.directory import RunDirectory, State
from vpp.runs.process import launch
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.store import CHAINS_EXAMPLE, EXAMPLE, REAL_EXAMPLE, TEXT_EXAMPLE, unpack
from vpp.runs.store import EXAMPLES as SHIPPED_RUNS
from vpp.settings import Config
from vpp.show import markup

if TYPE_CHECKING:
    from vpp.runs.preparation import Preparation

ASSETS = Path(__file__).parents[2] / "assets"
EXAMPLES = ASSETS / "examples"
LIVE: tuple[State, ...] = ("queued", "running", "paused", "stalled")
DELETED = "frame.deleted"
"""Session key: id of the run that was just deleted, until a page has said so."""
PICK = "Pick one of the list of runs, or begin here."
MOST_READ = 24
"""Runs held in memory, besides those that somebody watches: a large one takes some 100 MB. A list holds none."""
FILE = "new.file"
"""Session key: the upload in use, as (name, bytes)."""
FROM = "new.again"
"""Session key: id of the run that is started again."""
SENTENCES = (
    "You give a table; ten explanations of one column come out, each a sentence that a model applies to your rows.",
    "The data weigh them: what fits gains weight, what fails is dropped, and the rest are rewritten, step by step.",
    "Where those left disagree too much, the answer is “I don’t know”, and you see the sentences for and against.",
)
PENGUINS = "Penguin species: hypotheses compete to the end. Right on all 54 rows they answer, “I don’t know” on 6."
LIVE_EXAMPLE = "The same run, live: about 15 seconds, no key, no network."
CHAINS = "Metropolis-Hastings on penguins: three chains accept or reject each rewrite, and end on three hypotheses."
TITANIC = "Titanic survivors, by a small language model, Qwen2.5-Coder-1.5B, and the rows that it gets wrong."
OWN_HUNCHES = "Look at hypotheses about texts"
MESSAGES = "Messages to a shop: the same model reads a person’s three hypotheses, and one gets nearly all the weight."
JUMP = '<p class="jump"><a href="#new-data">Use your own table</a></p>'
"""Link to the upload, on a narrow page."""


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
    return _settings(directory.path, written_at(directory))


def written_at(directory: RunDirectory) -> int:
    """Return when the run's settings were last written, in nanoseconds; 0 if they are missing."""
    try:
        return (directory.path / "run.json").stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=2_000)
def _settings(path: Path, changed_at: int) -> RunSpec | None:
    try:
        return RunDirectory(path).spec()
    except VppError:
        return None


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
    """Draw a part of a page, again and again while the run is live. A change of its state draws the whole page anew.

    Give each part a container of its own: Streamlit tells fragments apart by their place.
    """
    is_whole = bool(run.snapshot.view.population)

    @st.fragment(run_every=every_s if run.snapshot.state in LIVE else None)
    def part() -> None:
        snapshot = fresh(run)
        if snapshot.state != run.snapshot.state or bool(snapshot.view.population) != is_whole:
            st.rerun()
        draw(snapshot)

    part()


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

READABLE_MS = 450
"""Latency of the demo speed `readable`, at which a person can read along."""
SHIPPED = EXAMPLES / EXAMPLE
"""The folder of the finished run."""
TABLE = EXAMPLES / "penguins.csv"
EXAMPLE_CONFIG = Config(epochs=1, seed=210)
"""Of the finished run and the live one. Most seeds end with one heavy hypothesis; this one with three that differ."""
COMMAND = (
    *("run", str(command_path(TABLE)), "--target", "species", "--name", "Penguins", "--demo", "--no-cache"),
    *("--epochs", "1", "--seed", "210"),
)
"""Arguments that repeat the finished run."""


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
    """Draw five ways to try the app, and for a newcomer what it does, with a picture."""
    if words := person.open_words():
        blocks.captions(words)
    blocks.draw(markup.title("New run", "A table goes in; competing explanations of one column come out."))
    ways: tuple[tuple[str, str, str, Callable[[], None]], ...] = (
        ("Look at a finished example", "new.look", PENGUINS, open_example),
        ("Run the example", "new.run_example", LIVE_EXAMPLE, run_example),
        ("Look at three chains", "new.look_chains", CHAINS, partial(open_example, CHAINS_EXAMPLE)),
        ("Look at a language model’s run", "new.look_real", TITANIC, partial(open_example, REAL_EXAMPLE)),
        (OWN_HUNCHES, "new.look_texts", MESSAGES, partial(open_example, TEXT_EXAMPLE)),
    )
    with st.container(key="new_ways"):
        for place, (label, key, line, act) in blocks.in_columns(ways, len(ways)):
            if place.button(label, type="primary" if key == "new.look" else "secondary", key=key):
                act()
            place.html(markup.block(markup.caption(line)))
    is_begun = FILE in st.session_state or FROM in st.session_state
    if not is_begun and all(run.id in SHIPPED_RUNS for run in person.store().runs()):
        # The picture is at their right, on a narrow page after the first.
        first, *others = map(markup.saying, SENTENCES)
        picture = (ASSETS / "first_look.html").read_text(encoding="utf-8")
        blocks.draw(f'<div class="intro">{first}{JUMP}{picture}{"".join(others)}</div>')


def run_example() -> None:
    start_new(prepare_example(latency_ms=READABLE_MS))
