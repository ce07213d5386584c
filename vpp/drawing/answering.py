"""Answers to new rows, and the labels that would tell most about them, in words and as HTML."""

import math
from collections.abc import Iterator, Sequence

from vpp.data.columns import is_number
from vpp.data.dataset import Dataset, Row
from vpp.data.labelling import Field, Source
from vpp.drawing.dissent import mean_doubt
from vpp.drawing.matrix import inputs_line, is_read, mean_and_range, read_html
from vpp.findings.points import REACH, Consequence, Contender, Question, Vote, target_spread
from vpp.findings.slots import grouped
from vpp.inference.plan import Plan
from vpp.posterior.prediction import leaders
from vpp.runs.preparation import Preparation
from vpp.runs.view import RunView
from vpp.show.blocks import Metric, count_metric
from vpp.show.deck import without_seed
from vpp.show.markup import badge, caption, saying, scrolling, strip, table, text, votes
from vpp.show.words import (
    capitalised,
    counted,
    cut,
    fixed,
    in_words,
    integer,
    listed,
    number,
    percent,
    seconds,
    target_text,
    value_text,
    weight_text,
)
from vpp.wording.verdicts import possible_sentence, possible_words, reason_words

MOST_NOTES = 4
LONGEST = 240
"""Characters of a reason beside the headline; the table has all of it."""


def vote_html(vote: Vote, dataset: Dataset, *, is_weighted: bool) -> str:
    """Headline, bar or numbers, certainty, and the dissenters. dataset: the run's."""
    parts = [saying(headline(vote, dataset, is_weighted=is_weighted))]
    if vote.is_label and vote.voices and len(vote.said) > 1:
        parts.append(votes(vote.shares, vote.abstained))
    elif vote.interval and len(vote.said) > 1:
        parts.append(strip(_metrics(vote, dataset, is_weighted=is_weighted)))
    parts.append(caption(sure_sentence(vote, dataset, is_weighted=is_weighted)))
    dissent = dissent_sentence(vote, is_weighted=is_weighted)
    html = "".join([*parts, f'<p class="dissent">{text(dissent)}</p>' if dissent else ""])
    return f'<div class="verdict">{html}</div>'


def texts_html(vote: Vote) -> str:
    return read_html(vote.row) if is_read(vote.row) else ""


def headline(vote: Vote, dataset: Dataset, *, is_weighted: bool) -> str:
    """`Class 1, with 96 % of the weight behind it.`"""
    if vote.prediction is None:
        return "No particle gave a readable answer."
    if not vote.voices:
        return "No particle with weight gave a readable answer."
    decimals = dataset.target_decimals
    named = f"Class {vote.prediction}" if vote.is_label else target_text(float(vote.prediction), decimals)
    if vote.reject.conformal and vote.is_undecided:
        return f"I don’t know: {possible_words(vote)}."
    if len(vote.said) == 1 and not vote.mixture.noise:
        return f"{named}, says the one hypothesis."
    if not vote.is_label:
        doubtful = "I don’t know; about " if vote.agreement(target_spread(dataset)) == 0 else ""
        mean = "the weighted mean" if is_weighted else "the mean"
        return f"{doubtful}{named}, {mean} of {_answers(len(vote.voices))}."
    backers = sum(prediction.value == vote.prediction for prediction in vote.said)
    behind = f"{in_words(backers)} of {in_words(len(vote.said))} particles"
    if is_weighted:
        behind = f"{percent(vote.behind)} of the weight"
    if vote.mixture.noise:
        behind = f"a probability of {percent(vote.behind)}"
    if vote.leader is None:
        tied = leaders(dict(vote.shares))
        return f"I don’t know: classes {listed(tied)} are tied, each with {behind}."
    after = "" if vote.mixture.noise else " behind it"
    if vote.agreement() == 0:
        return f"I don’t know: class {vote.prediction} leads, with only {behind}{after}."
    return f"{named}, with {behind}{after}."


