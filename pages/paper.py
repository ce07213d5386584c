"""Paper: the paper's tables, with your model's numbers beside them."""

import shlex
import time
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import blocks, endpoint, frame, person, pieces
from vpp.bench.sweep import (
    PAPER,
    SWEPT_TASKS,
    VARIANTS,
    Cell,
    Outcome,
    Sizes,
    SweepDirectory,
    SweepReader,
    SweepSpec,
    SweepView,
    calls_at_most,
    endpoint_text,
    extended,
    folder_name,
    launch,
    results_csv,
    sweeps,
)
from vpp.bench.tables import Table, heading, inconsistencies, paper, papers_part, tables, tables_markdown, value_text
from vpp.data.tasks import TASKS
from vpp.errors import VppError
from vpp.runs.spec import EndpointSpec
from vpp.wording import markup
from vpp.wording.words import NBSP, counted, integer, listed, seconds

NEW = "A new sweep"
SEEDS = 3
COMMAND = f"python -m vpp bench --demo --seeds {SEEDS}"
DEMO = EndpointSpec(demo=True, model="demo")
NO_RESULTS = "You have no results yet: run the sweep below, and your rows appear as its runs finish."
STARTING_S = 10.0  # a sweep asked for takes a moment to hold its folder


@st.cache_resource(max_entries=50, show_spinner=False)
def reader(path: str) -> SweepReader:
    """Return the reader of a sweep, shared by all watchers: a finished cell is read once."""
    return SweepReader(SweepDirectory(path))


def page() -> None:
    existing = {sweep.path.name: sweep for sweep in sweeps(person.store().folder)}
    about = f"by {paper()['authors']}. Its numbers are from {paper()['model']}. {paper()['prompts']}"
    blocks.draw(markup.title("Paper", about, of=paper()["title"]))
    if started := st.session_state.pop("paper.open", None):
        st.session_state["paper.sweep"] = started
    tables_place, below = st.container(), st.container()
    with below:
        if existing:
            blocks.draw(markup.heading("Your sweep"))
        chosen = st.selectbox("Sweep", [*existing, NEW], key="paper.sweep") if existing else NEW
    if chosen not in existing:
        with tables_place:
            draw_tables(whole(DEMO), ())
        with below:
            choose_new()
        return
    try:
        view = reader(str(existing[chosen].path)).refresh()
    except VppError as error:
        with tables_place:
            blocks.refuse("This sweep cannot be read", error)
    show(existing[chosen], view, tables_place, below)


def cost(spec: SweepSpec) -> str:
    return f"{counted(len(spec.cells), 'cell')}: at most {calls_of(spec.cells, spec.sizes)}"


def calls_of(cells: Sequence[Cell], sizes: Sizes) -> str:
    return f"{integer(sum(calls_at_most(cell, sizes) for cell in cells))} calls"


def show(sweep: SweepDirectory, view: SweepView, tables_place: DeltaGenerator, below: DeltaGenerator) -> None:
    def latest() -> SweepView:
        return reader(str(sweep.path)).refresh()

    def numbers() -> None:
        now = latest()
        draw_tables(now.spec, now.outcomes)

    def cells() -> None:
        now = latest()
        draw_files(now)
        choose_cell(sweep, now.outcomes)

    is_held = sweep.is_held()
    with tables_place:
        live, rest = st.container(), st.container()
    with below:
        done, files, form = st.container(), st.container(), st.container()
    with live if is_held else done:
        blocks.refreshed(lambda: progress(sweep, latest()), is_live=sweep.is_held, every_s=2.0)
    for place, draw in ((rest, numbers), (files, cells)):
        with place:
            blocks.refreshed(draw, is_live=sweep.is_held, every_s=6.0)
    with form:  # last, since a form that cannot be ends the page
        if not is_held:
            extend(sweep, view)


def progress(sweep: SweepDirectory, view: SweepView) -> None:
    about = "".join(map(markup.caption, heading(view.spec, view.outcomes)))
    blocks.draw(f'<div class="about">{about}</div>')
    held = sweep.is_held()
    stopping = held and sweep.is_stopped()
    words = counted(len(view.left), "cell") + " left." if view.left else "Everything asked for is done."
    cells = [f"{v.cell.name} (step {v.step} of {v.steps})" if v.steps else v.cell.name for v in view.live]
    idle = "Starting." if held else "Nothing runs."
    flying = "Stopping." if stopping else f"{listed(cells)}." if cells else idle
    failed = "None."
    if view.failed:
        names, why = listed([each.cell.name for each in view.failed]), view.failed[0].detail or "see worker.log"
        failed = f"{names}: {why}. Continue tries again."
    metrics = (
        markup.Metric(name="Cells", value=str(len(view.outcomes)), scale=f"of {len(view.cells)}", words=words),
        markup.Metric(name="In flight", value=str(len(view.live)), words=flying),
        remaining(view, held=held, stopping=stopping),
        markup.Metric(name="Failed", value=str(len(view.failed)), words=failed),
    )
    blocks.draw(markup.strip(metrics))
    if not held and (why := last_complaint(sweep)):
        blocks.failed("The sweep ended early", why, "What is finished is kept.")
    if held:
        st.button("Stop and keep", key="paper.stop", disabled=stopping, on_click=sweep.stop)
        stop = "Stopping: the cells in flight keep their last whole step."
        blocks.captions(stop if stopping else "Stop it to change what it covers.")


