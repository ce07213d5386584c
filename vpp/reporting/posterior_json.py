"""posterior.json: the result of a run, for other programs. docs/posterior-json.md says what each field means.

A record stands on a line of its own, so that the file can be searched and compared line by line. JSON has no infinity:
a log-likelihood of -inf is the string "-Infinity", as in the journal.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from vpp.findings.genealogy import Genealogy, genealogy
from vpp.findings.ideas import Idea, Ideas, merge_ideas, nearness
from vpp.findings.points import Point, points, possible_labels, possible_range, reject_option
from vpp.findings.result import finite, result
from vpp.findings.ruled_out import Occasion, RuledOut, ruled_out
from vpp.findings.scores import Score, weighed_log_likelihoods
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView, priors
from vpp.settings import Config

SCHEMA_VERSION = 2
MOST_ROWS = 10
"""Rows written that speak against a hypothesis, the worst first; the journal has all."""
DIGITS = 9
"""Decimals of similarities."""
OCCASION = (
    "step", "particles", "log_likelihood", "log_likelihood_proposal", "log_likelihood_heaviest", "log_alpha", "u",
    "exponent", "weight", "n_rows",
)  # fmt: skip
"""Fields of an occasion that the file has under the same names."""
Json = dict[str, Any]


def posterior_json(reader: RunReader) -> bytes:
    fields = (f"  {_dumped(key)}: {_field(value)}" for key, value in finite(_content(reader)).items())
    return ("{\n" + ",\n".join(fields) + "\n}\n").encode(errors="replace")


def _content(reader: RunReader) -> Json:
    snapshot, dataset = reader.refresh(), reader.dataset()
    view, spec, started = snapshot.view, snapshot.spec, snapshot.view.started
    ideas, family, test = merge_ideas(view, dataset), genealogy(view), view.evaluated.get("test")
    reject = reject_option(view, spec.config, dataset, of=test)
    near = nearness(ideas, dataset) if ideas else None
    found = {**result(reader.directory, view), "status": snapshot.state}
    return {
        "schema": SCHEMA_VERSION,
        "name": spec.name,
        "step": view.last_step,
        "seed_text": started.seed_text if started else None,
        "weights_are": _weights_are(view, spec.config),
        "ideas_are_by": ideas.by if ideas else None,
        "rows_compared": ideas.n_rows if ideas else 0,
        "ideas": [_idea(idea) for idea in ideas] if ideas else [],
        "similarity": near.similarity.round(DIGITS).tolist() if near else [],
        "particles": list(_particles(view, ideas)),
        "lineage": [_lineage(family, slot) for slot in range(view.size)] if family else [],
        "texts": _texts(family) if family else {},
        "ruled_out": [_ruled_out(each) for each in ruled_out(view, dataset)],
        "disagreement": [_point(point) for point in points(test, dataset, reject)] if test else [],
        **{name: found[name] for name in ("weights", "noise", "ess", "constant", "undecided")},
        "settings": started.config if started else {},
        "models": started.models if started else {},
        "templates": started.templates if started else {},
        "versions": started.versions if started else {},
        "dataset": spec.dataset,
        "result": found,
    }


def _particles(view: RunView, ideas: Ideas | None) -> Iterator[Json]:
    log_likelihoods, before = weighed_log_likelihoods(view), priors(view)
    for slot, (state, weight) in enumerate(zip(view.population, view.weights, strict=True)):
        yield {
            "particle": slot,
            "weight": weight,
            "prior": before[slot] if before else None,
            "hypothesis": state.hypothesis,
            "text": view.texts[state.hypothesis],
            "idea": ideas.of_slot(slot) if ideas else None,
            "parent": state.parent,
            "log_likelihood": log_likelihoods[slot],
            "noise": _noise(ideas, slot),
        }


def _noise(ideas: Ideas | None, slot: int) -> Json | None:
    found = ideas.all[ideas.of_slot(slot)].noise if ideas else None
    return asdict(found) if found else None


def _texts(family: Genealogy) -> dict[str, str]:
    lines = (family.ancestry(node.slot) for node in family.last)
    return {node.hypothesis: node.text for line in lines for node in line if node.changed}


def _weights_are(view: RunView, config: Config) -> str | None:
    if not view.population:
        return None
    if view.final:
        return config.final_weights
    return "carried" if config.is_telescoping else "after_last_step" if config.is_weighted else "equal"


def _idea(idea: Idea) -> Json:
    return {
        "weight": idea.weight,
        "text": idea.text,
        "wordings": [
            {"text": w.text, "weight": w.weight, "first_step": w.first_step, "first_particles": w.first_slots}
            for w in idea.wordings
        ],
        "particles": idea.slots,
        "test": _score(idea.test),
        "train": _score(idea.train),
    }


def _score(score: Score | None) -> Json | None:
    return _fields(score, "n", "n_correct", "mse", "n_abstained") if score else None


def _fields(record: Any, *names: str) -> Json:
    return {name: getattr(record, name) for name in names}


def _lineage(family: Genealogy, slot: int) -> Json:
    line = family.ancestry(slot)
    founder = line[0].founder
    return {
        "particle": slot,
        "founder": {"step": founder.step, "particle": founder.slot},
        "path": [
            {"step": node.step, "particle": node.slot, "hypothesis": node.hypothesis, "happened": node.happened}
            | {"from_prior": node.is_afresh, "weight": node.weight}
            for node in line
            if node.changed
        ],
    }


def _ruled_out(out: RuledOut) -> Json:
    return {
        **_fields(out, "reason", "text", "why_unread", "held_by"),
        "occasions": [_occasion(occasion) for occasion in out.occasions],
    }


def _occasion(occasion: Occasion) -> Json:
    against = occasion.contradictions
    return {
        **_fields(occasion, *OCCASION),
        "n_against": len(against),
        "against": [
            {"row": each.row.id, "said": each.said, "true": each.row.target, "decisive": each.is_decisive}
            for each in against[:MOST_ROWS]
        ],
    }


def _point(point: Point) -> Json:
    is_label = isinstance(point.row.target, str)
    low, high = point.interval or (None, None)
    doubt = point.doubt if math.isfinite(point.doubt) else None
    return {
        "row": point.row.id,
        "true": point.row.target,
        "prediction": point.prediction,
        "uncertain": point.is_uncertain,
        "abstained": point.abstained,
        "shares": dict(point.shares) if is_label else None,
        "entropy_bits": doubt if is_label else None,
        "spread": None if is_label else doubt,
        "low": low,
        "high": high,
        **({"possible": list(possible_labels(point) or possible_range(point) or ())} if point.reject.conformal else {}),
    }


def _field(value: Any) -> str:
    """JSON of a field on one line; of a list of records or lists a line each."""
    if isinstance(value, list) and value and isinstance(value[0], dict | list):
        return "[\n" + ",\n".join(f"    {_dumped(each)}" for each in value) + "\n  ]"
    return _dumped(value)


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
