"""`VPPClassifier` and `VPPRegressor` with the demo model: checks of scikit-learn, and further tests."""

import pickle
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
from tests.processes import model
from vpp.runs.spec import EndpointSpec

SMALL: dict[str, Any] = {"particles": 2, "epochs": 1, "batch_size": 5}
EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"
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
    table = pd.read_csv(EXAMPLES / "penguins.csv").sample(60, random_state=0)
    return table.drop(columns="species"), table["species"]


def test_a_frame_with_words_and_gaps_goes_through_a_pipeline_and_cross_validation(server: EndpointSpec) -> None:
    rows, species = penguins()
    rows.iloc[3, rows.columns.get_loc("bill_length_mm")] = np.nan
    assert "island" in rows.select_dtypes(exclude="number").columns
    whole = make_pipeline(FunctionTransformer(), vpp.VPPClassifier(particles=3, epochs=1, endpoint=server))
    scores = cross_val_score(whole, rows, species, cv=2)
    assert scores.mean() > species.value_counts(normalize=True).max()


def test_probabilities_are_the_vote_and_a_copy_answers_alike(server: EndpointSpec) -> None:
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


def test_a_row_without_any_value_is_answered_in_its_place(server: EndpointSpec) -> None:
    rows, species = penguins()
    model = vpp.VPPClassifier(**SMALL, endpoint=server).fit(rows, species)
    few = rows.head(4).copy()
    few.iloc[1] = np.nan
    assert (model.predict(few)[[0, 2, 3]] == model.predict(rows.head(4))[[0, 2, 3]]).all()
    assert model.predict_proba(few).shape == (4, 3)


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


@pytest.mark.parametrize("labels", [(" ", "a"), ("a", "a ")])
def test_labels_that_a_table_would_lose_are_refused(labels: tuple[str, str]) -> None:
    rows = np.arange(20.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="reads alike or as missing"):
        vpp.VPPClassifier(**SMALL).fit(rows, np.where(rows[:, 0] < 10, *labels))


def test_a_line_is_found_and_extended() -> None:
    x = np.arange(30.0).reshape(-1, 1)
    model = vpp.VPPRegressor(particles=3, epochs=1).fit(x, 3 * x[:, 0] + 4)
    assert model.predict([[3.0], [50.0]]) == pytest.approx([13, 154], rel=0.05)
    assert model.score(x, 3 * x[:, 0] + 4) > 0.99
