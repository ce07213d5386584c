"""Tables and rules whose answers are known: what a model that applies a rule faithfully gives for each row.

Rows are drawn by seed. A rule is a sentence beside the function that it states; rules are worded as people word them.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Cells = Mapping[str, str]
"""A row by column, as a CSV holds it."""
ROWS = 32
"""Rows a rule is applied to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A sentence and what it gives."""

    text: str
    kind: str
    """What it takes to follow it: one condition, a threshold, and, or, not, three ways, between."""
    gives: Callable[[Cells], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of a made-up subject."""

    name: str
    target: str
    labels: tuple[str, ...]
    draw: Callable[[random.Random], dict[str, str]]
    rules: tuple[Rule, ...]

    def rows(self, n: int = ROWS, *, seed: int = 0) -> list[dict[str, str]]:
        """`n` rows without their target; the same for the same seed."""
        rng = random.Random(f"{self.name} {seed}")
        return [self.draw(rng) for _ in range(n)]

    def csv(self, rule: Rule, n: int = ROWS, *, seed: int = 0) -> str:
        """The same rows with what the rule gives as their target, as a CSV."""
        rows = [{**row, self.target: rule.gives(row)} for row in self.rows(n, seed=seed)]
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        return "\n".join(lines) + "\n"


def _admission(rng: random.Random) -> dict[str, str]:
    return {
        "math": rng.choice("ABC"),
        "num_publications": str(rng.randint(0, 4)),
        "num_letters": str(rng.randint(0, 4)),
    }


def _loan(rng: random.Random) -> dict[str, str]:
    return {
        "income": str(rng.randrange(18, 120) * 1000),
        "employment": rng.choice(("employed", "self-employed", "unemployed")),
        "owns_home": rng.choice(("yes", "no")),
        "age": str(rng.randint(19, 79)),
    }


def _parcel(rng: random.Random) -> dict[str, str]:
    return {
        "weight_kg": f"{rng.uniform(0.2, 30):.1f}",
        "destination": rng.choice(("domestic", "Europe", "overseas")),
        "fragile": rng.choice(("true", "false")),
    }


def _flower(rng: random.Random) -> dict[str, str]:
    return {
        "petal_length": f"{rng.uniform(1, 7):.1f}",
        "petal_width": f"{rng.uniform(0.1, 2.5):.1f}",
        "habitat": rng.choice(("meadow", "forest", "bog")),
    }


def _is(column: str, value: str) -> Callable[[Cells], bool]:
    return lambda row: row[column] == value


def _either(condition: Callable[[Cells], bool], yes: str, no: str) -> Callable[[Cells], str]:
    return lambda row: yes if condition(row) else no


def _rule(kind: str, text: str, condition: Callable[[Cells], bool], yes: str, no: str) -> Rule:
    return Rule(text=text, kind=kind, gives=_either(condition, yes, no))


def _flower_size(row: Cells) -> str:
    length = float(row["petal_length"])
    return "small" if length < 2.5 else "medium" if length < 5 else "large"


def _parcel_way(row: Cells) -> str:
    if row["destination"] == "overseas":
        return "air"
    return "van" if float(row["weight_kg"]) > 10 else "post"


IN, OUT = "admitted", "rejected"
YES, NO = "approved", "declined"

