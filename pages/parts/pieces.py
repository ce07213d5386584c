"""Pieces of a page: header, decks, and parts that survive or skip refreshes."""

import json
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime
from threading import Lock
from typing import Any, TypeVar, cast

import streamlit as st

from pages.parts import blocks, person
from pages.parts.opening import ASSETS, OpenRun, settings
from vpp.data.descriptions import recorded
from vpp.errors import VppError
from vpp.findings.listing import labels, when_words
from vpp.findings.options import changed_words
from vpp.findings.programs import ProgramReading, program_readings
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import Snapshot
from vpp.runs.store import EXAMPLES, made_at
from vpp.settings import METHOD_NAMES
from vpp.show import markup
from vpp.show.words import counted, integer

T = TypeVar("T")


class DrawingCache:
    """Drawings by the key of what they are made from. Thread-safe; a drawing in the making is waited for."""

    def __init__(self, most: int) -> None:
        """most: size of all drawings together, in the unit of `size`; a larger drawing is not cached."""
        self._most = most
        self._size = 0
        self._drawings: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T], *, size: Callable[[T], int]) -> T:
        """Cached drawing, or a new one. An exception of `make` is raised; None is returned, but not cached."""
        with self._lock:
            if key in self._drawings:
                return cast(T, self._cached(key))
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                if key in self._drawings:
                    return cast(T, self._cached(key))
            try:
                drawing = make()
                if drawing is not None:
                    self._store(key, drawing, size(drawing))
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return drawing

    def _cached(self, key: Hashable) -> object:
        self._drawings.move_to_end(key)
        return self._drawings[key][0]

    def _store(self, key: Hashable, drawing: object, size: int) -> None:
        if size > self._most:
            return
        with self._lock:
            # After a failed `make`, a waiter and a newcomer may both have made the drawing.
            _, before = self._drawings.pop(key, (None, 0))
            self._drawings[key] = (drawing, size)
            self._size += size - before
            while self._size > self._most:
                _, (_, freed) = self._drawings.popitem(last=False)
                self._size -= freed


EXPORT, MAIN = "export default function", "function main"


def component(name: str, *parts: str) -> Any:
    """Register the component whose script is assets/<name>.js. parts: other scripts that it calls by their names."""
    scripts = [f"const {part} = (() => {{\n{_script(part).replace(EXPORT, MAIN)}return main\n}})()\n" for part in parts]
    script = "".join((*scripts, _script(name)))
    return st.components.v2.component(f"vpp_{name}", js=script, isolate_styles=False)


def _script(name: str) -> str:
    return (ASSETS / f"{name}.js").read_text()


def remembered(key: str, made_from: object, make: Callable[[], T]) -> T:
    """Return a value of this browser session, made again only if `made_from` is not what it was."""
    held = st.session_state.get(key)
    if held is None or held[0] != made_from:
        st.session_state[key] = held = (made_from, make())
    value: T = held[1]
    return value


def head(run: OpenRun, words: str) -> None:
    """Draw the page's title over a line that identifies the run, with other settings and descriptions folded."""
    spec = run.snapshot.spec
    config, dataset, is_demo = spec.config, spec.dataset, spec.endpoint.is_demo
    n_calibration = dataset.get("n_calibration", 0)
    calibration = f", {integer(n_calibration)} calibration" if n_calibration else ""
    identity = (
        METHOD_NAMES[config.method],
        f"K = {config.size}",
        f"{counted(dataset['n_train'], 'training row')}, {integer(dataset['n_test'])} test{calibration}",
        *([] if is_demo else [spec.endpoint.model]),
    )
    details = (
        f"seed {config.seed}",
        *changed_words(config, dataset["task"]),
        *([f"goes on from {label(spec.started_from)}"] if spec.is_continued else []),
        f"run {run.directory.id}",
    )
    meanings = recorded(dataset.get("descriptions", {})).named(dataset["target"])
    folds = {"details": [" · ".join(details)], "what the columns mean": list(map(": ".join, meanings))}
    chip, of = markup.DEMO_CHIP if is_demo else "", "" if words == spec.name else spec.name
    blocks.draw(markup.title(words, " · ".join(identity), of=of, chip=chip, folds=folds))


def label(run: str) -> str:
    """Return `Penguins · SMC · 25 Nov 17:40` for a run of this person; its id if it is not there."""
    try:
        directory = person.store().get(run)
    except VppError:
        return run
    spec = settings(directory)
    return labels({run: (spec, made(directory))})[run] if spec else run


def made(directory: RunDirectory) -> str:
    return "shipped example" if directory.id in EXAMPLES else when_words(made_at(directory), datetime.now())


def readings(run: OpenRun, snapshot: Snapshot, hypotheses: Iterable[str]) -> Mapping[str, ProgramReading]:
    """Return how hypotheses are read, by id; empty for a run that reads every sentence row by row."""
    if not snapshot.spec.config.has_programs:
        return {}
    return program_readings(snapshot.view, run.reader.read_answers(), run.reader.dataset(), hypotheses)


_DECK = component("deck")


def deck(html: str, *, deck_id: str, key: str, steady: bool = False) -> None:
    """Draw cards that keep a reader's place; a deck with another `deck_id` is sorted immediately.

    steady: keep the greatest height so far, so that nothing below moves up.
    """
    # As bytes: Streamlit would write JSON twice a refresh, the second time to tell elements apart.
    header = json.dumps({"deck": deck_id, "steady": steady})
    _DECK(data=f"{header}\n{html}".encode(errors="replace"), key=key, on_wanted_change=lambda: None)


def wanted(key: str, *, most: int) -> tuple[int, ...]:
    """Return the slots below `most` whose prompts are open in a deck, as the browser reports them."""
    wanted = st.session_state.get(key, {}).get("wanted")
    return tuple(slot for slot in range(most) if slot in wanted) if isinstance(wanted, list) else ()


# HTML that is patched in place: what a reader has focused, selected or scrolled stays over a refresh

_STEADY = component("steady")


def steady(
    html: str, *, key: str, on_open: Callable[[int], None] | None = None, on_ask: Callable[[int], None] | None = None
) -> None:
    """Draw HTML that is patched in place. A wide table after `markup.CUE` says how much of it is in view.

    on_open, on_ask: get the id of a row that is opened, or asked for, before the page is drawn again.
    """

    def hear(name: str, then: Callable[[int], None] | None) -> None:
        row = st.session_state[key].get(name)
        if then and row is not None:
            then(int(row))

    _STEADY(
        data={"html": html},
        key=key,
        on_row_change=lambda: hear("row", on_open),
        on_ask_change=lambda: hear("ask", on_ask),
    )


# Drawings of a run, made once for all who look at it

MOST_BYTES = 32 * 2**20
"""Memory for the drawings of all runs; a run of 50 particles takes about 0.5 MB a step."""
_DRAWINGS = DrawingCache(MOST_BYTES)


def drawn(run: OpenRun, snapshot: Snapshot, part: str, *of: object, make: Callable[[], str]) -> str:
    """Return the HTML of a part of the run, made once for a snapshot and `of`, whose equals must print alike.

    The key begins with the run's path, which lies in its user's folder: no user gets another's drawing.
    """
    return _DRAWINGS.get((str(run.directory.path), snapshot.edition, part, *map(repr, of)), make, size=sys.getsizeof)
