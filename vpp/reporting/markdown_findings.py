"""The report's findings: the posterior, its steps, what the data ruled out, and where the particles disagree."""

import math
from collections.abc import Callable, Iterator, Sequence
from textwrap import shorten

from vpp.data.dataset import Dataset, Row
from vpp.inspection.ensemble import ensemble
from vpp.inspection.ideas import Idea, Ideas
from vpp.inspection.points import Point, points
from vpp.inspection.ruled_out import Occasion, RuledOut, rejected, resampled_away, unparsable
from vpp.inspection.scores import rows_by_id
from vpp.posterior.prediction import Value
from vpp.reporting.brief import compared_sentence, shares_sentence, weights_measure
from vpp.reporting.escaping import markdown_quote, markdown_table, markdown_text
from vpp.reporting.matrix import inputs_line
from vpp.reporting.words import (
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    listed,
    number,
    percent,
    score_text,
    value_text,
    weight_text,
)
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView, StepView
from vpp.settings import Config

MOST_POINTS = 50
"""Uncertain points shown; predictions.csv has all."""
WIDEST_POINTS = 10
"""Points shown for regression, where all differ."""
WORST_ROWS = 3
"""Rows shown beside a hypothesis that was ruled out."""
LONGEST_INPUTS = 300
"""Characters of a row's inputs shown in a table."""
NONE = "–"


# The posterior


def posterior(snapshot: Snapshot, dataset: Dataset, ideas: Ideas | None) -> Iterator[str]:
    """Ideas by weight, each with every wording in full."""
    if ideas is None:
        drawn = integer(len(snapshot.view.drawn))
        yield f"No population is whole yet: {drawn} of {counted(snapshot.spec.config.size, 'particle')} drawn."
        return
    weights = weights_measure(snapshot).words
    config = snapshot.spec.config
    if snapshot.view.size == 1:
        yield weights
    else:
        yield f"{shares_sentence(ideas, config)} {compared_sentence(ideas)} {weights}"
    yield from _in_five(snapshot, dataset)
    for rank, idea in enumerate(ideas, 1):
        yield from _idea(rank, idea, "Weight" if config.is_weighted else "Share")


def _in_five(snapshot: Snapshot, dataset: Dataset) -> Iterator[str]:
    """Five runs read in three ways."""
    five = ensemble(snapshot.view, dataset) if snapshot.spec.config.method == "vml5" else None
    if five is None:
        return
    yield markdown_table(
        ("", "on the test rows", "which"),
        [
            ("all together, without weights", score_text(five.together), f"{in_words(five.size)} hypotheses"),
            ("best on train", score_text(five.best_on_train.test), f"hypothesis {five.best_on_train.slot}"),
            ("best on test: an oracle", score_text(five.oracle.test), f"hypothesis {five.oracle.slot}"),
        ],
        right=(1,),
    )
    yield "Best on train is what one could have picked; best on test nobody could have known."


def _idea(rank: int, idea: Idea, holds: str) -> Iterator[str]:
    yield f"### {rank}. {holds} {weight_text(idea.weight)}, {_particles(idea.slots)}"
    yield markdown_quote(idea.text)
    if idea.n_test is not None:
        yield _on_test(idea)
    yield from _other_wordings(idea)


def _particles(slots: Sequence[int]) -> str:
    return f"{'particle' if len(slots) == 1 else 'particles'} {listed(slots)}"


def _on_test(idea: Idea) -> str:
    n = idea.n_test or 0
    abstained = f" {counted(idea.n_abstained_test, 'answer')} could not be read." if idea.n_abstained_test else ""
    if idea.n_correct_test is not None:
        return f"{integer(idea.n_correct_test)} of {counted(n, 'test row')} right.{abstained}"
    return f"Mean squared error {number(idea.mse_test or 0.0)} on {counted(n, 'test row')}.{abstained}"


def _other_wordings(idea: Idea) -> Iterator[str]:
    others = list(zip(idea.texts, idea.text_weights, strict=True))[1:]
    if others:
        wordings = "wording" if len(others) == 1 else "wordings"
        yield f"{capitalised(in_words(len(others)))} other {wordings} with the same answers:"
        yield "\n".join(f"- {weight_text(weight)}: {markdown_text(text)}" for text, weight in others)


# Steps


def steps(snapshot: Snapshot) -> Iterator[str]:
    """A line a whole step."""
    whole = [step for step in snapshot.view.finished_steps if step.step >= 0]
    if not whole:
        yield "No step is whole yet."
        return
    config = snapshot.spec.config
    columns = _columns(config)
    right = [i for i, (name, _) in enumerate(columns) if name not in ("resampled", "K changed")]
    head, cells = zip(*columns, strict=True)
    yield markdown_table(head, [tuple(cell(step) for cell in cells) for step in whole], right=right)
    yield how_to_read(config)


