"""Tables of the metrics: main results, robustness, ablations, every seed, and variants beyond the paper."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from vpp.bench.table import (
    HERE,
    METHODS,
    NONE,
    ONE_SEED,
    PAIR,
    PAPER,
    Column,
    Results,
    Table,
    is_error,
    listed,
    paired,
    papers_table,
    printed,
    printed_run,
    row_pairs,
    signed,
    spread_text,
    task_label,
    value_text,
)
from vpp.bench.variants import SWEPT_TASKS, VARIANTS
from vpp.data.tasks import TASKS
from vpp.posterior.metric import deviation

ROBUSTNESS_TASKS = ("linear", "two-circles", "contains-zero")
SPREAD = "Mean ± sample standard deviation (ddof = 1) over seeds."
BRACKETS = (HERE, "In brackets the number of your seeds.")
TIED = 1e-9
"""Means closer than this are equal."""
_ACCEPT = (
    Column(key="mh", title="MH, with reject", method="mh"),
    Column(key="always-accept", title="always-accept", method="always-accept"),
)
_SWEPT = tuple(
    Column(key=name, title=f"K = {k}", method=name)
    for name, k in (("mh-k1", 1), ("mh-k3", 3), ("mh-k5", 5), ("mh", 10))
)


def main_results(results: Results) -> Table:
    """Table tab:main_results of the paper."""
    return Table(
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
        head=_head(METHODS),
        rows=_spreads(results, METHODS, "tab:main_results"),
        quiet="rows",
        by_metric=True,
    )


def mh_against_smc(results: Results) -> Table:
    """Table tab:mh_vs_smc of the paper."""
    rows: list[tuple[str, ...]] = []
    for task in results.tasks():
        values = [list(results.by_seed(task, column).values()) for column in PAIR]
        means = [value_text(fmean(each), is_error=is_error(task)) if each else NONE for each in values]
        rows.append((task, HERE, *means, _winner(task, *values)))
        rows.append(("", PAPER, *(printed("tab:mh_vs_smc", task, key) for key in ("mh", "smc", "winner"))))
    note = "Means over seeds without a significance test: compare the winner with the spreads above."
    one = ((HERE, "With one seed of either method there is no winner."),)
    head = ("task", "source", "MH", "SMC", "winner")
    return Table(
        title="MH against SMC", note=note, explains=one, head=head, rows=tuple(rows), quiet="rows", by_metric=True
    )


def _winner(task: str, mh: Sequence[float], smc: Sequence[float]) -> str:
    if not (mh and smc):
        return NONE
    if min(len(mh), len(smc)) == 1:
        return "one seed"
    ours, theirs = fmean(mh), fmean(smc)
    if ours == theirs or abs(ours - theirs) <= TIED:
        return "Tie"
    return "MH" if (ours < theirs) == is_error(task) else "SMC"


def robustness(results: Results) -> Table:
    """Table tab:robustness of the paper."""
    rows: list[tuple[str, ...]] = []
    for task in results.tasks(ROBUSTNESS_TASKS):
        rows.append((task, HERE, _individual(results, task, 0), *(_single(results, task, c, 0) for c in PAIR)))
        theirs = papers_table("tab:robustness")[task]
        rows.append(("", PAPER, ", ".join(theirs["vml5"]), theirs["mh"], theirs["smc"]))
    return Table(
        title="Robustness on one data set",
        note="Five individual VML runs next to MH and SMC, on the same data.",
        explains=((HERE, "Yours: the data of seed 0."),),
        head=("task", "source", "VML×5 individual runs", "MH", "SMC"),
        rows=tuple(rows),
        quiet="rows",
        by_metric=True,
    )


def _single(results: Results, task: str, column: Column, seed: int) -> str:
    value = results.by_seed(task, column).get(seed)
    return NONE if value is None else value_text(value, is_error=is_error(task))


def _individual(results: Results, task: str, seed: int) -> str:
    outcome = results.at(task, "vml5", seed)
    return listed(value_text(v, is_error=is_error(task)) for v in outcome.individual_test) if outcome else NONE


def accept_ablation(results: Results) -> Table:
    """Table tab:ablation_accept of the paper."""
    return Table(
        title="With and without the accept step",
        note=f"{SPREAD} The paper reports three of the tasks, from separate runs.",
        explains=(BRACKETS, (HERE, "Both methods start from the same hypotheses.")),
        head=_head(_ACCEPT),
        rows=_spreads(results, _ACCEPT, "tab:ablation_accept"),
        quiet="rows",
        by_metric=True,
    )


def particle_sweep(results: Results) -> Table:
    """Table tab:ablation_K of the paper."""
    return Table(
        title="Number of particles",
        note=f"{SPREAD} MH on the three tasks on which the paper varies K; the paper's K = 10 is from separate runs.",
        explains=(BRACKETS,),
        head=_head(_SWEPT),
        rows=_spreads(results, _SWEPT, "tab:ablation_K", SWEPT_TASKS),
        quiet="rows",
        by_metric=True,
    )


def per_seed(results: Results) -> Table:
    """Table tab:per_seed of the paper."""
    rows: list[tuple[str, ...]] = []
    for task in results.tasks():
        for seed in results.seeds:
            rows.append((task, f"{HERE}, seed {seed}", *(_single(results, task, c, seed) for c in METHODS)))
            theirs = (printed_run("tab:per_seed", task, seed, column.key) for column in METHODS)
            rows.append(("", f"{PAPER}, run {seed + 1}", *theirs))
    return Table(
        title="Every seed",
        note="The paper does not give its seeds.",
        explains=((HERE, "Its run 1 does not correspond to your seed 0."),),
        head=_head(METHODS),
        rows=tuple(rows),
        quiet="rows",
        by_metric=True,
    )


def individual_runs(results: Results) -> Table:
    """Table tab:vml_x5_full of the paper."""
    rows: list[tuple[str, ...]] = []
    theirs = papers_table("tab:vml_x5_full")
    for task in results.tasks():
        for seed in results.seeds:
            rows.append((task, f"{HERE}, seed {seed}", _individual(results, task, seed)))
            run = ", ".join(theirs[task][seed]) if seed < len(theirs[task]) else NONE
            rows.append(("", f"{PAPER}, run {seed + 1}", run))
    return Table(
        title="The five runs of VML×5",
        note="Test metric of each of the five runs.",
        head=("task", "source", "individual runs"),
        rows=tuple(rows),
        quiet="rows",
        by_metric=True,
    )


def beyond_the_paper(results: Results) -> Table:
    """Table of the variants beyond the paper, each next to its base."""
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
    ours, theirs = (results.by_seed(task, Column(key=m, title=m, method=m)) for m in (name, base))
    if not ours:
        return NONE
    mean = value_text(fmean(ours.values()), is_error=is_error(task))
    differences = paired(ours, theirs)
    if not differences:
        return f"{mean}; {base} not run"
    n = len(differences)
    difference = f"{mean}; {signed(fmean(differences), is_error=is_error(task))}"
    if n == 1:
        return f"{difference} ({ONE_SEED})"
    return f"{difference} ± {value_text(deviation(differences) / n**0.5, is_error=is_error(task))} ({n})"


def _spreads(
    results: Results, columns: Sequence[Column], label: str, among: Iterable[str] = TASKS
) -> tuple[tuple[str, ...], ...]:
    """Return spreads over seeds by task, and the rows of the paper's table `label`."""

    def spread(task: str, column: Column) -> str:
        return spread_text(list(results.by_seed(task, column).values()), is_error=is_error(task))

    return tuple(row_pairs(results.tasks(among), columns, spread, label))


def _head(columns: Sequence[Column]) -> tuple[str, ...]:
    return ("task", "source", *(column.title for column in columns))
