"""Every table of the paper's experiments for a sweep, and tables.md."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from vpp.bench.outcome import Outcome
from vpp.bench.run_tables import (
    CLASSIFICATION_TASKS,
    PATTERN_TASKS,
    TIMED,
    calls,
    ess_by_step,
    final_hypotheses,
    uncertain_points,
    unique_hypotheses,
    wall_clock,
)
from vpp.bench.score_tables import (
    ROBUSTNESS_TASKS,
    accept_ablation,
    beyond_the_paper,
    individual_runs,
    main_results,
    mh_against_smc,
    particle_sweep,
    per_seed,
    robustness,
)
from vpp.bench.sweep import SweepSpec, endpoint_text
from vpp.bench.table import NONE, Results, Table, markdown, paper
from vpp.bench.variants import SWEPT_TASKS, VARIANTS
from vpp.data.tasks import TASKS
from vpp.wording.escaping import markdown_text
from vpp.wording.words import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A table, and the methods and tasks that call for it."""

    make: Callable[[Results], Table]
    methods: tuple[str, ...]
    """Methods that this table is about; not those that it only repeats for comparison."""
    tasks: tuple[str, ...] = tuple(TASKS)

    @property
    def is_in_paper(self) -> bool:
        return self.make is not beyond_the_paper

    def is_wanted(self, spec: SweepSpec) -> bool:
        """True if the sweep has one of the methods and one of the tasks."""
        return not set(self.methods).isdisjoint(spec.methods) and not set(self.tasks).isdisjoint(spec.tasks)


_TABLES = (
    _Entry(make=main_results, methods=TIMED),
    _Entry(make=mh_against_smc, methods=("mh", "smc")),
    _Entry(make=robustness, methods=("vml5", "mh", "smc"), tasks=ROBUSTNESS_TASKS),
    _Entry(make=accept_ablation, methods=("always-accept",)),
    _Entry(make=particle_sweep, methods=("mh-k1", "mh-k3", "mh-k5"), tasks=SWEPT_TASKS),
    _Entry(make=per_seed, methods=TIMED),
    _Entry(make=individual_runs, methods=("vml5",)),
    _Entry(make=ess_by_step, methods=("smc",)),
    _Entry(make=unique_hypotheses, methods=("mh", "smc")),
    _Entry(make=uncertain_points, methods=("mh", "smc"), tasks=CLASSIFICATION_TASKS),
    _Entry(make=final_hypotheses, methods=("vml", "mh", "smc"), tasks=PATTERN_TASKS),
    _Entry(make=calls, methods=(*TIMED, "always-accept")),
    _Entry(make=wall_clock, methods=TIMED),
    _Entry(make=beyond_the_paper, methods=tuple(name for name, variant in VARIANTS.items() if variant.base)),
)


def tables(spec: SweepSpec, outcomes: Iterable[Outcome]) -> list[Table]:
    """Return the sweep's tables that have a row, in the paper's order, then the one beyond the paper."""
    results = Results(spec, outcomes)
    return [table for entry in _TABLES if entry.is_wanted(spec) and (table := entry.make(results)).rows]


def left_out(spec: SweepSpec) -> str:
    """Return `Not in this sweep: …` with the paper's tables that the sweep does not cover; else empty."""
    empty = Results(spec, ())
    titles = [entry.make(empty).title for entry in _TABLES if entry.is_in_paper and not entry.is_wanted(spec)]
    return f"Not in this sweep: {'; '.join(titles)}." if titles else ""


def tables_markdown(spec: SweepSpec, outcomes: Sequence[Outcome]) -> str:
    """Return tables.md."""
    parts = ["# The paper's experiments", *map(markdown_text, heading(spec, outcomes))]
    last = filter(None, [markdown_text(left_out(spec))])
    return "\n\n".join([*parts, *map(markdown, tables(spec, outcomes)), *last]) + "\n"


def heading(spec: SweepSpec, outcomes: Sequence[Outcome]) -> list[str]:
    """Return paragraphs on the model, the settings and the limits of the numbers."""
    sizes = spec.sizes
    paragraphs = [
        f"Answered by {endpoint_text(spec.endpoint)}; the paper's numbers are from {paper()['model']}.",
        f"Preset {spec.preset}; {counted(spec.seeds, 'seed')} from 0, each with its own data; "
        f"{sizes.train} training and {sizes.test} test rows, {counted(sizes.epochs, 'epoch')}; "
        f"{len(outcomes)} of {len(spec.cells)} cells are finished; a missing value shows as {NONE}. "
        f"Made with {_versions(spec, outcomes)}.",
        "Times include the effect of any other work on the machine.",
    ]
    if spec.endpoint.is_demo:
        paragraphs[0] += (
            " The demo model is no language model: a small program that reads and writes plain English rules. Its "
            "numbers show that the methods work as programmed, not how well they do with a language model."
        )
    return paragraphs


def _versions(spec: SweepSpec, outcomes: Sequence[Outcome]) -> str:
    """List the software versions of the runs; several sets if the software changed during the sweep."""
    sets = dict.fromkeys(outcome.versions for outcome in outcomes) or {tuple(sorted(spec.versions.items())): None}
    return "; and with ".join(", ".join(f"{name} {version}" for name, version in each) for each in sets)
