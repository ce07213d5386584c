"""What New run asks for under Advanced: the method, all taken from `Config`, prompts, prices and a cap."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import blocks
from vpp.data.dataset import Dataset, Task
from vpp.findings.options import ABOUT, OPEN, config_of, decided, groups, has_effect, name_of, value_words
from vpp.llm import templates as template_sets
from vpp.llm.choices import AUTO, AUTO_WORDS, GALLERY, ROLES, TEMPLATES, Role, chosen_templates
from vpp.llm.limits import Cap, Price
from vpp.llm.prompts import LearnerPrompts, prompt_tokens, seed_sentence
from vpp.llm.templates import check_templates, lettered, set_texts, template_of
from vpp.runs.prompts import as_text
from vpp.runs.spec import EndpointSpec, Prices
from vpp.settings import FOR_EXPERTS, METHOD_NAMES, PRESET_WORDS, Config, Preset, choices, option_docs, preset
from vpp.show import markup

PRESETS = {name: preset(name) for name in get_args(Preset)}
SHARES = ("abstention_cost", "coverage")
"""Numbers between 0 and 1."""
START = "new.start_from"
"""Key of the field of first hypotheses."""
PRIOR_OF_TABLE, BEYOND = "new.came_with", "new.beyond"
"""Session keys: the prior that came with the table, and options of an earlier run that have no field."""


def choose_config(*, prior: str, task: Task | None) -> Config:
    """Ask for the method and its options; a task of the paper brings its prior. Raises InputError.

    task: None before there is a table.
    """
    options()
    if st.session_state.get(PRIOR_OF_TABLE) != prior:
        st.session_state[PRIOR_OF_TABLE] = prior
        put("prior", prior)
    left, right = st.columns(2)
    field = {"format_func": METHOD_NAMES.__getitem__, **blocks.lasting(key_of("method"))}
    method = left.selectbox("Method", list(METHOD_NAMES), **field)
    field = {**blocks.lasting("new.preset"), "help": f"Fills the fields below ({PRESET_WORDS})."}
    right.selectbox("Preset", list(PRESETS), on_change=fill_from_preset, **field)
    blocks.captions(ABOUT[method])
    deciding = decided(options(), base(), task)
    of_method = [name for name in OPEN if has_effect(name, deciding)]
    ask([name for name in of_method if name not in ("method", "reading", "prior")], across=4)
    ask([name for name in of_method if name == "reading"], across=1)
    example = "Petal size matters more than sepal size."
    st.text_area(name_of("prior"), **blocks.lasting(key_of("prior")), height=80, placeholder=example)
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
        put(name, values[name])


def fill_from(config: Config) -> None:
    """Fill the fields with the options of an earlier run."""
    st.session_state[PRIOR_OF_TABLE] = config.prior
    st.session_state[BEYOND] = {name: getattr(config, name) for name in FOR_EXPERTS}
    for name, value in asdict(config).items():
        put(name, value)


def key_of(name: str) -> str:
    return f"new.option.{name}"


def put(name: str, value: Any) -> None:
    st.session_state[key_of(name)] = value


def ask(names: Sequence[str], *, across: int) -> None:
    """Ask for options, so many in a line."""
    for place, name in blocks.in_columns(names, across):
        label, value = name_of(name), getattr(base(), name)
        field = {**blocks.lasting(key_of(name)), "help": option_docs()[name]}
        if choices(name):
            place.selectbox(label, choices(name), format_func=partial(value_words, name), **field)
        elif isinstance(value, str):
            place.text_input(label, **field)
        else:
            top = 1.0 if name in SHARES else None
            step, form = (1, "%d") if isinstance(value, int) else (0.05, "%g")
            # The default stands in where a run of the page is cut short before the browser knows the state's value.
            place.number_input(label, type(value)(0), top, value, step=step, format=form, **field)


# The prompts: a set of shipped templates, with a preview

FIELD = "new.templates"
AS_BEFORE = "as that run had them"
TITLES: dict[Role, str] = {"learner": "Learner", "optimizer": "Optimizer", "prior": "Draw without rows"}
Texts = dict[Role, str | None]


def choose_templates(
    dataset: Dataset,
    *,
    config: Config,
    is_demo: bool,
    is_structured: bool,
    earlier: Mapping[Role, str | None] | None = None,
) -> Texts:
    """Ask for the text of each role's template, None for the set `paper`. Raises InputError.

    is_structured: in the preview. earlier: templates of the run that is started again.
    """
    names = {template_sets.name_of(text, role) for role, text in (earlier or {}).items()}
    first = (names.pop() if len(names) == 1 else None) or AS_BEFORE if earlier else AUTO
    offer = [AS_BEFORE, *TEMPLATES] if first == AS_BEFORE else list(TEMPLATES)
    if st.session_state.get(FIELD) not in offer:
        st.session_state[FIELD] = first
    choice = st.selectbox("Templates", offer, **blocks.lasting(FIELD))
    preset = st.session_state.get("new.preset", "")
    named = chosen_templates(
        choice, is_demo=is_demo, preset=preset, has_text=dataset.has_text, is_regression=not dataset.classes
    )
    roles: Sequence[Role] = ("learner",) if config.is_weighing else ROLES
    texts = dict(earlier or {}) if choice == AS_BEFORE else set_texts(named)
    check_templates(texts)
    blocks.captions(*([AUTO_WORDS] if choice == AUTO else []), *([GALLERY[named]] if named in GALLERY else []))
    of_roles = {role: texts.get(role) for role in roles}
    if config.likelihood == "logprobs" and dataset.classes:
        of_roles["learner"], is_structured = lettered().text, False
    _preview(of_roles, dataset, config.prior, is_structured)
    return texts


def _preview(texts: Texts, dataset: Dataset, prior: str, is_structured: bool) -> None:
    """Show each template, and what the learner is asked about the first row."""
    *templates, filled = st.tabs([*(TITLES[role] for role in texts), "Asked about a row"])
    for (role, text), tab in zip(texts.items(), templates, strict=True):
        tab.code(template_of(text, role=role).text, language=None, wrap_lines=True)
    template = template_of(texts.get("learner"), role="learner")
    prompts = LearnerPrompts(dataset=dataset, template=template, is_structured=is_structured)
    messages = prompts.messages(seed_sentence(dataset, prior), dataset.train[0])
    filled.code(as_text(messages), language=None, wrap_lines=True)
    filled.html(markup.block(markup.caption(f"At most about {prompt_tokens(messages):,} tokens.")))


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
