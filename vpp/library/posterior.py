"""Posterior: a run's weighted hypotheses, from Python; and `vpp.fit` and the other calls that return one."""

import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from vpp.cli import system
from vpp.cli.progress import ask, follow
from vpp.data.build import ColumnChoice, build_dataset
from vpp.data.dataset import DETECT, ReadAs, SplitRule
from vpp.data.table import Table, read_like, unlabelled_rows
from vpp.errors import EndpointError, InputError, RunError, VppError
from vpp.events import Evaluated
from vpp.findings.asking import Trial
from vpp.findings.hypotheses import Change, Idea, Particle, lineage, merge_ideas, particles, prior_words
from vpp.findings.points import Point, figures, points, reject_option, score_text, votes_on
from vpp.findings.result import result
from vpp.findings.ruled_out import RuledOut, ruled_out
from vpp.findings.step import weights_curve
from vpp.findings.verdict import Verdict, run_verdict
from vpp.llm.templates import AUTO
from vpp.posterior.calibration import RejectOption
from vpp.posterior.prediction import Value
from vpp.reporting.exports import data_tree, log_run, write_all
from vpp.reporting.predictions import filled_rows, sheet_of, sheet_rows
from vpp.reporting.standalone import LeftOut, standalone
from vpp.runs.asking import Answers, Asking, Questions, average_answers
from vpp.runs.directory import RunDirectory, RunReader
from vpp.runs.group import Group, begin
from vpp.runs.preparation import Preparation, continue_run, read_sentences, split_of, template_texts
from vpp.runs.process import TIMEOUT_S, endpoint_for
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config, Preset, option_docs, preset
from vpp.show import blocks
from vpp.show.figures import plotly_figure
from vpp.show.markup import lines, markdown
from vpp.show.words import counted, percent
from vpp.trials import TrialAsking

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from xarray import DataTree

FILE = "file:"  # prefix of an endpoint that is a model file on this machine
T = TypeVar("T")


class _RunFiles:
    """What a run's files say: nothing here asks a model."""

    def __init__(self, directory: RunDirectory) -> None:
        self.directory = directory
        self._reader = RunReader(directory)
        self.view = self._reader.refresh().view
        self.hypotheses = [self.view.texts[p.hypothesis] for p in self.view.population]
        self.weights = list(self.view.weights)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the run's directory alone; the copy reads the run again from there."""
        return type(self), (RunDirectory(self.directory.path.absolute()),)

    @property
    def config(self) -> Config:
        return self._reader.refresh().spec.config

    @property
    def particles(self) -> tuple[Particle, ...]:
        """(K,) by slot; empty before the first population is complete."""
        return particles(self.view, self._reader.dataset())

    @property
    def ideas(self) -> tuple[Idea, ...]:
        """Particles grouped by identical predictions, the heaviest group first."""
        return merge_ideas(self.view, self._reader.dataset()).all

    @property
    def ruled_out(self) -> tuple[RuledOut, ...]:
        """Texts rejected, lost in resampling or unreadable, the newest first, with the rows that contradict each."""
        return ruled_out(self.view, self._reader.dataset())

    @property
    def result(self) -> dict[str, Any]:
        """Return the run's result: the object that `--json` prints."""
        return result(self.directory, self.view)

    @property
    def verdict(self) -> Verdict | None:
        """How good the result is beside the best simple model; `str` gives its sentences. None while the run goes."""
        return run_verdict(self.directory, self.view)

    def lineage(self, slot: int) -> tuple[Change, ...]:
        """Return the texts of a particle's line, from the first hypothesis on. Raises InputError, RunError."""
        if not self.view.population:
            raise RunError(f"{self.directory.path} has no particles yet: wait for its first step")
        return lineage(self.view, slot)

    def chart(self) -> "go.Figure | None":
        """Return the weights of the hypotheses by step as a Plotly figure; None with fewer than two such steps."""
        curve = weights_curve(self.view, self._reader.dataset())
        return plotly_figure(curve, "light") if curve else None

    def __repr__(self) -> str:
        return f"<Posterior of {self.directory.id}: {len(self.hypotheses)} particles, {len(self.ideas)} ideas>"

    def __str__(self) -> str:
        return "\n".join(lines(self._blocks))

    def _repr_markdown_(self) -> str:
        return markdown(self._blocks)

    @property
    def _blocks(self) -> tuple[blocks.Note, blocks.Table]:
        rows = [
            (
                ", ".join(filter(None, (percent(idea.weight), prior_words(idea.prior)))),
                score_text(idea.test) if idea.test else "not evaluated",
                counted(len(idea.slots), "copy", "copies"),
                idea.text,
            )
            for idea in self.ideas
        ]
        headline = blocks.Note(str(self.verdict or "The run has not ended."))
        return headline, blocks.Table(head=("weight", "on test", "copies", "hypothesis"), rows=rows)


