"""`resume`, and what `run` ends in: a worker, its progress and its result."""

import json
import logging
import sys
from argparse import Namespace

from vpp.cli.progress import Progress
from vpp.cli.surroundings import find_run, surroundings
from vpp.runs.directory import RunDirectory
from vpp.runs.summary import result
from vpp.runs.view import RunView
from vpp.runs.worker import work
from vpp.wording.words import EQUAL, cached_words, number, percent, seconds

EXIT_CODES = {"finished": 0, "stopped": 130}
FAILURE_CODES = {"endpoint": 3, "input": 2, "error": 1}


def resume(options: Namespace) -> int:
    """Goes on from the last whole step."""
    return work_on(find_run(options.run_dir), options)


def work_on(directory: RunDirectory, options: Namespace) -> int:
    """Works the run to its end, and tells what it came to."""
    logging.basicConfig(handlers=[logging.FileHandler(directory.log, delay=True)], format="%(asctime)s %(message)s")
    progress = None if options.quiet else Progress(sys.stderr)
    view = work(directory, surroundings(asked_at=options.asked_at, listener=progress))
    if progress:
        progress.close()
    if view.phase in ("finished", "stopped"):
        # Late: the reports need pandas, and a worker's first call should not wait for it.
        from vpp.reporting.exports import write_all

        write_all(directory, simple_models=False)
    if view.phase == "failed":
        print(f"vpp: {view.detail}", file=sys.stderr)
    if options.json:
        print(json.dumps(result(directory, view)))
    else:
        print(_told(directory, view))
    return FAILURE_CODES[view.failure] if view.failure else EXIT_CODES[view.phase]


def _told(directory: RunDirectory, view: RunView) -> str:
    """A few lines for a person."""
    outcome = result(directory, view)
    metric = outcome["metric"]
    calls = f"{view.usage.calls:,} calls, {cached_words(view.usage.cached, of=view.usage.calls)}"
    lines = [f"{view.phase} after {seconds(view.wall_s)}, {calls}"]
    if metric["test"] is not None:
        lines.append(
            f"test {_shown(metric['name'], metric['test'])}, training {_shown(metric['name'], metric['train'])}"
        )
    if directory.spec().endpoint.is_demo:
        lines.append("answered by the built-in demo model: a small program that reads rules, not a language model")
    uncertain = outcome["uncertain"]
    if uncertain["points"] is not None:
        lines.append(f"uncertain: {uncertain['points']} of {uncertain['of']} test rows")
    if view.usage.unparsable:
        lines.append(f"{view.usage.unparsable:,} of {view.usage.calls:,} calls gave answers that could not be read")
    if view.population:
        lines.append(heaviest(directory, view))
    if view.phase in ("failed", "stopped"):
        lines.append(f"go on with: python -m vpp resume {directory.path}")
    if view.phase != "failed":
        lines.append(f"report: {directory.path / 'report.md'}")
    return "\n".join(lines)


def heaviest(directory: RunDirectory, view: RunView) -> str:
    """The hypothesis that weighs most, or one of those that weigh alike."""
    top, size = max(view.weights), view.size
    alike = sum(top - weight < EQUAL for weight in view.weights)
    text = view.texts[view.population[view.weights.index(top)].hypothesis]
    if alike == 1:
        return f"heaviest hypothesis ({top:.3f}): {text}"
    if alike == size or not directory.spec().config.is_weighted:
        return f"one of {size} hypotheses that count alike (each {top:.3f}): {text}"
    return f"one of the {alike} heaviest hypotheses (each {top:.3f}): {text}"


def _shown(metric: str, value: float | None) -> str:
    if value is None:
        return "not evaluated"
    return f"accuracy {percent(value, decimals=1)}" if metric == "accuracy" else f"mean squared error {number(value)}"
