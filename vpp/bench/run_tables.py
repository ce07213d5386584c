"""Tables of the runs: effective sample size, distinct hypotheses, uncertain points, calls and seconds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from vpp.bench.outcome import Outcome
from vpp.bench.table import (
    HERE,
    NONE,
    PAIR,
    PAPER,
    Results,
    Table,
    in_text,
    is_error,
    listed,
    papers_table,
    printed,
    value_text,
)
from vpp.bench.variants import VARIANTS
from vpp.data.tasks import TASKS
from vpp.wording.words import counted, fixed, integer

PATTERN_TASKS = ("sum-parity", "contains-zero")
CLASSIFICATION_TASKS = tuple(task for task in TASKS if not is_error(task))
TIMED = ("vml", "vml5", "mh", "smc")


def ess_by_step(results: Results) -> Table:
    """Table tab:ess of the paper."""
    ours = {task: run.ess for task in results.tasks() if (run := results.at(task, "smc", 0)) and run.ess}
    theirs = papers_table("tab:ess")
    tasks = [task for task in results.tasks() if task in ours or task in theirs]
    steps = {step for ess in ours.values() for step in range(len(ess))}
    steps |= {int(name) for task in tasks for name in theirs.get(task, ()) if name.isdigit()}
    names = [*map(str, sorted(steps)), *(("mean", "min") if tasks else ())]
    return Table(
        title="Effective sample size of SMC by step",
        note="Before resampling. The paper prints eleven steps of one representative seed.",
        explains=((PAPER, "Yours: seed 0."),),
        head=("step", *(title for task in tasks for title in (task, PAPER))),
        rows=tuple(
            (name, *(cell for t in tasks for cell in (_ess(ours.get(t, ()), name), printed("tab:ess", t, name))))
            for name in names
        ),
        quiet="columns",
        labels=1,
    )


def _ess(ess: Sequence[float], name: str) -> str:
    """ESS at a step, or its mean or minimum over steps; a dash for a run without weights."""
    if name in ("mean", "min"):
        return fixed(fmean(ess) if name == "mean" else min(ess)) if ess else NONE
    return fixed(ess[int(name)]) if int(name) < len(ess) else NONE


def unique_hypotheses(results: Results) -> Table:
    """Table of distinct texts; the paper's ranges are in app:smc_dynamics."""
    return _one_number_per_seed(
        results,
        results.tasks(),
        lambda outcome: f"{outcome.n_unique} of {outcome.K}",
        lambda task: {"smc": in_text("unique", task) or NONE},
        title="Distinct hypotheses at the end",
        note="Different texts among the final particles; paraphrases count apart. The paper gives ranges over seeds.",
    )


def uncertain_points(results: Results) -> Table:
    """Table of uncertain points; the paper's numbers are in sec:exp_analysis."""
    return _one_number_per_seed(
        results,
        results.tasks(CLASSIFICATION_TASKS),
        lambda outcome: f"{outcome.uncertain} of {outcome.uncertain_of}",
        lambda task: in_text("uncertain", task) or {},
        title="Test points on which the particles disagree",
        note="Points on which the particles' predictions differ, one number per seed. Regression has none: predicted "
        "numbers are almost never equal.",
    )


def final_hypotheses(results: Results) -> Table:
    """Table of the final hypotheses by seed; the paper's values are in sec:exp_analysis and app:smc_dynamics."""
    rows: list[tuple[str, ...]] = []
    for task in results.tasks(PATTERN_TASKS):
        rows += [(task, f"{HERE}, seed {seed}", *_final(results, task, seed)) for seed in results.seeds]
        rows.append(("", PAPER, *_papers_final(task)))
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


def _final(results: Results, task: str, seed: int) -> tuple[str, ...]:
    populations = [cell for column in PAIR for cell in _population(results.at(task, column.method, seed))]
    single = results.at(task, "vml", seed)
    final = f"{value_text(single.test, is_error=False)} %: “{single.last_text}”" if single else NONE
    return *populations, final


def _population(outcome: Outcome | None) -> tuple[str, str]:
    if outcome is None:
        return NONE, NONE
    texts = f"{counted(outcome.n_unique, 'text')}, {counted(outcome.n_ideas, 'idea')}"
    return texts, f"{outcome.uncertain} of {outcome.uncertain_of}"


