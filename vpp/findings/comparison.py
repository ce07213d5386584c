"""Runs side by side on the same test rows: scores, paired differences, and the settings that differ.

Runs of one setting with different seeds are also one: their spread, the hypotheses that return, all weighed together.

Runs go by a letter. Losses are 0 or 1 for labels, squared errors in squared units of the target for numbers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property, partial
from string import ascii_uppercase
from typing import Any

from vpp.data.dataset import Dataset, Row
from vpp.errors import DataError, RunError
from vpp.events import Votes, hypothesis_id
from vpp.findings.baselines import MODEL_NAMES, Baselines, SimpleModel
from vpp.findings.hypotheses import Hypothesis, hypotheses_of, weight_cards
from vpp.findings.options import OPTIONS, has_effect
from vpp.findings.points import Score, other_scores_text, rows_of, score, score_text, totals
from vpp.findings.status import steps_text
from vpp.findings.verdict import Verdict, run_verdict
from vpp.posterior.metric import CHANCE, PairedDifference, paired_difference
from vpp.problem import losses_of
from vpp.runs.directory import RunDirectory, RunReader, Snapshot, read_view
from vpp.runs.group import Group
from vpp.runs.store import RunStore
from vpp.runs.view import RunView, constant_weight
from vpp.settings import CHAINS_OF_VML, Config
from vpp.show.blocks import Block, Heading, Note, Say, Table
from vpp.show.markup import CREDENTIALS
from vpp.show.words import (
    EQUAL,
    NOTICEABLE,
    capitalised,
    constant_text,
    counted,
    cut,
    from_to,
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


@dataclass(frozen=True, kw_only=True)
class Candidate:
    directory: RunDirectory
    label: str
    snapshot: Snapshot
    dataset: Dataset

    @property
    def id(self) -> str:
        return self.directory.id

    @property
    def view(self) -> RunView:
        return self.snapshot.view

    @property
    def config(self) -> Config:
        return self.snapshot.spec.config

    @cached_property
    def verdict(self) -> Verdict | None:
        return run_verdict(self.directory, self.view)

    @property
    def n_unknown(self) -> int | None:
        """Test rows answered with “I don’t know”; None for numbers, and before the run has ended."""
        return self.verdict.n_unknown if self.verdict and self.verdict.n_right is not None else None

    @cached_property
    def standing(self) -> "Standing | None":
        """None before the test rows are evaluated."""
        test = self.view.evaluations.get("test")
        return standing_of(test.averaged, rows_of(test, self.dataset), self.dataset) if test else None


def candidate(reader: RunReader, label: str = "") -> Candidate:
    snapshot, dataset = reader.refresh(), reader.dataset()
    return Candidate(directory=reader.directory, label=label or snapshot.spec.name, snapshot=snapshot, dataset=dataset)


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
    runs: Sequence[Candidate]
    reference: int = 0

    @property
    def base(self) -> Candidate:
        return self.runs[self.reference]

    @cached_property
    def comparable(self) -> Mapping[int, Standing]:
        """Standings of the runs with the reference's test rows, by place."""
        base, target = self.base.standing, self.base.dataset.target
        found = {place: run.standing for place, run in enumerate(self.runs) if run.dataset.target == target}
        return {place: own for place, own in found.items() if own and base and same_rows(own.rows, base.rows)}


# What came out


def state_words(run: Candidate) -> str:
    """`finished`, or how far the run is: `running, 8 of 20 steps`."""
    state = run.snapshot.state
    return state if state == "finished" or not run.view.start else f"{state}, {steps_text(run.view)}"


def outcome(comparison: Comparison, simple: Baselines | None) -> Say:
    """Say which run is best, and what the best simple model reaches. simple: on the reference's test rows."""
    reference, own = CODES[comparison.reference], comparison.comparable
    if not own:
        has_rows = bool(comparison.base.dataset.test)
        why = f"The test rows of {reference} were not evaluated yet" if has_rows else f"{reference} has no test rows"
        return Say(f"{why}, so there is nothing to compare.")
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


