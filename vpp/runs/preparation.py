"""Preparation of a run from a table and options, or from an earlier run; shared by command line, app and library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import Any

from vpp.data.dataset import Dataset
from vpp.data.labelling import Answered, with_rows
from vpp.data.record import rows_csv, spec
from vpp.errors import InputError, RunError
from vpp.llm.choices import DEMO_READS, EFFORTS, STRUCTURED, Role
from vpp.llm.gate import Gate, checked_address
from vpp.llm.grading import LETTERS
from vpp.llm.templates import check_templates, name_of
from vpp.runs.budget import check_budget
from vpp.runs.directory import NAME_LENGTH, RunDirectory, load_dataset
from vpp.runs.journal import JournalReader
from vpp.runs.run_prompts import check_prompts_fit, fitted_to, learner_template, limits_of
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.start import check_start, with_start
from vpp.runs.store import RunStore
from vpp.runs.view import RunView
from vpp.settings import Config

MOST_STEPS = 100_000
MOST_PARTICLES = 100_000
NO_ENDPOINT = "no endpoint: give --base-url and --model (or set OPENAI_BASE_URL and VPP_MODEL), --gguf FILE, or --demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """A checked run that is not on disk yet."""

    dataset: Dataset
    spec: RunSpec
    """Content of run.json; the dataset's part and an empty name are filled in."""

    def __post_init__(self) -> None:
        """Raise InputError for options that would fail later."""
        name = self.spec.name or self.dataset.name
        plain = replace(self.spec, name=name, structured_as="")
        spec, dataset = with_start(plain, self.dataset)
        object.__setattr__(self, "dataset", dataset)
        if dataset.task == "regression":  # numbers are scored by their errors
            spec = replace(spec, config=replace(spec.config, likelihood="labels", learner_samples=1))
        object.__setattr__(self, "spec", replace(spec, dataset=dataset_spec(dataset)))
        check_run(self.spec, self.dataset)

    def create(self, runs_dir: Path, *, run_dir: Path | None = None) -> RunDirectory:
        """Write the run directory: a new one in `runs_dir`, or `run_dir` itself."""
        if run_dir is None:
            return RunStore(runs_dir).create(self.spec, rows_csv(self.dataset), now=datetime.now())
        directory = RunDirectory(run_dir)
        directory.create(self.spec, rows_csv(self.dataset))
        return directory


def check_run(spec: RunSpec, dataset: Dataset) -> None:
    """Raise InputError for options that would fail later."""
    config, endpoint = spec.config, spec.endpoint
    if spec.cell_limit < 0:
        raise InputError(f"cell_limit is {spec.cell_limit}: it must be at least 0")
    check_size(dataset, config)
    check_endpoint(endpoint)
    check_start(spec.start, config, is_continued=spec.is_continued)
    check_budget(spec.prices, spec.cap, endpoint)
    check_templates(spec.templates)
    check_letters(spec, dataset)
    check_demo_templates(endpoint, spec.templates)
    if length := endpoint.context_length:
        check_prompts_fit(fitted_to(spec, dataset, length), dataset, limits_of(endpoint, length, length))


def check_letters(spec: RunSpec, dataset: Dataset) -> None:
    """Raise InputError if log-probabilities are to be read and the labels or the user's template do not allow it."""
    text, is_lettered = spec.learner_template, spec.config.likelihood == "logprobs"
    if is_lettered and len(dataset.classes) > len(LETTERS):
        raise InputError(
            f"logprobs are read for {len(LETTERS)} labels at most, and {dataset.target} has {len(dataset.classes)}: "
            "use --learner-samples 5, or --likelihood labels"
        )
    if is_lettered and name_of(text, "learner") is None and learner_template(spec).text != text:
        raise InputError("logprobs need a letter as the answer: put {answer_form_letter} in the learner template")
    if not is_lettered and learner_template(spec).style == "letter":
        raise InputError("the learner template asks for a letter ({answer_form_letter}): add --likelihood logprobs")


def dataset_spec(dataset: Dataset) -> dict[str, Any]:
    """Return the dataset's description and its numbers of rows."""
    return {**spec(dataset), **dataset.sizes}


def check_demo_templates(endpoint: EndpointSpec, texts: Mapping[Role, str | None]) -> None:
    """Raise InputError for a prompt set that the demo model cannot read."""
    names = {name_of(text, role) for role, text in texts.items()}
    if endpoint.is_demo and not names <= {None, *DEMO_READS}:
        raise InputError(f"the demo model does not follow worked examples: take templates {', '.join(DEMO_READS)}")


