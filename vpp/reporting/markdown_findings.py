"""The report's findings: ideas, their agreement and origin, disagreement, and whether it marks errors."""

from collections.abc import Iterator, Sequence

from vpp.data.dataset import Dataset
from vpp.drawing.cards import without_seed
from vpp.drawing.genealogy import HAPPENED, founder_name, genealogy_sentence, step_name
from vpp.drawing.nearness import alt_words, meaning, verdict
from vpp.drawing.trust import (
    VOICES_OF_LABELS,
    VOICES_OF_NUMBERS,
    spread_metrics,
    spread_saying,
    voice_table,
    vote_metrics,
    vote_saying,
    why_not_judged,
)
from vpp.events import Evaluated
from vpp.inspection.genealogy import Ancestor, Genealogy
from vpp.inspection.ideas import Idea, Ideas
from vpp.inspection.points import Point, points
from vpp.inspection.reliability import spread_reliability, vote_reliability
from vpp.inspection.scores import ensemble, rows_by_id
from vpp.inspection.similarity import Group, Nearness, nearness
from vpp.inspection.voices import voices
from vpp.reporting.markdown_cells import NONE, answer_cell, inputs_cell
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView
from vpp.wording.brief import compared_sentence, shares_sentence, weights_measure
from vpp.wording.escaping import markdown_quote, markdown_table, markdown_text
from vpp.wording.verdicts import too_few_words
from vpp.wording.words import (
    capitalised,
    counted,
    in_words,
    integer,
    listed,
    number,
    particles,
    percent,
    score_text,
    target_text,
    weight_text,
)

NEAR = 0.95
"""Agreement from which ideas count as one explanation."""
MOST_LINES = 20
"""Ideas whose ancestors are told, the heaviest; posterior.json has every particle's."""
MOST_CHANGES = 12
"""Changes told of one line, the newest."""


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
        ("read as", "on the test rows", "which"),
        [
            ("all together, without weights", score_text(five.together), f"{in_words(five.size)} hypotheses"),
            ("best on train", score_text(five.best_on_train.test), f"hypothesis {five.best_on_train.slot}"),
            ("best on test: an oracle", score_text(five.oracle.test), f"hypothesis {five.oracle.slot}"),
        ],
        right=(1,),
    )
    yield "Best on train is what one could have picked; best on test nobody could have known."


def _idea(rank: int, idea: Idea, holds: str) -> Iterator[str]:
    yield f"### {rank}. {holds} {weight_text(idea.weight)}, {particles(idea.slots)}"
    yield markdown_quote(idea.text)
    if idea.n_test is not None:
        yield _on_test(idea)
    yield from _other_wordings(idea)


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


# How near ideas are


def near_agreement(ideas: Ideas | None, dataset: Dataset) -> Iterator[str]:
    """How many explanations remain where ideas that nearly agree count as one."""
    near = nearness(ideas, dataset) if ideas else None
    if near is None:
        yield "What the ideas answer to the same rows is not known yet, so they cannot be compared."
        return
    groups = near.groups(NEAR)
    yield verdict(near, groups, NEAR)
    if near.n > 1:
        yield f"{meaning(near, NEAR)} {alt_words(near)}"
        yield markdown_table(
            ("explanation", "weight", "ideas", "particles", "agree at least"),
            [_group(n, group, near) for n, group in enumerate(groups, 1)],
            right=(0, 1, 3),
        )


def _group(n: int, group: Group, near: Nearness) -> tuple[str, ...]:
    least = percent(group.least) if len(group.numbers) > 1 else "one idea"
    ideas = listed([number + 1 for number in group.numbers])
    return str(n), weight_text(group.weight), ideas, integer(group.n_particles), least


# Where they came from


def lineage(family: Genealogy | None, ideas: Ideas | None, seed_text: str) -> Iterator[str]:
    """How many first hypotheses have living descendants, then the way of each idea's first particle."""
    if family is None or ideas is None:
        yield "No population is whole yet."
        return
    yield f"{genealogy_sentence(family)} Texts are told without the seed sentence."
    for n, idea in enumerate(ideas.all[:MOST_LINES], 1):
        yield from _line(n, idea.slots[0], family, seed_text)
    if len(ideas) > MOST_LINES:
        yield f"And {counted(len(ideas) - MOST_LINES, 'lighter idea')}: posterior.json has every particle's line."


def _line(n: int, slot: int, family: Genealogy, seed_text: str) -> Iterator[str]:
    changes = [each for each in family.ancestry(slot) if each.changed]
    founder = founder_name(family.last[slot].founder)
    changed = listed([each.step for each in changes[1:]])
    told = f"its words changed at {'step' if len(changes) == 2 else 'steps'} {changed}" if changed else "never reworded"
    yield f"### Idea {n}: particle {slot}, from {founder}; {told}"
    if len(changes) > MOST_CHANGES:
        yield f"The last {in_words(MOST_CHANGES)} of {integer(len(changes))} texts; posterior.json has all."
    yield "\n".join(f"- {_change(each, seed_text)}" for each in changes[-MOST_CHANGES:])