def sure_sentence(vote: Vote, dataset: Dataset, *, is_weighted: bool) -> str:
    if vote.reject.conformal and vote.voices:
        return possible_sentence(vote, vote.reject.conformal, dataset.target_decimals)
    if len(vote.said) == 1 and not vote.mixture.noise:
        return "One hypothesis cannot disagree with itself: it says nothing of how sure it is."
    if not vote.voices:
        return "There is no answer to count. What each of them said is in the table."
    scale = target_spread(dataset)
    agreement = vote.agreement(scale)
    if agreement == 3:
        n = f"{in_words(len(vote.voices))} of {in_words(len(vote.said))}"
        if not is_weighted:
            return f"All particles that answered agree ({n})."
        silent = f"; {percent(vote.abstained)} of the weight gave no answer" if vote.abstained > 0 else ""
        return f"All particles that hold weight and answered agree ({n}){silent}."
    how = ("They differ too much for an answer", "They are divided", "Nearly all agree")[agreement]
    if vote.is_label:
        most = math.log2(max(2, len(dataset.classes)))
        return f"{how}: vote entropy {fixed(vote.doubt)} bits, where 0 is unanimous and {fixed(most)} an even split."
    beside = f", where the training targets spread by {number(scale)}" if scale else ""
    alone = "It is the particles’ spread alone: the target’s own noise is not included."
    return f"{how}: a spread of {number(vote.doubt)}{beside}. {alone}"


def dissent_sentence(vote: Vote, *, is_weighted: bool) -> str:
    """`The one dissent, particle 9, says 0: “…”`, the heaviest; for numbers, the lowest and the highest answer."""
    if vote.is_label:
        slots, held = vote.dissenters, math.fsum(vote.weights[slot] for slot in vote.dissenters)
        if len(slots) < 2:
            return f"The one dissent, {_says(vote, slots[0])}" if slots else ""
        weighing, which = (f", with {percent(held)} of the weight", "heaviest") if is_weighted else ("", "first")
        return f"{capitalised(in_words(len(slots)))} dissent{weighing}. The {which}, {_says(vote, slots[0])}"
    if not vote.voices or vote.doubt == 0:
        return ""
    by_value = sorted(vote.voices, key=lambda slot: float(vote.said[slot].value or 0.0))
    low, high = (_says(vote, slot, with_weight=is_weighted) for slot in (by_value[0], by_value[-1]))
    return f"The lowest, {low} The highest, {high}"


def answers_html(vote: Vote, texts: Sequence[str], *, seed_text: str, is_weighted: bool) -> str:
    """Table with a line per sentence, heaviest first: its particles, answer and reason, with the sentence folded away.

    texts: (K,). Particles that hold the same sentence gave the same answer.
    """
    groups = grouped((sentence, slot) for slot, sentence in enumerate(texts)).values()
    heaviest_first = sorted(groups, key=lambda slots: -math.fsum(vote.weights[slot] for slot in slots))
    sentences = [without_seed(texts[slots[0]], seed_text) for slots in heaviest_first]
    lines = [_line(vote, *each, is_weighted=is_weighted) for each in zip(heaviest_first, sentences, strict=True)]
    weight = '<th class="r">weight</th>' if is_weighted else ""
    head = f"<th>particle</th>{weight}<th>its answer</th><th>its reason</th>"
    html = f'<table class="t asked"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return scrolling(html, "What each particle answers")


def _line(vote: Vote, slots: Sequence[int], sentence: str, *, is_weighted: bool) -> str:
    prediction = vote.said[slots[0]]
    if prediction.value is None:
        answer = badge("abs", "no readable answer")
    else:
        differs = vote.leader not in (prediction.value, None) and bool(vote.voices)
        answer = f"<b>{text(prediction.value)}</b> (dissents)" if differs else text(value_text(prediction.value))
    why = reason_words(prediction) or "no reason given"
    fold = f'<details><summary>its hypothesis</summary><p class="hyp">{text(sentence)}</p></details>'
    held = weight_text(math.fsum(vote.weights[slot] for slot in slots))
    weight = f'<td class="r">{held}</td>' if is_weighted else ""
    return f"<tr><td>{', '.join(map(str, slots))}</td>{weight}<td>{answer}</td><td>{text(why)}{fold}</td></tr>"


def _metrics(vote: Vote, dataset: Dataset, *, is_weighted: bool) -> Iterator[Metric]:
    mean, middle = mean_and_range(vote.prediction, vote.interval, dataset.target_decimals) or ("–", "–")
    scale = target_spread(dataset)
    words = f"Of {_answers(len(vote.voices))}."
    yield Metric(name="Weighted mean" if is_weighted else "Mean", value=mean, words=words)
    yield Metric(
        name="Spread",
        value=number(vote.doubt),
        scale=f"against {number(scale)}" if scale else "",
        words="Standard deviation of the answers, against that of the training targets.",
    )
    counted_by = "weight" if is_weighted else "answers"
    yield Metric(name="Middle 90 %", value=middle, words=f"Of the particles’ {counted_by}, without noise.")
    yield _abstained(vote.abstained, is_weighted=is_weighted)


def _abstained(share: float, *, is_weighted: bool) -> Metric:
    words = f"{'Weight' if is_weighted else 'Particles'} without a readable answer."
    return Metric(name="Abstained", value=percent(share), words=words)


