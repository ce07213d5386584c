"""`report`, `predict`, `task`."""

import asyncio
from argparse import Namespace
from pathlib import Path

from vpp.cli.surroundings import environment, find_run, keys, read_bytes, write_bytes
from vpp.data.inputs import unlabelled_rows
from vpp.data.table import Table
from vpp.data.tasks import generate
from vpp.reporting.document import report_html
from vpp.reporting.exports import prediction_csv, write_all
from vpp.reporting.markdown import report_markdown
from vpp.runs.asking import ask
from vpp.runs.reader import RunReader


def report(options: Namespace) -> int:
    """Writes the report of a run as it is now."""
    directory = find_run(options.run_dir)
    reader = RunReader(directory)
    if options.html:
        page = report_html(report_markdown(reader), title=reader.refresh().spec.name)
        write_bytes(Path(options.html), page.encode())
    if options.output:
        target = Path(options.output)
        write_bytes(target, report_markdown(reader).encode())
    else:
        target = write_all(directory)
    print(target)
    return 0


def predict(options: Namespace) -> int:
    """Asks every particle about every row of a CSV."""
    directory = find_run(options.run_dir)
    table = Table.read(read_bytes(options.data), name=Path(options.data).name)
    reader = RunReader(directory)
    rows = unlabelled_rows(table, reader.refresh().spec.dataset["inputs"])
    answers = asyncio.run(ask(directory, rows, keys=keys(), cache_dir=environment().cache_dir))
    write_bytes(Path(options.output), prediction_csv(answers, reader.refresh().spec.config))
    print(f"{len(rows)} rows predicted by {len(answers.weights)} particles: {options.output}")
    return 0


def task(options: Namespace) -> int:
    """Writes a task as a CSV."""
    content = generate(options.name, seed=options.seed, train_size=options.train_size, test_size=options.test_size)
    write_bytes(Path(options.output), content)
    print(options.output)
    return 0
