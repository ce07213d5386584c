"""One model behind one OpenAI-compatible address, as a run asks it: cached, limited, retried, counted and paid."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from vpp.errors import EndpointRefused, EndpointUnreachable, PromptRefused, PromptTooLong
from vpp.llm import errors, protocol
from vpp.llm.budget import FREE, Budget, Price
from vpp.llm.cache import ResponseCache, cache_key
from vpp.llm.forms import FIELD, Structure, is_kept, request_options
from vpp.llm.gate import NO_KEY, AddressRefused, Gate, checked_address, checked_key
from vpp.llm.limits import DEFAULT_CONCURRENCY, Counters, Throttle
from vpp.llm.protocol import Complaint, Completion, Messages, OddReply, Ranges, ServedModel
from vpp.runtime import no_collecting

if TYPE_CHECKING:
    from vpp.llm.client import Client, Reply

T = TypeVar("T")
Ask = Callable[[], Coroutine[Any, Any, Completion]]


@dataclass(frozen=True, kw_only=True)
class Server:
    """One model on one server. Raises InputError for an unusable address or key, or a server that the gate forbids."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    gate: Gate = Gate()
    """The servers that may be asked; by default any but clouds' metadata services."""
    effort: str = ""
    """One of EFFORTS (`choices`); empty: the model's default."""
    cache_address: str = ""
    """Stands for the address in cache keys, for a server whose port changes; empty: the address."""

    def __post_init__(self) -> None:
        for name, value in {"base_url": checked_address(self.base_url), "api_key": checked_key(self.api_key)}.items():
            object.__setattr__(self, name, value)
        self.gate.check(self.base_url, self.model)

    @property
    def secret(self) -> str:
        """The text to remove from answers: the key, unless it is so short that an answer may well contain it."""
        return self.api_key if len(self.api_key) >= protocol.SECRET_LENGTH else ""

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

    fault: errors.Fault
    asked_wait_s: float = 0.0
    """Seconds that the server asks to wait (Retry-After); 0 if it does not ask."""
    overloaded: bool = False
    late: bool = False
    completion: Completion | None = None
    """What there is of an answer: it is paid like others."""
    wait_s: float = 0.0
    """Seconds of the wait that are granted."""

    def __str__(self) -> str:
        return f"{self.fault.words}: {self.fault.fix}"


class FieldsRefused(Exception):
    """The server refuses optional fields (its argument: by name the range that it allows; None: not at all).

    The same request with other values, or without them, may be accepted.
    """


# --- retries: how often, after which wait, and when a prompt or the server is given up ------------------------------

BACKOFF_LIMIT_S = 30.0
EMPTY_ATTEMPTS = 2
"""Attempts for a text from a server that answers other calls; then the empty text is the answer, or it is withheld."""
MUTE_ATTEMPTS = 3
"""Attempts for a text from a server that never gave one; then its model is refused."""
MUTE = frozenset({protocol.CUT_BEFORE, protocol.TOOL_CALLED})
"""Kinds of empty answers that time does not change."""


