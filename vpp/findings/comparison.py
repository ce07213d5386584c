"""Runs side by side on the same test rows: scores, paired differences, the settings that differ, and cost.

Runs go by a letter. Losses are 0 or 1 for labels, squared errors in squared units of the target for numbers.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from string import ascii_uppercase
from typing import Any

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated, Votes
from vpp.findings.baselines import MODEL_NAMES, Baselines, SimpleModel
from vpp.findings.options import has_effect, name_of
from vpp.findings.scores import Score, rows_of, score, score_text
from vpp.findings.status import other_scores_text, steps_text
from vpp.posterior.metric import CHANCE, PairedDifference, paired_difference
from vpp.problem import losses_of
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.blocks import Block, Heading, Note, Say, Table
from vpp.show.words import (
    EQUAL,
    capitalised,
    counted,
    in_words,
    integer,
    interval_text,
    listed,
    number,
    p_text,
    percent,
    seconds,
)

CODES = ascii_uppercase
HASHED = 12
SIGN_TEST = (
    "p: how often a fair coin would split the rows on which the two differ at least as unevenly. One in twenty "
    "comparisons falls below 0.05 by chance, and another seed is another draw."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    id: str
    label: str
    """Name, method and time, as a reader picks it."""
    snapshot: Snapshot
    dataset: Dataset

    @property
    def view(self) -> RunView:
        return self.snapshot.view

    @property
    def config(self) -> Config:
        return self.snapshot.spec.config

    @property
    def test(self) -> Evaluated | None:
        return self.view.evaluated.get("test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    rows: tuple[Row, ...]
    answers: Votes
    """(N,) averaged predictions of a run, or answers of a simple model."""
    losses: tuple[float, ...]
    """(N,) an abstention is wrong, or an error of the range of the training targets."""
    score: Score


def standing(run: Candidate) -> Standing | None:
    test = run.test
    return _standing(rows_of(test, run.dataset), test.averaged, run.dataset) if test else None


def standing_of(model: SimpleModel, dataset: Dataset) -> Standing:
    return _standing(dataset.test, model.answers, dataset)


def _standing(rows: tuple[Row, ...], answers: Votes, dataset: Dataset) -> Standing:
    losses = losses_of(dataset, answers, [row.target for row in rows])
    return Standing(rows=rows, answers=answers, losses=tuple(losses.tolist()), score=score(answers, rows, dataset))


def same_rows(rows: Sequence[Row], others: Sequence[Row]) -> bool:
    """True for the same rows in any order: equal ids, targets and cells of the common columns."""
    by_id = {row.id: row for row in others}
    return len(rows) == len(others) and all(row.id in by_id and same_row(row, by_id[row.id]) for row in rows)


def same_row(row: Row, other: Row) -> bool:
    """True if the targets and all cells of at least one common column agree."""
    cells, others = dict(row.inputs), dict(other.inputs)
    shared = cells.keys() & others.keys()
    return bool(shared) and row.target == other.target and all(cells[name] == others[name] for name in shared)


def against(one: Standing, other: Standing) -> PairedDifference | None:
    """Paired difference of losses, `one` minus `other`; None if the rows differ."""
    if not same_rows(one.rows, other.rows):
        return None
    losses = {row.id: loss for row, loss in zip(other.rows, other.losses, strict=True)}
    return paired_difference(one.losses, [losses[row.id] for row in one.rows])


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Runs with their standings, relative to a reference run."""

    runs: tuple[Candidate, ...]
    reference: int
    standings: tuple[Standing | None, ...]
    """One a run; None before its test rows are evaluated."""

    @property
    def base(self) -> Candidate:
        return self.runs[self.reference]

    @cached_property
    def comparable(self) -> tuple[int, ...]:
        base, pairs = self.standings[self.reference], zip(self.runs, self.standings, strict=True)
        return tuple(
            place
            for place, (run, own) in enumerate(pairs)
            if own and base and run.dataset.target == self.base.dataset.target and same_rows(own.rows, base.rows)
        )

    @property
    def elsewhere(self) -> tuple[int, ...]:
        return tuple(i for i, own in enumerate(self.standings) if own is not None and i not in self.comparable)

    @property
    def unanswered(self) -> tuple[int, ...]:
        return tuple(place for place, own in enumerate(self.standings) if own is None)

    def difference(self, place: int) -> PairedDifference | None:
        own, base = self.standings[place], self.standings[self.reference]
        if own is None or base is None or place == self.reference or place not in self.comparable:
            return None
        return against(own, base)


def compare(runs: Sequence[Candidate], *, reference: int = 0) -> Comparison:
    return Comparison(runs=tuple(runs), reference=reference, standings=tuple(map(standing, runs)))


# What came out


def state_words(run: Candidate) -> str:
    """`finished`, or how far the run is: `running, 8 of 20 steps`."""
    state = run.snapshot.state
    return state if state == "finished" or not run.view.started else f"{state}, {steps_text(run.view)}"


