"""How a verified run is said: a line a claim, a line a fault, and a verdict."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from vpp.events import INITIAL_STEP
from vpp.verification.ledger import TOLERANCE, Claim, Fault, is_same
from vpp.verification.verify import Verification
from vpp.wording import markup
from vpp.wording.escaping import one_line
from vpp.wording.words import capitalised, counted, integer, listed

MEANINGS: dict[Claim, str] = {
    "lines": "each can be read and stands where a run can tell it; none is missing",
    "data": "data.csv, run.json and run_started are of one run",
    "texts": "ids are the SHA-256 of texts, and of the texts meant",
    "rows": "batches and scored rows follow from seed and split",
    "answers": "a hypothesis answers a row alike everywhere, and as answers.jsonl has it",
    "likelihoods": "from answers and targets (Eq. 5 and 6)",
    "tau": "as given, or from the first answers; frozen",
    "tempering": "beta of the schedule, or the exponent found by bisection",
    "weights": "from log-likelihoods (Eq. 10), normalised",
    "ess": "from weights",
    "evidence": "from carried weights",
    "resampling": "where ESS is low and nowhere else; its number by seed, its ancestors by weights",
    "proposals": "of whom, from where, at which temperature",
    "decisions": "number by seed, log alpha from log-likelihoods (Eq. 9), taken or not",
    "size": "K grows and shrinks where the signs last",
    "populations": "text, parent and log-weight of every slot follow from the step",
    "predictions": "averaged from answers and weights (Eq. 7 and 8)",
    "metrics": "from averaged predictions and targets",
    "counts": "calls and tokens never fall, but to the last whole step at a resume",
    "exports": "posterior.json and predictions.csv say what the journal says",
}
FAULTS_SHOWN = 40
LONGEST_VALUE = 60


def verification_lines(found: Verification, *, run: str) -> Iterator[str]:
    """The whole account, for a terminal: what was found, what was not checked, and the verdict last."""
    yield f"{run}: {counted(found.lines, 'line')} of events.jsonl, {counted(found.steps, 'whole step')}"
    for claim, (n_held, n) in found.counts.items():
        yield f"{claim:<12} {integer(n_held):>6} of {integer(n):>6} hold   {MEANINGS[claim]}"
    for fault in found.faults[:FAULTS_SHOWN]:
        yield f"does not hold: {fault_line(fault)}"
    if len(found.faults) > FAULTS_SHOWN:
        yield f"and {counted(len(found.faults) - FAULTS_SHOWN, 'fault')} more: --json lists all"
    yield from (f"told: {note}" for note in notes(found))
    yield from (f"not checked: {why}{f' ({n} times)' if n > 1 else ''}" for why, n in found.unchecked)
    yield verdict(found, run=run)


def verdict(found: Verification, *, run: str = "RUN") -> str:
    """One line. run: its id, for the command that mends a journal whose end is cut off."""
    if found.holds:
        return f"The journal holds: all that follows from the rest is equal, floats to {TOLERANCE:g} of their size."
    if is_cut_short(found):
        mend = f"`python -m vpp resume {run}` mends that"
        return f"The journal holds but for its end: the run has finished, and its last line is cut off. {mend}."
    if all(fault.at.file for fault in found.faults):
        files = listed(list(dict.fromkeys(fault.at.file for fault in found.faults)))
        differ = "differs" if len({fault.at.file for fault in found.faults}) == 1 else "differ"
        return f"The journal holds, but {files} {differ} from it: `python -m vpp report {run}` writes all exports anew."
    n_lines = sum(_is_of_lines(fault) for fault in found.faults)
    n = len(found.faults) - n_lines
    first = f"The file is damaged: {counted(n_lines, 'line')} unreadable, missing or out of place. " if n_lines else ""
    differ = f": {counted(n, 'value')} {'differs' if n == 1 else 'differ'} from what the rest says" if n else ""
    return f"{first}The journal does not hold{differ}."


def is_cut_short(found: Verification) -> bool:
    """Whether nothing is wrong but that the last line of a finished run has no end."""
    return found.is_torn and [(fault.claim, fault.what) for fault in found.faults] == [("lines", "run_finished")]


def _is_of_lines(fault: Fault) -> bool:
    """Whether a line cannot be read, is missing, or stands where it cannot; else a value differs."""
    return fault.claim == "lines"


def verification_html(found: Verification, *, run: str = "RUN") -> str:
    """The same account for a page, the verdict first."""
    mark: Literal["acc", "rej"] = "acc" if found.holds else "rej"
    word = "holds" if found.holds else "does not hold"
    parts = [f"<p>{markup.badge(mark, word)} {markup.text(verdict(found, run=run))}</p>"]
    if found.faults:
        rows = [_cells(fault) for fault in found.faults[:FAULTS_SHOWN]]
        parts.append(markup.table(("Where", "What", "Written", "Should be"), rows))
    checked = [(claim, f"{integer(k)} of {integer(n)}", MEANINGS[claim]) for claim, (k, n) in found.counts.items()]
    parts.append(markup.table(("Checked", "Hold", "How"), checked, right=(1,)))
    parts += [markup.caption(f"{capitalised(note)}.") for note in notes(found)]
    unchecked = "; ".join(why for why, _ in found.unchecked)
    return markup.block(*parts, markup.caption(f"Not checked: {unchecked}."), label="what the check found")


def _cells(fault: Fault) -> tuple[str, str, str, str]:
    if said := line_words(fault):
        return place(fault), said, "", ""
    what, written, follows = _narrowed(fault.what, fault.written, fault.follows)
    return place(fault), f"{fault.claim}: {what}", _shown(written), _shown(follows)


def notes(found: Verification) -> Iterator[str]:
    """What is told and not judged."""
    if not found.has_ended:
        yield "the run has not ended: what is not written yet is not looked at"
    if found.void_lines:
        yield f"{counted(found.void_lines, 'line')} void, taken back by a resume: checked as far as they went"
    if found.is_torn:
        yield "the last line has no end: it is left out, and a resume cuts it off and goes on"
    if found.times_back:
        yield f"a clock was set back: {counted(found.times_back, 'line')} older than the one before"
    if found.report_line is not None:
        yield (
            f"report.md is not what this version writes, from line {found.report_line} on: it was changed, the run was "
            "renamed, or another version wrote it; `python -m vpp report` writes it anew"
        )


def fault_line(fault: Fault) -> str:
    """Where it stands, and what is wrong with it."""
    if said := line_words(fault):
        return f"{place(fault)}: {said}"
    what, written, follows = _narrowed(fault.what, fault.written, fault.follows)
    return f"{place(fault)}: {fault.claim}: {what} is {_shown(written)}, and should be {_shown(follows)}"


def line_words(fault: Fault) -> str:
    """A line that is missing, twice, misplaced or unreadable, in plain words; empty where a value differs."""
    written, follows = fault.written, fault.follows
    if fault.claim != "lines":
        return ""
    if fault.what == "record":
        return one_line(str(written))
    if fault.what == "run_finished" and written is False:
        return "run.json says that the run has finished, and no line run_finished says so"
    if written is None or (written == "none" and isinstance(follows, str)):
        missing = "of this particle " if fault.at.slot is not None else ""
        return f"the line {fault.what} {missing}is missing (it should stand {_shown(follows)})"
    if written == "here":
        return f"the line {fault.what} cannot stand here (it should be: {_shown(follows)})"
    return f"lines do not fit: {fault.what} is {_shown(written)}, and by the other lines {_shown(follows)}"


def place(fault: Fault) -> str:
    """`line 57, step 3, particle 2`."""
    at = fault.at
    parts = [f"line {at.line}" if at.line else at.file or "run.json and data.csv"]
    parts += [step_words(at.step)] if at.step is not None else []
    parts += [f"particle {at.slot}"] if at.slot is not None else []
    return ", ".join(parts)


def step_words(step: int) -> str:
    """`step 3`; what stands before the first step is the first population."""
    return "first population" if step == INITIAL_STEP else f"step {step}"


def _narrowed(what: str, written: object, follows: object) -> tuple[str, object, object]:
    """The first element that differs, of two sequences of equal length."""
    pair = (written, follows)
    if all(isinstance(each, list | tuple) for each in pair):
        one, other = list(written), list(follows)  # type: ignore[call-overload]
        if len(one) == len(other):
            places = [i for i, values in enumerate(zip(one, other, strict=True)) if not is_same(*values)]
            more = f" ({len(places)} of {len(one)} differ)" if len(places) > 1 else ""
            return f"{what}[{places[0]}]{more}", one[places[0]], other[places[0]]
    if all(isinstance(each, dict) for each in pair):
        return _narrowed_by_name(what, dict(written), dict(follows))  # type: ignore[call-overload]
    return what, written, follows


def _narrowed_by_name(what: str, one: dict[str, Any], other: dict[str, Any]) -> tuple[str, object, object]:
    for name in sorted({*one, *other}):
        if name not in one or name not in other or not is_same(one[name], other[name]):
            return f"{what} {one_line(name)}", one.get(name), other.get(name)
    return what, one, other


def _shown(value: object) -> str:
    """Short, on one line, and fit for a terminal whatever it holds."""
    if value is None or value == ():
        return "nothing"
    text = one_line(
        ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
    )
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
