"""A run's tokens, time and money: estimated before it starts, capped, and what is left while it runs.

Prompts are the real ones: the run's templates over its own rows. The lengths of hypotheses and answers are assumed
(HYPOTHESIS, LEARNER_ANSWER, OPTIMIZER_ANSWER), answers within the run's limits. Tokens are estimated from bytes, since
every model has its own tokenizer.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from vpp.data.dataset import Dataset
from vpp.events import Counters, Usage
from vpp.inference.plan import PROGRAMS, WRITTEN, Plan, certificate_calls, plan
from vpp.llm.limits import Cap
from vpp.llm.prompts import render_input
from vpp.llm.templates import Messages
from vpp.problem import Prediction
from vpp.runs.preparation import learner_prompts, optimizer_prompts, program_prompts
from vpp.runs.spec import EndpointSpec, RunSpec, row_counts
from vpp.runs.view import RunView, last_complete


def money(cost: float) -> str:
    """Return `0.42`: two decimals, or two significant digits of a small amount."""
    return f"{cost:,.2f}" if cost >= 0.1 or not cost else f"{cost:.2g}"


def cap_words(cap: Cap) -> str:
    """Return `400 calls or a cost of 5.00`; empty without a cap."""
    parts = (f"{cap.calls:,} calls" if cap.calls else "", f"a cost of {money(cap.cost)}" if cap.cost else "")
    return " or ".join(filter(None, parts))


def cap_reached_words(spec: RunSpec, view: RunView, counters: Counters) -> str:
    spent = f"{counters.counts['sent']:,} calls sent"
    if spec.prices.are_given:
        spent += f", {money(counters.counts['cost'])} spent"
    calls_left = max(0, plan_of(spec).calls - last_complete(view).usage.calls)
    complete = sum(step.step >= 0 for step in view.complete_steps)
    left = f"{complete} of {view.total_steps} steps are complete, and at most {calls_left:,} calls are left"
    cap = cap_words(spec.cap)
    return f"the cap of {cap} is reached: {spent}; {left}: go on with a higher cap"


def plan_of(spec: RunSpec) -> Plan:
    return plan(spec.config, **row_counts(spec.dataset), given=len(spec.start))


RECENT = 5  # last complete steps that the pace is measured on
BYTES_A_TOKEN = 4.0  # UTF-8 bytes of a token in a typical prompt
HYPOTHESIS = "If the length is at most 12.5 and the colour is red, answer yes; otherwise answer no. " * 3
"""Assumed hypothesis after its seed sentence."""
LEARNER_ANSWER = 50
"""Assumed tokens of the learner's answer, about a row or a program, without thinking; at most its limit."""
DEMO_CALLS_A_SECOND = 350.0  # rough rate of the demo model with a page open
DEMO_ROUND_S = 0.2
"""Seconds of a round beside the demo model's delay, on two cores with a page open."""
DEMO_START_S = 3.0  # seconds until a run of the demo model begins
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
    """A run's plan with its expected tokens and money, without repeats of unreadable answers."""

    plan: Plan
    lines: tuple[Line, ...]
    cost: float | None
    """None without prices."""
    pace: "Pace | None"
    seconds: float | None
    """None without a pace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    round_trip_s: float
    """Seconds of one short call, alone."""
    calls_per_s: float = math.inf
    """Rate of many calls at once."""
    start_s: float = 0.0
    """Seconds until the first round."""
    source: str = "as measured with short answers; longer ones take longer"
    """Origin of the numbers, as a clause."""


def demo_pace(endpoint: EndpointSpec) -> Pace:
    wait_s = endpoint.demo_latency_ms / 1000
    late = f", each answer {wait_s:g} s late, so that a person can read along" if wait_s else ""
    source = f"as the demo model usually does on two cores{late}"
    wait_s += DEMO_ROUND_S
    return Pace(round_trip_s=wait_s, calls_per_s=DEMO_CALLS_A_SECOND, start_s=DEMO_START_S, source=source)


def time_s(whole: Plan, pace: Pace) -> float:
    """Return the seconds of the start, of the sequential rounds, and of the expected calls at the measured rate."""
    return pace.start_s + whole.rounds * pace.round_trip_s + whole.expected_calls / pace.calls_per_s


def estimate(spec: RunSpec, dataset: Dataset, pace: Pace | None = None) -> Estimate:
    """Estimate a whole run on these rows. pace: of the server, as measured; the demo model's is known."""
    whole, sizes = plan_of(replace(spec, dataset=dataset.sizes)), call_sizes(spec, dataset)
    pace = demo_pace(spec.endpoint) if spec.endpoint.demo else pace
    lines, cost = [], 0.0
    for what, n in whole.items:
        kind = {WRITTEN: "optimizer", PROGRAMS: "program"}.get(what, "learner")
        calls = n * (1.0 if kind == "optimizer" else whole.expected_share)
        prompt, completion = (calls * tokens for tokens in sizes[kind])
        lines.append(Line(what=what, calls=calls, most_calls=n, prompt=prompt, completion=completion))
        cost += (spec.prices.of_optimizer if kind == "optimizer" else spec.prices.learner).of(prompt, completion)
    return Estimate(
        plan=whole,
        lines=tuple(lines),
        cost=cost if spec.prices.are_given else None,
        pace=pace,
        seconds=time_s(whole, pace) if pace else None,
    )


