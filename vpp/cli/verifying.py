"""`verify`."""

from argparse import Namespace
from typing import Any

from pydantic_core import to_json

from vpp.cli.surroundings import find_run
from vpp.reporting.exports import ways
from vpp.verification.ledger import TOLERANCE
from vpp.verification.verify import Verification, verify
from vpp.wording.verification import notes, verification_lines

HOLDS, DOES_NOT_HOLD = 0, 1


def verify_run(options: Namespace) -> int:
    """Derives the journal and the exports once more, and says whether they hold."""
    directory = find_run(options.run_dir)
    found = verify(directory, ways(directory))
    if options.json:
        print(to_json(_record(found, directory.id), inf_nan_mode="strings").decode())
    else:
        print("\n".join(verification_lines(found, run=directory.id)))
    return HOLDS if found.holds else DOES_NOT_HOLD


def _record(found: Verification, run: str) -> dict[str, Any]:
    """One object."""
    return {
        "run": run,
        "holds": found.holds,
        "tolerance": TOLERANCE,
        "lines": found.lines,
        "steps": found.steps,
        "claims": {claim: {"hold": n_held, "of": n} for claim, (n_held, n) in found.counts.items()},
        "faults": [
            {
                "claim": fault.claim,
                "file": fault.at.file or None,
                "line": fault.at.line,
                "step": fault.at.step,
                "particle": fault.at.slot,
                "what": fault.what,
                "written": fault.written,
                "follows": fault.follows,
            }
            for fault in found.faults
        ],
        "told": list(notes(found)),
        "unchecked": [{"why": why, "times": times} for why, times in found.unchecked],
    }