PAIRED_TEST = {
    "classification": "how often a fair coin would split the rows on which the two differ at least as unevenly",
    "regression": "how often chance would rank the differences in error as unevenly (Wilcoxon’s signed-rank test)",
}


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
        f"p of a line alone: {PAIRED_TEST[dataset.task]}; the verdict’s p is times the number of simple models, of "
        f"which it takes the best. They are fitted on {reference}’s training rows. {left_out_text(simple)}".rstrip()
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
        return f"Always {constant_text(model.answers[0])}"
    return capitalised(MODEL_NAMES[model.name])


def left_out_text(simple: Baselines) -> str:
    columns = listed([f"{name} ({why})" for name, why in simple.left_out])
    return f"The simple models leave out {columns}." if columns else ""


def others(comparison: Comparison) -> Iterator[Note]:
    runs, reference = dict(zip(CODES, comparison.runs, strict=False)), CODES[comparison.reference]
    compared = [CODES[place] for place in comparison.comparable]
    if elsewhere := [code for code, run in runs.items() if run.standing and code not in compared]:
        has, are = ("has", "is") if len(elsewhere) == 1 else ("have", "are")
        other = f"{has} other test rows than {reference} (another table, or another split of it)"
        yield Note(f"{listed(elsewhere)} {other} and {are} not compared with it.")
    if without := [f"{code} ({state_words(run)})" for code, run in runs.items() if not run.standing]:
        yield Note(f"Without evaluated test rows: {listed(without)}.")


# What differs


NEUTRAL = (
    "name", "command", "group", "prices", "cap", "config", "endpoint", "dataset", "templates",
    "demo_latency_ms", "concurrency", "timeout_s", "max_wait_s", "cache",
)  # fmt: skip
"""Fields of a run's spec and of its endpoint that change no result, or that `_settings_of` names by their parts."""
NAMES = {"started_from": ("goes on from", "no run"), "cell_limit": ("characters shown of a cell", "all")}
"""Names of fields on the page and what stands for an empty one, where these are not as usual."""
LONGEST = 60


def settings(runs: Sequence[Candidate]) -> dict[str, tuple[str, ...]]:
    """Return what differs and can change a result: values by name, one a run."""
    used = [name for name in OPTIONS if any(has_effect(name, run.config, run.dataset.task) for run in runs)]
    by_run = [_settings_of(run, used) for run in runs]
    found = {name: tuple(each.get(name, "unknown") for each in by_run) for name in by_run[0]}
    return {name: values for name, values in found.items() if len({*values} - {"unknown"}) > 1}


def settings_block(comparison: Comparison) -> Block | None:
    if len(comparison.runs) == 1:
        return None
    differing = settings(comparison.runs)
    if not differing:
        return Note("No setting differs that can change the result.")
    head, rows = ("setting", *CODES[: len(comparison.runs)]), [(name, *values) for name, values in differing.items()]
    return Table(head=head, rows=rows, fold=f"{counted(len(rows), 'setting')} that may explain the difference")


