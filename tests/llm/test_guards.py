"""Texts that are no rule for a table are refused with a reason; rules that people and the demo model write are not."""

import re
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.demo.asking import BINARY
from tests.demo.test_reading import CIRCLES, CONDITIONS, EVEN_SUM, FORMULAS, HAS_ZERO
from tests.demo.test_round_trip import NAMES, SEEDS, STYLES, TEXTS, label_rules, number_rules
from tests.demo.test_round_trip import table as demo_table
from vpp.data.dataset import Dataset, Kind, Task, Value
from vpp.demo.batch import Batch
from vpp.demo.prior import propose
from vpp.demo.prompt import PriorQuestion
from vpp.demo.write_rule import say_rule
from vpp.demo.write_terms import Style
from vpp.llm.answers import RULE_LIMIT
from vpp.llm.choices import GALLERY
from vpp.llm.forms import optimizer_form, prior_form
from vpp.llm.guards import Guard
from vpp.llm.prompts import OptimizerPrompts, seed_sentence
from vpp.llm.templates import shipped

from .tables import LINE, row, table

EXAMPLES = """Rows:
colour: red, weight: 3 -> keep
colour: red, weight: 9 -> drop
Current rule: If weight is below 5, answer keep; otherwise answer drop.
New rule: If colour is red and weight is below 5, answer keep; otherwise answer drop.

Rows:
city: Rome, age: 31, pet: dog -> no
city: Oslo, age: 64, pet: cat -> yes
New rule: If pet is cat, answer yes; otherwise answer no.
"""


def of_kinds(dataset: Dataset, **kinds: Kind) -> Dataset:
    columns = tuple(replace(column, kind=kinds.get(column.name, column.kind)) for column in dataset.columns)
    return replace(dataset, columns=columns)


@cache
def guard(dataset: Dataset, *, templates: str = "paper", examples: str = EXAMPLES) -> Guard:
    prompts = OptimizerPrompts(
        dataset=dataset,
        refining=shipped("optimizer", templates),
        drawing=shipped("prior", templates),
        seed_text=seed_sentence(dataset),
    )
    return replace(prompts.guard, examples=prompts.examples or examples)


def fault(dataset: Dataset, rule: str, **options: str) -> str | None:
    return guard(dataset, **options).fault(rule, parent=seed_sentence(dataset))


def assert_pass(cases: Iterable[tuple[Dataset, str]], **options: str) -> None:
    """No rule is refused."""
    refused = [(rule, reason) for dataset, rule in cases if (reason := fault(dataset, rule, **options))]
    assert refused == []


def assert_refused(cases: Iterable[tuple[Dataset, str]], reason: str, **options: str) -> None:
    """Every rule is refused for this reason."""
    faults = [(rule, fault(dataset, rule, **options)) for dataset, rule in cases]
    assert [(rule, given) for rule, given in faults if reason not in (given or "")] == []


ADMISSION = of_kinds(
    table(
        "classification",
        (row(0, "rejected", math="F", num_publications="2"), row(1, "admitted", math="A", num_publications="3")),
        target="admission_depth_2",
        classes=("admitted", "rejected"),
    ),
    math="category",
)
BITS = ("0", "1")
DIGITS = table(
    "classification",
    (row(0, "1", a="3", b="5", c="0"), row(1, "0", a="3", b="4", c="8")),
    target="label",
    classes=BITS,
)
POINTS = table(
    "classification", (row(0, "1", x1="0.3", x2="-0.2"), row(1, "0", x1="2", x2="1")), target="label", classes=BITS
)
SEQUENCES = of_kinds(
    table("classification", (row(0, "1", numbers="3 4 0"), row(1, "0", numbers="1 1 9")), target="y", classes=BITS),
    numbers="sequence",
)
REVIEWS = of_kinds(
    table(
        "classification",
        (row(0, "positive", text="A great film."), row(1, "negative", text="I want to return it: no plot at all")),
        target="sentiment",
        classes=("negative", "positive"),
    ),
    text="text",
)
PENGUINS = of_kinds(
    table(
        "classification",
        (
            row(0, "Adelie", island="Torgersen", bill_length_mm="39.1", flipper_length_mm="181"),
            row(1, "Gentoo", island="Biscoe", bill_length_mm="46.1", flipper_length_mm="211"),
            row(2, "Chinstrap", island="Dream", bill_length_mm="46.5", flipper_length_mm="192"),
        ),
        target="species",
        classes=("Adelie", "Chinstrap", "Gentoo"),
    ),
    island="category",
)
INCOME = of_kinds(
    table(
        "classification",
        (row(0, "<=50K", age="39", marital_status="Never-married"), row(1, ">50K", age="50", marital_status="Married")),
        target="income",
        classes=("<=50K", ">50K"),
    ),
    marital_status="category",
)
HOUSES = table(
    "regression", (row(0, 120.0, rooms="3", area="80"), row(1, 200.5, rooms="5", area="120")), target="price"
)

