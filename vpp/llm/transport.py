"""One model on one server, and the HTTP exchange with it: one attempt, with every failure explained."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from vpp.collecting import no_collecting
from vpp.errors import EndpointRefused, PromptTooLong
from vpp.llm.counters import Counters
from vpp.llm.errors import (
    DOES_NOT_FIT,
    FIX_BUSY,
    FIX_SLOW,
    NO_CHAT,
    BodyTooLarge,
    Fault,
    chain_of,
    refusal_of,
    transport_fault,
)
from vpp.llm.gate import NO_KEY, AddressRefused, Gate, checked_address, checked_key
from vpp.llm.protocol import (
    NO_API,
    SECRET_LENGTH,
    Completion,
    NoAnswer,
    OddReply,
    ServedModel,
    named_fields,
    read_completion,
    read_models,
    read_token_count,
    retry_after_s,
    server_words,
    short_reason,
    withheld,
)

if TYPE_CHECKING:
    from vpp.llm.client import Client, Reply

CLOSE_S = 5.0
"""Seconds to close connections; a server that takes longer is not waited for."""
OVERLOADED = frozenset({429, 503})
RETRYABLE = frozenset({408, 409, 429})
"""Statuses below 500 after which another attempt may succeed."""

T = TypeVar("T")


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
        return self.api_key if len(self.api_key) >= SECRET_LENGTH else ""

    def message(self, reason: str) -> str:
        """Return an error message that names the model and the server."""
        return f"{self.model} at {self.base_url}: {reason}"


class AttemptFailed(Exception):
    """Failure of one attempt; another attempt may succeed."""

    def __init__(
        self,
        fault: Fault,
        *,
        asked_wait_s: float = 0.0,
        overloaded: bool = False,
        late: bool = False,
        empty: Completion | None = None,
    ) -> None:
        super().__init__(f"{fault.words}: {fault.fix}")
        self.fault = fault
        self.asked_wait_s = asked_wait_s
        """Seconds that the server asks to wait (Retry-After); 0 if it does not ask."""
        self.wait_s = 0.0
        """Seconds of that wait which are granted."""
        self.overloaded = overloaded
        self.late = late
        self.empty = empty
        """The completion, if the reply is valid but holds no text."""


class FieldsRefused(Exception):
    """The server refuses optional fields; the same request without them may be accepted."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(*names)
        self.names = names


class Transport:
    """Connections to one server. One event loop; retries nothing."""

    def __init__(self, server: Server, counters: Counters, *, timeout_s: float, connections: int) -> None:
        """timeout_s: seconds for an attempt, body included. counters: count the server's final refusals."""
        self._server = server
        self._counters = counters
        self._timeout_s = timeout_s
        self._connections = connections
        self._client: Client | None = None

    async def post_chat(self, body: dict[str, Any]) -> bytes:
        """Return the reply to a chat. Raises AttemptFailed, FieldsRefused or EndpointRefused."""
        return await self._exchange(self._connected().post_chat(body), body)

    def completion(self, reply: bytes) -> Completion:
        """Read the reply to a chat. Raises AttemptFailed."""
        return self._read(read_completion, reply)

    async def models(self) -> list[ServedModel]:
        """Return the models that the server lists; one attempt. Raises AttemptFailed or EndpointRefused."""
        return self._read(read_models, await self._exchange(self._connected().get("models"), {}))

    async def count_tokens(self, text: str) -> int | None:
        """Return the tokens of a text; one attempt. Raises AttemptFailed or EndpointRefused, as most servers do."""
        return self._read(
            read_token_count, await self._exchange(self._connected().tokenize(self._server.model, text), {})
        )

    async def aclose(self) -> None:
        """Close the connections; those that the server keeps open end with the process."""
        if self._client is None:
            return
        client, self._client = self._client, None
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await client.aclose()

    async def _exchange(self, call: "Coroutine[Any, Any, Reply]", body: dict[str, Any]) -> bytes:
        """Return the body of a 2xx. body: what is sent; empty for a list of models."""
        from vpp.llm.client import TRANSPORT_ERRORS

        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await call
        except TimeoutError:
            words = f"no complete answer within {self._timeout_s:g} s"
            raise AttemptFailed(Fault("no answer in time", words, FIX_SLOW), late=True) from None
        except (*TRANSPORT_ERRORS, BodyTooLarge, OSError) as error:
            if refused := next((one for one in chain_of(error) if isinstance(one, AddressRefused)), None):
                raise EndpointRefused(self._server.message(str(refused))) from None
            fault = transport_fault(error, base_url=self._server.base_url)
            raise AttemptFailed(fault._replace(words=self._short(fault.words))) from None
        if not 200 <= reply.status < 300:
            raise self._failure(reply, body)
        return reply.body

    def _failure(self, reply: "Reply", body: dict[str, Any]) -> Exception:
        status, words = reply.status, self._short(server_words(reply.body, secret=self._server.api_key))
        reason = f"HTTP {status} {words}".rstrip()
        has_no_credit = status == 402 or (status == 429 and b"insufficient_quota" in reply.body)
        if (status in RETRYABLE or (status >= 500 and status not in NO_CHAT)) and not has_no_credit:
            return AttemptFailed(
                Fault(f"HTTP {status}", reason, FIX_BUSY),
                asked_wait_s=retry_after_s(reply.headers) or 0.0,
                overloaded=status in OVERLOADED,
            )
        if status in (400, 422) and (names := named_fields(reply.body, body)):
            return FieldsRefused(names)
        if body:  # a list of models is no attempt at a call
            self._counters.fault(f"HTTP {status}")
        location = withheld(reply.headers.get("location", ""), self._server.api_key)
        refusal = refusal_of(
            402 if has_no_credit else status,
            words,
            body=reply.body,
            location=location,
            has_key=bool(self._server.api_key),
        )
        error = PromptTooLong if refusal.what == DOES_NOT_FIT else EndpointRefused
        found = f": found {reason}" if refusal.what == NO_API else f" ({reason})"
        return error(self._server.message(f"{refusal.what}{found}: {refusal.fix}"))

    def _read(self, read: Callable[..., T], reply: bytes) -> T:
        try:
            return read(reply, secret=self._server.secret)
        except OddReply as odd:
            empty = odd.completion if isinstance(odd, NoAnswer) else None
            raise AttemptFailed(Fault(odd.kind, self._short(str(odd)), odd.fix), empty=empty) from None

    def _short(self, words: str) -> str:
        return short_reason(words, secret=self._server.api_key)

    def _connected(self) -> "Client":
        if self._client is None:
            from vpp.llm.client import ADDRESS_ERRORS, Client

            server = self._server
            try:
                self._client = Client(server.base_url, server.api_key or NO_KEY, connections=self._connections)
            except ADDRESS_ERRORS as error:
                reason = f"no request can carry this address ({error}): correct it"
                raise EndpointRefused(server.message(reason)) from None
        return self._client


def warm_up() -> None:
    """Import the HTTP client, which takes about half a second, so that a caller can do so while it waits anyway."""
    with no_collecting():
        import vpp.llm.client

    _ = vpp.llm.client.Client
