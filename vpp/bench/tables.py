"""Every table of the paper's experiments from the finished cells, the paper's own values beside them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from vpp.bench import paper
from vpp.bench.outcome import Outcome
from vpp.bench.sweep import SweepSpec, told
from vpp.bench.table import (
    NOT_RUN,
    ONE_SEED,
    TIED,
    Table,
    deviation,
    listed,
    markdown,
    paired,
    signed,
    spread_text,
    value_text,
)
from vpp.bench.variants import SWEPT_TASKS, VARIANTS
from vpp.data.tasks import TASKS
from vpp.wording.escaping import markdown_text
from vpp.wording.words import NBSP, counted, fixed, integer

HERE, PAPER = "here", "paper"
ROBUSTNESS_TASKS = ("linear", "two-circles", "contains-zero")
PATTERN_TASKS = ("sum-parity", "contains-zero")
TIMED = ("vml", "vml5", "mh", "smc")
SPREAD = "Mean ± sample standard deviation (ddof = 1) over seeds; the number in brackets says how many."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """One way to read a method's outcomes."""

    key: str
    """As paper.json has it."""
    title: str
    method: str
    value: Callable[[Outcome], float | None] = lambda outcome: outcome.test


_METHODS = (
    _Column(key="vml", title="VML", method="vml"),
    _Column(key="vml5", title="VML×5 ensemble", method="vml5"),
    _Column(key="vml5-best", title="VML×5 oracle", method="vml5", value=lambda outcome: outcome.oracle_best_test),
    _Column(key="vml5-train", title="VML×5 best on train", method="vml5", value=lambda outcome: outcome.best_on_train),
    _Column(key="mh", title="MH", method="mh"),
    _Column(key="smc", title="SMC", method="smc"),
)
_PAIR = _METHODS[-2:]
_ACCEPT = (
    _Column(key="mh", title="MH, with reject", method="mh"),
    _Column(key="always-accept", title="always-accept", method="always-accept"),
)
_SWEPT = tuple(
    _Column(key=name, title=f"K = {k}", method=name)
    for name, k in (("mh-k1", 1), ("mh-k3", 3), ("mh-k5", 5), ("mh", 10))
)


class _Results:
    """Finished cells, found by task, method and seed."""

    def __init__(self, spec: SweepSpec, outcomes: Iterable[Outcome]) -> None:
        self.spec = spec
        self._by_cell = {(o.task, o.method, o.seed): o for o in outcomes}

    @property
    def seeds(self) -> range:
        return range(self.spec.seeds)

    def tasks(self, among: Iterable[str] = TASKS) -> list[str]:
        """Tasks of the sweep, in the paper's order."""
        return [task for task in among if task in self.spec.tasks]

    def at(self, task: str, method: str, seed: int) -> Outcome | None:
        return self._by_cell.get((task, method, seed))

    def of(self, task: str, method: str) -> list[Outcome]:
        """By seed."""
        return [o for seed in self.seeds if (o := self.at(task, method, seed)) is not None]

    def by_seed(self, task: str, column: _Column) -> dict[int, float]:
        found = {o.seed: column.value(o) for o in self.of(task, column.method)}
        return {seed: value for seed, value in found.items() if value is not None}


def tables(spec: SweepSpec, outcomes: Iterable[Outcome]) -> list[Table]:
    """Every table of which something was asked for and that has a row, in the paper's order; what is beyond it last."""
    results = _Results(spec, outcomes)
    return [table for each in _TABLES if each.is_asked_for(spec) and (table := each.make(results)).rows]


def left_out(spec: SweepSpec) -> str:
    """`Not in this sweep: …`, the tables of the paper of which nothing was asked for; empty where there are none."""
    nothing = _Results(spec, ())
    titles = [each.make(nothing).title for each in _TABLES if each.is_of_the_paper and not each.is_asked_for(spec)]
    return f"Not in this sweep: {'; '.join(titles)}." if titles else ""


