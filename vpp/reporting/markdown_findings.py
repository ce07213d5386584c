"""The report's findings: ideas, their agreement and origin, disagreement, and whether it marks errors."""

from collections.abc import Iterator, Sequence
from textwrap import shorten

from vpp.data.dataset import Dataset, Row
from vpp.drawing import trying
from vpp.drawing.deck import without_seed
from vpp.drawing.dissent import decided_words
from vpp.drawing.genealogy import HAPPENED, founder_name, genealogy_sentence, step_name
from vpp.drawing.idea_deck import facts, quotes_words
from vpp.drawing.ledger import SHOWN_ROWS, Finding, answer_text, finding
from vpp.drawing.matrix import inputs_line, mean_and_range
from vpp.drawing.nearness import alt_words, group_table, meaning, verdict
from vpp.drawing.trust import NOT_ALONE, VOICES_OF_LABELS, VOICES_OF_NUMBERS, judged, voice_table
from vpp.events import Evaluated
from vpp.inspection.genealogy import Genealogy, Node
from vpp.inspection.ideas import Idea, Ideas, nearness, survivors
from vpp.inspection.points import Point, calibrated, points, voices
from vpp.inspection.ruled_out import RuledOut, parted, rejected, resampled_away, unparsable
from vpp.inspection.scores import rows_by_id
from vpp.inspection.summary import deciding_rows
from vpp.posterior.prediction import CLEAR_WORDS, Value
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.trials.trial import read_trial
from vpp.wording.brief import (
    DECIDING_HEAD,
    compared_sentence,
    deciding_sentence,
    deciding_table,
    held_by,
    shares_sentence,
    weights_measure,
)
from vpp.wording.doubt import possible_words, promise_sentence, promised_metric, rule_sentence
from vpp.wording.escaping import markdown_quote, markdown_table, markdown_text
from vpp.wording.verdicts import too_few_words
from vpp.wording.words import (
    ROW_OF,
    capitalised,
    counted,
    in_words,
    integer,
    listed,
    number,
    particles,
    percent,
    value_text,
    weight_text,
)

NONE = "–"
LONGEST_INPUTS = 300
"""Characters of a row's inputs shown in a table."""
MOST_TEXTS = 40
"""Newest texts shown for each reason; posterior.json has all."""
NEAR = 0.95
"""Agreement from which ideas count as one explanation."""
MOST_LINES = 20
"""Heaviest ideas whose ancestors are listed; posterior.json has every particle's."""
MOST_CHANGES = 12
"""Newest changes listed of one line."""


def posterior(snapshot: Snapshot, ideas: Ideas | None) -> Iterator[str]:
    """Ideas by weight, each with every wording in full."""
    if ideas is None:
        drawn = integer(len(snapshot.view.drawn))
        yield f"No population is complete yet: {drawn} of {counted(snapshot.spec.config.size, 'particle')} drawn."
        return
    weights = weights_measure(snapshot).words
    config = snapshot.spec.config
    if snapshot.view.size == 1:
        yield weights
    else:
        yield f"{shares_sentence(ideas, config)} {compared_sentence(ideas)} {weights}"
    for rank, idea in enumerate(ideas, 1):
        yield from _idea(rank, idea, "Weight" if config.is_weighted else "Share")


def deciding(snapshot: Snapshot, dataset: Dataset) -> Iterator[str]:
    """Rows that decide between the two heaviest of the sentences that were weighed."""
    config = snapshot.spec.config
    decided = deciding_rows(snapshot.view, config, dataset) if config.is_weighing else None
    if decided is None:
        return
    yield deciding_sentence(decided)
    if decided.rows:
        lines = [tuple(map(markdown_text, line)) for line in deciding_table(decided)]
        yield markdown_table(DECIDING_HEAD, lines, right=(0, 4))


