"""Most informative labels to collect, in sentences and HTML: questions, the effect of each answer, and the next run."""

from collections.abc import Iterator, Sequence

from vpp.data.dataset import Dataset
from vpp.data.labelling import Source
from vpp.drawing.deck import without_seed
from vpp.drawing.matrix import inputs_line, mean_and_range
from vpp.inference.plan import Plan
from vpp.inspection.settling import REACH, Consequence, Contender, Question
from vpp.runs.preparation import Preparation
from vpp.wording.markup import caption, table, text, votes
from vpp.wording.words import capitalised, counted, fixed, integer, listed, number, percent, target_text, weight_text

MOST_SLOTS = 6
"""Particles named; the others are counted."""
MOST_ANSWERS = 4
"""Answers of one question that are spelt out."""
MOST_CONTENDERS = 8
"""Hypotheses whose weights after an answer are shown."""
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
    return (
        f"{counted(n, 'row')} of the data with one cell changed, on which two tested ideas disagree. Leave out a row "
        "that the change made impossible."
    )


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
    shown = mean_and_range(question.prediction, question.interval, decimals)
    if shown is None:
        return caption("No readable answer.")
    mean, middle = map(text, shown)
    return f'<span class="num">{mean}</span> <span class="cap">mean; 90 % of the particles: {middle}</span>'


def consequence_words(question: Question, dataset: Dataset, *, is_weighted: bool) -> Iterator[str]:
    """A sentence per answer: `If yes: 46 % of the weight is contradicted (particles 1 and 4).`"""
    size = sum(vote is not None for vote in question.votes)
    for each in question.consequences[:MOST_ANSWERS]:
        answer = _answer(each, dataset.target_decimals)
        yield f"If {answer}: {_contradicted(each, size, is_weighted=is_weighted)}."
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


def _contradicted(consequence: Consequence, size: int, *, is_weighted: bool) -> str:
    against = consequence.against
    if not against:
        return "nothing is contradicted"
    if is_weighted:
        named = f"particle{'s' if len(against) > 1 else ''} {slots_text(against)}"
        return f"{percent(consequence.contradicted)} of the weight is contradicted ({named})"
    are = "is" if len(against) == 1 else "are"
    return f"{len(against)} of {counted(size, 'particle')} {are} contradicted ({slots_text(against)})"


def slots_text(slots: Sequence[int]) -> str:
    """`1 and 4`, `0, 1, 2, 3, 4, 5 and 9 more`."""
    more = len(slots) - MOST_SLOTS
    return listed([*slots[:MOST_SLOTS], f"{more} more"] if more > 0 else slots)


def reach_words(tau: float) -> str:
    return (
        f"A number contradicts a prediction that is more than {number(REACH * tau**0.5)} off: two standard deviations "
        "of the noise, √τ."
    )


def _weights(question: Question, held: Sequence[Contender], seed_text: str, decimals: int | None) -> str:
    shown = question.consequences[:MOST_ANSWERS]
    if not shown or not held:
        return ""
    answers = (f"if {_answer(each, decimals)}" for each in shown)
    head = ("particle", "hypothesis", "now", *answers)
    rows = [
        (
            slots_text(each.slots),
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