def tables_markdown(spec: SweepSpec, outcomes: Sequence[Outcome]) -> str:
    """tables.md."""
    parts = ["# The paper's experiments", *map(markdown_text, heading(spec, outcomes))]
    last = filter(None, [markdown_text(left_out(spec))])
    return "\n\n".join([*parts, *map(markdown, tables(spec, outcomes)), *last]) + "\n"


def heading(spec: SweepSpec, outcomes: Sequence[Outcome]) -> list[str]:
    """What gave the numbers, and what they are not: a paragraph each."""
    sizes = spec.sizes
    paragraphs = [
        f"Answered by {told(spec.endpoint)}; the paper's numbers are of {paper.paper()['model']}.",
        f"Preset {spec.preset}; {counted(spec.seeds, 'seed')} from 0, each with data of its own; "
        f"{sizes.train} training and {sizes.test} test rows, {counted(sizes.epochs, 'epoch')}; "
        f"{len(outcomes)} of {len(spec.cells)} cells are finished. Made with {_versions(spec, outcomes)}.",
        "Times come from a machine that may have done other work at the same time.",
    ]
    if spec.endpoint.is_demo:
        paragraphs[0] += (
            " The demo model is not the paper's and is no language model: a small program that reads and writes plain "
            "English rules. Its numbers show that the methods work as programmed, not what a language model reaches."
        )
    return paragraphs


def _versions(spec: SweepSpec, outcomes: Sequence[Outcome]) -> str:
    """Of the runs themselves; more than one where the program changed under way."""
    found = dict.fromkeys(outcome.versions for outcome in outcomes) or {tuple(sorted(spec.versions.items())): None}
    return "; and with ".join(", ".join(f"{name} {version}" for name, version in each) for each in found)


def _is_error(task: str) -> bool:
    return TASKS[task].task == "regression"


def _named(task: str) -> str:
    return f"{task} (MSE{NBSP}↓)" if _is_error(task) else f"{task} (accuracy, %{NBSP}↑)"


def _both(
    tasks: Iterable[str], columns: Sequence[_Column], ours: Callable[[str, _Column], str], label: str
) -> Iterator[tuple[str, ...]]:
    """Two rows a task: here, and the paper's."""
    for task in tasks:
        yield (_named(task), HERE, *(ours(task, column) for column in columns))
        yield ("", PAPER, *(paper.printed(label, task, column.key) for column in columns))


def _spreads(results: _Results, columns: Sequence[_Column], label: str, among: Iterable[str] = TASKS) -> Table:
    """Title and note are the caller's."""

    def ours(task: str, column: _Column) -> str:
        return spread_text(list(results.by_seed(task, column).values()), is_error=_is_error(task))

    rows = tuple(_both(results.tasks(among), columns, ours, label))
    return Table(title="", note="", head=("task", "", *(c.title for c in columns)), rows=rows, quiet="rows")


def _titled(table: Table, title: str, note: str) -> Table:
    return Table(title=title, note=note, head=table.head, rows=table.rows, quiet=table.quiet, labels=table.labels)


def main_results(results: _Results) -> Table:
    """tab:main_results."""
    return _titled(
        _spreads(results, _METHODS, "tab:main_results"),
        "Main results on the test rows",
        f"{SPREAD} VML×5 is shown three ways: the unweighted ensemble, the oracle's best of five on test, which nobody "
        "can pick, and the one that is best on the training rows, which anybody can and the paper does not give. The "
        "columns are not independent: VML is the first of the five runs of its seed, and MH, SMC and always-accept "
        "start from the same hypotheses.",
    )


