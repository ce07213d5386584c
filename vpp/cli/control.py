"""Commands on stored runs: `stop`, `pause`, `go-on`, `list`, `rename`, `delete`, `cache`."""

import time
from argparse import Namespace
from typing import Any

from pydantic_core import to_json

from vpp.cli.system import environment, find_run
from vpp.errors import RunError
from vpp.findings.status import metric_text, pending_words, steps_done
from vpp.llm.cache import ResponseCache
from vpp.runs import store
from vpp.runs.directory import Command, RunDirectory, State
from vpp.runs.reader import RunReader, read_summary
from vpp.runs.store import RunStore
from vpp.show.markup import one_line

OBEYED_WITHIN_S = 20.0
ENDED: tuple[State, ...] = ("finished", "stopped", "failed", "interrupted")
OBEYED: dict[Command, tuple[State, ...]] = {"stop": (), "pause": ("paused",), "go on": ("running", "queued")}


def send(options: Namespace) -> int:
    return send_to(find_run(options.run_dir), options.sent)


def send_to(directory: RunDirectory, command: Command) -> int:
    """Send the run's worker a command, and wait for a state in which it has obeyed or ended."""
    if not directory.is_held():
        raise RunError(f"{directory.path} is not running: continue it with `vpp resume`")
    directory.send_command(command)
    reader, until = RunReader(directory), (*OBEYED[command], *ENDED)
    deadline = time.monotonic() + OBEYED_WITHIN_S
    state = reader.refresh().state
    while state not in until and time.monotonic() < deadline:
        time.sleep(0.1)
        state = reader.refresh().state
    words = pending_words(command, state) or "The command is pending: the worker has not read it yet."
    print(f"{directory.id}: {state}{'' if state in until else f'. {words}'}")
    return 0


def list_runs(options: Namespace) -> int:
    rows = [_row(directory) for directory in RunStore(environment().runs_dir).runs()]
    if options.json:
        print(to_json(rows, inf_nan_mode="strings").decode())
        return 0
    for row in rows:
        problem = f" · {row['problem']}" if row["problem"] else ""
        print(f"{row['run']}  {row['status']:<11}  {_result(row):<14}  {one_line(str(row['name']))}{problem}")
    if not rows:
        print("no runs yet: python -m vpp run DATA.csv --target COLUMN --demo")
    return 0


def _row(directory: RunDirectory) -> dict[str, Any]:
    """Return a run's line; of an unreadable run only where it is, and why."""
    place = {"run": directory.id, "dir": str(directory.path)}
    try:
        spec = directory.spec()
        summary = read_summary(directory)
    except RunError as error:
        return {**place, "name": directory.id, "status": "unreadable", "problem": str(error), "metric": None}
    state = directory.state(summary)
    return {
        **place,
        "name": spec.name,
        "status": state,
        "problem": directory.obstacle(state),
        "method": spec.config.method,
        "steps": {"done": steps_done(summary), "of": summary.total_steps},
        "metric": {"name": summary.metric, "train": summary.train, "test": summary.test},
        "balanced_accuracy": summary.balanced_accuracy,
        "spent": {"requests": summary.sent, "cost": summary.cost},
    }


def _result(row: dict[str, Any]) -> str:
    metric = row["metric"]
    if metric is None or metric["test"] is None:
        return "-"
    words = metric_text(metric["name"], metric["test"], row["balanced_accuracy"])
    return f"accuracy {words}" if metric["name"] == "accuracy" else words


def rename(options: Namespace) -> int:
    store.rename(find_run(options.run_dir), options.name)
    return 0


def delete(options: Namespace) -> int:
    directory = find_run(options.run_dir)
    store.delete(directory)
    print(f"{directory.id}: deleted")
    return 0


def cache(options: Namespace) -> int:
    responses = ResponseCache(environment().cache_dir)
    try:
        if options.action == "clear":
            print(f"{responses.clear():,} answers deleted")
        else:
            entries, size = responses.info()
            print(f"{entries:,} answers, {size / 2**20:.1f} MiB, in {environment().cache_dir}")
    finally:
        responses.close()
    return 0
