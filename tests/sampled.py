"""Runs of the scripted world on disk, as a worker would keep them, in a moment and without a server."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from tests.inference import scripted
from vpp.data.dataset import Column, rows_csv
from vpp.events import Counters, Event, RunFinished, Usage
from vpp.llm.learner import LearnerOptions
from vpp.llm.prompts import ProgramPrompts, seed_sentence
from vpp.llm.protocol import Completion
from vpp.llm.translator import ProgramLearner
from vpp.problem import Prediction, Problem
from vpp.programs.columns import Columns
from vpp.programs.sandbox import Sandbox
from vpp.runs.directory import Journal, Record, RunDirectory, RunReader, decode
from vpp.runs.preparation import dataset_spec, start_of
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config


class Learner:
    """The script's, which hands on what it says as the product's does."""

    def __init__(self, script: Any, log: Journal) -> None:
        self._script, self._log = script, log
        self._known: set[tuple[str, int]] = set()

    async def predict(self, hypothesis: str, rows: Sequence[Any]) -> tuple[Prediction, ...]:
        said: tuple[Prediction, ...] = await self._script.predict(hypothesis, rows)
        for prediction in said:
            if (hypothesis, prediction.row) not in self._known:
                self._known.add((hypothesis, prediction.row))
                self._log.add_answer(scripted.hypothesis_id(hypothesis), prediction, 1)
        return said


class Translator:
    """Writes h3, a threshold of the scripted world, as the function that it is; every fifth it calls no program."""

    async def complete(self, messages: Any, **_: Any) -> Completion:
        found = re.search(r"h(\d+)\s*$", messages[-1]["content"])
        number = int(found[1]) if found else 0
        code = f"def predict(x):\n    if x * 3 % 17 < {number}:\n        return 'yes'\n    return 'no'"
        text = code if number % 5 else "No program."
        return Completion(text=text, prompt_tokens=0, completion_tokens=0)


@asynccontextmanager
async def with_programs(problem: Problem, config: Config, log: Journal) -> AsyncIterator[Problem]:
    """The problem whose learner answers by programs, and reads rows itself for the others and for certificates."""
    by_row: Any = problem.learner
    prompts = ProgramPrompts(dataset=problem.dataset, columns=Columns(problem.dataset))
    options, asked = LearnerOptions(seed=config.seed, max_tokens=1), {"counters": Counters(), "falls_back": True}
    async with Sandbox() as sandbox:
        learner = ProgramLearner(by_row, Translator(), prompts, options, sandbox, on_program=log.add_entry, **asked)
        yield replace(problem, learner=learner, reader=by_row)


def kept_run(
    folder: Path, config: Config, task: str = "classification", *, start: tuple[str, ...] = (), **script: Any
) -> tuple[RunDirectory, list[Event]]:
    dataset = scripted.make_dataset(task)
    kinds: Any = {"x": "number", "y": "category" if task == "classification" else "number"}
    columns = tuple(Column(name=name, kind=kind, n_missing=0, n_distinct=27) for name, kind in kinds.items())
    dataset = replace(dataset, columns=columns)
    directory = RunDirectory(folder)
    endpoint = EndpointSpec(demo=True, model="demo")
    spec = RunSpec(name="kept", config=config, endpoint=endpoint, dataset=dataset_spec(dataset), start=start)
    directory.create(spec, rows_csv(dataset))
    roles = scripted.Script(task, **script)
    log = Journal(directory.journal)
    problem = replace(
        scripted.make_problem(config, roles, dataset=dataset),
        learner=Learner(roles, log),
        seed_text=seed_sentence(dataset),
        start_texts=start,
        start_origin="yours",
    )
    started = start_of(spec, dataset, versions={"vpp": "0.1.0", "python": "3.11"})
    events = [started, *asyncio.run(_events(problem, config, log)), RunFinished(outcome="finished")]
    log.close()
    write(directory, events)
    return directory, events


async def _events(problem: Problem, config: Config, log: Journal) -> list[Event]:
    if config.has_programs and problem.reader is None:
        async with with_programs(problem, config, log) as with_learner:
            return await _events(with_learner, config, log)
    events, end = await scripted.whole(problem, config)
    return [*events, *end]


def write(directory: RunDirectory, events: Sequence[Event]) -> None:
    """The journal of these events, a call each, as counts go, and then of the answers that it had."""
    lines = directory.journal.read_bytes().splitlines() if directory.journal.exists() else []
    directory.journal.unlink(missing_ok=True)
    journal = Journal(directory.journal)
    for number, event in enumerate(events):
        journal.add(event, usage=Usage(learner=number, sent=number))
    for answer in map(decode, (line for line in lines if not line.startswith(b'{"at":'))):
        assert not isinstance(answer, Record)
        journal.add_entry(answer)
    journal.close()


SMALL = {"reading": "rows", "epsilon": "0.05", "particles": 4, "batch_size": 4, "epochs": 1, "buffer_size": 8}
VARIANTS: dict[str, Config] = {
    "smc": Config(**SMALL),
    "smc filtered": Config(**{**SMALL, "epsilon": "auto"}, mutate="filtered"),
    "incremental": Config(**SMALL, tempering="incremental", final_weights="paper"),
    "adaptive": Config(**SMALL, tempering="adaptive", final_weights="paper", restart=0.5),
    "mh": Config(**SMALL, method="mh", restart=0.5),
    "mh on train": Config(**SMALL, method="mh", mh_rows="train", restart=1.0),
    "mh on buffer": Config(**SMALL, method="mh", mh_rows="buffer", final_weights="paper"),
    "always accept": Config(**SMALL, method="always-accept"),
    "vml": Config(**SMALL, method="vml"),
    "vml5": Config(**SMALL, method="vml5"),
}
"""Every method, and every option that changes what there is to show."""


_FOLDER = TemporaryDirectory(prefix="vpp-sampled-")
"""Removed at the end of the process."""


@cache
def sampled_run(name: str, task: str = "classification") -> RunReader:
    """The finished run of a variant, shared by the tests of a process, which only read it."""
    return sampled(Path(mkdtemp(dir=_FOLDER.name)), VARIANTS[name], task=task)


def sampled(folder: Path, config: Config, *, task: str = "classification", **script: Any) -> RunReader:
    """A finished run of its own. script: changes of the scripted model."""
    return RunReader(kept_run(folder / "20260110-1432-toy-smc-7f3a", config, task, **script)[0])
