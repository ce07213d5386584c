"""Tables of the paper's experiments: a sweep's values beside the paper's own, from paper.json.

Accuracies are shown in percent.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import isclose
from statistics import fmean
from typing import Any

from vpp.bench.sweep import SWEPT_TASKS, VARIANTS, Outcome, SweepSpec, endpoint_text
from vpp.data.tasks import TASKS
from vpp.posterior.metric import deviation
from vpp.show.markup import markdown_table, markdown_text
from vpp.show.words import NBSP, counted, fixed, integer, number

HERE, PAPER = "yours", "paper"
NONE = "–"
"""Shown where the paper has no value, and for cells that have not been run."""
ONE_SEED = "1 seed"
SMALL = 0.005
"""Mean squared errors below this would be shown as 0.00."""
SPREAD = "Mean ± sample standard deviation (ddof = 1) over seeds."
BRACKETS = (HERE, "In brackets the number of your seeds.")

ROBUSTNESS_TASKS = ("linear", "two-circles", "contains-zero")
PATTERN_TASKS = ("sum-parity", "contains-zero")
CLASSIFICATION_TASKS = tuple(name for name, info in TASKS.items() if info.task != "regression")
TIMED = ("vml", "vml5", "mh", "smc")
CALLED = (*TIMED, "always-accept")
PAIR = {"mh": "MH", "smc": "SMC"}
METHODS = {
    "vml": "VML",
    "vml5": "VML×5 ensemble",
    "vml5-best": "VML×5 oracle",
    "vml5-train": "VML×5 best on train",
    **PAIR,
}
"""Titles of columns by their key: a method, or another value of `vml5`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of plain text; escaped when it is written."""

    title: str
    note: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    explains: tuple[tuple[str, str], ...] = ()
    """Sentences on a column, by its head, or on rows of yours."""
    labels: int = 2
    """Number of text columns at the left."""
    by_metric: bool = False
    """True if the numbers are the metric of a row's task."""

    @property
    def about(self) -> str:
        names = {*self.head, *(row[1].partition(",")[0] for row in self.rows)}
        return " ".join((self.note, *(words for name, words in self.explains if name in names)))


def markdown(table: Table) -> str:
    rows = [(task_label(row[0]) if table.by_metric and row[0] in TASKS else row[0], *row[1:]) for row in table.rows]
    head, *body = (tuple(map(markdown_text, row)) for row in (table.head, *rows))
    right = range(table.labels, len(table.head))
    return "\n\n".join(
        (f"## {markdown_text(table.title)}", markdown_text(table.about), markdown_table(head, body, right=right))
    )


def is_error(task: str) -> bool:
    """True if the task's metric is an error, so that lower is better."""
    return TASKS[task].task == "regression"


def task_label(task: str) -> str:
    """Return the task with its metric and an arrow towards better values."""
    return f"{task} (MSE{NBSP}↓)" if is_error(task) else f"{task} (accuracy, %{NBSP}↑)"


def value_text(value: float, *, is_error: bool) -> str:
    """Format a metric: `87.2` for an accuracy of 0.872, `2.43` for a mean squared error."""
    if not is_error:
        return fixed(100 * value, 1)
    return number(value, 2) if 0 < value < SMALL else fixed(value, 2)


def spread_text(task: str, values: Sequence[float]) -> str:
    """Format `87.2 ± 19.3 (3)`: mean, sample standard deviation (ddof = 1), number of seeds; or `87.2 (1 seed)`."""
    if not values:
        return NONE
    mean = value_text(fmean(values), is_error=is_error(task))
    if len(values) == 1:
        return f"{mean} ({ONE_SEED})"
    return f"{mean} ± {value_text(deviation(values), is_error=is_error(task))} ({len(values)})"


OF_FIVE = {"vml5-best": "oracle_best_test", "vml5-train": "best_on_train"}
"""Fields of an outcome of `vml5` that have a column of their own, by its key."""


