"""The verdict on a run: how good its result is beside the best simple model, and how sure it was where it was wrong.

The paired test on the same test rows is the sign test, for numbers Wilcoxon's signed-rank test. The simple model is the
best of several on those rows, chosen after the fact, so p is multiplied by their number (Bonferroni).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated, Votes
from vpp.findings.baselines import MODEL_NAMES, Baselines, Name, baselines
from vpp.findings.points import SURER, Confidence, confidence, evaluated_points, rows_of
from vpp.posterior.metric import CHANCE, PairedDifference, paired_difference
from vpp.posterior.prediction import Value
from vpp.problem import losses_of
from vpp.runs.directory import RunDirectory, read_summary, readable_rows, write_summary
from vpp.runs.spec import RunSpec, adapter
from vpp.runs.view import RunView, constant_weight, scores_of
from vpp.settings import Config
from vpp.show.blocks import Alert, Say
from vpp.show.words import MAJORITY, capitalised, constant_text, counted, integer, number, p_text, percent

Grade = Literal["better", "equal", "worse", "nothing", "unknown"]
"""Beside the best simple model. `nothing`: no better than one answer for every row."""
FEW_ROWS = 30
"""With 30 rows, a share has an error of up to about 18 points either way."""
DIGITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    grade: Grade
    sentences: tuple[str, ...]
    """The result, the simple model beside it, confidence, limits; at most one sentence or two each."""
    rows: Literal["test", "train"] | None = None
    n: int = 0
    n_right: int | None = None
    """Right answers of a classification, among the rows that were answered."""
    n_unknown: int = 0
    error: float | None = None
    """Mean absolute error of numbers, in the target's unit."""
    model: Name | None = None
    """The best simple model on the same rows."""
    model_value: float | None = None
    """Its accuracy on all test rows, or its mean absolute error."""
    n_model_right: int | None = None
    """Its right answers of a classification, among the rows that the run answered."""
    p: float | None = None
    confidence: Confidence | None = None
    """On the test rows; None for one hypothesis without noise."""

    def __str__(self) -> str:
        return " ".join(self.sentences)

    @property
    def is_success(self) -> bool:
        is_surer = self.confidence is not None and self.confidence.judgement == SURER
        return self.grade in ("better", "equal") and not is_surer


LEAST, MOSTLY = 5, 0.5
"""Answers from which there is a warning, and the share of them that could not be read."""


def blocks(found: Verdict | None) -> tuple[Say, ...]:
    return (Say(str(found)),) if found else ()


def beside_text(record: dict[str, Any] | None) -> str:
    """`98.2 % of 55, linear model 98.2 %`: a recorded verdict's numbers in a list of runs, on the rows answered.

    Empty without a model beside.
    """
    found = adapter(Verdict).validate_python(record) if record else None
    if found is None or found.model is None or found.model_value is None:
        return ""
    if found.error is not None:
        return f"off by {number(found.error, DIGITS)}, {MODEL_NAMES[found.model]} {number(found.model_value, DIGITS)}"
    if found.n_right is None or found.n_model_right is None:
        return ""
    n = found.n - found.n_unknown
    if not n:
        return f"“I don’t know” on all {integer(found.n)}"
    own, model = (percent(right / n, decimals=1) for right in (found.n_right, found.n_model_right))
    return f"{own}{f' of {integer(n)}' if found.n_unknown else ''}, {MODEL_NAMES[found.model]} {model}"


# From the run, or from its summary


def run_verdict(directory: RunDirectory, view: RunView) -> Verdict | None:
    """Return the recorded verdict, or make it; None until the run has ended with a population."""
    if not view.has_ended or not view.population:
        return None
    record = read_summary(directory).verdict
    dataset = None if record else readable_rows(directory)
    if dataset:
        return verdict(view, directory.spec(), dataset)
    found: Verdict | None = adapter(Verdict).validate_python(record) if record else None
    return found


def record_verdict(directory: RunDirectory, view: RunView) -> Verdict | None:
    """Write the verdict into the run's summary, so that it is made once."""
    made = run_verdict(directory, view)
    if made:
        write_summary(directory, view, journal=directory.journal_bytes(), verdict=asdict(made))
    return made


def verdict(view: RunView, spec: RunSpec, dataset: Dataset, simple: Baselines | None = None) -> Verdict:
    """Judge the population of a run that has ended. simple: models fitted before; else they are fitted, in seconds."""
    test, limits = view.evaluations.get("test"), _limits(view, spec)
    if not dataset.test or test is None or not test.rows:
        found = _without_test_rows(view, dataset)
    else:
        judge = _labels if dataset.task == "classification" else _numbers
        found = judge(_case(view, spec.config, dataset, test, simple or baselines(dataset)))
    grade, weight, warnings = found.grade, constant_weight(view), list(filter(None, [_unread_words(view)]))
    if weight > MAJORITY:
        warnings.append(f"One answer for every row holds {percent(weight)} of the weight: nothing was found.")
    if warnings:
        grade = "nothing" if weight > MAJORITY or grade == "nothing" else "unknown"
    return replace(found, grade=grade, sentences=(*warnings, *found.sentences, *limits))


