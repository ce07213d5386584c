"""posterior.json: what a run found, for other programs. docs/files.md says what each field means.

A record of a list stands on a line of its own, so that the file can be searched and compared line by line. JSON has no
infinity: a log-likelihood of -inf is the string "-Infinity", as in the journal.
"""

import json
from dataclasses import fields
from typing import Any

from pydantic_core import from_json, to_json

from vpp.findings.hypotheses import merge_ideas, particles, similarity
from vpp.findings.points import Point, figures, points, reject_option
from vpp.findings.result import result
from vpp.findings.ruled_out import RuledOut, ruled_out
from vpp.findings.verdict import run_verdict
from vpp.runs.journal import RunReader, Snapshot

SCHEMA_VERSION = 3
MOST_ROWS = 10
"""Rows written that speak against a hypothesis, the worst first; the journal has all."""
DIGITS = 9
"""Decimals of similarities."""
FIGURES = ("decision", "share", "entropy_bits", "spread", "low", "high")
"""Of labels, and of numbers."""
Json = dict[str, Any]


def posterior_json(reader: RunReader) -> bytes:
    content = from_json(to_json(_content(reader, reader.refresh()), inf_nan_mode="strings"))
    lines = (f"  {_text(key)}: {_field(value)}" for key, value in content.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode(errors="replace")


def _content(reader: RunReader, snapshot: Snapshot) -> Json:
    view, spec, dataset, started = snapshot.view, snapshot.spec, reader.dataset(), snapshot.view.started
    ideas, test = merge_ideas(view, dataset), view.evaluated.get("test")
    near = similarity(ideas, dataset)
    reject = reject_option(view, spec.config, dataset, of=test)
    return {
        "schema": SCHEMA_VERSION,
        "name": spec.name,
        "verdict": str(found) if (found := run_verdict(reader.directory, view)) else None,
        "step": view.last_step,
        "seed_text": started.seed_text if started else None,
        "compared_by": ideas.by if ideas.all else None,
        "rows_compared": len(ideas.rows),
        "hypotheses": [_record(each, "answers", "compared", text=each.text) for each in ideas.all],
        "similarity": [] if near is None else near.round(DIGITS).tolist(),
        "particles": particles(view, dataset),
        "ruled_out": list(map(_ruled_out, ruled_out(view, dataset))),
        "disagreement": [_point(point) for point in points(test, dataset, reject)] if test else [],
        **{name: getattr(started, name, {}) for name in ("config", "models", "templates", "versions")},
        "dataset": spec.dataset,
        "result": {**result(reader.directory, view), "status": snapshot.state},
    }


def _record(finding: Any, *leave_out: str, **more: Any) -> Json:
    own = {each.name: getattr(finding, each.name) for each in fields(finding) if each.name not in leave_out}
    return {**own, **more}


def _ruled_out(entry: RuledOut) -> Json:
    against = entry.contradictions
    rows = [_record(each, "row", row=each.row.id, true=each.row.target) for each in against[:MOST_ROWS]]
    unused = ("dataset", "scored", "rival")
    return _record(entry, *unused, n_rows=entry.n_rows, n_against=len(against), against=rows)


def _point(point: Point) -> Json:
    own = {"row": point.row.id, "true": point.row.target, "uncertain": point.is_uncertain}
    shares = {"shares": dict(point.shares) if point.is_label else None}
    return {**own, **shares, **dict.fromkeys(FIGURES), **figures(point)}


def _field(value: Any) -> str:
    """Return JSON of a field on one line; of a list of records or lists a line each."""
    if isinstance(value, list) and value and isinstance(value[0], dict | list):
        return "[\n" + ",\n".join(f"    {_text(each)}" for each in value) + "\n  ]"
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
