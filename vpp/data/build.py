"""Roles of a table's columns (target, task, inputs), and a dataset built from them, with notes on each decision."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Literal, get_args

from vpp.answers import why_unreadable
from vpp.data.columns import WORDS, are_codes, place_of
from vpp.data.dataset import RANDOM, Dataset, Provenance, Row, SplitRule, Task, target_value
from vpp.data.descriptions import describe
from vpp.data.labelling import Key, input_key
from vpp.data.numbers import is_number
from vpp.data.split import Pool, Split, SplitPlan, split_rows
from vpp.data.table import Table, read_like, require_columns
from vpp.errors import DataError, InputError, counted, quoted
from vpp.posterior.calibration import Conformal
from vpp.randomness import Purpose, rng

TARGET_NAMES = ("target", "label", "survived", "class", "outcome", "y", "species")
MAX_CLASSES = 50
MAX_NUMERIC_CLASSES = 10
"""Most distinct values of integers that are labels rather than a quantity."""
ROWS_PER_NUMERIC_CLASS = 5
"""Least average number of rows a value of integers that are labels rather than a quantity."""
NAMES = ("na", "nan", "none", "null")  # words for a missing cell that are names too
MOST_LOST = 0.1  # largest share of rows that they may leave without a target


def target_guess(table: Table) -> str | None:
    """Guess the target column: by its name, else the last suitable column, else the last column.

    A column is suitable if it varies, holds numbers or labels, and does more than name its rows. None if no other
    column would be left as an input.
    """
    if len(table.columns) < 2:
        return None
    varied = [column for column in table.columns if column.n_distinct > 1]
    by_lower = {column.name.lower(): column.name for column in varied}
    named = (by_lower[name] for name in TARGET_NAMES if name in by_lower)
    suitable = (
        column.name
        for column in reversed(varied)
        if (column.kind == "number" or (column.kind == "category" and column.n_distinct <= MAX_CLASSES))
        and not table.id_like(column.name)
    )
    return next(chain(named, suitable), table.names[-1])


def guess_reason(table: Table) -> str:
    guess = target_guess(table)
    return "by its name" if guess and guess.lower() in TARGET_NAMES else "as the last suitable column"


def find_task(cells: Iterable[str | None]) -> Task:
    """Return classification for text and for few, often repeated integers; regression for other numbers."""
    present = [cell for cell in cells if cell is not None]
    if not all(map(is_number, present)):
        return "classification"
    values = set(map(float, present))
    repeated = len(values) <= MAX_NUMERIC_CLASSES and len(present) >= ROWS_PER_NUMERIC_CLASS * len(values)
    return "classification" if repeated and all(value.is_integer() for value in values) else "regression"


def resolve_task(table: Table, target: str, task: Task | Literal["auto"]) -> Task:
    """Return the task, detected if auto. Raises InputError for an unknown one, DataError for an unsuitable column."""
    if task not in (known := ("auto", *get_args(Task))):
        raise InputError(f"task is {task!r}: choose one of {', '.join(known)}")
    column, present = table.column(target), [cell for cell in table.cells(target) if cell is not None]
    labels = number_labels(present) if column.n_distinct <= MAX_CLASSES else {}
    if present and not labels:
        check_lost(table, target)
    fault = "" if present else f"of {table.file} is empty"
    if len({labels.get(cell, cell) for cell in present}) == 1:
        fault = f"has one value only ({quoted(present[0])})"
    elif column.kind == "date":
        fault = "holds dates, which cannot be predicted"
    if fault:
        raise DataError(f"column {target!r} {fault}: pick another target")
    if task == "auto":
        is_quantity = column.kind == "number" and (column.is_chosen or find_task(present) == "regression")
        task = "regression" if is_quantity else "classification"
    if task == "regression":
        check_numbers(table, target)
        return task
    n_labels = len(set(present))
    if n_labels == len(present) or n_labels > MAX_CLASSES:
        fault, remedy = "has a different value on every row", "pick a target whose labels repeat"
        if n_labels < len(present):
            other = "choose regression" if all(map(is_number, present)) else "merge labels"
            fault, remedy = f"has {n_labels} labels, more than {MAX_CLASSES}", f"{other} or pick another target"
        why = next((f" ({note})" for note in table.column_notes if note.startswith(f"column {target!r} is ")), "")
        raise DataError(f"column {target!r} {fault}: {remedy}{why}")
    check_readable(sort_labels(present), target)
    return task


def check_lost(table: Table, target: str) -> None:
    """Raises DataError if words that may be labels, such as NA among names, take the target from many rows."""
    column, texts = table.column(target), table.texts[table.names.index(target)]
    lost = Counter(text for text in texts if text.lower() in NAMES and text not in column.kept_words)
    if column.kind in WORDS and column.missing is None and lost.total() > MOST_LOST * len(texts):
        words, where = ",".join(lost), place_of(texts.index(next(iter(lost))), table.lines)
        raise DataError(
            f"column {target!r} holds {words} in {counted(lost.total(), 'row')}, first in {where}: choose --missing "
            f"'{target}={words}' if that means a missing cell, or --missing '{target}=' if it is a label"
        )


def check_numbers(table: Table, target: str) -> None:
    """Raises DataError for the first target of a regression that is not a finite number."""
    for row, cell in enumerate(table.cells(target)):
        if cell is not None and not is_number(cell):
            raise DataError(
                f"column {target!r} of {table.file}: {place_of(row, table.lines)} holds {quoted(cell)}, which is not a "
                "number: fix the cell, choose classification or pick another target"
            )


def check_readable(classes: Sequence[str], target: str) -> None:
    """Raises DataError if a label could not be read back from an answer that copies it."""
    if why := why_unreadable(classes):
        raise DataError(f"column {target!r} cannot be the target, as {why}: rename it in the file")


def number_labels(cells: Iterable[str | None]) -> dict[str, str]:
    """Return the label of each cell if all are numbers but no codes: 1 and 1.0 are one label, the shorter."""
    distinct = sorted({cell for cell in cells if cell is not None}, key=lambda cell: (len(cell), cell))
    if not all(map(is_number, distinct)) or are_codes(distinct):
        return {}
    by_value: dict[float, str] = {}
    return {cell: by_value.setdefault(float(cell), cell) for cell in distinct}


def sort_labels(labels: Iterable[str | None]) -> tuple[str, ...]:
    """Sort the distinct labels: as numbers if all are numbers, else as text."""
    distinct = sorted({label for label in labels if label is not None})
    return tuple(sorted(distinct, key=float) if all(map(is_number, distinct)) else distinct)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChoice:
    task: Task | Literal["auto"] = "auto"
    inputs: Sequence[str] | None = None
    """None takes every column except the target, constants, identifiers and the column of the split."""
    descriptions: Mapping[str, str] = field(default_factory=dict)
    """Meanings of columns and labels, by key (`vpp.data.descriptions`)."""


def choose_inputs(
    table: Table, split: SplitRule, *, target: str, inputs: Sequence[str] | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names in file order, and a note on each column that was left out by default.

    inputs: None takes every column except constants, identifiers and the column of the split. Raises DataError for an
    unknown name, for the target among the inputs, and if no input is left.
    """
    notes: list[str] = []
    if inputs is not None:
        for name in inputs:
            longer = [each for each in table.names if each.startswith(f"{name},")]
            if longer and name not in table.names:
                how = f"put {longer[0]!r}, which has a comma, in double quotes"
                raise DataError(f"{table.file} has no column {name!r}: {how}")
            table.column(name)
        if target in inputs:
            raise DataError(f"column {target!r} is the target and cannot be an input: leave it out of the inputs")
    else:
        names = [name for name in table.names if name not in (target, split.column)]
        left_out = _uninformative(table, names)
        inputs = [name for name in names if name not in left_out]
        notes = [f"column {name!r} was left out: {left_out[name]}; see --inputs" for name in names if name in left_out]
        if split.column:
            notes.append(f"column {split.column!r} was left out: {split.why_no_input}")
    if not inputs:
        why = f" ({'; '.join(notes)})" if notes else table.doubt
        raise DataError(
            f"{table.file} has no input column besides the target {target!r}{why}: add or name one that varies"
        )
    return tuple(name for name in table.names if name in inputs), tuple(notes)


