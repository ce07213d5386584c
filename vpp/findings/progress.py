"""A run while it goes: its phase, pace, calls and health; and by step its accuracy, ESS and weights."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from statistics import mean, pstdev

from vpp.data.dataset import Dataset
from vpp.events import INITIAL_STEP, Scored
from vpp.findings.scores import rows_by_id, score, totals
from vpp.findings.status import loading_words, model_name, server_sentences, steps_text
from vpp.findings.step import Names, held
from vpp.posterior.weights import ess
from vpp.runs.budget import cap_words, ending_share, money, seconds_left
from vpp.runs.directory import State
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView, StepView, settling_of
from vpp.settings import ESS_SHARE, Config
from vpp.show.blocks import Metric
from vpp.show.figures import HUES, Curve
from vpp.show.words import EQUAL, capitalised, counted, fixed, in_words, integer, number, percent, seconds, shortest

# By step


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Shares of the rows scored that the hypotheses of a step have right; for numbers their error, root mean square."""

    step: int
    best: float
    mean: float
    """Over the particles."""
    rows: frozenset[int]


def accuracies(view: RunView, dataset: Dataset) -> tuple[Accuracy, ...]:
    """Return those of every step that has scored all its particles, in order."""
    found = (at.once("accuracy", partial(_accuracy, at, dataset)) for _, at in sorted(view.steps.items()))
    return tuple(each for each in found if each is not None)


def _accuracy(at: StepView, dataset: Dataset) -> Accuracy | None:
    if not at.scored or not (at.reweighted or at.finished):
        return None
    by_id, own = rows_by_id(dataset), dict[str, float]()

    def figure(scored: Scored) -> float:
        if scored.hypothesis not in own:
            found = score(scored.predictions, [by_id[row] for row in scored.rows], dataset)
            own[scored.hypothesis] = found.value if found.n_correct is not None else math.sqrt(found.value)
        return own[scored.hypothesis]

    values = [figure(scored) for scored in at.scored.values()]
    rows = frozenset(row for scored in at.scored.values() for row in scored.rows)
    best = max(values) if dataset.task == "classification" else min(values)
    return Accuracy(step=at.step, best=best, mean=sum(values) / len(values), rows=rows)


def accuracy_curve(view: RunView, dataset: Dataset, *, at: int | None) -> Curve:
    """Draw the best and the mean hypothesis of every step, and the prediction's test rows at the end."""
    scores, is_share = accuracies(view, dataset), dataset.task == "classification"
    evaluated = view.evaluated.get("test")
    test = None if evaluated is None else evaluated.value if is_share else math.sqrt(evaluated.value)
    looked_at = next((each for each in scores if each.step == at), scores[-1] if scores else None)

    def words(value: float) -> str:
        return percent(value) if is_share else number(value, 3)

    said = []
    if looked_at:
        said = [f"At step {looked_at.step + 1} the best is {words(looked_at.best)}, the mean {words(looked_at.mean)}"]
    said += [] if test is None else [f"test rows at the end: {words(test)}"]
    values = [*(value for each in scores for value in (each.best, each.mean)), *([] if test is None else [test])]
    low, high = 0.0, max(values, default=1.0) or 1.0
    if is_share:
        low, high = min(int(10 * min(values, default=0.0) + EQUAL) / 10, 0.9), 1.0
    axis = "Share of rows right" if is_share else "Off by"
    return Curve(
        title="How often they are right" if is_share else "How far they are off",
        words=axis,
        alt=f"{axis}, by step. {'; '.join(said) or 'No step yet'}.",
        lines={name: [(each.step + 1, getattr(each, name)) for each in scores] for name in ("mean", "best")},
        dots=[] if test is None else [(view.total_steps + 1, test, "test")],
        low=(low, words(low)),
        high=(high, words(high)),
        total=view.total_steps,
        at=None if at is None else at + 1,
    )


def ess_curve(view: RunView, *, at: int | None) -> Curve:
    """Draw the effective sample size by step, with a dot where the particles were copied."""
    past = {step: each.reweighted for step, each in sorted(view.steps.items()) if each.reweighted}
    limit = ESS_SHARE * (view.size or 1)
    dots = [(step + 1, made.ess, "copied") for step, made in past.items() if view.steps[step].resampled]
    words = f"Copies below {shortest(round(limit, 1))}"
    if at in past:
        words = f"{fixed(past[at].ess, 1)} of {len(past[at].weights)} · copies below {shortest(round(limit, 1))}"
    elif at is None and view.weights and view.has_ended:
        final = view.final.ess if view.final else ess(view.weights)
        words = f"{fixed(final, 1)} of {view.n_unique if view.final else view.size} at the end"
    return Curve(
        title="Effective sample size",
        words=words,
        alt=f"Effective sample size by step: {counted(len(dots), 'step')} with copying. {words}.",
        lines={"best": [(step + 1, made.ess) for step, made in past.items()]},
        dots=dots,
        low=(0.0, "0"),
        high=(float(view.size or 1), integer(view.size or 1)),
        limit=limit,
        total=view.total_steps,
        at=None if at is None else at + 1,
        height=96,
    )