def remaining(view: SweepView, *, held: bool, stopping: bool) -> markup.Metric:
    left_s = view.seconds_left(view.left, jobs=max(1, len(view.live)))
    value, words = "–", "Known once each method has a finished cell."
    if not view.left:
        value, words = "0 s", "Nothing is left."
    elif not held or stopping:
        words = "Stopping." if stopping else "Nothing runs."
    elif left_s is not None:
        value, words = seconds(left_s), "At the pace of finished cells, method by method."
    return markup.Metric(name="Time left", value=value, words=words)


def last_complaint(sweep: SweepDirectory) -> str:
    log = sweep.log
    if not log.exists() or (sweep.results.exists() and sweep.results.stat().st_mtime > log.stat().st_mtime):
        return ""
    last = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
    return last.removeprefix("vpp: ") if last.startswith("vpp: ") else ""


def draw_tables(spec: SweepSpec, outcomes: Sequence[Outcome]) -> None:
    done = f"{len(outcomes)} of {counted(len(spec.cells), 'cell')} finished"
    words = f"Yours: {endpoint_text(spec.endpoint)}, {done}." if outcomes else NO_RESULTS
    if outcomes and spec.endpoint.is_demo:
        words += " The demo model is no language model."
    every = replace(spec, tasks=tuple(TASKS), methods=(*PAPER, *spec.methods), seeds=max(SEEDS, spec.seeds))
    parts = map(table_html, (*map(papers_part, tables(every, outcomes)), inconsistencies()))
    pieces.steady(markup.caption(words) + "".join(parts), key="paper.tables")


def draw_files(view: SweepView) -> None:
    if not view.outcomes:
        return
    files = (
        ("results.csv", "text/csv", results_csv(view.outcomes)),
        ("tables.md", "text/markdown", tables_markdown(view.spec, view.outcomes).encode()),
    )
    for column, (name, mime, file) in zip(st.columns([1, 1, 2]), files, strict=False):
        column.download_button(f"Download {name}", file, name, mime, key=f"paper.{name}", on_click="ignore")


def choose_cell(sweep: SweepDirectory, outcomes: Sequence[Outcome]) -> None:
    if not outcomes:
        return
    blocks.draw(markup.heading("The run of a cell", f"{counted(len(outcomes), 'cell')} finished"))
    cells = {cell.name: (cell, o) for o in outcomes if (cell := Cell(task=o.task, method=o.method, seed=o.seed))}
    cell, outcome = cells[st.selectbox("Finished cell", list(cells), key=f"paper.cell.{sweep.path.name}")]
    blocks.captions(headline(outcome))
    path = str(sweep.run_of(cell).path)
    st.code(f"{path}\n{shlex.join(('python', '-m', 'vpp', 'report', path))}", language=None, wrap_lines=True)


def headline(outcome: Outcome) -> str:
    metric, unit = ("Mean squared error", "") if outcome.is_error else ("Accuracy", " %")
    test, train = (value_text(v, is_error=outcome.is_error) + unit for v in (outcome.test, outcome.train))
    return (
        f"{metric} {test} on the test rows, {train} on the training rows; {outcome.n_unique} distinct of {outcome.K}; "
        f"{integer(outcome.calls)} calls in {seconds(outcome.wall_s)}. The command writes its report there."
    )


def table_html(table: Table) -> str:
    # A narrow page keeps the line ends, a wide one draws them as blanks.
    rows = [
        [cell.replace(" ±", "\n±").replace("± ", f"±{NBSP}").replace(" (", "\n(") for cell in row] for row in table.rows
    ]
    right = range(table.labels, len(table.head))
    inner = markup.table(table.head, rows, right=right, name=table.title, groups=table.metrics)
    note = markup.caption(table.about)
    return f'{markup.heading(table.title)}<div class="beside {table.quiet}">{markup.CUE}{inner}{note}</div>'


