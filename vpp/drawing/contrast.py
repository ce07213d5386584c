"""A point opened: its inputs, what each particle said of it and why, and how the camps' sentences differ."""

from collections.abc import Callable, Mapping, Sequence

from vpp.drawing.cards import without_seed
from vpp.events import Evaluated
from vpp.inspection.camps import Camp, camps, heaviest_first
from vpp.inspection.points import Point
from vpp.problem import Prediction
from vpp.wording import markup
from vpp.wording.markup import text
from vpp.wording.word_diff import diff_html, is_rewritten
from vpp.wording.words import counted, number, percent, target_text, value_text, weight_text

Reasons = Mapping[tuple[str, int], Prediction]
"""What the learner said, by hypothesis id and row id."""
ANSWERS = ("particle", "weight", "answer", "its reason")
MOST_CAMPS = 4
"""Camps contrasted with the first; a vote of many labels has many."""


def point_html(
    point: Point, test: Evaluated, reasons: Reasons, sentence: Callable[[int], str], decimals: int | None = None
) -> str:
    """sentence: what the optimizer wrote for a slot, the seed sentence left out. decimals: of the training targets."""
    sides = camps(point, test.weights)
    inputs = [(name, "missing" if cell is None else cell) for name, cell in point.row.inputs]
    answers = answer_rows(point, test, reasons, sides)
    return "".join(
        (
            markup.heading(f"Row {point.row.id}", outcome(point, decimals)),
            f'<div class="opened">{markup.table(("input", "value"), inputs)}{contrast_html(sides, sentence)}</div>',
            f'<div class="answers">{markup.table(ANSWERS, answers, right=(1,))}</div>',
        )
    )


def sentences(test: Evaluated, texts: Mapping[str, str], seed_text: str) -> Callable[[int], str]:
    """Each slot's hypothesis without the seed sentence. texts: by hypothesis id."""
    return lambda slot: without_seed(texts[test.hypotheses[slot]], seed_text)


def outcome(point: Point, decimals: int | None = None) -> str:
    """The vote or the mean beside the truth. decimals: of the training targets."""
    truth = value_text(point.row.target)
    if isinstance(point.row.target, str):
        voted = "nobody answered, which counts as wrong" if point.prediction is None else str(point.prediction)
        verdict = "" if point.prediction is None else ": wrong" if point.is_wrong else ": right"
        return f"true: {truth} · vote: {voted}{verdict}"
    if isinstance(point.prediction, float) and isinstance(point.row.target, float):
        off = number(abs(point.prediction - point.row.target))
        return f"true: {truth} · mean: {target_text(point.prediction, decimals)}, off by {off}"
    return f"true: {truth} · nobody answered"


def answer_rows(point: Point, test: Evaluated, reasons: Reasons, sides: Sequence[Camp]) -> list[tuple[str, ...]]:
    """A row a particle: camp by camp, within them heaviest first, then those without a voice."""
    in_camps = [slot for camp in sides for slot in camp.slots]
    rest = [slot for slot in heaviest_first(test.weights) if slot not in set(in_camps)]
    return [
        (
            str(slot),
            weight_text(test.weights[slot]),
            "no readable answer" if point.votes[slot] is None else value_text(point.votes[slot]),
            _reason(reasons.get((test.hypotheses[slot], point.row.id))),
        )
        for slot in (*in_camps, *rest)
    ]


def _reason(prediction: Prediction | None) -> str:
    return (prediction.explanation or prediction.reason or "") if prediction else ""


def contrast_html(sides: Sequence[Camp], sentence: Callable[[int], str]) -> str:
    """The heaviest hypothesis of the first camp, and of each other camp its heaviest, word by word against that."""
    if not sides:
        return _told("Nobody with weight answered: there is nothing to contrast.")
    first, *others = sides
    if not others:
        return _told(
            "All voices answer alike." + (f" The heaviest, particle {first.speaker}, says:"),
            _sentence(text(sentence(first.speaker))),
        )
    said = sentence(first.speaker)
    shown = "".join(_other(camp, said, sentence(camp.speaker)) for camp in others[:MOST_CAMPS])
    more = len(others) - MOST_CAMPS
    rest = markup.caption(f"And {counted(more, 'lighter camp')} more.") if more > 0 else ""
    return f'<div class="camps">{_camp(first, text(said))}{shown}{rest}</div>'


def _told(words: str, said: str = "") -> str:
    return f'<div class="camps">{markup.caption(words)}{said}</div>'


def _camp(camp: Camp, said: str, note: str = "") -> str:
    many = len(camp.slots)
    place = "the first of {} of equal weight" if camp.is_even else "the heaviest of {}"
    whom = f"particle {camp.speaker}" + (f", {place.format(many)}" if many > 1 else "")
    head = f'<p class="camp"><b>{text(camp.name)}</b> {text(percent(min(camp.weight, 1.0)))} of the weight · {whom}</p>'
    return f"<section>{head}{_sentence(said)}{markup.caption(note) if note else ''}</section>"


def _other(camp: Camp, first: str, said: str) -> str:
    if said == first:
        return _camp(camp, text(said), "The very same words: the learner read them in two ways.")
    if is_rewritten(first, said):
        return _camp(camp, text(said), "Fewer than half the words are shared: shown as it is.")
    return _camp(camp, diff_html(first, said), "Underlined: only here. Struck: only in the first.")


def _sentence(html: str) -> str:
    return f'<p class="hyp">{html}</p>'
