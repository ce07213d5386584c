"""Runs side by side, in words and HTML: standings, cost, and conditions.

Runs go by a letter; their names are text from outside and escaped here.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from string import ascii_uppercase

from vpp.findings.baselines import Baselines, Name, SimpleModel
from vpp.findings.comparison import Candidate, Compared, Comparison, Standing, against, standing_of
from vpp.findings.listing import SHORT
from vpp.findings.options import changed_words, name_of
from vpp.findings.scores import score_text
from vpp.findings.summary import rounds
from vpp.posterior.metric import PairedDifference
from vpp.settings import METHOD_NAMES
from vpp.show.markup import CUE, group_row, scrolling, table, term, text
from vpp.show.words import (
    EQUAL,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    interval_text,
    listed,
    number,
    p_text,
    seconds,
)
from vpp.wording.counts import other_scores_text, steps_done, steps_text
from vpp.wording.verdicts import chance_verdict

CODES = ascii_uppercase
MODEL_NAMES: Mapping[Name, str] = {
    "constant": "one answer",
    "linear": "linear model",
    "tree": "tree of depth 2",
    "text": "TF-IDF model",
    "zero-shot": "the learner without a rule",
    "few-shot": "the learner with examples",
    "few-shot vote": "examples, voting at equal calls",
}
SIGN_TEST = (
    "Sign test p: how often a fair coin would split the rows on which the two differ at least as unevenly. It covers "
    "these test rows only: another seed is another draw, and one in twenty comparisons falls below 0.05 by chance."
)
VOTE = (
    "Vote accuracy counts the recorded vote on every test row. A tie counts with the answer recorded, no answer as "
    "wrong."
)


# Words


def setting_words(run: Candidate) -> str:
    """`Sequential Monte Carlo · K = 10 · mutate filtered`, without the seed."""
    words = (METHOD_NAMES[run.config.method], f"K = {run.config.size}")
    return " · ".join((*words, *changed_words(run.config, run.dataset.task)))


def state_words(run: Candidate) -> str:
    """`finished`, or how far the run is: `running, 8 of 20 steps`."""
    state = run.snapshot.state
    return state if state == "finished" or not run.view.started else f"{state}, {steps_text(run.view)}"


def run_words(run: Candidate) -> str:
    evaluated = run.test
    early = evaluated is not None and evaluated.step != run.view.last_step
    when = f"test rows asked after step {evaluated.step}" if early and evaluated else ""
    return " · ".join(filter(None, (setting_words(run), f"seed {run.config.seed}", state_words(run), when)))


def model_name(model: SimpleModel) -> str:
    if model.name == "constant":
        answer = model.answers[0]
        return f"Always {number(answer) if isinstance(answer, float) else f'“{answer}”'}"
    return capitalised(MODEL_NAMES[model.name])


def verdict(comparison: Comparison, simple: Baselines | None) -> str:
    base = comparison.standings[comparison.reference]
    if base is None:
        who = CODES[comparison.reference]
        return f"The test rows of {who} are not evaluated yet, so the runs cannot be compared."
    model = simple.best if simple else None
    beside = f"The best simple baseline, {MODEL_NAMES[model.name]}, reaches {score_text(model.score)}." if model else ""
    if len(comparison.comparable) == 1:
        return f"{CODES[comparison.reference]}: {_reached(base)}. {beside}".strip()
    return f"{_ranked(comparison, base)} {beside}".strip()


def _ranked(comparison: Comparison, base: Standing) -> str:
    own = {place: comparison.standings[place] for place in comparison.comparable}
    errors = {place: standing.score.error if standing else math.inf for place, standing in own.items()}
    tied = [place for place in errors if math.isclose(errors[place], min(errors.values()), abs_tol=EQUAL)]
    who, reference = listed([_who(comparison, place) for place in tied]), comparison.reference
    if reference in tied and len(tied) > 1:
        pair = f" {_between(comparison, *tied)}" if len(tied) == 2 else ""
        return f"{who} do equally well: {_reached(base)}.{pair}"
    other = reference if reference not in tied else min(errors.keys() - set(tied), key=errors.__getitem__)
    is_better = f"{'is' if len(tied) == 1 else 'are'} {'better' if len(errors) == 2 else 'best'}"
    lead = f"Of {in_words(len(errors))} runs on the same test rows, " if len(errors) > 2 else ""
    apart, is_label = errors[other] - errors[tied[0]], bool(comparison.base.dataset.classes)
    gap = f"{_digits(100 * apart, True)} points more" if is_label else f"{_digits(apart, False)} less"
    best, row_by_row = own[tied[0]] or base, _between(comparison, tied[0], other)
    return f"{lead}{who} {is_better}: {_reached(best)}, {gap} than {_who(comparison, other)}. {row_by_row}"


def _who(comparison: Comparison, place: int) -> str:
    """`B (MH)`; the method only if it tells the runs apart."""
    methods = [comparison.runs[each].config.method for each in comparison.comparable]
    return CODES[place] + (f" ({SHORT[comparison.runs[place].config.method]})" if len(set(methods)) > 1 else "")


def _reached(own: Standing) -> str:
    rows = counted(own.score.n, "test row")
    if own.score.n_correct is not None:
        return f"the vote is right on {integer(own.score.n_correct)} of {rows} ({score_text(own.score)})"
    return f"mean squared error {score_text(own.score)} on {rows}"


def _between(comparison: Comparison, better: int, worse: int) -> str:
    own, other = comparison.standings[better], comparison.standings[worse]
    difference = against(own, other) if own and other else None
    return paired_sentence(difference) if difference else ""


def paired_sentence(difference: PairedDifference) -> str:
    """`Not significant on these rows: better on 5 rows, worse on 2 (sign test p = 0.45).`"""
    better, worse = difference.better, difference.worse
    if better + worse == 0:
        return f"Neither is better on any of the {counted(difference.n, 'row')}."
    if better == worse:
        return f"Each is better on {integer(better)} of {counted(difference.n, 'row')}."
    verdict = capitalised(chance_verdict(difference.p)) if better > worse else "Yet it is worse on more rows"
    counts = f"better on {counted(better, 'row')}, worse on {integer(worse)}"
    return f"{verdict}: {counts} (sign test p = {p_text(difference.p)})."


def range_text(own: Standing) -> str:
    """Wilson's 95 % interval; for a mean squared error, its standard error."""
    if own.score.n_correct is not None:
        return interval_text(own.score.n_correct, own.score.n)
    return f"± {number(own.standard_error, 2)}" if own.standard_error is not None else "–"


