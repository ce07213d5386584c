"""`trial`: a run's ideas on trial."""

import sys
from argparse import Namespace

from pydantic_core import to_json

from vpp.cli.progress import Tally
from vpp.cli.system import environment, find_run, keys, until_interrupted
from vpp.drawing import trying
from vpp.runs.reader import RunReader
from vpp.trials.asking import TrialAsking, TrialSize
from vpp.trials.record import trial_json
from vpp.wording.words import counted


def trial(options: Namespace) -> int:
    """Ask the trial's questions, keep its result in the run's directory, and print it."""
    reader = RunReader(find_run(options.run_dir))
    size = TrialSize(ideas=options.ideas, changes=options.changes, rows=options.rows)
    asking = TrialAsking(reader, size)
    if options.plan:
        print(f"{counted(asking.calls, 'call')} of the learner, if every answer can be read")
        return 0
    tally = Tally(sys.stderr, of="answers")
    try:
        found = until_interrupted(asking.go(keys=keys(), cache_dir=environment().cache_dir, on_progress=tally))
    finally:
        tally.close()
    if options.json:
        print(to_json(trial_json(reader.directory.id, found), inf_nan_mode="strings").decode())
        return 0
    print(trying.verdict(found))
    started = reader.refresh().view.started
    for place, idea in enumerate(found.ideas, 1):
        print(f"\nIdea {place}: {trying.sentence_of(idea, started.seed_text if started else '')}")
        names = zip(trying.HEAD[1:], trying.table_rows(found)[place - 1][1:], strict=True)
        print("\n".join(f"  {name}: {value}" for name, value in names))
        print("\n".join(f"  {lost:>8}  {clause}" for clause, lost in trying.clause_rows(idea)))
    if words := trying.unread_words(found):
        print(f"\n{words}")
    return 0
