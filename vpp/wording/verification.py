"""The result of a verification in words: a line for each claim and each fault, and a verdict."""

from collections.abc import Iterator, Sequence

from vpp.verification import CLAIMS, TOLERANCE, Fault, Verification
from vpp.wording.escaping import one_line
from vpp.wording.words import counted, cut, integer, listed, step_words

FAULTS_SHOWN = 40
LONGEST_VALUE = 60


def verification_lines(result: Verification, *, run: str) -> Iterator[str]:
    """Yield the result for a terminal: claims, faults, notes, what was not checked, and the verdict last."""
    yield f"{run}: {counted(result.lines, 'line')} of events.jsonl, {counted(result.steps, 'whole step')}"
    for claim, (n_held, n) in result.counts.items():
        yield f"{claim:<8} {integer(n_held):>6} of {integer(n):>6} hold   {CLAIMS[claim]}"
    for fault in result.faults[:FAULTS_SHOWN]:
        yield f"does not hold: {fault_line(fault)}"
    if len(result.faults) > FAULTS_SHOWN:
        yield f"and {counted(len(result.faults) - FAULTS_SHOWN, 'fault')} more: --json lists all"
    yield from (f"note: {note}" for note in notes(result))
    yield from (f"not checked: {why}" for why in result.unchecked)
    yield verdict(result, run=run)


def verdict(result: Verification, *, run: str = "RUN") -> str:
    """Return the verdict in one line. run: its id, for the commands that it names."""
    if result.holds:
        return f"The journal is consistent: every derived value is equal, floats to {TOLERANCE:g} of their size."
    if {fault.claim for fault in result.faults} == {"exports"}:
        names = list(dict.fromkeys(fault.file for fault in result.faults))
        differ = "differs" if len(names) == 1 else "differ"
        fix = f"`python -m vpp report {run}` writes all exports again"
        return f"The journal is consistent, but {listed(names)} {differ} from it: {fix}."
    return f"The journal is inconsistent: {counted(len(result.faults), 'fault')}."


def notes(result: Verification) -> Iterator[str]:
    if not result.has_ended:
        yield "the run has not ended: only the lines written so far are checked"


def fault_line(fault: Fault) -> str:
    where, what, written, follows = _cells(fault)
    return f"{where}: {what} is {written}, and should be {follows}"


def _cells(fault: Fault) -> tuple[str, str, str, str]:
    parts = [fault.file or f"line {fault.line}"]
    parts += [step_words(fault.step)] if fault.step is not None else []
    parts += [f"particle {fault.slot}"] if fault.slot is not None else []
    return ", ".join(parts), one_line(fault.what), _short(fault.written), _short(fault.follows)


def _short(value: object) -> str:
    """Return a value short, on one line, and safe for a terminal."""
    if value is None or value == ():
        return "nothing"
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return cut(one_line(", ".join(map(str, items))), LONGEST_VALUE)
