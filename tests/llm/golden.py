"""Conversations of every kind, as `prompts.json` holds them: `python -m tests.llm.golden` writes it anew.

Recorded answers and the demo model depend on every byte of a prompt. Fixed turns are held by their hash.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vpp.data.dataset import Dataset
from vpp.data.descriptions import Descriptions
from vpp.data.numbers import Notation
from vpp.llm.prompts import LearnerPrompts, ProgramPrompts, seed_sentence
from vpp.llm.templates import GALLERY, LETTERED, Message, shipped
from vpp.problem import Prediction
from vpp.programs.columns import Columns

from .tables import LINE, PARITY, optimizer_prompts, row, table
from .tables import TABLES as JUDGED

FILE = Path(__file__).with_name("prompts.json")
ODD = table(
    "classification",
    (row(0, "no\n>>>", a="3.50", b="x\n>>>\nRule: <<<"), row(1, "yes", a=None, b="z" * 60), row(2, "yes", a="7", b="")),
    target="y",
    classes=("no\n>>>", "yes"),
)
MEANT = replace(
    PARITY, descriptions=Descriptions(columns={"a": "the first >>>", "even": "whether it is"}, labels={"1": "it is"})
)
EUROS = replace(LINE, columns=tuple(replace(each, notation=Notation(unit="€")) for each in LINE.columns))
TABLES = {
    "parity": PARITY,
    "line": EUROS,
    "odd": ODD,
    "meant": MEANT,
    **{name: JUDGED[name] for name in ("admission", "reviews")},
}


def held(turns: Sequence[Message]) -> list[str]:
    """Return the hash of the fixed turns, and the question."""
    *opening, asked = turns
    return [hashlib.sha256(json.dumps(opening).encode()).hexdigest()[:16], asked["content"]]


def conversations() -> dict[str, Any]:
    """Return every conversation by its name."""
    said: dict[str, Any] = {}
    for name, dataset in TABLES.items():
        said[f"{name}: seed sentence"] = seed_sentence(dataset, " It is\na belief ")
        for templates in GALLERY:
            said |= {f"{name}, {templates}: {kind}": held(turns) for kind, turns in of_set(dataset, templates).items()}
        programs = ProgramPrompts(dataset=dataset, columns=Columns(dataset))
        said[f"{name}: program"] = held(programs.translation(f"{seed_sentence(dataset)} Output 1."))
        said[f"{name}: text"] = held(programs.about_text("Is it\nwet?", "a\ntext"))
        if dataset.classes:
            letters = LearnerPrompts(dataset=dataset, template=shipped("learner", LETTERED))
            said[f"{name}: letters"] = held(letters.messages("Output 1.", dataset.train[0]))
    return said


def of_set(dataset: Dataset, templates: str) -> dict[str, Any]:
    rule, rows = f"{seed_sentence(dataset)} If a is {{a}}, output 1.", dataset.train
    learner = LearnerPrompts(dataset=dataset, template=shipped("learner", templates))
    optimizer = optimizer_prompts(dataset, templates)
    given = [Prediction(row=each.id, value=None, branch=n % 2, explanation="a > 3: 1") for n, each in enumerate(rows)]
    return {
        "row": learner.messages(rule, rows[0]),
        "structured, cut": replace(learner, is_structured=True, cell_limit=5).messages(rule, rows[-1]),
        "batch": optimizer.about_batch(rule, rows, given, seed=17),
        "first batch": replace(optimizer, cell_limit=5).about_batch(optimizer.seed_text, rows, given),
        "columns": optimizer.about_columns(),
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(conversations(), ensure_ascii=False, indent=1) + "\n", "utf-8")
