"""A run while it goes: its phase, pace, calls and health."""

from collections import Counter
from statistics import mean, pstdev

import numpy as np

from vpp.data.dataset import Dataset
from vpp.events import INITIAL_STEP
from vpp.findings.points import totals
from vpp.findings.status import loading_words, model_name, server_sentences, steps_text, wait_words
from vpp.findings.step import Accuracy, Names, accuracies
from vpp.posterior.weights import normalise
from vpp.runs.budget import cap_words, demo_pace, ending_share, money, plan_of, seconds_left, time_s
from vpp.runs.directory import Snapshot, State
from vpp.runs.view import RunView, StepView, settling_of
from vpp.settings import Config
from vpp.show.blocks import Metric
from vpp.show.words import EQUAL, capitalised, counted, in_words, integer, number, percent, seconds

GOING_ON: tuple[State, ...] = ("queued", "running", "paused", "stalled")


def phase(snapshot: Snapshot) -> str:
    view, state = snapshot.view, snapshot.state
    if state == "queued":
        if snapshot.beat and snapshot.beat.loading_s is not None:
            return capitalised(loading_words(snapshot.beat.loading_s))
        return "Queued behind other runs" if snapshot.beat and snapshot.beat.waits else "Starting"
    if state == "running":
        return capitalised(activity_words(view, snapshot.spec.config))
    if state == "paused" and view.is_at_cap:
        return "Paused at its cap"
    if state == "stopped" and not view.draws:
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
        return f"writing the first hypotheses: {len(view.draws)} of {size}"
    at = view.steps.get(last + 1, StepView(step=last + 1))
    if last == view.total_steps - 1 or view.final_scores:
        return "final weights and evaluation"
    if at.reweighting or at.proposals:
        return f"rewriting: {len(at.proposals)} of {size}"
    if config.has_programs and last == INITIAL_STEP:
        return f"writing programs: {len(at.scores)} of {size}"
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


def pace(snapshot: Snapshot, *, now: float, rows: dict[str, int] | None = None) -> str:
    """`12 s, about 50 s to go`, on a clock that runs. now: Unix time. rows: distinct rows of each part."""
    view = snapshot.view
    if view.began_at is None or snapshot.state not in GOING_ON:
        return ""
    # A run that starts has only begun: its server is being opened.
    is_starting = snapshot.state == "queued" and not view.draws
    since = view.last_at if is_starting or snapshot.state == "running" else None
    spent_s = view.wall_s + (0.0 if since is None else max(0.0, now - since))
    if snapshot.state != "running":
        return f"{seconds(spent_s)} so far"
    left = seconds_left(snapshot.spec, view, snapshot.usage, rows=rows, spent_s=spent_s)
    if left is None:
        return seconds(spent_s)
    spec = snapshot.spec
    if spec.endpoint.is_demo and (view.last_step or 0) < LEAST_STEPS - 1:
        left = max(1.0, time_s(plan_of(spec), demo_pace(spec.endpoint)) - spent_s)
    most = "at most " if spec.config.patience and spec.config.can_settle else ""
    return f"{seconds(spent_s)}, {most}about {seconds(left)} to go"


def flight_words(snapshot: Snapshot, *, now: float) -> str:
    """`8 calls in flight, the oldest for 41 s`, or that a server has asked to wait; else empty. now: Unix time."""
    beat = snapshot.beat
    if snapshot.state == "running" and (words := wait_words(snapshot.usage, now=now)):
        return capitalised(words)
    if snapshot.state != "running" or beat is None or not beat.in_flight or now - beat.oldest_at < SLOW_S:
        return ""
    return f"{counted(beat.in_flight, 'call')} in flight, the oldest for {seconds(now - beat.oldest_at)}"


SLOW_S = 3.0


def stopping_words(snapshot: Snapshot, rows: dict[str, int]) -> str:
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
LEAST_STEPS = 2
"""Steps before which there is nothing to say, and no pace to measure."""
SETTLED = 2


def health(view: RunView, dataset: Dataset) -> str:
    """Return what is wrong, `Settled for 5 steps`, or whether it improves."""
    scores = accuracies(view, dataset)
    if len(scores) < LEAST_STEPS:
        return "Too early to say how it does"
    if words := _no_better(scores[-1], dataset):
        return words
    if view.size > 1 and _has_all_weight(view, scores[-1].step):
        return "One hypothesis has all the weight"
    n = settling_of(view, dataset).n
    if n >= SETTLED:
        return f"Settled for {counted(n, 'step')}"
    rises = np.diff([(each.best, each.mean) for each in scores], axis=0) * (-1 if dataset.task == "regression" else 1)
    gains = np.flatnonzero(rises.max(axis=1) > EQUAL)
    n = len(rises) - 1 - int(gains[-1]) if len(gains) else len(rises)
    return "Improving" if len(gains) and n < SETTLED else f"No gain for {counted(n, 'step')}"


def _has_all_weight(view: RunView, step: int) -> bool:
    """True if one hypothesis has nearly all weight, and would have it if each different text counted once."""
    texts = {each.hypothesis: each for each in view.steps[step].scores.values()}
    once = normalise([each.log_likelihood for each in texts.values()]).tolist()
    alike = totals(zip((each.behaviour for each in texts.values()), once, strict=True))
    return max(Names(view).shares(step).values(), default=0.0) > ALL_WEIGHT < max(alike.values())


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
