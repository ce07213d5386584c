"""Tables whose labels follow a known sentence of the demo model, and what the samplers make of them.

The demo model is called as a function, without prompts. Inputs have eight values each, so that the known sentence's
meaning can be found. A sentence is *true* if it answers like the known one on all rows, those of no run included;
sentences that answer alike there are one meaning, and their weights are added. A hypothesis is what Posterior shows as
one: meanings alike on 95 % of the rows. It is true if its text answers like the known sentence on as many.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from tests.inference.scripted import SEED_TEXT, Script, collect, make_dataset, make_problem, populations
from vpp.data.dataset import Dataset, Row
from vpp.demo.optimizer import OptimizerQuestion, PriorQuestion, propose
from vpp.demo.reading import read_rule
from vpp.demo.rules import Column, Rule, read_row
from vpp.events import Evaluated, Event, ParticleDrawn, Proposed, Reweighted
from vpp.findings.hypotheses import groups_at
from vpp.findings.points import points
from vpp.inference import sample
from vpp.inference.population import Population
from vpp.inference.sampling import conclude
from vpp.posterior.disagreement import NEAR, missing_mass, share_alike
from vpp.posterior.likelihood import IntegratedZeroOne
from vpp.posterior.weights import normalise
from vpp.problem import Prediction
from vpp.settings import Config

NAMES, LABELS = ("a", "b", "c"), ("no", "yes")
COLUMNS = tuple(Column(name, name, "number", (), may_miss=False) for name in NAMES)
NOISES = (0.0, 0.05, 0.1, 0.2, 0.3)
"""Shares of the labels that are flipped: a table's is decided by its seed."""
N_TRAIN = 100
Simulated = tuple[Dataset, str]
"""A table, and the sentence that made its labels."""
Inputs = tuple[tuple[str, str], ...]
Shares = tuple[tuple[float, bool], ...]
"""(weight, is true) of each."""


@lru_cache(maxsize=1_000)
def _rule(text: str) -> Rule | None:
    return read_rule(text, COLUMNS, LABELS).rule


def _lines(inputs: Inputs) -> str:
    return "\n".join(f"{name}: {value}" for name, value in inputs)


def answer(text: str, row: Row) -> str:
    return _answer(text, row.inputs)


@lru_cache(maxsize=100_000)
def _answer(text: str, inputs: Inputs) -> str:
    rule = _rule(text)
    label = rule.answer(read_row(_lines(inputs))) if rule else None
    return label if isinstance(label, str) else LABELS[0]


def write(text: str, rows: Sequence[Row], *, temperature: float, seed: int) -> str:
    """Return the demo model's next sentence."""
    targets = tuple(str(row.target) for row in rows)
    question = OptimizerQuestion(text, tuple(_lines(row.inputs) for row in rows), targets, LABELS)
    return said_to(question, temperature=temperature, seed=seed)


def said_to(question: OptimizerQuestion | PriorQuestion, *, temperature: float, seed: int) -> str:
    return f"{SEED_TEXT} {propose(question, temperature=temperature, seed=seed).rsplit('New rule:', 1)[1].strip()}"


def sentence(rows: Sequence[Row], rng: np.random.Generator) -> str:
    """Draw a sentence: fitted to eight rows with labels by chance, and each label is its answer on a fifth of all."""
    while True:
        some = [replace(rows[at], target=LABELS[i % 2]) for i, at in enumerate(rng.choice(len(rows), 8, replace=False))]
        text = write(SEED_TEXT, some, temperature=1.0, seed=int(rng.integers(2**32)))
        if 0.2 < np.mean([answer(text, row) == LABELS[0] for row in rows]) < 0.8:
            return text


def simulate(seed: int, *, unseen: int = 200) -> Simulated:
    rng = np.random.default_rng(seed)
    cells = 10 * rng.integers(1, 9, (N_TRAIN + unseen, len(NAMES)))
    rows = [Row(id=i, inputs=tuple(zip(NAMES, map(str, each), strict=True)), target="") for i, each in enumerate(cells)]
    truth = sentence(rows, rng)
    flips = rng.random(len(rows)) < NOISES[seed % len(NOISES)]
    labels = [LABELS[int((answer(truth, row) == LABELS[1]) != flip)] for row, flip in zip(rows, flips, strict=True)]
    rows = [replace(row, target=label) for row, label in zip(rows, labels, strict=True)]
    data: Dataset = make_dataset("classification")
    return replace(data, inputs=NAMES, train=tuple(rows[:N_TRAIN]), test=tuple(rows[N_TRAIN:])), truth


