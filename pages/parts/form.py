"""The form of a new run: data, method, model, and the plan beside them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import blocks, method, opening, person
from pages.parts import table as table_part
from pages.parts.endpoint import DEMO, MODEL_FILE, OWN_WAY, SERVER, SPEEDS, Model, choose_model, has_model, offered
from pages.parts.opening import FROM, OWN_HUNCHES
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset, Task
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table, choose_inputs, guess_note, resolve_task, target_guess
from vpp.data.text import shown_name
from vpp.errors import VppError
from vpp.findings.options import demo_text_words, tau_words
from vpp.llm import rendering
from vpp.llm.budget import Cap, Price
from vpp.llm.forms import SCHEMA
from vpp.runs.budget import estimate
from vpp.runs.preparation import Preparation, check_run, check_size, read_sentences, with_start
from vpp.runs.spec import EndpointSpec, Prices, RunSpec
from vpp.runs.store import TEXT_EXAMPLE
from vpp.settings import Config
from vpp.show import markup
from vpp.show.markup import one_line
from vpp.show.words import capitalised
from vpp.wording.planned import ESTIMATES, HEAD, cells_words, cost_line, estimate_rows, plan_rows, plan_words

DATA, METHOD, MODEL = "Data", "Method", "Model"
"""Parts of the form, numbered in its headings."""
LONGEST = 200
"""Characters of a cell in the preview of the table."""
SKIP = '<a class="skip" href="#new-start">Skip to Start</a>'
"""Link to the cost above Start, seen while it has focus."""
GOES_ON = "The run continues if you close this tab. You can pause or stop it and keep its results."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of the new run: those of a table, or of an earlier run."""

    task: Task
    split: Callable[[Config], Dataset]
    """Return the rows in their parts. Raises DataError."""
    prior: str
    earlier: RunSpec | None = None
    """Settings of the run that is started again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run as the form describes it; its model may be incomplete."""

    spec: RunSpec
    dataset: Dataset
    model: Model


class NotReady(Exception):
    """The first reason why a run cannot start; the rest of the form is not drawn."""


@contextmanager
def part(place: str, head: str) -> Iterator[None]:
    """Draw a refusal in its place, and end the form. Raises NotReady."""
    try:
        yield
    except VppError as error:
        blocks.failed(head, str(error))
        raise NotReady(f"{head}: see {place}.") from None


def draw() -> None:
    main, side = st.columns([2.6, 1], gap="large")
    side = side.container(key="new_plan")
    try:
        with main:
            head = markup.heading(f"1\u2002{DATA}")
            blocks.draw(f'<div id="new-data" tabindex="-1">{head}</div>')
            plan = prepare(rows_of_run() or rows_of_table())
        with side:
            draw_plan(plan)
    except NotReady as missing:
        with side:
            start_button(str(missing))


def prepare(rows: Rows | None) -> Plan:
    """Ask for everything but the rows. Raises NotReady without rows or at a part that is refused.

    The endpoint may be incomplete.
    """
    data_part = st.container()
    blocks.draw(markup.heading(f"2\u2002{METHOD}"))
    prior, task = (rows.prior, rows.task) if rows else ("", None)
    with part(METHOD, "This option cannot be used"):
        config = method.choose_config(prior=prior, task=task)
    below = st.container()
    dataset = None
    if rows:
        with data_part, part(DATA, "These rows cannot be used as chosen"):
            dataset = rows.split(config)
            if not config.is_weighing:
                check_size(dataset, config)
        if words := tau_words(config, dataset):
            below.html(markup.block(markup.caption(words)))
    blocks.draw(markup.heading(f"3\u2002{MODEL}"))
    model = choose_model(opening.READABLE_MS, writes=not config.is_weighing)
    if rows is None or dataset is None:
        raise NotReady("Choose a table first.")
    with part(MODEL, "This template cannot be used"):
        spec = completed(dataset, config, model, rows.earlier)
    with part(METHOD, "These sentences cannot be used"):
        n_notes, text = len(dataset.provenance.notes), st.session_state.get(method.START, "")
        start = read_sentences(text, name="The field of sentences") if text.strip() else ()
        spec, dataset = with_start(replace(spec, start=start), dataset)
        if notes := dataset.provenance.notes[n_notes:]:
            below.html(markup.block(*map(markup.caption, notes)))
    return Plan(spec=spec, dataset=dataset, model=model)


