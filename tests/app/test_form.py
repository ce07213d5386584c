"""The first minute and the form of a new run: its table, method, prompts, cost and cap, without a browser."""

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import form as form_part
from pages.parts import opening
from pages.parts.endpoint import DEMO, SERVER
from pages.parts.form import GOES_ON, START
from pages.parts.opening import EXAMPLES
from tests.app.screen import app as app
from tests.app.screen import app_over, names, opened, press, shown, upload
from tests.app.screen import launched as launched
from tests.inspected import LABEL_CONFIG, LABELS, label_events, labels
from tests.processes import free_port
from tests.reporting.builders import run
from vpp.events import Evaluated, RunFinished, RunPaused
from vpp.llm.limits import Cap, Price
from vpp.runs.directory import RunDirectory
from vpp.runs.spec import EndpointSpec, Prices, RunSpec
from vpp.runs.store import EXAMPLE, REAL_EXAMPLE, TEXT_EXAMPLE
from vpp.settings import FOR_EXPERTS, Config

ROWS = "".join(f"{i};{i % 7},5;{'ja' if i % 2 else 'nein'}\n" for i in range(40))
NAMED = f"größe;breite;gut\n{ROWS}".encode("cp1252")


def read_field(app: AppTest, content: bytes, name: str) -> Any:
    return app.selectbox(key=f"new.read.table.csv.{len(content)}.{name}")


def test_each_decision_stands_in_its_field_and_a_choice_reads_the_table_anew(app: AppTest) -> None:
    upload(app, NAMED)
    assert [read_field(app, NAMED, name).format_func(None) for name in ("encoding", "delimiter", "header")] == [
        "Automatic (Windows-1252 (Western))",
        "Automatic (semicolon)",
        "Automatic (first line)",
    ]
    assert "Not UTF-8: read as Windows-1252" in shown(app)
    read_field(app, NAMED, "header").set_value(False).run()
    assert "column_1" in shown(app)
    assert "größe</td>" in shown(app)


def test_a_note_names_the_field_of_the_page_and_no_option_of_the_command_line(app: AppTest) -> None:
    rows = "".join(f"{'NA' if i == 3 else i},{i % 9}.5kg,c,{'yes' if i % 2 else 'no'}\n" for i in range(40))
    upload(app, f"a,w,c,y\n{rows}".encode())
    assert "name those that are not with “Words for a missing cell” under File format." in shown(app)
    assert "if that is wrong, “Its type” under Columns: " in shown(app)
    assert "it has one value only; see “Columns left out”." in shown(app)
    assert not any(option in shown(app) for option in ("--missing", "--kind", "--inputs"))


GERMAN = "preis;note;kauf\n" + "".join(
    f"{1 + i % 7}.{100 + i},50 €;{i % 5 + 1};{'ja' if i % 2 else 'nein'}\n" for i in range(80)
)


def choose_kind(app: AppTest, name: str, value: str) -> None:
    column = next(box for box in app.selectbox if (box.key or "").startswith("new.kind.column."))
    column.set_value(name).run()
    next(box for box in app.selectbox if (box.key or "").startswith("new.kind.of.")).set_value(value).run()


def test_a_kind_that_is_chosen_is_used_and_stays_or_is_refused_in_one_line(app: AppTest) -> None:
    upload(app, GERMAN.encode(), "haus.csv")
    assert "number in €" in shown(app)
    assert "50 €&#x27;, read as " in shown(app)
    assert "A guess, as the last suitable column." in shown(app)
    assert shown(app).index(">kauf\ntarget\n") < shown(app).index(">preis\n")
    choose_kind(app, "note", "category")
    assert "note: category" in shown(app)
    app.selectbox(key="new.target").set_value("note").run()
    assert "note has 5 labels, so this is classification." in shown(app)
    choose_kind(app, "kauf", "number")
    assert 'role="alert"' in shown(app)
    assert "cannot be read as numbers in one notation: line 2 holds" in shown(app)
    choose_kind(app, "kauf", "Automatic")
    assert 'role="alert"' not in shown(app)
    choose_kind(app, "note", "Automatic")
    assert "as chosen" not in shown(app)


HEART = "x1,x2,*num*\n" + "".join(f"{i % 20}.5,{i % 7},{'yes' if i % 2 else 'no'}\n" for i in range(40))


