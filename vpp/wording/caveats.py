"""Limits of a run's result, and the target that its options sample. No sentence holds outside text."""

import math
from collections.abc import Iterator

from vpp.data.dataset import Dataset, Task
from vpp.events import Evaluated
from vpp.inspection.settling import tau_of
from vpp.inspection.summary import evidence
from vpp.posterior.likelihood import least_tau
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.wording.brief import accuracy_interval
from vpp.wording.counts import cut_cells_text, cut_sentences, rows_sentence, steps_text
from vpp.wording.support import surpassed_sentences
from vpp.wording.verdicts import FEW_ROWS
from vpp.wording.words import capitalised, counted, fixed, in_words, integer, number, percent, refused_answers


def caveats(snapshot: Snapshot, dataset: Dataset) -> Iterator[str]:
    view = snapshot.view
    yield from _model(snapshot)
    yield from _state(snapshot)
    yield from _evaluation(view, dataset)
    yield from surpassed_sentences(view, dataset, clear=False)
    yield from target_words(snapshot.spec.config, dataset.task)
    if (found := evidence(snapshot.spec, view)) and found["because"]:
        yield f"The log evidence is nominal: {'; '.join(found['because'])}."
    yield from _unread(snapshot)
    yield from cut_sentences(view)
    if cells := cut_cells_text(dataset, snapshot.spec.cell_limit):
        yield f"Of the longest texts the models saw only the beginning: {cells}."
    if dataset.provenance.n_left_out:
        yield rows_sentence(dataset)
    yield from _tau(snapshot, dataset)
    if not snapshot.spec.config.is_weighing:
        yield "This is one run with one seed: other seeds show how much of it is luck."


def is_demo(snapshot: Snapshot) -> bool:
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
    if view.phase != "finished":
        made = [step.reweighted for step in view.finished_steps if step.reweighted]
        flatter = ""
        if made and made[-1].beta > 1:
            flatter = f" With β = {fixed(made[-1].beta)}, weights are flatter than a finished run's."
        yield f"The run is incomplete: {steps_text(view)} are done.{flatter}"


def _evaluation(view: RunView, dataset: Dataset) -> Iterator[str]:
    test = view.evaluated.get("test")
    if not dataset.test:
        yield "Every row was used for the weights: nothing here says how well the hypotheses predict new rows."
        return
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
    few = " So few rows tell little." if n < FEW_ROWS else ""
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


def _unread(snapshot: Snapshot) -> Iterator[str]:
    usage, view = snapshot.usage, snapshot.view
    if usage.unparsable:
        share = percent(usage.unparsable / max(1, usage.calls), decimals=1)
        calls = counted(usage.calls, "call")
        yield f"{integer(usage.unparsable)} of {calls} ({share}) gave answers that could not be read."
    if refused := refused_answers(usage.refused):
        yield f"{refused}. The model was asked again, up to twice a proposal."
    bare = sum(drawn.reason is not None for drawn in view.drawn.values())
    if bare:
        began = f"{in_words(bare)} of {in_words(len(view.drawn))} particles began as the bare seed sentence"
        yield f"{capitalised(began)}: the optimizer's first answer could not be read, or was refused."


def _tau(snapshot: Snapshot, dataset: Dataset) -> Iterator[str]:
    config = snapshot.spec.config
    tau = tau_of(snapshot.view, config)
    if tau is None or dataset.task != "regression" or config.fixed_tau is not None:
        return
    if math.isclose(tau, least_tau([float(row.target) for row in dataset.train if row.target is not None])):
        yield (
            "τ is at its lower bound: the errors of the best first hypothesis on its first batch do not vary. So an "
            f"error of more than about {number(math.sqrt(tau))}, in the target's unit, rules a hypothesis out. If the "
            "data are noisier, give a larger --tau."
        )


# The target

_CARRIED = (
    "Weights are ratios of successive tempered posteriors on all training rows, carried from step to step; every "
    "change passes an accept step on the current target."
)
_REFINED = (
    "Proposals are refined from the data, and the acceptance ratio leaves out their densities. So texts that the "
    "optimizer likes to write are too frequent: the result is near the posterior, not exactly the posterior."
)


_GROWING = (
    "K may change. Newcomers are first draws and get the average weight until the next step. When all hypotheses "
    "agree, some are dropped at random."
)


_COMPARED_ON = {
    "batch": "one batch, a new one each step, so the chains have no common target",
    "buffer": "the rows last seen, which change each step, so the chains have no common target",
    "train": "all training rows, the same at every step",
}


def target_words(config: Config, task: Task) -> Iterator[str]:
    """Yield a few sentences on the target: what the run's weights or chains stand for."""
    if config.is_weighing:
        yield (
            "Weights are the posterior over the given sentences alone: prior weights, equal unless given, times the "
            "likelihood of all rows. A sentence that nobody gave has no weight."
        )
    elif config.is_telescoping:
        yield _CARRIED
        if config.tempering == "adaptive":
            yield "Each exponent φ = 1/β was chosen so that the ESS stays at its threshold."
        else:
            yield "The exponents φ = 1/β follow a schedule fixed in advance."
        yield from _draws(config, task)
    elif config.is_weighted:
        yield from _reweighted(config)
    elif config.method == "mh":
        yield f"Each chain has an accept step, which compares likelihoods on {_COMPARED_ON[config.mh_rows]}."
        yield from _draws(config, task)
    elif config.size == 1:
        yield "There is one hypothesis and no posterior: this run cannot say how sure it is."
    else:
        yield (
            "Every proposal was kept, so the hypotheses are no sample of a posterior; they are averaged without "
            "weights. Their differences show how much the optimizer varies, not what the data support."
        )
    if config.particles_max:
        yield _GROWING


def _reweighted(config: Config) -> Iterator[str]:
    """Describe the paper's tempering: weights made anew each step."""
    weights = (
        "The weights approximate a posterior. They weigh each text on the rows last seen, tempered, and are made anew "
        "each step"
    )
    uncorrected = "without a correction: a pragmatic reweighting, not an exact posterior."
    if config.mutate == "filtered":
        yield f"{weights}; rewritten texts pass an accept step on those same rows. {_REFINED}"
        yield "The rows change each step, so the steps have no common target."
    else:
        yield f"{weights}; every text is rewritten after it was weighed, {uncorrected}"


def _draws(config: Config, task: Task) -> Iterator[str]:
    """Say how near the target proposals and prior lead. Only fresh draws on fixed rows and tau are exact."""
    if config.restart == 0:
        yield _REFINED
    elif config.restart < 1:
        yield f"A share of {config.restart:g} of the proposals is drawn afresh from the prior. {_REFINED}"
    elif not _is_exact(config, task):
        yield (
            "Every proposal is drawn afresh from the prior. That is exact only on all training rows, with a fixed K, a "
            "tau fixed in advance, and answers that depend on one row."
        )
    else:
        yield (
            "Every proposal is drawn afresh from the prior, without data, and judged on all training rows: the "
            "acceptance rule is exact for the posterior with these draws as its prior."
        )


def _is_exact(config: Config, task: Task) -> bool:
    """True if the target of fresh draws never changes, and f(x; theta) is a function of one row and one text."""
    return (
        (config.is_telescoping or config.mh_rows == "train")
        and (task == "classification" or config.fixed_tau is not None)
        and not config.particles_max
        and config.learner_samples == 1
    )