def mh_against_smc(results: _Results) -> Table:
    """tab:mh_vs_smc."""
    rows: list[tuple[str, ...]] = []
    for task in results.tasks():
        found = [list(results.by_seed(task, column).values()) for column in _PAIR]
        shown = [value_text(fmean(values), is_error=_is_error(task)) if values else NOT_RUN for values in found]
        rows.append((_named(task), HERE, *shown, _winner(task, *found)))
        rows.append(("", PAPER, *(paper.printed("tab:mh_vs_smc", task, key) for key in ("mh", "smc", "winner"))))
    note = (
        "Means over seeds; no test of significance: read the spreads above before believing a winner. One seed of "
        "either names none."
    )
    head = ("task", "", "MH", "SMC", "winner")
    return Table(title="MH against SMC", note=note, head=head, rows=tuple(rows), quiet="rows")


def _winner(task: str, mh: Sequence[float], smc: Sequence[float]) -> str:
    if not (mh and smc):
        return NOT_RUN
    if min(len(mh), len(smc)) == 1:
        return "one seed"
    ours, theirs = fmean(mh), fmean(smc)
    if ours == theirs or abs(ours - theirs) <= TIED:
        return "Tie"
    return "MH" if (ours < theirs) == _is_error(task) else "SMC"


def robustness(results: _Results) -> Table:
    """tab:robustness."""
    rows: list[tuple[str, ...]] = []
    for task in results.tasks(ROBUSTNESS_TASKS):
        rows.append((_named(task), HERE, _individual(results, task, 0), *(_single(results, task, c, 0) for c in _PAIR)))
        theirs = paper.table("tab:robustness")[task]
        rows.append(("", PAPER, ", ".join(theirs["vml5"]), theirs["mh"], theirs["smc"]))
    return Table(
        title="Robustness on one data set",
        note="Five individual VML runs beside MH and SMC, all on the data of seed 0.",
        head=("task", "", "VML×5 individual runs", "MH", "SMC"),
        rows=tuple(rows),
        quiet="rows",
    )


def _single(results: _Results, task: str, column: _Column, seed: int) -> str:
    value = results.by_seed(task, column).get(seed)
    return NOT_RUN if value is None else value_text(value, is_error=_is_error(task))


def _individual(results: _Results, task: str, seed: int) -> str:
    outcome = results.at(task, "vml5", seed)
    return listed(value_text(v, is_error=_is_error(task)) for v in outcome.individual_test) if outcome else NOT_RUN


def accept_ablation(results: _Results) -> Table:
    """tab:ablation_accept."""
    return _titled(
        _spreads(results, _ACCEPT, "tab:ablation_accept"),
        "With and without the accept step",
        f"{SPREAD} The paper gives three of the tasks, from runs of their own.",
    )


def particle_sweep(results: _Results) -> Table:
    """tab:ablation_K."""
    note = f"{SPREAD} MH on the three tasks on which the paper varies K; its K = 10 is of runs of their own."
    return _titled(_spreads(results, _SWEPT, "tab:ablation_K", SWEPT_TASKS), "Number of particles", note)


def per_seed(results: _Results) -> Table:
    """tab:per_seed."""
    rows: list[tuple[str, ...]] = []
    for task in results.tasks():
        for seed in results.seeds:
            rows.append((_named(task), f"{HERE}, seed {seed}", *(_single(results, task, c, seed) for c in _METHODS)))
            theirs = (paper.printed_run("tab:per_seed", task, seed, column.key) for column in _METHODS)
            rows.append(("", f"{PAPER}, run {seed + 1}", *theirs))
    return Table(
        title="Every seed",
        note="The paper's runs are anonymous, so its run 1 is not our seed 0: they stand side by side only.",
        head=("task", "", *(column.title for column in _METHODS)),
        rows=tuple(rows),
        quiet="rows",
    )


