"""The form of a new run: a table, its target, a model, everything else under Advanced, and a bar with Start."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import blocks, opening, person
from pages.parts import table as table_part
from pages.parts.endpoint import DEMO, MODEL_FILE, NAMES, SERVER, SETTINGS, SPEEDS, Model, ask_for_model, choose_model
from pages.parts.opening import FROM
from vpp.data import table as tables
from vpp.data.build import ColumnChoice, build_dataset
from vpp.data.dataset import Dataset, Task
from vpp.data.text import shown_name
from vpp.errors import VppError
from vpp.findings.cost import cost, cost_line
from vpp.findings.options import (
    METHODS,
    OPEN,
    OPTIONS,
    config_of,
    decided,
    demo_text_words,
    groups,
    has_effect,
    value_words,
)
from vpp.findings.status import task_sentence, unlabelled_sentence
from vpp.llm import templates as template_sets
from vpp.llm.limits import Cap, Price
from vpp.llm.prompts import LearnerPrompts, cut, prompt_tokens, seed_sentence
from vpp.llm.protocol import SCHEMA
from vpp.llm.templates import AUTO, AUTO_WORDS, GALLERY, LETTERED, TEMPLATES, Role, chosen_templates, set_texts
from vpp.runs.budget import estimate
from vpp.runs.preparation import Preparation, check_run, check_size, read_sentences, with_start
from vpp.runs.spec import EndpointSpec, Prices, RunSpec
from vpp.settings import FOR_EXPERTS, PRESET_WORDS, Config, Preset, choices, option_docs, preset
from vpp.show import markup
from vpp.show.blocks import Heading, Table
from vpp.show.markup import one_line
from vpp.show.words import capitalised, counted, in_words, integer

TABLE, MODEL, ADVANCED = "Table", "Model", "Advanced"
METHOD, PROMPTS, PRICES, COST = "Method", "Prompts", "Prices and a cap", "Cost"  # folds under Advanced
LONGEST = 200  # characters of a cell in the preview of the table
TRAIN, MORE = 100, (500, 2_000, 10_000)  # training rows by default, and others on offer, below all of them
SEEDS, MOST_SEEDS = "new.seeds", 10  # key of the field for the number of runs
SEVERAL = (
    "So many runs of this setting on the same rows, with seeds from Seed on. Compare then shows which hypotheses "
    "return, and weighs those of all runs together."
)
KEPT = ("body", "cache", "max_wait_s", "context_length")  # of an earlier run's server: the form does not ask for them
DESTINATION = ("base_url", "model", "optimizer_base_url", "optimizer_model", "gguf")
GOES_ON = "The run continues if you close this tab. You can pause or stop it and keep its results."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    task: Task
    split: Callable[[Config], Dataset]
    """Return the rows in their parts. Raises DataError."""
    earlier: RunSpec | None = None


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


class Places:
    def __init__(self) -> None:
        with st.container(key="new_form"):
            self.table, self.model, self.trouble = st.container(), st.container(), st.container()
            fold = st.expander(ADVANCED, key="new.advanced")
            self.server, self.method, self.table_fold, self.last = (fold.container() for _ in range(4))
        # Outside the form: it stays in view from the top of the page on.
        with st.container(key="new_start", horizontal=True, vertical_alignment="center"):
            self.words = st.container()
            self.rows, self.button = st.container(width=260), st.container(width=150)


def draw() -> None:
    places = Places()
    try:
        with places.table:
            blocks.draw(Heading(TABLE, place="new-data"))
            rows = rows_of_run() or rows_of_table(places)
        trouble = part(f"{ADVANCED}, {METHOD}", "This option cannot be used")
        with places.trouble, trouble, places.method.expander(METHOD):
            config = choose_config(rows.task if rows else None)
        with places.model:
            blocks.draw(Heading(MODEL))
            model = choose_model(places.server, writes=not config.is_weighing)
        if rows is None:
            raise NotReady("Choose a table first.")
        with places.table, part(TABLE, "These rows cannot be used as chosen"):
            dataset = rows.split(config)
            if not config.is_weighing:
                check_size(dataset, config)
        spec, dataset = complete(places, dataset, config, model, rows.earlier)
        draw_start(places, spec, dataset, model)
    except NotReady as missing:
        start_button(places, why_not=str(missing))


def complete(
    places: Places, dataset: Dataset, config: Config, model: Model, earlier: RunSpec | None
) -> tuple[RunSpec, Dataset]:
    """Ask for prompts, prices and a cap; return the run's settings, and its rows with the person's own hypotheses.

    earlier: settings of the run that is started again; the form does not ask for all of them. Raises NotReady.
    """
    endpoint = model.endpoint
    if earlier and endpoint.is_demo == earlier.endpoint.is_demo:
        # A model file has a context of its own.
        names = [name for name in KEPT if name != "context_length" or not (endpoint.gguf or earlier.endpoint.gguf)]
        endpoint = replace(endpoint, **{name: getattr(earlier.endpoint, name) for name in names})
        if endpoint.body and any(getattr(endpoint, name) != getattr(earlier.endpoint, name) for name in DESTINATION):
            endpoint = replace(endpoint, body="")  # a vendor's own fields: another server may refuse each call
            with places.model:
                blocks.captions("The earlier run’s own fields in each request are left out: they were for its server.")
    trouble = part(f"{ADVANCED}, {PROMPTS}", "This template cannot be used")
    with places.trouble, trouble, places.last.expander(PROMPTS):
        templates = choose_templates(dataset, config, model, earlier.templates if earlier else None)
    with places.last.expander(PRICES):
        prices, cap = choose_budget(endpoint)
    spec = RunSpec(
        name=earlier.name if earlier else "",
        config=config,
        endpoint=endpoint,
        structured_as=model.carrier,
        templates=templates,
        cell_limit=earlier.cell_limit if earlier else 0,
        prices=prices,
        cap=cap,
    )
    with places.trouble, part(f"{ADVANCED}, {METHOD}", "These hypotheses cannot be used"):
        n_notes, text = len(dataset.provenance.notes), st.session_state.get(START, "")
        start = read_sentences(text, name="The field of hypotheses") if text.strip() else ()
        spec, dataset = with_start(replace(spec, start=start), dataset)
        if notes := dataset.provenance.notes[n_notes:]:
            blocks.captions(*map(blocks.sentence, notes))
    return spec, dataset


# The bar: what the run will take, how many rows, and Start


def draw_start(places: Places, spec: RunSpec, dataset: Dataset, model: Model) -> None:
    length = spec.endpoint.context_length or model.measure("context length") or 0
    fitted = replace(spec, endpoint=replace(spec.endpoint, context_length=length))
    expected = estimate(fitted, dataset, model.pace)
    with places.last.expander(COST):
        blocks.draw(*cost(expected, fitted, dataset))
    n = 1 if spec.config.is_weighing else int(st.session_state.get(SEEDS, 1))
    words = f"{f'{capitalised(in_words(n))} runs, each ' if n > 1 else ''}{cost_line(expected, fitted)}"
    bound = f"At most {counted(expected.plan.calls, 'call')}. Advanced, Cost says what they are."
    line = f'<p class="cost" title="{markup.text(bound)}">{markup.text(words)}</p>'
    note = demo_text_words(dataset) if spec.endpoint.is_demo else ""
    if start_button(places, note, why_not=lacks(spec, dataset, model), line=line):
        with opening.refusals("The run cannot start"):
            ask_for_model(model)
            opening.start_new(Preparation(dataset=dataset, spec=spec), n)


def lacks(spec: RunSpec, dataset: Dataset, model: Model) -> str:
    if model.lacks:
        return model.lacks
    try:
        check_run(spec, dataset)
    except VppError as error:
        return f"{capitalised(str(error))}."
    return ""


def start_button(places: Places, *notes: str, why_not: str, line: str = "") -> bool:
    captions = map(markup.caption, filter(None, (why_not, *notes)))
    with places.words:
        blocks.draw(line, *captions)
    return places.button.button(
        "Start the run", type="primary", width="stretch", help=GOES_ON, disabled=bool(why_not), key="new.start"
    )


def choose_train(places: Places, choice: table_part.Choice, config: Config) -> int:
    held_out = 0 if choice.test_table else choice.split.held_out
    n = sum(cell is not None for cell in choice.table.cells(choice.target))
    if config.is_weighing or n - held_out <= TRAIN:
        return TRAIN
    sizes = (TRAIN, *(size for size in MORE if size < n - held_out), n - held_out)
    field: dict[str, Any] = {"label_visibility": "collapsed", **blocks.lasting(f"new.train.{n}")}
    field["format_func"] = lambda rows: f"{integer(rows)} of {integer(n)}"
    return int(places.rows.selectbox("Training rows", sizes, **field))


# Rows of a table


def rows_of_table(places: Places) -> Rows | None:
    """Ask for a table and the part of each column; None without a table. Raises NotReady if it cannot be used."""
    with part(TABLE, "This table cannot be read"):
        table = table_part.choose(places.table_fold)
    if table is None:
        return None
    is_weighing = options()["method"] == "weigh"
    split = None if is_weighing else places.table_fold
    try:
        with part(TABLE, "This table cannot be used as chosen"):
            choice = table_part.choose_columns(table, columns=places.table_fold, split=split)
    except NotReady:
        st.html(preview(table, None))
        raise
    st.html(preview(choice.table, choice))
    return Rows(task=choice.task, split=partial(split_rows, places, choice))


def preview(table: tables.Table, choice: table_part.Choice | None) -> str:
    """Return the table's first rows, the target first, each column with its type and its part."""
    missing = sum(column.n_missing for column in table.columns)
    size = f"{table.n_rows:,} rows, {len(table.columns)} columns, {missing or 'no'} missing cells"
    names = sorted(table.names, key=lambda name: choice is not None and name != choice.target)
    kinds = [table_part.kind_words(table.column(name)) for name in names]
    parts = [[choice.part_of(name) for name in names]] if choice else []
    cells = [table.cells(name)[:4] for name in names]
    first = [[cut(cell or "", LONGEST) for cell in row] for row in zip(*cells, strict=True)]
    heads = zip(map(shown_name, names), *parts, kinds, strict=True)
    head = ["\n".join(map(one_line, lines)) for lines in heads]
    cells_html = markup.html([Table(head=head, rows=first, name="first rows")])
    captions = map(markup.caption, (size, *map(blocks.sentence, table.notes)))
    return markup.block(f'<div class="preview{" chosen" if choice else ""}">{cells_html}</div>', *captions)