def completed(dataset: Dataset, config: Config, model: Model, earlier: RunSpec | None) -> RunSpec:
    """Ask for prompts, prices and a cap; return the run's settings.

    earlier: those of the run that is started again; the form does not ask for all of them.
    """
    endpoint = model.endpoint
    if earlier and not (endpoint.gguf or earlier.endpoint.gguf):  # a model file has a context of its own
        of = earlier.endpoint
        endpoint = replace(endpoint, max_wait_s=of.max_wait_s, context_length=of.context_length)
    templates, cell_limit = method.choose_templates(
        dataset,
        config=config,
        is_demo=endpoint.is_demo,
        is_structured=not endpoint.is_demo and endpoint.structured == "auto" and model.carrier == SCHEMA,
        earlier=earlier.templates if earlier else None,
    )
    prices, cap = choose_budget(endpoint)
    return RunSpec(
        name=earlier.name if earlier else "",
        config=config,
        endpoint=endpoint,
        structured_as=model.carrier,
        learner_template=templates["learner"],
        optimizer_template=templates["optimizer"],
        prior_template=templates["prior"],
        cell_limit=cell_limit,
        prices=prices,
        cap=cap,
    )


def choose_budget(endpoint: EndpointSpec) -> tuple[Prices, Cap]:
    def amount(place: DeltaGenerator, label: str, name: str) -> float:
        return float(place.number_input(label, 0.0, step=0.1, format="%.2f", **blocks.begun(f"new.{name}", 0.0)))

    def price(role: str = "", of: str = "") -> Price:
        prompt = amount(left, f"Input price per million tokens{of}", f"{role}price_in")
        answer = amount(right, f"Output price per million tokens{of}", f"{role}price_out")
        return Price(prompt=prompt, completion=answer)

    with st.expander("Prices and a cap"):
        words = "At its cap a run pauses and keeps all it has; it goes on once you raise the cap. 0: no cap, no price."
        blocks.captions(words)
        left, right = st.columns(2)
        has_optimizer = endpoint.optimizer_model or endpoint.optimizer_base_url
        prices = Prices(learner=price(), optimizer=price("optimizer_", ", optimizer") if has_optimizer else None)
        calls = right.number_input("Calls at most", 0, **blocks.begun("new.max_calls", 0))
        has_cost = prices.are_given or st.session_state.get("new.max_cost")  # a cap without a price is refused
        cost = amount(right, "Money at most", "max_cost") if has_cost else 0.0
    return prices, Cap(calls=int(calls), cost=cost)


def draw_plan(plan: Plan) -> None:
    dataset, pace, endpoint = plan.dataset, plan.model.pace, plan.spec.endpoint
    length = endpoint.context_length or plan.model.context_length
    spec = replace(plan.spec, endpoint=replace(endpoint, context_length=length))
    expected = estimate(spec, dataset)
    blocks.draw(f'<p class="cost" id="new-start" tabindex="-1">{markup.text(cost_line(expected, spec, pace))}</p>')
    offer_start(plan, cut=cells_words(spec, dataset))
    with st.expander("What it will take"):
        blocks.draw(
            '<div class="plan">',
            markup.table(HEAD[:2], [row[:2] for row in plan_rows(expected)], right=(1,)),
            markup.table(ESTIMATES, estimate_rows(expected, spec, pace), right=(1, 2)),
            *map(markup.caption, plan_words(expected, spec, dataset, pace)),
            "</div>",
        )


