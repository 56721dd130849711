"""Allocations and models."""

import pickle

import numpy as np
import pytest

import muster
import muster.solve

CAPACITY = [2, 3]
RATES = np.array([[4.0, 1.0], [2.0, 2.0], [3.0, 0.0], [1.0, 1.0]])


@pytest.mark.parametrize("policy", [name for name in muster.solve.policies() if "packed" not in name])
def test_feasible(policy):
    gpus = np.array([1, 1, 2, 1])
    x = muster.solve.allocate(RATES, CAPACITY, policy, gpus=gpus, steps_left=[100, 200, 300, 400], age=[5, 4, 3, 2],
                              deadline_in=[1e4] * 4, prices=[2.0, 1.0])
    assert x.shape == RATES.shape and (x >= -1e-6).all()
    assert (x.sum(axis=1) <= 1 + 1e-6).all()
    if policy not in ("proportional", "isolated", "gandiva"):  # these may overbook; rounds take turns
        assert ((x * gpus[:, None]).sum(axis=0) <= np.array(CAPACITY) + 1e-6).all()
    np.testing.assert_allclose(x.throughputs, (x * RATES).sum(axis=1), atol=1e-9)


@pytest.mark.parametrize("policy", [name for name in muster.solve.policies() if "packed" in name])
def test_feasible_in_pairs(policy):
    pairs = {(i, j): 0.6 * np.column_stack([RATES[i], RATES[j]]) for i in range(4) for j in range(i + 1, 4)}
    x = muster.solve.allocate(RATES, [1, 1], policy, pairs=pairs, steps_left=[100, 200, 300, 400], age=[5, 4, 3, 2],
                              deadline_in=[1e4] * 4, prices=[2.0, 1.0])
    assert x.shape == RATES.shape and x.paired.shape == (len(pairs), 2)
    assert (x >= -1e-6).all() and (x.paired >= -1e-6).all()
    # A job is at one place at a time, and a GPU with one job or one pair.
    of_jobs = x.sum(axis=1)
    for fractions, pair in zip(x.paired, pairs):
        of_jobs[list(pair)] += fractions.sum()
    assert (of_jobs <= 1 + 1e-5).all()
    assert (x.sum(axis=0) + x.paired.sum(axis=0) <= 1 + 1e-5).all()
    made = (np.asarray(x) * RATES).sum(axis=1)
    for fractions, ((i, j), rates) in zip(x.paired, pairs.items()):
        made[[i, j]] += fractions @ rates
    np.testing.assert_allclose(x.throughputs, made, atol=1e-9)


def test_max_min_by_hand():
    # Two equal jobs on one GPU: half the time each.
    x = muster.solve.allocate([[1.0], [1.0]], [1])
    np.testing.assert_allclose(x, [[0.5], [0.5]], atol=1e-6)
    x = muster.solve.allocate([[1.0], [1.0]], [1], weights=[3, 1])
    np.testing.assert_allclose(x, [[0.75], [0.25]], atol=1e-5)


def test_pairs():
    x = muster.solve.allocate([[1.0], [1.0]], [1], "max-min-fairness-packed", pairs={(0, 1): [(0.9, 0.9)]})
    np.testing.assert_allclose(x.throughputs, [0.9, 0.9], atol=1e-5)
    assert x.paired[0, 0] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("arguments, message", [
    (([[1.0]], [1, 2]), "shape"),
    (([[-1.0]], [1]), "throughputs\\[0\\] is -1"),
    (([[float("nan")]], [1]), "throughputs\\[0\\] is nan"),
    (([[1.0]], [1], "max-min-fairnes-perf"), "did you mean 'gavel-max-min-fairness-perf'"),
    (([["fast"]], [1]), "throughputs: expected numbers"),
    (([[1.0], [1.0, 2.0]], [1]), "throughputs: expected numbers"),
    (([[1.0]], ["one"]), "capacity: expected numbers"),
])
def test_bad_problems(arguments, message):
    with pytest.raises(muster.Error, match=message):
        muster.solve.allocate(*arguments)