def call_sizes(spec: RunSpec, dataset: Dataset) -> dict[str, tuple[float, float]]:
    """Tokens of a call's prompt and of its answer, by kind of call, on rows of middle length."""
    rows = sorted(dataset.labelled, key=lambda row: len(render_input(row)))
    batch = min(spec.config.batch_size, len(rows))
    start = (len(rows) - batch) // 2
    middle = rows[start : start + batch]
    learner, optimizer = learner_prompts(spec, dataset), optimizer_prompts(spec, dataset)
    text, right = f"{optimizer.seed_text} {HYPOTHESIS}", [Prediction(row=row.id, value=row.target) for row in middle]
    prompts: dict[str, Messages] = {
        "learner": learner.messages(text, middle[batch // 2]),
        "optimizer": optimizer.about_batch(text, middle, right),
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


# What is left of a run under way


def seconds_left(
    spec: RunSpec, view: RunView, usage: Usage, *, rows: Mapping[str, int] | None = None, spent_s: float = 0.0
) -> float | None:
    """Seconds of the calls that are left, at the pace of the last steps, or of all answers so far before two steps.

    None before the first answer, and once all calls are made. rows: number of distinct rows by part, as equal rows are
    asked about once. spent_s: seconds so far.
    """
    recent = [at for at in view.complete_steps if at.step >= 0][-RECENT - 1 :]
    if len(recent) < 2:
        whole, n_rows = plan_of(spec), sum(row_counts(spec.dataset).values())
        share = sum(rows.values()) / max(1, n_rows) if rows and not spec.config.has_programs else 1.0
        calls, took_s = usage.calls, spent_s
        left = whole.optimizer_calls + share * whole.expected_share * whole.learner_calls - calls
    else:
        first, last = recent[0], recent[-1]
        calls, took_s = last.usage.calls - first.usage.calls, last.wall_s - first.wall_s
        calls_a_step = calls / (len(recent) - 1)
        left = (view.total_steps - 1 - last.step) * calls_a_step + _ending_calls(spec, view, rows)
        left -= usage.calls - last.usage.calls
    return left * took_s / calls if left > 0 and calls and took_s and not view.has_ended else None


def ending_share(spec: RunSpec, view: RunView, usage: Usage, *, rows: Mapping[str, int] | None = None) -> float:
    """Share of the final evaluation's calls that are answered, from 0 to 1."""
    calls = _ending_calls(spec, view, rows)
    return min(1.0, max(0, usage.calls - last_complete(view).usage.calls) / calls) if calls else 0.0


def distinct_rows(dataset: Dataset) -> dict[str, int]:
    """Number of rows with different inputs, by part, as `plan` takes them."""
    parts = {"n_train": dataset.train, "n_test": dataset.test, "n_calibration": dataset.calibration}
    return {name: len({row.inputs for row in part}) for name, part in parts.items()}


def _ending_calls(spec: RunSpec, view: RunView, rows: Mapping[str, int] | None) -> float:
    """Calls of the final evaluation: on rows that are not answered yet, and for certificates of programs."""
    sizes, config, last = rows or row_counts(spec.dataset), spec.config, last_complete(view)
    read_by_row = {particle.hypothesis for particle in last.population}
    if config.has_programs:
        scored = (*last.scores.values(), *last.proposal_scores.values())
        read_by_row &= {each.hypothesis for each in scored if not each.branches}
    n_rows = sum(sizes.values()) - (sizes["n_train"] if config.scored_on == "train" else 0)
    certificates = certificate_calls(config, sizes["n_train"], texts=view.n_unique - len(read_by_row))
    return float(len(read_by_row) * n_rows * config.learner_samples + certificates)
