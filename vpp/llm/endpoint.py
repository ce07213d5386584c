"""One model behind one OpenAI-compatible address, as a run asks it: cached, limited, retried, counted and paid."""

import asyncio
import random
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from vpp.errors import EndpointError, EndpointRefused, EndpointUnreachable, PromptRefused
from vpp.events import Counters
from vpp.llm import protocol
from vpp.llm.cache import ResponseCache, cache_key
from vpp.llm.gate import NO_KEY, Gate, Headers, body_of, checked_address, sendable
from vpp.llm.limits import DEFAULT_CONCURRENCY, FREE, Budget, Price, Throttle, affordable
from vpp.llm.prompts import prompt_tokens, tokens_at_most
from vpp.llm.protocol import Completion, Failure, Refused, Structure
from vpp.llm.templates import Messages

if TYPE_CHECKING:
    from vpp.llm.client import Client


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
    """One of EFFORTS (`vpp.settings`); empty: the model's default."""
    cache_address: str = ""
    """Stands for the address in cache keys, for a server whose port changes; empty: the address."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", checked_address(self.base_url))
        object.__setattr__(self, "api_key", sendable("the API key", self.api_key))
        self.gate.check(self.base_url, self.model)


MAX_ATTEMPTS = 6


PROMPT_CUT = "prompt cut by the server"
"""Kind of fault: the server counts fewer tokens than the prompt has at least."""
FEW_PIECES = 400
"""Pieces of a prompt below which a miscount says nothing."""
LEAST_SHARE = 0.95
"""Tokens a piece at least: five tokenizers measured on prompts, tables and prose give 1.0 to 2.5."""
_LETTER = r"[A-Za-z\x80-\U0010ffff]"
_PIECE = re.compile(rf"{_LETTER}+|[0-9]{{1,3}}|[!-/:-@\[-`{{-~]+(?!{_LETTER})")
"""Letters, three digits, or signs but one before a letter: no usual tokenizer joins two of them to one token."""


@dataclass(eq=False)
class Endpoint:
    """Answers chat messages. Belongs to the event loop of its first call; close it with `aclose`."""

    server: Server
    concurrency: int = DEFAULT_CONCURRENCY
    """Calls in flight at most; fewer while the server does not keep up, or if this process may open too few files."""
    timeout_s: float = 120
    """Seconds for one attempt, body included."""
    max_attempts: int = MAX_ATTEMPTS
    backoff_s: float = 0.5
    """Upper bound of the first wait between attempts; doubled with each attempt, up to 30 s."""
    cache: ResponseCache | None = None
    """Closed by the caller."""
    counters: Counters = field(default_factory=Counters)
    budget: Budget | None = None
    """Shared with the run's other endpoints; by default without a cap."""
    price: Price = FREE
    refused: Refused = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._budget = self.budget or Budget(self.counters)
        self.model = self.server.model
        self._more = body_of(self.server.body)
        self._throttle = Throttle(affordable(self.concurrency))
        self.counters.servers.add(self._throttle)
        self._client: Client | None = None
        self._successes = 0
        self._longest_whole = self._sparsest_whole = 0.0

    async def aclose(self) -> None:
        self.counters.servers.discard(self._throttle)
        client, self._client = self._client, None
        if client:
            await client.aclose()

    async def complete(
        self, messages: Messages, *, structured: Structure | None = None, top_logprobs: int = 0, **sampling: float
    ) -> Completion:
        """Return an answer from the cache or the server; its text may be empty.

        structured: the form that the server is asked to enforce; it may ignore it. top_logprobs: how many alternatives
        of each token are asked for, with their log-probabilities; the server may have none. sampling: temperature, seed
        and max_tokens.
        Raises PromptRefused if the server refuses this prompt, EndpointRefused if it refuses every one,
        EndpointUnreachable if no attempt got a usable answer.
        """
        options: dict[str, Any] = {**sampling, **protocol.request_options(structured)}
        if effort := self.server.effort:
            options["reasoning_effort"] = effort
        if effort == "none":
            options["chat_template_kwargs"] = {"enable_thinking": False}
        if top_logprobs:
            options |= {"logprobs": True, "top_logprobs": top_logprobs}
        key = self._key(messages, options) if self.cache else ""
        stored = self.cache.get(key) if self.cache else None
        try:
            completion = stored or await self._retried(messages, options)
        except EndpointError:
            self.counters.add(failed=1)
            raise
        # the server may answer better another time
        is_whole = not stored and self._reads_whole(messages, completion) and completion.text
        if self.cache and is_whole and (completion.first_tokens or not top_logprobs):
            self.cache.put(key, completion)
        tokens = {"prompt_tokens": completion.prompt_tokens, "completion_tokens": completion.completion_tokens}
        self.counters.add(cached=stored is not None, **tokens)
        return completion

    def _key(self, messages: Messages, options: dict[str, Any]) -> str:
        address = self.server.cache_address or self.server.base_url
        request = {"address": address, "model": self.model, "messages": list(map(dict, messages)), **options}
        return cache_key({**request, "body": self._more} if self._more else request)

    async def models(self) -> dict[str, int]:
        """Return the models that the server lists, with their context in tokens (0: unknown). Raises EndpointError."""
        try:
            return protocol.read_models(await self._reply("models"))
        except Failure as failure:
            raise self._error(failure) from None

    async def keep_to_slots(self) -> None:
        """Have no more calls in flight than a llama.cpp server has slots, if it says how many."""
        with suppress(Failure, ValidationError):
            slots = protocol.Listed.model_validate(await self._reply("../props")).total_slots
            self._throttle.narrow(slots or self._throttle.ceiling)

    async def _retried(self, messages: Messages, options: dict[str, Any]) -> Completion:
        """Attempt a call until it succeeds. Raises EndpointError.

        Attempts refused by an overloaded server do not count while it answers other calls.
        """
        tries, strikes, successes = 0, 0, self._successes
        while True:
            try:
                return await self._attempt(messages, options)
            except Failure as failure:
                if failure.fields:  # the same request without them, or with other values
                    continue
                self.counters.fault(failure.kind)
                others_succeed, successes = self._successes > successes, self._successes
                tries += 1
                strikes = 0 if failure.kind in protocol.OVERLOADED and others_succeed else strikes + 1
                if failure.refuses or strikes >= self.max_attempts:
                    raise self._error(failure, tries, others_succeed=others_succeed) from None
                # exponential back-off with full jitter, after the wait that the server asked for
                ceiling = min(self.backoff_s * 2 ** min(tries - 1, 16), 30.0)
                await asyncio.sleep(failure.wait_s + random.uniform(0, ceiling))

    def _error(self, failure: Failure, tries: int = 1, *, others_succeed: bool = False) -> EndpointError:
        """Return the error after the last attempt: of this prompt alone if the server answers others.

        A server of which no answer ends as it should refuses every prompt: waiting for it would not help.
        """
        words = failure.words + (f", at the last of {tries} attempts" if tries > 1 else "")
        message = f"{self.model} at {self.server.base_url}: {words}: {failure.fix}"
        if failure.refuses == "server" or (failure.kind == protocol.STOPPED and not self._successes):
            return EndpointRefused(message)
        if failure.refuses == "prompt" or (others_succeed and tries > 1):
            return PromptRefused(message, words=words, kind=failure.kind)
        return EndpointUnreachable(message)

    async def _attempt(self, messages: Messages, options: dict[str, Any]) -> Completion:
        """Send the request once, without the fields that the server refuses. Raises Failure."""
        async with self._throttle:
            if (hold_s := self._throttle.held_until - time.time()) > 0:
                await asyncio.sleep(hold_s)
            await self._budget.turn()
            fields = protocol.accepted_fields(options, self.refused)
            body = {**self._more, "model": self.model, "messages": messages, "stream": False, **fields}
            began, completion = time.monotonic(), None
            self._throttle.began.append(began)
            try:
                completion = protocol.read_completion(await self._reply("chat/completions", body))
                self._throttle.answered(began)
                self._successes += 1
                return completion
            except Failure as failure:
                completion = failure.completion
                if failure.kind in (*protocol.OVERLOADED, protocol.LATE):
                    self._throttle.refused(began, hold_s=failure.wait_s)
                self._leave_out(failure.fields, body)
                raise
            finally:
                self._throttle.began.remove(began)
                if completion:
                    self._account(body, completion)
                self._budget.ended()

    def _leave_out(self, fields: Mapping[str, float | None], body: dict[str, Any]) -> None:
        """Send these fields no more, or with the values given for those of the body, and count that."""
        for name, value in fields.items():
            protocol.note_refused(self.refused, name, body[name], value)
            bound = "" if value is None else f" {'above' if value < body[name] else 'below'} {value:g}"
            self.counters.refuse(f"{name}{bound} ({self.model[:60]})")

    def _account(self, body: dict[str, Any], completion: Completion) -> None:
        """Pay for an answer; note whether the server kept to its limit of tokens."""
        newer_limit = protocol.MOST_TOKENS[0]
        if completion.completion_tokens > body.get(newer_limit, protocol.COUNT_LIMIT) + 16:  # but for end marks
            self._leave_out({newer_limit: None}, body)  # Ollama accepts it and ignores it, but keeps to the older one
        if self.price != FREE:  # an upper bound, if the server counts no tokens
            read = completion.prompt_tokens or prompt_tokens(body["messages"])
            self._budget.pay(self.price.of(read, completion.completion_tokens or tokens_at_most(completion.text)))

    async def _reply(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return the JSON of an answer, without secrets. Raises Failure."""
        from aiohttp import ClientError

        from vpp.llm.client import Client  # half a second, at the first call

        if self._client is None:
            key, headers = self.server.api_key or NO_KEY, self.server.headers
            self._client = Client(self.server.base_url, key, headers, connections=self._throttle.ceiling)
        try:
            async with asyncio.timeout(self.timeout_s):
                status, received, raw = await self._client.send(path, body)
        except (ClientError, OSError) as error:
            if type(error) is TimeoutError:  # of `asyncio.timeout`; those of aiohttp and the system say more
                words = f"no complete answer within {self.timeout_s:g} s"
                raise Failure(protocol.LATE, words, "give it more time, or ask it for less at once") from None
            address, proxy = self.server.base_url, self._client.proxy
            raise protocol.connection_failure(error, base_url=address, proxy=proxy) from None
        own = {name: value for name, value in (body or {}).items() if name not in self._more}  # the rest is a person's
        secrets = (self.server.api_key, *(value for _, value in self.server.headers))
        return protocol.read_reply(status, received, protocol.without(raw, secrets), own)

    def _reads_whole(self, messages: Messages, completion: Completion) -> bool:
        """Return whether the server counts as many tokens as the prompt has at least; it may cut it. Count if not.

        A prompt is not looked at if it is neither longer nor has more characters a token than prompts read whole.
        """
        n_characters = sum(len(message["content"]) for message in messages)
        sparsity = n_characters / max(1, completion.prompt_tokens)
        is_usual = n_characters <= self._longest_whole and sparsity <= self._sparsest_whole
        if is_usual or not completion.prompt_tokens:
            return True
        n_pieces = sum(len(_PIECE.findall(message["content"])) for message in messages)
        if n_pieces > FEW_PIECES and completion.prompt_tokens < LEAST_SHARE * n_pieces:
            self.counters.fault(PROMPT_CUT)
            return False
        self._longest_whole = max(self._longest_whole, n_characters)
        self._sparsest_whole = max(self._sparsest_whole, sparsity)
        return True
