"""The form of a new run: data, method, model, and the plan beside them."""

from dataclasses import dataclass
from typing import Any, NoReturn

import streamlit as st

from pages.parts import frame, tables
from pages.parts.again import Again, started_from
from pages.parts.endpoint import choose_endpoint
from pages.parts.example import READABLE_MS
from pages.parts.method import choose_config
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset, Task
from vpp.data.inputs import choose_inputs
from vpp.data.table import Table
from vpp.data.target import resolve_task, target_guess
from vpp.errors import VppError
from vpp.inference.plan import Plan, plan
from vpp.runs.preparation import Preparation, check_size
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config
from vpp.wording import markup
from vpp.wording.options import tau_words
from vpp.wording.words import seconds

AS_FOUND = "as found"
DEMO_CALLS_A_SECOND = 350  # a rough figure, for two cores with a page open beside


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What of a table is used, and for what."""

    target: str
    task: Task
    inputs: tuple[str, ...]
    sizes: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the form was filled with; its endpoint may not be complete yet."""

    dataset: Dataset
    config: Config
    endpoint: EndpointSpec
    again: RunSpec | None = None
    """Of the run that is started again."""


def preview(source: tables.Source, choice: Choice | None) -> str:
    """The first rows, each column with its kind, and its part where that is known."""
    table = source.table
    missing = sum(column.n_missing for column in table.columns)
    said = f"{table.n_rows:,} rows, {len(table.columns)} columns, {missing or 'nothing'} missing"
    first = [[cells[i] or "" for cells in table.values] for i in range(min(4, table.n_rows))]
    kinds = [f"{column.kind}, {column.n_distinct} values" for column in table.columns]
    parts = [[part_of(name, choice) for name in table.names]] if choice else []
    return markup.block(
        markup.caption(said),
        f'<div class="{"preview" if choice else ""}">{markup.table(table.names, [kinds, *parts, *first])}</div>',
        *(markup.caption(note) for note in (*source.notes, *table.notes)),
    )


def part_of(name: str, choice: Choice) -> str:
    """What a column is used for."""
    if name == choice.target:
        return "target"
    return "input" if name in choice.inputs else "left out"


def choose_columns(table: Table) -> Choice:
    """Target, task, inputs and split. Raises DataError."""
    guess = target_guess(table)
    names = list(table.names)
    left, middle = st.columns(2)
    target = left.selectbox(
        "Target, the column to explain",
        names,
        index=names.index(guess) if guess else 0,
        key="new.target",
        persist_state="session",
    )
    task = middle.selectbox(
        "Task", (AS_FOUND, "classification", "regression"), key="new.kind_of_task", persist_state="session"
    )
    others = [name for name in names if name != target]
    found, left_out = choose_inputs(table, target=target, inputs=None, exclude=())
    inputs = st.multiselect(
        "Inputs", others, default=list(found), key=f"new.inputs.{table.sha256}.{target}", persist_state="session"
    )
    st.html(markup.block(*(markup.caption(f"{note}; put it back above if it matters") for note in left_out)))
    return Choice(
        target=target,
        task=resolve_task(table, target, "auto" if task == AS_FOUND else task),
        inputs=tuple(name for name in names if name in inputs),
        sizes=choose_sizes(),
    )


def choose_sizes() -> dict[str, Any]:
    """How many rows train and test, as `build_dataset` takes them."""
    with st.expander("Rows and split"):
        one, two, three = st.columns(3)
        return {
            "train_size": int(
                one.number_input("Training rows at most", 1, 10_000, 100, key="new.train", persist_state="session")
            ),
            "test_size": int(
                two.number_input("Test rows at most", 1, 10_000, 60, key="new.test", persist_state="session")
            ),
            "test_fraction": float(
                three.number_input(
                    "Test share of a small table", 0.05, 0.95, 0.375, key="new.fraction", persist_state="session"
                )
            ),
        }


def chosen_dataset(source: tables.Source, choice: Choice, config: Config) -> Dataset:
    """The rows, and what was found on the way. Raises DataError."""
    dataset = build_dataset(
        source.table,
        target=choice.target,
        task=choice.task,
        inputs=choice.inputs,
        seed=config.seed,
        notes=source.notes,
        **choice.sizes,
    )
    check_size(dataset, config.batch_size)
    st.html(markup.block(*(markup.caption(line) for line in told(dataset) if line not in source.notes)))
    return dataset


def told(dataset: Dataset) -> list[str]:
    """What was found and what is left out, a sentence each."""
    if dataset.task == "classification":
        found = f"{dataset.target} has {len(dataset.classes)} labels, so this is classification."
    else:
        found = f"{dataset.target} is a number, so this is regression."
    used = f"{len(dataset.train)} rows train, {len(dataset.test)} test"
    left = dataset.provenance.n_left_out
    unlabelled = dataset.provenance.n_unlabelled
    rest = [f"{left:,} more are not used"] if left else []
    rest += [f"{unlabelled:,} without a target take no part, and can be asked about later"] if unlabelled else []
    return [found, "; ".join([used, *rest]) + ".", *dataset.provenance.notes]


