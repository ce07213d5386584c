"""Runs on disk whose every text from outside means harm: the runs of tests/inspected.py with each string swapped."""

import csv
import io
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tests import inspected
from tests.hostile.payload import MARK, formula, harm, short
from tests.reporting.builders import SEED
from vpp.data.dataset import Column, Dataset, ReadAs, Row, rows_csv
from vpp.data.descriptions import Descriptions
from vpp.data.numbers import Notation
from vpp.events import Event, RunPaused, RunStarted, StepFinished, Usage, hypothesis_id
from vpp.llm.limits import Cap, Price
from vpp.problem import Prediction, Translation
from vpp.runs.directory import Journal, Record, RunDirectory, encode
from vpp.runs.preparation import dataset_spec
from vpp.runs.spec import EndpointSpec, Prices, RunSpec

T = TypeVar("T")
TEXTS = [
    text
    for text in (*vars(inspected).values(), f"{inspected.LUCK} Or yes.")
    if isinstance(text, str) and text.startswith(f"{SEED} ")
]
"""The hypotheses of the inspected runs."""


class Hostile:
    """Runs of one folder. leak: the address of a listener outside. text_of: a text for each place, if not harm."""

    def __init__(self, folder: Path, leak: str = "", text_of: Callable[[str], str] | None = None) -> None:
        self.folder, self.leak = folder, leak
        self.harm, self.short = text_of or partial(harm, leak=leak), text_of or partial(short, leak=leak)
        self.labels = {"yes": self.short("label-yes"), "no": self.short("label-no")}
        kinds = ("column-number", "column-category", "column-text", "target")
        self.columns = tuple(map(self.short, kinds))
        """Names of the number, the category, the text and the target."""
        self.data = self._dataset(inspected.LABELS)
        self.swap = self._swaps()

    def _cells(self, row: int) -> tuple[str, str, str]:
        text = formula(f"formula-{row}", self.leak) if row % 3 == 0 else self.harm(f"text-{row}")
        return str(row), self.short(f"cell-{row % 2}"), text

    def _dataset(self, source: Dataset) -> Dataset:
        """Return rows and targets of `source`, in columns of every kind."""
        *inputs, target = self.columns
        number, category, _ = inputs

        def row(old: Row) -> Row:
            cells = tuple(zip(inputs, self._cells(old.id), strict=True))
            return Row(id=old.id, inputs=cells, target=self.labels[str(old.target)])

        unit = Notation(unit=f"<b>{MARK}tag</b>:red[{MARK}red]")
        kinds: Any = zip(inputs, ("number", "category", "text"), (unit, None, None), strict=True)
        columns = [Column(name=n, kind=k, n_missing=0, n_distinct=9, notation=u) for n, k, u in kinds]
        return replace(
            source,
            name=self.short("dataset"),
            target=target,
            columns=(*columns, replace(source.columns[-1], name=target)),
            inputs=tuple(inputs),
            classes=tuple(sorted(self.labels.values())),
            train=tuple(map(row, source.train)),
            test=tuple(map(row, source.test)),
            descriptions=Descriptions(
                columns={number: self.harm("meaning"), category: "{input} {hypothesis!r}"},
                labels={label: self.harm("meaning-of-label") for label in self.labels.values()},
            ),
            provenance=replace(
                source.provenance,
                file=self.short("file") + ".csv",
                encoding=self.short("encoding"),
                split=f"group:{category}",
                notes=(self.harm("note"),),
                read_as=ReadAs(sheet=self.short("sheet")),
            ),
        )

    def _swaps(self) -> dict[str, str]:
        """Return what each string of an inspected run becomes; names of the journal's schema stay."""
        swap = {text: f"{text} {self.harm('hypothesis')} {hypothesis_id(text)}" for text in TEXTS}
        ids = {hypothesis_id(old): hypothesis_id(new) for old, new in swap.items()}
        raws = {f"New rule: {old}": f"{self.harm('raw')} New rule: {new}" for old, new in swap.items()}
        others = {
            "Sorry.": self.harm("unread"),
            "the answer has no “New rule:” line": self.harm("reason"),
            SEED: f"{SEED} {self.harm('seed')}",
            "aa" * 32: self.harm("hash"),
            "3.11": self.harm("version"),
            "demo": self.harm("model"),
        }
        return {**swap, **ids, **raws, **others, **self.labels}

    def write(self, number: int, *last: Event, **given: Any) -> RunDirectory:
        """Write an SMC run. last: events in place of the end; without any, it has finished. given: fields of its spec.

        The folder's name is the time, then harm that a file system accepts.
        """
        markup = f"<img src=x onerror=__pwnd()>**{MARK}bold**:red[{MARK}red]${MARK}math$"
        directory = RunDirectory(self.folder / f"20260110-000{number}-{markup}\N{RIGHT-TO-LEFT OVERRIDE}")
        events = self._events()
        if last:
            steps = [at for at, event in enumerate(events) if isinstance(event, StepFinished)]
            events = [*events[: 1 + steps[-1]], *last]
        template = self.harm("template").replace("{", "{{").replace("}", "}}")
        usual: dict[str, Any] = {
            "name": self.short("name"),
            "config": replace(inspected.LABEL_CONFIG, prior=self.harm("prior"), reading="auto"),
            "endpoint": EndpointSpec(
                base_url=f"{self.leak}/v1/<b>:red[tag]</b>",
                model=self.short("model"),
                optimizer_base_url=f"{self.leak}/v2/**bold**",
                optimizer_model=self.short("optimizer"),
            ),
            "dataset": dataset_spec(self.data),
            "templates": {"learner": f"{template} {{hypothesis}} {{input}} {{answer_form}}"},
            "command": (),
            "prices": Prices(learner=Price(prompt=1.0, completion=2.0)),
        }
        directory.create(RunSpec(**{**usual, **given}), rows_csv(self.data))
        usage = Usage(
            learner=30, optimizer=6, cached=4, unparsable=2, failed=3, sent=40, cost=1.5,
            faults={self.harm("fault"): 3}, refused_fields=(self.harm("refused"),),
        )  # fmt: skip
        records = [Record(at=1_767_970_000.0 + i, usage=usage, event=e) for i, e in enumerate(events)]
        directory.journal.write_bytes(b"".join(map(encode, records)))
        self._log_answers(Journal(directory.journal))
        return directory

    def _events(self) -> list[Event]:
        first, *others = swap_strings(inspected.label_events(), self.swap)
        assert isinstance(first, RunStarted)
        begun = replace(
            first,
            dataset=dataset_spec(self.data),
            config={**first.config, "prior": self.harm("prior"), self.short("option"): self.harm("value")},
            versions={**first.versions, self.short("library"): self.harm("version")},
        )
        thoughts = self.harm("thoughts")
        return [begun, *(replace(e, thoughts=thoughts) if hasattr(e, "thoughts") else e for e in others)]

    def _log_answers(self, log: Journal) -> None:
        for number, (text, answers) in enumerate(inspected.ON_TEST.items()):
            hypothesis = self.swap[hypothesis_id(text)]
            for row, value in zip(self.data.test, answers, strict=True):
                read: dict[str, Any] = {"value": self.labels.get(str(value)), "explanation": self.harm("because")}
                unread = {"value": None, "raw": self.harm("raw-answer"), "reason": self.harm("unread-because")}
                content = unread if value is None else read
                log.add_answer(hypothesis, Prediction(row=row.id, **content), 1)
            code = None if number else f"def predict():\n    return {self.harm('program')!r}"
            reason = self.harm("no-program") if number else None
            log.add_entry(Translation(hypothesis=hypothesis, code=code, reason=reason, attempts=1))
        log.close()

    def all(self) -> dict[str, RunDirectory]:
        paused = RunPaused(reason="budget", detail=self.harm("capped"))
        command = ("run", self.harm("command"), "--prior", f"\x1b[201~; touch {MARK}\n")
        return {
            "finished": self.write(1),
            "at_cap": self.write(2, paused, cap=Cap(calls=9, cost=2.5)),
            "continued": self.write(
                3, start=("a", "b", "c", "d"), started_from=self.harm("from"), command=command
            ),
        }  # fmt: skip

    def table(self) -> bytes:
        """Return a CSV for the form."""
        file = io.StringIO()
        rows = [(*self._cells(i), self.labels["yes" if i % 2 else "no"]) for i in range(40)]
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([self.columns, *rows])
        return file.getvalue().encode()


def swap_strings(value: T, swap: dict[str, str]) -> T:
    """Return the value with each string that `swap` names replaced, at any depth."""
    changed: Any = value
    if isinstance(value, str):
        changed = swap.get(value, value)
    elif isinstance(value, tuple | list):
        changed = type(value)(swap_strings(each, swap) for each in value)
    elif isinstance(value, dict):
        changed = {key: swap_strings(each, swap) for key, each in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        changed = replace(value, **{f.name: swap_strings(getattr(value, f.name), swap) for f in fields(value)})
    return changed
