"""The learner, a model that applies a hypothesis to rows; and how a role asks: calls counted, shared, and repeated."""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar

from vpp.answers import Parsed, parse_label, parse_number, quotation
from vpp.data.dataset import Row
from vpp.errors import EndpointRefused, EndpointUnreachable, PromptRefused
from vpp.events import Counters, hypothesis_id
from vpp.llm.prompts import LETTERS, LearnerPrompts, question
from vpp.llm.protocol import FIX_MODEL, FIX_THOUGHTS, OF_PROMPT, PROMPT_BLOCKED, Completion
from vpp.llm.templates import Message, Messages
from vpp.posterior.prediction import winner
from vpp.problem import Prediction, Proposal
from vpp.runtime import cancel

ASKS = 3
"""Attempts at a readable answer: the question, and two repetitions."""
REFUSED = "An earlier answer was refused:"
CUT_OFF = "it was cut off at its limit of tokens: explain in one short sentence"
LEAST_EMPTY, LEAST_UNREAD, MOST_IN_VAIN = 10, {"learner": 100, "optimizer": 30}, 512
"""Refused calls, or empty answers, at which a role ends if none before could be read; answers of other text, which are
more than a learner gives about a batch and no rule; and the most of both while more calls are in flight."""
FIX_UNREAD = "take a model that follows instructions, other prompts (--templates), or more tokens (--limit {}=N)"
T = TypeVar("T", Prediction, Proposal)
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
OnAnswer = Callable[[str, Prediction, int], None]
"""Called with a hypothesis' id, its prediction for a row, and the number of answers that this took."""


class Chat(Protocol):
    """The part of an endpoint that learner and optimizer use: an answer to messages. Raises EndpointError."""

    @property
    def complete(self) -> Callable[..., Awaitable[Completion]]: ...


@dataclass(eq=False)
class RoleChat:
    """The calls of one role, counted. A refusal costs its question alone, and so does an answer that cannot be read.

    But a role ends if this is so for all of its first calls, or if very many in a row are refused, as by a firewall
    that bans this machine: then something is wrong that each call would pay for.
    """

    endpoint: Chat
    counters: Counters
    role: Literal["learner", "optimizer"]
    has_read: bool = False
    _in_flight: int = 0
    _in_vain: int = 0

    async def complete(self, messages: Messages, **options: Any) -> Completion:
        """Return an answer, or the server's refusal; the caller tells `judge` what it makes of it.

        Raises EndpointError if a role ends.
        """
        self._in_flight += 1
        try:
            completion = await self.endpoint.complete(messages, **options)
            self.counters.add(**{self.role: 1})
            return completion
        except PromptRefused as refusal:
            self.counters.add(unparsable=1)
            if not self.has_read or refusal.kind == OF_PROMPT[PROMPT_BLOCKED]:  # not one hypothesis under a filter
                self._count_in_vain(str(refusal), LEAST_EMPTY)
            return Completion(text="", refusal=refusal.words)
        finally:
            self._in_flight -= 1

    def judge(self, completion: Completion, reason: str | None, *, is_usable: bool = False) -> None:
        """Count an answer that cannot be read for this reason. Raises EndpointRefused if none of the first could.

        is_usable: whether the run goes on with an answer of any text.
        """
        if reason is None or (is_usable and completion.text.strip()):
            self.has_read, self._in_vain = True, 0
        if reason is None or completion.refusal:
            return
        self.counters.add(unparsable=1)
        if self.has_read:
            return
        if completion.text.strip():
            words = f"the model's answers cannot be read ({reason}): it said {quotation(completion.text)}"
            self._count_in_vain(f"{words}: {FIX_UNREAD.format(self.role)}", LEAST_UNREAD[self.role])
            return
        why = " (all text came as reasoning: is its reasoning parser wrong?)" if completion.reasoning else ""
        why = ", cut off at its limit of tokens" if completion.cut_off else why
        self._count_in_vain(f"the answer is empty{why}: {FIX_THOUGHTS if why else FIX_MODEL}", LEAST_EMPTY)

    def _count_in_vain(self, words: str, least: int) -> None:
        """Weigh the calls in vain against those in flight: refusals come faster than answers."""
        self._in_vain += 1
        most = max(least, min(self._in_flight, MOST_IN_VAIN))
        if self._in_vain >= (MOST_IN_VAIN + self._in_flight if self.has_read else most):
            which = f"{'last' if self.has_read else 'first'} {self._in_vain}"
            raise EndpointRefused(f"{words} (none of the {which} calls got an answer to use)") from None

    async def until_read(
        self, messages: Messages, read: Callable[[Completion], T], *, seed: int, **options: Any
    ) -> tuple[T, int]:
        """Return the first answer without a reason why it cannot be read, or else the last one; and its number.

        A repetition has another seed, and a line for each fault so far above the question. The answers are left out: a
        small model that sees its own wrong answer stops answering in the asked form. Raises EndpointError.
        """
        n, faults = 0, ""
        while True:
            asked = [*messages[:-1], question(faults + messages[-1]["content"])]
            completion = await self.complete(asked, seed=seed + n, **options)
            answer, n = read(completion), n + 1
            is_refused = isinstance(answer, Proposal) and answer.refused
            self.judge(completion, None if is_refused else answer.reason)
            self.counters.add(refused=is_refused)
            if answer.reason is None or completion.refusal or n == ASKS:
                return answer, n
            faults += f"{REFUSED} {CUT_OFF if completion.cut_off else answer.reason}.\n"


