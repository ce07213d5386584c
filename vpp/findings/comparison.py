"""Runs side by side on the same test rows: scores, paired differences, and the settings that differ.

Runs go by a letter. Losses are 0 or 1 for labels, squared errors in squared units of the target for numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_uppercase
from typing import Any

from vpp.data.dataset import Dataset, Row
from vpp.events import Votes
from vpp.findings.baselines import MODEL_NAMES, Baselines, SimpleModel
from vpp.findings.options import OPTIONS, has_effect
from vpp.findings.scores import Score, other_scores_text, rows_of, score, score_text
from vpp.findings.status import steps_text
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
)

CODES = ascii_uppercase
HASHED = 12


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
    def standing(self) -> "Standing | None":
        test = self.view.evaluated.get("test")
        return standing_of(test.averaged, rows_of(test, self.dataset), self.dataset) if test else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    rows: tuple[Row, ...]
    losses: tuple[float, ...]
    """(N,) an abstention is wrong, or an error of the range of the training targets."""
    score: Score


def standing_of(answers: Votes, rows: tuple[Row, ...], dataset: Dataset) -> Standing:
    losses = losses_of(dataset, answers, [row.target for row in rows])
    return Standing(rows=rows, losses=tuple(losses.tolist()), score=score(answers, rows, dataset))


def same_rows(rows: Sequence[Row], others: Sequence[Row]) -> bool:
    """True for the same rows in any order: equal ids, targets and cells of the common columns, at least one."""

    def is_same(row: Row, other: Row) -> bool:
        cells, others = dict(row.inputs), dict(other.inputs)
        shared = cells.keys() & others.keys()
        return bool(shared) and row.target == other.target and all(cells[name] == others[name] for name in shared)

    by_id = {row.id: row for row in others}
    return len(rows) == len(others) and all(row.id in by_id and is_same(row, by_id[row.id]) for row in rows)


def against(one: Standing, other: Standing) -> PairedDifference:
    """Paired difference of losses, `one` minus `other`, on the same rows."""
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
    def comparable(self) -> Mapping[int, Standing]:
        """Standings of the runs with the reference's test rows, by place."""
        base, pairs = self.standings[self.reference], zip(self.runs, self.standings, strict=True)
        return {
            place: own
            for place, (run, own) in enumerate(pairs)
            if own and base and run.dataset.target == self.base.dataset.target and same_rows(own.rows, base.rows)
        }


def compare(runs: Sequence[Candidate], *, reference: int = 0) -> Comparison:
    return Comparison(runs=tuple(runs), reference=reference, standings=tuple(run.standing for run in runs))


# What came out


def state_words(run: Candidate) -> str:
    """`finished`, or how far the run is: `running, 8 of 20 steps`."""
    state = run.snapshot.state
    return state if state == "finished" or not run.view.started else f"{state}, {steps_text(run.view)}"


def outcome(comparison: Comparison, simple: Baselines | None) -> Say:
    """Say which run is best, and what the best simple model reaches. simple: on the reference's test rows."""
    reference, own = CODES[comparison.reference], comparison.comparable
    if not own:
        why = "were not evaluated yet" if comparison.base.dataset.test else "do not exist"
        return Say(f"The test rows of {reference} {why}, so there is nothing to compare.")
    if len(own) == 1:
        return Say(f"{reference}: {_reached(own[comparison.reference])}.")
    beside = f" The best simple model reaches {score_text(simple.best.score)}." if simple else ""
    return Say(f"{_ranked(comparison)}{beside}")


def _ranked(comparison: Comparison) -> str:
    own, reference = comparison.comparable, comparison.reference
    least = min(each.score.error for each in own.values())
    tied = [place for place, each in own.items() if each.score.error - least < EQUAL]
    best, who = own[tied[0]], listed([CODES[place] for place in tied])
    if reference in tied and len(tied) > 1:
        return f"{who} do equally well: {_reached(best)}."
    rest = [place for place in own if place not in tied]
    other = reference if reference in rest else min(rest, key=lambda place: own[place].score.error)
    is_better = f"{'is' if len(tied) == 1 else 'are'} {'better' if len(own) == 2 else 'best'}"
    lead = f"Of {in_words(len(own))} runs on the same test rows, " if len(own) > 2 else ""
    reached = f"{_reached(best)}, against {score_text(own[other].score)} of {CODES[other]}"
    return f"{lead}{who} {is_better}: {reached}. {paired_sentence(against(best, own[other]))}"


def _reached(own: Standing) -> str:
    rows = counted(own.score.n, "test row")
    if own.score.n_correct is not None:
        return f"right on {integer(own.score.n_correct)} of {rows} ({score_text(own.score)})"
    return f"mean squared error {score_text(own.score)} on {rows}"


def paired_sentence(difference: PairedDifference) -> str:
    """`Not significant: better on 5 rows, worse on 2 (p = 0.45).`"""
    better, worse = difference.better, difference.worse
    significant = "Significant" if difference.p < CHANCE else "Not significant"
    lead = significant if better >= worse else "Yet it is worse on more rows"
    return f"{lead}: better on {counted(better, 'row')}, worse on {integer(worse)} (p {p_text(difference.p)})."


