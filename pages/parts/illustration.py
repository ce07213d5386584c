"""A made-up run of five sentences and two steps, from which the gallery draws its pieces."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Literal

from vpp.data.dataset import Column, Dataset, Provenance, Row, Value
from vpp.events import (
    INITIAL_STEP,
    Evaluated,
    Event,
    ParticleDrawn,
    ParticleState,
    Proposed,
    Resampled,
    Reweighted,
    RunFinished,
    RunStarted,
    Scored,
    StepFinished,
)
from vpp.hypothesis import hypothesis_id
from vpp.posterior.weights import ess, normalise, tempered_log_weights
from vpp.runs.journal import Record
from vpp.runs.preparation import dataset_spec
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import RunView, fold
from vpp.settings import Config
from vpp.usage import Usage

SEED = "You tell oak leaves from elm leaves."
CONFIG = Config(method="smc", particles=5, batch_size=4, epochs=2, buffer_size=4, mutate="filtered")
TRUTH = ("oak", "elm", "oak", "elm")
"""Labels of the training rows 0 to 3, and again of the test rows 4 to 7."""
LOBES = "Output oak if the edge of the leaf has lobes, otherwise elm."
TEETH = "Output oak if the edge of the leaf has teeth, otherwise elm."
WIDTH = "Whatever is slender is an elm; broad ones are oaks."
LENGTH = "Output elm where a leaf is over 9 cm long."
BASE = "Output elm if the base is lopsided, otherwise oak."
STALK = "Output oak if the stalk is long."
OAK = "Always output oak."
EVEN = "Output elm if the base is even, otherwise oak."
SAID: dict[str, tuple[Value | None, ...]] = {
    LOBES: ("oak", "elm", "oak", "elm"),
    LENGTH: ("oak", "elm", "elm", "elm"),
    BASE: ("oak", "elm", "oak", "oak"),
    STALK: ("oak", "oak", None, "elm"),
    OAK: (None, "oak", "oak", None),
    TEETH: ("oak", "elm", "elm", "elm"),
    WIDTH: ("oak", "oak", "oak", "elm"),
    EVEN: ("elm", "oak", "elm", "elm"),
}
AT_FIRST = (TEETH, WIDTH, BASE, STALK, OAK)
THEN = (LOBES, LENGTH, BASE, STALK, OAK)
AT_LAST = (LOBES, LENGTH, BASE, STALK, LOBES)
BETA = 2.5


def _rows(first: int) -> tuple[Row, ...]:
    cells = (("lobes", "7.5"), ("teeth", "11"), ("lobes", "9.2"), ("teeth", "6"))
    return tuple(
        Row(id=first + i, inputs=(("edge", edge), ("length_cm", length)), target=truth)
        for i, ((edge, length), truth) in enumerate(zip(cells, TRUTH, strict=True))
    )


@cache
def dataset() -> Dataset:
    """Return the table of eight leaves."""
    return Dataset(
        name="leaves",
        target="tree",
        task="classification",
        columns=(
            Column(name="edge", kind="category", n_missing=0, n_distinct=2),
            Column(name="length_cm", kind="number", n_missing=0, n_distinct=4),
            Column(name="tree", kind="category", n_missing=0, n_distinct=2),
        ),
        inputs=("edge", "length_cm"),
        classes=("elm", "oak"),
        train=_rows(0),
        test=_rows(4),
        provenance=Provenance(
            file="", sha256="", delimiter=",", encoding="utf-8", n_rows=8, n_unlabelled=0, n_left_out=0
        ),
    )


@cache
def spec() -> RunSpec:
    """Return the settings of such a run."""
    return RunSpec(
        name="leaves", config=CONFIG, endpoint=EndpointSpec(model="illustration"), dataset=dataset_spec(dataset())
    )


@cache
def view() -> RunView:
    """Return the run's two steps, with every fate that a card can show."""
    events = [_started(), *_drawn(), _finished(INITIAL_STEP, AT_FIRST), *_step(0, AT_FIRST), *_proposals_first()]
    events += [_finished(0, THEN), *_step(1, THEN), _resampled(), *_proposals_then()]
    events += [_finished(1, AT_LAST, (0, 1, 2, 3, 0)), *_ending()]
    return fold(Record(at=float(i), usage=Usage(), answers=0, event=event) for i, event in enumerate(events))


def whole(words: str) -> str:
    """Return a hypothesis as in a run, after the sentence that all share."""
    return f"{SEED} {words}"


def _log_likelihood(words: str) -> float:
    """Log-likelihood of the four training rows; a wrong or missing answer has probability epsilon."""
    epsilon = CONFIG.epsilon
    right = [answer == truth for answer, truth in zip(SAID[words], TRUTH, strict=True)]
    return sum(math.log(1 - epsilon if hit else epsilon) for hit in right)


def _started() -> RunStarted:
    return RunStarted(
        config=asdict(CONFIG),
        dataset=dataset_spec(dataset()),
        seed_text=SEED,
        steps=2,
        templates={},
        versions={},
        models={"learner": "illustration", "optimizer": "illustration"},
    )