BAD = [
    # the answer form and the instructions, whole and in part
    ("**the whole rule, complete in itself, and nothing else**", "repeats the instructions"),
    ("the whole rule, complete in itself", "repeats the instructions"),
    ("The whole new rule, complete in itself, and nothing after it", "repeats the instructions"),
    ("If math is A, answer admitted: the whole rule, complete in itself, and nothing else", "repeats the instructions"),
    ("For inputs not yet seen, look for common elements in the rows.", "repeats the instructions"),
    (
        "Look for what the rows have in common, and do not list these rows. Give exact values for math.",
        "repeats the instructions",
    ),
    # marks of the prompt
    ("<<<\nIf the number is 1, output admitted", "“<<<”, a mark of the prompt"),
    (
        "If math is A, answer admitted; otherwise rejected.\n>>>\nThis new rule will correctly predict the outputs.",
        "“>>>”, a mark of the prompt",
    ),
    ("[1] admitted [2] rejected [3] admitted [4] rejected", "“[1]”, a mark of the prompt"),
    ("[1] admitted\n[2] no answer", "“[1]”, a mark of the prompt"),
    ("If math is A, admitted. Current rule: if math is B, rejected.", "“current rule:”, a mark of the prompt"),
    ("If math is A, admitted, else rejected.<|im_end|>", "“<|im_end|>”, a mark of the prompt"),
    ("If math is A, admitted, else rejected.\nUser: what now?", "“User:”, a mark of the prompt"),
    # cut off
    ("If math is A and the number of 'num_publications' is 2, then the", "stops in mid-sentence (“2, then the”)"),
    ("The new rule would give the correct outputs as f…", "stops in mid-sentence"),
    ("If math is A, answer admitted,", "stops in mid-sentence"),
    ("Answer admitted if math is A and num_publications is greater than", "stops in mid-sentence"),
    # the seed sentence alone
    ("You are designed to do Binary Classification;\npredict admission depth 2", "only repeats the task"),
    ("admission_depth_2", "only repeats the task"),
    ("Predict `admission_depth_2`.", "only repeats the task"),
    # words of the worked examples
    ("If city is Oslo, answer admitted; otherwise answer rejected.", "it speaks of 'city', a word of the examples"),
    # labels of another table
    ("If math is A, answer 1; otherwise answer 0.", "it gives '1', which is no label of this table"),
    ('Classify it as "accepted" if math is A, else as "rejected".', "it gives 'accepted', which is no label"),
    ("If math is A, then the output depends on num_publications.", "it names no label"),
    ("This rule already gives the correct outputs.", "it names no label"),
    # the target as an input
    ('If admission_depth_2 is already present, answer "no answer".', "it needs admission_depth_2 to be known"),
    ("Answer admitted if the admission depth 2 is admitted.", "it needs admission_depth_2 to be known"),
    ("Answer admitted or rejected depending on `admission_depth_2`.", "it needs admission_depth_2 to be known"),
]


def test_a_text_that_is_no_rule_is_refused_with_its_reason() -> None:
    for rule, reason in BAD:
        reason_given = fault(ADMISSION, rule, templates="terse" if "For inputs" in rule else "paper")
        assert reason_given is not None, (rule, reason)
        assert reason in reason_given, (rule, reason)
        assert "\n" not in reason_given, (rule, reason)


def test_the_placeholder_of_every_answer_form_is_refused() -> None:
    for templates in ["paper", "terse", "json"]:
        refining, drawing = shipped("optimizer", templates), shipped("prior", templates)
        for form in (optimizer_form(refining.style), prior_form(drawing.style)):
            placeholder = re.split(r'New rule: |"new_rule": "', form)[-1].rstrip('"}')
            assert "repeats the instructions" in (fault(ADMISSION, placeholder, templates=templates) or ""), templates


def test_a_regression_rule_needs_a_number_or_a_column() -> None:
    assert "names no column and no output" in (fault(HOUSES, "It is already right.") or "")
    assert "needs price to be known" in (fault(HOUSES, "If the price is above 100, output 200.") or "")
    assert fault(HOUSES, "Always output 150.") is None


def test_the_parents_own_words_may_be_kept() -> None:
    parent = f"{seed_sentence(ADMISSION)} The whole rule, complete in itself, and nothing after it."
    assert guard(ADMISSION).fault("the whole rule, complete in itself, and nothing after it", parent=parent) is None
    longer = "The whole rule, complete in itself, and nothing after it: admitted if math is A, else rejected."
    assert guard(ADMISSION).fault(longer, parent=parent) is None
    assert guard(ADMISSION).fault(longer, parent=seed_sentence(ADMISSION)) is not None


