"""`python -m tests.performance.presets`: settings of smc beside the best simple rule, on tables that need no server.

Every cell is a mean over seeds of the test accuracy, or of the mean squared error divided by the constant's. The best
simple rule is the better one, on the test rows, of the constant and a tree of depth 2. `--save FILE` keeps each run as
a line of JSON; the same command goes on where it was interrupted. Runs use the demo model, without processes and HTTP.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from tests.performance.in_process import Known, run
from tests.performance.preset_tables import TABLES
from vpp.data.dataset import Dataset
from vpp.demo import VERSION
from vpp.inspection.baselines import baselines
from vpp.runs.journal import cut_torn_tail
from vpp.settings import Config, preset

EVERY = {"mutate": "every", "buffer_size": 40, "deduplicate_buffer": False, "final_weights": "rescored"}
FILTERED = {**EVERY, "mutate": "filtered"}
DISTINCT = {**FILTERED, "deduplicate_buffer": True, "final_weights": "train"}
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "recommended": {},
    "every, B=40": EVERY,
    "every, B=40, distinct": {**EVERY, "deduplicate_buffer": True},
    "every, B=40, train": {**EVERY, "final_weights": "train"},
    "every, B=100, train": {**EVERY, "buffer_size": 100, "final_weights": "train"},
    "filtered, B=40": FILTERED,
    "filtered, B=40, train": {**FILTERED, "final_weights": "train"},
    "filtered, B=40, distinct, train": DISTINCT,
    "filtered, B=60, distinct, train": {**DISTINCT, "buffer_size": 60},
    "filtered, B=100, distinct, train": {**DISTINCT, "buffer_size": 100},
    "filtered, B=100": {**FILTERED, "buffer_size": 100},
    "filtered, B=100, K 5 to 20": {**FILTERED, "buffer_size": 100, "particles": 5, "particles_max": 20},
    "adaptive tempering": {**EVERY, "tempering": "adaptive"},
    "mh on training rows": {"method": "mh", "mh_rows": "train"},
}
"""Options on top of the preset `recommended`."""
QUICK_TABLES, QUICK_SETTINGS = ("noise-and", "parts", "rare", "outliers"), ("recommended", "filtered, B=100")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One run."""

    table: str
    setting: str
    seed: int
    options: dict[str, Any]
    """The whole configuration: another one is another run."""
    demo: str
    """Version of the demo model."""
    is_label: bool
    test: float
    """Accuracy, or mean squared error over the constant's."""
    train: float
    simple: float
    """The best simple rule on the same test rows."""
    learner: int
    """Calls."""
    optimizer: int
    seconds: float
    """Processor time without HTTP and prompts of the learner."""

    @property
    def key(self) -> str:
        """What was run."""
        return json.dumps([self.table, self.seed, self.options, self.demo], sort_keys=True)

    @property
    def gain(self) -> float:
        """By how much it is better than the simple rule; negative where it is worse."""
        return self.test - self.simple if self.is_label else self.simple - self.test


def measured(table: str, settings: Sequence[str], seed: int, kept: Mapping[str, Cell]) -> Iterator[Cell]:
    """The settings on one split of a table; runs that are kept are not repeated."""
    known = Known()
    dataset = TABLES[table].make(seed)
    for setting in settings:
        config = config_of(setting, seed)
        key = json.dumps([table, seed, asdict(config), VERSION], sort_keys=True)
        yield replace(kept[key], setting=setting) if key in kept else _cell(table, setting, dataset, config, known)


def config_of(setting: str, seed: int) -> Config:
    """The preset `recommended` with a setting's options."""
    return replace(preset("recommended"), seed=seed, **SETTINGS[setting])


