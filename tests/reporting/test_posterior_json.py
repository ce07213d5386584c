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
from tests.sampled import sampled_run
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


def test_hypotheses_particles_texts_ruled_out_and_rows_are_those_of_the_findings(tmp_path: Path) -> None:
    content = read(inspected.labels(tmp_path / "labels"))
    hypotheses, out = content["hypotheses"], {each["text"]: each for each in content["ruled_out"]}
    assert [each["weight"] for each in hypotheses] == pytest.approx([0.6, 0.3, 0.1])
    assert [each["slots"] for each in hypotheses] == [[0, 2], [1], [3]]
    assert [w["text"] for w in hypotheses[0]["wordings"]] == [inspected.EVEN, inspected.PAIR]
    assert (content["rows_compared"], content["compared_by"]) == (10, "evaluations")
    assert [p["log_likelihood"] for p in content["particles"]] == [math.log(w) for w in (0.4, 0.3, 0.2, 0.1)]
    assert [p["hypothesis"] for p in content["particles"]] == [0, 1, 0, 2]
    assert content["dataset"]["provenance"]["sha256"] == "ab" * 32
    assert (content["result"]["status"], content["result"]["metric"]["name"]) == ("finished", "accuracy")
    assert set(out) == {inspected.LUCK, inspected.SEVEN, inspected.NONE, "Sorry."}
    assert (out[inspected.LUCK]["reason"], out[inspected.LUCK]["step"], out[inspected.LUCK]["times"]) == (
        "rejected",
        1,
        3,
    )
    assert out[inspected.SEVEN]["against"][0] == {"row": 0, "said": "no", "true": "yes", "is_decisive": True}
    rows = {each["row"]: each for each in content["disagreement"]}
    assert (rows[9]["true"], rows[9]["prediction"], rows[9]["uncertain"]) == ("no", "yes", True)
    assert rows[9]["shares"] == pytest.approx({"yes": 0.9, "no": 0.1})
    assert rows[9]["entropy_bits"] == pytest.approx(0.46900, abs=1e-5)  # -0.9 log2 0.9 - 0.1 log2 0.1
    rows = {each["row"]: each for each in read(inspected.numbers(tmp_path / "numbers"))["disagreement"]}
    assert (rows[4]["prediction"], rows[4]["low"], rows[4]["high"]) == (1.0, 0.0, 2.0)
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
