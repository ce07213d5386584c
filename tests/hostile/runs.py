"""Runs on disk whose every text from outside means harm: the runs of tests/inspected.py with each string swapped."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from tests import inspected
from tests.hostile.payload import MARK, formula, harm, short
from tests.reporting.builders import SEED
from vpp.data.dataset import Column, Dataset, Notation, ReadAs, Row, rows_csv
from vpp.data.descriptions import Descriptions
from vpp.events import Event, RunFinished, RunPaused, RunStarted, StepFinished, Usage, hypothesis_id
from vpp.llm.limits import Cap, Price
from vpp.problem import Prediction, Translation
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import Journal, Record, encode
from vpp.runs.preparation import dataset_spec
from vpp.runs.spec import EndpointSpec, Prices, RunSpec
from vpp.settings import Config

T = TypeVar("T")
PREFIX = "20260110-000"


class Hostile:
    """Runs of one folder. leak: the address of a listener outside the app."""

    def __init__(self, folder: Path, leak: str) -> None:
        self.folder, self.leak = folder, leak

    def harm(self, place: str) -> str:
        return harm(place, self.leak)

    def short(self, place: str) -> str:
        return short(place, self.leak)

    # Data

    @property
    def labels(self) -> dict[str, str]:
        return {"yes": self.short("label-yes"), "no": self.short("label-no")}

    @property
    def columns(self) -> tuple[str, str, str, str]:
        """Names of the number, the category, the text and the target."""
        return (*(self.short(f"column-{kind}") for kind in ("number", "category", "text")), self.short("target"))

    def dataset(self, source: Dataset) -> Dataset:
        """Rows and targets of `source`, in columns of every kind."""
        number, category, text, target = self.columns
        swap = self.labels

        def row(old: Row) -> Row:
            cells = ((number, str(old.id)), (category, self.short(f"cell-{old.id % 2}")), (text, self.cell(old.id)))
            return Row(id=old.id, inputs=cells, target=swap[str(old.target)])

        unit = Notation(unit=f"<b>{MARK}tag</b>:red[{MARK}red]")
        kinds = ((number, "number", unit), (category, "category", None), (text, "text", None))
        columns = [Column(name=n, kind=k, n_missing=0, n_distinct=9, notation=u) for n, k, u in kinds]  # type: ignore[arg-type]
        of_target = replace(source.columns[-1], name=target)
        return replace(
            source,
            name=self.short("dataset"),
            target=target,
            columns=(*columns, of_target),
            inputs=(number, category, text),
            classes=tuple(sorted(swap[label] for label in source.classes)),
            train=tuple(map(row, source.train)),
            test=tuple(map(row, source.test)),
            descriptions=Descriptions(
                columns=((number, self.harm("meaning")), (category, "{input} {hypothesis!r}")),
                labels=tuple((label, self.harm("meaning-of-label")) for label in swap.values()),
            ),
            provenance=replace(
                source.provenance,
                file=self.short("file") + ".csv",
                encoding=self.short("encoding"),
                split=f"group:{category}",
                test_file=self.short("test-file"),
                notes=(self.harm("note"),),
                read_as=ReadAs(sheet=self.short("sheet")),
            ),
        )

    def cell(self, row: int) -> str:
        return formula(f"formula-{row}", self.leak) if row % 3 == 0 else self.harm(f"text-{row}")

    # Events

    def swapped(self, source: Dataset) -> dict[str, str]:
        """Return what each string of an inspected run becomes; names of the journal's schema stay."""
        texts = [text for text in (*vars(inspected).values(), f"{inspected.LUCK} Or yes.") if is_hypothesis(text)]
        swap = {text: f"{text} {self.harm('hypothesis')} {hypothesis_id(text)}" for text in texts}
        ids = {hypothesis_id(old): hypothesis_id(new) for old, new in swap.items()}
        raws = {f"New rule: {old}": f"{self.harm('raw')} New rule: {new}" for old, new in swap.items()}
        said = {
            "Sorry.": self.harm("unread"),
            "the answer has no “New rule:” line": self.harm("reason"),
            SEED: f"{SEED} {self.harm('seed')}",
            "aa" * 32: self.harm("hash"),
            "3.11": self.harm("version"),
            "demo": self.harm("model"),
        }
        return {**swap, **ids, **raws, **said, **self.labels}

    def events(self, events: list[Event], source: Dataset, data: Dataset, config: Config) -> list[Event]:
        swap = self.swapped(source)
        made = [swap_strings(event, swap) for event in events]
        return [
            self._opened(event, data, config)
            if isinstance(event, RunStarted)
            else thinking(event, self.harm("thoughts"))
            for event in made
        ]

    def _opened(self, event: RunStarted, data: Dataset, config: Config) -> RunStarted:
        given = {**event.config, "prior": config.prior, self.short("option"): self.harm("value")}
        versions = {**event.versions, self.short("library"): self.harm("version")}
        return replace(event, dataset=dataset_spec(data), config=given, versions=versions)

    # Runs

    def endpoint(self) -> EndpointSpec:
        return EndpointSpec(
            base_url=f"{self.leak}/v1/<b>:red[tag]</b>",
            model=self.short("model"),
            optimizer_base_url=f"{self.leak}/v2/**bold**",
            optimizer_model=self.short("optimizer"),
        )

    def spec(self, config: Config, data: Dataset, **given: Any) -> RunSpec:
        usual: dict[str, Any] = {
            "name": self.short("name"),
            "config": config,
            "endpoint": self.endpoint(),
            "dataset": dataset_spec(data),
            "learner_template": f"{doubled(self.harm('template'))} {{hypothesis}} {{input}} {{answer_form}}",
            "command": (),
            "prices": Prices(learner=Price(prompt=1.0, completion=2.0)),
        }
        return RunSpec(**{**usual, **given})

    def write(self, name: str, spec: RunSpec, data: Dataset, events: list[Event]) -> RunDirectory:
        """A directory whose name means harm too."""
        directory = RunDirectory(self.folder / name)
        directory.create(spec, rows_csv(data))
        usage = Usage(
            learner=30, optimizer=6, cached=4, unparsable=2, failed=3, retried=4, sent=40, cost=1.5,
            faults={self.harm("fault"): 3}, refused_fields=(self.harm("refused"),),
        )  # fmt: skip
        records = [Record(at=1_767_970_000.0 + i, usage=usage, event=e) for i, e in enumerate(events)]
        directory.journal.write_bytes(b"".join(map(encode, records)))
        return directory

    def label_run(self, name: str, *last: Event, **given: Any) -> RunDirectory:
        """Write an SMC run of labels. last: events in place of the end; without any, the run has finished."""
        config = replace(inspected.LABEL_CONFIG, prior=self.harm("prior"), reading="auto")
        data = self.dataset(inspected.LABELS)
        made = self.events(inspected.label_events(), inspected.LABELS, data, config)
        if last:
            made = [*made[: 1 + max(i for i, e in enumerate(made) if isinstance(e, StepFinished))], *last]
        directory = self.write(name, self.spec(config, data, **given), data, made)
        self._say(directory, inspected.ON_TEST, data)
        return directory

    def _say(self, directory: RunDirectory, said: dict[str, Any], data: Dataset) -> None:
        log, swap = Journal(directory.journal), self.swapped(data)
        for text, answers in said.items():
            for row, value in zip(data.test, answers, strict=True):
                read: dict[str, Any] = {"value": self.labels.get(value, value), "explanation": self.harm("because")}
                unread = {"value": None, "raw": self.harm("raw-answer"), "reason": self.harm("unread-because")}
                given = unread if value is None else read
                log.add_answer(
                    swap[hypothesis_id(text)], Prediction(row=row.id, thoughts=self.harm("mused"), **given), 1
                )
        for number, text in enumerate(said):
            code = None if number else f"def predict():\n    return {self.harm('program')!r}"
            reason = self.harm("no-program") if number else None
            log.add_entry(Translation(hypothesis=swap[hypothesis_id(text)], code=code, reason=reason, attempts=1))
        log.close()

    # The folder

    def folder_name(self, number: int) -> str:
        """Return a run's folder name: the time, then harm that a file system accepts."""
        markup = f"<img src=x onerror=__pwnd()>**{MARK}bold**:red[{MARK}red]${MARK}math$"
        return f"{PREFIX}{number}-{markup}\N{RIGHT-TO-LEFT OVERRIDE}"

    def finished(self) -> RunDirectory:
        return self.label_run(self.folder_name(1))

    def stopped(self) -> RunDirectory:
        """The like on the same rows."""
        return self.label_run(self.folder_name(2), RunFinished(outcome="stopped"))

    def at_cap(self) -> RunDirectory:
        return self.label_run(
            self.folder_name(5), RunPaused(reason="budget", detail=self.harm("capped")), cap=Cap(calls=9, cost=2.5)
        )

    def continued(self) -> RunDirectory:
        """It goes on from a run whose id means harm."""
        return self.label_run(
            self.folder_name(6), start=("a", "b", "c", "d"), started_from=self.harm("from"),
            command=("run", self.harm("command"), "--prior", f"\x1b[201~; touch {MARK}\n"),
        )  # fmt: skip

    def table(self) -> bytes:
        """A CSV for the form."""
        names = (*self.columns[:3], self.columns[3])
        rows = [
            (str(i), self.short(f"cell-{i % 2}"), self.cell(i), self.labels["yes" if i % 2 else "no"])
            for i in range(40)
        ]
        return "".join(",".join(map(quoted, line)) + "\n" for line in (names, *rows)).encode()


def is_hypothesis(value: object) -> bool:
    return isinstance(value, str) and value.startswith(f"{SEED} ")


def thinking(event: Event, thoughts: str) -> Event:
    return replace(event, thoughts=thoughts) if hasattr(event, "thoughts") else event


def swap_strings(value: T, swap: dict[str, str]) -> T:
    """Return the value with each string that `swap` names replaced, at any depth."""
    changed: Any = value
    if isinstance(value, str):
        changed = swap.get(value, value)
    elif isinstance(value, tuple):
        changed = tuple(swap_strings(each, swap) for each in value)
    elif isinstance(value, dict):
        changed = {key: swap_strings(each, swap) for key, each in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        changed = replace(value, **{f.name: swap_strings(getattr(value, f.name), swap) for f in fields(value)})
    return changed


def doubled(text: str) -> str:
    """Braces that are no slot of a template."""
    return text.replace("{", "{{").replace("}", "}}")


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'
