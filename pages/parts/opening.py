"""The run that a page shows, with its header; the shipped examples; new runs and resumed ones."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NoReturn

import streamlit as st

from pages.parts import blocks, person
from pages.parts.blocks import ASSETS
from vpp.data.dataset import Dataset
from vpp.data.descriptions import Descriptions
from vpp.environment import command_path
from vpp.errors import RunError, VppError
from vpp.findings import verdict
from vpp.findings.cost import time_words
from vpp.findings.options import METHODS, changed_words
from vpp.findings.programs import ProgramReading, program_readings
from vpp.findings.progress import health
from vpp.findings.status import when_words
from vpp.runs.budget import demo_pace, plan_of, time_s
from vpp.runs.directory import RunDirectory, RunReader, Snapshot, State, read_summary
from vpp.runs.process import launch
from vpp.runs.spec import RunSpec
from vpp.runs.store import CHAINS_EXAMPLE, EXAMPLE, PAPER_EXAMPLE, REAL_EXAMPLE, TEXT_EXAMPLE, creation_time, unpack
from vpp.runs.store import EXAMPLES as SHIPPED_RUNS
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show import markup
from vpp.show.blocks import Say
from vpp.show.words import capitalised, counted

if TYPE_CHECKING:
    from vpp.runs.preparation import Preparation

EXAMPLES = ASSETS / "examples"
LIVE: tuple[State, ...] = ("queued", "running", "paused", "stalled")
DELETED = "frame.deleted"  # session key: id of the run that was just deleted, until a page has said so
FILE = "new.file"  # session key: the upload in use, as (name, bytes)
FROM = "new.again"  # session key: id of the run that is started again
NEWCOMER = "new.front"  # session key: whether the front page was drawn, until a run is opened
SOURCE = "new.source"  # session key: where the table comes from
READERS = 24  # finished runs in memory: a large one takes some 100 MB
VERDICT_S = 3.0
TO_COME = (
    "The verdict comes at the end: how often it is right, beside a simple model, and how certain it was when wrong."
)
PICK = "Pick one of the list of runs, or begin here."


@dataclass(frozen=True, slots=True)
class OpenRun:
    directory: RunDirectory
    reader: RunReader
    snapshot: Snapshot

    @property
    def id(self) -> str:
        return self.directory.id

    @property
    def key(self) -> str:
        """Name of the run in component keys. A folder's name would not do: Streamlit refuses `__`."""
        return sha256(os.fsencode(self.id)).hexdigest()[:12]

    @property
    def is_live(self) -> bool:
        return self.snapshot.state in LIVE

    def now(self) -> Snapshot:
        """Return the present state. If the run can no longer be read, rerun the page: `open_run` then says why."""
        try:
            return self.reader.refresh()
        except VppError:
            st.rerun()


@st.cache_resource(max_entries=READERS, show_spinner=False)
def reader(path: str) -> RunReader:
    return RunReader(RunDirectory(path))


def settings(directory: RunDirectory) -> RunSpec | None:
    with suppress(VppError):
        return directory.spec()
    return None


def open_in(run: str, page: str) -> None:
    st.session_state["run"] = run
    st.session_state.pop(NEWCOMER, None)
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


def follow(run: OpenRun, draw: Callable[[Snapshot], None], *, every_s: float) -> None:
    def has_changed() -> bool:
        now, before = run.now(), run.snapshot
        return now.state != before.state or bool(now.view.population) != bool(before.view.population)

    blocks.refreshed(lambda: draw(run.now()), has_changed, every_s=every_s if run.is_live else None)


def empty(page: str, head: str, *words: str, failed: bool = False) -> NoReturn:
    blocks.draw(markup.title(page))
    with st.container(key="empty"):
        blocks.draw(markup.state(head, *words, failed=failed))
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(FINISHED, type="primary", key="frame.end"):
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
            open_in(run.id, "pages/watch.py")


def readings(run: OpenRun, snapshot: Snapshot, hypotheses: Iterable[str]) -> Mapping[str, ProgramReading]:
    return program_readings(snapshot.view, run.reader.read_answers(), run.reader.dataset(), hypotheses)


