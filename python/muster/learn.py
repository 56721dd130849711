"""Models that a person can read, as scikit-learn estimators.

EBMRegressor and EBMClassifier are explainable boosting machines: a sum of one function per feature and of a few pairs
of features, each of which can be drawn, and each prediction taken apart exactly. TreeClassifier is a small pruned
decision tree. `muster learn` trains the same models from the command line, and reads and writes the same files.

>>> import numpy as np
>>> from muster.learn import EBMRegressor
>>> rng = np.random.default_rng(1)
>>> X = rng.uniform(size=(400, 3))
>>> y = 10 * X[:, 0] + np.sin(6 * X[:, 1])
>>> model = EBMRegressor(interactions=0).fit(X, y)
>>> bool(model.score(X, y) > 0.9)
True
>>> model.terms()[0]["name"]
'x0'
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from . import _core
from ._progress import Display
from ._tables import array

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted
except ImportError as _missing:
    raise ImportError("muster.learn needs scikit-learn: pip install scikit-learn") from _missing

try:
    from sklearn.utils.validation import validate_data as _validate
except ImportError:  # before 1.6
    def _validate(estimator, X, y="no_validation", *, ensure_all_finite=True, **options):
        return estimator._validate_data(X, y, force_all_finite=ensure_all_finite, **options)

__all__ = ["EBMClassifier", "EBMRegressor", "TreeClassifier"]

_FEWEST_ROWS = 50


def _whole(name, value, least):
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__") or not least <= int(value) < 2**31:
        raise ValueError(f"{name} is {value!r}, but must be a whole number of at least {least}")
    return int(value)


def _real(name, value, above_zero):
    try:
        made = float(value)
    except (TypeError, ValueError):
        made = np.nan
    if not (np.isfinite(made) and (made > 0 if above_zero else made >= 0)):
        raise ValueError(f"{name} is {value!r}, but must be a number {'above 0' if above_zero else 'from 0 on'}")
    return made


def _all_or_nothing(fit):
    """A fit that fails or is interrupted leaves the estimator as it was."""
    @functools.wraps(fit)
    def whole(self, X, y):
        before = dict(vars(self))
        try:
            return fit(self, X, y)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
    return whole


class _Readable(BaseEstimator):
    """What the models have in common: checked input, and the text of their file as what is kept of them."""

    def _more_tags(self):  # before scikit-learn 1.6
        return {"allow_nan": True, "binary_only": self._binary}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    _binary = False

    def _rows(self, X, y=None, **options):
        given = () if y is None and not options.get("reset", True) else (y,)
        return _validate(self, X, *given, dtype=np.float64, order="C", ensure_all_finite="allow-nan", **options)

    def _names(self):
        names = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def _asked(self, X):
        check_is_fitted(self)
        return self._rows(X, reset=False)

    def __getstate__(self):
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_model"}

    def __setstate__(self, state):
        super().__setstate__(state)
        if "model_text_" in state:
            self._model = self._core_class.of(state["model_text_"])

    def _keep(self, model):
        self._model = model
        self.model_text_ = model.text
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Writes the model as `muster learn` does; its other commands read the file."""
        check_is_fitted(self)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.model_text_)


