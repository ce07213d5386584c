"""Rules that need the target to be known are refused; rules that say what the target is are not."""

from .tables import row, table
from .test_guards import HOUSES, PENGUINS, REVIEWS, assert_pass, assert_refused, of_kinds
from .test_leaks import HEART

TITANIC = of_kinds(
    table(
        "classification",
        (
            row(0, "1", name="Heikkinen, Miss. Laina", sex="female", age="26"),
            row(1, "0", name="Allen, Mr. William", sex="male", age="35"),
        ),
        target="survived",
        classes=("0", "1"),
    ),
    name="text",
    sex="category",
)
NOTES = of_kinds(
    table(
        "classification",
        (row(0, "sick", age="61", notes="coughs a lot"), row(1, "healthy", age="30", notes="runs daily")),
        target="status",
        classes=("healthy", "sick"),
    ),
    notes="text",
)
CREDIT = of_kinds(
    table(
        "classification",
        (row(0, "good", history="paid", income="2000"), row(1, "bad", history="delayed", income="700")),
        target="risk",
        classes=("bad", "good"),
    ),
    history="category",
)
SIZES = of_kinds(
    table(
        "classification",
        (row(0, "huge", size="huge", weight="20"), row(1, "tiny", size="tiny", weight="1")),
        target="parcel",
        classes=("huge", "tiny"),
    ),
    size="category",
)
MANY = of_kinds(
    table(
        "classification",
        tuple(row(n, ("in", "out")[n % 2], city=f"a long name of town {n}") for n in range(400)),
        target="decision",
        classes=("in", "out"),
    ),
    city="category",
)

LEANING = [
    (HEART, "If age is above 40 and status is sick, answer sick; otherwise answer healthy."),
    (HEART, "If age is above 40, and status is sick, answer sick; otherwise answer healthy."),
    (HEART, "If age is above 40.5 or the status is sick, then answer sick; otherwise healthy."),
    (HEART, "Answer sick if age is above 40 and status is sick; otherwise healthy."),
    (HEART, "If the patient's status is sick, answer sick; otherwise answer healthy."),
    (HEART, "Use the status column: sick rows are sick and healthy rows are healthy."),
    (HEART, "Look at the column status and give it: sick or healthy."),
    (HOUSES, "The price equals its own price in the row plus 0."),
    (HOUSES, "The output is the price in the row."),
    (HOUSES, "If rooms is above 3 and price is above 100, output 200; otherwise output 100."),
    (TITANIC, "If survived is 1, answer 1; otherwise answer 0."),
    (TITANIC, "If survived = 1, answer 1; otherwise answer 0."),
    (TITANIC, "If age is above 20 and survived is 1, answer 1; otherwise answer 0."),
    (TITANIC, "Use the survived column: 1 is 1 and 0 is 0."),
    (NOTES, "If the status is sick, answer sick; otherwise answer healthy."),
    (NOTES, "If the patient's status is sick, answer sick; otherwise answer healthy."),
    (NOTES, "If age is above 40 and status is sick, answer sick; otherwise answer healthy."),
    (PENGUINS, "If island is not Adelie, answer Gentoo; otherwise answer Adelie."),
    (MANY, "If city is out, answer out; otherwise answer in."),
    (PENGUINS, "If island is Dream or Gentoo, answer Gentoo; otherwise answer Adelie."),
    (PENGUINS, "If any other island is Adelie, answer Gentoo."),
    (PENGUINS, "If island is Dream and Adelie is Biscoe, answer Gentoo; otherwise answer Adelie."),
    (PENGUINS, "If island Biscoe and Dream are Gentoo, answer Gentoo; otherwise answer Adelie."),
    (PENGUINS, "If bill_length_mm is above 43 and Torgersen is Adelie, answer Adelie; otherwise answer Gentoo."),
    (PENGUINS, "If island is Dream or Biscoe and Adelie, answer Adelie; otherwise answer Gentoo."),
]
HONEST = [
    (HEART, "Predict status from age: above 40 sick"),
    (HEART, "the status is sick if age is above 40"),
    (HEART, "The status is sick if age is above 40 and the status is healthy otherwise."),
    (HEART, "If age is above 40, the status is sick, and if age is below it, status is healthy."),
    (HEART, "If age is above 40 the status is sick and otherwise the status is healthy."),
    (HEART, "Fill the status column with sick if age is above 40, else with healthy."),
    (PENGUINS, "Use bill_length_mm to tell the species: above 43 Chinstrap, otherwise Adelie"),
    (HOUSES, "Predict the price column with 40 * rooms"),
    (HOUSES, "The price is 100 when rooms is 3 and the price is 200 when rooms is 5."),
    (TITANIC, "Survived is 1 if sex is female and survived is 0 otherwise."),
    (TITANIC, "If sex is female, survived is 1, and if sex is male, survived is 0."),
    (TITANIC, "If the name contains Miss, the passenger survived: answer 1; otherwise answer 0."),
    (NOTES, "If the notes mention a cough, answer sick, otherwise healthy."),
    (PENGUINS, "If island is Torgersen the penguin is Adelie, else it is Gentoo."),
    (PENGUINS, "If island is Torgersen or Dream, Adelie; if island is Biscoe, Gentoo."),
    (PENGUINS, "If island is Torgersen or Dream then Adelie or Chinstrap is right: answer Adelie"),
    (PENGUINS, "Torgersen is Adelie and Biscoe is Gentoo if flipper_length_mm is above 200."),
    (PENGUINS, "When flipper_length_mm is above 206 on the island Biscoe the species is Gentoo, otherwise Adelie."),
    (PENGUINS, "Predict the species by island, where Torgersen is Adelie, Dream is Chinstrap, and Biscoe is Gentoo."),
    (PENGUINS, "Penguins are Gentoo if island is Biscoe and those on Dream are Chinstrap."),
    (PENGUINS, "If bill_length_mm is above 43 penguins of Dream are Chinstrap, others Adelie."),
    (PENGUINS, "If island is Torgersen then Adelie or Chinstrap, otherwise Gentoo."),
    (
        PENGUINS,
        "If island is Torgersen it is Adelie, and on Biscoe it is neither Adelie nor Chinstrap: answer Gentoo.",
    ),
    (PENGUINS, "Adelie if island is Torgersen or Gentoo if island is Biscoe."),
    (CREDIT, "If history is good and income is above 1000, answer good; otherwise answer bad."),
    (SIZES, "If size is huge, answer huge; otherwise answer tiny."),
    (REVIEWS, "If the sentiment is positive, answer positive; otherwise answer negative."),
]


def test_a_rule_that_needs_the_target_is_refused() -> None:
    assert_refused(LEANING, "to be known, which is to be predicted")


def test_a_rule_may_state_the_value_of_the_target() -> None:
    assert_pass(HONEST)