def _drawn() -> list[Event]:
    return [
        ParticleDrawn(
            particle=k, hypothesis=hypothesis_id(whole(words)), text=whole(words), temperature=0.3 + 0.2 * k, raw=words
        )
        for k, words in enumerate(AT_FIRST)
    ]


def _step(step: int, texts: Sequence[str]) -> list[Event]:
    """Score and reweight all texts on the same four rows."""
    scores: list[Event] = [_scored(step, k, words) for k, words in enumerate(texts)]
    return [*scores, _reweighted(step, texts, "step")]


def _scored(step: int, particle: int, words: str, role: Literal["forward", "proposal", "final"] = "forward") -> Scored:
    return Scored(
        step=step,
        particle=particle,
        hypothesis=hypothesis_id(whole(words)),
        role=role,
        rows=(0, 1, 2, 3),
        predictions=SAID[words],
        log_likelihood=_log_likelihood(words),
    )


def _reweighted(step: int, texts: Sequence[str], role: Literal["step", "final"]) -> Reweighted:
    logs = tempered_log_weights([_log_likelihood(words) for words in texts], beta=BETA)
    weights = normalise(logs)
    return Reweighted(
        step=step,
        beta=BETA,
        log_weights=tuple(map(float, logs)),
        weights=tuple(map(float, weights)),
        ess=ess(weights),
        role=role,
    )


def _resampled() -> Resampled:
    return Resampled(step=1, u=0.5, ancestors=(0, 1, 2, 3, 0))


def _proposals_first() -> list[Event]:
    return [
        *_judged(0, 0, TEETH, LOBES, u=0.4),
        *_judged(0, 1, WIDTH, LENGTH, u=0.7),
        *_judged(0, 2, BASE, EVEN, u=0.2),
        _kept(0, 3, STALK, "unchanged"),
        _kept(0, 4, OAK, "unparsable"),
    ]


def _proposals_then() -> list[Event]:
    return [
        _kept(1, 0, LOBES, "unchanged"),
        *_judged(1, 1, LENGTH, WIDTH, u=0.9),
        *_judged(1, 2, BASE, EVEN, u=0.6),
        _kept(1, 3, STALK, "unchanged"),
        *_judged(1, 4, LOBES, TEETH, u=0.3),
    ]


def _judged(step: int, particle: int, parent: str, words: str, *, u: float) -> list[Event]:
    """Return a proposal with its scores and the decision that follows."""
    log_alpha = min(0.0, _log_likelihood(words) - _log_likelihood(parent))
    decided = Proposed(
        step=step,
        particle=particle,
        parent=hypothesis_id(whole(parent)),
        proposal=hypothesis_id(whole(words)),
        text=whole(words),
        raw=f"New rule: {words}",
        temperature=0.3 if particle < 3 else 1.0,
        accepted=math.log(u) < log_alpha,
        why="likelihood",
        log_likelihood=_log_likelihood(parent),
        log_likelihood_proposal=_log_likelihood(words),
        log_alpha=log_alpha,
        u=u,
    )
    return [_scored(step, particle, words, "proposal"), decided]


def _kept(step: int, particle: int, words: str, why: Literal["unchanged", "unparsable"]) -> Proposed:
    """Return a proposal without a new text: unchanged, or unreadable."""
    is_same = why == "unchanged"
    return Proposed(
        step=step,
        particle=particle,
        parent=hypothesis_id(whole(words)),
        proposal=hypothesis_id(whole(words)) if is_same else None,
        text=whole(words) if is_same else None,
        raw=words if is_same else "Leaves differ.",
        temperature=1.0,
        accepted=False,
        why=why,
        reason=None if is_same else "the answer has no “New rule:” line",
    )


def _finished(step: int, texts: Sequence[str], parents: Sequence[int] = (0, 1, 2, 3, 4)) -> StepFinished:
    states = tuple(
        ParticleState(hypothesis=hypothesis_id(whole(words)), parent=parent, log_likelihood=None, log_weight=0.0)
        for words, parent in zip(texts, parents, strict=True)
    )
    return StepFinished(step=step, population=states, batch=(0, 1, 2, 3), tau=None)


def _ending() -> list[Event]:
    """Return the final weights, and each text's answers on the test rows."""
    scores: list[Event] = [_scored(1, k, words, "final") for k, words in enumerate(AT_LAST)]
    weighed = _reweighted(1, AT_LAST, "final")
    evaluated = Evaluated(
        step=1,
        split="test",
        rows=(4, 5, 6, 7),
        hypotheses=tuple(hypothesis_id(whole(words)) for words in AT_LAST),
        predictions=tuple(SAID[words] for words in AT_LAST),
        weights=weighed.weights,
        metric="accuracy",
        value=1.0,
    )
    return [*scores, weighed, evaluated, RunFinished(outcome="finished")]
