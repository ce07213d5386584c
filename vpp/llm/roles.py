"""The two roles a model plays: each fills a template, calls an endpoint and reads the answer."""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from vpp.data.dataset import Dataset, Row
from vpp.hypothesis import hypothesis_id
from vpp.llm.answers import Parsed, parse_label, parse_number, parse_rule
from vpp.llm.counters import Counters
from vpp.llm.prompts import (
    learner_answer_form,
    optimizer_answer_form,
    optimizer_task,
    render_input,
    render_inputs,
    render_predictions,
    render_targets,
    seed_sentence,
)
from vpp.llm.templates import Template
from vpp.llm.wire import Completion, Message, Messages
from vpp.problem import Prediction, Proposal

ASKS = 3
"""An answer that cannot be read is asked for again twice."""
REPEATED_LIMIT = 4_000
"""Characters of an unreadable answer that are shown to the model again."""

T = TypeVar("T")
OnAnswer = Callable[[str, Prediction, int], None]
"""Called with a hypothesis' id, what it gave for a row, and how many answers that took."""


class Chat(Protocol):
    """What a role needs of an endpoint."""

    async def complete(self, messages: Messages, *, temperature: float, seed: int, max_tokens: int) -> Completion:
        """One answer. Raises EndpointError."""
        ...


@dataclass(slots=True)
class _Asking:
    """A question under way and how many wait for its answer."""

    task: asyncio.Task[Prediction]
    waiting: int = 0


