"""Small runs of known predictions, written by hand: what every page and export is checked against.

`labels`: four particles, two steps, six test rows. At the end particles 0 and 2 say the same thing in two wordings.

    slot  text  weight   test rows 4..9 (truth: yes no yes no yes no)   training rows 0..3 (yes no yes no)
    0     EVEN    0.4    yes no yes no  yes yes                         yes no yes no
    1     BIG     0.3    yes no yes yes no  yes                         yes no yes no
    2     PAIR    0.2    as EVEN                                        as EVEN
    3     ODD     0.1    yes no –   no  no  no                          yes no no  no

`other`: the options of `labels` but for the seed, the same rows. Its weighted vote is 4 of 6, that of `labels` 5 of 6.

    slot  text  weight   test rows 4..9 (truth: yes no yes no yes no)   training rows 0..3 (yes no yes no)
    0     EVEN    0.25   yes no yes no  yes yes                         yes no yes no
    1     EVEN    0.20   as slot 0
    2     BIG     0.15   yes no yes yes no  yes                         yes no yes no
    3     LUCK    0.40   no  no no  no  no  no                          no  no no  no
    vote                 yes no yes no  no  yes
    of `labels`          yes no yes no  yes yes

`numbers`: three particles, one step, four test rows; the last cell of SLOPE is an abstention.

    slot  text   weight   test rows 4..7 (truth: 1 3 5 2)   training rows 0..3 (0 1 2 4)
    0     LINE    0.5     1 3 4 2                           0 1 2 3
    1     SLOPE   0.25    2 3 6 –                           0 1 2 4
    2     FLAT    0.25    0 3 4 4                           2 2 2 2
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.reporting.builders import (
    SEED,
    dataset,
    drawn,
    evaluated,
    finished,
    proposed,
    resampled,
    reweighted,
    run,
    scored,
    started,
)
from vpp.data.dataset import Dataset, Row
from vpp.events import Certified, Event, RunFinished, hypothesis_id
from vpp.findings.comparison import Comparison, candidate
from vpp.posterior.prediction import Mixture, Value
from vpp.problem import Prediction, TextAnswer, Translation
from vpp.runs.asking import Answers
from vpp.runs.directory import Journal, RunDirectory, RunReader
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config

EVEN = f"{SEED} Say yes if a is even, else no."
BIG = f"{SEED} Say yes if a is above 6, else no."
PAIR = f"{SEED} Say yes if a can be halved, else no."
ODD = f"{SEED} Say no if a is odd, else yes."
NONE = f"{SEED} Say yes."
"""Drawn first in slot 3 and resampled away at step 1."""
LUCK = f"{SEED} Say no."
"""Proposed three times and rejected each time."""
SEVEN = f"{SEED} Say yes if a holds a 7, else no."
"""Proposed once, rejected."""

LABELS = dataset(["yes", "no", "yes", "no"], ["yes", "no", "yes", "no", "yes", "no"])
SHARED: dict[str, Any] = {"method": "smc", "reading": "rows", "epochs": 1, "buffer_size": 4}
LABEL_CONFIG = Config(**SHARED, particles=4, batch_size=2, mutate="filtered", final_weights="rescored", epsilon="0.05")
LABEL_WEIGHTS = (0.4, 0.3, 0.2, 0.1)
LABEL_SLOTS = (EVEN, BIG, PAIR, ODD)
ON_TEST: dict[str, tuple[Value | None, ...]] = {
    EVEN: ("yes", "no", "yes", "no", "yes", "yes"),
    PAIR: ("yes", "no", "yes", "no", "yes", "yes"),
    BIG: ("yes", "no", "yes", "yes", "no", "yes"),
    ODD: ("yes", "no", None, "no", "no", "no"),
}
ON_TRAIN: dict[str, tuple[Value | None, ...]] = {
    EVEN: ("yes", "no", "yes", "no"),
    PAIR: ("yes", "no", "yes", "no"),
    BIG: ("yes", "no", "yes", "no"),
    ODD: ("yes", "no", "no", "no"),
}

LINE = f"{SEED} The output is a."
SLOPE = f"{SEED} The output is a, and one more if a is above 2."
FLAT = f"{SEED} The output is 2."
NUMBERS = dataset([0.0, 1.0, 2.0, 4.0], [1.0, 3.0, 5.0, 2.0])
NUMBER_CONFIG = Config(**SHARED, particles=3, batch_size=4, mutate="every", final_weights="paper", tau=1.0)
NUMBER_WEIGHTS = (0.5, 0.25, 0.25)
NUMBER_SLOTS = (LINE, SLOPE, FLAT)
NUMBERS_ON_TEST: dict[str, tuple[Value | None, ...]] = {
    LINE: (1.0, 3.0, 4.0, 2.0),
    SLOPE: (2.0, 3.0, 6.0, None),
    FLAT: (0.0, 3.0, 4.0, 4.0),
}
NUMBERS_ON_TRAIN: dict[str, tuple[Value | None, ...]] = {
    LINE: (0.0, 1.0, 2.0, 3.0),
    SLOPE: (0.0, 1.0, 2.0, 4.0),
    FLAT: (2.0, 2.0, 2.0, 2.0),
}


def label_events() -> list[Event]:
    """Step 0 rewrites slot 1 and rejects LUCK and SEVEN; step 1 resamples NONE away and rejects LUCK twice."""
    return [
        started(LABEL_CONFIG, LABELS),
        *drawn(EVEN, LUCK + " Or yes.", ODD, NONE),
        scored(0, 0, EVEN, {0: "yes", 1: "no"}, log_lik=-0.25),
        scored(0, 1, LUCK + " Or yes.", {0: "no", 1: "no"}, log_lik=-2.5),
        scored(0, 2, ODD, {0: "yes", 1: "no"}, log_lik=-0.25),
        scored(0, 3, NONE, {0: "yes", 1: "yes"}, log_lik=-2.5),
        reweighted(0, (0.375, 0.125, 0.375, 0.125), beta=10),
        proposed(0, 0, EVEN, EVEN, why="unchanged"),
        scored(0, 1, PAIR, {0: "yes", 1: "no"}, role="proposal", log_lik=-0.25),
        proposed(0, 1, LUCK + " Or yes.", PAIR, accepted=True, log_lik=(-2.5, -0.25)),
        scored(0, 2, LUCK, {0: "no", 1: "no"}, role="proposal", log_lik=-2.5),
        proposed(0, 2, ODD, LUCK, log_lik=(-0.25, -2.5)),
        scored(0, 3, SEVEN, {0: "no", 1: "yes"}, role="proposal", log_lik=-4.75),
        proposed(0, 3, NONE, SEVEN, log_lik=(-2.5, -4.75), u=0.75),
        finished(0, (EVEN, PAIR, ODD, NONE), weights=(0.375, 0.125, 0.375, 0.125)),
        scored(1, 0, EVEN, {0: "yes", 1: "no", 2: "yes", 3: "no"}, log_lik=-0.5),
        scored(1, 1, PAIR, {0: "yes", 1: "no", 2: "yes", 3: "no"}, log_lik=-0.5),
        scored(1, 2, ODD, {0: "yes", 1: "no", 2: "no", 3: "no"}, log_lik=-2.75),
        scored(1, 3, NONE, {0: "yes", 1: "yes", 2: "yes", 3: "yes"}, log_lik=-5.0),
        reweighted(1, (0.7, 0.1, 0.1, 0.1), beta=1),
        resampled(1, 0, 0, 1, 2),
        proposed(1, 0, EVEN, None, why="unparsable", reason="the answer has no “New rule:” line", raw="Sorry."),
        scored(1, 1, BIG, {2: "yes", 3: "no"}, role="proposal", log_lik=-0.25),
        proposed(1, 1, EVEN, BIG, accepted=True, log_lik=(-0.25, -0.25)),
        scored(1, 2, LUCK, {2: "no", 3: "no"}, role="proposal", log_lik=-2.5),
        proposed(1, 2, PAIR, LUCK, log_lik=(-0.25, -2.5)),
        scored(1, 3, LUCK, {2: "no", 3: "no"}, role="proposal", log_lik=-2.5),
        proposed(1, 3, ODD, LUCK, log_lik=(-2.375, -2.5), u=0.9375),
        finished(1, LABEL_SLOTS, ancestors=(0, 0, 1, 2)),
        *(
            scored(1, k, text, dict(enumerate(ON_TRAIN[text])), role="final", log_lik=math.log(w))
            for k, (text, w) in enumerate(zip(LABEL_SLOTS, LABEL_WEIGHTS, strict=True))
        ),
        reweighted(1, LABEL_WEIGHTS, role="final"),
        evaluated(LABELS, dict(ON_TEST), slots=LABEL_SLOTS, weights=LABEL_WEIGHTS),
        evaluated(LABELS, dict(ON_TRAIN), slots=LABEL_SLOTS, weights=LABEL_WEIGHTS, split="train"),
        RunFinished(outcome="finished"),
    ]


def number_events() -> list[Event]:
    """One step in which every rewriting is taken: SLOPE and FLAT come in."""
    return [
        started(NUMBER_CONFIG, NUMBERS, steps=1),
        *drawn(LINE, LINE, FLAT),
        scored(0, 0, LINE, {0: 0.0, 1: 1.0, 2: 2.0, 3: 3.0}, log_lik=-0.5),
        scored(0, 1, LINE, {0: 0.0, 1: 1.0, 2: 2.0, 3: 3.0}, log_lik=-0.5),
        scored(0, 2, FLAT, {0: 2.0, 1: 2.0, 2: 2.0, 3: 2.0}, log_lik=-4.5),
        reweighted(0, NUMBER_WEIGHTS),
        proposed(0, 0, LINE, LINE, why="unchanged"),
        proposed(0, 1, LINE, SLOPE, why="taken", accepted=True),
        proposed(0, 2, FLAT, FLAT, why="unchanged"),
        finished(0, NUMBER_SLOTS, weights=NUMBER_WEIGHTS),
        evaluated(NUMBERS, dict(NUMBERS_ON_TEST), slots=NUMBER_SLOTS, weights=NUMBER_WEIGHTS, step=0),
        evaluated(NUMBERS, dict(NUMBERS_ON_TRAIN), slots=NUMBER_SLOTS, weights=NUMBER_WEIGHTS, step=0, split="train"),
        RunFinished(outcome="finished"),
    ]


def labels(folder: Path) -> RunReader:
    return _say(run(folder, *label_events(), data=LABELS, config=LABEL_CONFIG), ON_TEST, LABELS)


def numbers(folder: Path) -> RunReader:
    return _say(run(folder, *number_events(), data=NUMBERS, config=NUMBER_CONFIG), NUMBERS_ON_TEST, NUMBERS)


def translate(reader: RunReader, codes: dict[str, str | None]) -> None:
    """Add each hypothesis' program; None is one that cannot be a program."""
    log = Journal(reader.directory.journal)
    for text, code in codes.items():
        reason = None if code else "the model says that no program can follow it"
        log.add_entry(Translation(hypothesis=hypothesis_id(text), code=code, reason=reason, attempts=1))
    log.close()