class Results:
    """Outcomes of the finished cells, by task, method and seed."""

    def __init__(self, spec: SweepSpec, outcomes: Iterable[Outcome]) -> None:
        self.spec = spec
        self._by_cell = {(o.task, o.method, o.seed): o for o in outcomes}

    def tasks(self, among: Iterable[str] = TASKS) -> list[str]:
        return [task for task in among if task in self.spec.tasks]

    def seeds(self, tasks: Iterable[str]) -> list[tuple[str, int]]:
        return [(task, seed) for task in tasks for seed in range(self.spec.seeds)]

    def at(self, task: str, method: str, seed: int) -> Outcome | None:
        return self._by_cell.get((task, method, seed))

    def of(self, task: str, method: str) -> list[Outcome]:
        return [o for seed in range(self.spec.seeds) if (o := self.at(task, method, seed)) is not None]

    def by_seed(self, task: str, key: str) -> dict[int, float]:
        """Metrics on the test rows, of a method or another value of `vml5`."""
        found = {o.seed: getattr(o, OF_FIVE.get(key, "test")) for o in self.of(task, "vml5" if key in OF_FIVE else key)}
        return {seed: value for seed, value in found.items() if value is not None}

    def values(self, task: str, key: str) -> list[float]:
        return list(self.by_seed(task, key).values())

    def value(self, task: str, seed: int, key: str) -> str:
        value = self.by_seed(task, key).get(seed)
        return NONE if value is None else value_text(value, is_error=is_error(task))

    def individual(self, task: str, seed: int) -> str:
        five = self.at(task, "vml5", seed)
        return _join(value_text(v, is_error=is_error(task)) for v in (five.individual_test if five else ()))

    def means(self, task: str, methods: Iterable[str], field: str) -> dict[str, float]:
        """Mean of a field over seeds, by method that has been run."""
        return {method: fmean(getattr(o, field) for o in runs) for method in methods if (runs := self.of(task, method))}


def _join(values: Iterable[str]) -> str:
    return ", ".join(values) or NONE


@cache
def paper() -> dict[str, Any]:
    return dict(json.loads(files("vpp.bench").joinpath("paper.json").read_text(encoding="utf-8")))


def papers_table(label: str) -> dict[str, Any]:
    return dict(paper()["tables"][label])


def printed(label: str, task: str, column: str) -> str:
    """Return a cell of a table, or several in a list; a dash if the paper has none."""
    cell = papers_table(label).get(task, {}).get(column, NONE)
    return _join(cell) if isinstance(cell, list) else str(cell)


def _run(label: str, task: str, run: int) -> Any:
    runs = papers_table(label).get(task, ())
    return runs[run] if run < len(runs) else {}


def _in_text(measure: str, task: str) -> Any:
    return paper()["text"][measure].get(task)


def _beside(
    places: Iterable[Any],
    columns: Mapping[str, str],
    ours: Callable[..., str],
    theirs: Callable[..., str],
    **texts: Any,
) -> Table:
    """Return a table of two rows a place, yours and the paper's.

    places: tasks, or pairs of task and seed. columns: titles by key. ours, theirs: the cell of a key at a place.
    """
    rows: list[tuple[str, ...]] = []
    for place in places:
        task, *seed = (place,) if isinstance(place, str) else place
        source, run = (f"{HERE}, seed {seed[0]}", f"{PAPER}, run {seed[0] + 1}") if seed else (HERE, PAPER)
        rows.append((task, source, *(ours(key, task, *seed) for key in columns)))
        rows.append(("", run, *(theirs(key, task, *seed) for key in columns)))
    return Table(head=("task", "source", *columns.values()), rows=tuple(rows), **texts)


