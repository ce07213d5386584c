"""The form of a new run: data, method, model, and the plan beside them."""

from dataclasses import dataclass
from typing import NoReturn

import streamlit as st

from pages.parts import budget, columns, frame, person, tables
from pages.parts.again import Again, started_from
from pages.parts.endpoint import choose_endpoint, doubt_html, lacking
from pages.parts.example import READABLE_MS
from pages.parts.method import choose_config
from pages.parts.prompts import Texts, choose_templates
from pages.parts.splitting import Splitting, choose_split, told
from vpp.data.build import build_dataset, choose_split_inputs
from vpp.data.dataset import Dataset, Task
from vpp.data.grid import shown_name
from vpp.data.roles import ColumnChoice, guess_note, resolve_task, target_guess
from vpp.data.table import Table
from vpp.errors import VppError
from vpp.llm.budget import Cap
from vpp.llm.structure import FREE_TEXT, StructuredAnswers, structured_answers
from vpp.runs.preparation import Preparation, check_size
from vpp.runs.spec import EndpointSpec, Prices, RunSpec
from vpp.settings import Config
from vpp.wording import markup
from vpp.wording.options import tau_words

AS_FOUND = "as found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What of a table is used, and for what."""

    table: Table
    """With the kinds of its columns as chosen."""
    target: str
    task: Task
    inputs: tuple[str, ...]
    splitting: Splitting


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the form was filled with; its endpoint may not be complete yet."""

    dataset: Dataset
    config: Config
    endpoint: EndpointSpec
    templates: Texts
    prices: Prices
    cap: Cap
    again: RunSpec | None = None
    """Of the run that is started again."""

    @property
    def spec(self) -> RunSpec:
        """As the run would be, without its rows."""
        return RunSpec(
            name=self.again.name if self.again else "",
            config=self.config,
            endpoint=self.endpoint,
            structured_as=_carrier(),
            learner_template=self.templates["learner"],
            optimizer_template=self.templates["optimizer"],
            prior_template=self.templates["prior"],
            prices=self.prices,
            cap=self.cap,
        )


def _carrier() -> str:
    """The carrier of structured answers that the last test of this endpoint found; empty before a test."""
    return str(st.session_state.get("new.carrier", ""))


def _held(endpoint: EndpointSpec) -> StructuredAnswers:
    """How the learner's answers would be held, as far as is known."""
    return FREE_TEXT if endpoint.is_demo else structured_answers(endpoint.structured, _carrier())


def preview(source: tables.Source, choice: Choice | None) -> str:
    """The first rows, each column with its kind, and its part where that is known."""
    table = choice.table if choice else source.table
    missing = sum(column.n_missing for column in table.columns)
    said = f"{table.n_rows:,} rows, {len(table.columns)} columns, {missing or 'nothing'} missing"
    first = [[cells[i] or "" for cells in table.values] for i in range(min(4, table.n_rows))]
    names = [shown_name(name) for name in table.names]
    kinds = [f"{columns.kind_words(column)}, {column.n_distinct} values" for column in table.columns]
    parts = [[part_of(name, choice) for name in table.names]] if choice else []
    return markup.block(
        markup.caption(said),
        f'<div class="{"preview" if choice else ""}">{markup.table(names, [kinds, *parts, *first])}</div>',
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
    place = st.container()
    splitting = choose_split(table, target)
    found, left_out = choose_split_inputs(table, splitting.rule, target=target)
    inputs = place.multiselect(
        "Inputs",
        others,
        default=list(found),
        key=f"new.inputs.{table.sha256}.{target}.{splitting.rule.column}",
        persist_state="session",
    )
    guessed = [f"{guess_note(table)}; choose another above if it is wrong"] if target == guess else []
    put_back = (f"{note}; put it back above if it matters" for note in left_out)
    place.html(markup.block(*(markup.caption(note) for note in (*guessed, *put_back))))
    return Choice(
        table=table,
        target=target,
        task=resolve_task(table, target, "auto" if task == AS_FOUND else task),
        inputs=tuple(name for name in names if name in inputs),
        splitting=splitting,
    )


def chosen_dataset(source: tables.Source, choice: Choice, config: Config) -> Dataset:
    """The rows, and what was found on the way. Raises DataError."""
    dataset = build_dataset(
        choice.table,
        target=choice.target,
        notes=source.notes,
        columns=ColumnChoice(task=choice.task, inputs=choice.inputs),
        split=choice.splitting.plan(config.seed),
        test_table=choice.splitting.test_table,
    )
    check_size(dataset, config)
    known = {*source.notes, *choice.table.notes, *choice.splitting.hints}
    st.html(markup.block(*(markup.caption(line) for line in told(dataset) if line not in known)))
    return dataset


def draw() -> None:
    """Data, method and model in their order; the plan beside, or below where there is no room."""
    main, side = st.columns([2.6, 1], gap="large")
    with main:
        st.html(markup.block(markup.heading("1\u2002Data")))
        asked = prepare_again(again) if (again := started_from()) else prepare()
    with side.container(key="new_plan"):
        budget.draw_plan(asked.spec, asked.dataset)
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
    endpoint = model()
    templates = choose_templates(dataset, prior=config.prior, is_demo=endpoint.is_demo, held=_held(endpoint))
    prices, cap = budget.choose_budget(endpoint)
    return Asked(dataset=dataset, config=config, endpoint=endpoint, templates=templates, prices=prices, cap=cap)


def prepare_again(again: Again) -> Asked:
    """From the rows of an earlier run."""
    config = method(prior=again.spec.config.prior, is_task=False, task=again.dataset.task)
    about_tau(config, again.dataset)
    try:
        check_size(again.dataset, config)
    except VppError as error:
        refuse("These rows cannot be used as chosen", error)
    endpoint = again.completed(model())
    templates = choose_templates(
        again.dataset,
        prior=config.prior,
        is_demo=endpoint.is_demo,
        held=_held(endpoint),
        earlier=again.spec.templates,
    )
    prices, cap = budget.choose_budget(endpoint)
    return Asked(
        dataset=again.dataset,
        config=config,
        endpoint=endpoint,
        templates=templates,
        prices=prices,
        cap=cap,
        again=again.spec,
    )


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
        choice = choose_columns(columns.choose_kinds(source.table))
    except VppError as error:
        shown.html(preview(source, None))
        refuse("This table cannot be used as chosen", error)
    shown.html(preview(source, choice))
    return choice


def offer_start(asked: Asked) -> None:
    """The button, and what it needs or means."""
    lack = lacking(asked.endpoint)
    if doubt := doubt_html():
        st.html(doubt)
    if st.button("Start the run", type="primary", width="stretch", disabled=bool(lack), key="new.start"):
        begin(asked)
    words = "It goes on if you close this tab. You can pause or stop it and keep what it found."
    st.html(markup.block(markup.caption(lack or words)))


def begin(asked: Asked) -> None:
    """Writes the run and starts its worker."""
    kept = asked.again
    try:
        person.check_caps()
        preparation = Preparation(
            dataset=asked.dataset,
            config=asked.config,
            endpoint=asked.endpoint,
            name=kept.name if kept else "",
            learner_template=asked.templates["learner"],
            optimizer_template=asked.templates["optimizer"],
            prior_template=asked.templates["prior"],
            prices=asked.prices,
            cap=asked.cap,
        )
        directory = preparation.create(frame.store().folder)
    except VppError as error:
        refuse("The run cannot start", error)
    frame.start(directory)


def refuse(head: str, error: VppError) -> NoReturn:
    """One line: what, where, the mend."""
    st.html(markup.block(markup.state(head, str(error), failed=True)))
    st.stop()
