"""One model behind one OpenAI-compatible address: limits, retries, time-outs, cache.

The only module that knows `openai`, which it imports when the first call is made: that takes half a second.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from vpp.errors import EndpointError, EndpointRefused, EndpointUnreachable
from vpp.llm.address import NO_KEY, checked_address, checked_key, is_loopback
from vpp.llm.cache import ResponseCache, cache_key
from vpp.llm.counters import Counters
from vpp.llm.fields import OptionalFields
from vpp.llm.wire import (
    Completion,
    Messages,
    OddReply,
    ServedModel,
    read_completion,
    read_models,
    retry_after_s,
    server_words,
    short_reason,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["Completion", "Endpoint", "Probe", "ServedModel"]

BACKOFF_LIMIT_S = 30.0
CONNECT_TIMEOUT_S = 15.0
KEEPALIVE_S = 3.0
"""uvicorn, and so vLLM, closes an idle connection after 5 s: one given up earlier is never closed under a call."""
OVERLOADED = frozenset({429, 503})
TRANSIENT = frozenset({408, 409, 429})
PROBE_TOKENS = 64
MEND_DOWN = "check that the server is up and its address right"
MEND_SLOW = "give it more time, or ask it for less at once"
MEND_BUSY = "it is overloaded or failing: go on when it has recovered"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What one look at an endpoint found."""

    reachable: bool
    """Whether a server answered at all, be it with a refusal."""
    models: tuple[ServedModel, ...] = ()
    """What it lists; some list nothing."""
    model_ok: bool = False
    """Whether the model answered."""
    context_length: int | None = None
    """Tokens, where the server says."""
    round_trip_s: float | None = None
    """One tiny completion."""
    reason: str | None = None
    """Why not, in one line."""


