"""What a run will take, in words: every number says whether it is a bound or an estimate."""

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
"""A rough figure, with a page open beside."""
ASSUMED = (
    f"Tokens are estimates: the run’s own prompts, a token for {BYTES_A_TOKEN:g} characters, hypotheses of about "
    f"{HYPOTHESIS.about:g} characters, answers of about {LEARNER_ANSWER.about:g} tokens (learner) and "
    f"{OPTIMIZER_ANSWER.about:g} (optimizer). A model that thinks first writes more."
)


def roughly(count: float) -> str:
    """`1,300,000`: a number of which only two digits mean something."""
    digits = max(0, len(str(round(count))) - 2)
    return integer(round(count / 10**digits) * 10**digits)


def plan_rows(found: Estimate) -> list[tuple[str, ...]]:
    """The work in its order, and all of it; calls at most, tokens about."""
    rows: list[tuple[str, ...]] = [
        (each.what, integer(each.calls), roughly(each.prompt), roughly(each.completion)) for each in found.lines
    ]
    tokens = (f"about {roughly(span.about)}" for span in (found.prompt, found.completion))
    return [*rows, ("At most", integer(found.plan.calls), *tokens)]


def call_rows(found: Estimate) -> list[tuple[str, ...]]:
    """The work in its order, and all of it; calls at most."""
    return [row[:2] for row in plan_rows(found)]


def estimate_rows(found: Estimate, spec: RunSpec, pace: Pace | None) -> list[tuple[str, ...]]:
    """What is estimated: about, and with the longest texts; a line each."""
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
    """Sentences under the table."""
    return [*_left_out(dataset), *_calls(found), *_money(found, spec), *_time(found, pace), *_cap(found, spec)]


def _left_out(dataset: Dataset) -> Iterator[str]:
    left = dataset.provenance.n_left_out
    if left:
        yield f"{counted(left, 'labelled row')} of the table {'takes' if left == 1 else 'take'} no part."


def _calls(found: Estimate) -> Iterator[str]:
    yield (
        f"Calls are an upper bound: the same question is asked once, so runs usually need fewer, at least "
        f"{integer(found.plan.least_calls)}. Asking again for an answer that cannot be read comes on top."
    )
    most = f"{roughly(found.prompt.high)} in and {roughly(found.completion.high)} out"
    yield f"{ASSUMED} With hypotheses of {HYPOTHESIS.high:g} and every answer as long as is allowed it would be {most}."


def _money(found: Estimate, spec: RunSpec) -> Iterator[str]:
    if found.cost is None:
        return
    low, about, high = (money(c, spec.prices.currency) for c in (found.cost.low, found.cost.about, found.cost.high))
    yield (
        f"Money, an estimate: about {about} where all these calls are needed, {high} with the longest texts assumed; "
        f"at least {low}. Asking again comes on top."
    )


def _time(found: Estimate, pace: Pace | None) -> Iterator[str]:
    rounds = f"{integer(found.plan.rounds)} rounds must wait for one another"
    if found.plan.rounds_plain > found.plan.rounds:
        rounds += f", {integer(found.plan.rounds_plain)} where nothing can be asked ahead"
    if pace is None:
        yield f"{rounds}. Test the endpoint to see how long that takes."
        return
    rates = [f"{fixed(pace.round_trip_s)} s a {'round' if pace.waits_after else 'call'}"] if pace.round_trip_s else []
    rates += [f"{_rate(pace.calls_per_s)} calls a second at once"] if pace.calls_per_s else []
    about = seconds(time_s(found.plan, pace))
    yield f"{rounds}. Time, an estimate: about {about} at {' and '.join(rates)}, {pace.known}."


def demo_pace(endpoint: EndpointSpec) -> Pace:
    """The demo model's own, the pauses that make it readable included."""
    known = "as the demo model usually does on two cores"
    wait_s = endpoint.demo_latency_ms / 1000
    return Pace(round_trip_s=wait_s, calls_per_s=DEMO_CALLS_A_SECOND, waits_after=True, known=known)


def _rate(rate: float) -> str:
    """A rate to a whole number, small ones to one decimal."""
    return integer(round(rate)) if rate >= 10 else fixed(rate, 1)


def _cap(found: Estimate, spec: RunSpec) -> Iterator[str]:
    words = cap_words(spec.cap, spec.prices.currency)
    if not words:
        return
    yield f"It pauses at {words}, keeps all it has, and goes on with a higher cap."
    least = integer(found.plan.least_calls)
    if 0 < spec.cap.calls < found.plan.least_calls:
        yield f"That is below the {least} calls that any such run needs: it will pause, unless the cache has answers."


def expected_words(spec: RunSpec, usage: Usage, expected: Outlook | None) -> str:
    """`About 3,100 calls and 640,000 tokens expected; 0.12 EUR so far, about 0.40 EUR expected; 900 sent, cap 4,000.`

    Money only where a price is given, what is expected only of a run that goes; the cap, where there is one.
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