def standings(comparison: Comparison, simple: Baselines) -> Iterator[Block]:
    """Yield the runs with the reference's test rows, then the simple models, each against the reference."""
    base, reference = comparison.comparable.get(comparison.reference), CODES[comparison.reference]
    if base is None:
        return
    dataset, named = comparison.base.dataset, comparison.comparable.items()
    rows = [(f"{CODES[place]} · {comparison.runs[place].label}", *_cells(own, base)) for place, own in named]
    for model in simple.models:
        rows.append((model_name(model), *_cells(standing_of(model.answers, dataset.test, dataset), base)))
    score_head = ("right", "95 % interval") if dataset.classes else ("mean squared error", "other scores")
    head = ("run or model", *score_head, f"better, worse than {reference}", "p")
    yield Heading("Result", f"{counted(base.score.n, 'test row')} · one line a run, then simple models")
    yield Table(head=head, rows=rows, right=(1, 2, 3, 4), name="Standings")
    yield Note(
        "p: how often a fair coin would split the rows on which the two differ at least as unevenly. Simple models are "
        f"fitted on {reference}’s training rows. {left_out_text(simple)}".rstrip()
    )


def _cells(own: Standing, base: Standing) -> tuple[str, str, str, str]:
    n_right, n = own.score.n_correct, own.score.n
    scores = (score_text(own.score), other_scores_text(own.score))
    if n_right is not None:
        scores = (f"{integer(n_right)} of {integer(n)}, {percent(n_right / n, 1)}", interval_text(n_right, n))
    if own is base:
        return (*scores, "", "")
    difference = against(own, base)
    p = p_text(difference.p).removeprefix("= ") if difference.better + difference.worse else ""
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
    runs, reference = list(zip(CODES, comparison.runs, comparison.standings, strict=False)), CODES[comparison.reference]
    compared = [CODES[place] for place in comparison.comparable]
    if elsewhere := [code for code, _, own in runs if own and code not in compared]:
        has, are = ("has", "is") if len(elsewhere) == 1 else ("have", "are")
        other = f"{has} other test rows than {reference} (another table, or another split of it)"
        yield Note(f"{listed(elsewhere)} {other} and {are} not compared with it.")
    if without := [code for code, run, _ in runs if not run.dataset.test]:
        yield Note(f"{listed(without)} {'has' if len(without) == 1 else 'have'} no test rows.")
    if waiting := [f"{code} ({state_words(run)})" for code, run, own in runs if run.dataset.test and not own]:
        yield Note(f"Test rows not evaluated yet: {listed(waiting)}. They are evaluated when a run ends.")


# What differs


_SERVER = (
    "model", "optimizer_model", "gguf", "structured", "reasoning_effort", "learner_max_tokens", "optimizer_max_tokens",
    "context_length",
)  # fmt: skip
"""Fields of an endpoint that can change a result."""


def settings(runs: Sequence[Candidate], labels: Mapping[str, str] | None = None) -> dict[str, tuple[str, ...]]:
    """Return what differs and can change a result: values by name, one a run. labels: of runs, by id."""
    used = [name for name in OPTIONS if any(has_effect(name, run.config, run.dataset.task) for run in runs)]
    by_run = [_settings_of(run, used, labels or {}) for run in runs]
    found = {name: tuple(str(each.get(name, "unknown")) for each in by_run) for name in by_run[0]}
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


def _settings_of(run: Candidate, used: Sequence[str], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return settings by the names in the table. used: options of the method that have an effect."""
    config, spec, data = run.config, run.snapshot.spec, run.dataset
    facts: dict[str, Any] = {OPTIONS[name].label: getattr(config, name) for name in used}
    facts |= {
        OPTIONS["particles"].label: config.size,
        "file": data.provenance.file,
        "target": data.target,
        "task": data.task,
        "inputs": ", ".join(data.inputs),
        "kinds": ", ".join(f"{column.name} {column.kind}" for column in data.columns),
        "labels": ", ".join(data.classes),
        "descriptions": ", ".join(map(": ".join, data.descriptions.by_key.items())) if data.descriptions else "none",
        "split": data.provenance.split,
        "training rows": len(data.train),
        "test rows": len(data.test),
        "rows and split as used, SHA-256": str(spec.dataset["fingerprint"])[:HASHED],
        "goes on from": labels.get(spec.started_from, spec.started_from) or "no run",
        "characters shown of a cell": spec.cell_limit or "all",
        **{name.replace("_", " "): getattr(spec.endpoint, name) or "as usual" for name in _SERVER},
    }
    if started := run.view.started:
        facts |= {f"{role} template, SHA-256": sha[:HASHED] for role, sha in started.templates.items()}
        facts |= {"seed sentence": started.seed_text, "demo model": started.versions.get("demo", "none")}
    return facts
