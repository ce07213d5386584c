"""Files that an answer passes on its way to a card, by a profile of the functions called: few can be followed.

Six from the line of the journal that holds it, and two before it: the ones that read the model's words.
"""

import asyncio
import inspect
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, cast

from tests.llm.tables import PARITY
from tests.sampled import sampled_run
from vpp.events import Counters, Scored, Usage
from vpp.findings.step import Cards, Names
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.protocol import Completion
from vpp.llm.templates import shipped
from vpp.runs.directory import Journal, RunDirectory, RunReader, decode
from vpp.show.blocks import Deck
from vpp.show.markup import html

ROOT = Path(__file__).parents[1]


class Way:
    """The files of the product whose functions this thread calls while it is followed."""

    def __init__(self) -> None:
        self.files: set[str] = set()

    def begin(self) -> None:
        sys.setprofile(self._note)

    def end(self) -> None:
        sys.setprofile(None)

    def through(self, work: Callable[[], Any]) -> Any:
        self.begin()
        try:
            return work()
        finally:
            self.end()

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED  # neither a module nor a class body
        if event == "call" and is_function and path.is_relative_to(ROOT):
            name = path.relative_to(ROOT)
            if name.parts[0] in ("vpp", "pages"):
                self.files.add(str(name))


def test_an_answer_becomes_a_card(tmp_path: Path) -> None:
    """From the model's answer to the card of its hypothesis, on a page that shows the run already."""
    way = Way()

    class Model:
        async def complete(self, *_: object, **__: object) -> Completion:
            way.begin()
            text = "The sum is even.\nOutput: 1"
            return Completion(text=text, prompt_tokens=9, completion_tokens=9)

    prompts = LearnerPrompts(dataset=PARITY, template=shipped("learner", "paper"))
    learner = LlmLearner(cast(Any, Model()), prompts, LearnerOptions(seed=9, max_tokens=64), counters=Counters())
    run = RunDirectory(shutil.copytree(sampled_run("smc").directory.path, tmp_path / "run"))
    records = run.journal.read_bytes().splitlines(keepends=True)
    events = [getattr(decode(line), "event", None) for line in records]
    last = max(i for i, event in enumerate(events) if isinstance(event, Scored) and event.role == "buffer")
    run.journal.write_bytes(b"".join(records[:last]))
    reader, event = RunReader(run), cast(Scored, events[last])
    first = reader.refresh()
    step, cards = first.view.last_step, Cards(reader.dataset(), first.spec.config)

    asyncio.run(learner.predict("The label is 1 if the sum is even.", PARITY.train[:1]))
    from_reply, way.files = way.files, set()
    journal = Journal(run.journal)
    way.through(lambda: journal.add(event, usage=Usage()))
    way.through(journal.close)
    snapshot = way.through(reader.refresh)
    assert snapshot.view.steps[event.step].scores[event.particle] == event

    def deck() -> str:
        return html([Deck(cards.at(Names(snapshot.view), step + 1))])

    assert way.through(deck)
    assert len(way.files) <= 6, "\n".join(sorted(way.files))
    assert len(way.files | from_reply) <= 8, "\n".join(sorted(way.files | from_reply))