def on_trial(directory: RunDirectory, snapshot: Snapshot) -> Iterator[str]:
    """Yield the trial of the last population, if one was held."""
    found = read_trial(directory, snapshot.view)
    if found is None:
        return
    seed_text = snapshot.view.started.seed_text if snapshot.view.started else ""
    yield f"### On trial\n\n{trying.verdict(found)} {trying.unread_words(found)}".rstrip()
    yield markdown_table(trying.HEAD, trying.table_rows(found), right=(1, 4))
    for place, idea in enumerate(found.ideas, 1):
        yield f"Idea {place}: {markdown_text(trying.sentence_of(idea, seed_text))}"
        if idea.clauses:
            lines = [(markdown_text(clause), lost) for clause, lost in trying.clause_rows(idea)]
            yield markdown_table(("without this clause", "nats lost"), lines, right=(1,))


def _idea(rank: int, idea: Idea, holds: str) -> Iterator[str]:
    yield f"### {rank}. {holds} {weight_text(idea.weight)}, {particles(idea.slots)}"
    yield markdown_quote(idea.text)
    known = (fact for fact in facts(idea, idea.wordings[0]) if fact != particles(idea.slots))
    yield f"{capitalised('; '.join(filter(None, (*known, markdown_text(quotes_words(idea))))))}."
    others = idea.wordings[1:]
    if others:
        wordings = "wording" if len(others) == 1 else "wordings"
        yield f"{capitalised(in_words(len(others)))} other {wordings} with the same answers:"
        yield "\n".join(f"- {weight_text(wording.weight)}: {markdown_text(wording.text)}" for wording in others)


# How near ideas are


def near_agreement(ideas: Ideas | None, dataset: Dataset, *, is_weighted: bool) -> Iterator[str]:
    """Number of explanations, if ideas that nearly agree count as one."""
    near = nearness(ideas, dataset) if ideas else None
    if near is None:
        yield "What the ideas answer to the same rows is not known yet, so they cannot be compared."
        return
    groups = near.groups(NEAR)
    yield verdict(near, groups, NEAR)
    if near.n > 1:
        yield f"{meaning(near, NEAR)} {alt_words(near)}"
        head, rows = group_table(near, groups, is_weighted=is_weighted)
        yield markdown_table(head, rows, right=(0, 2))


# Where they came from


def lineage(family: Genealogy | None, ideas: Ideas | None, seed_text: str) -> Iterator[str]:
    """Number of first hypotheses with living descendants, then the changes of each idea's first particle."""
    if family is None or ideas is None:
        yield "No population is complete yet."
        return
    yield f"{genealogy_sentence(family)} Texts are shown without the seed sentence."
    for n, idea in enumerate(ideas.all[:MOST_LINES], 1):
        yield from _line(n, idea.slots[0], family, seed_text)
    if len(ideas) > MOST_LINES:
        yield f"And {counted(len(ideas) - MOST_LINES, 'lighter idea')}: posterior.json has every particle's line."


def _line(n: int, slot: int, family: Genealogy, seed_text: str) -> Iterator[str]:
    changes = [each for each in family.ancestry(slot) if each.changed]
    founder = founder_name(family.last[slot].founder)
    changed = listed([each.step for each in changes[1:]])
    change = (
        f"its words changed at {'step' if len(changes) == 2 else 'steps'} {changed}" if changed else "never reworded"
    )
    yield f"### Idea {n}: particle {slot}, from {founder}; {change}"
    if len(changes) > MOST_CHANGES:
        yield f"The last {in_words(MOST_CHANGES)} of {integer(len(changes))} texts; posterior.json has all."
    yield "\n".join(f"- {_change(each, seed_text)}" for each in changes[-MOST_CHANGES:])


def _change(each: Node, seed_text: str) -> str:
    when = capitalised(step_name(each.step))
    how = "" if each.happened == "first" else f", {HAPPENED[each.happened]}"
    afresh = ", drawn afresh from the prior" if each.is_afresh else ""
    return f"{when}{how}{afresh}: {markdown_text(without_seed(each.text, seed_text)) or '*(no text)*'}"


# Disagreement

LEAST_SHARE = 0.01
"""Share from which a label is listed that is no particle's likeliest one."""
MOST_POINTS = 50
"""Uncertain points shown; predictions.csv has all."""
MOST_VOICES = 50
"""Particles shown one by one; predictions.csv has every answer of all."""
WIDEST_POINTS = 10
"""Points shown for regression, where all differ."""


