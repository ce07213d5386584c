"""A run's money, cap and planned calls: what was asked for, what is spent, and what is left to do."""

import math
from dataclasses import fields

from vpp.errors import InputError
from vpp.inference.plan import Plan, plan
from vpp.llm.budget import Cap, Price
from vpp.llm.counters import Counters
from vpp.runs.spec import EndpointSpec, Prices, RunSpec, row_counts
from vpp.runs.view import RunView, last_finished


def check_budget(prices: Prices, cap: Cap, endpoint: EndpointSpec) -> None:
    """Raise InputError for a price or a cap that is invalid, or that nothing can be measured against."""
    for what in (prices.learner, prices.optimizer, cap):
        _check_amounts(what)
    if prices.optimizer is not None and not (endpoint.optimizer_model or endpoint.optimizer_base_url):
        raise InputError("a price of the optimizer, and one model for both roles: give --price")
    if cap.cost and not prices.are_given:
        raise InputError("a cap on cost, and no price to count by: give --price, or cap the calls")


def _check_amounts(what: Price | Cap | None) -> None:
    for field in fields(what) if what is not None else ():
        value = getattr(what, field.name)
        if not (math.isfinite(value) and value >= 0):
            name = {"calls": "max_calls", "cost": "max_cost"}.get(field.name, f"the price of {field.name} tokens")
            raise InputError(f"{name} is {value}: it must be a number of at least 0")


def money(cost: float) -> str:
    """Return `0.42`: two decimals, or two significant digits of a small amount."""
    return f"{cost:,.2f}" if cost >= 0.1 or not cost else f"{cost:.2g}"


def cap_words(cap: Cap) -> str:
    """Return `400 calls or a cost of 5.00`; empty without a cap."""
    parts = (f"{cap.calls:,} calls" if cap.calls else "", f"a cost of {money(cap.cost)}" if cap.cost else "")
    return " or ".join(filter(None, parts))


def cap_reached(spec: RunSpec, view: RunView, counters: Counters) -> str:
    """Return why the run pauses, in one line with the fix."""
    spent = f"{counters.sent:,} calls sent"
    if spec.prices.are_given:
        spent += f", {money(counters.cost)} spent"
    complete = sum(step.step >= 0 for step in view.finished_steps)
    left = f"{complete} of {view.total_steps} steps are complete, and at most {calls_left(spec, view):,} calls are left"
    cap = cap_words(spec.cap)
    return f"the cap of {cap} is reached: {spent}; {left}: go on with a higher cap"


def calls_left(spec: RunSpec, view: RunView) -> int:
    """Calls after the last complete step, at most; repeats of unreadable answers are not included."""
    return max(0, plan_of(spec).calls - last_finished(view).usage.calls)


def plan_of(spec: RunSpec) -> Plan:
    """Return the plan of the whole run."""
    return plan(spec.config, **row_counts(spec.dataset), given=len(spec.start))
