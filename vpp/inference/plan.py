"""Plan of a run: upper bounds of its calls and sequential rounds, before anything is sent."""

from collections import Counter
from dataclasses import dataclass

from vpp.inference.sampling import MOST_CERTIFIED
from vpp.problem import batch_length, n_pool
from vpp.settings import Config

WRITTEN, PROGRAMS, ROWS = "Hypotheses written", "Programs", "Rows read by the learner"
"""Kinds of calls: of the optimizer, and of the learner for a hypothesis' program or for a row."""
NEW: dict[str, float] = {"smc": 0.5, "mh": 0.85}
"""Share of the learner calls between the fewest and the most that a run makes; 1 for methods without repeated texts.

The shipped examples made 0.44 and 0.54 (smc) and 0.86 (mh).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Calls and rounds at most; answers are remembered, so runs with repeated texts need fewer.

    A program is planned as one call: repairs, questions about texts and hypotheses read row by row come on top.
    """

    steps: int
    items: tuple[tuple[str, int], ...]
    """(kind, calls), without kinds that are not called."""
    least_learner_calls: int
    """Learner calls if all particles hold the same text throughout: one a row, or one for its program."""
    new: float = 1.0
    """Expected share of the learner calls between the fewest and the most."""
    rounds: int
    """Sequential rounds, each of which waits for the one before."""

    @property
    def optimizer_calls(self) -> int:
        return dict(self.items).get(WRITTEN, 0)

    @property
    def learner_calls(self) -> int:
        return self.calls - self.optimizer_calls

    @property
    def least_calls(self) -> int:
        return self.least_learner_calls + self.optimizer_calls

    @property
    def expected_share(self) -> float:
        """Share of the learner calls that are expected: a repeated text has its answers already."""
        most, least = self.learner_calls, min(self.least_learner_calls, self.learner_calls)
        return (least + self.new * (most - least)) / most if most else 1.0

    @property
    def expected_calls(self) -> float:
        return self.optimizer_calls + self.expected_share * self.learner_calls

    @property
    def calls(self) -> int:
        return sum(calls for _, calls in self.items)


def plan(config: Config, *, n_train: int, n_test: int, n_calibration: int = 0, given: int = 0) -> Plan:
    """Plan the whole run on so many rows of each part. Answers are remembered by (hypothesis, row).

    given: first hypotheses that take no call.
    """
    steps = config.epochs * -(-n_pool(config, n_train) // config.batch_size)
    drawn = max(0, config.size - given) if config.draws_initial else 0
    shows_batch = drawn > 0 and not _is_blind(config)
    n_shown = min(config.batch_size, n_train) * shows_batch
    items = Counter({WRITTEN: drawn, PROGRAMS: 0, ROWS: config.learner_samples * n_shown})
    for step in range(steps):
        items.update(step_items(config, step, n_train=n_train))
    items[ROWS] += ending_rows(config, n_train, n_test, n_calibration)
    least = config.size if config.is_weighing else 1
    if not config.has_programs:
        least *= config.learner_samples * (n_train + n_test + n_calibration)
    rounds = first_rounds(config, given=given) + ending_rounds(config, n_test=n_test)
    rounds += sum(step_rounds(config, step, n_train=n_train) for step in range(steps))
    return Plan(
        steps=steps,
        items=tuple((what, calls) for what, calls in items.items() if calls),
        least_learner_calls=least,
        new=NEW.get(config.method, 1.0),
        rounds=rounds,
    )


def step_items(config: Config, step: int, *, n_train: int) -> dict[str, int]:
    """Calls of one step at most, by kind.

    Programs take one translation a text, the first hypotheses' in the first step, and no call a row.
    """
    proposals = 0 if config.is_weighing else config.size
    if config.has_programs:
        return {PROGRAMS: proposals + config.size * (step == 0), WRITTEN: proposals}
    each, rows = config.size * config.learner_samples, _scored_rows(config, step, n_train)
    batch = batch_length(step, n_train=n_train, batch_size=config.batch_size)
    if config.scored_on == "train":
        n_scored = n_train * (step == 0)
    elif config.method == "smc" and config.is_filtered and step:
        n_scored = batch  # the accept step of the step before has scored each text on its buffer
    else:
        n_scored = max(rows, batch)
    ahead = rows * (step > 0 and _asks_both(config))
    return {ROWS: each * (n_scored + rows * config.is_filtered + ahead), WRITTEN: proposals}


def ending_rows(config: Config, n_train: int, n_test: int, n_calibration: int = 0) -> int:
    """Calls about rows at the end: final weights, test, calibration and training rows, or programs' certificates."""
    if config.has_programs:
        return certificate_calls(config, n_train, texts=config.size)
    n_final = 0
    if config.is_rescored and config.scored_on != "train":
        n_final = n_train if config.final_weights == "train" else min(config.buffer_size, n_train)
    n = n_final + n_test + n_calibration + n_train * (not config.is_weighing)
    return config.size * config.learner_samples * n


def certificate_calls(config: Config, n_train: int, *, texts: int) -> int:
    """Rows that the learner reads itself at the end, of the heaviest of so many texts."""
    return min(MOST_CERTIFIED, texts) * min(config.certify, n_train) if config.has_programs else 0


def first_rounds(config: Config, *, given: int = 0) -> int:
    """Rounds that draw the first hypotheses: none for VML and where all are given.

    A draw from the prior needs no predictions, and with programs the seed sentence, without a rule, has none.
    """
    if given >= config.size or not config.draws_initial:
        return 0
    return 1 if _is_blind(config) else 2


def _is_blind(config: Config) -> bool:
    """True if the first draw is shown no prediction."""
    return config.starts_from_prior or config.has_programs


def ending_rounds(config: Config, *, n_test: int) -> int:
    """Rounds of the final weights and evaluations, which share one: none if all rows have been weighed already.

    Programs need one if the last proposals are not translated yet, and one for the certificates.
    """
    if config.has_programs:
        is_known = config.is_filtered or config.is_weighing
        return (not is_known) + (config.certify > 0)
    return 0 if config.is_weighing and not n_test else 1


def _asks_both(config: Config) -> bool:
    """True if the next forward pass of a proposal and of its parent is asked for while the proposal is evaluated."""
    return config.method == "mh" and config.scored_on != "train"


def step_rounds(config: Config, step: int, *, n_train: int) -> int:
    """Sequential rounds of one step: forward pass, proposal, accept step."""
    batch = batch_length(step, n_train=n_train, batch_size=config.batch_size)
    # On fixed rows, whatever passed the accept step was scored on them before.
    is_known = step > 0 and ((config.scored_on == "train" and config.is_filtered) or _asks_both(config))
    # A buffer shorter than the batch does not hold the predictions that the optimizer is shown.
    looks_again = _scored_rows(config, step, n_train) < batch and not config.has_programs
    return (not is_known) + looks_again + (not config.is_weighing) + config.is_filtered


def _scored_rows(config: Config, step: int, n_train: int) -> int:
    batch = batch_length(step, n_train=n_train, batch_size=config.batch_size)
    if config.scored_on == "train":
        return n_train
    if config.scored_on == "buffer":
        epochs, batches = divmod(step + 1, -(-n_train // config.batch_size))
        seen = epochs * n_train + min(batches * config.batch_size, n_train)
        return min(seen, config.buffer_size, seen if config.final_weights == "paper" else n_train)
    return batch
