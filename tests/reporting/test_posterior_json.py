"""posterior.json against the two hand-made runs, and against docs/files.md."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from tests.docs.test_pages import ROOT
from tests.reporting.builders import YES_NO, run
from tests.reporting.sampled import sampled_run
from vpp.data.descriptions import Descriptions
from vpp.reporting.posterior_json import posterior_json
from vpp.runs.journal import RunReader

Json = dict[str, Any]
MAPS = ("config", "models", "templates", "versions", "result.calls", "result.tokens", "dataset.provenance",
        "dataset.descriptions.columns", "dataset.descriptions.labels")  # fmt: skip
"""Objects whose keys are names from elsewhere, or documented as one."""


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def read(reader: RunReader) -> Json:
    content: Json = json.loads(posterior_json(reader), parse_constant=refuse)
    return content


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """The file of the run of labels."""
    return read(inspected.labels(tmp_path_factory.mktemp("labels")))


def test_hypotheses_and_particles_have_their_weights_and_what_made_them(content: Json) -> None:
    hypotheses = content["hypotheses"]
    assert [each["weight"] for each in hypotheses] == pytest.approx([0.6, 0.3, 0.1])
    assert [each["slots"] for each in hypotheses] == [[0, 2], [1], [3]]
    assert [w["text"] for w in hypotheses[0]["wordings"]] == [inspected.EVEN, inspected.PAIR]
    assert [each["test"]["n_correct"] for each in hypotheses] == [5, 3, 4]
    assert [each["train"]["n_correct"] for each in hypotheses] == [4, 4, 3]
    assert (content["rows_compared"], content["compared_by"]) == (10, "evaluations")
    assert content["similarity"] == [[1.0, 0.8, 0.6], [0.8, 1.0, 0.6], [0.6, 0.6, 1.0]]
    assert [p["log_likelihood"] for p in content["particles"]] == [math.log(w) for w in (0.4, 0.3, 0.2, 0.1)]
    assert [p["hypothesis"] for p in content["particles"]] == [0, 1, 0, 2]
    assert content["config"]["particles"] == 4
    assert content["dataset"]["provenance"]["sha256"] == "ab" * 32
    assert (content["result"]["status"], content["result"]["metric"]["name"]) == ("finished", "accuracy")


def test_what_was_ruled_out_is_there_with_the_rows_that_decided_it(content: Json) -> None:
    out = {(each["reason"], each["text"]): each for each in content["ruled_out"]}
    assert set(out) == {
        ("rejected", inspected.LUCK),
        ("rejected", inspected.SEVEN),
        ("resampled away", inspected.NONE),
        ("unparsable", "Sorry."),
    }
    assert (out["rejected", inspected.LUCK]["step"], out["rejected", inspected.LUCK]["times"]) == (1, 3)
    seven = out["rejected", inspected.SEVEN]
    assert (seven["n_rows"], seven["n_against"]) == (2, 2)
    assert seven["against"][0] == {"row": 0, "said": "no", "true": "yes", "is_decisive": True}
    assert "no “New rule:” line" in out["unparsable", "Sorry."]["why_unread"]


def test_doubt_is_shown_row_by_row(content: Json, tmp_path: Path) -> None:
    rows = {each["row"]: each for each in content["disagreement"]}
    assert (rows[9]["true"], rows[9]["prediction"], rows[9]["uncertain"]) == ("no", "yes", True)
    assert rows[9]["shares"] == pytest.approx({"yes": 0.9, "no": 0.1})
    # -0.9 log2 0.9 - 0.1 log2 0.1
    assert rows[9]["entropy_bits"] == pytest.approx(0.46900, abs=1e-5)
    assert rows[6]["abstained"] == pytest.approx(0.1)
    # Numbers have a spread and an interval.
    rows = {each["row"]: each for each in read(inspected.numbers(tmp_path))["disagreement"]}
    # Answers 1, 2, 0 of weights 0.5, 0.25, 0.25: mean 1, variance 0.25 + 0.25.
    assert (rows[4]["prediction"], rows[4]["low"], rows[4]["high"]) == (1.0, 0.0, 2.0)
    assert rows[4]["spread"] == pytest.approx(math.sqrt(0.5))
    assert (rows[7]["abstained"], rows[7]["shares"], rows[7]["entropy_bits"]) == (0.25, None, None)


def test_the_page_documents_every_field_and_no_other(tmp_path: Path) -> None:
    readers = [inspected.labels(tmp_path / "labels"), inspected.numbers(tmp_path / "numbers")]
    readers.append(inspected.programs(tmp_path / "programs"))
    readers += [sampled_run(name) for name in ("adaptive", "vml5")]
    readers.append(run(tmp_path / "described", data=replace(YES_NO, descriptions=Descriptions(columns=(("a", "?"),)))))
    written = {path for reader in readers for path in paths(read(reader))}
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    page = page.split("## posterior.json")[1].split("## Records")[0]
    documented = {path for field in re.findall(r"^- `([^`]+)`:", page, flags=re.MULTILINE) for path in expanded(field)}
    implied = {path for field in documented for path in holders(field)}
    assert written - documented - implied == set()
    assert documented - written == set()


def holders(field: str) -> Iterator[str]:
    """The objects and lists around a field: `a` and `a[].b` of `a[].b.c`."""
    while "." in field:
        field = field.rpartition(".")[0]
        yield field.removesuffix("[]")


def expanded(field: str) -> Iterator[str]:
    """The fields that `a.{b,c}.d` stands for."""
    before, brace, rest = field.partition("{")
    if not brace:
        yield field
        return
    inner, _, after = rest.partition("}")
    for each in inner.split(","):
        yield from expanded(f"{before}{each}{after}")


def paths(value: Any, at: str = "") -> Iterator[str]:
    """`ideas[].test.n` of every field, objects with names from elsewhere as one."""
    if at:
        yield at
    if at in MAPS or at.endswith("].shares"):
        return
    if isinstance(value, dict):
        for key, each in value.items():
            yield from paths(each, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for each in value:
            if isinstance(each, dict):
                yield from (path for path in paths(each, f"{at}[]") if path != f"{at}[]")