class Retries:
    """Repeats the attempts of an endpoint's calls. It knows of all of them: an overloaded server may answer others."""

    def __init__(
        self,
        limits: Limits,
        counters: Counters,
        message: Callable[[str], str],
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """message: completes a reason to an error message. now: seconds of a steady clock."""
        self._limits = limits
        self._counters = counters
        self._message = message
        self._now = now
        self._successes = 0
        self._asked_at: float | None = None
        self.has_answered = False
        """Return whether any call ever got an answer, from the cache included."""

    def succeeded(self) -> None:
        """Record that the server answered a call with a text."""
        self._successes += 1
        self._asked_at = None
        self.has_answered = True

    @property
    def waited_s(self) -> float:
        """Seconds since the server first asked for a wait; 0.0 if it has answered since."""
        return 0.0 if self._asked_at is None else self._now() - self._asked_at

    def granted_s(self, asked_s: float) -> float:
        """Return the seconds to wait, of those that the server asks for now."""
        self._asked_at = self._now() if self._asked_at is None else self._asked_at
        return min(asked_s, max(0.0, self._limits.max_wait_s - self.waited_s))

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
                is_empty = failure.fault.kind in MUTE | {protocol.NOTHING} and self.has_answered
                if failure.completion and is_empty and tries >= min(EMPTY_ATTEMPTS, self._limits.max_attempts):
                    return failure.completion
                others_succeed, successes = self._successes > successes, self._successes
                strikes = 0 if failure.overloaded and others_succeed else strikes + 1
                if error := self._given_up(failure, tries, strikes, others_succeed=others_succeed):
                    self._counters.add(failed=1)
                    raise error from None
                self._counters.add(retried=1)
                await asyncio.sleep(self._wait_s(failure, tries))
            except EndpointRefused:
                self._counters.add(failed=1)
                raise

    def _given_up(
        self, failure: AttemptFailed, tries: int, strikes: int, *, others_succeed: bool
    ) -> EndpointRefused | EndpointUnreachable | None:
        """Return the error after too many attempts: after twice as many of the prompt alone, if others are answered."""
        (kind, words, fix), most = failure.fault, self._limits.max_attempts
        if kind == protocol.WITHHELD and tries >= min(EMPTY_ATTEMPTS, most):
            return self._of_prompt(f"{errors.FILTERED} ({words})", fix)
        if kind in MUTE and not self.has_answered and tries >= min(MUTE_ATTEMPTS, most):
            asked = f" at each of {tries} attempts, and no call was ever answered" if tries > 1 else ""
            return EndpointRefused(self._message(f"{words}{asked}: {fix}"))
        if failure.asked_wait_s and 0 < self._limits.max_wait_s <= self.waited_s:
            return EndpointUnreachable(self._message(f"{words}: {fix}"), waited_s=self.waited_s)
        if strikes < most or (others_succeed and most > 1 and tries < 2 * most):
            return None
        last = f", at the last of {tries} attempts" if tries > 1 else ""
        if others_succeed:
            return self._of_prompt(f"{words}{last}", fix)
        return EndpointUnreachable(self._message(f"{words}{last}: {fix}"), waited_s=self.waited_s)

    def _of_prompt(self, words: str, fix: str) -> PromptRefused:
        return PromptRefused(self._message(f"{words}: {fix}"), words=words)

    def _wait_s(self, failure: AttemptFailed, tries: int) -> float:
        """Exponential back-off with full jitter, after the wait that the server asked for."""
        ceiling = min(self._limits.backoff_s * 2 ** min(tries - 1, 16), BACKOFF_LIMIT_S)
        return failure.wait_s + random.uniform(0, ceiling)


# --- the endpoint ---------------------------------------------------------------------------------------------------

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
        self._limits = limits
        self._cache = cache
        self._budget = budget or Budget(self.counters)
        self._price = price
        self._throttle = Throttle(limits.concurrency)
        self.counters.watch(self._throttle)
        self._retries = Retries(limits, self.counters, server.message)
        self._fields = protocol.OptionalFields()
        self._client: Client | None = None

    @property
    def dropped_fields(self) -> tuple[str, ...]:
        """Optional fields that the server does not take: left out since, or sent under another name."""
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
        client, self._client = self._client, None
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                if client:
                    await client.aclose()

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
        ask = partial(self._retries.run, partial(self._attempt, messages, options))
        completion = await (self._cached(self._cache, messages, options, ask) if self._cache else ask())
        self._retries.has_answered = True
        if structured and FIELD not in self.dropped_fields and not is_kept(structured, completion.text):
            self.counters.fault("not as structured")
        self.counters.add(
            cached=int(completion.cached),
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
        )
        return completion

    async def models(self) -> list[ServedModel]:
        """Return the models that the server lists; one attempt. Raises EndpointError."""
        try:
            return self._read(protocol.read_models, await self._body(self._connected().get("models"), {}), {})
        except AttemptFailed as failure:
            raise EndpointUnreachable(self.server.message(str(failure))) from None

    async def count_tokens(self, text: str) -> int | None:
        """Return the tokens of a text as the server counts them; None if it has no tokenizer to ask."""
        with suppress(AttemptFailed, EndpointRefused):
            return self._read(
                protocol.read_token_count, await self._body(self._connected().tokenize(self.model, text), {}), {}
            )
        return None

    async def _cached(self, cache: ResponseCache, messages: Messages, options: dict[str, Any], ask: Ask) -> Completion:
        """Return the cached answer, or a new one, which is stored unless the server may answer better another time."""
        address = self.server.cache_address or self.base_url
        key = cache_key({"address": address, "model": self.model, "messages": list(map(dict, messages)), **options})
        if (completion := await cache.get(key)) is not None:
            return completion
        completion = await ask()
        is_whole = completion.text and not is_prompt_cut(messages, completion)
        if is_whole and (completion.first_tokens or "logprobs" not in options):
            cache.put(key, completion)
        return completion

    async def _attempt(self, messages: Messages, options: dict[str, Any]) -> Completion:
        """Make one attempt, repeated only if the server refuses an optional field. Raises AttemptFailed."""
        refused: Ranges = {}
        async with self._throttle:
            for _ in range(1 + 2 * len(protocol.OPTIONAL)):
                await self._budget.turn()
                try:
                    return await self._exchange(messages, options, refused)
                except FieldsRefused as refusal:
                    refused |= refusal.args[0]
                finally:
                    self._budget.ended()
        raise EndpointRefused(self.server.message("it refuses the request in every form: try another model"))

    async def _exchange(self, messages: Messages, options: dict[str, Any], refused: Ranges) -> Completion:
        """Send one request and read its answer.

        refused: what the server refused of this request; it is so for good once it accepts the request otherwise.
        """
        body = {"model": self.model, "messages": messages, **self._fields.spelled(options, refused)}
        try:
            completion = self._read(protocol.read_completion, await self._timed(body), body)
        except AttemptFailed as failure:
            if failure.completion:
                self._accepted(body, refused, failure.completion)
            raise
        self._accepted(body, refused, completion)
        self._retries.succeeded()
        return completion

    async def _timed(self, body: dict[str, Any]) -> bytes:
        """Return the reply; the throttle learns whether the server had room."""
        call = self._throttle.begin()
        try:
            reply = await self._body(self._connected().post_chat(body), body)
        except AttemptFailed as failure:
            if failure.asked_wait_s:
                failure.wait_s = self._retries.granted_s(failure.asked_wait_s)
            if failure.overloaded or failure.late:
                self._throttle.refused(call, hold_s=failure.wait_s)
            raise
        finally:
            self._throttle.end(call)
        self._throttle.answered(call)
        return reply

    def _accepted(self, body: dict[str, Any], refused: Ranges, completion: Completion) -> None:
        """Pay for an accepted request, and note what it did without and whether the server read all of it."""
        for words in self._fields.learn(body, refused, completion.completion_tokens):
            self.counters.refuse(f"{words} ({self.model[:60]})")
        if is_prompt_cut(body["messages"], completion):
            self.counters.fault(PROMPT_CUT)
        self._budget.pay(self._price.charged(body["messages"], completion))

    async def _body(self, call: "Coroutine[Any, Any, Reply]", sent: dict[str, Any]) -> bytes:
        """Return the body of a 2xx. Raises AttemptFailed, FieldsRefused or EndpointRefused.

        sent: the body of a chat; empty for another request.
        """
        from aiohttp import ClientError

        try:
            async with asyncio.timeout(self._limits.timeout_s):
                reply = await call
        except (ClientError, errors.BodyTooLarge, OSError) as error:
            if type(error) is TimeoutError:  # of `asyncio.timeout`; those of aiohttp and the system say more
                words = f"no complete answer within {self._limits.timeout_s:g} s"
                raise AttemptFailed(errors.Fault("no answer in time", words, errors.FIX_SLOW), late=True) from None
            if refused := next((one for one in errors.chain_of(error) if isinstance(one, AddressRefused)), None):
                raise EndpointRefused(self.server.message(str(refused))) from None
            fault = errors.transport_fault(error, base_url=self.base_url)
            raise AttemptFailed(fault._replace(words=self._short(fault.words))) from None
        if not 200 <= reply.status < 300:
            raise self._failure(reply, protocol.read_error(reply.body, secret=self.server.api_key), sent)
        return reply.body

    def _failure(self, reply: "Reply", complaint: Complaint, sent: dict[str, Any]) -> Exception:
        status, server, words = reply.status, self.server, self._short(complaint.words)
        reason = f"HTTP {status} {words}".rstrip() if status != OK else f"answered 200 with an error: {words}"
        has_key, location = bool(server.api_key), protocol.withheld(reply.headers.get("location", ""), server.api_key)
        refusal = errors.refusal_of(status, complaint, body=reply.body, location=location, has_key=has_key)
        if refusal is None:
            fault = errors.Fault(f"HTTP {status}" if status != OK else "error under 200", reason, errors.FIX_BUSY)
            wait_s = protocol.retry_after_s(reply.headers) or 0.0
            return AttemptFailed(fault, asked_wait_s=wait_s, overloaded=status in OVERLOADED)
        if status in REFUSABLE and (fields := protocol.refused_fields(complaint, sent)):
            return FieldsRefused(fields)
        if sent:
            self.counters.fault(refusal.kind or f"HTTP {status}")
        words = f"{refusal.what}: found {reason}" if refusal.what == protocol.NO_API else f"{refusal.what} ({reason})"
        message = server.message(f"{words}: {refusal.fix}")
        if not refusal.kind:
            return EndpointRefused(message)
        return (PromptTooLong if refusal.what == errors.DOES_NOT_FIT else PromptRefused)(message, words=words)

    def _read(self, read: Callable[..., T], reply: bytes, sent: dict[str, Any]) -> T:
        """Return what is read of a 2xx's body. Raises as `_body` does."""
        from vpp.llm.client import Reply

        try:
            return read(reply, secret=self.server.secret)
        except OddReply as odd:
            if odd.complaint:
                raise self._failure(Reply(odd.complaint.status or OK, {}, reply), odd.complaint, sent) from None
            fault = errors.Fault(odd.kind, self._short(str(odd)), odd.fix)
            raise AttemptFailed(fault, completion=odd.completion) from None

    def _short(self, words: str) -> str:
        return protocol.short_reason(words, secret=self.server.api_key)

    def _connected(self) -> "Client":
        if self._client is None:
            from vpp.llm.client import ADDRESS_ERRORS, Client

            key, connections = self.server.api_key or NO_KEY, self._throttle.ceiling
            try:
                self._client = Client(self.base_url, key, connections=connections)
            except ADDRESS_ERRORS as error:
                reason = f"no request can carry this address ({error}): correct it"
                raise EndpointRefused(self.server.message(reason)) from None
        return self._client


def is_prompt_cut(messages: Messages, completion: Completion) -> bool:
    """Return whether the server read only a part of the prompt: no usual tokenizer joins words to one token."""
    n_words = sum(len(message["content"].split()) for message in messages) if completion.prompt_tokens else 0
    return n_words > FEW_WORDS and completion.prompt_tokens < 0.9 * n_words


def warm_up() -> None:
    """Import the HTTP client, which takes about half a second, so that a caller can do so while it waits anyway."""
    with no_collecting():
        import vpp.llm.client

    _ = vpp.llm.client.Client
