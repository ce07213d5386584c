"""The expected cost of a run: calls, tokens, money and time with their upper bounds, on New run and by --plan."""

from collections.abc import Iterator, Sequence

from vpp.data.dataset import Dataset
from vpp.findings.status import cut_cells_text
from vpp.programs.columns import Columns
from vpp.runs.budget import BYTES_A_TOKEN, HYPOTHESIS, LEARNER_ANSWER, OPTIMIZER_ANSWER, Estimate, cap_words, money
from vpp.runs.preparation import fit_cells, limits_of
from vpp.runs.spec import RunSpec
from vpp.show.blocks import Block, Note, Table
from vpp.show.words import counted, integer, seconds

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


def cost_line(expected: Estimate, spec: RunSpec) -> str:
    """`about 190 calls · about 47 s · a cost of about 0.40 · pauses at 300 calls`; exact without `about`."""
    whole = expected.plan
    is_exact = whole.least_calls == whole.calls
    calls = counted(whole.calls, "call") if is_exact else f"about {roughly(whole.expected_calls)} calls"
    speed = " at readable speed" if spec.endpoint.is_demo and spec.endpoint.demo_latency_ms else ""
    parts = [calls, "time unknown" if expected.seconds is None else f"{time_words(expected.seconds)}{speed}"]
    if spec.config.is_weighing and not spec.start:
        parts[0] += " for each hypothesis"
    if expected.cost is not None:
        parts.append(f"a cost of about {money(expected.cost)}")
    if words := cap_words(spec.cap):
        parts.append(f"pauses at {words}")
    return " · ".join(parts)


def cost(expected: Estimate, spec: RunSpec, dataset: Dataset) -> Sequence[Block]:
    whole, lines = expected.plan, expected.lines
    rows = [(line.what, roughly(line.calls), integer(line.most_calls)) for line in lines]
    rows.append(("All calls", roughly(whole.expected_calls), integer(whole.calls)))
    rows.append(("Tokens in", roughly(sum(line.prompt for line in lines)), NO_BOUND))
    rows.append(("Tokens out", roughly(sum(line.completion for line in lines)), NO_BOUND))
    if expected.cost is not None:
        rows.append(("Money", money(expected.cost), NO_BOUND))
    if expected.seconds is not None:
        rows.append(("Time", time_words(expected.seconds).removeprefix("about "), NO_BOUND))
    table = Table(head=("work", "about", "at most"), rows=rows, right=(1, 2), name="Cost")
    return [table, *map(Note, _notes(expected, spec, dataset))]


def _notes(expected: Estimate, spec: RunSpec, dataset: Dataset) -> Iterator[str]:
    limit = fit_cells(spec, dataset, limits_of(spec.endpoint)).cell_limit
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
    if expected.pace is None or expected.seconds is None:
        yield f"{rounds}. Test the endpoint to see how long that takes."
    else:
        yield f"{rounds}. Estimated time: {time_words(expected.seconds)}, {expected.pace.source}."
    if 0 < spec.cap.calls < expected.plan.least_calls:
        least = integer(expected.plan.least_calls)
        yield f"The run needs at least {least} calls, so it will pause unless the cache has answers."


def time_words(whole_s: float) -> str:
    """`about 45 s`: to five seconds, from a minute on to ten."""
    step = 10 if whole_s >= 60 else 5 if whole_s > 10 else 1
    return f"about {seconds(max(1, step * round(whole_s / step)))}"
