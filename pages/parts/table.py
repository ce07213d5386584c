"""The table of a new run: where it comes from, its target and columns, how its file is read, and its split."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import blocks
from pages.parts.opening import EXAMPLES, FILE, SOURCE, TABLE, UPLOAD
from vpp.data.build import choose_inputs, guess_reason, resolve_task, split_hints, target_guess
from vpp.data.dataset import DELIMITER_NAMES, DETECT, RANDOM, Column, Kind, ReadAs, RuleKind, SplitRule, Task
from vpp.data.descriptions import typed
from vpp.data.split import SplitPlan
from vpp.data.table import Table, with_kinds
from vpp.data.text import ENCODING_NAMES, Reading, encoding_name, shown_name
from vpp.errors import DataError, InputError
from vpp.show import markup

AUTOMATIC = "Automatic"
EXAMPLE = "An example"
FORMAT, COLUMNS, SPLIT = "File format", "Columns: types and meanings", "Split"  # folds under Advanced


def choose(form: DeltaGenerator) -> Table | None:
    """Ask for a table; return None until there is one. Raises DataError.

    form: place of how a file is read.
    """
    field = {"default": UPLOAD, **blocks.lasting(SOURCE), "required": True, "label_visibility": "collapsed"}
    if st.segmented_control("Source of the table", (UPLOAD, EXAMPLE), **field) == EXAMPLE:
        paths = sorted(EXAMPLES.glob("*.csv"))
        field = {"index": paths.index(TABLE), "format_func": lambda path: path.stem, **blocks.lasting("new.example")}
        path = st.selectbox("Example", paths, **field)
        return read(path.read_bytes(), path.name, DETECT)
    file = _uploaded("CSV, JSON, Excel or Parquet: one example a row, one column to predict", FILE, "Replace")
    return read_upload(file[1], file[0], form) if file else None


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


# The file format: every decision that was detected, and a field that changes it

HEADERS = {True: "first line", False: "none"}
MARKS = {".": "point", ",": "comma"}
QUOTES = {"csv": "enclose cells", "plain": "part of the text"}
CUTS = {True: "none"}
AS_IS = "None: totals, units and footnotes stay rows, and merged cells of a workbook stay empty."
MISSING = "In place of NA, ?, null and so on: NA, -9999. For one column: weight=-9999. A semicolon between the two."


@st.cache_data(max_entries=20, show_spinner=False)
def read(content: bytes, name: str, read_as: ReadAs) -> Table:
    """Return the table in a file. Raises DataError.

    `read_as` has no default: Streamlit's cache would take a call without it for another one, and read the file again.
    """
    return Table.read(content, name=name, read_as=read_as)


def read_upload(content: bytes, name: str, form: DeltaGenerator) -> Table:
    """Return the table, read as detected or as the fields here say. Raises DataError after drawing the fields."""
    detected = None
    with suppress(DataError):  # a person must say
        detected = read(content, name, DETECT).reading
    with (form if detected else st).expander(FORMAT, expanded=detected is None):
        read_as = _fields(detected, f"new.read.{name}.{len(content)}")
    return read(content, name, read_as)


def _fields(detected: Reading | None, key: str) -> ReadAs:
    kind = detected.format if detected else "csv"
    choices: dict[str, tuple[str, Mapping[Any, str], str]] = {}
    """Label, choices and what was detected, by the name in ReadAs."""
    if kind == "excel" and detected:
        choices["sheet"] = ("Sheet", {sheet: sheet for sheet in detected.sheets}, detected.sheet)
    elif kind == "csv":
        delimiter = DELIMITER_NAMES.get(detected.delimiter, detected.delimiter or "none") if detected else ""
        choices["encoding"] = ("Encoding", ENCODING_NAMES, encoding_name(detected.encoding) if detected else "")
        choices["delimiter"] = ("Delimiter", DELIMITER_NAMES, delimiter)
    if kind in ("csv", "excel"):
        choices["header"] = ("Header", HEADERS, HEADERS[detected.header] if detected else "")
        choices["decimal"] = ("Decimal mark", MARKS, "by column" if detected else "")
        choices["quotes"] = ("Quotes", QUOTES, "")
        choices["as_is"] = ("Lines and cells left out", CUTS, "totals, units, footnotes")
    values: dict[str, Any] = {}
    for place, name in blocks.in_columns([*choices, *(["skip_lines"] if choices else []), "missing"], 3):
        field = blocks.lasting(f"{key}.{name}")
        if name in choices:
            label, names, was = choices[name]
            names = {None: f"{AUTOMATIC} ({was})" if was else AUTOMATIC, **names}
            about = AS_IS if name == "as_is" else None
            values[name] = place.selectbox(label, list(names), format_func=names.__getitem__, help=about, **field)
        elif name == "skip_lines":
            hint = f"{AUTOMATIC} ({detected.skipped_lines})" if detected else AUTOMATIC
            values[name] = place.number_input("Lines above the table", 0, value=None, placeholder=hint, **field)
        else:
            text = place.text_input("Words for a missing cell", help=MISSING, placeholder=AUTOMATIC, **field)
            values[name] = tuple(part.strip() for part in text.split(";")) if text else None
    return ReadAs(**values)


# Its columns: target, inputs, types and meanings


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    table: Table
    """Its columns have the chosen types."""
    target: str
    task: Task
    inputs: tuple[str, ...]
    split: SplitPlan
    """Without its number of training rows and its seed."""
    test_table: Table | None
    hints: tuple[str, ...]
    descriptions: dict[str, str]

    def part_of(self, column: str) -> str:
        if column == self.target:
            return "target"
        return "input" if column in self.inputs else "left out"


def choose_columns(source: Table, *, columns: DeltaGenerator, split: DeltaGenerator | None) -> Choice:
    """Ask for the target, the columns left out, types, meanings and the split. Raises InputError.

    columns, split: places of the folds; without a place for the split, every row is used.
    """
    left, right = st.columns(2)
    with columns.expander(COLUMNS, key="new.columns_fold"):
        table = choose_kinds(source)
        meanings = st.container()
    names, guess = list(table.names), target_guess(table)
    first = names.index(guess) if guess else 0
    target = left.selectbox("Target: the column to predict", names, first, **blocks.lasting("new.target"))
    plan, test_table = choose_split(table, target, split) if split else (SplitPlan(test_size=0), None)
    by_chance = split and plan.rule == RANDOM and test_table is None
    hints = split_hints(table, target) if by_chance else ()
    default, left_out = choose_inputs(table, plan.rule, target=target)
    others = [name for name in names if name != target]
    field = blocks.lasting(f"new.left_out.{table.sha256}.{target}.{plan.rule.column}")
    field |= {"default": [name for name in others if name not in default], "placeholder": "Every other column is used"}
    unused = right.multiselect("Columns left out", others, **field)
    notes = [f"A guess, {guess_reason(table)}. Choose another column if it is wrong."] if target == guess else []
    left.html(markup.block(*map(markup.caption, notes)))
    right.html(markup.block(*map(markup.caption, map(blocks.sentence, (*left_out, *hints)))))
    with meanings:
        descriptions = choose_meanings(table, target)
    inputs = tuple(name for name in others if name not in unused)
    return Choice(
        table=table,
        target=target,
        task=resolve_task(table, target, "auto"),
        inputs=inputs,
        split=plan,
        test_table=test_table,
        hints=hints,
        descriptions=descriptions,
    )


def choose_kinds(table: Table) -> Table:
    """Return the table with the types chosen here. Raises DataError if a cell does not fit its type."""
    keys = {name: f"new.kind.of.{table.sha256}.{name}" for name in table.names}
    kinds: dict[str, Kind] = {name: st.session_state.get(key, AUTOMATIC) for name, key in keys.items()}
    choices = {name: kind for name, kind in kinds.items() if kind != AUTOMATIC}
    left, right = st.columns(2)
    name = left.selectbox("Column", table.names, **blocks.lasting(f"new.kind.column.{table.sha256}"))
    words = {AUTOMATIC: f"{AUTOMATIC} ({table.column(name).kind})", **{kind: kind for kind in get_args(Kind)}}
    right.selectbox("Its type", list(words), **blocks.lasting(keys[name]), format_func=words.__getitem__)
    about = "A category or text is taken as it is written; a number needs every cell to be one."
    blocks.captions(about, *(f"{column}: {kind}" for column, kind in choices.items()))
    if not choices:
        return table
    made_from = (table.sha256, table.read_as, tuple(choices.items()))
    return blocks.remembered("new.kinds.table", made_from, lambda: with_kinds(table, choices))


def kind_words(column: Column) -> str:
    unit = f" in {column.notation.unit}" if column.notation and column.notation.unit else ""
    return f"{column.kind}{unit}, {column.n_distinct:,} values"


ABOUT_MEANINGS = "Models see only names and types. What you write here begins every prompt."


def choose_meanings(table: Table, target: str) -> dict[str, str]:
    """Ask what columns and labels mean, a line each. Raises InputError."""
    key = f"new.meanings.{table.sha256}"
    example = "chol = cholesterol, mg/dl\nlabel:1 = a vessel is narrowed"
    text = st.text_area("What columns and labels mean", **blocks.lasting(key), placeholder=example, help=ABOUT_MEANINGS)
    lines = [line for line in (text or "").splitlines() if line.strip()]
    if wrong := next((line for line in lines if "=" not in line), None):
        raise InputError(f"{wrong!r} describes nothing: write a column, an equals sign and its meaning")
    plain = ["=".join(part.strip() for part in line.split("=", 1)) for line in lines]
    return typed(plain, columns=table.names, cells=table.cells(target))


# The split: by chance, by group, by time, or a test file

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


def choose_split(table: Table, target: str, place: DeltaGenerator) -> tuple[SplitPlan, Table | None]:
    test_table = None
    with place.expander(SPLIT):
        field = {"default": CHANCE, **blocks.lasting("new.split"), "required": True}
        kind = st.segmented_control("How to split training and test rows", list(ABOUT), **field)
        blocks.captions(ABOUT[kind])
        rule = _rule(table, target, RULES[kind]) if kind in RULES else RANDOM
        if kind == SECOND_FILE:
            label = "A file of test rows, with the same columns"
            if file := _uploaded(label, "new.test_file", "Take another test file"):
                test_table = read(file[1], file[0], DETECT)
            else:
                blocks.captions("Until there is one, rows are drawn by chance.")
        one, two = st.columns(2)
        n_test = int(one.number_input("Test rows at most", 1, 10_000, 60, **blocks.lasting("new.test")))
        more = {"help": CALIBRATION, **blocks.lasting("new.calibration")}
        n_calibration = int(two.number_input("Calibration rows", 0, 10_000, 0, **more))
    return SplitPlan(rule=rule, test_size=n_test, calibration_size=n_calibration), test_table


def _rule(table: Table, target: str, kind: RuleKind) -> SplitRule:
    """Ask for the column of a split; the likeliest first: repeated values for groups, dates before numbers."""
    columns = [column for column in table.columns if column.name != target and column.n_distinct > 1]
    if kind == "time":
        columns = [column for column in columns if column.kind in ("date", "number")]
        columns.sort(key=lambda column: column.kind != "date")
    else:
        columns.sort(key=lambda column: (2 * column.n_distinct > table.n_rows, column.kind == "number"))
    if not columns:
        what = "dates or numbers" if kind == "time" else "groups"
        blocks.captions(f"No column holds {what}: rows are drawn by chance.")
        return RANDOM
    label = "Column of the groups" if kind == "group" else "Column of the time"
    field = blocks.lasting(f"new.split_by.{kind}.{table.sha256}.{target}")
    names = [column.name for column in columns]
    return SplitRule(kind=kind, column=str(st.selectbox(label, names, format_func=shown_name, **field)))
