"""Differences between runs, as HTML: ideas in common and not, test rows, cost, and conditions."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, zip_longest

from vpp.drawing.comparison import CODES, grid
from vpp.drawing.deck import without_seed
from vpp.drawing.matrix import inputs_line
from vpp.inspection.comparison import Candidate, Compared, DifferingPoint, SharedIdea, SharedIdeas
from vpp.inspection.summary import rounds
from vpp.posterior.prediction import Value
from vpp.wording.markup import CUE, badge, group, group_row, table, text
from vpp.wording.options import name_of
from vpp.wording.words import (
    EQUAL,
    counted,
    in_words,
    integer,
    listed,
    percent,
    score_text,
    seconds,
    target_text,
    value_text,
)

KIND_NAMES: Mapping[str, str] = {
    "options": "Options of the method",
    "data": "Data",
    "endpoint": "Endpoint",
    "prompts": "Prompts",
    "versions": "Versions",
}
_NAMES = {"prior": "Prior, in plain words", "steps": "Steps T"}
"""Options whose label on a form is a question, or that a form does not have."""


# Ideas in common


IdeaCell = tuple[int, SharedIdea] | None
"""A run's place and an idea of its; None leaves the place empty."""


def idea_rows(shared: SharedIdeas) -> list[tuple[str, tuple[IdeaCell, ...]]]:
    """Rows under their group's title: an idea of several runs with a cell for each, then each run's own, by weight."""
    several = [idea for idea in shared.all if len(idea.by_run) > 1]
    own = [[(place, idea) for idea in shared.held_by(place)] for place in shared.places]
    title = "In both" if len(shared.places) == 2 else "In several"
    return [
        *((title, tuple((place, idea) for place in idea.held_by)) for idea in several),
        *(("Only in one", cells) for cells in zip_longest(*own)),
    ]


def ideas_html(rows: Sequence[tuple[str, tuple[IdeaCell, ...]]], runs: Mapping[int, Candidate]) -> str:
    parts = []
    for title, of_group in groupby(rows, key=lambda row: row[0]):
        parts.append(group(title))
        for _, cells in of_group:
            parts.append(f'<article class="twin">{"".join(_held(cell, runs) for cell in cells)}</article>')
    return "".join(parts)


def ideas_sentences(shared: SharedIdeas) -> str:
    """`In both: 2 ideas, 90 % of A’s weight and 60 % of B’s weight. Only in B: 1 idea, 40 % of B’s weight.`"""
    places = shared.places
    every = "both" if len(places) == 2 else f"all {in_words(len(places))}"
    kinds = {
        f"In {every}": shared.held_by(*places),
        "In some": shared.partly,
        **{f"Only in {CODES[place]}": shared.held_by(place) for place in places},
    }
    sentences = [f"{title}: {kind_sentence(ideas, shared)}" for title, ideas in kinds.items() if ideas]
    return " ".join(sentences if shared.held_by(*places) else [f"No idea is in {every}.", *sentences])


def kind_sentence(ideas: Sequence[SharedIdea], shared: SharedIdeas) -> str:
    """`2 ideas, 80 % of B’s weight and 60 % of C’s weight.`"""
    held = [place for place in shared.places if any(place in idea.by_run for idea in ideas)]
    shares = [f"{percent(_whole(shared.weight_of(place, ideas)))} of {CODES[place]}’s weight" for place in held]
    return f"{counted(len(ideas), 'idea')}, {listed(shares)}."


def _whole(weight: float) -> float:
    """Weight without the rounding error of a sum: 1 for 0.9999999999999999."""
    return 1.0 if weight > 1 - EQUAL else weight


def _held(cell: IdeaCell, runs: Mapping[int, Candidate]) -> str:
    """An idea in one run: weight as a bar and a number, particles, wordings, result on the test rows."""
    if cell is None:
        return "<div></div>"
    place, idea = cell
    holding, score, started = idea.by_run[place], idea.score, runs[place].view.started
    result = f"test MSE {score_text(score)}"
    if score.n_correct is not None:
        result = f"{integer(score.n_correct)} of {counted(score.n, 'test row')} right"
    wordings = [f"heaviest of {counted(holding.n_texts, 'wording')}"] if holding.n_texts > 1 else []
    about = " · ".join((counted(holding.n_particles, "particle"), *wordings, result))
    weight, sentence = _whole(holding.weight), without_seed(holding.text, started.seed_text if started else "")
    held = f'<b class="code">{CODES[place]}</b> {percent(weight)} of the weight <span class="cap">{text(about)}</span>'
    return f'<div style="--w:{weight:.4f}"><p class="num">{held}</p><p class="hyp">{text(sentence)}</p></div>'


