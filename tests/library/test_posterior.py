"""A Posterior of a run on disk, frames as tables, and the estimators with scikit-learn's checks, on the demo model."""

import asyncio
import math
import pickle
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

import vpp
from tests import inspected
from tests.llm.stub import refusal
from tests.processes import PENGUINS, Desk, Model, Outcome, but_times_and_ids, model
from tests.reporting.builders import dataset, drawn, run, started
from vpp.data.dataset import ReadAs
from vpp.data.table import read_like
from vpp.errors import DataError, EndpointError, InputError, RunError
from vpp.library.posterior import ask_all, table_of
from vpp.runs.asking import Background
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config

HOSTILE = "<img src=x onerror=alert(1)> \x1b[31m [a](http://b) </td></table><script>x</script>"


@pytest.fixture
def labels(tmp_path: Path) -> vpp.Posterior:
    return vpp.load_run(inspected.labels(tmp_path).directory.path)


def test_particles_have_weight_text_idea_and_log_likelihood(labels: vpp.Posterior) -> None:
    particle = labels.particles[2]
    assert (particle.slot, particle.weight, particle.text) == (2, 0.2, inspected.PAIR)
    assert (particle.hypothesis, particle.log_likelihood, particle.prior) == (0, math.log(0.2), None)
    assert [idea.slots for idea in labels.ideas] == [(0, 2), (1,), (3,)]
    assert (labels.weights, labels.hypotheses) == ([0.4, 0.3, 0.2, 0.1], list(inspected.LABEL_SLOTS))


def test_disagreement_is_a_frame_with_the_most_divided_row_first(labels: vpp.Posterior) -> None:
    frame = labels.disagreement()
    # Votes of 0.6, 0.7 and 0.9 of the weight; all agree on the rest.
    assert frame.index.tolist() == [8, 7, 9, 4, 5, 6]
    assert frame.loc[[8, 7, 9, 6], "share"].tolist() == pytest.approx([0.6, 0.7, 0.9, 0.9])
    assert frame.loc[6, "abstained"] == pytest.approx(0.1)
    assert frame["uncertain"].tolist() == [True, True, True, False, False, False]
    assert frame.loc[9, ["truth", "prediction", "particle_1", "particle_3"]].tolist() == ["no", "yes", "yes", "no"]
    assert frame.loc[8, "entropy_bits"] == pytest.approx(-0.6 * math.log2(0.6) - 0.4 * math.log2(0.4))


def test_a_lineage_goes_from_the_first_hypothesis_to_now(labels: vpp.Posterior) -> None:
    assert [(each.step, each.how, each.text) for each in labels.lineage(1)] == [
        (-1, "first", inspected.EVEN),
        (1, "rewritten, accepted", inspected.BIG),
    ]
    with pytest.raises(InputError, match="has no particle 4"):
        labels.lineage(4)


def test_a_notebook_and_a_terminal_get_a_line_an_idea_and_hostile_text_stays_text(
    labels: vpp.Posterior, tmp_path: Path
) -> None:
    assert f"| 30 % | 50.0 % | 1 copy | {inspected.BIG} |" in labels._repr_markdown_()
    assert re.search(rf"\n30 % +50.0 % +1 copy +{re.escape(inspected.BIG)}\n", str(labels))

    data = dataset(["yes", "no"], ["yes"])
    reader = run(
        tmp_path / "hostile", started(Config(particles=2), data), *drawn(HOSTILE, "b"), data=data, name=HOSTILE
    )
    posterior = vpp.load_run(reader.directory.path)
    assert not re.search(r"(?<!\\)<(img|script)", posterior._repr_markdown_())
    assert "\x1b" not in str(posterior)


class Waiting:
    total = done = 1

    def __init__(self, seconds: float) -> None:
        self.seconds, self.begun, self.ends = seconds, threading.Event(), list[str]()

    async def go(self, **_: object) -> str:
        self.begun.set()
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.ends.append("cancelled")
            raise
        return "done"


