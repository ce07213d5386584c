"""A run while it goes: its phase, pace and health, and what is asked right now."""

import math
from collections import Counter

from vpp.data.dataset import Dataset
from vpp.events import INITIAL_STEP
from vpp.findings.curves import Accuracy, accuracies
from vpp.findings.ideas import Names
from vpp.findings.status import cache_sentence, faults_sentence, loading_words, model_name, refused_sentence
from vpp.runs.budget import cap_words, ending_share, money, outlook, seconds_left
from vpp.runs.directory import State
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView, StepView
from vpp.settings import Config
from vpp.show.blocks import Metric
from vpp.show.words import cached_words, capitalised, counted, in_words, integer, number, percent, seconds

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
    return f"{state.capitalize()} {'in' if state == 'finished' else 'after'} {seconds(view.wall_s)}"


def activity_words(view: RunView, config: Config) -> str:
    """`writing programs: 4 of 10`: what a run does now, with the hypotheses done."""
    last, size = view.last_step, config.size
    if last is None:
        return f"writing the first hypotheses: {len(view.drawn)} of {size}"
    at = view.steps.get(last + 1, StepView(step=last + 1))
    if last == view.total_steps - 1:
        return _ending_words(view, config)
    if at.reweighted or at.proposed:
        return f"rewriting: {len(at.proposed)} of {size}"
    if config.has_programs and last == INITIAL_STEP:
        return f"writing programs: {len(at.scored)} of {size}"
    return "scoring"


def _ending_words(view: RunView, config: Config) -> str:
    if "train" in view.evaluated and config.has_programs and config.certify:
        return "reading some rows without the programs"
    has_test = view.started is None or view.started.dataset.get("n_test")
    return "final weights and test rows" if has_test else "training rows, for the summary"


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
    expected = outlook(spec, snapshot.view, usage) if snapshot.state in GOING_ON else None
    refused = f", {counted(usage.refused, 'answer')} refused as no rule" if usage.refused else ""
    parts = [
        f"{cached_words(usage.cached, of=usage.calls)}, {integer(usage.failed)} failed, "
        f"{counted(usage.unparsable, 'answer')} not readable{refused}",
        f"{integer(usage.prompt_tokens + usage.completion_tokens)} tokens",
    ]
    if spec.prices.are_given:
        more = f", about {money(expected.cost)} expected" if expected else ""
        parts.append(f"{money(usage.cost)} spent{more}")
    if words := cap_words(spec.cap):
        parts.append(f"{integer(usage.sent)} sent, cap {words}")
    faults = (faults_sentence(usage), refused_sentence(usage), cache_sentence(usage))
    words = " ".join(filter(None, (capitalised(f"{'; '.join(parts)}."), *faults)))
    scale = f"of about {integer(round(expected.calls))}" if expected else ""
    return Metric(name="Calls", value=integer(usage.calls), scale=scale, words=words)


ALL_WEIGHT = 0.99
"""Share from which one hypothesis has all the weight."""
LEAST_STEPS = 2
"""Steps before which there is nothing to say."""
SETTLED = 3
"""Steps in a row with the same best score and the same heaviest hypothesis that count as settled."""
BETTER = 0.01
"""Least gain, as a share of the rows or of the error, that counts as improving."""


def health(view: RunView, dataset: Dataset, names: Names) -> str:
    """Return `Improving`, `Settled for 5 steps`, or what is wrong; empty in the first two steps."""
    scores = accuracies(view, dataset)
    if len(scores) < LEAST_STEPS:
        return ""
    if words := _no_better(scores[-1], dataset):
        return words
    heaviest, share = names.heaviest(scores[-1].step)
    if share > ALL_WEIGHT and len(names.numbers_at(scores[-1].step)) > 1:
        return "One hypothesis has all the weight"
    if (n := _settled(scores, names, heaviest)) >= SETTLED:
        return f"Settled for {counted(n, 'step')}"
    return "Improving" if _improves(scores, dataset) else "Not improving at the moment"


def _no_better(last: Accuracy, dataset: Dataset) -> str:
    """Compare the best hypothesis with the best answer that is the same for every row."""
    targets = [row.target for row in dataset.train if row.id in last.rows and row.target is not None]
    if not targets:
        return ""
    if dataset.task == "classification":
        answer, n = Counter(targets).most_common(1)[0]
        return f"No better than always {answer}" if last.best <= n / len(targets) else ""
    values = [float(target) for target in targets]
    mean = sum(values) / len(values)
    error = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return f"No better than always {number(mean, 3)}" if last.best >= error else ""


def _settled(scores: tuple[Accuracy, ...], names: Names, heaviest: int | None) -> int:
    n = 0
    for score in reversed(scores):
        if score.best != scores[-1].best or names.heaviest(score.step)[0] != heaviest:
            break
        n += 1
    return n


def _improves(scores: tuple[Accuracy, ...], dataset: Dataset) -> bool:
    first, last = scores[max(0, len(scores) - 1 - SETTLED)], scores[-1]
    if dataset.task == "classification":
        return last.mean - first.mean > BETTER or last.best - first.best > BETTER
    return first.mean - last.mean > BETTER * first.mean or first.best - last.best > BETTER * first.best
