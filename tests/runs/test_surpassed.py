"""A run whose prediction does worse on the training rows than one hypothesis says so, with both figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.reporting.builders import SEED, dataset, drawn, evaluated, finished, proposed, run, scored, started
from vpp.events import Event
from vpp.findings.result import result, surpassed_sentences
from vpp.posterior.prediction import Value
from vpp.reporting.document import report_markdown
from vpp.runs.reader import RunReader
from vpp.settings import Config

N = 20
TRUTH = ["yes", "no"] * (N // 2)
LABELS = dataset(TRUTH, ["yes", "no"])
NUMBERS = dataset([float(i) for i in range(N)], [1.0, 2.0])
A, B, GONE = f"{SEED} Rule A.", f"{SEED} Rule B.", f"{SEED} Rule that went."
Answers = Sequence[Value | None]


def wrong_on(*rows: int) -> list[Value | None]:
    return [{"yes": "no", "no": "yes"}[label] if i in rows else label for i, label in enumerate(TRUTH)]


def ended(
    folder: Path, a: Answers, b: Answers, *between: Event, weights: tuple[float, float] = (0.75, 0.25), **given: Any
) -> RunReader:
    """A finished run of one step whose two particles, A and B, answered the training rows so."""
    data = given.get("data", LABELS)
    config = Config(particles=2, epochs=1, batch_size=N, mutate="filtered")
    on_train = evaluated(data, {A: a, B: b}, slots=(A, B), weights=weights, split="train", step=0)
    right: Answers = [row.target for row in data.test]
    on_test = evaluated(data, {A: right, B: right}, slots=(A, B), weights=weights, step=0)
    events = (started(config, data, steps=1), *drawn(*given.get("first", (A, B))), *between)
    return run(folder, *events, finished(0, (A, B), weights=weights), on_test, on_train, data=data, config=config)


def headline(reader: RunReader) -> str:
    return " ".join(surpassed_sentences(reader.refresh().view, reader.dataset())).replace("\xa0", " ")


def report(reader: RunReader) -> str:
    return report_markdown(reader).replace("\xa0", " ")


def in_json(reader: RunReader) -> Any:
    return result(reader.directory, reader.refresh().view)["surpassed_by"]


def test_a_vote_that_is_clearly_worse_than_one_particle_says_so_first(tmp_path: Path) -> None:
    reader = ended(tmp_path, wrong_on(*range(8)), wrong_on(0))
    sentence = "The vote does worse than one of its hypotheses alone: 12 against 19 right, on 20 training rows "
    sentence += "(best of 2, corrected sign test p = 0.031)."

    assert headline(reader) == sentence
    assert f"\n\n{sentence}" in report(reader)
    assert in_json(reader) == [
        {
            "by": "particle",
            "slot": 1,
            "text": B,
            "rows": 20,
            "prediction": pytest.approx(0.6),
            "value": pytest.approx(0.95),
            "best_of": 2,
            "sign_test_p": pytest.approx(2 * 2 / 2**7),
        }
    ]


def test_a_vote_as_good_as_its_best_particle_says_nothing(tmp_path: Path) -> None:
    reader = ended(tmp_path, wrong_on(3), wrong_on(4))

    assert (headline(reader), in_json(reader)) == ("", [])
    assert "does worse than" not in report(reader)


def rejection(rows: Sequence[int], answers: Answers) -> tuple[Event, ...]:
    said = {row: answers[row] for row in rows}
    return (scored(0, 0, GONE, said, role="proposal"), proposed(0, 0, A, GONE))


def test_a_vote_worse_than_a_ruled_out_hypothesis_says_so_on_the_rows_that_it_answered(tmp_path: Path) -> None:
    between = rejection(range(N // 2), wrong_on())
    reader = ended(tmp_path, wrong_on(*range(7)), wrong_on(*range(7)), *between)

    assert headline(reader) == (
        "The vote does worse than a hypothesis that was ruled out: 3 against 10 right, on 10 training rows "
        "(best of 3, corrected sign test p = 0.047)."
    )
    (found,) = in_json(reader)
    assert (found["by"], found["slot"], found["text"], found["rows"]) == ("ruled out", None, GONE, 10)


def test_a_mean_is_compared_by_its_squared_error(tmp_path: Path) -> None:
    truth = [float(i) for i in range(N)]
    reader = ended(tmp_path, [y + 4 for y in truth], truth, data=NUMBERS)

    assert headline(reader) == (
        "The mean does worse than one of its hypotheses alone: mean squared error 9 against 0, on 20 training rows "
        "(best of 2, corrected sign test p = under 0.001)."
    )
