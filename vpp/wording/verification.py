"""The result of a verification in words: a line for each claim and each fault, and a verdict."""

from collections.abc import Iterator, Sequence
from typing import Literal

from vpp.verification.ledger import TOLERANCE, Claim, Fault, is_same
from vpp.verification.verify import Verification
from vpp.wording import markup
from vpp.wording.escaping import one_line
from vpp.wording.words import capitalised, counted, cut, integer, listed, step_words

MEANINGS: dict[Claim, str] = {
    "lines": "each can be read and is in its place; none is missing",
    "data": "data.csv, run.json and run_started are of one run",
    "texts": "ids are the SHA-256 of the right texts, parents the right particles",
    "rows": "batches and scored rows follow from seed and split",
    "answers": "the same as in answers.jsonl",
    "likelihoods": "from answers and targets (Eq. 5 and 6)",
    "tau": "as given, or from the first answers; frozen",
    "tempering": "beta of the schedule, or the exponent result by bisection",
    "weights": "from log-likelihoods (Eq. 10), normalised",
    "ess": "from weights",
    "evidence": "from carried weights",
    "resampling": "only where ESS is low; random number by seed, ancestors by weights",
    "decisions": "random number by seed, log alpha from log-likelihoods (Eq. 9), accepted or not",
    "populations": "text, parent, log-likelihood and log-weight of every slot follow from the step",
    "predictions": "averaged from answers and weights (Eq. 7 and 8); metrics from averages and targets",
    "exports": "posterior.json and predictions.csv agree with the journal",
}
FAULTS_SHOWN = 40
LONGEST_VALUE = 60


def verification_lines(result: Verification, *, run: str) -> Iterator[str]:
    """Yield the result for a terminal: claims, faults, notes, what was not checked, and the verdict last."""
    yield f"{run}: {counted(result.lines, 'line')} of events.jsonl, {counted(result.steps, 'whole step')}"
    for claim, (n_held, n) in result.counts.items():
        yield f"{claim:<12} {integer(n_held):>6} of {integer(n):>6} hold   {MEANINGS[claim]}"
    for fault in result.faults[:FAULTS_SHOWN]:
        yield f"does not hold: {fault_line(fault)}"
    if len(result.faults) > FAULTS_SHOWN:
        yield f"and {counted(len(result.faults) - FAULTS_SHOWN, 'fault')} more: --json lists all"
    yield from (f"note: {note}" for note in notes(result))
    yield from (f"not checked: {why}{f' ({n} times)' if n > 1 else ''}" for why, n in result.unchecked)
    yield verdict(result, run=run)


def verdict(result: Verification, *, run: str = "RUN") -> str:
    """Return the verdict in one line. run: its id, for the commands that it names."""
    if result.holds:
        return f"The journal is consistent: every derived value is equal, floats to {TOLERANCE:g} of their size."
    if all(fault.at.file for fault in result.faults):
        files = listed(list(dict.fromkeys(fault.at.file for fault in result.faults)))
        differ = "differs" if len({fault.at.file for fault in result.faults}) == 1 else "differ"
        fix = f"`python -m vpp report {run}` writes all exports again"
        return f"The journal is consistent, but {files} {differ} from it: {fix}."
    n = len(result.faults)
    lost = next((fault for fault in result.faults if fault.what == "record"), None)
    first = f"The journal is damaged: it is checked only up to line {lost.at.line}. " if lost else ""
    return f"{first}The journal is inconsistent: {counted(n, 'fault')}."


def verification_html(result: Verification, *, run: str = "RUN") -> str:
    """Return the result for a page, the verdict first."""
    mark: Literal["acc", "rej"] = "acc" if result.holds else "rej"
    word = "holds" if result.holds else "does not hold"
    parts = [f"<p>{markup.badge(mark, word)} {markup.text(verdict(result, run=run))}</p>"]
    if result.faults:
        rows = [_cells(fault) for fault in result.faults[:FAULTS_SHOWN]]
        parts.append(markup.table(("Where", "What", "Written", "Should be"), rows))
    checked = [(claim, f"{integer(k)} of {integer(n)}", MEANINGS[claim]) for claim, (k, n) in result.counts.items()]
    parts.append(markup.table(("Checked", "Hold", "How"), checked, right=(1,)))
    parts += [markup.caption(f"{capitalised(note)}.") for note in notes(result)]
    unchecked = "; ".join(why for why, _ in result.unchecked)
    return markup.block(*parts, markup.caption(f"Not checked: {unchecked}."), label="what the check result")


def _cells(fault: Fault) -> tuple[str, str, str, str]:
    what, written, follows = _narrowed(fault.what, fault.written, fault.follows)
    return place(fault), f"{fault.claim}: {what}", _shown(written), _shown(follows)


def notes(result: Verification) -> Iterator[str]:
    """Yield observations that are no faults."""
    if not result.has_ended:
        yield "the run has not ended: only the lines written so far are checked"
    if result.is_torn:
        yield "the last line is cut off: it is ignored, and `python -m vpp resume` removes it and continues"


def fault_line(fault: Fault) -> str:
    """Return a fault with its place."""
    if fault.what == "record":
        return f"{place(fault)}: {one_line(str(fault.written))}"
    where, what, written, follows = _cells(fault)
    return f"{where}: {what} is {written}, and should be {follows}"


def place(fault: Fault) -> str:
    """`line 57, step 3, particle 2`."""
    at = fault.at
    parts = [f"line {at.line}" if at.line else at.file or "run.json and data.csv"]
    parts += [step_words(at.step)] if at.step is not None else []
    parts += [f"particle {at.slot}"] if at.slot is not None else []
    return ", ".join(parts)


def _narrowed(what: str, written: object, follows: object) -> tuple[str, object, object]:
    """Narrow two sequences of equal length, or two objects, to the first element that differs."""
    match written, follows:
        case (list() | tuple() as one, list() | tuple() as other) if len(one) == len(other):
            places = [i for i, values in enumerate(zip(one, other, strict=True)) if not is_same(*values)]
            more = f" ({len(places)} of {len(one)} differ)" if len(places) > 1 else ""
            return f"{what}[{places[0]}]{more}", one[places[0]], other[places[0]]
        case dict() as one, dict() as other:
            for name in sorted({*one, *other}):
                if name not in one or name not in other or not is_same(one[name], other[name]):
                    return f"{what} {one_line(name)}", one.get(name), other.get(name)
    return what, written, follows


def _shown(value: object) -> str:
    """Return a value short, on one line, and safe for a terminal."""
    if value is None or value == ():
        return "nothing"
    text = one_line(
        ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
    )
    return cut(text, LONGEST_VALUE)
