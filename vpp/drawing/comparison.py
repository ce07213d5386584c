"""Runs side by side, in words and HTML. Runs go by a letter; their names are text from outside and escaped here."""

import math
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase

from vpp.inspection.baselines import Baselines, Name, SimpleModel
from vpp.inspection.comparison import Candidate, Comparison, Spread, Standing, against, standing_of
from vpp.inspection.scores import Score
from vpp.posterior.metric import PairedDifference
from vpp.settings import METHOD_NAMES
from vpp.wording.counts import other_scores_text, sizes_text, steps_text
from vpp.wording.listing import SHORT
from vpp.wording.markup import scrolling, table, term, text
from vpp.wording.options import changed_words
from vpp.wording.verdicts import DEFAULTS, Thresholds, chance_verdict
from vpp.wording.words import (
    NBSP,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    interval_text,
    listed,
    number,
    score_text,
)

CODES = ascii_uppercase
"""Letters of runs, by place; as many runs can be compared."""
MODEL_NAMES: Mapping[Name, str] = {"constant": "one answer", "linear": "linear model", "tree": "tree of depth 2"}
SIGN_TEST = (
    "Sign test: among the rows on which the two do not do equally well, how often an even coin would split them at "
    "least as unevenly. It speaks of these test rows alone: another seed is another draw, and among many comparisons a "
    "small p comes by chance."
)


# Words


def setting_words(run: Candidate) -> str:
    """`Sequential Monte Carlo · K = 10 · mutate filtered`, without the seed."""
    words = (METHOD_NAMES[run.config.method], f"K = {sizes_text(run.view, run.config)}")
    return " · ".join((*words, *changed_words(run.config, run.dataset.task)))


def state_words(run: Candidate) -> str:
    """`finished`, or how far the run is: `running, 8 of 20 steps`."""
    state = run.snapshot.state
    return state if state == "finished" or not run.view.started else f"{state}, {steps_text(run.view)}"


def run_words(run: Candidate) -> str:
    """Line under a run's name: setting, seed, state and id."""
    evaluated = run.test
    early = evaluated is not None and evaluated.step != run.view.last_step
    when = f"test rows asked after step {evaluated.step}" if early and evaluated else ""
    return " · ".join(filter(None, (setting_words(run), f"seed {run.config.seed}", state_words(run), when, run.id)))


def model_name(model: SimpleModel) -> str:
    """Name of a simple model; for a constant one, with its answer."""
    if model.name == "constant":
        answer = model.answers[0]
        return f"Always {number(answer) if isinstance(answer, float) else f'“{answer}”'}"
    return capitalised(MODEL_NAMES[model.name])


def verdict(comparison: Comparison, simple: Baselines | None, *, at: Thresholds = DEFAULTS) -> str:
    """One or two sentences on the runs' results on the reference's test rows; holds no outside text."""
    reference = CODES[comparison.reference]
    base = comparison.standings[comparison.reference]
    if base is None:
        return f"The test rows of {reference} are not evaluated yet, so the runs cannot be compared."
    others = [place for place in comparison.comparable if place != comparison.reference]
    if not others:
        alone = _reached(reference, base)
        if simple is None:
            return f"{alone}."
        model = simple.best
        return f"{alone}; the best simple baseline, {MODEL_NAMES[model.name]}, {_count(model.score)}."
    if len({_error(comparison, place) for place in comparison.comparable}) == 1 and len(others) > 1:
        return f"{_reached(f'Each of {in_words(len(others) + 1)} runs', base)}."
    best = min(others, key=lambda place: _error(comparison, place))
    own, difference = comparison.standings[best], comparison.difference(best)
    if own is None or difference is None:
        return f"{_reached(reference, base)}."
    lead = f"Of {in_words(len(others) + 1)} runs on the same test rows: " if len(others) > 1 else ""
    both = f"{lead}{_reached(CODES[best], own)}; {reference}, the reference, {_count(base.score)}."
    return f"{both} {difference_sentence(CODES[best], difference, at=at)}"


def _error(comparison: Comparison, place: int) -> float:
    own = comparison.standings[place]
    return math.inf if own is None else own.score.error


def _reached(who: str, own: Standing) -> str:
    if own.score.n_correct is not None:
        return f"{who} gets {integer(own.score.n_correct)} of {counted(own.score.n, 'test row')} right"
    return f"{who} has a mean squared error of {score_text(own.score)} on {counted(own.score.n, 'test row')}"


def _count(score: Score) -> str:
    return integer(score.n_correct) if score.n_correct is not None else score_text(score)


