"""The beginning: run_started, run.json and data.csv are of one run; first hypotheses, newcomers, and tau."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from vpp.data.dataset import Value
from vpp.errors import RunError
from vpp.events import ParticleDrawn, RunStarted
from vpp.hypothesis import hypothesis_id
from vpp.posterior.likelihood import Floats, auto_tau, regression_errors
from vpp.settings import Config
from vpp.verification.chapters import Chapter, Told
from vpp.verification.ground import Ground
from vpp.verification.ledger import At, Ledger
from vpp.verification.slots import Slot, Slots

FILES = At(line=0)
Known = Mapping[tuple[str, int], Value | None]
"""Answers by hypothesis id and row id."""


def check_data(ground: Ground, ledger: Ledger) -> None:
    """data.csv is as run.json says."""
    dataset = ground.spec.dataset
    if "fingerprint" in dataset:
        ledger.compare("data", FILES, "data.csv", written=ground.fingerprint, follows=dataset["fingerprint"])
    else:
        ledger.skip("data.csv: run.json is older than its fingerprint")


def check_started(ground: Ground, told: Told[RunStarted], ledger: Ledger) -> None:
    """Options, columns, seed sentence, T and templates are those of run.json. Raises RunError for another task."""
    event, at, spec = told.event, At(line=told.line), ground.spec
    tasks = event.dataset.get("task"), spec.dataset["task"]
    if tasks[0] != tasks[1]:
        of_each = f"{tasks[0]} and {tasks[1]}"
        raise RunError(f"events.jsonl and run.json are of two runs ({of_each}): restore both from a copy")
    config = asdict(ground.config)
    options = {name: config.get(name) for name in event.config}  # an older journal knows fewer
    ledger.compare("data", at, "config", written=event.config, follows=options)
    ledger.compare("data", at, "dataset", written=_plain(event.dataset), follows=_plain(spec.dataset))
    ledger.compare("data", at, "steps", written=event.steps, follows=ground.problem.steps)
    ledger.compare("texts", at, "seed_text", written=event.seed_text, follows=ground.problem.seed_text)
    ledger.compare("data", at, "models", written=event.models, follows=spec.endpoint.models)
    for role, text in spec.templates.items():
        if text is not None and role in event.templates:
            sha256 = hashlib.sha256(text.encode()).hexdigest()
            ledger.compare("data", at, f"template of {role}", written=event.templates[role], follows=sha256)


def _plain(value: Any) -> Any:
    """As JSON has it."""
    return json.loads(json.dumps(value))


def check_first(ground: Ground, chapter: Chapter, ledger: Ledger) -> None:
    """A hypothesis a slot, from where the options say."""
    config, start = ground.config, ground.spec.start
    for (k, told), temperature in zip(sorted(chapter.drawn.items()), _first_temperatures(ground, chapter), strict=True):
        check_drawn(ground, told, temperature, ledger)
        at = _at(told)
        origin = "continued" if start else "drawn"
        ledger.compare("proposals", at, "origin", written=told.event.origin, follows=origin)
        if start or not config.draws_initial:
            given = start[k] if k < len(start) else ground.problem.seed_text
            ledger.compare("texts", at, "text", written=told.event.text, follows=given)
    if chapter.is_whole:
        written, follows = sorted(chapter.drawn), list(range(config.size))
        ledger.compare("lines", chapter.at(), "slots drawn", written=written, follows=follows)


def check_drawn(ground: Ground, told: Told[ParticleDrawn], temperature: float | None, ledger: Ledger) -> None:
    """Its id, how it was asked for, and that the seed sentence stands where no answer could be read."""
    event, at = told.event, _at(told)
    ledger.compare("texts", at, "hypothesis", written=event.hypothesis, follows=hypothesis_id(event.text))
    if temperature is not None:
        ledger.compare("proposals", at, "temperature", written=event.temperature, follows=temperature)
    if event.reason is not None:
        ledger.compare("texts", at, "text", written=event.text, follows=ground.problem.seed_text)


def _at(told: Told[ParticleDrawn]) -> At:
    return At(line=told.line, step=told.event.step, slot=told.event.particle)


def _first_temperatures(ground: Ground, chapter: Chapter) -> list[float | None]:
    """One for each that is told; None for a slot that there is not."""
    config = ground.config
    is_given = bool(ground.spec.start) or not config.draws_initial
    due = [0.0] * config.size if is_given else temperatures(config, config.size)
    return [due[k] if 0 <= k < len(due) else None for k in sorted(chapter.drawn)]


def temperatures(config: Config, size: int) -> list[float]:
    """(size,) at which hypotheses are drawn: spread over the slots, or the prior's."""
    if config.initial == "prior":
        return [config.prior_temperature] * size
    spread = np.linspace(config.initial_temperature_low, config.initial_temperature_high, size)
    return [round(float(each), 6) for each in spread]


def first_slots(chapter: Chapter) -> Slots:
    """As what is told leaves them."""
    return tuple(Slot(hypothesis=told.event.hypothesis, parent=k) for k, told in sorted(chapter.drawn.items()))


def check_tau(ground: Ground, chapter: Chapter, known: Known, ledger: Ledger) -> None:
    """None for labels, as given, or from the residuals of the best first hypothesis on the first batch."""
    if chapter.finished is None:
        return
    at, written = At(line=chapter.finished.line, step=chapter.step), chapter.finished.event.tau
    if ground.dataset.task == "classification" or ground.config.fixed_tau is not None:
        is_told = ground.dataset.task == "regression"
        follows = ground.config.fixed_tau if is_told else None
        ledger.compare("tau", at, "tau", written=written, follows=follows, is_told=is_told)
        return
    errors = _first_errors(ground, chapter, known)
    if not errors:
        ledger.skip("tau from the data: not all first answers on the first batch are kept")
        return
    with np.errstate(over="ignore"):
        best = min(errors, key=lambda e: float(np.square(e).sum()))
    targets = [float(row.target) for row in ground.dataset.train if row.target is not None]
    ledger.compare("tau", at, "tau", written=written, follows=auto_tau(best, targets))


def _first_errors(ground: Ground, chapter: Chapter, known: Known) -> list[Floats]:
    """(M,) a slot; empty where an answer is not known."""
    batch = ground.problem.batch(0)
    hypotheses = [told.event.hypothesis for _, told in sorted(chapter.drawn.items())]
    if any((hypothesis, row.id) not in known for hypothesis in hypotheses for row in batch):
        return []
    return [
        regression_errors(
            [known[hypothesis, row.id] for row in batch],
            [row.target for row in batch],
            abstention_error=ground.dataset.target_range,
        )
        for hypothesis in hypotheses
    ]