def test_models_are_asked_where_an_event_loop_runs_and_an_interrupt_cancels_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Jupyter runs each cell inside an event loop."""
    question = Waiting(60)

    def interrupt(*_: object) -> bool:
        assert question.begun.wait(60)
        raise KeyboardInterrupt

    async def cell() -> None:
        assert ask_all(Waiting(0)) == "done"
        with monkeypatch.context() as here:
            here.setattr(Background, "wait", interrupt)
            with pytest.raises(KeyboardInterrupt):
                ask_all(question)

    asyncio.run(cell())
    assert question.ends == ["cancelled"]


def test_a_frame_keeps_empty_cells_and_words_for_a_missing_one_as_values_except_among_numbers() -> None:
    table = table_of(pd.DataFrame({"x": [1.0, None, 3.0], "y": ["a", "b", None]}))
    assert (table.n_rows, table.cells("x")[1], table.cells("y")[2]) == (3, None, None)
    for empty in (None, float("nan"), pd.NA, "", "  "):
        assert table_of(pd.DataFrame({"x": [1.0, empty, 3.0]}, dtype=object)).cells("x") == ("1", None, "3"), empty
    frame = pd.DataFrame(
        {"x": ["NA", "none", "b", None], "y": ["NA", 1, 2.5, 3], "z": pd.Series([0.1] * 4, dtype="f4")}
    )
    table = table_of(frame)
    assert table.cells("x") == ("NA", "none", "b", None)
    assert table.cells("y") == (None, "1", "2.5", "3")
    assert table.cells("z") == ("0.1",) * 4
    assert table_of(frame, read_as=ReadAs(missing="none")).cells("x") == ("NA", None, "b", None)
    gaps = table_of(pd.DataFrame({"x": [None], "z": [float("nan")]}))
    assert (gaps.n_rows, gaps.values) == (1, ((None,), (None,)))
    new = read_like(table_of(pd.DataFrame({"x": ["null", None]})), table.columns, {})
    assert new.cells("x") == ("null", None)


def test_no_table_is_refused_by_its_type_and_reading_stops_once_a_file_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for data in (None, 3, [{"x": 1}], pd.Series([1, 2], name="x")):
        with pytest.raises(InputError, match=f"data is a {type(data).__name__}: give a path"):
            table_of(data)  # type: ignore[arg-type]
    (tmp_path / "t.csv").write_bytes(b"x,y\n1,2\n3,4\n5,6\n")
    monkeypatch.setattr("vpp.cli.system.MAX_BYTES", 7)
    assert table_of(tmp_path / "t.csv").cells("x") == ("1",)
    monkeypatch.setattr("vpp.data.table.MAX_BYTES", 7)
    with pytest.raises(InputError, match=r"t.csv is larger than 0 MB: keep a sample of its rows"):
        table_of(tmp_path / "t.csv")


def test_several_seeds_give_the_posterior_of_all_their_sentences() -> None:
    small = {"train_size": 30, "test_size": 10, "particles": 3, "epochs": 1}
    found = vpp.fit(PENGUINS, target="species", seeds=2, **small)
    assert [run.config.seed for run in found.runs] == [0, 1]
    assert {text for run in found.runs for text in run.hypotheses} == set(found.hypotheses)
    assert not any(run.runs for run in found.runs)
    assert len(found.predict(pd.read_csv(PENGUINS).head(3))) == 3


SMALL: dict[str, Any] = {"particles": 2, "epochs": 1, "batch_size": 5}
# Skipped are scikit-learn's checks of what is not claimed; it announces changes of its own by FutureWarning.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning", "ignore::FutureWarning")


@pytest.fixture(autouse=True)
def own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointSpec]:
    """The demo model, which would otherwise be started for every run and every prediction."""
    with model() as served:
        yield EndpointSpec(base_url=served.base_url, model="demo")


WITHOUT_A_RUN = """
    estimator_cloneable estimator_tags_renamed valid_tag_types estimator_repr no_attributes_set_in_init mixin_order
    estimators_unfitted do_not_raise_errors_in_init_or_set_params parameters_default_constructible get_params_invariance
    set_params requires_y_none fit1d estimators_empty_data_messages complex_data supervised_y_no_nan
    """
CLASSIFIERS = f"""{WITHOUT_A_RUN}
    fit_score_takes_y classifiers_classes classifiers_one_label n_features_in fit2d_predict1d
    """
REGRESSORS = f"{WITHOUT_A_RUN} regressors_int supervised_y_2d"
"""A run takes a second, and all of scikit-learn's checks make two hundred."""


