"""What the data left standing and what they ruled out, as HTML."""

from collections.abc import Sequence

from vpp.inspection.ideas import Idea, Ideas
from vpp.inspection.ruled_out import Contradiction, RuledOut
from vpp.reporting.cards import without_seed
from vpp.reporting.markup import Mark, badge, text
from vpp.reporting.matrix import inputs_line
from vpp.reporting.words import counted, fixed, number, value_text

MARKS: dict[str, tuple[Mark, str]] = {
    "rejected": ("rej", "rejected"),
    "resampled away": ("gone", "resampled away"),
    "unparsable": ("abs", "unreadable"),
}
SHOWN_ROWS = 3
FAINT_BELOW = 0.02


def ideas_html(ideas: Ideas, *, seed_text: str, is_weighted: bool = True) -> str:
    """Ideas by summed weight, or by how many hold them, each with its wordings folded away."""
    n = sum(len(idea.slots) for idea in ideas)
    shown = (f"{idea.weight:.3f}" if is_weighted else f"{len(idea.slots)}/{n}" for idea in ideas)
    cards = "".join(_idea(idea, weight, seed_text) for idea, weight in zip(ideas, shown, strict=True))
    return f'<p class="seed">All begin: “{text(seed_text)}”</p><div class="deck">{cards}</div>'


def _idea(idea: Idea, weight: str, seed_text: str) -> str:
    sentence, *others = (without_seed(wording, seed_text) for wording in idea.texts)
    faint = " faint" if idea.weight < FAINT_BELOW else ""
    held = counted(len(idea.slots), "particle")
    return (
        f'<article class="card{faint}" data-key="{idea.slots[0]}" style="--w:{idea.weight:.4f}">'
        f'<div class="slot"><span class="wt num">{weight}</span><span class="k">{held}</span></div>'
        f'<div><p class="hyp">{text(sentence)}</p>{_wordings(others)}</div>'
        f'<div class="rail">{_facts(idea)}</div></article>'
    )


def _wordings(others: Sequence[str]) -> str:
    if not others:
        return ""
    said = "".join(f'<p class="hyp">{text(wording)}</p>' for wording in others)
    title = f"{counted(len(others), 'other wording')} with the same answers"
    return (
        f'<div class="foot"><details class="par" data-fold="wordings"><summary>{title}</summary>{said}</details></div>'
    )


def _facts(idea: Idea) -> str:
    facts = []
    if idea.n_test is not None and idea.n_correct_test is not None:
        facts.append(f"{idea.n_correct_test} of {idea.n_test} test rows right")
    if idea.mse_test is not None:
        facts.append(f"test MSE {number(idea.mse_test)}")
    facts.append(f"particle{'s' if len(idea.slots) > 1 else ''} {', '.join(map(str, idea.slots))}")
    return "".join(f"<span>{text(fact)}</span>" for fact in facts)


def ruled_out_html(entries: Sequence[RuledOut], *, seed_text: str) -> str:
    """A row an entry: what happened, the whole text, and the rows that decided it."""
    return f'<div class="ledger">{"".join(_entry(entry, seed_text) for entry in entries)}</div>'


def _entry(entry: RuledOut, seed_text: str) -> str:
    mark, words = MARKS[entry.reason]
    newest = entry.newest
    often = f", {entry.times} times in all" if entry.times > 1 else ""
    when = f"step {newest.step}, particle {', '.join(map(str, newest.particles))}{often}"
    return (
        f'<article class="out"><div>{badge(mark, words)}<p class="cap">{text(when)}</p></div>'
        f'<p class="hyp">{text(without_seed(entry.text, seed_text))}</p><div class="why">{_why(entry)}</div></article>'
    )


def _why(entry: RuledOut) -> str:
    newest = entry.newest
    parts = []
    if entry.why_unread:
        parts.append(f"<p>{text(entry.why_unread)}</p>")
    if newest.log_alpha is not None:
        parts.append(
            f'<p class="cap">log α = {text(fixed(newest.log_alpha))}, u = {text(fixed(newest.u or 0.0, 3))}</p>'
        )
    if newest.weight is not None:
        parts.append(f"<p>It left no copy when the particles were redrawn: weight {newest.weight:.3f} before.</p>")
    if newest.contradictions:
        n = len(newest.contradictions)
        verb = "contradicts" if n == 1 else "contradict"
        parts.append(f"<p>{n} of {newest.n_rows} rows {verb} it.</p>")
        parts.append(_contradictions(newest.contradictions[:SHOWN_ROWS]))
    return "".join(parts)


def _contradictions(rows: Sequence[Contradiction]) -> str:
    body = "".join(
        f"<tr><td>{c.row.id}</td><td>{text(inputs_line(c.row, 3))}</td>"
        f"<td><b>{text(value_text(c.said))}</b></td><td>{text(value_text(c.target))}</td></tr>"
        for c in rows
    )
    head = "<tr><th>row</th><th>inputs</th><th>it said</th><th>true</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
