"""The method of a new run, all taken from `Config`; and its prompts. The form asks for both under Advanced."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
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
from vpp.llm.prompts import LEAST_SHOWN, LearnerPrompts, longest_cell, prompt_tokens, seed_sentence
from vpp.llm.templates import check_templates, lettered, set_texts, template_of
from vpp.runs.prompts import as_text
from vpp.settings import METHOD_NAMES, PRESET_WORDS, Config, Preset, choices, option_docs, preset
from vpp.show import markup

PRESETS = {name: preset(name) for name in get_args(Preset)}
SHARES = ("restart", "abstention_cost", "coverage")
"""Numbers between 0 and 1."""
START = "new.start_from"
"""Key of the field of first hypotheses."""


def choose_config(*, prior: str, task: Task | None) -> Config:
    """Ask for the method and its options; a task of the paper brings its prior. Raises InputError.

    task: None before there is a table.
    """
    options()
    if st.session_state.get("new.came_with") != prior:
        st.session_state["new.came_with"] = prior
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
    if "reading" in of_method:
        ask(["reading"], across=1)
    example = "Petal size matters more than sepal size."
    st.text_area(name_of("prior"), **blocks.lasting(key_of("prior")), height=80, placeholder=example)
    label = "Your hypotheses, one a line" if deciding.is_weighing else "Your first hypotheses, one a line (optional)"
    example = "If the bill is longer than 50 mm, answer Gentoo."
    st.text_area(label, **blocks.lasting(START), height=100, placeholder=example)
    for title, group in groups().items():
        if names := [name for name in group if has_effect(name, deciding, task)]:
            blocks.draw(markup.group(title))
            ask(names, across=3)
    return config_of(options(), base(), task)


def options() -> dict[str, Any]:
    values = {name: st.session_state.setdefault(key_of(name), value) for name, value in asdict(base()).items()}
    return {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}


def base() -> Config:
    return PRESETS[st.session_state.get("new.preset", next(iter(PRESETS)))]


def fill_from_preset() -> None:
    values = asdict(base())
    for name in ("reading", *chain(*groups().values())):
        put(name, values[name])


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
) -> tuple[Texts, int]:
    """Ask for the text of each role's template, None for the set `paper`, and the characters shown of a cell.

    Raises InputError.

    is_structured: in the preview. earlier: templates of the run that is started again.
    """
    names = {template_sets.name_of(text, role) for role, text in (earlier or {}).items()}
    first = (names.pop() if len(names) == 1 else None) or AS_BEFORE if earlier else AUTO
    offer = [AS_BEFORE, *TEMPLATES] if first == AS_BEFORE else list(TEMPLATES)
    if st.session_state.get(FIELD) not in offer:
        st.session_state[FIELD] = first
    left, right = st.columns(2)
    choice = left.selectbox("Templates", offer, **blocks.lasting(FIELD))
    cell_limit = _cell_limit(right, dataset)
    preset = st.session_state.get("new.preset", "")
    named = chosen_templates(choice, is_demo=is_demo, preset=preset, has_text=dataset.has_text)
    roles: Sequence[Role] = ("learner",) if config.is_weighing else ROLES
    texts = dict(earlier or {}) if choice == AS_BEFORE else set_texts(named)
    check_templates(texts)
    blocks.captions(*([AUTO_WORDS] if choice == AUTO else []), *([GALLERY[named]] if named in GALLERY else []))
    of_roles = {role: texts.get(role) for role in roles}
    if config.likelihood == "logprobs" and dataset.classes:
        of_roles["learner"], is_structured = lettered().text, False
    _preview(of_roles, dataset, config.prior, is_structured, cell_limit)
    return texts, cell_limit


def _cell_limit(place: DeltaGenerator, dataset: Dataset) -> int:
    """Ask how much of a long cell is shown; 0 is all that fits, also for a table without long cells."""
    longest = longest_cell(dataset)
    if longest <= LEAST_SHOWN:
        return 0
    about = f"The longest cell has {longest:,}. Left empty, cells are cut only if the model's context is too short."
    field = {**blocks.begun("new.cell_limit", None), "placeholder": "all that fit", "help": about}
    return int(place.number_input("Characters shown of a cell", 1, value=None, **field) or 0)


def _preview(texts: Texts, dataset: Dataset, prior: str, is_structured: bool, cell_limit: int) -> None:
    """Show each template, and what the learner is asked about the first row."""
    *templates, filled = st.tabs([*(TITLES[role] for role in texts), "Asked about a row"])
    for (role, text), tab in zip(texts.items(), templates, strict=True):
        tab.code(template_of(text, role=role).text, language=None, wrap_lines=True)
    template = template_of(texts.get("learner"), role="learner")
    prompts = LearnerPrompts(dataset=dataset, template=template, is_structured=is_structured, cell_limit=cell_limit)
    messages = prompts.messages(seed_sentence(dataset, prior), dataset.train[0])
    filled.code(as_text(messages), language=None, wrap_lines=True)
    filled.html(markup.block(markup.caption(f"At most about {prompt_tokens(messages):,} tokens.")))