def unread_alert(view: RunView) -> tuple[Alert, ...]:
    words = _unread_words(view)
    return (Alert(words.removesuffix("."), ("Open a card’s answer on Watch to see why.",)),) if words else ()


def _unread_words(view: RunView) -> str:
    """Warn of a run whose answers to rows, or whose proposals, mostly could not be read; empty for any other."""
    if not (view.usage.unparsable or view.usage.refused):
        return ""
    evaluated = (votes for each in view.evaluations.values() for votes in each.predictions)
    votes = [*(each.predictions for each in scores_of(view)), *evaluated]
    n_silent, n, proposals = sum(each.count(None) for each in votes), sum(map(len, votes)), view.proposals
    if n >= LEAST and n_silent >= MOSTLY * n:
        share = "All" if n_silent == n else f"{integer(n_silent)} of"
        return f"{share} {integer(n)} answers could not be read: the result is unreliable."
    if len(proposals) >= LEAST and all(each.why == "unparsable" for each in proposals):
        return f"None of {counted(len(proposals), 'proposal')} could be read: the result is unreliable."
    return ""


def _limits(view: RunView, spec: RunSpec) -> tuple[str, ...]:
    models = view.start.models.values() if view.start else ()
    is_demo = spec.endpoint.is_demo or "demo" in models
    return ("The demo model answered: this says nothing about language models.",) if is_demo else ()


def _without_test_rows(view: RunView, dataset: Dataset) -> Verdict:
    """Only a constant answer that does as well on the training rows is a verdict there."""
    missing = "The test rows were not evaluated" if dataset.test else "There are no test rows"
    words, train = f"{missing}: nothing says how good it is on new rows.", view.evaluations.get("train")
    if dataset.test or train is None or not train.rows:
        return Verdict(grade="unknown", sentences=(words,))
    rows, is_label = rows_of(train, dataset), dataset.task == "classification"
    own, constant = _losses(dataset, train.averaged, rows), _losses(dataset, (dataset.constant,) * len(rows), rows)
    n_right = own.count(0) if is_label else None
    grade: Grade = "unknown"
    if any(own) and sum(own) >= sum(constant):
        flat, grade = constant_words(dataset.constant), "nothing"
        words = f"On the training rows it is no better than {flat}. {words}"
    elif n_right is not None:
        words = f"{_share_sentence(n_right, len(rows), 'training row')} {words}"
    return Verdict(grade=grade, sentences=(words,), rows="train", n=len(rows), n_right=n_right)


# On test rows