def fault_words(completion: Completion) -> str:
    """Say that there is no answer, or that it stopped at its token limit; empty if it is whole."""
    if completion.refusal or not completion.cut_off:
        return completion.refusal
    if completion.reasoning and not completion.text.strip():
        return "cut off at its limit of tokens while it thought; a higher limit, or less thinking, gives it room"
    return "the answer was cut off at its limit of tokens; a higher limit gives it room"


class Shared(Generic[K, V]):
    """Answers by question. A question that several callers have is asked once."""

    def __init__(self) -> None:
        self.answers: dict[K, V] = {}
        self._tasks: dict[K, asyncio.Task[None]] = {}
        self._callers = Counter[K]()

    async def get(self, questions: Mapping[K, Callable[[], Coroutine[None, None, V]]]) -> Mapping[K, V]:
        """Return all answers so far. A request is cancelled once nobody waits for it. Raises EndpointError.

        questions: with the call that asks each.
        """
        new = [key for key in questions if key not in self.answers]
        tasks = {key: self._tasks.get(key) or asyncio.create_task(self._ask(key, questions[key])) for key in new}
        self._tasks |= tasks
        self._callers.update(new)
        try:
            done, _ = await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_EXCEPTION) if new else ((), ())
            for task in done:
                task.result()
        finally:
            self._callers.subtract(new)
            for key, task in tasks.items():
                if not self._callers[key]:
                    del self._callers[key], self._tasks[key]
                    task.cancel()
        return self.answers

    async def _ask(self, key: K, ask: Callable[[], Coroutine[None, None, V]]) -> None:
        self.answers[key] = await ask()


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerOptions:
    seed: int
    max_tokens: int
    temperature: float = 0.0
    samples: int = 1
    """Answers per row. From 2, a prediction holds each label's share of them."""