def outcome(comparison: Comparison, simple: Baselines | None) -> Say:
    """Say which run is best, and what the best simple model reaches. simple: on the reference's test rows."""
    base, reference = comparison.standings[comparison.reference], CODES[comparison.reference]
    if base is None:
        why = "were not evaluated yet" if comparison.base.dataset.test else "do not exist"
        return Say(f"The test rows of {reference} {why}, so there is nothing to compare.")
    if len(comparison.comparable) == 1:
        return Say(f"{reference}: {_reached(base)}.")
    model = simple.best if simple else None
    beside = f" The best simple model reaches {score_text(model.score)}." if model else ""
    return Say(f"{_ranked(comparison, base)}{beside}")


def _ranked(comparison: Comparison, base: Standing) -> str:
    own = {place: comparison.standings[place] for place in comparison.comparable}
    errors = {place: standing.score.error if standing else math.inf for place, standing in own.items()}
    tied = [place for place in errors if math.isclose(errors[place], min(errors.values()), abs_tol=EQUAL)]
    who, reference = listed([CODES[place] for place in tied]), comparison.reference
    if reference in tied and len(tied) > 1:
        return f"{who} do equally well: {_reached(base)}."
    other = reference if reference not in tied else min(errors.keys() - set(tied), key=errors.__getitem__)
    is_better = f"{'is' if len(tied) == 1 else 'are'} {'better' if len(errors) == 2 else 'best'}"
    lead = f"Of {in_words(len(errors))} runs on the same test rows, " if len(errors) > 2 else ""
    best, second = own[tied[0]] or base, own[other] or base
    against_other = f"{_reached(best)}, against {score_text(second.score)} of {CODES[other]}"
    difference = against(best, second)
    return f"{lead}{who} {is_better}: {against_other}. {paired_sentence(difference) if difference else ''}".rstrip()


def _reached(own: Standing) -> str:
    rows = counted(own.score.n, "test row")
    if own.score.n_correct is not None:
        return f"right on {integer(own.score.n_correct)} of {rows} ({score_text(own.score)})"
    return f"mean squared error {score_text(own.score)} on {rows}"


def paired_sentence(difference: PairedDifference) -> str:
    """`Not significant: better on 5 rows, worse on 2 (p = 0.45).`"""
    better, worse = difference.better, difference.worse
    if better + worse == 0:
        return f"Neither is better on any of the {counted(difference.n, 'row')}."
    if better == worse:
        return f"Each is better on {integer(better)} of {counted(difference.n, 'row')}."
    significant = "Significant" if difference.p < CHANCE else "Not significant"
    lead = significant if better > worse else "Yet it is worse on more rows"
    return f"{lead}: better on {counted(better, 'row')}, worse on {integer(worse)} (p = {p_text(difference.p)})."


def standings(comparison: Comparison, simple: Baselines) -> Iterator[Block]:
    """Yield the runs with the reference's test rows, then the simple models, each against the reference."""
    base, reference = comparison.standings[comparison.reference], CODES[comparison.reference]
    if base is None:
        return
    is_label = base.score.n_correct is not None
    rows = [
        (f"{CODES[place]} · {comparison.runs[place].label}", *_standing_cells(own, comparison.difference(place)))
        for place in comparison.comparable
        if (own := comparison.standings[place])
    ]
    for model in simple.models:
        own = standing_of(model, comparison.base.dataset)
        rows.append((model_name(model), *_standing_cells(own, against(own, base))))
    score_head = ("right", "95 % interval") if is_label else ("mean squared error", "other scores")
    head = ("run or model", *score_head, f"better, worse than {reference}", "p")
    yield Heading("Result", f"{counted(base.score.n, 'test row')} · one line a run, then simple models")
    yield Table(head=head, rows=rows, right=(1, 2, 3, 4), name="Standings")
    left_out = f" {left_out_text(simple)}" if simple.left_out else ""
    yield Note(f"{SIGN_TEST} Simple models are fitted on {reference}’s training rows.{left_out}")


def _standing_cells(own: Standing, difference: PairedDifference | None) -> tuple[str, str, str, str]:
    """difference: from the reference; None for the reference itself."""
    n_right, n = own.score.n_correct, own.score.n
    scores = (score_text(own.score), other_scores_text(own.score))
    if n_right is not None:
        scores = (f"{integer(n_right)} of {integer(n)}, {percent(n_right / n, 1)}", interval_text(n_right, n))
    if difference is None:
        return (*scores, "", "")
    p = p_text(difference.p) if difference.better + difference.worse else ""
    return (*scores, f"{integer(difference.better)}, {integer(difference.worse)}", p)


def model_name(model: SimpleModel) -> str:
    if model.name == "constant":
        answer = model.answers[0]
        return f"Always {number(answer) if isinstance(answer, float) else f'“{answer}”'}"
    return capitalised(MODEL_NAMES[model.name])