def change_text(difference: PairedDifference, *, is_label: bool) -> str:
    """`+3.3 ± 2.4 points` of accuracy, or `−0.12 ± 0.05` of mean squared error, with a standard error."""
    scale = -100 if is_label else 1
    mean, spread = scale * difference.mean, difference.standard_error
    error = "" if spread is None else f" ± {_digits(abs(scale) * spread, is_label)}"
    return f"{'+' if mean > 0 else ''}{_digits(mean, is_label)}{error}{' points' if is_label else ''}"


def _digits(value: float, is_label: bool) -> str:
    return fixed(value, 1) if is_label else number(value, 3)


# The table of standings


def standings_html(comparison: Comparison, simple: Baselines | None) -> str:
    """Runs with the reference's test rows, then the simple models: metric, interval, difference from the reference."""
    base = comparison.standings[comparison.reference]
    if base is None:
        return ""
    metric = ("test MSE", "standard error") if base.score.n_correct is None else ("vote accuracy", "95 % interval")
    head = ("run or model", *metric, f"against {CODES[comparison.reference]}", "row by row", "sign test p")
    lines: list[_Line] = []
    for place in comparison.comparable:
        if own := comparison.standings[place]:
            lines.append((run_name(comparison, place), _standing_cells(own, comparison.difference(place))))
    n_runs = len(lines)
    for model in simple.models if simple else ():
        own = standing_of(model, comparison.base.dataset)
        lines.append((named("", model_name(model), model.about), _standing_cells(own, against(own, base))))
    return _versus("Standings", head, lines, n_runs=n_runs)


_Line = tuple[str, Sequence[str]]


def _versus(name: str, head: Sequence[str], lines: Sequence[_Line], *, n_runs: int) -> str:
    """Names, and numbers under heads that a narrow page repeats beside each. n_runs: lines before the simple models."""
    first, *others = (term(words) for words in head)
    numbers = "".join(f'<th scope="col" class="r">{words}</th>' for words in others)
    body = []
    for i, (named_as, cells) in enumerate(lines):
        drawn = (f'<td class="r" data-head="{text(of)}">{cell}</td>' for of, cell in zip(head[1:], cells, strict=True))
        kind = "" if i < n_runs else ' class="simple"'
        body.append(f'<tr{kind}><th scope="row">{named_as}</th>{"".join(drawn)}</tr>')
    return grid("versus", name, f'<th scope="col">{first}</th>{numbers}', "".join(body))


def grid(kind: str, name: str, head: str, body: str) -> str:
    """A table of cells that are HTML already. name: one that the page has once."""
    rows = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return scrolling(f'<table class="t {kind}">{rows}</table>', name)


