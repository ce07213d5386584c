"""The expected cost of a run in words; every number is marked as a bound or an estimate."""

from collections.abc import Iterator

from vpp.data.dataset import Dataset
from vpp.events import Usage
from vpp.findings.counts import cut_columns_sentence
from vpp.llm.context import LEAST_SHOWN, longest_cell
from vpp.programs.columns import Columns
from vpp.runs.budget import (
    BYTES_A_TOKEN,
    HYPOTHESIS,
    LEARNER_ANSWER,
    OPTIMIZER_ANSWER,
    Estimate,
    Outlook,
    Pace,
    cap_words,
    money,
    time_s,
)
from vpp.runs.prompts import fitted_to
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.show.words import capitalised, counted, fixed, integer, seconds

HEAD = ("work", "calls", "tokens in", "tokens out")
ESTIMATES = ("estimate", "about", "longest texts")
DEMO_CALLS_A_SECOND = 350.0
"""Rough rate of the demo model with a page open."""
ASSUMED = (
    f"Tokens are estimates: the run’s own prompts, a token for {BYTES_A_TOKEN:g} characters, hypotheses of about "
    f"{HYPOTHESIS.about:g} characters, answers of about {LEARNER_ANSWER:g} tokens (learner) and "
    f"{OPTIMIZER_ANSWER:g} (optimizer). A reasoning model writes more."
)


def roughly(count: float) -> str:
    """Round to two significant digits: `1,300,000`."""
    digits = max(0, len(str(round(count))) - 2)
    return integer(round(count / 10**digits) * 10**digits)


def cost_line(estimate: Estimate, spec: RunSpec, pace: Pace | None) -> str:
    """`9,620 calls at most · about 47 s · a cost of about 0.40 · pauses at 300 calls`

    A run that weighs sentences counts them: `2 sentences on 344 rows: 688 calls`.
    """
    calls = f"{integer(estimate.plan.calls)} calls at most"
    if spec.config.is_weighing:
        calls = f"{counted(estimate.plan.calls, 'call')}{' at most' if spec.config.has_programs else ''}"
        rows = f"{counted(len(spec.start), 'sentence')} on {counted(spec.config.batch_size, 'row')}"
        calls = f"{rows}: {calls}" if spec.start else f"{calls} for each sentence"
    parts = [calls, f"about {seconds(time_s(estimate.plan, pace))}" if pace else "time unknown"]
    if estimate.cost is not None:
        parts.append(f"a cost of about {money(estimate.cost.about)}")
    if words := cap_words(spec.cap):
        parts.append(f"pauses at {words}")
    return " · ".join(parts)


def plan_rows(estimate: Estimate) -> list[tuple[str, ...]]:
    """Return a row for each kind of work and a total: calls at most, tokens about."""
    rows = [(each.what, integer(each.calls), roughly(each.prompt), roughly(each.completion)) for each in estimate.lines]
    tokens = (f"about {roughly(span.about)}" for span in (estimate.prompt, estimate.completion))
    return [*rows, ("At most", integer(estimate.plan.calls), *tokens)]


def estimate_rows(estimate: Estimate, spec: RunSpec, pace: Pace | None) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("tokens in", roughly(estimate.prompt.about), roughly(estimate.prompt.high)),
        ("tokens out", roughly(estimate.completion.about), roughly(estimate.completion.high)),
    ]
    if estimate.cost is not None:
        rows.append(("money", money(estimate.cost.about), money(estimate.cost.high)))
    if pace is not None:
        rows.append(("time", seconds(time_s(estimate.plan, pace)), "\N{EN DASH}"))
    return rows


def plan_words(estimate: Estimate, spec: RunSpec, dataset: Dataset, pace: Pace | None) -> list[str]:
    sentences = []
    if left := dataset.provenance.n_left_out:
        sentences.append(f"{counted(left, 'labelled row')} of the table {'is' if left == 1 else 'are'} not used.")
    sentences += [*_cells(spec, dataset), *_programs(spec, dataset), *_calls(estimate)]
    if estimate.cost is not None:
        about, high = money(estimate.cost.about), money(estimate.cost.high)
        costs = f"about {about} if all these calls are needed, {high} with the longest texts"
        sentences.append(f"Estimated cost: {costs}.")
    return [*sentences, _time(estimate, pace), *_cap(estimate, spec)]