def split_rows(places: Places, choice: table_part.Choice, config: Config) -> Dataset:
    """Return the split rows, and show what was noticed on the way. Raises DataError."""
    train, split = choose_train(places, choice, config), choice.split
    if not config.is_weighing:
        split = replace(split, train_size=train, seed=config.seed, coverage=config.coverage)
    dataset = build_dataset(
        choice.table,
        target=choice.target,
        columns=ColumnChoice(task=choice.task, inputs=choice.inputs, descriptions=choice.descriptions),
        split=split,
        test_table=choice.test_table,
    )
    above = {*choice.table.notes, *choice.hints}
    notes = (blocks.sentence(note) for note in dataset.provenance.notes if note not in above)
    blocks.captions(*filter(None, (task_sentence(dataset), unlabelled_sentence(dataset), *notes)))
    return dataset


# Rows of an earlier run, whose settings fill the form


def fill(run: str, spec: RunSpec) -> None:
    of, prices = spec.endpoint, spec.prices
    st.session_state[FROM] = run
    st.session_state.pop("new.templates", None)
    st.session_state[START] = "" if spec.started_from else "\n".join(map(one_line, spec.start))
    fill_from(spec.config)
    fields = {
        **{name: getattr(of, name) for name in ("gguf", *NAMES, *SETTINGS)},
        "who": DEMO if of.demo else MODEL_FILE if of.gguf else SERVER,
        "demo_latency_ms": of.demo_latency_ms if of.demo_latency_ms in SPEEDS else opening.READABLE_MS,
        "price_in": prices.learner.prompt,
        "price_out": prices.learner.completion,
        "optimizer_price_in": prices.of_optimizer.prompt,
        "optimizer_price_out": prices.of_optimizer.completion,
        "max_cost": spec.cap.cost,
        "max_calls": spec.cap.calls,
        "seeds": 1,
    }
    fields |= {"model": ""} if of.is_started_here else {}
    fields |= {"timeout_s": EndpointSpec().timeout_s} if of.gguf else {}
    st.session_state.update({f"new.{name}": value for name, value in fields.items()})


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
        st.button("Use another table", key="new.other_table", type="tertiary", on_click=forget_run)
    blocks.captions("Its training and test rows and its target stay, so that the two compare.")
    return Rows(task=dataset.task, split=lambda _: dataset, earlier=spec)


