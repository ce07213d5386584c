"""The optimizer's prompts. They are not stored: templates, data and journal rebuild them to the letter."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from vpp.data.dataset import Dataset, Row
from vpp.errors import RunError
from vpp.llm.protocol import Message
from vpp.randomness import call_seed
from vpp.runs.answers import AnswerReader
from vpp.runs.exchanges import KnownAnswers, exchange_of, remembered
from vpp.runs.run_prompts import optimizer_prompts, problem_of
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView


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
        asked = self.messages(view, step, slot)
        if asked is None:
            return None
        is_draw = view.steps[step].proposed[slot].origin == "prior"
        template = self._prompts.drawing if is_draw else self._prompts.refining
        return as_text(asked, opening=len(template.opening))

    def messages(self, view: RunView, step: int, slot: int) -> list[Message] | None:
        """Return the first conversation of a slot's proposal at a step; None if it is not known (yet)."""
        at = view.steps.get(step)
        if at is None or slot not in at.proposed:
            return None
        if at.proposed[slot].origin == "prior":
            return self._prompts.about_columns()
        with suppress(RunError):  # an answer is unknown
            return self._about_batch(view, step, slot)
        return None

    def _all_answers(self) -> KnownAnswers:
        """Every answer of the learner; read once."""
        if self._read is None:
            pairs = self._answers().by_pair if self._answers else {}
            self._read = {pair: prediction.value for pair, prediction in pairs.items()}
        return self._read

    def _about_batch(self, view: RunView, step: int, slot: int) -> list[Message]:
        batch = [row.id for row in self._batches.batch(step)]
        shown = exchange_of(view, self._rows, (step, slot), batch=batch, answers=self._all_answers)
        is_whole = view.steps[step].proposed[slot].shown is None
        earlier = remembered(view, step, slot) if is_whole else None
        history = () if earlier is None else (exchange_of(view, self._rows, earlier, answers=self._all_answers),)
        seed = call_seed(self._seed, "propose", step, slot)
        return self._prompts.about_batch(shown.hypothesis, shown.rows, shown.predictions, history, seed=seed)


EXAMPLE_HEADINGS = {"system": "Instructions", "user": "Worked example", "assistant": "Its answer"}
"""Headings of the template's own turns, by role."""
EARLIER_HEADINGS = {"system": "Instructions", "user": "Earlier question", "assistant": "Earlier answer"}
"""Headings of earlier exchanges of the run, by role."""


def as_text(messages: Sequence[Message], *, opening: int = 0) -> str:
    """Return a conversation as text: the question, with each earlier turn under a plain heading.

    opening: how many of the first turns are the template's own instructions and worked examples.
    """
    *earlier, question = messages
    if not earlier:
        return question["content"]
    headings = [EXAMPLE_HEADINGS] * opening + [EARLIER_HEADINGS] * (len(earlier) - opening)
    parts = [(named[turn["role"]], turn["content"]) for named, turn in zip(headings, earlier, strict=True)]
    return "\n\n".join(f"{heading}\n\n{text}" for heading, text in (*parts, ("Question", question["content"])))