_Column = tuple[str, Callable[[StepView], str]]


def _columns(config: Config) -> list[_Column]:
    """What the method has, by the name of its column."""
    counts: list[_Column] = [
        ("proposed", lambda step: str(len(step.proposed))),
        (
            "accepted" if config.is_filtered else "taken",
            lambda step: str(sum(p.accepted for p in step.proposed.values())),
        ),
        ("unchanged", lambda step: str(_n_why(step, "unchanged"))),
        ("unparsable", lambda step: str(_n_why(step, "unparsable"))),
    ]
    return [("step", lambda step: str(step.step)), *_size_columns(config), *_weight_columns(config), *counts]


def _size_columns(config: Config) -> list[_Column]:
    if not config.particles_max:
        return []
    return [("K", lambda step: str(len(step.scored))), ("K changed", _resized)]


def _resized(step: StepView) -> str:
    if step.joined:
        return f"{counted(len(step.joined), 'newcomer')}"
    return f"{len(step.scored) - len(step.shrunk.ancestors)} dropped: all agreed" if step.shrunk else NONE


def _weight_columns(config: Config) -> list[_Column]:
    if not config.is_weighted:
        return []
    ess: list[_Column] = [
        ("ESS", lambda step: fixed(step.reweighted.ess) if step.reweighted else NONE),
        ("resampled", lambda step: "yes" if step.resampled else NONE),
    ]
    if not config.is_telescoping:
        return [("β", lambda step: fixed(step.reweighted.beta) if step.reweighted else NONE), *ess]
    return [
        ("exponent φ", lambda step: number(1 / step.reweighted.beta) if step.reweighted else NONE),
        *ess,
        ("log evidence", lambda step: _log(step.reweighted.log_evidence) if step.reweighted else NONE),
    ]


def _n_why(step: StepView, why: str) -> int:
    return sum(p.why == why for p in step.proposed.values())


_ANEW = "β divides the log-likelihood: 10 is flat, 1 is sharp."
_CARRIED = (
    "The exponent φ = 1/β runs from 0, the first draw, to 1, all the data; weights are carried from step to step, and "
    "the log evidence is nominal."
)


def how_to_read(config: Config) -> str:
    """What the columns mean for the method."""
    accepted = "Accepted are the proposals that the likelihood let through." if config.is_filtered else _taken(config)
    if config.is_weighted:
        tempering = _CARRIED if config.is_telescoping else _ANEW
        return f"{tempering} ESS is that of the weights before resampling. {accepted}"
    if config.size == 1:
        return f"One hypothesis has no weights. {accepted}"
    members = "chains" if config.method == "mh" else "hypotheses"
    return f"The {members} have no weights, so there is no ESS. {accepted}"


def _taken(config: Config) -> str:
    only = " Only copies made by resampling are rewritten." if config.mutate == "duplicates" else ""
    return f"Every changed text is taken: there is no filter.{only}"


# What the data ruled out


def what_was_ruled_out(view: RunView, dataset: Dataset) -> Iterator[str]:
    """Every text that was rejected, resampled away or not readable, with the rows that speak against it."""
    kinds = {
        "Rejected": rejected(view, dataset),
        "Resampled away": resampled_away(view, dataset),
        "Not readable": unparsable(view),
    }
    if not any(kinds.values()):
        yield f"Nothing{'' if view.has_ended else ' so far'}: no text was rejected, resampled away or unreadable."
    for title, found in kinds.items():
        if found:
            times = sum(each.times for each in found)
            yield f"### {title}: {counted(len(found), 'text')}, {counted(times, 'time')} in all"
        for each in found:
            yield from _ruled_out(each)


def _ruled_out(out: RuledOut) -> Iterator[str]:
    yield markdown_quote(out.text)
    yield " ".join(filter(None, (_when(out), _still_held(out), _why(out))))
    shown = out.newest.contradictions[:WORST_ROWS]
    if shown:
        rows = [(str(c.row.id), _inputs(c.row), _value(c.said), _value(c.target)) for c in shown]
        yield markdown_table(("row", "inputs", "it said", "true"), rows, right=(0,))


def _when(out: RuledOut) -> str:
    at = [f"step {step}" if step >= 0 else "the first draw" for step in out.steps]
    times = f", {in_words(out.times)} times in all, last" if out.times > 1 else ","
    return f"{capitalised(listed(at))}{times} {_particles(out.newest.particles)}."


