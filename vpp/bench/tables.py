"""Tables of the paper's experiments: a sweep's values beside the paper's own, from paper.json.

Accuracies are shown in percent.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import chain, product
from math import isclose
from statistics import fmean
from typing import Any

from vpp.bench.sweep import METHODS, PRESET, Outcome, SweepSpec, endpoint_text, setting_text
from vpp.bench.tasks import TASKS
from vpp.posterior.metric import deviation
from vpp.runs.asking import versions as software
from vpp.runs.spec import adapter
from vpp.show.blocks import Heading, Note, Table
from vpp.show.markup import markdown
from vpp.show.words import NBSP, counted, fixed, number

HERE, PAPER = "yours", "paper"
NONE = "–"  # shown where the paper has no value, and for cells that have not been run
SMALL = 0.005  # mean squared errors below this would be shown as 0.00
PATTERN_TASKS = ("sum-parity", "contains-zero")
TIMED = ("vml", "vml5", "mh", "smc")
PAIR = {"mh": "MH", "smc": "SMC"}
OF_FIVE = {"vml5-best": "oracle_best_test", "vml5-train": "best_on_train"}
"""Fields of an outcome of `vml5` that have a column of their own, by its key."""


Section = tuple[Heading, Table]
"""A table under its title and a note."""


def section(title: str, note: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, labels: int = 2) -> Section:
    """Return a table. labels: number of text columns at the left."""
    return Heading(title, note), Table(head=head, rows=tuple(rows), right=range(labels, len(head)), name=title)


def is_error(task: str) -> bool:
    """True if the task's metric is an error, so that lower is better."""
    return TASKS[task].task == "regression"


def value_text(task: str, value: float | None) -> str:
    """Format a metric: `87.2` for an accuracy of 0.872, `2.43` for a mean squared error; a dash for None."""
    if value is None:
        return NONE
    if not is_error(task):
        return fixed(100 * value, 1)
    return number(value, 2) if 0 < value < SMALL else fixed(value, 2)


def mean_text(task: str, values: Collection[float]) -> str:
    return value_text(task, fmean(values) if values else None)


class Results:
    """Outcomes of the finished cells, by task, method and seed."""

    def __init__(self, spec: SweepSpec, outcomes: Iterable[Outcome]) -> None:
        self.spec = spec
        self._cells = {(each["task"], each["method"], each["seed"]): each for each in outcomes}

    def tasks(self, among: Iterable[str] = TASKS) -> list[str]:
        return [task for task in among if task in self.spec.tasks]

    def at(self, task: str, method: str, seed: int) -> Outcome | None:
        return self._cells.get((task, method, seed))

    def of(self, task: str, method: str) -> list[Outcome]:
        return [cell for seed in range(self.spec.seeds) if (cell := self.at(task, method, seed))]

    def values(self, task: str, key: str) -> dict[int, float]:
        """Metrics on the test rows by seed, of a method or another value of `vml5`."""
        runs = self.of(task, "vml5" if key in OF_FIVE else key)
        return {run["seed"]: run[OF_FIVE.get(key, "test")] for run in runs}

    def seconds(self, task: str) -> dict[str, float]:
        """Mean running time over seeds, by method that has been run."""
        runs = {method: self.of(task, method) for method in METHODS}
        return {method: fmean(run["wall_s"] for run in each) for method, each in runs.items() if each}


def _join(values: Iterable[str]) -> str:
    return ", ".join(values) or NONE


@cache
def paper() -> dict[str, Any]:
    return dict(json.loads(files("vpp.bench").joinpath("paper.json").read_text(encoding="utf-8")))


def papers(label: str, task: str) -> Any:
    """Return a row of one of the paper's tables: by column, or a list with an entry a run; empty without one."""
    return paper()["tables"][label].get(task, {})


def papers_text(label: str, task: str, column: str, run: int | None = None) -> str:
    """Return a cell of a table, or several in a list; a dash if the paper has none."""
    row = papers(label, task) if run is None else dict(enumerate(papers(label, task))).get(run, {})
    cell = row.get(column, NONE) if isinstance(row, dict) else row
    return _join(cell) if isinstance(cell, list) else str(cell)


def spread(results: Results, key: str, task: str, _: int) -> str:
    """Format `87.2 ± 19.3 (3)`: mean, sample standard deviation (ddof = 1), number of seeds; or `87.2 (1 seed)`."""
    values = results.values(task, key).values()
    if len(values) < 2:
        return mean_text(task, values) + " (1 seed)" * len(values)
    return f"{mean_text(task, values)} ± {value_text(task, deviation(list(values)))} ({len(values)})"


def mean_or_winner(results: Results, key: str, task: str, _: int) -> str:
    if key != "winner":
        return mean_text(task, results.values(task, key).values())
    ours, theirs = (list(results.values(task, method).values()) for method in PAIR)
    if not (ours and theirs):
        return NONE
    if min(len(ours), len(theirs)) == 1:
        return "one seed"
    if isclose(fmean(ours), fmean(theirs), rel_tol=0, abs_tol=1e-9):
        return "Tie"
    return "MH" if (fmean(ours) < fmean(theirs)) == is_error(task) else "SMC"


