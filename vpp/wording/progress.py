"""A run’s progress in words and numbers, for the page Watch, and one step in a sentence or two."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache, partial

from vpp.data.dataset import Dataset
from vpp.events import INITIAL_STEP, Evaluated, Proposed, Resampled, Scored
from vpp.findings.cost import expected_words
from vpp.findings.ideas import Compared, compare
from vpp.findings.slots import answers_of, batch_places, scored_rows, totals
from vpp.inference.plan import plan
from vpp.posterior.likelihood import regression_errors
from vpp.posterior.weights import ess
from vpp.problem import is_final_on_train
from vpp.runs.budget import outlook, seconds_left
from vpp.runs.directory import State
from vpp.runs.reader import Snapshot
from vpp.runs.spec import row_counts
from vpp.runs.view import RunView, StepView
from vpp.settings import CHAINS_OF_VML, ESS_SHARE, Config
from vpp.show.blocks import Metric
from vpp.show.words import (
    MAJORITY,
    cached_words,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    number,
    particles,
    percent,
    seconds,
)
from vpp.wording.brief import voting
from vpp.wording.counts import activity_words, miss_words, steps_text
from vpp.wording.status import cache_sentence, faults_sentence, loading_words, refused_sentence
from vpp.wording.verdicts import acceptance_sentence, acceptance_verdict, ess_sentence

GOING_ON: tuple[State, ...] = ("queued", "running", "paused", "stalled")
LOADING = "The worker is loading the model file. Large files take minutes."


def shown_step(view: RunView) -> int | None:
    """Return the newest step with something to show: weights for smc, all decisions for other methods."""
    steps = view.steps.items()
    return max((step for step, at in steps if at.reweighted or (at.finished and at.scored)), default=None)


def phase(snapshot: Snapshot) -> str:
    view, state = snapshot.view, snapshot.state
    if snapshot.loading_s is not None:
        return capitalised(loading_words(snapshot.loading_s))
    if state == "queued":
        return nothing_yet(state).removesuffix(".")
    if state == "running":
        steps = "" if view.last_step is None else f" · {steps_text(view)} done"
        return capitalised(f"{activity_words(view, snapshot.spec.config)}{steps}")
    if state == "paused" and view.is_at_cap:
        return "Paused at its cap"
    if state == "stopped" and not view.drawn:
        return "Stopped before it began"
    if not view.began_at or state in GOING_ON:
        return state.capitalize()
    return f"{state.capitalize()} {'in' if state == 'finished' else 'after'} {seconds(view.wall_s)}"


def pace(snapshot: Snapshot) -> str:
    view = snapshot.view
    if not view.began_at or snapshot.state not in GOING_ON:
        return ""
    spent = f"{seconds(view.wall_s)} so far"
    left = seconds_left(snapshot.spec, view, snapshot.usage) if snapshot.state == "running" else None
    return spent if left is None else f"{spent}, about {seconds(left)} to go"


def nothing_yet(state: State) -> str:
    if state == "queued":
        return "Starting, or queued behind another run."
    if state in ("running", "paused", "stalled"):
        return "The first hypotheses are being written."
    return "The run ended before its first hypotheses were complete. Resume starts it again."


def headline(snapshot: Snapshot, shown: int | None = None) -> str:
    """Return the headline for the step shown; None is the end, or before the first step."""
    view = snapshot.view
    if view.last_step is None:
        return LOADING if snapshot.loading_s is not None else nothing_yet(snapshot.state)
    at = view.steps.get(shown) if shown is not None else None
    is_weighted = snapshot.spec.config.is_weighted
    ids, weights = text_ids(view, at, is_weighted=is_weighted), view.weights if view.has_ended or view.final else ()
    if at is not None:
        weights = at.reweighted.weights if at.reweighted else ()
    words = counted(len(set(ids)), "different sentence")
    if len(ids) == 1:
        words = "one hypothesis, rewritten at each step"
    elif not is_weighted:
        words += ", without weights"
    elif weights:
        keys, rows = _answers(view, at, ids, snapshot.spec.config)
        held = totals(zip(keys, weights, strict=True))
        which = "one"
        if len(held) < len(set(ids)):
            words, which = f"{words} that give {counted(len(held), 'set')} of answers on {rows}", "set"
        words += f"; the heaviest {which} holds {percent(max(held.values()))} of the weight"
    is_past = at is not None and (view.has_ended or at.step != shown_step(view)) and shown_step(view) is not None
    return f"At step {shown}: {words}." if is_past else capitalised(f"{words}.")


def _answers(view: RunView, at: StepView | None, ids: Sequence[str], config: Config) -> tuple[Sequence[Hashable], str]:
    if at is None:
        found = compare(view)
        return (found.keys, end_rows(found)) if found else (ids, "")
    n = max((len(scored.rows) for scored in at.scored.values()), default=0)
    keys = [answers_of(at.scored[slot]) if slot in at.scored else each for slot, each in enumerate(ids)]
    return keys, step_rows(config, n)


def step_rows(config: Config, n: int) -> str:
    """`the 40 rows of the buffer`: rows on which a step tells particles apart."""
    name = scored_rows(config)
    return f"the {integer(n)} {name if n != 1 else name.replace('rows', 'row')}"


def end_rows(found: Compared) -> str:
    """`160 evaluated rows`: rows on which the last particles are told apart; empty if their words are compared."""
    if not found.rows:
        return ""
    if found.by == "evaluations":
        return counted(len(found.rows), "evaluated row")
    return f"the {counted(len(found.rows), 'training row')} that all have answered"


def text_ids(view: RunView, at: StepView | None, *, is_weighted: bool) -> list[str]:
    """Return the texts on a step's cards, by slot: those it weighed, or without weights those it ended with.

    A step that has neither yet shows the texts it began with.
    """
    if at is None:
        return [state.hypothesis for state in view.population]
    if is_weighted and at.reweighted:
        return [at.scored[slot].hypothesis for slot in sorted(at.scored)]
    if not is_weighted and at.finished:
        taken = {slot: each.proposal for slot, each in at.proposed.items() if each.accepted}
        return [taken.get(slot) or at.scored[slot].hypothesis for slot in sorted(at.scored)]
    return [state.hypothesis for state in _began_with(view, at).population]


def _began_with(view: RunView, at: StepView) -> StepView:
    return view.steps.get(at.step - 1, at)


def population_metrics(snapshot: Snapshot) -> Iterator[Metric]:
    """Yield ESS, texts and proposals of the whole run, as far as the method has them."""
    view, config = snapshot.view, snapshot.spec.config
    if config.is_weighted:
        yield _weights_metric(view)
    if config.size > 1:
        ids = [state.hypothesis for state in view.population]
        n, words = len(set(ids)), "The other particles repeat a text word for word."
        words = "No two particles have the same text." if n == len(ids) else words
        yield Metric(name="Different sentences", value=str(n), scale=f"of {len(ids)}", words=words)
    if not config.is_weighing:
        yield _proposals_metric(snapshot)


def _weights_metric(view: RunView) -> Metric:
    of = "sentence" if view.final else "particle"
    if view.final:
        size, value = view.n_unique, view.final.ess
    elif any(step.reweighted for step in view.finished_steps):
        size, value = view.size, ess(view.weights)
    else:
        return Metric(name="ESS", value="–", scale=f"of {view.size}", words="The first step makes weights.")
    words = ess_sentence(value, size, of=of)
    constant = view.final.constant if view.final else None
    if constant and constant.weight > MAJORITY:
        words = f"A constant answer holds {percent(constant.weight)} of the weight: no sentence is favoured."
    return Metric(name="ESS", value=fixed(value, 1), scale=f"of {size}", words=words)


def _proposals_metric(snapshot: Snapshot) -> Metric:
    proposals = snapshot.view.proposals
    unchanged = sum(p.why == "unchanged" for p in proposals)
    unreadable = sum(p.why == "unparsable" for p in proposals)
    refused = sum(p.refused for p in proposals)
    none = f", {counted(refused, 'proposal')} refused as no rule" if refused else ""
    rest = f"{integer(unchanged)} unchanged, {integer(unreadable - refused)} unreadable{none}."
    if snapshot.spec.config.is_filtered:
        return _accepted_metric(snapshot.view, [p for p in proposals if p.why == "likelihood"], rest)
    changed = sum(p.why == "taken" for p in proposals)
    words = "Proposals that changed the text. No accept/reject step."
    if not proposals:
        yet = "none" if snapshot.view.has_ended else "none yet"
        return Metric(name="Rewritten", value="–", scale=yet, words=words)
    return Metric(name="Rewritten", value=str(changed), scale=f"of {len(proposals)}", words=f"{words} {rest}")


def _accepted_metric(view: RunView, judged: Sequence[Proposed], rest: str) -> Metric:
    name, n, taken = "Proposals accepted", len(judged), sum(p.accepted for p in judged)
    if not judged:
        return Metric(name=name, value="–", scale=f"none judged{'' if view.has_ended else ' yet'}", words=rest)
    words = " ".join(filter(None, (acceptance_sentence(taken, n), acceptance_verdict(taken, n), rest)))
    return Metric(name=name, value=percent(taken / n), scale=f"{taken} of {n} judged", words=words)


def calls_metric(snapshot: Snapshot) -> Metric:
    """Return the calls of the whole run: they are not counted by step."""
    usage = snapshot.usage
    read = f"{counted(usage.unparsable, 'answer')} not readable"
    spec = snapshot.spec
    at_most = _most_calls(spec.config, *row_counts(spec.dataset).values(), given=len(spec.start))
    tokens = usage.prompt_tokens + usage.completion_tokens
    cached = cached_words(usage.cached, of=usage.calls)
    refused = f", {counted(usage.refused, 'answer')} refused as no rule" if usage.refused else ""
    details = f"{cached}, {integer(usage.failed)} failed, {read}{refused}; {integer(tokens)} tokens."
    expected = outlook(spec, snapshot.view, usage) if snapshot.state in GOING_ON else None
    faults = (faults_sentence(usage), refused_sentence(usage), cache_sentence(usage))
    words = " ".join(filter(None, (capitalised(details), expected_words(spec, usage, expected), *faults)))
    return Metric(name="Calls", value=integer(usage.calls), scale=f"of {integer(at_most)} at most", words=words)


@lru_cache(maxsize=256)
def _most_calls(config: Config, n_train: int, n_test: int, n_calibration: int, *, given: int) -> int:
    """Most calls of a whole run; cached, since Watch asks every second."""
    return plan(config, n_train=n_train, n_test=n_test, n_calibration=n_calibration, given=given).calls


def batch_errors(view: RunView, config: Config, dataset: Dataset) -> dict[int, float]:
    """Return the mean error of the particles on each step's batch: a share, or a root mean square."""
    targets = {row.id: row.target for row in dataset.train}
    spread = None if dataset.task == "classification" else dataset.target_range

    def error(scored: Scored, places: Sequence[int]) -> float:
        answers = [scored.predictions[i] for i in places]
        truth = [targets[scored.rows[i]] for i in places]
        if spread is None:
            # Plain Python: numpy is slower on so few values, and a long run has ten thousand such sets.
            return 1 - sum(p is not None and p == y for p, y in zip(answers, truth, strict=True)) / len(answers)
        return float((regression_errors(answers, truth, abstention_error=spread) ** 2).mean() ** 0.5)

    def mean(at: StepView) -> float | None:
        # Nearly always, all particles of a step are scored on the same rows: find the batch once for each set of rows.
        alike = {scored.rows: scored for scored in at.scored.values()}
        by_rows = {rows: batch_places(at, each, config, n_train=len(dataset.train)) for rows, each in alike.items()}
        errors = [error(scored, places) for scored in at.scored.values() if (places := by_rows[scored.rows])]
        return sum(errors) / len(errors) if errors else None

    means = {step: at.once("batch error", partial(mean, at)) for step, at in sorted(view.steps.items())}
    return {step: value for step, value in means.items() if value is not None}


