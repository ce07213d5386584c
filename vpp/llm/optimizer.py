"""The optimizer: a model that writes the next hypothesis, from a batch or from the columns alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from vpp.data.dataset import Dataset, Row
from vpp.errors import PromptTooLong
from vpp.llm.answers import Parsed
from vpp.llm.context import fits, most_that_fit
from vpp.llm.conversation import ASKS, Chat, answer, asked_anew, cut_off_words, question
from vpp.llm.counters import Counters
from vpp.llm.forms import optimizer_form, prior_form
from vpp.llm.guards import Guard
from vpp.llm.prompts import (
    NO_RULE,
    optimizer_task,
    outputs_of,
    render_columns,
    render_inputs,
    render_mistakes,
    render_predictions,
    render_rows,
    render_targets,
    render_values,
    rule_of,
    seed_sentence,
    turned_columns,
    units,
)
from vpp.llm.protocol import Completion, Message
from vpp.llm.rules import parse_rule
from vpp.llm.templates import Template
from vpp.problem import Exchange, Prediction, Proposal

THOUGHTS_LIMIT = 2_000
"""Characters of a thinking model's thoughts that are kept."""


@dataclass(frozen=True, kw_only=True)
class OptimizerPrompts:
    """All that the optimizer is first asked, in words that depend on nothing else."""

    dataset: Dataset
    refining: Template
    """Role `optimizer`."""
    drawing: Template
    """Role `prior`."""
    seed_text: str
    """What every hypothesis begins with (choice 19)."""

    def about_batch(
        self,
        hypothesis: str,
        rows: Sequence[Row],
        predictions: Sequence[Prediction],
        history: Sequence[Exchange] = (),
        *,
        seed: int = 0,
    ) -> list[Message]:
        """Earlier exchanges, oldest first, then the question about a batch.

        `seed` puts the columns in order and, where there is a rule to improve, the worked examples.
        """
        earlier = [message for exchange in history for message in self._exchanged(exchange)]
        asked = question(self._batch_prompt(hypothesis, rows, predictions, seed))
        is_first = rule_of(self.dataset, hypothesis) == NO_RULE
        return [*self.refining.opening_for(0 if is_first else seed), *earlier, asked]

    def about_columns(self) -> list[Message]:
        """The question that shows no row."""
        prompt = self.drawing.fill(
            hypothesis=self.seed_text,
            rule=rule_of(self.dataset, self.seed_text),
            columns=render_columns(self.dataset),
            outputs=self._outputs,
            answer_form=prior_form(self.drawing.style),
        )
        return [*self.drawing.opening, question(prompt)]

    def _exchanged(self, exchange: Exchange) -> list[Message]:
        """What was asked then, without what went before it, and the answer."""
        asked = self._batch_prompt(exchange.hypothesis, exchange.rows, exchange.predictions, 0)
        return [question(asked), answer(exchange.raw)]

    def _batch_prompt(self, hypothesis: str, rows: Sequence[Row], predictions: Sequence[Prediction], seed: int) -> str:
        turned = tuple(turned_columns(row, seed) for row in rows)
        inputs, targets = _shown(tuple(rows), self._units) if self.refining.slots & {"inputs", "targets"} else ("", "")
        rule = rule_of(self.dataset, hypothesis)
        is_listed = "mistakes" in self.refining.slots and rule != NO_RULE
        return self.refining.fill(
            hypothesis=hypothesis,
            rule=rule,
            inputs=inputs,
            rows=_by_output(turned, self._units) if "rows" in self.refining.slots else "",
            values=_by_column(turned, self._units) if "values" in self.refining.slots else "",
            predictions=render_predictions(predictions),
            mistakes=render_mistakes(turned, predictions, dict(self._units)) if is_listed else NO_RULE,
            targets=targets,
            task=self._task,
            outputs=self._outputs,
            answer_form=optimizer_form(self.refining.style),
        )

    @property
    def instructions(self) -> str:
        """All fixed words of both prompts: templates, task and answer forms."""
        refining, drawing = self.refining, self.drawing
        forms = optimizer_form(refining.style), prior_form(drawing.style)
        return "\n".join((refining.instructions, drawing.instructions, self._task, *forms))

    @property
    def examples(self) -> str:
        """The worked examples of both prompts; empty where there are none."""
        return f"{self.refining.examples}\n\n{self.drawing.examples}".strip()

    @cached_property
    def guard(self) -> Guard:
        """Refuses proposals that are no rule for this table."""
        return Guard(
            dataset=self.dataset, seed_text=self.seed_text, instructions=self.instructions, examples=self.examples
        )

    @cached_property
    def _units(self) -> tuple[tuple[str, str], ...]:
        return tuple(units(self.dataset).items())

    @cached_property
    def _task(self) -> str:
        return optimizer_task(self.dataset)

    @cached_property
    def _outputs(self) -> str:
        return outputs_of(self.dataset)


