"""The method's options on a form: groups, names, values, and the condition under which each has an effect."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from vpp.data.dataset import Dataset, Task
from vpp.posterior.likelihood import auto_tau
from vpp.settings import Config
from vpp.wording.words import listed, number

OPEN = ("method", "particles", "epochs", "batch_size", "seed", "prior")
"""Options that are always visible."""
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "First hypotheses": ("initial", "prior_temperature", "initial_temperature_low", "initial_temperature_high"),
    "Proposals": ("mutate", "cautious_temperature", "bold_temperature", "optimizer_temperature", "history"),
    "Accept step": ("mh_rows", "restart", "early_rejection"),
    "Weights and tempering": (
        "tempering",
        "beta_start",
        "beta_end",
        "ess_threshold",
        "final_weights",
        "buffer_size",
        "deduplicate_buffer",
    ),
    "Growing K": ("particles_max", "particles_min", "growth_budget"),
    "Likelihood": ("tau", "epsilon", "error_mass"),
    "Data order and prompts": ("batch_order", "points_per_call", "learner_temperature"),
    "Evaluation": ("ties", "evaluate_every"),
}
_NAMES: Mapping[str, str] = {
    "particles": "Particles K",
    "batch_size": "Batch M",
    "prior": "What you already believe, in plain words (the prior, optional)",
    "batch_order": "Order of rows",
    "history": "Earlier exchanges shown",
    "points_per_call": "Rows a call",
    "initial": "Written from",
    "initial_temperature_low": "Temperature of the first",
    "initial_temperature_high": "Temperature of the last",
    "prior_temperature": "Temperature of draws from the prior",
    "optimizer_temperature": "Optimizer’s temperature",
    "learner_temperature": "Learner’s temperature",
    "cautious_temperature": "Cautious temperature",
    "bold_temperature": "Bold temperature",
    "mutate": "Rewrite",
    "mh_rows": "Compare on",
    "restart": "Chance of a fresh draw",
    "early_rejection": "Cancel calls once rejection is certain",
    "beta_start": "First β",
    "beta_end": "Last β",
    "ess_threshold": "Resample below (share of K)",
    "buffer_size": "Buffer B",
    "deduplicate_buffer": "Each row once",
    "final_weights": "Final weights",
    "particles_max": "Largest K (0: fixed)",
    "particles_min": "Smallest K",
    "growth_budget": "Calls up to which K grows (0: all)",
    "tau": "Regression’s τ",
    "epsilon": "Classification’s ε",
    "error_mass": "Mass of each wrong label",
    "ties": "Tied votes",
    "evaluate_every": "Test every n steps (0: last)",
}
ABOUT: Mapping[str, str] = {
    "smc": "Reweighs, resamples and rewrites K hypotheses. The default, best on hard rules.",
    "mh": "K chains; a change is kept only if the data like it.",
    "always-accept": "K chains that keep every change: Metropolis-Hastings without its filter.",
    "vml": "One hypothesis, every change kept. The baseline; it cannot say how sure it is.",
    "vml5": "Five of these side by side, averaged without weights.",
}
"""One-line description of each method."""
DEMO_PRIOR = (
    "The demo model takes only the form of a rule from this, where it names one, such as “a straight line” or "
    "“a circle”. A language model reads all of it."
)
_MEANINGS: Mapping[str, Mapping[str, str]] = {
    "mutate": {
        "every": "every particle",
        "filtered": "what an accept step keeps",
        "duplicates": "copies made by resampling alone",
    },
    "tempering": {
        "paper": "anew each step, on the buffer",
        "incremental": "carried, all training rows",
        "adaptive": "carried, exponents found",
    },
    "mh_rows": {"batch": "the current batch", "buffer": "the rows last seen", "train": "all training rows"},
    "initial": {"batch": "the first batch", "prior": "the prior alone, no data"},
    "final_weights": {
        "rescored": "last texts, on the buffer",
        "train": "last texts, all training rows",
        "paper": "the last step’s",
    },
    "error_mass": {"whole": "all of ε", "shared": "ε shared by the wrong labels"},
    "batch_order": {"shuffled": "by seed, each epoch", "fixed": "as in the table"},
    "ties": {"lowest": "first in sort order", "seeded": "drawn by seed"},
}
"""Meanings of option values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """Condition under which an option has an effect."""

    holds: Callable[[Config], bool]
    to: str
    """The condition in words."""


