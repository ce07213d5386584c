"""A run of answers that could not be read is told as one, by the same rule everywhere."""

from pathlib import Path

from tests.reporting.builders import SEED, dataset, drawn, finished, proposed, run, scored, started
from vpp.events import Event
from vpp.posterior.prediction import Value
from vpp.runs.reader import RunReader
from vpp.settings import Config
from vpp.wording.support import unread_html, unread_sentence

A = f"{SEED} A"
CONFIG = Config(particles=6, epochs=1, batch_size=4)
TEXTS = (A,) * CONFIG.particles
DATA = dataset(["yes", "no"] * 4, ["yes"])


def answered(folder: Path, *answers: Value | None, garbled: int = 0, read: int = 0) -> RunReader:
    """One particle's answers, and the outcomes of proposals: so many unreadable, so many left as they were."""
    why = ["unparsable"] * garbled + ["unchanged"] * read
    proposals: list[Event] = [
        proposed(0, k, A, None if word == "unparsable" else A, why=word, log_alpha=None, u=None)
        for k, word in enumerate(why)
    ]
    first = scored(0, 0, A, dict(enumerate(answers)), log_lik=-1.0)
    return run(
        folder, started(CONFIG, DATA), *drawn(*TEXTS), first, *proposals, finished(0, TEXTS), config=CONFIG, data=DATA
    )


def warning(reader: RunReader) -> str:
    return unread_sentence(reader.refresh().view)


HALF: tuple[Value | None, ...] = ("yes", "no", "yes", None, None, None)


def test_half_of_the_answers_unreadable_is_a_warning(tmp_path: Path) -> None:
    reader = answered(tmp_path, *HALF)
    assert warning(reader) == "3 of 6 answers to rows could not be read: the results below are unreliable."
    assert "Open a card’s answer on Watch" in unread_html(reader.refresh().view)


def test_proposals_count_where_none_of_at_least_five_could_be_read(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    both = answered(tmp_path / "all", *[None] * 5, garbled=5)
    assert warning(both).startswith("All 5 answers to rows and all 5 proposals could not be read")
    for name, garbled, read in (("one", 5, 1), ("few", 4, 0)):
        (tmp_path / name).mkdir()
        assert warning(answered(tmp_path / name, "yes", garbled=garbled, read=read)) == ""
