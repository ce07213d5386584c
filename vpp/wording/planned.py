"""The expected cost of a run in words; every number is marked as a bound or an estimate."""

from collections.abc import Iterator

from vpp.data.dataset import Dataset
from vpp.runs.budget import cap_words, money
from vpp.runs.estimate import (
    BYTES_A_TOKEN,
    HYPOTHESIS,
    LEARNER_ANSWER,
    OPTIMIZER_ANSWER,
    Estimate,
    Outlook,
    Pace,
    time_s,
)
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.usage import Usage
from vpp.wording.words import capitalised, counted, fixed, integer, seconds

HEAD = ("work", "calls", "tokens in", "tokens out")
ESTIMATES = ("estimate", "about", "longest texts")
DEMO_CALLS_A_SECOND = 350.0
"""Rough rate of the demo model with a page open."""
ASSUMED = (
    f"Tokens are estimates: the run’s own prompts, a token for {BYTES_A_TOKEN:g} characters, hypotheses of about "
    f"{HYPOTHESIS.about:g} characters, answers of about {LEARNER_ANSWER.about:g} tokens (learner) and "
    f"{OPTIMIZER_ANSWER.about:g} (optimizer). A model that thinks first writes more."
)


def roughly(count: float) -> str:
    """Round to two significant digits: `1,300,000`."""
    digits = max(0, len(str(round(count))) - 2)
    return integer(round(count / 10**digits) * 10**digits)


def plan_rows(found: Estimate) -> list[tuple[str, ...]]:
    """Return a row for each kind of work and a total: calls at most, tokens about."""
    rows: list[tuple[str, ...]] = [
        (each.what, integer(each.calls), roughly(each.prompt), roughly(each.completion)) for each in found.lines
    ]
    tokens = (f"about {roughly(span.about)}" for span in (found.prompt, found.completion))
    return [*rows, ("At most", integer(found.plan.calls), *tokens)]


def call_rows(found: Estimate) -> list[tuple[str, ...]]:
    """Return a row for each kind of work and a total, with calls at most."""
    return [row[:2] for row in plan_rows(found)]


def estimate_rows(found: Estimate, spec: RunSpec, pace: Pace | None) -> list[tuple[str, ...]]:
    """Return the estimates, each with typical and with the longest texts."""
    rows: list[tuple[str, ...]] = [
        ("tokens in", roughly(found.prompt.about), roughly(found.prompt.high)),
        ("tokens out", roughly(found.completion.about), roughly(found.completion.high)),
    ]
    if found.cost is not None:
        currency = spec.prices.currency
        rows.append(("money", money(found.cost.about, currency), money(found.cost.high, currency)))
    if pace is not None:
        rows.append(("time", seconds(time_s(found.plan, pace)), "\N{EN DASH}"))
    return rows


def plan_words(found: Estimate, spec: RunSpec, dataset: Dataset, pace: Pace | None) -> list[str]:
    """Return the sentences under the table."""
    return [*_left_out(dataset), *_calls(found), *_money(found, spec), *_time(found, pace), *_cap(found, spec)]


def _left_out(dataset: Dataset) -> Iterator[str]:
    left = dataset.provenance.n_left_out
    if left:
        yield f"{counted(left, 'labelled row')} of the table {'is' if left == 1 else 'are'} not used."


def _calls(found: Estimate) -> Iterator[str]:
    yield (
        f"Calls are an upper bound: each question is asked only once, so most runs need fewer, at least "
        f"{integer(found.plan.least_calls)}. Repeats of unreadable answers are not included."
    )
    most = f"{roughly(found.prompt.high)} in and {roughly(found.completion.high)} out"
    yield f"{ASSUMED} With hypotheses of {HYPOTHESIS.high:g} and every answer as long as is allowed it would be {most}."


def _money(found: Estimate, spec: RunSpec) -> Iterator[str]:
    if found.cost is None:
        return
    low, about, high = (money(c, spec.prices.currency) for c in (found.cost.low, found.cost.about, found.cost.high))
    yield (
        f"Money, an estimate: about {about} where all these calls are needed, {high} with the longest texts assumed; "
        f"at least {low}. Repeats of unreadable answers are not included."
    )


def _time(found: Estimate, pace: Pace | None) -> Iterator[str]:
    rounds = f"{integer(found.plan.rounds)} sequential rounds"
    if found.plan.rounds_plain > found.plan.rounds:
        rounds += f", {integer(found.plan.rounds_plain)} without asking ahead"
    if pace is None:
        yield f"{rounds}. Test the endpoint to see how long that takes."
        return
    rates = [f"{fixed(pace.round_trip_s)} s a {'round' if pace.waits_after else 'call'}"] if pace.round_trip_s else []
    rates += [f"{_rate(pace.calls_per_s)} calls a second at once"] if pace.calls_per_s else []
    about = seconds(time_s(found.plan, pace))
    yield f"{rounds}. Time, an estimate: about {about} at {' and '.join(rates)}, {pace.known}."


def demo_pace(endpoint: EndpointSpec) -> Pace:
    """Return the demo model's pace, including the pauses that make it watchable."""
    known = "as the demo model usually does on two cores"
    wait_s = endpoint.demo_latency_ms / 1000
    return Pace(round_trip_s=wait_s, calls_per_s=DEMO_CALLS_A_SECOND, waits_after=True, known=known)


def _rate(rate: float) -> str:
    """Return a rate as an integer, below 10 with one decimal."""
    return integer(round(rate)) if rate >= 10 else fixed(rate, 1)


def _cap(found: Estimate, spec: RunSpec) -> Iterator[str]:
    words = cap_words(spec.cap, spec.prices.currency)
    if not words:
        return
    yield f"The run pauses at {words}, keeps its result so far, and continues with a higher cap."
    least = integer(found.plan.least_calls)
    if 0 < spec.cap.calls < found.plan.least_calls:
        yield f"Every such run needs at least {least} calls, so it will pause unless the cache has answers."


def expected_words(spec: RunSpec, usage: Usage, expected: Outlook | None) -> str:
    """`About 3,100 calls and 640,000 tokens expected; 0.12 EUR so far, about 0.40 EUR expected; 900 sent, cap 4,000.`

    Money needs a price, expectations a running run; the cap is named if there is one.
    """
    parts = []
    if expected is not None:
        parts.append(f"about {roughly(expected.calls)} calls and {roughly(expected.tokens)} tokens expected")
    if spec.prices.are_given:
        parts.append(cost_words(spec, usage, expected))
    if words := cap_words(spec.cap, spec.prices.currency):
        parts.append(f"{integer(usage.sent)} sent, cap {words}")
    return capitalised(f"{'; '.join(parts)}.") if parts else ""


def cost_words(spec: RunSpec, usage: Usage, expected: Outlook | None = None) -> str:
    """`0.12 EUR so far, about 0.40 EUR expected`."""
    so_far = f"{money(usage.cost, spec.prices.currency)} so far"
    return so_far if expected is None else f"{so_far}, about {money(expected.cost, spec.prices.currency)} expected"