def _change(each: Ancestor, seed_text: str) -> str:
    when = capitalised(step_name(each.step))
    how = "" if each.happened == "first" else f", {HAPPENED[each.happened]}"
    afresh = ", drawn afresh from the prior" if each.is_afresh else ""
    return f"{when}{how}{afresh}: {markdown_text(without_seed(each.text, seed_text)) or '*(no text)*'}"


# Disagreement

MOST_POINTS = 50
"""Uncertain points shown; predictions.csv has all."""
MOST_VOICES = 50
"""Particles shown one by one; predictions.csv has every answer of all."""
WIDEST_POINTS = 10
"""Points shown for regression, where all differ."""


def disagreement(view: RunView, dataset: Dataset) -> Iterator[str]:
    """The uncertain test points with their votes, or the points with the widest spread."""
    test = view.evaluated.get("test")
    if test is None:
        yield "The test rows are not evaluated yet."
    elif len(test.weights) == 1:
        yield "There is one hypothesis: it cannot disagree with itself."
    else:
        found = points(test, rows_by_id(dataset))
        yield from _spreads(found, dataset.target_decimals) if dataset.task == "regression" else _votes(found)
        yield from _voices(test, dataset)


def _votes(found: Sequence[Point]) -> Iterator[str]:
    uncertain = [point for point in found if point.is_uncertain]
    if not uncertain:
        yield _nowhere(found)
        return
    shown = uncertain[:MOST_POINTS]
    cut = f" (the first {integer(len(shown))}; predictions.csv has all)" if len(shown) < len(uncertain) else ""
    yield f"{integer(len(uncertain))} of {counted(len(found), 'test row')}, the most divided first{cut}."
    yield markdown_table(
        ("row", "inputs", "true", "the vote", "camps, by weight"),
        [(str(p.row.id), inputs_cell(p.row), answer_cell(p.row.target), _vote(p), _camps(p)) for p in shown],
        right=(0,),
    )


def _nowhere(found: Sequence[Point]) -> str:
    return f"Nowhere: the particles agree on all {counted(len(found), 'test row')}."


def _vote(point: Point) -> str:
    if point.prediction is None:
        return "all abstained: wrong"
    return f"“{answer_cell(point.prediction)}”: {'wrong' if point.is_wrong else 'right'}"


def _camps(point: Point) -> str:
    camps = [f"“{answer_cell(label)}” {percent(share)} ({_who_said(point, label)})" for label, share in point.shares]
    if None in point.votes:
        camps.append(f"no answer {percent(point.abstained)} ({_who_said(point, None)})")
    return "; ".join(camps)


def _who_said(point: Point, label: str | None) -> str:
    return particles([slot for slot, vote in enumerate(point.votes) if vote == label])


def _spreads(found: Sequence[Point], decimals: int | None) -> Iterator[str]:
    if not any(point.doubt for point in found):
        yield _nowhere(found)
        return
    shown = found[:WIDEST_POINTS]
    yield (
        f"The {counted(len(shown), 'test row')} with the widest spread, of {integer(len(found))}. Spread is the "
        "weighted standard deviation of the particles' numbers; the range holds 90 % of the particles' weight. Both "
        "say how far the particles differ; noise is not included."
    )
    head = ("row", "inputs", "true", "prediction", "spread", "90 % of the particles")
    yield markdown_table(head, [_spread(point, decimals) for point in shown], right=(0, 2, 3, 4))


def _spread(point: Point, decimals: int | None) -> tuple[str, ...]:
    row = (str(point.row.id), inputs_cell(point.row), answer_cell(point.row.target))
    if point.prediction is None or point.interval is None:
        return (*row, "no answer", "all abstained", NONE)
    mean, low, high = (target_text(value, decimals) for value in (float(point.prediction), *point.interval))
    return (*row, mean, number(point.doubt), f"{low} to {high}")


def _voices(test: Evaluated, dataset: Dataset) -> Iterator[str]:
    """How often each particle answers, is contradicted, and is right."""
    head, lines = voice_table(voices(test, dataset))
    shown = lines[:MOST_VOICES]
    cut = f" the heaviest {integer(len(shown))} of {integer(len(lines))}," if len(shown) < len(lines) else ""
    yield f"### Particle by particle,{cut} on the test rows"
    yield VOICES_OF_NUMBERS if dataset.task == "regression" else VOICES_OF_LABELS
    yield markdown_table(head, shown, right=range(1, len(head)))


# Whether doubt marks error


def doubt_and_error(view: RunView, dataset: Dataset) -> Iterator[str]:
    """How often it is right where all agree and where they differ, and the proper scores; or why that says nothing."""
    test = view.evaluated.get("test")
    if test is None:
        yield "The test rows are not evaluated yet."
        return
    why_not = why_not_judged(len(test.weights))
    if why_not:
        yield why_not
        return
    found = points(test, rows_by_id(dataset))
    is_label = dataset.task == "classification"
    if is_label:
        votes = vote_reliability(found)
        saying, metrics = vote_saying(votes), vote_metrics(votes, n_labels=len(dataset.classes))
    else:
        spread = spread_reliability(found, dataset)
        saying, metrics = spread_saying(spread), spread_metrics(spread)
    yield " ".join(filter(None, (saying, too_few_words(len(found)))))
    rows = [(each.name, f"{each.value} {each.scale}".strip(), each.words) for each in metrics]
    yield markdown_table(("measure", "value", "in words"), rows, right=(1,))
