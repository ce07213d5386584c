"""A population read back from the journal goes on as if the run had never stopped, for every way a step can go."""

from itertools import pairwise

import pytest

from tests.inference import scripted
from vpp.events import Event, StepFinished, Usage
from vpp.runs.journal import Record, decode, encode
from vpp.runs.view import fold, population_of
from vpp.settings import Config

VARIANTS = {
    **{name: scripted.variant(name, seed=5) for name in scripted.VARIANTS},
    "smc that grows and shrinks": scripted.paper(method="smc", particles=4, particles_max=9, epochs=9, epsilon=0.4),
    "mh that grows and shrinks": scripted.paper(method="mh", particles=4, particles_max=9, epochs=9, epsilon=0.45),
    "always-accept that grows and shrinks": scripted.paper(
        method="always-accept", particles=4, particles_max=9, epochs=9, epsilon=0.45
    ),
}
N_TRAIN = 18


def script(config: Config) -> scripted.Script:
    """The scripted world; where K changes, one in which all agree for some steps and few ideas are left for others."""
    if config.epochs < 9:
        return scripted.Script("classification", memo=True)
    opposite = {"yes": "no", "no": "yes"}
    problem = scripted.make_problem(config, scripted.Script("classification"), n_train=N_TRAIN)
    step_of = {tuple(row.id for row in problem.batch(t)): t for t in range(problem.steps)}

    def answer(text, row, *, task):
        return row.target if "right" in text or (row.id + len(text)) % 2 else opposite[row.target]

    def write(text, rows, predictions, temperature, seed):
        draw = scripted.digest(text, temperature, seed)
        if draw % 17 == 0:
            return None, f"unread {draw}"
        if step_of[tuple(row.id for row in rows)] // 8 % 2 == 0:
            return f"{scripted.SEED_TEXT} wrong{'!' * (draw % 2)}", f"raw {draw}"
        return f"{scripted.SEED_TEXT} right {draw}", f"raw {draw}"

    return scripted.Script("classification", memo=True, answer=answer, write=write)


def restored(events: list[Event]):
    """Through the journal's bytes, with an event of the step that was cut short."""
    lines = [encode(Record(at=float(i), usage=Usage(), answers=0, event=e)) for i, e in enumerate(events)]
    return population_of(fold(decode(line) for line in lines))


def sizes(events: list[Event]) -> list[int]:
    return [len(e.population) for e in events if isinstance(e, StepFinished)]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_run_goes_on_from_its_journal_after_any_step(name: str) -> None:
    config = VARIANTS[name]
    first = script(config)
    problem = scripted.make_problem(config, first, n_train=N_TRAIN)
    events = scripted.run(problem, config)
    for index, event in enumerate(events):
        if not isinstance(event, StepFinished):
            continue
        population = restored(events[: index + 1])
        again = scripted.make_problem(config, script(config), n_train=N_TRAIN)
        assert scripted.run(again, config, resume_from=population) == events[index + 1 :]


def test_the_growing_runs_do_grow_shrink_and_grow_again() -> None:
    changes = set()
    for name in list(VARIANTS)[-3:]:
        config = VARIANTS[name]
        found = sizes(scripted.run(scripted.make_problem(config, script(config), n_train=N_TRAIN), config))
        steps = [after - before for before, after in pairwise(found) if after != before]
        changes |= {(name, step > 0) for step in steps}
    assert len(changes) == 6
