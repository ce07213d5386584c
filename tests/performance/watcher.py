"""A watcher without a browser: it speaks Streamlit's own protocol, and asks for refreshes as a browser's timer does.

A browser opens a WebSocket and asks for the script once. `auto_rerun` messages then name the fragments to ask for, and
how often. With each request it sends the hashes of the messages in its cache; of these the server sends the hash alone.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, WSMsgType
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from vpp.findings.step import shown_step
from vpp.runs.journal import JournalReader
from vpp.runs.view import RunView

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
    received_bytes: int = 0
    faults: list[str] = field(default_factory=list)
    _cached: dict[str, int | None] = field(default_factory=dict)
    """Step that a cached message names, by hash; the message that came last is last."""
    _timers: dict[str, tuple[float, asyncio.Task[None]]] = field(default_factory=dict)
    """By fragment: how often it is asked for, in seconds."""
    _page: str = ""

    async def watch(self, until: float, *, enough: int = 0) -> None:
        """Until a Unix time, or so many refreshes where a number is given. Faults are noted, not raised."""
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
                self.received_bytes += len(message.data)
                self._take(ForwardMsg.FromString(message.data))
            self._forget_timers()

    async def _ask(self, fragment: str = "") -> None:
        """Ask for the whole script, or for one of its fragments as a timer does."""
        asked = BackMsg()
        state = asked.rerun_script
        state.query_string = f"run={self.run}"
        state.page_script_hash = self._page
        if not self._page:
            state.page_name = self.page
        state.fragment_id = fragment
        state.is_auto_rerun = bool(fragment)
        state.cached_message_hashes.extend(self._cached)
        await self._socket.send_bytes(asked.SerializeToString())

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._page = message.new_session.page_script_hash
            if not message.metadata.run.fragment_ids:
                self._forget_timers()
        elif kind == "navigation":
            self._page = message.navigation.page_script_hash  # a server asked by link first calls it otherwise before
        elif kind == "auto_rerun":
            self._time(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self._forget_timer(fragment)
        elif kind == "ref_hash":
            self._take_cached(message.ref_hash)
        elif kind == "delta":
            self._take_element(message)
        elif kind == "script_finished":
            self._finish(message)

    def _take_cached(self, name: str) -> None:
        if name not in self._cached:
            self.faults.append("the server sent the hash of a message that this watcher does not hold")
            return
        self._cache(name, self._cached[name])

    def _take_element(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.faults.append(f"{element.exception.type}: {element.exception.message}"[:300])
        step = _newest(element.bidi_component) if kind == "bidi_component" else None
        if message.metadata.cacheable:
            self._cache(message.hash, step)
        else:
            self.note(step)

    def _cache(self, name: str, step: int | None) -> None:
        """Note the step, and cache the message; the one that has not come for longest makes room."""
        self.note(step)
        self._cached.pop(name, None)
        self._cached[name] = step
        if len(self._cached) > CACHED:
            del self._cached[next(iter(self._cached))]

    def _finish(self, message: ForwardMsg) -> None:
        if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self.faults.append("the script did not compile")
        self.refreshes += 1

    def _time(self, fragment: str, seconds: float) -> None:
        """Asks for a fragment again and again, as the browser's interval does; one that is timed alike goes on."""
        if fragment in self._timers and self._timers[fragment][0] == seconds:
            return
        self._forget_timer(fragment)

        async def ask() -> None:
            with suppress(ConnectionError):
                while True:
                    await asyncio.sleep(seconds)
                    await self._ask(fragment)

        self._timers[fragment] = (seconds, asyncio.create_task(ask()))

    def _forget_timer(self, fragment: str) -> None:
        if timed := self._timers.pop(fragment, None):
            timed[1].cancel()

    def _forget_timers(self) -> None:
        for fragment in list(self._timers):
            self._forget_timer(fragment)

    def note(self, step: int | None) -> None:
        """The page names `step` as the newest, now."""
        if step is not None:
            self.first_at.setdefault(step, time.time())

    def lags(self, written: Mapping[int, float], *, until: float) -> list[float]:
        """Seconds from the journal's record of a step to its being seen, of each step written while it watched.

        A step that was passed over counts from when a later one was seen, one never seen up to `until`.
        """
        began = min(self.first_at.values(), default=until)

        def seen(step: int) -> float:
            return min((at for later, at in self.first_at.items() if later >= step), default=until)

        return [seen(step) - at for step, at in written.items() if began < at]


def written_at(journal: Path) -> dict[int, float]:
    """Unix time by step of the record that gives Watch the step to show."""
    view, times = RunView(), dict[int, float]()
    for record in JournalReader(journal).new_records():
        view.apply(record)
        step = shown_step(view)
        if step is not None:
            times.setdefault(step, record.at)
    return times


def _newest(component: Any) -> int | None:
    if not component.component_name.endswith(STAGE):
        return None
    newest: int | None = json.loads(component.bytes.split(b"\n", 1)[0])["newest"]
    return newest
