"""Result of a run as JSON or as a few lines of text."""

import json
from collections.abc import Iterator
from typing import Any

from vpp.cli.system import environment
from vpp.data.dataset import Dataset
from vpp.inspection.ideas import merge_ideas
from vpp.inspection.scores import baseline, rows_of
from vpp.posterior.metric import Estimate
from vpp.runs.damage import known_rows
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import cache_advice
from vpp.runs.run_files import load_dataset
from vpp.runs.summary import result
from vpp.runs.view import RunView
from vpp.wording.counts import error_text, miss_words, number_text, r2_text, share_text
from vpp.wording.escaping import one_line
from vpp.wording.status import cache_sentence, is_key_refused
from vpp.wording.support import support_sentence, unread_sentence
from vpp.wording.words import EQUAL, ahead_words, cached_words, counted, number, percent, refused_answers, seconds


def result_text(directory: RunDirectory, view: RunView, *, as_json: bool) -> str:
    """Return the result as one JSON object or as text."""
    return json.dumps(result(directory, view)) if as_json else summary(directory, view)


def summary(directory: RunDirectory, view: RunView) -> str:
    """Return the result as a few lines of text."""
    if view.phase == "stopped" and not (view.drawn or view.usage.sent):
        return f"stopped before it began: no call was sent\ncontinue with: python -m vpp resume {directory.path}"
    outcome = result(directory, view)
    metric = outcome["metric"]
    calls = f"{view.usage.calls:,} calls, {cached_words(view.usage.cached, of=view.usage.calls)}"
    if ahead := ahead_words(view.usage.ahead_unused):
        calls += f"; {ahead}"
    dataset = known_rows(lambda: load_dataset(directory, directory.spec()))
    support = support_sentence(view, dataset, merge_ideas(view, dataset)) if dataset else ""
    lines = [*filter(None, [unread_sentence(view), support]), f"{view.phase} after {seconds(view.wall_s)}, {calls}"]
    if metric["test"] is not None:
        lines.append(
            f"test {_shown(metric['name'], metric['test'])}, training {_shown(metric['name'], metric['train'])}"
        )
    if others := _other_scores(outcome["scores"]["test"]):
        lines.append(f"test {others}")
    lines += _baseline(dataset, view)
    if directory.spec().endpoint.is_demo and view.usage.calls:
        lines.append("answered by the built-in demo model: a program that applies rules, not a language model")
    uncertain = outcome["uncertain"]
    if uncertain["points"] is not None:
        lines.append(f"uncertain: {uncertain['points']} of {counted(uncertain['of'], 'test row')}")
    if view.usage.unparsable:
        lines.append(f"{view.usage.unparsable:,} of {view.usage.calls:,} calls gave answers that could not be read")
    if view.usage.inferred:
        lines.append(f"{counted(view.usage.inferred, 'label')} read from explanations without an Output: line")
    if refused := refused_answers(view.usage.refused):
        lines.append(refused)
    if cached := cache_sentence(view.usage):
        lines.append(cached)
    if view.population:
        lines.append(one_line(heaviest(directory, view)))
    if view.failure == "disk" and (advice := cache_advice(view.detail, directory.path, environment().cache_dir)):
        lines.append(f"{advice}: python -m vpp cache clear")
    if view.phase in ("failed", "stopped"):
        reads_key = " (reads OPENAI_API_KEY again)" if is_key_refused(view) else ""
        lines.append(f"continue with: python -m vpp resume {directory.path}{reads_key}")
    if view.phase == "paused":
        cap = "--max-cost X" if directory.spec().cap.cost else "--max-calls N"
        lines.append(f"continue with: python -m vpp resume {directory.path} {cap}")
    if view.phase not in ("failed", "paused"):
        lines.append(f"report: {directory.path / 'report.md'}")
    return "\n".join(lines)


def heaviest(directory: RunDirectory, view: RunView) -> str:
    """Describe the text with the largest total weight over its particles, or one of equals.

    For a method without weights, describe one particle's text.
    """
    ids = [state.hypothesis for state in view.population]
    if view.size > 1 and not directory.spec().config.is_weighted:
        return f"one of {view.size} hypotheses that count alike (each {1 / view.size:.3f}): {view.texts[ids[0]]}"
    weights = dict.fromkeys(ids, 0.0)
    for hypothesis, weight in zip(ids, view.weights, strict=True):
        weights[hypothesis] += weight
    first = max(weights, key=lambda hypothesis: weights[hypothesis])
    top, text, n = weights[first], view.texts[first], ids.count(first)
    alike = sum(top - weight < EQUAL for weight in weights.values())
    held = f", held by {n} of {view.size} particles" if n > 1 else ""
    if alike == 1:
        return f"heaviest hypothesis ({top:.3f}{held}): {text}"
    if alike == len(weights):
        return f"one of {alike} hypotheses that count alike (each {top:.3f}{held}): {text}"
    return f"one of the {alike} heaviest hypotheses (each {top:.3f}{held}): {text}"


def _shown(metric: str, value: float | None) -> str:
    if value is None:
        return "not evaluated"
    return f"accuracy {percent(value, decimals=1)}" if metric == "accuracy" else miss_words(float(value))


def _baseline(dataset: Dataset | None, view: RunView) -> Iterator[str]:
    """Score of the best constant answer on the test rows."""
    test = view.evaluated.get("test")
    if test is None or dataset is None:
        return
    constant = baseline(rows_of(test, dataset), dataset)
    if isinstance(constant.answer, str):
        right = percent(1 - constant.score.error, decimals=1)
        yield f"always “{one_line(constant.answer)}” gets {right} of the test rows"
    else:
        yield f"always {number(constant.answer)} is {miss_words(constant.score.error)} on the test rows"


def _other_scores(scores: dict[str, Any] | None) -> str:
    """Format the further scores of the test rows, with standard errors if known."""
    if scores is None:
        return ""
    if "balanced_accuracy" in scores:
        return f"balanced accuracy {share_text(_estimate(scores, 'balanced_accuracy'))}"
    mae = f"mean absolute error {number_text(_estimate(scores, 'mae'))}"
    if scores["r2"] is None:
        return mae
    r2 = _estimate(scores, "r2")
    return f"{mae}, R² {r2_text(r2.value)}{error_text(r2)}"


def _estimate(scores: dict[str, Any], name: str) -> Estimate:
    error = scores[f"{name}_standard_error"]
    return Estimate(value=float(scores[name]), standard_error=None if error is None else float(error))
