"""Each page's states, without a browser."""

import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.endpoint import DEMO, SERVER
from pages.parts.form import GOES_ON, START
from tests.app.drawn import app as app
from tests.app.drawn import shown, upload
from tests.processes import free_port
from tests.reporting.sampled import VARIANTS
from tests.verification.kept import kept_run, write
from vpp.findings.step import Cards
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader
from vpp.settings import FOR_EXPERTS, Config
from vpp.show.cards import Deck
from vpp.show.markup import html

PAGES = ("pages/watch.py", "pages/posterior.py", "pages/disagreement.py", "pages/compare.py", "pages/report.py")


def test_an_uploaded_table_is_described_and_its_target_decides_the_task(app: AppTest) -> None:
    upload(app, b"a,b,label\n" + b"".join(b"%d,%d.25,%d\n" % (i, i * 3, i % 2) for i in range(80)))
    assert not app.exception
    assert "label has 2 labels, so this is classification." in shown(app)
    assert "at most" in shown(app)
    app.selectbox(key="new.target").set_value("b").run()
    assert not app.exception
    assert "b is a number, so this is regression." in shown(app)


def test_a_table_that_cannot_be_used_gets_one_line(app: AppTest) -> None:
    for content, said in (
        (b"", "empty"),
        (b"a,b\n", "at least one row"),
        (b"\x00\x01\x02\x03\xff\xfe", "text"),
        (b"a,target\n" + b"1,yes\n" * 40, "target"),
        (b"a,target\n1,yes\n2,no\n3,yes\n", "batch"),
    ):
        upload(app, content)
        assert not app.exception
        assert 'role="alert"' in shown(app), said
        assert said in shown(app)


LABELS = b"a,label\n" + b"".join(b"%d,%d\n" % (i % 9, i % 2) for i in range(80))
NUMBERS = b"a,price\n" + b"".join(b"%d,%d.5\n" % (i, 1000 * i) for i in range(80))


def test_start_is_disabled_beside_the_first_reason_why_a_run_cannot_begin(app: AppTest, tmp_path: Path) -> None:
    def refuses(why: str) -> bool:
        assert not app.exception
        return app.button(key="new.start").disabled and f'<p class="cap">{why}</p>' in shown(app)

    app.run()
    assert refuses("Choose a table first.")
    upload(app, b"a,b\n")
    assert refuses("This table cannot be read: see Table.")
    upload(app, b"a,label\n1,yes\n2,yes\n")
    assert refuses("This table cannot be used as chosen: see Table.")
    choose(upload(app, LABELS), epsilon="7")
    assert refuses("This option cannot be used: see Advanced, Method.")
    choose(app, epsilon="auto")
    assert not app.button(key="new.start").disabled
    assert app.button(key="new.start").help == GOES_ON
    app.segmented_control(key="new.who").set_value(SERVER).run()
    assert refuses("Enter the server’s full address, or choose the demo model.")
    app.text_input(key="new.base_url").set_value(f"http://127.0.0.1:{free_port()}/v1")
    app.text_input(key="new.model").set_value("m").run()
    app.button(key="new.start").click().run()
    assert refuses("The server cannot be reached: see Model.")
    assert not list(tmp_path.glob("*/run.json"))


def option(app: AppTest, name: str) -> Any:
    """The widget of an option."""
    found = [w for w in widgets(app) if w.key == f"new.option.{name}"]
    assert found, f"{name} is not on the form"
    return found[0]


def widgets(app: AppTest) -> list[Any]:
    kinds = ("radio", "number_input", "selectbox", "checkbox", "text_input", "text_area")
    return [widget for kind in kinds for widget in app.get(kind)]


def shown_options(app: AppTest) -> set[str]:
    """Options that have a widget now, whether it can be changed or not."""
    keys = (widget.key or "" for widget in widgets(app))
    return {key.removeprefix("new.option.") for key in keys if key.startswith("new.option.")}


