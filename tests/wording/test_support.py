"""A run that found nothing says so first: in its headline, in the command line's summary and in its JSON."""

from collections.abc import Sequence
from pathlib import Path

from tests import inspected
from tests.reporting.builders import SEED, dataset, drawn, evaluated, finished, run, started
from vpp.data.dataset import Dataset
from vpp.findings.ideas import merge_ideas
from vpp.findings.summary import result
from vpp.posterior.prediction import Value
from vpp.reporting.document import report_markdown
from vpp.runs.reader import RunReader
from vpp.settings import Config
from vpp.wording.brief import summary, support_sentence

A, B = f"{SEED} Always yes.", f"{SEED} Yes if a is above 3, else no."
LABELS = dataset(["yes", "no", "yes", "no", "no"], ["yes", "no", "no", "yes"])
NUMBERS = dataset([0.0, 2.0, 4.0], [1.0, 3.0])
Answers = dict[str, Sequence[Value | None]]


def ended(
    folder: Path, data: Dataset, *, test: Answers | None, train: Answers, weights: tuple[float, ...] = (0.5, 0.5)
) -> RunReader:
    """A run of one step whose two particles, A and B, gave these answers in the end."""
    config = Config(particles=2, epochs=1, batch_size=8)
    ends = [
        *([evaluated(data, test, slots=(A, B), weights=weights, step=0)] if test else []),
        evaluated(data, train, slots=(A, B), weights=weights, split="train", step=0),
    ]
    events = (started(config, data, steps=1), *drawn(A, B), finished(0, (A, B), weights=weights), *ends)
    return run(folder, *events, data=data, config=config)


def warnings(reader: RunReader) -> str:
    view, data = reader.refresh().view, reader.dataset()
    return support_sentence(view, data, merge_ideas(view, data)).replace("\xa0", " ")


def beats(reader: RunReader) -> object:
    return result(reader.directory, reader.refresh().view)["beats_baseline"]


RIGHT: Answers = {A: ("yes", "no", "yes", "no", "no"), B: ("yes", "no", "yes", "no", "no")}


NO_ON_TEST: Answers = dict.fromkeys((A, B), ("no",) * 4)


def test_a_prediction_no_better_than_the_most_frequent_label_warns_everywhere(tmp_path: Path) -> None:
    reader = ended(tmp_path, LABELS, test=NO_ON_TEST, train=RIGHT)
    sentence = "No better than always answering the most frequent training label: 2 against 2 right, on 4 test rows."
    assert warnings(reader) == sentence
    assert sentence in report_markdown(reader).replace("\xa0", " ")
    assert summary(reader.directory, reader.refresh().view).replace("\xa0", " ").startswith(f"{sentence}\n")
    written = result(reader.directory, reader.refresh().view)
    assert written["baseline"] == {"answer": "no", "rows": "test", "value": 0.5}
    assert written["beats_baseline"] is False


def test_a_population_that_collapsed_on_an_unsupported_text_says_so(tmp_path: Path) -> None:
    reader = ended(
        tmp_path,
        LABELS,
        test={A: ("yes", "no", "no", "yes"), B: ("no",) * 4},
        train={A: ("yes",) * 5, B: RIGHT[B]},
        weights=(0.97, 0.03),
    )
    assert warnings(reader) == (
        "Collapsed on one hypothesis, which holds 97 % of the weight and is no better than always answering "
        "the most frequent training label: 2 against 3 right, on 5 training rows."
    )
    assert beats(reader) is True


def test_errors_of_numbers_are_compared_with_the_training_mean(tmp_path: Path) -> None:
    """The mean, 2, is off by one on both test rows, and by 2, 0, 2 on the training rows."""
    off: Answers = dict.fromkeys((A, B), (3.0, 1.0))
    reader = ended(tmp_path, NUMBERS, test=off, train=dict.fromkeys((A, B), (4.0, 2.0, 0.0)))
    assert warnings(reader) == (
        "No better than always answering the mean of the training targets: "
        "mean squared error 4 against 1, on 2 test rows. "
        "Collapsed on one hypothesis, which holds all of the weight and is no better than always answering "
        "the mean of the training targets: mean squared error 10.67 against 2.667, on 3 training rows."
    )
    assert beats(reader) is False


def test_better_runs_and_runs_not_yet_evaluated_have_no_warning(tmp_path: Path) -> None:
    for name, made in (("labels", inspected.labels), ("numbers", inspected.numbers)):
        (tmp_path / name).mkdir()
        reader = made(tmp_path / name)
        assert (warnings(reader), beats(reader)) == ("", True)
    early = run(tmp_path)
    assert (warnings(early), beats(early)) == ("", None)
