"""What a run will take in tokens, time and money, before it costs anything; and while it goes, what is left.

Prompts are the real ones: the run's templates over its own rows. What nobody knows yet is assumed, and said: how long
hypotheses and answers will be (HYPOTHESIS, LEARNER_ANSWER, OPTIMIZER_ANSWER), answers at most as long as a run
allows. Tokens are counted without a tokenizer, since one differs from the next: see `span_of`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vpp.data.dataset import Dataset, Row
from vpp.inference.plan import OPTIMIZER, Plan, step_calls
from vpp.llm.budget import Price
from vpp.llm.context import prompt_tokens
from vpp.llm.prompts import OptimizerPrompts
from vpp.llm.protocol import Messages
from vpp.llm.rendering import render_input
from vpp.problem import Exchange, Prediction
from vpp.runs.prefetching import plan_of
from vpp.runs.session import learner_prompts, optimizer_prompts
from vpp.runs.spec import Prices, RunSpec
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.usage import Usage

SAMPLED = 60
"""Rows whose prompts are made for the typical length; the longest and the shortest row are always among them."""
RECENT = 5
"""Whole steps whose pace is taken for the rest's."""
BYTES_A_TOKEN = 4.0
"""UTF-8 bytes, in plain text characters, of a prompt that a token holds in the middle case."""
MOST_BYTES_A_TOKEN = 5.5
"""The most that tokenizers of today come to on plain text."""
_FILLER = "If the length is at most 12.5 and the colour is red, answer yes; otherwise answer no. "


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A number that is not known yet: no less than, about, no more than."""

    low: float = 0.0
    about: float = 0.0
    high: float = 0.0

    def __add__(self, other: "Span") -> "Span":
        return Span(low=self.low + other.low, about=self.about + other.about, high=self.high + other.high)

    def times(self, low: float, most: float) -> "Span":
        """`low` times the least; `most` times the middle and the most."""
        return Span(low=self.low * low, about=self.about * most, high=self.high * most)


HYPOTHESIS = Span(low=20, about=300, high=1200)
"""Characters of a hypothesis after its seed sentence, before one is written."""
LEARNER_ANSWER = Span(low=4, about=50)
"""Tokens that the learner writes about a row, where it does not think; at most its limit."""
OPTIMIZER_ANSWER = Span(low=30, about=250)
"""Tokens that the optimizer writes, where it does not think; at most its limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSize:
    """One call of a role."""

    size: Span
    """UTF-8 bytes of the prompt."""
    prompt: Span
    """Tokens."""
    completion: Span
    """Tokens, assumed; the most is what the run allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A part of the plan: its calls at most, and about how many tokens these take."""

    what: str
    calls: int
    prompt: float
    completion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A run's plan with its tokens and money.

    Of every span, the least is for the fewest calls and the shortest texts, the middle and the most for the calls of
    the plan, which are an upper bound but for answers that must be asked for again.
    """

    plan: Plan
    lines: tuple[Line, ...]
    size: Span
    """UTF-8 bytes of all prompts."""
    prompt: Span
    """Tokens of all prompts."""
    completion: Span
    cost: Span | None
    """In the user's own currency; None where no price is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a server answers."""

    round_trip_s: float
    """Of one short call, alone."""
    calls_per_s: float | None = None
    """Of many at once."""
    waits_after: bool = False
    """Whether an answer is held back for the round trip after it was worked out, so that a round takes both."""
    known: str = "as measured with short answers; longer ones take longer"
    """Where it is from, as a clause."""


def time_s(whole: Plan, pace: Pace) -> float:
    """Rounds one after another, or all calls at the measured rate where that takes longer."""
    rounds = whole.rounds * pace.round_trip_s
    work = whole.calls / pace.calls_per_s if pace.calls_per_s else 0.0
    return rounds + work if pace.waits_after else max(rounds, work)


