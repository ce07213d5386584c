"""What the optimizer was asked: prompts are not stored, since template, data and journal rebuild them to the letter."""

from collections.abc import Mapping

from vpp.data.dataset import Dataset, Row
from vpp.llm.roles import optimizer_prompt
from vpp.problem import Prediction, batch_length
from vpp.runs.session import template_of
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView, StepView


class PromptMaker:
    """Rebuilds the first question of each proposal of a run; a re-ask adds the answer and names its fault."""

    def __init__(self, spec: RunSpec, dataset: Dataset) -> None:
        self._dataset = dataset
        self._template = template_of(spec.optimizer_template, role="optimizer")
        self._rows: Mapping[int, Row] = {row.id: row for row in dataset.train}
        self._batch_size = spec.config.batch_size

    def proposal(self, view: RunView, step: int, slot: int) -> str | None:
        """What a slot's proposal at a step answered; None where it was not proposed yet."""
        at = view.steps.get(step)
        if at is None or slot not in at.proposed:
            return None
        scored = at.scored[_ancestor(at, slot)]
        size = batch_length(step, n_train=len(self._dataset.train), batch_size=self._batch_size)
        rows = scored.rows[-size:]
        said = zip(rows, scored.predictions[-size:], strict=True)
        return optimizer_prompt(
            self._template,
            self._dataset,
            view.texts[at.proposed[slot].parent],
            [self._rows[row] for row in rows],
            [Prediction(row=row, value=value) for row, value in said],
        )


def _ancestor(step: StepView, slot: int) -> int:
    """The slot whose score the proposal was shown."""
    return step.resampled.ancestors[slot] if step.resampled else slot
