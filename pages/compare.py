"""Compare: runs side by side, against one of them and against simple models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from pages.parts import blocks, frame, opening, person
from vpp.errors import VppError
from vpp.findings.baselines import Baselines, baselines, with_prompted
from vpp.findings.comparison import (
    CODES,
    Candidate,
    Comparison,
    compare,
    cost,
    others,
    outcome,
    settings_block,
    standings,
    state_words,
)
from vpp.findings.rows import evaluated_rows
from vpp.findings.slices import Slices, side_by_side, slices
from vpp.findings.status import labels
from vpp.runs.directory import RunDirectory
from vpp.show import markup
from vpp.show.blocks import Note
from vpp.show.words import counted, listed

SHOWS = "sets runs side by side: which predicts better, and by which settings."
MOST = 300  # runs that can be picked: the newest
PICKED, PICKED_FOR = "compare.runs", "compare.for"  # session keys: the runs, and the open run that they were picked for
AT_FIRST = 6  # runs of the same rows, the open one among them, that are set side by side unasked


def baselines_of(run: Candidate) -> Baselines:
    dataset = run.snapshot.spec.dataset
    made_from = dataset["fingerprint"], run.dataset.inputs
    simple = blocks.remembered("compare.simple", made_from, lambda: baselines(run.dataset))
    return with_prompted(simple, RunDirectory(person.store().folder / run.id), run.dataset)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The runs that can be picked, by id, newest first: fingerprints of their rows; name, method and time of each."""

    directories: dict[str, RunDirectory]
    rows: dict[str, object]
    labels: dict[str, str]


def shelf(wanted: Sequence[str]) -> Shelf:
    """Return the newest runs and the wanted ones."""
    directories = {run.id: run for i, run in enumerate(person.store().runs()) if i < MOST or run.id in wanted}
    specs = {run: opening.settings(directory) for run, directory in directories.items()}
    dates = {run: (spec, opening.made(directories[run])) if spec else None for run, spec in specs.items()}
    rows = {run: spec.dataset.get("fingerprint") for run, spec in specs.items() if spec}
    return Shelf(directories, rows, labels(dates))


def draw_page() -> None:
    ids = st.query_params.get("compare", "").split(",")
    link = list(dict.fromkeys(filter(None, ids)))[: len(CODES)]
    run = st.query_params.get("run") or st.session_state.get("run")
    runs = shelf([*link, run or ""])
    if not run:
        st.session_state["run"] = next((run for run in link if run in runs.directories), None)
    current = opening.open_run("Compare", SHOWS)
    title_place = st.container()
    left, right = st.columns([5, 2])
    with left:
        choice = pick(runs, link, current.id)
    if not choice:
        blocks.draw(markup.state("No run is picked", "Pick one above to set it beside simple models."))
        st.stop()
    with right:
        reference = pick_reference(runs, choice, current.id)
    st.query_params["compare"] = ",".join(choice)
    st.query_params["against"] = reference
    candidates, faults = read(runs, choice)
    for run, why in faults:
        blocks.failed(f"{runs.labels[run]} cannot be compared", why)
    with title_place:
        draw_title(runs, candidates, reference, n=len(choice))
    if not candidates:
        st.stop()

    def is_live() -> bool:
        return any(run.snapshot.state in opening.LIVE for run in read(runs, choice)[0])

    def part() -> None:
        if now := read(runs, choice)[0]:
            draw_result(runs.labels, comparison_of(now, reference))

    was_live = is_live()
    blocks.refreshed(part, lambda: was_live and not is_live(), every_s=5.0 if was_live else None)


def draw_title(runs: Shelf, candidates: Sequence[Candidate], reference: str, *, n: int) -> None:
    """Draw the title with the verdict on the reference run. n: picked runs."""
    letters = [CODES[i] for i, run in enumerate(candidates) if run.snapshot.spec.endpoint.is_demo]
    chip = markup.DEMO_CHIP if len(letters) == len(candidates) else f" · {listed(letters)}:{markup.DEMO_CHIP}"
    with_others = f" · beside {counted(n - 1, 'other run')}" if n > 1 else ""
    title = f"{runs.labels[reference]}{with_others}"
    blocks.draw(markup.title("Runs side by side", title, chip=chip if letters else ""))
    for run in candidates:
        if run.id == reference:
            opening.draw_verdict(runs.directories[run.id], run.snapshot)