def choose_new() -> None:
    words = f"Run the paper's sweep in a terminal, or start it below: {cost(whole(DEMO))}."
    blocks.draw(markup.heading("Fill in yours"), markup.caption(words))
    st.code(COMMAND, language=None, wrap_lines=True)
    blocks.captions("The demo model takes nine minutes on two cores. For yours: --base-url and --model, not --demo.")
    choices = [kind for kind in endpoint.offered() if kind != endpoint.MODEL_FILE]
    who = st.segmented_control("Who answers", choices, default=endpoint.DEMO, key="paper.who", required=True)
    model = endpoint.Model(endpoint=DEMO) if who == endpoint.DEMO else endpoint.server()
    answering = replace(model.endpoint, cache=False)
    spec = choose_cells(whole(answering), key="new")
    sweep = SweepDirectory(person.store().folder / folder_name(answering))
    lead = f"This adds to {sweep.path.name}: " if sweep.exists else ""
    offer("Start the sweep", sweep, spec, ready=not model.lacks, lead=lead)


def whole(answering: EndpointSpec) -> SweepSpec:
    return SweepSpec(endpoint=answering, tasks=tuple(TASKS), methods=PAPER, seeds=SEEDS)


def extend(sweep: SweepDirectory, view: SweepView) -> None:
    with st.expander("Add tasks, methods or seeds", key=f"paper.covers.{sweep.path.name}"):
        wanted = choose_cells(view.spec, key=sweep.path.name)
    if not view.spec.endpoint.is_demo:
        person.ask_keys(view.spec.endpoint)
    offer("Continue the sweep", sweep, wanted, ready=True)


def choose_cells(spec: SweepSpec, *, key: str) -> SweepSpec:
    with st.container(key=f"paper_cells_{key}"):
        left, right, last = st.columns([2, 3, 1])
        tasks = left.multiselect("Tasks", list(TASKS), default=list(spec.tasks), key=f"paper.tasks.{key}")
        methods = right.multiselect("Methods", list(VARIANTS), default=list(spec.methods), key=f"paper.methods.{key}")
        seeds = last.number_input("Seeds", 1, 100, spec.seeds, key=f"paper.seeds.{key}")
        blocks.captions(*explained(methods))
    if not (tasks and methods):
        blocks.captions("Name at least one task and one method.")
        st.stop()
    return replace(spec, tasks=tuple(tasks), methods=tuple(methods), seeds=int(seeds))


def explained(methods: Sequence[str]) -> list[str]:
    swept = [name for name in methods if VARIANTS[name].tasks == SWEPT_TASKS]
    sizes = listed([VARIANTS[name].options["particles"] for name in swept])
    about = [f"{listed(swept)}: mh with K = {sizes} (particles), on {listed(SWEPT_TASKS)} only."] if swept else []
    return about + [f"{name}: {VARIANTS[name].about}" for name in methods if VARIANTS[name].base]


def offer(words: str, sweep: SweepDirectory, spec: SweepSpec, *, ready: bool, lead: str = "") -> None:
    try:
        takes, left = price(sweep, spec)
    except VppError as error:
        blocks.refuse("This sweep cannot be", error)
    blocks.captions(f"{lead}{takes}")
    if st.button(words, type="primary", key="paper.start", disabled=not (ready and left)):
        begin(sweep, spec)


def price(sweep: SweepDirectory, spec: SweepSpec) -> tuple[str, int]:
    """Describe the cost, and count the cells that would run. Raises InputError and RunError."""
    less = "texts that come again cost nothing, so it is usually less."
    if not sweep.exists:
        sweep.check_is_ours()
        return f"{cost(spec)}; {less}", len(spec.cells)
    extended(sweep.spec(), spec, sweep.path)
    left = [cell for cell in spec.cells if reader(str(sweep.path)).look(cell).outcome is None]
    n, done = counted(len(spec.cells), "cell"), len(spec.cells) - len(left)
    if not left:
        return f"{n}, all finished: nothing would run. Add tasks, methods or seeds.", 0
    finished = f"{n}, of which {integer(done)} {'is' if done == 1 else 'are'} finished"
    return f"{finished}; {integer(len(left))} will run: at most {calls_of(left, spec.sizes)}; {less}", len(left)


def begin(sweep: SweepDirectory, spec: SweepSpec) -> None:
    st.session_state["paper.open"] = sweep.path.name
    try:
        with person.starting(spec.endpoint) as keys:
            launch(sweep, spec, keys=keys, environment=person.variables())
            # Once it is on disk and locked, it counts against the cap.
            deadline = time.monotonic() + STARTING_S
            while not (sweep.exists and sweep.is_held()) and time.monotonic() < deadline:
                time.sleep(0.1)
    except VppError as error:
        blocks.refuse("The sweep cannot start", error)
    st.rerun()


frame.enter()
page()
