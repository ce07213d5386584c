"""Small datasets, events and run directories, put together by hand."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from vpp.data.dataset import Column, Dataset, Kind, Provenance, Row, Value, rows_csv
from vpp.events import (
    Evaluated,
    Event,
    ParticleDrawn,
    ParticleState,
    Proposed,
    Resampled,
    Reweighted,
    RunStarted,
    Scored,
    StepFinished,
    Usage,
    hypothesis_id,
)
from vpp.posterior.prediction import average
from vpp.posterior.weights import ess
from vpp.runs.directory import Record, RunDirectory, RunReader, encode
from vpp.runs.preparation import dataset_spec
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import RunView
from vpp.settings import Config

SEED = "You predict."
DEMO = EndpointSpec(demo=True, model="demo")


def rows(targets: Sequence[Value], *, first_id: int, name: str = "a") -> tuple[Row, ...]:
    """A row a target; the one input is the row's id."""
    return tuple(Row(id=first_id + i, inputs=((name, str(first_id + i)),), target=t) for i, t in enumerate(targets))


def dataset(train: Sequence[Value], test: Sequence[Value], *, name: str = "a", target: str = "y") -> Dataset:
    """Training rows have ids from 0, test rows go on after them; labels make it classification."""
    labels = sorted({t for t in (*train, *test) if isinstance(t, str)})
    n = len(train) + len(test)
    return Dataset(
        name="toy",
        target=target,
        task="classification" if labels else "regression",
        columns=(
            Column(name=name, kind="number", n_missing=0, n_distinct=n),
            Column(name=target, kind="category" if labels else "number", n_missing=0, n_distinct=2),
        ),
        inputs=(name,),
        classes=tuple(labels),
        train=rows(train, first_id=0, name=name),
        test=rows(test, first_id=len(train), name=name),
        provenance=Provenance(
            file="toy.csv", sha256="ab" * 32, delimiter=",", encoding="utf-8", n_rows=n, n_unlabelled=0, n_left_out=0
        ),
    )


def table(cells: dict[str, tuple[Kind, Sequence[str | None]]], targets: Sequence[Value], *, n_train: int) -> Dataset:
    """cells: a column's kind and its cell of each row. The first `n_train` rows train, the others test."""
    plain = dataset(targets[:n_train], targets[n_train:])
    columns = [Column(name=name, kind=kind, n_missing=0, n_distinct=2) for name, (kind, _) in cells.items()]
    lines = zip(*([(name, cell) for cell in column] for name, (_, column) in cells.items()), strict=True)
    rows = tuple(Row(id=i, inputs=line, target=y) for i, (line, y) in enumerate(zip(lines, targets, strict=True)))
    parts = {"train": rows[:n_train], "test": rows[n_train:]}
    return replace(plain, columns=(*columns, plain.columns[-1]), inputs=tuple(cells), **parts)


YES_NO = dataset(["yes", "no", "yes", "no"], ["yes", "no", "no"])
NUMBERS = dataset([0.0, 1.0, 2.0, 4.0], [1.0, 3.0])
USAGE = Usage(learner=30, optimizer=6, cached=4, unparsable=2)


def started(config: Config, data: Dataset, *, steps: int = 2, model: str = "demo") -> RunStarted:
    return RunStarted(
        config=asdict(config),
        dataset=dataset_spec(data),
        seed_text=SEED,
        steps=steps,
        templates={"learner": "aa" * 32, "optimizer": "bb" * 32},
        versions={"vpp": "0.1.0", "python": "3.11"},
        models={"learner": model, "optimizer": model},
    )


def drawn(*texts: str) -> list[Event]:
    events: list[Event] = [
        ParticleDrawn(particle=k, hypothesis=hypothesis_id(t), text=t, temperature=0.5, raw=f"New rule: {t}")
        for k, t in enumerate(texts)
    ]
    return [*events, finished(-1, texts)]


