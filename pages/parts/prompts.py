"""What the models are asked with: a set of shipped templates, or files of one's own, checked and shown."""

from collections.abc import Mapping

import streamlit as st

from vpp.data.dataset import Dataset
from vpp.errors import InputError, VppError
from vpp.llm.choices import DEFAULT, GALLERY, ROLES, Role
from vpp.llm.context import prompt_tokens
from vpp.llm.gallery import check_templates, gallery_text, name_of, template_of
from vpp.llm.learner import learner_messages
from vpp.llm.prompts import seed_sentence
from vpp.llm.structure import StructuredAnswers
from vpp.wording import markup

FIELD = "new.templates"
OWN = "my own files"
KEPT = "as that run had them"
TITLES: dict[Role, str] = {
    "learner": "Learner",
    "optimizer": "Optimizer",
    "prior": "Draw without rows",
}
Texts = dict[Role, str | None]


def choose_templates(
    dataset: Dataset, *, prior: str, held: StructuredAnswers, earlier: Mapping[Role, str | None] | None = None
) -> Texts:
    """The text a role, None for the default. held: shown in the preview. earlier: of the run that is started again."""
    with st.expander("Prompts"):
        offered = [KEPT, *GALLERY, OWN] if earlier and not _shared_name(earlier) else [*GALLERY, OWN]
        first = (_shared_name(earlier) or KEPT) if earlier else DEFAULT
        if st.session_state.get(FIELD) not in offered:
            st.session_state[FIELD] = first
        chosen = st.selectbox("Templates", offered, key=FIELD, persist_state="session")
        try:
            texts = dict(earlier or {}) if chosen == KEPT else _own() if chosen == OWN else _shipped(chosen)
            warnings = check_templates(texts)
        except VppError as error:
            st.html(markup.block(markup.state("This template cannot be used", str(error), failed=True)))
            st.stop()
        about = [GALLERY[chosen]] if chosen in GALLERY else []
        st.html(markup.block(*map(markup.caption, (*about, *warnings))))
        _preview(texts, dataset, prior, held)
    return texts


def _shared_name(texts: Mapping[Role, str | None]) -> str | None:
    """The set of the gallery that all of them are from."""
    names = {name_of(text, role) for role, text in texts.items()}
    return names.pop() if len(names) == 1 else None


def _shipped(name: str) -> Texts:
    return {role: gallery_text(name, role) for role in ROLES}


def _own() -> Texts:
    """Uploads; the default where there is none. Raises InputError."""
    st.html(markup.block(markup.caption("Slots stand in braces: take a shipped template below as the pattern.")))
    places = st.columns(len(ROLES))
    return {role: _uploaded(role, place) for role, place in zip(ROLES, places, strict=True)}


def _uploaded(role: Role, place: "st.delta_generator.DeltaGenerator") -> str | None:
    file = place.file_uploader(TITLES[role], type=["txt", "md"], key=f"new.template.{role}")
    if file is None:
        return None
    try:
        return bytes(file.getvalue()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"the {role} template is not a UTF-8 text: save it as UTF-8") from None


def _preview(texts: Texts, dataset: Dataset, prior: str, held: StructuredAnswers) -> None:
    """Each template, and what the learner is asked about the first row."""
    *templates, filled = st.tabs([*(TITLES[role] for role in ROLES), "Asked about a row"])
    for role, tab in zip(ROLES, templates, strict=True):
        tab.code(template_of(texts.get(role), role=role).text, language=None, wrap_lines=True)
    template = template_of(texts.get("learner"), role="learner")
    asked = learner_messages(template, dataset, seed_sentence(dataset, prior), dataset.train[:1], held)
    filled.code(asked[0]["content"], language=None, wrap_lines=True)
    filled.html(markup.block(markup.caption(f"About {prompt_tokens(asked):,} tokens, estimated from above.")))