@lru_cache(maxsize=16)
def _shown(rows: tuple[Row, ...], units: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """Inputs and targets of a batch, which every particle of a step is shown alike."""
    return render_inputs(rows, dict(units)), render_targets(rows)


@lru_cache(maxsize=16)
def _by_output(rows: tuple[Row, ...], units: tuple[tuple[str, str], ...]) -> str:
    """Rows of a batch with their outputs, which every particle of a step is shown alike."""
    return render_rows(rows, dict(units))


@lru_cache(maxsize=16)
def _by_column(rows: tuple[Row, ...], units: tuple[tuple[str, str], ...]) -> str:
    """The same column by column, which every particle of a step is shown alike."""
    return render_values(rows, dict(units))


class LlmOptimizer:
    """f_opt(theta, batch): a model that writes the next hypothesis."""

    def __init__(
        self,
        endpoint: Chat,
        prompts: OptimizerPrompts,
        *,
        max_tokens: int,
        counters: Counters,
        context_length: int = 0,
    ) -> None:
        """`max_tokens` bounds one answer; `context_length` in tokens, prompt and answer together, 0 where unknown."""
        self._endpoint = endpoint
        self._prompts = prompts
        self._max_tokens = max_tokens
        self._counters = counters
        self._context_length = context_length
        self._lead = _lead_pattern(prompts.seed_text, seed_sentence(prompts.dataset))

    async def propose(
        self,
        hypothesis: str,
        rows: Sequence[Row],
        predictions: Sequence[Prediction],
        *,
        temperature: float,
        seed: int,
        history: Sequence[Exchange] = (),
    ) -> Proposal:
        """A revised hypothesis; `history` goes before the question, oldest first. Raises EndpointError.

        Where that does not fit the context, earlier exchanges and then the last rows are left out.
        """
        messages, shown = self._fitting(hypothesis, rows, predictions, history, seed)
        while True:
            try:
                proposal = await self._ask(messages, parent=hypothesis, temperature=temperature, seed=seed)
                return replace(proposal, shown=shown)
            except PromptTooLong as refusal:
                self._counters.add(unparsable=1)
                count = len(rows) if shown is None else shown
                if count == 1:
                    reason = f"the prompt does not fit, though it shows one row: {refusal}"
                    return Proposal(text=None, raw="", temperature=temperature, seed=seed, reason=reason, shown=1)
                shown = len(rows) if shown is None and history else count // 2
                messages = self._prompts.about_batch(hypothesis, rows[:shown], predictions[:shown], seed=seed)

    def _fitting(
        self,
        hypothesis: str,
        rows: Sequence[Row],
        predictions: Sequence[Prediction],
        history: Sequence[Exchange],
        seed: int,
    ) -> tuple[list[Message], int | None]:
        """What to ask, and of how many rows where that is not all that was to be shown."""

        def about(count: int) -> list[Message]:
            return self._prompts.about_batch(hypothesis, rows[:count], predictions[:count], seed=seed)

        def has_room(messages: list[Message]) -> bool:
            return fits(messages, max_tokens=self._max_tokens, context_length=self._context_length)

        whole = self._prompts.about_batch(hypothesis, rows, predictions, history, seed=seed)
        if has_room(whole):
            return whole, None
        shown = most_that_fit(len(rows), lambda count: has_room(about(count)))
        return about(shown), shown

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        """A hypothesis from the seed sentence and the columns alone. Raises EndpointError."""
        parent = self._prompts.seed_text
        return await self._ask(self._prompts.about_columns(), parent=parent, temperature=temperature, seed=seed)

    async def _ask(self, messages: list[Message], *, parent: str, temperature: float, seed: int) -> Proposal:
        """The first answer that is a rule; a re-ask is sent `seed` plus its number, where there is room for it."""
        faults: list[str] = []
        for attempt in range(ASKS):
            asked = asked_anew(messages, faults)
            try:
                completion = await self._endpoint.complete(
                    asked, temperature=temperature, seed=seed + attempt, max_tokens=self._max_tokens
                )
            except PromptTooLong:
                if not attempt:
                    raise
                break
            self._counters.add(optimizer=1)
            given = self._read(completion, parent, temperature=temperature, seed=seed)
            if given.text is not None:
                break
            self._counters.add(**{"refused" if given.refused else "unparsable": 1})
            faults.append(given.reason or "")
        return given

    def _read(self, completion: Completion, parent: str, *, temperature: float, seed: int) -> Proposal:
        """What the answer proposes, or why it is unreadable or no rule for this table."""
        parsed = self._parse(completion)
        fault = None if parsed.value is None else self._prompts.guard.fault(parsed.value, parent=parent)
        return Proposal(
            text=None if parsed.value is None or fault else f"{self._prompts.seed_text} {parsed.value}",
            raw=completion.text,
            temperature=temperature,
            seed=seed,
            reason=fault or parsed.reason,
            refused=fault is not None,
            thoughts=(completion.reasoning or "")[:THOUGHTS_LIMIT],
        )

    def _parse(self, completion: Completion) -> Parsed[str]:
        """What the model wrote as its rule, without copies of the seed text at its start."""
        if completion.cut_off:
            return Parsed(value=None, reason=cut_off_words(completion))
        parsed = parse_rule(completion.text)
        if parsed.value is None:
            return parsed
        body = self._lead.sub("", parsed.value, count=1).strip()
        if not body:
            return Parsed(value=None, reason="the new rule only repeats its first sentence")
        return replace(parsed, value=body)


def _lead_pattern(seed_text: str, sentence: str) -> re.Pattern[str]:
    """Copies of the seed text, its first sentence or the prior at the start of a rule, whatever their spacing."""
    prior = seed_text.removeprefix(sentence).strip()
    parts = [r"\s+".join(map(re.escape, part.split())) for part in (seed_text, sentence, prior) if part]
    return re.compile(rf"\A\s*(?:(?:{'|'.join(parts)})\s*)*")