def test_columns_and_labels_are_described_a_line_each_and_reach_the_run(
    app: AppTest, launched: list[RunDirectory]
) -> None:
    upload(app, HEART.encode(), "heart.csv")
    (field,) = (field for field in app.text_area if field.label == "What columns and labels mean")
    field.set_value("x1 cholesterol").run()
    assert "&#x27;x1 cholesterol&#x27; describes nothing" in shown(app)
    field.set_value("x1 = cholesterol, mg/dl <b>\nlabel:yes = ill").run()
    assert "Prompts describe 1 column and 1 label" in shown(app)
    asked = "What the columns mean:\n<<<\nx1: cholesterol, mg/dl <b>\n*num* = yes: ill\n>>>\n\nYou apply a rule"
    assert asked in "".join(block.value for block in app.code)
    press(app, "Start the run")
    described = {"columns": {"x1": "cholesterol, mg/dl <b>"}, "labels": {"yes": "ill"}}
    assert [directory.spec().dataset["descriptions"] for directory in launched] == [described]


SHOPS = "shop,day,size,label\n" + "".join(
    f"shop {i % 20},2024-{i // 56 + 1:02}-{i // 2 % 28 + 1:02},{i % 9}.5,{'ab'[i // 20 % 2]}\n" for i in range(300)
)
MORE_SHOPS = "size,label,shop,day\n" + "".join(f"{i}.25,{'abc'[i % 3]},shop 77,2025-01-{i + 1:02}\n" for i in range(12))


@pytest.fixture
def form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    return upload(app_over(tmp_path, monkeypatch), SHOPS.encode(), "shops.csv")


def test_a_column_is_left_out_and_more_rows_train(form: AppTest) -> None:
    rows = form.selectbox(key="new.train.300")
    assert rows.options == ["100 of 300", "240 of 300"]
    left_out = next(field for field in form.multiselect if field.label == "Columns left out")
    assert left_out.value == []
    left_out.set_value(["shop"]).run()
    parts = re.findall(r'<th scope="col">(\w+)\n([a-z ]+)\n', shown(form))
    assert parts == [("label", "target"), ("shop", "left out"), ("day", "input"), ("size", "input")]


def test_a_test_file_is_described_or_refused_in_one_line(form: AppTest) -> None:
    form.segmented_control(key="new.split").set_value("A test file").run()
    assert "Until there is one, rows are drawn by chance." in shown(form)
    give_test_file(form, MORE_SHOPS.encode())
    assert form.selectbox(key="new.train.300").options[-1].startswith("300 of 300")
    assert "No training row has the label" in shown(form)
    form.button(key="new.test_file.replace").click().run()
    assert "Until there is one" in shown(form)
    give_test_file(form, b"size,label\n1,a\n2,b\n")
    assert "more.csv lacks &#x27;shop&#x27;, &#x27;day&#x27;, which shops.csv has" in shown(form)


def give_test_file(form: AppTest, content: bytes) -> None:
    form.file_uploader(key="new.test_file.upload").set_value(("more.csv", content, "text/csv"))
    form.run()


def preview(app: AppTest) -> str:
    return "\n".join(block.value for block in app.code)


def test_templates_are_previewed_and_reach_the_run_or_keep_it_from_starting(
    app: AppTest, launched: list[RunDirectory]
) -> None:
    """The demo model does not follow worked examples."""
    upload(app, TABLE)
    assert "Output: one of the labels, nothing else" in preview(app)
    assert " tokens." in shown(app)
    app.selectbox(key="new.templates").set_value("examples").run()
    prompt = next(block.value for block in app.code if block.value.startswith("--- system\n"))
    assert "\n\n--- assistant\n" in prompt
    assert "Earlier" not in prompt
    assert app.button(key="new.start").disabled
    assert "The demo model does not follow worked examples: take templates" in shown(app)
    app.selectbox(key="new.templates").set_value("paper").run()
    press(app, "Start the run")
    (directory,) = launched
    assert "answer_form_shown" not in (directory.path / "run.json").read_text("utf-8")


TABLE = b"a,label\n" + b"".join(b"%d,%d\n" % (i % 9, i % 2) for i in range(200))
NUMBER_TABLE = b"a,price\n" + b"".join(b"%d,%d.5\n" % (i, 1000 * i) for i in range(80))


def test_the_bar_says_what_is_expected_and_the_fold_what_at_most(app: AppTest) -> None:
    html = shown(upload(app, TABLE))
    bar = r'title="At most [\d,]+ calls\.[^"]*">about [\d,]+ calls · about [\d min]+s at readable speed</p>'
    assert re.search(bar, html)
    assert app.selectbox(key="new.train.200").options[0] == "100 of 200"
    assert "All calls</td>" in html
    assert "sequential rounds. Estimated time: about" in html
    assert "Money" not in html
    app.segmented_control(key="new.who").set_value(SERVER).run()
    assert "calls · time unknown</p>" in shown(app)
    assert "Test the endpoint to see how long that takes." in shown(app)
    assert "Estimated time" not in shown(app)


