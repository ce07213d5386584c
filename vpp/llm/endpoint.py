"""One model behind one OpenAI-compatible address, as a run asks it: cached, limited, retried, counted and paid."""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from vpp.errors import EndpointError, EndpointRefused, EndpointUnreachable, PromptRefused, PromptTooLong
from vpp.llm import protocol
from vpp.llm.cache import ResponseCache, cache_key
from vpp.llm.gate import NO_KEY, Gate, Headers, body_of, checked_address, sendable
from vpp.llm.limits import DEFAULT_CONCURRENCY, FREE, Budget, Counters, Price, Throttle
from vpp.llm.prompts import prompt_tokens, tokens_at_most
from vpp.llm.protocol import (
    FIELD,
    Complaint,
    Completion,
    Fault,
    Messages,
    OddReply,
    Ranges,
    Structure,
    is_kept,
    request_options,
)
from vpp.runtime import no_collecting

if TYPE_CHECKING:
    from vpp.llm.client import Client, Reply

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Server:
    """One model on one server. Raises InputError for an unusable address or key, or a server that the gate forbids."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    headers: Headers = field(default=(), repr=False)
    body: str = ""
    """Further fields of each request, as a JSON object."""
    gate: Gate = Gate()
    effort: str = ""
    """One of EFFORTS (`choices`); empty: the model's default."""
    cache_address: str = ""
    """Stands for the address in cache keys, for a server whose port changes; empty: the address."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", checked_address(self.base_url))
        object.__setattr__(self, "api_key", sendable("the API key", self.api_key))
        self.gate.check(self.base_url, self.model)

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.api_key, *(value for _, value in self.headers))

    def message(self, reason: str) -> str:
        """Return an error message that names the model and the server."""
        return f"{self.model} at {self.base_url}: {reason}"


MAX_ATTEMPTS = 6


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


@dataclass(eq=False)
class AttemptFailed(Exception):
    """Failure of one attempt; another attempt may succeed."""

    fault: Fault
    wait_s: float = 0.0
    """Seconds to wait, as the server asks (Retry-After)."""
    overloaded: bool = False
    completion: Completion | None = None
    """What there is of an answer: it is paid like others."""


class FieldsRefused(Exception):
    """The server refuses optional fields (its argument: by name the range that it allows; None: not at all).

    The same request with other values, or without them, may be accepted.
    """


BACKOFF_LIMIT_S = 30.0
EMPTY_ATTEMPTS = 2
"""Attempts for a text from a server that answers other calls; then the empty text is the answer, or it is withheld."""
MUTE_ATTEMPTS = 3
"""Attempts for a text from a server that never gave one; then its model is refused."""
MUTE = frozenset({protocol.CUT_BEFORE, protocol.TOOL_CALLED})
"""Kinds of empty answers that time does not change."""
CLOSE_S = 5.0
"""Seconds to close connections; a server that takes longer is not waited for."""
OK = 200
OVERLOADED = frozenset({429, 503})
REFUSABLE = frozenset({400, 422})
"""Statuses under which a server refuses a field."""
PROMPT_CUT = "prompt cut by the server"
"""Kind of fault: the server counts fewer tokens than it was sent words."""
FEW_WORDS = 200
"""Words of a prompt below which a miscount says nothing."""


class Connection:
    """Requests to one server, and what its replies are: a body, a failed attempt or a refusal."""

    def __init__(self, server: Server, counters: Counters, *, timeout_s: float, connections: int) -> None:
        self._server = server
        self._counters = counters
        self._timeout_s = timeout_s
        self._connections = connections
        self._client: Client | None = None

    async def aclose(self) -> None:
        """Close the connections; those that the server keeps open end with the process."""
        client, self._client = self._client, None
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                if client:
                    await client.aclose()

    async def body(self, call: "Coroutine[Any, Any, Reply]", sent: dict[str, Any]) -> bytes:
        """Return the body of a 2xx, without secrets. Raises AttemptFailed, FieldsRefused or EndpointRefused.

        sent: the body of a chat; empty for another request.
        """
        from aiohttp import ClientError

        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await call
        except (ClientError, protocol.BodyTooLarge, OSError) as error:
            if type(error) is TimeoutError:  # of `asyncio.timeout`; those of aiohttp and the system say more
                words = f"no complete answer within {self._timeout_s:g} s"
                raise AttemptFailed(Fault(protocol.LATE, words, protocol.FIX_SLOW)) from None
            fault = protocol.transport_fault(error, base_url=self._server.base_url)
            raise AttemptFailed(fault._replace(words=protocol.short_reason(fault.words))) from None
        reply = reply._replace(body=protocol.without(reply.body, self._server.secrets))
        if not 200 <= reply.status < 300:
            raise self._failure(reply, protocol.read_error(reply.body), sent)
        return reply.body

    def _failure(self, reply: "Reply", complaint: Complaint, sent: dict[str, Any]) -> Exception:
        status, server, words = reply.status, self._server, protocol.short_reason(complaint.words)
        reason = f"HTTP {status} {words}".rstrip() if status != OK else f"answered 200 with an error: {words}"
        location = protocol.without(reply.headers.get("location", "").encode(), server.secrets).decode()
        has_key = bool(server.api_key)
        refusal = protocol.refusal_of(status, complaint, body=reply.body, location=location, has_key=has_key)
        if refusal is None:
            fault = Fault(f"HTTP {status}" if status != OK else "error under 200", reason, protocol.FIX_BUSY)
            return AttemptFailed(fault, protocol.retry_after_s(reply.headers), overloaded=status in OVERLOADED)
        if status in REFUSABLE and (fields := protocol.refused_fields(complaint, sent)):
            return FieldsRefused(fields)
        if sent:
            self._counters.fault(refusal.kind or f"HTTP {status}")
        words = f"{refusal.what}: found {reason}" if refusal.what == protocol.NO_API else f"{refusal.what} ({reason})"
        message = server.message(f"{words}: {refusal.fix}")
        if not refusal.kind:
            return EndpointRefused(message)
        return (PromptTooLong if refusal.what == protocol.DOES_NOT_FIT else PromptRefused)(message, words=words)

    def read(self, read: Callable[[bytes], T], body: bytes, sent: dict[str, Any]) -> T:
        """Return what is read of a 2xx's body. Raises as `body` does."""
        from vpp.llm.client import Reply

        try:
            return read(body)
        except OddReply as odd:
            if odd.complaint:
                raise self._failure(Reply(odd.complaint.status or OK, {}, body), odd.complaint, sent) from None
            fault = odd.fault._replace(words=protocol.short_reason(odd.fault.words))
            raise AttemptFailed(fault, completion=odd.completion) from None

    def client(self) -> "Client":
        if self._client is None:
            from vpp.llm.client import ADDRESS_ERRORS, Client

            key, headers = self._server.api_key or NO_KEY, self._server.headers
            try:
                self._client = Client(self._server.base_url, key, headers, connections=self._connections)
            except ADDRESS_ERRORS as error:
                reason = f"no request can carry this address ({error}): correct it"
                raise EndpointRefused(self._server.message(reason)) from None
        return self._client


