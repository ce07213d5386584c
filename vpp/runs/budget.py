"""A run's tokens, time and money: estimated before it starts, capped, and what is left while it runs.

Prompts are the real ones: the run's templates over its own rows. The lengths of hypotheses and answers are assumed
(HYPOTHESIS, LEARNER_ANSWER, OPTIMIZER_ANSWER), answers within the run's limits. Tokens are estimated from bytes, since
every model has its own tokenizer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError
from vpp.inference.plan import FIRST, OPTIMIZER, TRANSLATIONS, Plan, plan, step_items
from vpp.llm.limits import Cap, Counters
from vpp.llm.prompts import prompt_tokens
from vpp.llm.protocol import Messages
from vpp.llm.rendering import render_input
from vpp.llm.translator import LEAST_TOKENS
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
_FILLER = "If the length is at most 12.5 and the colour is red, answer yes; otherwise answer no. "


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A number that is not known yet: its expected value and its upper bound."""

    about: float = 0.0
    high: float = 0.0

    def __add__(self, other: "Span") -> "Span":
        return Span(about=self.about + other.about, high=self.high + other.high)

    def __mul__(self, other: "Span") -> "Span":
        return Span(about=self.about * other.about, high=self.high * other.high)


HYPOTHESIS = Span(about=300, high=1200)
"""Assumed characters of a hypothesis after its seed sentence."""
LEARNER_ANSWER = 50
"""Assumed tokens of the learner's answer, about a row or a program, without thinking; at most its limit."""
OPTIMIZER_ANSWER = 250
"""Assumed tokens of the optimizer's answer, without thinking; the upper bound is its limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A part of the plan, with its tokens."""

    what: str
    calls: Span
    prompt: Span
    completion: Span

    def cost(self, prices: Prices) -> Span:
        price = prices.of_optimizer if self.what in OPTIMIZER else prices.learner
        ends = ((getattr(self.prompt, end), getattr(self.completion, end)) for end in ("about", "high"))
        about, high = (price.of(*tokens) for tokens in ends)
        return Span(about=about, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A run's plan with its calls, tokens and money: what is expected, and the upper bound.

    Repeats of unreadable answers are not included.
    """

    plan: Plan
    lines: tuple[Line, ...]
    prompt: Span
    completion: Span
    cost: Span | None


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
    lines = []
    for what, n in whole.items:
        kind = "optimizer" if what in OPTIMIZER else "program" if what == TRANSLATIONS else "learner"
        calls = Span(about=n * (1.0 if kind == "optimizer" else whole.expected_share), high=n)
        prompt, completion = sizes[kind]
        lines.append(Line(what=what, calls=calls, prompt=prompt * calls, completion=completion * calls))
    return Estimate(
        plan=whole,
        lines=tuple(lines),
        prompt=sum((line.prompt for line in lines), Span()),
        completion=sum((line.completion for line in lines), Span()),
        cost=sum((line.cost(spec.prices) for line in lines), Span()) if spec.prices.are_given else None,
    )


def call_sizes(spec: RunSpec, dataset: Dataset) -> dict[str, tuple[Span, Span]]:
    """Tokens of a call's prompt and of its answer, by kind of call: on rows of middle length, and on the longest."""
    by_length = sorted(dataset.labelled, key=lambda row: len(render_input(row)))
    batch = min(spec.config.batch_size, len(by_length))
    start = (len(by_length) - batch) // 2
    middle, longest = by_length[start : start + batch], by_length[-batch:]
    learner, optimizer = learner_prompts(spec, dataset), optimizer_prompts(spec, dataset)
    programs = program_prompts(spec, dataset)
    text, long_text = (_hypothesis(optimizer.seed_text, length) for length in (HYPOTHESIS.about, HYPOTHESIS.high))

    def rewrite(hypothesis: str, rows: Sequence[Row]) -> Messages:
        return optimizer.about_batch(hypothesis, rows, [Prediction(row=row.id, value=row.target) for row in rows])

    draws = [optimizer.about_columns()] if spec.config.is_filtered else []
    prompts: dict[str, tuple[Messages, list[Messages]]] = {
        "learner": (learner.messages(text, middle[batch // 2]), [learner.messages(long_text, longest[-1])]),
        "optimizer": (rewrite(text, middle), [rewrite(long_text, longest), *draws]),
        "program": (programs.translation(text), [programs.translation(long_text)]),
    }
    most = spec.endpoint.learner_max_tokens
    answers = {
        "learner": (1, 1) if learner.is_lettered else (LEARNER_ANSWER, most),
        "optimizer": (OPTIMIZER_ANSWER, spec.endpoint.optimizer_max_tokens),
        "program": (LEARNER_ANSWER, max(LEAST_TOKENS, most)),
    }
    sizes = {}
    for kind, (typical, long) in prompts.items():
        tokens = sum(len(turn["content"].encode("utf-8", "replace")) for turn in typical) / BYTES_A_TOKEN
        usual, limit = answers[kind]
        prompt = Span(about=tokens, high=max(map(prompt_tokens, long)))
        sizes[kind] = prompt, Span(about=min(usual, limit), high=limit)
    return sizes


def _hypothesis(seed_text: str, characters: float) -> str:
    """Return a hypothesis with this many characters after the seed sentence."""
    count = round(characters)
    return f"{seed_text} {(_FILLER * (1 + count // len(_FILLER)))[:count]}"


def seconds_left(spec: RunSpec, view: RunView, *, spent_s: float) -> float | None:
    """Seconds of the work that is left, by the calls planned for it and the time that the complete steps took.

    None before the first hypotheses, and once the estimate is over. spent_s: seconds so far.
    """
    last, sizes = last_finished(view), row_counts(spec.dataset)
    if not last.finished or view.has_ended:
        return None
    done, whole = _planned(spec.config, tuple(sizes.items()), len(spec.start), last.step)
    left_s = last.wall_s * (whole - done) / max(1, done) - (spent_s - last.wall_s)
    return left_s if left_s > 0 else None


@lru_cache(maxsize=256)
def _planned(config: Config, sizes: tuple[tuple[str, int], ...], given: int, last: int) -> tuple[int, int]:
    """Calls planned up to a step, and for the whole run; cached, as watchers ask each second."""
    rows = dict(sizes)
    whole = plan(config, given=given, **rows)
    steps = (step_items(config, step, n_train=rows["n_train"]) for step in range(last + 1))
    first = sum(n for what, n in whole.items if what in FIRST)
    return first + sum(sum(step.values()) for step in steps), whole.calls
