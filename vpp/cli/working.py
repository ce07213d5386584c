"""`resume`, and what `run` ends in: a worker, its progress and its result."""

import logging
import sys
from argparse import Namespace
from contextlib import suppress
from functools import partial
from io import BufferedWriter, TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from vpp import files
from vpp.cli.progress import Progress
from vpp.cli.spending import renew_cap
from vpp.cli.surroundings import environment, find_run, keys
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import refusal
from vpp.runs.journal import JournalReader
from vpp.runs.launch import LOG_BYTES
from vpp.runs.view import fold
from vpp.runs.worker import Surroundings, work

EXIT_CODES = {"finished": 0, "paused": 3, "stopped": 130}
"""A run that has paused at its cap gets no answers for now, and can be resumed, as where its endpoint failed."""
FAILURE_CODES = {"endpoint": 3, "input": 2, "error": 1, "disk": 1}


def resume(options: Namespace) -> int:
    """Goes on from the last whole step; a worker that waits at the run's cap goes on with a new one itself."""
    directory = find_run(options.run_dir)
    heard = directory.said_mark() if options.heard is None else options.heard
    renew_cap(directory, options)
    if directory.is_held() and fold(JournalReader(directory.journal).new_records()).is_at_cap:
        # Late: it needs how runs are listed, and a worker's first call should not wait for that.
        from vpp.cli.control import go_on

        return go_on(options)
    return work_on(directory, options, heard=heard)


class _Log(RotatingFileHandler):
    """worker.log: bounded, made when there is something to say, and nobody's trouble where it cannot be written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=LOG_BYTES, backupCount=1, delay=True)

    def _open(self) -> TextIOWrapper:
        """The log, made for its owner alone. Raises OSError for a link or a pipe."""
        return TextIOWrapper(BufferedWriter(files.appended(Path(self.baseFilename))), encoding="utf-8")

    def handleError(self, record: logging.LogRecord) -> None:
        """Nothing: a run goes on without its log."""


def work_on(directory: RunDirectory, options: Namespace, *, heard: str = "") -> int:
    """Works the run to its end, and tells what it came to. heard: as of `Surroundings`."""
    logging.basicConfig(handlers=[_Log(directory.log)], format="%(asctime)s %(message)s")
    progress = None if options.quiet else Progress(sys.stderr, directory.spec())
    around = _surroundings(options, heard, progress)
    view = work(directory, around)
    if progress:
        progress.close()
    if view.phase in ("finished", "stopped"):
        _write_reports(directory)
    if view.phase == "failed" or (view.phase == "paused" and options.quiet):
        _complain(view.detail)
    if view.failure == "disk" and not directory.exists:
        return FAILURE_CODES["disk"]
    # Late: what is said at the end is not to be waited for before the first call.
    from vpp.cli.summary import told

    print(told(directory, view, as_json=options.json))
    return FAILURE_CODES[view.failure] if view.failure else EXIT_CODES[view.phase]


def _surroundings(options: Namespace, heard: str, progress: Progress | None) -> Surroundings:
    """What a worker on this machine is given. A queued one tells how many runs go while it waits."""
    env = environment()
    return Surroundings(
        keys=keys(),
        cache_dir=env.cache_dir,
        slots_dir=env.runs_dir,
        max_running=env.max_running,
        waits_at_cap=getattr(options, "wait_at_cap", False),
        from_before_damage=getattr(options, "from_before_damage", False),
        heard=heard,
        listener=progress,
        on_queued=partial(progress.queued, env.max_running) if progress else None,
        on_loading=progress.loading if progress else None,
        on_beat=progress.beat if progress else None,
    )


def _write_reports(directory: RunDirectory) -> None:
    """A disk without room for them takes nothing from the run."""
    # Late: the reports need pandas, and a worker's first call should not wait for it.
    from vpp.reporting.exports import write_all

    try:
        write_all(directory, simple_models=False)
    except OSError as error:
        _complain(f"{refusal(error, directory.path)}, then `python -m vpp report {directory.path}` writes its reports")


def _complain(text: str) -> None:
    """A terminal that is gone changes nothing of how the run ended."""
    with suppress(OSError, ValueError):
        print(f"vpp: {text}", file=sys.stderr)