def check_size(dataset: Dataset, config: Config) -> None:
    """Raise InputError if there are fewer training rows than a batch needs, or the run is too large."""
    n_train = len(dataset.train)
    if n_train < config.batch_size:
        raise InputError(
            f"{dataset.name} leaves {n_train} training {'row' if n_train == 1 else 'rows'}, "
            f"fewer than a batch of {config.batch_size}: add rows, or set the batch size to at most {n_train}"
        )
    if config.epochs * ceil(n_train / config.batch_size) > MOST_STEPS:
        raise InputError(f"the run would have more than {MOST_STEPS:,} steps: use fewer epochs or a larger batch_size")
    if config.largest_size > MOST_PARTICLES:
        raise InputError(f"the run would have more than {MOST_PARTICLES:,} particles: use fewer")


def check_endpoint(endpoint: EndpointSpec) -> None:
    """Raise InputError if no server or model is named, or an option is invalid."""
    if not endpoint.is_started_here and not endpoint.base_url:
        raise InputError(NO_ENDPOINT)
    if not endpoint.is_started_here and not endpoint.model:
        raise InputError(f"no model for {endpoint.base_url}: give --model, or set VPP_MODEL")
    check_limits(endpoint)


def check_limits(endpoint: EndpointSpec) -> None:
    """Raise InputError for an invalid address, one with a password, or an invalid option."""
    for address in (endpoint.base_url, endpoint.optimizer_base_url):
        if address:
            checked_address(address)
    choices = {"structured": STRUCTURED, "reasoning_effort": ("", *EFFORTS)}
    for name, allowed in choices.items():
        if getattr(endpoint, name) not in allowed:
            chosen = ", ".join(filter(None, allowed))
            raise InputError(f"{name} is {getattr(endpoint, name)!r}: choose one of {chosen}")
    for name, least in _LEAST.items():
        if not getattr(endpoint, name) >= least:
            raise InputError(f"{name} is {getattr(endpoint, name)}: it must be at least {least:g}")


def check_gate(endpoint: EndpointSpec, gate: Gate) -> None:
    """Raise InputError for a server that may not be called; `check_endpoint` checks that its address is complete."""
    for url, model in (
        (endpoint.base_url, endpoint.model),
        (endpoint.optimizer_base_url, endpoint.optimizer_model or endpoint.model),
    ):
        if url and not endpoint.is_started_here:
            gate.check(checked_address(url), model)


_LEAST = {
    "concurrency": 0,
    "timeout_s": 0.1,
    "max_wait_s": 0,
    "demo_latency_ms": 0,
    "learner_max_tokens": 1,
    "optimizer_max_tokens": 1,
    "context_length": 0,
}


# A run that continues from an earlier one's particles, with rows that a person has labelled since. Its first population
# is the earlier run's last, one text a slot, and its training rows are the earlier run's and the new ones. Weights are
# not carried over: the new run weighs its particles on all labelled rows, and would count the earlier rows twice.


def continue_run(
    directory: RunDirectory, answered: Sequence[Answered], *, name: str = "", command: tuple[str, ...] = ()
) -> Preparation:
    """Prepare a new run from this run's particles and rows, and the labelled ones; `create` writes it.

    Raises RunError before the first population, and DataError for a row that cannot be added (`with_rows`).
    """
    spec, view = directory.spec(), JournalReader(directory.journal).read()
    prepared = continuation(spec, load_dataset(directory, spec), view, answered, run=directory.id, name=name)
    return replace(prepared, spec=replace(prepared.spec, command=command))


def continuation(
    spec: RunSpec, dataset: Dataset, view: RunView, answered: Sequence[Answered], *, run: str, name: str = ""
) -> Preparation:
    """Prepare the new run from a run that has been read already. run: its id."""
    rows = "1 row" if len(answered) == 1 else f"{len(answered)} rows"
    return Preparation(
        dataset=with_rows(dataset, answered, note=f"answered by a person to go on from run {run}"),
        spec=going_on(spec, view, run=run, name=name or f"{spec.name[:NAME_LENGTH]} + {rows}"),
    )


def going_on(spec: RunSpec, view: RunView, *, run: str, name: str) -> RunSpec:
    """Return the spec of a run that begins with this run's particles."""
    if not view.population:
        raise RunError(f"{run} has no particles yet: wait for its first step")
    texts = tuple(view.texts[state.hypothesis] for state in view.population)
    return replace(
        spec,
        config=config_for(spec.config, size=len(texts)),
        name=name,
        command=(),
        start=texts,
        started_from=run,
        reworded=None,
    )


def config_for(config: Config, *, size: int) -> Config:
    """Return the earlier run's options with a particle for each text, and final weights on all training rows.

    Only smc has final weights; tempered weights are on all training rows already.
    """
    if not config.draws_initial:
        return config
    is_weighed_anew = config.method == "smc" and not config.is_telescoping
    return replace(config, particles=size, final_weights="train" if is_weighed_anew else config.final_weights)
