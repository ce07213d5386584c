"""`stop`, `pause`, `go-on`, `list`, `rename`, `delete`, `cache`."""

import json
import time
from argparse import Namespace

from vpp.cli.surroundings import environment, find_run
from vpp.errors import RunError
from vpp.llm.cache import ResponseCache
from vpp.runs import store
from vpp.runs.damage import damage_in_short
from vpp.runs.directory import Command, RunDirectory, State
from vpp.runs.glance import FROM_ENDS, glance, is_large
from vpp.runs.reader import RunReader
from vpp.runs.store import RunStore
from vpp.runs.summary import result
from vpp.wording.escaping import one_line
from vpp.wording.listing import metric_text
from vpp.wording.obeying import heard

OBEYED_WITHIN_S = 20.0
ENDED: tuple[State, ...] = ("finished", "stopped", "failed", "interrupted")


def stop(options: Namespace) -> int:
    """Ends a running run."""
    return _say(find_run(options.run_dir), "stop", until=ENDED)


def pause(options: Namespace) -> int:
    """Sends no more calls."""
    return _say(find_run(options.run_dir), "pause", until=("paused", *ENDED))


def go_on(options: Namespace) -> int:
    """Sends calls again."""
    return _say(find_run(options.run_dir), "go on", until=("running", "queued", *ENDED))


def _say(directory: RunDirectory, command: Command, *, until: tuple[State, ...]) -> int:
    if not directory.is_held():
        raise RunError(f"{directory.path} has no worker: it is not running (`vpp resume` goes on with it)")
    directory.say(command)
    reader = RunReader(directory)
    deadline = time.monotonic() + OBEYED_WITHIN_S
    state = reader.refresh().state
    while state not in until and time.monotonic() < deadline:
        time.sleep(0.1)
        state = reader.refresh().state
    print(f"{directory.id}: {state}{'' if state in until else _awaited(command, state)}")
    return 0


def _awaited(command: Command, state: State) -> str:
    """Of a word that is not obeyed yet."""
    return f". {heard(command, state) or 'The word is left: the worker has not obeyed yet.'}"


def list_runs(options: Namespace) -> int:
    """The runs, newest first. What a damaged one has lost is told in full by `report` and `verify`."""
    rows = [_row(directory) for directory in RunStore(environment().runs_dir).runs()]
    if options.json:
        print(json.dumps(rows))
        return 0
    for row in rows:
        beside = "".join(f" · {row[more]}" for more in ("obstacle", "short") if row.get(more))
        print(f"{row['run']}  {row['status']:<11}  {_metric(row):<14}  {one_line(str(row['name']))}{beside}")
    if not rows:
        print("no runs yet: python -m vpp run DATA.csv --target COLUMN --demo")
    return 0


def _row(directory: RunDirectory) -> dict[str, object]:
    try:
        is_partial = is_large(directory)
        snapshot = glance(directory) if is_partial else RunReader(directory).refresh()
        if not snapshot.damage:
            status = {"status": snapshot.state, "obstacle": directory.obstacle(snapshot.state)}
            found = result(directory, snapshot.view)
            told = {name: found[name] if name in FROM_ENDS else None for name in found} if is_partial else found
            return {"name": snapshot.spec.name, **told, **status, "partial": is_partial}
        name, damage, short = snapshot.spec.name, snapshot.damage, damage_in_short(snapshot.view)
    except RunError as error:
        name, damage, short = directory.id, str(error), "damaged: run.json"
    told = {"name": name, "damage": damage, "short": short, "metric": None}
    return {"run": directory.id, "dir": str(directory.path), "status": "damaged", **told}


def _metric(row: dict[str, object]) -> str:
    metric = row["metric"]
    if not isinstance(metric, dict) or metric["test"] is None:
        return "-"
    scores = row["scores"]
    test = scores["test"] if isinstance(scores, dict) else None
    value = float(metric["test"])  # in JSON, an infinite one is a text
    shown = metric_text(metric["name"], value, test and test.get("balanced_accuracy"))
    return f"accuracy {shown}" if metric["name"] == "accuracy" else shown


def rename(options: Namespace) -> int:
    """Gives the run another name; its id stays."""
    store.rename(find_run(options.run_dir), options.name)
    return 0


def delete(options: Namespace) -> int:
    """Removes the run for good."""
    directory = find_run(options.run_dir)
    store.delete(directory)
    print(f"{directory.id}: deleted")
    return 0


def cache(options: Namespace) -> int:
    """The response cache's size, or its end."""
    responses = ResponseCache(environment().cache_dir)
    try:
        if options.action == "clear":
            print(f"{responses.clear():,} answers forgotten")
        else:
            entries, size = responses.info()
            print(f"{entries:,} answers, {size / 2**20:.1f} MiB, in {environment().cache_dir}")
    finally:
        responses.close()
    return 0