def individual_runs(results: _Results) -> Table:
    """tab:vml_x5_full."""
    rows: list[tuple[str, ...]] = []
    theirs = paper.table("tab:vml_x5_full")
    for task in results.tasks():
        for seed in results.seeds:
            rows.append((_named(task), f"{HERE}, seed {seed}", _individual(results, task, seed)))
            run = ", ".join(theirs[task][seed]) if seed < len(theirs[task]) else paper.NONE
            rows.append(("", f"{PAPER}, run {seed + 1}", run))
    return Table(
        title="The five runs of VML×5",
        note="Test metric of each of the five runs.",
        head=("task", "", "individual runs"),
        rows=tuple(rows),
        quiet="rows",
    )


def ess_by_step(results: _Results) -> Table:
    """tab:ess."""
    tasks = [task for task in results.tasks() if results.at(task, "smc", 0)]
    ours = {task: found.ess for task in tasks if (found := results.at(task, "smc", 0))}
    steps = max((len(ess) for ess in ours.values()), default=0)
    rows = [_ess_row(str(t), ours, lambda ess, t=t: ess[t] if t < len(ess) else None) for t in range(steps)]  # type: ignore[misc]
    summed = [_ess_row(name, ours, of) for name, of in (("mean", fmean), ("min", min))] if rows else []
    return Table(
        title="Effective sample size of SMC by step",
        note="Seed 0, before resampling; the paper's is one representative seed, of which it prints eleven steps.",
        head=("step", *(word for task in tasks for word in (task, PAPER))),
        rows=(*rows, *summed),
        quiet="columns",
        labels=1,
    )


def _ess_row(
    name: str, ours: Mapping[str, Sequence[float]], of: Callable[[Sequence[float]], float | None]
) -> tuple[str, ...]:
    cells = [name]
    for task, ess in ours.items():
        value = of(ess) if ess else None
        cells += [paper.NONE if value is None else fixed(value), paper.printed("tab:ess", task, name)]
    return tuple(cells)


def unique_hypotheses(results: _Results) -> Table:
    """app:smc_dynamics gives ranges."""
    return _a_number_a_seed(
        results,
        results.tasks(),
        lambda outcome: f"{outcome.n_unique} of {outcome.K}",
        lambda task: {"smc": paper.said("unique", task) or paper.NONE},
        title="Distinct hypotheses at the end",
        note="Different texts among the last particles, a number a seed; texts that say the same in other words count "
        "apart. The paper gives ranges.",
    )


def uncertain_points(results: _Results) -> Table:
    """sec:exp_analysis gives figures."""
    return _a_number_a_seed(
        results,
        results.tasks(_CLASSIFICATION),
        lambda outcome: f"{outcome.uncertain} of {outcome.uncertain_of}",
        lambda task: paper.said("uncertain", task) or {},
        title="Test points on which the particles disagree",
        note="Points on which not all particles answer alike, a number a seed. Numbers hardly ever agree to the digit, "
        "so regression has none.",
    )


def what_was_left(results: _Results) -> Table:
    """sec:exp_analysis and app:smc_dynamics: what the last particles say, seed by seed."""
    rows: list[tuple[str, ...]] = []
    for task in results.tasks(PATTERN_TASKS):
        rows += [(_named(task), f"{HERE}, seed {seed}", *_left(results, task, seed)) for seed in results.seeds]
        rows.append(("", PAPER, *_left_in_the_paper(task)))
    return Table(
        title="What was left at the end",
        note="Texts are different wordings, ideas are different answers on the training and test rows, uncertain are "
        "test points on which not all particles answer alike. Single VML ends with one sentence, quoted without its "
        "seed sentence. The paper counts texts as a range over seeds and does not count ideas.",
        head=("task", "", "MH", "MH uncertain", "SMC", "SMC uncertain", "VML ended with"),
        rows=tuple(rows),
        labels=7,
    )


def _left(results: _Results, task: str, seed: int) -> tuple[str, ...]:
    populations = [cell for column in _PAIR for cell in _population(results.at(task, column.method, seed))]
    single = results.at(task, "vml", seed)
    ended = f"{value_text(single.test, is_error=False)} %: “{single.last_text}”" if single else NOT_RUN
    return *populations, ended