class Posterior(_RunFiles):
    """A run's weighted hypotheses at the time it was opened.

    hypotheses: (K,) texts, by slot. weights: (K,) normalised.
    """

    @property
    def runs(self) -> tuple["Posterior", ...]:
        """Return the runs whose sentences this one weighs together, by seed; empty for any other."""
        folder = self.directory.path.parent
        return tuple(load_run(folder / run) for run in self._reader.refresh().spec.pooled)

    def ask(self, table: "Table | str | Path | pd.DataFrame") -> Answers:
        """Ask every particle about every row. Raises EndpointError, DataError for a missing column."""
        dataset = self._reader.dataset()
        rows = unlabelled_rows(read_like(table_of(table), dataset.columns, dataset.cells), dataset.inputs)
        return ask_all(Asking(self._reader, rows))

    def predict(self, table: "Table | str | Path | pd.DataFrame") -> list[Value | None]:
        """Return the averaged prediction for each row (Eq. 7 or 8); None if every particle abstains."""
        return list(average_answers(self.ask(table)))

    def disagreement(self, table: "Table | str | Path | pd.DataFrame | None" = None) -> "pd.DataFrame":
        """Return votes and their uncertainty, one line per row, most divided first. table: new rows to ask about.

        Without a table the test rows are used, or the training rows of a run without any. Raises RunError before they
        are evaluated.
        """
        dataset = self._reader.dataset()
        if table is not None:
            answers = self.ask(table)
            return disagreement_frame(votes_on(answers, self._reject_option(answers)))
        test = self.view.evaluations.get("test" if dataset.test else "train")
        if test is None:
            fix = "wait, or give rows to ask about"
            raise RunError(f"{self.directory.path} has not evaluated its test rows yet: {fix}")
        return disagreement_frame(points(test, dataset, self._reject_option(test)))

    def _reject_option(self, of: Answers | Evaluated) -> RejectOption:
        snapshot = self._reader.refresh()
        return reject_option(snapshot.view, snapshot.spec.config, self._reader.dataset(), of=of)

    def labelling_sheet(self, n: int = 24) -> "pd.DataFrame":
        """Return rows to label, the most informative first: the inputs, an empty target, and `information_bits`.

        Every particle is asked about them. Raises EndpointError.
        """
        import pandas as pd

        answers = ask_all(Asking(self._reader, sheet_rows(self._reader, n=n)))
        return pd.read_csv(io.BytesIO(sheet_of(answers, self._reader)), dtype=str, keep_default_na=False)

    def continue_with(self, rows: "Table | str | Path | pd.DataFrame", *, name: str = "") -> "Posterior":
        """Go on from these particles with rows labelled since, as a new run; return its posterior.

        rows: a table with the inputs and the target, such as a filled `labelling_sheet`; rows without a target are left
        out. Raises DataError for a row that cannot be added, EndpointError or RunError.
        """
        answered = filled_rows(table_of(rows), self._reader.dataset())
        return Posterior(run_to_end(continue_run(self.directory, answered, name=name)))

    def export_python(self, path: str | Path) -> tuple[LeftOut, ...]:
        """Write a file of plain Python that predicts without a model; return the hypotheses that it cannot hold.

        Raises InputError if it can hold none, or if the file cannot be written.
        """
        program = standalone(self._reader)
        system.write_bytes(Path(path), program.content)
        return program.left_out

    def to_arviz(self) -> "DataTree":
        """Return the particles for ArviZ 1 (vpp.reporting.exports). Raises InputError if xarray is not installed."""
        return data_tree(self._reader)

    def to_mlflow(self, uri: str, *, experiment: str = "vpp") -> str:
        """Log the run to MLflow and return the id of MLflow's run. Raises InputError if it refuses the run."""
        return log_run(self.directory, uri, experiment=experiment)