def of_seed(results: Results, key: str, task: str, seed: int) -> str:
    return value_text(task, results.values(task, key).get(seed))


def runs_of_five(results: Results, key: str, task: str, seed: int) -> str:
    """List the runs of `vml5`, one by one; of another method give the one value."""
    if key != "vml5":
        return of_seed(results, key, task, seed)
    five = results.at(task, key, seed)
    return _join(value_text(task, value) for value in (five["individual_test"] if five else ()))


def distinct(results: Results, key: str, task: str, _: int) -> str:
    return _join(f"{run['n_unique']} of {run['K']}" for run in results.of(task, key))


def uncertain(results: Results, key: str, task: str, _: int) -> str:
    return _join(f"{run['uncertain']} of {run['uncertain_of']}" for run in results.of(task, key))


def running_time(results: Results, key: str, task: str, _: int) -> str:
    return _with_ratio(results.seconds(task), key)


def _with_ratio(means: Mapping[str, float], method: str) -> str:
    if method not in means:
        return NONE
    mean, single = means[method], means.get("vml")
    return fixed(mean, 1 if mean < 100 else 0) + (f" ({fixed(mean / single, 1)}×)" if single else "")


CELLS: Mapping[str, Callable[[Results, str, str, int], str]] = {
    "spread": spread,
    "winner": mean_or_winner,
    "seed": of_seed,
    "five": runs_of_five,
    "unique": distinct,
    "uncertain": uncertain,
    "seconds": running_time,
}
"""Text of a column's key at a task and a seed, which is 0 in tables without a line for each seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A table of two rows a place, yours and the paper's. A place is a task, or a task and a seed."""

    title: str
    note: str
    label: str
    """Label of the paper's table or section."""
    columns: dict[str, str]
    """Titles by key: a method, or another value of `vml5`."""
    ours: str = "spread"
    """A name of `CELLS`."""
    about: tuple[str, ...] = TIMED
    """Methods, without those that it only repeats."""
    tasks: tuple[str, ...] = tuple(TASKS)
    by_seed: bool = False
    has_metric: bool = True
    """True if the numbers are the metric of a row's task."""

    def of(self, results: Results) -> Section:
        rows: list[tuple[str, ...]] = []
        seeds = range(results.spec.seeds) if self.by_seed else range(1)
        for task, seed in product(results.tasks(self.tasks), seeds):
            metric = f" (MSE{NBSP}↓)" if is_error(task) else f" (accuracy, %{NBSP}↑)"  # the arrow: what is better
            source, run = (f"{HERE}, seed {seed}", f"{PAPER}, run {seed + 1}") if self.by_seed else (HERE, PAPER)
            ours = (CELLS[self.ours](results, key, task, seed) for key in self.columns)
            rows.append((f"{task}{metric if self.has_metric else ''}", source, *ours))
            rows.append(("", run, *(self._papers(task, key, seed) for key in self.columns)))
        return section(self.title, self.note, ("task", "source", *self.columns.values()), rows)

    def _papers(self, task: str, key: str, seed: int) -> str:
        if self.ours == "seconds":
            seconds = papers(self.label, task)
            return _with_ratio({each: float(seconds[each]) for each in TIMED}, key)
        return papers_text(self.label, task, key, seed if self.by_seed else None)


def comparison(name: str) -> Comparison:
    found: Comparison = adapter(Comparison).validate_python(paper()["comparisons"][name])
    return found


def ess_by_step(results: Results) -> Section:
    columns: dict[tuple[str, str], Mapping[str, str]] = {}
    for task in results.tasks():
        run, theirs = results.at(task, "smc", 0), papers("tab:ess", task)
        ess = run["ess"] if run else []
        ours = {str(step): fixed(value) for step, value in enumerate(ess)}
        if ess:
            ours |= {"mean": fixed(fmean(ess)), "min": fixed(min(ess))}
        if ours or theirs:
            columns |= {(task, HERE): ours, (task, PAPER): theirs}
    steps = {step for column in columns.values() for step in column} - {"mean", "min"}
    names = (*sorted(steps, key=int), "mean", "min") if columns else ()
    note = "Before resampling. The paper prints eleven steps of one representative seed. Yours: seed 0."
    head = ("step", *(task if source == HERE else PAPER for task, source in columns))
    rows = [(name, *(column.get(name, NONE) for column in columns.values())) for name in names]
    return section("Effective sample size of SMC by step", note, head, rows, labels=1)