def pick(runs: Shelf, link: Sequence[str], current: str) -> list[str]:
    """Ask for runs. Default: those that a link names, else those of last time, else those on the open run's rows."""
    choice = st.session_state.get(PICKED, ())
    if st.session_state.get(PICKED_FOR) != current:
        st.session_state[PICKED_FOR] = current
        alike = [run for run in runs.rows if run != current and runs.rows[run] == runs.rows.get(current)]
        usual = choice if current in choice else sorted([current, *alike][:AT_FIRST])
        choice = [run for run in link if run in runs.directories] or usual
    st.session_state[PICKED] = [run for run in choice if run in runs.directories]  # one may have been deleted
    field = {"placeholder": "Pick runs", "max_selections": len(CODES), **blocks.lasting(PICKED)}
    picked = st.multiselect("Runs", list(runs.directories), format_func=runs.labels.__getitem__, **field)
    if unknown := [run for run in link if run not in runs.directories]:
        blocks.captions(f"Not in the runs folder: {listed(unknown)}.")
    return list(picked)


def pick_reference(runs: Shelf, choice: Sequence[str], current: str) -> str:
    """Ask for the reference run. Default: the previous choice, that of the address, the open run, or the first."""
    default = next((run for run in (st.query_params.get("against", ""), current) if run in choice), choice[0])
    if len(choice) == 1:
        return default
    if st.session_state.get("compare.against") not in choice:
        st.session_state["compare.against"] = default
    words = {run: f"{CODES[i]} · {runs.labels[run]}" for i, run in enumerate(choice)}
    return str(st.selectbox("Reference", choice, format_func=words.__getitem__, **blocks.lasting("compare.against")))


def read(runs: Shelf, choice: Sequence[str]) -> tuple[list[Candidate], list[tuple[str, str]]]:
    """Return the runs that can be read, and why the others cannot."""
    candidates, faults = [], []
    for run in choice:
        try:
            reader = opening.reader(str(runs.directories[run].path))
            snapshot, dataset = reader.refresh(), reader.dataset()
            candidates.append(Candidate(id=run, label=runs.labels[run], snapshot=snapshot, dataset=dataset))
        except (VppError, OSError) as error:
            faults.append((run, str(error)))
    return candidates, faults


def comparison_of(candidates: Sequence[Candidate], reference: str) -> Comparison:
    """Return the comparison, made again only if a run has changed."""
    ids = [run.id for run in candidates]
    place = ids.index(reference) if reference in ids else 0
    state = tuple((run.id, run.view.last_at, run.snapshot.state) for run in candidates), place
    return blocks.remembered("compare.made", state, lambda: compare(candidates, reference=place))


def draw_result(names: Mapping[str, str], comparison: Comparison) -> None:
    """Draw what came out, which settings differ, and the cost. names: of runs, by id."""
    runs = comparison.runs
    live = [f"{CODES[i]} {state_words(run)}" for i, run in enumerate(runs) if run.snapshot.state in opening.LIVE]
    notes = [f"As things stand now: {listed(live)}. This page updates by itself."] if live else []
    if len(runs) == 1:
        notes += ["Pick another run above; or start this one again with changes, at the foot of Watch."]
    simple = baselines_of(comparison.base) if comparison.comparable else None
    # Of a run alone, the verdict above says it.
    words = [] if len(runs) == 1 and simple else [outcome(comparison, simple)]
    blocks.draw(*words, *map(Note, notes))
    parts = [*(standings(comparison, simple) if simple else ()), *others(comparison)]
    parts += filter(None, [settings_block(comparison, names)])
    blocks.steady(markup.CUE + markup.html((*parts, cost(comparison))), key="compare.result")
    draw_slices(comparison)


def draw_slices(comparison: Comparison) -> None:
    """Draw how often each run is right by the values of a column, once one is chosen."""
    places = sorted(comparison.comparable, key=lambda place: place != comparison.reference)
    state = tuple((place, comparison.runs[place].id, comparison.runs[place].view.last_at) for place in places)

    def make() -> dict[str, Slices]:
        runs = {CODES[place]: comparison.runs[place] for place in places}
        rows = {code: evaluated_rows(run.view, run.config, run.dataset) for code, run in runs.items()}
        return {code: slices(each) for code, each in rows.items() if each}

    found = blocks.remembered("compare.slices", state, make)
    if columns := list(next(iter(found.values())).by_column) if found else []:
        field = {"index": None, "placeholder": "Choose a column", **blocks.lasting("compare.column")}
        if (column := st.selectbox("By the values of a column", columns, **field)) in columns:
            blocks.draw(side_by_side(found, column))


frame.enter()
draw_page()