def difference_sentence(who: str, difference: PairedDifference, *, at: Thresholds = DEFAULTS) -> str:
    """`B does better on 5 rows, worse on 2 (of 60): sign test p = 0.45, not significant on these rows.`"""
    if difference.better + difference.worse == 0:
        return f"On none of the {counted(difference.n, 'row')} does one do better than the other."
    counts = f"better on {counted(difference.better, 'row')}, worse on {integer(difference.worse)}"
    test = f"sign test p = {p_text(difference.p)}, {chance_verdict(difference.p, at=at)}"
    return f"{who} does {counts} (of {integer(difference.n)}): {test}."


def p_text(p: float) -> str:
    """`0.45`, `0.012`, `under 0.001`."""
    if p < 0.001:
        return "under 0.001"
    return fixed(p, 3 if p < 0.1 else 2)


def range_text(own: Standing) -> str:
    """Wilson's 95 % interval with the count behind it; for a mean squared error, its standard error."""
    if own.score.n_correct is not None:
        n_correct, n = own.score.n_correct, own.score.n
        return f"{integer(n_correct)} of {integer(n)}: {interval_text(n_correct, n)}"
    error = own.standard_error
    return f"± {number(error, 2)}, {counted(own.score.n, 'row')}" if error is not None else "one row"


def change_text(difference: PairedDifference, *, is_label: bool) -> str:
    """`+3.3 ± 2.4 points` of accuracy, or `−0.12 ± 0.05` of mean squared error, with a standard error."""
    sign, scale = (-1, 100) if is_label else (1, 1)
    mean = sign * scale * difference.mean
    shown = ("+" if mean > 0 else "") + _digits(mean, is_label)
    error = "" if difference.standard_error is None else f" ± {_digits(scale * difference.standard_error, is_label)}"
    return f"{shown}{error}{' points' if is_label else ''}"


def _digits(value: float, is_label: bool) -> str:
    return fixed(value, 1) if is_label else number(value, 3)


# The table of standings


def standings_html(comparison: Comparison, simple: Baselines | None, *, at: Thresholds = DEFAULTS) -> str:
    """Runs with the reference's test rows, then the simple models: metric, interval, difference from the reference."""
    base = comparison.standings[comparison.reference]
    if base is None:
        return ""
    is_label, reference = base.score.n_correct is not None, CODES[comparison.reference]
    rows = []
    for place in comparison.comparable:
        run, own = comparison.runs[place], comparison.standings[place]
        if own is not None:
            name = named(CODES[place], run.snapshot.spec.name, run_words(run))
            rows.append(f"<tr>{_standing_cells(name, own, comparison.difference(place), at)}</tr>")
    for model in simple.models if simple else ():
        name, own = named("", model_name(model), model.about), standing_of(model, comparison.base.dataset)
        rows.append(f'<tr class="simple">{_standing_cells(name, own, against(own, base), at)}</tr>')
    metric = ("test accuracy", "95 % interval") if is_label else ("test MSE", "± standard error")
    head = ("run or model", *metric, f"against {reference}", "better, worse", "p")
    return _versus("Standings", head, "".join(rows))


def _versus(name: str, head: Sequence[str], body: str) -> str:
    """The first column holds names, the others numbers."""
    first, *others = (term(words) for words in head)
    numbers = "".join(f'<th scope="col" class="r">{words}</th>' for words in others)
    return grid("versus", name, f'<th scope="col">{first}</th>{numbers}', body)


def grid(kind: str, name: str, head: str, body: str) -> str:
    """A table of cells that are HTML already. name: one that the page has once."""
    rows = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return scrolling(f'<table class="t {kind}">{rows}</table>', name)


def _standing_cells(name: str, own: Standing, difference: PairedDifference | None, at: Thresholds) -> str:
    """Cells of a run or a simple model. difference: from the reference; None for the reference itself."""
    if difference is None:
        ending = '<td class="r cap" colspan="3">the reference</td>'
    else:
        # Without a row that tells the two apart there is no verdict.
        is_told_apart = difference.better + difference.worse > 0
        chance = chance_verdict(difference.p, at=at).removesuffix(" on these rows") if is_told_apart else ""
        change = change_text(difference, is_label=own.score.n_correct is not None)
        ending = (
            f'{_right(change)}<td class="r">{integer(difference.better)}, {integer(difference.worse)}</td>'
            f'<td class="r">{text(p_text(difference.p))}<span class="cap">{text(chance)}</span></td>'
        )
    return (
        f'<th scope="row">{name}</th><td class="r"><b>{text(score_text(own.score))}</b>{_beside(own)}</td>'
        f"{_right(range_text(own))}{ending}"
    )