def _papers_final(task: str) -> tuple[str, ...]:
    uncertain, texts = in_text("uncertain", task), in_text("unique", task)
    return NONE, uncertain["mh"], f"{texts} texts", uncertain["smc"], in_text("single", task)


def _one_number_per_seed(
    results: Results,
    tasks: Iterable[str],
    ours: Callable[[Outcome], str],
    theirs: Callable[[str], Mapping[str, str]],
    *,
    title: str,
    note: str,
) -> Table:
    """Return a table of one number per seed for MH and SMC."""
    rows: list[tuple[str, ...]] = []
    for task in tasks:
        rows.append((task, HERE, *(listed(map(ours, results.of(task, column.method))) for column in PAIR)))
        rows.append(("", PAPER, *(theirs(task).get(column.key, NONE) for column in PAIR)))
    head = ("task", "source", *(column.title for column in PAIR))
    return Table(title=title, note=note, head=head, rows=tuple(rows), quiet="rows")


def calls(results: Results) -> Table:
    """Table of calls per run; sec:exp_compute of the paper counts calls per step."""
    methods = (*TIMED, "always-accept")
    done = [task for task in results.tasks() if any(results.of(task, method) for method in methods)]
    rows = [_calls_of(results, task, methods) for task in done]
    return Table(
        title="Calls per run, and ratio to VML",
        note="Mean over seeds, learner and optimizer together, cached or not, with the final evaluation. A text that "
        "has been evaluated before costs no calls, so runs with equal plans differ.",
        head=("task", *(VARIANTS[method].title for method in methods)),
        rows=tuple(rows),
        labels=1,
    )


def _calls_of(results: Results, task: str, methods: Sequence[str]) -> tuple[str, ...]:
    means = [fmean(o.calls for o in done) if (done := results.of(task, method)) else None for method in methods]
    single = means[0]
    cells = (
        NONE if mean is None else integer(round(mean)) + (f" ({mean / single:.1f}×)" if single else "")
        for mean in means
    )
    return task, *cells


def wall_clock(results: Results) -> Table:
    """Table tab:compute of the paper."""
    ours = {task: _seconds(results, task) for task in results.tasks()}
    theirs = {task: {m: float(printed("tab:compute", task, m)) for m in TIMED} for task in ours}
    rows: list[tuple[str, ...]] = []
    for task in ours:
        rows.append((task, HERE, *_timed(ours[task])))
        rows.append(("", PAPER, *_timed(theirs[task])))
    if rows:
        rows.append(("mean ratio to VML", HERE, *(_mean_ratio(ours.values(), method) for method in TIMED)))
        rows.append(("", PAPER, *(f"{printed('tab:compute', 'mean ratio', method)}×" for method in TIMED)))
    return Table(
        title="Seconds per run, and ratio to VML",
        note="Mean running time over seeds. The paper ran its particles one after another. Its ratios per task are "
        "computed from its seconds; its mean ratio is as printed, although VML×5's comes to 4.9.",
        explains=(
            (
                HERE,
                "Yours: several cells run at a time, a round's calls are parallel, and the final evaluation counts.",
            ),
        ),
        head=("task", "source", *(VARIANTS[method].title for method in TIMED)),
        rows=tuple(rows),
        quiet="rows",
    )


def _seconds(results: Results, task: str) -> dict[str, float]:
    return {m: fmean(o.wall_s for o in outcomes) for m in TIMED if (outcomes := results.of(task, m))}


def _timed(seconds: Mapping[str, float]) -> list[str]:
    return [
        f"{fixed(seconds[method], 1 if seconds[method] < 100 else 0)}{_times(seconds, method)}"
        if method in seconds
        else NONE
        for method in TIMED
    ]


def _times(seconds: Mapping[str, float], method: str) -> str:
    return f" ({fixed(seconds[method] / seconds['vml'], 1)}×)" if seconds.get("vml") else ""


def _mean_ratio(tasks: Iterable[Mapping[str, float]], method: str) -> str:
    ratios = [seconds[method] / seconds["vml"] for seconds in tasks if method in seconds and seconds.get("vml")]
    return f"{fixed(fmean(ratios), 1)}×" if ratios else NONE