@dataclass(eq=False)
class LlmLearner:
    """f(x; theta): a model asked once for each pair of hypothesis and row.

    Rows are identified by their id, so a learner serves one table.
    """

    endpoint: Chat
    prompts: LearnerPrompts
    options: LearnerOptions
    counters: Counters
    on_answer: OnAnswer = lambda *_: None

    def __post_init__(self) -> None:
        self._chat = RoleChat(self.endpoint, self.counters, "learner")
        numbers = [row.target for row in self.prompts.dataset.train if isinstance(row.target, int | float)]
        self._expected = (min(numbers), max(numbers)) if numbers else None
        self._shared = Shared[tuple[str, int], Prediction]()
        """By ids of hypothesis and row."""

    def preload(self, entries: Iterable[tuple[str, Prediction]]) -> None:
        """Keep (hypothesis id, prediction) pairs of an earlier session, without calling `on_answer`."""
        for hypothesis, prediction in entries:
            self._shared.answers[hypothesis, prediction.row] = prediction
            self._chat.has_read |= prediction.value is not None

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        """Return one prediction a row, in the order of `rows`. Raises EndpointError."""
        identity = hypothesis_id(hypothesis)
        every = await self._shared.get({(identity, row.id): partial(self._answer, hypothesis, row) for row in rows})
        return tuple(every[identity, row.id] for row in rows)

    async def _answer(self, hypothesis: str, row: Row) -> Prediction:
        ask, messages = self._ask, self.prompts.messages(hypothesis, row)
        if self.prompts.is_lettered:
            ask = self._ask_for_letter
        elif self.options.samples > 1:
            ask = self._ask_for_samples
        prediction, attempts = await ask(messages, row, self.options.seed)
        self.counters.add(contradictory=contradicts(prediction, hypothesis, self.prompts.dataset.classes))
        self.on_answer(hypothesis_id(hypothesis), prediction, attempts)
        return prediction

    async def _ask(self, messages: list[Message], row: Row, seed: int) -> tuple[Prediction, int]:
        return await self._chat.until_read(
            messages,
            partial(self._read, row),
            seed=seed,
            temperature=self.options.temperature,
            max_tokens=self.options.max_tokens,
            structured=self.prompts.structure,
        )

    async def _ask_for_samples(self, messages: list[Message], row: Row, seed: int) -> tuple[Prediction, int]:
        n = self.options.samples
        # so that runs of other seeds draw other answers
        tasks = [asyncio.ensure_future(self._ask(messages, row, seed * n + k)) for k in range(n)]
        try:
            return pooled(await asyncio.gather(*tasks))
        finally:
            await cancel(tasks)

    async def _ask_for_letter(self, messages: list[Message], row: Row, seed: int) -> tuple[Prediction, int]:
        labels = self.prompts.dataset.classes
        options = {"max_tokens": 1, "top_logprobs": len(LETTERS), "temperature": self.options.temperature}
        try:
            completion = await self._chat.complete(messages, seed=seed, **options)
        except EndpointUnreachable as error:
            raise EndpointUnreachable(f"{error}; if log-probabilities alone fail, use --likelihood 5") from None
        if not (completion.first_tokens or completion.refusal):
            raise EndpointRefused(NO_LOGPROBS)
        shares = letter_shares(completion.first_tokens, len(labels))
        prediction = graded(row.id, dict(zip(labels, shares, strict=True)))
        self._chat.judge(completion, NO_LETTER if prediction.value is None else None)
        if prediction.value is None:
            prediction = replace(prediction, raw=completion.text, reason=completion.refusal or NO_LETTER)
        return prediction, 1

    def _read(self, row: Row, completion: Completion) -> Prediction:
        """Return the value that an answer gives, or an abstention that holds the whole answer.

        A last line that was cut off is left out: half a number is a wrong number.
        """
        text = completion.text.rpartition("\n")[0] if completion.cut_off else completion.text
        classes, unit = self.prompts.dataset.classes, self.prompts.units.get(self.prompts.dataset.target, "")
        read: Parsed[str] | Parsed[float] = (
            parse_label(text, classes) if classes else parse_number(text, unit=unit, expected=self._expected)
        )
        is_read, reason = read.value is not None, read.reason
        if not is_read and (words := fault_words(completion)):
            reason = f"{reason} ({words})" if text.strip() else words
        return Prediction(
            row=row.id,
            value=read.value,
            explanation=read.explanation,
            raw=None if is_read else completion.text,
            reason=reason,
        )


BLANKS = " \t\r\nĠ▁"
"""Blanks around a token, and the marks that stand for a blank in vocabularies."""
Tokens = Sequence[tuple[str, float]]
NO_LOGPROBS = "the learner's server sends no log-probabilities: use --likelihood 5, or --likelihood labels"
NO_LETTER = "no letter of a label is among the likeliest first tokens"


def letter_shares(first_tokens: Tokens, n: int) -> tuple[float, ...]:
    """(n,) probability of each of the first n letters; blanks around a token do not count.

    The rest is on other tokens. However large, it is no abstention: the likelihood then has no jump.
    """
    shares = dict.fromkeys(LETTERS[:n], 0.0)
    for token, log_probability in first_tokens:
        if (letter := token.strip(BLANKS)) in shares:
            shares[letter] += math.exp(log_probability)
    return tuple(shares.values())


def graded(row: int, shares: Mapping[str, float]) -> Prediction:
    """Return the prediction whose value is the likeliest label, an abstention if no label has any probability.

    shares: probability of each label; a server's rounding may bring it just above 1. Ties go to the first label in
    sort order.
    """
    total = max(1.0, math.fsum(shares.values()))
    likely = {label: share / total for label, share in shares.items() if share > 0}
    value = winner(likely)
    return Prediction(row=row, value=value, shares=likely or None)


def pooled(drawn: Sequence[tuple[Prediction, int]]) -> tuple[Prediction, int]:
    """Return one prediction from several answers to a row, with the calls of all of them.

    Each label's share is its fraction of all answers, unreadable ones included. The explanation is that of the first
    answer that gave the most frequent label.
    """
    every = [prediction for prediction, _ in drawn]
    said = Counter(prediction.value for prediction in every if isinstance(prediction.value, str))
    pool = graded(every[0].row, {label: count / len(every) for label, count in said.items()})
    first = next(prediction for prediction in every if prediction.value == pool.value)
    return replace(first, shares=pool.shares), sum(calls for _, calls in drawn)


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