ADMISSION = Table(
    name="admission",
    target="decision",
    labels=(IN, OUT),
    draw=_admission,
    rules=(
        _rule("one condition", f"If math is A, answer {IN}; otherwise answer {OUT}.", _is("math", "A"), IN, OUT),
        _rule(
            "not", f"If math is not C, answer {IN}; otherwise answer {OUT}.", lambda r: r["math"] != "C", IN, OUT
        ),
        _rule(
            "threshold",
            f"If num_publications is greater than 2, answer {IN}; otherwise answer {OUT}.",
            lambda r: int(r["num_publications"]) > 2, IN, OUT,
        ),
        _rule(
            "threshold",
            f"Students with at least two letters are {IN}. All others are {OUT}.",
            lambda r: int(r["num_letters"]) >= 2, IN, OUT,
        ),
        _rule(
            "and",
            f"If math is A and num_publications is at least 1, answer {IN}; otherwise answer {OUT}.",
            lambda r: r["math"] == "A" and int(r["num_publications"]) >= 1, IN, OUT,
        ),
        _rule(
            "or",
            f"If math is C or num_publications is 0, answer {OUT}; otherwise answer {IN}.",
            lambda r: r["math"] == "C" or r["num_publications"] == "0", OUT, IN,
        ),
        _rule(
            "and",
            f"If math is B and num_letters is less than 3, answer {OUT}; otherwise answer {IN}.",
            lambda r: r["math"] == "B" and int(r["num_letters"]) < 3, OUT, IN,
        ),
    ),
)  # fmt: skip
LOAN = Table(
    name="loan",
    target="outcome",
    labels=(YES, NO),
    draw=_loan,
    rules=(
        _rule(
            "threshold", f"If income is above 50000, answer {YES}; otherwise answer {NO}.",
            lambda r: int(r["income"]) > 50000, YES, NO,
        ),
        _rule(
            "one condition", f"Applicants who own a home are {YES}; everyone else is {NO}.",
            _is("owns_home", "yes"), YES, NO,
        ),
        _rule(
            "one condition", f"If employment is unemployed, answer {NO}; otherwise answer {YES}.",
            _is("employment", "unemployed"), NO, YES,
        ),
        _rule(
            "and", f"If income is above 40000 and owns_home is yes, answer {YES}; otherwise answer {NO}.",
            lambda r: int(r["income"]) > 40000 and r["owns_home"] == "yes", YES, NO,
        ),
        _rule(
            "or", f"If employment is employed or owns_home is yes, answer {YES}; otherwise answer {NO}.",
            lambda r: r["employment"] == "employed" or r["owns_home"] == "yes", YES, NO,
        ),
        _rule(
            "between", f"If age is between 30 and 60, answer {YES}; otherwise answer {NO}.",
            lambda r: 30 <= int(r["age"]) <= 60, YES, NO,
        ),
    ),
)  # fmt: skip
PARCEL = Table(
    name="parcel",
    target="carrier",
    labels=("air", "post", "van"),
    draw=_parcel,
    rules=(
        Rule(
            kind="three ways",
            text="If destination is overseas, answer air. Otherwise, if weight_kg is above 10, answer van; "
            "if not, answer post.",
            gives=_parcel_way,
        ),
        _rule(
            "one condition", "If fragile is true, answer van; otherwise answer post.",
            _is("fragile", "true"), "van", "post",
        ),
        _rule(
            "threshold", "If weight_kg is at most 5, answer post; otherwise answer van.",
            lambda r: float(r["weight_kg"]) <= 5, "post", "van",
        ),
        _rule(
            "and", "Answer air if destination is Europe and fragile is false; otherwise answer van.",
            lambda r: r["destination"] == "Europe" and r["fragile"] == "false", "air", "van",
        ),
        _rule(
            "not", "If destination is not domestic, answer air; otherwise answer post.",
            lambda r: r["destination"] != "domestic", "air", "post",
        ),
    ),
)  # fmt: skip
FLOWER = Table(
    name="flower",
    target="group",
    labels=("large", "medium", "small"),
    draw=_flower,
    rules=(
        Rule(
            kind="three ways",
            text="If petal_length is below 2.5, answer small. If petal_length is 5 or more, answer large. "
            "Otherwise answer medium.",
            gives=_flower_size,
        ),
        _rule(
            "threshold", "If petal_width is less than 1.2, answer small; otherwise answer large.",
            lambda r: float(r["petal_width"]) < 1.2, "small", "large",
        ),
        _rule(
            "one condition", "Flowers from a bog are medium; all other flowers are small.",
            _is("habitat", "bog"), "medium", "small",
        ),
        _rule(
            "and", "If habitat is forest and petal_length is greater than 4, answer large; otherwise answer small.",
            lambda r: r["habitat"] == "forest" and float(r["petal_length"]) > 4, "large", "small",
        ),
        _rule(
            "between", "If petal_width is between 0.5 and 1.5, answer medium; otherwise answer large.",
            lambda r: 0.5 <= float(r["petal_width"]) <= 1.5, "medium", "large",
        ),
    ),
)  # fmt: skip
TABLES = (ADMISSION, LOAN, PARCEL, FLOWER)