def _uninformative(table: Table, names: Sequence[str]) -> dict[str, str]:
    """Return why a column is no input, by name: constants, and identifiers unless nothing else is left."""
    constants, ids = dict[str, str](), dict[str, str]()
    for column in map(table.column, names):
        if column.n_distinct + bool(column.n_missing) < 2:
            constants[column.name] = "it has one value only" if column.n_distinct else "it is empty"
        elif table.id_like(column.name):
            ids[column.name] = "it is different on every row" if column.kind == "date" else "it only names the rows"
    return constants | (ids if len(constants) + len(ids) < len(names) else {})


MOST_UNLABELLED = 1_000
"""Most rows without a target, and in no part, that a run stores."""
DETECTED, BY_CHANCE = ColumnChoice(), SplitPlan()
"""The defaults: detect task and inputs; draw 100 training and 60 test rows."""


def build_dataset(
    table: Table,
    *,
    target: str,
    columns: ColumnChoice = DETECTED,
    split: SplitPlan = BY_CHANCE,
    test_table: Table | None = None,
    notes: Sequence[str] = (),
) -> Dataset:
    """Draw training and test rows by seed, and keep rows without a target for labelling.

    test_table: source of the test rows, whose ids follow the table's; needs the same inputs and target.
    notes: put before the notes made here. Raises DataError for unsuitable columns and too few rows.
    """
    rule = split.rule
    if test_table is not None and not split.test_size:
        raise InputError(f"every row is a training row here: leave out the test rows of {test_table.file}")
    if test_table is not None and rule.column:
        raise InputError(f"the test rows come from {test_table.file}: leave out the split by {rule.column!r}")
    if rule.column and table.column(rule.column).name == target:
        raise DataError(f"column {target!r} is the target and cannot split the rows: name another column")
    task = resolve_task(table, target, columns.task)
    inputs, left_out = choose_inputs(table, rule, target=target, inputs=columns.inputs)
    tables, both, other = [table], table, None
    kinds, used = ("number", "category", "date"), {*inputs, target}
    parting = (column for column in table.columns if column.kind in kinds and column.n_distinct > 1)
    beside = [column.name for column in parting if column.name not in used and not table.id_like(column.name)]
    if test_table is not None:
        require_columns(test_table, (*inputs, target), of=table.file)
        tables.append(other := read_like(test_table, table.columns, dict(zip(table.names, table.values, strict=True))))
        both = table.followed_by(other)
    if not (is_label := task == "classification"):
        check_numbers(tables[-1], target)
    spelling = number_labels(both.cells(target)) if is_label else {}
    targets = [cell and spelling.get(cell, cell) for cell in both.cells(target)]
    keys, pools, first = both.cells(rule.column or target), [], 0
    for each in tables:
        own = range(first, first := first + each.n_rows)
        ids = [row for row in own if targets[row] is not None and keys[row] is not None]
        strata = {row: targets[row] or "" if is_label else "" for row in ids}
        pools.append(Pool(file=each.file, strata=strata, keys={row: keys[row] or "" for row in ids}))
    parts = split_rows(pools, split, table=both, target=target)

    def row_of(row: int) -> Row:
        truth, cells = targets[row], both.row(row, inputs)
        if truth is None:
            return Row(id=row, inputs=cells, target=None)
        return Row(id=row, inputs=cells, target=target_value(truth, task), beside=both.row(row, beside))

    train, test, calibration = (tuple(map(row_of, part)) for part in (parts.train, parts.test, parts.calibration))
    gaps = (row for row, truth in enumerate(targets) if truth is None)
    unlabelled = [row for row in gaps if any(cell for _, cell in both.row(row, inputs))]
    classes = sort_labels(targets) if is_label else ()
    _check_classes(classes, targets, tables, target)
    described = describe(columns.descriptions, columns=table.names, labels=classes)
    n_rows, n_unlabelled, n_calibration = len(targets), targets.count(None), len(calibration)
    n_keyless = table.n_rows - targets[: table.n_rows].count(None) - len(pools[0].keys)
    least = Conformal(scores=(), level=split.coverage).least_rows if split.calibration_size else 0
    few = f"{counted(n_calibration, 'calibration row')}: too few for {100 * split.coverage:g} %, which takes {least}"
    own_notes = (
        parts.note,
        f"{counted(n_keyless, 'row')} with a target but no {rule.column!r}: left out" if n_keyless else "",
        few if n_calibration < least else "",
        *(split_hints(table, target) if rule == RANDOM and test_table is None and split.test_size else ()),
        *_label_notes(train, test, classes),
        *_copy_notes(train, (*calibration, *test)),
        *described.notes,
        f"test rows come from {other.file} (SHA-256 {other.sha256}), with ids from {table.n_rows}" if other else "",
        *(other.notes if other else ()),
    )
    provenance = Provenance(
        file=table.file,
        sha256=table.sha256,
        delimiter=table.reading.delimiter,
        encoding=table.reading.encoding,
        read_as=table.read_as,
        n_rows=n_rows,
        n_unlabelled=n_unlabelled,
        n_left_out=n_rows - n_unlabelled - len(train) - len(test) - len(calibration),
        split="file" if test_table else rule.text,
        notes=(*notes, *table.notes, *left_out, *filter(None, own_notes)),
    )
    return Dataset(
        name=table.file.rpartition("/")[2].removesuffix(".csv"),
        target=target,
        task=task,
        columns=table.columns,
        inputs=inputs,
        classes=classes,
        train=train,
        test=test,
        calibration=calibration,
        provenance=provenance,
        unlabelled=tuple(map(row_of, _at_most(unlabelled, seed=split.seed, purpose="unlabelled"))),
        unused=tuple(map(row_of, _unused(pools[0], parts, split))),
        descriptions=described,
    )


