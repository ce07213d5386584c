"""Asking a run's posterior about new rows: every particle answers, weights decide (Eq. 7 and 8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vpp.data.dataset import Row
from vpp.errors import RunError
from vpp.inference.rounds import together
from vpp.llm.counters import Counters
from vpp.problem import Prediction
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import JournalReader
from vpp.runs.session import Keys, open_session
from vpp.runs.view import fold


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What K particles said about N rows."""

    rows: tuple[Row, ...]
    texts: tuple[str, ...]
    """(K,) hypotheses."""
    weights: tuple[float, ...]
    """(K,) normalised."""
    predictions: tuple[tuple[Prediction, ...], ...]
    """(K, N)."""
    task: str
    target: str


async def ask(directory: RunDirectory, rows: Sequence[Row], *, keys: Keys, cache_dir: Path) -> Answers:
    """Every particle's answer to every row. Raises RunError before the first population, EndpointError."""
    view = fold(JournalReader(directory.journal).new_records())
    if not view.population:
        raise RunError(f"{directory.path} has no particles yet: wait for its first step")
    texts = tuple(view.texts[p.hypothesis] for p in view.population)
    async with open_session(directory, keys=keys, cache_dir=cache_dir, counters=Counters()) as session:
        predictions = await together(session.learner.predict(text, rows) for text in texts)
    dataset = session.problem.dataset
    return Answers(
        rows=tuple(rows),
        texts=texts,
        weights=view.weights,
        predictions=tuple(predictions),
        task=dataset.task,
        target=dataset.target,
    )
