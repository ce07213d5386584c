"""Result of a run as a few lines of text."""

from vpp.data.dataset import Dataset
from vpp.events import Evaluated
from vpp.inspection.ideas import merge_ideas
from vpp.inspection.scores import averaged_score, baseline, rows_of
from vpp.inspection.summary import deciding_rows, uncertain_points, undecided_rows
from vpp.runs.directory import RunDirectory, known_rows
from vpp.runs.view import RunView
from vpp.wording.brief import constant_sentence, deciding_sentence, support_sentence, unread_sentence, weight_lines
from vpp.wording.counts import cut_cells_text, miss_words, other_scores_text
from vpp.wording.escaping import one_line
from vpp.wording.status import cache_sentence, is_key_refused
from vpp.wording.words import EQUAL, cached_words, counted, number, percent, refused_answers, seconds


def summary(directory: RunDirectory, view: RunView) -> str:
    if view.phase == "stopped" and not (view.drawn or view.usage.sent):
        return f"stopped before it began: no call was sent\ncontinue with: python -m vpp resume {directory.path}"
    calls = f"{view.usage.calls:,} calls, {cached_words(view.usage.cached, of=view.usage.calls)}"
    dataset = known_rows(directory)
    support = support_sentence(view, dataset, merge_ideas(view, dataset)) if dataset else ""
    lines = [*filter(None, [unread_sentence(view), support]), f"{view.phase} after {seconds(view.wall_s)}, {calls}"]
    test = view.evaluated.get("test")
    if test is not None:
        lines.append(f"test {_shown(test)}, training {_shown(view.evaluated.get('train'))}")
    if test is not None and dataset is not None:
        lines += filter(None, [other_scores_text(averaged_score(test, dataset)), _baseline(test, dataset)])
    if dataset is not None and (odds := constant_sentence(view, directory.spec().config, dataset)):
        lines.append(odds)
    if dataset and (unknown := undecided_rows(view, directory.spec().config, dataset)) and unknown["count"]:
        lines.append(f"“I don’t know”: {unknown['count']} of {counted(unknown['of'], 'test row')}")
    if directory.spec().endpoint.is_demo and view.usage.calls:
        lines.append("answered by the built-in demo model: a program that applies rules, not a language model")
    if test is not None and (uncertain := uncertain_points(test)) is not None:
        lines.append(f"uncertain: {uncertain} of {counted(len(test.rows), 'test row')}")
    if view.usage.unparsable:
        lines.append(f"{view.usage.unparsable:,} of {view.usage.calls:,} calls gave answers that could not be read")
    cut = cut_cells_text(dataset, directory.spec().cell_limit) if dataset else ""
    lines += filter(None, (cut, refused_answers(view.usage.refused), cache_sentence(view.usage)))
    if directory.spec().config.is_weighing and view.started:
        decided = deciding_rows(view, directory.spec().config, dataset) if dataset else None
        lines += filter(None, [*weight_lines(view, view.started.seed_text), deciding_sentence(decided)])
    elif view.population:
        lines.append(one_line(heaviest(directory, view)))
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
    """Describe the text with the largest total weight, or one of equals; without weights, one particle's text."""
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
    which = f"one of the {alike} heaviest hypotheses (each "
    if alike in (1, len(weights)):
        which = "heaviest hypothesis (" if alike == 1 else f"one of {alike} hypotheses that count alike (each "
    return f"{which}{top:.3f}{held}): {text}"


def _shown(evaluated: Evaluated | None) -> str:
    if evaluated is None:
        return "not evaluated"
    is_accuracy = evaluated.metric == "accuracy"
    return f"accuracy {percent(evaluated.value, decimals=1)}" if is_accuracy else miss_words(evaluated.value)


def _baseline(test: Evaluated, dataset: Dataset) -> str:
    constant = baseline(rows_of(test, dataset), dataset)
    if isinstance(constant.answer, str):
        right = percent(1 - constant.score.error, decimals=1)
        return f"always “{one_line(constant.answer)}” gets {right} of the test rows"
    return f"always {number(constant.answer)} is {miss_words(constant.score.error)} on the test rows"
