"""How a hypothesis is read, in words that quote models: its branches, its certificate and its questions."""

from vpp.findings.programs import ROUNDING, BranchScore, Certificate, ProgramReading, QuestionShare
from vpp.posterior.prediction import Value
from vpp.show.words import counted, integer, interval_text, number, percent, value_text

NUMBERS_ALIKE = f"Numbers are alike if they differ by at most {percent(ROUNDING)} of the targets' range."


def reading_words(reading: ProgramReading) -> str:
    """`read by a program`, `read row by row: the model says that no program can follow it`, or `not read yet`."""
    if reading.by == "program":
        return "read by a program"
    if reading.by == "nothing" and not reading.reason:
        return "not read yet"
    return (
        f"{'read row by row' if reading.by == 'rows' else 'no answers'}{f': {reading.reason}' * bool(reading.reason)}"
    )


def branch_line(number: int, branch: BranchScore) -> str:
    """`branch 2, math >= 80: 'admitted' (12 of 14 rows right)`. number: from 1."""
    return f"branch {integer(number)}, {branch.words} ({branch_rows(branch)})"


def branch_rows(branch: BranchScore) -> str:
    """`12 of 14 rows right`, `14 rows, off by 0.52 on average`, or `no training row`."""
    if not branch.n:
        return "no training row"
    if branch.n_right is not None:
        return f"{integer(branch.n_right)} of {counted(branch.n, 'row')} right"
    error = "" if branch.mean_error is None else f", off by {number(branch.mean_error, 3)} on average"
    return f"{counted(branch.n, 'row')}{error}"


def certificate_words(certificate: Certificate) -> str:
    """`the model reads it alike on 8 of 8 rows (68 % to 100 %)`: Wilson's 95 % interval."""
    rows = f"{integer(certificate.n_alike)} of {counted(certificate.n, 'row')}"
    return f"the model reads it alike on {rows} ({interval_text(certificate.n_alike, certificate.n)})"


def question_words(question: QuestionShare) -> str:
    """`“does the note speak of frost?” (note): yes for 12 of 40 texts (30 %)`."""
    share = f" ({percent(question.n_yes / question.n)})" if question.n else ""
    of = f"yes for {integer(question.n_yes)} of {counted(question.n, 'text')}{share}"
    return f"“{question.question}” ({question.column}): {of if question.n else 'not answered yet'}"


MOST_APART = 4


def apart_words(certificate: Certificate) -> str:
    """`Row 12: Gentoo by the program, Adelie by the model. …`: rows read in two ways; empty without any."""
    parts = [
        f"Row {each.row}: {_answer(each.program)} by the program, {_answer(each.reading)} by the model."
        for each in certificate.apart[:MOST_APART]
    ]
    more = len(certificate.apart) - MOST_APART
    parts += [f"{counted(more, 'more row')}."] if more > 0 else []
    parts += [NUMBERS_ALIKE] if any(isinstance(each.program, float) for each in certificate.apart) else []
    return " ".join([*parts, "The sentence may have two meanings."]) if parts else ""


def _answer(value: Value | None) -> str:
    return number(value) if isinstance(value, float) else value_text(value)