def _draws_from_prior(config: Config) -> bool:
    return (config.draws_initial and config.initial == "prior") or (config.is_filtered and config.restart > 0)


def _can_grow(config: Config) -> bool:
    return config.draws_initial and not config.is_telescoping


def _judges(config: Config) -> bool:
    return config.is_weighted or config.is_filtered or config.particles_max > 0


_DRAWN = Belonging(holds=lambda c: c.draws_initial, to="smc, mh and always-accept")
_FROM_BATCH = Belonging(
    holds=lambda c: c.draws_initial and c.initial == "batch", to="first hypotheses drawn from the first batch"
)
_SMC = Belonging(holds=lambda c: c.is_weighted, to="smc")
_FILTERED = Belonging(holds=lambda c: c.is_filtered, to="mh, and smc that filters")
_BUFFERED = Belonging(
    holds=lambda c: c.scored_on == "buffer", to="smc with the paper’s tempering, and mh that compares on the buffer"
)
_GROWING = Belonging(holds=lambda c: _can_grow(c) and c.particles_max > 0, to="a largest K above 0")
_JUDGED = Belonging(holds=_judges, to="smc, mh and a growing K")
BELONGINGS: Mapping[str, Belonging] = {
    "particles": _DRAWN,
    "initial": _DRAWN,
    "initial_temperature_low": _FROM_BATCH,
    "initial_temperature_high": _FROM_BATCH,
    "prior_temperature": Belonging(holds=_draws_from_prior, to="draws from the prior, first or fresh"),
    "optimizer_temperature": Belonging(holds=lambda c: not c.is_weighted, to="every method but smc"),
    "cautious_temperature": _SMC,
    "bold_temperature": _SMC,
    "mutate": _SMC,
    "mh_rows": Belonging(holds=lambda c: c.method == "mh", to="mh"),
    "restart": _FILTERED,
    "early_rejection": _FILTERED,
    "buffer_size": _BUFFERED,
    "deduplicate_buffer": _BUFFERED,
    "tempering": _SMC,
    "beta_start": Belonging(
        holds=lambda c: c.is_weighted and c.tempering != "adaptive", to="smc with exponents fixed in advance"
    ),
    "beta_end": _SMC,
    "ess_threshold": _SMC,
    "final_weights": Belonging(
        holds=lambda c: c.is_weighted and not c.is_telescoping, to="smc with the paper’s tempering"
    ),
    "particles_max": Belonging(holds=_can_grow, to="smc with the paper’s tempering, mh and always-accept"),
    "particles_min": _GROWING,
    "growth_budget": _GROWING,
    "tau": _JUDGED,
    "epsilon": _JUDGED,
    "error_mass": _JUDGED,
    "ties": Belonging(holds=lambda c: c.largest_size > 1, to="more than one hypothesis"),
}
"""Options that have an effect only under a condition; all others always have one."""
OF_TASK: Mapping[str, Task] = {
    "tau": "regression",
    "epsilon": "classification",
    "error_mass": "classification",
    "ties": "classification",
}
"""Options that have an effect for one kind of target only."""


def groups() -> dict[str, tuple[str, ...]]:
    """Return the options under More options by group; options without a group are in `Other`."""
    placed = {*OPEN, *(name for names in _GROUPS.values() for name in names)}
    other = tuple(option.name for option in fields(Config) if option.name not in placed)
    return {**_GROUPS, **({"Other": other} if other else {})}


def name_of(option: str) -> str:
    """Return an option's label on a form."""
    return _NAMES.get(option, option.replace("_", " ").capitalize())


def value_words(option: str, value: str) -> str:
    """Return a value as a form shows it: `batch: the current batch`."""
    meaning = _MEANINGS.get(option, {}).get(value)
    return f"{value}: {meaning}" if meaning else value


def has_effect(option: str, config: Config, task: Task | None = None) -> bool:
    """Whether an option changes a run with these options, on targets of this kind."""
    return _fits(option, task) and (option not in BELONGINGS or BELONGINGS[option].holds(config))


