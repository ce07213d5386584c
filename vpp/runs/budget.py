"""A run's tokens, time and money: estimated before it starts, capped, and what is left while it runs.

Prompts are the real ones: the run's templates over its own rows. The lengths of hypotheses and answers are assumed
(HYPOTHESIS, LEARNER_ANSWER, OPTIMIZER_ANSWER), answers within the run's limits. Tokens are estimated from bytes, since
every model has its own tokenizer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError
from vpp.events import Usage
from vpp.inference.plan import OPTIMIZER, TRANSLATIONS, Plan, certificate_calls, plan, step_calls
from vpp.llm.limits import Cap, Counters, Price
from vpp.llm.prompts import OptimizerPrompts, prompt_tokens
from vpp.llm.protocol import Messages
from vpp.llm.rendering import render_input
from vpp.llm.translator import LEAST_TOKENS
from vpp.problem import Prediction
from vpp.runs.prompts import learner_prompts, optimizer_prompts, program_prompts
from vpp.runs.spec import EndpointSpec, Prices, RunSpec, row_counts
from vpp.runs.view import RunView, StepView, last_finished
from vpp.settings import Config


def check_budget(prices: Prices, cap: Cap, endpoint: EndpointSpec) -> None:
    """Raise InputError for a price or a cap that is invalid, or that nothing can be measured against."""
    for what in (prices.learner, prices.optimizer, cap):
        for field in fields(what) if what is not None else ():
            value = getattr(what, field.name)
            if not (math.isfinite(value) and value >= 0):
                name = {"calls": "max_calls", "cost": "max_cost"}.get(field.name, f"the price of {field.name} tokens")
                raise InputError(f"{name} is {value}: it must be a number of at least 0")
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


def cap_reached(spec: RunSpec, view: RunView, counters: Counters) -> str:
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


SAMPLED = 60
"""Rows whose prompts give the typical length; the shortest and the longest row are always among them."""
RECENT = 5
"""Last complete steps that the pace is measured on."""
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

    def times(self, other: "Span") -> "Span":
        return Span(about=self.about * other.about, high=self.high * other.high)


HYPOTHESIS = Span(about=300, high=1200)
"""Assumed characters of a hypothesis after its seed sentence."""
LEARNER_ANSWER = 50
"""Assumed tokens of the learner's answer, about a row or a program, without thinking; at most its limit."""
ONE_TOKEN = Span(about=1, high=1)
OPTIMIZER_ANSWER = 250
"""Assumed tokens of the optimizer's answer, without thinking; the upper bound is its limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSize:
    prompt: Span
    completion: Span
    """Assumed; the upper bound is the run's limit."""

    def __mul__(self, calls: Span) -> "CallSize":
        return CallSize(prompt=self.prompt.times(calls), completion=self.completion.times(calls))

    def cost(self, price: Price) -> Span:
        prompt, completion = self.prompt, self.completion
        return Span(about=price.of(prompt.about, completion.about), high=price.of(prompt.high, completion.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A part of the plan."""

    what: str
    calls: Span


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
    waits_after: bool = False
    """True if the server delays an answer after computing it, so that a round takes both times."""
    known: str = "as measured with short answers; longer ones take longer"
    """Origin of the numbers, as a clause."""


def time_s(whole: Plan, pace: Pace) -> float:
    """Return the seconds of the sequential rounds, or of the expected calls at the measured rate if that is longer."""
    rounds = whole.rounds * pace.round_trip_s
    work = whole.expected_calls / pace.calls_per_s if pace.calls_per_s else 0.0
    return rounds + work if pace.waits_after else max(rounds, work)


def estimate(spec: RunSpec, dataset: Dataset, *, hypothesis: Span = HYPOTHESIS) -> Estimate:
    """Estimate a whole run on these rows. hypothesis: characters after the seed sentence."""
    whole = plan_of(replace(spec, dataset=dataset.sizes))  # the form's spec has no dataset yet
    prompts = optimizer_prompts(spec, dataset)
    texts = Texts(prompts.seed_text, hypothesis)
    optimizer = optimizer_size(spec, dataset, prompts, texts)
    sizes = {**dict.fromkeys(OPTIMIZER, optimizer), TRANSLATIONS: program_size(spec, dataset, texts)}
    learner, prices = learner_size(spec, dataset, texts), spec.prices
    shares = dict.fromkeys(OPTIMIZER, 1.0)
    lines = [
        Line(what=what, calls=Span(about=calls * shares.get(what, whole.expected_share), high=calls))
        for what, calls in whole.items
    ]
    parts = [(line.what, sizes.get(line.what, learner) * line.calls) for line in lines]
    costs = [size.cost(prices.of_optimizer if what in OPTIMIZER else prices.learner) for what, size in parts]
    return Estimate(
        plan=whole,
        lines=tuple(lines),
        prompt=sum((size.prompt for _, size in parts), Span()),
        completion=sum((size.completion for _, size in parts), Span()),
        cost=sum(costs, Span()) if prices.are_given else None,
    )


@dataclass(frozen=True, slots=True)
class Texts:
    seed_text: str
    length: Span

    def of(self, characters: float) -> str:
        """Return a hypothesis with this many characters after the seed sentence."""
        count = round(characters)
        return f"{self.seed_text} {(_FILLER * (1 + count // len(_FILLER)))[:count]}"


def learner_size(spec: RunSpec, dataset: Dataset, texts: Texts) -> CallSize:
    prompts, rows = learner_prompts(spec, dataset), by_length(dataset.labelled)
    typical = [prompts.messages(texts.of(texts.length.about), row) for row in rows]
    most = spec.endpoint.learner_max_tokens
    answer = ONE_TOKEN if prompts.is_lettered else Span(about=min(LEARNER_ANSWER, most), high=most)
    return _size(typical, [prompts.messages(texts.of(texts.length.high), rows[-1])], answer)


def program_size(spec: RunSpec, dataset: Dataset, texts: Texts) -> CallSize:
    """Return the size of a translation: the template over the table's columns, with a hypothesis."""
    typical, longest = map(
        program_prompts(spec, dataset).translation, map(texts.of, (texts.length.about, texts.length.high))
    )
    most = max(LEAST_TOKENS, spec.endpoint.learner_max_tokens)
    return _size([typical], [longest], Span(about=LEARNER_ANSWER, high=most))


def optimizer_size(spec: RunSpec, dataset: Dataset, prompts: OptimizerPrompts, texts: Texts) -> CallSize:
    """Return the size of an optimizer's call about a batch, or about the columns alone if the run has such calls."""
    config, rows = spec.config, by_length(dataset.train)
    batch = min(config.batch_size, len(rows))

    def asked(shown: Sequence[Row], length: float) -> Messages:
        given = [Prediction(row=row.id, value=row.target) for row in shown]
        return prompts.about_batch(texts.of(length), shown, given)

    draws = [prompts.about_columns()] if config.is_filtered else []
    typical = asked([rows[i] for i in _spread(len(rows), batch)], texts.length.about)
    longest = [asked(rows[-batch:], texts.length.high), *draws]
    most = spec.endpoint.optimizer_max_tokens
    return _size([typical], longest, Span(about=min(OPTIMIZER_ANSWER, most), high=most))


def _size(typical: Sequence[Messages], longest: Sequence[Messages], answer: Span) -> CallSize:
    """Return the tokens of calls, by the prompts of typical calls and of the longest."""
    contents = [message["content"] for messages in typical for message in messages]
    about = sum(len(content.encode("utf-8", "replace")) for content in contents) / len(typical) / BYTES_A_TOKEN
    return CallSize(prompt=Span(about=about, high=max(map(prompt_tokens, longest))), completion=answer)


def by_length(rows: Sequence[Row]) -> list[Row]:
    """Return rows that represent all, spread evenly by length, the shortest first and the longest last."""
    ordered = sorted(rows, key=lambda row: len(render_input(row)))
    return [ordered[i] for i in _spread(len(ordered))]


def _spread(count: int, wanted: int = SAMPLED) -> list[int]:
    """Return indices below `count`, evenly spread in order, with both ends."""
    if count <= wanted:
        return list(range(count))
    return [round(i * (count - 1) / max(1, wanted - 1)) for i in range(wanted)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Totals expected at a running run's end, at the pace of its last steps."""

    calls: float
    """Calls needed in all, including those made."""
    tokens: float
    cost: float


def outlook(spec: RunSpec, view: RunView, usage: Usage) -> Outlook | None:
    """Extrapolate the share of the planned calls that the last steps needed; None before two steps are complete.

    Tokens and money a call are the run's own so far.
    """
    recent = _recent(view)
    if view.has_ended or len(recent) < 2:
        return None
    n_train, first, last = spec.dataset["n_train"], recent[0], recent[-1]
    share = (last.usage.calls - first.usage.calls) / _planned(spec.config, n_train, first.step + 1, last.step + 1)
    left = _planned(spec.config, n_train, last.step + 1, view.total_steps)
    calls = max(float(usage.calls), last.usage.calls + share * left + _ending_calls(spec, view))
    growth = calls / usage.calls
    return Outlook(
        calls=calls, tokens=growth * (usage.prompt_tokens + usage.completion_tokens), cost=growth * usage.cost
    )


def seconds_left(
    spec: RunSpec, view: RunView, usage: Usage, *, rows: Mapping[str, int] | None = None, spent_s: float = 0.0
) -> float | None:
    """Seconds of the remaining steps and of the final evaluation.

    At the pace of the last steps; before two are complete, at the pace of the answers so far. None before the first
    answer, and once all calls are made. usage: the run's calls so far. rows: number of distinct rows by part, as equal
    rows are asked about once. spent_s: seconds so far.
    """
    recent = _recent(view)
    if view.has_ended:
        return None
    if len(recent) < 2:
        whole, n = plan_of(spec), sum(row_counts(spec.dataset).values())
        share = 1.0 if spec.config.has_programs or not rows else sum(rows.values()) / max(1, n)
        planned = whole.optimizer_calls + share * whole.learner_calls
        return spent_s / usage.calls * max(0, planned - usage.calls) if usage.calls and spent_s else None
    first, last = recent[0], recent[-1]
    before, after = first.usage, last.usage
    steps, ending = view.total_steps - 1 - last.step, _ending_calls(spec, view, rows)
    if steps == 0:
        ending -= usage.calls - after.calls
        if ending <= 0 or "train" in view.evaluated:
            return None
    asked = after.calls - before.calls
    return (last.wall_s - first.wall_s) * (steps / (last.step - first.step) + ending / max(1, asked))


def ending_share(spec: RunSpec, view: RunView, usage: Usage, *, rows: Mapping[str, int] | None = None) -> float:
    """Share of the final evaluation's calls that are answered, from 0 to 1."""
    calls = _ending_calls(spec, view, rows)
    return min(1.0, max(0, usage.calls - last_finished(view).usage.calls) / calls) if calls else 0.0


def distinct_rows(dataset: Dataset) -> dict[str, int]:
    """Number of rows with different inputs, by part, as `plan` takes them."""
    parts = {"n_train": dataset.train, "n_test": dataset.test, "n_calibration": dataset.calibration}
    return {name: len({row.inputs for row in part}) for name, part in parts.items()}


def _recent(view: RunView) -> list[StepView]:
    return [at for at in view.finished_steps if at.step >= 0][-RECENT - 1 :]


def _ending_calls(spec: RunSpec, view: RunView, distinct: Mapping[str, int] | None = None) -> float:
    """Calls of the final evaluation: the last texts on the held-out rows, and on training rows not answered yet.

    A program answers rows without a call, but the learner reads some of the heaviest ones' itself.
    """
    sizes, config = distinct or row_counts(spec.dataset), spec.config
    rows = sum(sizes.values()) - (sizes["n_train"] if config.scored_on == "train" else 0)
    n_read = len(_read_by_row(view)) if config.has_programs else view.n_unique
    certificates = certificate_calls(config, sizes["n_train"], texts=view.n_unique - n_read)
    return float(n_read * rows * config.learner_samples + certificates)


def _read_by_row(view: RunView) -> set[str]:
    """Ids of the last texts that are no programs."""
    last = last_finished(view)
    scored = (*last.scored.values(), *last.proposals_scored.values())
    return {each.hypothesis for each in scored if not each.branches} & {p.hypothesis for p in last.population}


@lru_cache(maxsize=256)
def _planned(config: Config, n_train: int, first: int, end: int) -> int:
    """Calls of both roles in steps `first` to `end` - 1, at most; cached, as watchers ask each second."""
    return sum(sum(step_calls(config, step, n_train=n_train)) for step in range(first, end))