def _beside(own: Standing) -> str:
    """The other figures of the same answers, under the metric."""
    return f'<span class="cap">{text(other_scores_text(own.score))}</span>'


def named(code: str, name: str, about: str = "") -> str:
    """A run's letter and name, and a line under them."""
    letter = f'<b class="code">{text(code)}</b> ' if code else ""
    return f"{letter}{text(name)}{f'<span class=cap>{text(about)}</span>' if about else ''}"


def legend_html(runs: Mapping[int, Candidate]) -> str:
    """Legend of the runs' letters."""
    words = {place: f"{run.snapshot.spec.name} · {SHORT[run.config.method]} · {run.id}" for place, run in runs.items()}
    items = (f"<span>{named(CODES[place], words)}</span>" for place, words in words.items())
    return f'<p class="cap letters">{" ".join(items)}</p>'


def left_out_text(simple: Baselines) -> str:
    """Columns that the simple models leave out; empty if none. It holds column names, so escape it."""
    if not simple.left_out:
        return ""
    columns = listed([f"{name} ({why})" for name, why in simple.left_out])
    return f"The simple baselines leave out {columns}."


def elsewhere_html(comparison: Comparison, simple: Callable[[Candidate], Baselines]) -> str:
    """Runs with other test rows: their own figures and what the simple models reach on the same rows."""
    head = ("run", "its own test rows", "95 % interval, or ± standard error", *MODEL_NAMES.values())
    rows = []
    for place in comparison.elsewhere:
        run, own = comparison.runs[place], comparison.standings[place]
        if own is None:
            continue
        scores = {model.name: score_text(model.score) for model in simple(run).models}
        cells = (range_text(own), *(scores.get(name, "–") for name in MODEL_NAMES))
        metric = f"{'MSE ' if own.score.n_correct is None else ''}{score_text(own.score)}"
        rows.append(
            f'<tr><th scope="row">{named(CODES[place], run.snapshot.spec.name, run_words(run))}</th>'
            f'<td class="r"><b>{text(metric)}</b>{_beside(own)}</td>{"".join(_right(cell) for cell in cells)}</tr>'
        )
    return _versus("Each on its own rows", head, "".join(rows))


def _right(words: str) -> str:
    return f'<td class="r">{text(words)}</td>'


def elsewhere_sentence(comparison: Comparison) -> str:
    """Reason why these runs are not compared row by row."""
    reference, letters = CODES[comparison.reference], [CODES[place] for place in comparison.elsewhere]
    has, their = ("has", "its") if len(letters) == 1 else ("have", "their")
    task = comparison.base.dataset.task
    words = (
        f"{listed(letters)} {has} other test rows than {reference} (another table, or another split of it), so only "
        f"{their} own figures stand here, without a comparison row by row."
    )
    strangers = [CODES[p] for p in comparison.elsewhere if comparison.runs[p].dataset.task != task]
    if strangers:
        words += f" {listed(strangers)} {'is' if len(strangers) == 1 else 'are'} of another kind of target, with "
        words += "another metric: those are not comparable at all."
    return words


# Seeds


def spread_html(comparison: Comparison, spreads: Sequence[Spread]) -> str:
    """Table with a line per setting: mean ± sample standard deviation over seeds, and each seed's own value."""
    rows = []
    for spread in spreads:
        run, own = comparison.runs[spread.places[0]], comparison.standings[spread.places[0]]
        is_label = own is not None and own.score.n_correct is not None
        files = f", {counted(spread.n_files, 'different file')}" if spread.n_files > 1 else ""
        rows.append(
            (
                " ".join(CODES[place] for place in spread.places),
                f"{setting_words(run)} · {run.dataset.name}{files}",
                spread_text(spread, is_label=is_label),
                "; ".join(f"{seed}: {_value(value, is_label)}" for seed, value in spread.by_seed),
            )
        )
    return table(("runs", "setting", "mean ± sample standard deviation (seeds)", "by seed"), rows, right=(2,))


def spread_text(spread: Spread, *, is_label: bool) -> str:
    """`94.2 ± 3.5 % (2)`, `1.08 ± 0.05 (2)`, `96.7 % (1 seed)`."""
    n = len(spread.by_seed)
    if spread.deviation is None:
        return f"{_value(spread.mean, is_label)} (1 seed)"
    if is_label:
        return f"{fixed(100 * spread.mean, 1)} ± {fixed(100 * spread.deviation, 1)}{NBSP}% ({n})"
    return f"{number(spread.mean)} ± {number(spread.deviation, 2)} ({n})"


def _value(value: float, is_label: bool) -> str:
    return f"{fixed(100 * value, 1)}{NBSP}%" if is_label else number(value)
