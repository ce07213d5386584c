"""Descriptions of columns and labels: what they mean, in the user's words.

They are given by key: the name of a column, or `label:` and a label of the target. A file beside the table holds them
too: NAME.columns.csv with the columns `column,description`.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from vpp.errors import InputError, counted, quoted

LABEL = "label:"
"""Prefix of a label's key, unless a column has that very name."""
ENDING = ".columns.csv"
"""What the name of a descriptions file has instead of the table's own ending."""
MOST_CHARACTERS = 500
LISTED = 8
HEAD = ["column", "description"]
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptions:
    columns: Pairs = ()
    """(column, description) in file order."""
    labels: Pairs = ()
    """(label, description) in the order of the labels."""

    def __bool__(self) -> bool:
        return bool(self.columns or self.labels)

    @property
    def record(self) -> dict[str, dict[str, str]]:
        """JSON types that `recorded` reads."""
        return {"columns": dict(self.columns), "labels": dict(self.labels)}

    @property
    def by_key(self) -> dict[str, str]:
        return {**dict(self.columns), **{LABEL + label: text for label, text in self.labels}}

    @property
    def notes(self) -> tuple[str, ...]:
        kinds = (("column", self.columns), ("label", self.labels))
        counts = [counted(len(pairs), kind) for kind, pairs in kinds if pairs]
        return (f"prompts describe {' and '.join(counts)}",) if counts else ()

    def named(self, target: str) -> Pairs:
        """Return (name, description) of each column, then of each label, which is named `target = label`."""
        return (*self.columns, *((f"{target} = {label}", text) for label, text in self.labels))


NOTHING = Descriptions()


def recorded(record: Mapping[str, Mapping[str, str]]) -> Descriptions:
    """Read a `record`; an empty one describes nothing."""
    columns, labels = (tuple(record.get(part, {}).items()) for part in ("columns", "labels"))
    return Descriptions(columns=columns, labels=labels)


def describe(given: Mapping[str, str], *, columns: Sequence[str], labels: Sequence[str]) -> Descriptions:
    """Return the descriptions of these columns and labels, each folded into one line; an empty one is left out.

    given: texts by key. Raises InputError for an unknown column or label, and for a text that is too long.
    """
    lines = {key: " ".join(text.split()) for key, text in given.items()}
    for key, line in lines.items():
        is_label = key.startswith(LABEL) and key not in columns
        what, name, names = ("label", key.removeprefix(LABEL), labels) if is_label else ("column", key, columns)
        if name not in names:
            remedy = nearest(name, names, f"its {what}s are") if names else "a target of numbers has none"
            raise InputError(f"a description is given for the {what} {quoted(name)}, which is not there: {remedy}")
        if len(line) > MOST_CHARACTERS:
            size = f"{len(line):,} characters, {MOST_CHARACTERS} at most"
            raise InputError(f"the description of {quoted(key)} has {size}: shorten it, since every call sends it")
    described = ((label, lines.get(LABEL + label, "")) for label in labels if LABEL + label not in columns)
    return Descriptions(
        columns=tuple((name, lines[name]) for name in columns if lines.get(name)),
        labels=tuple((label, line) for label, line in described if line),
    )


def nearest(name: str, names: Sequence[str], listing: str) -> str:
    """Return how to correct a name that is none of these: the most similar ones, or a list of all."""
    by_lower = {other.lower(): other for other in names}
    near = [by_lower[lower] for lower in get_close_matches(name.lower(), by_lower)]
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"{listing} {', '.join(map(quoted, names[:LISTED]))}{', …' if len(names) > LISTED else ''}"


def by_key(given: object, *, source: str) -> dict[str, str]:
    """Read {column: description}, where `labels` may hold {label: description}. Raises InputError for other shapes."""
    if not isinstance(given, Mapping):
        raise InputError(f"{source} holds no descriptions: write {{column: description}}")
    own: dict[str, Any] = dict(given)
    if isinstance(labels := own.get("labels"), Mapping):
        del own["labels"]
        own |= {f"{LABEL}{key}": text for key, text in labels.items()}
    if wrong := [key for key, text in own.items() if not isinstance(text, str)]:
        raise InputError(f"{source} describes {quoted(str(wrong[0]))} with something else than text: put it in quotes")
    return own


def checked(text: str, *, name: str, columns: Sequence[str], cells: Sequence[str | None]) -> dict[str, str]:
    """Return the descriptions by key in a CSV beside this table, without labels that all belong to another target.

    cells: those of the target. Raises InputError, which names the file, for what is no description of the table.
    """
    delimiter = ";" if text.lower().startswith("column;") else ","
    head, *lines = [line for line in csv.reader(io.StringIO(text, newline=None), delimiter=delimiter) if any(line)] or [
        []
    ]
    if [cell.strip().lower() for cell in head] != HEAD:
        raise InputError(f"{name} does not begin with the line {','.join(HEAD)}: add it, or rename the file")
    for number, line in enumerate(lines, 2):
        if len(line) != len(HEAD):
            raise InputError(f"{name} has {len(line)} cells in line {number}, not 2: put a text with commas in quotes")
    given = {key.strip(): description for key, description in lines}
    labels = [cell for cell in dict.fromkeys(cells) if cell is not None]
    of_labels = {key for key in given if key.startswith(LABEL) and key not in columns}
    if of_labels.isdisjoint(LABEL + label for label in labels):
        given = {key: text for key, text in given.items() if key not in of_labels}
    try:
        describe(given, columns=columns, labels=labels)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return given


def typed(texts: Sequence[str], *, columns: Sequence[str], cells: Sequence[str | None]) -> dict[str, str]:
    """Return `KEY=description` texts by key: the longest key of the table, else all before the first `=`."""
    keys = {*columns, *(f"{LABEL}{cell}" for cell in cells)}
    given = {}
    for text in texts:
        own = max((key for key in keys if text.startswith(f"{key}=")), key=len, default=text.partition("=")[0])
        given[own] = text[len(own) + 1 :]
    return given
