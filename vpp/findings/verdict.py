"""The verdict on a run: how good its result is beside the best simple model, and how sure it was where it was wrong.

The paired test is the sign test on the same test rows. The simple model is the best one on those rows, chosen after
the fact: that makes it harder to be called better, and easier to be called worse.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from pydantic import TypeAdapter

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated, Votes
from vpp.findings.baselines import MODEL_NAMES, Baselines, Name, SimpleModel, baselines
from vpp.findings.points import Point, holds_truth, points, reject_option
from vpp.findings.scores import baseline, rows_of
from vpp.posterior.metric import CHANCE, PairedDifference, paired_difference
from vpp.problem import losses_of
from vpp.runs.directory import RunDirectory, known_rows
from vpp.runs.reader import read_summary, unread, write_summary
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView, constant_weight
from vpp.settings import Config
from vpp.show.blocks import Alert, Say
from vpp.show.words import MAJORITY, counted, integer, number, p_text, percent

Grade = Literal["better", "equal", "worse", "nothing", "unknown"]
"""Beside the best simple model. `nothing`: no better than one answer for every row."""
CERTAIN = 0.95
"""Least probability of a label that the run is certain of."""
FEW_ROWS = 30
"""With 30 rows, a share has an error of up to about 18 points either way."""
DIGITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    grade: Grade
    sentences: tuple[str, ...]
    """The result, the simple model beside it, confidence, limits; at most one sentence or two each."""
    rows: Literal["test", "train"] | None = None
    """The rows that were judged."""
    n: int = 0
    n_right: int | None = None
    """Right answers of a classification, among the rows that were answered."""
    n_unknown: int = 0
    """Rows answered with “I don’t know”."""
    error: float | None = None
    """Mean absolute error of numbers, in the target's unit."""
    model: Name | None = None
    """The best simple model on the same rows."""
    model_value: float | None = None
    """Its accuracy on all test rows, or its mean absolute error."""
    p: float | None = None
    """Sign test of the two."""
    n_certain: int = 0
    """Rows on which one label has at least 95 % of the probability."""
    n_certain_wrong: int = 0
    is_overconfident: bool = False
    """True if it was wrong more often than its confidence allows, beyond chance."""

    def __str__(self) -> str:
        return " ".join(self.sentences)

    @property
    def is_success(self) -> bool:
        return self.grade in ("better", "equal") and not self.is_overconfident


_VERDICT: TypeAdapter[Verdict] = TypeAdapter(Verdict)


def blocks(found: Verdict | None) -> tuple[Say, ...]:
    return (Say(str(found)),) if found else ()


def beside_text(record: dict[str, Any] | None) -> str:
    """`83.3 %, linear model 98.3 %`: a recorded verdict's numbers in a list of runs; empty without a model beside."""
    found = _VERDICT.validate_python(record) if record else None
    if found is None or found.model is None or found.model_value is None:
        return ""
    if found.error is not None:
        return f"off by {number(found.error, DIGITS)}, {MODEL_NAMES[found.model]} {number(found.model_value, DIGITS)}"
    own = percent((found.n_right or 0) / max(1, found.n - found.n_unknown), decimals=1)
    share = f" of {integer(found.n - found.n_unknown)}" if found.n_unknown else ""
    return f"{own}{share}, {MODEL_NAMES[found.model]} {percent(found.model_value, decimals=1)}"


# From the run, or from its summary


def run_verdict(directory: RunDirectory, view: RunView) -> Verdict | None:
    """Return the recorded verdict, or make it and record it; None until the run has ended with a population."""
    if not view.has_ended or not view.population:
        return None
    if found := read_summary(directory).verdict:
        return _VERDICT.validate_python(found)
    dataset = known_rows(directory)
    if dataset is None:
        return None
    made = verdict(view, directory.spec(), dataset)
    write_summary(directory, view, lambda: dataset, journal=directory.journal_bytes(), verdict=asdict(made))
    return made


