"""Descriptions of columns and labels: what they mean, in the user's words.

They are given by key: the name of a column, or `label:` and a label of the target. A file beside the table holds them
too: NAME.columns.csv with the columns `column,description`.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from vpp.errors import InputError, counted, quoted

LABEL = "label:"
"""Prefix of a label's key, unless a column has that very name."""
ENDING = ".columns.csv"
"""What the name of a descriptions file has instead of the table's own ending."""
MOST_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptions:
    columns: dict[str, str] = field(default_factory=dict, hash=False)
    """Texts by column, in file order."""
    labels: dict[str, str] = field(default_factory=dict, hash=False)

    def __bool__(self) -> bool:
        return bool(self.columns or self.labels)

    @property
    def notes(self) -> tuple[str, ...]:
        counts = [counted(len(of), kind) for kind, of in (("column", self.columns), ("label", self.labels)) if of]
        return (f"prompts describe {' and '.join(counts)}",) if counts else ()

    def named(self, target: str) -> list[tuple[str, str]]:
        """Return (name, description) of each column, then of each label, which is named `target = label`."""
        return [*self.columns.items(), *((f"{target} = {label}", text) for label, text in self.labels.items())]


def describe(given: Mapping[str, str], *, columns: Sequence[str], labels: Sequence[str]) -> Descriptions:
    """Return the descriptions of these columns and labels, each folded into one line; an empty one is left out.

    given: texts by key. Raises InputError for an unknown column or label, and for what is no text or a too long one.
    """
    if wrong := [key for key, text in given.items() if not isinstance(text, str)]:
        raise InputError(f"the description of {quoted(wrong[0])} is no text: write {{COLUMN: text, {LABEL}NAME: text}}")
    lines = {key: " ".join(text.split()) for key, text in given.items()}
    label_keys = {LABEL + label: label for label in labels if LABEL + label not in columns}
    for key, line in lines.items():
        if key not in columns and key not in label_keys:
            is_label = key.startswith(LABEL)
            what, name, names = ("label", key.removeprefix(LABEL), labels) if is_label else ("column", key, columns)
            remedy = nearest(name, names, f"its {what}s are") if names else "a target of numbers has none"
            raise InputError(f"a description is given for the {what} {quoted(name)}, which is not there: {remedy}")
        if len(line) > MOST_CHARACTERS:
            size = f"{len(line):,} characters, {MOST_CHARACTERS} at most"
            raise InputError(f"the description of {quoted(key)} has {size}: shorten it, since every call sends it")
    return Descriptions(
        columns={name: lines[name] for name in columns if lines.get(name)},
        labels={label: lines[key] for key, label in label_keys.items() if lines.get(key)},
    )


def nearest(name: str, names: Sequence[str], listing: str) -> str:
    """Return how to correct a name that is none of these: the most similar ones, or a list of all."""
    by_lower = {other.lower(): other for other in names}
    if near := [by_lower[lower] for lower in get_close_matches(name.lower(), by_lower)]:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"{listing} {first_of(list(map(quoted, names)), 8)}"


def first_of(items: Sequence[str], n: int) -> str:
    return ", ".join(items[:n]) + (", …" if len(items) > n else "")


def checked(text: str, *, name: str, columns: Sequence[str], cells: Sequence[str | None]) -> dict[str, str]:
    """Return the descriptions by key in a CSV beside this table, without labels that all belong to another target.

    cells: those of the target. Raises InputError, which names the file, for what is no description of the table.
    """
    delimiter = ";" if text.lower().startswith("column;") else ","
    head, *lines = list(filter(any, csv.reader(io.StringIO(text, newline=None), delimiter=delimiter))) or [[]]
    if [cell.strip().lower() for cell in head] != ["column", "description"]:
        raise InputError(f"{name} does not begin with the line column,description: add it, or rename the file")
    for number, line in enumerate(lines, 2):
        if len(line) != 2:
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
    """Return `KEY=description` texts by key."""
    keys = {*columns, *(f"{LABEL}{cell}" for cell in cells)}
    return dict(split_at_key(text, keys) for text in texts)


def split_at_key(text: str, keys: Iterable[str]) -> tuple[str, str]:
    """Split KEY=REST after the longest of these keys that begins it, else at its first `=`."""
    key = max((key for key in keys if text.startswith(f"{key}=")), key=len, default=text.partition("=")[0])
    return key, text[len(key) + 1 :]
