"""`continue`."""

import sys
from argparse import Namespace
from pathlib import Path

from vpp.cli.surroundings import environment, find_run
from vpp.cli.tables import read_table
from vpp.cli.working import work_on
from vpp.data.adding import answered_rows
from vpp.runs.continuation import continue_run
from vpp.runs.reader import RunReader


def go_on(options: Namespace) -> int:
    """Prepares a run that begins with another's particles and has a CSV's rows more, and works it to its end."""
    earlier = find_run(options.run_dir)
    table = read_table(options.data, options)
    reader = RunReader(earlier)
    if damage := reader.refresh().damage:
        print(f"note: {damage}", file=sys.stderr)
    answered = answered_rows(table, reader.dataset())
    preparation = continue_run(earlier, answered, name=options.name, command=tuple(sys.argv[1:]))
    directory = preparation.create(environment().runs_dir, run_dir=Path(options.to) if options.to else None)
    if not options.quiet and len(answered) < table.n_rows:
        print(
            f"{table.n_rows - len(answered)} of {table.n_rows} rows have no target and were left out", file=sys.stderr
        )
    return work_on(directory, options)
