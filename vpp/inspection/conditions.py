"""Conditions of runs side by side: options, data, endpoint, prompts and versions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import ceil
from typing import Any

from vpp.data.dataset import Task
from vpp.inspection.comparison import Candidate
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config

Condition = tuple[str, str]
"""(kind, name); kind is `options`, `data`, `endpoint`, `prompts` or `versions`."""
HASHED = 12
"""Digits of a SHA-256 that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One condition in every run."""

    kind: str
    name: str
    values: tuple[str | None, ...]
    """One a run; None for an unused option, and for facts recorded only once the run starts."""

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1

    @property
    def matters(self) -> bool:
        """True if it differs and can change a result: not for an option at its default that another method lacks."""
        if self.kind != "options":
            return self.differs and (self.kind == "prompts" or self.name in _DECISIVE)
        used = {value for value in self.values if value is not None}
        return len(used) > 1 or (None in self.values and bool(used - {_DEFAULTS.get(self.name)}))


def conditions(
    runs: Sequence[Candidate], *, used: Callable[[str, Config, Task], bool], labels: Mapping[str, str] | None = None
) -> tuple[Compared, ...]:
    """Return every condition, sorted by kind.

    used: true if an option has an effect, given the run's other options. labels: of runs, by id.
    """
    by_run = [_of(run, used, labels or {}) for run in runs]
    names = sorted(dict.fromkeys(name for each in by_run for name in each), key=_place)
    return tuple(
        Compared(kind=kind, name=name, values=tuple(each.get((kind, name)) for each in by_run)) for kind, name in names
    )


_KINDS = ("options", "data", "endpoint", "prompts", "versions")
_DECISIVE = {
    *("file", "target", "task", "inputs", "labels", "descriptions", "parted by", "training rows", "test rows"),
    *("rows and split as used, SHA-256", "goes on from"),
    *("model", "optimizer_model", "gguf", "structured", "reasoning_effort", "demo"),
}
"""Facts of data, endpoint and versions that can change a result; `demo` is the version of the demo model."""
_OPTIONS = {f.name: place for place, f in enumerate(fields(Config))}


def _place(name: Condition) -> tuple[int, int]:
    """Sort key: by kind, then options in the order of their declaration."""
    return _KINDS.index(name[0]), _OPTIONS.get(name[1], 0) if name[0] == "options" else 0


def _of(run: Candidate, used: Callable[[str, Config, Task], bool], labels: Mapping[str, str]) -> dict[Condition, str]:
    started, endpoint = run.view.started, run.snapshot.spec.endpoint
    kinds: dict[str, Mapping[str, Any]] = {
        "options": {
            **{name: getattr(run.config, name) for name in _OPTIONS if used(name, run.config, run.dataset.task)},
            "particles": run.config.size,
            "steps": run.config.epochs * ceil(len(run.dataset.train) / run.config.batch_size),
        },
        "data": _data(run, labels),
        "endpoint": {f.name: getattr(endpoint, f.name) for f in fields(EndpointSpec)},
    }
    if started:
        templates = {f"{role} template, SHA-256": sha[:HASHED] for role, sha in started.templates.items()}
        kinds |= {"prompts": {**templates, "seed sentence": started.seed_text}, "versions": started.versions}
    return {(kind, name): _text(value) for kind, values in kinds.items() for name, value in values.items()}


def _data(run: Candidate, labels: Mapping[str, str]) -> dict[str, Any]:
    data, spec = run.dataset, run.snapshot.spec.dataset
    file, earlier = data.provenance, run.snapshot.spec.started_from
    return {
        "file": file.file,
        "file, SHA-256": file.sha256[:HASHED],
        "rows in the file": file.n_rows,
        "rows without a target": file.n_unlabelled,
        "labelled rows not used": file.n_left_out,
        "target": data.target,
        "task": data.task,
        "inputs": data.inputs,
        "labels": data.classes,
        **({"descriptions": tuple(map(": ".join, data.descriptions.by_key.items()))} if data.descriptions else {}),
        "parted by": file.split,
        "training rows": len(data.train),
        "test rows": len(data.test),
        "rows and split as used, SHA-256": str(spec["fingerprint"])[:HASHED],
        "goes on from": labels.get(earlier, earlier) or "no run",
    }


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


_DEFAULTS = {name: _text(getattr(Config(), name)) for name in _OPTIONS}
