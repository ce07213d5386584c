"""Prices and caps as they were typed, the plan before a run, and a cap that is raised."""

import textwrap
from argparse import Namespace
from dataclasses import replace
from typing import TextIO

from vpp.llm.budget import Cap, Price
from vpp.runs.budget import check_budget
from vpp.runs.directory import RunDirectory
from vpp.runs.estimate import estimate
from vpp.runs.preparation import Preparation
from vpp.runs.spec import Prices
from vpp.wording.planned import HEAD, demo_pace, plan_rows, plan_words


def prices_of(options: Namespace) -> Prices:
    """What the models charge."""
    learner = Price(prompt=options.price_in or 0.0, completion=options.price_out or 0.0)
    its_own = (options.optimizer_price_in, options.optimizer_price_out)
    differs = any(price is not None for price in its_own)
    optimizer = Price(
        prompt=learner.prompt if its_own[0] is None else its_own[0],
        completion=learner.completion if its_own[1] is None else its_own[1],
    )
    return Prices(learner=learner, optimizer=optimizer if differs else None, currency=options.currency.strip())


def cap_of(options: Namespace, *, before: Cap) -> Cap:
    """With what was typed in place of what it was."""
    calls = before.calls if options.max_calls is None else options.max_calls
    return replace(before, calls=calls, cost=before.cost if options.max_cost is None else options.max_cost)


def renew_cap(directory: RunDirectory, options: Namespace) -> None:
    """Writes a new cap to a run where one was typed. Raises InputError for one that makes no sense."""
    spec = directory.spec()
    cap = cap_of(options, before=spec.cap)
    if cap != spec.cap:
        check_budget(spec.prices, cap, spec.endpoint)
        directory.amend(cap=cap)


def tell_plan(preparation: Preparation, *, stream: TextIO) -> None:
    """The plan as plain text; where no pace is known, no time is claimed."""
    spec = preparation.spec()
    found = estimate(spec, preparation.dataset)
    rows = [HEAD, *plan_rows(found)]
    first, *others = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    for what, *numbers in rows:
        print(what.ljust(first), *(n.rjust(width) for n, width in zip(numbers, others, strict=True)), file=stream)
    pace = demo_pace(spec.endpoint) if spec.endpoint.demo else None
    for sentence in plan_words(found, spec, preparation.dataset, pace):
        print(*textwrap.wrap(sentence, 110), sep="\n", file=stream)
