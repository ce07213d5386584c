"""A run's prompts and rows, its first journal record, and the check that the prompts fit the models' contexts."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, cast

from vpp.data.dataset import Dataset
from vpp.events import RunStarted
from vpp.llm.choices import Role
from vpp.llm.context import ModelLimits, check_fit, fitting_cell_limit, longest_rows
from vpp.llm.forms import Carrier, carrier_for
from vpp.llm.prompts import LearnerPrompts, OptimizerPrompts, seed_sentence
from vpp.llm.templates import Template, lettered, template_of
from vpp.problem import Problem
from vpp.runs.spec import EndpointSpec, RunSpec


def learner_prompts(spec: RunSpec, dataset: Dataset) -> LearnerPrompts:
    """Return the prompts of the run's learner."""
    template = learner_template(spec)
    carrier = None if template.style == "letter" else carrier_of(spec)
    return LearnerPrompts(dataset=dataset, template=template, carrier=carrier, cell_limit=spec.cell_limit)


def learner_template(spec: RunSpec) -> Template:
    """Return the run's own template, or the one that asks for letters if log-probabilities are read."""
    own = template_of(spec.learner_template, role="learner")
    return lettered() if spec.config.likelihood == "logprobs" and own.style != "letter" else own


def own_templates(spec: RunSpec) -> dict[Role, str | None]:
    """Return the recorded text of each role's template; None where the prompts use a built-in one."""
    is_replaced = spec.learner_template is not None and learner_template(spec).text != spec.learner_template
    return {**spec.templates, "learner": None} if is_replaced else spec.templates


def optimizer_prompts(spec: RunSpec, dataset: Dataset) -> OptimizerPrompts:
    """Return the prompts of the run's optimizer."""
    return OptimizerPrompts(
        dataset=dataset,
        refining=template_of(spec.optimizer_template, role="optimizer"),
        drawing=template_of(spec.prior_template, role="prior"),
        seed_text=seed_sentence(dataset, spec.config.prior),
        cell_limit=spec.cell_limit,
    )


def carrier_of(spec: RunSpec) -> Carrier | None:
    """Return the carrier of structured answers; None for free text, as until the server has been tested."""
    return None if spec.endpoint.is_demo else carrier_for(spec.endpoint.structured, spec.structured_as)


def problem_of(spec: RunSpec, dataset: Dataset) -> Problem:
    """Return the run's rows in the order of its steps, without models: a caller that asks them adds them."""
    nobody = cast(Any, None)
    config = spec.config
    return Problem(
        dataset=dataset,
        learner=nobody,
        optimizer=nobody,
        seed_text=seed_sentence(dataset, config.prior),
        start_texts=spec.start,
        start_prior=spec.start_prior,
        start_origin="continued" if spec.is_continued else "yours",
        reworded=spec.reworded,
        batch_size=config.batch_size,
        epochs=config.epochs,
        seed=config.seed,
        buffer_repeats=config.buffer_repeats,
    )


def start_of(spec: RunSpec, dataset: Dataset, *, versions: Mapping[str, str]) -> RunStarted:
    """Return the event that opens the journal. versions: of the libraries in use, by name."""
    learner, prompts = learner_template(spec), optimizer_prompts(spec, dataset)
    return RunStarted(
        config=asdict(spec.config),
        dataset=spec.dataset,
        seed_text=prompts.seed_text,
        steps=spec.config.epochs * -(-len(dataset.train) // spec.config.batch_size),
        templates={"learner": learner.sha256, "optimizer": prompts.refining.sha256, "prior": prompts.drawing.sha256},
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
    limit = fitting_cell_limit(
        learner_prompts(spec, dataset),
        optimizer_prompts(spec, dataset),
        [problem.batch(step) for step in range(problem.steps)],
        limits=limits,
    )
    return replace(spec, cell_limit=limit)


def fitted_to(spec: RunSpec, dataset: Dataset, context_length: int) -> RunSpec:
    """Return the spec fitted to one context length for both models, in tokens; unchanged if it is 0, for unknown."""
    return fitted(spec, dataset, limits_of(spec.endpoint, context_length, context_length)) if context_length else spec


COUNTED_ROWS, COUNTED_CHARACTERS = 3, 50_000
"""Longest rows whose tokens a server counts, and the characters of each."""


def longest_prompts(spec: RunSpec, dataset: Dataset) -> list[str]:
    """Return what the learner is asked about the longest rows, as text, for a server's tokenizer."""
    rows = longest_rows(dataset.labelled, COUNTED_ROWS, spec.cell_limit)
    prompts = learner_prompts(spec, dataset)
    asked = (prompts.messages(seed_sentence(dataset, spec.config.prior), row) for row in rows)
    return ["\n".join(message["content"] for message in messages)[-COUNTED_CHARACTERS:] for messages in asked]


def check_prompts_fit(spec: RunSpec, dataset: Dataset, limits: tuple[ModelLimits, ModelLimits]) -> None:
    """Raise InputError if the run's prompts cannot fit the models' contexts."""
    check_fit(
        learner_prompts(spec, dataset),
        optimizer_prompts(spec, dataset),
        learner_limits=limits[0],
        optimizer_limits=limits[1],
    )
