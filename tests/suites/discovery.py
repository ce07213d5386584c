"""Discovery of true rules: does the heaviest idea answer as the true rule does? Judged by answers, not by a model.

The learner applies the heaviest idea to combinations of the values that the rule's columns take. More than `MOST` of
them are drawn: at random, and next to each case of the rule, with as many of every answer as possible.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import prod
from pathlib import Path

import numpy as np

from tests.suites.rules import TrueRule
from vpp.data.columns import is_number
from vpp.data.dataset import Dataset, Row
from vpp.inspection.ideas import merge_ideas
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import write_atomically
from vpp.runs.keys import Keys
from vpp.runs.reader import RunReader
from vpp.runs.session import Access, open_session

MOST = 200
"""Most combinations that are asked about."""
DRAWS = 5
"""Rows with other cells in the remaining columns, for each combination."""
POOL = 20
"""Candidates drawn for each row asked about."""
FEW = 8
"""Most numbers of a column that are all tried; of more, those next to the rule's thresholds."""
FILE = "discovery.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Answers of the heaviest idea beside the true rule's."""

    text: str
    """The heaviest idea."""
    n: int
    """Rows asked about."""
    n_equal: int
    """Rows that idea and rule answer alike."""

    @property
    def is_found(self) -> bool:
        """True if they answer every row alike."""
        return self.n_equal == self.n


def probes(rule: TrueRule, dataset: Dataset, *, seed: int = 0) -> list[Row]:
    """Return the rows that tell the rule from others, with its answers as targets; at most `MOST`."""
    rng = np.random.default_rng(seed)
    values = {name: _values(rule, dataset, name) for name in rule.columns}
    n_all = prod(map(len, values.values()))
    if n_all > MOST:
        combinations = _balanced(list(_candidates(rule, values, rng)), rule)
    else:
        has_more = len(dataset.inputs) > len(values)
        every = [dict(zip(values, cells, strict=True)) for cells in product(*values.values())]
        combinations = every * (min(DRAWS, MOST // n_all) if has_more else 1)
    rows: list[Row] = []
    for cells, at in zip(combinations, rng.integers(len(dataset.train), size=len(combinations)), strict=True):
        inputs = tuple((name, cells.get(name, cell)) for name, cell in dataset.train[at].inputs)
        rows.append(Row(id=dataset.next_id + len(rows), inputs=inputs, target=rule.answer(cells)))
    return rows


def _values(rule: TrueRule, dataset: Dataset, name: str) -> list[str]:
    """List the values to try in a column: all, or of many numbers the ends and those next to a threshold."""
    at = dataset.inputs.index(name)
    cells = {cell for row in dataset.labelled if (cell := row.inputs[at][1]) is not None}
    if len(cells) <= FEW or not all(map(is_number, cells)):
        return sorted(cells)
    numbers = sorted(cells, key=float)
    tried = {numbers[0], numbers[-1]}
    conditions = [condition for case in rule.cases for condition in case.conditions if condition.column == name]
    for threshold in (float(condition.value) for condition in conditions if is_number(str(condition.value))):
        tried |= {n for n in numbers if float(n) == threshold}
        tried |= set(
            [n for n in numbers if float(n) < threshold][-1:] + [n for n in numbers if float(n) > threshold][:1]
        )
    return sorted(tried, key=float)


def _candidates(
    rule: TrueRule, values: Mapping[str, Sequence[str]], rng: np.random.Generator
) -> Iterator[dict[str, str]]:
    """Yield candidates: free ones, and ones that meet a case of the rule in all its conditions or all but one."""

    def pick(cells: Sequence[str]) -> str:
        return cells[int(rng.integers(len(cells)))]

    for number in range(MOST * POOL):
        row = {name: pick(cells) for name, cells in values.items()}
        case = rule.cases[number % len(rule.cases)] if number % 3 else None
        broken = int(rng.integers(len(case.conditions))) if case and case.conditions and number % 3 == 2 else None
        for place, condition in enumerate(case.conditions if case else ()):
            name = condition.column
            fitting = [cell for cell in values[name] if condition.holds({name: cell}) != (place == broken)]
            row[name] = pick(fitting or values[name])
        yield row


def _balanced(candidates: Sequence[dict[str, str]], rule: TrueRule) -> list[dict[str, str]]:
    """Return `MOST` distinct candidates, as many of every answer as possible."""
    by_answer: dict[str, list[dict[str, str]]] = {}
    for row in {tuple(each.items()): each for each in candidates}.values():
        by_answer.setdefault(rule.answer(row), []).append(row)
    chosen: list[dict[str, str]] = []
    for left, rows in zip(range(len(by_answer), 0, -1), sorted(by_answer.values(), key=len), strict=True):
        chosen += rows[: (MOST - len(chosen)) // left]
    return chosen


async def discover(directory: RunDirectory, rule: TrueRule, *, keys: Keys, cache_dir: Path) -> Discovery:
    """Ask about the run's heaviest idea, and keep the result in the run's directory. Raises EndpointError."""
    reader = RunReader(directory)
    dataset = reader.dataset()
    ideas = merge_ideas(reader.refresh().view, dataset)
    text, rows = (ideas.all[0].text if ideas else ""), probes(rule, dataset)
    async with open_session(directory, Access(keys=keys, cache_dir=cache_dir)) as session:
        answers = await session.learner.predict(text, rows)
    n_equal = sum(str(answer.value) == str(row.target) for answer, row in zip(answers, rows, strict=True))
    discovery = Discovery(text=text, n=len(rows), n_equal=n_equal)
    write_atomically(directory.path / FILE, json.dumps(asdict(discovery), ensure_ascii=False).encode())
    return discovery


def known_discovery(directory: RunDirectory) -> Discovery | None:
    """Read a result of an earlier command; None if there is none."""
    try:
        return Discovery(**json.loads((directory.path / FILE).read_text()))
    except FileNotFoundError:
        return None
