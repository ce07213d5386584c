"""A run's tokens, time and money: estimated before it starts, capped, and what is left while it runs.

Prompts are the real ones: the run's templates over its own rows. The lengths of hypotheses and answers are assumed
(HYPOTHESIS, LEARNER_ANSWER, OPTIMIZER_ANSWER), answers within the run's limits. Tokens are estimated from bytes, since
every model has its own tokenizer.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from vpp.data.dataset import Dataset
from vpp.errors import InputError
from vpp.inference.plan import FIRST, OPTIMIZER, TRANSLATIONS, Plan, plan, step_items
from vpp.llm.limits import Cap, Counters
from vpp.llm.protocol import Messages
from vpp.llm.rendering import render_input
from vpp.problem import Prediction
from vpp.runs.prompts import learner_prompts, optimizer_prompts, program_prompts
from vpp.runs.spec import EndpointSpec, Prices, RunSpec, row_counts
from vpp.runs.view import RunView, last_finished
from vpp.settings import Config


def check_budget(prices: Prices, cap: Cap, endpoint: EndpointSpec) -> None:
    """Raise InputError for a price or a cap that nothing can be measured against."""
    if prices.optimizer is not None and not (endpoint.optimizer_model or endpoint.optimizer_base_url):
        raise InputError("a price of the optimizer, and one model for both roles: give --price")
    if cap.cost and not prices.are_given:
        raise InputError("a cap on cost, and no price to count by: give --price, or cap the calls")


def money(cost: float) -> str:
    """Return `0.42`: two decimals, or two significant digits of a small amount."""
    return f"{cost:,.2f}" if cost >= 0.1 or not cost else f"{cost:.2g}"


def cap_words(cap: Cap) -> str:
    """Return `400 calls or a cost of 5.00`; empty without a cap."""
    parts = (f"{cap.calls:,} calls" if cap.calls else "", f"a cost of {money(cap.cost)}" if cap.cost else "")
    return " or ".join(filter(None, parts))


def cap_reached_words(spec: RunSpec, view: RunView, counters: Counters) -> str:
    spent = f"{counters.sent:,} calls sent"
    if spec.prices.are_given:
        spent += f", {money(counters.cost)} spent"
    calls_left = max(0, plan_of(spec).calls - last_finished(view).usage.calls)
    complete = sum(step.step >= 0 for step in view.finished_steps)
    left = f"{complete} of {view.total_steps} steps are complete, and at most {calls_left:,} calls are left"
    cap = cap_words(spec.cap)
    return f"the cap of {cap} is reached: {spent}; {left}: go on with a higher cap"


def plan_of(spec: RunSpec) -> Plan:
    return plan(spec.config, **row_counts(spec.dataset), given=len(spec.start))


BYTES_A_TOKEN = 4.0
"""UTF-8 bytes of a token in a typical prompt."""
HYPOTHESIS = "If the length is at most 12.5 and the colour is red, answer yes; otherwise answer no. " * 3
"""Assumed hypothesis after its seed sentence."""
LEARNER_ANSWER = 50
"""Assumed tokens of the learner's answer, about a row or a program, without thinking; at most its limit."""
OPTIMIZER_ANSWER = 250
"""Assumed tokens of the optimizer's answer, without thinking; at most its limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A part of the plan: its calls and their tokens."""

    what: str
    calls: float
    most_calls: int
    prompt: float
    completion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A run's plan with the tokens and the money that its expected calls take.

    Repeats of unreadable answers are not included.
    """

    plan: Plan
    lines: tuple[Line, ...]
    cost: float | None
    """None without prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    round_trip_s: float
    """Seconds of one short call, alone."""
    calls_per_s: float | None = None
    """Rate of many calls at once."""
    known: str = "as measured with short answers; longer ones take longer"
    """Origin of the numbers, as a clause."""


def time_s(whole: Plan, pace: Pace) -> float:
    """Return the seconds of the sequential rounds, or of the expected calls at the measured rate if that is longer."""
    work = whole.expected_calls / pace.calls_per_s if pace.calls_per_s else 0.0
    return max(whole.rounds * pace.round_trip_s, work)


