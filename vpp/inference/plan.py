"""Plan of a run: upper bounds of its calls and sequential rounds, before anything is sent."""

from bisect import bisect_right
from dataclasses import dataclass, replace

from vpp.problem import batch_length
from vpp.settings import Config

OPTIMIZER = ("First hypotheses", "Proposals", "Newcomers, where K grows")
GUESSED = "Predictions ahead, perhaps not needed"
ENDING_ROUNDS = 1
"""Final weights, test rows and training rows share one round."""
PATIENCE = 3
"""Consecutive steps with the same sign before K changes."""
SCORED = {
    "batch": "Predictions, each batch",
    "buffer": "Predictions, rolling buffer",
    "train": "Predictions, all training rows",
}
"""Name of the calls that score particles, by the rows that they are scored on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Calls and rounds at most; answers are remembered, so runs with repeated texts need fewer."""

    steps: int
    items: tuple[tuple[str, int], ...]
    """(what, calls) in the order of the work."""
    optimizer_calls: int
    least_learner_calls: int
    """Learner calls if all particles hold the same text throughout: one a row."""
    least_optimizer_calls: int
    rounds: int
    """Sequential rounds, each of which waits for the one before."""
    rounds_plain: int
    """Sequential rounds without prefetching."""

    @property
    def learner_calls(self) -> int:
        """Calls of the learner."""
        return self.calls - self.optimizer_calls

    @property
    def least_calls(self) -> int:
        """Calls at least, of both roles."""
        return self.least_learner_calls + self.least_optimizer_calls

    @property
    def calls(self) -> int:
        """Calls of both roles."""
        return sum(calls for _, calls in self.items)


