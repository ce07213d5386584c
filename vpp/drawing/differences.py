"""Differences between runs, as HTML: ideas in common and not, test rows, cost, and conditions."""

from collections.abc import Iterable, Mapping, Sequence

from vpp.drawing.comparison import CODES, grid
from vpp.drawing.deck import without_seed
from vpp.drawing.matrix import inputs_line
from vpp.inspection.comparison import Candidate, DifferingPoint
from vpp.inspection.conditions import Compared
from vpp.inspection.shared_ideas import SharedIdea, SharedIdeas
from vpp.inspection.summary import rounds
from vpp.posterior.prediction import Value
from vpp.wording.markup import CUE, badge, table, text
from vpp.wording.options import name_of
from vpp.wording.words import (
    EQUAL,
    counted,
    integer,
    listed,
    percent,
    score_text,
    seconds,
    target_text,
    value_text,
    weight_text,
)

KIND_NAMES: Mapping[str, str] = {
    "options": "Options of the method",
    "data": "Data",
    "endpoint": "Endpoint",
    "prompts": "Prompts",
    "versions": "Versions",
}


# Ideas in common


def ideas_html(ideas: Sequence[SharedIdea], runs: Mapping[int, Candidate]) -> str:
    """An entry an idea: who holds it, its heaviest wording, its weight in each run."""
    return f'<div class="ledger shared">{"".join(_idea(idea, runs) for idea in ideas)}</div>'


def kind_sentence(ideas: Sequence[SharedIdea], shared: SharedIdeas) -> str:
    """`2 ideas, 80 % of B's weight and 60 % of C's weight.`"""
    held = [place for place in shared.places if any(place in idea.by_run for idea in ideas)]
    shares = [f"{percent(_whole(shared.weight_of(place, ideas)))} of {CODES[place]}’s weight" for place in held]
    return f"{counted(len(ideas), 'idea')}, {listed(shares)}."


def _whole(weight: float) -> float:
    """Weight without the rounding error of a sum: 1 for 0.9999999999999999."""
    return 1.0 if weight > 1 - EQUAL else weight


def _idea(idea: SharedIdea, runs: Mapping[int, Candidate]) -> str:
    heaviest = max(idea.by_run, key=lambda place: idea.by_run[place].weight)
    started = runs[heaviest].view.started
    sentence = without_seed(idea.by_run[heaviest].text, started.seed_text if started else "")
    weights = "".join(
        f'<p class="num"><b class="code">{CODES[place]}</b> {weight_text(_whole(holding.weight))}</p>'
        for place, holding in idea.by_run.items()
    )
    score = idea.score
    result = f"test MSE {score_text(score)}"
    if score.n_correct is not None:
        result = f"{integer(score.n_correct)} of {counted(score.n, 'test row')} right"
    held = listed([f"{counted(h.n_particles, 'particle')} of {CODES[place]}" for place, h in idea.by_run.items()])
    return (
        f'<article class="out"><div>{weights}</div><div><p class="hyp">{text(sentence)}</p>{_wordings(idea)}</div>'
        f'<div class="why"><p>{text(result)}</p><p class="cap">{text(held)}</p></div></article>'
    )


def _wordings(idea: SharedIdea) -> str:
    """Caption with the number of wordings per run; a text that two runs share counts in both."""
    wordings = [(CODES[place], holding.n_texts) for place, holding in idea.by_run.items()]
    if sum(n for _, n in wordings) == 1:
        return ""
    counts = listed([f"{counted(n, 'wording')} in {code}" for code, n in wordings])
    return f'<p class="cap">The heaviest of {text(counts)}.</p>'


# Points on which they differ


def points_html(points: Sequence[DifferingPoint], places: Sequence[int], decimals: int | None = None) -> str:
    """A row a point: inputs, truth, and each run's average, with what is wrong marked, or what is nearest.

    decimals: of the training targets.
    """
    head = "".join(f'<th scope="col">{words}</th>' for words in ("row", "inputs", "true")) + _letters(places)
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
        f'<tr><td class="num">{point.row.id}</td><td title="{text(whole)}">{text(inputs_line(point.row))}</td>'
        f"<td>{text(_answer(point.row.target, decimals))}</td>{answers}</tr>"
    )


def _answer(value: Value | None, decimals: int | None) -> str:
    return target_text(value, decimals) if isinstance(value, float) else value_text(value)


def _mark(point: DifferingPoint, loss: float) -> str:
    if isinstance(point.row.target, str):
        return badge("rej", "wrong") if loss else badge("acc", "right")
    nearest = min(point.losses)
    return badge("acc", "nearest") if loss == nearest and loss < max(point.losses) else ""


def points_sentence(n: int, n_rows: int, *, is_label: bool) -> str:
    """Sentence with the number of differing rows and their order."""
    if n == 0:
        return f"The runs give the same answer on all {counted(n_rows, 'test row')}."
    order = "by row" if is_label else "widest apart first"
    return f"{integer(n)} of {counted(n_rows, 'test row')}, {order}."


# Cost


def cost_html(runs: Mapping[int, Candidate]) -> str:
    """Table of calls, tokens and time per run."""
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


def conditions_html(conditions: Iterable[Compared], places: Sequence[int], *, reference: int) -> str:
    """A line a condition, grouped by kind; what is not as in the reference is set bold."""
    head = f'<th scope="col">condition</th>{_letters(places)}'
    body, kind = [], ""
    for each in conditions:
        if each.kind != kind:
            kind = each.kind
            body.append(
                f'<tr class="kind"><th colspan="{len(places) + 1}" scope="rowgroup">{KIND_NAMES[kind]}</th></tr>'
            )
        body.append(_condition(each, reference))
    return grid("conditions", "Conditions of the runs", head, "".join(body))


def _condition(each: Compared, reference: int) -> str:
    base, missing = each.values[reference], "not used" if each.kind == "options" else "not known"
    shown = [(text(value) or "–" if value is not None else missing, value == base) for value in each.values]
    cells = "".join(f"<td>{words if is_same else f'<b>{words}</b>'}</td>" for words, is_same in shown)
    # An option has its label in the form; the prior's label there is a question.
    name = name_of(each.name) if each.kind == "options" else each.name.replace("_", " ")
    name = "Prior, in plain words" if (each.kind, each.name) == ("options", "prior") else name
    return f'<tr><th scope="row">{text(name)}</th>{cells}</tr>'


def conditions_sentence(conditions: Sequence[Compared]) -> str:
    """Sentence with the number of differing conditions."""
    n = sum(each.differs for each in conditions)
    return f"{integer(n)} of {counted(len(conditions), 'condition')} {'differs' if n == 1 else 'differ'}."
