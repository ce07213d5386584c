"""Costs: prices and cap on the form, the plan beside it, and a higher cap for a paused run."""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import blocks, opening
from vpp.data.dataset import Dataset
from vpp.llm.budget import Cap, Price
from vpp.runs.budget import Pace, estimate
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import Snapshot
from vpp.runs.spec import EndpointSpec, Prices, RunSpec
from vpp.wording import markup
from vpp.wording.planned import ESTIMATES, HEAD, call_rows, cost_line, estimate_rows, plan_words

FIELD_PX = 280
NUMBERS = ("price_in", "price_out", "optimizer_price_in", "optimizer_price_out", "max_cost")


def choose_budget(endpoint: EndpointSpec) -> tuple[Prices, Cap]:
    with st.expander("Prices and a cap"):
        words = "At its cap a run pauses and keeps all it has; it goes on once you raise the cap. 0: no cap, no price."
        blocks.captions(words)
        left, right = st.columns(2)
        price = _price(left, right)
        optimizer = None
        if endpoint.optimizer_model or endpoint.optimizer_base_url:
            optimizer = _price(left, right, "optimizer_", ", optimizer")
        prices = Prices(learner=price, optimizer=optimizer)
        calls = right.number_input("Calls at most", 0, **blocks.begun("new.max_calls", 0))
        has_cost = prices.are_given or st.session_state.get("new.max_cost")  # a cap without a price is refused
        cost = _amount(right, "Money at most", "max_cost") if has_cost else 0.0
    return prices, Cap(calls=int(calls), cost=cost)


def _price(left: DeltaGenerator, right: DeltaGenerator, role: str = "", of: str = "") -> Price:
    prompt = _amount(left, f"Input price per million tokens{of}", f"{role}price_in")
    return Price(prompt=prompt, completion=_amount(right, f"Output price per million tokens{of}", f"{role}price_out"))


def _amount(place: DeltaGenerator, label: str, name: str) -> float:
    return float(place.number_input(label, 0.0, step=0.1, format="%.2f", **blocks.begun(f"new.{name}", 0.0)))


def fill(spec: RunSpec) -> None:
    """Fill the fields with those of a run."""
    learner, optimizer = spec.prices.learner, spec.prices.of_optimizer
    amounts = (learner.prompt, learner.completion, optimizer.prompt, optimizer.completion, spec.cap.cost)
    for name, amount in zip(NUMBERS, amounts, strict=True):
        st.session_state[f"new.{name}"] = amount
    st.session_state["new.max_calls"] = spec.cap.calls


def draw_plan(spec: RunSpec, dataset: Dataset, pace: Pace | None, start: Callable[[], None]) -> None:
    expected = estimate(spec, dataset)
    blocks.draw(f'<p class="cost" id="new-start" tabindex="-1">{markup.text(cost_line(expected, spec, pace))}</p>')
    start()
    with st.expander("What it will take"):
        blocks.draw(
            '<div class="plan">',
            markup.table(HEAD[:2], call_rows(expected), right=(1,)),
            markup.table(ESTIMATES, estimate_rows(expected, spec, pace), right=(1, 2)),
            *map(markup.caption, plan_words(expected, spec, dataset, pace)),
            "</div>",
        )


def at_cap(directory: RunDirectory, snapshot: Snapshot) -> bool:
    is_held = directory.is_held()
    asked = _raise_cap(directory, snapshot.spec)
    with opening.refusals():
        if asked and is_held:
            directory.send_command("go on")
        if is_held and st.button("Stop and keep", key="watch.stop"):
            directory.send_command("stop")
    return asked and not is_held


def _raise_cap(directory: RunDirectory, spec: RunSpec) -> bool:
    name = f"watch.cap.{directory.id}"
    with st.form(name, border=False, enter_to_submit=True), st.container(horizontal=True, vertical_alignment="bottom"):
        calls = int(
            st.number_input(
                "Calls at most, 0 for no cap", 0, value=2 * spec.cap.calls, key=f"{name}.calls", width=FIELD_PX
            )
        )
        cost = spec.cap.cost
        if cost:
            label = "Money at most, 0 for no cap"
            cost = float(st.number_input(label, 0.0, value=2 * cost, step=0.1, key=f"{name}.cost", width=FIELD_PX))
        asked = bool(st.form_submit_button("Raise the cap and go on", type="primary"))
    with opening.refusals():
        if asked:
            directory.amend(cap=Cap(calls=calls, cost=cost))
            return True
    return False