def verdict(view: RunView, spec: RunSpec, dataset: Dataset, simple: Baselines | None = None) -> Verdict:
    """Judge the population of a run that has ended. simple: models fitted before; else they are fitted, in seconds."""
    test, limits = view.evaluated.get("test"), _limits(view, spec)
    if not dataset.test or test is None or not test.rows:
        found = _without_test_rows(view, dataset)
    else:
        simple = simple or baselines(dataset)
        judge = _labels if dataset.task == "classification" else _numbers
        found = judge(_Case(view=view, config=spec.config, dataset=dataset, test=test, simple=simple))
    warnings = tuple(filter(None, (_unread_words(view), _weight_words(view))))
    grade = found.grade
    if warnings:
        grade = "nothing" if constant_weight(view) > MAJORITY or grade == "nothing" else "unknown"
    return replace(found, grade=grade, sentences=(*warnings, *found.sentences, *limits))


def unread_alert(view: RunView) -> tuple[Alert, ...]:
    words = _unread_words(view)
    return (Alert(words.removesuffix("."), ("Open a card’s answer on Watch to see why.",)),) if words else ()


def _unread_words(view: RunView) -> str:
    counts = unread(view)
    if counts is None:
        return ""
    if not counts.answers:
        return f"None of {counted(counts.proposals, 'proposal')} could be read: the result is unreliable."
    share = "All" if counts.answers == counts.of else f"{integer(counts.answers)} of"
    return f"{share} {integer(counts.of)} answers could not be read: the result is unreliable."


def _weight_words(view: RunView) -> str:
    weight = constant_weight(view)
    return f"One answer for every row holds {percent(weight)} of the weight: nothing was found." * (weight > MAJORITY)


def _limits(view: RunView, spec: RunSpec) -> tuple[str, ...]:
    models = view.started.models.values() if view.started else ()
    is_demo = spec.endpoint.is_demo or "demo" in models
    return ("The demo model answered: this says nothing about language models.",) if is_demo else ()


def _without_test_rows(view: RunView, dataset: Dataset) -> Verdict:
    """Only a constant answer that does as well on the training rows is a verdict there."""
    words = "There are no test rows: nothing says how good it is on new rows."
    if dataset.test:
        words = "The test rows were not evaluated: nothing says how good it is on new rows."
    train = view.evaluated.get("train")
    if dataset.test or train is None or not train.rows:
        return Verdict(grade="unknown", sentences=(words,))
    rows = rows_of(train, dataset)
    own, constant = _losses(dataset, train.averaged, rows), _losses(dataset, (dataset.constant,) * len(rows), rows)
    is_label = dataset.task == "classification"
    n_right = sum(loss == 0 for loss in own) if is_label else None
    is_nothing = any(own) and sum(own) >= sum(constant)
    if is_nothing:
        words = f"On the training rows it is no better than {_constant_words(dataset)}. {words}"
    elif n_right is not None:
        words = f"{_share_sentence(n_right, len(rows), 'training row')} {words}"
    grade: Grade = "nothing" if is_nothing else "unknown"
    return Verdict(grade=grade, sentences=(words,), rows="train", n=len(rows), n_right=n_right)


# On test rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    view: RunView
    config: Config
    dataset: Dataset
    test: Evaluated
    simple: Baselines

    @property
    def rows(self) -> tuple[Row, ...]:
        return rows_of(self.test, self.dataset)

    @property
    def is_alone(self) -> bool:
        """True for one hypothesis without noise, all of whose answers have probability 1."""
        return self.view.size == 1 and not self.test.noise and self.test.constant is None

    def points(self) -> list[Point]:
        return points(self.test, self.dataset, reject_option(self.view, self.config, self.dataset, of=self.test))


ALONE = "One hypothesis cannot say how sure it is."


def _losses(dataset: Dataset, answers: Votes, rows: Sequence[Row]) -> list[float]:
    return [float(loss) for loss in losses_of(dataset, answers, [row.target for row in rows])]