def _check_classes(classes: Sequence[str], targets: Sequence[str | None], tables: Sequence[Table], target: str) -> None:
    """Raises DataError if labels are indistinguishable in answers, or if a test file shares none or brings too many.

    targets: of the first file, then of the test file.
    """
    check_readable(classes, target)
    n = tables[0].n_rows
    own, of_test = set(targets[:n]), set(targets[n:] or targets)
    if classes and (own.isdisjoint(of_test - {None}) or len(classes) > MAX_CLASSES):
        labels = f"{_listed(sort_labels(of_test - own))}, not {_listed(sort_labels(own))}"
        where, other = f"{tables[0].file} in {target!r}", tables[-1].file
        raise DataError(f"{other} has other labels than {where}: {labels}: give both files the same labels")


def _at_most(ids: Sequence[int], *, seed: int, purpose: Purpose) -> list[int]:
    """All ids in order, or MOST_UNLABELLED of them, drawn by seed."""
    if len(ids) <= MOST_UNLABELLED:
        return list(ids)
    return [ids[i] for i in sorted(rng(seed, purpose).choice(len(ids), MOST_UNLABELLED, replace=False).tolist())]


def _unused(pool: Pool, parts: Split, split: SplitPlan) -> list[int]:
    """Labelled rows of the first file in no part, drawn by seed if there are too many.

    After a split by group, only those of training groups: another row would tell something of a test group.
    """
    used, trained = {*parts.train, *parts.test, *parts.calibration}, {pool.keys.get(row) for row in parts.train}
    is_free = (row not in used and (split.rule.kind != "group" or key in trained) for row, key in pool.keys.items())
    return _at_most(list(compress(pool.keys, is_free)), seed=split.seed, purpose="unused")


