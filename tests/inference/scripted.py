"""A small world in memory: 16 hypotheses, a learner and an optimizer that are pure functions of their arguments.

Class labels come from thresholds and numbers from slopes; some answers are abstentions, some proposals are
unparsable or repeat the parent, so that every branch of a sampler is taken.
"""

import asyncio
import hashlib
import json
import random
from dataclasses import dataclass, field, replace

from tests.reporting.builders import dataset
from vpp.data.dataset import Row
from vpp.events import StepFinished, hypothesis_id
from vpp.inference import sample
from vpp.inference.sampling import conclude
from vpp.llm.learner import graded
from vpp.problem import Prediction, Problem, Proposal
from vpp.runs.view import RunView, add, population_of
from vpp.settings import preset

SEED_TEXT = "You predict y."
SIZE = 16
TEXTS = tuple(f"{SEED_TEXT} h{index}" for index in range(SIZE))
FAULT = "no rule under the heading"


def digest(*parts):
    """A number in [0, 2^64) that depends on every part."""
    return int(hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16], 16)


def index_of(text):
    """The hypothesis' number in the space; any other text is placed by its hash."""
    return TEXTS.index(text) if text in TEXTS else digest(text) % SIZE


def answer(text, row, *, task):
    """f(x; theta): None is an abstention."""
    j, x = index_of(text), int(row.inputs[0][1])
    if (7 * j + row.id) % 19 == 0:
        return None
    if task == "classification":
        return "yes" if x * 3 % 17 < j else "no"
    return (j - 6) * x / 40


def grade(text, row):
    """Known probabilities of both labels, which may sum to less than 1; None where the answer is an abstention."""
    if answer(text, row, task="classification") is None:
        return None
    draw = digest("grade", index_of(text), row.id) % 100 / 100
    return {"no": 0.95 * draw, "yes": 0.95 - 0.95 * draw}


def rewrite(text, rows, predictions, temperature, seed):
    """f_opt(theta, batch): (text or None, raw). Depends on every argument."""
    draw = digest(text, [row.id for row in rows], [p.value for p in predictions], temperature, seed)
    kind, target = draw % 10, draw // 10 % SIZE
    if kind == 0:
        return None, f"I would rather not ({draw})."
    if kind == 1:
        return text, f"Keep it ({draw})."
    # Most moves go towards fewer errors, as a model's would: the best of two draws on the batch.
    rival = draw // 1000 % SIZE
    best = max(target, rival, key=lambda j: sum(_near(TEXTS[j], row) for row in rows))
    return TEXTS[best], f"New rule ({draw})."


def rewrite_anew(text, rows, predictions, temperature, seed):
    """Like `rewrite`, but every text is new."""
    name = digest(text, [row.id for row in rows], [p.value for p in predictions], temperature, seed)
    return f"{SEED_TEXT} new {name}", f"raw {name}"


def uniformly(temperature, seed):
    """Any of the 16 hypotheses with equal chance: the prior of the enumerable space."""
    return TEXTS[digest("uniform", seed) % SIZE], "raw"


def _near(text, row):
    task = "classification" if isinstance(row.target, str) else "regression"
    value = answer(text, row, task=task)
    if value is None or isinstance(value, str):
        return float(value == row.target)
    return -abs(value - row.target)


def make_dataset(task, *, n_train=20, n_test=7):
    """Rows with one input x. Ids start at 100 and the test rows come first, so that no id equals a position."""

    def row(index):
        noisy = digest("noise", index) % 8 == 0
        if task == "classification":
            target = "yes" if (index * 3 % 17 < 9) != noisy else "no"
        else:
            target = (9 - 6) * index / 40 + digest("noise", index) % 100 / 50 - 1
        return Row(id=100 + index, inputs=(("x", str(index)),), target=target)

    rows = tuple(row(index) for index in range(n_test + n_train))
    plain = dataset(["no", "yes"] if task == "classification" else [0.0], [])
    return replace(plain, name="scripted", columns=(), inputs=("x",), train=rows[n_test:], test=rows[:n_test])