def weights_curve(view: RunView) -> Curve | None:
    """Draw the weights of the hypotheses that had most at some step, numbered as on Watch; None before two steps."""
    names, moments = Names(view), dict[int, Mapping[int, float]]()
    for step, at in sorted(view.steps.items()):
        if at.reweighted:
            numbers = names.at((step, "weigh")).numbers
            moments[step + 1] = totals((numbers[each.hypothesis], each.weight or 0.0) for each in held(at, "weigh"))
    if len(moments) < 2:
        return None
    if view.has_ended and view.weights:
        numbers, pairs = names.at("end").numbers, zip(view.population, view.weights, strict=True)
        moments[view.total_steps + 1] = totals((numbers[state.hypothesis], weight) for state, weight in pairs)
    every = {number for shares in moments.values() for number in shares}
    peaks = sorted(every, key=lambda n: (-max(shares.get(n, 0.0) for shares in moments.values()), n))[:HUES]
    _, last = max(moments.items())
    heaviest = max(last, key=lambda number: last[number])
    lines = {n: [(step, shares.get(n, 0.0)) for step, shares in moments.items()] for n in peaks}
    return Curve(
        title="Weight by step",
        words="Numbered as on Watch",
        alt=f"Hypothesis {heaviest} ends heaviest, with {percent(min(last[heaviest], 1.0))}.",
        lines={f"line l{place}": lines[n] for place, n in reversed([*enumerate(peaks)])},
        names=[str(n) for n in reversed(peaks)],
        low=(0.0, percent(0.0)),
        high=(1.0, percent(1.0)),
        total=view.total_steps,
        at=None,
    )


# Now

GOING_ON: tuple[State, ...] = ("queued", "running", "paused", "stalled")


def phase(snapshot: Snapshot, *, ahead: int = 0) -> str:
    """Return what the run does now, or how it ended. ahead: runs that wait for a slot before it."""
    view, state = snapshot.view, snapshot.state
    if snapshot.loading_s is not None:
        return capitalised(loading_words(snapshot.loading_s))
    if state == "queued":
        waits = snapshot.beat is not None and snapshot.beat.waits
        return f"Queued: {f'{ahead} before you' if ahead else 'next in line'}" if waits else "Starting"
    if state == "running":
        return capitalised(activity_words(view, snapshot.spec.config))
    if state == "paused" and view.is_at_cap:
        return "Paused at its cap"
    if state == "stopped" and not view.drawn:
        return "Stopped before it began"
    if not view.began_at or state in GOING_ON:
        return state.capitalize()
    if view.finish_reason == "settled":
        return f"Settled after {steps_text(view)}, in {seconds(view.wall_s)}"
    return f"{state.capitalize()} {'in' if state == 'finished' else 'after'} {seconds(view.wall_s)}"


def activity_words(view: RunView, config: Config) -> str:
    """`writing programs: 4 of 10`: what a run does now, with the hypotheses done."""
    last, size = view.last_step, config.size
    if last is None:
        return f"writing the first hypotheses: {len(view.drawn)} of {size}"
    at = view.steps.get(last + 1, StepView(step=last + 1))
    if last == view.total_steps - 1 or view.final_scored:
        return "final weights and evaluation"
    if at.reweighted or at.proposed:
        return f"rewriting: {len(at.proposed)} of {size}"
    if config.has_programs and last == INITIAL_STEP:
        return f"writing programs: {len(at.scored)} of {size}"
    return "scoring"


def asking_words(snapshot: Snapshot) -> str:
    """Say who is asked what at the beginning, before there is a hypothesis to see."""
    spec, config = snapshot.spec, snapshot.spec.config
    hypotheses = f"{in_words(config.size)} first {'hypothesis' if config.size == 1 else 'hypotheses'}"
    turns = "turns each into a program" if config.has_programs else "applies each to the rows"
    if len(spec.start) >= config.size or config.is_weighing:
        return f"{capitalised(hypotheses)} are given; the learner {turns}."
    source = "the task alone" if config.starts_from_prior else "the first rows"
    optimizer = f"The optimizer ({model_name(spec.endpoint)}) writes {hypotheses}"
    return f"{optimizer} that predict {spec.dataset['target']}, from {source}; the learner then {turns}."


