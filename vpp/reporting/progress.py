"""A run's progress in words and numbers, for the page one watches."""

from dataclasses import dataclass

from vpp.data.dataset import Dataset
from vpp.inference.plan import plan
from vpp.posterior.likelihood import correct, regression_errors
from vpp.posterior.prediction import Value
from vpp.reporting.markup import Metric
from vpp.reporting.words import acceptance_sentence, ess_sentence, fixed, integer, percent, seconds
from vpp.runs.directory import State
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView, StepView


def shown_step(view: RunView) -> int | None:
    """The newest step that has something to show: weights for smc, all decisions for mh and vml."""
    ready = [step for step, at in view.steps.items() if at.reweighted or (at.finished and at.scored)]
    return max(ready, default=None)


def phase(snapshot: Snapshot) -> str:
    """State, step, time spent and left, in one line."""
    view = snapshot.view
    parts = [_state(snapshot), f"{seconds(view.wall_s)} so far"]
    left = view.seconds_left()
    if left is not None and snapshot.state == "running":
        parts.append(f"about {seconds(left)} to go")
    return ", ".join(parts) if view.began_at else _state(snapshot)


def _state(snapshot: Snapshot) -> str:
    view = snapshot.view
    if snapshot.state == "running":
        return f"Running: {_activity(view)}"
    return snapshot.state.capitalize()


def _activity(view: RunView) -> str:
    """What the worker is doing now."""
    last = view.last_step
    if last is None:
        return "writing the first hypotheses"
    if last == view.total_steps - 1:
        return "final weights and test rows"
    step = view.steps.get(last + 1)
    doing = "rewriting" if step and (step.reweighted or step.proposed) else "scoring"
    return f"{doing}, step {last + 1} of {view.total_steps}"


def nothing_yet(state: State) -> str:
    """Why there is no population to show."""
    if state == "queued":
        return "The worker is starting, or waits for another run to give way."
    if state in ("running", "paused", "stalled"):
        return "The first hypotheses are being written."
    return "The run ended before its first hypotheses were whole: there is nothing to read yet. Resume begins again."


def headline(snapshot: Snapshot) -> str:
    """The one sentence on top."""
    view = snapshot.view
    if view.last_step is None:
        return nothing_yet(snapshot.state)
    weights = view.weights if view.final else _step_weights(view)
    if not weights:
        return f"{view.n_unique} different sentences are in play."
    texts: dict[str, float] = {}
    for hypothesis, weight in zip(_weighed_ids(view), weights, strict=True):
        texts[hypothesis] = texts.get(hypothesis, 0.0) + weight
    heaviest = max(texts.values())
    n = len(texts)
    held = f"the heaviest holds {percent(heaviest)} of the weight"
    return f"{integer(n)} different {'sentence is' if n == 1 else 'sentences are'} in play; {held}."


def _step_weights(view: RunView) -> tuple[float, ...]:
    step = shown_step(view)
    at = view.steps[step].reweighted if step is not None else None
    return at.weights if at else ()


def _weighed_ids(view: RunView) -> list[str]:
    """Ids of the texts that the newest weights belong to."""
    if view.final:
        return [p.hypothesis for p in view.population]
    step = shown_step(view)
    return [s.hypothesis for _, s in sorted(view.steps[step].scored.items())] if step is not None else []


def metrics(snapshot: Snapshot, shown: int | None) -> list[Metric]:
    """The strip, as of the step shown; None is the end."""
    view = snapshot.view
    at = view.steps.get(shown) if shown is not None else None
    return [
        _weights_metric(snapshot, at),
        _texts_metric(view, at),
        _proposals_metric(snapshot, at),
        _beta_metric(snapshot, at),
        _calls_metric(snapshot),
    ]


def _weights_metric(snapshot: Snapshot, at: StepView | None) -> Metric:
    view = snapshot.view
    reweighted = at.reweighted if at else view.final
    if reweighted is None and snapshot.spec.config.method == "smc":
        return Metric(name="ESS", value="–", scale=f"of {view.size}", words="Weights come with the first step.")
    if reweighted is None:
        return Metric(
            name="ESS", value="–", scale=f"of {view.size}", words="This method gives all particles one weight."
        )
    return Metric(
        name="ESS",
        value=fixed(reweighted.ess, 1),
        scale=f"of {view.size}",
        words=ess_sentence(reweighted.ess, view.size, snapshot.spec.config.ess_threshold if at else None),
    )


