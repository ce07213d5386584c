"""`resume`, and the worker that `run`, `continue` and `resume` start: its progress, log and result."""

import json
import logging
import sys
from argparse import Namespace
from contextlib import suppress
from dataclasses import replace
from functools import partial
from io import BufferedWriter, TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from vpp import files
from vpp.cli.progress import Progress
from vpp.cli.system import environment, find_run, keys
from vpp.llm.limits import Cap
from vpp.runs.budget import check_budget
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import refusal
from vpp.runs.journal import JournalReader
from vpp.runs.worker import Surroundings, work

EXIT_CODES = {"finished": 0, "paused": 3, "stopped": 130}
"""A run paused at its cap has the exit code of a failed endpoint: both can be resumed."""
FAILURE_CODES = {"endpoint": 3, "input": 2, "error": 1, "disk": 1}


def resume(options: Namespace) -> int:
    """Continue from the last complete step. A worker that waits at its cap continues under the new cap."""
    directory = find_run(options.run_dir)
    past_command = directory.command_token() if options.past_command is None else options.past_command
    spec = directory.spec()
    cap = cap_of(options, before=spec.cap)
    if cap != spec.cap:
        check_budget(spec.prices, cap, spec.endpoint)
        directory.amend(cap=cap)
    if directory.is_held() and JournalReader(directory.journal).read().is_at_cap:
        # Imported late: it would delay a worker's first call.
        from vpp.cli.control import send_to

        return send_to(directory, "go on")
    if spec.endpoint.header_names and not keys().headers and not options.quiet:
        names = ", ".join(spec.endpoint.header_names)
        print(f"the run was started with the headers {names}, and none is given now: add --header", file=sys.stderr)
    return work_on(directory, options, past_command=past_command)


def cap_of(options: Namespace, *, before: Cap) -> Cap:
    calls = before.calls if options.max_calls is None else options.max_calls
    return replace(before, calls=calls, cost=before.cost if options.max_cost is None else options.max_cost)


class _Log(RotatingFileHandler):
    """worker.log: bounded in size, created by the first message; errors of writing are ignored."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=2**20, backupCount=1, delay=True)

    def _open(self) -> TextIOWrapper:
        """Open the log, readable by its owner alone. Raises OSError for a link or a pipe."""
        return TextIOWrapper(BufferedWriter(files.appended(Path(self.baseFilename))), encoding="utf-8")

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore the error: a run continues without its log."""


def work_on(directory: RunDirectory, options: Namespace, *, past_command: str = "") -> int:
    """Work on the run to its end, and print its result. past_command: see `Surroundings`."""
    logging.basicConfig(handlers=[_Log(directory.log)], format="%(asctime)s %(message)s")
    progress = None if options.quiet else Progress(sys.stderr, directory.spec())
    env = environment()
    around = Surroundings(
        keys=keys(),
        cache_dir=env.cache_dir,
        slots_dir=env.runs_dir,
        max_running=env.max_running,
        waits_at_cap=getattr(options, "wait_at_cap", False),
        past_command=past_command,
        listener=progress,
        on_queued=partial(progress.queued, env.max_running) if progress else None,
        on_loading=progress.loading if progress else None,
        on_beat=progress.beat if progress else None,
    )
    view = work(directory, around)
    if progress:
        progress.close()
    if view.phase in ("finished", "stopped"):
        # Imported late: scikit-learn would delay a worker's first call.
        from vpp.findings.verdict import record_verdict

        record_verdict(directory, view)
        _write_reports(directory)
    if view.phase == "failed" or (view.phase == "paused" and options.quiet):
        _complain(view.detail)
    if view.failure == "disk" and not directory.exists:
        return FAILURE_CODES["disk"]
    # Imported late: it would delay a worker's first call.
    from vpp.findings.result import result, summary
    from vpp.show.terminal import lines

    print(json.dumps(result(directory, view)) if options.json else "\n".join(lines(summary(directory, view))))
    return FAILURE_CODES[view.failure] if view.failure else EXIT_CODES[view.phase]


def _write_reports(directory: RunDirectory) -> None:
    # Imported late: pandas would delay a worker's first call.
    from vpp.reporting.document import write_all

    try:
        write_all(directory)
    except OSError as error:
        _complain(f"{refusal(error, directory.path)}, then `python -m vpp report {directory.path}` writes its reports")


def _complain(text: str) -> None:
    with suppress(OSError, ValueError):  # a closed terminal leaves the exit code as it is
        print(f"vpp: {text}", file=sys.stderr)
