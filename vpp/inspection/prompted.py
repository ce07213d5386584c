"""Prompted baselines of a run beside its simple models: the learner without a rule, and with examples instead."""

from dataclasses import replace

from vpp.data.dataset import Dataset
from vpp.inspection.baselines import Baselines, SimpleModel
from vpp.inspection.scores import score
from vpp.runs.directory import RunDirectory
from vpp.runs.prompted import Prompted, PromptedBaselines, read_prompted


def with_prompted(simple: Baselines, directory: RunDirectory, dataset: Dataset) -> Baselines:
    """Add the answers that `vpp baseline` kept for these test rows, if any."""
    found = read_prompted(directory)
    if found is None or found.rows != tuple(row.id for row in dataset.test):
        return simple
    return replace(simple, models=(*simple.models, *(_model(each, found, dataset) for each in found.models)))


def _model(prompted: Prompted, found: PromptedBaselines, dataset: Dataset) -> SimpleModel:
    return SimpleModel(
        name=prompted.name,
        about=f"{_about(prompted, dataset)} {prompted.calls:,} learner calls; the run needed {found.run_calls:,}.",
        answers=prompted.answers,
        score=score(prompted.answers, dataset.test, dataset),
    )


def _about(prompted: Prompted, dataset: Dataset) -> str:
    """Say how the learner was asked."""
    if prompted.name == "zero-shot":
        return "The run\N{RIGHT SINGLE QUOTATION MARK}s learner asked without any rule."
    shown = f"{prompted.examples} training rows as examples instead of a rule"
    if prompted.name == "few-shot":
        return f"The learner with {shown}."
    how = "the majority" if dataset.task == "classification" else "the mean"
    return f"The learner with {shown}, drawn anew in each of {prompted.questions} questions a row: {how} counts."
