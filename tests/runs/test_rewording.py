"""A particle's text and a person's on the same rows: the arithmetic beside one written out here, and what is kept."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import inspected
from tests.asked import asked_labels
from tests.processes import Model
from tests.reporting import builders
from tests.reporting.builders import SEED, dataset
from vpp.data.dataset import Dataset, Value
from vpp.errors import InputError, RunError
from vpp.posterior.likelihood import GaussianLikelihood, ZeroOneLikelihood
from vpp.problem import Prediction, likelihood_of
from vpp.runs.asking import Comparison, Rewording, asking_of, compare, comparison_of, reworded_run, rewording
from vpp.runs.directory import RunDirectory
from vpp.runs.keys import Keys
from vpp.runs.preparation import MOST_CHARACTERS
from vpp.runs.prompts import problem_of
from vpp.runs.reader import RunReader
from vpp.settings import Config

LABELS = dataset(["yes", "no", "yes", "no", "yes"], ["yes"])
NUMBERS = dataset([0.0, 1.0, 2.0, 4.0, 8.0], [1.0])
NEW = "Say yes if a is odd, else no."


def compared(old: Sequence[Value | None], new: Sequence[Value | None], data: Dataset, **options: float) -> Comparison:
    rows = [data.train[i % len(data.train)] for i in range(len(old))]
    said = [[Prediction(row=row.id, value=v) for row, v in zip(rows, each, strict=True)] for each in (old, new)]
    likelihood = (
        GaussianLikelihood(tau=2.0, abstention_error=8.0) if data is NUMBERS else ZeroOneLikelihood(epsilon=0.1)
    )
    return compare(*said, rows, dataset=data, likelihood=likelihood, **options)


@given(st.lists(st.tuples(*[st.sampled_from(["yes", "no", None])] * 2), min_size=1, max_size=12), st.floats(0.1, 1))
def test_labels_are_compared_as_counted_by_hand(pairs: list[tuple[str | None, str | None]], exponent: float) -> None:
    """Rows repeat after five, as in a buffer that keeps repeats."""
    old, new = zip(*pairs, strict=True)
    truth = [LABELS.train[i % 5].target for i in range(len(pairs))]
    found = compared(old, new, LABELS, exponent=exponent)
    n_old, n_new = (sum(v == y for v, y in zip(votes, truth, strict=True)) for votes in (old, new))
    n = len(pairs)
    assert found.log_likelihood == pytest.approx(n_old * math.log(0.9) + (n - n_old) * math.log(0.1))
    assert found.log_likelihood_new == pytest.approx(n_new * math.log(0.9) + (n - n_new) * math.log(0.1))
    assert found.acceptance == pytest.approx(min(1, 9 ** ((n_new - n_old) * exponent)))
    won = {i % 5 for i, (was, now) in enumerate(pairs) if now == truth[i] != was}
    lost = {i % 5 for i, (was, now) in enumerate(pairs) if was == truth[i] != now}
    assert (set(found.won), set(found.lost)) == (won, lost)
    assert set(found.unread) == {i % 5 for i, vote in enumerate(new) if vote is None}
    assert found.n_rows == min(n, 5)


def test_numbers_are_compared_by_their_errors_and_an_abstention_is_off_by_the_range() -> None:
    # targets 0 1 2 4 8; squared errors of the old text 1 0 4 0 64 (abstained: 8 off), of the new 0 0 9 1 4
    found = compared((1.0, 1.0, 4.0, 4.0, None), (0.0, 1.0, 5.0, 3.0, 6.0), NUMBERS)
    assert found.log_likelihood == pytest.approx(-(1 + 0 + 4 + 0 + 64) / 4)
    assert found.log_likelihood_new == pytest.approx(-(0 + 0 + 9 + 1 + 4) / 4)
    assert (found.won, found.lost, found.unread, found.acceptance) == ((0, 4), (2, 3), (), 1.0)
    back = compared((0.0, 1.0, 5.0, 3.0, 6.0), (1.0, 1.0, 4.0, 4.0, None), NUMBERS)
    assert back.acceptance == pytest.approx(math.exp(-55 / 4))
    assert (back.won, back.lost, back.unread) == ((2, 3), (0, 4), (4,))


def test_the_score_of_the_particle_is_the_one_that_the_journal_has() -> None:
    """All three examples: final weights on all rows, mh on a batch, labels read as written."""
    for name in ("example-penguins", "example-penguins-mh", "example-titanic", "example-messages"):
        reader = RunReader(RunDirectory(Path(__file__).parents[2] / "assets" / "examples" / name))
        snapshot = reader.refresh()
        view, config = snapshot.view, snapshot.spec.config
        reworded = rewording(view, config, 0, "Always.")
        by_id = {row.id: row for row in reader.dataset().train}
        last = view.steps[view.last_step or 0]
        events = [*view.final_scored.values(), *last.proposals_scored.values(), *last.scored.values()]
        recorded = next(e for e in events if e.hypothesis == view.population[0].hypothesis and e.rows == reworded.rows)
        known = reader.read_answers().by_pair  # of the learner; what a program gave is in the journal alone
        said = [
            known.get((recorded.hypothesis, row), Prediction(row=row, value=value))
            for row, value in zip(recorded.rows, recorded.predictions, strict=True)
        ]
        likelihood = likelihood_of(reader.dataset(), config)
        rows = [by_id[row] for row in reworded.rows]
        own = compare(said, said, rows, dataset=reader.dataset(), likelihood=likelihood)
        assert own.log_likelihood == recorded.log_likelihood
        assert (own.acceptance, own.won, own.lost) == (1.0, (), ())


def test_texts_and_slots_that_cannot_be_scored_are_refused_in_one_line(tmp_path: Path) -> None:
    view = inspected.labels(tmp_path).refresh().view
    for slot, text, why in (
        (0, f" {SEED} ", "the new text is empty: write it, or leave it out"),
        (0, "a" * (MOST_CHARACTERS + 1), "the new text has 4,001 characters: shorten it to at most 4,000"),
        (0, inspected.EVEN, "particle 0 says this already: change a word"),
        (4, NEW, "there is no particle 4: give one from 0 to 3"),
    ):
        with pytest.raises(InputError, match=why):
            rewording(view, inspected.LABEL_CONFIG, slot, text)
    weighing = Config(method="weigh", particles=4)
    with pytest.raises(InputError, match="another particle says this already"):
        rewording(view, weighing, 0, inspected.BIG)
    first = builders.view_of(builders.started(inspected.LABEL_CONFIG, LABELS), *builders.drawn("a", "b"))
    with pytest.raises(RunError, match="no particle has been scored yet: wait for the first step to end"):
        rewording(first, inspected.LABEL_CONFIG, 0, NEW)


def scored(reader: RunReader, slot: int, text: str) -> tuple[Rewording, Comparison]:
    snapshot = reader.refresh()
    wording = rewording(snapshot.view, snapshot.spec.config, slot, text)
    asking = asking_of(reader, wording, snapshot.view)
    answers = asyncio.run(asking.go(keys=Keys(), cache_dir=reader.directory.path / "cache"))
    result = comparison_of(wording, answers, reader.dataset(), snapshot.spec.config)
    assert result
    return wording, result


def test_only_what_the_run_does_not_know_is_asked(tmp_path: Path, served: Model) -> None:
    """Both texts on four rows; BIG, which the demo model reads, holds a value beyond them."""
    reader = asked_labels(tmp_path, served)
    before = reader.directory.journal.read_bytes()
    found = scored(reader, 1, f"{SEED} Say yes if a is even, else no.")[1]
    assert [p.value for p in found.new] == ["yes", "no", "yes", "no"]
    assert (served.answered, found.unread, found.lost) == (8, (), ())
    assert reader.directory.journal.read_bytes() == before
    assert {row.id for row in found.rows} == {0, 1, 2, 3}


def test_a_kept_text_is_marked_as_a_persons_and_the_others_as_taken_over(tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    snapshot, data = reader.refresh(), reader.dataset()
    wording = rewording(snapshot.view, snapshot.spec.config, 2, NEW)
    prepared = reworded_run(snapshot.spec, data, snapshot.view, wording, run=reader.directory.id)
    spec = prepared.spec
    assert spec.start == (inspected.EVEN, inspected.BIG, f"{SEED} {NEW}", inspected.ODD)
    assert (spec.reworded, spec.started_from, spec.name) == (2, reader.directory.id, "toy, particle 2 reworded")
    assert prepared.dataset == data
    origins = [problem_of(spec, data).origin(slot) for slot in range(5)]
    assert origins == ["continued", "continued", "yours", "continued", "drawn"]
    moved = replace(wording, old=inspected.BIG)
    with pytest.raises(RunError, match="particle 2 has another text by now: score the new wording again"):
        reworded_run(snapshot.spec, data, snapshot.view, moved, run=reader.directory.id)