def _settings_of(run: Candidate, used: Sequence[str]) -> dict[str, str]:
    config, spec, data, started = run.config, run.snapshot.spec, run.dataset, run.view.start
    facts: dict[str, Any] = {OPTIONS[name].label: getattr(config, name) for name in used}
    facts |= {
        OPTIONS["particles"].label: config.size,
        "file": data.provenance.file,
        "target": data.target,
        "task": data.task,
        "inputs": ", ".join(data.inputs),
        "kinds": ", ".join(f"{column.name} {column.kind}" for column in data.columns),
        "labels": ", ".join(data.classes),
        "descriptions": ", ".join(map(": ".join, data.descriptions.named(data.target))) or "none",
        "split": data.provenance.split,
        "training rows": len(data.train),
        "test rows": len(data.test),
        "rows and split as used, SHA-256": str(spec.dataset["fingerprint"])[:HASHED],
    }
    for each in (spec.endpoint, spec):
        named = {field.name: getattr(each, field.name) for field in fields(each) if field.name not in NEUTRAL}
        for name, value in named.items():
            label, empty = NAMES.get(name, (name.replace("_", " "), "as usual"))
            facts[label] = value or empty
    if started:
        facts |= {f"{role} template, SHA-256": sha[:HASHED] for role, sha in started.templates.items()}
        facts |= {"seed sentence": started.seed_text, "demo model": started.versions.get("demo", "none")}
    return {name: _short(CREDENTIALS.sub("", str(value))) for name, value in facts.items()}


def _short(value: str) -> str:
    """Return a value, or the beginning of a long one with its hash."""
    return value if len(value) <= LONGEST else f"{cut(value, LONGEST)} ({hypothesis_id(value)})"


# Runs of one setting with different seeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    runs: Sequence[Candidate]
    pooled: Candidate | None
    """None until all runs have ended."""
    vml: Sequence[Score]
    """On the same test rows, of each run of VML by the same model; empty for a group of such runs."""

    @property
    def pooled_runs(self) -> list[Candidate]:
        ids = self.pooled.snapshot.spec.pooled if self.pooled else ()
        return [run for run in self.runs if run.id in ids]


def seeds(group: Group, read: Callable[[RunDirectory], RunReader] = RunReader) -> Seeds:
    """Read a group's runs, one at least. read: returns the reader of a run. Raises RunError."""
    runs, written = [candidate(read(run)) for run in group.runs], group.pooled
    vml = () if runs[0].config.method in CHAINS_OF_VML else tuple(_vml(runs[0]))
    return Seeds(runs=runs, pooled=candidate(read(written)) if written else None, vml=vml)


def _vml(beside: Candidate) -> Iterator[Score]:
    """Yield the score of each sentence of VML runs on the same rows, by the same models."""
    spec, dataset = beside.snapshot.spec, beside.dataset
    for run in RunStore(beside.directory.path.parent).runs():
        with suppress(RunError, DataError):
            other = run.spec()
            is_same = other.dataset["fingerprint"] == spec.dataset["fingerprint"]
            if is_same and other.config.method in CHAINS_OF_VML and other.endpoint.models == spec.endpoint.models:
                test = read_view(run.journal).evaluations.get("test")
                rows, votes = (rows_of(test, dataset), test.predictions) if test else ((), ())
                yield from (score(answers, rows, dataset) for answers in votes)


def weights_by_text(view: RunView) -> Mapping[str, float]:
    texts = (view.texts[state.hypothesis] for state in view.population)
    return totals(zip(texts, view.weights, strict=True))


def weights_in(each: Hypothesis, runs: Sequence[Candidate]) -> list[float]:
    """Return the weight of a hypothesis of the pooled run in each run; 0 where none of its texts is."""
    return [sum(weights_by_text(run.view).get(text.text, 0.0) for text in each.wordings) for run in runs]


def seeds_blocks(found: Seeds) -> Iterator[object]:
    """Yield the spread over the runs, VML's beside it, and the hypotheses of all runs weighed together."""
    scores = [standing.score for run in found.runs if (standing := run.standing)]
    unknown = [run.n_unknown for run in found.runs if run.n_unknown is not None]
    runs = f"{capitalised(in_words(len(found.runs)))} {'run' if len(found.runs) == 1 else 'runs'}"
    silent = [f"“I don’t know” on {_range(unknown)}"] if any(unknown) else []
    said = [_spread(scores), *silent, f"{_range([run.view.usage.calls for run in found.runs])} calls each"]
    yield Say(f"{runs} of one setting, with different seeds: {', '.join(said)}.")
    if n := len(found.vml):
        alone = "in one run" if n == 1 else f"in {in_words(n)} runs"
        yield Note(f"VML, one sentence without weights, by the same model, {alone}: {_spread(found.vml)}.")
    if pooled := found.pooled:
        yield Heading("Hypotheses of all runs", "weighed together, each different sentence once")
        every = hypotheses_of(pooled.view, pooled.dataset)
        more = partial(_returns, runs=found.pooled_runs)
        yield from weight_cards(every, pooled.view, pooled.config, pooled.dataset, more)


