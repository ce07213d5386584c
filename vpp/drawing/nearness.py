"""Agreement between ideas: a matrix (darker = more disagreement), the groups, and a verdict."""

from collections.abc import Sequence
from itertools import pairwise

from vpp.drawing.deck import without_seed
from vpp.drawing.idea_deck import held_sentence, held_text
from vpp.inspection.ideas import Group, Nearness
from vpp.wording.markup import scrolling, table, text
from vpp.wording.words import counted, in_words, integer, listed, number, percent

MOST_INK = 34
"""Percent of ink in a cell of no agreement at all, on which text keeps a contrast of 4.5 in both themes."""


def verdict(near: Nearness, groups: Sequence[Group], threshold: float) -> str:
    """`Ten particles hold four ideas; at 95 % agreement two different explanations remain.`"""
    held, n = held_sentence(near.ideas), len(groups)
    at = f"at {percent(threshold)} agreement"
    if len(near.ideas) == 1:
        return f"{held}: there is nothing to compare."
    remain = f"{'one explanation remains' if n == 1 else f'{in_words(n)} different explanations remain'}"
    only = f", of the {in_words(near.n)} heaviest" if near.n < len(near.ideas) else ""
    return f"{held}; {at} {remain}{only}."


def meaning(near: Nearness, threshold: float) -> str:
    rows = counted(near.ideas.n_rows, "row")
    together = "An explanation is a group of ideas of which any two"
    silent = "two unreadable answers are alike, one is as far from any answer as can be"
    if near.span is None:
        return f"{together} give the same answer on at least {percent(threshold)} of {rows}; {silent}."
    off = number((1 - threshold) * near.span, 3)
    return (
        f"{together} differ by at most {off} on {rows} (root mean square, in the target’s unit). Agreement is "
        f"{percent(1.0)} less that difference as a share of the target’s range, {number(near.span)}; {silent}."
    )


def alt_words(near: Nearness) -> str:
    if near.n == 2:
        return _pair_sentence(near)
    (a, b), (c, d) = near.pair(nearest=True), near.pair(nearest=False)
    most, least = agreement(near, a, b), agreement(near, c, d)
    return f"Ideas {a + 1} and {b + 1} agree most, {most}; ideas {c + 1} and {d + 1} least, {least}."


def _pair_sentence(near: Nearness) -> str:
    """`Ideas 1 and 2 answer 7 of 40 rows differently.`, or of numbers their difference in the target's unit."""
    rows = counted(near.ideas.n_rows, "row")
    if near.differences is None:
        n = round((1 - float(near.similarity[0, 1])) * near.ideas.n_rows)
        return f"Ideas 1 and 2 answer {integer(n)} of {rows} differently."
    off = number(float(near.differences[0, 1]), 3)
    return f"Ideas 1 and 2 differ by {off} (root mean square, in the target’s unit) on {rows}."


def agreement(near: Nearness, a: int, b: int) -> str:
    """`on 8 of 10 rows`, or `to 70.7 %, a difference of 1.17`."""
    if near.differences is None:
        n = near.ideas.n_rows
        return f"on {integer(round(float(near.similarity[a, b]) * n))} of {counted(n, 'row')}"
    return f"to {percent(float(near.similarity[a, b]), 1)}, a difference of {number(float(near.differences[a, b]), 3)}"


def matrix_html(near: Nearness, groups: Sequence[Group], *, seed_text: str, is_weighted: bool) -> str:
    group_of = {number: i for i, group in enumerate(groups) for number in group.numbers}
    # The first idea of each group but the first, in drawing order.
    begins = {number for before, number in pairwise(near.order) if group_of[before] != group_of[number]}
    columns = "".join(f'<th scope="col"{_edge(n in begins)}>{n + 1}</th>' for n in near.order)
    body = "".join(_line(near, number, begins, seed_text, is_weighted=is_weighted) for number in near.order)
    head = f'<thead><tr><th scope="col">idea</th>{columns}<td></td></tr></thead>'
    caption = f'<caption class="sr">Agreement of each two ideas in percent. {text(alt_words(near))}</caption>'
    drawn = f'<table class="kin">{caption}{head}<tbody>{body}</tbody></table>'
    return scrolling(drawn, "Agreement between hypotheses", "kin-wrap")


def _edge(begins: bool) -> str:
    return ' class="edge"' if begins else ""


def _line(near: Nearness, number: int, begins: set[int], seed_text: str, *, is_weighted: bool) -> str:
    idea = near.ideas.all[number]
    cells = "".join(_cell(near, number, other, edge=other in begins) for other in near.order)
    words = text(without_seed(idea.text, seed_text))
    held = text(held_text(idea.weight, len(idea.slots), near.ideas, is_weighted=is_weighted))
    return (
        f'<tr{_edge(number in begins)}><th scope="row">{number + 1}</th>{cells}'
        f'<td class="words" title="{words}"><span class="num">{held}</span> {words}</td></tr>'
    )


def _cell(near: Nearness, number: int, other: int, *, edge: bool) -> str:
    if number == other:
        return f'<td class="self{" edge" if edge else ""}"></td>'
    similarity = float(near.similarity[number, other])
    ink = MOST_INK * (1 - similarity)
    # Rounded down, so that only ideas that never differ show 100.
    return f'<td{_edge(edge)} style="--d:{ink:.1f}%">{int(100 * similarity + 1e-9)}</td>'


def groups_html(near: Nearness, groups: Sequence[Group], *, seed_text: str, is_weighted: bool) -> str:
    head, rows = group_table(near, groups, is_weighted=is_weighted)
    said = (without_seed(near.ideas.all[group.numbers[0]].text, seed_text) for group in groups)
    whole = [(*cells, sentence) for cells, sentence in zip(rows, said, strict=True)]
    return table((*head, "the heaviest says"), whole, name="groups of ideas")


def group_table(
    near: Nearness, groups: Sequence[Group], *, is_weighted: bool
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head, and a row per group: its weight, its ideas, its particles, and their least agreement."""
    head = ("weight" if is_weighted else "share", "ideas", "particles", "agree at least")
    rows: list[tuple[str, ...]] = [
        (
            held_text(group.weight, group.n_particles, near.ideas, is_weighted=is_weighted),
            listed([number + 1 for number in group.numbers]),
            integer(group.n_particles),
            percent(group.least, 1) if len(group.numbers) > 1 else "one idea",
        )
        for group in groups
    ]
    return head, rows