def final_hypotheses(results: Results) -> Section:
    """Table of the final hypotheses by seed."""
    rows: list[tuple[str, ...]] = []
    for task in results.tasks(PATTERN_TASKS):
        for seed in range(results.spec.seeds):
            populations: list[str] = []
            for run in (results.at(task, method, seed) for method in PAIR):
                texts = f"{counted(run['n_unique'], 'text')}, {counted(run['n_ideas'], 'idea')}" if run else NONE
                populations += [texts, f"{run['uncertain']} of {run['uncertain_of']}" if run else NONE]
            vml = results.at(task, "vml", seed)
            final = f"{value_text(task, vml['test'])} %: “{vml['last_text']}”" if vml else NONE
            rows.append((task, f"{HERE}, seed {seed}", *populations, final))
        doubt = papers("sec:exp_analysis", task)
        texts = f"{papers_text('app:smc_dynamics', task, 'smc')} texts"
        rows.append(("", PAPER, NONE, doubt["mh"], texts, doubt["smc"], paper()["single"][task]))
    note = (
        "Texts: different wordings. Uncertain: test points on which the particles' predictions differ. The last "
        "column quotes the final sentence of single VML without its seed sentence. The paper gives a range of texts "
        "over seeds. Ideas, which only yours have: different predictions on the training and test rows."
    )
    head = ("task", "source", "MH", "MH uncertain", "SMC", "SMC uncertain", "VML's final sentence")
    return section("Final hypotheses", note, head, rows, labels=7)


def times(results: Results) -> Section:
    means = [row for task in results.tasks() if (row := results.seconds(task))]
    ratios = [[row[each] / row["vml"] for row in means if row.get("vml") and each in row] for each in TIMED]
    last = (
        ("mean ratio to VML", HERE, *(f"{fixed(fmean(each), 1)}×" if each else NONE for each in ratios)),
        ("", PAPER, *(f"{papers_text('tab:compute', 'mean ratio', method)}×" for method in TIMED)),
    )
    heading, table = comparison("times").of(results)
    return heading, replace(table, rows=(*table.rows, *last))


Part = tuple[Callable[[Results], Section], tuple[str, ...], tuple[str, ...]]
"""A table, the methods that it is about, and its tasks."""


def tables(spec: SweepSpec, outcomes: Iterable[Outcome]) -> list[Section]:
    """Return the tables that the sweep has a method and a task of, in the paper's order."""
    results = Results(spec, outcomes)

    def compared(*names: str) -> list[Part]:
        return [(each.of, each.about, each.tasks) for each in map(comparison, names)]

    every = [
        *compared("main", "against", "robustness", "accept", "particles", "seeds", "five"),
        (ess_by_step, ("smc",), tuple(TASKS)),
        *compared("unique", "uncertain"),
        (final_hypotheses, ("vml", "mh", "smc"), PATTERN_TASKS),
        (times, TIMED, tuple(TASKS)),
    ]
    covered = (
        make(results) for make, methods, tasks in every if {*methods} & {*spec.methods} and {*tasks} & {*spec.tasks}
    )
    return [(heading, table) for heading, table in covered if table.rows]


def claims() -> Section:
    head = ("the paper claims", "its figures", "demo model", "real model, programs", "real model, rows", "demo", "real")
    return _from_paper("Claim by claim", paper()["measured"], head, "claims")


def inconsistencies() -> Section:
    head = ("place", "the paper says", "found")
    return _from_paper("Where the paper contradicts itself", "Recalculated from its own numbers.", head, "inconsistent")


def _from_paper(title: str, note: str, head: tuple[str, ...], part: str) -> Section:
    return section(title, note, head, [tuple(each.values()) for each in paper()[part]], labels=len(head))


def tables_markdown(spec: SweepSpec, outcomes: Sequence[Outcome]) -> str:
    notes = map(Note, (*heading(spec, outcomes), paper()["prompts"]))
    blocks = [*notes, *chain(*tables(spec, outcomes), inconsistencies())]
    return f"# The paper's experiments\n\n{markdown(blocks)}\n"


def heading(spec: SweepSpec, outcomes: Sequence[Outcome]) -> list[str]:
    """Return paragraphs on the model, the settings and the limits of the numbers."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(software().items()))
    demo = (
        " The demo model is no language model: a small program that reads and writes plain English rules. Its "
        "numbers show that the methods work as programmed, not how well they do with a language model."
    )
    programs = (
        " A program answers every row alike fast, so MH and SMC compare hypotheses on all training rows in every step; "
        "the paper's compare them on a batch and on the last rows."
    )
    return [
        f"Answered by {endpoint_text(spec.endpoint)}; the paper's numbers are from {paper()['model']}."
        f"{demo if spec.endpoint.is_demo else ''}",
        f"Preset {PRESET}; {counted(spec.seeds, 'seed')} from 0, each with its own data; "
        f"{setting_text(spec.setting)}; {len(outcomes)} of {len(spec.cells)} cells are finished; "
        f"a missing value shows as {NONE}. Made with {versions}; each run records its own."
        f"{'' if spec.setting.reading == 'rows' else programs}",
        "Times include the effect of any other work on the machine.",
    ]
