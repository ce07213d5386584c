"""What watchers of one run share: each drawing is made once, and drawn anew only where the journal has grown."""

from collections import Counter
from collections.abc import Hashable
from pathlib import Path

import pytest

from pages.parts import pieces
from tests.app.drawn import app_over, opened
from tests.inspected import labels
from vpp.drawing.cache import DrawingCache


class Noting(DrawingCache):
    """Notes what every drawing that it makes was made from."""

    def __init__(self) -> None:
        super().__init__(pieces.MOST_BYTES)
        self.made: Counter[Hashable] = Counter()

    def _store(self, key: Hashable, made: object, size: int) -> None:
        self.made[key] += 1
        super()._store(key, made, size)


@pytest.fixture
def noting(monkeypatch: pytest.MonkeyPatch) -> Noting:
    """The store that pages share, empty."""
    found = Noting()
    monkeypatch.setattr(pieces, "_DRAWINGS", found)
    return found


def test_two_watchers_share_each_drawing(noting: Noting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = labels(tmp_path)
    for _ in range(2):
        opened(app_over(tmp_path, monkeypatch), reader, "watch")
    assert {part[2] for part in noting.made if isinstance(part, tuple)} >= {
        "saying",
        "happened",
        "strip",
        "band",
        "deck",
    }
    assert set(noting.made.values()) == {1}
    assert all(isinstance(part, tuple) and part[0] == str(reader.directory.path) for part in noting.made)


def test_a_journal_that_has_grown_is_drawn_anew(tmp_path: Path) -> None:
    reader = labels(tmp_path)
    first = reader.refresh().edition
    assert reader.refresh().edition == first
    with reader.directory.journal.open("ab") as journal:
        journal.write(b"a line that cannot be read\n")
    assert reader.refresh().edition != first


def test_a_spec_that_was_written_anew_is_read_and_drawn_anew(tmp_path: Path) -> None:
    reader = labels(tmp_path)
    before = reader.refresh()
    reader.directory.amend(name="another name")
    after = reader.refresh()
    assert after.spec.name == "another name"
    assert after.edition != before.edition
