"""What watchers of one run share: each drawing is made once, and drawn anew only where the journal has grown."""

from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pages.parts import pieces
from tests.app.drawn import app_over, opened
from tests.inspected import labels
from vpp.drawing.cache import DrawingCache


class Noting(DrawingCache):
    """Notes what every drawing that it makes was made from."""

    made: ClassVar[Counter[Any]] = Counter()

    def _store(self, key: Any, made: object, size: int) -> None:
        self.made[key] += 1
        super()._store(key, made, size)


def test_two_watchers_share_each_drawing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noting = Noting(pieces.MOST_BYTES)
    monkeypatch.setattr(pieces, "_DRAWINGS", noting)
    reader = labels(tmp_path)
    for _ in range(2):
        opened(app_over(tmp_path, monkeypatch), reader, "watch")
    assert {part[2] for part in noting.made} >= {"said", "numbers", "band", "deck"}
    assert set(noting.made.values()) == {1}
    assert {part[0] for part in noting.made} == {str(reader.directory.path)}


def test_a_journal_that_has_grown_or_a_changed_spec_is_drawn_anew(tmp_path: Path) -> None:
    reader = labels(tmp_path)
    first = reader.refresh().edition
    assert reader.refresh().edition == first
    with reader.directory.journal.open("ab") as journal:
        journal.write(b"a line that cannot be read\n")
    grown = reader.refresh().edition
    reader.directory.amend(name="another name")
    after = reader.refresh()
    assert after.spec.name == "another name"
    assert len({first, grown, after.edition}) == 3