def _standing_cells(own: Standing, difference: PairedDifference | None) -> list[str]:
    """Cells of a run or a simple model. difference: from the reference; None for the reference itself."""
    cells = [_metric(own), text(range_text(own))]
    if difference is None:
        return [*cells, '<span class="cap">the reference</span>', "", ""]
    # Without a row that tells the two apart there is no verdict.
    is_told_apart = difference.better + difference.worse > 0
    chance = chance_verdict(difference.p).removesuffix(" on these rows") if is_told_apart else ""
    rows = f"{integer(difference.better)} better, {integer(difference.worse)} worse"
    return [
        *cells,
        text(change_text(difference, is_label=own.score.n_correct is not None)),
        text(rows),
        f'{text(p_text(difference.p))}<span class="cap">{text(chance)}</span>',
    ]


def _metric(own: Standing, name: str = "") -> str:
    n, n_right = own.score.n, own.score.n_correct
    rows = counted(n, "row") if n_right is None else f"{integer(n_right)} of {integer(n)}"
    beside = (rows, other_scores_text(own.score))
    under = "".join(f'<span class="cap">{text(words)}</span>' for words in filter(None, beside))
    return f"<b>{text(name + score_text(own.score))}</b>{under}"


def named(code: str, name: str, about: str = "") -> str:
    letter = f'<b class="code">{text(code)}</b> ' if code else ""
    return f"{letter}{text(name)}{f'<span class=cap>{text(about)}</span>' if about else ''}"


def run_name(comparison: Comparison, place: int) -> str:
    run = comparison.runs[place]
    return named(CODES[place], run.label, run_words(run))


def legend_html(runs: Mapping[int, Candidate]) -> str:
    items = (f"<span>{named(CODES[place], run.label)}</span>" for place, run in runs.items())
    return f'<p class="cap letters">{" ".join(items)}</p>'


def left_out_text(simple: Baselines) -> str:
    """Columns that the simple models leave out; empty if none. It holds column names, so escape it."""
    if not simple.left_out:
        return ""
    columns = listed([f"{name} ({why})" for name, why in simple.left_out])
    return f"The simple baselines leave out {columns}."


def elsewhere_sentence(comparison: Comparison) -> str:
    letters = [CODES[place] for place in comparison.elsewhere]
    has, are = ("has", "is") if len(letters) == 1 else ("have", "are")
    other = f"{has} other test rows than {CODES[comparison.reference]} (another table, or another split of it)"
    return f"{listed(letters)} {other} and {are} not compared with it."


# Conditions and cost


KIND_NAMES: Mapping[str, str] = {
    "options": "Options of the method",
    "data": "Data",
    "endpoint": "Endpoint",
    "prompts": "Prompts",
    "versions": "Versions",
}
_NAMES = {"prior": "Prior, in plain words", "steps": "Steps T"}
"""Options whose label on a form is a question, or that a form does not have."""


# Cost


def cost_html(runs: Mapping[int, Candidate]) -> str:
    head = (
        "run", "steps", "learner calls", "optimizer calls", "from the cache", "failed", "unreadable", "refused",
        "tokens in", "tokens out", "rounds", "time",
    )  # fmt: skip
    rows = []
    for place, run in runs.items():
        usage, view = run.snapshot.usage, run.view
        counts = (
            usage.learner, usage.optimizer, usage.cached, usage.failed, usage.unparsable, usage.refused,
            usage.prompt_tokens, usage.completion_tokens, rounds(run.snapshot.spec, view),
        )  # fmt: skip
        steps = f"{steps_done(view)} of {view.total_steps}"
        rows.append((CODES[place], steps, *map(integer, counts), seconds(view.wall_s)))
    return CUE + table(head, rows, right=range(1, len(head)))


# Conditions


def conditions_html(conditions: Iterable[Compared], places: Sequence[int], *, reference: int, name: str) -> str:
    head = '<th scope="col">setting</th>' + "".join(
        f'<th scope="col"><b class="code">{CODES[place]}</b></th>' for place in places
    )
    body = []
    for kind, of_kind in groupby(conditions, key=lambda each: each.kind):
        body += [group_row(KIND_NAMES[kind], len(places) + 1), *(_condition(each, reference) for each in of_kind)]
    return grid("conditions", name, head, "".join(body))


def _condition(each: Compared, reference: int) -> str:
    base, missing = each.values[reference], "not used" if each.kind == "options" else "not known"
    shown = [(text(value) or "–" if value is not None else missing, value == base) for value in each.values]
    cells = "".join(f"<td>{words if is_same else f'<b>{words}</b>'}</td>" for words, is_same in shown)
    own = _NAMES.get(each.name) if each.kind == "options" else each.name.replace("_", " ")
    name = own or name_of(each.name)
    return f'<tr><th scope="row">{text(name)}</th>{cells}</tr>'