def estimate(spec: RunSpec, dataset: Dataset, *, hypothesis: Span = HYPOTHESIS) -> Estimate:
    """What a whole run on these rows takes. hypothesis: characters after the seed sentence."""
    whole = plan_of(spec, n_train=len(dataset.train), n_test=len(dataset.test))
    prompts = optimizer_prompts(spec, dataset)
    texts = Texts(prompts.seed_text, hypothesis)
    learner = learner_size(spec, dataset, texts)
    optimizer = optimizer_size(spec, dataset, prompts, texts)
    of_learner = (whole.least_learner_calls, whole.learner_calls)
    of_optimizer = (whole.least_optimizer_calls, whole.optimizer_calls)
    asked = learner.prompt.times(*of_learner), optimizer.prompt.times(*of_optimizer)
    answered = learner.completion.times(*of_learner), optimizer.completion.times(*of_optimizer)
    return Estimate(
        plan=whole,
        lines=tuple(_line(what, calls, optimizer if what in OPTIMIZER else learner) for what, calls in whole.items),
        size=learner.size.times(*of_learner) + optimizer.size.times(*of_optimizer),
        prompt=asked[0] + asked[1],
        completion=answered[0] + answered[1],
        cost=_cost(spec.prices, asked, answered),
    )


def _line(what: str, calls: int, size: CallSize) -> Line:
    return Line(what=what, calls=calls, prompt=calls * size.prompt.about, completion=calls * size.completion.about)


def _cost(prices: Prices, asked: tuple[Span, Span], answered: tuple[Span, Span]) -> Span | None:
    if not prices.are_given:
        return None
    return _charged(prices.learner, asked[0], answered[0]) + _charged(prices.of_optimizer, asked[1], answered[1])


def _charged(price: Price, prompt: Span, completion: Span) -> Span:
    return Span(
        low=price.of(prompt.low, completion.low),
        about=price.of(prompt.about, completion.about),
        high=price.of(prompt.high, completion.high),
    )


@dataclass(frozen=True, slots=True)
class Texts:
    """Hypotheses of the assumed lengths."""

    seed_text: str
    length: Span

    def of(self, characters: float) -> str:
        """One with so many characters after the seed sentence."""
        count = round(characters)
        return f"{self.seed_text} {(_FILLER * (1 + count // len(_FILLER)))[:count]}"


def learner_size(spec: RunSpec, dataset: Dataset, texts: Texts) -> CallSize:
    """Of a call about as many rows as the run asks about at once."""
    prompts, packed = learner_prompts(spec, dataset), spec.config.points_per_call

    def asked(rows: Sequence[Row], length: float) -> Messages:
        return prompts.messages(texts.of(length), rows)

    rows = by_length((*dataset.train, *dataset.test))
    packs = [rows[i : i + packed] for i in _spread(len(rows) - packed + 1)] if len(rows) > packed else [rows]
    sizes = [
        [asked(packs[0], texts.length.low)],
        [asked(pack, texts.length.about) for pack in packs],
        [asked(packs[-1], texts.length.high)],
    ]
    answer = _bounded(LEARNER_ANSWER, spec.endpoint.learner_max_tokens)
    return _size(sizes, answer.times(len(packs[0]), len(packs[0])))


def optimizer_size(spec: RunSpec, dataset: Dataset, prompts: OptimizerPrompts, texts: Texts) -> CallSize:
    """Of a call about a batch; of a draw without data too, where the run makes such."""
    config, rows = spec.config, by_length(dataset.train)
    batch = min(config.batch_size, len(rows))

    def asked(shown: Sequence[Row], length: float, history: int = config.history) -> Messages:
        given = [Prediction(row=row.id, value=row.target) for row in shown]
        text = texts.of(length)
        earlier = Exchange(step=0, slot=0, hypothesis=text, rows=tuple(shown), predictions=tuple(given), raw=text)
        return prompts.about_batch(text, shown, given, [earlier] * history)

    draws = [prompts.about_columns()] if config.initial == "prior" or config.restart else []
    fewest = len(dataset.train) % config.batch_size or batch
    sizes = [
        [asked(rows[:fewest], texts.length.low, history=0), *draws],
        [asked([rows[i] for i in _spread(len(rows), batch)], texts.length.about)],
        [asked(rows[-batch:], texts.length.high), *draws],
    ]
    return _size(sizes, _bounded(OPTIMIZER_ANSWER, spec.endpoint.optimizer_max_tokens))


def _bounded(answer: Span, most: int) -> Span:
    return Span(low=min(answer.low, most), about=min(answer.about, most), high=most)