RARE_SHARE = 0.1
RARE_ROWS = 5
"""A label with fewer training rows, or a smaller share, is rare if the commonest label has twice as many."""
NAMED = 5


def _label_notes(train: Sequence[Row], test: Sequence[Row], labels: Sequence[str]) -> Iterator[str]:
    """Warn about labels without training rows and a rare one. labels: of all rows; empty for regression."""
    trained, tested = (Counter(row.target for row in rows) for rows in (train, test))
    if unseen := [label for label in labels if label not in trained]:
        n = sum(tested[label] for label in unseen)
        rows = f"{counted(n, 'test row')} with {'it' if len(unseen) == 1 else 'them'} can hardly be predicted"
        yield f"no training row has {_listed(unseen)}" + (f": {rows}" if n else "")
    if labels:
        (common, most), *_, (rare, n) = trained.most_common(1) + trained.most_common()
        if (n < RARE_ROWS or n < RARE_SHARE * len(train)) and 2 * n <= most:
            right = f"always predicting {quoted(str(common))} would be right on {round(100 * most / len(train))}\u00a0%"
            yield f"label {quoted(str(rare))} has {n:,} of {counted(len(train), 'training row')}: {right}"


def _copy_notes(train: Sequence[Row], held_out: Sequence[Row]) -> Iterator[str]:
    """Count rows that repeat another, and the most rows that any hypothesis can be right on; numbers by value.

    Equal rows stay in the parts they are drawn for: only the user knows whether they are one case recorded twice or
    two cases that look alike, as 670 of the 2,201 people in titanic.csv do.
    """
    labels: defaultdict[Key, Counter[object]] = defaultdict(Counter)
    repeated = {"training row": 0, "held-out row": 0}
    for what, rows in (("training row", train), ("held-out row", held_out)):
        for row in rows:
            own = labels[input_key(row)]
            own[row.target] += 1
            repeated[what] += own[row.target] > 1
    if any(repeated.values()):
        sizes = {"training row": len(train), "held-out row": len(held_out)}
        copies = ", ".join(f"{n:,} of {counted(sizes[what], what)}" for what, n in repeated.items() if n)
        advice = "if one case is recorded twice, leave out its copies, as weights and accuracy look too good"
        yield f"rows that repeat another: {copies}; {advice}"
    most, n = sum(max(of.values()) for of in labels.values()), len(train) + len(held_out)
    if most < n and isinstance(train[0].target, str):
        yield f"equal inputs have different labels: a hypothesis is right on at most {most:,} of {n:,} rows"


