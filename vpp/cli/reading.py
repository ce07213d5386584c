"""`report`, `predict`, `task`."""

import asyncio
import sys
from argparse import Namespace
from pathlib import Path

from vpp.cli.surroundings import environment, find_run, keys, write_bytes
from vpp.cli.tables import read_table
from vpp.cli.tally import Tally
from vpp.data.inputs import columns_beside, unlabelled_rows
from vpp.data.recast import read_like
from vpp.data.tasks import generate
from vpp.errors import InputError
from vpp.reporting.document import report_html
from vpp.reporting.exports import write_all, write_html
from vpp.reporting.inference_data import posterior_nc
from vpp.reporting.markdown import report_markdown
from vpp.reporting.predictions import prediction_csv
from vpp.runs.asking import ask
from vpp.runs.reader import RunReader
from vpp.wording.words import counted


def report(options: Namespace) -> int:
    """Writes the report of a run as it is now, and names each file that was written, a line each."""
    directory = find_run(options.run_dir)
    reader = RunReader(directory)
    if options.output and options.html and Path(options.output).resolve() == Path(options.html).resolve():
        raise InputError(f"{options.output} cannot hold both reports: name two files with -o and --html")
    if options.output:
        written = [_written(Path(options.output), report_markdown(reader).encode())]
    else:
        written = write_all(directory)
    if options.html:
        written.append(_written(Path(options.html), report_html(reader).encode(errors="replace")))
    elif not options.output:
        written.append(write_html(directory))
    if options.nc:
        written.append(_written(written[0].parent / "posterior.nc", posterior_nc(reader)))
    print("\n".join(map(str, written)))
    return 0


def _written(path: Path, content: bytes) -> Path:
    write_bytes(path, content)
    return path


def predict(options: Namespace) -> int:
    """Asks every particle about every row of a CSV. Stopped or failed, it writes nothing."""
    directory = find_run(options.run_dir)
    table = read_table(options.data, options)
    reader = RunReader(directory)
    snapshot = reader.refresh()
    spec, dataset = snapshot.spec, reader.dataset()
    table = read_like(table, dataset.columns)
    for note in filter(None, (snapshot.damage, *table.column_notes)):
        print(f"note: {note}", file=sys.stderr)
    rows = unlabelled_rows(table, dataset.inputs)
    tally = Tally(sys.stderr, of="answers")
    try:
        answers = asyncio.run(ask(directory, rows, keys=keys(), cache_dir=environment().cache_dir, on_progress=tally))
    except KeyboardInterrupt:
        tally.close()
        kept = "what was answered is in the cache" if spec.endpoint.cache else "this run keeps no cache"
        print(f"stopped: {options.output} was not written; {kept}", file=sys.stderr)
        raise
    finally:
        tally.close()
    beside = columns_beside(table, dataset.inputs)
    content = prediction_csv(answers, spec.config, with_reasons=options.reasons, beside=beside)
    write_bytes(Path(options.output), content)
    print(f"{len(rows)} rows predicted by {counted(len(answers.weights), 'particle')}: {options.output}")
    return 0


def task(options: Namespace) -> int:
    """Writes a task as a CSV."""
    content = generate(options.name, seed=options.seed, train_size=options.train_size, test_size=options.test_size)
    write_bytes(Path(options.output), content)
    print(options.output)
    return 0
