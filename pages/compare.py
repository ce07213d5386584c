"""Compare: runs side by side, against one of them and against simple models."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from pages.parts import blocks, frame, opening, person
from vpp.errors import VppError
from vpp.findings import comparison
from vpp.findings.baselines import Baselines, baselines, with_prompted
from vpp.findings.comparison import CODES, Candidate, Comparison
from vpp.findings.rows import evaluated_rows
from vpp.findings.slices import Slices, side_by_side, slices
from vpp.findings.status import labels
from vpp.runs.directory import Command, RunDirectory, Snapshot, State
from vpp.runs.group import Group, start_open
from vpp.show import markup
from vpp.show.blocks import Note
from vpp.show.words import counted, listed

MOST = 300  # runs that can be picked: the newest
PICKED, PICKED_FOR = "compare.runs", "compare.for"  # session keys: the runs, and the open run that they were picked for
COMMANDS: tuple[tuple[str, Command, set[State]], ...] = (  # for all runs of a group, and the states that they need
    ("Pause all", "pause", {"running"}),
    ("Go on", "go on", {"paused"}),
    ("Stop all", "stop", {*opening.LIVE}),
)
AT_FIRST = 6  # runs of the same rows, the open one among them, that are set side by side unasked


def baselines_of(run: Candidate) -> Baselines:
    dataset = run.snapshot.spec.dataset
    made_from = dataset["fingerprint"], run.dataset.inputs
    simple = blocks.remembered("compare.simple", made_from, lambda: baselines(run.dataset))
    return with_prompted(simple, run.directory, run.dataset)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The runs that can be picked, by id, newest first: fingerprints of their rows; name, method and time of each."""

    directories: dict[str, RunDirectory]
    rows: dict[str, object]
    labels: dict[str, str]


def shelf(wanted: Sequence[str]) -> Shelf:
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
    current = opening.open_run("Compare", "sets runs side by side: which predicts better, and by which settings.")
    group = Group(person.store().folder, current.snapshot.spec.group)
    with opening.refusals("The seeds cannot be weighed together"):
        if pooled := group.pool():
            runs = shelf([*link, current.id, pooled.id])
    members = [each.id for each in group.runs]
    alike = [run for run in runs.rows if run != current.id and runs.rows[run] == runs.rows.get(current.id)]
    usual = [pooled.id, *members] if pooled else members or sorted([current.id, *alike][:AT_FIRST])
    title_place = st.container()
    choice = pick(runs, link, current.id, usual)
    if not choice:
        blocks.draw(markup.state("No run is picked", "Pick one above to set it beside simple models."))
        st.stop()
    reference = next(run for run in (pooled.id if pooled else "", current.id, *choice) if run in choice)
    st.query_params["compare"] = ",".join(choice)
    candidates, faults = read(runs, choice)
    for run, why in faults:
        blocks.failed(f"{runs.labels[run]} cannot be compared", why)
    with title_place:
        draw_title(runs, candidates, reference, len(members) if {*choice} >= {*members} else 0)
    if not candidates:
        st.stop()

    def is_live() -> bool:
        live = any(run.snapshot.state in opening.LIVE for run in read(runs, choice)[0])
        return live or any(map(RunDirectory.is_held, group.runs))

    def has_ended() -> bool:
        if ended := was_live and not is_live():  # the runs of a group are then weighed together, in a run of its own
            st.session_state.pop(PICKED_FOR, None)
            st.session_state.pop(PICKED, None)
            st.query_params.pop("compare", None)
        return ended

    def part() -> None:
        if now := read(runs, choice)[0]:
            is_group = bool(members) and {*choice} >= {*members}
            if is_group:
                steer(group, [run.snapshot for run in now if run.id in members])
            place = next((i for i, run in enumerate(now) if run.id == reference), 0)
            draw_result(Comparison(runs=now, reference=place), group if is_group else None)

    was_live = is_live()
    blocks.refreshed(part, has_ended, every_s=5.0 if was_live else None)


def steer(group: Group, snapshots: Sequence[Snapshot]) -> None:
    states = {each.state for each in snapshots}
    if states == {"finished"}:
        return
    row = st.container(horizontal=True, key="compare_group")
    with opening.refusals():
        for label, command, while_in in COMMANDS:
            if states & while_in and row.button(label, key=f"compare.{command}"):
                group.send(command)
        if not states & {*opening.LIVE} and row.button("Resume the others", key="compare.resume", type="primary"):
            with person.starting(snapshots[0].spec.endpoint) as keys:
                start_open(group.runs, keys=keys, environment=person.variables())
            st.rerun()