class LlmLearner:
    """f(x; theta): a model at temperature 0, asked once a (hypothesis, row).

    Rows are told apart by their id, so a learner serves the rows of one table.
    """

    def __init__(
        self,
        endpoint: Chat,
        template: Template,
        dataset: Dataset,
        *,
        seed: int,
        max_tokens: int,
        counters: Counters,
        on_answer: OnAnswer | None = None,
    ) -> None:
        """`on_answer` hears of every new answer once, in the order in which they arrive."""
        self._endpoint = endpoint
        self._template = template
        self._dataset = dataset
        self._seed = seed
        self._max_tokens = max_tokens
        self._counters = counters
        self._on_answer = on_answer
        self._answer_form = learner_answer_form(dataset)
        self._memo: dict[tuple[str, int], Prediction] = {}
        self._asking: dict[tuple[str, int], _Asking] = {}

    def preload(self, entries: Iterable[tuple[str, Prediction]]) -> None:
        """Remembers (hypothesis id, prediction) pairs of an earlier session; nobody is told of them."""
        self._memo.update(((hypothesis, prediction.row), prediction) for hypothesis, prediction in entries)

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        """One prediction a row, in the order of `rows`. Raises EndpointError."""
        identity = hypothesis_id(hypothesis)
        missing = {row.id: row for row in rows if (identity, row.id) not in self._memo}
        if missing:
            await self._fetch(identity, hypothesis, missing.values())
        return tuple(self._memo[identity, row.id] for row in rows)

    def messages(self, hypothesis: str, row: Row) -> list[Message]:
        """What is first asked about a row."""
        prompt = self._template.fill(hypothesis=hypothesis, input=render_input(row), answer_form=self._answer_form)
        return [{"role": "user", "content": prompt}]

    async def _fetch(self, identity: str, hypothesis: str, rows: Iterable[Row]) -> None:
        """Waits for every row's answer. A question ends early only when nobody waits for it any more."""
        asked = {(identity, row.id): self._join(identity, hypothesis, row) for row in rows}
        try:
            done, _ = await asyncio.wait([each.task for each in asked.values()], return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for key, asking in asked.items():
                self._leave(key, asking)

    def _join(self, identity: str, hypothesis: str, row: Row) -> _Asking:
        key = (identity, row.id)
        if key not in self._asking:
            self._asking[key] = _Asking(asyncio.create_task(self._answer(identity, hypothesis, row)))
        self._asking[key].waiting += 1
        return self._asking[key]

    def _leave(self, key: tuple[str, int], asking: _Asking) -> None:
        asking.waiting -= 1
        if asking.waiting:
            return
        self._asking.pop(key, None)
        if not asking.task.cancel() and not asking.task.cancelled():
            asking.task.exception()  # marks it as seen: another row's failure has been raised

    async def _answer(self, identity: str, hypothesis: str, row: Row) -> Prediction:
        prediction, attempts = await self._ask(self.messages(hypothesis, row), row)
        if self._on_answer is not None:
            self._on_answer(identity, prediction, attempts)
        self._memo[identity, row.id] = prediction
        return prediction

    async def _ask(self, messages: list[Message], row: Row) -> tuple[Prediction, int]:
        """What the model gives, and after how many answers; an abstention where none could be read."""
        for attempt in range(1, ASKS + 1):
            completion = await self._endpoint.complete(
                messages, temperature=0.0, seed=self._seed, max_tokens=self._max_tokens
            )
            self._counters.add(learner=1)
            parsed = self._parse(completion)
            if parsed.value is not None:
                return Prediction(row=row.id, value=parsed.value, explanation=parsed.explanation), attempt
            self._counters.add(unparsable=1)
            messages = [*messages, *_complaint(completion.text, parsed.reason)]
        return _abstention(row, completion, parsed), ASKS

    def _parse(self, completion: Completion) -> Parsed[str] | Parsed[float]:
        text = _whole_lines(completion)
        if self._dataset.task == "regression":
            return _told_of_cut(parse_number(text), completion)
        return _told_of_cut(parse_label(text, self._dataset.classes), completion)


def optimizer_prompt(
    template: Template, dataset: Dataset, hypothesis: str, rows: Sequence[Row], predictions: Sequence[Prediction]
) -> str:
    """The text of what is first asked about a batch."""
    return template.fill(
        hypothesis=hypothesis,
        inputs=render_inputs(rows),
        predictions=render_predictions(predictions),
        targets=render_targets(rows),
        task=optimizer_task(dataset),
        answer_form=optimizer_answer_form(),
    )


class LlmOptimizer:
    """f_opt(theta, batch): a model that writes the next hypothesis."""

    def __init__(
        self,
        endpoint: Chat,
        template: Template,
        dataset: Dataset,
        *,
        seed_text: str,
        max_tokens: int,
        counters: Counters,
    ) -> None:
        """`seed_text` begins every hypothesis (choice 19)."""
        self._endpoint = endpoint
        self._template = template
        self._dataset = dataset
        self._seed_text = seed_text
        self._max_tokens = max_tokens
        self._counters = counters
        self._lead = _lead_pattern(seed_text, seed_sentence(dataset))

    async def propose(
        self,
        hypothesis: str,
        rows: Sequence[Row],
        predictions: Sequence[Prediction],
        *,
        temperature: float,
        seed: int,
    ) -> Proposal:
        """A revised hypothesis; a re-ask is sent `seed` plus its number. Raises EndpointError."""
        messages = self.messages(hypothesis, rows, predictions)
        for attempt in range(ASKS):
            completion = await self._endpoint.complete(
                messages, temperature=temperature, seed=seed + attempt, max_tokens=self._max_tokens
            )
            self._counters.add(optimizer=1)
            parsed = self._parse(completion)
            if parsed.value is not None:
                return Proposal(text=parsed.value, raw=completion.text, temperature=temperature, seed=seed)
            self._counters.add(unparsable=1)
            messages = [*messages, *_complaint(completion.text, parsed.reason)]
        return Proposal(text=None, raw=completion.text, temperature=temperature, seed=seed, reason=parsed.reason)

    def messages(self, hypothesis: str, rows: Sequence[Row], predictions: Sequence[Prediction]) -> list[Message]:
        """What is first asked about a batch."""
        prompt = optimizer_prompt(self._template, self._dataset, hypothesis, rows, predictions)
        return [{"role": "user", "content": prompt}]

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
        return replace(parsed, value=f"{self._seed_text} {body}")


def _lead_pattern(seed_text: str, sentence: str) -> re.Pattern[str]:
    """Copies of the seed text, its first sentence or the prior at the start of a rule, whatever their spacing."""
    prior = seed_text.removeprefix(sentence).strip()
    parts = [r"\s+".join(map(re.escape, part.split())) for part in (seed_text, sentence, prior) if part]
    return re.compile(rf"\A\s*(?:(?:{'|'.join(parts)})\s*)*")


def _whole_lines(completion: Completion) -> str:
    """The answer without a last line that was cut off: half a number is a wrong number."""
    return completion.text.rpartition("\n")[0] if completion.cut_off else completion.text


def _told_of_cut(parsed: Parsed[T], completion: Completion) -> Parsed[T]:
    if parsed.value is not None or not completion.cut_off:
        return parsed
    return replace(parsed, reason=f"{parsed.reason} (the answer was cut off at its limit of tokens)")


def _abstention(row: Row, completion: Completion, parsed: Parsed[Any]) -> Prediction:
    return Prediction(row=row.id, value=None, explanation=parsed.explanation, raw=completion.text, reason=parsed.reason)


def _complaint(raw: str, reason: str | None) -> list[Message]:
    """The unreadable answer and what is wrong with it, as the conversation goes on."""
    return [
        {"role": "assistant", "content": raw.strip()[:REPEATED_LIMIT] or "(empty)"},
        {
            "role": "user",
            "content": f"That answer could not be read: {reason}. Answer again, in exactly the asked form.",
        },
    ]
