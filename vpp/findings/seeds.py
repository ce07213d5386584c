"""Runs of one setting with different seeds: their spread, the hypotheses that return, and the runs pooled."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vpp.data.dataset import Dataset
from vpp.errors import VppError
from vpp.findings.hypotheses import hypotheses, merge_ideas, similarity
from vpp.findings.result import heaviest
from vpp.findings.scores import Score, averaged_score, rows_of, score, score_text, totals
from vpp.findings.verdict import Verdict, run_verdict
from vpp.runs.directory import RunDirectory, State
from vpp.runs.group import Group
from vpp.runs.reader import RunReader
from vpp.runs.spec import RunSpec
from vpp.runs.store import RunStore
from vpp.runs.view import RunView, constant_weight
from vpp.settings import CHAINS_OF_VML
from vpp.show.blocks import Block, Heading, Note, Say, Table
from vpp.show.words import NOTICEABLE, capitalised, counted, in_words, integer, number, percent, value_text

MOST = 8
"""Hypotheses in the table, those of most runs first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """One run of the group."""

    directory: RunDirectory
    number: int
    state: State
    view: RunView
    verdict: Verdict | None
    test: Score | None
    """Of the averaged prediction; None before the test rows are evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returning:
    """A hypothesis of the pooled run, or the constant answer, in the runs."""

    words: str
    weight: float
    """In the pooled run."""
    weights: tuple[float, ...]
    """In each run; 0 where it is not."""

    @property
    def noticed(self) -> list[float]:
        """Weights in the runs that give it a hundredth at least: there it counts as found."""
        return [weight for weight in self.weights if weight >= NOTICEABLE]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    group: str
    spec: RunSpec
    runs: tuple[Seed, ...]
    returning: tuple[Returning, ...] = ()
    """Those of most runs first; empty until all runs have ended."""
    pooled: Seed | None = None
    vml: tuple[Score, ...] = ()
    """On the same test rows, of each run of VML by the same model; empty for a group of such runs."""


def seeds(group: Group, read: Callable[[RunDirectory], RunReader] = RunReader) -> Seeds:
    """Read a group's runs, one at least. read: returns the reader of a run. Raises RunError."""
    runs, written = tuple(map(_seed, map(read, group.runs))), group.pooled
    reader = read(written) if written else None
    spec = runs[0].directory.spec()
    return Seeds(
        group=group.name,
        spec=spec,
        runs=runs,
        returning=tuple(_returning(reader, runs)) if reader else (),
        pooled=_seed(reader) if reader else None,
        vml=() if spec.config.method in CHAINS_OF_VML else tuple(_vml(group.folder, spec)),
    )


def _seed(reader: RunReader) -> Seed:
    snapshot = reader.refresh()
    test = snapshot.view.evaluated.get("test")
    return Seed(
        directory=reader.directory,
        number=snapshot.spec.config.seed,
        state=snapshot.state,
        view=snapshot.view,
        verdict=run_verdict(reader.directory, snapshot.view),
        test=averaged_score(test, reader.dataset()) if test else None,
    )


def weights_by_text(view: RunView) -> Mapping[str, float]:
    texts = (view.texts[state.hypothesis] for state in view.population)
    return totals(zip(texts, view.weights, strict=True))


def _returning(reader: RunReader, runs: Sequence[Seed]) -> list[Returning]:
    """Find each hypothesis of the pooled run, whose texts are alike on 95 % of the rows, in the runs."""
    view, dataset, pooled = reader.refresh().view, reader.dataset(), set(reader.directory.spec().pooled)
    views = [run.view for run in runs if run.directory.id in pooled]
    ideas = merge_ideas(view, dataset)
    if ideas is None:
        return []
    shares = [weights_by_text(each) for each in views]
    every = hypotheses(ideas, similarity(ideas, dataset), seed_text=view.seed_text, labels=dataset.classes)
    found = [
        Returning(
            words=each.words,
            weight=each.weight,
            weights=tuple(sum(share.get(text.text, 0.0) for text in each.texts) for share in shares),
        )
        for each in every
    ]
    constant = f"Always {value_text(dataset.constant)}: the constant answer, without a rule"
    found.append(Returning(words=constant, weight=constant_weight(view), weights=tuple(map(constant_weight, views))))
    return sorted((each for each in found if each.noticed), key=lambda each: (-len(each.noticed), -each.weight))


def _vml(folder: Path, spec: RunSpec) -> Iterator[Score]:
    """Yield the scores of the sentences of finished VML runs on the same rows, by the same models."""
    for run in RunStore(folder).runs():
        try:
            other = run.spec()
            is_same = other.dataset["fingerprint"] == spec.dataset["fingerprint"]
            if not (is_same and other.config.method in CHAINS_OF_VML and other.endpoint.models == spec.endpoint.models):
                continue
            reader = RunReader(run)
            view, dataset = reader.refresh().view, reader.dataset()
        except VppError:
            continue
        if view.phase == "finished" and (test := view.evaluated.get("test")):
            yield from (score(answers, rows_of(test, dataset), dataset) for answers in test.predictions)