def test_words_of_the_examples_that_the_table_has_are_no_leak() -> None:
    rule = "If pet is cat, answer yes; otherwise answer no."
    rows = (row(0, "yes", pet="cat"), row(1, "no", pet="dog"))
    pets = table("classification", rows, target="y", classes=("no", "yes"))
    assert fault(pets, rule) is None
    assert "'pet'" in (fault(ADMISSION, rule) or "")
    assert "'pet'" not in (fault(ADMISSION, rule, examples="") or "")


GOOD: list[tuple[Dataset, str]] = [
    (ADMISSION, "If math score is A and number of publications is above 2, answer admitted; otherwise rejected"),
    (ADMISSION, "If math is A and num_publications is 2 or more, answer admitted; if math is not A, answer rejected."),
    (ADMISSION, "Admit whoever has an A in math and at least one publication; reject everyone else."),
    (ADMISSION, 'The output is "admitted" if math is "A", and "rejected" otherwise'),
    (ADMISSION, "Predict admission_depth_2 as admitted when math is A."),
    (ADMISSION, "The admission_depth_2 is admitted if math is A, otherwise it is rejected."),
    (ADMISSION, "- math A and num_publications >= 1: admitted\n- anything else: rejected"),
    (ADMISSION, "math = A AND num_publications > 0 → admitted; else → rejected"),
    (ADMISSION, "**Admitted** if `math` is A. **Rejected** if it is not."),
    (ADMISSION, "Always answer Admitted."),
    (ADMISSION, "Never answer maybe: if math is A the label is admitted, otherwise predict the other label."),
    (ADMISSION, "Reject unless math is an A"),
    (ADMISSION, "If math is A, output admitted (num_publications between 1 and 5); output rejected in any other case."),
    (ADMISSION, "Admitted for num_publications in [1, 5), rejected otherwise"),
    (ADMISSION, "Start from rejected. Each publication adds 1 point, math A adds 2; with 3 points predict admitted"),
    (ADMISSION, "Answer with the label of the applicants whose math is alike: A is admitted, B to F rejected."),
    (ADMISSION, "If math is A, predict accordingly that it is admitted; rejected is for the rest."),
    (DIGITS, "Output the parity of the sum of the integers."),
    (DIGITS, "The class label is 1 if a + b + c is even, and 0 otherwise."),
    (DIGITS, "the output is 1 if the sum of a and b is at least 7, the output is 0 if it is not"),
    (DIGITS, "Label 1 needs a 0 in the sequence; in all other cases answer 0."),
    (DIGITS, "Return 1 when a is 3, else 0"),
    (DIGITS, "Let s = a + b. Output s mod 2."),
    (DIGITS, "Answer one if no integer is zero."),
    (POINTS, "Output 1 if sqrt(x1^2 + x2^2) <= 0.615, otherwise 0."),
    (POINTS, "The decision boundary is a circle of radius 1 around the origin; inside it the label is 1."),
    (POINTS, "1 if x1 lies in [0, 2) and x2 in (-1, 1]"),
    (SEQUENCES, "If the first of the numbers is larger than the last one, output 1; otherwise output 0."),
    (SEQUENCES, "numbers[0] + numbers[1] is even: 1. Otherwise: 0."),
    (REVIEWS, "If the review praises the film, answer positive; otherwise negative."),
    (REVIEWS, "If the sentiment of the text is favourable, it is positive, else negative."),
    (REVIEWS, 'Negative if it contains ":(" or "return", positive if it contains "great".'),
    (REVIEWS, "If customers complain and return items, answer negative. Otherwise, answer positive."),
    (REVIEWS, "Positive when words such as great, fun or moving outnumber words such as dull, flat or long"),
    (REVIEWS, 'The label is "Negative" where the writer asks for a refund (or says "no plot"), else "Positive"'),
    (PENGUINS, "Gentoo if flipper_length_mm is above 206. Otherwise Adelie if bill length is below 43, else Chinstrap"),
    (PENGUINS, "The species is Adelie if the island is Torgersen."),
    (PENGUINS, "Predict species as Gentoo on Biscoe with flippers over 205 mm, as Adelie otherwise."),
    (PENGUINS, "1. If island is Dream and bill_length_mm > 44, output Chinstrap.\n2. Otherwise, output Adelie."),
    (PENGUINS, "Classify it as Adelie when bill_length_mm is at most 42.3; classify the rest as Gentoo."),
    (PENGUINS, "Penguins of Torgersen are Adelies, those of Biscoe Gentoos, those of Dream Chinstraps."),
    (INCOME, "If age is above 45 and marital_status is Married, answer >50K; otherwise answer <=50K."),
    (INCOME, 'Output ">50K" for the married, "<=50K" for everyone else'),
    (INCOME, "People who are never-married earn <=50K"),
    (HOUSES, "price = 20 * rooms + 0.8 * area"),
    (HOUSES, "Multiply area by 1.5 and add 12."),
    (HOUSES, "The price is 40 per room; add 10 if area is over 100."),
    (HOUSES, "Start at 100. For every room beyond three add 25"),
    (HOUSES, "Predict the average of twice the area and forty times the rooms"),
    (LINE, "Output 3x + 4."),
    (LINE, "y = 4 + 3x when x > 0, otherwise y = 4"),
]


