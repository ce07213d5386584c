"""The cost of a run on New run, and a run that has paused at its cap, without a browser."""

import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import opening
from pages.parts.endpoint import SERVER
from tests.app.drawn import app as app
from tests.app.drawn import opened, press, shown, upload
from tests.inspected import LABEL_CONFIG, LABELS, label_events
from tests.reporting.builders import run
from vpp.events import Evaluated, RunFinished, RunPaused
from vpp.llm.limits import Cap, Price
from vpp.runs.directory import RunDirectory
from vpp.runs.spec import Prices

TABLE = b"a,label\n" + b"".join(b"%d,%d\n" % (i % 9, i % 2) for i in range(200))


def test_the_bar_says_what_is_expected_and_the_fold_what_at_most(app: AppTest) -> None:
    html = shown(upload(app, TABLE))
    assert re.search(r'title="At most [\d,]+ calls\.[^"]*">about [\d,]+ calls · about [\d min]+s</p>', html)
    assert app.selectbox(key="new.train.200").options[0] == "100 of 200 rows"
    assert "All calls</td>" in html
    assert "sequential rounds. Estimated time: about" in html
    assert "Money" not in html
    app.segmented_control(key="new.who").set_value(SERVER).run()
    assert "calls · time unknown</p>" in shown(app)
    assert "Test the endpoint to see how long that takes." in shown(app)
    assert "Estimated time" not in shown(app)


def test_prices_and_a_cap_are_shown_and_kept_in_the_run(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[RunDirectory] = []
    monkeypatch.setattr(opening, "launch", lambda directory, **_: started.append(directory))
    upload(app, TABLE)
    app.number_input(key="new.price_in").set_value(2.0)
    app.number_input(key="new.max_calls").set_value(200).run()
    app.number_input(key="new.max_cost").set_value(1.5).run()
    assert not app.exception
    html = shown(app)
    assert re.search(r"calls · about [\d min]+s · a cost of about [\d.]+ · pauses at 200 calls or a cost of 1.50", html)
    assert "Money</td>" in html
    assert "The run pauses at 200 calls or a cost of 1.50, keeps its result so far" in html
    assert "The run needs at least 211 calls" in html
    press(app, "Start the run")
    (directory,) = started
    assert directory.spec().cap == Cap(calls=200, cost=1.5)
    assert directory.spec().prices == Prices(learner=Price(prompt=2.0))


def test_a_run_at_its_cap_offers_a_higher_one_and_can_be_deleted(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(opening, "start", started.append)
    detail = "the cap of 60 calls is reached: 60 calls sent; go on with a higher cap"
    events = [event for event in label_events() if not isinstance(event, RunFinished | Evaluated)]
    events.append(RunPaused(reason="budget", detail=detail))
    prices = Prices(learner=Price(prompt=1.0))
    reader = run(tmp_path, *events, data=LABELS, config=LABEL_CONFIG, cap=Cap(calls=60), prices=prices)
    opened(app, reader, "watch")
    html = shown(app)
    assert "The cap is reached" in html
    assert "The cap of 60 calls is reached: 60 calls sent" in html
    assert "0 sent, cap 60 calls" in html
    assert "0.00 spent" in html
    assert "The endpoint does not answer" not in html
    field = app.number_input(key=f"watch.cap.{reader.directory.id}.calls")
    assert field.value == 120
    field.set_value(500)
    press(app, "Raise the cap and go on")
    assert reader.directory.spec().cap == Cap(calls=500)
    assert [each.path for each in started] == [reader.directory.path]
