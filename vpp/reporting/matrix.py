"""The disagreement matrix: points x particles. Agreement is silent, dissent is ink."""

from collections.abc import Mapping, Sequence

from vpp.data.dataset import Row
from vpp.inspection.points import Point
from vpp.posterior.prediction import Value
from vpp.reporting.markup import badge, text, votes

MOST_INPUTS = 6


def codes(labels: Sequence[str]) -> dict[str, str]:
    """A short sign for each label: its first letters, as many as tell it from the others, or its number."""
    for length in (1, 2, 3):
        signs = [label[:length] for label in labels]
        if len(set(signs)) == len(labels):
            return dict(zip(labels, signs, strict=True))
    return {label: str(i) for i, label in enumerate(labels, start=1)}


def code_legend(labels: Sequence[str]) -> str:
    """What the signs stand for; empty where they are the labels themselves."""
    found = codes(labels)
    return ", ".join(f"{sign} = {label}" for label, sign in found.items() if sign != label)


def matrix_html(
    shown: Sequence[Point], weights: Sequence[float], labels: Sequence[str], *, voting: str = "weighted"
) -> str:
    """A row a point, a column a particle, heaviest first; labels are written as their `codes`, none means numbers.

    voting: how particles count, `weighted` or `unweighted`; empty where there is one.
    """
    signs = codes(labels)
    order = sorted(range(len(weights)), key=lambda k: (-weights[k], k))
    peak = max(weights, default=1) or 1
    columns = "".join(
        f'<th class="col" scope="col"><span class="wb" style="--w:{weights[k] / peak:.3f}"></span>'
        f'<abbr title="particle {k}, weight {weights[k]:.3f}">{k}</abbr></th>'
        for k in order
    )
    numeric = not labels
    tail = "mean, 90 % of the particles" if numeric else f"{voting} vote".strip()
    first = '<th scope="col">row</th><th scope="col">inputs</th>'
    head = f'{first}{columns}<th scope="col">{tail}</th><th scope="col">true</th>'
    body = "".join(_line(point, order, numeric, signs) for point in shown)
    kind = " wide" if numeric else ""
    table = f'<table class="mx{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="mx-wrap">{table}</div>'


def _line(point: Point, order: Sequence[int], numeric: bool, signs: Mapping[str, str]) -> str:
    cells = "".join(_cell(point.votes[k], point.prediction, numeric, signs) for k in order)
    ending = _spread(point) if numeric else votes(point.shares, point.abstained)
    wrong = badge("rej", "vote wrong") if point.is_wrong else ""
    truth = _number(point.row.target) if numeric else str(point.row.target)
    whole = inputs_line(point.row, len(point.row.inputs))
    return (
        f'<tr><td class="id"><b>{point.row.id}</b></td><td class="in" title="{text(whole)}">'
        f"{text(inputs_line(point.row))}</td>{cells}"
        f'<td class="tail">{ending}</td><td class="id truth">{text(truth)} {wrong}</td></tr>'
    )


def _cell(vote: Value | None, prediction: Value | None, numeric: bool, signs: Mapping[str, str]) -> str:
    if vote is None:
        return '<td class="x ab"><span class="sr">no readable answer</span></td>'
    if numeric:
        return f'<td class="x">{text(_number(vote))}</td>'
    dissent = " di" if vote != prediction else ""
    return f'<td class="x{dissent}" title="{text(vote)}">{text(signs.get(str(vote), str(vote)))}</td>'


def _spread(point: Point) -> str:
    if point.interval is None:
        return '<span class="cap">no readable answer</span>'
    low, high = point.interval
    mean = _number(point.prediction)
    return (
        f'<span class="num">{text(mean)}</span> <span class="cap">{text(_number(low))} to {text(_number(high))}</span>'
    )


def _number(value: Value | None) -> str:
    return "none" if value is None else f"{value:.4g}".replace("-", "−") if isinstance(value, float) else str(value)


def inputs_line(row: Row, most: int = MOST_INPUTS) -> str:
    """A row's inputs in one line; all of them where they are few."""
    parts = [f"{name} {'missing' if cell is None else cell}" for name, cell in row.inputs[:most]]
    more = len(row.inputs) - most
    return ", ".join(parts) + (f", and {more} more" if more > 0 else "")