def table_of(data: "Table | str | Path | pd.DataFrame", *, read_as: ReadAs = DETECT) -> Table:
    """Return a file, a frame or a Table as a Table. read_as: how to read a file. Raises InputError."""
    if isinstance(data, Table):
        return data
    if isinstance(data, str | Path):
        return Table.read(system.read_bytes(data), name=Path(data).name, read_as=read_as)
    if not hasattr(data, "itertuples"):
        raise InputError(f"data is a {type(data).__name__}: give a path, a pandas DataFrame or a Table")
    return Table.of_frame(data, read_as=read_as)


def disagreement_frame(points: Sequence[Point]) -> "pd.DataFrame":
    """Return one line per row, most divided first, indexed by row id. points: (N,) of K particles.

    Columns: truth, prediction; for labels decision (None is “I don’t know”), share of the prediction and entropy_bits
    of the vote, for numbers spread (weighted standard deviation) and low to high (90 % of the weight); possible, if the
    run is calibrated (the possible labels, or the lowest and highest possible number); abstained (a weight), uncertain
    (Section 5.3), and each particle's answer. Unknown values are None or NaN.
    """
    import pandas as pd

    divided_first = [_line(point) for point in sorted(points, key=lambda point: (-point.doubt, point.row.id))]
    return pd.DataFrame(divided_first).set_index("row") if divided_first else pd.DataFrame()


def _line(point: Point) -> dict[str, Any]:
    return {
        "row": point.row.id,
        "truth": point.row.target,
        **figures(point),
        "uncertain": point.is_uncertain,
        **{f"particle_{slot}": vote for slot, vote in enumerate(point.votes)},
    }


def ask_all(asking: Questions[T]) -> T:
    """Ask models to the end; a bar shows the number of answers in a notebook."""
    return ask(asking, has_bar=is_notebook())


def is_notebook() -> bool:
    return "ipykernel" in sys.modules


def run_to_end(prepared: Preparation, *, seeds: int = 1, progress: bool | None = None) -> RunDirectory:
    """Work on a new run to its end in a worker process. Raises the error of a failed or interrupted run.

    seeds: number of runs; of two or more, the run that weighs all their sentences is returned. progress: True shows a
    progress bar, False hides it, None shows it in notebooks only.
    """
    folder = system.environment().runs_dir
    runs = [prepared.create(folder)] if seeds == 1 else begin(prepared, seeds, folder)
    follow(runs, has_bar=is_notebook() if progress is None else progress, tell=lambda _: None)
    for run in runs:
        _check_end(run)
    directory = runs[0] if seeds == 1 else Group(folder, runs[0].spec().group).pool()
    if directory is None:
        raise RunError(f"no run of these seeds was evaluated: see {folder}")
    write_all(directory)
    return directory


def _check_end(run: RunDirectory) -> None:
    snapshot = RunReader(run).refresh()
    if snapshot.state == "failed":
        errors: dict[str, type[VppError]] = {"endpoint": EndpointError, "input": InputError}
        raise errors.get(snapshot.view.failure or "error", RunError)(snapshot.view.detail)
    if snapshot.state == "interrupted":
        raise RunError(f"the worker of {run.path} ended early: see worker.log there, then `vpp resume`")