def finished(
    step: int, texts: Sequence[str], *, weights: Sequence[float] | None = None, ancestors: Sequence[int] | None = None
) -> StepFinished:
    """ancestors: the slot each came from at the step before; its own unless said otherwise."""
    logs = [0.0] * len(texts) if weights is None else [math.log(w) if w else -math.inf for w in weights]
    states = tuple(
        ParticleState(hypothesis=hypothesis_id(t), parent=parent, log_likelihood=None, log_weight=log_w)
        for t, log_w, parent in zip(texts, logs, ancestors or range(len(texts)), strict=True)
    )
    return StepFinished(step=step, population=states, batch=(0, 1))


def scored(
    step: int, particle: int, text: str, answers: dict[int, Value | None], *, role: Any = "forward", log_lik: float = -1
) -> Scored:
    return Scored(
        step=step,
        particle=particle,
        hypothesis=hypothesis_id(text),
        role=role,
        rows=tuple(answers),
        predictions=tuple(answers.values()),
        log_likelihood=log_lik,
    )


def proposed(
    step: int, particle: int, parent: str, text: str | None, *, log_lik: tuple[float, float] = (-1, -5), **rest: Any
) -> Proposed:
    """Judged and rejected, unless said otherwise. log_lik: the parent's and the proposal's."""
    old, new = log_lik
    values: dict[str, Any] = {"accepted": False, "why": "likelihood", "raw": f"New rule: {text}", **rest}
    if values["why"] == "likelihood":
        law = {"log_likelihood": old, "log_likelihood_proposal": new, "log_alpha": min(0.0, new - old), "u": 0.5}
        values = {**law, **values}
    return Proposed(
        step=step,
        particle=particle,
        parent=hypothesis_id(parent),
        proposal=None if text is None else hypothesis_id(text),
        text=text,
        temperature=0.7,
        **values,
    )


def reweighted(step: int, weights: Sequence[float], *, beta: float = 1.0, role: Any = "step") -> Reweighted:
    logs = tuple(math.log(w) if w else -math.inf for w in weights)
    return Reweighted(step=step, beta=beta, log_weights=logs, weights=tuple(weights), ess=ess(weights), role=role)


def resampled(step: int, *ancestors: int) -> Resampled:
    return Resampled(step=step, u=0.5, ancestors=ancestors)


def evaluated(
    data: Dataset, answers: dict[str, Sequence[Value | None]], *, slots: Sequence[str], weights: Sequence[float] = (),
    split: Any = "test", step: int = 1,
) -> Evaluated:  # fmt: skip
    """answers: by text. slots: the text each particle holds."""
    part, is_label = data.part(split), data.task == "classification"
    votes = zip(*(answers[text] for text in slots), strict=True)
    share = tuple(weights) or tuple([1 / len(slots)] * len(slots))
    return Evaluated(
        step=step,
        split=split,
        rows=tuple(row.id for row in part),
        hypotheses=tuple(hypothesis_id(text) for text in slots),
        predictions=tuple(tuple(answers[text]) for text in slots),
        weights=share,
        metric="accuracy" if is_label else "mse",
        value=0.5,
        averaged=tuple(average(each, share, is_label=is_label) for each in votes),
    )


def view_of(*events: Event) -> RunView:
    return folded(Record(at=float(i), usage=USAGE, event=event) for i, event in enumerate(events))


def folded(records: Iterable[Record]) -> RunView:
    view = RunView()
    for record in records:
        view.apply(record)
    return view


def run(
    folder: Path,
    *events: Event,
    data: Dataset = YES_NO,
    config: Config | None = None,
    endpoint: EndpointSpec = DEMO,
    usage: Usage = USAGE,
    **spec: Any,
) -> RunReader:
    """A run on disk with these events, no worker holding it."""
    directory = RunDirectory(folder / "20260110-1432-toy-smc-7f3a")
    given = RunSpec(name="toy", config=config or Config(particles=2), endpoint=endpoint, dataset=dataset_spec(data))
    directory.create(replace(given, **spec), rows_csv(data))
    records = (Record(at=1_767_970_000.0, usage=usage, event=event) for event in events)
    directory.journal.write_bytes(b"".join(map(encode, records)))
    return RunReader(directory)