def plan(
    config: Config, *, n_train: int, n_test: int, n_calibration: int = 0, given: int = 0, is_prefetched: bool = False
) -> Plan:
    """Plan the whole run on so many rows of each part. Answers are remembered by (hypothesis, row).

    given: first hypotheses that take no call. is_prefetched: whether chains guess their next forward pass, which takes
    fewer rounds and more calls.
    """
    config = _within_budget(config, n_train, n_test, n_calibration)
    k, steps = config.largest_size, config.epochs * -(-n_train // config.batch_size)
    drawn = max(0, config.size - given) if config.draws_initial else 0
    proposals = 0 if config.is_weighing else k * steps
    first_batch = config.learner_calls(min(config.batch_size, n_train)) if config.initial == "batch" else 0
    growths = steps // PATIENCE if config.particles_max else 0
    looks = (steps - 1) // config.evaluate_every if config.evaluate_every else 0
    guessed = _guessed(config, steps, n_train) if is_prefetched else 0
    every = (
        ("Predictions, first batch", first_batch * (drawn > 0)),
        ("First hypotheses", drawn),
        (SCORED[config.scored_on], k * sum(_scoring_calls(config, t, n_train) for t in range(steps))),
        ("Proposals", proposals),
        ("Predictions, each proposal", k * sum(_judging_calls(config, t, n_train) for t in range(steps))),
        ("Predictions, for newcomers", growths * first_batch),
        ("Newcomers, where K grows", growths * -(-k // 2)),
        ("Test rows, along the way", looks * k * config.learner_calls(n_test)),
        ("Final weights", k * _final_calls(config, n_train)),
        ("Test rows", k * config.learner_calls(n_test)),
        ("Calibration rows", k * config.learner_calls(n_calibration)),
        ("Training rows, for the summary", 0 if config.is_weighing else k * config.learner_calls(n_train)),
        (GUESSED, guessed),
    )
    rounds = first_rounds(config, given=given) + growths * first_rounds(config)
    rounds += sum(step_rounds(config, t, n_train=n_train) for t in range(steps))
    rounds += ending_rounds(config, n_test=n_test) + looks * waits_for_looks(config)
    return Plan(
        steps=steps,
        items=tuple((what, calls) for what, calls in every if calls),
        optimizer_calls=sum(calls for what, calls in every if what in OPTIMIZER),
        least_learner_calls=sum(config.learner_calls(n) for n in (n_train, n_test, n_calibration))
        * (k if config.is_weighing else 1),
        least_optimizer_calls=drawn + _least_proposals(config, steps),
        rounds=rounds - (steps - 1) if guessed else rounds,
        rounds_plain=rounds,
    )


def affordable_size(config: Config, wanted: int, *, n_train: int, n_test: int, n_calibration: int = 0) -> int:
    """Largest K up to `wanted` at which the whole run stays within the budget of calls; at least the initial K."""

    def calls(size: int) -> int:
        fixed = replace(config, particles=size, particles_min=1, particles_max=0, growth_budget=0)
        return plan(fixed, n_train=n_train, n_test=n_test, n_calibration=n_calibration).calls

    larger = range(config.size + 1, wanted + 1)
    return config.size + bisect_right(larger, config.growth_budget, key=calls)


def _within_budget(config: Config, n_train: int, n_test: int, n_calibration: int) -> Config:
    """The options, with `particles_max` reduced to what the budget allows."""
    if not (config.particles_max and config.growth_budget):
        return config
    rows = {"n_train": n_train, "n_test": n_test, "n_calibration": n_calibration}
    largest = affordable_size(config, config.particles_max, **rows)
    return replace(config, particles_max=largest, growth_budget=0)


def first_rounds(config: Config, *, given: int = 0) -> int:
    """Rounds that draw the first hypotheses, or newcomers as K grows: none for VML and where all are given.

    A draw from the prior needs no predictions.
    """
    if given >= config.size or not config.draws_initial:
        return 0
    return 1 if config.initial == "prior" else 2


def ending_rounds(config: Config, *, n_test: int) -> int:
    """Rounds of the final weights and evaluations: none if all rows have been weighed already."""
    return 0 if config.is_weighing and not n_test else ENDING_ROUNDS


def may_be_prefetched(config: Config) -> bool:
    """True if a chain may guess its next forward pass before its accept step has decided."""
    return config.method == "mh" and config.scored_on != "train" and config.may_run_ahead


def _guessed(config: Config, steps: int, n_train: int) -> int:
    """Calls at most for guesses about texts that lose: one text a chain and step."""
    if not may_be_prefetched(config):
        return 0
    return config.size * sum(config.learner_calls(_scored_rows(config, t, n_train)) for t in range(1, steps))


def waits_for_looks(config: Config) -> bool:
    """True if an evaluation along the way takes a round of its own; else the next step's calls run beside it."""
    return config.is_telescoping or not config.may_run_ahead


def step_rounds(config: Config, step: int, *, n_train: int) -> int:
    """Sequential rounds of one step: forward pass, proposal, accept step."""
    batch = batch_length(step, n_train=n_train, batch_size=config.batch_size)
    is_known = config.is_on_fixed_rows and step > 0  # whatever was kept was scored on the same rows
    # A buffer shorter than the batch does not hold the predictions that the optimizer is shown.
    looks_again = _scored_rows(config, step, n_train) < batch
    return (not is_known) + looks_again + (not config.is_weighing) + config.is_filtered


def _scored_rows(config: Config, step: int, n_train: int) -> int:
    """Number of rows on which a step scores each particle (`Problem.scored_rows`)."""
    batch = batch_length(step, n_train=n_train, batch_size=config.batch_size)
    if config.is_on_fixed_rows:
        return n_train
    if config.scored_on == "buffer":
        epochs, batches = divmod(step + 1, -(-n_train // config.batch_size))
        seen = epochs * n_train + min(batches * config.batch_size, n_train)
        return min(seen, config.buffer_size, n_train if config.deduplicate_buffer else seen)
    return batch


def _scoring_calls(config: Config, step: int, n_train: int) -> int:
    """Calls for one particle's forward pass."""
    if config.is_on_fixed_rows:
        return config.learner_calls(n_train) if step == 0 else 0
    batch = batch_length(step, n_train=n_train, batch_size=config.batch_size)
    if config.method == "smc" and config.is_filtered and step and not config.particles_max:
        # The accept step of the step before has scored each text on its buffer: the batch alone is new.
        return config.learner_calls(batch)
    rows = _scored_rows(config, step, n_train)
    return (
        config.learner_calls(rows) if rows >= batch else config.learner_calls(rows) + config.learner_calls(batch - rows)
    )


def _judging_calls(config: Config, step: int, n_train: int) -> int:
    """Calls for one proposal's accept step."""
    return config.learner_calls(_scored_rows(config, step, n_train)) if config.is_filtered else 0


def _final_calls(config: Config, n_train: int) -> int:
    """Calls for the final weight of one text."""
    if not config.is_rescored:
        return 0
    seen = n_train if config.deduplicate_buffer else n_train * config.epochs
    return config.learner_calls(n_train if config.final_weights == "train" else min(config.buffer_size, seen))


def _least_proposals(config: Config, steps: int) -> int:
    """Proposals at least: one a particle and step, unless only copies are rewritten."""
    if config.is_weighing:
        return 0
    least = min(config.size, config.particles_min) if config.particles_max else config.size
    rewrites_all = config.method != "smc" or config.mutate != "duplicates" or config.is_telescoping
    return least * steps * rewrites_all


def step_calls(config: Config, step: int, *, n_train: int) -> tuple[int, int]:
    """(learner, optimizer) calls of one step at most, without newcomers and evaluations along the way."""
    k = config.largest_size
    learner = k * (_scoring_calls(config, step, n_train) + _judging_calls(config, step, n_train))
    return learner, 0 if config.is_weighing else k
