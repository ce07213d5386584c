"""A watcher without a browser: it speaks Streamlit's own protocol, and asks for refreshes as a browser's timer does.

A browser opens a WebSocket and asks for the script once. `auto_rerun` messages then name the fragments to ask for, and
how often. With each request it sends the hashes of the messages in its cache; of these the server sends the hash alone.
"""

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession, WSMsgType
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

STAGE = "vpp_stage"
"""The component whose header names the newest step; Watch draws it as one part with its cards and figures."""
CACHED = 200
"""Messages in a watcher's cache: several times those of a page, so that none is forgotten while a request is open."""


@dataclass
class Watcher:
    """One session of the app at a page of a run, and what it saw."""

    run: str
    """Its id."""
    address: str
    """Of the app, without a path."""
    page: str = "watch"
    first_at: dict[int, float] = field(default_factory=dict)
    """Unix time by step at which it, or a later one, was there to see."""
    refreshes: int = 0
    faults: list[str] = field(default_factory=list)
    _cached: dict[str, int | None] = field(default_factory=dict)
    """Step that a cached message names, by hash; the message that came last is last."""
    _timers: dict[str, tuple[float, asyncio.Task[None]]] = field(default_factory=dict)
    """By fragment: how often it is asked for, in seconds."""
    _script: str = ""

    async def watch(self, until: float, *, enough: int = 0) -> None:
        """Refresh until a Unix time, or a number of times if one is given. Faults are collected."""
        url = self.address.replace("http", "ws", 1) + "/_stcore/stream"
        async with (
            ClientSession() as session,
            session.ws_connect(url, protocols=("streamlit",), max_msg_size=0) as socket,
        ):
            self._socket = socket
            await self._ask()
            while (left := until - time.time()) > 0 and not 0 < enough <= self.refreshes:
                try:
                    async with asyncio.timeout(left):  # its own timeout begins anew with each ping of the server
                        message = await socket.receive()
                except TimeoutError:
                    break
                if message.type is not WSMsgType.BINARY:
                    self.faults.append(f"the connection ended: {message.type.name} {message.extra or ''}")
                    break
                self._take(ForwardMsg.FromString(message.data))
            self._stop(*self._timers)

    async def _ask(self, fragment: str = "") -> None:
        """Ask for the whole script, or for one of its fragments as a timer does."""
        request = BackMsg()
        state = request.rerun_script
        state.query_string = f"run={self.run}"
        state.page_script_hash = self._script
        state.page_name = "" if self._script else self.page
        state.fragment_id = fragment
        state.is_auto_rerun = bool(fragment)
        state.cached_message_hashes.extend(self._cached)
        await self._socket.send_bytes(request.SerializeToString())

    def _take(self, message: ForwardMsg) -> None:
        match message.WhichOneof("type"):
            case "new_session":
                self._script = message.new_session.page_script_hash
                if not message.metadata.run.fragment_ids:
                    self._stop(*self._timers)
            case "navigation":  # a server asked by link first calls it otherwise before
                self._script = message.navigation.page_script_hash
            case "auto_rerun":
                self._time(message.auto_rerun.fragment_id, message.auto_rerun.interval)
            case "stop_auto_rerun":
                self._stop(*message.stop_auto_rerun.fragment_ids)
            case "ref_hash" if message.ref_hash in self._cached:
                self._cache(message.ref_hash, self._cached[message.ref_hash])
            case "ref_hash":
                self.faults.append("the server sent the hash of a message that this watcher does not hold")
            case "delta":
                self._draw(message)
            case "script_finished":
                self.refreshes += 1
                if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    self.faults.append("the script did not compile")

    def _draw(self, message: ForwardMsg) -> None:
        element, step = message.delta.new_element, None
        match element.WhichOneof("type"):
            case "exception":
                self.faults.append(f"{element.exception.type}: {element.exception.message}"[:300])
            case "bidi_component" if element.bidi_component.component_name.endswith(STAGE):
                step = newest(element.bidi_component.bytes)
        if message.metadata.cacheable:
            self._cache(message.hash, step)
        elif step is not None:
            self.first_at.setdefault(step, time.time())

    def _cache(self, name: str, step: int | None) -> None:
        """Note the step, and cache the message; the one that has not come for longest makes room."""
        if step is not None:
            self.first_at.setdefault(step, time.time())
        self._cached.pop(name, None)
        self._cached[name] = step
        if len(self._cached) > CACHED:
            del self._cached[next(iter(self._cached))]

    def _time(self, fragment: str, seconds: float) -> None:
        """Ask for a fragment again and again, as the browser's interval does; one that is timed alike goes on."""

        async def ask() -> None:
            with suppress(ConnectionError):
                while True:
                    await asyncio.sleep(seconds)
                    await self._ask(fragment)

        if fragment not in self._timers or self._timers[fragment][0] != seconds:
            self._stop(fragment)
            self._timers[fragment] = (seconds, asyncio.create_task(ask()))

    def _stop(self, *fragments: str) -> None:
        for fragment in fragments:
            if timer := self._timers.pop(fragment, None):
                timer[1].cancel()


def newest(content: bytes) -> Any:
    """Return the newest step that the stage names; None before the first."""
    return json.loads(content.split(b"\n", 1)[0])["newest"]
