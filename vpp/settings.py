"""What can be set: the method's options, and where a machine keeps things."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from vpp.errors import InputError

Method = Literal["smc", "mh", "vml"]
Preset = Literal["recommended", "paper"]
FinalWeights = Literal["paper", "rescored", "train"]
HOTTEST = 2.0
"""The highest sampling temperature that servers take."""
METHOD_NAMES: Mapping[str, str] = {
    "smc": "Sequential Monte Carlo",
    "mh": "Metropolis-Hastings",
    "vml": "Verbalized Machine Learning",
}


def _option(default: Any, doc: str) -> Any:
    return field(default=default, metadata={"doc": doc})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every option of the method. Defaults are the preset `recommended`."""

    method: Method = _option("smc", "sampler: smc (Algorithm 2), mh (Algorithm 1) or vml (one hypothesis)")
    particles: int = _option(10, "K, the number of particles; vml always has one")
    epochs: int = _option(2, "passes over the training rows")
    batch_size: int = _option(10, "M, rows a step")
    seed: int = _option(0, "decides the split, the batches, every random number and the models' seeds")
    prior: str = _option("", "what you already believe, in plain words; becomes part of every hypothesis")
    buffer_size: int = _option(40, "B, the last rows seen, on which smc weighs particles")
    beta_start: float = _option(10.0, "first tempering divisor of the log-likelihood; 10 is flat")
    beta_end: float = _option(1.0, "last tempering divisor; 1 is the likelihood itself")
    ess_threshold: float = _option(0.5, "smc resamples when ESS falls below this fraction of K")
    tau: str = _option("auto", "regression's tau in squared units of the target, or auto: from the first batch")
    epsilon: float = _option(0.05, "mass of a wrong answer in classification's likelihood")
    final_weights: FinalWeights = _option(
        "rescored", "smc's last weights: rescored on the buffer, on all training rows (train), or the paper's"
    )
    optimizer_temperature: float = _option(0.7, "sampling temperature of mh's and vml's proposals")
    cautious_temperature: float = _option(0.3, "sampling temperature of smc's mutations at or above the median")
    bold_temperature: float = _option(1.0, "sampling temperature of smc's mutations below the median")
    initial_temperature_low: float = _option(0.3, "sampling temperature of the first initial particle")
    initial_temperature_high: float = _option(1.2, "sampling temperature of the last initial particle")
    evaluate_every: int = _option(0, "evaluate the test rows every n steps; 0: only at the end")

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", str(self.tau))  # a number is as good as its text
        _check_choices(self)
        for name, low in (
            ("particles", 1),
            ("epochs", 1),
            ("batch_size", 1),
            ("buffer_size", 1),
            ("evaluate_every", 0),
            ("seed", 0),
        ):
            if getattr(self, name) < low:
                raise InputError(f"{name} is {getattr(self, name)}: it must be at least {low}")
        _check_numbers(self)

    @property
    def size(self) -> int:
        """Number of particles the method really keeps."""
        return 1 if self.method == "vml" else self.particles

    @property
    def fixed_tau(self) -> float | None:
        """tau where it was given, None where it comes from the data."""
        return None if self.tau == "auto" else float(self.tau)

    def beta(self, step: int, *, steps: int) -> float:
        """Tempering divisor of a step: linear from `beta_start` to `beta_end` over steps 0..T-1 (choice 2)."""
        if steps == 1:
            return self.beta_end
        return self.beta_start + (self.beta_end - self.beta_start) * step / (steps - 1)


def _check_choices(config: Config) -> None:
    for name, kind in (("method", Method), ("final_weights", FinalWeights)):
        if getattr(config, name) not in get_args(kind):
            raise InputError(f"{name} is {getattr(config, name)!r}: choose one of {', '.join(get_args(kind))}")


def _check_numbers(config: Config) -> None:
    for option in fields(config):
        value = getattr(config, option.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{option.name} is {value}: it must be a finite number")
        if option.name.endswith(("temperature", "_low", "_high")) and not 0 <= value <= HOTTEST:
            raise InputError(f"{option.name} is {value}: a sampling temperature lies between 0 and {HOTTEST:g}")
    if not 0 < config.epsilon < 1:
        raise InputError(f"epsilon is {config.epsilon}: it must lie between 0 and 1")
    if min(config.beta_start, config.beta_end) <= 0:
        raise InputError("beta divides the log-likelihood: beta_start and beta_end must be positive")
    if not 0 <= config.ess_threshold <= 1:
        raise InputError(f"ess_threshold is {config.ess_threshold}: it is a fraction of K, between 0 and 1")
    if config.tau != "auto" and not _is_positive(config.tau):
        raise InputError(f"tau is {config.tau!r}: give a positive number, or auto")


def _is_positive(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and value > 0


def preset(name: Preset) -> Config:
    """The two presets of the method: `paper` as published, `recommended` as this product advises."""
    if name not in get_args(Preset):
        raise InputError(f"preset is {name!r}: choose one of {', '.join(get_args(Preset))}")
    return Config() if name == "recommended" else replace(Config(), final_weights="paper", tau="1.0")


def option_docs() -> dict[str, str]:
    """What each option means, by name."""
    return {f.name: f.metadata["doc"] for f in fields(Config)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Where this machine keeps runs, and which endpoint it uses unless told otherwise."""

    runs_dir: Path
    cache_dir: Path
    base_url: str | None
    model: str | None
    api_key: str | None = field(repr=False)
    max_running: int

    @classmethod
    def read(cls, dotenv: Mapping[str, str] | None = None) -> "Environment":
        """From the process's environment, then `dotenv`, then defaults."""
        values = {**(dotenv or {}), **os.environ}
        runs_dir = Path(values.get("VPP_RUNS_DIR") or "runs")
        return cls(
            runs_dir=runs_dir,
            cache_dir=Path(values.get("VPP_CACHE_DIR") or runs_dir / ".cache"),
            base_url=values.get("OPENAI_BASE_URL") or None,
            model=values.get("VPP_MODEL") or None,
            api_key=values.get("OPENAI_API_KEY") or None,
            max_running=_positive_int(values, "VPP_MAX_RUNNING", default=2),
        )


def _positive_int(values: Mapping[str, str], name: str, *, default: int) -> int:
    text = values.get(name) or str(default)
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{name} is {text!r}: it must be a whole number of at least 1")
    return int(text)