def forget_run() -> None:
    for key in (FROM, BEYOND):
        st.session_state.pop(key, None)


# The method: options of `Config`

PRESETS = {name: preset(name) for name in get_args(Preset)}
SHARES = ("abstention_cost", "coverage")  # numbers between 0 and 1
START = "new.start_from"  # key of the field of first hypotheses
BEYOND = "new.beyond"  # session key: options of an earlier run that have no field


def choose_config(task: Task | None) -> Config:
    """Ask for the method and its options. Raises InputError. task: None before there is a table."""
    options()
    left, right = st.columns(2)
    field = {"format_func": lambda method: METHODS[method].name, **blocks.lasting(key_of("method"))}
    method = left.selectbox("Method", list(METHODS), **field)
    field = {**blocks.lasting("new.preset"), "help": f"Fills the fields below ({PRESET_WORDS})."}
    right.selectbox("Preset", list(PRESETS), on_change=fill_from_preset, **field)
    blocks.captions(METHODS[method].about)
    deciding = decided(options(), base(), task)
    of_method = [name for name in OPEN if has_effect(name, deciding)]
    ask([name for name in of_method if name not in ("method", "reading", "prior")], across=4)
    left, right = st.columns([3, 1])
    with left:
        ask([name for name in of_method if name == "reading"], across=1)
    if not deciding.is_weighing:
        right.number_input("Runs (seeds)", 1, MOST_SEEDS, help=SEVERAL, **blocks.begun(SEEDS, 1))
    example = "Petal size matters more than sepal size."
    st.text_area(OPTIONS["prior"].label, **blocks.lasting(key_of("prior")), height=80, placeholder=example)
    label = "Your hypotheses, one a line" if deciding.is_weighing else "Your first hypotheses, one a line (optional)"
    example = "If the bill is longer than 50 mm, answer Gentoo."
    st.text_area(label, **blocks.lasting(START), height=100, placeholder=example)
    for title, group in groups().items():
        if names := [name for name in group if name not in FOR_EXPERTS and has_effect(name, deciding, task)]:
            blocks.draw(markup.group(title))
            ask(names, across=3)
    return config_of(options(), base(), task)


