"""Questions to a run's posterior about new rows: every particle answers, weights decide (Eq. 7 and 8)."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from vpp.data.dataset import Row
from vpp.errors import RunError, VppError
from vpp.events import Votes, hypothesis_id
from vpp.inference.rounds import together
from vpp.problem import Prediction, averages_of
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import JournalReader
from vpp.runs.keys import Keys
from vpp.runs.session import Access, open_session
from vpp.runs.view import RunView

IN_FLIGHT = 2048
"""Questions begun at a time: well above the calls in flight, well below the rows of a large table."""
NOTHING: Mapping[tuple[str, int], Prediction] = {}
OnProgress = Callable[[int, int], None]
"""Called with the number of answered questions and of all questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers of K particles about N rows."""

    rows: tuple[Row, ...]
    texts: tuple[str, ...]
    """(K,) hypotheses."""
    weights: tuple[float, ...]
    """(K,) normalised."""
    predictions: tuple[tuple[Prediction, ...], ...]
    """(K, N)."""
    task: str
    target: str
    classes: tuple[str, ...] = ()
    """Labels the run knows; empty for regression."""
    step: int | None = None
    """The last complete step when the particles were read."""


class Asking:
    """Rows asked of every particle. Another thread may read the counts and the complete answers meanwhile.

    A question is a row put to a hypothesis; particles with the same hypothesis share its questions.
    """

    def __init__(
        self,
        directory: RunDirectory,
        rows: Sequence[Row],
        *,
        view: RunView | None = None,
        texts: Sequence[str] = (),
        known: Mapping[tuple[str, int], Prediction] = NOTHING,
    ) -> None:
        """view: the folded journal, read here if not given. texts: hypotheses to ask in the place of the particles.

        known: predictions that are not asked for, by hypothesis id and row id. Raises RunError without particles.
        """
        view = view or JournalReader(directory.journal).read()
        if not view.population:
            raise RunError(f"{directory.path} has no particles yet: wait for its first step")
        self.rows = tuple(rows)
        self._texts = tuple(texts) or tuple(view.texts[particle.hypothesis] for particle in view.population)
        self._weights = (1 / len(texts),) * len(texts) if texts else view.weights
        asked = set(map(hypothesis_id, self._texts))
        pairs = ((hypothesis, row.id) for hypothesis in asked for row in self.rows) if known else ()
        self._known = {pair: known[pair] for pair in pairs if pair in known}
        self.total = len(asked) * len(self.rows) - len(self._known)
        """Questions. Unreadable answers need more calls."""
        self._directory = directory
        self._spec = directory.spec()
        open_rows = (sum((text, row.id) not in self._known for row in self.rows) for text in asked)
        self.calls = sum(map(self._spec.config.learner_calls, open_rows))
        """Calls needed if every answer can be read."""
        self._step = view.last_step
        self._answered: dict[tuple[str, int], Prediction] = {}

    @property
    def done(self) -> int:
        """Answered questions."""
        return len(self._answered)

    async def go(self, *, keys: Keys, cache_dir: Path, on_progress: OnProgress | None = None) -> Answers:
        """Ask all questions. Raises EndpointError; earlier answers stay, also if this is cancelled."""

        def keep(hypothesis: str, prediction: Prediction, _attempts: int) -> None:
            self._answered[hypothesis, prediction.row] = prediction
            if on_progress:
                on_progress(self.done, self.total)

        texts = list(dict.fromkeys(self._texts))
        access = Access(keys=keys, cache_dir=cache_dir, on_answer=keep)
        async with open_session(self._directory, access) as session:
            session.learner.preload((hypothesis, prediction) for (hypothesis, _), prediction in self._known.items())
            for block in self._blocks(len(texts)):
                await together(session.learner.predict(text, block) for text in texts)
        return self.whole()

    def _blocks(self, n_texts: int) -> Iterator[tuple[Row, ...]]:
        """Yield the rows in order, in blocks, so that the first rows are complete early."""
        size = -(-IN_FLIGHT // n_texts)
        return (self.rows[first : first + size] for first in range(0, len(self.rows), size))

    def whole(self) -> Answers:
        """Return the rows that every particle has answered so far."""
        answered, identities = self._known | dict(self._answered), tuple(map(hypothesis_id, self._texts))
        rows = tuple(row for row in self.rows if all((identity, row.id) in answered for identity in set(identities)))
        return Answers(
            rows=rows,
            texts=self._texts,
            weights=self._weights,
            predictions=tuple(tuple(answered[identity, row.id] for row in rows) for identity in identities),
            task=self._spec.dataset["task"],
            target=self._spec.dataset["target"],
            classes=tuple(self._spec.dataset["classes"]),
            step=self._step,
        )


async def ask(
    directory: RunDirectory, rows: Sequence[Row], *, keys: Keys, cache_dir: Path, on_progress: OnProgress | None = None
) -> Answers:
    """Return every particle's answer to every row. Raises RunError before the first population, EndpointError.

    To stop, cancel it; use `Asking` to keep earlier answers.
    """
    return await Asking(directory, rows).go(keys=keys, cache_dir=cache_dir, on_progress=on_progress)


def averages_asked(answers: Answers) -> Votes:
    """(N,) averaged prediction of each row asked about."""
    said = [[prediction.answer for prediction in particle] for particle in answers.predictions]
    return averages_of(answers.task, said, answers.weights)


# Models asked in a background thread, which a page can look at, leave and return to

Outcome = Literal["running", "finished", "stopped", "failed"]


class Questions(Protocol):
    """Questions to a run's models, counted while they are asked."""

    total: int

    @property
    def done(self) -> int:
        """Answered questions."""

    async def go(self, *, keys: Keys, cache_dir: Path) -> object:
        """Ask all questions."""


Q = TypeVar("Q", bound=Questions)


class Background(Generic[Q]):
    """A thread with an event loop that asks; `asking` holds the answers so far."""

    def __init__(self, asking: Q, *, keys: Keys, cache_dir: Path) -> None:
        """Start the thread."""
        self.asking = asking
        self.outcome: Outcome = "running"
        self.failure = ""
        """Error message of a failure, in one line."""
        self._keys = keys
        self._cache_dir = cache_dir
        self._stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._began_at = time.monotonic()
        self._ended_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="vpp-asking", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """True until the thread ends."""
        return self._thread.is_alive()

    @property
    def seconds(self) -> float:
        """Seconds so far, or that it took."""
        return (self._ended_at or time.monotonic()) - self._began_at

    def seconds_left(self) -> float | None:
        """Estimate the seconds left at the pace so far; None before the first answer."""
        done = self.asking.done
        return self.seconds / done * (self.asking.total - done) if done else None

    def stop(self) -> None:
        """Cancel the calls in flight and keep the answers; no effect once it has ended."""
        if self._stopping:
            return
        self._stopping = True
        if self._loop and self._task:
            with suppress(RuntimeError):  # it ended meanwhile
                self._loop.call_soon_threadsafe(self._task.cancel)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; True if it has ended within the given seconds."""
        self._thread.join(timeout_s)
        return not self.is_running

    def _run(self) -> None:
        """Ask, and keep any error's message, that of a programming error too."""
        outcome: Outcome = "failed"
        try:
            outcome = asyncio.run(self._ask())
        except VppError as error:
            self.failure = str(error)
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"
        finally:
            self._ended_at = time.monotonic()
            self.outcome = outcome

    async def _ask(self) -> Outcome:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._stopping:
            return "stopped"
        try:
            await self.asking.go(keys=self._keys, cache_dir=self._cache_dir)
        except asyncio.CancelledError:
            return "stopped"
        return "finished"