SHORT, MOOD = f"{SEED} Say yes if a is short, else no.", f"{SEED} Go by your mood."
PROGRAM = "def predict(a):\n    if ask('is it `short`?', a):\n        return 'yes'\n    return 'no'"
"""SHORT as a program; MOOD cannot be one."""


def programs(folder: Path) -> RunReader:
    """Two particles that the labels' rows were read by, whose one column is text: SHORT by a program, MOOD row by row.

    The program is right on training rows 0 and 1, wrong on row 2 and fails on row 3; the learner reads row 1 otherwise.
    """
    data = replace(LABELS, columns=(replace(LABELS.columns[0], kind="text"), LABELS.columns[1]))
    votes = {SHORT: ["yes", "no", "no", None], MOOD: ["yes", "no", "yes", "no"]}
    train = evaluated(data, votes, slots=(SHORT, MOOD), weights=(0.75, 0.25), split="train")
    events = [started(Config(particles=2), data), *drawn(SHORT, MOOD), finished(1, (SHORT, MOOD), weights=(0.75, 0.25))]
    read = Certified(step=1, hypothesis=hypothesis_id(SHORT), rows=(0, 1), program=("yes", "no"), reading=("yes", None))
    reader = run(folder, *events, replace(train, branches=((0, 1, 1, None), ())), read, data=data)
    translate(reader, {SHORT: PROGRAM, MOOD: None})
    log = Journal(reader.directory.journal)
    for text, yes in zip("abcd", (True, False, None, False), strict=True):
        log.add_entry(TextAnswer(question="is it `short`?", text=text, yes=yes, attempts=1))
    log.close()
    return reader