def _listed(labels: Sequence[str]) -> str:
    names = ", ".join(map(quoted, labels[:NAMED]))
    more = f" and {len(labels) - NAMED:,} more" if len(labels) > NAMED else ""
    return f"the label {names}" if len(labels) == 1 else f"one of the labels {names}{more}"


_GROUP_NAME = re.compile(
    r"(.*[^a-z])?(id|uuid|guid|patient|subject|participant|proband|person|customer|client|user|author|player|pupil|"
    r"student|school|household|family|hospital|clinic|site|shop|store|device|machine|sensor|batch|session|animal)"
    r"([ _-]?(id|code|key|no|nr|number))?|.*[a-z](Id|ID)",
    re.IGNORECASE,
)


def split_hints(table: Table, target: str) -> tuple[str, ...]:
    """Suggest a split by the first column whose name is one of groups, and by the first column of dates."""
    columns = [column for column in table.columns if column.name != target and column.n_distinct > 1]
    hints = {"group": "", "time": ""}
    for column in reversed(columns):
        name, n, n_rows = column.name, column.n_distinct, table.n_rows
        if column.kind == "date":
            how = f"to predict later rows from earlier ones, split by time (--split time:{name})"
            hints["time"] = f"column {name!r} holds dates: {how}"
        elif 3 <= n <= (n_rows - column.n_missing) / 2 and _GROUP_NAME.fullmatch(name):
            how = f"if its rows belong together, split by group (--split group:{name})"
            hints["group"] = f"column {name!r} has {n:,} values for {n_rows:,} rows: {how}"
    return tuple(filter(None, hints.values()))