def options() -> dict[str, Any]:
    fields = {name: value for name, value in asdict(base()).items() if name not in FOR_EXPERTS}
    values = {name: st.session_state.setdefault(key_of(name), value) for name, value in fields.items()}
    return {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}


def base() -> Config:
    """Return the preset, with what an earlier run sets beyond the form's fields."""
    chosen = PRESETS[st.session_state.get("new.preset", next(iter(PRESETS)))]
    return replace(chosen, **st.session_state.get(BEYOND, {}))


def fill_from_preset() -> None:
    st.session_state.pop(BEYOND, None)
    values = asdict(base())
    for name in ("reading", *chain(*groups().values())):
        st.session_state[key_of(name)] = values[name]


def fill_from(config: Config) -> None:
    st.session_state[BEYOND] = {name: getattr(config, name) for name in FOR_EXPERTS}
    for name, value in asdict(config).items():
        st.session_state[key_of(name)] = value


def key_of(name: str) -> str:
    return f"new.option.{name}"


def ask(names: Sequence[str], *, across: int) -> None:
    for place, name in blocks.in_columns(names, across):
        label, value = OPTIONS[name].label, getattr(base(), name)
        field = {**blocks.lasting(key_of(name)), "help": option_docs()[name]}
        if choices(name):
            place.selectbox(label, choices(name), format_func=partial(value_words, name), **field)
        elif isinstance(value, str):
            place.text_input(label, **field)
        else:
            top = 1.0 if name in SHARES else None
            step, form = (1, "%d") if isinstance(value, int) else (0.05, "%.3g")
            # The default stands in where a run of the page is cut short before the browser knows the state's value.
            place.number_input(label, type(value)(0), top, value, step=step, format=form, **field)


