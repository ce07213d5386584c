"""`VPPClassifier` and `VPPRegressor`: a posterior over sentences as an estimator of scikit-learn."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from vpp.data.table import with_kinds
from vpp.errors import InputError
from vpp.findings.points import votes_on
from vpp.library.posterior import fit, table_of
from vpp.posterior.calibration import answered_shares
from vpp.runs.spec import EndpointSpec

if TYPE_CHECKING:
    import pandas as pd


class _Estimator(BaseEstimator):  # type: ignore[misc]
    def __init__(
        self,
        *,
        endpoint: EndpointSpec | str = "demo",
        method: str = "smc",
        particles: int = 10,
        epochs: int = 2,
        batch_size: int = 10,
        seed: int = 0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.method = method
        self.particles = particles
        self.epochs = epochs
        self.batch_size = batch_size
        self.seed = seed
        self.options = options

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _learn(self, frame: "pd.DataFrame", targets: Sequence[Any], *, task: str) -> None:
        """Learn the posterior on all rows. Raises ValueError for an unsuitable table, EndpointError or RunError."""
        target = next(name for name in (f"target{'_' * n}" for n in range(len(frame.columns) + 1)) if name not in frame)
        options = {**self.get_params(deep=False), **(self.options or {})}
        del options["options"]
        options["batch_size"] = min(options["batch_size"], len(frame))
        try:
            table = table_of(frame.assign(**{target: targets}))
            if task == "classification":
                table = with_kinds(table, {target: "category"})
            self.posterior_ = fit(table, target=target, task=task, test_size=0, **options)
        except InputError as error:
            raise ValueError(str(error)) from error

    def _frame(self, X: Any, *, reset: bool) -> "pd.DataFrame":
        """Return the rows as a frame with a name for each column. reset: whether these are the rows to learn from."""
        import pandas as pd

        checks: dict[str, Any] = {"ensure_all_finite": "allow-nan", "ensure_min_samples": 1 + reset}
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            cells = check_array(X, dtype=object, input_name="X", **checks)
        else:
            cells = validate_data(self, X, reset=reset, dtype=None, **checks)
        names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(cells.shape[1])])
        return pd.DataFrame(cells, columns=names)


class VPPClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """Classifier by weighted sentences. `fit` trains on all rows it gets, numbers or text, gaps allowed.

    endpoint: "demo" (default) for the built-in demo model, or as in `vpp.fit`. options: other keywords of `vpp.fit`,
    such as {"prior": "Size matters."}. The other parameters are those of `vpp.fit`.
    posterior_: the `vpp.Posterior` of the run, which the app shows too. classes_: sorted labels, read as text.
    """

    def fit(self, X: Any, y: Any) -> "VPPClassifier":
        """Learn from (N, D) rows, numbers or text, and (N,) labels."""
        frame = self._frame(X, reset=True)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_consistent_length(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class only ({self.classes_[0]!r}): give at least two")
        self._labels = _labels_read(self.classes_.tolist())
        self._shares = np.bincount(codes) / len(y)
        self._learn(frame, [self._labels[code] for code in codes], task="classification")
        return self

    def predict_proba(self, X: Any) -> Any:
        """(N, C) probabilities: the weighted sentences with their noise, and the constant answer (docs/method.md).

        If all abstain: the class frequencies of the training rows.
        """
        check_is_fitted(self)
        answers = self.posterior_.ask(self._frame(X, reset=False))
        votes = votes_on(answers)
        shares = [answered_shares(dict(vote.shares)) for vote in votes]
        return np.array([[each.get(label, 0.0) for label in self._labels] if each else self._shares for each in shares])

    def predict(self, X: Any) -> Any:
        """(N,) likeliest label; the most frequent one where all sentences abstain."""
        shares = self.predict_proba(X)
        return self.classes_[np.argmax(shares, axis=1)]


def _labels_read(classes: Sequence[Any]) -> list[str]:
    """Return the classes as a table reads them: without blanks around them. Raises ValueError if two are read alike."""
    labels = [str(label).strip() for label in classes]
    if lost := [label for label in labels if not label or labels.count(label) > 1]:
        raise ValueError(f"y has labels that a table reads alike or as missing ({lost[0]!r}): rename them")
    return labels


class VPPRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """Regressor by the weighted mean of sentences' predictions, with the parameters of `VPPClassifier`.

    posterior_: the `vpp.Posterior` of the run.
    """

    def fit(self, X: Any, y: Any) -> "VPPRegressor":
        """Learn from (N, D) rows, numbers or text, and (N,) numbers."""
        frame = self._frame(X, reset=True)
        y = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(X, y)
        self._mean = float(np.mean(y))
        self._learn(frame, y.tolist(), task="regression")
        return self

    def predict(self, X: Any) -> Any:
        """(N,) weighted mean (Eq. 7); the mean of the targets in `fit` where all sentences abstain."""
        check_is_fitted(self)
        values = self.posterior_.predict(self._frame(X, reset=False))
        return np.array([self._mean if value is None else float(value) for value in values])