def _population(outcome: Outcome | None) -> tuple[str, str]:
    if outcome is None:
        return NOT_RUN, NOT_RUN
    held = f"{counted(outcome.n_unique, 'text')}, {counted(outcome.n_ideas, 'idea')}"
    return held, f"{outcome.uncertain} of {outcome.uncertain_of}"


def _left_in_the_paper(task: str) -> tuple[str, ...]:
    uncertain, texts = paper.said("uncertain", task), paper.said("unique", task)
    return paper.NONE, uncertain["mh"], f"{texts} texts", uncertain["smc"], paper.said("single", task)


def _a_number_a_seed(
    results: _Results,
    tasks: Iterable[str],
    ours: Callable[[Outcome], str],
    theirs: Callable[[str], Mapping[str, str]],
    *,
    title: str,
    note: str,
) -> Table:
    """Of MH and SMC."""
    rows: list[tuple[str, ...]] = []
    for task in tasks:
        rows.append((_named(task), HERE, *(listed(map(ours, results.of(task, column.method))) for column in _PAIR)))
        rows.append(("", PAPER, *(theirs(task).get(column.key, paper.NONE) for column in _PAIR)))
    head = ("task", "", *(column.title for column in _PAIR))
    return Table(title=title, note=note, head=head, rows=tuple(rows), quiet="rows")


def calls(results: _Results) -> Table:
    """sec:exp_compute counts calls a step; these are whole runs."""
    methods = (*TIMED, "always-accept")
    rows = [_calls_of(results, task, methods) for task in results.tasks()]
    return Table(
        title="Calls a run, and how many times VML's",
        note="Mean over seeds, learner and optimizer together, cached or not; the final test and training rows are "
        "included. A text that was asked about before costs nothing, so runs of equal plans differ.",
        head=("task", *(VARIANTS[method].title for method in methods)),
        rows=tuple(rows),
        labels=1,
    )


def _calls_of(results: _Results, task: str, methods: Sequence[str]) -> tuple[str, ...]:
    """A task's row."""
    means = [fmean(o.calls for o in done) if (done := results.of(task, method)) else None for method in methods]
    single = means[0]
    cells = (
        NOT_RUN if mean is None else integer(round(mean)) + (f" ({mean / single:.1f}×)" if single else "")
        for mean in means
    )
    return _named(task), *cells


def wall_clock(results: _Results) -> Table:
    """tab:compute."""
    ours = {task: _seconds(results, task) for task in results.tasks()}
    theirs = {task: {m: float(paper.printed("tab:compute", task, m)) for m in TIMED} for task in ours}
    rows: list[tuple[str, ...]] = []
    for task in ours:
        rows.append((task, HERE, *_timed(ours[task])))
        rows.append(("", PAPER, *_timed(theirs[task])))
    if rows:
        rows.append(("mean ratio to VML", HERE, *(_mean_ratio(ours.values(), method) for method in TIMED)))
        rows.append(("", PAPER, *(f"{paper.printed('tab:compute', 'mean ratio', method)}×" for method in TIMED)))
    return Table(
        title="Seconds a run, and how many times VML's",
        note="Mean over seeds of a run's own time, its last test and training rows included. Cells of a sweep run "
        "beside each other here, all calls of a round at once; the paper ran its particles one after another. The "
        "paper's ratios by task are computed from its seconds; its mean ratio is as printed, though that of VML×5 "
        "comes to 4.9.",
        head=("task", "", *(VARIANTS[method].title for method in TIMED)),
        rows=tuple(rows),
        quiet="rows",
    )


def _seconds(results: _Results, task: str) -> dict[str, float]:
    return {m: fmean(o.wall_s for o in found) for m in TIMED if (found := results.of(task, m))}


def _timed(seconds: Mapping[str, float]) -> list[str]:
    return [
        f"{fixed(seconds[method], 1 if seconds[method] < 100 else 0)}{_times(seconds, method)}"
        if method in seconds
        else NOT_RUN
        for method in TIMED
    ]


