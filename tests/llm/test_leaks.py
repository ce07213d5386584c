"""Columns of the worked examples are refused where a rule uses them, and nowhere else."""

from .tables import row, table
from .test_guards import ADMISSION, HOUSES, assert_pass, assert_refused, of_kinds

HEART = of_kinds(
    table(
        "classification",
        (
            row(0, "sick", age="61", pressure="150", cholesterol="290", pain="typical"),
            row(1, "healthy", age="30", pressure="110", cholesterol="180", pain="none"),
        ),
        target="status",
        classes=("healthy", "sick"),
    ),
    pain="category",
)
HOTEL = of_kinds(
    table(
        "classification",
        (row(0, "positive", text="Clean and warm staff"), row(1, "negative", text="Noisy, dirty and cold")),
        target="rating",
        classes=("negative", "positive"),
    ),
    text="text",
)
FLATS = table("regression", (row(0, 120.0, rooms="3", floors="1"), row(1, 200.5, rooms="5", floors="2")), target="rent")
CITIES = of_kinds(
    table(
        "classification",
        (row(0, "admitted", city="Paris", age="20"), row(1, "rejected", city="Lyon", age="30")),
        classes=("admitted", "rejected"),
    ),
    city="category",
)
BITS = table("classification", (row(0, "1", age="61"), row(1, "0", age="30")), target="ill", classes=("0", "1"))

HONEST = [
    (HEART, "If pressure is high (above 140), answer sick; otherwise answer healthy."),
    (HEART, "If pressure is high and cholesterol is low or the age is above 50, answer sick; otherwise healthy."),
    (HEART, "People with low cholesterol (below 200) are healthy"),
    (HEART, "Classify as sick those with high pressure; classify all others as healthy."),
    (HEART, "The reasoning is simple: sick if age is above 40, healthy if not."),
    (HOTEL, "If the guest complains about a loud or dry room, answer negative; otherwise positive."),
    (HOTEL, "Negative if the review calls the floor wet or the room bare; positive if it is quiet and lush."),
    (HOTEL, "If the town is praised or the colour of the walls is mentioned, answer positive, else negative."),
    (HOTEL, "If the staff is warm or the room is quiet, answer positive; if it is loud, negative."),
    (HOTEL, "If the review is about Rome, answer positive; otherwise negative"),
    (FLATS, "The rent is 40 per room; add 20 for more than one floor."),
    (FLATS, "If it has more than one floor, output 200; otherwise output 120."),
    (FLATS, "If the floor is high (above 3), output 200; otherwise output 120."),
    (FLATS, "Output floor(rooms / 2) * 100."),
    (CITIES, "If city is Paris, answer admitted; otherwise rejected."),
]
LEAKED = [
    (ADMISSION, "If petals is below 5, answer admitted; otherwise answer rejected.", "petals"),
    (HEART, "If petals is below 5, answer sick; otherwise answer healthy.", "petals"),
    (HEART, "If age is above 40 and the depth is above 2, answer sick; otherwise answer healthy.", "depth"),
    (ADMISSION, "If town is Oslo, answer admitted; otherwise answer rejected.", "town"),
    (ADMISSION, "If math is A and town is Oslo, answer admitted; otherwise answer rejected.", "town"),
    (HOUSES, "The output is 3 * depth + 4.", "depth"),
    (HOUSES, "The output is 2 * depth + area.", "depth"),
    (HOUSES, "The output grows by 3 with each depth.", "depth"),
]


def test_everyday_words_of_the_examples_may_be_used() -> None:
    assert_pass(HONEST, templates="examples")


def test_columns_of_the_examples_are_refused() -> None:
    for dataset, rule, word in LEAKED:
        assert_refused([(dataset, rule)], f"it speaks of '{word}', a word of the examples", templates="examples")
