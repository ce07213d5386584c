"""Options and rows of a run, and checks of its beginning: run_started, data.csv, first hypotheses, tau."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

import numpy as np

from vpp.data.dataset import Dataset, Row, Value
from vpp.data.record import dataset_from_csv
from vpp.errors import DataError, RunError
from vpp.events import ParticleDrawn, RunStarted
from vpp.hypothesis import hypothesis_id
from vpp.llm.prompts import seed_sentence
from vpp.posterior.likelihood import Floats, Likelihood, auto_tau, regression_errors
from vpp.problem import Prediction, Problem, Proposal
from vpp.runs.directory import RunDirectory
from vpp.runs.spec import RunSpec
from vpp.settings import Config
from vpp.verification.ledger import At, Ledger
from vpp.verification.segments import Recorded, Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInputs:
    """Options and rows of a run, with the order in which steps use the rows; no model is called."""

    spec: RunSpec
    problem: Problem
    fingerprint: str
    """SHA-256 of the current data.csv."""
    by_id: Mapping[int, Row]
    """Training and test rows by id."""

    @property
    def config(self) -> Config:
        return self.spec.config

    @property
    def dataset(self) -> Dataset:
        return self.problem.dataset

    def likelihood(self, tau: float | None) -> Likelihood:
        """Likelihood of Eq. 5 or 6 with the run's epsilon."""
        return self.problem.likelihood(epsilon=self.config.epsilon, tau=tau)

    def rows_of(self, ids: Sequence[int]) -> tuple[Row, ...] | None:
        """Training or test rows by id; None if an id is unknown."""
        known = self.by_id
        return tuple(known[row] for row in ids) if all(row in known for row in ids) else None

    def scored_rows(self, step: int) -> tuple[Row, ...]:
        """Rows that a step scores its particles on."""
        return self.problem.scored_rows(self.config, step)

    def final_rows(self, step: int) -> tuple[Row, ...]:
        """Rows that the final weights score the last texts on."""
        return self.problem.final_rows(self.config, step)


class _NoModel:
    """Learner and optimizer that raise when called."""

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        _refuse_call()

    async def propose(self, *_: object, **__: object) -> Proposal:
        _refuse_call()

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        _refuse_call()


def _refuse_call() -> NoReturn:
    raise RuntimeError("a run is verified without a model")