def disagreement(view: RunView, dataset: Dataset, config: Config) -> Iterator[str]:
    """The uncertain test points with their votes, or the points with the widest spread."""
    test = view.evaluated.get("test" if dataset.test else "train")
    if test is None:
        yield "The test rows are not evaluated yet."
    else:
        doubt, held = calibrated(view, dataset, of=test), held_by(config)
        rows = points(test, rows_by_id(dataset), doubt)
        if doubt:
            figure = promised_metric(rows, doubt)
            yield f"{rule_sentence(doubt, held)} {promise_sentence(doubt)}".strip()
            yield f"The truth was possible on {figure.value} of {counted(len(rows), 'row')}: {figure.words}"
        if len(test.weights) == 1:
            yield "There is one hypothesis: it cannot disagree with itself."
            return
        row = ROW_OF[test.split]
        is_number = dataset.task == "regression"
        yield from _spreads(rows, held, dataset.target_decimals, row) if is_number else _votes(rows, held, row)
        yield from _voices(test, dataset, is_weighted=config.is_weighted)


def _votes(rows: Sequence[Point], held: str, row: str) -> Iterator[str]:
    uncalibrated = f"if no label has {CLEAR_WORDS} of the {held} that answered"
    rule = "if several labels are possible" if rows[0].calibrated else uncalibrated
    yield f"{decided_words(rows)}. A row is undecided (“I don’t know”) {rule}."
    uncertain = [point for point in rows if point.is_uncertain]
    if not uncertain:
        yield _nowhere(rows, row)
        return
    shown = uncertain[:MOST_POINTS]
    cut = f" (the first {integer(len(shown))}; predictions.csv has all)" if len(shown) < len(uncertain) else ""
    yield f"{integer(len(uncertain))} of {counted(len(rows), row)}, the most divided first{cut}."
    yield markdown_table(
        ("row", "inputs", "true", "the vote", f"camps, by {'weight' if held == 'weight' else 'size'}"),
        [(str(p.row.id), inputs_cell(p.row), answer_cell(p.row.target), _vote(p), _camps(p)) for p in shown],
        right=(0,),
    )


def _nowhere(rows: Sequence[Point], row: str) -> str:
    return f"Nowhere: the particles agree on all {counted(len(rows), row)}."


def _vote(point: Point) -> str:
    if point.decision is not None:
        return f"“{answer_cell(point.decision)}”: {'wrong' if point.is_wrong else 'right'}"
    if point.calibrated:
        return f"undecided: {answer_cell(possible_words(point))}"
    return f"undecided{'' if point.leader else ': a tie' if point.shares else ': all abstained'}"


def _camps(point: Point) -> str:
    camps = [
        f"“{answer_cell(label)}” {percent(share)}{f' ({_who_said(point, label)})' if label in point.votes else ''}"
        for label, share in point.shares
        if label in point.votes or share >= LEAST_SHARE
    ]
    if None in point.votes:
        camps.append(f"no answer {percent(point.abstained)} ({_who_said(point, None)})")
    return "; ".join(camps)


def _who_said(point: Point, label: str | None) -> str:
    return particles([slot for slot, vote in enumerate(point.votes) if vote == label])


def _spreads(rows: Sequence[Point], held: str, decimals: int | None, row: str) -> Iterator[str]:
    if not any(point.doubt for point in rows):
        yield _nowhere(rows, row)
        return
    shown = rows[:WIDEST_POINTS]
    yield (
        f"The {counted(len(shown), row)} with the widest spread, of {integer(len(rows))}. Spread is the "
        f"weighted standard deviation of the particles' numbers; the range holds 90 % of the {held}. Both "
        "say how far the particles differ; noise is not included."
    )
    head = ("row", "inputs", "true", "prediction", "spread", "90 % of the particles")
    yield markdown_table(head, [_spread(point, decimals) for point in shown], right=(0, 2, 3, 4))


