"""The optimizer's prompts. They are not stored: templates, data and journal rebuild them to the letter."""

from collections.abc import Callable, Mapping, Sequence

from vpp.data.dataset import Dataset, Row, Value
from vpp.llm.protocol import Message
from vpp.problem import Prediction
from vpp.randomness import call_seed
from vpp.runs.answers import AnswerReader
from vpp.runs.run_prompts import optimizer_prompts, problem_of
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView, StepView

KnownAnswers = Mapping[tuple[str, int], Value | None]
"""Answers by hypothesis id and row id."""


class PromptMaker:
    """Rebuilds the first prompt of each proposal of a run; a re-ask adds the answer and names its fault."""

    def __init__(self, spec: RunSpec, dataset: Dataset, *, answers: Callable[[], AnswerReader] | None = None) -> None:
        """answers: reads the learner's answers; called only where a step's scores leave out rows of its batch."""
        self._answers = answers
        self._read: KnownAnswers | None = None
        self._prompts = optimizer_prompts(spec, dataset)
        self._rows: Mapping[int, Row] = {row.id: row for row in dataset.train}
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
        if at.proposed[slot].origin == "prior":
            return self._prompts.about_columns()
        return self._about_batch(view, step, slot)

    def _all_answers(self) -> KnownAnswers:
        """Every answer of the learner; read once."""
        if self._read is None:
            pairs = self._answers().by_pair if self._answers else {}
            self._read = {pair: prediction.value for pair, prediction in pairs.items()}
        return self._read

    def _about_batch(self, view: RunView, step: int, slot: int) -> list[Message] | None:
        """Return the question about a batch; None if an answer of the parent is unknown."""
        at = view.steps[step]
        proposed = at.proposed[slot]
        rows = self._batches.batch(step)[: proposed.shown]
        known: dict[int, Value | None] = _scored(at, proposed.parent)
        if any(row.id not in known for row in rows):
            known |= {row: value for (text, row), value in self._all_answers().items() if text == proposed.parent}
        if any(row.id not in known for row in rows):
            return None
        predictions = [Prediction(row=row.id, value=known[row.id]) for row in rows]
        seed = call_seed(self._seed, "propose", step, slot)
        return self._prompts.about_batch(view.texts[proposed.parent], rows, predictions, seed=seed)


def _scored(step: StepView, hypothesis: str) -> dict[int, Value | None]:
    """Return the hypothesis' answers in the step's scores, by row id; they are the same in every slot."""
    return {
        row: value
        for scored in step.scored.values()
        if scored.hypothesis == hypothesis
        for row, value in zip(scored.rows, scored.predictions, strict=True)
    }


HEADINGS = {"system": "Instructions", "user": "Worked example", "assistant": "Its answer"}
"""Headings of the template's own turns, by role."""


def as_text(messages: Sequence[Message]) -> str:
    """Return a conversation as text: the question, with each of the template's turns before it under a heading."""
    *opening, question = messages
    if not opening:
        return question["content"]
    parts = [(HEADINGS[turn["role"]], turn["content"]) for turn in opening]
    return "\n\n".join(f"{heading}\n\n{text}" for heading, text in (*parts, ("Question", question["content"])))
