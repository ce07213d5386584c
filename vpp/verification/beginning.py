"""Checks of a run's beginning: run.json, data.csv, run_started, the first hypotheses and tau."""

import hashlib
from dataclasses import asdict

import numpy as np

from vpp.errors import RunError
from vpp.events import ParticleDrawn, ParticleState, RunStarted, StepFinished, hypothesis_id
from vpp.posterior.likelihood import auto_tau, regression_errors
from vpp.posterior.weights import Floats
from vpp.runs.run_prompts import own_templates
from vpp.runs.view import StepView
from vpp.verification.inputs import Run
from vpp.verification.ledger import FILES


def check_data(run: Run) -> None:
    """Check data.csv against run.json."""
    expected = run.spec.dataset.get("fingerprint")
    if expected is None:
        run.ledger.skip("data.csv: run.json is older than its fingerprint")
    else:
        run.ledger.compare("data", FILES, "data.csv", written=run.fingerprint, follows=expected)


def check_started(run: Run, event: RunStarted) -> None:
    """Check options, columns, seed sentence, T and templates against run.json. Raises RunError for another task."""
    spec, task = run.spec, event.dataset.get("task")
    if task != spec.dataset["task"]:
        tasks = f"{task} and {spec.dataset['task']}"
        raise RunError(f"events.jsonl and run.json are of two runs ({tasks}): restore both from a copy")
    config = asdict(run.config)
    options = {name: config.get(name) for name in event.config}  # an older journal has fewer
    templates: dict[str, str] = {
        role: hashlib.sha256(text.encode()).hexdigest()
        for role, text in own_templates(spec).items()
        if text is not None and role in event.templates
    }
    run.check(
        event,
        "data",
        config=options,
        dataset=spec.dataset,
        steps=run.problem.steps,
        models=spec.endpoint.models,
        templates=event.templates | templates,
    )
    run.check(event, "texts", seed_text=run.problem.seed_text)


def check_first_population(run: Run, at: StepView) -> None:
    """Check the first hypotheses, the population made of them, and tau."""
    start = run.spec.start
    drawn = [event for _, event in sorted(run.view.drawn.items())]
    for event in drawn:
        check_drawn(run, event)
        is_given = event.particle < len(start)
        run.check(event, "texts", origin=run.problem.origin(event.particle))
        if is_given or not run.config.draws_initial:
            follows = start[event.particle] if is_given else run.problem.seed_text
            run.check(event, "texts", text=follows)
    if at.finished:
        written = [event.particle for event in drawn]
        run.compare(at.finished, "lines", "slots drawn", written=written, follows=list(range(run.config.size)))
        log_w = [*run.problem.start_log_weights, *([0.0] * len(drawn))]
        population = [newcomer(event, log_w[event.particle]) for event in drawn]
        run.check(at.finished, "populations", population=population, exponent=0.0, log_evidence=0.0)
        _check_tau(run, at.finished, drawn)


def newcomer(event: ParticleDrawn, log_weight: float) -> ParticleState:
    """Return the slot of a drawn text."""
    return ParticleState(hypothesis=event.hypothesis, parent=event.particle, log_likelihood=None, log_weight=log_weight)


def check_drawn(run: Run, event: ParticleDrawn) -> None:
    """Check the id of a drawn text, and that the seed sentence replaces an unreadable answer."""
    run.check(event, "texts", hypothesis=hypothesis_id(event.text))
    if event.reason is not None:
        run.check(event, "texts", text=run.problem.seed_text)


def _check_tau(run: Run, event: StepFinished, drawn: list[ParticleDrawn]) -> None:
    """Check tau: None for labels, the given value, or from the best first hypothesis' errors on the first batch."""
    if run.dataset.task == "classification":
        follows = None
    elif run.config.fixed_tau is not None:
        follows = run.config.fixed_tau
    else:
        errors = [_errors(run, first.hypothesis) for first in drawn]
        known = [each for each in errors if each is not None]
        if len(known) < len(errors):
            run.ledger.skip("tau from the data: some first answers on the first batch are not in answers.jsonl")
            return
        with np.errstate(over="ignore"):
            best = min(known, key=lambda each: float(np.square(each).sum()))
        follows = auto_tau(best, [float(row.target) for row in run.dataset.train if row.target is not None])
    run.check(event, "tau", tau=follows)


def _errors(run: Run, hypothesis: str) -> Floats | None:
    """(M,) errors of a hypothesis on the first batch; None if an answer is unknown."""
    batch, answers = run.problem.batch(0), run.answers or {}
    if any((hypothesis, row.id) not in answers for row in batch):
        return None
    values = [answers[hypothesis, row.id].value for row in batch]
    return regression_errors(values, [row.target for row in batch], abstention_error=run.dataset.target_range)
