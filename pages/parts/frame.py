"""What every page shares: the stylesheet, the list of runs, the run that is open and its state."""

import json
import os
import runpy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from threading import Thread, main_thread
from typing import TYPE_CHECKING, NoReturn

import streamlit as st

from pages.parts import person
from vpp.errors import VppError
from vpp.runs.directory import RunDirectory, State
from vpp.runs.launch import launch
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.session import Keys
from vpp.runs.shipped import EXAMPLE, unpack
from vpp.runs.spec import EndpointSpec
from vpp.runs.store import RunStore
from vpp.runs.users import OPENAI, origin
from vpp.settings import METHOD_NAMES
from vpp.wording import markup
from vpp.wording.counts import sizes_text
from vpp.wording.options import changed_words
from vpp.wording.theme import Mode
from vpp.wording.words import counted

if TYPE_CHECKING:
    from vpp.drawing.figures import Figure

ASSETS = Path(__file__).parents[2] / "assets"
COMPARE = ("sklearn.linear_model", "sklearn.tree")
"""What Compare needs beside what a server imports as it starts (pages/parts/warming.py)."""
REST_S = 4.0
"""For which a first page, and a first run, have the machine to themselves."""
LIVE: tuple[State, ...] = ("queued", "running", "paused", "stalled")
DELETED = "frame.deleted"
"""Where a browser session keeps the id of the run that it has just deleted, until a page has said so."""
MOST_READ = 24
"""Runs held in memory, besides those that somebody watches: a large one takes some 100 MB."""
MOST_CELLS = 400
"""Of a chart's numbers: a larger table is made only where it is asked for."""
_DECK = st.components.v2.component("vpp_deck", js=(ASSETS / "deck.js").read_text(), isolate_styles=False)


@dataclass(frozen=True, slots=True)
class OpenRun:
    """The run that pages show."""

    directory: RunDirectory
    reader: RunReader
    snapshot: Snapshot

    @property
    def key(self) -> str:
        """The run in the key of a component, which not every folder's name can be: Streamlit refuses `__`."""
        return sha256(os.fsencode(self.directory.id)).hexdigest()[:12]


def enter() -> None:
    """Every page's first line. On a fresh server, Streamlit runs the file of a page asked for by link without app.py:

    the frame is then drawn first, and draws the page inside it.
    """
    if not st.session_state.get("frame.entered"):
        runpy.run_path(str(ASSETS.parent / "app.py"))
        st.stop()
    st.html(markup.glossary())


def stylesheet() -> None:
    """The product's one stylesheet."""
    st.html(ASSETS / "vpp.css")


@st.cache_resource(show_spinner=False)
def warm_up() -> Thread:
    """Imports what Compare needs, some seconds after the first visitor has come.

    Not a daemon: one that is in the middle of an import would hold the lock that a server's end needs.
    """
    thread = Thread(target=_import_late)
    thread.start()
    return thread


def _import_late() -> None:
    main_thread().join(REST_S)  # wakes at once where the server ends
    for name in COMPARE if main_thread().is_alive() else ():
        import_module(name)


def check_environment() -> None:
    """Says what is wrong with a variable, and stops the page there."""
    try:
        person.environment()
    except VppError as error:
        st.html(markup.block(markup.state("This environment cannot be used", str(error), failed=True, alone=True)))
        st.stop()


def store() -> RunStore:
    """The runs of whoever is at the page."""
    return person.store()


@st.cache_resource(max_entries=MOST_READ, show_spinner=False)
def reader(path: str) -> RunReader:
    """One incremental reader a run, shared by every watcher. One that is left out serves whoever has it open."""
    return RunReader(RunDirectory(path))


def open_in(run: str, page: str) -> None:
    """Opens a run on a page."""
    st.session_state["run"] = run
    st.switch_page(page, query_params={"run": run})