def cells_words(spec: RunSpec, dataset: Dataset) -> str:
    """Say which cells are shown in part, with names of columns, to be escaped; empty if all are whole."""
    limit = fitted_to(spec, dataset, spec.endpoint.context_length).cell_limit
    cut = cut_columns_sentence(dataset, limit)
    return f"By estimate, {cut}" if cut and not spec.cell_limit else cut


def _cells(spec: RunSpec, dataset: Dataset) -> Iterator[str]:
    longest = longest_cell(dataset)
    if cut := cells_words(spec, dataset):
        yield cut
    elif not (spec.cell_limit or spec.endpoint.context_length) and longest > LEAST_SHOWN:
        yield (
            f"The longest cell has {counted(longest, 'character')}. The run reads the models' context lengths at its "
            "start, and shows cells in part only if they are too short for whole ones."
        )


def _programs(spec: RunSpec, dataset: Dataset) -> Iterator[str]:
    if not spec.config.has_programs:
        return
    words = ["A program answers every row without a call"]
    if Columns(dataset).texts:
        words.append("a question that it asks about texts costs a call a text, which no plan can know")
    if spec.config.reading == "auto":
        calls = counted(sum(dataset.sizes.values()), "call")
        words.append(f"each sentence that cannot be a program costs up to {calls} instead")
    yield f"{'; '.join(words)}."


def _calls(estimate: Estimate) -> Iterator[str]:
    bound = (
        f"Calls are an upper bound: each question is asked only once, so most runs need fewer, at least "
        f"{integer(estimate.plan.least_calls)}. "
    )
    is_bound = estimate.plan.least_calls < estimate.plan.calls
    yield f"{bound if is_bound else ''}Repeats of unreadable answers are not included."
    most = f"{roughly(estimate.prompt.high)} in and {roughly(estimate.completion.high)} out"
    yield f"{ASSUMED} With hypotheses of {HYPOTHESIS.high:g} characters and the longest answers: {most}."


def _time(estimate: Estimate, pace: Pace | None) -> str:
    rounds = counted(estimate.plan.rounds, "sequential round")
    if pace is None:
        return f"{rounds}. Test the endpoint to see how long that takes."
    rates = [f"{fixed(pace.round_trip_s)} s a {'round' if pace.waits_after else 'call'}"] if pace.round_trip_s else []
    if rate := pace.calls_per_s:
        rates += [f"{integer(round(rate)) if rate >= 10 else fixed(rate, 1)} calls a second at once"]
    about = seconds(time_s(estimate.plan, pace))
    return f"{rounds}. Estimated time: about {about} at {' and '.join(rates)}, {pace.known}."


def demo_pace(endpoint: EndpointSpec) -> Pace:
    known = "as the demo model usually does on two cores"
    wait_s = endpoint.demo_latency_ms / 1000
    return Pace(round_trip_s=wait_s, calls_per_s=DEMO_CALLS_A_SECOND, waits_after=True, known=known)


def _cap(estimate: Estimate, spec: RunSpec) -> Iterator[str]:
    if words := cap_words(spec.cap):
        yield f"The run pauses at {words}, keeps its result so far, and continues with a higher cap."
    if 0 < spec.cap.calls < estimate.plan.least_calls:
        least = integer(estimate.plan.least_calls)
        yield f"The run needs at least {least} calls, so it will pause unless the cache has answers."


def expected_words(spec: RunSpec, usage: Usage, expected: Outlook | None) -> str:
    """`About 3,100 calls and 640,000 tokens expected; 0.12 spent so far, about 0.40 expected; 900 sent, cap 4,000.`

    Money needs a price, expectations a running run; the cap is named if there is one.
    """
    parts = []
    if expected is not None:
        parts.append(f"about {roughly(expected.calls)} calls and {roughly(expected.tokens)} tokens expected")
    if spec.prices.are_given:
        so_far = f"{money(usage.cost)} spent so far"
        parts.append(f"{so_far}, about {money(expected.cost)} expected" if expected else so_far)
    if words := cap_words(spec.cap):
        parts.append(f"{integer(usage.sent)} sent, cap {words}")
    return capitalised(f"{'; '.join(parts)}.") if parts else ""