def _still_held(out: RuledOut) -> str:
    return f"The same words are held by {_particles(out.held_by)} now." if out.held_by else ""


def _why(out: RuledOut) -> str:
    if out.reason == "unparsable":
        return f"No hypothesis could be read: {markdown_text(out.why_unread or 'no reason is recorded')}."
    arithmetic = _weight_before if out.reason == "resampled away" else _decision
    return f"{arithmetic(out.newest)} {_contradicted(out.newest)}".strip()


def _weight_before(occasion: Occasion) -> str:
    return f"Weight {weight_text(occasion.weight or 0.0)} before, no copy after."


def _decision(occasion: Occasion) -> str:
    """Eq. 9 in numbers."""
    return (
        f"Log-likelihood {_log(occasion.log_likelihood_proposal)}, against {_log(occasion.log_likelihood)} of the text "
        f"that stayed: log α = {_log(occasion.log_alpha)} is below log u = {_log(_log_of(occasion.u))}."
    )


def _log(value: float | None) -> str:
    return "not recorded" if value is None else fixed(value)


def _log_of(u: float | None) -> float | None:
    return None if u is None else math.log(u) if u > 0 else -math.inf


def _contradicted(occasion: Occasion) -> str:
    n = len(occasion.contradictions)
    if n == 0:
        return ""
    some = f"; {in_words(WORST_ROWS)} of them" if n > WORST_ROWS else ""
    return f"{integer(n)} of {counted(occasion.n_rows, 'row')} {'speaks' if n == 1 else 'speak'} against it{some}:"


# Where the particles disagree


def disagreement(view: RunView, dataset: Dataset) -> Iterator[str]:
    """The uncertain test points with their votes, or the points with the widest spread."""
    test = view.evaluated.get("test")
    if test is None:
        yield "The test rows are not evaluated yet."
    elif len(test.weights) == 1:
        yield "There is one hypothesis: it cannot disagree with itself."
    else:
        found = points(test, rows_by_id(dataset))
        yield from _spreads(found) if dataset.task == "regression" else _votes(found)


def _votes(found: Sequence[Point]) -> Iterator[str]:
    uncertain = [point for point in found if point.is_uncertain]
    if not uncertain:
        yield f"Nowhere: the particles agree on all {counted(len(found), 'test row')}."
        return
    shown = uncertain[:MOST_POINTS]
    cut = f" (the first {integer(len(shown))}; predictions.csv has all)" if len(shown) < len(uncertain) else ""
    yield f"{integer(len(uncertain))} of {counted(len(found), 'test row')}, the most divided first{cut}."
    yield markdown_table(
        ("row", "inputs", "true", "the vote", "camps, by weight"),
        [(str(p.row.id), _inputs(p.row), _value(p.row.target), _vote(p), _camps(p)) for p in shown],
        right=(0,),
    )


def _vote(point: Point) -> str:
    if point.prediction is None:
        return "all abstained: wrong"
    return f"“{_value(point.prediction)}”: {'wrong' if point.is_wrong else 'right'}"


def _camps(point: Point) -> str:
    camps = [f"“{_value(label)}” {percent(share)} ({_who_said(point, label)})" for label, share in point.shares]
    if None in point.votes:
        camps.append(f"no answer {percent(point.abstained)} ({_who_said(point, None)})")
    return "; ".join(camps)


def _who_said(point: Point, label: str | None) -> str:
    return _particles([slot for slot, vote in enumerate(point.votes) if vote == label])


def _spreads(found: Sequence[Point]) -> Iterator[str]:
    shown = found[:WIDEST_POINTS]
    yield (
        f"The {counted(len(shown), 'test row')} with the widest spread, of {integer(len(found))}. Spread is the "
        "weighted standard deviation of the particles' numbers; the range holds 90 % of the particles' weight. Both "
        "say how far the particles differ; noise is not included."
    )
    head = ("row", "inputs", "true", "prediction", "spread", "90 % of the particles")
    yield markdown_table(head, [_spread(point) for point in shown], right=(0, 2, 3, 4))


def _spread(point: Point) -> tuple[str, ...]:
    row = (str(point.row.id), _inputs(point.row), _value(point.row.target))
    if point.prediction is None or point.interval is None:
        return (*row, "no answer", "all abstained", NONE)
    low, high = point.interval
    return (*row, number(float(point.prediction)), number(point.doubt), f"{number(low)} to {number(high)}")


# Cells


def _value(value: Value | None) -> str:
    return "no answer" if value is None else markdown_text(value_text(value))


def _inputs(row: Row) -> str:
    return markdown_text(shorten(inputs_line(row, most=len(row.inputs)), LONGEST_INPUTS, placeholder=" …"))