def _spreads(
    results: Results, keys: Mapping[str, str], label: str, among: Iterable[str] = TASKS, **texts: Any
) -> Table:
    """Return spreads over seeds by task, beside the paper's table `label`. keys: titles of the columns."""
    return _beside(
        results.tasks(among),
        keys,
        lambda key, task: spread_text(task, results.values(task, key)),
        lambda key, task: printed(label, task, key),
        by_metric=True,
        **texts,
    )


def main_results(results: Results) -> Table:
    return _spreads(
        results,
        METHODS,
        "tab:main_results",
        title="Main results on the test rows",
        note=SPREAD,
        explains=(
            BRACKETS,
            ("VML", "VML is Verbalized Machine Learning: one sentence, rewritten batch by batch."),
            ("VML×5 ensemble", "Of five runs of it (VML×5), the ensemble is the unweighted vote or mean."),
            ("VML×5 oracle", "The oracle is the best of the five on the test rows."),
            ("VML×5 best on train", "The run that is best on the training rows is not in the paper."),
            (
                HERE,
                "Your columns are dependent: VML is the first of the five runs of its seed, and MH and SMC start "
                "from the same hypotheses.",
            ),
        ),
    )


def mh_against_smc(results: Results) -> Table:

    def ours(key: str, task: str) -> str:
        if key == "winner":
            return _winner(task, *(results.values(task, method) for method in PAIR))
        values = results.values(task, key)
        return value_text(fmean(values), is_error=is_error(task)) if values else NONE

    return _beside(
        results.tasks(),
        {**PAIR, "winner": "winner"},
        ours,
        lambda key, task: printed("tab:mh_vs_smc", task, key),
        title="MH against SMC",
        note="Means over seeds without a significance test: compare the winner with the spreads above.",
        explains=((HERE, "With one seed of either method there is no winner."),),
        by_metric=True,
    )


def _winner(task: str, mh: Sequence[float], smc: Sequence[float]) -> str:
    if not (mh and smc):
        return NONE
    if min(len(mh), len(smc)) == 1:
        return "one seed"
    ours, theirs = fmean(mh), fmean(smc)
    if isclose(ours, theirs, rel_tol=0, abs_tol=1e-9):
        return "Tie"
    return "MH" if (ours < theirs) == is_error(task) else "SMC"


def robustness(results: Results) -> Table:
    return _beside(
        results.tasks(ROBUSTNESS_TASKS),
        {"vml5": "VML×5 individual runs", **PAIR},
        lambda key, task: results.individual(task, 0) if key == "vml5" else results.value(task, 0, key),
        lambda key, task: printed("tab:robustness", task, key),
        title="Robustness on one data set",
        note="Five individual VML runs next to MH and SMC, on the same data.",
        explains=((HERE, "Yours: the data of seed 0."),),
        by_metric=True,
    )


def accept_ablation(results: Results) -> Table:
    return _spreads(
        results,
        {"mh": "MH, with reject", "always-accept": "always-accept"},
        "tab:ablation_accept",
        title="With and without the accept step",
        note=f"{SPREAD} The paper reports three of the tasks, from separate runs.",
        explains=(BRACKETS, (HERE, "Both methods start from the same hypotheses.")),
    )


def particle_sweep(results: Results) -> Table:
    return _spreads(
        results,
        {"mh-k1": "K = 1", "mh-k3": "K = 3", "mh-k5": "K = 5", "mh": "K = 10"},
        "tab:ablation_K",
        SWEPT_TASKS,
        title="Number of particles",
        note=f"{SPREAD} MH on the three tasks on which the paper varies K; the paper's K = 10 is from separate runs.",
        explains=(BRACKETS,),
    )


def per_seed(results: Results) -> Table:
    return _beside(
        results.seeds(results.tasks()),
        METHODS,
        lambda key, task, seed: results.value(task, seed, key),
        lambda key, task, seed: _run("tab:per_seed", task, seed).get(key, NONE),
        title="Every seed",
        note="The paper does not give its seeds.",
        explains=((HERE, "Its run 1 does not correspond to your seed 0."),),
        by_metric=True,
    )


