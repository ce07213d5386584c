"""Results of a suite: accuracy beside simple baselines, and how often the true rule is found."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vpp.bench.discovery import MOST, Discovery
from vpp.bench.outcome import Outcome
from vpp.bench.suite import SuiteTable
from vpp.bench.table import NONE, Table
from vpp.inspection.baselines import Baselines
from vpp.posterior.metric import deviation
from vpp.wording.words import fixed, integer

SIMPLE = {"constant": "one answer", "linear": "linear", "tree": "tree", "text": "TF-IDF"}
"""Columns of the simple baselines, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """A finished cell of a suite."""

    outcome: Outcome
    simple: Baselines
    """Simple baselines on the same rows."""
    discovery: Discovery | None = None
    """None for a table whose rule is no program."""

    @property
    def scores(self) -> dict[str, float]:
        """Test metric of each simple baseline, by name."""
        return {model.name: model.score.value for model in self.simple.models}


def suite_table(results: Iterable[SuiteResult]) -> Table:
    """Return one line per table and method: means over seeds."""
    grouped: Mapping[tuple[str, str], list[SuiteResult]] = defaultdict(list)
    for result in results:
        grouped[result.outcome.task, result.outcome.method].append(result)
    names = [name for name in SIMPLE if any(name in result.scores for cells in grouped.values() for result in cells)]
    head = ("table", "method", "seeds", "on test rows", "rule found", "answers alike", "calls a run")
    return Table(
        title="Suite",
        note=(
            "Means over seeds ± sample standard deviation. Rule found: the heaviest idea answers every combination of "
            f"the rule's columns as the true rule does (at most {MOST} combinations, as many of every answer as "
            "possible). Answers alike: share of these combinations, learner's slips included."
        ),
        head=(*head, *(SIMPLE[name] for name in names)),
        rows=tuple(_line(*key, cells, names) for key, cells in grouped.items()),
    )


def _line(task: str, method: str, cells: Sequence[SuiteResult], names: Sequence[str]) -> tuple[str, ...]:
    is_error = cells[0].outcome.is_error
    found = [cell.discovery for cell in cells if cell.discovery]
    alike = [100 * each.n_equal / each.n for each in found]
    return (
        task,
        method,
        str(len(cells)),
        _mean([cell.outcome.test for cell in cells], is_error=is_error),
        f"{sum(each.is_found for each in found)} of {len(found)}" if found else NONE,
        f"{fixed(sum(alike) / len(alike), 1)} %" if alike else NONE,
        integer(round(sum(cell.outcome.calls for cell in cells) / len(cells))),
        *(_mean([cell.scores[name] for cell in cells if name in cell.scores], is_error=is_error) for name in names),
    )


def _mean(values: Sequence[float], *, is_error: bool) -> str:
    if not values:
        return NONE
    scale, digits, unit = (1, 3, "") if is_error else (100, 1, " %")
    mean, spread = sum(values) / len(values), deviation(values) if len(values) > 1 else None
    around = "" if spread is None else f" ± {fixed(scale * spread, digits)}"
    return f"{fixed(scale * mean, digits)}{around}{unit}"


def suite_json(tables: Mapping[str, SuiteTable], results: Iterable[SuiteResult]) -> dict[str, Any]:
    """Return every cell as JSON types, with the true rule and the heaviest idea."""
    return {
        "most_combinations": MOST,
        "cells": [
            {
                "table": result.outcome.task,
                "method": result.outcome.method,
                "seed": result.outcome.seed,
                "metric": result.outcome.metric,
                "test": result.outcome.test,
                "train": result.outcome.train,
                "calls": {"learner": result.outcome.learner_calls, "optimizer": result.outcome.optimizer_calls},
                "wall_s": result.outcome.wall_s,
                "baselines": result.scores,
                "truth": list(tables[result.outcome.task].sentences),
                "heaviest": result.discovery.text if result.discovery else None,
                "rule_found": result.discovery.is_found if result.discovery else None,
                "combinations": result.discovery.n if result.discovery else None,
                "answered_alike": result.discovery.n_equal if result.discovery else None,
            }
            for result in results
        ],
    }