def open_run(page: str, shows: str) -> OpenRun:
    """The run named in the address or opened before; an empty page says what to do where there is none.

    page: its title. shows: what it does with a run, to go on after the title.
    """
    name = st.query_params.get("run") or st.session_state.get("run")
    if not name:
        _nothing_open(page, f"{page} {shows}")
    directory = next((directory for directory in store().runs() if directory.id == name), None)
    if directory is None:
        st.session_state.pop("run", None)
        empty(page, "This run cannot be opened", *_gone(str(name)), failed=True)
    try:
        found = reader(str(directory.path))
        snapshot = found.refresh()
        found.dataset()
    except VppError as error:
        st.session_state.pop("run", None)
        empty(page, "This run cannot be opened", str(error), failed=True)
    st.session_state["run"] = directory.id
    st.query_params["run"] = directory.id
    return OpenRun(directory, found, snapshot)


def fresh(run: OpenRun) -> Snapshot:
    """The open run as it is now. Where it can no longer be read, the page is drawn anew, and `open_run` says why."""
    try:
        return run.reader.refresh()
    except VppError:
        st.rerun()


def _gone(name: str) -> tuple[str, str]:
    return (
        f"There is no run {name} among the runs of this app: it may have been deleted, or the link was made elsewhere.",
        "Pick one of the list of runs, or begin here.",
    )


def _nothing_open(page: str, purpose: str) -> NoReturn:
    deleted = st.session_state.pop(DELETED, None)
    said = (f"Deleted run {deleted}.",) if deleted else (purpose,)
    if store().runs():
        empty(page, "No run is open", *said, "Pick one of the list of runs, or begin here.")
    empty(page, "No runs yet", *said, "Begin with an example, or with a table of your own.")


def empty(page: str, head: str, *words: str, failed: bool = False) -> NoReturn:
    """A page with no run to show: why, what it would show, and the ways to begin. It ends the page there."""
    st.html(markup.block(markup.title(page)))
    with st.container(key="empty"):
        st.html(markup.block(markup.state(head, *words, failed=failed)))
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Look at a finished example", type="primary", key="frame.finished"):
                open_example()
            if st.button("Use my own CSV", key="frame.own"):
                st.switch_page("pages/new_run.py")
            if failed:
                st.page_link("pages/new_run.py", label="Back to New run")
    st.stop()


def not_yet(run: OpenRun, head: str, *words: str) -> None:
    """A page whose run has nothing to show there yet, and the way to where it can be watched."""
    with st.container(key="empty"):
        st.html(markup.block(markup.state(head, *words)))
        if st.button("Watch the run", key="frame.watch"):
            open_in(run.directory.id, "pages/watch.py")


def open_example(name: str = EXAMPLE) -> None:
    """A finished run that is shipped, as any other run; nothing is started."""
    try:
        directory = unpack(ASSETS / "examples" / name, store().folder)
    except VppError as error:
        st.html(markup.block(markup.state("The example cannot be opened", str(error), failed=True)))
        st.stop()
    open_in(directory.id, "pages/watch.py")


def start_example() -> None:
    """Penguins on the demo model, paced so that one can read along."""
    # Late: only a start needs pandas, and the first paint should not wait for it.
    from pages.parts.example import prepare_live

    with told():
        start(prepare_live().create(store().folder))


def start(directory: RunDirectory, *, from_before_damage: bool = False) -> None:
    """Starts or goes on with the run's worker and opens it on Watch."""
    with told():
        keys = person.check_keys(session_keys(directory.spec().endpoint))
        with person.starting(directory):
            launch(directory, keys=keys, environment=person.variables(), from_before_damage=from_before_damage)
        open_in(directory.id, "pages/watch.py")


@contextmanager
def told() -> Iterator[None]:
    """Says what a run's folder, or its disk, refuses."""
    try:
        yield
    except VppError as error:
        st.html(markup.block(markup.state("That could not be done", str(error), failed=True)))


def session_keys(endpoint: EndpointSpec) -> Keys:
    """For an endpoint's servers: typed in this browser session, else from the environment where it is its server."""
    return person.keys_of(endpoint)


def ask_keys(endpoint: EndpointSpec) -> None:
    """Fields for the keys; what is typed is kept in this browser session, and for one server each."""
    env = person.environment()
    if env.endpoint_fixed or endpoint.gguf:
        return
    _ask_key("Key, where the server wants one", endpoint.base_url, bool(env.api_key))
    other = endpoint.optimizer_base_url
    if other and origin(other) != origin(endpoint.base_url):
        _ask_key("Key of the optimizer’s server", other, bool(env.api_key))