def choose(app: AppTest, **options: Any) -> AppTest:
    for name, value in options.items():
        option(app, name).set_value(value)
        app.run()
        assert not app.exception
    return app


def test_every_option_has_a_widget(app: AppTest) -> None:
    upload(app, LABELS)
    seen = shown_options(app)
    upload(app, NUMBERS)
    assert seen | shown_options(app) == {field.name for field in fields(Config)} - set(FOR_EXPERTS)


def test_only_options_with_an_effect_are_on_the_form(app: AppTest) -> None:
    upload(app, LABELS)
    assert {"tempering", "abstention_cost", "epsilon"} <= shown_options(app)
    assert "tau" not in shown_options(app)
    assert option(app, "likelihood").options[0] == "labels: labels, as in the paper"
    choose(app, method="vml5")
    assert not {"particles", "tempering", "tau"} & shown_options(app)
    upload(app, NUMBERS)
    assert "epsilon" not in shown_options(app)


def test_sentences_to_weigh_are_typed_in_and_the_plan_counts_each_once(app: AppTest) -> None:
    upload(app, LABELS)
    choose(app, method="weigh")
    assert "There are no sentences to weigh" in shown(app)
    assert "9 calls for each hypothesis" in shown(app)
    assert [fold.label for fold in app.expander if fold.label == "Split"] == []
    app.segmented_control(key="new.who").set_value(SERVER).run()
    asked = [field.label for kind in ("text_input", "number_input", "tab") for field in app.get(kind)]
    assert [label for label in asked if "ptimizer" in label or "Draw" in label] == []
    app.segmented_control(key="new.who").set_value(DEMO).run()
    assert not {"particles", "epochs", "batch_size", "tempering"} & shown_options(app)
    app.text_area(key=START).set_value("one\ntwo\n\none").run()
    assert "Of the sentences, these repeat earlier ones and count once: 3" in shown(app)
    assert app.button(key="new.start").disabled is False
    assert "18 calls" in shown(app)
    app.text_area(key=START).set_value("x" * 10_000).run()
    assert "sentence 1 has 10,000 characters" in shown(app)


RIGHT = "How often they are right"
SAID = {
    "smc": ("rewritten",),
    "smc filtered": ("rewrite rejected",),
    "incremental": ("Log evidence",),
    "adaptive": ("Log evidence",),
    "mh": (RIGHT, "rewritten, accepted"),
    "mh on train": (RIGHT, "the whole answer"),
    "mh on buffer": (RIGHT, "rewritten, accepted"),
    "always accept": (RIGHT, "the whole answer"),
    "vml": (RIGHT, "the whole answer"),
    "vml5": (RIGHT, "rewritten"),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_page_shows_a_run_of_each_kind_at_any_moment(app: AppTest, tmp_path: Path, name: str) -> None:
    directory, events = kept_run(tmp_path / "made", VARIANTS[name])
    html: dict[str, str] = {}
    for quarter in range(5):
        shutil.copytree(directory.path, run := tmp_path / f"run-{quarter}")
        write(RunDirectory(run), events[: quarter * len(events) // 4 or 1])
        app.query_params["run"] = run.name
        app.run()
        for page in PAGES:
            app.switch_page(page).run()
            assert not app.exception, (page, quarter)
            html[page] = shown(app)
    watch, posterior, *_ = html.values()
    watch += deck(RunReader(directory))
    for words in SAID[name]:
        assert words in watch + posterior
    assert ("Effective sample size" in watch) == VARIANTS[name].is_weighted


def deck(reader: RunReader) -> str:
    """The cards at the run's end and at its last step, which a component draws."""
    snapshot, data = reader.refresh(), reader.dataset()
    maker = Cards(snapshot.view, snapshot.spec.config, data)
    return html([Deck([*maker.end(), *(card for step in range(snapshot.view.total_steps) for card in maker.at(step))])])