def _size(sizes: Sequence[Sequence[Messages]], answer: Span) -> CallSize:
    """sizes: prompts of the shortest, the typical and the longest call."""
    low, about, high = ([_bytes(messages) for messages in asked] for asked in sizes)
    size = Span(low=min(low), about=sum(about) / len(about), high=max(high))
    return CallSize(
        size=size,
        prompt=span_of(size, most=max(map(prompt_tokens, sizes[2]))),
        completion=answer,
    )


def _bytes(messages: Messages) -> int:
    return sum(len(message["content"].encode("utf-8", "replace")) for message in messages)


def span_of(size: Span, *, most: float) -> Span:
    """Tokens of a prompt by its bytes: one for 5.5, one for 4, and `most`, the estimate from above of `llm.context`."""
    return Span(low=size.low / MOST_BYTES_A_TOKEN, about=size.about / BYTES_A_TOKEN, high=most)


def by_length(rows: Sequence[Row]) -> list[Row]:
    """Rows that stand for all: some spread evenly, the shortest first, the longest last."""
    ordered = sorted(rows, key=lambda row: len(render_input(row)))
    return [ordered[i] for i in _spread(len(ordered))]


def _spread(count: int, wanted: int = SAMPLED) -> list[int]:
    """So many places out of `count`, its ends included, in order."""
    if count <= wanted:
        return list(range(count))
    return [round(i * (count - 1) / max(1, wanted - 1)) for i in range(wanted)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """How a run that goes will end, at the pace of its last steps."""

    calls: float
    """Needed in all, the ones made included."""
    tokens: float
    cost: float
    """In the user's own currency; 0 where no price is given."""


def outlook(spec: RunSpec, view: RunView, usage: Usage) -> Outlook | None:
    """From the share of the plan's calls that the last steps really needed; None before two steps are whole.

    Tokens and money a call are the run's own so far.
    """
    marks = [(step, used) for step, used in sorted(view.usage_by_step.items()) if step >= 0][-RECENT - 1 :]
    if view.has_ended or len(marks) < 2:
        return None
    n_train = spec.dataset["n_train"]
    (first, before), (last, after) = marks[0], marks[-1]
    share = (after.calls - before.calls) / _planned(spec.config, n_train, first + 1, last + 1)
    left = _planned(spec.config, n_train, last + 1, view.total_steps)
    calls = max(float(usage.calls), after.calls + share * left + _ending_calls(spec, view))
    growth = calls / usage.calls
    return Outlook(
        calls=calls, tokens=growth * (usage.prompt_tokens + usage.completion_tokens), cost=growth * usage.cost
    )


def seconds_left(spec: RunSpec, view: RunView, usage: Usage) -> float | None:
    """Steps at the pace of the last ones, and the calls of the end at the pace of theirs.

    None before two steps are whole, and once all is asked. usage: what the run has asked, as of now.
    """
    marks = [mark for mark in view.recent if mark[0] >= 0][-RECENT - 1 :]
    if view.has_ended or len(marks) < 2 or marks[-1][0] <= marks[0][0]:
        return None
    (first, began_s), (last, ended_s) = marks[0], marks[-1]
    before, after = view.usage_by_step[first], view.usage_by_step[last]
    steps, ending = view.total_steps - 1 - last, _ending_calls(spec, view)
    if steps == 0:
        ending -= usage.calls - after.calls
        if ending <= 0 or "train" in view.evaluated:
            return None
    asked = after.calls + after.ahead_unused - before.calls - before.ahead_unused
    return (ended_s - began_s) * (steps / (last - first) + ending / max(1, asked))


def _ending_calls(spec: RunSpec, view: RunView) -> float:
    """Of the last texts about the test rows, and about the training rows where these are not answered yet."""
    rows = spec.dataset["n_test"] + (0 if spec.config.is_on_fixed_rows else spec.dataset["n_train"])
    return float(view.n_unique * rows / spec.config.points_per_call)


@lru_cache(maxsize=256)
def _planned(config: Config, n_train: int, first: int, end: int) -> int:
    """Calls of both roles in steps `first` to `end` - 1, at most. Kept, since whoever watches is told each second."""
    return sum(sum(step_calls(config, step, n_train=n_train)) for step in range(first, end))
