"""The package of the build is tested: scripts/test puts its folder on the path."""

import os

import matplotlib
import pytest

matplotlib.use("Agg")

import muster  # noqa: E402


@pytest.fixture(scope="session")
def trace():
    return muster.Trace.generate("philly-like", jobs=300, seed=5)


@pytest.fixture(scope="session")
def command():
    """The finished command of the same build."""
    path = os.environ.get("MUSTER")
    if not path or not os.path.exists(path):
        pytest.skip("MUSTER does not name the command")
    return path


@pytest.fixture
def in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path
