"""The data part of the form: where the table comes from, how it is read, kinds and meanings of columns, the split."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import streamlit as st

from pages.parts import blocks, pieces
from pages.parts.opening import EXAMPLES, FILE
from vpp.data.build import split_hints
from vpp.data.dataset import (
    ALL_ROWS,
    DELIMITER_NAMES,
    DETECT,
    RANDOM,
    Column,
    Dataset,
    Kind,
    ReadAs,
    RuleKind,
    SplitRule,
    Task,
)
from vpp.data.descriptions import LABEL, MOST_CHARACTERS, checked
from vpp.data.split import SplitPlan
from vpp.data.table import Table, sort_labels, with_kinds
from vpp.data.tasks import TASKS, describe, generate
from vpp.data.text import ENCODING_NAMES, Reading, encoding_name, shown_name
from vpp.errors import DataError, InputError
from vpp.findings.counts import rows_sentence, unlabelled_sentence
from vpp.show import markup
from vpp.show.markup import markdown_text
from vpp.show.words import counted

AS_FOUND = "as found"
UPLOAD, EXAMPLE, TASK = "Upload a CSV", "An example", "A paper task"


@dataclass(frozen=True, slots=True)
class Source:
    """A table, with the notes and prior that come with it."""

    table: Table
    notes: tuple[str, ...] = ()
    prior: str = ""


def choose() -> Source | None:
    """Ask for a table; return None until there is one. Raises DataError."""
    field = {"default": UPLOAD, **blocks.lasting("new.source"), "required": True, "label_visibility": "collapsed"}
    kind = st.segmented_control("Source of the table", (UPLOAD, EXAMPLE, TASK), **field)
    if kind == EXAMPLE:
        paths = sorted(EXAMPLES.glob("*.csv"))
        path = st.selectbox("Example", paths, format_func=lambda p: p.stem, **blocks.lasting("new.example"))
        return Source(read(path.read_bytes(), path.name, DETECT))
    if kind == TASK:
        name = st.selectbox("Task", list(TASKS), **blocks.lasting("new.task"))
        st.caption(TASKS[name].description)
        table = read(generate(name, seed=0), f"{name}.csv", DETECT)
        return Source(table, (describe(name, seed=0),), TASKS[name].prior or "")
    file = _uploaded("CSV, JSON, Excel or Parquet: one example a row, one column to predict", FILE, "Replace")
    return Source(read_upload(file[1], file[0])) if file else None


def _uploaded(label: str, key: str, another: str) -> tuple[str, bytes] | None:
    """Show the file in use with a button that asks for another, or ask for the first; None until there is one.

    The session holds it as (name, bytes): its field forgets it when the page is left.
    """
    field = f"{key}.upload"
    file: tuple[str, bytes] | None = st.session_state.get(key)
    if file is None:

        def take() -> None:
            if uploaded := st.session_state[field]:
                st.session_state[key] = (uploaded.name, uploaded.getvalue())

        st.file_uploader(label, type=None, key=field, on_change=take)
        return None
    with blocks.in_use(f"<b>{markup.text(file[0])}</b>", key=key.replace(".", "_")):
        # It stays in the session, as None: the introduction does not come back.
        st.button(another, key=f"{key}.replace", type="tertiary", on_click=st.session_state.update, args=({key: None},))
    return file


# How it was read: every decision as it was found, and a field that changes it

MARKS = {".": "point", ",": "comma"}
HEADERS = {True: "first line", False: "none"}


@st.cache_data(max_entries=20, show_spinner=False)
def read(content: bytes, name: str, read_as: ReadAs) -> Table:
    """Return the table in a file. Raises DataError.

    `read_as` has no default: Streamlit's cache would take a call without it for another one, and read the file again.
    """
    return Table.read(content, name=name, read_as=read_as)


def read_upload(content: bytes, name: str) -> Table:
    """Return the table, read as detected or as the fields here say. Raises DataError after drawing the fields."""
    detected = None
    with suppress(DataError):  # a person must say
        detected = read(content, name, DETECT).reading
    with st.expander("How this was read", expanded=detected is None):
        read_as = _fields(detected, f"new.read.{name}.{len(content)}")
    return read(content, name, read_as)


def _fields(detected: Reading | None, key: str) -> ReadAs:
    if detected and detected.format in ("parquet", "json"):
        called = "Parquet" if detected.format == "parquet" else "JSON"
        blocks.captions(f"A {called} file holds rows and names itself: nothing had to be detected.")
        return DETECT
    one, two, three = st.columns(3)
    read_as: dict[str, Any] = {}
    if detected and detected.format == "excel":
        read_as["sheet"] = _pick(one, "Sheet", detected.sheets, detected.sheet, f"{key}.sheet")
    else:
        encodings = {name: words for name, words in ENCODING_NAMES.items() if name != "utf-8-sig"}
        was = encoding_name(detected.encoding) if detected else None
        read_as["encoding"] = _pick(one, "Encoding", encodings, was, f"{key}.encoding")
        was = DELIMITER_NAMES.get(detected.delimiter, detected.delimiter or "none") if detected else None
        read_as["delimiter"] = _pick(two, "Delimiter", DELIMITER_NAMES, was, f"{key}.delimiter")
    was = HEADERS[detected.header] if detected else None
    read_as["header"] = _pick(three, "Header", HEADERS, was, f"{key}.header")
    hint = f"{detected.skipped_lines}, as found" if detected else "as found"
    field = blocks.lasting(f"{key}.skip")
    read_as["skip_lines"] = one.number_input("Lines above the table", 0, value=None, placeholder=hint, **field)
    was = "by column" if detected else None
    read_as["decimal"] = _pick(two, "Decimal mark", MARKS, was, f"{key}.decimal")
    return ReadAs(**read_as)


def _pick(place: Any, label: str, options: Any, was: str | None, key: str) -> Any:
    names = {None: f"{was}, as found" if was else "as found", **(options if isinstance(options, dict) else {})}
    field = blocks.lasting(key)
    return place.selectbox(label, (None, *options), format_func=lambda option: names.get(option, option), **field)


# The kinds of its columns: as found, or as a person chooses


def choose_kinds(table: Table) -> Table:
    """Return the table with the kinds chosen here. Raises DataError if a cell does not fit its column's kind."""
    keys = {name: f"new.kind.of.{table.sha256}.{name}" for name in table.names}
    kinds: dict[str, Kind] = {name: st.session_state.get(key, AS_FOUND) for name, key in keys.items()}
    choices = {name: kind for name, kind in kinds.items() if kind != AS_FOUND}
    n = f", {counted(len(choices), 'choice')}" if choices else ""
    with st.expander(f"Kinds of columns{n}", key="new.kinds_fold"):
        left, right = st.columns(2)
        name = left.selectbox("Column", table.names, **blocks.lasting(f"new.kind.column.{table.sha256}"))
        words = {AS_FOUND: f"{AS_FOUND} ({table.column(name).kind})", **{kind: kind for kind in get_args(Kind)}}
        right.selectbox("Kind", list(words), **blocks.lasting(keys[name]), format_func=words.__getitem__)
        about = "A category or text is taken as it is written; a number needs every cell to be one."
        blocks.captions(about, *(f"{column}: {kind}" for column, kind in choices.items()))
    if not choices:
        return table
    made_from = (table.sha256, table.read_as, tuple(choices.items()))
    return pieces.remembered("new.kinds.table", made_from, lambda: with_kinds(table, choices))