def _labels(case: _Case) -> Verdict:
    dataset, rows, every = case.dataset, case.rows, case.points()
    unknown = {point.row.id for point in every if point.is_undecided}
    answered = [i for i, row in enumerate(rows) if row.id not in unknown]
    own = _losses(dataset, case.test.averaged, rows)
    model = min(case.simple.models, key=lambda each: each.score.error)
    other = dict(zip((row.id for row in dataset.test), _losses(dataset, model.answers, dataset.test), strict=True))
    theirs = [other[row.id] for row in rows]
    n_right = sum(own[i] == 0 for i in answered)
    facts = Verdict(
        grade="unknown",
        sentences=(),
        rows="test",
        n=len(rows),
        n_right=n_right,
        n_unknown=len(unknown),
        model=model.name,
        model_value=1 - sum(theirs) / len(theirs),
        **_confidence(every),
    )
    if not answered:
        words = f"“I don’t know” on all {counted(len(rows), 'test row')}."
        return replace(facts, grade="nothing", sentences=(words,))
    score = _share_sentence(n_right, len(answered), "test row", unknown=len(unknown))
    among = paired_difference([own[i] for i in answered], [theirs[i] for i in answered])
    forced = paired_difference(own, theirs)
    grade, beside = _compared(among, model, sum(theirs[i] == 0 for i in answered), dataset, is_part=bool(unknown))
    if unknown and grade != "worse" and _grade(forced) == "worse":
        # Where it must answer every row, the simple model is better: what it withholds does not hide that.
        lead = f"If it had to answer all {integer(len(rows))} rows, it would be right on {integer(own.count(0))}."
        grade, words = _compared(forced, model, theirs.count(0), dataset)
        beside, among = f"{lead} {words}", forced
    constant = baseline(rows, dataset).score.n_correct or 0
    if own.count(0) <= constant and any(own):
        grade = "nothing"
        flat = f"Its best guesses are no better than {_constant_words(dataset)}, right on {integer(constant)}."
        beside = flat if model.name == "constant" else f"{flat} {beside}"
    sure = () if case.is_alone else _confidence_words(facts)
    sentences = (score, beside, *((ALONE,) if case.is_alone else sure))
    overconfident = facts.is_overconfident and not case.is_alone
    return replace(facts, grade=grade, sentences=sentences, p=among.p, is_overconfident=overconfident)


def _share_sentence(n_right: int, n: int, row: str, *, unknown: int = 0) -> str:
    share = f"all {counted(n, row)}" if n_right == n > 1 else f"{integer(n_right)} of {counted(n, row)}"
    if not unknown:
        return f"Right on {share}."
    share = share if n_right == n > 1 else share.replace(" of ", " of the ", 1)
    return f"Right on {share} that it answered, “I don’t know” on {integer(unknown)}."


def _constant_words(dataset: Dataset) -> str:
    constant = dataset.constant
    return f"always answering {f'“{constant}”' if isinstance(constant, str) else number(constant, DIGITS)}"


def _grade(difference: PairedDifference) -> Grade:
    """Significant only if the mean and the number of rows point the same way."""
    if difference.p < CHANCE and difference.mean < 0 and difference.better > difference.worse:
        return "better"
    if difference.p < CHANCE and difference.mean > 0 and difference.better < difference.worse:
        return "worse"
    return "equal" if difference.n >= FEW_ROWS else "unknown"


def _compared(
    difference: PairedDifference, model: SimpleModel, value: float, dataset: Dataset, *, is_part: bool = False
) -> tuple[Grade, str]:
    """Set the run beside a simple model. value: right answers of the model, or its mean absolute error.

    is_part: only the rows that the run answered are compared.
    """
    grade, is_label = _grade(difference), dataset.task == "classification"
    name = _constant_words(dataset) if model.name == "constant" else f"a {MODEL_NAMES[model.name]}"
    amount = f"right on {integer(int(value))}{' of these' * is_part}" if is_label else f"off by {number(value, DIGITS)}"
    lead = f"{name[0].upper()}{name[1:]} is {amount}"
    p = f"(p = {p_text(difference.p)})" if difference.p >= 0.001 else "(p under 0.001)"
    if grade == "better":
        return grade, f"{lead}, significantly {'fewer' if is_label else 'more'} {p}."
    if grade == "worse":
        return grade, f"{lead}, significantly {'more' if is_label else 'less'} {p}."
    if grade == "unknown":
        few = f"{counted(difference.n, 'row')} {'is' if difference.n == 1 else 'are'} too few to tell"
        return grade, f"{lead}: {few}."
    return grade, f"{lead}: no clear difference."


