"""Revisions of a rule: a bound moved, another column, a part left out, a formula refitted."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from vpp.demo.batch import Batch, Floats, round_between
from vpp.demo.classify import best_column, flipped
from vpp.demo.regress import least_squares
from vpp.demo.rule import All, Any, Condition, Is, Not, Rule
from vpp.demo.terms import Arithmetic, Compare, Number, Term

_MOST_BOUNDS = 6

# --- labels -------------------------------------------------------------------------------------------------


def bounds(condition: Condition) -> Iterator[Is]:
    match condition:
        case Is(check=Compare(sign="<" | "<=" | ">" | ">=", other=Number())):
            yield condition
        case All() | Any():
            for part in condition.parts:
                yield from bounds(part)
        case Not():
            yield from bounds(condition.part)


def swapped(condition: Condition, old: Is, new: Is) -> Condition:
    match condition:
        case All() | Any():
            return replace(condition, parts=tuple(swapped(part, old, new) for part in condition.parts))
        case Not():
            return Not(swapped(condition.part, old, new))
    return new if condition == old else condition


def with_bound_moved(rule: Rule, batch: Batch, rng: Generator, *, tolerated: int = 0) -> Iterator[Rule]:
    """Yield, for each bound, the rule with the bound moved to minimise errors on the batch, or near that.

    tolerated: errors above the fewest.
    """
    places = [(at, bound) for at, case in enumerate(rule.cases) for bound in bounds(case.condition)]
    for at, bound in places[:_MOST_BOUNDS]:
        whole = rule.cases[at].condition
        moved = [_with_condition(rule, at, swapped(whole, bound, new)) for new in _moves(batch, bound)]
        if moved:
            errors = np.array([batch.errors(other) for other in moved])
            yield moved[int(rng.choice(np.flatnonzero(errors <= errors.min() + tolerated)))]


def _moves(batch: Batch, bound: Is) -> Iterator[Is]:
    values = batch.values(bound.term)
    for low, high in pairwise(np.unique(values[~np.isnan(values)])):
        if isinstance(bound.check, Compare):
            constant = Number(round_between(float(low), float(high)))
            yield replace(bound, check=replace(bound.check, other=constant))


def _with_condition(rule: Rule, at: int, condition: Condition) -> Rule:
    cases = list(rule.cases)
    cases[at] = replace(cases[at], condition=condition)
    return replace(rule, cases=tuple(cases))


def with_another_column(rule: Rule, batch: Batch, rng: Generator) -> Iterator[Rule]:
    if not rule.cases or batch.sequential:
        return
    at = int(rng.integers(len(rule.cases)))
    earlier = replace(rule, cases=rule.cases[:at])
    one = best_column(batch, np.array([earlier.deciding(row) is None for row in batch.rows]), rng)
    if one is not None:
        yield from (_with_condition(rule, at, side.condition) for side in (one, flipped(one)))


def simpler(rule: Rule) -> Iterator[Rule]:
    for at, case in enumerate(rule.cases):
        if isinstance(case.condition, All | Any):
            for part in case.condition.parts:
                left = tuple(one for one in case.condition.parts if one != part)
                if left:
                    yield _with_condition(rule, at, left[0] if len(left) == 1 else replace(case.condition, parts=left))
        if len(rule.cases) > 1:
            yield replace(rule, cases=rule.cases[:at] + rule.cases[at + 1 :])


def size(rule: Rule) -> int:
    return sum(_size(case.condition) for case in rule.cases)


def _size(condition: Condition) -> int:
    match condition:
        case All() | Any():
            return sum(_size(part) for part in condition.parts)
        case Not():
            return _size(condition.part)
    return 1


# --- numbers ------------------------------------------------------------------------------------------------


def parts_of(term: Term) -> list[tuple[float, Term | None]]:
    """Split the term into a sum of coefficient times part; None stands for 1."""
    match term:
        case Number():
            return [(term.value, None)]
        case Arithmetic(op="+"):
            return parts_of(term.left) + parts_of(term.right)
        case Arithmetic(op="-"):
            return parts_of(term.left) + [(-weight, part) for weight, part in parts_of(term.right)]
        case Arithmetic(op="*", left=Number(value=weight)):
            return [(weight * own, part) for own, part in parts_of(term.right)]
        case Arithmetic(op="*", right=Number(value=weight)):
            return [(weight * own, part) for own, part in parts_of(term.left)]
    return [(1.0, term)]


def refitted(rule: Rule, batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
    if not isinstance(rule.otherwise, Term):
        return None
    basis = [part for _, part in parts_of(rule.otherwise) if part is not None]
    term = least_squares(batch, list(dict.fromkeys(basis)), selected, int(rng.choice([2, 3, 3])))
    return None if term is None else replace(rule, otherwise=term)