class _Ebm(_Readable):
    _core_class = _core.Ebm

    def __init__(self, interactions: int = 10, bags: int = 8, learning_rate: float = 0.05, max_rounds: int = 2000,
                 max_bins: int = 256, random_state: Any = 42, n_jobs: int | None = None):
        self.interactions = interactions
        self.bags = bags
        self.learning_rate = learning_rate
        self.max_rounds = max_rounds
        self.max_bins = max_bins
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _train(self, X, y, classes):
        seed = self.random_state
        if seed is None or hasattr(seed, "randint"):
            from sklearn.utils import check_random_state
            seed = check_random_state(seed).randint(2**31 - 1)
        if self.n_jobs is not None and not hasattr(self.n_jobs, "__index__"):
            raise ValueError(f"n_jobs is {self.n_jobs!r}, but must be a whole number or None")
        # A bin of a single row teaches nothing: few rows make few bins.
        options = {"interactions": _whole("interactions", self.interactions, 0), "bags": _whole("bags", self.bags, 1),
                   "learning_rate": _real("learning_rate", self.learning_rate, True),
                   "max_rounds": _whole("max_rounds", self.max_rounds, 1),
                   "max_bins": min(_whole("max_bins", self.max_bins, 2), max(8, len(X) // 4)),
                   "seed": _whole("random_state", seed, 0),
                   "threads": 1 if self.n_jobs is None else max(0, int(self.n_jobs))}
        # A part of the rows decides when to stop, and a few rows have none to spare: they count several times.
        times = -(-_FEWEST_ROWS // len(X))
        rows, target = np.tile(X, (times, 1)), np.tile(y, times)
        with Display(None, None, "rounds") as display:
            return _core.Ebm.train(self._names(), np.ascontiguousarray(rows),
                                   np.ascontiguousarray(target, dtype=np.float64), classes, options, display.show)

    def terms(self) -> list[dict[str, Any]]:
        """The functions that the model adds up, most important first: dicts with name, importance, cuts, scores,
        deviations (their error bars) and weights (training rows)."""
        check_is_fitted(self)
        made = []
        for term in self._model.terms():
            shape = [len(cuts) + 2 for cuts in term["cuts"]]  # one bin for missing values
            for key in ("scores", "deviations", "weights"):
                term[key] = array(term[key], np.float64).reshape(shape)
            term["cuts"] = [np.asarray(cuts) for cuts in term["cuts"]]
            made.append(term)
        return made

    @property
    def intercept_(self) -> float:
        check_is_fitted(self)
        return self._model.intercept

    def explain(self, row: Any) -> tuple[float, list[tuple[str, float, float]], float]:
        """One prediction taken apart: (intercept, [(term, what it adds, its error bar), ...], prediction)."""
        rows = self._asked(np.reshape(row, (1, -1)))
        return self._model.explain(np.ascontiguousarray(rows[0]))

    def plot_term(self, number: int = 0, ax: Any = None) -> Any:
        """The effect of a single feature, with its error band."""
        from ._tables import pyplot
        term = self.terms()[number]
        if len(term["cuts"]) != 1:
            raise _core.Error(f"{term['name']} is a pair of features: only single ones are drawn")
        ax = pyplot().subplots(figsize=(6, 3.5))[1] if ax is None else ax
        cuts, scores, deviations = term["cuts"][0], term["scores"][1:], term["deviations"][1:]
        width = (cuts[-1] - cuts[0]) / 20 if len(cuts) > 1 else 1
        edges = np.concatenate([[cuts[0] - width], cuts, [cuts[-1] + width]]) if len(cuts) else np.array([0.0, 1.0])
        ax.stairs(scores, edges, baseline=None)
        ax.stairs(scores + deviations, edges, baseline=scores - deviations, fill=True, alpha=0.25)
        ax.set_xlabel(term["name"])
        ax.set_ylabel("adds to the prediction")
        return ax


class EBMRegressor(RegressorMixin, _Ebm):
    """An explainable boosting machine that predicts a number.

    interactions: pairs of features to find. bags: models that are averaged; their spread is the error bar.
    max_bins: of a feature, and at most one for four rows: a value that the rows in training do not have teaches
    nothing about the rows that decide when to stop, and with a bin for each row training would stop at once.
    Missing values (NaN) are a bin of their own.

    >>> import numpy as np
    >>> from muster.learn import EBMRegressor
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> model = EBMRegressor(interactions=0).fit(X, X[:, 0] > 100)
    >>> intercept, parts, prediction = model.explain([150.0])
    >>> bool(abs(intercept + sum(score for _, score, _ in parts) - prediction) < 1e-9)
    True
    >>> bool(model.predict([[150.0]])[0] == prediction)
    True
    """

    @_all_or_nothing
    def fit(self, X: Any, y: Any) -> Any:
        X, y = self._rows(X, y, y_numeric=True)
        return self._keep(self._train(X, y, []))

    def predict(self, X: Any) -> np.ndarray:
        rows = self._asked(X)
        return array(self._model.predict(rows), np.float64).copy()


class EBMClassifier(ClassifierMixin, _Ebm):
    """An explainable boosting machine that predicts the second of two classes; its terms add up to log-odds.

    >>> import numpy as np
    >>> from muster.learn import EBMClassifier
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> model = EBMClassifier(interactions=0).fit(X, np.where(X[:, 0] > 100, "long", "short"))
    >>> model.predict([[10.0], [190.0]]).tolist()
    ['short', 'long']
    >>> model.predict_proba([[10.0]]).shape
    (1, 2)
    """

    _binary = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @_all_or_nothing
    def fit(self, X: Any, y: Any) -> Any:
        X, y = self._rows(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError("Only binary classification is supported. The type of the target is multiclass: see "
                             "TreeClassifier.")
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_[0]!r}")
        return self._keep(self._train(X, codes, [str(name) for name in self.classes_]))

    def predict_proba(self, X: Any) -> np.ndarray:
        rows = self._asked(X)
        second = array(self._model.predict(rows), np.float64)
        return np.column_stack([1 - second, second])

    def predict(self, X: Any) -> np.ndarray:
        chances = self.predict_proba(X)
        return self.classes_[(chances[:, 1] > 0.5).astype(int)]


class TreeClassifier(ClassifierMixin, _Readable):
    """A small decision tree, pruned by cost and complexity.

    >>> import numpy as np
    >>> from muster.learn import TreeClassifier
    >>> X = np.arange(30.0).reshape(-1, 1)
    >>> tree = TreeClassifier().fit(X, np.repeat(["a", "b", "c"], 10))
    >>> tree.predict([[0.0], [15.0], [29.0]]).tolist()
    ['a', 'b', 'c']
    >>> tree.predict_proba([[0.0]]).tolist(), tree.feature_importances_.tolist()
    ([[1.0, 0.0, 0.0]], [1.0])
    >>> "x0" in tree.text()
    True
    """

    _core_class = _core.DecisionTree

    def __init__(self, max_depth: int = 8, min_leaf: int = 1, prune: float = 1e-4):
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.prune = prune

    @_all_or_nothing
    def fit(self, X: Any, y: Any) -> Any:
        X, y = self._rows(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        options = {"max_depth": _whole("max_depth", self.max_depth, 1), "min_leaf": _whole("min_leaf", self.min_leaf, 1),
                   "prune": _real("prune", self.prune, False)}
        with Display(None, None, "steps") as display:
            return self._keep(_core.DecisionTree.train(self._names(), X, np.ascontiguousarray(codes, dtype=np.int64),
                                                       [str(name) for name in self.classes_], options, display.show))

    def predict_proba(self, X: Any) -> np.ndarray:
        rows = self._asked(X)
        return array(self._model.shares(rows), np.float64).reshape(len(rows), -1).copy()

    def predict(self, X: Any) -> np.ndarray:
        chances = self.predict_proba(X)
        return self.classes_[np.argmax(chances, axis=1)]

    def text(self) -> str:
        """The whole tree, indented."""
        check_is_fitted(self)
        return self._model.picture

    @property
    def feature_importances_(self) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray(self._model.importances)
