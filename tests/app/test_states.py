"""Each page's states, without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
PAGES = ("pages/watch.py", "pages/posterior.py", "pages/disagreement.py", "pages/report.py")
START_S = 30


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=START_S)


def shown(app: AppTest) -> str:
    """The HTML that a page drew."""
    return "".join(str(element.proto.body) for element in app.get("html"))


def upload(app: AppTest, content: bytes, name: str = "table.csv") -> AppTest:
    app.run()
    app.file_uploader(key="new.upload").set_value((name, content, "text/csv"))
    return app.run()


def test_the_first_page_offers_the_example(app: AppTest) -> None:
    app.run()
    assert not app.exception
    assert "Run the example" in [button.label for button in app.button]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_without_a_run_says_what_to_do(app: AppTest, page: str) -> None:
    app.run()
    app.switch_page(page).run()
    assert not app.exception
    assert "No run is open" in shown(app)
    assert "Run the example" in [button.label for button in app.button]


def test_an_uploaded_table_is_described_before_anything_is_asked(app: AppTest) -> None:
    upload(app, b"a,b,label\n" + b"".join(b"%d,%d,%d\n" % (i, i % 7, i % 2) for i in range(80)))
    assert not app.exception
    assert "label has 2 labels, so this is classification." in shown(app)
    assert "At most" in shown(app)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"a,b\n", "at least one row"),
        (b"\x00\x01\x02\x03\xff\xfe", "text"),
        (b"a,target\n" + b"1,yes\n" * 40, "target"),
        (b"a,target\n1,yes\n2,no\n3,yes\n", "batch"),
    ],
)
def test_a_table_that_will_not_do_gets_one_line(app: AppTest, content: bytes, said: str) -> None:
    upload(app, content)
    assert not app.exception
    assert 'role="alert"' in shown(app)
    assert said in shown(app)


def test_choosing_a_number_as_target_makes_it_regression(app: AppTest) -> None:
    rows = b"".join(b"%d.5,%d.25,%d\n" % (i % 9, i * 3, i % 2) for i in range(80))
    upload(app, b"a,b,label\n" + rows)
    app.selectbox(key="new.target").set_value("b").run()
    assert not app.exception
    assert "b is a number, so this is regression." in shown(app)


def test_an_option_that_cannot_be_is_refused_in_place(app: AppTest) -> None:
    upload(app, b"a,label\n" + b"".join(b"%d,%d\n" % (i % 9, i % 2) for i in range(80)))
    app.text_input(key="new.tau.auto").set_value("-1").run()
    assert not app.exception
    assert "tau" in shown(app)
    assert 'role="alert"' in shown(app)
