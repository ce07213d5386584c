"""Which target a run's options really sample, in plain words: what its weights or its chains stand for."""

from collections.abc import Iterator

from vpp.data.dataset import Task
from vpp.settings import Config

_CARRIED = (
    "Weights are ratios of successive tempered posteriors on all training rows, carried from step to step; every "
    "change passes an accept step on the target it moves in."
)
_REFINED = (
    "Proposals are refined from the data and the ratio leaves out their densities, so what is drawn leans towards what "
    "the optimizer likes to write: near the posterior, not exactly it."
)


_GROWING = (
    "K may change: newcomers are first draws and count as the average particle until they are weighed or judged, and "
    "where all agree some are dropped by chance, not by the data."
)


def target_words(config: Config, task: Task) -> tuple[str, ...]:
    """A few sentences, of our own words alone."""
    return (*_by_method(config, task), *((_GROWING,) if config.particles_max else ()))


def _by_method(config: Config, task: Task) -> tuple[str, ...]:
    if config.is_telescoping:
        return (_CARRIED, _exponents(config), *_draws(config, task))
    if config.is_weighted:
        return _reweighted(config)
    if config.method == "mh":
        return tuple(_chains(config, task))
    return _unfiltered(config)


def _exponents(config: Config) -> str:
    if config.tempering == "adaptive":
        return "Exponents φ = 1/β were found as the run went, so that the ESS keeps to its threshold."
    return "Exponents φ = 1/β follow a schedule fixed in advance."


def _reweighted(config: Config) -> tuple[str, ...]:
    """The paper's tempering: weights made anew each step."""
    weights = (
        "The weights approximate a posterior. They weigh each text on the rows last seen, tempered, and are made anew "
        "each step"
    )
    if config.mutate == "filtered":
        return (
            f"{weights}; rewritten texts pass an accept step on those same rows. {_REFINED}",
            "The rows change from step to step, so there is no one target that all steps share.",
        )
    if config.mutate == "duplicates":
        return (
            f"{weights}. Only copies made by resampling are rewritten, without a correction: a pragmatic reweighting, "
            "not an exact posterior.",
        )
    return (
        f"{weights}; every text is rewritten after it was weighed, without a correction: a pragmatic reweighting, "
        "not an exact posterior.",
    )


def _chains(config: Config, task: Task) -> Iterator[str]:
    rows = {
        "batch": "one batch, another one each step, so the chains share no one target",
        "buffer": "the rows last seen, which change from step to step, so the chains share no one target",
        "train": "all training rows, the same at every step",
    }[config.mh_rows]
    yield f"Each chain moves by an acceptance rule that compares likelihoods on {rows}."
    yield from _draws(config, task)


def _draws(config: Config, task: Task) -> Iterator[str]:
    """What proposals and prior make of the target. Exact is only what is drawn afresh, on fixed rows and tau."""
    on_all_rows = config.is_telescoping or config.mh_rows == "train"
    if config.restart == 0:
        yield _REFINED
    elif config.restart < 1:
        yield (
            f"A share of {config.restart:g} of the proposals is drawn afresh from the prior; the others are refined "
            f"from the data, which makes it no exact Metropolis-Hastings. {_REFINED}"
        )
    elif not on_all_rows:
        yield "Every proposal is drawn afresh from the prior; exact it would be on all training rows alone."
    elif task == "regression" and config.fixed_tau is None:
        yield "Every proposal is drawn afresh from the prior; exact it would be with a tau fixed in advance."
    elif config.particles_max:
        yield "Every proposal is drawn afresh from the prior; exact it would be with a K that never changes."
    elif not _answers_alone(config):
        yield "Every proposal is drawn afresh from the prior; exact it would be with answers that depend on one row."
    else:
        yield (
            "Every proposal is drawn afresh from the prior, without data, and judged on all training rows: the "
            "acceptance rule is exact for the posterior whose prior is that very draw."
        )


def _answers_alone(config: Config) -> bool:
    """Whether f(x; theta) is a function of one row and one text."""
    return config.learner_temperature == 0 and config.points_per_call == 1


def _unfiltered(config: Config) -> tuple[str, ...]:
    if config.size == 1:
        return ("There is one hypothesis and no posterior: this run cannot say how sure it is.",)
    return (
        "Every proposal was taken, so nothing was sampled from any target: these are separate hypotheses, "
        "averaged without weights. Where they differ shows how much the optimizer varies, not what the data support.",
    )