def _answers(n: int) -> str:
    return "one answer" if n == 1 else f"{in_words(n)} answers"


def _says(vote: Vote, slot: int, *, with_weight: bool = False) -> str:
    """`particle 9, says 0: “…”`"""
    prediction = vote.said[slot]
    why = " ".join(prediction.explanation.split())
    short = why if len(why) <= LONGEST else f"{why[:LONGEST].rsplit(' ', 1)[0]} …"
    weight = f" of weight {weight_text(vote.weights[slot])}" if with_weight else ""
    return f"particle {slot}{weight}, says {value_text(prediction.value)}{f': “{short}”' if short else '.'}"


# Inputs outside the data


def outside_html(fields: Sequence[Field], vote: Vote) -> str:
    """Warning about inputs beyond the training rows, `a is 99; the training rows have 1 to 12.`; empty without any."""
    notes = []
    for field, (name, cell) in zip(fields, vote.row.inputs, strict=True):
        if cell is None or not field.is_outside(cell):
            continue
        if field.column.kind == "category":
            notes.append(f"{name} is “{cell}”, which no training row has.")
        elif is_number(cell):
            notes.append(f"{name} is {cell}; the training rows have {field.low} to {field.high}.")
        else:
            notes.append(f"{name} is “{cell}”, where the training rows have numbers.")
    if not notes:
        return ""
    more = f"And {counted(len(notes) - MOST_NOTES, 'other input')}." if len(notes) > MOST_NOTES else ""
    words = " ".join(filter(None, [*notes[:MOST_NOTES], more, "The sentences were never tested there."]))
    return f'<div class="outside">{badge("uns", "outside the data")}<p>{text(words)}</p></div>'


def known_words(row: Row) -> str:
    return f"Row {row.id} of the data has these inputs; its true value is {value_text(row.target)}."


def asked_caption(vote: Vote, step: int | None, view: RunView, took_s: float) -> str:
    """Caption with a short row, the duration, and the step if the run has gone on since."""
    took = f"took {seconds(took_s)}."
    row = f"The answers {took}" if is_read(vote.row) else f"Asked about {inputs_line(vote.row)}; it {took}"
    is_latest = view.last_step == step and vote.weights == view.weights
    if step is None or (view.has_ended and is_latest):
        return row
    when = "the first hypotheses" if step < 0 else f"step {step}"
    now = "has ended since" if view.has_ended else f"is at step {view.last_step} now"
    return f"{row} As of {when}.{'' if is_latest else f' The run {now}: ask again.'}"


# A table of rows

MOST_INPUTS = 6
MOST_NAMED = 4
LONGEST_CELL = 60


def table_metrics(answers: Sequence[Vote], n_asked: int, dataset: Dataset, *, is_weighted: bool) -> Iterator[Metric]:
    yield count_metric("Rows answered", len(answers), n_asked, "By every particle.")
    if not answers:
        return
    if len(answers[0].said) > 1:
        doubtful = sum(vote.doubt > 0 for vote in answers)
        scale = target_spread(dataset)
        unsure = sum(vote.agreement(scale) == 0 for vote in answers)
        yield count_metric("Uncertain rows", doubtful, len(answers), "Rows on which not all voices agree.")
        yield count_metric("I don’t know", unsure, len(answers), "No clear answer: read the vote.")
        meaning = "0 is unanimous." if answers[0].is_label else "Standard deviation of the answers."
        yield mean_doubt(answers, lambda _: meaning)
    yield _abstained(math.fsum(vote.abstained for vote in answers) / len(answers), is_weighted=is_weighted)


def preview_html(answers: Sequence[Vote], dataset: Dataset, *, is_weighted: bool) -> str:
    """Table with a line per row: its first inputs, the outcome, and its certainty. answers: at least one."""
    behind = "weight behind" if is_weighted else "share behind"
    own = (behind, "entropy, bits") if answers[0].is_label else ("spread", "middle 90 %")
    names, lines = [name for name, _ in answers[0].row.inputs], []
    for vote in answers:
        cells = ("missing" if cell is None else cut(cell, LONGEST_CELL) for _, cell in vote.row.inputs[:MOST_INPUTS])
        lines.append((str(vote.row.id), *cells, *_outcome(vote, dataset.target_decimals)))
    more = counted(len(names) - MOST_INPUTS, "more input")
    rest = caption(f"{more} in the file.") if len(names) > MOST_INPUTS else ""
    return table(("row", *names[:MOST_INPUTS], "prediction", *own), lines) + rest


