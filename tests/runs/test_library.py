"""`vpp.fit` and `vpp.load_run`: the library's front door, through the same worker."""

from pathlib import Path

import pandas as pd
import pytest

import vpp
from tests.llm.stub import refusal
from tests.processes import PENGUINS, Desk, Model, Outcome, but_times_and_ids
from vpp.errors import DataError, EndpointError, InputError, RunError
from vpp.runs.spec import EndpointSpec

SMALL = {"particles": 3, "epochs": 1, "train_size": 30, "test_size": 10, "reading": "rows"}


@pytest.fixture
def here(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """This process with a desk's environment."""
    monkeypatch.chdir(desk.folder)
    for name in ("VPP_RUNS_DIR", "VPP_CACHE_DIR", "PYTHONPATH", "VPP_MAX_RUNNING"):
        monkeypatch.setenv(name, desk.variables[name])
    return desk


def endpoint(served: Model) -> EndpointSpec:
    return EndpointSpec(base_url=served.base_url, model="demo", cache=False, structured="auto")


def test_fit_gives_the_posterior_that_the_command_line_gives(
    here: Desk, served: Model, undisturbed: dict[str, Outcome]
) -> None:
    posterior = vpp.fit(PENGUINS, target="species", endpoint=endpoint(served), name="mine", **SMALL)
    expected = undisturbed["smc"].result
    assert but_times_and_ids(posterior.result) == but_times_and_ids(expected)
    assert posterior.weights == expected["weights"]
    assert len(posterior.hypotheses) == 3
    assert posterior.view.evaluations["test"].value == expected["metric"]["test"]
    assert (posterior.directory.path / "report.md").read_text().startswith("# ")
    again = vpp.load_run(posterior.directory.path)
    assert (again.hypotheses, again.weights, again.result) == (
        posterior.hypotheses, posterior.weights, posterior.result,
    )  # fmt: skip


def test_fit_takes_a_frame_and_the_posterior_predicts_one(here: Desk) -> None:
    frame = pd.DataFrame({"size": [i % 20 / 2 for i in range(40)], "noise": [i * 7 % 11 for i in range(40)]})
    frame["kind"] = ["small" if size < 5 else "large" for size in frame["size"]]
    meant = {"size": "of the\nbox", "labels": {"small": "fits a hand"}}
    posterior = vpp.fit(frame, target="kind", method="vml", epochs=1, descriptions=meant)
    record = {"columns": {"size": "of the box"}, "labels": {"small": "fits a hand"}}
    assert posterior.directory.spec().dataset["descriptions"] == record
    assert posterior.result["status"] == "finished"
    new = pd.DataFrame({"noise": [1, 2], "size": [0.5, 9]})
    assert set(posterior.predict(new)) <= {"small", "large"}
    told = posterior.disagreement(new)
    assert (told.index.tolist(), told["uncertain"].tolist()) == ([0, 1], [False, False])
    assert told["prediction"].tolist() == told["particle_0"].tolist() == posterior.predict(new)
    answers = posterior.ask(new)
    assert [len(particle) for particle in answers.predictions] == [2]
    with pytest.raises(DataError, match="size"):
        posterior.predict(pd.DataFrame({"noise": [1]}))


def test_fit_raises_what_went_wrong(here: Desk, served: Model, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        vpp.fit("nofile.csv", target="species")
    with pytest.raises(InputError, match="particles is 0"):
        vpp.fit(PENGUINS, target="species", particles=0)
    with pytest.raises(InputError, match="did you mean 'particles'"):
        vpp.fit(PENGUINS, target="species", paritcles=3)
    with pytest.raises(InputError, match="did you mean 'sex'"):
        vpp.fit(PENGUINS, target="species", descriptions={"sexx": "female or male"})
    here.folder.joinpath("birds.csv").write_bytes(PENGUINS.read_bytes())
    here.folder.joinpath("birds.columns.csv").write_text("column,description\nsexx,female or male\n")
    with pytest.raises(InputError, match=r"birds\.columns\.csv: a description is given for the column 'sexx'"):
        vpp.fit("birds.csv", target="species")
    with pytest.raises(InputError, match="no model"):
        vpp.fit(PENGUINS, target="species", endpoint=served.base_url)
    assert not (tmp_path / "runs").exists()
    served.refusal = refusal(401, "who are you?")
    with pytest.raises(EndpointError, match="key refused"):
        vpp.fit(PENGUINS, target="species", endpoint=endpoint(served), **SMALL)
    with pytest.raises(RunError, match="holds no run"):
        vpp.load_run(tmp_path)
