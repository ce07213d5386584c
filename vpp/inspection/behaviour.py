"""When two hypotheses say the same: their answers, row by row, as things that can be compared."""

from collections.abc import Hashable, Iterable

from vpp.posterior.prediction import Value

DIGITS = 9
"""Numbers equal to so many significant digits are the same answer."""


def behaviour(answers: Iterable[Value | None]) -> Hashable:
    """Equal for hypotheses that answer alike on every row."""
    return tuple(map(same_answer, answers))


def same_answer(answer: Value | None) -> Hashable:
    """Equal for answers that count as the same: 0.1 + 0.2 is 0.3; a label is no number, nor is an abstention."""
    return (answer,) if answer is None or isinstance(answer, str) else f"{answer:.{DIGITS}g}"