# One step in a sentence or two: its events in order


MOST_NAMED = 4


def happened(view: RunView, step: int | None, config: Config, *, balanced: float | None = None) -> str:
    """Describe a step, the first population (-1) or the end of the run (None); empty before the first population.

    balanced: balanced accuracy on the test rows, if known.
    """
    if step is None:
        return " ".join(_end(view, config, balanced))
    if step == INITIAL_STEP or step not in view.steps:
        return _beginning(view, config)
    at = view.steps[step]
    parts = [*_weighing(at, config), *_rewriting(at, config)] or ["scoring"]
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
    several = [slot for slot in sorted(copies) if copies[slot] > 1]
    ended = [slot for slot in range(size) if slot not in copies]
    if not ended:
        return "each particle was kept once"
    now = ", ".join(f"particle {slot} now has {in_words(copies[slot])} copies" for slot in several)
    now = now if len(several) <= MOST_NAMED else f"{in_words(len(several))} particles now have copies"
    names = particles(ended) if len(ended) <= MOST_NAMED else f"{in_words(len(ended))} others"
    return f"{now}, and {names} ended"


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


def _end(view: RunView, config: Config, balanced: float | None) -> Iterator[str]:
    last = view.last_step
    if last is None:
        return
    if last < view.total_steps - 1:
        yield f"The run ended after {steps_text(view)}."
    if view.final is not None:
        ess = f"ESS {fixed(view.final.ess, 1)} of {view.n_unique}"
        yield f"The last texts were weighed once more, on {final_rows(config)}: {ess}."
    elif config.is_weighted:
        yield "The weights are those of the last step."
    test = view.evaluated.get("test")
    if test and test.step == last:
        yield _test_words(test, config, balanced)
    elif test or not view.started or view.started.dataset.get("n_test", 1):
        yield "The test rows were not evaluated."


def final_rows(config: Config) -> str:
    return "all training rows" if is_final_on_train(config) else "the last buffer"


def _test_words(test: Evaluated, config: Config, balanced: float | None) -> str:
    n, vote = len(test.rows), voting(config, len(test.hypotheses))
    if test.metric == "mse":
        by = f"the {vote} mean" if vote else "it"
        return f"On {counted(n, 'test row')} {by} is {miss_words(test.value)}."
    by, right = f"the {vote} vote" if vote else "it", round(test.value * n)
    accuracy = percent(test.value, decimals=1)
    recall = accuracy if balanced is None else percent(balanced, decimals=1)
    beside = f"; balanced accuracy {recall}" if recall != accuracy else ""
    return f"Of {counted(n, 'test row')} {by} got {integer(right)} right, {accuracy}{beside}."