# Confidence


def _confidence(every: Sequence[Point]) -> dict[str, Any]:
    certain = [point for point in every if point.shares and point.shares[0][1] >= CERTAIN]
    wrong = sum(point.shares[0][0] != point.row.target for point in certain)
    is_beyond = wrong > 0 and tail(wrong, len(certain), 1 - CERTAIN) < CHANCE
    return {"n_certain": len(certain), "n_certain_wrong": wrong, "is_overconfident": is_beyond}


def _confidence_words(found: Verdict) -> tuple[str, ...]:
    if found.is_overconfident:
        rows = counted(found.n_certain_wrong, "row")
        return (f"It was certain and wrong on {rows}: do not trust its confidence.",)
    if found.n_certain_wrong:
        return (f"It was certain on {counted(found.n_certain, 'row')}, and wrong on {found.n_certain_wrong} of them.",)
    return ("It was never certain and wrong.",) if found.n_certain else ()


def tail(k: int, n: int, p: float) -> float:
    """P(X >= k) of a binomial X of n draws of probability p, strictly between 0 and 1."""

    def log_mass(i: int) -> float:
        ways = math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1)
        return ways + i * math.log(p) + (n - i) * math.log1p(-p)

    return min(1.0, math.fsum(math.exp(log_mass(i)) for i in range(k, n + 1)))


# Numbers


def _numbers(case: _Case) -> Verdict:
    dataset, rows, every = case.dataset, case.rows, case.points()
    model = min(case.simple.models, key=lambda each: _error(each))
    by_id = dict(zip((row.id for row in dataset.test), _losses(dataset, model.answers, dataset.test), strict=True))
    own = [math.sqrt(loss) for loss in _losses(dataset, case.test.averaged, rows)]
    theirs = [math.sqrt(by_id[row.id]) for row in rows]
    constant = [math.sqrt(loss) for loss in _losses(dataset, (dataset.constant,) * len(rows), rows)]
    error, other = _mean(own), _mean(theirs)
    difference = paired_difference(own, theirs)
    grade, beside = _compared(difference, model, other, dataset)
    if error >= _mean(constant) and error > 0:
        grade = "nothing"
        flat = f"That is no better than {_constant_words(dataset)}, off by {number(_mean(constant), DIGITS)}."
        beside = flat if model.name == "constant" else f"{flat} {beside}"
    missed = sum(not _holds_truth(point) for point in every)
    level = every[0].reject.conformal.level if every[0].reject.conformal else RANGE
    is_beyond = not case.is_alone and missed > 0 and tail(missed, len(every), 1 - level) < CHANCE
    sure = (ALONE,) if case.is_alone else ()
    if is_beyond:
        held = f"{integer(len(every) - missed)} of {counted(len(every), 'row')}"
        sure = (f"Its {percent(level)} ranges hold the truth on {held}: do not trust them.",)
    return Verdict(
        grade=grade,
        sentences=(f"Off by {number(error, DIGITS)} on average on {counted(len(rows), 'test row')}.", beside, *sure),
        rows="test",
        n=len(rows),
        error=error,
        model=model.name,
        model_value=other,
        p=difference.p,
        is_overconfident=is_beyond,
    )


RANGE = 0.9
"""Weight of the hypotheses' central range."""


def _error(model: SimpleModel) -> float:
    return model.score.numbers.mae.value if model.score.numbers else math.inf


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _holds_truth(point: Point) -> bool:
    if point.reject.conformal:
        return holds_truth(point)
    low, high = point.interval or (-math.inf, math.inf)
    return low <= float(point.row.target or 0.0) <= high
