"""One table of the method's options: label, group, condition under which each has an effect, meanings of its values."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any, NamedTuple

from vpp.data.dataset import Dataset, Task
from vpp.errors import InputError
from vpp.settings import Config, Grading, Method
from vpp.show.words import listed


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    group: str = ""
    """Heading under which a form asks for it; empty for those that come first."""
    needs: Callable[[Config], bool] = lambda _: True
    task: Task | None = None
    """The one kind of target for which it has an effect."""
    values: Mapping[str, str] = field(default_factory=dict)


_OF_PROGRAMS, _PROPOSALS, _ACCEPT = "Programs", "Proposals", "Accept step"
_WEIGHTS = "Weights and tempering"
_LIKELIHOOD, _DOUBT = "Likelihood", "Doubt"

_READ = {"auto": "As a program where it can be one, else row by row", "program": "As a program", "rows": "Row by row"}
_TEMPERING = {
    "auto": "adaptive for programs, else the paper’s",
    "paper": "anew each step, on the buffer",
    "incremental": "carried, all training rows",
    "adaptive": "carried, exponents found",
}
GRADINGS: Mapping[Grading, tuple[str, str]] = {
    "labels": ("labels, as in the paper", "An answer is wrong with probability ε, which {}."),
    "logprobs": ("label probabilities", "The probability that the model gives to the true label."),
}
"""What a likelihood of labels uses: words of the form, and a sentence, with what is said of ε."""

OPTIONS: Mapping[str, Option] = {
    "method": Option("Method"),
    "particles": Option("Particles K", needs=lambda c: c.draws_initial),
    "epochs": Option("Epochs", needs=lambda c: not c.is_weighing),
    "batch_size": Option("Batch M", needs=lambda c: not c.is_weighing),
    "patience": Option("Patience", needs=lambda c: c.can_settle),
    "seed": Option("Seed"),
    "reading": Option("How hypotheses are read", needs=lambda c: replace(c, reading="auto").has_programs, values=_READ),
    "prior": Option("What you already believe, in plain words (optional)"),
    "score_rows": Option("Most rows that score programs", _OF_PROGRAMS, lambda c: c.has_programs and not c.is_weighing),
    "certify": Option("Rows that certify a program", _OF_PROGRAMS, lambda c: c.has_programs),
    "mutate": Option("Rewrite", _PROPOSALS, lambda c: c.method == "smc" and not c.is_telescoping),
    "mh_rows": Option("Compare on", _ACCEPT, lambda c: c.method == "mh" and not c.has_programs),
    "restart": Option("Chance of a fresh draw", _ACCEPT, lambda c: c.is_filtered),
    "tempering": Option("Tempering", _WEIGHTS, lambda c: c.method == "smc", values=_TEMPERING),
    "beta_start": Option("First β", _WEIGHTS, lambda c: c.method == "smc" and c.schedule != "adaptive"),
    "final_weights": Option("Final weights", _WEIGHTS, lambda c: c.method == "smc"),
    "buffer_size": Option("Buffer B", _WEIGHTS, lambda c: c.scored_on == "buffer"),
    "tau": Option("Regression’s τ", _LIKELIHOOD, lambda c: c.is_weighted or c.is_filtered, "regression"),
    "likelihood": Option(
        "Likelihood uses",
        _LIKELIHOOD,
        task="classification",
        values={name: words for name, (words, _) in GRADINGS.items()},
    ),
    "learner_samples": Option("Answers per row", _LIKELIHOOD, task="classification"),
    "epsilon": Option("Classification’s ε", _LIKELIHOOD, task="classification"),
    "abstention_cost": Option("Cost of “I don’t know”", _DOUBT, task="classification"),
    "coverage": Option("Coverage of calibrated answers", _DOUBT),
}
"""Every option of Config, in the order of a form."""
OPEN = tuple(name for name, option in OPTIONS.items() if not option.group)


class MethodWords(NamedTuple):
    name: str
    short: str
    about: str


METHODS: Mapping[Method, MethodWords] = {
    "smc": MethodWords(
        "Sequential Monte Carlo", "SMC", "Weighs, copies and rewrites K hypotheses. The default, best on hard rules."
    ),
    "mh": MethodWords("Metropolis-Hastings", "MH", "K chains with an accept/reject step for every change."),
    "always-accept": MethodWords(
        "Always accept", "Always accept", "K chains that keep every change, without an accept/reject step."
    ),
    "vml": MethodWords(
        "Verbalized Machine Learning", "VML", "One hypothesis, every change kept: a baseline without uncertainty."
    ),
    "vml5": MethodWords("Five VML runs", "5 × VML", "Five VML runs, averaged without weights."),
    "weigh": MethodWords(
        "Score my own hypotheses",
        "Weigh",
        "Weighs your own hypotheses on every row, with the evidence. Nothing is rewritten, no row is held out.",
    ),
}


def demo_text_words(dataset: Dataset) -> str:
    texts = [column.name for column in dataset.columns if column.kind == "text" and column.name in dataset.inputs]
    return f"The demo model cannot read free text, such as {listed(texts, most=3)}." if texts else ""


def groups() -> dict[str, tuple[str, ...]]:
    titles = dict.fromkeys(option.group for option in OPTIONS.values() if option.group)
    return {title: tuple(name for name, option in OPTIONS.items() if option.group == title) for title in titles}


def value_words(option: str, value: str) -> str:
    """Return a value as a form shows it: `batch: the current batch`."""
    return f"{value}: {OPTIONS[option].values[value]}"


def has_effect(option: str, config: Config, task: Task | None = None) -> bool:
    """True if an option changes a run with these options, on targets of this kind."""
    own = OPTIONS[option]
    return own.needs(config) and (task is None or own.task in (None, task))


def changed_words(config: Config, task: Task | None = None) -> tuple[str, ...]:
    """Return the reading and the grouped options that have an effect and another value: `restart 0.5`."""
    values = {
        name: getattr(config, name)
        for name in ("reading", *chain(*groups().values()))
        if getattr(config, name) != getattr(Config(), name) and has_effect(name, config, task)
    }
    return tuple(f"{name.replace('_', ' ')} {value}" for name, value in values.items())


DECIDERS = ("method", "likelihood", "learner_samples", "reading", "tempering", "mutate", "mh_rows", "restart")
"""Options that decide whether others have an effect, each after those it depends on."""


def decided(values: Mapping[str, Any], base: Config, task: Task | None = None) -> Config:
    """Apply to `base` the values that decide whether other options have an effect; leave out one that it refuses."""
    config = base
    for name in DECIDERS:
        if name in values and has_effect(name, config, task):
            with suppress(InputError):
                config = replace(config, **{name: values[name]})
    return config


def config_of(values: Mapping[str, Any], base: Config, task: Task | None = None) -> Config:
    """Apply to `base` the values that have an effect. Raises InputError."""
    deciding = decided(values, base, task)
    return replace(base, **{name: value for name, value in values.items() if has_effect(name, deciding, task)})


def unused_words(given: Collection[str], config: Config, task: Task) -> str:
    """`--particles and --tempering`: options that were given and change nothing."""
    names = (each.name for each in fields(config) if each.name in given)
    return listed([f"--{name.replace('_', '-')}" for name in names if not has_effect(name, config, task)])
