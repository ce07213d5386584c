"""The library's front door: `vpp.fit` and `vpp.load_run`."""

import asyncio
import time
from dataclasses import replace
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpp.cli import surroundings
from vpp.data.build import build_dataset
from vpp.data.inputs import unlabelled_rows
from vpp.data.table import Table
from vpp.errors import EndpointError, InputError, RunError, VppError
from vpp.inspection.scores import averages_asked
from vpp.posterior.prediction import Value
from vpp.reporting.exports import write_all
from vpp.reporting.markdown import report_markdown
from vpp.runs.asking import Answers, ask
from vpp.runs.directory import RunDirectory
from vpp.runs.launch import launch
from vpp.runs.preparation import Preparation
from vpp.runs.reader import RunReader
from vpp.runs.spec import EndpointSpec
from vpp.runs.summary import result
from vpp.settings import Config, Environment, Preset, option_docs, preset

if TYPE_CHECKING:
    import pandas as pd

POLL_S = 0.1


class Posterior:
    """A run's weighted hypotheses."""

    def __init__(self, directory: RunDirectory) -> None:
        self.directory = directory
        self._reader = RunReader(directory)
        self.view = self._reader.refresh().view

    @property
    def hypotheses(self) -> list[str]:
        """(K,) texts, by slot."""
        return [self.view.texts[p.hypothesis] for p in self.view.population]

    @property
    def weights(self) -> list[float]:
        """(K,) normalised."""
        return list(self.view.weights)

    @property
    def result(self) -> dict[str, Any]:
        """What the run came to: the object that `--json` ends with."""
        return result(self.directory, self.view)

    def ask(self, table: "Table | str | Path | pd.DataFrame") -> Answers:
        """Every particle's answer to every row. Raises EndpointError, DataError for a missing column.

        Not from inside a running event loop: use `await vpp.runs.asking.ask(...)` there.
        """
        rows = unlabelled_rows(_table(table), self._reader.refresh().spec.dataset["inputs"])
        environment = surroundings.environment()
        return asyncio.run(ask(self.directory, rows, keys=surroundings.keys(), cache_dir=environment.cache_dir))

    def predict(self, table: "Table | str | Path | pd.DataFrame") -> list[Value | None]:
        """The averaged prediction a row (Eq. 7 or 8); None where every particle abstains."""
        config = self._reader.refresh().spec.config
        return list(averages_asked(self.ask(table), config))

    def report(self) -> str:
        """The run's report in markdown."""
        return report_markdown(self._reader)


def fit(
    data: "Table | str | Path | pd.DataFrame",
    *,
    target: str,
    task: str = "auto",
    inputs: list[str] | None = None,
    exclude: list[str] | None = None,
    train_size: int = 100,
    test_size: int = 60,
    endpoint: EndpointSpec | str = "demo",
    preset_name: Preset = "recommended",
    name: str = "",
    **config: Any,
) -> Posterior:
    """Learns a posterior over sentences that predict `target`, in a worker process of its own.

    data: a CSV's path, a frame, or a Table. endpoint: "demo" for the built-in demo model, the base URL of an
    OpenAI-compatible server (its model from VPP_MODEL), or an EndpointSpec. config: any option of `settings.Config`.
    Raises InputError, EndpointError or RunError; an interrupt stops the run and keeps its last whole step.
    """
    environment = surroundings.environment()
    settings = _settings(preset_name, config)
    dataset = build_dataset(
        _table(data),
        target=target,
        task=task,  # type: ignore[arg-type]
        inputs=inputs,
        exclude=exclude or (),
        seed=settings.seed,
        train_size=train_size,
        test_size=test_size,
    )
    preparation = Preparation(dataset=dataset, config=settings, endpoint=_endpoint(endpoint, environment), name=name)
    directory = preparation.create(environment.runs_dir)
    launch(directory, keys=surroundings.keys())
    _wait(directory)
    write_all(directory)
    return Posterior(directory)


def load_run(directory: str | Path) -> Posterior:
    """The posterior of a run on disk, however far it has come. Raises RunError where there is none."""
    run = RunDirectory(directory)
    run.spec()
    return Posterior(run)


def _settings(preset_name: Preset, options: dict[str, Any]) -> Config:
    known = option_docs()
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise InputError(f"there is no option {name!r}: {f'did you mean {near[0]!r}?' if near else 'see Config'}")
    return replace(preset(preset_name), **options)


def _endpoint(endpoint: EndpointSpec | str, environment: Environment) -> EndpointSpec:
    if isinstance(endpoint, EndpointSpec):
        return endpoint
    if endpoint == "demo":
        return EndpointSpec(demo=True, model="demo")
    return EndpointSpec(base_url=endpoint, model=environment.model or "")


def _table(data: "Table | str | Path | pd.DataFrame") -> Table:
    if isinstance(data, Table):
        return data
    if isinstance(data, str | Path):
        path = Path(data)
        try:
            return Table.read(path.read_bytes(), name=path.name)
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror}): check the path") from None
    text = StringIO()
    data.to_csv(text, index=False)
    return Table.read(text.getvalue().encode(), name="frame")


_FAILURES: dict[str, type[VppError]] = {"endpoint": EndpointError, "input": InputError, "error": RunError}


def _wait(directory: RunDirectory) -> None:
    """Until the run has ended. Raises what it ended with."""
    reader = RunReader(directory)
    try:
        state = reader.refresh().state
        while state in ("queued", "running", "paused", "stalled"):
            time.sleep(POLL_S)
            state = reader.refresh().state
    except KeyboardInterrupt:
        directory.say("stop")
        raise
    if state == "failed":
        view = reader.refresh().view
        raise _FAILURES[view.failure or "error"](view.detail)
    if state == "interrupted":
        raise RunError(f"the worker of {directory.path} ended early: see worker.log there, then `vpp resume`")