def checks(estimator: Any, names: str) -> list[Any]:
    """Return scikit-learn's checks of these names, of several under one name the first."""
    by_name = {check.func.__name__: (each, check) for each, check in reversed([*estimator_checks_generator(estimator)])}
    return [pytest.param(*by_name[f"check_{name}"], id=name) for name in names.split()]


@pytest.mark.parametrize(
    ("estimator", "check"),
    [*checks(vpp.VPPClassifier(**SMALL), CLASSIFIERS), *checks(vpp.VPPRegressor(**SMALL), REGRESSORS)],
)
def test_a_check_of_scikit_learn_holds(estimator: Any, check: Any, server: EndpointSpec) -> None:
    if check.func.__name__.removeprefix("check_") not in WITHOUT_A_RUN.split():
        estimator.set_params(endpoint=server)
    check(estimator)


def penguins() -> tuple[pd.DataFrame, pd.Series]:
    table = pd.read_csv(PENGUINS).sample(60, random_state=0)
    return table.drop(columns="species"), table["species"]


def test_a_frame_with_words_and_gaps_goes_through_a_pipeline_and_cross_validation(server: EndpointSpec) -> None:
    rows, species = penguins()
    rows.iloc[3, rows.columns.get_loc("bill_length_mm")] = np.nan
    assert "island" in rows.select_dtypes(exclude="number").columns
    whole = make_pipeline(FunctionTransformer(), vpp.VPPClassifier(particles=3, epochs=1, endpoint=server))
    scores = cross_val_score(whole, rows, species, cv=2)
    assert scores.mean() > species.value_counts(normalize=True).max()


def test_probabilities_are_the_vote_a_copy_answers_alike_and_a_row_without_any_value_in_its_place(
    server: EndpointSpec,
) -> None:
    rows, species = penguins()
    model = vpp.VPPClassifier(particles=4, epochs=1, method="mh", endpoint=server).fit(rows, species)
    assert model.posterior_.result["method"] == "mh"
    assert list(model.feature_names_in_) == list(rows.columns)
    shares, few = model.predict_proba(rows), rows.head(5)
    assert shares.shape == (60, 3)
    assert np.allclose(shares.sum(axis=1), 1)
    expected = model.posterior_.disagreement(few).sort_index()["share"]
    assert np.allclose(shares[:5].max(axis=1), expected)
    assert (pickle.loads(pickle.dumps(model)).predict(few) == model.predict(few)).all()
    assert clone(model).get_params() == model.get_params()
    without = few.copy()
    without.iloc[1] = np.nan
    assert (model.predict(without)[[0, 2, 3, 4]] == model.predict(few)[[0, 2, 3, 4]]).all()
    assert model.predict_proba(without).shape == (5, 3)


def test_start_sentences_and_other_options_are_passed_on() -> None:
    rows, species = penguins()
    start = ["If island is Torgersen, output Adelie; otherwise output Gentoo."]
    model = vpp.VPPClassifier(**SMALL, options={"start": start, "mutate": "every", "name": "mine"}).fit(rows, species)
    assert any(text.endswith(start[0]) for text in model.posterior_.view.texts.values())
    assert model.posterior_.config.mutate == "every"
    with pytest.raises(ValueError, match="batch_size is 0: it must be at least 1"):
        vpp.VPPClassifier(batch_size=0).fit(rows, species)


