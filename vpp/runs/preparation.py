"""Preparation of a run, from a table, from sentences or from an earlier run; its prompts and its problem."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from vpp.data.dataset import Dataset, Row, rows_csv, spec
from vpp.data.labelling import with_rows
from vpp.data.split import SplitPlan
from vpp.errors import InputError, RunError
from vpp.events import RunStarted
from vpp.llm import prompts, templates
from vpp.llm.gate import Gate, body_of
from vpp.llm.limits import Cap
from vpp.llm.prompts import LETTERS
from vpp.llm.protocol import SCHEMA
from vpp.problem import Problem, n_pool
from vpp.programs.columns import Columns
from vpp.runs.directory import RunDirectory, read_view, run_id
from vpp.runs.spec import EndpointSpec, Prices, RunSpec, to_json
from vpp.runs.view import RunView
from vpp.settings import Config

MOST_STEPS = 100_000
NO_ENDPOINT = "no endpoint: give --base-url and --model (or set OPENAI_BASE_URL and VPP_MODEL), --gguf FILE, or --demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """A checked run that is not on disk yet."""

    dataset: Dataset
    spec: RunSpec
    """Content of run.json; the dataset's part and an empty name are filled in."""

    def __post_init__(self) -> None:
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
        new_id = run_id(self.spec.name, self.spec.config.method, now=datetime.now())
        directory = RunDirectory(run_dir or runs_dir / new_id)
        directory.create(self.spec, rows_csv(self.dataset))
        return directory


def split_of(config: Config, **own: Any) -> SplitPlan:
    """Return the split of a run; if it weighs, all rows train. own: fields of the plan."""
    sizes = own | ({"test_size": 0} if config.is_weighing else {})
    return SplitPlan(seed=config.seed, coverage=config.coverage, **sizes)


def check_run(spec: RunSpec, dataset: Dataset) -> None:
    config, endpoint, n_start = spec.config, spec.endpoint, len(spec.start)
    check_size(dataset, config)
    check_endpoint(endpoint)
    to_json(spec)
    if config.is_weighing and not n_start:
        raise InputError("there are no sentences to weigh: give them, one a line (--start FILE)")
    if n_start > config.size:
        raise InputError(f"{n_start} sentences to start from, and K is {config.size}: give fewer, or a larger K")
    check_budget(spec.prices, spec.cap, endpoint)
    templates.check_templates(spec.templates)
    check_letters(spec, dataset)
    names = {templates.name_of(text, role) for role, text in spec.templates.items()}
    if endpoint.is_demo and not names <= {None, templates.PAPER}:
        raise InputError(f"the demo model does not follow worked examples: take templates {templates.PAPER}")
    if endpoint.context_length:
        limits = limits_of(endpoint)
        fitted = fit_cells(spec, dataset, limits)
        prompts.check_fit(learner_prompts(fitted, dataset), optimizer_prompts(fitted, dataset), limits)


def check_budget(prices: Prices, cap: Cap, endpoint: EndpointSpec) -> None:
    """Raise InputError for a price or a cap that nothing can be measured against."""
    if prices.optimizer is not None and not (endpoint.optimizer_model or endpoint.optimizer_base_url):
        raise InputError("a price of the optimizer, and one model for both roles: give --price")
    if cap.cost and not prices.are_given:
        raise InputError("a cap on cost, and no price to count by: give --price, or cap the calls")


def check_letters(spec: RunSpec, dataset: Dataset) -> None:
    """Raise InputError if log-probabilities are to be read and the labels or the user's template do not allow it."""
    text, is_lettered = spec.templates.get("learner"), spec.config.likelihood == "logprobs"
    if is_lettered and len(dataset.classes) > len(LETTERS):
        raise InputError(
            f"logprobs are read for {len(LETTERS)} labels at most, and {dataset.target} has {len(dataset.classes)}: "
            "use --likelihood 5, or --likelihood labels"
        )
    if is_lettered and templates.name_of(text, "learner") is None and learner_template(spec).text != text:
        raise InputError("logprobs need a letter as the answer: put {answer_form_letter} in the learner template")
    if not is_lettered and learner_template(spec).style == "letter":
        raise InputError("the learner template asks for a letter ({answer_form_letter}): add --likelihood logprobs")


def template_texts(name: str, *, is_demo: bool, preset: str, dataset: Dataset) -> dict[templates.Role, str | None]:
    classes, has_text = dataset.classes, dataset.has_text
    own = templates.chosen_templates(name, is_demo=is_demo, preset=preset, has_text=has_text, is_regression=not classes)
    return templates.set_texts(own)


def dataset_spec(dataset: Dataset) -> dict[str, Any]:
    return {**spec(dataset), **dataset.sizes}