def test_bad_columns():
    for columns, message in [({"gpus": [1.5]}, r"gpus\[0\] is 1.5, expected a whole number"),
                             ({"owners": [0.5]}, r"owners\[0\] is 0.5, expected a whole number"),
                             ({"prices": [float("nan")]}, "prices has a value"), ({"prices": [-1]}, "prices has a value"),
                             ({"deadline_in": [float("nan")]}, "deadline_in has a value")]:
        with pytest.raises(muster.Error, match=message):
            muster.solve.allocate([[1.0]], [1], **columns)
    with pytest.raises(muster.Error, match=r"capacity\[0\] is 1.5, expected a whole number"):
        muster.solve.allocate([[1.0]], [1.5])
    with pytest.raises(muster.Error, match="weights has the shape"):
        muster.solve.allocate([[1.0], [1.0]], [1], weights=[1])
    for pairs in ({(0,): [(1, 1)]}, {(0, 1): [(1,)]}, {(0, "x"): [(1, 1)]}):
        with pytest.raises(muster.Error, match="pairs: expected"):
            muster.solve.allocate([[1.0], [1.0]], [1], "max-min-fairness-packed", pairs=pairs)
    for arguments, message in [
            (([[1.0]], [1e12]), r"capacity\[0\] is 1e\+12, expected a whole number below"),
            (([[1.0]], [1], None), "policy is None, expected one of"),
            (([[1.0], [1.0]], [1], "max-min-fairness-perf", {(0, 1): [(0.9, 0.9)]}), "leave pairs out"),
            (([[1.0], [1.0]], [1], "max-min-fairness-packed", [(0, 1)]), "pairs is a list, expected a dict"),
            (([[1.0], [1.0]], [1], "max-min-fairness-packed", {(0.7, 1): [(1, 1)]}), "expected two places"),
            ((np.ones((2, 3)), [1] * 3, "max-min-fairness-packed", {(0, 1): np.ones((2, 3))}), r"expected the shape \(3, 2\)")]:
        with pytest.raises(muster.Error, match=message):
            muster.solve.allocate(*arguments[:3], **dict(zip(["pairs"], arguments[3:])))


learn = pytest.importorskip("muster.learn", reason="scikit-learn is not there")
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

QUICK = {"interactions": 1, "bags": 1, "max_rounds": 40, "learning_rate": 0.3, "max_bins": 32}


@parametrize_with_checks([learn.EBMRegressor(**QUICK), learn.EBMClassifier(**QUICK), learn.TreeClassifier()])
def test_estimators(estimator, check):
    check(estimator)


def test_models_are_kept(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(300, 3))
    X[::7, 1] = np.nan
    y = 5 * X[:, 0] + (X[:, 2] > 0.5)
    model = learn.EBMRegressor(**QUICK).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    model.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_size > 100
    intercept, parts, prediction = model.explain(X[0])
    assert intercept + sum(score for _, score, _ in parts) == pytest.approx(prediction)
    assert model.plot_term(0).get_xlabel() == model.terms()[0]["name"]


@pytest.mark.parametrize("estimator", [learn.EBMClassifier(**QUICK), learn.TreeClassifier()])
def test_a_fit_that_fails_changes_nothing(estimator):
    X = np.linspace(0, 1, 60).reshape(-1, 2)
    model = estimator.fit(X, np.repeat(["a", "b"], 15))
    before = model.predict(X)
    for bad in (np.arange(30) / 7, np.repeat(["x"], 29)):  # no classes; a row too few
        with pytest.raises(ValueError):
            model.fit(np.column_stack([X, X]), bad)
    assert model.predict(X).tolist() == before.tolist() and model.n_features_in_ == 2


@pytest.mark.parametrize("model, settings", [
    *[(learn.EBMRegressor, settings) for settings in (
        {"bags": 0}, {"bags": 2**40}, {"interactions": -1}, {"interactions": 1.7}, {"interactions": "x"},
        {"learning_rate": float("nan")}, {"learning_rate": -1}, {"max_rounds": 0}, {"max_bins": 1}, {"max_bins": -5},
        {"random_state": -1}, {"random_state": 1.5}, {"n_jobs": "two"})],
    *[(learn.TreeClassifier, settings) for settings in (
        {"max_depth": 0}, {"max_depth": None}, {"min_leaf": 0}, {"min_leaf": -3}, {"prune": float("nan")}, {"prune": -1})],
])
def test_settings_that_make_no_sense(model, settings):
    X = np.linspace(0, 1, 60).reshape(-1, 2)
    name, = settings
    with pytest.raises(ValueError, match=f"{name} is .*, but must be"):
        model(**settings).fit(X, np.repeat([0, 1], 15))
