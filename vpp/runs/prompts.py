"""Prompts and rows of a run, made of its templates and its data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, cast

from vpp.data.dataset import Dataset
from vpp.events import RunStarted
from vpp.llm.prompts import (
    LearnerPrompts,
    ModelLimits,
    OptimizerPrompts,
    ProgramPrompts,
    check_fit,
    fitting_cell_limit,
    seed_sentence,
)
from vpp.llm.protocol import SCHEMA
from vpp.llm.templates import LETTERED, Message, Template, shipped, template_of
from vpp.problem import Problem, n_pool
from vpp.programs.columns import Columns
from vpp.runs.spec import EndpointSpec, RunSpec


def learner_prompts(spec: RunSpec, dataset: Dataset) -> LearnerPrompts:
    template = learner_template(spec)
    held = template.style != "letter" and is_structured(spec)
    return LearnerPrompts(dataset=dataset, template=template, is_structured=held, cell_limit=spec.cell_limit)


def program_prompts(spec: RunSpec, dataset: Dataset) -> ProgramPrompts:
    return ProgramPrompts(dataset=dataset, columns=Columns(dataset), cell_limit=spec.cell_limit)


def learner_template(spec: RunSpec) -> Template:
    """Return the run's own template, or the one that asks for letters if log-probabilities are read."""
    own = template_of(spec.learner_template, role="learner")
    return shipped("learner", LETTERED) if spec.config.likelihood == "logprobs" and own.style != "letter" else own


def optimizer_prompts(spec: RunSpec, dataset: Dataset) -> OptimizerPrompts:
    return OptimizerPrompts(
        dataset=dataset,
        refining=template_of(spec.optimizer_template, role="optimizer"),
        drawing=template_of(spec.prior_template, role="prior"),
        seed_text=seed_sentence(dataset, spec.config.prior),
        cell_limit=spec.cell_limit,
    )


def is_structured(spec: RunSpec) -> bool:
    """Return whether the server holds answers to a schema: False until it has been tested."""
    return not spec.endpoint.is_demo and spec.endpoint.structured == "auto" and spec.structured_as == SCHEMA


def problem_of(spec: RunSpec, dataset: Dataset) -> Problem:
    """Return the run's rows in the order of its steps, without models: a caller that asks them adds them."""
    nobody = cast(Any, None)
    config, prompts = spec.config, optimizer_prompts(spec, dataset)
    return Problem(
        dataset=dataset,
        learner=nobody,
        optimizer=nobody,
        seed_text=prompts.seed_text,
        shows_predictions=prompts.shows_predictions(prompts.seed_text),
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
    learner, prompts = learner_template(spec), optimizer_prompts(spec, dataset)
    templates = {"learner": learner.sha256, "optimizer": prompts.refining.sha256, "prior": prompts.drawing.sha256}
    if spec.config.has_programs:
        templates |= {role: shipped(role).sha256 for role in ("program", "question")}
    return RunStarted(
        config=asdict(spec.config),
        dataset=spec.dataset,
        seed_text=prompts.seed_text,
        steps=problem_of(spec, dataset).steps,
        templates=templates,
        versions=dict(versions),
        models=spec.endpoint.models,
    )


def limits_of(spec: EndpointSpec, learner: int, optimizer: int) -> tuple[ModelLimits, ModelLimits]:
    """Return the limits of learner and optimizer, given their context lengths in tokens; 0 if unknown."""
    return (
        ModelLimits(context_length=learner, max_tokens=spec.learner_max_tokens).bounded(),
        ModelLimits(context_length=optimizer, max_tokens=spec.optimizer_max_tokens).bounded(),
    )


def fitted(spec: RunSpec, dataset: Dataset, limits: tuple[ModelLimits, ModelLimits]) -> RunSpec:
    """Return the spec with the characters that prompts show of a cell, if it leaves them to the models' contexts."""
    if spec.cell_limit:
        return spec
    problem = problem_of(spec, dataset)
    batches = [problem.batch(step) for step in range(problem.steps)]
    limit = fitting_cell_limit(learner_prompts(spec, dataset), optimizer_prompts(spec, dataset), batches, limits)
    return replace(spec, cell_limit=limit)


def fitted_to(spec: RunSpec, dataset: Dataset, context_length: int) -> RunSpec:
    """Return the spec fitted to one context length for both models, in tokens; unchanged if it is 0, for unknown."""
    return fitted(spec, dataset, limits_of(spec.endpoint, context_length, context_length)) if context_length else spec


def check_prompts_fit(spec: RunSpec, dataset: Dataset, limits: tuple[ModelLimits, ModelLimits]) -> None:
    check_fit(learner_prompts(spec, dataset), optimizer_prompts(spec, dataset), limits)


HEADINGS = {"system": "Instructions", "user": "Worked example", "assistant": "Its answer"}


def as_text(messages: Sequence[Message]) -> str:
    """Return a conversation as text: the question, with each of the template's turns before it under a heading."""
    *opening, question = messages
    if not opening:
        return question["content"]
    parts = [(HEADINGS[turn["role"]], turn["content"]) for turn in opening]
    return "\n\n".join(f"{heading}\n\n{text}" for heading, text in (*parts, ("Question", question["content"])))
