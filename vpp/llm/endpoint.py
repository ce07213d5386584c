"""One model behind one OpenAI-compatible address: limits, retries, time-outs, cache.

What it sends goes through `Client`, which it imports when the first call is made: that takes half a second.
"""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from vpp.collecting import no_collecting
from vpp.errors import EndpointRefused, EndpointUnreachable, PromptTooLong
from vpp.llm.address import NO_KEY, checked_address, checked_key
from vpp.llm.budget import FREE, Budget, Price
from vpp.llm.cache import ResponseCache, cache_key
from vpp.llm.counters import Counters
from vpp.llm.door import Door
from vpp.llm.faults import BodyTooLarge, Fault, chain_of, http_fault, slow_fault, transport_fault
from vpp.llm.fields import OPTIONAL, OptionalFields, named_fields
from vpp.llm.gate import AddressRefused, Gate
from vpp.llm.patience import Patience
from vpp.llm.refusals import DOES_NOT_FIT, refusal_of
from vpp.llm.single_flight import SingleFlight
from vpp.llm.sockets import affordable
from vpp.llm.structure import FIELDS, Structure, carrier_of, is_kept, request_options
from vpp.llm.window import USUAL_AT_ONCE, Window
from vpp.llm.wire import (
    SECRET_LENGTH,
    Completion,
    Messages,
    NoAnswer,
    OddReply,
    ServedModel,
    read_completion,
    read_models,
    retry_after_s,
    server_words,
    short_reason,
    withheld,
)
from vpp.usage import Narrowing

if TYPE_CHECKING:
    from vpp.llm.client import Client, Reply

__all__ = ["Completion", "Endpoint", "ServedModel"]

BACKOFF_LIMIT_S = 30.0
CLOSE_S = 5.0
"""In which connections are to close; then nobody waits for a server any more."""
OVERLOADED = frozenset({429, 503})
TRANSIENT = frozenset({408, 409, 429})
MAX_ATTEMPTS = 6
MAX_WAIT_S = 3600.0
EMPTY_ATTEMPTS = 2
"""Of a call that gets no text from a server that answers others: then it is an answer that cannot be read."""
MUTE_ATTEMPTS = {"cut off before any answer": 3, "tool called": 3, "answer withheld": MAX_ATTEMPTS}
"""Of a call that gets no text from a server that never answered, by what time does not mend; then the model is refused.
What a filter withholds is soon known: other rows are given time to be answered."""

T = TypeVar("T")


class _Failed(Exception):
    """An attempt that another may mend."""

    def __init__(
        self,
        fault: Fault,
        *,
        wait_s: float | None = None,
        is_asked_to_wait: bool = False,
        overloaded: bool = False,
        late: bool = False,
        empty: Completion | None = None,
    ) -> None:
        super().__init__(fault.words)
        self.fault = fault
        self.wait_s = wait_s
        self.is_asked_to_wait = is_asked_to_wait
        self.overloaded = overloaded
        self.late = late
        self.empty = empty
        """What came, of a reply in order that holds no text."""

    @property
    def words(self) -> str:
        """What happened, and what a person can do should it stay so."""
        return f"{self.fault.words}: {self.fault.mend}"