def _spread(point: Point, decimals: int | None) -> tuple[str, ...]:
    row = (str(point.row.id), inputs_cell(point.row), answer_cell(point.row.target))
    shown = mean_and_range(point.prediction, point.interval, decimals)
    if shown is None:
        return (*row, "no answer", "all abstained", NONE)
    return (*row, shown[0], number(point.doubt), shown[1])


def _voices(test: Evaluated, dataset: Dataset, *, is_weighted: bool) -> Iterator[str]:
    """Table of each particle's answers, contradictions and accuracy."""
    head, lines = voice_table(voices(test, dataset), is_weighted=is_weighted)
    shown = lines[:MOST_VOICES]
    cut = f" the heaviest {integer(len(shown))} of {integer(len(lines))}," if len(shown) < len(lines) else ""
    yield f"### Particle by particle,{cut} on the {ROW_OF[test.split]}s"
    yield VOICES_OF_NUMBERS if dataset.task == "regression" else VOICES_OF_LABELS
    yield markdown_table(head, shown, right=range(1, len(head)))


# Whether doubt marks error


def doubt_and_error(view: RunView, dataset: Dataset, config: Config) -> Iterator[str]:
    """Accuracy where all agree and where they differ, and the proper scores; or the reason why they say nothing."""
    test = view.evaluated.get("test")
    if not dataset.test:
        yield "There are no test rows, and weights cannot be judged on the rows that they were made from."
        return
    if test is None:
        yield "The test rows are not evaluated yet."
        return
    if len(test.weights) == 1:
        yield NOT_ALONE
        return
    rows = points(test, rows_by_id(dataset), calibrated(view, dataset, of=test))
    _, saying, metrics = judged(rows, dataset, held_by(config))
    yield " ".join(filter(None, (saying, too_few_words(len(rows)))))
    lines = [(each.name, f"{each.value} {each.scale}".strip(), each.words) for each in metrics]
    yield markdown_table(("measure", "value", "in words"), lines, right=(1,))


# Ruled out


def what_was_ruled_out(view: RunView, dataset: Dataset, ideas: Ideas | None) -> Iterator[str]:
    """Texts rejected, resampled away or unreadable, newest first, with the rows that contradict each."""
    alike = survivors(view, ideas) if ideas else {}
    gone, lived_on = parted(resampled_away(view, dataset), alike)
    kinds = {
        "Rejected": rejected(view, dataset),
        "Resampled away": gone,
        "Not readable": unparsable(view),
        "Not drawn, though others with the same answers were drawn then or are held now": lived_on,
    }
    if not any(kinds.values()):
        yield f"Nothing{'' if view.has_ended else ' so far'}: no text was rejected, resampled away or unreadable."
    for title, entries in kinds.items():
        if entries:
            times = sum(each.times for each in entries)
            yield f"### {title}: {counted(len(entries), 'text')}, {counted(times, 'time')} in all"
        for each in entries[:MOST_TEXTS]:
            yield from _ruled_out(each, finding(each, alike))
        if len(entries) > MOST_TEXTS:
            yield f"And {integer(len(entries) - MOST_TEXTS)} more: posterior.json has all."


def _ruled_out(entry: RuledOut, shown: Finding) -> Iterator[str]:
    """The finding as Markdown: the text, what happened to it, and the first rows against it."""
    history = f"{capitalised('; '.join(shown.history))}."
    yield markdown_quote(entry.text)
    yield markdown_text(" ".join(filter(None, (history, *shown.notes, *shown.arithmetic, shown.verdict))))
    rows = [
        (
            str(each.row.id),
            inputs_cell(each.row),
            markdown_text(answer_text(each.said)),
            markdown_text(answer_text(each.row.target)),
        )
        for each in entry.newest.contradictions[:SHOWN_ROWS]
    ]
    if rows:
        yield markdown_table(("row", "inputs", "it said", "true"), rows, right=(0,))


# Cells


def answer_cell(value: Value | None) -> str:
    """An answer or a target."""
    return markdown_text(value_text(value))


def inputs_cell(row: Row) -> str:
    """All inputs of a row, cut to `LONGEST_INPUTS`."""
    return markdown_text(shorten(inputs_line(row, most=len(row.inputs)), LONGEST_INPUTS, placeholder=" …"))
