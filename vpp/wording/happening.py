"""One step in a sentence or two: its events in order."""

from collections import Counter
from collections.abc import Iterator, Sequence

from vpp.events import INITIAL_STEP, Evaluated, Resampled
from vpp.inspection.slots import why_grew
from vpp.runs.view import RunView, StepView
from vpp.settings import CHAINS_OF_VML, ESS_SHARE, Config
from vpp.wording.brief import voting
from vpp.wording.counts import miss_words, steps_text
from vpp.wording.words import capitalised, counted, fixed, in_words, integer, number, particles, percent

MOST_NAMED = 4
"""Most particles listed by number; more are counted."""


def happened(view: RunView, step: int | None, config: Config, *, balanced: float | None = None) -> str:
    """Describe a step, the first population (-1) or the end of the run (None); empty before the first population.

    balanced: balanced accuracy on the test rows, if known.
    """
    if step is None:
        return " ".join(_end(view, config, balanced))
    if step == INITIAL_STEP or step not in view.steps:
        return _beginning(view, config)
    at = view.steps[step]
    parts = [*_weighing(at, config), *_rewriting(at, config), *_resizing(at)] or ["scoring"]
    return f"Step {step}: {'. '.join([parts[0], *map(capitalised, parts[1:])])}."


def _beginning(view: RunView, config: Config) -> str:
    drawn = list(view.drawn.values())
    if not drawn:
        return ""
    hypotheses = counted(len(drawn), "hypothesis", "hypotheses")
    if config.method in CHAINS_OF_VML:
        return f"First text of {hypotheses}: the seed sentence."
    yours = sum(each.origin == "yours" for each in drawn)
    if taken := sum(each.origin == "continued" for each in drawn):
        hypotheses = counted(taken, "hypothesis", "hypotheses")
        return f"{hypotheses} taken over from the earlier run{f', {yours} given by you' if yours else ''}."
    if yours == len(drawn):
        return f"{hypotheses} given by you."
    given = f"{counted(yours, 'hypothesis', 'hypotheses')} given by you. " if yours else ""
    hypotheses = counted(len(drawn) - yours, "hypothesis", "hypotheses")
    source = "no data" if config.starts_from_prior else "the first batch"
    texts = counted(len({each.hypothesis for each in drawn if each.origin == "drawn"}), "different text")
    unread = sum(each.reason is not None for each in drawn)
    bare = f" {unread} of the answers gave no usable rule: the seed sentence stays there." if unread else ""
    return f"{given}The optimizer wrote {hypotheses} from {source}: {texts}.{bare}"


# Weights


def _weighing(at: StepView, config: Config) -> Iterator[str]:
    made = at.reweighted
    if made is None:
        return
    size, low = len(made.weights), ESS_SHARE * len(made.weights)
    exponent = f"exponent φ {number(1 / made.beta, 3)}, " if config.is_telescoping else ""
    ess = f"{exponent}ESS {fixed(made.ess, 1)} of {size}"
    if at.resampled is None:
        yield f"{ess}, no resampling" if size > 1 else ess
    else:
        below = "just below" if fixed(made.ess, 1) == fixed(low, 1) else "below"
        yield f"{ess}, {below} {number(low, 3)}, so the population was resampled: {_copies(at.resampled, size)}"


def _copies(resampled: Resampled, size: int) -> str:
    copies = Counter(resampled.ancestors)
    copied = [slot for slot in sorted(copies) if copies[slot] > 1]
    ended = [slot for slot in range(size) if slot not in copies]
    if not ended:
        return "each particle was kept once"
    if len(copied) > MOST_NAMED:
        now = f"{in_words(len(copied))} particles now have copies"
    else:
        now = ", ".join(f"particle {slot} now has {in_words(copies[slot])} copies" for slot in copied)
    return f"{now}, and {_named(ended)} ended"


def _named(slots: Sequence[int]) -> str:
    return particles(slots) if len(slots) <= MOST_NAMED else f"{in_words(len(slots))} others"


# Rewriting


def _rewriting(at: StepView, config: Config) -> Iterator[str]:
    made = list(at.proposed.values())
    if not made:
        return
    why = Counter(proposed.why for proposed in made)
    refused = sum(proposed.refused for proposed in made if proposed.why == "unparsable")
    accepted = sum(proposed.accepted for proposed in made if proposed.why == "likelihood")
    asked = len(at.resampled.ancestors if at.resampled else at.scored)
    if config.is_filtered:
        first = f"{accepted} of {counted(asked, 'proposal')} accepted"
    else:
        first = f"{why['taken']} of {counted(asked, 'hypothesis', 'hypotheses')} rewritten, without an accept step"
    rest = {
        "rejected": why["likelihood"] - accepted,
        "unchanged": why["unchanged"],
        "unreadable": why["unparsable"] - refused,
        "refused as no rule for this table": refused,
        "still to come": 0 if at.finished else asked - len(made),
    }
    yield ", ".join([first, *(f"{n} {what}" for what, n in rest.items() if n)])
    if fresh := [proposed.accepted for proposed in made if proposed.origin == "prior"]:
        yield f"{counted(len(fresh), 'proposal')} drawn afresh from the prior, {sum(fresh)} of them accepted"


# K


def _resizing(at: StepView) -> Iterator[str]:
    if at.joined and at.finished:
        came = sorted(at.joined)
        grown = len(at.population)
        yield f"K grew from {grown - len(came)} to {grown} ({why_grew(at)}): {_joined(came)} joined"
    if at.shrunk:
        yield f"all agreed, so K fell from {len(at.scored)} to {len(at.shrunk.ancestors)}"


def _joined(slots: Sequence[int]) -> str:
    return f"particles {slots[0]} to {slots[-1]}" if len(slots) > 2 else _named(slots)


# The end


def _end(view: RunView, config: Config, balanced: float | None) -> Iterator[str]:
    last = view.last_step
    if last is None:
        return
    if last < view.total_steps - 1:
        yield f"The run ended after {steps_text(view)}."
    if view.final is not None:
        ess = f"ESS {fixed(view.final.ess, 1)} of {len(view.final.weights)}"
        yield f"The last texts were weighed once more, on {final_rows(config)}: {ess}."
    elif config.is_weighted:
        yield "The weights are those of the last step."
    test = view.evaluated.get("test")
    if not test and view.started and not view.started.dataset.get("n_test", 1):
        return
    yield _tested(test, config, balanced) if test and test.step == last else "The test rows were not evaluated."


def final_rows(config: Config) -> str:
    return "all training rows" if config.final_weights == "train" else "the last buffer"


def _tested(test: Evaluated, config: Config, balanced: float | None) -> str:
    n, vote = len(test.rows), voting(config, len(test.hypotheses))
    if test.metric == "mse":
        by = f"the {vote} mean" if vote else "it"
        return f"On {counted(n, 'test row')} {by} is {miss_words(test.value)}."
    by, right = f"the {vote} vote" if vote else "it", round(test.value * n)
    accuracy = percent(test.value, decimals=1)
    recall = accuracy if balanced is None else percent(balanced, decimals=1)
    beside = f"; balanced accuracy {recall}" if recall != accuracy else ""
    return f"Of {counted(n, 'test row')} {by} got {integer(right)} right, {accuracy}{beside}."
