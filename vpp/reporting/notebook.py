"""A posterior as a notebook or a terminal shows it: its headline, then an idea a line, heaviest first."""

from collections.abc import Sequence

from vpp.data.dataset import Dataset
from vpp.inspection.ideas import Idea, merge_ideas
from vpp.runs.reader import Snapshot
from vpp.wording.brief import headline
from vpp.wording.escaping import one_line
from vpp.wording.markup import text
from vpp.wording.words import NBSP, counted, number, percent, prior_text, weight_text

MOST_IDEAS = 20
"""Ideas shown; `Posterior.ideas` has all."""

_HYPOTHESIS = 'style="font:400 15px/1.45 Georgia,serif;text-align:left;max-width:42em;overflow-wrap:anywhere"'
_NUMBER = 'style="text-align:right;vertical-align:top;white-space:nowrap;font-variant-numeric:tabular-nums"'
_BAR = "display:block;height:4px;min-width:1px;background:currentColor"


def posterior_text(snapshot: Snapshot, dataset: Dataset) -> str:
    """A line an idea: weight, on the test rows, particles, text with white space as one blank."""
    head, shown, rest = _content(snapshot, dataset)
    return "\n".join((head, *map(_line, shown), *rest)).replace(NBSP, " ")


def posterior_html(snapshot: Snapshot, dataset: Dataset) -> str:
    """A table that takes its ink from the notebook's theme, with no script and nothing fetched."""
    title, shown, rest = _content(snapshot, dataset)
    head = "".join(f"<th {_NUMBER}>{text(name)}</th>" for name in ("weight", "on test", "particles"))
    head += '<th style="text-align:left">hypothesis</th>'
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, shown))}</tbody></table>"
    after = "".join(f"<p>{text(words)}</p>" for words in rest)
    return f"<div><p><b>{text(snapshot.spec.name)}</b>: {text(title)}</p>{table}{after}</div>"


def particle_html(hypothesis: str, *, slot: int, weight: float, log_likelihood: float | None) -> str:
    """Return a card: the weight as a number and a bar, the particle, and its hypothesis."""
    bar = f'<i style="{_BAR};width:{100 * weight:.1f}%"></i>'
    fit = "" if log_likelihood is None else f" · log-likelihood {number(log_likelihood)}"
    head = f"<b>{text(weight_text(weight))}</b> · particle {slot}{text(fit)}"
    return f"<div>{bar}<p>{head}</p><p {_HYPOTHESIS}>{text(hypothesis)}</p></div>"


def _content(snapshot: Snapshot, dataset: Dataset) -> tuple[str, Sequence[Idea], list[str]]:
    """Headline, the ideas shown, and a line on those left out."""
    ideas = merge_ideas(snapshot.view, dataset)
    every = ideas.all if ideas else ()
    n_hidden = len(every) - MOST_IDEAS
    rest = [f"and {counted(n_hidden, 'lighter idea')}"] if n_hidden > 0 else []
    return headline(snapshot.view, snapshot.spec.config, dataset, ideas), every[:MOST_IDEAS], rest


def _line(idea: Idea) -> str:
    held = counted(len(idea.slots), "particle")
    return f"{weight_text(idea.weight)}{prior_text(idea.prior)}  {_on_test(idea):>9}  {held}  {one_line(idea.text)}"


def _row(idea: Idea) -> str:
    bar = f'<i style="{_BAR};width:{100 * idea.weight:.1f}%"></i>'
    numbers = (f"{weight_text(idea.weight)}{prior_text(idea.prior)}", _on_test(idea), ", ".join(map(str, idea.slots)))
    cells = "".join(f"<td {_NUMBER}>{text(cell)}</td>" for cell in numbers)
    return f"<tr>{cells}<td {_HYPOTHESIS}>{bar}{text(idea.text)}</td></tr>"


def _on_test(idea: Idea) -> str:
    if idea.test is None:
        return "–"
    if idea.test.n_correct is not None:
        return percent(idea.test.n_correct / idea.test.n, decimals=1)
    return f"MSE {number(idea.test.mse or 0.0, 3)}"
