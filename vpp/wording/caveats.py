"""How far to trust a run: what a reader should know before believing it. Sentences of our own, without outside text."""

import math
from collections.abc import Iterator

from vpp.data.dataset import Dataset
from vpp.events import Evaluated
from vpp.inspection.settling import tau_of
from vpp.posterior.likelihood import least_tau
from vpp.runs.reader import Snapshot
from vpp.runs.summary import evidence
from vpp.runs.view import RunView
from vpp.wording.brief import accuracy_interval
from vpp.wording.room import room_words
from vpp.wording.splitting import rows_sentence
from vpp.wording.steps import steps_text
from vpp.wording.support import surpassed_sentences
from vpp.wording.target import target_words
from vpp.wording.verdicts import DEFAULTS
from vpp.wording.words import capitalised, counted, fixed, in_words, integer, number, percent, refused_answers


def caveats(snapshot: Snapshot, dataset: Dataset) -> tuple[str, ...]:
    """The gravest first."""
    view = snapshot.view
    return (
        *_model(snapshot),
        *_state(snapshot),
        *_evaluation(view, dataset),
        *surpassed_sentences(view, dataset, clear=False),
        *target_words(snapshot.spec.config, dataset.task),
        *_nominal(snapshot),
        *_unread(snapshot),
        *room_words(view),
        *_rows(dataset),
        *_tau(snapshot, dataset),
        "This is one run with one seed: other seeds show how much of it is luck.",
    )


def is_demo(snapshot: Snapshot) -> bool:
    """Whether the demo model answered in any role."""
    models = snapshot.view.started.models if snapshot.view.started else {}
    return snapshot.spec.endpoint.is_demo or "demo" in models.values()


def _model(snapshot: Snapshot) -> Iterator[str]:
    if is_demo(snapshot):
        yield (
            "The answers came from the built-in demo model. It is a small program that reads and writes plain English "
            "rules, not a language model: use it to learn the instrument, not to judge the method."
        )


def _state(snapshot: Snapshot) -> Iterator[str]:
    view = snapshot.view
    if snapshot.damage:
        yield "The journal is damaged: what it has lost is not in this report."
    if view.phase != "finished":
        yield f"The run is not whole: {steps_text(view)} are done.{_flatter(view)}"


def _flatter(view: RunView) -> str:
    """Where tempering had not come to its end."""
    made = [step.reweighted for step in view.finished_steps if step.reweighted]
    if not made or view.started is None or made[-1].beta <= view.started.config.get("beta_end", 1.0):
        return ""
    return f" With β = {fixed(made[-1].beta)}, weights are flatter than a finished run's."


def _evaluation(view: RunView, dataset: Dataset) -> Iterator[str]:
    test = view.evaluated.get("test")
    if test is None:
        yield "The test rows are not evaluated yet: nothing here says how well the hypotheses predict new rows."
        return
    if test.step != view.last_step:
        yield f"The test rows were evaluated after step {test.step}, not with the last population."
    yield _test_size(test, dataset)
    yield from _abstentions(test)


def _test_size(test: Evaluated, dataset: Dataset) -> str:
    n = len(test.rows)
    interval = accuracy_interval(test, dataset)
    few = " So few rows tell little." if n < DEFAULTS.few_rows else ""
    if interval is None:
        return f"The test error comes from {counted(n, 'row')}: a few large misses can make most of it.{few}"
    return f"With {counted(n, 'test row')}, the true accuracy may lie anywhere from {interval}.{few}"


def _abstentions(test: Evaluated) -> Iterator[str]:
    given = [answer for answers in test.predictions for answer in answers]
    n = sum(answer is None for answer in given)
    if n:
        counts_as = "wrong" if test.metric == "accuracy" else "off by the whole range of the training targets"
        yield (
            f"{integer(n)} of {integer(len(given))} answers on the test rows could not be read, after every re-ask: "
            f"they abstain in the average, and count as {counts_as}."
        )


def _nominal(snapshot: Snapshot) -> Iterator[str]:
    """Why the evidence has no guarantee."""
    found = evidence(snapshot.spec, snapshot.view)
    if found:
        yield f"The log evidence is nominal: {'; '.join(found['because'])}."


def _unread(snapshot: Snapshot) -> Iterator[str]:
    usage, view = snapshot.usage, snapshot.view
    if usage.unparsable:
        share = percent(usage.unparsable / max(1, usage.calls), decimals=1)
        calls = counted(usage.calls, "call")
        yield f"{integer(usage.unparsable)} of {calls} ({share}) gave answers that could not be read."
    if usage.inferred:
        labels = counted(usage.inferred, "label")
        yield f"The parser took {labels} from explanations, because these answers had no “Output:” line."
    if refused := refused_answers(usage.refused):
        yield f"{refused}. The model was asked again, up to twice a proposal."
    bare = sum(drawn.reason is not None for drawn in view.drawn.values())
    if bare:
        began = f"{in_words(bare)} of {in_words(len(view.drawn))} particles began as the bare seed sentence"
        yield f"{capitalised(began)}: the optimizer's first answer could not be read, or was refused."


def _tau(snapshot: Snapshot, dataset: Dataset) -> Iterator[str]:
    """Where tau was found so small that it stands at its floor."""
    config = snapshot.spec.config
    tau = tau_of(snapshot.view, config)
    if tau is None or dataset.task != "regression" or config.fixed_tau is not None:
        return
    if math.isclose(tau, least_tau([float(row.target) for row in dataset.train if row.target is not None])):
        yield (
            "τ is at its floor: the best first hypothesis left no spread of errors on its first batch, so misses of "
            f"more than about {number(math.sqrt(tau))}, in the target's unit, decide. Give --tau where its noise is "
            "larger."
        )


def _rows(dataset: Dataset) -> Iterator[str]:
    if dataset.provenance.n_left_out:
        yield rows_sentence(dataset)
