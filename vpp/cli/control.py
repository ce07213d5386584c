"""Commands on stored runs: `stop`, `pause`, `go-on`, `list`, `rename`, `delete`, `cache`."""

import json
import time
from argparse import Namespace

from vpp.cli.system import environment, find_run
from vpp.errors import RunError
from vpp.inspection.summary import result
from vpp.llm.cache import ResponseCache
from vpp.runs import store
from vpp.runs.directory import Command, RunDirectory, State
from vpp.runs.glance import FROM_ENDS, glance, is_large
from vpp.runs.reader import RunReader
from vpp.runs.store import RunStore
from vpp.wording.escaping import one_line
from vpp.wording.listing import metric_text
from vpp.wording.status import pending_words

OBEYED_WITHIN_S = 20.0
ENDED: tuple[State, ...] = ("finished", "stopped", "failed", "interrupted")


def stop(options: Namespace) -> int:
    """End a running run after its last complete step."""
    return _send(find_run(options.run_dir), "stop", until=ENDED)


def pause(options: Namespace) -> int:
    """Pause a running run."""
    return _send(find_run(options.run_dir), "pause", until=("paused", *ENDED))


def go_on(options: Namespace) -> int:
    """Continue a paused run."""
    return _send(find_run(options.run_dir), "go on", until=("running", "queued", *ENDED))


def _send(directory: RunDirectory, command: Command, *, until: tuple[State, ...]) -> int:
    if not directory.is_held():
        raise RunError(f"{directory.path} is not running: continue it with `vpp resume`")
    directory.send_command(command)
    reader = RunReader(directory)
    deadline = time.monotonic() + OBEYED_WITHIN_S
    state = reader.refresh().state
    while state not in until and time.monotonic() < deadline:
        time.sleep(0.1)
        state = reader.refresh().state
    words = pending_words(command, state) or "The command is pending: the worker has not read it yet."
    print(f"{directory.id}: {state}{'' if state in until else f'. {words}'}")
    return 0


def list_runs(options: Namespace) -> int:
    """Print the runs, newest first. `report` and `verify` explain a run's damage in full."""
    rows = [_row(directory) for directory in RunStore(environment().runs_dir).runs()]
    if options.json:
        print(json.dumps(rows))
        return 0
    for row in rows:
        problems = "".join(f" · {row[key]}" for key in ("obstacle", "short") if row.get(key))
        print(f"{row['run']}  {row['status']:<11}  {_metric(row):<14}  {one_line(str(row['name']))}{problems}")
    if not rows:
        print("no runs yet: python -m vpp run DATA.csv --target COLUMN --demo")
    return 0


def _row(directory: RunDirectory) -> dict[str, object]:
    try:
        is_partial = is_large(directory)
        snapshot = glance(directory) if is_partial else RunReader(directory).refresh()
        if not snapshot.damage:
            status = {"status": snapshot.state, "obstacle": directory.obstacle(snapshot.state)}
            values = result(directory, snapshot.view)
            if is_partial:
                values = {name: value if name in FROM_ENDS else None for name, value in values.items()}
            return {"name": snapshot.spec.name, **values, **status, "partial": is_partial}
        name, damage = snapshot.spec.name, snapshot.damage
        short = f"damaged: line {snapshot.lost.line}" if snapshot.lost else "damaged"
    except RunError as error:
        name, damage, short = directory.id, str(error), "damaged: run.json"
    place = {"run": directory.id, "dir": str(directory.path), "status": "damaged"}
    return {**place, "name": name, "damage": damage, "short": short, "metric": None}


def _metric(row: dict[str, object]) -> str:
    metric = row["metric"]
    if not isinstance(metric, dict) or metric["test"] is None:
        return "-"
    scores = row["scores"]
    test = scores["test"] if isinstance(scores, dict) else None
    value = float(metric["test"])  # infinity is a string in JSON
    shown = metric_text(metric["name"], value, test and test.get("balanced_accuracy"))
    return f"accuracy {shown}" if metric["name"] == "accuracy" else shown


def rename(options: Namespace) -> int:
    """Rename the run; its id stays."""
    store.rename(find_run(options.run_dir), options.name)
    return 0


def delete(options: Namespace) -> int:
    """Delete the run."""
    directory = find_run(options.run_dir)
    store.delete(directory)
    print(f"{directory.id}: deleted")
    return 0


def cache(options: Namespace) -> int:
    """Print the response cache's size, or empty it."""
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
