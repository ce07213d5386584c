"""Which rows train and which test: by chance, by group, by time, or a test file; how many; and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts.keeping import TEST_FILE
from pages.parts.reading import read
from vpp.data.build import split_hints
from vpp.data.dataset import RANDOM, Dataset, RuleKind, SplitRule
from vpp.data.grid import shown_name
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.wording import markup
from vpp.wording.splitting import rows_sentence, unlabelled_sentence

CHANCE, GROUP, TIME, FILE = "By chance", "By group", "By time", "A test file"
KEPT = "new.split_kept"
"""The kind chosen last, which names the fold before its field is drawn on a page come back to."""
RULES: dict[str, RuleKind] = {GROUP: "group", TIME: "time"}
ABOUT = {
    CHANCE: "Rows are drawn by seed, labels in their proportions.",
    GROUP: "No group has rows in both parts: say patient, shop or author, where new ones will come.",
    TIME: "The latest rows test, and earlier ones train: where tomorrow is to be told from yesterday.",
    FILE: "The rows of a second file test, and those of the first train. It needs the same columns.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Splitting:
    """How rows are to be parted."""

    rule: SplitRule
    test_table: Table | None
    sizes: dict[str, Any]
    hints: tuple[str, ...] = ()
    """What the columns hint at where rows are drawn by chance, a sentence each, as shown beside the split."""

    def plan(self, seed: int) -> SplitPlan:
        """As `build_dataset` takes it."""
        return SplitPlan(rule=self.rule, seed=seed, **self.sizes)


def choose_split(table: Table, target: str) -> Splitting:
    """Asks for the kind, its column or file, and the sizes. Raises DataError for a test file that is no table."""
    so_far = str(st.session_state.get("new.split") or st.session_state.get(KEPT) or CHANCE)
    with st.expander(f"Rows and split: {so_far[0].lower()}{so_far[1:]}", key="new.split_fold"):
        kind = st.segmented_control(
            "What parts training and test rows",
            (CHANCE, GROUP, TIME, FILE),
            default=CHANCE,
            key="new.split",
            required=True,
            persist_state="session",
        )
        kind = st.session_state[KEPT] = kind or CHANCE
        st.html(markup.block(markup.caption(ABOUT[kind])))
        rule = _rule(table, target, kind) if kind in RULES else RANDOM
        test_table = _test_file() if kind == FILE else None
        sizes = _sizes()
    hints = split_hints(table, target) if rule == RANDOM and test_table is None else ()
    if hints:
        st.html(markup.block(*map(markup.caption, hints)))
    return Splitting(rule=rule, test_table=test_table, sizes=sizes, hints=hints)


def _rule(table: Table, target: str, kind: str) -> SplitRule:
    names = parting_columns(table, target, RULES[kind])
    if not names:
        what = "groups" if kind == GROUP else "dates or numbers"
        st.html(markup.block(markup.caption(f"No column holds {what}: rows are drawn by chance.")))
        return RANDOM
    column = st.selectbox(
        "Column of the groups" if kind == GROUP else "Column of the time",
        names,
        format_func=shown_name,
        key=f"new.split_by.{RULES[kind]}.{table.sha256}.{target}",
        persist_state="session",
    )
    return SplitRule(kind=RULES[kind], column=str(column))


def parting_columns(table: Table, target: str, kind: RuleKind) -> Sequence[str]:
    """Columns that can part the rows, the likeliest first: those whose values repeat; dates before numbers."""
    others = [column for column in table.columns if column.name != target and column.n_distinct > 1]
    if kind == "time":
        able = [column for column in others if column.kind in ("date", "number")]
        return [column.name for column in sorted(able, key=lambda column: column.kind != "date")]
    able = sorted(others, key=lambda column: (2 * column.n_distinct > table.n_rows, column.kind == "number"))
    return [column.name for column in able]


def _test_file() -> Table | None:
    """The file in use, or the field for one; None until there is one."""
    file: tuple[str, bytes] | None = st.session_state.get(TEST_FILE)
    if file is None:
        label = "A file of test rows, with the same columns"
        st.file_uploader(label, type=None, key="new.test_upload", on_change=_take)
        st.html(markup.block(markup.caption("Until there is one, rows are drawn by chance.")))
        return None
    with st.container(horizontal=True, vertical_alignment="center", key="new_test_file"):
        st.html(markup.block(f'<p class="file"><b>{markup.text(file[0])}</b></p>'), width="content")
        st.button("Take another test file", key="new.test_replace", type="tertiary", on_click=_forget)
    return read(file[1], file[0])


def _take() -> None:
    """Keeps what was uploaded for this browser session: the field forgets it when the page is left."""
    file = st.session_state["new.test_upload"]
    if file is not None:
        st.session_state[TEST_FILE] = (file.name, file.getvalue())


def _forget() -> None:
    st.session_state.pop(TEST_FILE, None)


def _sizes() -> dict[str, Any]:
    """How many rows train and test."""
    one, two, three = st.columns(3)
    return {
        "train_size": int(
            one.number_input("Training rows at most", 1, 10_000, 100, key="new.train", persist_state="session")
        ),
        "test_size": int(two.number_input("Test rows at most", 1, 10_000, 60, key="new.test", persist_state="session")),
        "test_fraction": float(
            three.number_input(
                "Test share of a small table", 0.05, 0.95, 0.375, key="new.fraction", persist_state="session"
            )
        ),
    }


def told(dataset: Dataset) -> list[str]:
    """What was found and what is left out, a sentence each. It may hold text of the data, to be escaped."""
    if dataset.task == "classification":
        found = f"{dataset.target} has {len(dataset.classes)} labels, so this is classification."
    else:
        found = f"{dataset.target} is a number, so this is regression."
    said = [found, rows_sentence(dataset), unlabelled_sentence(dataset), *dataset.provenance.notes]
    return [sentence for sentence in said if sentence]
