"""Every number of a page has its meaning one press away."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import inspected
from tests.app.drawn import app_over, opened, shown
from tests.beside import other, under
from tests.reporting.sampled import VARIANTS, sampled
from vpp.runs.reader import RunReader
from vpp.wording.glossary import BY_LABEL, GLOSSARY, terms

PRESSED = re.compile(r'popovertarget="(term-[^"]+)">')
NUMBERS = re.compile(r"<dt>(.*?)</dt>")
LABELS, OTHER, NUMBERED = "20260101-0000-labels", "20260102-0000-other", "20260103-0000-numbers"


def runs_of(folder: Path) -> dict[str, RunReader]:
    """Runs of labels, two of them on the same rows, and of numbers; methods with numbers of their own."""
    runs = folder / "runs"
    runs.mkdir()
    made = {LABELS: inspected.labels, OTHER: other, NUMBERED: inspected.numbers}
    found = {name: under(make(folder / name), runs, name) for name, make in made.items() if not (folder / name).mkdir()}
    for name in ("adaptive", "vml5", "growing"):
        found[name] = under(sampled(folder / name, VARIANTS[name]), runs, name)
    return found


def seen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Every page that shows numbers, of the runs that have them."""
    runs, app = runs_of(folder), app_over(folder / "runs", monkeypatch)
    shows = dict.fromkeys((LABELS, NUMBERED), ("watch", "posterior", "disagreement"))
    shows |= {"adaptive": ("watch",), "growing": ("watch",), "vml5": ("watch", "posterior"), OTHER: ("compare",)}
    for name, pages in shows.items():
        for page in pages:
            app.query_params["run"], app.session_state["watch.fold"] = name, True  # charts are drawn once unfolded
            yield shown(opened(app, runs[name], page))


def test_every_number_has_its_meaning_and_no_meaning_is_unused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = "".join(seen(tmp_path, monkeypatch))
    names = NUMBERS.findall(drawn)
    assert len(names) > 20
    assert [name for name in names if "<button" not in name] == []
    of_reports = {
        BY_LABEL[name].id
        for config in VARIANTS.values()
        for task in ("classification", "regression")
        for name in terms(config, task)
    }
    unused = {entry.id for entry in GLOSSARY} - set(PRESSED.findall(drawn)) - of_reports
    assert unused == set()
