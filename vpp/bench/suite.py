"""A suite: a folder of tables whose true rules are known, laid out as NAME_train.csv, NAME_test.csv and truth.json.

truth.json holds an entry a table, under its name or the end of it: `truth` with the rule in sentences, `features` with
what the columns mean, and `program` with the rule as JSON (`true_rule`), needed only if the sentences cannot be read.
HypoBench's `ground_truth_hypotheses` stands for `truth`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from vpp import files
from vpp.bench.sentences import nearest, read_sentences
from vpp.bench.true_rule import FORM, TrueRule, read_rule
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.descriptions import MOST_CHARACTERS, by_key
from vpp.data.split import SplitPlan
from vpp.data.table import MAX_BYTES, ColumnChoice, Table
from vpp.errors import InputError

TRAIN, TEST, TRUTH = "_train", "_test", "truth.json"
METADATA = "metadata.json"
"""HypoBench's name of a truth.json about one table."""
TEST_ROWS = 200
"""Most test rows of a table."""


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
        """Training and test rows. Raises InputError or DataError."""
        return _table(self.train), _table(self.test)

    @property
    def target(self) -> str:
        """Name of the target: `target` of the entry, else the last column."""
        return str(self.entry.get("target", self.rows[0].names[-1]))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the other columns."""
        return tuple(name for name in self.rows[0].names if name != self.target)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The true rule in words."""
        return tuple(map(str, self.entry.get("truth") or self.entry.get("ground_truth_hypotheses") or ()))

    @property
    def has_text(self) -> bool:
        """True if an input is a text: then no set of combinations covers the rule."""
        return any(column.kind == "text" for column in self.rows[0].columns if column.name in self.inputs)

    @cached_property
    def rule(self) -> TrueRule | None:
        """The true rule; None for a table with a text input and no program. Raises InputError if it is unreadable."""
        if "program" in self.entry:
            rule = read_rule(self.entry["program"])
            if missing := [column for column in rule.columns if column not in self.inputs]:
                raise InputError(f"the program of {self.name} names the column {missing[0]!r}, which the table lacks")
            return rule
        if self.has_text:
            return None
        labels = sorted({cell for table in self.rows for cell in table.cells(self.target) if cell is not None})
        read = read_sentences(self.sentences, {name: self.values(name) for name in self.inputs}, labels)
        if read is None or not self._fits(read):
            why = "has no sentence that is understood" if read is None else "reads as a rule that does not fit the rows"
            raise InputError(f"the truth of {self.name} {why}: add a program to its entry in {TRUTH}: {FORM}")
        return read

    def values(self, name: str) -> list[str]:
        """List a column's distinct cells, missing ones left out, in file order."""
        return list(dict.fromkeys(cell for table in self.rows for cell in table.cells(name) if cell is not None))

    def _fits(self, rule: TrueRule) -> bool:
        """True if the rule answers more rows than the commonest label does; noise may spoil some."""
        targets = [cell for table in self.rows for cell in table.cells(self.target)]
        rows = [cells for table in self.rows for cells in _cells(table, self.inputs)]
        right = sum(rule.answer(cells) == target for cells, target in zip(rows, targets, strict=True))
        return right > max(map(targets.count, set(targets)))

    @property
    def descriptions(self) -> dict[str, str]:
        """Descriptions by column: a feature under another name goes to the column nearest to its words."""
        features = self.entry.get("features", {})
        texts = {key: each.get("description") if isinstance(each, Mapping) else each for key, each in features.items()}
        given = by_key({key: text for key, text in texts.items() if isinstance(text, str)}, source=TRUTH)
        named = {
            key: key if key in self.inputs else nearest(f"{key} {text}", self.inputs) for key, text in given.items()
        }
        return {column: given[key][:MOST_CHARACTERS] for key, column in named.items() if column}

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


def _table(path: Path) -> Table:
    try:
        return Table.read(files.read_at_most(path, MAX_BYTES + 1), name=path.name)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check the suite's folder") from None


def _cells(table: Table, names: Sequence[str]) -> list[dict[str, str | None]]:
    columns = [table.cells(name) for name in names]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def read_suite(folder: Path) -> dict[str, SuiteTable]:
    """Find the tables of a folder by name. Raises InputError without one, or for an unreadable truth.json."""
    trains = sorted(path for path in folder.glob(f"*{TRAIN}.*") if path.is_file())
    tests = {path.stem.removesuffix(TRAIN): path.with_name(path.name.replace(TRAIN, TEST)) for path in trains}
    if not trains:
        raise InputError(f"{folder} holds no NAME{TRAIN}.csv: name a folder with tables, their tests and {TRUTH}")
    truth = _truth(next((folder / name for name in (TRUTH, METADATA) if (folder / name).is_file()), folder / TRUTH))
    return {
        name: SuiteTable(name=name, train=train, test=test, entry=_entry(truth, name))
        for train, (name, test) in zip(trains, tests.items(), strict=True)
    }


def _truth(path: Path) -> Mapping[str, Any]:
    try:
        truth = files.read_json(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InputError(f"{path} cannot be read ({reason}): write {{TABLE: {{truth, features}}}}") from None
    if not isinstance(truth, dict):
        raise InputError(f"{path} holds no object: write {{TABLE: {{truth, features}}}}")
    return truth


def _entry(truth: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the entry under the table's name or the longest end of it; a truth.json of one table is the entry."""
    if "features" in truth:
        return truth
    keys = [key for key in truth if name == key or name.endswith(f"_{key}")]
    entry = truth[max(keys, key=len)] if keys else {}
    if not isinstance(entry, Mapping):
        raise InputError(f"{TRUTH} holds no object for {name}: write {{truth: [sentence], features: {{…}}}}")
    return entry