def test_a_rule_that_a_person_would_write_passes() -> None:
    for templates in GALLERY:
        assert_pass(GOOD, templates=templates)


def test_the_papers_particles_and_their_rewordings_pass() -> None:
    of_digits = [f"The class label is 1 if {condition}, and 0 otherwise." for condition, _ in CONDITIONS]
    assert_pass((DIGITS, rule) for rule in (*EVEN_SUM, *HAS_ZERO, *of_digits))
    assert_pass((POINTS, rule.removeprefix(BINARY)) for rule in CIRCLES)
    assert_pass((LINE, rule) for rule in FORMULAS)


def shown(value: object) -> str | None:
    return None if value is None else str(value)


ROW_PARAMETERS = ("number", "target")
"""Names that no column can have here: `row` takes columns as keywords."""


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(
        NAMES.filter(lambda name: name not in ROW_PARAMETERS), min_size=1, max_size=5, unique_by=str.casefold
    ),
    texts=st.lists(TEXTS, min_size=2, max_size=3, unique_by=str.casefold),
    labels=st.one_of(st.just([]), st.lists(TEXTS, min_size=2, max_size=4, unique_by=str.casefold)),
    digits=st.booleans(),
    style=STYLES,
    seed=SEEDS,
)
def test_no_rule_of_the_demo_model_is_refused(
    names: list[str], texts: list[str], labels: list[str], digits: bool, style: Style, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = demo_table(names, texts, digits=digits, rng=rng)
    drawn = rng.integers(max(2, len(labels)), size=len(rows))
    targets: list[Value] = [labels[int(at)] if labels else float(at) for at in drawn]
    cells = [row(n, targets[n], **{k: shown(v) for k, v in r.cells.items()}) for n, r in enumerate(rows)]
    task: Task = "classification" if labels else "regression"
    checked = guard(table(task, tuple(cells), target=style.target or "y", classes=tuple(sorted(labels))))
    batch = Batch(rows[:10], tuple(map(str, targets[:10])) if labels else tuple(map(float, targets[:10])))
    style = replace(style, names=tuple(names))
    for rule in (label_rules if labels else number_rules)(batch, rng):
        said = say_rule(rule, style)
        assert checked.fault(said, parent=checked.seed_text) is None, said


@settings(max_examples=60, deadline=None)
@given(
    kinds=st.lists(st.sampled_from(["number", "category", "text", "date", "sequence"]), min_size=2, max_size=4),
    labels=st.sampled_from([(), ("0", "1"), ("Adelie", "Gentoo"), ("no", "yes")]),
    seed=SEEDS,
)
def test_no_draw_of_the_demo_model_from_the_prior_is_refused(
    kinds: list[Kind], labels: tuple[str, ...], seed: int
) -> None:
    names = ["island", "bill_length_mm", "x", "notes"][: len(kinds)]
    only = row(0, labels[0] if labels else 1.0, **dict.fromkeys(names, "1"))
    made = table("classification" if labels else "regression", (only,), target="species", classes=labels)
    checked = guard(of_kinds(made, **dict(zip(names, kinds, strict=True))))
    question = PriorQuestion(checked.seed_text, tuple(zip(names, kinds, strict=True)), labels)
    said = propose(question, temperature=1.0, seed=seed).partition("\n\nNew rule:\n")[2]
    assert checked.fault(said, parent=checked.seed_text) is None, said


PIECES = ["if ", "answer ", "[1]", "(", '"', "<<<", "the whole rule ", "math", " is ", "A", ", ", "else ", "\n", "“"]


@given(rule=st.one_of(st.text(max_size=300), st.lists(st.sampled_from(PIECES), max_size=60).map("".join)))
def test_any_text_is_judged_without_an_error(rule: str) -> None:
    for dataset in (ADMISSION, DIGITS, REVIEWS, HOUSES):
        reason_given = fault(dataset, rule)
        assert reason_given is None or (reason_given and "\n" not in reason_given)


def test_a_long_text_is_judged_in_linear_time() -> None:
    """Quadratic work would take 15 s of the processor a text, linear work takes 0.1 s."""
    checked = guard(ADMISSION)
    for piece in (*PIECES, "word ", "answer “", "the output is ", "x: "):
        rule = piece * (5 * RULE_LIMIT // len(piece))
        began = time.process_time()
        checked.fault(rule, parent=checked.seed_text)
        assert time.process_time() - began < 3, piece