def _times(seconds: Mapping[str, float], method: str) -> str:
    return f" ({fixed(seconds[method] / seconds['vml'], 1)}×)" if seconds.get("vml") else ""


def _mean_ratio(tasks: Iterable[Mapping[str, float]], method: str) -> str:
    ratios = [seconds[method] / seconds["vml"] for seconds in tasks if method in seconds and seconds.get("vml")]
    return f"{fixed(fmean(ratios), 1)}×" if ratios else NOT_RUN


def beyond_the_paper(results: _Results) -> Table:
    """Variants that the paper does not have."""
    variants = [VARIANTS[name] for name in results.spec.methods if VARIANTS[name].base]
    tasks = results.tasks()
    rows = [
        (v.name, v.about, *(_against_base(results, task, v.name, v.base) for task in tasks)) for v in variants
    ]  # fmt: skip
    return Table(
        title="Beyond the paper",
        note="Mean on the test rows; then the difference to the method it varies, paired by seed, ± its standard error "
        "(one seed has none), with the number of seeds in brackets. Under MSE less is better, under accuracy more.",
        head=("variant", "what it is", *map(_named, tasks)),
        rows=tuple(rows),
    )


def _against_base(results: _Results, task: str, name: str, base: str) -> str:
    ours, theirs = (results.by_seed(task, _Column(key=m, title=m, method=m)) for m in (name, base))
    if not ours:
        return NOT_RUN
    mean = value_text(fmean(ours.values()), is_error=_is_error(task))
    differences = paired(ours, theirs)
    if not differences:
        return f"{mean}; {base} {NOT_RUN}"
    n = len(differences)
    difference = f"{mean}; {signed(fmean(differences), is_error=_is_error(task))}"
    if n == 1:
        return f"{difference} ({ONE_SEED})"
    return f"{difference} ± {value_text(deviation(differences) / n**0.5, is_error=_is_error(task))} ({n})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A table, and what it stands or falls with."""

    make: Callable[[_Results], Table]
    methods: tuple[str, ...]
    """Its own: those of other tables too are not counted where a table only repeats them."""
    tasks: tuple[str, ...] = tuple(TASKS)

    @property
    def is_of_the_paper(self) -> bool:
        return self.make is not beyond_the_paper

    def is_asked_for(self, spec: SweepSpec) -> bool:
        """Whether one of the methods was, and one of the tasks."""
        return not set(self.methods).isdisjoint(spec.methods) and not set(self.tasks).isdisjoint(spec.tasks)


_CLASSIFICATION = tuple(task for task in TASKS if not _is_error(task))
_TABLES = (
    _Asked(make=main_results, methods=TIMED),
    _Asked(make=mh_against_smc, methods=("mh", "smc")),
    _Asked(make=robustness, methods=("vml5", "mh", "smc"), tasks=ROBUSTNESS_TASKS),
    _Asked(make=accept_ablation, methods=("always-accept",)),
    _Asked(make=particle_sweep, methods=("mh-k1", "mh-k3", "mh-k5"), tasks=SWEPT_TASKS),
    _Asked(make=per_seed, methods=TIMED),
    _Asked(make=individual_runs, methods=("vml5",)),
    _Asked(make=ess_by_step, methods=("smc",)),
    _Asked(make=unique_hypotheses, methods=("mh", "smc")),
    _Asked(make=uncertain_points, methods=("mh", "smc"), tasks=_CLASSIFICATION),
    _Asked(make=what_was_left, methods=("vml", "mh", "smc"), tasks=PATTERN_TASKS),
    _Asked(make=calls, methods=(*TIMED, "always-accept")),
    _Asked(make=wall_clock, methods=TIMED),
    _Asked(make=beyond_the_paper, methods=tuple(name for name, variant in VARIANTS.items() if variant.base)),
)
