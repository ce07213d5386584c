"""One step in a sentence or two: its events in order."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from vpp.events import INITIAL_STEP, Evaluated, Proposed, Resampled
from vpp.inspection.slots import why_grew
from vpp.runs.view import RunView, StepView
from vpp.settings import CHAINS_OF_VML, Config
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
    parts = [part for part in (*_weighing(at, config), *_rewriting(at, config), *_resizing(at)) if part]
    return f"Step {step}: {'. '.join([parts[0], *map(capitalised, parts[1:])])}." if parts else f"Step {step}: scoring."


# The first population


def _beginning(view: RunView, config: Config) -> str:
    drawn = [view.drawn[slot] for slot in sorted(view.drawn)]
    if not drawn:
        return ""
    if config.method in CHAINS_OF_VML:
        return "The hypothesis begins as the seed sentence." if len(drawn) == 1 else _ALIKE.format(_many(len(drawn)))
    if all(each.origin == "continued" for each in drawn):
        return f"{capitalised(_many(len(drawn)))} were taken over from the earlier run."
    how = "without data" if config.initial == "prior" else "from the first batch"
    texts, unread = len({each.hypothesis for each in drawn}), sum(each.reason is not None for each in drawn)
    read = "read as a rule for this table" if any(each.refused for each in drawn) else "read"
    bare = f" Of {in_words(unread)}, no answer could be {read}: they keep the seed sentence." if unread else ""
    return f"The optimizer wrote {_first(len(drawn))} {how}, {_different(texts, len(drawn))}.{bare}"


_ALIKE = "All {} begin as the seed sentence."


def _many(n: int) -> str:
    return f"{in_words(n)} {'hypothesis' if n == 1 else 'hypotheses'}"


def _first(n: int) -> str:
    return f"{in_words(n)} first {'hypothesis' if n == 1 else 'hypotheses'}"


def _different(texts: int, n: int) -> str:
    return "no two alike" if texts == n else f"{in_words(texts)} different text{'' if texts == 1 else 's'} among them"


# Weights


def _weighing(at: StepView, config: Config) -> Iterator[str]:
    """Describe the weights and the resampling."""
    made = at.reweighted
    if made is None:
        return
    size, low = len(made.weights), config.ess_threshold * len(made.weights)
    tempered = f"the exponent φ came to {number(1 / made.beta, 3)}; " if config.is_telescoping else ""
    ess = f"{tempered}ESS came to {fixed(made.ess, 1)} of {size}"
    if at.resampled is None:
        yield f"{ess}, without resampling" if size > 1 else ess
    else:
        below = "just below" if fixed(made.ess, 1) == fixed(low, 1) else "below"
        yield f"{ess}, {below} {number(low, 3)}, so the population was resampled: {_copies(at.resampled, size)}"


def _copies(resampled: Resampled, size: int) -> str:
    """Say which particles have copies now, and which ended."""
    copies = Counter(resampled.ancestors)
    several = [(slot, n) for slot, n in sorted(copies.items()) if n > 1]
    ended = [slot for slot in range(size) if slot not in copies]
    if not ended:
        return "each particle was kept once"
    return f"{_several(several)}, and {_named(ended)} ended"


def _several(several: Sequence[tuple[int, int]]) -> str:
    if len(several) > MOST_NAMED:
        return f"{in_words(len(several))} particles now have copies"
    (first, n), *others = several
    copies = [f"particle {first} now has {in_words(n)} copies", *(f"particle {k} {in_words(n)}" for k, n in others)]
    return ", ".join(copies)


def _named(slots: Sequence[int]) -> str:
    if len(slots) > MOST_NAMED:
        return f"{in_words(len(slots))} others"
    return particles(slots)


# Rewriting


def _rewriting(at: StepView, config: Config) -> Iterator[str]:
    """Describe the proposals; during a step, those made so far."""
    made = [at.proposed[slot] for slot in sorted(at.proposed)]
    if not made:
        if config.mutate == "duplicates" and config.is_weighted and at.finished:
            yield "there were no copies, so nothing was rewritten"
        return
    of = _asked(at, config)
    if of == 1:
        yield _one(made[0], config, n_particles=_particles(at))
        return
    awaited = 0 if at.finished else of - len(made)
    yield (_judged if config.is_filtered else _taken)(made, of, awaited)
    yield _restarted([p for p in made if p.origin == "prior"])


def _asked(at: StepView, config: Config) -> int:
    """Number of proposals the step makes: one per particle, or one per copy."""
    if config.is_weighted and config.mutate == "duplicates":
        return len(at.resampled.ancestors) - len(set(at.resampled.ancestors)) if at.resampled else 0
    return _particles(at)


def _particles(at: StepView) -> int:
    return len(at.resampled.ancestors) if at.resampled else len(at.scored)


def _one(proposed: Proposed, config: Config, *, n_particles: int) -> str:
    it = "the hypothesis" if n_particles == 1 else f"particle {proposed.particle}"
    afresh = " (drawn afresh from the prior)" if proposed.origin == "prior" else ""
    early = " before all rows were answered" if proposed.unanswered else ""
    return {
        "likelihood": f"the proposal for {it}{afresh} was {'accepted' if proposed.accepted else 'rejected'}{early}",
        "taken": f"{it} was rewritten, and the change kept without a test",
        "unchanged": f"{it} was left word for word",
        "unparsable": f"the proposal for {it} {_not_used([proposed])}, so its text is kept",
    }[proposed.why]


def _judged(made: Sequence[Proposed], of: int, awaited: int) -> str:
    """Describe accept decisions. Unchanged and unreadable proposals are not judged."""
    judged = [p for p in made if p.why == "likelihood"]
    unchanged, unread = _not_judged(made)
    if unchanged == of:
        return f"{_all(of)} proposals left their text word for word"
    if unread == of:
        if any(p.refused for p in made):
            return f"{_all(of)} proposals {_not_used(made)}"
        return "neither proposal could be read" if of == 2 else f"none of {in_words(of)} proposals could be read"
    whose = "its" if unchanged == 1 else "their"
    cut = sum(p.unanswered > 0 for p in judged)
    rest = [
        *([f"{_rejections(cut)} certain before all rows were answered"] if cut else []),
        *([f"{in_words(unchanged)} left {whose} text word for word"] if unchanged else []),
        *([f"{in_words(unread)} {_not_used(made)}"] if unread else []),
        *_awaited(awaited),
    ]
    return "; ".join(filter(None, (_decided(judged, yet=awaited > 0), ", ".join(rest))))


def _decided(judged: Sequence[Proposed], *, yet: bool) -> str:
    n, taken = len(judged), sum(p.accepted for p in judged)
    if not n:
        return "no proposal has been judged yet" if yet else "no proposal was judged"
    if 0 < taken < n:
        accepted = f"{in_words(taken)} {_were(taken)} accepted"
        return f"{in_words(n)} proposals were judged: {accepted}, {in_words(n - taken)} rejected"
    how = "accepted" if taken else "rejected"
    if n == 1:
        return f"one proposal was judged and {how}"
    return f"{in_words(n)} proposals were judged and {'both' if n == 2 else 'all'} were {how}"


def _rejections(n: int) -> str:
    return f"{in_words(n)} rejection{'' if n == 1 else 's'} {_were(n)}"


def _all(n: int) -> str:
    return "both" if n == 2 else f"all {in_words(n)}"


def _not_judged(made: Collection[Proposed]) -> tuple[int, int]:
    """Return how many proposals left their text as it was, and how many could not be read."""
    unchanged, unread = (sum(p.why == why for p in made) for why in ("unchanged", "unparsable"))
    return unchanged, unread


def _not_used(made: Collection[Proposed]) -> str:
    """Say why proposals gave no text."""
    unread = [p for p in made if p.why == "unparsable"]
    refused = sum(p.refused for p in unread)
    if not refused:
        return "could not be read"
    were = f"{_were(len(unread))} refused as no rule for this table"
    return were if refused == len(unread) else f"could not be read or {were}"


def _awaited(n: int) -> Iterator[str]:
    if n:
        yield f"{in_words(n)} still awaited"


def _taken(made: Sequence[Proposed], of: int, awaited: int) -> str:
    taken = sum(p.why == "taken" for p in made)
    if all(p.why == "unchanged" for p in made) and len(made) == of:
        return f"{_all(of)} hypotheses were left word for word"
    return ", ".join([f"{_share(taken, of)} rewritten", *_rest(made), *_awaited(awaited)])


def _share(n: int, of: int) -> str:
    """`six of ten hypotheses were`."""
    share = {0: f"none of {in_words(of)}", of: _all(of)}.get(n, f"{in_words(n)} of {in_words(of)}")
    return f"{share} hypotheses {_were(n or 1)}"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _rest(made: Collection[Proposed]) -> Iterator[str]:
    unchanged, unread = _not_judged(made)
    if unchanged:
        yield f"{in_words(unchanged)} left word for word"
    if unread:
        yield f"{in_words(unread)} {'unreadable or refused' if any(p.refused for p in made) else 'unreadable'}"


def _restarted(fresh: Sequence[Proposed]) -> str:
    if not fresh:
        return ""
    taken = sum(p.accepted for p in fresh)
    kept = {0: "none", len(fresh): "all" if len(fresh) > 1 else "it"}.get(taken, in_words(taken))
    n = in_words(len(fresh))
    return f"{n} {_were(len(fresh))} drawn afresh from the prior; {kept} {_were(taken or 1)} accepted"


# K


def _resizing(at: StepView) -> Iterator[str]:
    if at.joined and at.finished:
        came = sorted(at.joined)
        grown = len(at.population)
        yield f"K grew from {grown - len(came)} to {grown} ({why_grew(at)}): {_joined(came)} joined"
    if at.shrunk:
        before, kept = len(at.scored), at.shrunk.ancestors
        yield f"all agreed, so K fell from {before} to {len(kept)}"


def _joined(slots: Sequence[int]) -> str:
    return f"particles {slots[0]} to {slots[-1]}" if len(slots) > 2 else _named(slots)


# The end


def _end(view: RunView, config: Config, balanced: float | None) -> Iterator[str]:
    """Describe the end of the run and its test result."""
    last, planned = view.last_step, view.total_steps - 1
    if last is None:
        return
    if last < planned:
        when = f"after {steps_text(view)}" if last >= 0 else "before its first step was complete"
        yield f"The run ended {when}."
    yield from _last_weights(view, config)
    test = view.evaluated.get("test")
    yield _tested(test, config, balanced) if test and test.step == last else "The test rows were not evaluated."


def final_rows(config: Config) -> str:
    """Name the rows on which the last texts are weighed again."""
    return "all training rows" if config.final_weights == "train" else "the last buffer"


def _last_weights(view: RunView, config: Config) -> Iterator[str]:
    if view.final is not None:
        ess = f"ESS {fixed(view.final.ess, 1)} of {len(view.final.weights)}"
        yield f"The last texts were weighed once more, on {final_rows(config)}: {ess}."
    elif config.is_weighted:
        yield "The weights are those of the last step."


def _tested(test: Evaluated, config: Config, balanced: float | None) -> str:
    n, vote = len(test.rows), voting(config, len(test.hypotheses))
    if test.metric == "mse":
        by = f"the {vote} mean" if vote else "it"
        return f"On {counted(n, 'test row')} {by} is {miss_words(test.value)}."
    by, right = f"the {vote} vote" if vote else "it", round(test.value * n)
    share = percent(test.value, decimals=1)
    beside = "" if balanced is None else percent(balanced, decimals=1)
    told = f"; balanced accuracy {beside}" if beside not in ("", share) else ""
    return f"Of {counted(n, 'test row')} {by} got {integer(right)} right, {share}{told}."