def fit(
    data: "Table | str | Path | pd.DataFrame",
    *,
    target: str,
    task: str = "auto",
    inputs: list[str] | None = None,
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
    missing: str | Sequence[str] | None = None,
    descriptions: Mapping[str, str] | None = None,
    progress: bool | None = None,
    seeds: int = 1,
    **config: Any,
) -> Posterior:
    """Learn a posterior over sentences that predict `target`, in a separate worker process.

    This is the public call: every option is a keyword, named as the option of `vpp run`.

    data: the path of a CSV, JSON, Excel or Parquet file, a frame, or a Table. read_as: how to read a file, if detection
    fails. missing: words for a missing cell, with commas, in place of the usual ones; COLUMN=WORDS for one column; or
    several of these. descriptions: what columns mean, as {column: text}, and labels, as {"label:yes": text}; they
    replace those in NAME.columns.csv beside a file. split: random, group:COLUMN or time:COLUMN. test_size: 0 makes
    every row a training row. calibration_size: rows held out beside the test rows, on which “I don’t know” is
    calibrated. start: sentences that the first particles hold; the others are drawn. start_prior: their weights, with
    `weigh` alone.
    endpoint: "demo" for the built-in demo model, "file:MODEL.gguf" for a model file on this machine, the base URL of an
    OpenAI-compatible server (its model from VPP_MODEL, with structured answers if the server has them), or an
    EndpointSpec, which gives free text unless it has structured="auto". templates: a prompt set, or "auto". cell_limit:
    characters shown of a cell, 0 for all that fit. progress: True shows a bar, False hides it, None: in notebooks.
    seeds: runs of this setting, with seeds from `seed` on; returned is the posterior of all their sentences, whose
    `runs` are theirs. config: any option of `settings.Config`.
    Raises InputError, EndpointError or RunError; an interrupt stops the run and keeps its last complete step.
    """
    settings = _settings(preset_name, config)
    read_as = read_as if missing is None else replace(read_as, missing=missing)  # type: ignore[arg-type]
    table = table_of(data, read_as=read_as)
    described = system.descriptions_beside(data, table, target)[0] if isinstance(data, str | Path) else {}
    if not isinstance(descriptions or {}, Mapping):
        raise InputError("the descriptions are no mapping: write {COLUMN: text, label:NAME: text}")
    described |= {str(key): text for key, text in (descriptions or {}).items()}
    columns = ColumnChoice(task=task, inputs=inputs, descriptions=described)  # type: ignore[arg-type]
    sizes = {"train_size": train_size, "test_size": test_size, "calibration_size": calibration_size}
    plan = split_of(settings, **sizes, rule=SplitRule.read(split))
    dataset = build_dataset(table, target=target, columns=columns, split=plan)
    server = _endpoint(endpoint)
    spec = RunSpec(
        name=name,
        config=settings,
        endpoint=server,
        templates=template_texts(templates, is_demo=server.is_demo, preset=preset_name, dataset=dataset),
        cell_limit=cell_limit,
        start=_sentences(start),
        start_prior=tuple(start_prior),
    )
    return Posterior(run_to_end(Preparation(dataset=dataset, spec=spec), seeds=seeds, progress=progress))


def weigh(
    data: "Table | str | Path | pd.DataFrame",
    *,
    target: str,
    start: Sequence[str],
    prior: Sequence[float] = (),
    **options: Any,
) -> Posterior:
    """Weigh sentences on every row of a table: their posterior, without an optimizer.

    `Posterior.weights` are in the order of `start`, repeated sentences left out. prior: weights of the different
    sentences in this order; equal if not given. options: those of `fit`, without its sizes and split.
    Raises what `fit` raises.
    """
    return fit(data, target=target, start=_sentences(start), start_prior=prior, method="weigh", **options)


def load_run(directory: str | Path) -> Posterior:
    """Return the posterior of a run on disk, finished or not. Raises RunError if there is no run."""
    run = RunDirectory(directory)
    run.spec()
    return Posterior(run)


def trial(directory: str | Path, *, ideas: int = 3, changes: int = 20, rows: int = 40) -> Trial:
    """Put a run's hypotheses on trial: does the model obey them, and what is each clause worth.

    The result is kept in the run's directory. ideas: the heaviest so many. changes: changed rows of each of two kinds
    for each idea. rows: training rows that score. Raises InputError, RunError or EndpointError.
    """
    asking = TrialAsking(RunReader(RunDirectory(directory)), ideas=ideas, changes=changes, rows=rows)
    return ask_all(asking)


def _sentences(start: str | Sequence[str]) -> tuple[str, ...]:
    return read_sentences(start, name="start") if isinstance(start, str) else tuple(start)


def _settings(preset_name: Preset, options: dict[str, Any]) -> Config:
    docs = option_docs()
    for name in options:
        if name not in docs:
            near = get_close_matches(name, docs, n=1)
            raise InputError(f"there is no option {name!r}: {f'did you mean {near[0]!r}?' if near else 'see Config'}")
    return replace(preset(preset_name), **options)


def _endpoint(endpoint: EndpointSpec | str) -> EndpointSpec:
    if endpoint == "demo":
        return EndpointSpec(demo=True, model="demo", structured="auto")
    if isinstance(endpoint, str) and endpoint.startswith(FILE):
        endpoint = EndpointSpec(gguf=endpoint.removeprefix(FILE), timeout_s=TIMEOUT_S, structured="auto")
    if isinstance(endpoint, str):
        return EndpointSpec(base_url=endpoint, model=system.environment().model or "", structured="auto")
    return endpoint_for(endpoint.gguf, endpoint, may_use=system.keys().model_files) if endpoint.gguf else endpoint