def plain(words: str) -> str:
    """Words with blanks for no-break spaces."""
    return words.replace("\N{NO-BREAK SPACE}", " ")


def prediction(row: int, value: Value | None) -> Prediction:
    """The reason of an answer is `because <answer>`; an abstention has why it could not be read."""
    if value is None:
        return Prediction(row=row, value=None, raw="Hm.", reason="the answer has no “Output:” line")
    return Prediction(row=row, value=value, explanation=f"because {value}")


def _say(reader: RunReader, said: dict[str, tuple[Value | None, ...]], data: Dataset) -> RunReader:
    log = Journal(reader.directory.journal)
    for text, answers in said.items():
        for row, value in zip(data.test, answers, strict=True):
            log.add_answer(hypothesis_id(text), prediction(row.id, value), 1)
    log.close()
    return reader


def log_marginal(right: int, wrong: int) -> float:
    """log of the integral of (1 - epsilon)^right epsilon^wrong under Beta(1, 9), by factorials; of two labels."""
    return math.log(9 * math.factorial(wrong) * math.factorial(8 + right) / math.factorial(9 + right + wrong))


# A run beside `labels`, and runs as they are compared

OTHER_SLOTS = (EVEN, EVEN, BIG, LUCK)
OTHER_WEIGHTS = (0.25, 0.2, 0.15, 0.4)
OTHER_CONFIG = replace(LABEL_CONFIG, seed=1)