class _FieldsRefused(Exception):
    """The server does not know fields that it can do without."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(*names)
        self.names = names


class Endpoint:
    """Answers chat messages. One event loop a client; close it with `aclose`."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        concurrency: int = USUAL_AT_ONCE,
        timeout_s: float = 120,
        max_attempts: int = MAX_ATTEMPTS,
        backoff_s: float = 0.5,
        cache: ResponseCache | None = None,
        cache_address: str | None = None,
        counters: Counters | None = None,
        effort: str = "",
        budget: Budget | None = None,
        price: Price = FREE,
        gate: Gate | None = None,
        patience: Patience | None = None,
    ) -> None:
        """`timeout_s` bounds a whole attempt, body included; `backoff_s` is the first wait's upper bound.

        `concurrency`: calls under way at most; fewer where this process may not open as many files, or while the
        server does not keep up. `cache_address` stands for the address in cache keys. The cache stays the caller's to
        close. `effort` is one of EFFORTS (choices), or empty: the model's own. `budget` is shared with the run's other
        endpoints; `price` is this model's. `gate`: which servers may be asked; None: as on a machine of one's own.
        `patience` limits how long the server may have calls wait; None: an hour without an answer.
        Raises InputError for an address or a key that no request can carry, or a server that may not be asked.
        """
        self.base_url = checked_address(base_url)
        self.gate = gate or Gate()
        self.gate.check(self.base_url, model)
        self.model = model
        self.counters = counters or Counters()
        self._api_key = checked_key(api_key)
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._max_attempts = max_attempts
        self._backoff_s = backoff_s
        self._cache = cache
        self._cache_address = cache_address or self.base_url
        self._effort = effort
        self._fields = OptionalFields()
        self._budget = budget or Budget(self.counters)
        self._price = price
        self._patience = patience or Patience(MAX_WAIT_S)
        self._window = Window(affordable(concurrency))
        self._door = Door(lambda: self._window.limit)
        self.counters.narrow(self, self._window.limit, self._narrowed_by())
        self._gate = asyncio.Event()
        self._gate.set()
        self._under_way: SingleFlight[Completion] = SingleFlight()
        self._successes = 0
        self._has_answered = False
        self._client: Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def dropped_fields(self) -> tuple[str, ...]:
        """Optional fields the server refused: they are no longer sent, or under another name."""
        return self._fields.dropped

    def copy(self, *, counters: Counters, max_attempts: int) -> "Endpoint":
        """Another client of the same model, cache and budget, which learns of refused fields on its own."""
        return Endpoint(
            base_url=self.base_url,
            model=self.model,
            api_key=self._api_key,
            concurrency=self._concurrency,
            timeout_s=self._timeout_s,
            max_attempts=max_attempts,
            backoff_s=self._backoff_s,
            cache=self._cache,
            cache_address=self._cache_address,
            counters=counters,
            effort=self._effort,
            budget=self._budget,
            price=self._price,
            gate=self.gate,
            patience=self._patience,
        )

    def has_room(self) -> bool:
        """Whether calls that may turn out not to be needed would delay nobody, as far as can be told."""
        return self._window.has_room(self._door.load, time.monotonic())

    def pause(self) -> None:
        """Sends nothing new until `go_on`; calls under way finish."""
        self._gate.clear()

    def go_on(self) -> None:
        """Undoes `pause`."""
        self._gate.set()

    async def aclose(self) -> None:
        """Closes the connections; those that a server keeps from closing are left to the process's end."""
        self.counters.forget(self)
        if self._client is None:
            return
        closing = asyncio.ensure_future(self._client.aclose())
        self._client = None
        try:
            done, _ = await asyncio.wait((closing,), timeout=CLOSE_S)
            for task in done:
                task.result()
        finally:
            closing.cancel()

    async def complete(
        self,
        messages: Messages,
        *,
        temperature: float,
        seed: int,
        max_tokens: int,
        response_format: dict[str, Any] | None = None,
        structured: Structure | None = None,
    ) -> Completion:
        """One answer, from the cache or the server; its text is empty where the model gives none, time and again.

        structured: what the server is to hold the answer to, and perhaps does not.
        Raises EndpointRefused where the server says no, EndpointUnreachable where no attempt got a usable answer.
        """
        options = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            "response_format": response_format,
            **request_options(structured),
            **effort_options(self._effort),
        }
        key = self._cache_key(messages, options)
        completion = await self._cache.get(key) if self._cache else None
        if completion is None and self._cache:
            completion, is_joined = await self._under_way.run(key, partial(self._ask_and_keep, key, messages, options))
            completion = replace(completion, cached=True) if is_joined else completion
        elif completion is None:
            completion = await self._ask(messages, options)
        self._has_answered = True
        self._count(completion, structured)
        return completion

    async def _ask_and_keep(self, key: str, messages: Messages, options: dict[str, Any]) -> Completion:
        completion = await self._ask(messages, options)
        if self._cache and completion.text:
            self._cache.put(key, completion)
        return completion

    async def models(self) -> list[ServedModel]:
        """The models the server lists; one attempt. Raises EndpointError."""
        try:
            return self._read(partial(read_models, secret=self._secret), await self._get("models"))
        except _Failed as failure:
            raise EndpointUnreachable(self._message(failure.words)) from None

    def _cache_key(self, messages: Messages, options: dict[str, Any]) -> str:
        if self._cache is None:
            return ""
        return cache_key(
            {"address": self._cache_address, "model": self.model, "messages": list(map(dict, messages)), **options}
        )

    def _count(self, completion: Completion, structured: Structure | None) -> None:
        is_sent = structured and FIELDS[carrier_of(structured)] not in self.dropped_fields
        if structured and is_sent and not is_kept(structured, completion.text):
            self.counters.fault("not as structured")
        self.counters.add(
            cached=int(completion.cached),
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
        )

    async def _ask(self, messages: Messages, options: dict[str, Any]) -> Completion:
        """Attempts until one succeeds. A server too busy for this call that has answered others is not given up."""
        strikes = tries = 0
        successes = self._successes
        while True:
            try:
                return await self._attempt_in_turn(messages, options)
            except _Failed as failure:
                self.counters.fault(failure.fault.kind)
                tries += 1
                if failure.empty and self._has_answered and tries >= min(EMPTY_ATTEMPTS, self._max_attempts):
                    return failure.empty
                strikes = 0 if failure.overloaded and self._successes > successes else strikes + 1
                successes = self._successes
                if self._is_mute(failure, tries):
                    raise self._refused_as_mute(failure, tries) from None
                if strikes >= self._max_attempts or (failure.is_asked_to_wait and self._patience.is_used_up):
                    raise self._given_up(failure, strikes) from None
                self.counters.add(retried=1)
                await asyncio.sleep(self._wait_s(failure, tries))
            except EndpointRefused:
                self.counters.add(failed=1)
                raise

    def _wait_s(self, failure: _Failed, tries: int) -> float:
        """Exponential back-off with full jitter, after what the server asked for."""
        ceiling = min(self._backoff_s * 2 ** min(tries - 1, 16), BACKOFF_LIMIT_S)
        return (failure.wait_s or 0.0) + random.uniform(0, ceiling)

    def _is_mute(self, failure: _Failed, tries: int) -> bool:
        """Whether no call ever got a text, for a reason that waiting does not mend."""
        attempts = MUTE_ATTEMPTS.get(failure.fault.kind)
        return attempts is not None and not self._has_answered and tries >= min(attempts, self._max_attempts)

    def _refused_as_mute(self, failure: _Failed, tries: int) -> EndpointRefused:
        self.counters.add(failed=1)
        asked = f" at each of {tries} attempts, and no call was ever answered" if tries > 1 else ""
        return EndpointRefused(self._message(f"{failure.fault.words}{asked}: {failure.fault.mend}"))

    def _given_up(self, failure: _Failed, strikes: int) -> EndpointUnreachable:
        self.counters.add(failed=1)
        last = f", at the last of {self._max_attempts} attempts" if strikes >= self._max_attempts > 1 else ""
        words = self._message(f"{failure.fault.words}{last}: {failure.fault.mend}")
        return EndpointUnreachable(words, waited_s=self._patience.waited_s)

    def _message(self, reason: str) -> str:
        return f"{self.model} at {self.base_url}: {reason}"

    async def _attempt_in_turn(self, messages: Messages, options: dict[str, Any]) -> Completion:
        """One attempt, repeated only where the server refuses an optional field. Raises _Failed or EndpointRefused."""
        refused: list[str] = []
        async with self._door:
            for _ in range(1 + len(OPTIONAL)):
                await self._budget.turn(self._gate)
                try:
                    return await self._attempt(messages, options, refused)
                except _FieldsRefused as refusal:
                    refused += refusal.names
                finally:
                    self._budget.ended()
        raise EndpointRefused(self._message("it refuses the request in every form: try another model"))

    async def _attempt(self, messages: Messages, options: dict[str, Any], refused: Sequence[str]) -> Completion:
        """refused: optional fields to try without; given up for good once the server accepts that."""
        body = {"model": self.model, "messages": messages, **self._fields.spelled(options, refused)}
        try:
            completion = self._read(partial(read_completion, secret=self._secret), await self._measured(body, options))
        except _Failed as failure:
            if failure.empty:
                self._learn(body, refused, failure.empty)
                self._budget.pay(self._price.charged(messages, failure.empty))
            raise
        self._learn(body, refused, completion)
        self._budget.pay(self._price.charged(messages, completion))
        self._successes += 1
        self._patience.answered()
        self._has_answered = True
        return completion

    async def _measured(self, body: dict[str, Any], options: dict[str, Any]) -> bytes:
        """What is answered; the window hears how long that took, or that there was no room."""
        kind = options["max_tokens"], options["temperature"] > 0
        call = self._window.begin(kind, self._door.inside, time.monotonic())
        try:
            reply = await self._post(body)
            self._window.answered(kind, call, self._door.inside, time.monotonic())
            self._door.open()
        except _Failed as failure:
            if failure.overloaded or failure.late:
                self._window.refused(call, time.monotonic())
                if failure.wait_s:
                    self._door.hold(failure.wait_s)
            raise
        finally:
            self.counters.narrow(self, self._window.limit, self._narrowed_by())
            self.counters.hold(self, self._door.held_s)
        return reply

    def _narrowed_by(self) -> Narrowing:
        if self._window.limit < self._window.ceiling:
            return "full" if self._window.is_refused(time.monotonic()) else "pace"
        return "files" if self._window.ceiling < self._concurrency else ""

    def _read(self, read: Callable[[bytes], T], reply: bytes) -> T:
        try:
            return read(reply)
        except OddReply as odd:
            empty = odd.completion if isinstance(odd, NoAnswer) else None
            raise _Failed(Fault(odd.kind, self._short(str(odd)), odd.mend), empty=empty) from None

    @property
    def _secret(self) -> str:
        """What is taken out of answers: the key, unless it is so short that an answer may well hold it."""
        return self._key if len(self._key) >= SECRET_LENGTH else ""

    @property
    def _key(self) -> str:
        return "" if self._api_key == NO_KEY else self._api_key

    def withheld(self, words: str) -> str:
        """What the server says elsewhere, without the key."""
        return withheld(words, self._secret)

    async def _post(self, body: dict[str, Any]) -> bytes:
        return await self._send(self._connected().post_chat(body), body)

    async def _get(self, path: str) -> bytes:
        return await self._send(self._connected().get(path), {})

    async def _send(self, call: "Coroutine[Any, Any, Reply]", body: dict[str, Any]) -> bytes:
        """The body of a 2xx. Raises _Failed, _FieldsRefused or EndpointRefused."""
        from vpp.llm.client import TRANSPORT_ERRORS

        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await call
        except TimeoutError:
            raise _Failed(slow_fault(self._timeout_s), late=True) from None
        except (*TRANSPORT_ERRORS, BodyTooLarge, OSError) as error:
            if refused := next((one for one in chain_of(error) if isinstance(one, AddressRefused)), None):
                raise EndpointRefused(self._message(str(refused))) from None
            fault = transport_fault(error, base_url=self.base_url)
            raise _Failed(fault._replace(words=self._short(fault.words))) from None
        if not 200 <= reply.status < 300:
            raise self._refusal(reply, body)
        return reply.body

    def _refusal(self, reply: "Reply", body: dict[str, Any]) -> Exception:
        """body: empty for a look at the list, which is no attempt at a call."""
        status, words = reply.status, self._short(server_words(reply.body, secret=self._key))
        is_broke = status == 429 and b"insufficient_quota" in reply.body
        if (status in TRANSIENT or status >= 500) and not is_broke:
            asked_s = retry_after_s(reply.headers)
            wait_s = self._patience.granted_s(asked_s) if asked_s else None
            return _Failed(
                http_fault(status, words),
                wait_s=wait_s,
                is_asked_to_wait=bool(asked_s),
                overloaded=status in OVERLOADED,
            )
        if status in (400, 422) and (names := named_fields(reply.body, body)):
            return _FieldsRefused(names)
        if body:
            self.counters.fault(f"HTTP {status}")
        location = withheld(reply.headers.get("location", ""), self._key)
        said = refusal_of(402 if is_broke else status, words, location=location, has_key=self._api_key != NO_KEY)
        reason = f"HTTP {status} {words}".rstrip()
        refused = PromptTooLong if said.what == DOES_NOT_FIT else EndpointRefused
        return refused(self._message(f"{said.what} ({reason}): {said.mend}"))

    def _learn(self, body: dict[str, Any], refused: Sequence[str], completion: Completion) -> None:
        """From an accepted request: which fields it does without, and whether it keeps to its limit."""
        before = len(self.dropped_fields)
        self._fields.give_up(refused)
        self._fields.overran(body, completion.completion_tokens)
        for name in self.dropped_fields[before:]:
            self.counters.refuse(f"{name} ({self.model[:60]})")

    def _short(self, words: str) -> str:
        return short_reason(words, secret=self._key)

    def _connected(self) -> "Client":
        loop = asyncio.get_running_loop()
        if self._client is None:
            from vpp.llm.client import ADDRESS_ERRORS, Client

            try:
                self._client = Client(self.base_url, self._api_key, self.gate, window=self._window.ceiling)
            except ADDRESS_ERRORS as error:
                raise EndpointRefused(
                    self._message(f"no request can carry this address ({error}): correct it")
                ) from None
            self._loop = loop
        if self._loop is not loop:
            raise RuntimeError("an Endpoint belongs to the event loop of its first call: make one a loop")
        return self._client


def warm_up() -> None:
    """Imports the client, which takes about half a second, so that a caller can do it while waiting for something."""
    with no_collecting():
        import vpp.llm.client

    _ = vpp.llm.client.Client


def effort_options(effort: str) -> dict[str, Any]:
    """What is sent for an effort: `none` also switches a chat template's thinking off."""
    if not effort:
        return {}
    off = {"chat_template_kwargs": {"enable_thinking": False}} if effort == "none" else {}
    return {"reasoning_effort": effort, **off}
