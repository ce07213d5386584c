"""A large run, as the real sampler leaves it on disk: K = 50, 200 steps, 500 test rows. No server is asked.

Learner and optimizer are scripted: what is measured is how a run of this size is read, not how it is made.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.inference.scripted import digest
from tests.reporting import builders
from tests.reporting.sampled import last_population
from vpp.data.dataset import Column, Dataset, Provenance, Row, Value
from vpp.events import Event, RunFinished, hypothesis_id
from vpp.inference import sample
from vpp.inference.sampling import conclude
from vpp.problem import Prediction, Problem, Proposal
from vpp.runs.journal import Journal
from vpp.runs.reader import RunReader
from vpp.settings import Config

NAMES = ("width", "height", "depth", "colour", "age", "weight")
WORDS = ("the width", "the height", "the depth", "the age", "the weight", "their sum")
CONFIG = Config(particles=50, batch_size=10, epochs=20, buffer_size=40, mutate="filtered")
SEED = "You are designed to do binary classification: predict label."


def dataset(n_train: int = 100, n_test: int = 500) -> Dataset:
    """Six inputs; the label depends on the first."""
    rows = tuple(_row(index) for index in range(n_train + n_test))
    columns = [
        Column(name=n, kind="category" if n == "colour" else "number", n_missing=0, n_distinct=100) for n in NAMES
    ]
    return Dataset(
        name="large",
        target="label",
        task="classification",
        columns=(*columns, Column(name="label", kind="category", n_missing=0, n_distinct=2)),
        inputs=NAMES,
        classes=("no", "yes"),
        train=rows[:n_train],
        test=rows[n_train:],
        provenance=Provenance(
            file="large.csv",
            sha256="00",
            delimiter=",",
            encoding="utf-8",
            n_rows=len(rows),
            n_unlabelled=0,
            n_left_out=0,
        ),
    )


def _row(index: int) -> Row:
    numbers = random.Random(index)
    cells = [(name, str(numbers.randrange(1000) / 10)) for name in NAMES]
    cells[3] = ("colour", numbers.choice(("red", "green", "blue")))
    return Row(id=index, inputs=tuple(cells), target="yes" if float(str(cells[0][1])) > 50 else "no")


class Model:
    """Both roles. A sentence is a threshold on the first input and a share of rows it gets wrong."""

    def __init__(self) -> None:
        self.said: dict[tuple[str, int], Prediction] = {}
        """Every answer, by text and row."""

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        return tuple(self.said.setdefault((hypothesis, row.id), _answered(hypothesis, row)) for row in rows)

    async def propose(
        self, hypothesis: str, rows: Sequence[Row], predictions: object, *, temperature: float, seed: int, **_: object
    ) -> Proposal:
        draw = random.Random(digest(hypothesis, seed))
        if draw.random() < 0.02:
            return Proposal(text=None, raw="I cannot.", temperature=temperature, seed=seed, reason="no rule was found")
        near = min(99.9, max(0.1, _threshold(hypothesis) + draw.gauss(0, 8)))
        word, cap = draw.choice(WORDS), draw.randrange(100, 999)
        rule = (
            f"Output yes if width is above {near:.1f}, whatever {word} may be, unless {word} is above {cap}; else no."
        )
        return Proposal(text=f"{SEED} {rule}", raw=f"New rule: {rule}", temperature=temperature, seed=seed)

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        return await self.propose(SEED, (), (), temperature=temperature, seed=seed)


@cache
def _threshold(text: str) -> float:
    _, found, rest = text.partition("above ")
    return float(rest.split(",")[0]) if found else digest(text) % 1000 / 10


def _answered(text: str, row: Row) -> Prediction:
    if (round(10 * _threshold(text)) + row.id) % 97 == 0:
        return Prediction(row=row.id, value=None, raw="Hm.", reason="the answer has no “Output:” line")
    value: Value = "yes" if float(str(row.inputs[0][1])) > _threshold(text) else "no"
    return Prediction(row=row.id, value=value, explanation=f"width is {row.inputs[0][1]}, so the rule gives {value}.")


def large_run(folder: Path, config: Config = CONFIG) -> RunReader:
    """The finished run in `folder`."""
    return asyncio.run(_made(folder, config))


async def _made(folder: Path, config: Config) -> RunReader:
    model, data = Model(), dataset()
    problem = Problem(
        dataset=data,
        learner=model,
        optimizer=model,
        seed_text=SEED,
        batch_size=config.batch_size,
        epochs=config.epochs,
        seed=config.seed,
    )
    told: list[Event] = [event async for event in sample(problem, config)]
    told += [event async for event in conclude(problem, config, last_population(told))]
    begun = replace(builders.started(config, data, steps=problem.steps), seed_text=SEED)
    reader = builders.run(folder, begun, *told, RunFinished(outcome="finished"), data=data, config=config)
    log = Journal(reader.directory.journal)
    for (text, _), prediction in model.said.items():
        log.add_answer(hypothesis_id(text), prediction, 1)
    log.close()
    return reader