# The header of a page: which run it is, and the verdict on it


def head(run: OpenRun, words: str, *, has_verdict: bool = True) -> None:
    """Draw the page's title, a line that identifies the run, with other settings and descriptions folded; the verdict.

    has_verdict: false for a page that begins with it.
    """
    spec = run.snapshot.spec
    config, dataset, is_demo = spec.config, spec.dataset, spec.endpoint.is_demo
    n_calibration = dataset.get("n_calibration", 0)
    identity = (
        f"{counted(len(spec.pooled), 'run')} weighed together" if spec.pooled else METHODS[config.method].name,
        counted(dataset["n_train"], "training row"),
        "" if is_demo else spec.endpoint.model,
    )
    details = (
        counted(dataset["n_test"], "test row"),
        counted(n_calibration, "calibration row") if n_calibration else "",
        f"K = {config.size}" if config.size != Config().size else "",
        f"seed {config.seed}" if config.seed else "",
        *changed_words(config, dataset["task"]),
        f"goes on from {spec.started_from}" if spec.started_from else "",
        f"run {run.id}",
    )
    meanings = Descriptions(**dataset.get("descriptions", {})).named(dataset["target"])
    folds = {"details": [_joined(details)], "what the columns mean": list(map(": ".join, meanings))}
    chip, of = markup.DEMO_CHIP if is_demo else "", "" if words == spec.name else spec.name
    blocks.draw(markup.title(words, _joined(identity), of=of, chip=chip, folds=folds))
    if has_verdict:
        rows = run.reader.dataset()
        follow(run, lambda snapshot: draw_verdict(run.directory, snapshot, rows), every_s=VERDICT_S)


def _joined(words: Iterable[str]) -> str:
    return " · ".join(filter(None, words))


def draw_verdict(directory: RunDirectory, snapshot: Snapshot, dataset: Dataset | None = None) -> None:
    """Draw the verdict on an ended run; in its place, how a live one does, and that its answers cannot be read.

    dataset: the rows, on a page that follows the run.
    """
    if snapshot.state in LIVE:
        how = f"{health(snapshot.view, dataset)}. " if dataset and snapshot.state == "running" else ""
        now = f'<div class="grade">{markup.html([Say(how + TO_COME)])}</div>'
        blocks.draw(*verdict.unread_alert(snapshot.view), now if dataset else "", label="Health")
    elif result := _verdict(str(directory.path), snapshot.view.last_at, directory, snapshot.view):
        kind = result.grade if result.is_success else "bad"
        blocks.draw(f'<div class="grade {kind}">{markup.html(verdict.blocks(result))}</div>', label="Verdict")


@st.cache_data(max_entries=200, show_spinner=False)
def _verdict(path: str, last_at: float | None, _directory: RunDirectory, _view: RunView) -> verdict.Verdict | None:
    return verdict.record_verdict(_directory, _view)


def made(directory: RunDirectory) -> str:
    return "shipped example" if directory.id in SHIPPED_RUNS else when_words(creation_time(directory), datetime.now())


# Starting runs


def start(directory: RunDirectory) -> None:
    """Resume a run, or raise its cap, with a new worker; then show it on Watch."""
    with refusals():
        with person.starting(directory.spec().endpoint, directory) as keys:
            launch(directory, keys=keys, environment=person.variables())
        open_in(directory.id, "pages/watch.py")


def start_new(prepared: "Preparation", seeds: int = 1) -> None:
    """Write a new run, start its worker, and show it on Watch; several seeds on Compare.

    Nothing is written where a cap is reached.
    """
    from vpp.runs.group import begin, start_open  # late: the first paint should not wait for pandas

    folder = person.store().folder
    with refusals("The run cannot start"):
        with person.starting(prepared.spec.endpoint, more=seeds) as keys:
            runs = [prepared.create(folder)] if seeds == 1 else begin(prepared, seeds, folder)
            start_open(runs, keys=keys, environment=person.variables())
        open_in(runs[0].id, "pages/watch.py" if seeds == 1 else "pages/compare.py")


