"""Starting a run again with changes: the form filled with its settings, on its very rows."""

from dataclasses import asdict, dataclass, replace

import streamlit as st

from pages.parts import budget, frame, method
from pages.parts.endpoint import DEMO, MODEL_FILE, OWN_WAY, SERVER, SPEEDS
from pages.parts.keeping import FROM
from vpp.data.dataset import Dataset
from vpp.errors import VppError
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.wording import markup


@dataclass(frozen=True, slots=True)
class Again:
    """The run that the form starts from."""

    spec: RunSpec
    dataset: Dataset

    def completed(self, endpoint: EndpointSpec) -> EndpointSpec:
        """With what the form does not ask for as that run had it."""
        of = self.spec.endpoint
        if endpoint.gguf or of.gguf:
            return endpoint  # time and context of a model file are its own
        return replace(
            endpoint,
            timeout_s=of.timeout_s,
            max_wait_s=of.max_wait_s,
            context_length=of.context_length,
        )


def fill(run: str, spec: RunSpec) -> None:
    """Fills the form's fields with a run's settings; the form then stands on its rows."""
    st.session_state[FROM] = run
    st.session_state["new.came_with"] = (spec.config.prior, False)
    st.session_state.pop("new.templates", None)
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
        "concurrency": None if of.concurrency in (0, of.slots) else of.concurrency,
        "structured": of.structured,
        "learner_max_tokens": of.learner_max_tokens,
        "optimizer_max_tokens": of.optimizer_max_tokens,
        "effort": of.reasoning_effort or OWN_WAY,
        "prefetch": of.prefetch,
        "warm_prefix": of.warm_prefix,
    }
    for name, value in fields.items():
        st.session_state[f"new.{name}"] = value
    budget.fill(spec)


def started_from() -> Again | None:
    """The run whose rows the form stands on, with a way back to other tables; None where there is none."""
    run = st.session_state.get(FROM)
    if run is None:
        return None
    try:
        directory = frame.store().get(run)
        found = frame.reader(str(directory.path))
        again = Again(found.refresh().spec, found.dataset())
    except VppError as error:
        leave()
        st.html(markup.block(markup.state("That run cannot be started again", str(error), failed=True)))
        return None
    with st.container(horizontal=True, vertical_alignment="center", key="new_file"):
        st.html(
            markup.block(
                f'<p class="file">The rows of <b>{markup.text(again.spec.name)}</b>, run {markup.text(run)}</p>'
            ),
            width="content",
        )
        st.button("Use another table", key="new.other_table", type="tertiary", on_click=leave)
    st.html(markup.block(markup.caption("Its training and test rows and its target stay, so that the two compare.")))
    return again


def leave() -> None:
    """Back to a table of one's own."""
    st.session_state.pop(FROM, None)