def left_out_text(simple: Baselines) -> str:
    """Columns that the simple models leave out; empty if none."""
    columns = listed([f"{name} ({why})" for name, why in simple.left_out])
    return f"The simple models leave out {columns}." if columns else ""


def others(comparison: Comparison) -> Iterator[Note]:
    runs, reference = comparison.runs, CODES[comparison.reference]
    if elsewhere := [CODES[place] for place in comparison.elsewhere]:
        has, are = ("has", "is") if len(elsewhere) == 1 else ("have", "are")
        other = f"{has} other test rows than {reference} (another table, or another split of it)"
        yield Note(f"{listed(elsewhere)} {other} and {are} not compared with it.")
    if without := [CODES[place] for place in comparison.unanswered if not runs[place].dataset.test]:
        yield Note(f"{listed(without)} {'has' if len(without) == 1 else 'have'} no test rows.")
    if waiting := [f"{CODES[i]} ({state_words(runs[i])})" for i in comparison.unanswered if runs[i].dataset.test]:
        yield Note(f"Test rows not evaluated yet: {listed(waiting)}. They are evaluated when a run ends.")


# What differs


_SERVER = (
    "model", "optimizer_model", "gguf", "structured", "reasoning_effort", "learner_max_tokens", "optimizer_max_tokens",
    "context_length",
)  # fmt: skip
"""Fields of an endpoint that can change a result."""


def settings(runs: Sequence[Candidate], labels: Mapping[str, str] | None = None) -> dict[str, tuple[str, ...]]:
    """Return what differs and can change a result: values by name, one a run. labels: of runs, by id."""
    by_run = [{name: _text(value) for name, value in _settings_of(run, labels or {}).items()} for run in runs]
    used = {name for name, own in _OPTIONS.items() for run in runs if has_effect(own, run.config, run.dataset.task)}
    names = (name for name in by_run[0] if name not in _OPTIONS or name in used)
    found = {name: tuple(each.get(name, "unknown") for each in by_run) for name in names}
    return {name: values for name, values in found.items() if len({*values} - {"unknown"}) > 1}


def settings_block(comparison: Comparison, labels: Mapping[str, str]) -> Block | None:
    """Return a folded table; None for a single run."""
    if len(comparison.runs) == 1:
        return None
    differing = settings(comparison.runs, labels)
    if not differing:
        return Note("No setting differs that can change the result.")
    head, rows = ("setting", *CODES[: len(comparison.runs)]), [(name, *values) for name, values in differing.items()]
    return Table(head=head, rows=rows, fold=f"{counted(len(rows), 'setting')} that may explain the difference")


_OPTIONS = {
    name_of(each.name) if each.name != "prior" else "prior, in plain words": each.name for each in fields(Config)
}
"""Options of the method by their names in the table; `particles` stands there as K."""


def _settings_of(run: Candidate, labels: Mapping[str, str]) -> dict[str, Any]:
    config, spec, data = run.config, run.snapshot.spec, run.dataset
    facts: dict[str, Any] = {name: getattr(config, own) for name, own in _OPTIONS.items() if own != "particles"}
    facts |= {
        "hypotheses K": config.size,
        "file": data.provenance.file,
        "target": data.target,
        "task": data.task,
        "inputs": data.inputs,
        "kinds": tuple(f"{column.name} {column.kind}" for column in data.columns),
        "labels": data.classes,
        "descriptions": tuple(map(": ".join, data.descriptions.by_key.items())) if data.descriptions else "none",
        "split": data.provenance.split,
        "training rows": len(data.train),
        "test rows": len(data.test),
        "rows and split as used, SHA-256": str(spec.dataset["fingerprint"])[:HASHED],
        "goes on from": labels.get(spec.started_from, spec.started_from) or "no run",
        "characters shown of a cell": spec.cell_limit or "all",
        **{name.replace("_", " "): getattr(spec.endpoint, name) or "as usual" for name in _SERVER},
    }
    started = run.view.started
    facts |= {f"{role} template, SHA-256": sha[:HASHED] for role, sha in started.templates.items()} if started else {}
    facts["seed sentence"] = started.seed_text if started else "unknown"
    facts["demo model"] = started.versions.get("demo", "none") if started else "unknown"
    return facts


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def cost(comparison: Comparison) -> Table:
    head = ("run", "steps", "calls", "from the cache", "unreadable", "tokens in", "tokens out", "time")
    rows = []
    for code, run in zip(CODES, comparison.runs, strict=False):
        usage = run.snapshot.usage
        counts = (usage.calls, usage.cached, usage.unparsable, usage.prompt_tokens, usage.completion_tokens)
        rows.append((code, steps_text(run.view), *map(integer, counts), seconds(run.view.wall_s)))
    return Table(head=head, rows=rows, right=range(1, len(head)), fold="Cost: calls needed, cached or not")
