"""Labelled rows parted into training and test rows, and what a person should know of how that was done."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vpp.data.dataset import Row
from vpp.data.dates import find_form
from vpp.data.examples import Examples
from vpp.data.kinds import is_number
from vpp.data.split import SPLIT, Sizes, Split, group_split, stratified_split, time_split
from vpp.data.split_rule import RANDOM, SplitRule
from vpp.errors import DataError

RARE_SHARE = 0.1
RARE_ROWS = 5
"""A label with a smaller share of the training rows, or with fewer of them, is rare where others have twice as many."""
NAMED = 5
"""Labels that a note names; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parted:
    """Both parts."""

    train: tuple[Row, ...]
    test: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """How the rows were parted, a sentence each."""


def part(files: Sequence[Examples], sizes: Sizes, rule: SplitRule, *, min_train: int, seed: int) -> Parted:
    """Rows of the one file by the rule, or training rows of the first and test rows of the second, by chance.

    Raises DataError where there are too few rows, or the rule's column cannot part them.
    """
    if rule == RANDOM:
        train, test = _drawn(files, sizes, min_train=min_train, seed=seed)
        return Parted(train=train, test=test)
    file = files[0]
    _check_enough(files, n_train=len(file.targets) - 1, n_test=min(1, len(file.targets)), min_train=min_train)
    by_rule = _by_group if rule.kind == "group" else _by_time
    split, notes = by_rule(file, sizes, rule.column, _rng(seed, 0))
    _check_enough(files, n_train=len(split.train), n_test=len(split.test), min_train=min_train)
    return Parted(train=file.rows(split.train), test=file.rows(split.test), notes=(*notes, *_without(file)))


