"""Small tables about which rules are judged, by the names in `rules.jsonl`."""

from dataclasses import replace

from vpp.data.dataset import Dataset, Kind, Row

from .tables import LINE, row, table


def of_kinds(dataset: Dataset, **kinds: Kind) -> Dataset:
    """Return the dataset with other kinds of columns."""
    columns = tuple(replace(column, kind=kinds.get(column.name, column.kind)) for column in dataset.columns)
    return replace(dataset, columns=columns)


def labelled(target: str, *rows: Row, **kinds: Kind) -> Dataset:
    """Return a table of labels; columns without a kind hold numbers."""
    classes = tuple(sorted({str(row.target) for row in rows}))
    return of_kinds(table("classification", rows, target=target, classes=classes), **kinds)


def numeric(target: str, *rows: Row) -> Dataset:
    """Return a table of numbers."""
    return table("regression", rows, target=target)


ADMISSION = labelled(
    "admission_depth_2",
    row(0, "rejected", math="F", num_publications="2"),
    row(1, "admitted", math="A", num_publications="3"),
    math="category",
)
DIGITS = labelled("label", row(0, "1", a="3", b="5", c="0"), row(1, "0", a="3", b="4", c="8"))
REVIEWS = labelled(
    "sentiment",
    row(0, "positive", text="A great film."),
    row(1, "negative", text="I want to return it: no plot at all"),
    text="text",
)
HOUSES = numeric("price", row(0, 120.0, rooms="3", area="80"), row(1, 200.5, rooms="5", area="120"))
POINTS = labelled("label", row(0, "1", x1="0.3", x2="-0.2"), row(1, "0", x1="2", x2="1"))

TABLES: dict[str, Dataset] = {
    "admission": ADMISSION,
    "digits": DIGITS,
    "points": POINTS,
    "reviews": REVIEWS,
    "houses": HOUSES,
    "line": LINE,
    "sequences": labelled("y", row(0, "1", numbers="3 4 0"), row(1, "0", numbers="1 1 9"), numbers="sequence"),
    "penguins": labelled(
        "species",
        row(0, "Adelie", island="Torgersen", bill_length_mm="39.1", flipper_length_mm="181"),
        row(1, "Gentoo", island="Biscoe", bill_length_mm="46.1", flipper_length_mm="211"),
        row(2, "Chinstrap", island="Dream", bill_length_mm="46.5", flipper_length_mm="192"),
        island="category",
    ),
    "income": labelled(
        "income",
        row(0, "<=50K", age="39", marital_status="Never-married"),
        row(1, ">50K", age="50", marital_status="Married"),
        marital_status="category",
    ),
    "heart": labelled(
        "status",
        row(0, "sick", age="61", pressure="150", cholesterol="290", pain="typical"),
        row(1, "healthy", age="30", pressure="110", cholesterol="180", pain="none"),
        pain="category",
    ),
    "hotel": labelled(
        "rating",
        row(0, "positive", text="Clean and warm staff"),
        row(1, "negative", text="Noisy, dirty and cold"),
        text="text",
    ),
    "deception": labelled(
        "label",
        row(0, "truthful", review_sentence="The clerk was late, and we did not wait."),
        row(1, "deceptive", review_sentence="A joy from the first day to the last!"),
        review_sentence="text",
    ),
    "headlines": labelled(
        "label",
        row(0, "Headline 1 has more clicks than Headline 2.", headline_1="They asked 49 kids", headline_2="A riddle"),
        row(1, "Headline 2 has more clicks than Headline 1.", headline_1="Not for you", headline_2="What a story!"),
        headline_1="text",
        headline_2="text",
    ),
    "flats": numeric("rent", row(0, 120.0, rooms="3", floors="1"), row(1, 200.5, rooms="5", floors="2")),
    "cities": labelled(
        "y", row(0, "admitted", city="Paris", age="20"), row(1, "rejected", city="Lyon", age="30"), city="category"
    ),
    "ill": labelled("ill", row(0, "1", age="61"), row(1, "0", age="30")),
    "signs": labelled("y", row(0, "+", A2="t", A3="1"), row(1, "-", A2="f", A3="2"), A2="category"),
    "chinese": labelled("y", row(0, "好评", 评论="房间干净"), row(1, "差评", 评论="太吵"), 评论="text"),
    "japanese": labelled("y", row(0, "良い", 感想="清潔"), row(1, "悪い", 感想="汚い"), 感想="text"),
    "titanic": labelled(
        "survived",
        row(0, "1", name="Heikkinen, Miss. Laina", sex="female", age="26"),
        row(1, "0", name="Allen, Mr. William", sex="male", age="35"),
        name="text",
        sex="category",
    ),
    "notes": labelled(
        "status",
        row(0, "sick", age="61", notes="coughs a lot"),
        row(1, "healthy", age="30", notes="runs daily"),
        notes="text",
    ),
    "credit": labelled(
        "risk",
        row(0, "good", history="paid", income="2000"),
        row(1, "bad", history="delayed", income="700"),
        history="category",
    ),
    "sizes": labelled(
        "parcel", row(0, "huge", size="huge", weight="20"), row(1, "tiny", size="tiny", weight="1"), size="category"
    ),
    "many": labelled(
        "decision",
        *(row(n, ("in", "out")[n % 2], city=f"a long name of town {n}") for n in range(400)),
        city="category",
    ),
}
