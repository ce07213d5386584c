"""A watcher without a browser: it speaks Streamlit's own protocol, and asks for refreshes as a browser's timer does.

A browser opens a WebSocket, asks for the script once, and is told by `auto_rerun` messages which fragment to ask for
how often. An element that it holds already comes as its hash: so the client tells which it holds, as a browser does.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from aiohttp import ClientSession, WSMsgType
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX

from tests.watchers.held import Held
from tests.watchers.seen import Seen

SCRUBBER = "vpp_scrubber"
"""The component whose data names the newest step; Watch draws it last of all cards and numbers."""
PULSE, BELL = "vpp_pulse", "vpp_bell"
"""The component that says what a part of the page is due for, and the one in that part, which then asks for it."""


@dataclass
class Line(Seen):
    """One session of the app at a page of a run."""

    address: str = ""
    """Of the app, without a path."""
    page: str = "watch"
    _held: Held = field(default_factory=Held)
    _timers: dict[str, tuple[float, asyncio.Task[None]]] = field(default_factory=dict)
    """By fragment: how often it is asked for, in seconds."""
    _page: str = ""
    _due: dict[str, str] = field(default_factory=dict)
    """By part of the page: what it was last asked for."""
    _bells: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By part of the page: its bell's id, and the fragment that it stands in."""
    _asking: set[asyncio.Task[None]] = field(default_factory=set)

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

    async def _ask(self, fragment: str = "", told: Mapping[str, str] = MappingProxyType({})) -> None:
        """The whole script, or one of its fragments, as a timer asks for it or a component that has told something.

        told: JSON by the id of the widget that stands for what it tells.
        """
        asked = BackMsg()
        state = asked.rerun_script
        state.query_string = f"run={self.run}"
        state.page_script_hash = self._page
        if not self._page:
            state.page_name = self.page
        state.fragment_id = fragment
        state.is_auto_rerun = bool(fragment) and not told
        for name, value in told.items():
            state.widget_states.widgets.add(id=name, json_trigger_value=value)
        state.cached_message_hashes.extend(self._held.ask())
        await self._socket.send_bytes(asked.SerializeToString())

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._page = message.new_session.page_script_hash
            self._held.begin(message)
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
            self._take_held(message.ref_hash)
        elif kind == "delta":
            self._take_element(message)
        elif kind == "script_finished":
            self._finish(message)

    def _take_held(self, name: str) -> None:
        try:
            self.note(self._held.step(name))
        except KeyError:
            self.faults.append("the server sent the hash of a message that this watcher does not hold")

    def _take_element(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.faults.append(f"{element.exception.type}: {element.exception.message}"[:300])
        step = None
        if kind == "bidi_component":
            step = _newest(element.bidi_component)
            self._answer(element.bidi_component, message.delta.fragment_id)
        self._held.keep(message, step)
        self.note(step)

    def _answer(self, component: Any, fragment: str) -> None:
        """As the page's scripts do: what is due is asked for by its bell, once."""
        if not component.component_name.endswith((PULSE, BELL)):
            return
        data = json.loads(component.json)
        if component.component_name.endswith(BELL):
            self._bells[data["part"]] = component.id, fragment
        elif data["due"] != self._due.get(data["part"]):
            self._due[data["part"]] = data["due"]
            self._ring(*self._bells[data["part"]], data["due"])

    def _ring(self, bell: str, fragment: str, due: str) -> None:
        told = {f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{bell}__events": json.dumps([{"event": "due", "value": due}])}

        async def ask() -> None:
            with suppress(ConnectionError):
                await self._ask(fragment, told)

        asking = asyncio.create_task(ask())
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)

    def _finish(self, message: ForwardMsg) -> None:
        if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self.faults.append("the script did not compile")
        self.refreshes += 1
        self._held.finish(message)

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


def _newest(component: Any) -> int | None:
    if not component.component_name.endswith(SCRUBBER):
        return None
    step: int | None = json.loads(component.json)["newest"]
    return step
