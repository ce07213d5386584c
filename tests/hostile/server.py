"""A server outside the app: it hears who fetches from it, and answers as an OpenAI-compatible one that means harm."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from tests.hostile.payload import MARK, harm, short
from tests.llm.stub import Reply, Request, as_json, chat
from tests.processes import served_by_thread

REFUSED = "refused"
"""A model that is answered with an error."""
to_anyone = partial(as_json, Access_Control_Allow_Origin="*")


class Listener:
    def __init__(self) -> None:
        self.base_url = ""
        self.hold_after = None
        self.heard: list[str] = []

    @property
    def leak(self) -> str:
        return self.base_url.removesuffix("/v1")

    async def behave(self, request: Request) -> Reply:
        if request.path.endswith("/models"):
            return to_anyone({"data": [{"id": short("listed", self.leak)}, {"id": REFUSED}]})
        if not request.body:
            self.heard += [request.path] if MARK in request.path else []
            return to_anyone({}, 404)
        if request.body["model"] == REFUSED:
            return to_anyone({"error": {"message": harm("error", self.leak), "code": short("code", self.leak)}}, 404)
        answer = f"Explanation: {harm('said', self.leak)}\nOutput: {short('label-yes', self.leak)}"
        return chat(answer, reasoning=harm("mused", self.leak))


@contextmanager
def listener() -> Iterator[tuple[str, list[str]]]:
    with served_by_thread(Listener()) as served:  # type: ignore[type-var]
        yield served.leak, served.heard
