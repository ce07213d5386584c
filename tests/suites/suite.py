"""A suite: a folder of tables whose true rules are known, laid out as NAME_train.csv, NAME_test.csv and truth.json.

truth.json (HypoBench: metadata.json) holds an entry a table, under its name or the end of it: `truth` with the rule in
sentences (HypoBench: `ground_truth_hypotheses`), `features` with what the columns mean, and `program` with the rule as
JSON (`rules`), needed only if the sentences cannot be read.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.performance.stub import ROOT
from tests.suites.rules import TrueRule, nearest, read_rule, read_sentences
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.descriptions import MOST_CHARACTERS, by_key
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table
from vpp.errors import InputError


@dataclass(frozen=True)
class SuiteTable:
    """A table of a suite: its rows, its true rule and what its columns mean."""

    name: str
    train: Path
    test: Path
    entry: Mapping[str, Any]
    """Its entry in truth.json."""

    @cached_property
    def rows(self) -> tuple[Table, Table]:
        train, test = (Table.read(path.read_bytes(), name=path.name) for path in (self.train, self.test))
        return train, test

    @property
    def target(self) -> str:
        """Name of the target: `target` of the entry, else the last column."""
        return str(self.entry.get("target", self.rows[0].names[-1]))

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name in self.rows[0].names if name != self.target)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The true rule in words."""
        return tuple(map(str, self.entry.get("truth") or self.entry.get("ground_truth_hypotheses") or ()))

    @cached_property
    def rule(self) -> TrueRule | None:
        """The true rule; None for a table with a text input and no program. Raises InputError if it is unreadable."""
        if "program" in self.entry:
            return read_rule(self.entry["program"])
        if any(column.kind == "text" for column in self.rows[0].columns if column.name in self.inputs):
            return None
        values = {name: list(dict.fromkeys(filter(None, self.cells(name)))) for name in self.inputs}
        rule = read_sentences(self.sentences, values, sorted(set(filter(None, self.cells(self.target)))))
        if rule is None or not self._fits(rule):
            raise InputError(f"the truth of {self.name} is not understood: add a program to its entry")
        return rule

    def cells(self, name: str) -> list[str | None]:
        return [cell for table in self.rows for cell in table.cells(name)]

    def _fits(self, rule: TrueRule) -> bool:
        """True if the rule answers more rows than the commonest label does; noise may spoil some."""
        rows = zip(*map(self.cells, self.inputs), strict=True)
        targets = self.cells(self.target)
        answers = [rule.answer(dict(zip(self.inputs, row, strict=True))) for row in rows]
        return sum(map(str.__eq__, answers, map(str, targets))) > max(map(targets.count, set(targets)))

    @property
    def descriptions(self) -> dict[str, str]:
        """Descriptions by column: a feature under another name goes to the column nearest to its words."""
        features = self.entry.get("features", {})
        texts = {key: each.get("description") if isinstance(each, Mapping) else each for key, each in features.items()}
        given = by_key({key: text for key, text in texts.items() if isinstance(text, str)}, source="truth.json")
        columns = {
            key: key if key in self.inputs else nearest(f"{key} {text}", self.inputs) for key, text in given.items()
        }
        return {column: given[key][:MOST_CHARACTERS] for key, column in columns.items() if column}

    def dataset(self, *, seed: int, train_size: int, test_size: int) -> Dataset:
        """Draw training rows by the seed, and test rows from the table's own file."""
        train, test = self.rows
        return build_dataset(
            train,
            target=self.target,
            test_table=test,
            columns=ColumnChoice(inputs=self.inputs if self.rule else None, descriptions=self.descriptions),
            split=SplitPlan(seed=seed, train_size=train_size, test_size=test_size),
        )


def run_table(table: SuiteTable, run: Path, words: Sequence[str]) -> dict[str, Any]:
    """Run this product on a table of the suite, or continue; return its result. words: further options of `vpp run`."""
    named = ["run", str(table.train), "--test", str(table.test), "--run-dir", str(run)]
    named += ["--target", table.target, "--inputs", ",".join(table.inputs), *words]
    named += [f"--describe={name}={text}" for name, text in table.descriptions.items()]
    command = ["resume", str(run)] if (run / "run.json").is_file() else named
    done = subprocess.run(
        [sys.executable, "-m", "vpp", *command, "--json", "--quiet"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def read_suite(folder: Path) -> dict[str, SuiteTable]:
    """Find the tables of a folder by name."""
    truth = json.loads(
        next(path for path in map(folder.joinpath, ("truth.json", "metadata.json")) if path.is_file()).read_text()
    )
    trains = {path.stem.removesuffix("_train"): path for path in sorted(folder.glob("*_train.*"))}
    return {
        name: SuiteTable(name, train, train.with_name(train.name.replace("_train", "_test")), _entry(truth, name))
        for name, train in trains.items()
    }


def _entry(truth: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the entry under the table's name or the longest end of it; a truth.json of one table is the entry."""
    keys = [key for key in truth if name == key or name.endswith(f"_{key}")]
    entry: Mapping[str, Any] = truth if "features" in truth else truth[max(keys, key=len)] if keys else {}
    return entry
