"""Each page's states, without a browser."""

import json
import re
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import pieces
from pages.parts.endpoint import DEMO, SERVER
from pages.parts.form import GOES_ON
from pages.parts.method import START
from tests.app.drawn import app as app
from tests.app.drawn import opened, shown, upload
from tests.inspected import labels
from tests.processes import free_port
from tests.reporting.sampled import VARIANTS, sampled
from vpp.drawing.cards import CardMaker
from vpp.drawing.deck import deck_html
from vpp.runs.prompts import PromptMaker
from vpp.settings import Config, preset
from vpp.wording.options import DEMO_PRIOR

PAGES = ("pages/watch.py", "pages/posterior.py", "pages/disagreement.py", "pages/compare.py", "pages/report.py")


def test_a_run_that_is_deleted_while_it_is_shown_is_named(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder goes once the page has it open, before the parts that refresh are drawn."""
    monkeypatch.setattr(pieces, "head", lambda run, _, **__: shutil.rmtree(run.directory.path))
    app.run()
    for page in PAGES[:3]:
        app.session_state["run"] = labels(tmp_path).directory.id
        app.switch_page(page).run()
        assert not app.exception, page
        assert "This run cannot be opened" in shown(app), page


def test_balanced_accuracy_is_shown_at_the_end_and_in_the_list_if_far_from_accuracy(
    app: AppTest, tmp_path: Path
) -> None:
    """Right on 3 of 3 and 2 of 3; the accuracy is what the event says."""
    reader = labels(tmp_path)
    (runs,) = app.run().sidebar.get("bidi_component")
    (row,) = json.loads(runs.proto.json)["runs"]
    assert "finished · 50.0 % · balanced 83.3 % · " in row["note"].replace("\N{NO-BREAK SPACE}", " ")
    html = re.sub(r"<[^>]*>", "", shown(opened(app, reader, "watch")))
    assert "got 3 right, 50.0 %; balanced accuracy 83.3 %." in html
    assert "so far" not in html, "no price was given"
    assert ", cap" not in html


def test_an_uploaded_table_is_described_and_its_target_decides_the_task(app: AppTest) -> None:
    upload(app, b"a,b,label\n" + b"".join(b"%d,%d.25,%d\n" % (i, i * 3, i % 2) for i in range(80)))
    assert not app.exception
    assert "label has 2 labels, so this is classification." in shown(app)
    assert "At most" in shown(app)
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


REVIEWS = b"review,label\n" + b"".join(b"the film of day %d was long,%d\n" % (i, i % 2) for i in range(80))


def test_start_is_disabled_beside_the_first_reason_why_a_run_cannot_begin(app: AppTest, tmp_path: Path) -> None:
    def refuses(why: str) -> bool:
        assert not app.exception
        return app.button(key="new.start").disabled and f'<p class="cap">{why}</p>' in shown(app)

    app.run()
    assert refuses("Choose a table first.")
    upload(app, b"a,b\n")
    assert refuses("This table cannot be read: see Data.")
    upload(app, b"a,label\n1,yes\n2,yes\n")
    assert refuses("This table cannot be used as chosen: see Data.")
    choose(upload(app, LABELS), particles_max=20, particles=2)
    assert refuses("This option cannot be used: see Method.")
    choose(app, particles=5)
    assert not app.button(key="new.start").disabled
    assert GOES_ON in shown(app)
    app.segmented_control(key="new.who").set_value(SERVER).run()
    assert refuses("Enter the server’s full address, or choose the demo model.")
    app.text_input(key="new.url").set_value(f"http://127.0.0.1:{free_port()}/v1")
    app.text_input(key="new.model").set_value("m").run()
    app.button(key="new.start").click().run()
    assert refuses("The server cannot be reached: see Model.")
    assert not list(tmp_path.glob("*/run.json"))


def test_a_column_of_text_is_named_before_a_run_of_the_demo_model(app: AppTest) -> None:
    said = "The demo model cannot read free text, and these rows have nothing else: it can only guess."
    assert said in shown(upload(app, REVIEWS))
    app.button(key="new.language_model").click().run()
    assert app.segmented_control(key="new.who").value == SERVER
    assert said not in shown(app)
    app.segmented_control(key="new.who").set_value(DEMO).run()
    assert "cannot read free text" not in shown(upload(app, LABELS))


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
    seen |= shown_options(choose(app, particles_max=20))
    seen |= shown_options(choose(app, method="mh", mh_rows="buffer"))
    upload(app, NUMBERS)
    assert seen | shown_options(app) == {field.name for field in fields(Config)}


def test_only_options_with_an_effect_are_on_the_form_and_the_others_are_named(app: AppTest) -> None:
    upload(app, LABELS)
    assert {"tempering", "final_weights", "restart", "epsilon"} <= shown_options(app)
    assert "tau" not in shown_options(app)
    choose(app, tempering="adaptive", mutate="every")
    assert not {"final_weights", "buffer_size", "particles_max"} & shown_options(app)
    choose(app, method="vml5")
    assert not {"particles", "tempering", "epsilon", "mh_rows"} & shown_options(app)
    assert "For mh: Compare on." in shown(app)
    assert "For regression: Regression’s τ." in shown(app)
    choose(app, method="mh")
    assert option(app, "mh_rows").options[0] == "batch: the current batch"
    upload(app, NUMBERS)
    assert "epsilon" not in shown_options(app)
    choose(app, tau="1")
    assert "nearly every likelihood ratio will be 0 or 1" in shown(app)


def test_an_option_that_left_the_form_comes_back_as_it_was(app: AppTest) -> None:
    upload(app, LABELS)
    choose(app, buffer_size=25, method="mh", mh_rows="train", restart=0.5)
    assert "buffer_size" not in shown_options(app)
    choose(app, mh_rows="buffer")
    assert option(app, "buffer_size").value == 25
    choose(app, method="smc")
    assert option(app, "buffer_size").value == 25
    choose(app, method="mh")
    assert (option(app, "mh_rows").value, option(app, "restart").value) == ("buffer", 0.5)


def test_sentences_to_weigh_are_typed_in_and_the_plan_counts_each_once(app: AppTest) -> None:
    upload(app, LABELS)
    n = LABELS.count(b"\n") - 1
    choose(app, method="weigh")
    assert "There are no sentences to weigh" in shown(app)
    assert f"{n} calls for each sentence" in shown(app)
    assert [fold.label for fold in app.expander if "split" in fold.label] == []
    app.segmented_control(key="new.who").set_value(SERVER).run()
    asked = [field.label for kind in ("text_input", "number_input", "tab") for field in app.get(kind)]
    assert [label for label in asked if "ptimizer" in label or "Draw" in label] == []
    app.segmented_control(key="new.who").set_value(DEMO).run()
    assert not {"particles", "epochs", "batch_size", "tempering"} & shown_options(app)
    app.text_area(key=START).set_value("one\ntwo\n\none").run()
    assert "sentence 3 repeats an earlier one and counts once" in shown(app)
    assert app.button(key="new.start").disabled is False
    assert f"2 sentences on {n} rows: {2 * n} calls" in shown(app)
    app.text_area(key=START).set_value("x" * 10_000).run()
    assert "sentence 1 has 10,000 characters" in shown(app)


def test_a_preset_fills_the_fields_and_leaves_the_open_ones(app: AppTest) -> None:
    upload(app, NUMBERS)
    choose(app, particles=5, beta_start=5.0)
    app.selectbox(key="new.preset").set_value("paper").run()
    assert (option(app, "final_weights").value, option(app, "tau").value) == ("paper", preset("paper").tau)
    assert (option(app, "particles").value, option(app, "beta_start").value) == (5, 10.0)
    app.selectbox(key="new.preset").set_value("recommended").run()
    assert (option(app, "final_weights").value, option(app, "tau").value) == ("train", "auto")


def test_options_that_cannot_be_are_refused_in_place_and_spoil_no_other_method(app: AppTest) -> None:
    upload(app, LABELS)
    choose(app, particles_max=20, particles=2)
    assert "particles is 2: it must lie between 3 and particles_max (20)" in shown(app)
    choose(app, epsilon=0.0, particles=5)
    assert "epsilon is 0.0: it must lie between 0 and 1" in shown(app)
    assert 'role="alert"' in shown(app)
    choose(app, epsilon=0.1, method="vml")
    assert 'role="alert"' not in shown(app)
    assert "Predictions, each batch" in shown(app)


def test_the_plan_follows_the_options_and_the_demo_model(app: AppTest) -> None:
    upload(app, LABELS)
    assert "Final weights" in shown(app)
    choose(app, tempering="incremental")
    assert "Predictions, all training rows" in shown(app)
    assert "Predictions, each proposal" in shown(app)
    assert " at 0.45 s a round and 350 calls a second at once" in shown(app)
    app.segmented_control(key="new.speed").set_value("instant").run()
    assert " at 350 calls a second at once, as the demo model usually does" in shown(app)
    assert DEMO_PRIOR in shown(app)
    app.segmented_control(key="new.who").set_value(SERVER).run()
    assert DEMO_PRIOR not in shown(app)


SAID = {
    "smc filtered": ("Effective sample size", "Proposals accepted", "rewrite rejected"),
    "smc duplicates": ("Only copies are rewritten", "Effective sample size"),
    "incremental": ("Exponent φ = 1/β", "The log evidence is nominal", "Proposals accepted"),
    "adaptive": ("Exponent φ = 1/β", "Log evidence"),
    "mh on train": ("without weights", "training rows", "Proposals accepted"),
    "always accept": ("without weights", "Every proposal is taken", "proposed at temperature"),
    "vml": ("One hypothesis, rewritten at each step.", "Every proposal is taken"),
    "vml5": ("without weights", "not scored yet"),
    "growing": ("Particles K", "at first"),
}


@pytest.mark.parametrize("name", SAID)
def test_every_page_shows_a_run_of_each_kind(app: AppTest, tmp_path: Path, name: str) -> None:
    reader = sampled(tmp_path, VARIANTS[name], task="regression" if name == "growing" else "classification")
    app.session_state["run"] = reader.directory.id
    app.run()
    html = {}
    for page in PAGES:
        app.switch_page(page).run()
        assert not app.exception, page
        html[page] = shown(app)
    watched = html["pages/watch.py"] + deck(reader)
    for words in SAID[name]:
        assert words in watched
    assert ("Effective sample size" in watched) == VARIANTS[name].is_weighted
    if name == "vml5":
        assert "Best of five on test (oracle)" in html["pages/posterior.py"]
    if name in ("incremental", "adaptive"):
        assert "Log evidence" in html["pages/posterior.py"]
        assert watched.count("evidences compare only between runs") == 1


def deck(reader: Any) -> str:
    """The cards at the run's end and at its last step, which a component draws."""
    snapshot, data = reader.refresh(), reader.dataset()
    maker = CardMaker(snapshot.view, snapshot.spec.config, data, PromptMaker(snapshot.spec, data))
    cards = [*maker.final(), *(card for step in range(snapshot.view.total_steps) for card in maker.at(step))]
    return deck_html(cards, seed_text="")