def estimate(spec: RunSpec, dataset: Dataset) -> Estimate:
    """Estimate a whole run on these rows."""
    whole, sizes = plan_of(replace(spec, dataset=dataset.sizes)), call_sizes(spec, dataset)
    lines, cost = [], 0.0
    for what, n in whole.items:
        kind = "optimizer" if what in OPTIMIZER else "program" if what == TRANSLATIONS else "learner"
        calls = n * (1.0 if kind == "optimizer" else whole.expected_share)
        prompt, completion = (calls * tokens for tokens in sizes[kind])
        lines.append(Line(what=what, calls=calls, most_calls=n, prompt=prompt, completion=completion))
        cost += (spec.prices.of_optimizer if kind == "optimizer" else spec.prices.learner).of(prompt, completion)
    return Estimate(plan=whole, lines=tuple(lines), cost=cost if spec.prices.are_given else None)


def call_sizes(spec: RunSpec, dataset: Dataset) -> dict[str, tuple[float, float]]:
    """Tokens of a call's prompt and of its answer, by kind of call, on rows of middle length."""
    rows = sorted(dataset.labelled, key=lambda row: len(render_input(row)))
    batch = min(spec.config.batch_size, len(rows))
    start = (len(rows) - batch) // 2
    middle = rows[start : start + batch]
    learner, optimizer = learner_prompts(spec, dataset), optimizer_prompts(spec, dataset)
    text, known = f"{optimizer.seed_text} {HYPOTHESIS}", [Prediction(row=row.id, value=row.target) for row in middle]
    prompts: dict[str, Messages] = {
        "learner": learner.messages(text, middle[batch // 2]),
        "optimizer": optimizer.about_batch(text, middle, known),
        "program": program_prompts(spec, dataset).translation(text),
    }
    endpoint = spec.endpoint
    answers = {
        "learner": 1 if learner.is_lettered else min(LEARNER_ANSWER, endpoint.learner_max_tokens),
        "optimizer": min(OPTIMIZER_ANSWER, endpoint.optimizer_max_tokens),
        "program": min(LEARNER_ANSWER, endpoint.learner_max_tokens),
    }
    sizes = {kind: sum(len(turn["content"].encode("utf-8", "replace")) for turn in prompts[kind]) for kind in prompts}
    return {kind: (size / BYTES_A_TOKEN, answers[kind]) for kind, size in sizes.items()}


RECENT = 5
"""Last complete steps that the pace is measured on."""


def seconds_left(spec: RunSpec, view: RunView, *, spent_s: float) -> float | None:
    """Seconds of the work that is left, by the calls planned for it and the pace of the last complete steps.

    None before the first step, and once the estimate is over. spent_s: seconds so far.
    """
    recent = view.finished_steps[-RECENT - 1 :]
    if len(recent) < 2 or view.has_ended:
        return None
    first, last, sizes = recent[0], recent[-1], tuple(row_counts(spec.dataset).items())
    before, _ = _planned(spec.config, sizes, len(spec.start), first.step)
    done, whole = _planned(spec.config, sizes, len(spec.start), last.step)
    pace_s = (last.wall_s - first.wall_s) / max(1, done - before)
    left_s = pace_s * (whole - done) - (spent_s - last.wall_s)
    return left_s if left_s > 0 else None


@lru_cache(maxsize=256)
def _planned(config: Config, sizes: tuple[tuple[str, int], ...], given: int, last: int) -> tuple[int, int]:
    """Calls planned up to a step, and for the whole run; cached, as watchers ask each second."""
    rows = dict(sizes)
    whole = plan(config, given=given, **rows)
    steps = (step_items(config, step, n_train=rows["n_train"]) for step in range(last + 1))
    first = sum(n for what, n in whole.items if what in FIRST)
    return first + sum(sum(step.values()) for step in steps), whole.calls
