"""The expected cost of a run: calls, tokens, money and time with their upper bounds, on New run and by --plan."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vpp.data.dataset import Dataset
from vpp.findings.status import cut_cells_text
from vpp.inference.plan import plan
from vpp.programs.columns import Columns
from vpp.runs.budget import (
    BYTES_A_TOKEN,
    HYPOTHESIS,
    LEARNER_ANSWER,
    OPTIMIZER_ANSWER,
    Estimate,
    Pace,
    cap_words,
    money,
    time_s,
)
from vpp.runs.preparation import fitted_to
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config
from vpp.show.blocks import Block, Note, Table
from vpp.show.words import counted, integer, seconds

DEMO_CALLS_A_SECOND = 350.0
"""Rough rate of the demo model with a page open."""
DEMO_ROUND_S = 0.1
"""Seconds of a round beside the demo model's delay, on two cores."""
DEMO_START_S, HALF_S = 3.0, 30.0
"""Seconds until a run of the demo model begins; half a minute."""
ASSUMED = (
    "“At most” counts a new text for every hypothesis and step; equal texts share their answers. Repeats of unreadable "
    "answers come on top. Tokens are estimates: the run’s own prompts, a token for "
    f"{BYTES_A_TOKEN:g} characters, hypotheses of about {len(HYPOTHESIS)} characters, answers of about "
    f"{LEARNER_ANSWER:g} tokens (learner) and {OPTIMIZER_ANSWER:g} (optimizer). A reasoning model writes more."
)
NO_BOUND = "\N{EN DASH}"


def roughly(count: float) -> str:
    """Round to two significant digits: `1,300,000`."""
    digits = max(0, len(str(round(count))) - 2)
    return integer(round(count / 10**digits) * 10**digits)


def cost_line(expected: Estimate, spec: RunSpec, pace: Pace | None) -> str:
    """`about 190 calls · about 47 s · a cost of about 0.40 · pauses at 300 calls`; exact without `about`."""
    whole = expected.plan
    is_exact = whole.least_calls == whole.calls
    calls = counted(whole.calls, "call") if is_exact else f"about {roughly(whole.expected_calls)} calls"
    parts = [calls, f"about {seconds(time_s(whole, pace))}" if pace else "time unknown"]
    if spec.config.is_weighing and not spec.start:
        parts[0] += " for each hypothesis"
    if expected.cost is not None:
        parts.append(f"a cost of about {money(expected.cost)}")
    if words := cap_words(spec.cap):
        parts.append(f"pauses at {words}")
    return " · ".join(parts)


def bound_words(expected: Estimate) -> str:
    return f"At most {counted(expected.plan.calls, 'call')}. Advanced, Cost says what they are."


def cost(expected: Estimate, spec: RunSpec, dataset: Dataset, pace: Pace | None) -> Sequence[Block]:
    whole, lines = expected.plan, expected.lines
    rows = [(line.what, roughly(line.calls), integer(line.most_calls)) for line in lines]
    rows.append(("All calls", roughly(whole.expected_calls), integer(whole.calls)))
    rows.append(("Tokens in", roughly(sum(line.prompt for line in lines)), NO_BOUND))
    rows.append(("Tokens out", roughly(sum(line.completion for line in lines)), NO_BOUND))
    if expected.cost is not None:
        rows.append(("Money", money(expected.cost), NO_BOUND))
    if pace is not None:
        rows.append(("Time", seconds(time_s(whole, pace)), NO_BOUND))
    table = Table(head=("work", "about", "at most"), rows=rows, right=(1, 2), name="Cost")
    return [table, *map(Note, _notes(expected, spec, dataset, pace))]


def _notes(expected: Estimate, spec: RunSpec, dataset: Dataset, pace: Pace | None) -> Iterator[str]:
    limit = fitted_to(spec, dataset, spec.endpoint.context_length).cell_limit
    if cut := cut_cells_text(dataset, limit):
        yield f"{cut}." if spec.cell_limit else f"By estimate, {cut}."
    if spec.config.has_programs:
        words = ["A program answers every row without a call"]
        if Columns(dataset).texts:
            words.append("a question that it asks about texts costs a call a text, which no plan can know")
        if spec.config.reading == "auto":
            calls = counted(sum(dataset.sizes.values()), "call")
            words.append(f"each hypothesis that cannot be a program costs up to {calls} instead")
        yield f"{'; '.join(words)}."
    yield ASSUMED
    rounds = counted(expected.plan.rounds, "sequential round")
    if pace is None:
        yield f"{rounds}. Test the endpoint to see how long that takes."
    else:
        yield f"{rounds}. Estimated time: about {seconds(time_s(expected.plan, pace))}, {pace.source}."
    if 0 < spec.cap.calls < expected.plan.least_calls:
        least = integer(expected.plan.least_calls)
        yield f"The run needs at least {least} calls, so it will pause unless the cache has answers."


def demo_pace(endpoint: EndpointSpec) -> Pace:
    source = "as the demo model usually does on two cores"
    wait_s = endpoint.demo_latency_ms / 1000 + DEMO_ROUND_S
    return Pace(round_trip_s=wait_s, calls_per_s=DEMO_CALLS_A_SECOND, waits_after=True, source=source)


def demo_time_words(config: Config, *, latency_ms: int, n_train: int, n_test: int) -> str:
    """`about 45 s`: a run of the demo model from the click on, by the same estimate as every other."""
    endpoint = replace(EndpointSpec(), demo=True, demo_latency_ms=latency_ms)
    whole_s = DEMO_START_S + time_s(plan(config, n_train=n_train, n_test=n_test), demo_pace(endpoint))
    return "about half a minute" if HALF_S - 5 <= whole_s <= HALF_S else f"about {seconds(whole_s)}"