def individual_runs(results: Results) -> Table:
    return _beside(
        results.seeds(results.tasks()),
        {"vml5": "individual runs"},
        lambda _, task, seed: results.individual(task, seed),
        lambda _, task, seed: _join(_run("tab:vml_x5_full", task, seed)),
        title="The five runs of VML×5",
        note="Test metric of each of the five runs.",
        by_metric=True,
    )


def ess_by_step(results: Results) -> Table:
    theirs, ours = papers_table("tab:ess"), dict[str, dict[str, str]]()
    for task in results.tasks():
        if (run := results.at(task, "smc", 0)) and run.ess:
            numbers = {
                **{str(step): ess for step, ess in enumerate(run.ess)},
                "mean": fmean(run.ess),
                "min": min(run.ess),
            }
            ours[task] = {name: fixed(value) for name, value in numbers.items()}
    tasks = [task for task in results.tasks() if task in ours or task in theirs]
    names = {name for task in tasks for part in (ours, theirs) for name in part.get(task, ())}
    rows = [
        (name, *(str(part.get(task, {}).get(name, NONE)) for task in tasks for part in (ours, theirs)))
        for name in (*sorted(names - {"mean", "min"}, key=int), *(("mean", "min") if tasks else ()))
    ]
    return Table(
        title="Effective sample size of SMC by step",
        note="Before resampling. The paper prints eleven steps of one representative seed.",
        explains=((PAPER, "Yours: seed 0."),),
        head=("step", *(title for task in tasks for title in (task, PAPER))),
        rows=tuple(rows),
        labels=1,
    )


def unique_hypotheses(results: Results) -> Table:
    """Table of distinct texts; the paper's ranges are in app:smc_dynamics."""
    return _beside(
        results.tasks(),
        PAIR,
        lambda key, task: _join(f"{outcome.n_unique} of {outcome.K}" for outcome in results.of(task, key)),
        lambda key, task: (_in_text("unique", task) if key == "smc" else None) or NONE,
        title="Distinct hypotheses at the end",
        note="Different texts among the final particles; paraphrases count apart. The paper gives ranges over seeds.",
    )


def uncertain_points(results: Results) -> Table:
    """Table of uncertain points; the paper's numbers are in sec:exp_analysis."""
    return _beside(
        results.tasks(CLASSIFICATION_TASKS),
        PAIR,
        lambda key, task: _join(f"{each.uncertain} of {each.uncertain_of}" for each in results.of(task, key)),
        lambda key, task: (_in_text("uncertain", task) or {}).get(key, NONE),
        title="Test points on which the particles disagree",
        note="Points on which the particles' predictions differ, one number per seed. Regression has none: predicted "
        "numbers are almost never equal.",
    )


def final_hypotheses(results: Results) -> Table:
    """Table of the final hypotheses by seed; the paper's values are in sec:exp_analysis and app:smc_dynamics."""
    rows: list[tuple[str, ...]] = []
    for task in results.tasks(PATTERN_TASKS):
        for _, seed in results.seeds([task]):
            populations: list[str] = []
            for run in (results.at(task, method, seed) for method in PAIR):
                texts = f"{counted(run.n_unique, 'text')}, {counted(run.n_ideas, 'idea')}" if run else NONE
                populations += [texts, f"{run.uncertain} of {run.uncertain_of}" if run else NONE]
            vml = results.at(task, "vml", seed)
            final = f"{value_text(vml.test, is_error=False)} %: “{vml.last_text}”" if vml else NONE
            rows.append((task, f"{HERE}, seed {seed}", *populations, final))
        uncertain = _in_text("uncertain", task)
        texts = f"{_in_text('unique', task)} texts"
        rows.append(("", PAPER, NONE, uncertain["mh"], texts, uncertain["smc"], _in_text("single", task)))
    return Table(
        title="Final hypotheses",
        note="Texts: different wordings. Uncertain: test points on which the particles' predictions differ. The last "
        "column quotes the final sentence of single VML without its seed sentence. The paper gives a range of texts "
        "over seeds.",
        explains=((HERE, "Ideas, which only yours have: different predictions on the training and test rows."),),
        head=("task", "source", "MH", "MH uncertain", "SMC", "SMC uncertain", "VML's final sentence"),
        rows=tuple(rows),
        labels=7,
    )


