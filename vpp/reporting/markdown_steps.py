"""The report's record of each step: weights, resampling, and what became of the proposals."""

from collections.abc import Callable, Iterator

from vpp.reporting.markdown_cells import NONE, log_text
from vpp.runs.reader import Snapshot
from vpp.runs.view import StepView
from vpp.settings import Config
from vpp.wording.escaping import markdown_table
from vpp.wording.words import counted, fixed, number


def steps(snapshot: Snapshot) -> Iterator[str]:
    """A line a whole step."""
    whole = [step for step in snapshot.view.finished_steps if step.step >= 0]
    if not whole:
        yield "No step is whole yet."
        return
    config = snapshot.spec.config
    columns = _columns(config)
    right = [i for i, (name, _) in enumerate(columns) if name not in ("resampled", "K changed")]
    head, cells = zip(*columns, strict=True)
    yield markdown_table(head, [tuple(cell(step) for cell in cells) for step in whole], right=right)
    yield how_to_read(config)


_Column = tuple[str, Callable[[StepView], str]]


def _columns(config: Config) -> list[_Column]:
    """What the method has, by the name of its column."""
    counts: list[_Column] = [
        ("proposed", lambda step: str(len(step.proposed))),
        (
            "accepted" if config.is_filtered else "taken",
            lambda step: str(sum(p.accepted for p in step.proposed.values())),
        ),
        ("unchanged", lambda step: str(_n_why(step, "unchanged"))),
        ("unparsable", lambda step: str(_n_why(step, "unparsable"))),
    ]
    return [("step", lambda step: str(step.step)), *_size_columns(config), *_weight_columns(config), *counts]


def _size_columns(config: Config) -> list[_Column]:
    if not config.particles_max:
        return []
    return [("K", lambda step: str(len(step.scored))), ("K changed", _resized)]


def _resized(step: StepView) -> str:
    if step.joined:
        return f"{counted(len(step.joined), 'newcomer')}"
    return f"{len(step.scored) - len(step.shrunk.ancestors)} dropped: all agreed" if step.shrunk else NONE


def _weight_columns(config: Config) -> list[_Column]:
    if not config.is_weighted:
        return []
    ess: list[_Column] = [
        ("ESS", lambda step: fixed(step.reweighted.ess) if step.reweighted else NONE),
        ("resampled", lambda step: "yes" if step.resampled else NONE),
    ]
    if not config.is_telescoping:
        return [("β", lambda step: fixed(step.reweighted.beta) if step.reweighted else NONE), *ess]
    return [
        ("exponent φ", lambda step: number(1 / step.reweighted.beta) if step.reweighted else NONE),
        *ess,
        ("log evidence", lambda step: log_text(step.reweighted.log_evidence) if step.reweighted else NONE),
    ]


def _n_why(step: StepView, why: str) -> int:
    return sum(p.why == why for p in step.proposed.values())


_ANEW = "β divides the log-likelihood: 10 is flat, 1 is sharp."
_CARRIED = (
    "The exponent φ = 1/β runs from 0, the first draw, to 1, all the data; weights are carried from step to step, and "
    "the log evidence is nominal."
)


def how_to_read(config: Config) -> str:
    """What the columns mean for the method."""
    accepted = "Accepted are the proposals that the likelihood let through." if config.is_filtered else _taken(config)
    if config.is_weighted:
        tempering = _CARRIED if config.is_telescoping else _ANEW
        return f"{tempering} ESS is that of the weights before resampling. {accepted}"
    if config.size == 1:
        return f"One hypothesis has no weights. {accepted}"
    members = "chains" if config.method == "mh" else "hypotheses"
    return f"The {members} have no weights, so there is no ESS. {accepted}"


def _taken(config: Config) -> str:
    only = " Only copies made by resampling are rewritten." if config.mutate == "duplicates" else ""
    return f"Every changed text is taken: there is no filter.{only}"
