"""The learner: a model that applies a hypothesis to rows, a request each."""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from vpp.data.dataset import Row
from vpp.errors import EndpointRefused, PromptRefused
from vpp.events import hypothesis_id
from vpp.llm.answers import (
    LETTERS,
    NO_LETTER,
    NO_LOGPROBS,
    Parsed,
    graded,
    letter_shares,
    parse_label,
    parse_number,
    pooled,
)
from vpp.llm.conversation import Chat, Question, RoleChat, SharedRequests, cut_off_words
from vpp.llm.limits import Counters
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.protocol import Completion, Message
from vpp.problem import Prediction
from vpp.runtime import cancel

THOUGHTS_LIMIT = 1_000
"""Characters of a thinking model's thoughts that are recorded with a readable answer."""
OnAnswer = Callable[[str, Prediction, int], None]
"""Called with a hypothesis' id, its prediction for a row, and the number of answers that this took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerOptions:
    """Options of the learner."""

    seed: int
    max_tokens: int
    """Tokens of an answer about one row."""
    temperature: float = 0.0
    samples: int = 1
    """Answers per row. From 2, a prediction holds each label's share of them."""


class LlmLearner:
    """f(x; theta): a model asked once for each pair of hypothesis and row.

    Rows are identified by their id, so a learner serves one table.
    """

    def __init__(
        self,
        endpoint: Chat,
        prompts: LearnerPrompts,
        options: LearnerOptions,
        *,
        counters: Counters,
        on_answer: OnAnswer = lambda *_: None,
    ) -> None:
        """`on_answer` is called once for each new answer when it arrives."""
        self._prompts = prompts
        self._options = options
        self._counters = counters
        self._on_answer = on_answer
        self._chat = RoleChat(endpoint, counters, "learner")
        self._parse = _parser(prompts)
        self._answers: dict[Question, Prediction] = {}
        self._requests = SharedRequests()

    def preload(self, entries: Iterable[tuple[str, Prediction]]) -> None:
        """Keep (hypothesis id, prediction) pairs of an earlier session, without calling `on_answer`."""
        for hypothesis, prediction in entries:
            self._keep(hypothesis, prediction)

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        """Return one prediction a row, in the order of `rows`, without thoughts. Raises EndpointError."""
        identity = hypothesis_id(hypothesis)
        questions = {(identity, row.id): row for row in rows if (identity, row.id) not in self._answers}
        if questions:
            await self._requests.wait({at: partial(self._answer, hypothesis, row) for at, row in questions.items()})
        return tuple(self._answers[identity, row.id] for row in rows)

    async def _answer(self, hypothesis: str, row: Row) -> None:
        ask, messages = self._ask, self._prompts.messages(hypothesis, row)
        if self._prompts.is_lettered:
            ask = self._ask_for_letter
        elif self._options.samples > 1:
            ask = self._ask_for_samples
        try:
            prediction, attempts = await ask(messages, row, self._options.seed)
        except PromptRefused as refusal:
            self._counters.add(unparsable=1)
            prediction, attempts = Prediction(row=row.id, value=None, raw="", reason=refusal.words), 1
        self._counters.add(contradictory=contradicts(prediction, hypothesis, self._prompts.dataset.classes))
        self._on_answer(hypothesis_id(hypothesis), prediction, attempts)
        self._keep(hypothesis_id(hypothesis), prediction)

    def _keep(self, hypothesis: str, prediction: Prediction) -> None:
        """Keep an answer without its thoughts, which are long and used nowhere."""
        self._chat.has_answered |= prediction.value is not None
        self._answers[hypothesis, prediction.row] = replace(prediction, thoughts="")

    async def _ask(self, messages: list[Message], row: Row, seed: int) -> tuple[Prediction, int]:
        return await self._chat.until_read(
            messages,
            partial(self._read, row),
            seed=seed,
            temperature=float(self._options.temperature),
            max_tokens=self._options.max_tokens,
            structured=self._prompts.structure,
        )

    async def _ask_for_samples(self, messages: list[Message], row: Row, seed: int) -> tuple[Prediction, int]:
        n = self._options.samples
        # so that runs of other seeds draw other answers
        tasks = [asyncio.ensure_future(self._ask(messages, row, seed * n + k)) for k in range(n)]
        try:
            return pooled(await asyncio.gather(*tasks))
        finally:
            await cancel(tasks)

    async def _ask_for_letter(self, messages: list[Message], row: Row, seed: int) -> tuple[Prediction, int]:
        labels = self._prompts.dataset.classes
        options = {"temperature": float(self._options.temperature), "max_tokens": 1, "top_logprobs": len(LETTERS)}
        completion = await self._chat.complete(messages, seed=seed, **options)
        if not completion.first_tokens:
            raise EndpointRefused(NO_LOGPROBS)
        shares = letter_shares(completion.first_tokens, len(labels))
        prediction = graded(row.id, dict(zip(labels, shares, strict=True)))
        if prediction.value is None:
            self._counters.add(unparsable=1)
            prediction = replace(prediction, raw=completion.text, reason=NO_LETTER)
        return prediction, 1

    def _read(self, row: Row, completion: Completion) -> Prediction:
        """Return the value that an answer gives, or an abstention that holds the whole answer and all its thoughts.

        A last line that was cut off is left out: half a number is a wrong number.
        """
        text = completion.text.rpartition("\n")[0] if completion.cut_off else completion.text
        read = self._parse(text)
        is_read, reason = read.value is not None, read.reason
        if not is_read and completion.cut_off:
            cut = cut_off_words(completion)
            reason = f"{reason} ({cut})" if text.strip() else cut
        return Prediction(
            row=row.id,
            value=read.value,
            explanation=read.explanation,
            raw=None if is_read else completion.text,
            reason=reason,
            thoughts=(completion.reasoning or "")[: THOUGHTS_LIMIT if is_read else None],
        )


def _parser(prompts: LearnerPrompts) -> Callable[[str], Parsed[str] | Parsed[float]]:
    dataset, expected = prompts.dataset, None
    if dataset.task == "classification":
        return lambda text: parse_label(text, dataset.classes)
    if targets := [float(row.target) for row in dataset.train if row.target is not None]:
        expected = min(targets), max(targets)
    unit = prompts.units.get(dataset.target, "")
    return lambda text: parse_number(text, unit=unit, expected=expected)


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_CONCLUSION = re.compile(r"\b(?:so|therefore|thus|hence|answer|output|label)\b")
_OTHERWISE = re.compile(r"\b(?:otherwise|others?|else)\b")


def contradicts(prediction: Prediction, rule: str, classes: tuple[str, ...]) -> bool:
    """Return whether a label contradicts its own explanation, as far as that can be read.

    The explanation concludes with another label, or its last condition fails and the rule's `otherwise` gives another.
    """
    *before, last = _SENTENCE_END.split(prediction.explanation.casefold().strip())
    due = {_label_after(_CONCLUSION, last, classes)}
    if before and before[-1].rstrip(".!").endswith((" no", " fails")) and _CONCLUSION.search(last):
        due.add(_label_after(_OTHERWISE, rule.casefold(), classes))
    return prediction.value is not None and not due <= {None, prediction.value}


def _label_after(mark: re.Pattern[str], text: str, classes: tuple[str, ...]) -> str | None:
    """Return the one label in the words after the last mark; None if there is none or several, or a `not`."""
    *before, words = mark.split(text)
    named = [label for label in classes if re.search(rf"(?<!\w){re.escape(label.casefold())}(?!\w)", words)]
    return named[0] if before and len(named) == 1 and "not" not in words.split() else None