# In words


def blocks(found: Seeds, dataset: Dataset) -> Iterator[Block]:
    """Yield the spread over the runs, VML's beside it, the hypotheses that return, and a line a run."""
    tests, calls = [run.test for run in found.runs if run.test], [run.view.usage.calls for run in found.runs]
    lead = f"{capitalised(in_words(len(found.runs)))} {'run' if len(found.runs) == 1 else 'runs'} of one setting"
    spread = f"{lead}, with different seeds: {_spread(tests)}, {_range(list(map(integer, sorted(calls))))} calls each."
    yield Say(spread)
    if found.vml:
        n = len(found.vml)
        alone = "the one run" if n == 1 else f"{in_words(n)} runs"
        yield Note(f"Beside it, VML (one sentence and no weights) by the same model, {alone}: {_spread(found.vml)}.")
    if found.returning:
        yield from _table_of_returning(found)
    yield Heading("The runs", "one line a seed")
    right = "right on test rows" if dataset.classes else "mean squared error"
    head = ("seed", right, *(("“I don’t know”",) if dataset.classes else ()), "calls", "heaviest hypothesis")
    rows = [_row(run, found.spec, is_label=bool(dataset.classes)) for run in found.runs]
    yield Table(head=head, rows=rows, right=range(1, len(head) - 1), name="Seeds")


def _spread(tests: Sequence[Score]) -> str:
    """`right on 49 to 57 of 60 test rows`, or `mean squared error 1.2 to 3.4`."""
    if not tests:
        return "no test row is evaluated yet"
    best_last = sorted(tests, key=lambda each: each.value)
    if tests[0].n_correct is None:
        return f"mean squared error {_range([number(each.value, 3) for each in best_last])}"
    rights = [integer(each.n_correct or 0) for each in best_last]
    return f"right on {_range(rights)} of {counted(tests[0].n, 'test row')}"


def _range(ascending: Sequence[str]) -> str:
    low, high = ascending[0], ascending[-1]
    return low if low == high else f"{low} to {high}"


def _table_of_returning(found: Seeds) -> Iterator[Block]:
    n = len(found.returning[0].weights)
    yield Heading("Hypotheses that return", "a run has it if it gives it 1 % of the weight; most runs first")
    rows = [
        (
            f"{len(each.noticed)} of {n}",
            _range([percent(weight) for weight in sorted(each.noticed)]),
            percent(each.weight),
            each.words,
        )
        for each in found.returning[:MOST]
    ]
    yield Table(head=("in runs", "weight there", "pooled", "hypothesis"), rows=rows, right=(0, 1, 2))
    if rest := found.returning[MOST:]:
        yield Note(f"{counted(len(rest), 'more hypothesis', 'more hypotheses')} in at most {len(rest[0].noticed)}.")


def _row(run: Seed, spec: RunSpec, *, is_label: bool) -> tuple[str, ...]:
    unknown = (integer(run.verdict.n_unknown) if run.verdict else "",) if is_label else ()
    first = ""
    if run.view.population:
        quote = heaviest(run.view, spec.config)
        first = quote.words.removeprefix(run.view.seed_text).strip()
    state = "" if run.state == "finished" else f", {run.state}"
    right = score_text(run.test) if run.test else "not evaluated"
    return f"{run.number}{state}", right, *unknown, integer(run.view.usage.calls), first


def record(found: Seeds) -> dict[str, Any]:
    """Return the group as one JSON object."""

    metric = "accuracy" if found.spec.dataset["task"] == "classification" else "mse"

    def of(run: Seed) -> dict[str, Any]:
        return {
            "run": run.directory.id,
            "dir": str(run.directory.path),
            "status": run.state,
            metric: run.test.value if run.test else None,
            "undecided": run.verdict.n_unknown if run.verdict and run.verdict.n_right is not None else None,
            "verdict": str(run.verdict) if run.verdict else None,
        }

    pooled, weight = found.pooled, constant_weight(found.pooled.view) if found.pooled else None
    return {
        "group": found.group,
        "runs": [{"seed": run.number, **of(run), "calls": run.view.usage.calls} for run in found.runs],
        "ideas": [
            {"text": each.words, "runs": len(each.noticed), "weight": each.weight, "weights": each.weights}
            for each in found.returning
        ],
        "pooled": pooled and {**of(pooled), "weights": weights_by_text(pooled.view), "constant": weight},
        "vml": [each.value for each in found.vml],
    }