def demo() -> Script:
    """Both roles, which count a question once."""

    def rewrite(text: str, rows: Sequence[Row], said: Sequence[Prediction], temperature: float, seed: int) -> list[str]:
        return 2 * [write(text, rows, temperature=temperature, seed=seed)]

    def imagine(temperature: float, seed: int) -> list[str]:
        question = PriorQuestion(SEED_TEXT, tuple((name, "number") for name in NAMES), LABELS)
        return 2 * [said_to(question, temperature=temperature, seed=seed)]

    def read(text: str, row: Row, *, task: str) -> str:
        return answer(text, row)

    return Script("classification", write=rewrite, answer=read, imagine=imagine, memo=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Sentences and weights beside the truth."""

    meanings: Shares
    hypotheses: Shares
    accuracy: float  # of the weighted vote on the unseen rows
    log_score: float
    """Mean log p(y | x) on the unseen rows, each sentence with its own noise."""
    calls: int
    """Learner calls before the evaluation."""
    novelty: float = 0.0
    """Estimated probability that the known sentence was never written."""

    @property
    def is_found(self) -> bool:
        return any(is_true for _, is_true in self.meanings)


def judge(table: Simulated, texts: Sequence[str], weights: Sequence[float], *, calls: int = 0) -> Judged:
    """texts, weights: (K,) with copies."""
    data, known = table
    n, rows = len(data.train), (*data.train, *data.test)
    total: dict[tuple[str, ...], float] = defaultdict(float)
    shortest: dict[tuple[str, ...], int] = {}
    for text, weight in zip(texts, weights, strict=True):
        answers = tuple(answer(text, row) for row in rows)
        total[answers] += weight
        shortest[answers] = min(len(text), shortest.get(answers, len(text)))
    targets = [row.target for row in rows]
    vote, p = np.zeros(len(data.test)), np.zeros(len(data.test))
    for answers, weight in total.items():
        epsilon = IntegratedZeroOne().predictive(answers[:n], targets[:n]).epsilon
        right = np.array(answers[n:]) == np.array(targets[n:])
        vote += weight * right
        p += weight * np.where(right, 1 - epsilon, epsilon)
    truth = tuple(answer(known, row) for row in rows)
    ideas = sorted(total, key=lambda answers: -total[answers])
    groups = [[ideas[at] for at in group] for group in groups_at(share_alike(ideas))]
    # Posterior's text is that of the heaviest meaning, the shortest if several are
    faces = [min(group, key=lambda answers: (-round(total[answers], 9), shortest[answers])) for group in groups]
    return Judged(
        meanings=tuple((weight, answers == truth) for answers, weight in total.items()),
        hypotheses=tuple(
            (sum(total[answers] for answers in group), bool(share_alike([face, truth])[0, 1] >= NEAR))
            for group, face in zip(groups, faces, strict=True)
        ),
        accuracy=float((vote > 0.5).mean()),
        log_score=float(np.log(p).mean()),
        calls=calls,
    )


async def run_sampler(data: Dataset, config: Config) -> tuple[Population, list[str], list[Event], int]:
    """The last population, all texts written, the events of the run's end, and the learner's calls before it."""
    roles = demo()
    problem = make_problem(config, roles, dataset=data)
    events = await collect(sample(problem, config))
    last, calls = populations(events)[-1], roles.asked
    texts = [event.text for event in events if isinstance(event, ParticleDrawn | Proposed) and event.text]
    return last, texts, await collect(conclude(problem, config, last)), calls


def weigh(table: Simulated, texts: Sequence[str], *, n_rows: int) -> Judged:
    """Given sentences on the first training rows, each with the same prior."""
    rows = table[0].train[:n_rows]
    said, targets = [[answer(text, row) for row in rows] for text in texts], [row.target for row in rows]
    log_lik = [IntegratedZeroOne().log_likelihood(each, targets) for each in said]
    return judge(table, texts, normalise(log_lik).tolist())


def run(seed: int, config: Config) -> Judged:
    table = simulate(seed)
    last, texts, end, calls = asyncio.run(run_sampler(table[0], replace(config, seed=seed)))
    final = next((event.weights for event in end if isinstance(event, Reweighted)), last.weights.tolist())
    test = next(event for event in end if isinstance(event, Evaluated) and event.split == "test")
    right = [dict(point.shares)[str(point.row.target)] for point in points(test, table[0])]
    judged = judge(table, [p.text for p in last.particles], final, calls=calls)
    written = Counter(tuple(answer(text, row) for row in table[0].train) for text in texts)
    novelty = missing_mass([*written.values()], share_alike([*written]))
    return replace(judged, accuracy=test.value, log_score=float(np.mean(np.log(right))), novelty=novelty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """The result of a run on a table whose labels were shuffled."""

    heaviest: float  # weight of a sentence
    ess: float
    """Divided by the number of distinct sentences."""
    undecided: float  # share of the unseen rows
    commonest: float  # share of the training rows with the commonest label
    is_constant: bool  # all decided rows get that label


def run_on_chance(seed: int, config: Config) -> Chance:
    data, rng = simulate(seed)[0], np.random.default_rng([seed, 2])
    labels = rng.permutation([str(row.target) for row in (*data.train, *data.test)]).tolist()
    rows = [replace(row, target=label) for row, label in zip((*data.train, *data.test), labels, strict=True)]
    data = replace(data, train=tuple(rows[:N_TRAIN]), test=tuple(rows[N_TRAIN:]))
    last, _, end, _ = asyncio.run(run_sampler(data, replace(config, seed=seed)))
    final = next(event for event in end if isinstance(event, Reweighted))
    test = next(event for event in end if isinstance(event, Evaluated) and event.split == "test")
    weights: dict[str, float] = defaultdict(float)
    for particle, weight in zip(last.particles, final.weights, strict=True):
        weights[particle.text] += weight
    decisions = [point.decision for point in points(test, data)]
    ((label, n),) = Counter(row.target for row in data.train).most_common(1)
    return Chance(
        heaviest=max(weights.values()),
        ess=final.ess / len(weights),
        undecided=decisions.count(None) / len(decisions),
        commonest=n / N_TRAIN,
        is_constant={*decisions} <= {None, label},
    )