def check_size(dataset: Dataset, config: Config) -> None:
    n_train = n_pool(config, len(dataset.train))
    if n_train < config.batch_size:
        raise InputError(
            f"{dataset.name} leaves {n_train} training {'row' if n_train == 1 else 'rows'}, "
            f"fewer than a batch of {config.batch_size}: add rows, or set the batch size to at most {n_train}"
        )
    if config.epochs * -(-n_train // config.batch_size) > MOST_STEPS:
        raise InputError(f"the run would have more than {MOST_STEPS:,} steps: use fewer epochs or a larger batch_size")


def check_endpoint(endpoint: EndpointSpec, *, needs_model: bool = True, gate: Gate | None = None) -> None:
    """Raise InputError for a missing address, an invalid one, one that may not be asked, or an invalid body."""
    if not endpoint.is_started_here:
        if not endpoint.base_url:
            raise InputError(NO_ENDPOINT)
        if needs_model and not endpoint.model:
            raise InputError(f"no model for {endpoint.base_url}: give --model, or set VPP_MODEL")
        gate = gate or Gate()
        gate.check(endpoint.base_url, endpoint.model)
        if endpoint.optimizer_base_url:
            gate.check(endpoint.optimizer_base_url, endpoint.optimizer_model or endpoint.model)
    body_of(endpoint.body)


# A run that continues from an earlier one's particles, with rows that a person has labelled since. Its first population
# is the earlier run's last, one text a slot, and its training rows are the earlier run's and the new ones. Weights are
# not carried over: the new run weighs its particles on all labelled rows, and would count the earlier rows twice.


def continue_run(
    directory: RunDirectory, answered: Sequence[Row], *, name: str = "", command: tuple[str, ...] = ()
) -> Preparation:
    """Prepare a new run from this run's particles and rows, and the labelled ones. Raises RunError, DataError."""
    spec, view = directory.spec(), read_view(directory.journal)
    rows = "1 row" if len(answered) == 1 else f"{len(answered)} rows"
    note = f"answered by a person to go on from run {directory.id}"
    return Preparation(
        dataset=with_rows(directory.dataset(), answered, note=note),
        spec=spec_to_continue(spec, view, run=directory.id, name=name or f"{spec.name} + {rows}", command=command),
    )


def spec_to_continue(spec: RunSpec, view: RunView, *, run: str, name: str, command: tuple[str, ...] = ()) -> RunSpec:
    """Return the spec of a run that begins with this one's particles; smc then weighs them on all training rows."""
    if not view.population:
        raise RunError(f"{run} has no particles yet: wait for its first step")
    texts, config = tuple(view.texts[state.hypothesis] for state in view.population), spec.config
    if config.draws_initial:
        final = "train" if config.method == "smc" else config.final_weights
        config = replace(config, particles=len(texts), final_weights=final)
    return replace(spec, config=config, name=name, command=command, start=texts, started_from=run, group="", pooled=())


MOST_CHARACTERS = 4_000  # longest sentence in characters: a learner's call carries it whole
LEAST_WEIGHT = 1e-100


def read_sentences(text: str, *, name: str) -> tuple[str, ...]:
    """Return the sentences, one a line; empty lines are left out. Raises InputError."""
    if text.lstrip().startswith(("[", "{")):
        raise InputError(f"{name} begins with a bracket, as JSON does: write a sentence a line")
    sentences = tuple(line.strip() for line in text.splitlines() if line.strip())
    if not sentences:
        raise InputError(f"{name} has no sentence: write one a line")
    return sentences


def with_start(spec: RunSpec, dataset: Dataset) -> tuple[RunSpec, Dataset]:
    """Return both with the person's sentences whole and once each, and what weighing them needs. Raises InputError."""
    if spec.start and not spec.is_continued:
        seed_text = prompts.seed_sentence(dataset, spec.config.prior)
        whole = [_whole_text(each, seed_text, number) for number, each in enumerate(spec.start, 1)]
        again = [str(number) for number, text in enumerate(whole, 1) if text in whole[: number - 1]]
        if again:
            note = f"of the sentences, these repeat earlier ones and count once: {', '.join(again)}"
            provenance = replace(dataset.provenance, notes=(*dataset.provenance.notes, note))
            dataset = replace(dataset, provenance=provenance)
        spec = replace(spec, start=tuple(dict.fromkeys(whole)))
    if weights := spec.start_prior:
        are_positive = all(LEAST_WEIGHT <= each <= 1 / LEAST_WEIGHT for each in weights)
        if not (spec.config.is_weighing and len(weights) == len(spec.start) and are_positive):
            raise InputError("prior: give a positive number for each sentence that is weighed, in their order")
        spec = replace(spec, start_prior=tuple(each / math.fsum(weights) for each in weights))
    if spec.config.is_weighing:
        # One step on all rows with the likelihood itself: nothing is resampled or rewritten.
        config = replace(spec.config, particles=max(1, len(spec.start)), epochs=1, batch_size=len(dataset.train))
        spec = replace(spec, config=replace(config, tempering="incremental", beta_start=1.0))
    return spec, dataset


def _whole_text(sentence: str, seed_text: str, number: int) -> str:
    """Return the sentence after the seed sentence. Raises InputError."""
    body = sentence.strip().removeprefix(seed_text).strip()
    if not body:
        raise InputError(f"sentence {number} is empty: write it, or leave it out")
    if len(body) > MOST_CHARACTERS:
        raise InputError(f"sentence {number} has {len(body):,} characters: shorten it to at most {MOST_CHARACTERS:,}")
    return f"{seed_text} {body}"


# Prompts and rows of a run, made of its templates and its data


def learner_prompts(spec: RunSpec, dataset: Dataset) -> prompts.LearnerPrompts:
    template = learner_template(spec)
    is_json = template.style != "letter" and is_structured(spec)
    return prompts.LearnerPrompts(dataset=dataset, template=template, is_structured=is_json, cell_limit=spec.cell_limit)


def program_prompts(spec: RunSpec, dataset: Dataset) -> prompts.ProgramPrompts:
    return prompts.ProgramPrompts(dataset=dataset, columns=Columns(dataset), cell_limit=spec.cell_limit)


def learner_template(spec: RunSpec) -> templates.Template:
    """Return the run's own template, or the one that asks for letters if log-probabilities are read."""
    own = templates.template_of(spec.templates.get("learner"), role="learner")
    needs_letters = spec.config.likelihood == "logprobs" and own.style != "letter"
    return templates.shipped("learner", templates.LETTERED) if needs_letters else own


def optimizer_prompts(spec: RunSpec, dataset: Dataset) -> prompts.OptimizerPrompts:
    return prompts.OptimizerPrompts(
        dataset=dataset,
        refining=templates.template_of(spec.templates.get("optimizer"), role="optimizer"),
        drawing=templates.template_of(spec.templates.get("prior"), role="prior"),
        seed_text=prompts.seed_sentence(dataset, spec.config.prior),
        cell_limit=spec.cell_limit,
    )


def is_structured(spec: RunSpec) -> bool:
    """Return whether the server holds answers to a schema: False until it has been tested."""
    return not spec.endpoint.is_demo and spec.endpoint.structured == "auto" and spec.structured_as == SCHEMA


def problem_of(spec: RunSpec, dataset: Dataset) -> Problem:
    """Return the run's rows in the order of its steps, without models: a caller that asks them adds them."""
    nobody = cast(Any, None)
    config, optimizer = spec.config, optimizer_prompts(spec, dataset)
    return Problem(
        dataset=dataset,
        learner=nobody,
        optimizer=nobody,
        seed_text=optimizer.seed_text,
        shows_predictions=optimizer.shows_predictions(optimizer.seed_text),
        start_texts=spec.start,
        start_prior=spec.start_prior,
        n_written=spec.n_written,
        start_origin="continued" if spec.is_continued else "yours",
        batch_size=config.batch_size,
        epochs=config.epochs,
        seed=config.seed,
        score_rows=n_pool(config, len(dataset.train)),
        buffer_repeats=config.final_weights == "paper",
    )


def start_of(spec: RunSpec, dataset: Dataset, *, versions: Mapping[str, str]) -> RunStarted:
    """Return the event that opens the journal. versions: of the libraries in use, by name."""
    learner, optimizer = learner_template(spec), optimizer_prompts(spec, dataset)
    hashes = {"learner": learner.sha256, "optimizer": optimizer.refining.sha256, "prior": optimizer.drawing.sha256}
    if spec.config.has_programs:
        hashes |= {role: templates.shipped(role).sha256 for role in ("program", "question")}
    return RunStarted(
        config=asdict(spec.config),
        dataset=spec.dataset,
        seed_text=optimizer.seed_text,
        steps=problem_of(spec, dataset).steps,
        templates=hashes,
        versions=dict(versions),
        models=spec.endpoint.models,
    )


Limits = tuple[prompts.ModelLimits, prompts.ModelLimits]
"""Of learner and optimizer."""


def limits_of(spec: EndpointSpec, *lengths: int) -> Limits:
    """Return the limits, given the models' context lengths in tokens, 0 if unknown; by default as the user says."""
    learner, optimizer = lengths or (spec.context_length,) * 2
    return (
        prompts.ModelLimits(context_length=learner, max_tokens=spec.learner_max_tokens).bounded(),
        prompts.ModelLimits(context_length=optimizer, max_tokens=spec.optimizer_max_tokens).bounded(),
    )


def fit_cells(spec: RunSpec, dataset: Dataset, limits: Limits) -> RunSpec:
    """Return the spec with the characters that prompts show of a cell, if it leaves them to the models' contexts."""
    if spec.cell_limit:
        return spec
    both = learner_prompts(spec, dataset), optimizer_prompts(spec, dataset)
    return replace(spec, cell_limit=prompts.fitting_cell_limit(*both, limits))
