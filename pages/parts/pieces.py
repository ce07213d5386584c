"""Pieces of a page: header, decks, and parts that survive or skip refreshes."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import streamlit as st

from pages.parts import blocks, person
from pages.parts.opening import ASSETS, LIVE, OpenRun, follow, settings
from vpp.data.descriptions import recorded
from vpp.errors import VppError
from vpp.findings import verdict
from vpp.findings.options import changed_words
from vpp.findings.programs import ProgramReading, program_readings
from vpp.findings.status import labels, when_words
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import Snapshot
from vpp.runs.store import EXAMPLES, made_at
from vpp.runs.view import RunView
from vpp.settings import METHOD_NAMES, Config
from vpp.show import markup
from vpp.show.words import counted

T = TypeVar("T")
VERDICT_S = 3.0


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


def head(run: OpenRun, words: str, *, has_verdict: bool = True) -> None:
    """Draw the page's title, a line that identifies the run, with other settings and descriptions folded; the verdict.

    has_verdict: false for a page that begins with it.
    """
    spec = run.snapshot.spec
    config, dataset, is_demo = spec.config, spec.dataset, spec.endpoint.is_demo
    identity = (
        METHOD_NAMES[config.method],
        counted(dataset["n_train"], "training row"),
        *([] if is_demo else [spec.endpoint.model]),
    )
    n_calibration = dataset.get("n_calibration", 0)
    details = (
        counted(dataset["n_test"], "test row"),
        *([counted(n_calibration, "calibration row")] if n_calibration else []),
        *([f"K = {config.size}"] if config.size != Config().size else []),
        *([f"seed {config.seed}"] if config.seed else []),
        *changed_words(config, dataset["task"]),
        *([f"goes on from {label(spec.started_from)}"] if spec.is_continued else []),
        f"run {run.directory.id}",
    )
    meanings = recorded(dataset.get("descriptions", {})).named(dataset["target"])
    folds = {"details": [" · ".join(details)], "what the columns mean": list(map(": ".join, meanings))}
    chip, of = markup.DEMO_CHIP if is_demo else "", "" if words == spec.name else spec.name
    blocks.draw(markup.title(words, " · ".join(identity), of=of, chip=chip, folds=folds))
    if not has_verdict:
        return
    with st.container():
        follow(run, lambda snapshot: draw_verdict(run.directory, snapshot), every_s=VERDICT_S)


def draw_verdict(directory: RunDirectory, snapshot: Snapshot) -> None:
    """Draw the verdict on an ended run in one line; of a live one, that its answers cannot be read."""
    if snapshot.state in LIVE:
        blocks.draw(*verdict.unread_alert(snapshot.view))
    elif found := _verdict(str(directory.path), snapshot.edition, directory, snapshot.view):
        kind = found.grade if found.is_success else "bad"
        blocks.draw(f'<div class="grade {kind}">{markup.html(verdict.blocks(found))}</div>', label="Verdict")


@st.cache_data(max_entries=200, show_spinner=False)
def _verdict(path: str, edition: int, _directory: RunDirectory, _view: RunView) -> verdict.Verdict | None:
    return verdict.record_verdict(_directory, _view)


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


_DECK = component("deck", "patch")


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

_STEADY = component("steady", "patch")


def steady(html: str, *, key: str, on_open: Callable[[int], None] | None = None) -> None:
    """Draw HTML that is patched in place. A wide table after `markup.CUE` says how much of it is in view.

    on_open: gets the id of a row that is opened, before the page is drawn again.
    """

    def hear() -> None:
        row = st.session_state[key].get("row")
        if on_open and row is not None:
            on_open(int(row))

    _STEADY(data={"html": html}, key=key, on_row_change=hear)
