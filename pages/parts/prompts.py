"""The prompts of the form: a set of shipped templates, or files of one's own, checked and previewed."""

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.parts import blocks
from vpp.data.dataset import Dataset
from vpp.errors import InputError
from vpp.llm.choices import AUTO, AUTO_WORDS, GALLERY, ROLES, TEMPLATES, Role, chosen_templates
from vpp.llm.context import LEAST_SHOWN, longest_cell, prompt_tokens
from vpp.llm.forms import Carrier
from vpp.llm.prompts import LearnerPrompts, seed_sentence
from vpp.llm.templates import check_templates, lettered, name_of, set_texts, template_of
from vpp.runs.prompts import as_text
from vpp.settings import Config
from vpp.wording import markup

FIELD = "new.templates"
OWN = "my own files"
AS_BEFORE = "as that run had them"
TITLES: dict[Role, str] = {"learner": "Learner", "optimizer": "Optimizer", "prior": "Draw without rows"}
Texts = dict[Role, str | None]


def choose_templates(
    dataset: Dataset,
    *,
    config: Config,
    is_demo: bool,
    carrier: Carrier | None,
    earlier: Mapping[Role, str | None] | None = None,
) -> tuple[Texts, int]:
    """Ask for the text of each role's template, None for the set `paper`, and the characters shown of a cell.

    Raises InputError.

    carrier: of structured answers, for the preview. earlier: templates of the run that is started again.
    """
    with st.expander("Prompts"):
        offered = [AS_BEFORE, *TEMPLATES, OWN] if earlier and not _shared_name(earlier) else [*TEMPLATES, OWN]
        first = (_shared_name(earlier) or AS_BEFORE) if earlier else AUTO
        if st.session_state.get(FIELD) not in offered:
            st.session_state[FIELD] = first
        chosen = st.selectbox("Templates", offered, **blocks.lasting(FIELD))
        preset = st.session_state.get("new.preset", "")
        name = AUTO if chosen == OWN else chosen
        named = chosen_templates(name, is_demo=is_demo, preset=preset, has_text=dataset.has_text)
        roles: Sequence[Role] = ("learner",) if config.is_weighing else ROLES
        before = dict(earlier or {}) if chosen == AS_BEFORE else set_texts(named)
        texts = _own(named, roles) if chosen == OWN else before
        warnings = check_templates(texts)
        about = [AUTO_WORDS] if chosen == AUTO else []
        about += [GALLERY[named]] if named in GALLERY and chosen != OWN else []
        blocks.captions(*about, *warnings)
        cell_limit = _cell_limit(dataset)
        shown = {role: texts.get(role) for role in roles}
        if config.likelihood == "logprobs" and dataset.classes and chosen != OWN:
            shown["learner"], carrier = lettered().text, None
        _preview(shown, dataset, config.prior, (carrier, cell_limit))
    return texts, cell_limit


def _cell_limit(dataset: Dataset) -> int:
    """Ask how much of a long cell is shown; 0 is all that fits, also for a table without long cells."""
    longest = longest_cell(dataset)
    if longest <= LEAST_SHOWN:
        return 0
    chosen = st.number_input(
        "Characters shown of a cell",
        1,
        value=None,
        **blocks.begun("new.cell_limit", None),
        placeholder="all that fit",
        help=f"The longest cell has {longest:,}. Left empty, cells are cut only if the model's context is too short.",
    )
    return int(chosen or 0)


def _shared_name(texts: Mapping[Role, str | None]) -> str | None:
    names = {name_of(text, role) for role, text in texts.items()}
    return names.pop() if len(names) == 1 else None


def _own(rest: str, roles: Sequence[Role]) -> Texts:
    pattern = "Slots stand in braces: take a shipped template below as the pattern."
    blocks.captions(pattern, f"A role without a file uses the set {rest}.")
    texts = dict(set_texts(rest))
    for role, place in zip(roles, st.columns(len(ROLES)), strict=False):
        file = place.file_uploader(TITLES[role], type=["txt", "md"], key=f"new.template.{role}")
        if file is None:
            continue
        try:
            texts[role] = bytes(file.getvalue()).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"the {role} template is not a UTF-8 text: save it as UTF-8") from None
    return texts


def _preview(texts: Texts, dataset: Dataset, prior: str, shown: tuple[Carrier | None, int]) -> None:
    """Show each template, and what the learner is asked about the first row.

    shown: the carrier of structured answers, and the characters of a cell.
    """
    *templates, filled = st.tabs([*(TITLES[role] for role in texts), "Asked about a row"])
    for (role, written), tab in zip(texts.items(), templates, strict=True):
        tab.code(template_of(written, role=role).text, language=None, wrap_lines=True)
    template = template_of(texts.get("learner"), role="learner")
    prompts = LearnerPrompts(dataset=dataset, template=template, carrier=shown[0], cell_limit=shown[1])
    asked = prompts.messages(seed_sentence(dataset, prior), dataset.train[0])
    filled.code(as_text(asked), language=None, wrap_lines=True)
    filled.html(markup.block(markup.caption(f"About {prompt_tokens(asked):,} tokens, estimated from above.")))