def calls(results: Results) -> Table:
    """Table of calls per run; sec:exp_compute of the paper counts calls per step."""
    means = {task: results.means(task, CALLED, "calls") for task in results.tasks()}
    return Table(
        title="Calls per run, and ratio to VML",
        note="Mean over seeds, learner and optimizer together, cached or not, with the final evaluation. A text that "
        "has been evaluated before costs no calls, so runs with equal plans differ.",
        head=("task", *(VARIANTS[method].title for method in CALLED)),
        rows=tuple(
            (task, *(_with_ratio(row, method, lambda mean: integer(round(mean))) for method in CALLED))
            for task, row in means.items()
            if row
        ),
        labels=1,
    )


def wall_clock(results: Results) -> Table:
    ours = {task: results.means(task, TIMED, "wall_s") for task in results.tasks()}

    def text(value: float) -> str:
        return fixed(value, 1 if value < 100 else 0)

    def theirs(method: str, task: str) -> str:
        row = papers_table("tab:compute")[task]
        return _with_ratio({each: float(row[each]) for each in TIMED}, method, text)

    table = _beside(
        ours,
        {method: VARIANTS[method].title for method in TIMED},
        lambda method, task: _with_ratio(ours[task], method, text),
        theirs,
        title="Seconds per run, and ratio to VML",
        note="Mean running time over seeds. The paper ran its particles one after another. Its ratios per task are "
        "computed from its seconds; its mean ratio is as printed.",
        explains=(
            (
                HERE,
                "Yours: several cells run at a time, a round's calls are parallel, and the final evaluation counts.",
            ),
        ),
    )
    if not ours:
        return table
    ratios = [
        [row[method] / row["vml"] for row in ours.values() if row.get("vml") and method in row] for method in TIMED
    ]
    last = (
        ("mean ratio to VML", HERE, *(f"{fixed(fmean(each), 1)}×" if each else NONE for each in ratios)),
        ("", PAPER, *(f"{printed('tab:compute', 'mean ratio', method)}×" for method in TIMED)),
    )
    return replace(table, rows=(*table.rows, *last))


def _with_ratio(means: Mapping[str, float], method: str, text: Callable[[float], str]) -> str:
    if method not in means:
        return NONE
    mean, single = means[method], means.get("vml")
    return text(mean) + (f" ({fixed(mean / single, 1)}×)" if single else "")


def beyond_the_paper(results: Results) -> Table:
    variants = [VARIANTS[name] for name in results.spec.methods if VARIANTS[name].base]
    tasks = results.tasks()
    rows = [(v.name, v.about, *(_against_base(results, task, v.name, v.base) for task in tasks)) for v in variants]
    return Table(
        title="Beyond the paper",
        note="Mean on the test rows; then the difference to the base method, paired by seed, ± its standard error, and "
        "the number of seeds in brackets. Lower is better for MSE, higher for accuracy.",
        head=("variant", "description", *map(task_label, tasks)),
        rows=tuple(rows),
    )


def _against_base(results: Results, task: str, name: str, base: str) -> str:
    ours, theirs, error = results.by_seed(task, name), results.by_seed(task, base), is_error(task)
    if not ours:
        return NONE
    mean = value_text(fmean(ours.values()), is_error=error)
    differences = [value - theirs[seed] for seed, value in ours.items() if seed in theirs]
    if not differences:
        return f"{mean}; {base} not run"
    n, difference = len(differences), fmean(differences)
    words = f"{mean}; {'+' if difference > 0 else ''}{value_text(difference, is_error=error)}"
    spread = f" ± {value_text(deviation(differences) / n**0.5, is_error=error)} ({n})" if n > 1 else f" ({ONE_SEED})"
    return words + spread