def pace(snapshot: Snapshot, *, now: float, rows: dict[str, int]) -> str:
    """`12 s, about 50 s to go`, on a clock that runs. now: Unix time. rows: distinct rows of each part."""
    view = snapshot.view
    if view.began_at is None or snapshot.state not in GOING_ON:
        return ""
    is_running = snapshot.state == "running" and view.last_at is not None
    spent_s = view.wall_s + (max(0.0, now - (view.last_at or now)) if is_running else 0.0)
    if not is_running:
        return f"{seconds(spent_s)} so far"
    left = seconds_left(snapshot.spec, view, snapshot.usage, rows=rows, spent_s=spent_s)
    return seconds(spent_s) if left is None else f"{seconds(spent_s)}, about {seconds(left)} to go"


def flight_words(snapshot: Snapshot, *, now: float) -> str:
    """`8 calls in flight, the oldest for 41 s`; empty unless calls are slow. now: Unix time."""
    beat = snapshot.beat
    if snapshot.state != "running" or beat is None or not beat.in_flight or now - beat.oldest_at < SLOW_S:
        return ""
    return f"{counted(beat.in_flight, 'call')} in flight, the oldest for {seconds(now - beat.oldest_at)}"


SLOW_S = 3.0
"""Age from which a call in flight is worth words."""


def stopping_words(snapshot: Snapshot, rows: dict[str, int]) -> str:
    """Say how far the evaluation is that follows a stop."""
    share = ending_share(snapshot.spec, snapshot.view, snapshot.usage, rows=rows)
    return "Stopping: the test rows are evaluated" + (f", {percent(share)} done" if 0 < share < 1 else "")


def nothing_yet(state: State) -> str:
    if state == "queued":
        return "The run is starting, or queued behind another run."
    if state in GOING_ON:
        return "The first hypotheses are being written."
    return "The run ended before its first hypotheses were complete. Resume starts it again."


def calls_metric(snapshot: Snapshot) -> Metric:
    """Return the calls of the whole run: they are not counted by step."""
    usage, spec = snapshot.usage, snapshot.spec
    refused = f", {counted(usage.refused, 'answer')} refused as no rule" if usage.refused else ""
    parts = [
        f"{integer(usage.cached)} from the cache, {integer(usage.failed)} failed, "
        f"{counted(usage.unparsable, 'answer')} not readable{refused}",
        f"{integer(usage.prompt_tokens + usage.completion_tokens)} tokens",
    ]
    if spec.prices.are_given:
        parts.append(f"{money(usage.cost)} spent")
    if words := cap_words(spec.cap):
        parts.append(f"{integer(usage.sent)} sent, cap {words}")
    words = " ".join((capitalised(f"{'; '.join(parts)}."), *server_sentences(usage)))
    return Metric(name="Calls", value=integer(usage.calls), words=words)


ALL_WEIGHT = 0.99
"""Share from which one hypothesis has all the weight."""
LEAST_STEPS = 2
"""Steps before which there is nothing to say."""
SETTLED = 2
"""Steps in a row without a change from which a run is called settled."""


def health(view: RunView, dataset: Dataset, names: Names) -> str:
    """Return `Settled for 5 steps`, or what is wrong; else empty: the curves say how it goes."""
    scores = accuracies(view, dataset)
    if len(scores) < LEAST_STEPS:
        return ""
    if words := _no_better(scores[-1], dataset):
        return words
    _, share = names.heaviest(scores[-1].step)
    if share > ALL_WEIGHT and len(set(names.at((scores[-1].step, "weigh")).numbers.values())) > 1:
        return "One hypothesis has all the weight"
    n = settling_of(view, dataset).n
    return f"Settled for {counted(n, 'step')}" if n >= SETTLED else ""


def _no_better(last: Accuracy, dataset: Dataset) -> str:
    """Compare the best hypothesis with the best answer that is the same for every row."""
    targets = [row.target for row in dataset.train if row.id in last.rows and row.target is not None]
    if not targets:
        return ""
    if dataset.task == "classification":
        answer, n = Counter(targets).most_common(1)[0]
        return f"No better than always {answer}" if last.best <= n / len(targets) else ""
    values = [float(target) for target in targets]
    return f"No better than always {number(mean(values), 3)}" if last.best >= pstdev(values) else ""