def test_prices_and_a_cap_are_shown_and_kept_in_the_run(app: AppTest, launched: list[RunDirectory]) -> None:
    upload(app, TABLE)
    app.number_input(key="new.price_in").set_value(2.0)
    app.number_input(key="new.max_calls").set_value(200).run()
    app.number_input(key="new.max_cost").set_value(1.5).run()
    html = shown(app)
    assert re.search(r"s at readable speed · a cost of about [\d.]+ · pauses at 200 calls or a cost of 1.50", html)
    assert "Money</td>" in html
    assert "The run needs at least 211 calls" in html
    press(app, "Start the run")
    (directory,) = launched
    assert directory.spec().cap == Cap(calls=200, cost=1.5)
    assert directory.spec().prices == Prices(learner=Price(prompt=2.0))


def test_several_seeds_are_begun_together_and_shown_as_one(app: AppTest, launched: list[RunDirectory]) -> None:
    upload(app, TABLE)
    app.number_input(key="new.seeds").set_value(3).run()
    assert "Three runs, each about" in shown(app)
    press(app, "Start the run")
    specs = [directory.spec() for directory in launched]
    assert [spec.config.seed for spec in specs] == [0, 1, 2]
    assert len({spec.group for spec in specs}) == 1
    assert "<h1>One setting, 3 seeds</h1>" in shown(app)


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


def test_a_table_that_cannot_be_used_gets_one_line(app: AppTest) -> None:
    for content, said in (
        (b"", "empty"),
        (b"a,b\n", "has one line only"),
        (b"\x00\x01\x02\x03\xff\xfe", "text"),
        (b"a,target\n" + b"1,yes\n" * 40, "target"),
        (b"a,target\n1,yes\n2,no\n3,yes\n", "batch"),
    ):
        upload(app, content)
        assert 'role="alert"' in shown(app), said
        assert said in shown(app)


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
    choose(upload(app, TABLE), epsilon="7")
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


def test_every_option_has_a_widget_where_it_has_an_effect(app: AppTest) -> None:
    upload(app, TABLE)
    assert "label has 2 labels, so this is classification." in shown(app)
    of_labels = shown_options(app)
    assert {"tempering", "abstention_cost", "epsilon"} <= of_labels
    assert "tau" not in of_labels
    assert option(app, "likelihood").options[0] == "labels: labels, as in the paper"
    choose(app, method="vml5")
    assert not {"particles", "tempering", "tau"} & shown_options(app)
    choose(app, method="smc")
    upload(app, NUMBER_TABLE)
    assert "price is a number, so this is regression." in shown(app)
    assert "epsilon" not in shown_options(app)
    assert of_labels | shown_options(app) == {field.name for field in fields(Config)} - set(FOR_EXPERTS)


def test_sentences_to_weigh_are_typed_in_and_the_plan_counts_each_once(app: AppTest) -> None:
    upload(app, TABLE)
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


def test_a_newcomer_sees_the_product_and_whoever_has_a_table_the_form(app: AppTest, tmp_path: Path) -> None:
    app.run()
    assert f"<h1>{opening.PRODUCT}</h1>" in shown(app)
    assert names(app)[:2] == [opening.WATCH_LIVE, opening.FINISHED]
    assert "About 30 s, without a key" in shown(app)
    labels(tmp_path)  # by another visitor
    assert names(app.run())[:2] == [opening.WATCH_LIVE, opening.FINISHED], "a press finds its button still there"
    upload(app, TABLE)
    assert "<h1>New run</h1>" in shown(app)
    assert opening.FINISHED not in names(app)


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (EXAMPLE, "run example-penguins"),
        (REAL_EXAMPLE, "qwen2.5-coder-1.5b"),
        (TEXT_EXAMPLE, "qwen2.5-coder-1.5b-instruct"),
    ],
)
def test_a_finished_example_opens_on_every_page_and_starts_nothing(
    app: AppTest, tmp_path: Path, run: str, says: str
) -> None:
    upload(app, TABLE)
    (menu,) = app.get("menu_button")
    menu.set_value(opening.SHIPPED_WORDS[run]).run()
    assert [path.name for path in tmp_path.iterdir()] == [run]
    assert says in shown(app)
    for page in ("posterior", "disagreement", "compare", "report"):
        app.switch_page(f"pages/{page}.py").run()
        assert run in shown(app) + str([field.value for field in app.multiselect])
    shipped = sorted(path.name for path in (EXAMPLES / run).iterdir())
    assert sorted(path.name for path in (tmp_path / run).iterdir()) == shipped