class Endpoint:
    """Answers chat messages. Belongs to the event loop of its first call; close it with `aclose`."""

    def __init__(
        self,
        server: Server,
        *,
        limits: Limits = Limits(),
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
        self.fields = protocol.OptionalFields()
        self._more = body_of(server.body)
        self._limits = limits
        self._cache = cache
        self._budget = budget or Budget(self.counters)
        self._price = price
        self._throttle = Throttle(limits.concurrency)
        self.counters.throttles.add(self._throttle)
        self._connection = Connection(
            server, self.counters, timeout_s=limits.timeout_s, connections=self._throttle.ceiling
        )
        self._has_answered = False
        self._successes = 0
        """Calls that the server answered with a text."""
        self._asked_at: float | None = None
        """Time at which the server first asked for a wait, if it has not answered since."""

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
        self.counters.throttles.discard(self._throttle)
        await self._connection.aclose()

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
        Raises PromptRefused if the server refuses this prompt, EndpointRefused if it refuses every one,
        EndpointUnreachable if no attempt got a usable answer.
        """
        effort = self.server.effort
        options = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            **request_options(structured),
            **({"reasoning_effort": effort} if effort else {}),
            **({"chat_template_kwargs": {"enable_thinking": False}} if effort == "none" else {}),
            **({"logprobs": True, "top_logprobs": top_logprobs} if top_logprobs else {}),
        }
        try:
            completion = await self._cached(messages, options)
        except EndpointError:
            self.counters.add(failed=1)
            raise
        self._has_answered = True
        if structured and FIELD not in self.fields.dropped and not is_kept(structured, completion.text):
            self.counters.fault("not as structured")
        self.counters.add(
            cached=int(completion.cached),
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
        )
        return completion

    async def models(self) -> dict[str, int]:
        """Return the models that the server lists, with their context in tokens (0: unknown). Raises EndpointError."""
        try:
            return self._connection.read(
                protocol.read_models, await self._connection.body(self._connection.client().get("models"), {}), {}
            )
        except AttemptFailed as failure:
            _, words, fix = failure.fault
            raise EndpointUnreachable(self.server.message(f"{words}: {fix}")) from None

    async def keep_to_slots(self) -> None:
        """Have no more calls in flight than a llama.cpp server has slots, if it says how many."""
        with suppress(AttemptFailed, EndpointError):
            slots = self._connection.read(
                protocol.read_slots, await self._connection.body(self._connection.client().get("../props"), {}), {}
            )
            self._throttle.narrow(slots or self._throttle.ceiling)

    async def _cached(self, messages: Messages, options: dict[str, Any]) -> Completion:
        """Return the cached answer, or a new one, which is stored unless the server may answer better another time."""
        if self._cache is None:
            return await self._retried(messages, options)
        address = self.server.cache_address or self.base_url
        asked = {"address": address, "model": self.model, "messages": list(map(dict, messages)), **options}
        key = cache_key({**asked, "body": self._more} if self._more else asked)
        if (completion := await self._cache.get(key)) is not None:
            return completion
        completion = await self._retried(messages, options)
        is_whole = completion.text and not is_prompt_cut(messages, completion)
        if is_whole and (completion.first_tokens or "logprobs" not in options):
            self._cache.put(key, completion)
        return completion

    # --- retries: how often, after which wait, and when a prompt or the server is given up --------------------------

    async def _retried(self, messages: Messages, options: dict[str, Any]) -> Completion:
        """Attempt a call until it succeeds; its text is empty if the model gives none. Raises EndpointError.

        Attempts refused by an overloaded server do not count while it answers other calls.
        """
        most, strikes, tries, successes = self._limits.max_attempts, 0, 0, self._successes
        while True:
            try:
                return await self._attempt(messages, options)
            except AttemptFailed as failure:
                kind, completion = failure.fault.kind, failure.completion
                self.counters.fault(kind)
                tries += 1
                is_empty = kind in MUTE | {protocol.NOTHING} and self._has_answered
                if completion and is_empty and tries >= min(EMPTY_ATTEMPTS, most):
                    return completion
                others_succeed, successes = self._successes > successes, self._successes
                strikes = 0 if failure.overloaded and others_succeed else strikes + 1
                if error := self._given_up(failure.fault, tries, strikes, others_succeed=others_succeed):
                    raise error from None
                self.counters.add(retried=1)
                # exponential back-off with full jitter, after the wait that the server asked for
                ceiling = min(self._limits.backoff_s * 2 ** min(tries - 1, 16), BACKOFF_LIMIT_S)
                await asyncio.sleep(failure.wait_s + random.uniform(0, ceiling))

    def _given_up(self, fault: Fault, tries: int, strikes: int, *, others_succeed: bool) -> EndpointError | None:
        """Return the error after too many attempts: after twice as many of the prompt alone, if others are answered."""
        (kind, words, fix), most, message = fault, self._limits.max_attempts, self.server.message
        if kind == protocol.WITHHELD and tries >= min(EMPTY_ATTEMPTS, most):
            words = f"{protocol.PROMPT_FILTERED} ({words})"
            return PromptRefused(message(f"{words}: {fix}"), words=words)
        if kind in MUTE and not self._has_answered and tries >= min(MUTE_ATTEMPTS, most):
            attempts = f" at each of {tries} attempts, and no call was ever answered" if tries > 1 else ""
            return EndpointRefused(message(f"{words}{attempts}: {fix}"))
        if strikes < most or (others_succeed and most > 1 and tries < 2 * most):
            return None
        words += f", at the last of {tries} attempts" if tries > 1 else ""
        if others_succeed:
            return PromptRefused(message(f"{words}: {fix}"), words=words)
        return EndpointUnreachable(message(f"{words}: {fix}"), waited_s=self._waited_s)

    @property
    def _waited_s(self) -> float:
        """Seconds since the server first asked for a wait; 0.0 if it has answered since."""
        return 0.0 if self._asked_at is None else time.monotonic() - self._asked_at

    def _wait(self, fault: Fault, wait_s: float) -> float:
        """Return the seconds granted of a wait that the server asks for. Raises EndpointUnreachable after too many."""
        self._asked_at = time.monotonic() if self._asked_at is None else self._asked_at
        left_s = self._limits.max_wait_s - self._waited_s
        if left_s <= 0 < self._limits.max_wait_s:
            self.counters.fault(fault.kind)
            words = self.server.message(f"{fault.words}: {fault.fix}")
            raise EndpointUnreachable(words, waited_s=self._waited_s)
        return min(wait_s, left_s)

    # --- one attempt ------------------------------------------------------------------------------------------------

    async def _attempt(self, messages: Messages, options: dict[str, Any]) -> Completion:
        """Make one attempt, repeated only if the server refuses an optional field. Raises AttemptFailed.

        What it refuses, it refuses for good once it accepts the request otherwise.
        """
        refused: Ranges = {}
        async with self._throttle:
            for _ in range(1 + 2 * len(protocol.OPTIONAL)):
                await self._budget.turn()
                fields = self.fields.spelled(options, refused)
                body = {**self._more, "model": self.model, "messages": messages, **fields}
                try:
                    completion = self._connection.read(protocol.read_completion, await self._posted(body), body)
                    self._accepted(body, refused, completion)
                    self._successes += 1
                    self._asked_at, self._has_answered = None, True
                    return completion
                except FieldsRefused as refusal:
                    refused |= refusal.args[0]
                except AttemptFailed as failure:
                    if failure.completion:
                        self._accepted(body, refused, failure.completion)
                    raise
                finally:
                    self._budget.ended()
        raise EndpointRefused(self.server.message("it refuses the request in every form: try another model"))

    def _accepted(self, body: dict[str, Any], refused: Ranges, completion: Completion) -> None:
        """Pay for an accepted request, and note what it did without and whether the server read all of it."""
        for words in self.fields.learn(body, refused, completion.completion_tokens):
            self.counters.refuse(f"{words} ({self.model[:60]})")
        if is_prompt_cut(body["messages"], completion):
            self.counters.fault(PROMPT_CUT)
        if self._price.is_given:  # an upper bound, if the server counts no tokens
            self._budget.pay(
                self._price.of(
                    completion.prompt_tokens or prompt_tokens(body["messages"]),
                    completion.completion_tokens or tokens_at_most(completion.text),
                )
            )

    async def _posted(self, body: dict[str, Any]) -> bytes:
        """Return the reply; the throttle learns whether the server had room."""
        call = self._throttle.begin()
        try:
            reply = await self._connection.body(self._connection.client().post_chat(body), body)
        except AttemptFailed as failure:
            if failure.wait_s:
                failure.wait_s = self._wait(failure.fault, failure.wait_s)
            if failure.overloaded or failure.fault.kind == protocol.LATE:
                self._throttle.refused(call, hold_s=failure.wait_s)
            raise
        finally:
            self._throttle.open.discard(call)
        self._throttle.answered(call)
        return reply


def is_prompt_cut(messages: Messages, completion: Completion) -> bool:
    """Return whether the server read only a part of the prompt: no usual tokenizer joins words to one token."""
    n_words = sum(len(message["content"].split()) for message in messages) if completion.prompt_tokens else 0
    return n_words > FEW_WORDS and completion.prompt_tokens < 0.9 * n_words


def warm_up() -> None:
    """Import the HTTP client, which takes about half a second, so that a caller can do so while it waits anyway."""
    with no_collecting():
        import vpp.llm.client

    _ = vpp.llm.client.Client
