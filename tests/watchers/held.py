"""The messages that a client holds, as a browser does: the server may send one of these as its hash alone."""

from dataclasses import dataclass, field

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


@dataclass
class Message:
    """What is kept of one."""

    step: int | None
    """That it names."""
    fragment: str
    """That drew it; empty: the whole script."""
    count: int
    """Of runs, when it came last."""


@dataclass
class Held:
    """A run that ends ages what it draws: its fragments' messages, or all where it ran the whole script.

    One that ends while a client waits for what it asked for later ages nothing: the server answers by a list of hashes
    which the client told as it asked, so none of these may be forgotten.
    """

    _messages: dict[str, Message] = field(default_factory=dict)
    """By hash."""
    _oldest: int = 2
    _count: int = 0
    _is_answered: bool = False
    """A run has begun since the client asked last."""

    def ask(self) -> list[str]:
        """The hashes to tell the server, now."""
        self._is_answered = False
        return list(self._messages)

    def begin(self, message: ForwardMsg) -> None:
        """By a `new_session`."""
        self._is_answered = True
        self._oldest = message.new_session.config.max_cached_message_age or self._oldest

    def keep(self, message: ForwardMsg, step: int | None) -> None:
        """If the server may send it as its hash."""
        if message.metadata.cacheable:
            self._messages[message.hash] = Message(step, message.delta.fragment_id, self._count)

    def step(self, name: str) -> int | None:
        """That a message names which came as its hash. KeyError if it is not held: a browser fails for good."""
        held = self._messages[name]
        held.count = self._count
        return held.step

    def finish(self, message: ForwardMsg) -> None:
        """By a `script_finished`."""
        run = message.metadata.run
        is_early = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
        if is_early or not run.script_run_id or not self._is_answered:
            return
        self._count += 1
        for name, held in list(self._messages.items()):
            is_drawn = not run.fragment_ids or held.fragment in run.fragment_ids
            if is_drawn and self._count - held.count > self._oldest:
                del self._messages[name]
