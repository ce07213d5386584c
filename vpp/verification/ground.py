"""What a run stands on: its options, its rows, and the order in which rows come."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from vpp.data.dataset import Dataset, Row
from vpp.data.record import dataset_from_csv
from vpp.errors import DataError, RunError
from vpp.llm.prompts import seed_sentence
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Prediction, Problem, Proposal
from vpp.runs.directory import RunDirectory
from vpp.runs.spec import RunSpec
from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The rows by the run's own rule; nobody is asked about them."""

    spec: RunSpec
    problem: Problem
    fingerprint: str
    """SHA-256 of data.csv as it is."""
    by_id: Mapping[int, Row]
    """Training and test rows."""

    @property
    def config(self) -> Config:
        """The method's options."""
        return self.spec.config

    @property
    def dataset(self) -> Dataset:
        """The rows with their split."""
        return self.problem.dataset

    def likelihood(self, tau: float | None) -> Likelihood:
        """Eq. 5 or 6 with the run's epsilon."""
        return self.problem.likelihood(epsilon=self.config.epsilon, tau=tau)

    def rows_of(self, ids: Sequence[int]) -> tuple[Row, ...] | None:
        """Rows with a target by their ids; None where one is not there."""
        known = self.by_id
        return tuple(known[row] for row in ids) if all(row in known for row in ids) else None

    def scored_rows(self, step: int) -> tuple[Row, ...]:
        """On which a step scores its particles."""
        config, problem = self.config, self.problem
        if config.is_telescoping or (config.method == "mh" and config.mh_rows == "train"):
            return self.dataset.train
        if config.method == "smc" or (config.method == "mh" and config.mh_rows == "buffer"):
            return problem.buffer(step, size=config.buffer_size)
        return problem.batch(step)

    def final_rows(self, step: int) -> tuple[Row, ...]:
        """On which the last texts are scored, where they are."""
        on_train = self.config.final_weights == "train"
        return self.dataset.train if on_train else self.problem.buffer(step, size=self.config.buffer_size)


class _Nobody:
    """Both roles of a problem that is only looked at."""

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        _nobody_is_asked()

    async def propose(self, *_: object, **__: object) -> Proposal:
        _nobody_is_asked()

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        _nobody_is_asked()


def _nobody_is_asked() -> NoReturn:
    raise RuntimeError("a run is verified without a model")


def ground_of(directory: RunDirectory) -> Ground:
    """Raises RunError where there is no run, or its rows cannot be read at all."""
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
        learner=_Nobody(),
        optimizer=_Nobody(),
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
    return Ground(spec=spec, problem=problem, fingerprint=fingerprint, by_id=by_id)


def ids(rows: Sequence[Row]) -> tuple[int, ...]:
    """Of rows, in their order."""
    return tuple(row.id for row in rows)