class _Failed(Exception):
    """An attempt that another may mend: what happened, and what a person can do should it stay so."""

    def __init__(self, reason: str, *, mend: str, wait_s: float | None = None, overloaded: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.mend = mend
        self.wait_s = wait_s
        self.overloaded = overloaded


class _FieldsRefused(Exception):
    """The server does not know a field that it can do without."""


class Endpoint:
    """Answers chat messages. One event loop a client; close it with `aclose`."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        concurrency: int = 512,
        timeout_s: float = 120,
        max_attempts: int = 6,
        backoff_s: float = 0.5,
        cache: ResponseCache | None = None,
        cache_address: str | None = None,
        counters: Counters | None = None,
    ) -> None:
        """`timeout_s` bounds a whole attempt, body included; `backoff_s` is the first wait's upper bound.

        `cache_address` stands for the address in cache keys. The cache stays the caller's to close.
        Raises InputError for an address or a key that no request can carry.
        """
        self.base_url = checked_address(base_url)
        self.model = model
        self.counters = counters or Counters()
        self._api_key = checked_key(api_key)
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._max_attempts = max_attempts
        self._backoff_s = backoff_s
        self._cache = cache
        self._cache_address = cache_address or self.base_url
        self._fields = OptionalFields()
        self._slots = asyncio.Semaphore(concurrency)
        self._gate = asyncio.Event()
        self._gate.set()
        self._successes = 0
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def dropped_fields(self) -> tuple[str, ...]:
        """Optional fields the server refused: they are no longer sent, or under another name."""
        return self._fields.dropped

    def pause(self) -> None:
        """Sends nothing new until `go_on`; calls under way finish."""
        self._gate.clear()

    def go_on(self) -> None:
        """Undoes `pause`."""
        self._gate.set()

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def complete(
        self,
        messages: Messages,
        *,
        temperature: float,
        seed: int,
        max_tokens: int,
        response_format: dict[str, Any] | None = None,
    ) -> Completion:
        """One answer, from the cache or the server.

        Raises EndpointRefused where the server says no, EndpointUnreachable where no attempt got a usable answer.
        """
        options = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            "response_format": response_format,
        }
        key = self._cache_key(messages, options)
        completion = await self._cache.get(key) if self._cache else None
        if completion is None:
            completion = await self._ask(messages, options)
            if self._cache:
                self._cache.put(key, completion)
        self._count(completion)
        return completion

    async def models(self) -> list[ServedModel]:
        """The models the server lists; one attempt. Raises EndpointError."""
        try:
            return self._read(read_models, await self._get("/models"))
        except _Failed as failure:
            raise EndpointUnreachable(self._message(f"{failure.reason}: {failure.mend}")) from None

    async def probe(self) -> Probe:
        """Looks once at the list of models and asks the model for a word; raises nothing on purpose."""
        models, reachable = await self._listed()
        started = time.perf_counter()
        reason = None
        try:
            await self._attempt_in_turn(
                [{"role": "user", "content": "Answer with the word OK."}],
                {"max_tokens": PROBE_TOKENS, "temperature": 0.0},
            )
        except EndpointRefused as refusal:
            reachable, reason = True, str(refusal)
        except _Failed as failure:
            reason = self._message(f"{failure.reason}: {failure.mend}")
        return Probe(
            reachable=reachable or reason is None,
            models=models,
            model_ok=reason is None,
            context_length=next((model.max_model_len for model in models if model.id == self.model), None),
            round_trip_s=time.perf_counter() - started if reason is None else None,
            reason=reason,
        )

    async def _listed(self) -> tuple[tuple[ServedModel, ...], bool]:
        """The models listed, and whether anything answered."""
        try:
            return tuple(await self.models()), True
        except EndpointRefused:
            return (), True
        except EndpointError:
            return (), False

    def _cache_key(self, messages: Messages, options: dict[str, Any]) -> str:
        if self._cache is None:
            return ""
        return cache_key(
            {"address": self._cache_address, "model": self.model, "messages": list(map(dict, messages)), **options}
        )

    def _count(self, completion: Completion) -> None:
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
                tries += 1
                strikes = 0 if failure.overloaded and self._successes > successes else strikes + 1
                successes = self._successes
                if strikes >= self._max_attempts:
                    raise self._given_up(failure) from None
                self.counters.add(retried=1)
                await asyncio.sleep(self._wait_s(failure, tries))
            except EndpointRefused:
                self.counters.add(failed=1)
                raise

    def _wait_s(self, failure: _Failed, tries: int) -> float:
        """Exponential back-off with full jitter, after what the server asked for."""
        ceiling = min(self._backoff_s * 2 ** min(tries - 1, 16), BACKOFF_LIMIT_S)
        return (failure.wait_s or 0.0) + random.uniform(0, ceiling)

    def _given_up(self, failure: _Failed) -> EndpointUnreachable:
        self.counters.add(failed=1)
        return EndpointUnreachable(
            self._message(f"{failure.reason}, at the last of {self._max_attempts} attempts: {failure.mend}")
        )

    def _message(self, reason: str) -> str:
        return f"{self.model} at {self.base_url}: {reason}"

    async def _attempt_in_turn(self, messages: Messages, options: dict[str, Any]) -> Completion:
        """One attempt, repeated only where the server refuses an optional field. Raises _Failed or EndpointRefused."""
        async with self._slots:
            while True:
                await self._gate.wait()
                try:
                    return await self._attempt(messages, options)
                except _FieldsRefused:
                    continue

    async def _attempt(self, messages: Messages, options: dict[str, Any]) -> Completion:
        body = {"model": self.model, "messages": messages, **self._fields.spelled(options)}
        completion = self._read(read_completion, await self._post(body))
        self._successes += 1
        return completion

    def _read(self, read: Callable[[bytes], T], reply: bytes) -> T:
        try:
            return read(reply)
        except OddReply as odd:
            raise _Failed(self._short(str(odd)), mend=odd.mend) from None

    async def _post(self, body: dict[str, Any]) -> bytes:
        import httpx2

        client = self._connected()
        return await self._send(lambda: client.post("/chat/completions", cast_to=httpx2.Response, body=body), body)

    async def _get(self, path: str) -> bytes:
        import httpx2

        client = self._connected()
        return await self._send(lambda: client.get(path, cast_to=httpx2.Response), {})

    async def _send(self, call: Callable[[], Awaitable[Any]], body: dict[str, Any]) -> bytes:
        """The body of a 2xx. Raises _Failed, _FieldsRefused or EndpointRefused."""
        import aiohttp
        import openai

        try:
            async with asyncio.timeout(self._timeout_s):
                response = await call()
            return bytes(response.content)
        except openai.APIStatusError as error:
            raise self._refusal(error.response, body) from None
        except TimeoutError:
            raise _Failed(f"no whole answer within {self._timeout_s:g} s", mend=MEND_SLOW) from None
        except (openai.APIError, aiohttp.ClientError, OSError) as error:
            raise _Failed(self._short(_root_words(error)), mend=MEND_DOWN) from None

    def _refusal(self, response: Any, body: dict[str, Any]) -> Exception:
        status, words = response.status_code, server_words(response.content)
        reason = self._short(f"HTTP {status} {words}".rstrip())
        if status in TRANSIENT or status >= 500:
            wait_s = retry_after_s(response.headers)
            return _Failed(reason, mend=MEND_BUSY, wait_s=wait_s, overloaded=status in OVERLOADED)
        if status in (400, 422) and self._fields.learn(response.content, body):
            return _FieldsRefused()
        what, mend = _verdict(status)
        return EndpointRefused(self._message(f"{what} ({reason}): {mend}"))

    def _short(self, words: str) -> str:
        return short_reason(words, secret="" if self._api_key == NO_KEY else self._api_key)

    def _connected(self) -> "AsyncOpenAI":
        loop = asyncio.get_running_loop()
        if self._client is None:
            self._client = _connect(self.base_url, self._api_key, window=self._concurrency)
            self._loop = loop
        if self._loop is not loop:
            raise RuntimeError("an Endpoint belongs to the event loop of its first call: make one a loop")
        return self._client


def warm_up() -> None:
    """Imports the client, which takes about half a second, so that a caller can do it while waiting for something."""
    import httpx2
    import openai

    _ = (httpx2.AsyncClient, openai.AsyncOpenAI, openai.DefaultAioHttpClient)


def _connect(base_url: str, api_key: str, *, window: int) -> "AsyncOpenAI":
    """A client that keeps up to `window` connections and neither retries nor follows redirects."""
    import httpx2
    import openai

    limits = httpx2.Limits(max_connections=window, max_keepalive_connections=window, keepalive_expiry=KEEPALIVE_S)
    timeout = httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S)
    transport = openai.DefaultAioHttpClient(
        limits=limits, timeout=timeout, follow_redirects=False, trust_env=not is_loopback(base_url)
    )
    return openai.AsyncOpenAI(api_key=api_key, base_url=base_url, max_retries=0, timeout=timeout, http_client=transport)


def _verdict(status: int) -> tuple[str, str]:
    """What a final refusal means, and the mend."""
    if status in (401, 403):
        return "key refused", "give a key this server knows"
    if status == 404:
        return "unknown model or address", "check the model's name, and how the address ends (often /v1)"
    if 300 <= status < 400:
        return "it redirects", "give the address it redirects to"
    return "it did not accept the request", "change what it names, or try another model"


def _root_words(error: BaseException) -> str:
    """The words of the first error of a chain: a transport's say more than the client's 'Connection error.'"""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
