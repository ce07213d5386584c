"""Cases of the campaign: a seed decides the method, the task, the fault, and the moment."""

import random
from dataclasses import dataclass
from typing import Literal

Part = Literal["before the first hypotheses", "among the first hypotheses", "in a step", "in the end"]
GARBLE_RATE = 0.15


@dataclass(frozen=True)
class Variant:
    """A small run: a method on a task."""

    name: str
    task: Literal["penguins", "linear"]
    words: tuple[str, ...]


SIZE = ("--particles=4", "--batch-size=5", "--train-size=20", "--test-size=8", "--epochs=1", "--seed=3")
"""Four steps."""
VARIANTS = (
    Variant("smc", "penguins", ()),
    Variant("smc, numbers", "linear", ()),
    Variant("mh", "penguins", ("--method", "mh")),
    Variant("mh, numbers, all rows", "linear", ("--method", "mh", "--mh-rows", "train")),
    Variant("vml", "penguins", ("--method", "vml", "--epochs", "2")),
    Variant("vml5, numbers", "linear", ("--method", "vml5")),
    Variant("smc, filtered, with restarts", "penguins", ("--mutate", "filtered", "--restart", "0.3")),
    Variant("smc, tempered", "penguins", ("--tempering", "incremental", "--beta-start", "100")),
    Variant("smc, adaptive, numbers", "linear", ("--tempering", "adaptive", "--beta-start", "100")),
    Variant("smc, growing", "penguins", ("--particles-max", "7", "--evaluate-every", "1")),
    Variant("smc, rows in packs", "penguins", ("--points-per-call", "3", "--final-weights", "train")),
)

FAULTS = (
    "worker killed",
    "worker killed twice",
    "web server and worker killed",
    "web server, worker and model killed",
    "web server killed",
    "worker stopped, then continued",
    "worker stopped, then killed",
    "paused, then killed",
    "stopped by its user",
    "disk full",
    "endpoint killed",
    "endpoint killed, worker gives up",
    "503 storm",
    "broken replies",
    "garbled answers, killed",
    "torn journal",
    "whole lines lost",
    "garbage behind the journal",
    "second worker",
    "control file of garbage",
)
SPOIL_THE_COUNT = ("endpoint", "503", "broken", "web server, worker and model", "stopped by")
"""Faults with calls that their model cannot count, or that an undisturbed run does not need: a stop's evaluation."""


@dataclass(frozen=True)
class Case:
    """One run and what becomes of it."""

    seed: int
    fault: str
    variant: Variant
    cached: bool
    """Whether its answers are cached."""
    part: Part
    """Where its moment is aimed at."""

    @property
    def garble_rate(self) -> float:
        """Of its model, and of the undisturbed run's that it is compared with."""
        return GARBLE_RATE if self.fault.startswith("garbled") else 0.0

    @property
    def counts_calls(self) -> bool:
        """Whether it can be told how many calls were sent again."""
        return self.cached and not self.fault.startswith(SPOIL_THE_COUNT)

    def chance(self) -> random.Random:
        """What the rest of the case is drawn from: the same numbers at each call."""
        return random.Random(f"torture {self.seed}")


def case_of(seed: int) -> Case:
    """Every fault once in as many seeds as there are faults; variants take turns with them."""
    chance = random.Random(f"case {seed}")
    return Case(
        seed=seed,
        fault=FAULTS[seed % len(FAULTS)],
        variant=VARIANTS[(seed + seed // len(FAULTS)) % len(VARIANTS)],
        cached=chance.random() < 0.75,
        part=chance.choices(
            ("before the first hypotheses", "among the first hypotheses", "in a step", "in the end"), (3, 7, 80, 10)
        )[0],
    )