@dataclass
class Script:
    """Both roles at once, with a record of what they were asked."""

    task: str
    write: object = rewrite
    delay: object = None
    """Awaited, without arguments, by every call."""
    memo: bool = False
    answer: object = answer
    grade: object = None
    """Labels' probabilities by (hypothesis, row); None for answers without."""
    imagine: object = uniformly
    """A draw from the prior, as (temperature, seed) -> (text, raw)."""
    predicted: list = field(default_factory=list)
    """(hypothesis, row ids) of every `predict`."""
    proposed: list = field(default_factory=list)
    """Every `propose`, as (hypothesis, row ids, predicted values, temperature, seed)."""
    drawn: list = field(default_factory=list)
    """Every `draw`, as (temperature, seed)."""
    asked: int = 0
    """Learner calls, one a row; a memo answers without a call."""
    running: int = 0
    known: dict = field(default_factory=dict)
    """The future of each answer, by (hypothesis, row id), if there is a memo."""

    @property
    def calls(self):
        return self.asked + len(self.proposed) + len(self.drawn)

    async def predict(self, hypothesis, rows):
        self.predicted.append((hypothesis, tuple(row.id for row in rows)))
        if self.memo:
            await self._once({(hypothesis, row.id) for row in rows})
        else:
            self.asked += len(rows)
            await self._wait()
        return tuple(self._prediction(hypothesis, row) for row in rows)

    async def _once(self, questions):
        """Ask what nobody has asked; wait for what others have."""
        if new := questions - self.known.keys():
            self.asked += len(new)
            answered = asyncio.get_running_loop().create_future()
            self.known.update(dict.fromkeys(new, answered))
            await self._wait()
            answered.set_result(None)
        if waiting := {self.known[each] for each in questions if not self.known[each].done()}:
            await asyncio.wait(waiting)

    def _prediction(self, hypothesis, row):
        if self.grade and (shares := self.grade(hypothesis, row)):
            return graded(row.id, shares)
        return Prediction(row=row.id, value=self.answer(hypothesis, row, task=self.task))

    async def propose(self, hypothesis, rows, predictions, *, temperature, seed):
        values = tuple(p.value for p in predictions)
        self.proposed.append((hypothesis, tuple(row.id for row in rows), values, temperature, seed))
        await self._wait()
        text, raw = self.write(hypothesis, rows, predictions, temperature, seed)
        return Proposal(text=text, raw=raw, temperature=temperature, seed=seed, reason=None if text else FAULT)

    async def draw(self, *, temperature, seed):
        self.drawn.append((temperature, seed))
        await self._wait()
        text, raw = self.imagine(temperature, seed)
        return Proposal(text=text, raw=raw, temperature=temperature, seed=seed, reason=None if text else FAULT)

    async def _wait(self):
        if self.delay is None:
            return
        self.running += 1
        try:
            await self.delay()
        finally:
            self.running -= 1


def jitter(order):
    """A delay that gives way to the loop a random number of times, decided by `order`."""
    numbers = random.Random(order)

    async def delay():
        for _ in range(numbers.randrange(12)):
            await asyncio.sleep(0)

    return delay


def make_problem(config, script, *, dataset=None, **sizes):
    dataset = dataset or make_dataset(script.task, **sizes)
    return Problem(
        dataset=dataset,
        learner=script,
        optimizer=script,
        seed_text=SEED_TEXT,
        batch_size=config.batch_size,
        epochs=config.epochs,
        seed=config.seed,
        buffer_repeats=config.final_weights == "paper",
    )


VARIANTS = {
    "vml": {},
    "vml5": {},
    "always-accept": {},
    "mh": {},
    "mh on the buffer": {"mh_rows": "buffer"},
    "mh on all rows": {"mh_rows": "train"},
    "mh with restarts": {"restart": 0.5},
    "mh from the prior": {"restart": 1.0},
    "smc": {},
    "smc filtered": {"mutate": "filtered", "restart": 0.3},
    "smc deduplicated": {"final_weights": "rescored"},
    "smc incremental": {"tempering": "incremental"},
    "smc adaptive": {"tempering": "adaptive", "restart": 0.3},
}
"""Every way a step can go, by the words that name its method first."""


def variant(name, **options):
    """The preset `paper`, small, with a variant's options."""
    return paper(method=name.split()[0], **{**VARIANTS[name], **options})


def paper(**options):
    return replace(preset("paper"), **{"particles": 5, "batch_size": 5, "buffer_size": 12, **options})


async def collect(events):
    return [event async for event in events]


def run(problem, config, **resume):
    return asyncio.run(collect(sample(problem, config, **resume)))


def run_conclusion(problem, config, population):
    return asyncio.run(collect(conclude(problem, config, population)))


async def whole(problem, config):
    """A run from its first event to its last: (its events, those after the last step)."""
    events = await collect(sample(problem, config))
    return events, await collect(conclude(problem, config, populations(events)[-1]))


def whole_run(config, script, *, start_texts=(), n_train=18):
    return asyncio.run(whole(replace(make_problem(config, script, n_train=n_train), start_texts=start_texts), config))


def populations(events):
    """The population after each step, folded from the events as a resume does it."""
    view, found = RunView(), []
    for event in events:
        add(view, event)
        if isinstance(event, StepFinished):
            found.append(population_of(view))
    assert all(hypothesis_id(text) == key for key, text in view.texts.items())
    return found


def of_kind(events, kind, **where):
    return [e for e in events if isinstance(e, kind) and all(getattr(e, k) == v for k, v in where.items())]
