"""The optimizer: a model that writes the next hypothesis, from a batch or from the columns alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vpp.data.dataset import Dataset, Row
from vpp.llm.answers import Parsed, parse_rule
from vpp.llm.conversation import ASKS, Chat, answer, complaint, question
from vpp.llm.counters import Counters
from vpp.llm.prompts import (
    optimizer_answer_form,
    optimizer_task,
    prior_answer_form,
    render_columns,
    render_inputs,
    render_predictions,
    render_targets,
    seed_sentence,
)
from vpp.llm.templates import Template
from vpp.llm.wire import Completion, Message
from vpp.problem import Exchange, Prediction, Proposal


@dataclass(frozen=True, slots=True, kw_only=True)
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
    ) -> list[Message]:
        """Earlier exchanges, oldest first, then the question about a batch."""
        earlier = [message for exchange in history for message in self._exchanged(exchange)]
        return [*earlier, question(self._batch_prompt(hypothesis, rows, predictions))]

    def about_columns(self) -> list[Message]:
        """The question that shows no row."""
        prompt = self.drawing.fill(
            hypothesis=self.seed_text, columns=render_columns(self.dataset), answer_form=prior_answer_form()
        )
        return [question(prompt)]

    def _exchanged(self, exchange: Exchange) -> list[Message]:
        """What was asked then, without what went before it, and the answer."""
        asked = self._batch_prompt(exchange.hypothesis, exchange.rows, exchange.predictions)
        return [question(asked), answer(exchange.raw)]

    def _batch_prompt(self, hypothesis: str, rows: Sequence[Row], predictions: Sequence[Prediction]) -> str:
        return self.refining.fill(
            hypothesis=hypothesis,
            inputs=render_inputs(rows),
            predictions=render_predictions(predictions),
            targets=render_targets(rows),
            task=optimizer_task(self.dataset),
            answer_form=optimizer_answer_form(),
        )


class LlmOptimizer:
    """f_opt(theta, batch): a model that writes the next hypothesis."""

    def __init__(self, endpoint: Chat, prompts: OptimizerPrompts, *, max_tokens: int, counters: Counters) -> None:
        """`max_tokens` bounds one answer."""
        self._endpoint = endpoint
        self._prompts = prompts
        self._max_tokens = max_tokens
        self._counters = counters
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
        """A revised hypothesis; `history` goes before the question, oldest first. Raises EndpointError."""
        messages = self._prompts.about_batch(hypothesis, rows, predictions, history)
        return await self._ask(messages, temperature=temperature, seed=seed)

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        """A hypothesis from the seed sentence and the columns alone. Raises EndpointError."""
        return await self._ask(self._prompts.about_columns(), temperature=temperature, seed=seed)

    async def _ask(self, messages: list[Message], *, temperature: float, seed: int) -> Proposal:
        """The first answer that can be read; a re-ask is sent `seed` plus its number."""
        for attempt in range(ASKS):
            completion = await self._endpoint.complete(
                messages, temperature=temperature, seed=seed + attempt, max_tokens=self._max_tokens
            )
            self._counters.add(optimizer=1)
            parsed = self._parse(completion)
            if parsed.value is not None:
                return Proposal(text=parsed.value, raw=completion.text, temperature=temperature, seed=seed)
            self._counters.add(unparsable=1)
            messages = [*messages, *complaint(completion.text, parsed.reason)]
        return Proposal(text=None, raw=completion.text, temperature=temperature, seed=seed, reason=parsed.reason)

    def _parse(self, completion: Completion) -> Parsed[str]:
        """The whole hypothesis: the seed sentence, once, and what the model wrote."""
        if completion.cut_off:
            return Parsed(value=None, reason="the answer was cut off at its limit of tokens")
        parsed = parse_rule(completion.text)
        if parsed.value is None:
            return parsed
        body = self._lead.sub("", parsed.value, count=1).strip()
        if not body:
            return Parsed(value=None, reason="the new rule only repeats its first sentence")
        return replace(parsed, value=f"{self._prompts.seed_text} {body}")


def _lead_pattern(seed_text: str, sentence: str) -> re.Pattern[str]:
    """Copies of the seed text, its first sentence or the prior at the start of a rule, whatever their spacing."""
    prior = seed_text.removeprefix(sentence).strip()
    parts = [r"\s+".join(map(re.escape, part.split())) for part in (seed_text, sentence, prior) if part]
    return re.compile(rf"\A\s*(?:(?:{'|'.join(parts)})\s*)*")
