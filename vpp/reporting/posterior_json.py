"""posterior.json: what a run found, for other programs. docs/files.md says what each field means.

A record of a list stands on a line of its own, so that the file can be searched and compared line by line. JSON has no
infinity: a log-likelihood of -inf is the string "-Infinity", as in the journal.
"""

import json
from dataclasses import dataclass, fields
from typing import Annotated, Any

from pydantic import PlainSerializer, TypeAdapter
from pydantic_core import from_json, to_json

from vpp.findings.hypotheses import Basis, Idea, Particle, merge_ideas, particles, similarity
from vpp.findings.points import Point, evaluated_points, figures
from vpp.findings.result import result
from vpp.findings.ruled_out import RuledOut, ruled_out
from vpp.findings.verdict import run_verdict
from vpp.runs.directory import RunReader, Snapshot

SCHEMA_VERSION = 3
MOST_ROWS = 10
"""Rows written that speak against a hypothesis, the worst first; the journal has all."""
DIGITS = 9
"""Decimals of similarities."""
FIGURES = ("decision", "share", "entropy_bits", "spread", "low", "high")
"""Of labels, and of numbers."""
Json = dict[str, Any]


def _ruled_out(entry: RuledOut) -> Json:
    against = entry.contradictions
    rows = [
        {"row": each.row.id, "said": each.said, "true": each.row.target, "is_decisive": each.is_decisive}
        for each in against[:MOST_ROWS]
    ]
    unused = ("dataset", "scored", "rival")
    own = {each.name: getattr(entry, each.name) for each in fields(entry) if each.name not in unused}
    return {**own, "n_rows": entry.n_rows, "n_against": len(against), "against": rows}


def _point(point: Point) -> Json:
    own = {"row": point.row.id, "true": point.row.target, "uncertain": point.is_uncertain}
    shares = {"shares": dict(point.shares) if point.is_label else None}
    return {**own, **shares, **dict.fromkeys(FIGURES), **figures(point)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    schema: int = SCHEMA_VERSION
    name: str
    verdict: str | None
    step: int | None
    seed_text: str | None
    compared_by: Basis | None
    rows_compared: int
    hypotheses: tuple[Idea, ...]
    similarity: list[list[float]]
    particles: tuple[Particle, ...]
    ruled_out: tuple[Annotated[Any, PlainSerializer(_ruled_out)], ...]
    disagreement: tuple[Annotated[Any, PlainSerializer(_point)], ...]
    config: Json
    models: Json
    templates: Json
    versions: Json
    dataset: Json
    result: Json


_CONTENTS: TypeAdapter[Contents] = TypeAdapter(Contents)


def posterior_json(reader: RunReader) -> bytes:
    content = _CONTENTS.dump_python(_contents(reader, reader.refresh()))
    finite = from_json(to_json(content, inf_nan_mode="strings"))
    lines = (f"  {_text(key)}: {_field(value)}" for key, value in finite.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode(errors="replace")


def _contents(reader: RunReader, snapshot: Snapshot) -> Contents:
    view, spec, dataset, started = snapshot.view, snapshot.spec, reader.dataset(), snapshot.view.start
    ideas, test, verdict = merge_ideas(view, dataset), view.evaluations.get("test"), run_verdict(reader.directory, view)
    beginning: Json = {name: getattr(started, name, {}) for name in ("config", "models", "templates", "versions")}
    near = similarity(ideas, dataset)
    return Contents(
        name=spec.name,
        verdict=str(verdict) if verdict else None,
        step=view.last_step,
        seed_text=started.seed_text if started else None,
        compared_by=ideas.by if ideas.all else None,
        rows_compared=len(ideas.rows),
        hypotheses=ideas.all,
        similarity=[] if near is None else near.round(DIGITS).tolist(),
        particles=particles(view, dataset),
        ruled_out=ruled_out(view, dataset),
        disagreement=tuple(evaluated_points(test, view, spec.config, dataset)) if test else (),
        **beginning,
        dataset=spec.dataset,
        result={**result(reader.directory, view), "status": snapshot.state},
    )


def _field(value: Any) -> str:
    """Return JSON of a field on one line; of a list of records or lists a line each."""
    if isinstance(value, list) and value and isinstance(value[0], dict | list):
        return "[\n" + ",\n".join(f"    {_text(each)}" for each in value) + "\n  ]"
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
