"""The Posterior page's states, without a browser."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.drawn import app as app
from tests.app.drawn import app_over, opened, shown
from tests.reporting.builders import SEED, dataset, drawn, evaluated, finished, proposed, run, started
from vpp.events import Event
from vpp.settings import Config
from vpp.wording import markup

MH = Config(method="mh", particles=2)


def deck(app: AppTest, key: str) -> str:
    """The cards that a component draws; empty where there is no such deck."""
    found = [e.proto for e in app.get("bidi_component") if e.proto.id.endswith(key)]
    return found[0].bytes.decode().partition("\n")[2] if found else ""


def texts(html: str, of: Sequence[str]) -> list[str]:
    """Return those sentences that are in a deck, in its order."""
    places = {text: html.find(text.removeprefix(SEED).strip() + "</p>") for text in of}
    return sorted((text for text, place in places.items() if place >= 0), key=lambda text: places[text])


OUT = (inspected.LUCK, inspected.NONE, inspected.SEVEN)


def test_a_finished_run_is_read_from_its_ideas_to_what_was_ruled_out_and_searched(app: AppTest, tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    page = shown(opened(app, reader, "posterior"))
    for words in (
        'two others share the rest. <a href="#ruled-out">Three texts were ruled out.</a>',
        "heaviest first",
        "Sequential Monte Carlo · K = 4 · 4 training rows, 6 test",
        markup.DEMO_CHIP,
        "Compared on 10 rows: 6 test and 4 training. Bar length = summed weight.",
        "Four particles hold three ideas; at 95 % agreement three different explanations remain.",
        "2 rejected, 1 resampled away and 1 unreadable",
        "4 texts: all are shown.",
    ):
        assert words in page
    sections = re.findall(r"<h2><button[^>]*>([^<]+)|<h2>([^<]+)", page)
    assert ["".join(names) for names in sections] == [
        "Hypotheses grouped by identical predictions",
        "Ask the posterior",
        "Genealogy",
        "Put it on trial",
        "Ruled out",
        "Agreement between hypotheses",
    ]
    assert texts(deck(app, "posterior.ruled_out.deck"), OUT) == [inspected.LUCK, inspected.NONE, inspected.SEVEN]
    assert "the largest family is 2 particles of first hypothesis 0." in page
    assert "Its ancestors" not in page
    app.selectbox(key=f"posterior.genealogy.particle.{reader.directory.id}").set_value(2).run()
    assert "Particle 2 after step 1, and which step brought in each sentence" in shown(app)
    app.selectbox(key=f"posterior.genealogy.particle.{reader.directory.id}").set_value(None).run()
    assert "Its ancestors" not in shown(app)
    assert not app.warning
    app.slider(key="posterior.threshold").set_value(80).run()
    assert "at 80 % agreement two different explanations remain." in shown(app)
    assert "<td>1 and 2</td><td>3</td>" in shown(app)
    app.text_input(key="posterior.ruled_out.search").set_value("7 HOLDS").run()
    assert texts(deck(app, "posterior.ruled_out.deck"), OUT) == [inspected.SEVEN]
    app.text_input(key="posterior.ruled_out.search").set_value("nowhere").run()
    assert "No ruled-out text matches." in shown(app)
    app.text_input(key="posterior.ruled_out.search").set_value("")
    app.selectbox(key="posterior.ruled_out.order").set_value("worst").run()
    assert texts(deck(app, "posterior.ruled_out.deck"), OUT) == [inspected.NONE, inspected.LUCK, inspected.SEVEN]
    app.segmented_control(key="posterior.ruled_out.reason").set_value("resampled away")
    app.segmented_control(key="posterior.wording").set_value("shortest").run()
    assert texts(deck(app, "posterior.ruled_out.deck"), OUT) == [inspected.NONE]
    assert "Say yes if a is even" in deck(app, "posterior.ideas").split("</p>")[1]
    assert not app.exception


def test_forty_are_shown_until_more_are_asked_for(app: AppTest, tmp_path: Path) -> None:
    many: list[Event] = [
        event
        for step in range(50)
        for event in (*(proposed(step, k, "a", f"no {step} {k}.") for k in range(2)), finished(step, ("a", "b")))
    ]
    opened(app, run(tmp_path, started(MH, inspected.LABELS, steps=50), *drawn("a", "b"), *many), "posterior")
    assert deck(app, "posterior.ruled_out.deck").count("<article") == 40
    assert "40 of 100 texts." in shown(app)
    app.button(key="posterior.ruled_out.more").click().run()
    assert deck(app, "posterior.ruled_out.deck").count("<article") == 80
    app.button(key="posterior.ruled_out.more").click().run()
    assert "100 texts: all are shown." in shown(app)
    app.text_input(key="posterior.ruled_out.search").set_value("no").run()
    assert deck(app, "posterior.ruled_out.deck").count("<article") == 40


def test_three_ideas_are_shown_until_the_lighter_ones_are_asked_for(app: AppTest, tmp_path: Path) -> None:
    six = Config(method="mh", particles=6)
    opened(app, run(tmp_path, started(six, inspected.LABELS), *drawn(*"abcdef"), config=six), "posterior")
    assert deck(app, "posterior.ideas").count("<article") == 3
    assert app.button(key="posterior.more").label == "Show 3 more ideas"
    app.button(key="posterior.more").click().run()
    assert deck(app, "posterior.ideas").count("<article") == 6
    assert "posterior.more" not in [button.key for button in app.button]


def test_two_ideas_are_compared_in_a_sentence_the_better_one_first(app: AppTest, tmp_path: Path) -> None:
    said = {"a": ("yes",) * 6, "b": ("yes",) * 5 + ("no",)}
    events = [started(MH, inspected.LABELS), *drawn("a", "b"), finished(0, ("a", "b"))]
    evaluation = evaluated(inspected.LABELS, said, slots=("a", "b"))
    opened(app, run(tmp_path, *events, evaluation, data=inspected.LABELS, config=MH), "posterior")
    assert "Ideas 1 and 2 answer 1 of 6 rows differently." in shown(app)
    assert texts(deck(app, "posterior.ideas"), ("a", "b")) == ["b", "a"]
    assert "held by most particles first, then most rows compared right" in shown(app)
    assert not app.slider
    assert "of the weight" not in shown(app)


def test_before_an_evaluation_the_page_says_what_is_not_known(app: AppTest, tmp_path: Path) -> None:
    opened(app, run(tmp_path, started(MH, inspected.LABELS), *drawn("a", "b"), config=MH), "posterior")
    assert "Compared by their words only" in shown(app)
    assert "This is known once all particles have answered the same rows" in shown(app)
    assert "Nothing was ruled out: no proposal was rejected and none resampled away." in shown(app)


def test_a_method_that_drops_nothing_says_so(app: AppTest, tmp_path: Path) -> None:
    vml = Config(method="vml")
    opened(app, run(tmp_path, started(vml, inspected.LABELS), *drawn("only"), config=vml), "posterior")
    assert "There is one hypothesis." in shown(app)
    assert "Nothing can be ruled out: this method accepts every proposal" in shown(app)
    assert "Agreement between hypotheses" not in shown(app)


def test_numbers_are_compared_in_the_targets_unit(app: AppTest, tmp_path: Path) -> None:
    opened(app, inspected.numbers(tmp_path), "posterior")
    assert "differ by at most 0.2 on 8 rows" in shown(app)
    assert "test MSE 0.25 on 4 rows" in deck(app, "posterior.ideas")


def test_more_than_two_labels_are_listed_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    three = dataset(["a", "b", "c", "a"], ["a", "b", "b"])
    events = [
        started(Config(particles=1), three),
        *drawn("one"),
        finished(0, ("one",)),
        evaluated(three, {"one": ("a", "c", None)}, slots=("one",)),
    ]
    app = opened(app_over(tmp_path, monkeypatch), run(tmp_path, *events, data=three), "posterior")
    assert "<summary>Label by label, on the test rows</summary>" in shown(app)
    assert '<td>b</td><td class="r">1</td><td class="r">2</td><td class="r">0</td><td class="r">0 %</td>' in shown(app)