def _cell(table: str, setting: str, dataset: Dataset, config: Config, known: Known) -> Cell:
    began = time.process_time()
    finished = asyncio.run(run(dataset, config, known))
    seconds = time.process_time() - began
    is_label = dataset.task == "classification"
    errors = {model.name: model.score.error for model in baselines(dataset).models}
    simple = min(errors["constant"], errors.get("tree", errors["constant"]))
    scale = 1.0 if is_label else errors["constant"]
    return Cell(
        table=table,
        setting=setting,
        seed=config.seed,
        options=asdict(config),
        demo=VERSION,
        is_label=is_label,
        test=finished.test.value / scale,
        train=finished.train.value / scale,
        simple=1 - simple if is_label else simple / scale,
        learner=finished.learner_calls,
        optimizer=finished.optimizer_calls,
        seconds=round(seconds, 2),
    )


def load(path: Path | None) -> dict[str, Cell]:
    """Runs that a file keeps, by what was run; a last line cut off by an interruption is run again."""
    if path is None or not path.exists():
        return {}
    cut_torn_tail(path)
    cells = [Cell(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return {cell.key: cell for cell in cells}


def table_of(cells: Sequence[Cell]) -> list[str]:
    """Markdown: a row a table, a column a setting, and below them what sums up each setting."""
    settings = list(dict.fromkeys(cell.setting for cell in cells))
    tables = list(dict.fromkeys(cell.table for cell in cells))
    by = {at: [c for c in cells if (c.table, c.setting) == at] for at in {(c.table, c.setting) for c in cells}}
    lines = [f"| table | simple | {' | '.join(settings)} |", "|---|---|" + "---|" * len(settings)]
    for table in tables:
        own = [by[table, setting] for setting in settings]
        scale = "" if own[0][0].is_label else " (error)"
        shown = " | ".join(_shown([cell.test for cell in each]) for each in own)
        lines.append(f"| {table}{scale} | {mean(cell.simple for cell in own[0]):.3f} | {shown} |")
    return [*lines, *_summary(by, tables, settings)]


def _summary(by: Mapping[tuple[str, str], Sequence[Cell]], tables: Sequence[str], settings: Sequence[str]) -> list[str]:
    def row(name: str, figure: Any) -> str:
        return f"| {name} | | {' | '.join(figure([by[t, setting] for t in tables]) for setting in settings)} |"

    first = [mean(cell.learner for cell in by[t, settings[0]]) for t in tables]

    def calls(own: Sequence[Sequence[Cell]]) -> str:
        ratios = [mean(c.learner for c in each) / base for each, base in zip(own, first, strict=True)]
        return f"{mean(ratios):.2f}×"

    return [
        row("mean gain over the simple rule", lambda own: f"{mean(c.gain for each in own for c in each):+.3f}"),
        row("tables below it by over 0.01", lambda own: str(sum(mean(c.gain for c in e) < -0.01 for e in own))),
        row("worst table's gain", lambda own: f"{min(mean(c.gain for c in each) for each in own):+.3f}"),
        row("learner calls", lambda own: f"{mean(c.learner for each in own for c in each):,.0f}"),
        row("learner calls / first setting's", calls),
        row("processor s a run", lambda own: f"{mean(c.seconds for each in own for c in each):.1f}"),
    ]


def _shown(values: Sequence[float]) -> str:
    """Mean ± standard error."""
    error = f" ± {stdev(values) / len(values) ** 0.5:.3f}" if len(values) > 1 else ""
    return f"{mean(values):.3f}{error}"


def main(words: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.performance.presets", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four tables, two settings, two seeds")
    parser.add_argument("--tables", nargs="+", choices=list(TABLES))
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), metavar="SETTING", help="; ".join(SETTINGS))
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--save", type=Path, metavar="FILE", help="keeps each run, and goes on from those it has")
    given = parser.parse_args(words)
    tables = given.tables or (QUICK_TABLES if given.quick else tuple(TABLES))
    settings = given.settings or (QUICK_SETTINGS if given.quick else tuple(SETTINGS))
    kept, cells = load(given.save), []
    for seed in range(given.seeds or (2 if given.quick else 10)):
        for table in tables:
            for cell in measured(table, settings, seed, kept):
                cells.append(cell)
                if given.save and cell.key not in kept:
                    with given.save.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(cell)) + "\n")
    print("\n".join(table_of(cells)))


if __name__ == "__main__":
    main()
