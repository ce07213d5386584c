"""A real table through the app, from the upload to the report, on the demo model.

The assertions hold on seeds 0 to 9. The weighted vote was right, at worst, on 0.750 of the test rows (always the most
frequent label: 0.433); the heaviest idea named a column and every answer was readable in all ten. A seed's run gives
the same answers each time, so neither luck nor time decides here.
"""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.drawn import app_over, press, shown, upload
from tests.processes import wait_until
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

PENGUINS = Path(__file__).parents[2] / "assets" / "examples" / "penguins.csv"
COLUMNS = ("island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "sex", "year")
WITHIN_S = 120.0


def test_the_posterior_of_a_real_table_is_sensible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = upload(app_over(tmp_path, monkeypatch), PENGUINS.read_bytes(), PENGUINS.name)
    for name, value in (("new.train", 100), ("new.test", 60), ("new.option.particles", 4), ("new.option.epochs", 1)):
        app.number_input(key=name).set_value(value)
    app.selectbox(key="new.option.mutate").set_value("every")
    app.segmented_control(key="new.speed").set_value("instant").run()
    assert app.selectbox(key="new.target").value == "species"
    assert "19 missing" in shown(app)

    press(app, "Start the run")
    (folder,) = (path.parent for path in tmp_path.glob("*/run.json"))
    reader = RunReader(RunDirectory(folder))
    wait_until(lambda: reader.refresh().view.phase == "finished", "the run ends", within_s=WITHIN_S)
    assert "Finished" in shown(app.run())

    report = page(app, "report")
    right, asked = map(int, found(r"The weighted vote gets (\d+) of (\d+) test rows right", report))
    (baseline,) = found(r"Baseline\s+([\d.]+) %", report)
    assert right / asked > float(baseline) / 100
    (heaviest,) = found(r"\b1\. Weight (?:over )?[\d.]+,.*?predict \w+\.(.*?)\d+ of \d+ test rows right", report)
    assert any(column in heaviest for column in COLUMNS), heaviest
    assert re.search(r"Abstained\s+0 of [\d,]+\s+Every answer could be read", page(app, "disagreement"))


def page(app: AppTest, name: str) -> str:
    """Return the visible text of a page of the open run, with single spaces."""
    app.switch_page(f"pages/{name}.py").run()
    assert not app.exception
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", shown(app)))


def found(pattern: str, text: str) -> tuple[str, ...]:
    """Return the groups of the pattern's first match."""
    match = re.search(pattern, text)
    assert match, f"{pattern} is not in: {text[:2000]}"
    return match.groups()