def what_it_takes(asked: Asked) -> None:
    """The plan, before it costs anything."""
    whole = plan(asked.config, n_train=len(asked.dataset.train), n_test=len(asked.dataset.test))
    rows = [(what, f"{calls:,}") for what, calls in whole.items]
    st.html(
        markup.block(
            '<div class="plan">',
            markup.heading("What it will take"),
            markup.table(("work", "calls"), [*rows, ("At most", f"{whole.calls:,}")], right=(1,)),
            markup.caption(pace(whole, asked.endpoint)),
            "</div>",
        )
    )


def pace(whole: Plan, endpoint: EndpointSpec) -> str:
    """How long, as far as that can be said before anything was measured."""
    usual = f"Repeated texts cost nothing, so runs usually need less. {whole.rounds} rounds must wait for one another"
    if endpoint.demo:
        return f"{usual}. {demo_pace(whole, endpoint.demo_latency_ms / 1000)}"
    measured = st.session_state.get("new.round_trip_s")
    if measured is None:
        return f"{usual}. Test the endpoint to see how long that takes."
    return f"{usual}: at least {whole.rounds * measured / 60:.1f} min at the {measured:.2f} s just measured a call."


def demo_pace(whole: Plan, latency_s: float) -> str:
    """The demo model's own time, and the pauses that make it readable."""
    pauses = whole.rounds * latency_s
    total = seconds(pauses + whole.calls / DEMO_CALLS_A_SECOND)
    part = f", {seconds(pauses)} of it pauses to read along" if pauses else ""
    told = f"The demo model answers roughly {DEMO_CALLS_A_SECOND} calls a second: up to about {total}{part}"
    return f"{told}. It does not use the cache."


def draw() -> None:
    """Data, method and model in their order; the plan beside, or below where there is no room."""
    main, side = st.columns([2.6, 1], gap="large")
    with main:
        st.html(markup.block(markup.heading("1\u2002Data")))
        asked = prepare_again(again) if (again := started_from()) else prepare()
    with side.container(key="new_plan"):
        what_it_takes(asked)
        offer_start(asked)


def prepare() -> Asked:
    """From a table, part by part. It ends the page where one is missing or refused."""
    try:
        source = tables.choose()
    except VppError as error:
        refuse("This table cannot be read", error)
    if source is None:
        st.stop()
    data_part = st.container()
    with data_part:
        choice = choose(source)
    config = method(prior=source.prior, is_task=source.is_task, task=choice.task)
    method_part = st.container()
    with data_part:
        try:
            dataset = chosen_dataset(source, choice, config)
        except VppError as error:
            refuse("This table cannot be used as chosen", error)
    with method_part:
        about_tau(config, dataset)
    return Asked(dataset=dataset, config=config, endpoint=model())


def prepare_again(again: Again) -> Asked:
    """From the rows of an earlier run."""
    config = method(prior=again.spec.config.prior, is_task=False, task=again.dataset.task)
    about_tau(config, again.dataset)
    try:
        check_size(again.dataset, config.batch_size)
    except VppError as error:
        refuse("These rows cannot be used as chosen", error)
    return Asked(dataset=again.dataset, config=config, endpoint=again.completed(model()), again=again.spec)


def method(*, prior: str, is_task: bool, task: Task) -> Config:
    """The second part."""
    st.html(markup.block(markup.heading("2\u2002Method")))
    return choose_config(prior=prior, is_task=is_task, task=task)


def about_tau(config: Config, dataset: Dataset) -> None:
    """Whether the target's scale suits the likelihood."""
    if said := tau_words(config, dataset):
        st.html(markup.block(markup.caption(said)))


def model() -> EndpointSpec:
    """The third part."""
    st.html(markup.block(markup.heading("3\u2002Model")))
    return choose_endpoint(READABLE_MS)


def choose(source: tables.Source) -> Choice:
    """The table with the part of each column, and the fields that decide them."""
    shown = st.empty()
    try:
        choice = choose_columns(source.table)
    except VppError as error:
        shown.html(preview(source, None))
        refuse("This table cannot be used as chosen", error)
    shown.html(preview(source, choice))
    return choice


def offer_start(asked: Asked) -> None:
    """The button, and what it needs or means."""
    endpoint = asked.endpoint
    ready = endpoint.demo or bool(endpoint.base_url and endpoint.model and st.session_state.get("new.sent_ok"))
    if st.button("Start the run", type="primary", width="stretch", disabled=not ready, key="new.start"):
        begin(asked)
    words = "It goes on if you close this tab. You can pause or stop it and keep what it found."
    st.html(
        markup.block(markup.caption(words if ready else "Name an address and a model first, or take the demo model."))
    )


def begin(asked: Asked) -> None:
    """Writes the run and starts its worker."""
    kept = asked.again
    try:
        preparation = Preparation(
            dataset=asked.dataset,
            config=asked.config,
            endpoint=asked.endpoint,
            name=kept.name if kept else "",
            learner_template=kept.learner_template if kept else None,
            optimizer_template=kept.optimizer_template if kept else None,
        )
        directory = preparation.create(frame.store().folder)
    except VppError as error:
        refuse("The run cannot start", error)
    frame.start(directory)


def refuse(head: str, error: VppError) -> NoReturn:
    """One line: what, where, the mend."""
    st.html(markup.block(markup.state(head, str(error), failed=True)))
    st.stop()
