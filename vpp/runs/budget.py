"""A run's money and its cap: what is spent, what is left to do, and what is wrong with what was asked for."""

import math
from dataclasses import fields

from vpp.errors import InputError
from vpp.inference.plan import plan
from vpp.llm.budget import Cap, Price
from vpp.llm.counters import Counters
from vpp.runs.spec import EndpointSpec, Prices, RunSpec
from vpp.runs.view import RunView


def check_budget(prices: Prices, cap: Cap, endpoint: EndpointSpec) -> None:
    """Raises InputError for a price or a cap that is none, or that nothing can be measured against."""
    for what in (prices.learner, prices.optimizer, cap):
        _check_amounts(what)
    if prices.optimizer is not None and not (endpoint.optimizer_model or endpoint.optimizer_base_url):
        raise InputError("a price of the optimizer, and one model for both roles: give --price-in and --price-out")
    if cap.cost and not prices.are_given:
        raise InputError("a cap on cost, and no price to count by: give --price-in and --price-out, or cap the calls")


def _check_amounts(what: Price | Cap | None) -> None:
    for field in fields(what) if what is not None else ():
        value = getattr(what, field.name)
        if not (math.isfinite(value) and value >= 0):
            name = {"calls": "max_calls", "cost": "max_cost"}.get(field.name, f"the price of {field.name} tokens")
            raise InputError(f"{name} is {value}: it must be a number of at least 0")


def money(cost: float, currency: str) -> str:
    """`0.42 EUR`: to the cent, or to two digits where that is less; the currency where it is named."""
    shown = f"{cost:,.2f}" if cost >= 0.1 or not cost else f"{cost:.2g}"
    return f"{shown} {currency}".rstrip()


def cap_words(cap: Cap, currency: str) -> str:
    """`400 calls or 5.00 EUR`; empty where there is no cap."""
    parts = (f"{cap.calls:,} calls" if cap.calls else "", money(cap.cost, currency) if cap.cost else "")
    return " or ".join(filter(None, parts))


def cap_reached(spec: RunSpec, view: RunView, counters: Counters) -> str:
    """What is done, what is left, and the mend, in one line; where it is not the run's cap, it is its user's."""
    spent = f"{counters.sent:,} calls sent"
    if spec.prices.are_given:
        spent += f", {money(counters.cost, spec.prices.currency)} spent"
    whole = sum(step.step >= 0 for step in view.finished_steps)
    left = f"{whole} of {view.total_steps} steps are whole, and at most {calls_left(spec, view):,} calls are left"
    is_own = (spec.cap.calls and counters.sent >= spec.cap.calls) or spec.cap.cost
    if not is_own:
        return f"all that one user may send in a day is sent: {spent}; {left}: go on tomorrow (UTC)"
    cap = cap_words(spec.cap, spec.prices.currency)
    return f"the cap of {cap} is reached: {spent}; {left}: go on with a higher cap"


def calls_left(spec: RunSpec, view: RunView) -> int:
    """Calls after the last whole step, at most; asking again is not in it."""
    rows = spec.dataset
    whole = plan(spec.config, n_train=rows["n_train"], n_test=rows["n_test"], is_continued=spec.is_continued)
    return max(0, whole.calls - view.usage_kept.calls)