def _ask_key(label: str, url: str, has_own: bool) -> None:
    own = f" The environment’s key is for {person.environment().base_url or OPENAI} alone." if has_own else ""
    about = f"Kept in this browser session only, never written to disk, and sent to this server alone.{own}"
    name = f"frame.key.{sha256(origin(url).encode()).hexdigest()[:12]}"
    person.keep_key(url, st.text_input(label, person.typed_key(url), type="password", help=about, key=name))


def head(run: OpenRun, words: str, *, tells_damage: bool = True) -> None:
    """The demo banner, where it belongs, the title, and under it the run by its name.

    tells_damage: whether a damaged journal is told here.
    """
    spec = run.snapshot.spec
    parts = [markup.DEMO_BANNER] if spec.endpoint.is_demo else []
    st.html(markup.block(*parts, markup.title(words, meta(run), of="" if words == spec.name else spec.name)))
    if tells_damage and run.snapshot.damage:
        st.html(markup.block(markup.state("The journal is damaged", run.snapshot.damage, failed=True)))


def meta(run: OpenRun) -> str:
    """The run in one line."""
    spec = run.snapshot.spec
    model = "demo model" if spec.endpoint.is_demo else spec.endpoint.model
    return " · ".join(
        (
            METHOD_NAMES[spec.config.method],
            f"K = {sizes_text(run.snapshot.view, spec.config)}",
            counted(spec.dataset["n_train"], "training row"),
            counted(spec.dataset["n_test"], "test row"),
            model,
            f"seed {spec.config.seed}",
            *changed_words(spec.config, spec.dataset["task"]),
            *([f"goes on from {spec.started_from}"] if spec.is_continued else []),
            f"run {run.directory.id}",
        )
    )


def deck(html: str, *, deck_id: str, key: str, head: str = "", foot: str = "", steady: bool = False) -> None:
    """Cards that keep a reader's place; `deck_id` names the deck, so that another one is sorted at once.

    head, foot: HTML above and below them. steady: whether it keeps the most room it has taken, so that nothing below
    moves up.
    """
    _DECK(data=_deck_bytes(html, deck_id, head, foot, steady), key=key, on_wanted_change=lambda: None)


def wanted(key: str, *, most: int) -> tuple[int, ...]:
    """The slots below `most` whose prompts are open in a deck, as the browser tells it."""
    told = st.session_state.get(key, {}).get("wanted")
    asked = {slot for slot in told if type(slot) is int} if isinstance(told, list) else set()
    return tuple(slot for slot in range(most) if slot in asked)


@lru_cache(maxsize=16)
def _deck_bytes(html: str, deck_id: str, head: str, foot: str, steady: bool) -> bytes:
    """JSON would be written out twice with each refresh, the second time to tell elements apart."""
    told = json.dumps({"deck": deck_id, "steady": steady, "head": head, "foot": foot})
    return f"{told}\n{html}".encode(errors="replace")


def figure(make: "Callable[[Mode], Figure]", *, title: str, caption: str, key: str, most_rows: int = 0) -> None:
    """A chart with its head, its finding in words, and its numbers as a table.

    most_rows: that the table may come to have while it is looked at; what is folded at first stays so.
    """
    # Plotly looks into pandas where something else has begun to import it: it must not be met half imported.
    import_module("pandas")
    # Late: the first page has no chart.
    from vpp.drawing.figures import CONFIG

    mode: Mode = "dark" if st.context.theme.type == "dark" else "light"
    shown = make(mode)
    st.html(markup.block(markup.heading(title, caption)))
    st.plotly_chart(shown.chart, theme=None, key=key, config=CONFIG, alt=shown.alt)
    said = markup.caption(shown.alt + ".")
    if max(len(shown.rows), most_rows) * len(shown.head) <= MOST_CELLS:
        folded = f'<details class="astable"><summary>Show as table</summary>{numbers(shown)}</details>'
        st.html(markup.block(said, folded))
        return
    st.html(markup.block(said))
    if st.toggle("Show as table", key=f"{key}.table"):
        st.html(markup.block(numbers(shown)))


def numbers(figure: "Figure") -> str:
    """What a chart shows, as a table."""
    return _table(figure.head, figure.rows)


@lru_cache(maxsize=64)
def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    return markup.table(head, rows, right=range(1, len(head)))