def offer_start(plan: Plan, *, cut: str) -> None:
    """Draw what speaks against the run, and the button. cut: which cells are shown in part."""
    text_words = demo_text_words(plan.dataset) if plan.spec.endpoint.is_demo else ""
    if text_words:
        blocks.draw(markup.phase("uns", text_words))
        if SERVER in offered():
            choose = partial(st.session_state.__setitem__, "new.who", SERVER)
            st.button("Use a language model instead", key="new.language_model", on_click=choose)
        if st.button(OWN_HUNCHES, key="new.texts"):
            opening.open_example(TEXT_EXAMPLE)
    if cut:
        blocks.captions(cut)
    if doubt := plan.model.doubt_html:
        st.html(doubt)
    why_not = plan.model.lacks
    if not why_not:
        try:
            check_run(plan.spec, plan.dataset)
        except VppError as error:
            why_not = f"{capitalised(str(error))}."
    if start_button(why_not):
        with opening.refusals("The run cannot start"):
            if has_model(plan.model):
                opening.start_new(Preparation(dataset=plan.dataset, spec=plan.spec))


def start_button(why_not: str) -> bool:
    is_pressed = st.button("Start the run", type="primary", width="stretch", disabled=bool(why_not), key="new.start")
    blocks.captions(why_not or GOES_ON)
    return is_pressed


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The parts of a table: target, inputs and split."""

    table: Table
    """Its columns have the chosen kinds."""
    target: str
    task: Task
    inputs: tuple[str, ...]
    splitting: table_part.Splitting
    descriptions: dict[str, str]
    """Meanings of columns and labels, by key."""

    def part_of(self, column: str) -> str:
        if column == self.target:
            return "target"
        return "input" if column in self.inputs else "left out"


def rows_of_table() -> Rows | None:
    """Ask for a table and the part of each column; None without a table. Raises NotReady if it cannot be used."""
    with part(DATA, "This table cannot be read"):
        source = table_part.choose()
    if source is None:
        return None
    place = st.empty()
    choice = None
    try:
        with part(DATA, "This table cannot be used as chosen"):
            choice = choose_columns(table_part.choose_kinds(source.table))
    finally:
        place.html(preview(source, choice))
    split = partial(split_rows, source, choice)
    return Rows(task=choice.task, split=split, prior=source.prior)


def choose_columns(table: Table) -> Choice:
    guess, names = target_guess(table), list(table.names)
    left, middle = st.columns(2)
    first = names.index(guess) if guess else 0
    target = left.selectbox("Target (column to predict)", names, first, **blocks.lasting("new.target"))
    kinds = (table_part.AS_FOUND, "classification", "regression")
    kind = middle.selectbox("Task", kinds, **blocks.lasting("new.kind_of_task"))
    place = st.container()
    splitting = table_part.NO_SPLIT if method.options()["method"] == "weigh" else table_part.choose_split(table, target)
    default, left_out = choose_inputs(table, splitting.rule, target=target)
    field = blocks.lasting(f"new.inputs.{table.sha256}.{target}.{splitting.rule.column}")
    choice = place.multiselect("Inputs", [name for name in names if name != target], default=list(default), **field)
    notes = [f"{guess_note(table)}; choose another above if it is wrong"] if target == guess else []
    notes += [f"{note}; put it back above if it matters" for note in left_out]
    place.html(markup.block(*map(markup.caption, notes)))
    task = resolve_task(table, target, "auto" if kind == table_part.AS_FOUND else kind)
    inputs = tuple(name for name in names if name in choice)
    return Choice(
        table=table,
        target=target,
        task=task,
        inputs=inputs,
        splitting=splitting,
        descriptions=table_part.choose_meanings(table, target=target, inputs=inputs, task=task),
    )


def preview(source: table_part.Source, choice: Choice | None) -> str:
    table = choice.table if choice else source.table
    missing = sum(column.n_missing for column in table.columns) or "nothing"
    size = f"{table.n_rows:,} rows, {len(table.columns)} columns, {missing} missing"
    first = [[rendering.cut(cells[i] or "", LONGEST) for cells in table.values] for i in range(min(4, table.n_rows))]
    names = [shown_name(name) for name in table.names]
    kinds = [f"{table_part.kind_words(column)}, {column.n_distinct} values" for column in table.columns]
    parts = [[choice.part_of(name) for name in table.names]] if choice else []
    return markup.block(
        SKIP if choice else "",
        markup.caption(size),
        f'<div class="{"preview" if choice else ""}">{markup.table(names, [kinds, *parts, *first])}</div>',
        *map(markup.caption, (*source.notes, *table.notes)),
    )


def split_rows(source: table_part.Source, choice: Choice, config: Config) -> Dataset:
    """Return the split rows, and show what was noticed on the way. Raises DataError."""
    splitting = choice.splitting
    dataset = build_dataset(
        choice.table,
        target=choice.target,
        notes=source.notes,
        columns=ColumnChoice(task=choice.task, inputs=choice.inputs, descriptions=choice.descriptions),
        split=SplitPlan(is_whole=True) if config.is_weighing else splitting.plan(config.seed),
        test_table=None if config.is_weighing else splitting.test_table,
    )
    above = {*source.notes, *choice.table.notes, *splitting.hints}
    blocks.captions(*(line for line in table_part.split_words(dataset) if line not in above))
    return dataset


# Rows of an earlier run, whose settings fill the form


def fill(run: str, spec: RunSpec) -> None:
    """Fill the form's fields with a run's settings; the form then uses its rows."""
    st.session_state[FROM] = run
    st.session_state["new.came_with"] = (spec.config.prior, False)
    st.session_state.pop("new.templates", None)
    st.session_state[method.START] = "" if spec.is_continued else "\n".join(map(one_line, spec.start))
    for name, value in asdict(spec.config).items():
        method.put(name, value)
    of = spec.endpoint
    fields = {
        "who": DEMO if of.demo else MODEL_FILE if of.gguf else SERVER,
        "gguf": of.gguf,
        "speed": SPEEDS[0] if of.demo_latency_ms else SPEEDS[1],
        "url": of.base_url,
        "model": "" if of.is_started_here else of.model,
        "optimizer_url": of.optimizer_base_url,
        "optimizer_model": of.optimizer_model,
        "concurrency": of.concurrency or None,
        "structured": of.structured,
        "learner_max_tokens": of.learner_max_tokens,
        "optimizer_max_tokens": of.optimizer_max_tokens,
        "effort": of.reasoning_effort or OWN_WAY,
        "timeout_s": EndpointSpec().timeout_s if of.gguf else of.timeout_s,
        "cell_limit": spec.cell_limit or None,
        "price_in": spec.prices.learner.prompt,
        "price_out": spec.prices.learner.completion,
        "optimizer_price_in": spec.prices.of_optimizer.prompt,
        "optimizer_price_out": spec.prices.of_optimizer.completion,
        "max_cost": spec.cap.cost,
        "max_calls": spec.cap.calls,
    }
    for name, value in fields.items():
        st.session_state[f"new.{name}"] = value


def rows_of_run() -> Rows | None:
    run = st.session_state.get(FROM)
    if run is None:
        return None
    try:
        reader = opening.reader(str(person.store().get(run).path))
        spec, dataset = reader.refresh().spec, reader.dataset()
    except VppError as error:
        del st.session_state[FROM]
        blocks.failed("That run cannot be started again", str(error))
        return None
    with blocks.in_use(f"The rows of <b>{markup.text(spec.name)}</b>, run {markup.text(run)}", key="new_file"):
        forget = partial(st.session_state.pop, FROM, None)
        st.button("Use another table", key="new.other_table", type="tertiary", on_click=forget)
    blocks.captions("Its training and test rows and its target stay, so that the two compare.")
    return Rows(task=dataset.task, split=lambda _: dataset, prior=spec.config.prior, earlier=spec)
