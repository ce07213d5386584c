"""What a run will take before it costs anything: calls and rounds, at most (method's table of calls)."""

from dataclasses import dataclass

from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Calls needed at most; repeated texts cost nothing, so runs usually need fewer."""

    steps: int
    items: tuple[tuple[str, int], ...]
    """(what, calls) in the order of the work."""
    optimizer_calls: int
    rounds: int
    """Rounds that must wait for one another."""

    @property
    def calls(self) -> int:
        """Calls of both roles."""
        return sum(calls for _, calls in self.items)


def plan(config: Config, *, n_train: int, n_test: int) -> Plan:
    """The plan of a whole run on `n_train` and `n_test` rows."""
    k, m = config.size, min(config.batch_size, n_train)
    batches = -(-n_train // config.batch_size)
    steps = config.epochs * batches
    batch_rows = config.epochs * n_train
    items, rounds = _FIRST[config.method](k, m)
    steps_items = _steps(config, k, m, steps, batch_rows)
    steps_rounds = steps * rounds_a_step(config, n_train=n_train)
    looks = (steps - 1) // config.evaluate_every if config.evaluate_every else 0
    along = [("Test rows, along the way", k * n_test * looks)] if looks else []
    final = _final(config, k, n_train, n_train * config.epochs)
    ending = [("Test rows", k * n_test), ("Training rows, for the summary", k * n_train)]
    optimizer_calls = sum(calls for what, calls in (*items, *steps_items) if what in _OPTIMIZER)
    return Plan(
        steps=steps,
        items=(*items, *steps_items, *along, *final, *ending),
        optimizer_calls=optimizer_calls,
        rounds=rounds + steps_rounds + looks + len(final) + len(ending),
    )


def rounds_a_step(config: Config, *, n_train: int) -> int:
    """Rounds of one step that must wait for one another."""
    if config.method == "mh":
        return 3
    # A buffer shorter than the batch does not hold the predictions that the optimizer is shown.
    return 3 if config.method == "smc" and config.buffer_size < min(config.batch_size, n_train) else 2


_OPTIMIZER = ("First hypotheses", "Proposals")
_Items = list[tuple[str, int]]


def _drawn(k: int, m: int) -> tuple[_Items, int]:
    return [("Predictions, first batch", m), ("First hypotheses", k)], 2


def _given(k: int, m: int) -> tuple[_Items, int]:
    return [], 0


_FIRST = {"smc": _drawn, "mh": _drawn, "vml": _given}


def _steps(config: Config, k: int, m: int, steps: int, batch_rows: int) -> _Items:
    """What the steps take, all together."""
    proposals = ("Proposals", k * steps)
    if config.method == "smc":
        buffer_rows = sum(max(m, min((t + 1) * m, config.buffer_size)) for t in range(steps))
        return [("Predictions, rolling buffer", k * buffer_rows), proposals]
    forward = ("Predictions, each batch", k * batch_rows)
    if config.method == "mh":
        return [forward, proposals, ("Predictions, each proposal", k * batch_rows)]
    return [forward, proposals]


def _final(config: Config, k: int, n_train: int, rows_seen: int) -> _Items:
    if config.method != "smc" or config.final_weights == "paper":
        return []
    rows = n_train if config.final_weights == "train" else min(config.buffer_size, rows_seen)
    return [("Final weights", k * rows)]
