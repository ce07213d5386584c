"""Runs of the scripted world on disk, as a worker would keep them, in a moment and without a server."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.inference import scripted
from tests.reporting.builders import view_of
from vpp.data.dataset import Column, rows_csv
from vpp.events import Event, RunFinished, Usage
from vpp.inference import sample
from vpp.inference.sampling import conclude
from vpp.llm.prompts import seed_sentence
from vpp.problem import Prediction, Problem
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import AnswerLog, Journal
from vpp.runs.preparation import dataset_spec
from vpp.runs.prompts import start_of
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import population_of
from vpp.settings import Config


class Learner:
    """The script's, which hands on what it says as the product's does."""

    def __init__(self, script: Any, log: AnswerLog) -> None:
        self._script, self._log = script, log
        self._known: set[tuple[str, int]] = set()

    async def predict(self, hypothesis: str, rows: Sequence[Any]) -> tuple[Prediction, ...]:
        said: tuple[Prediction, ...] = await self._script.predict(hypothesis, rows)
        for prediction in said:
            if (hypothesis, prediction.row) not in self._known:
                self._known.add((hypothesis, prediction.row))
                self._log.add(scripted.hypothesis_id(hypothesis), prediction, 1)
        return said


def kept_run(
    folder: Path, config: Config, task: str = "classification", *, start: tuple[str, ...] = (), **script: Any
) -> tuple[RunDirectory, list[Event]]:
    """A finished run on disk, and its events."""
    dataset = scripted.make_dataset(task)
    columns = tuple(Column(name=name, kind="number", n_missing=0, n_distinct=9) for name in ("x", "y"))
    dataset = replace(dataset, columns=columns)
    directory = RunDirectory(folder)
    endpoint = EndpointSpec(demo=True, model="demo")
    spec = RunSpec(name="kept", config=config, endpoint=endpoint, dataset=dataset_spec(dataset), start=start)
    directory.create(spec, rows_csv(dataset))
    roles = scripted.Script(task, **script)
    log = AnswerLog(directory.answers)
    problem = replace(
        scripted.make_problem(config, roles, dataset=dataset),
        learner=Learner(roles, log),
        seed_text=seed_sentence(dataset),
        start_texts=start,
        start_origin="yours",
    )
    started = start_of(spec, dataset, versions={"vpp": "0.1.0", "python": "3.11"})
    events = [started, *asyncio.run(_events(problem, config)), RunFinished(outcome="finished")]
    log.close()
    write(directory, events)
    return directory, events


async def _events(problem: Problem, config: Config) -> list[Event]:
    events = [event async for event in sample(problem, config)]
    population = population_of(view_of(*events))
    assert population is not None
    return [*events, *[event async for event in conclude(problem, config, population)]]


def write(directory: RunDirectory, events: Sequence[Event]) -> None:
    """The journal of these events; a call each, as counts go."""
    directory.journal.unlink(missing_ok=True)
    journal = Journal(directory.journal, now=iter(range(1_800_000_000, 1_900_000_000)).__next__)
    for number, event in enumerate(events):
        journal.append(event, usage=Usage(learner=number, sent=number), answers=0)
    journal.close()
