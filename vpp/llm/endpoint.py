"""One model behind one OpenAI-compatible address, as a run asks it: cached, limited and retried."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from vpp.errors import EndpointRefused, EndpointUnreachable
from vpp.llm.budget import FREE, Budget, Price
from vpp.llm.cache import ResponseCache, SingleFlight, cache_key
from vpp.llm.counters import Counters
from vpp.llm.forms import FIELDS, Structure, carrier_of, is_kept, request_options
from vpp.llm.limits import DEFAULT_CONCURRENCY, Throttle
from vpp.llm.protocol import OPTIONAL, Completion, Messages, OptionalFields, ServedModel
from vpp.llm.transport import AttemptFailed, FieldsRefused, Server, Transport

# --- retries: how often, after which wait, and when the server is given up ---

BACKOFF_LIMIT_S = 30.0
MAX_ATTEMPTS = 6
EMPTY_ATTEMPTS = 2
"""Attempts for a text from a server that answers other calls; then the empty text is the answer."""
MUTE_ATTEMPTS = {"cut off before any answer": 3, "tool called": 3, "answer withheld": MAX_ATTEMPTS}
"""Attempts for a text from a server that never gave one, by a kind of fault that time does not change; then the model
is refused. A content filter gets the most: calls about other rows may be answered meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on the calls sent to a server, and on the time each is tried."""

    concurrency: int = DEFAULT_CONCURRENCY
    """Calls in flight at most; fewer while the server does not keep up, or if this process may open too few files."""
    timeout_s: float = 120
    """Seconds for one attempt, body included."""
    max_attempts: int = MAX_ATTEMPTS
    backoff_s: float = 0.5
    """Upper bound of the first wait between attempts; doubled with each attempt, up to 30 s."""
    max_wait_s: float = 3600.0
    """Seconds for which waits that the server asks for (Retry-After) are granted while it answers nothing."""


class Patience:
    """Grants the waits that a server asks for, up to a limit since its last answer."""

    def __init__(self, max_wait_s: float, *, now: Callable[[], float] = time.monotonic) -> None:
        """max_wait_s: seconds for which waits are granted. now: seconds of a steady clock."""
        self._max_wait_s = max_wait_s
        self._now = now
        self._began: float | None = None

    @property
    def waited_s(self) -> float:
        """Seconds since the server first asked for a wait; 0.0 if it has answered since."""
        return 0.0 if self._began is None else self._now() - self._began

    @property
    def is_used_up(self) -> bool:
        """Return whether the server was granted waits, and is granted no more."""
        return 0 < self._max_wait_s <= self.waited_s

    def granted_s(self, asked_s: float) -> float:
        """Return the seconds to wait, of those that the server asks for now."""
        self._began = self._now() if self._began is None else self._began
        return min(asked_s, max(0.0, self._max_wait_s - self.waited_s))

    def answered(self) -> None:
        """Start over: the server answered a call."""
        self._began = None


class Retries:
    """Repeats the attempts of an endpoint's calls. It knows of all of them: an overloaded server may answer others."""

    def __init__(self, limits: Limits, counters: Counters, message: Callable[[str], str]) -> None:
        """message: completes a reason to an error message."""
        self.patience = Patience(limits.max_wait_s)
        self._limits = limits
        self._counters = counters
        self._message = message
        self._successes = 0
        self.has_answered = False
        """Return whether any call ever got an answer, from the cache included."""

    def succeeded(self) -> None:
        """Record that the server answered a call with a text."""
        self._successes += 1
        self.patience.answered()
        self.has_answered = True

    async def run(self, attempt: Callable[[], Awaitable[Completion]]) -> Completion:
        """Attempt a call until it succeeds; its text is empty if the model gives none. Raises EndpointError.

        Attempts refused by an overloaded server do not count while it answers other calls.
        """
        strikes = tries = 0
        successes = self._successes
        while True:
            try:
                return await attempt()
            except AttemptFailed as failure:
                self._counters.fault(failure.fault.kind)
                tries += 1
                if failure.empty and self.has_answered and tries >= min(EMPTY_ATTEMPTS, self._limits.max_attempts):
                    return failure.empty
                strikes = 0 if failure.overloaded and self._successes > successes else strikes + 1
                successes = self._successes
                self._give_up(failure, tries, strikes)
                self._counters.add(retried=1)
                await asyncio.sleep(self._wait_s(failure, tries))
            except EndpointRefused:
                self._counters.add(failed=1)
                raise

    def _give_up(self, failure: AttemptFailed, tries: int, strikes: int) -> None:
        words, fix, most = failure.fault.words, failure.fault.fix, self._limits.max_attempts
        mute_attempts = MUTE_ATTEMPTS.get(failure.fault.kind)
        if mute_attempts and not self.has_answered and tries >= min(mute_attempts, most):
            self._counters.add(failed=1)
            asked = f" at each of {tries} attempts, and no call was ever answered" if tries > 1 else ""
            raise EndpointRefused(self._message(f"{words}{asked}: {fix}")) from None
        if strikes >= most or (failure.asked_wait_s and self.patience.is_used_up):
            self._counters.add(failed=1)
            last = f", at the last of {most} attempts" if strikes >= most > 1 else ""
            raise EndpointUnreachable(self._message(f"{words}{last}: {fix}"), waited_s=self.patience.waited_s) from None

    def _wait_s(self, failure: AttemptFailed, tries: int) -> float:
        """Exponential back-off with full jitter, after the wait that the server asked for."""
        ceiling = min(self._limits.backoff_s * 2 ** min(tries - 1, 16), BACKOFF_LIMIT_S)
        return failure.wait_s + random.uniform(0, ceiling)