def _outcome(vote: Vote, decimals: int | None) -> tuple[str, str, str]:
    if vote.prediction is None:
        return "no readable answer", "–", "–"
    if not vote.voices:
        return "none with weight", "–", "–"
    if shown := mean_and_range(vote.prediction, vote.interval, decimals):
        return shown[0], number(vote.doubt), shown[1]
    unknown = f"I don’t know; {vote.leader} leads" if vote.leader is not None else "I don’t know; a tie"
    return str(vote.prediction) if vote.agreement() else unknown, percent(vote.behind), fixed(vote.doubt)


def outside_sentence(fields: Sequence[Field], answers: Sequence[Vote]) -> str:
    outside = [
        [name for field, (name, cell) in zip(fields, vote.row.inputs, strict=True) if field.is_outside(cell)]
        for vote in answers
    ]
    columns, rows = dict.fromkeys(name for names in outside for name in names), sum(map(bool, outside))
    if not rows:
        return ""
    names = listed([cut(name, LONGEST_CELL) for name in list(columns)[:MOST_NAMED]])
    hold = "holds" if rows == 1 else "hold"
    return (
        f"{capitalised(in_words(rows))} of {in_words(len(answers))} rows {hold} a value beyond the training rows’ "
        f"({names}{', …' if len(columns) > MOST_NAMED else ''}): the sentences were never tested there."
    )


# The most informative labels: questions, the effect of each answer, and the next run


MOST_SLOTS = 6
MOST_ANSWERS = 4
MOST_CONTENDERS = 8
LITTLE = 0.005
"""Bits below this read as 0.00."""
INDICATIVE = (
    "Bits: expected information gain of the true answer about which hypothesis holds. Indicative only: one answer is "
    "weighed by the run’s own likelihood, as if the hypotheses were fixed; a new run also rewrites them."
)
MADE_UP = (
    "Made up: each cell is drawn by itself, a number within the range of the training rows, any other cell as one of "
    "them has it. So some rows may be impossible; leave those out. None is a labelled row."
)


def source_words(source: Source, *, n: int, n_kept: int, wanted: int) -> str:
    """Sentence on the origin of the inputs. n: number of inputs. n_kept: rows without a target."""
    if source == "unlabelled":
        return f"{integer(n)} of the {counted(n_kept, 'row')} that came without a target, drawn by seed."
    if not n:
        return "No input could be made up: whatever lies within the training rows is labelled already."
    few = "" if n >= wanted else f" Only {integer(n)} could be made up that are not labelled already."
    return MADE_UP + few


def parting_words(n: int) -> str:
    changed = f"{counted(n, 'row')} of the data with one cell changed, on which two tested ideas disagree."
    return f"{changed} Leave out a row that the change made impossible."


def test_row_words(row: int) -> str:
    return (
        f"Row {row} is a test row: its label stays held out, so that later scores remain comparable. Label an "
        "input like it instead. Choose “Inputs like this row” below, ask, and type the true answers."
    )


def like_words(row: int, *, n: int) -> str:
    if not n:
        return f"No input like row {row} could be made up: all are labelled already."
    return (
        f"Like row {row}: each cell is that of the row, or drawn from the training rows’ range. So some may be "
        "impossible; leave those out. None is a labelled row."
    )


def asking_words(n_rows: int, calls: int, *, again: bool) -> str:
    """Label of the button, with the number of calls. again: whether others were asked about before."""
    rows = counted(n_rows, "other input" if again else "input")
    return f"Ask the posterior about {rows}: {counted(calls, 'call')}"


def finding(questions: Sequence[Question], *, ceiling: float) -> str:
    """Sentence above the list. ceiling: upper bound of the bits of an answer."""
    telling = sum(question.bits >= LITTLE for question in questions)
    if not telling:
        n = len(questions)
        return (
            f"On {'the one input' if n == 1 else f'all {integer(n)} inputs'} nearly all hypotheses agree: "
            "no label among them would tell much. Ask about others."
        )
    best = questions[0]
    return (
        f"Expected information gain of the first label: {fixed(best.bits)} of {fixed(ceiling)} bits. "
        f"{integer(telling)} of {counted(len(questions), 'input')} would tell something."
    )


def question_html(
    question: Question, held: Sequence[Contender], dataset: Dataset, *, name: str, seed_text: str, is_weighted: bool
) -> str:
    """One input, the vote now, and the effect of each answer. name: the input's own."""
    inputs, decimals = inputs_line(question.row, len(question.row.inputs)), dataset.target_decimals
    words = consequence_words(question, dataset, is_weighted=is_weighted)
    consequences = "".join(f"<p>{text(sentence)}</p>" for sentence in words)
    return (
        f'<article class="settle"><div class="q"><p class="in">{text(inputs)}</p>'
        f'<p class="cap">{text(capitalised(name))} · {text(fixed(question.bits))} bits</p></div>'
        f'<div class="now">{_vote(question, decimals)}</div>'
        f'<div class="would">{consequences}</div>{_weights(question, held, seed_text, decimals)}</article>'
    )