def _returns(each: Hypothesis, runs: Sequence[Candidate]) -> str:
    """`found by 2 of 5 seeds (2 and 4), with 96 % to 99 % of the weight`: by those that give it 1 % at least."""
    weights = {run.config.seed: weight for run, weight in zip(runs, weights_in(each, runs), strict=True)}
    noticed = {seed: weight for seed, weight in weights.items() if weight >= NOTICEABLE}
    if not noticed:
        return "under 1 % of the weight in each run"
    who = f"{len(noticed)} of {len(runs)} seeds ({listed([*noticed])})"
    who = ("the one seed" if len(runs) == 1 else f"all {len(runs)} seeds") if len(noticed) == len(runs) else who
    return f"found by {who}, with {from_to([percent(each) for each in sorted(noticed.values())])} of the weight"


def _spread(scores: Sequence[Score]) -> str:
    """`right on 49 to 57 of 60 test rows`, or `mean squared error 1.2 to 3.4`."""
    if not scores:
        return "no test row is evaluated"
    if scores[0].n_correct is None:
        return f"mean squared error {from_to([number(value, 3) for value in sorted(each.value for each in scores)])}"
    return f"right on {_range([each.n_correct or 0 for each in scores])} of {counted(scores[0].n, 'test row')}"


def _range(counts: Sequence[int]) -> str:
    return from_to([integer(count) for count in sorted(counts)])


def seeds_table(found: Seeds) -> Table:
    is_label = bool(found.runs[0].dataset.classes)
    rows = [
        (
            f"{run.config.seed}{'' if run.snapshot.state == 'finished' else f', {run.snapshot.state}'}",
            score_text(run.standing.score) if run.standing else "not evaluated",
            "" if run.n_unknown is None else integer(run.n_unknown),
            integer(run.view.usage.calls),
        )
        for run in found.runs
    ]
    head = ("seed", "right on test rows" if is_label else "mean squared error", "“I don’t know”", "calls")
    return Table(head=head, rows=rows, right=(1, 2, 3), name="Seeds")


def seeds_record(found: Seeds) -> dict[str, Any]:
    """Return JSON: each run, and the weight of each pooled hypothesis in each run that was pooled."""
    pooled, first = found.pooled, found.runs[0]

    def of(run: Candidate) -> dict[str, Any]:
        return {
            "run": run.id,
            "dir": str(run.directory.path),
            "status": run.snapshot.state,
            "accuracy" if run.dataset.classes else "mse": run.standing.score.value if run.standing else None,
            "undecided": run.n_unknown,
            "calls": run.view.usage.calls,
            "verdict": str(run.verdict) if run.verdict else None,
        }

    ideas = []
    for each in hypotheses_of(pooled.view, pooled.dataset) if pooled else ():
        weights = weights_in(each, found.pooled_runs)
        n = sum(weight >= NOTICEABLE for weight in weights)
        ideas.append({"text": each.words, "weight": each.weight, "runs": n, "weights": weights})
    sentences = {"weights": weights_by_text(pooled.view), "constant": constant_weight(pooled.view)} if pooled else {}
    return {
        "group": first.snapshot.spec.group,
        "runs": [{"seed": run.config.seed, **of(run)} for run in found.runs],
        "ideas": ideas,
        "pooled": pooled and {**of(pooled), **sentences},
        "vml": [each.value for each in found.vml],
    }
