"""`reword`: a text beside a particle's, from the command line and from Python, and the run that keeps it."""

from pathlib import Path

import pytest

import vpp
from tests.processes import PENGUINS, TARGET, Desk
from vpp.data.tasks import generate
from vpp.findings.hypotheses import ancestry
from vpp.findings.result import evidence
from vpp.runs.reader import RunReader

SIZES = ("--train-size", "12", "--test-size", "5", "--batch-size", "6", "--particles", "3", "--epochs", "1")
TEXT = "If bill_length_mm is at most 43, output Adelie; otherwise, output Gentoo."


@pytest.fixture
def desk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    (desk.folder / "linear.csv").write_bytes(generate("linear", train_size=12, test_size=5))
    head, *birds = PENGUINS.read_text().splitlines()
    (desk.folder / "birds.csv").write_text("\n".join([head, *birds[::6]]))
    (desk.folder / "mine.txt").write_text(f"{TEXT}\nOutput Adelie.\n")
    for name in ("VPP_RUNS_DIR", "VPP_CACHE_DIR"):
        monkeypatch.setenv(name, desk.variables[name])
    return desk


def began(desk: Desk, *words: str | Path) -> Path:
    outcome = desk.vpp(*words, "--demo", "--quiet", "--json", "--run-dir", "first")
    assert outcome.code == 0, outcome.err
    return desk.folder / "first"


@pytest.mark.parametrize(
    ("words", "text", "label"),
    [
        (("run", "linear.csv", "--target", "y", *SIZES, "--method", "mh"), "The output is 2 times x.", None),
        (("weigh", "birds.csv", *TARGET, "--start", "mine.txt"), "Output Gentoo.", "nominal"),
    ],
    ids=["mh, numbers", "weigh"],
)
def test_a_text_is_compared_then_kept_as_a_new_run_that_verifies(
    desk: Desk, words: tuple[str | Path, ...], text: str, label: str | None
) -> None:
    first = began(desk, *words)
    before = {path.name: path.read_bytes() for path in first.iterdir() if path.is_file()}
    said = desk.vpp("reword", first, "--particle", "1", "--text", text)
    assert said.code == 0, said.err
    assert said.out.startswith("Acceptance probability ")
    assert "of the one it would replace" in said.out
    result = desk.vpp("reword", first, "--particle", "1", "--text", text, "--json", "--quiet").result
    view = RunReader(desk.directory("first")).refresh().view
    if view.final_scored:
        assert result["log_likelihood"]["old"] == view.final_scored[1].log_likelihood
    compared, kept = vpp.reword(first, 1, text)
    assert kept is None
    assert (compared.log_alpha, list(compared.won)) == (result["log_alpha"], result["won"])
    assert {path.name: path.read_bytes() for path in first.iterdir() if path.is_file()} == before

    made = desk.vpp("reword", first, "--particle", "1", "--text", text, "--keep", "--json", "--run-dir", "second")
    assert (made.code, made.result["status"]) == (0, "finished"), made.err
    assert "Acceptance probability" in made.err
    second = RunReader(desk.directory("second"))
    snapshot = second.refresh()
    found, drawn = evidence(snapshot.spec, snapshot.view), snapshot.view.drawn
    assert (found["label"] if found else None) == label
    assert found is None or "reworded by a person" in found["because"][0]
    assert [drawn[slot].origin for slot in drawn] == ["continued" if slot != 1 else "yours" for slot in drawn]
    assert drawn[1].text.endswith(text)
    assert any(ancestry(snapshot.view, slot)[0].happened == "yours" for slot in range(snapshot.view.size))
    assert [row.id for row in second.dataset().train] == [
        row.id for row in RunReader(desk.directory("first")).dataset().train
    ]
    verified = desk.vpp("verify", "second")
    assert verified.code == 0, verified.out