# The prompts: a set of shipped templates, with a preview

FIELD = "new.templates"
AS_BEFORE = "as that run had them"
Texts = dict[Role, str | None]


def choose_templates(
    dataset: Dataset, config: Config, model: Model, earlier: Mapping[Role, str | None] | None
) -> Texts:
    """Ask for the text of each role's template, None for the set `paper`. Raises InputError.

    earlier: templates of the run that is started again.
    """
    names = {template_sets.name_of(text, role) for role, text in (earlier or {}).items()}
    first = (names.pop() if len(names) == 1 else None) or AS_BEFORE if earlier else AUTO
    offer = [AS_BEFORE, *TEMPLATES] if first == AS_BEFORE else list(TEMPLATES)
    if st.session_state.get(FIELD) not in offer:
        st.session_state[FIELD] = first
    choice = st.selectbox("Templates", offer, **blocks.lasting(FIELD))
    is_demo, preset = model.endpoint.is_demo, st.session_state.get("new.preset", "")
    named = chosen_templates(
        choice, is_demo=is_demo, preset=preset, has_text=dataset.has_text, is_regression=not dataset.classes
    )
    texts = dict(earlier or {}) if choice == AS_BEFORE else set_texts(named)
    template_sets.check_templates(texts)
    blocks.captions(*([AUTO_WORDS] if choice == AUTO else []), *([GALLERY[named]] if named in GALLERY else []))
    is_lettered = config.likelihood == "logprobs" and bool(dataset.classes)
    is_structured = model.endpoint.structured == "auto" and model.carrier == SCHEMA and not is_lettered
    own = template_sets.template_of(texts.get("learner"), role="learner")
    template = template_sets.shipped("learner", LETTERED) if is_lettered else own
    prompts = LearnerPrompts(dataset=dataset, template=template, is_structured=is_structured)
    messages = prompts.messages(seed_sentence(dataset, config.prior), dataset.train[0])
    blocks.draw(markup.group("Asked about a row"))
    turns = (f"--- {turn['role']}\n{turn['content']}" for turn in messages)  # as in a file of --templates
    st.code("\n\n".join(turns), language=None, wrap_lines=True)
    blocks.captions(f"At most about {prompt_tokens(messages):,} tokens.")
    return texts


# Prices and a cap


def choose_budget(endpoint: EndpointSpec) -> tuple[Prices, Cap]:
    def amount(place: DeltaGenerator, label: str, name: str) -> float:
        return float(place.number_input(label, 0.0, step=0.1, format="%.2f", **blocks.begun(f"new.{name}", 0.0)))

    def price(role: str = "", of: str = "") -> Price:
        prompt = amount(left, f"Input price per million tokens{of}", f"{role}price_in")
        answer = amount(right, f"Output price per million tokens{of}", f"{role}price_out")
        return Price(prompt=prompt, completion=answer)

    blocks.captions("At its cap a run pauses and keeps all it has; it goes on once you raise the cap. 0: none.")
    left, right = st.columns(2)
    has_optimizer = endpoint.optimizer_model or endpoint.optimizer_base_url
    prices = Prices(learner=price(), optimizer=price("optimizer_", ", optimizer") if has_optimizer else None)
    calls = right.number_input("Calls at most", 0, **blocks.begun("new.max_calls", 0))
    has_cost = prices.are_given or st.session_state.get("new.max_cost")  # a cap without a price is refused
    money = amount(right, "Money at most", "max_cost") if has_cost else 0.0
    return prices, Cap(calls=int(calls), cost=money)
