"""Tables and rules whose answers are known: what a model that applies a rule faithfully gives for each row.

Rows are drawn by seed. A rule is a sentence, worded as people word them, above the expression that it states.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Cells = Mapping[str, str]
"""A row by column, as a CSV holds it."""
ROWS = 32
"""Rows a rule is applied to."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence and what it gives."""

    text: str
    expression: str
    """The same in Python, over the columns."""

    def gives(self, row: Cells) -> str:
        """Return the label that the rule gives for a row."""
        return str(eval(self.expression, {name: _value(cell) for name, cell in row.items()}))


def _value(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of a made-up subject."""

    name: str
    target: str
    labels: tuple[str, ...]
    draw: Callable[[random.Random], dict[str, object]]
    stated: str
    """Each rule's sentence, with its expression on the next line."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in the order in which they are stated."""
        lines = iter(map(str.strip, self.stated.strip().splitlines()))
        return tuple(Rule(text, next(lines)) for text in lines)

    def csv(self, rule: Rule, n: int = ROWS, *, seed: int = 0) -> str:
        """Return `n` rows with what the rule gives as their target, as a CSV; the same rows for the same seed."""
        rng = random.Random(f"{self.name} {seed}")
        rows = [{name: str(value) for name, value in self.draw(rng).items()} for _ in range(n)]
        lines = [",".join((*rows[0], self.target)), *(",".join((*row.values(), rule.gives(row))) for row in rows)]
        return "\n".join(lines) + "\n"


ADMISSION = Table(
    name="admission",
    target="decision",
    labels=("admitted", "rejected"),
    draw=lambda rng: {
        "math": rng.choice("ABC"),
        "num_publications": rng.randint(0, 4),
        "num_letters": rng.randint(0, 4),
    },
    stated="""
        If math is A, answer admitted; otherwise answer rejected.
            'admitted' if math == 'A' else 'rejected'
        If math is not C, answer admitted; otherwise answer rejected.
            'admitted' if math != 'C' else 'rejected'
        If num_publications is greater than 2, answer admitted; otherwise answer rejected.
            'admitted' if num_publications > 2 else 'rejected'
        Students with at least two letters are admitted. All others are rejected.
            'admitted' if num_letters >= 2 else 'rejected'
        If math is A and num_publications is at least 1, answer admitted; otherwise answer rejected.
            'admitted' if math == 'A' and num_publications >= 1 else 'rejected'
        If math is C or num_publications is 0, answer rejected; otherwise answer admitted.
            'rejected' if math == 'C' or num_publications == 0 else 'admitted'
        If math is B and num_letters is less than 3, answer rejected; otherwise answer admitted.
            'rejected' if math == 'B' and num_letters < 3 else 'admitted'
    """,
)
LOAN = Table(
    name="loan",
    target="outcome",
    labels=("approved", "declined"),
    draw=lambda rng: {
        "income": rng.randrange(18, 120) * 1000,
        "employment": rng.choice(("employed", "self-employed", "unemployed")),
        "owns_home": rng.choice(("yes", "no")),
        "age": rng.randint(19, 79),
    },
    stated="""
        If income is above 50000, answer approved; otherwise answer declined.
            'approved' if income > 50000 else 'declined'
        Applicants who own a home are approved; everyone else is declined.
            'approved' if owns_home == 'yes' else 'declined'
        If employment is unemployed, answer declined; otherwise answer approved.
            'declined' if employment == 'unemployed' else 'approved'
        If income is above 40000 and owns_home is yes, answer approved; otherwise answer declined.
            'approved' if income > 40000 and owns_home == 'yes' else 'declined'
        If employment is employed or owns_home is yes, answer approved; otherwise answer declined.
            'approved' if employment == 'employed' or owns_home == 'yes' else 'declined'
        If age is between 30 and 60, answer approved; otherwise answer declined.
            'approved' if 30 <= age <= 60 else 'declined'
    """,
)
PARCEL = Table(
    name="parcel",
    target="carrier",
    labels=("air", "post", "van"),
    draw=lambda rng: {
        "weight_kg": f"{rng.uniform(0.2, 30):.1f}",
        "destination": rng.choice(("domestic", "Europe", "overseas")),
        "fragile": rng.choice(("true", "false")),
    },
    stated="""
        If destination is overseas, answer air. Otherwise, if weight_kg is above 10, answer van; if not, answer post.
            'air' if destination == 'overseas' else 'van' if weight_kg > 10 else 'post'
        If fragile is true, answer van; otherwise answer post.
            'van' if fragile == 'true' else 'post'
        If weight_kg is at most 5, answer post; otherwise answer van.
            'post' if weight_kg <= 5 else 'van'
        Answer air if destination is Europe and fragile is false; otherwise answer van.
            'air' if destination == 'Europe' and fragile == 'false' else 'van'
        If destination is not domestic, answer air; otherwise answer post.
            'air' if destination != 'domestic' else 'post'
    """,
)
FLOWER = Table(
    name="flower",
    target="group",
    labels=("large", "medium", "small"),
    draw=lambda rng: {
        "petal_length": f"{rng.uniform(1, 7):.1f}",
        "petal_width": f"{rng.uniform(0.1, 2.5):.1f}",
        "habitat": rng.choice(("meadow", "forest", "bog")),
    },
    stated="""
        If petal_length is below 2.5, answer small. If petal_length is 5 or more, answer large. Otherwise answer medium.
            'small' if petal_length < 2.5 else 'large' if petal_length >= 5 else 'medium'
        If petal_width is less than 1.2, answer small; otherwise answer large.
            'small' if petal_width < 1.2 else 'large'
        Flowers from a bog are medium; all other flowers are small.
            'medium' if habitat == 'bog' else 'small'
        If habitat is forest and petal_length is greater than 4, answer large; otherwise answer small.
            'large' if habitat == 'forest' and petal_length > 4 else 'small'
        If petal_width is between 0.5 and 1.5, answer medium; otherwise answer large.
            'medium' if 0.5 <= petal_width <= 1.5 else 'large'
    """,
)
SURVIVAL = Table(
    name="survival",
    target="survived",
    labels=("no", "yes"),
    draw=lambda rng: {
        "sex": rng.choice(("male", "female")),
        "age": rng.randint(1, 70),
        "deck": rng.choice(("upper", "middle", "lower")),
    },
    stated="""
        If sex is male, answer no; otherwise yes.
            'no' if sex == 'male' else 'yes'
        If deck is upper or age is below 12, answer yes; otherwise answer no.
            'yes' if deck == 'upper' or age < 12 else 'no'
        If sex is female and deck is not lower, answer yes; otherwise answer no.
            'yes' if sex == 'female' and deck != 'lower' else 'no'
    """,
)
ALARM = Table(
    name="alarm",
    target="alarm",
    labels=("false", "true"),
    draw=lambda rng: {"heat": rng.randint(20, 95), "smoke": rng.choice(("false", "true"))},
    stated="""
        If smoke is true, answer false; otherwise answer true.
            'false' if smoke == 'true' else 'true'
        If heat is above 60 and smoke is false, answer true; otherwise answer false.
            'true' if heat > 60 and smoke == 'false' else 'false'
    """,
)
TANK = Table(
    name="tank",
    target="mark",
    labels=("above", "below"),
    draw=lambda rng: {"level": rng.randint(0, 99), "valve": rng.choice(("open", "shut"))},
    stated="""
        If level is below 40, answer above; otherwise answer below.
            'above' if level < 40 else 'below'
        If valve is open or level is above 70, answer below; otherwise answer above.
            'below' if valve == 'open' or level > 70 else 'above'
    """,
)
TABLES = (ADMISSION, LOAN, PARCEL, FLOWER, SURVIVAL, ALARM, TANK)
"""The last three have labels that are words of conditions."""