# Points on which they differ


def points_html(points: Sequence[DifferingPoint], places: Sequence[int], decimals: int | None = None) -> str:
    """A row a point: inputs, truth, and each run's average, with what is wrong marked, or what is nearest.

    decimals: of the training targets.
    """
    row, true, inputs = (f'<th scope="col">{words}</th>' for words in ("row", "true", "inputs"))
    head = f"{row}{true}{_letters(places)}{inputs}"
    body = "".join(_point(point, decimals) for point in points)
    return grid("points", "Points on which they differ", head, body)


def _letters(places: Sequence[int]) -> str:
    return "".join(f'<th scope="col"><b class="code">{CODES[place]}</b></th>' for place in places)


def _point(point: DifferingPoint, decimals: int | None) -> str:
    whole = inputs_line(point.row, len(point.row.inputs))
    answers = "".join(
        f"<td>{text(_answer(answer, decimals))} {_mark(point, loss)}</td>"
        for answer, loss in zip(point.answers, point.losses, strict=True)
    )
    return (
        f'<tr><td class="num">{point.row.id}</td><td>{text(_answer(point.row.target, decimals))}</td>{answers}'
        f'<td title="{text(whole)}">{text(inputs_line(point.row))}</td></tr>'
    )


def _answer(value: Value | None, decimals: int | None) -> str:
    return target_text(value, decimals) if isinstance(value, float) else value_text(value)


def _mark(point: DifferingPoint, loss: float) -> str:
    if isinstance(point.row.target, str):
        return badge("rej", "wrong") if loss else badge("acc", "right")
    nearest = min(point.losses)
    return badge("acc", "nearest") if loss == nearest and loss < max(point.losses) else ""


def points_sentence(points: Sequence[DifferingPoint], places: Sequence[int], n_rows: int) -> str:
    """`5 of 60 test rows. Right: A 3 of 5, B 1 of 5.`"""
    if not points:
        return f"The runs give the same answer on all {counted(n_rows, 'test row')}."
    is_label = isinstance(points[0].row.target, str)
    best = [0.0 if is_label else min(point.losses) for point in points]
    counts = [sum(p.losses[i] == least for p, least in zip(points, best, strict=True)) for i in range(len(places))]
    of = integer(len(points))
    found = ", ".join(f"{CODES[place]} {integer(n)} of {of}" for place, n in zip(places, counts, strict=True))
    lead = f"{of} of {counted(n_rows, 'test row')}{'' if is_label else ', widest apart first'}."
    return f"{lead} {'Right' if is_label else 'Nearest'}: {found}."


# Cost


def cost_html(runs: Mapping[int, Candidate]) -> str:
    head = (
        "run", "steps", "learner calls", "optimizer calls", "from the cache", "failed", "unreadable", "refused",
        "tokens in", "tokens out", "rounds", "time",
    )  # fmt: skip
    return CUE + table(head, [_cost(CODES[place], run) for place, run in runs.items()], right=range(1, len(head)))


def _cost(code: str, run: Candidate) -> tuple[str, ...]:
    usage, view = run.snapshot.usage, run.view
    done = 0 if view.last_step is None else view.last_step + 1
    counts = (
        usage.learner, usage.optimizer, usage.cached, usage.failed, usage.unparsable, usage.refused,
        usage.prompt_tokens, usage.completion_tokens, rounds(run.snapshot.spec, view),
    )  # fmt: skip
    return (code, f"{done} of {view.total_steps}", *map(integer, counts), seconds(view.wall_s))


# Conditions


def conditions_html(conditions: Iterable[Compared], places: Sequence[int], *, reference: int, name: str) -> str:
    head = f'<th scope="col">setting</th>{_letters(places)}'
    body, kind = [], ""
    for each in conditions:
        if each.kind != kind:
            kind = each.kind
            body.append(group_row(KIND_NAMES[kind], len(places) + 1))
        body.append(_condition(each, reference))
    return grid("conditions", name, head, "".join(body))


def _condition(each: Compared, reference: int) -> str:
    base, missing = each.values[reference], "not used" if each.kind == "options" else "not known"
    shown = [(text(value) or "–" if value is not None else missing, value == base) for value in each.values]
    cells = "".join(f"<td>{words if is_same else f'<b>{words}</b>'}</td>" for words, is_same in shown)
    own = _NAMES.get(each.name) if each.kind == "options" else each.name.replace("_", " ")
    name = own or name_of(each.name)
    return f'<tr><th scope="row">{text(name)}</th>{cells}</tr>'
