"""`vpp.fit`, `vpp.weigh`, `vpp.load_run`, `vpp.reword` and `vpp.trial`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpp.cli import system
from vpp.data.build import build_dataset
from vpp.data.dataset import DETECT, ReadAs, SplitRule
from vpp.data.descriptions import by_key
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table
from vpp.environment import Environment
from vpp.errors import InputError
from vpp.library.posterior import Posterior, asked, table_of, to_end, worked
from vpp.llm.choices import AUTO, chosen_templates
from vpp.llm.templates import set_texts
from vpp.runs.asking import Comparison, reworded_run, score_rewording
from vpp.runs.directory import RunDirectory
from vpp.runs.model_file import TIMEOUT_S, endpoint_for
from vpp.runs.preparation import Preparation, prior_weights, read_sentences
from vpp.runs.reader import RunReader
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config, Preset, option_docs, preset
from vpp.trials.trial import Trial, TrialAsking, TrialSize

if TYPE_CHECKING:
    import pandas as pd

FILE = "file:"
"""Prefix of an endpoint that is a model file on this machine."""


def fit(
    data: "Table | str | Path | pd.DataFrame",
    *,
    target: str,
    task: str = "auto",
    inputs: list[str] | None = None,
    exclude: list[str] | None = None,
    train_size: int = 100,
    test_size: int = 60,
    calibration_size: int = 0,
    split: str = "random",
    start: Sequence[str] = (),
    start_prior: Sequence[float] = (),
    endpoint: EndpointSpec | str = "demo",
    preset_name: Preset = "recommended",
    templates: str = AUTO,
    cell_limit: int = 0,
    name: str = "",
    read_as: ReadAs = DETECT,
    descriptions: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    **config: Any,
) -> Posterior:
    """Learn a posterior over sentences that predict `target`, in a separate worker process.

    This is the public call: every option is a keyword, named as the option of `vpp run`.

    data: the path of a CSV, JSON, Excel or Parquet file, a frame, or a Table. read_as: how to read a file, if detection
    fails. descriptions: what columns mean, as {column: text}, and labels, as {"labels": {label: text}}; they replace
    those in NAME.columns.csv or NAME.columns.json beside a file. split: random, group:COLUMN or time:COLUMN.
    test_size: 0 makes every row a training row. calibration_size: rows held out beside the test rows, on which “I don’t
    know” is calibrated. start: sentences that the first particles hold; the others are drawn. start_prior: their
    weights, with `weigh` alone.
    endpoint: "demo" for the built-in demo model, "file:MODEL.gguf" for a model file on this machine, the base URL of an
    OpenAI-compatible server (its model from VPP_MODEL, with structured answers if the server has them), or an
    EndpointSpec, which gives free text unless it has structured="auto". templates: a prompt set, or "auto". cell_limit:
    characters shown of a cell, 0 for all that fit. progress: True shows a bar, False hides it, None: in notebooks.
    config: any option of `settings.Config`.
    Raises InputError, EndpointError or RunError; an interrupt stops the run and keeps its last complete step.
    """
    environment = system.environment()
    settings = _settings(preset_name, config)
    table = table_of(data, read_as=read_as)
    described = system.descriptions_beside(data, table, target)[0] if isinstance(data, str | Path) else {}
    described |= by_key(descriptions or {}, source="descriptions")
    dataset = build_dataset(
        table,
        target=target,
        columns=ColumnChoice(
            task=task,  # type: ignore[arg-type]
            inputs=inputs,
            exclude=exclude or (),
            descriptions=described,
        ),
        split=SplitPlan(
            seed=settings.seed,
            train_size=train_size,
            test_size=test_size,
            calibration_size=calibration_size,
            rule=SplitRule.read(split),
            is_whole=settings.is_weighing or not test_size,
        ),
    )
    server = _endpoint(endpoint, environment)
    texts = set_texts(
        chosen_templates(templates, is_demo=server.is_demo, preset=preset_name, has_text=dataset.has_text)
    )
    spec = RunSpec(
        name=name,
        config=settings,
        endpoint=server,
        learner_template=texts["learner"],
        optimizer_template=texts["optimizer"],
        prior_template=texts["prior"],
        cell_limit=cell_limit,
        start=read_sentences(start, name="start") if isinstance(start, str) else tuple(start),
        start_prior=tuple(start_prior),
    )
    return Posterior(worked(Preparation(dataset=dataset, spec=spec), progress=progress))


def weigh(
    data: "Table | str | Path | pd.DataFrame",
    *,
    target: str,
    start: Sequence[str],
    prior: Sequence[float] | Mapping[str, float] | None = None,
    **options: Any,
) -> Posterior:
    """Weigh sentences on every row of a table: their posterior, without an optimizer.

    `Posterior.weights` are in the order of `start`, repeated sentences left out. prior: weights of the different
    sentences in this order, or by sentence; equal if not given. options: those of `fit`, without its sizes and split.
    Raises what `fit` raises.
    """
    sentences = read_sentences(start, name="start") if isinstance(start, str) else tuple(start)
    weights = () if prior is None else prior_weights(prior, sentences)
    return fit(data, target=target, start=sentences, start_prior=weights, method="weigh", **options)


def load_run(directory: str | Path) -> Posterior:
    """Return the posterior of a run on disk, finished or not. Raises RunError if there is no run."""
    run = RunDirectory(directory)
    run.spec()
    return Posterior(run)


def reword(
    directory: str | Path, particle: int, text: str, *, keep: bool = False
) -> tuple[Comparison, Posterior | None]:
    """Score a text beside a particle's on the same rows; with `keep`, also run on with it in the particle's place.

    Return the comparison, and the posterior of the new run or None. Raises InputError, RunError or EndpointError.
    """
    reader, environment = RunReader(RunDirectory(directory)), system.environment()
    scoring = score_rewording(reader, particle, text, keys=system.keys(), cache_dir=environment.cache_dir)
    wording, compared = to_end(scoring)
    if not keep:
        return compared, None
    now = reader.refresh()
    return compared, Posterior(
        worked(reworded_run(now.spec, reader.dataset(), now.view, wording, run=reader.directory.id))
    )


def trial(directory: str | Path, *, ideas: int = 3, changes: int = 20, rows: int = 40) -> Trial:
    """Put a run's ideas on trial: does the learner follow them, and what is each clause worth.

    The result is kept in the run's directory. ideas: the heaviest so many. changes: changed rows of each of two kinds
    for each idea. rows: training rows that score. Raises InputError, RunError or EndpointError.
    """
    asking = TrialAsking(RunReader(RunDirectory(directory)), TrialSize(ideas=ideas, changes=changes, rows=rows))
    return asked(asking.go)


def _settings(preset_name: Preset, options: dict[str, Any]) -> Config:
    known = option_docs()
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise InputError(f"there is no option {name!r}: {f'did you mean {near[0]!r}?' if near else 'see Config'}")
    return replace(preset(preset_name), **options)


def _endpoint(endpoint: EndpointSpec | str, environment: Environment) -> EndpointSpec:
    if endpoint == "demo":
        return EndpointSpec(demo=True, model="demo", structured="auto")
    if isinstance(endpoint, str) and endpoint.startswith(FILE):
        endpoint = EndpointSpec(gguf=endpoint.removeprefix(FILE), timeout_s=TIMEOUT_S, structured="auto")
    if isinstance(endpoint, str):
        return EndpointSpec(base_url=endpoint, model=environment.model or "", structured="auto")
    return endpoint_for(endpoint.gguf, endpoint, may_use=system.keys().model_files) if endpoint.gguf else endpoint
