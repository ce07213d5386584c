"""`reword`: a person's text for a particle, compared with the particle's own, and kept as a new run if asked to."""

import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from vpp.cli.progress import Tally
from vpp.cli.system import environment, find_run, keys, until_interrupted
from vpp.cli.working import work_on
from vpp.drawing.ledger import comparison_words, rows_name
from vpp.runs.asking import Comparison, Rewording, reworded_run, score_rewording
from vpp.runs.reader import RunReader


def reword(options: Namespace) -> int:
    """Compare both texts on the rows that the particle was last scored on; with --keep, work on a new run."""
    reader = RunReader(find_run(options.run_dir))
    tally = Tally(sys.stderr, of="answers")
    scoring = score_rewording(
        reader,
        options.particle,
        options.text,
        keys=keys(),
        cache_dir=environment().cache_dir,
        on_progress=None if options.quiet else tally,
    )
    try:
        wording, compared = until_interrupted(scoring)
    finally:
        tally.close()
    snapshot, run = reader.refresh(), reader.directory.id
    if options.json and not options.keep:
        print(to_json(comparison_json(run, wording, compared), inf_nan_mode="strings").decode())
        return 0
    if not (options.keep and options.quiet):
        lines = comparison_words(wording, compared, rows_name(snapshot.view, snapshot.spec.config))
        print("\n".join(lines), file=sys.stderr if options.keep else sys.stdout, flush=True)
    if not options.keep:
        return 0
    prepared = reworded_run(snapshot.spec, reader.dataset(), snapshot.view, wording, run=run, name=options.name)
    prepared = replace(prepared, spec=replace(prepared.spec, command=tuple(sys.argv[1:])))
    directory = prepared.create(environment().runs_dir, run_dir=Path(options.to) if options.to else None)
    return work_on(directory, options)


def comparison_json(run: str, wording: Rewording, compared: Comparison) -> dict[str, Any]:
    """Return the comparison as one JSON object; logarithms are natural."""
    return {
        "run": run,
        "particle": wording.slot,
        "text": {"old": wording.old, "new": wording.new},
        "rows": [row.id for row in compared.rows],
        "log_likelihood": {"old": compared.log_likelihood, "new": compared.log_likelihood_new},
        "exponent": wording.exponent,
        "log_alpha": compared.log_alpha,
        "acceptance_probability": compared.acceptance,
        "won": compared.won,
        "lost": compared.lost,
        "unread": compared.unread,
    }