def _drawn(
    files: Sequence[Examples], sizes: Sizes, *, min_train: int, seed: int
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    wanted = _wanted([len(file.targets) for file in files], sizes)
    _check_enough(files, n_train=wanted[0][0], n_test=wanted[-1][1], min_train=min_train)
    splits = [
        stratified_split(file.strata, train=train, test=test, rng=_rng(seed, part))
        for part, (file, (train, test)) in enumerate(zip(files, wanted, strict=True))
    ]
    return files[0].rows(splits[0].train), files[-1].rows(splits[-1].test)


def _wanted(n_labelled: Sequence[int], sizes: Sizes) -> list[tuple[int, int]]:
    """(Training, test) rows to draw from each file."""
    if len(n_labelled) == 1:
        return [sizes.within(n_labelled[0])]
    n_train, n_test = n_labelled
    return [(min(n_train, sizes.train), 0), (0, min(n_test, sizes.test))]


def _check_enough(files: Sequence[Examples], *, n_train: int, n_test: int, min_train: int) -> None:
    if n_train < max(1, min_train) or n_test < 1:
        found = " and ".join(f"{len(file.targets)} in {file.table.file}" for file in files)
        needed = f" and {files[0].needed!r}" if files[0].needed else ""
        raise DataError(
            f"too few rows have a value in {files[0].target!r}{needed}: {found}; at least {max(1, min_train)} for "
            "training and 1 for testing are needed: add rows or fill in the target"
        )


def _rng(seed: int, part: int) -> np.random.Generator:
    """The first file's stream, and the test file's own."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(SPLIT, part)))


def _by_group(file: Examples, sizes: Sizes, column: str, rng: np.random.Generator) -> tuple[Split, list[str]]:
    groups = [cell or "" for cell in file.cells(column)]
    if len(set(groups)) < 2:
        raise DataError(
            f"column {column!r} of {file.table.file} has one group only among the rows with a target: split by another "
            "column, or by chance"
        )
    split = group_split(groups, file.strata, sizes=sizes, rng=rng)
    train, test = ({groups[i] for i in part} for part in (split.train, split.test))
    largest = Counter(groups).most_common(1)[0]
    said = [f"split by {column!r}: {_counted(len(train), 'group')} train, {len(test):,} test, and none does both"]
    if len(set(groups)) == len(groups):
        said.append(f"each row has a {column!r} of its own, so this split is one by chance")
    elif 2 * largest[1] > len(groups):
        share = f"{largest[1]:,} of {len(groups):,} rows"
        said.append(f"the group {_short(largest[0])} has {share}, so the parts are uneven")
    return split, said


def _by_time(file: Examples, sizes: Sizes, column: str, rng: np.random.Generator) -> tuple[Split, list[str]]:
    cells = [cell or "" for cell in file.cells(column)]
    times = _times(file, column, cells)
    if len(set(times)) < 2:
        raise DataError(
            f"column {column!r} of {file.table.file} has one time only among the rows with a target: split by another "
            "column, or by chance"
        )
    split = time_split(times, file.strata, sizes=sizes, rng=rng)
    first = split.test[0]
    latest = f"{_counted(len(split.test), 'row')} from {_short(cells[first])} on"
    said = [f"split by {column!r}: the latest rows test, {latest}"]
    tied = sum(time == times[first] for time in times) - sum(times[i] == times[first] for i in split.test)
    if tied:
        row = "1 more row has" if tied == 1 else f"{tied:,} more rows have"
        said.append(f"{row} that very {column!r}: of equal ones, those further down in the file test")
    return split, said


def _times(file: Examples, column: str, cells: Sequence[str]) -> list[Any]:
    """Numbers or moments, as the whole column is written. Raises DataError for any other column."""
    if all(map(is_number, cells)):
        return [float(cell) for cell in cells]
    form = find_form(sorted({cell for cell in file.table.cells(column) if cell is not None}))
    if form is None:
        kind = file.table.column(column).kind
        holds = {"text": "free text", "category": "categories", "sequence": "sequences"}.get(kind, f"{kind}s")
        raise DataError(
            f"column {column!r} of {file.table.file} cannot order the rows in time: it holds {holds}; name a column of "
            "dates in one form, or of numbers"
        )
    moments = {cell: form.read(cell) for cell in set(cells)}
    return [moments[cell] for cell in cells]


def _without(file: Examples) -> Iterator[str]:
    if n := file.n_without:
        rows, they = ("1 row has", "it takes") if n == 1 else (f"{n:,} rows have", "they take")
        yield f"{rows} a target and no {file.needed!r}: {they} no part"


def coverage_notes(parted: Parted, labels: Sequence[str], *, n_left: int = 0) -> Iterator[str]:
    """What the parts lack: labels that do not train or do not test, or any difference between training targets.

    labels: of all rows with a target; none for regression. n_left: rows with a target in neither part.
    """
    trained, tested = Counter(row.target for row in parted.train), Counter(row.target for row in parted.test)
    if not labels and len(trained) == 1:
        yield f"every training row has the target {parted.train[0].target}: there is nothing to learn from them"
    unseen = [label for label in labels if label not in trained]
    if unseen:
        n = sum(tested[label] for label in unseen)
        rows = f"{_counted(n, 'test row')} with {'it' if len(unseen) == 1 else 'them'} can hardly be told right"
        yield f"no training row has {_listed(unseen)}" + (f": {rows}" if n else "")
    if labels and (rare := _rare(Counter(str(row.target) for row in parted.train))):
        yield rare + ("; take more rows (Rows and split; --train-size)" if n_left else "")
    untested = [label for label in labels if label in trained and label not in tested]
    if untested:
        yield f"no test row has {_listed(untested)}, so nothing tells how well such a row is told"


def _rare(trained: Counter[str]) -> str:
    """What the commonest label alone would get right, where another has few of the training rows; else empty."""
    total = trained.total()
    (common, most), *_, (rare, n) = [*trained.most_common(), *trained.most_common()[-1:]]
    if not (n < RARE_ROWS or n < RARE_SHARE * total) or 2 * n > most:
        return ""
    stands = f"label {_short(rare)} stands on {n:,} of {_counted(total, 'training row')}"
    return f"{stands}: always {_short(common)} would be right on {round(100 * most / total)}\u00a0%"


def repeat_notes(files: Sequence[Examples]) -> Iterator[str]:
    """Rows of the test file that the training file holds too."""
    if len(files) < 2:
        return
    known = set(_word_for_word(files[0]))
    again = sum(row in known for row in _word_for_word(files[1]))
    if again:
        row = "row" if again == 1 else "rows"
        was = "is" if again == 1 else "are"
        total = len(files[1].targets)
        yield (
            f"{again:,} {row} of the {total:,} of {files[1].table.file} {was} in {files[0].table.file} word for word: "
            "where a row both trains and tests, the test flatters"
        )


def _word_for_word(file: Examples) -> Iterator[tuple[str | None, ...]]:
    return zip(*(file.cells(name) for name in (*file.inputs, file.target)), strict=True)


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(map(_short, labels[:NAMED]))
    more = f" and {len(labels) - NAMED:,} more" if len(labels) > NAMED else ""
    return f"the label {shown}" if len(labels) == 1 else f"one of the labels {shown}{more}"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _short(cell: str) -> str:
    line = " ".join(cell.split())
    return repr(line if len(line) <= 40 else f"{line[:39]}…")
