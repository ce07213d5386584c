"""Whether a chain's next rows may be asked about on a guess: never where that could end a run at its cap."""

from collections.abc import Callable

from vpp.data.dataset import Dataset
from vpp.inference.plan import Plan, may_be_prefetched, plan
from vpp.llm.budget import Budget
from vpp.llm.counters import Counters
from vpp.llm.endpoint import Endpoint
from vpp.runs.spec import RunSpec


def is_prefetched(spec: RunSpec) -> bool:
    """Whether anything may be asked on a guess, where there is room: not of the demo model unless told to,

    as that is busy, not far away.
    """
    told = spec.endpoint.prefetch
    return may_be_prefetched(spec.config) and (told == "on" or (told == "auto" and not spec.endpoint.demo))


def plan_of(spec: RunSpec, *, n_train: int, n_test: int) -> Plan:
    """What the whole run takes, guesses included."""
    return plan(
        spec.config,
        n_train=n_train,
        n_test=n_test,
        is_continued=spec.is_continued,
        is_prefetched=is_prefetched(spec),
    )


def room_for_guesses(
    spec: RunSpec, dataset: Dataset, learner: Endpoint, budget: Budget, counters: Counters
) -> Callable[[], bool]:
    """Says, each time it is asked, whether one more guess may be made.

    With a cap, only where all that the run may still need fits beside what all chains could guess.
    """
    if not is_prefetched(spec):
        return lambda: False
    n_train, n_test = len(dataset.train), len(dataset.test)
    needed = plan(spec.config, n_train=n_train, n_test=n_test, is_continued=spec.is_continued).calls
    round_calls = 2 * spec.config.size * max(spec.config.batch_size, spec.config.buffer_size)

    def has_room() -> bool:
        left = max(0, needed - counters.planned)
        return budget.fits(left + round_calls) and (spec.endpoint.prefetch == "on" or learner.has_room())

    return has_room