_TABLES: tuple[tuple[Callable[[Results], Table], tuple[str, ...], tuple[str, ...]], ...] = (
    (main_results, TIMED, tuple(TASKS)),
    (mh_against_smc, ("mh", "smc"), tuple(TASKS)),
    (robustness, ("vml5", "mh", "smc"), ROBUSTNESS_TASKS),
    (accept_ablation, ("always-accept",), tuple(TASKS)),
    (particle_sweep, ("mh-k1", "mh-k3", "mh-k5"), SWEPT_TASKS),
    (per_seed, TIMED, tuple(TASKS)),
    (individual_runs, ("vml5",), tuple(TASKS)),
    (ess_by_step, ("smc",), tuple(TASKS)),
    (unique_hypotheses, ("mh", "smc"), tuple(TASKS)),
    (uncertain_points, ("mh", "smc"), CLASSIFICATION_TASKS),
    (final_hypotheses, ("vml", "mh", "smc"), PATTERN_TASKS),
    (calls, CALLED, tuple(TASKS)),
    (wall_clock, TIMED, tuple(TASKS)),
    (beyond_the_paper, tuple(name for name, variant in VARIANTS.items() if variant.base), tuple(TASKS)),
)
"""Each table, and the methods and tasks that it is about; not those that it only repeats for comparison."""


def tables(spec: SweepSpec, outcomes: Iterable[Outcome]) -> list[Table]:
    """Return the tables that the sweep has a method and a task of, in the paper's order; then the one beyond it."""
    results = Results(spec, list(outcomes))
    methods, tasks = set(spec.methods), set(spec.tasks)
    covered = (make(results) for make, some, of in _TABLES if methods & {*some} and tasks & {*of})
    return [table for table in covered if table.rows]


def inconsistencies() -> Table:
    return Table(
        title="Where the paper contradicts itself",
        note="Recalculated from its own numbers.",
        head=("place", "the paper says", "found"),
        rows=tuple(tuple(each.values()) for each in paper()["inconsistent"]),
        labels=3,
    )


def tables_markdown(spec: SweepSpec, outcomes: Sequence[Outcome]) -> str:
    parts = ["# The paper's experiments", *map(markdown_text, (*heading(spec, outcomes), paper()["prompts"]))]
    return "\n\n".join([*parts, *map(markdown, (*tables(spec, outcomes), inconsistencies()))]) + "\n"


def heading(spec: SweepSpec, outcomes: Sequence[Outcome]) -> list[str]:
    """Return paragraphs on the model, the settings and the limits of the numbers."""
    sizes, usual = spec.sizes, tuple(sorted(spec.versions.items()))
    sets = dict.fromkeys(outcome.versions for outcome in outcomes) or {usual: None}
    # Several if the software changed during the sweep.
    versions = "; and with ".join(", ".join(f"{name} {version}" for name, version in each) for each in sets)
    paragraphs = [
        f"Answered by {endpoint_text(spec.endpoint)}; the paper's numbers are from {paper()['model']}.",
        f"Preset {spec.preset}; {counted(spec.seeds, 'seed')} from 0, each with its own data; "
        f"{sizes.train} training and {sizes.test} test rows, {counted(sizes.epochs, 'epoch')}; "
        f"{len(outcomes)} of {len(spec.cells)} cells are finished; a missing value shows as {NONE}. "
        f"Made with {versions}.",
        "Times include the effect of any other work on the machine.",
    ]
    if spec.endpoint.is_demo:
        paragraphs[0] += (
            " The demo model is no language model: a small program that reads and writes plain English rules. Its "
            "numbers show that the methods work as programmed, not how well they do with a language model."
        )
    return paragraphs
