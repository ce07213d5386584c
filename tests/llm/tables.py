"""Small datasets for these tests, and prompts about them; `tables.json` holds those about which rules are judged."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from vpp.data.dataset import Column, Dataset, Provenance, Row, Task, Value
from vpp.llm.prompts import OptimizerPrompts, seed_sentence
from vpp.llm.templates import shipped


def row(number: int, target: Value | None = None, **inputs: str | None) -> Row:
    return Row(id=number, inputs=tuple(inputs.items()), target=target)


def table(task: Task, rows: tuple[Row, ...], *, target: str = "y", classes: tuple[str, ...] = ()) -> Dataset:
    names = tuple(name for name, _ in rows[0].inputs)
    return Dataset(
        name="table",
        target=target,
        task=task,
        columns=tuple(Column(name=name, kind="number", n_missing=0, n_distinct=2) for name in names),
        inputs=names,
        classes=classes,
        train=rows,
        test=(),
        provenance=Provenance(
            file="t.csv", sha256="", delimiter=",", encoding="utf-8", n_rows=len(rows), n_unlabelled=0, n_left_out=0
        ),
    )


PARITY = table(
    "classification",
    (row(0, "1", a="3", b="5"), row(1, "0", a="3", b="4"), row(2, "1", a="2", b=None)),
    target="even",
    classes=("0", "1"),
)
LINE = table("regression", (row(0, 4.0, x="0"), row(1, 7.5, x="1.17")))


def small_table(target: str, rows: list[tuple[Any, dict[str, str]]], kinds: dict[str, Any]) -> Dataset:
    """Return a table of labels or of numbers. kinds: of the columns that hold no numbers."""
    outputs = [output for output, _ in rows]
    task: Task = "classification" if isinstance(outputs[0], str) else "regression"
    classes = tuple(sorted(set(outputs))) if task == "classification" else ()
    made = table(
        task, tuple(row(n, each, **cells) for n, (each, cells) in enumerate(rows)), target=target, classes=classes
    )
    return replace(made, columns=tuple(replace(each, kind=kinds.get(each.name, "number")) for each in made.columns))


TABLES: dict[str, Dataset] = {
    name: small_table(each["target"], each["rows"], each.get("kinds", {}))
    for name, each in json.loads(Path(__file__).with_name("tables.json").read_text("utf-8")).items()
}
TABLES["line"] = LINE
TABLES["many"] = small_table(
    "decision", [(("in", "out")[n % 2], {"city": f"a long name of town {n}"}) for n in range(400)], {"city": "category"}
)


def optimizer_prompts(dataset: Dataset, templates: str = "paper", *, seed_text: str = "") -> OptimizerPrompts:
    """The optimizer's prompts of a shipped set; the seed text is by default the dataset's own."""
    return OptimizerPrompts(
        dataset=dataset,
        refining=shipped("optimizer", templates),
        drawing=shipped("prior", templates),
        seed_text=seed_text or seed_sentence(dataset),
    )