def _vote(question: Question, decimals: int | None) -> str:
    if question.shares:
        return votes(question.shares, question.abstained)
    if words := mean_and_range(question.prediction, question.interval, decimals):
        mean, middle = map(text, words)
        return f'<span class="num">{mean}</span> <span class="cap">mean; 90 % of the particles: {middle}</span>'
    return caption("No readable answer.")


def consequence_words(question: Question, dataset: Dataset, *, is_weighted: bool) -> Iterator[str]:
    """A sentence per answer: `If yes: 46 % of the weight is contradicted (particles 1 and 4).`"""
    size = sum(vote is not None for vote in question.votes)
    for each in question.consequences[:MOST_ANSWERS]:
        n, slots = len(each.against), listed(each.against, most=MOST_SLOTS)
        are = "is" if n == 1 else "are"
        effect = f"{n} of {counted(size, 'particle')} {are} contradicted ({slots})" if n else "nothing is contradicted"
        if n and is_weighted:
            share, s = percent(each.contradicted), "s" if n > 1 else ""
            effect = f"{share} of the weight is contradicted (particle{s} {slots})"
        yield f"If {_answer(each, dataset.target_decimals)}: {effect}."
    rest = len(question.consequences) - MOST_ANSWERS
    if rest > 0:
        yield f"{capitalised(counted(rest, 'more answer'))} {'is' if rest == 1 else 'are'} predicted by some."
    if 0 < len(question.consequences) < len(dataset.classes):
        yield "If anything else: every particle that answered is contradicted."
    if question.abstained > 0:
        share = f"{percent(question.abstained)} of the {'weight' if is_weighted else 'particles'}"
        yield f"{share} gave no readable answer: that counts as wrong."


def _answer(consequence: Consequence, decimals: int | None) -> str:
    answer = consequence.answer
    return answer if isinstance(answer, str) else f"near {target_text(answer, decimals)}"


def reach_words(tau: float) -> str:
    off = f"A number contradicts a prediction that is more than {number(REACH * tau**0.5)} off"
    return f"{off}: two standard deviations of the noise, √τ."


def _weights(question: Question, held: Sequence[Contender], seed_text: str, decimals: int | None) -> str:
    shown = question.consequences[:MOST_ANSWERS]
    if not shown or not held:
        return ""
    answers = (f"if {_answer(each, decimals)}" for each in shown)
    head = ("particle", "hypothesis", "now", *answers)
    rows = [
        (
            listed(each.slots, most=MOST_SLOTS),
            without_seed(each.text, seed_text),
            weight_text(each.weight),
            *(weight_text(each.weight_after(consequence)) for consequence in shown),
        )
        for each in held[:MOST_CONTENDERS]
    ]
    more = len(held) - MOST_CONTENDERS
    rest = caption(f"And {counted(more, 'more hypothesis', 'more hypotheses')}.") if more > 0 else ""
    body = table(head, rows, right=range(2, len(head)))
    return f"<details><summary>Weights after such an answer</summary>{body}{rest}</details>"


def going_on_words(preparation: Preparation, *, n_added: int) -> str:
    spec, n_train = preparation.spec, len(preparation.dataset.train)
    n = len(spec.start)
    start = "this sentence" if n == 1 else f"these {integer(n)} sentences"
    begins = f"A new run begins with {start} and has {counted(n_added, 'training row')} more"
    if spec.config.is_weighing:
        return f"{begins}. It weighs them anew on all {integer(n_train)} rows, each counted once."
    if spec.config.method != "smc":
        return f"{begins}, {integer(n_train)} in all. Its chains go on from there: they have no weights to carry over."
    return (
        f"{begins}. The weights of now are not carried over: they stand for the earlier rows already. In the end it "
        f"weighs its sentences on all {integer(n_train)} training rows, each counted once. Its test rows are the same."
    )


def plan_html(plan: Plan) -> str:
    rows = [(what, integer(calls)) for what, calls in plan.items]
    return (
        f'<div class="plan">{table(("work", "calls"), [*rows, ("At most", integer(plan.calls))], right=(1,))}'
        f"{caption('Repeated texts cost nothing, and so do questions that the cache can answer.')}</div>"
    )