def test_a_page_without_a_run_or_with_a_missing_one_says_how_to_begin(app: AppTest) -> None:
    app.run()
    for page in ("watch", "posterior", "disagreement", "compare", "report"):
        app.switch_page(f"pages/{page}.py").run()
        assert "No runs yet" in shown(app)
        assert names(app) == ["Look at a finished example", "Use my own CSV"]
        app.session_state["run"] = "20200101-0000-nothing-smc-0000"
        app.switch_page(f"pages/{page}.py").run()
        assert "This run cannot be opened" in shown(app), page
        assert "There is no run 20200101-0000-nothing-smc-0000 among the runs of this app" in shown(app), page
        assert names(app) == ["Look at a finished example", "Use my own CSV"], page


def test_a_run_without_results_leads_to_watch(app: AppTest, tmp_path: Path) -> None:
    reader = run(tmp_path)
    for page, words in (
        ("posterior", "No hypotheses yet"),
        ("disagreement", "have not been asked yet"),
        ("report", "Nothing to report yet"),
    ):
        assert words in shown(opened(app, reader, page)), page
        assert not app.get("download_button")
        assert "Ruled out" not in shown(app)
        assert "Ask the posterior" not in shown(app)
    press(app, "Watch the run")
    assert ">Interrupted</span>" in shown(app), "no worker was started for it"


def test_a_table_and_its_fields_stay_after_another_page_until_it_is_replaced(app: AppTest) -> None:
    upload(app, TABLE, "mine.csv")
    app.number_input(key="new.test").set_value(20)
    app.selectbox(key="new.target").set_value("a").run()
    app.switch_page("pages/watch.py").run()
    app.switch_page("pages/new_run.py").run()
    assert "<b>mine.csv</b>" in shown(app)
    assert (app.number_input(key="new.test").value, app.selectbox(key="new.target").value) == (20, "a")
    upload(app, NUMBER_TABLE, "other.csv")
    assert "<b>other.csv</b>" in shown(app)
    assert "<b>mine.csv</b>" not in shown(app)
    assert "new.file.upload" not in [field.key for field in app.file_uploader]


def test_a_run_is_renamed_and_deleted(app: AppTest, tmp_path: Path) -> None:
    reader = labels(tmp_path)
    app.session_state["this_run"] = True
    opened(app, reader, "watch")
    app.text_input(key=f"this_run.name.{reader.directory.id}").set_value("Halves <b>")
    press(app, "Rename the run")
    assert reader.directory.spec().name == "Halves <b>"
    assert "<h1>Halves &lt;b&gt;</h1>" in shown(app)
    assert f"Run {reader.directory.id}: its hypotheses" in shown(app)
    press(app, "Delete it for good")
    assert not reader.directory.path.exists()
    assert f"Deleted run {reader.directory.id}." in shown(app)
    assert "No runs yet" in shown(app)


def test_a_run_is_started_again_on_its_rows_with_its_settings(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every field of its server's settings is the same, also those that the form does not ask for."""
    reader, specs = labels(tmp_path), list[RunSpec]()
    spec, url = reader.directory.spec(), f"http://127.0.0.1:{free_port()}/v1"
    texts = {"base_url": url, "optimizer_base_url": f"{url}/o", "model": "m", "optimizer_model": "o"}
    texts |= {"structured": "auto", "body": '{"provider": {"data_collection": "deny"}}', "reasoning_effort": "low"}
    usual = {each.name: getattr(EndpointSpec(), each.name) for each in fields(EndpointSpec)}
    numbers = {name: value + 1 for name, value in usual.items() if type(value) in (int, float)}
    own = EndpointSpec(**{**usual, **numbers, **texts, "cache": False, "demo_latency_ms": 0})
    assert [name for name, value in usual.items() if getattr(own, name) == value] == ["demo", "demo_latency_ms", "gguf"]
    reader.directory.amend(config=replace(spec.config, epsilon="0.125", prior="Say yes often."), endpoint=own)
    monkeypatch.setattr(form_part, "draw_start", lambda _, spec, *__: specs.append(spec))
    app.session_state["this_run"] = True
    opened(app, reader, "watch")
    press(app, "Start again with changes")
    assert f"run {reader.directory.id}</p>" in shown(app)
    assert not app.warning
    assert app.text_input(key="new.option.epsilon").value == "0.125"
    assert app.text_area(key="new.option.prior").value == "Say yes often."
    assert app.number_input(key="new.option.batch_size").value == spec.config.batch_size
    assert specs[-1].endpoint == own
    app.switch_page("pages/new_run.py").run()
    left_out = "own fields in each request are left out"
    assert left_out not in shown(app)
    app.text_input(key="new.model").set_value("another").run()
    assert specs[-1].endpoint == replace(own, model="another", body="")
    assert left_out in shown(app)
    press(app, "Use another table")
    assert app.file_uploader