def draw_title(runs: Shelf, candidates: Sequence[Candidate], reference: str, seeds: int) -> None:
    """Draw the title with the verdict on the reference run. seeds: runs of the group that is here, 0 without one."""
    letters = [CODES[i] for i, run in enumerate(candidates) if run.snapshot.spec.endpoint.is_demo]
    chip = markup.DEMO_CHIP if len(letters) == len(candidates) else f" · {listed(letters)}:{markup.DEMO_CHIP}"
    n, title = len(candidates), f"One setting, {counted(seeds, 'seed')}" if seeds else "Runs side by side"
    with_others = f" · beside {counted(n - 1, 'other run')}" if n > 1 else ""
    with_others = " · the verdict is on all weighed together" if n > seeds > 0 else with_others
    blocks.draw(markup.title(title, f"{runs.labels[reference]}{with_others}", chip=chip if letters else ""))
    for run in candidates:
        if run.id == reference:
            opening.draw_verdict(runs.directories[run.id], run.snapshot)


def pick(runs: Shelf, link: Sequence[str], current: str, usual: Sequence[str]) -> list[str]:
    """Ask for runs. Default: those that a link names, else those of last time, else the usual ones."""
    choice = st.session_state.get(PICKED, ())
    if st.session_state.get(PICKED_FOR) != current:
        st.session_state[PICKED_FOR] = current
        from_link = [run for run in link if run in runs.directories]
        choice = from_link or (choice if current in choice else usual[: len(CODES)])
    st.session_state[PICKED] = [run for run in choice if run in runs.directories]  # one may have been deleted
    field = {"placeholder": "Pick runs", "max_selections": len(CODES), **blocks.lasting(PICKED)}
    picked = st.multiselect("Runs", list(runs.directories), format_func=runs.labels.__getitem__, **field)
    if unknown := [run for run in link if run not in runs.directories]:
        blocks.captions(f"Not in the runs folder: {listed(unknown)}.")
    return list(picked)


def read(runs: Shelf, choice: Sequence[str]) -> tuple[list[Candidate], list[tuple[str, str]]]:
    candidates, faults = [], []
    for run in choice:
        try:
            candidates.append(comparison.candidate(opening.reader(str(runs.directories[run].path)), runs.labels[run]))
        except (VppError, OSError) as error:
            faults.append((run, str(error)))
    return candidates, faults


def draw_result(found: Comparison, group: Group | None) -> None:
    """Draw what came out, and which settings differ. group: its runs are all here."""
    runs = found.runs
    going = {code: run for code, run in zip(CODES, runs, strict=False) if run.snapshot.state in opening.LIVE}
    live = [f"{code} {comparison.state_words(run)}" for code, run in going.items()]
    notes = [f"As things stand now: {listed(live)}. This page updates by itself."] if live else []
    if len(runs) == 1:
        notes += ["Pick another run above; or start this one again with changes, at the foot of Watch."]
    simple = baselines_of(found.base) if found.comparable else None
    # Of a run alone, the verdict above says it.
    words: list[object] = [] if len(runs) == 1 and simple else [comparison.outcome(found, simple)]
    if group:
        state = tuple((run.id, run.view.last_at, run.snapshot.state) for run in runs)
        read_seeds = partial(comparison.seeds, group, lambda run: opening.reader(str(run.path)))
        words = blocks.remembered("compare.seeds", state, lambda: list(comparison.seeds_blocks(read_seeds())))
    blocks.draw(*words, *map(Note, notes))
    parts = [*(comparison.standings(found, simple) if simple else ()), *comparison.others(found)]
    parts += filter(None, [None if group else comparison.settings_block(found)])
    blocks.steady(markup.CUE + markup.html(parts), key="compare.result")
    draw_slices(found)


def draw_slices(found: Comparison) -> None:
    places = sorted(found.comparable, key=lambda place: place != found.reference)
    state = tuple((place, found.runs[place].id, found.runs[place].view.last_at) for place in places)

    def make() -> dict[str, Slices]:
        runs = {CODES[place]: found.runs[place] for place in places}
        rows = {code: evaluated_rows(run.view, run.config, run.dataset) for code, run in runs.items()}
        return {code: slices(each) for code, each in rows.items() if each}

    by_run = blocks.remembered("compare.slices", state, make)
    if columns := list(next(iter(by_run.values())).by_column) if by_run else []:
        field = {"index": None, "placeholder": "Choose a column", **blocks.lasting("compare.column")}
        if (column := st.selectbox("By the values of a column", columns, **field)) in columns:
            blocks.draw(side_by_side(by_run, column))


frame.enter()
draw_page()
