"""Conditions under which the evidence of tempered SMC is an unbiased estimate."""

from collections.abc import Iterator

from vpp.data.dataset import Task
from vpp.settings import Config


def why_nominal(config: Config, task: Task, *, is_continued: bool = False) -> tuple[str, ...]:
    """Violated conditions, one sentence each; empty if a run with these options meets them all.

    The conditions: particles drawn independently from the prior, a likelihood and exponents fixed in advance, a fixed
    K, and an accept step whose proposals come from the prior alone (Del Moral, Doucet, Jasra 2006).
    is_continued: whether the first hypotheses are the last ones of an earlier run.
    """
    return tuple(_broken(config, task, is_continued))


def _broken(config: Config, task: Task, is_continued: bool) -> Iterator[str]:
    if is_continued:
        yield "the first hypotheses are those of an earlier run, fitted to most of these rows, not drawn from the prior"
    elif config.initial != "prior":
        yield "the first hypotheses were written after seeing the first batch, not drawn from the prior"
    if task == "regression" and config.fixed_tau is None:
        yield "tau was set from the data"
    if config.tempering == "adaptive":
        yield "the exponents were found from the weights, not fixed in advance"
    if config.restart < 1:
        yield "proposals are refined from the data, and their densities are left out of the acceptance ratio"
        yield "the optimizer's temperature looks at the population's median"
    if config.mutate == "duplicates":
        yield "which particles are rewritten depends on the resampling"
    if config.learner_temperature > 0:
        yield "the learner's answers are drawn at a temperature, so the likelihood is not fixed"
    if config.points_per_call > 1:
        yield "answers to rows asked together can depend on one another, so the likelihood is not fixed"