# --- the endpoint ---

__all__ = ["Completion", "Endpoint", "Limits", "ServedModel", "Server"]

USUAL_LIMITS = Limits()
Ask = Callable[[], Coroutine[Any, Any, Completion]]


class Endpoint:
    """Answers chat messages. Belongs to the event loop of its first call; close it with `aclose`."""

    def __init__(
        self,
        server: Server,
        *,
        limits: Limits = USUAL_LIMITS,
        cache: ResponseCache | None = None,
        counters: Counters | None = None,
        budget: Budget | None = None,
        price: Price = FREE,
    ) -> None:
        """budget: shared with the run's other endpoints. price: this model's.

        The caller closes the cache.
        """
        self.server = server
        self.base_url = server.base_url
        self.model = server.model
        self.counters = counters or Counters()
        self._limits = limits
        self._cache = cache
        self._budget = budget or Budget(self.counters)
        self._price = price
        self._throttle = Throttle(limits.concurrency)
        self.counters.watch(self._throttle)
        self._transport = Transport(
            server, self.counters, timeout_s=limits.timeout_s, connections=self._throttle.ceiling
        )
        self._retries = Retries(limits, self.counters, server.message)
        self._fields = OptionalFields()
        self._in_flight: SingleFlight[Completion] = SingleFlight()

    @property
    def dropped_fields(self) -> tuple[str, ...]:
        """Optional fields that the server refused: left out since, or sent under another name."""
        return self._fields.dropped

    def copy(self, *, counters: Counters, max_attempts: int) -> "Endpoint":
        """Return another client of the same model, cache and budget, with its own counters and number of attempts.

        What this client has learnt of the request fields that its server refuses is not copied.
        """
        return Endpoint(
            self.server,
            limits=replace(self._limits, max_attempts=max_attempts),
            cache=self._cache,
            counters=counters,
            budget=self._budget,
            price=self._price,
        )

    async def aclose(self) -> None:
        """Close the connections; those that the server keeps open end with the process."""
        self.counters.unwatch(self._throttle)
        await self._transport.aclose()

    async def complete(
        self,
        messages: Messages,
        *,
        temperature: float,
        seed: int,
        max_tokens: int,
        structured: Structure | None = None,
        top_logprobs: int = 0,
    ) -> Completion:
        """Return an answer from the cache or the server; its text is empty if the model repeatedly gives none.

        structured: the form that the server is asked to enforce; it may ignore it. top_logprobs: how many alternatives
        of each token are asked for, with their log-probabilities; the server may have none.
        Raises EndpointRefused if the server refuses, EndpointUnreachable if no attempt got a usable answer.
        """
        options = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            "response_format": None,  # part of every cache key, also if no structure sets it
            **request_options(structured),
            **effort_options(self.server.effort),
            **({"logprobs": True, "top_logprobs": top_logprobs} if top_logprobs else {}),
        }
        ask = partial(self._retries.run, partial(self._attempt, messages, options))
        completion = await (self._cached(self._cache, messages, options, ask) if self._cache else ask())
        self._retries.has_answered = True
        self._count(completion, structured)
        return completion

    async def models(self) -> list[ServedModel]:
        """Return the models that the server lists; one attempt. Raises EndpointError."""
        try:
            return await self._transport.models()
        except AttemptFailed as failure:
            raise EndpointUnreachable(self.server.message(str(failure))) from None

    async def count_tokens(self, text: str) -> int | None:
        """Return the tokens of a text as the server counts them; None if it has no tokenizer to ask."""
        with suppress(AttemptFailed, EndpointRefused):
            return await self._transport.count_tokens(text)
        return None

    async def _cached(self, cache: ResponseCache, messages: Messages, options: dict[str, Any], ask: Ask) -> Completion:
        """Return the cached answer, that of an equal request in flight, or a new one, which is stored."""
        address = self.server.cache_address or self.base_url
        key = cache_key({"address": address, "model": self.model, "messages": list(map(dict, messages)), **options})

        async def ask_and_store() -> Completion:
            completion = await ask()
            if completion.text and (completion.first_tokens or "logprobs" not in options):
                cache.put(key, completion)
            return completion

        if (completion := await cache.get(key)) is not None:
            return completion
        completion, is_joined = await self._in_flight.run(key, ask_and_store)
        return replace(completion, cached=True) if is_joined else completion

    def _count(self, completion: Completion, structured: Structure | None) -> None:
        is_sent = structured and FIELDS[carrier_of(structured)] not in self.dropped_fields
        if structured and is_sent and not is_kept(structured, completion.text):
            self.counters.fault("not as structured")
        self.counters.add(
            cached=int(completion.cached),
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
        )

    async def _attempt(self, messages: Messages, options: dict[str, Any]) -> Completion:
        """Make one attempt, repeated only if the server refuses an optional field. Raises AttemptFailed."""
        refused: list[str] = []
        async with self._throttle.semaphore:
            for _ in range(1 + len(OPTIONAL)):
                await self._budget.turn()
                try:
                    return await self._exchange(messages, options, refused)
                except FieldsRefused as refusal:
                    refused += refusal.names
                finally:
                    self._budget.ended()
        raise EndpointRefused(self.server.message("it refuses the request in every form: try another model"))

    async def _exchange(self, messages: Messages, options: dict[str, Any], refused: list[str]) -> Completion:
        """Send one request and read its answer.

        refused: optional fields to leave out; dropped for good once the server accepts a request without them.
        """
        body = {"model": self.model, "messages": messages, **self._fields.spelled(options, refused)}
        try:
            completion = self._transport.completion(await self._timed(body))
        except AttemptFailed as failure:
            if failure.empty:  # the tokens of an empty answer are paid like others
                self._accepted(messages, body, refused, failure.empty)
            raise
        self._accepted(messages, body, refused, completion)
        self._retries.succeeded()
        return completion

    async def _timed(self, body: dict[str, Any]) -> bytes:
        """Return the reply; the throttle learns whether the server had room."""
        call = self._throttle.begin()
        try:
            reply = await self._transport.post_chat(body)
        except AttemptFailed as failure:
            if failure.asked_wait_s:
                failure.wait_s = self._retries.patience.granted_s(failure.asked_wait_s)
            if failure.overloaded or failure.late:
                self._throttle.refused(call, hold_s=failure.wait_s)
            raise
        self._throttle.answered(call)
        return reply

    def _accepted(self, messages: Messages, body: dict[str, Any], refused: list[str], completion: Completion) -> None:
        """Pay for an accepted request, and note the fields that it did without."""
        for name in self._fields.learn(body, refused, completion.completion_tokens):
            self.counters.refuse(f"{name} ({self.model[:60]})")
        self._budget.pay(self._price.charged(messages, completion))


def effort_options(effort: str) -> dict[str, Any]:
    """Return the request's options for an effort; `none` also switches a chat template's thinking off."""
    if not effort:
        return {}
    off = {"chat_template_kwargs": {"enable_thinking": False}} if effort == "none" else {}
    return {"reasoning_effort": effort, **off}