def kind_words(column: Column) -> str:
    """Describe a column's kind, as in `number in €`."""
    return f"number in {column.notation.unit}" if column.notation and column.notation.unit else column.kind


# The split: by chance, by group, by time, or a test file; how many rows

CHANCE, GROUP, TIME, SECOND_FILE = "By chance", "By group", "By time", "A test file"
RULES: dict[str, RuleKind] = {GROUP: "group", TIME: "time"}
ABOUT = {
    CHANCE: "Rows are drawn by seed, labels in their proportions.",
    GROUP: "No group has rows in both parts: use it if predictions are for new patients, shops or authors.",
    TIME: "The latest rows test, and earlier ones train: use it to predict the future from the past.",
    SECOND_FILE: "The rows of a second file test, and those of the first train. It needs the same columns.",
}
CALIBRATION = (
    "Held out like the test rows. They set the probability that decides a row, so that the truth is among the "
    "possible answers for 90 % of new rows, or as many as “Coverage” asks for. Try 40."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Splitting:
    """The chosen split of the rows."""

    rule: SplitRule
    test_table: Table | None
    sizes: dict[str, Any]
    hints: tuple[str, ...] = ()
    """Why the columns suggest another split than by chance, a sentence each."""

    def plan(self, seed: int) -> SplitPlan:
        """Return the split for `build_dataset`."""
        return SplitPlan(rule=self.rule, seed=seed, **self.sizes)


NO_SPLIT = Splitting(rule=RANDOM, test_table=None, sizes={})
"""Splitting of a run that uses every row."""


def choose_split(table: Table, target: str) -> Splitting:
    so_far = str(st.session_state.get("new.split", CHANCE))
    with st.expander(f"Rows and split: {so_far[0].lower()}{so_far[1:]}", key="new.split_fold"):
        field = {"default": CHANCE, **blocks.lasting("new.split"), "required": True}
        kind = st.segmented_control("How to split training and test rows", list(ABOUT), **field)
        blocks.captions(ABOUT[kind])
        rule = _rule(table, target, kind) if kind in RULES else RANDOM
        test_table = None
        if kind == SECOND_FILE:
            label = "A file of test rows, with the same columns"
            if file := _uploaded(label, "new.test_file", "Take another test file"):
                test_table = read(file[1], file[0], DETECT)
            else:
                blocks.captions("Until there is one, rows are drawn by chance.")
        one, two, three = st.columns(3, vertical_alignment="bottom")
        sizes = {
            "train_size": one.number_input("Training rows at most", 1, ALL_ROWS, 100, **blocks.lasting("new.train")),
            "test_size": two.number_input("Test rows at most", 1, 10_000, 60, **blocks.lasting("new.test")),
            "calibration_size": three.number_input(
                "Calibration rows", 0, 10_000, 0, help=CALIBRATION, **blocks.lasting("new.calibration")
            ),
        }
    hints = split_hints(table, target) if rule == RANDOM and test_table is None else ()
    if hints:
        blocks.captions(*hints)
    return Splitting(rule=rule, test_table=test_table, sizes=sizes, hints=hints)


def _rule(table: Table, target: str, kind: str) -> SplitRule:
    names = parting_columns(table, target, RULES[kind])
    if not names:
        what = "groups" if kind == GROUP else "dates or numbers"
        blocks.captions(f"No column holds {what}: rows are drawn by chance.")
        return RANDOM
    label = "Column of the groups" if kind == GROUP else "Column of the time"
    field = blocks.lasting(f"new.split_by.{RULES[kind]}.{table.sha256}.{target}")
    column = st.selectbox(label, names, format_func=shown_name, **field)
    return SplitRule(kind=RULES[kind], column=str(column))


def parting_columns(table: Table, target: str, kind: RuleKind) -> Sequence[str]:
    """Return the columns that can split the rows, likeliest first: repeated values for groups, dates before numbers."""
    others = [column for column in table.columns if column.name != target and column.n_distinct > 1]
    if kind == "time":
        able = [column for column in others if column.kind in ("date", "number")]
        return [column.name for column in sorted(able, key=lambda column: column.kind != "date")]
    able = sorted(others, key=lambda column: (2 * column.n_distinct > table.n_rows, column.kind == "number"))
    return [column.name for column in able]


def split_words(dataset: Dataset) -> list[str]:
    """Describe the task, the split and the rows left out, a sentence each, to be escaped: they may quote the data."""
    task = f"{dataset.target} is a number, so this is regression."
    if dataset.classes:
        task = f"{dataset.target} has {len(dataset.classes)} labels, so this is classification."
    return list(filter(None, (task, rows_sentence(dataset), unlabelled_sentence(dataset), *dataset.provenance.notes)))


# What columns and labels mean, typed in a field each or filled in from a file


MOST_FIELDS = 60
"""Most fields drawn; a file can describe more columns."""
ABOUT_MEANINGS = (
    "Models see only names and kinds. For names that say little, describe them here: every prompt then begins with it."
)
FILL_IN = "Fill in from a file: a CSV with column,description, or JSON {column: description}"
REFUSED = "new.meanings_refused"


def choose_meanings(table: Table, *, target: str, inputs: Sequence[str], task: Task) -> dict[str, str]:
    labels = sort_labels(cell for cell in table.cells(target) if cell is not None) if task == "classification" else ()
    fields = {name: shown_name(name) for name in (target, *inputs)}
    unlike = (label for label in labels if LABEL + label not in table.names)
    fields |= {LABEL + label: f"{shown_name(target)} = {shown_name(label)}" for label in unlike}
    keys = {key: f"new.meaning.{table.sha256}.{key}" for key in dict.fromkeys((*fields, *table.names))}
    n = f", {counted(len(meanings), 'description')}" if (meanings := _meanings(keys)) else ""
    with st.expander(f"What the columns mean{n}", key="new.meanings_fold"):
        blocks.captions(ABOUT_MEANINGS)
        for place, key in blocks.in_columns(list(fields)[:MOST_FIELDS], 2):
            place.text_input(markdown_text(fields[key]), max_chars=MOST_CHARACTERS, **blocks.lasting(keys[key]))
        if len(fields) > MOST_FIELDS:
            blocks.captions(f"{len(fields) - MOST_FIELDS:,} more can be described in a file.")
        upload = f"new.meanings_file.{table.sha256}"
        st.file_uploader(FILL_IN, type=None, key=upload, on_change=partial(_fill, upload, table, target))
        if why := st.session_state.get(REFUSED):
            blocks.failed("This file cannot be used", why)
    return _meanings(keys)


def _meanings(keys: Mapping[str, str]) -> dict[str, str]:
    """Return the descriptions that are not blank. keys: of the fields, by key of the description."""
    texts = {key: str(st.session_state.get(field) or "") for key, field in keys.items()}
    return {key: text for key, text in texts.items() if text.strip()}


def _fill(upload: str, table: Table, target: str) -> None:
    st.session_state[REFUSED] = ""
    file = st.session_state[upload]
    if file is None:
        return
    try:
        text = bytes(file.getvalue()).decode("utf-8-sig")
        given = checked(text, name=file.name, columns=table.names, cells=table.cells(target))
    except UnicodeDecodeError:
        st.session_state[REFUSED] = f"{file.name} is not UTF-8 text: save it as UTF-8"
    except InputError as error:
        st.session_state[REFUSED] = str(error)
    else:
        st.session_state.update({f"new.meaning.{table.sha256}.{key}": line for key, line in given.items()})