def read_inputs(directory: RunDirectory) -> RunInputs:
    """Read a run's options and rows. Raises RunError if there is no run, or its rows are unreadable or too few."""
    spec = directory.spec()
    try:
        content = directory.data.read_bytes()
        fingerprint = hashlib.sha256(content).hexdigest()
        dataset = dataset_from_csv(content, header={**spec.dataset, "fingerprint": fingerprint})
    except (OSError, DataError, ValueError, KeyError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RunError(f"{directory.data} cannot be read ({reason}): restore it from a copy") from None
    for name, rows in (("n_train", dataset.train), ("n_test", dataset.test)):
        if len(rows) != spec.dataset.get(name, len(rows)):
            raise RunError(f"{directory.data} has other rows than run.json says ({name}): restore it from a copy")
    config = spec.config
    problem = Problem(
        dataset=dataset,
        learner=_NoModel(),
        optimizer=_NoModel(),
        seed_text=seed_sentence(dataset, config.prior),
        start_texts=spec.start,
        batch_size=config.batch_size,
        epochs=config.epochs,
        seed=config.seed,
        batch_order=config.batch_order,
        deduplicate_buffer=config.deduplicate_buffer,
        error_mass=config.error_mass,
    )
    by_id = {row.id: row for row in (*dataset.train, *dataset.test)}
    return RunInputs(spec=spec, problem=problem, fingerprint=fingerprint, by_id=by_id)


def ids(rows: Sequence[Row]) -> tuple[int, ...]:
    """Ids of the rows, in order."""
    return tuple(row.id for row in rows)


FILES = At(line=0)
Known = Mapping[tuple[str, int], Value | None]
"""Answers by hypothesis id and row id."""


def check_data(inputs: RunInputs, ledger: Ledger) -> None:
    """Check data.csv against run.json."""
    dataset = inputs.spec.dataset
    if "fingerprint" in dataset:
        ledger.compare("data", FILES, "data.csv", written=inputs.fingerprint, follows=dataset["fingerprint"])
    else:
        ledger.skip("data.csv: run.json is older than its fingerprint")


def check_started(inputs: RunInputs, recorded: Recorded[RunStarted], ledger: Ledger) -> None:
    """Check options, columns, seed sentence, T and templates against run.json. Raises RunError for another task."""
    event, at, spec = recorded.event, At(line=recorded.line), inputs.spec
    tasks = event.dataset.get("task"), spec.dataset["task"]
    if tasks[0] != tasks[1]:
        of_each = f"{tasks[0]} and {tasks[1]}"
        raise RunError(f"events.jsonl and run.json are of two runs ({of_each}): restore both from a copy")
    config = asdict(inputs.config)
    options = {name: config.get(name) for name in event.config}  # an older journal knows fewer
    ledger.compare("data", at, "config", written=event.config, follows=options)
    ledger.compare("data", at, "dataset", written=_plain(event.dataset), follows=_plain(spec.dataset))
    ledger.compare("data", at, "steps", written=event.steps, follows=inputs.problem.steps)
    ledger.compare("texts", at, "seed_text", written=event.seed_text, follows=inputs.problem.seed_text)
    ledger.compare("data", at, "models", written=event.models, follows=spec.endpoint.models)
    for role, text in spec.templates.items():
        if text is not None and role in event.templates:
            sha256 = hashlib.sha256(text.encode()).hexdigest()
            ledger.compare("data", at, f"template of {role}", written=event.templates[role], follows=sha256)


def _plain(value: Any) -> Any:
    """Convert to JSON types."""
    return json.loads(json.dumps(value))


def check_first(inputs: RunInputs, segment: Segment, ledger: Ledger) -> None:
    """Check that each slot has a first hypothesis of the right origin."""
    config, start = inputs.config, inputs.spec.start
    for (k, recorded), temperature in zip(
        sorted(segment.drawn.items()), _first_temperatures(inputs, segment), strict=True
    ):
        check_drawn(inputs, recorded, temperature, ledger)
        at = _at(recorded)
        origin = "continued" if start else "drawn"
        ledger.compare("proposals", at, "origin", written=recorded.event.origin, follows=origin)
        if start or not config.draws_initial:
            given = start[k] if k < len(start) else inputs.problem.seed_text
            ledger.compare("texts", at, "text", written=recorded.event.text, follows=given)
    if segment.is_finished:
        written, follows = sorted(segment.drawn), list(range(config.size))
        ledger.compare("lines", segment.at(), "slots drawn", written=written, follows=follows)


def check_drawn(
    inputs: RunInputs, recorded: Recorded[ParticleDrawn], temperature: float | None, ledger: Ledger
) -> None:
    """Check a drawn hypothesis: its id, its temperature, and the seed sentence in place of an unreadable answer."""
    event, at = recorded.event, _at(recorded)
    ledger.compare("texts", at, "hypothesis", written=event.hypothesis, follows=hypothesis_id(event.text))
    if temperature is not None:
        ledger.compare("proposals", at, "temperature", written=event.temperature, follows=temperature)
    if event.reason is not None:
        ledger.compare("texts", at, "text", written=event.text, follows=inputs.problem.seed_text)


def _at(recorded: Recorded[ParticleDrawn]) -> At:
    return At(line=recorded.line, step=recorded.event.step, slot=recorded.event.particle)


def _first_temperatures(inputs: RunInputs, segment: Segment) -> list[float | None]:
    """Temperature of each recorded draw; None for a slot that does not exist."""
    config = inputs.config
    is_given = bool(inputs.spec.start) or not config.draws_initial
    due = [0.0] * config.size if is_given else temperatures(config, config.size)
    return [due[k] if 0 <= k < len(due) else None for k in sorted(segment.drawn)]


def temperatures(config: Config, size: int) -> list[float]:
    """(size,) temperatures of first hypotheses: spread over the slots, or the prior's."""
    if config.initial == "prior":
        return [config.prior_temperature] * size
    spread = np.linspace(config.initial_temperature_low, config.initial_temperature_high, size)
    return [round(float(each), 6) for each in spread]


def check_tau(inputs: RunInputs, segment: Segment, known: Known, ledger: Ledger) -> None:
    """Check tau: None for labels, the given value, or the residuals of the best first hypothesis on the first batch."""
    if segment.finished is None:
        return
    at, written = At(line=segment.finished.line, step=segment.step), segment.finished.event.tau
    if inputs.dataset.task == "classification" or inputs.config.fixed_tau is not None:
        is_counted = inputs.dataset.task == "regression"
        follows = inputs.config.fixed_tau if is_counted else None
        ledger.compare("tau", at, "tau", written=written, follows=follows, is_counted=is_counted)
        return
    errors = _first_errors(inputs, segment, known)
    if not errors:
        ledger.skip("tau from the data: some first answers on the first batch are not recorded")
        return
    with np.errstate(over="ignore"):
        best = min(errors, key=lambda e: float(np.square(e).sum()))
    targets = [float(row.target) for row in inputs.dataset.train if row.target is not None]
    ledger.compare("tau", at, "tau", written=written, follows=auto_tau(best, targets))


def _first_errors(inputs: RunInputs, segment: Segment, known: Known) -> list[Floats]:
    """(M,) errors of each slot's first hypothesis on the first batch; empty if an answer is unknown."""
    batch = inputs.problem.batch(0)
    hypotheses = [recorded.event.hypothesis for _, recorded in sorted(segment.drawn.items())]
    if any((hypothesis, row.id) not in known for hypothesis in hypotheses for row in batch):
        return []
    return [
        regression_errors(
            [known[hypothesis, row.id] for row in batch],
            [row.target for row in batch],
            abstention_error=inputs.dataset.target_range,
        )
        for hypothesis in hypotheses
    ]