@pytest.mark.parametrize("labels", [("yes ", "no"), ("1,5", "2,5"), (True, False), ("NA", "1"), ("none", "-")])
def test_labels_come_back_as_they_were_given(labels: tuple[Any, Any], server: EndpointSpec) -> None:
    rows = np.arange(20.0).reshape(-1, 1)
    targets = np.where(rows[:, 0] < 10, labels[0], labels[1])
    model = vpp.VPPClassifier(**SMALL, endpoint=server).fit(rows, targets)
    assert set(model.predict(rows)) == set(labels)
    assert np.allclose(model.predict_proba(rows).sum(axis=1), 1)


def test_labels_that_a_table_would_lose_are_refused_and_a_line_is_found_and_extended() -> None:
    x = np.arange(30.0).reshape(-1, 1)
    for labels in ((" ", "a"), ("a", "a ")):
        with pytest.raises(ValueError, match="reads alike or as missing"):
            vpp.VPPClassifier(**SMALL).fit(x, np.where(x[:, 0] < 10, *labels))
    model = vpp.VPPRegressor(particles=3, epochs=1).fit(x, 3 * x[:, 0] + 4)
    assert model.predict([[3.0], [50.0]]) == pytest.approx([13, 154], rel=0.05)
    assert model.score(x, 3 * x[:, 0] + 4) > 0.99


# vpp.fit and vpp.load_run, through the same worker


FEW = {"particles": 3, "epochs": 1, "train_size": 30, "test_size": 10, "reading": "rows"}


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
    posterior = vpp.fit(PENGUINS, target="species", endpoint=endpoint(served), name="mine", **FEW)
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
    meant = {"size": "of the\nbox", "label:small": "fits a hand"}
    posterior = vpp.fit(frame, target="kind", method="vml", epochs=1, descriptions=meant)
    record = {"columns": {"size": "of the box"}, "labels": {"small": "fits a hand"}}
    assert posterior.directory.spec().dataset["descriptions"] == record
    assert posterior.result["status"] == "finished"
    new = pd.DataFrame({"noise": [1, 2], "size": [0.5, 9]})
    assert set(posterior.predict(new)) <= {"small", "large"}
    frame = posterior.disagreement(new)
    assert (frame.index.tolist(), frame["uncertain"].tolist()) == ([0, 1], [False, False])
    assert frame["prediction"].tolist() == frame["particle_0"].tolist() == posterior.predict(new)
    answers = posterior.ask(new)
    assert [len(particle) for particle in answers.predictions] == [2]
    with pytest.raises(DataError, match="size"):
        posterior.predict(pd.DataFrame({"noise": [1]}))


def test_fit_raises_what_went_wrong(here: Desk, served: Model, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        vpp.fit("nofile.csv", target="species")
    with pytest.raises(InputError, match="did you mean 'particles'"):
        vpp.fit(PENGUINS, target="species", paritcles=3)
    with pytest.raises(InputError, match="did you mean 'sex'"):
        vpp.fit(PENGUINS, target="species", descriptions={"sexx": "female or male"})
    with pytest.raises(InputError, match="the descriptions are no mapping: write"):
        vpp.fit(PENGUINS, target="species", descriptions="sex=female or male")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the description of '0' is no text"):
        vpp.fit(PENGUINS, target="species", descriptions={0: 1})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="no model"):
        vpp.fit(PENGUINS, target="species", endpoint=served.base_url)
    assert not (tmp_path / "runs").exists()
    served.refusal = refusal(401, "who are you?")
    with pytest.raises(EndpointError, match="key refused"):
        vpp.fit(PENGUINS, target="species", endpoint=endpoint(served), **FEW)
    with pytest.raises(RunError, match="holds no run"):
        vpp.load_run(tmp_path)