def _texts_metric(view: RunView, at: StepView | None) -> Metric:
    ids = [s.hypothesis for s in at.scored.values()] if at else [p.hypothesis for p in view.population]
    n = len(set(ids))
    words = "No two particles say the same words." if n == len(ids) else "The others repeat a sentence word for word."
    return Metric(name="Different sentences", value=str(n), scale=f"of {len(ids)}", words=words)


def _proposals_metric(snapshot: Snapshot, at: StepView | None) -> Metric:
    """Accepted where a step judges; else changed, unchanged and unreadable, counted apart."""
    proposals = list(at.proposed.values()) if at else snapshot.view.proposals
    unchanged = sum(p.why == "unchanged" for p in proposals)
    unreadable = sum(p.why == "unparsable" for p in proposals)
    rest = f"{unchanged} left as they were, {unreadable} unreadable."
    if snapshot.spec.config.method == "mh":
        judged = [p for p in proposals if p.why == "likelihood"]
        taken = sum(p.accepted for p in judged)
        value = percent(taken / len(judged)) if judged else "–"
        return Metric(
            name="Proposals accepted",
            value=value,
            scale=f"{taken} of {len(judged)} judged",
            words=f"{acceptance_sentence(taken, len(judged))} {rest}",
        )
    changed = sum(p.why == "taken" for p in proposals)
    return Metric(
        name="Rewritten",
        value=str(changed),
        scale=f"of {len(proposals)}",
        words=f"No filter: every change is taken. {rest}",
    )


def _beta_metric(snapshot: Snapshot, at: StepView | None) -> Metric:
    config, view = snapshot.spec.config, snapshot.view
    if config.method != "smc":
        done = len([s for s in view.finished_steps if s.step >= 0])
        return Metric(name="Steps", value=str(done), scale=f"of {view.total_steps}", words="Whole steps so far.")
    beta = at.reweighted.beta if at and at.reweighted else view.final.beta if view.final else config.beta_start
    gentle = beta > (config.beta_start + config.beta_end) / 2
    words = "Still gentle: weak rules keep some weight." if gentle else "Sharp: weak rules lose their weight."
    return Metric(
        name="Tempering β",
        value=fixed(beta, 2),
        scale=f"from {config.beta_start:g} to {config.beta_end:g}",
        words=words,
    )


def _calls_metric(snapshot: Snapshot) -> Metric:
    usage = snapshot.usage
    read = "1 answer was not readable" if usage.unparsable == 1 else f"{integer(usage.unparsable)} not readable"
    dataset = snapshot.spec.dataset
    at_most = plan(snapshot.spec.config, n_train=dataset["n_train"], n_test=dataset["n_test"]).calls
    tokens = usage.prompt_tokens + usage.completion_tokens
    words = f"{integer(usage.cached)} from the cache, {integer(usage.failed)} failed, {read}; {integer(tokens)} tokens."
    return Metric(name="Calls", value=integer(usage.calls), scale=f"of {integer(at_most)} at most", words=words)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchErrors:
    """The particles' mean error on each step's batch."""

    by_step: dict[int, float]
    name: str
    top: float
    """Where the axis ends."""


def batch_errors(view: RunView, dataset: Dataset) -> BatchErrors:
    """Share of wrong answers, or root mean squared error in the target's unit."""
    targets = {row.id: row.target for row in dataset.train}
    known = [float(t) for t in targets.values() if isinstance(t, float)]
    spread = max(known) - min(known) if known else 1.0
    found: dict[int, float] = {}
    for step, at in sorted(view.steps.items()):
        if at.scored:
            scores = [_error(s.predictions, [targets[r] for r in s.rows], dataset, spread) for s in at.scored.values()]
            found[step] = sum(scores) / len(scores)
    if dataset.task == "classification":
        return BatchErrors(by_step=found, name="wrong", top=1.0)
    return BatchErrors(by_step=found, name="off by", top=max(found.values(), default=1.0))


def _error(said: tuple[Value | None, ...], truth: list[Value | None], dataset: Dataset, spread: float) -> float:
    if dataset.task == "classification":
        return float(1 - correct(said, truth).mean())
    return float((regression_errors(said, truth, abstention_error=spread) ** 2).mean() ** 0.5)
