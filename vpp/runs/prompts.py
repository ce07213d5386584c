"""Prompts and rows of a run; the optimizer's are not stored: templates, data and journal rebuild them to the letter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from itertools import repeat
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
from vpp.llm.protocol import SCHEMA, Message
from vpp.llm.templates import Template, lettered, packaged, template_of
from vpp.problem import Prediction, Problem, n_pool
from vpp.programs.columns import Columns
from vpp.programs.source import read_program
from vpp.randomness import call_seed
from vpp.runs.journal import AnswerReader
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import RunView, StepView


def learner_prompts(spec: RunSpec, dataset: Dataset) -> LearnerPrompts:
    template = learner_template(spec)
    held = template.style != "letter" and is_structured(spec)
    return LearnerPrompts(dataset=dataset, template=template, is_structured=held, cell_limit=spec.cell_limit)


def program_prompts(spec: RunSpec, dataset: Dataset) -> ProgramPrompts:
    return ProgramPrompts(dataset=dataset, columns=Columns(dataset), cell_limit=spec.cell_limit)


def learner_template(spec: RunSpec) -> Template:
    """Return the run's own template, or the one that asks for letters if log-probabilities are read."""
    own = template_of(spec.learner_template, role="learner")
    return lettered() if spec.config.likelihood == "logprobs" and own.style != "letter" else own


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
        templates |= {role: packaged(role).sha256 for role in ("program", "question")}
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


class PromptMaker:
    """Rebuilds the first prompt of each proposal of a run; a re-ask adds the answer and names its fault."""

    def __init__(self, spec: RunSpec, dataset: Dataset, *, answers: Callable[[], AnswerReader]) -> None:
        """answers: reads the learner's answers; called once, when a prompt is asked for."""
        self._answers = cache(answers)
        self._prompts = optimizer_prompts(spec, dataset)
        self._rows = {row.id: row for row in dataset.train}
        self._columns = Columns(dataset)
        self._batches = problem_of(spec, dataset)
        self._seed = spec.config.seed

    def proposal(self, view: RunView, step: int, slot: int) -> str | None:
        """Return the prompt of a slot's proposal at a step as text; None if it is not known (yet)."""
        messages = self.messages(view, step, slot)
        return None if messages is None else as_text(messages)

    def messages(self, view: RunView, step: int, slot: int) -> list[Message] | None:
        """Return the first conversation of a slot's proposal at a step; None if it is not known (yet)."""
        at = view.steps.get(step)
        if at is None or slot not in at.proposed:
            return None
        proposed = at.proposed[slot]
        if proposed.origin == "prior":
            return self._prompts.about_columns()
        batch = at.finished.batch if at.finished else tuple(row.id for row in self._batches.batch(step))
        rows = [self._rows[row] for row in (proposed.rows or batch)[: proposed.shown]]
        known = self._known(at, proposed.parent)
        if any(row.id not in known for row in rows):
            return None
        predictions = [known[row.id] for row in rows]
        seed = call_seed(self._seed, "propose", step, slot)
        return self._prompts.about_batch(view.texts[proposed.parent], rows, predictions, seed=seed)

    def _known(self, at: StepView, hypothesis: str) -> dict[int, Prediction]:
        """Predictions by row id: from the step's scores, else as the learner answered."""
        answers = self._answers()
        translation, program = answers.translations.get(hypothesis), None
        if translation and translation.code is not None:
            program = read_program(translation.code, self._columns.aliases, self._columns.texts)
        known: dict[int, Prediction] = {}
        for scored in (each for each in at.scored.values() if each.hypothesis == hypothesis):
            values = zip(scored.rows, scored.predictions, scored.branches or repeat(None), strict=False)
            for row, value, branch in values:
                words = program.words(branch) if program and branch is not None else ""
                known[row] = Prediction(row=row, value=value, branch=branch, explanation=words)
        if program is None:
            known = {row: each for (text, row), each in answers.by_pair.items() if text == hypothesis} | known
        return known


HEADINGS = {"system": "Instructions", "user": "Worked example", "assistant": "Its answer"}


def as_text(messages: Sequence[Message]) -> str:
    """Return a conversation as text: the question, with each of the template's turns before it under a heading."""
    *opening, question = messages
    if not opening:
        return question["content"]
    parts = [(HEADINGS[turn["role"]], turn["content"]) for turn in opening]
    return "\n\n".join(f"{heading}\n\n{text}" for heading, text in (*parts, ("Question", question["content"])))