def other(folder: Path, *, asked: bool = True) -> RunReader:
    """The finished run; without `asked`, stopped before its test rows."""
    events = [started(OTHER_CONFIG, LABELS), *drawn(*OTHER_SLOTS), finished(0, OTHER_SLOTS)]
    events.append(finished(1, OTHER_SLOTS, weights=OTHER_WEIGHTS))
    if asked:
        for split, known, n in (("test", ON_TEST, 6), ("train", ON_TRAIN, 4)):
            answers = {**known, LUCK: ("no",) * n}
            events.append(evaluated(LABELS, answers, slots=OTHER_SLOTS, weights=OTHER_WEIGHTS, split=split))
        events.append(RunFinished(outcome="finished"))
    return run(folder, *events, data=LABELS, config=OTHER_CONFIG)


def all_right(folder: Path, data: Dataset) -> RunReader:
    """A finished run on other rows, with one text that is right on every test row."""
    config, slots = LABEL_CONFIG, ("Right.",)
    answers: dict[str, Any] = {"Right.": [row.target for row in data.test]}
    steps = (finished(0, slots), finished(1, slots))
    events = [started(config, data), *drawn(*slots), *steps, evaluated(data, answers, slots=slots)]
    return run(folder, *events, RunFinished(outcome="finished"), data=data, config=config)


def under(reader: RunReader, folder: Path, name: str) -> RunReader:
    """The run under another id, in a folder of runs."""
    reader.directory.path.rename(folder / name)
    return RunReader(RunDirectory(folder / name))


def side_by_side(*readers: RunReader, reference: int = 0) -> Comparison:
    return Comparison(runs=[candidate(reader) for reader in readers], reference=reference)


# Runs whose particles can be asked: their learner is the demo model behind a server of the test's


def askable_labels(folder: Path, served: Any, *, model: str = "demo", cache: bool = False) -> RunReader:
    """Run of `labels`, four sentences, before any answer."""
    endpoint = EndpointSpec(base_url=served.base_url, model=model, cache=cache)
    return run(folder, *label_events(), data=LABELS, config=LABEL_CONFIG, endpoint=endpoint)


def run_of(folder: Path, served: Any, *texts: str, data: Dataset = LABELS, reading: Any = "rows") -> RunReader:
    config = Config(method="mh", particles=len(texts), reading=reading)
    endpoint = EndpointSpec(base_url=served.base_url, model="demo", cache=False)
    events = [started(config, data), *drawn(*texts), finished(0, texts)]
    return run(folder, *events, data=data, config=config, endpoint=endpoint)


def pair_run(folder: Path, served: Any, *, data: Dataset = LABELS) -> RunReader:
    return run_of(folder, served, EVEN, ODD, EVEN, data=data)


def votes(
    *said: Sequence[Value | None],
    weights: Sequence[float],
    rows: Sequence[Row] = (),
    classes: tuple[str, ...] = (),
    **rest: Any,
) -> Answers:
    """Answers of particles. said: for each particle, a value a row."""
    rows = tuple(rows or dataset([0.0] * len(said[0]), []).train)
    is_label = any(isinstance(value, str) for values in said for value in values)
    values: dict[str, Any] = {
        "texts": tuple(f"rule {k}" for k in range(len(said))),
        "predictions": tuple(tuple(prediction(row.id, v) for row, v in zip(rows, one, strict=True)) for one in said),
        "mixture": Mixture(weights=tuple(weights), classes=classes or (("no", "yes") if is_label else ())),
        **rest,
    }
    return Answers(rows=rows, weights=tuple(weights), **values)


def label_answers(weights: Sequence[float] = LABEL_WEIGHTS) -> Answers:
    """Answers of `labels` on its test rows."""
    said = [ON_TEST[text] for text in LABEL_SLOTS]
    return votes(*said, weights=weights, rows=LABELS.test, texts=LABEL_SLOTS, step=1)


def number_answers() -> Answers:
    """Answers of `numbers` on its test rows."""
    said = [NUMBERS_ON_TEST[text] for text in NUMBER_SLOTS]
    return votes(*said, weights=NUMBER_WEIGHTS, rows=NUMBERS.test, texts=NUMBER_SLOTS, step=0)