@contextmanager
def refusals(head: str = "That could not be done") -> Iterator[None]:
    try:
        yield
    except VppError as error:
        blocks.failed(head, str(error))


# The examples, and the front page that offers them

READABLE_MS = 900  # latency of the demo model at which a person can read along
SHIPPED = EXAMPLES / EXAMPLE
TABLE = EXAMPLES / "penguins.csv"
UPLOAD = "Upload a file"
PRODUCT = "Sentences that explain a column, weighed by your data"
ABOUT = "A model writes hypotheses, your rows weigh them. Where they disagree, the answer is “I don’t know”."
OWN = '<a href="#new-data">Use your own table</a>'
FINISHED, WATCH_LIVE = "Look at a finished example", "Watch the example live"
SHIPPED_WORDS = {
    EXAMPLE: "Penguin species, finished",
    CHAINS_EXAMPLE: "Penguin species, three chains",
    REAL_EXAMPLE: "Titanic survivors, by a language model",
    TEXT_EXAMPLE: "Hypotheses about messages, by a language model",
    PAPER_EXAMPLE: "The paper’s sum parity, by a language model",
}


def introduce() -> None:
    """Draw the page's title and the examples in one menu; for a newcomer the product, with a picture."""
    if words := person.open_words():
        blocks.captions(words)
    is_begun = FILE in st.session_state or FROM in st.session_state
    is_begun = is_begun or st.session_state.get(SOURCE) not in (None, UPLOAD)
    # A run that another visitor begins does not take the buttons away from under a press.
    is_new = st.session_state.get(NEWCOMER) or all(run.id in SHIPPED_RUNS for run in person.store().runs())
    st.session_state[NEWCOMER] = is_new
    if is_begun or not is_new:
        with st.container(key="new_head", horizontal=True, vertical_alignment="center"):
            blocks.draw(markup.title("New run"))
            offer_examples("Examples")
        return
    left, right = st.columns([1, 1.2], gap="large")
    with left:
        blocks.draw(markup.title(PRODUCT), f'<p class="say">{markup.text(ABOUT)}</p>')
        with st.container(key="new_ways"):
            if st.button(WATCH_LIVE, type="primary", key="new.run_example", width=260):
                run_example()
            takes = time_words(time_s(plan_of(example()), demo_pace(example().endpoint)))
            blocks.captions(f"{capitalised(takes)}, without a key or a network.")
            if st.button(FINISHED, key="new.look", width=260):
                open_example()
            blocks.captions(f"Penguin species. {finished_words()}")
            with blocks.in_use(OWN, key="new_own"):
                offer_examples("All examples", type="tertiary")
    right.html(markup.block((ASSETS / "first_look.html").read_text(encoding="utf-8")))


def offer_examples(label: str, **button: Any) -> None:
    acts = {WATCH_LIVE: run_example} | {words: partial(open_example, run) for run, words in SHIPPED_WORDS.items()}
    if chosen := st.menu_button(label, list(acts), key="new.examples", **button):
        acts[chosen]()


def open_example(name: str = EXAMPLE) -> None:
    with refusals("The example cannot be opened"):
        open_in(unpack(EXAMPLES / name, person.store().folder).id, "pages/watch.py")


def finished_words() -> str:
    """`Right on all 55 test rows that it answered, “I don’t know” on 5.`: the first sentence of its verdict."""
    record = read_summary(RunDirectory(SHIPPED)).verdict
    return record["sentences"][0] if record else ""


def example() -> RunSpec:
    """Return the settings of the finished example, at a speed that a person can follow."""
    spec = RunDirectory(SHIPPED).spec()
    command = ("run", str(command_path(TABLE)), *spec.command[2:])
    return replace(spec, endpoint=replace(spec.endpoint, demo_latency_ms=READABLE_MS), command=command)


def run_example() -> None:
    from vpp.runs.preparation import Preparation  # late: the first paint should not wait for pandas

    start_new(Preparation(dataset=reader(str(SHIPPED)).dataset(), spec=example()))