ALONE = "One hypothesis cannot say how sure it is."
ITS = "Its"
"""Begins what is said of ranges of numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """Losses of the run, of the best simple model and of one answer, row by row: 0 or 1, or absolute errors."""

    dataset: Dataset
    facts: Verdict
    """What is known before the two are set against each other."""
    unknown: tuple[bool, ...]
    """(N,) whether the answer to a row is “I don’t know”."""
    own: list[float]
    theirs: list[float]
    constant: list[float]
    n_models: int
    """Simple models from which the best was chosen."""

    def difference(self, places: Sequence[int]) -> PairedDifference:
        own, theirs = ([losses[i] for i in places] for losses in (self.own, self.theirs))
        return paired_difference(own, theirs, best_of=self.n_models)


def _case(view: RunView, config: Config, dataset: Dataset, test: Evaluated, simple: Baselines) -> _Case:
    rows, every = rows_of(test, dataset), evaluated_points(test, view, config, dataset)
    unknown = {point.row.id for point in every if point.is_undecided}
    place = {row.id: i for i, row in enumerate(dataset.test)}

    def losses(answers: Votes) -> list[float]:
        found = _losses(dataset, answers, rows)
        return found if dataset.task == "classification" else list(map(math.sqrt, found))

    by_model = [(losses(tuple(model.answers[place[row.id]] for row in rows)), model.name) for model in simple.models]
    theirs, name = min(by_model, key=lambda each: math.fsum(each[0]))
    # One hypothesis without noise gives each of its answers probability 1.
    is_alone = view.size == 1 and not (test.noise or test.shares or test.constant)
    sure = None if is_alone else confidence(every)
    facts = Verdict(grade="nothing", sentences=(), rows="test", n=len(rows), model=name, confidence=sure)
    return _Case(
        dataset=dataset,
        facts=replace(facts, n_unknown=len(unknown)),
        unknown=tuple(row.id in unknown for row in rows),
        own=losses(test.averaged),
        theirs=theirs,
        constant=losses((dataset.constant,) * len(rows)),
        n_models=len(by_model),
    )


def _losses(dataset: Dataset, answers: Votes, rows: Sequence[Row]) -> list[float]:
    return [float(loss) for loss in losses_of(dataset, answers, [row.target for row in rows])]


def _labels(case: _Case) -> Verdict:
    n, n_unknown = case.facts.n, case.facts.n_unknown
    answered = [i for i, is_unknown in enumerate(case.unknown) if not is_unknown]
    n_right, n_model_right = (sum(losses[i] == 0 for i in answered) for losses in (case.own, case.theirs))
    n_model = case.theirs.count(0)
    facts = replace(case.facts, n_right=n_right, model_value=n_model / n, n_model_right=n_model_right)
    if not answered:
        return replace(facts, sentences=(f"“I don’t know” on all {counted(n, 'test row')}.",))
    difference, every = case.difference(answered), case.difference(range(n))
    lead, value, part = "", n_model_right, " of these" if n_unknown else ""
    if n_unknown and _grade(every) == "worse":
        # What it withholds does not hide that the simple model is better where both answer every row.
        lead = f"If it had to answer all {integer(n)} rows, it would be right on {integer(case.own.count(0))}. "
        difference, value, part = every, n_model, ""
    grade, beside = _beside(case, difference, f"right on {integer(value)}{part}", ("more", "fewer"))
    first = _share_sentence(n_right, len(answered), "test row", n_unknown)
    sentences = (first, lead + beside, *_confidence(facts.confidence, "It was", "its confidence"))
    return replace(facts, grade=grade, sentences=sentences, p=difference.p)


def _numbers(case: _Case) -> Verdict:
    n, sure = case.facts.n, case.facts.confidence
    own, other = (math.fsum(errors) / n for errors in (case.own, case.theirs))
    difference = case.difference(range(n))
    grade, beside = _beside(case, difference, f"off by {number(other, DIGITS)}", ("less", "more"))
    first = f"Off by {number(own, DIGITS)} on average on {counted(n, 'test row')}."
    sentences = (first, beside, *_confidence(sure, ITS, "them"))
    return replace(case.facts, grade=grade, sentences=sentences, error=own, model_value=other, p=difference.p)


def _share_sentence(n_right: int, n: int, row: str, n_unknown: int = 0) -> str:
    share = f"all {counted(n, row)}" if n_right == n > 1 else f"{integer(n_right)} of {counted(n, row)}"
    if n_unknown:
        return f"Right on {share} that it answered, “I don’t know” on {integer(n_unknown)}."
    return f"Right on {share}."


def constant_words(constant: Value) -> str:
    """`always answering “no”`."""
    return f"always answering {constant_text(constant)}"


def _grade(difference: PairedDifference) -> Grade:
    """Significant only if the mean and the number of rows point the same way."""
    if difference.p < CHANCE and difference.mean < 0 and difference.better > difference.worse:
        return "better"
    if difference.p < CHANCE and difference.mean > 0 and difference.better < difference.worse:
        return "worse"
    return "equal" if difference.n >= FEW_ROWS else "unknown"


def _beside(case: _Case, difference: PairedDifference, value: str, relation: tuple[str, str]) -> tuple[Grade, str]:
    """Set the run beside the best simple model, and beside one answer if it is no better than that.

    value: what the model reaches. relation: words for a better and for a worse one.
    """
    name = case.facts.model or "constant"
    grade, is_flat, flat = _grade(difference), name == "constant", constant_words(case.dataset.constant)
    lead = f"{capitalised(flat) if is_flat else f'A {MODEL_NAMES[name]}'} is {value}"
    words = f"{lead}: no clear difference."
    if grade in ("better", "worse"):
        words = f"{lead}, significantly {relation[0] if grade == 'worse' else relation[1]} (p {p_text(difference.p)})."
    elif grade == "unknown":
        words = f"{lead}: {counted(difference.n, 'row')} {'is' if difference.n == 1 else 'are'} too few to tell."
    if any(case.own) and math.fsum(case.own) >= math.fsum(case.constant):
        worse = f"No better than {flat}."
        return "nothing", worse if is_flat else f"{worse} {words}"
    if grade == "equal" and _grade(paired_difference(case.own, case.constant)) != "better":
        return "nothing", words if is_flat else f"{words} Nor is it clearly better than {flat}."
    return grade, words


def _confidence(found: Confidence | None, it: str, what: str) -> Iterator[str]:
    """Yield a warning of wrong confidence, or how sure the run was where it was wrong. it, what: words for it."""
    if found is None:
        yield ALONE
    elif found.judgement == SURER:
        yield f"{it} {found.words}: do not trust {what}."
    elif it == ITS:
        yield f"{it} {found.words}."
    elif found.wrong is not None:
        yield f"Where it was wrong it was {percent(found.wrong)} sure on average."