def _fits(option: str, task: Task | None) -> bool:
    return task is None or OF_TASK.get(option, task) == task


PLAIN: Mapping[tuple[str, object], str] = {
    ("final_weights", "rescored"): "last weights on the buffer",
    ("final_weights", "paper"): "last weights those of the last step",
}
"""Words for values whose option name and value do not read well."""


def changed_words(config: Config, task: Task | None = None) -> tuple[str, ...]:
    """Return the options of More options that are not at their default and have an effect: `history 1`."""
    usual = Config()
    return tuple(
        PLAIN.get((name, getattr(config, name)), f"{name.replace('_', ' ')} {_shown(getattr(config, name))}")
        for names in groups().values()
        for name in names
        if getattr(config, name) != getattr(usual, name) and has_effect(name, config, task)
    )


def _shown(value: object) -> str:
    return "on" if value is True else "off" if value is False else str(value)


DECIDERS = ("method", "tempering", "mutate", "mh_rows", "initial", "restart", "particles_max")
"""Options that decide whether others have an effect, each after those it depends on."""


def decided(values: Mapping[str, Any], base: Config) -> Config:
    """Apply to `base` the values that decide whether other options have an effect. Raises InputError."""
    config = base
    for name in DECIDERS:
        if name in values and has_effect(name, config):
            config = replace(config, **_alone(name, values[name]))
    return config


def _alone(name: str, value: Any) -> dict[str, Any]:
    """Return an option with the values that must agree with it."""
    if name == "particles_max" and value:
        return {"particles": value, "particles_min": 1, name: value}
    return {name: value}


def config_of(values: Mapping[str, Any], base: Config, task: Task | None = None) -> Config:
    """Apply to `base` the values that have an effect. Raises InputError."""
    deciding = decided(values, base)
    return replace(base, **{name: value for name, value in values.items() if has_effect(name, deciding, task)})


def idle_words(deciding: Config, task: Task | None = None) -> tuple[str, ...]:
    """Return a sentence for each condition whose options have no effect now."""
    folded = [name for names in groups().values() for name in names]
    idle = _by_place(folded, deciding, task)
    return tuple(f"For {to}: {listed([name_of(name) for name in names])}." for to, names in idle.items())


def unused_words(given: Collection[str], config: Config, task: Task) -> str:
    """Name the given options that have no effect, and their condition; empty if all have one."""
    named = [option.name for option in fields(config) if option.name in given]
    return "; ".join(
        f"{listed([_flag(name) for name in names])} (for {to})" for to, names in _by_place(named, config, task).items()
    )


def _flag(option: str) -> str:
    """Return an option's name on the command line."""
    return f"--{option.replace('_', '-')}"


def _by_place(options: Collection[str], config: Config, task: Task | None) -> dict[str, list[str]]:
    """Group the options without an effect by their condition."""
    idle: dict[str, list[str]] = {}
    for name in options:
        if not has_effect(name, config, task):
            idle.setdefault(_place(name, task), []).append(name)
    return idle


def _place(option: str, task: Task | None) -> str:
    return BELONGINGS[option].to if _fits(option, task) else OF_TASK[option]


ALL_OR_NOTHING = 10.0
"""Ratio of the targets' spread to the noise above which nearly every likelihood ratio is 0 or 1."""


def tau_words(config: Config, dataset: Dataset) -> str:
    """Compare a given tau with the spread of the targets; empty if tau is estimated or not used."""
    tau = config.fixed_tau
    if tau is None or dataset.task != "regression" or not has_effect("tau", config):
        return ""
    targets = [float(row.target) for row in dataset.train if row.target is not None]
    noise, spread = math.sqrt(tau), math.sqrt(auto_tau(targets, targets))
    words = (
        f"τ = {number(tau)} takes misses of about {number(noise)} for noise, in the target’s unit; the training "
        f"targets spread by about {number(spread)}."
    )
    if spread > ALL_OR_NOTHING * noise:
        return f"{words} So nearly every likelihood ratio will be 0 or 1: write auto, or take a larger τ."
    if noise > spread:
        return f"{words} So even bad rules will hardly lose weight: write auto, or take a smaller τ."
    return words
