"""A user's script with types passes a strict check against the package, its stubs included; one that is wrong does not."""

import os
import pathlib
import subprocess
import sys

import pytest

import muster

RIGHT = '''
from __future__ import annotations

import numpy as np

import muster
import muster.solve
from muster import _core
from muster.policy import ClusterNow, Jobs


class Youngest:
    preemptive = False

    def order(self, jobs: Jobs, cluster: ClusterNow, now: float) -> np.ndarray:
        return np.asarray(np.argsort(-jobs.submit))


def mean(trace: muster.Trace, shape: str) -> float:
    result: muster.Result = muster.simulate(trace, shape, scheduling=Youngest)
    comparison = muster.compare(trace, shape, scheduling=["fifo", Youngest])
    names: list[str] = list(comparison)
    story: str = result.explain(0)
    engine = muster.Engine(trace, shape)
    fork: muster.Engine = engine.fork()
    going: bool = fork.turn(order=[0])
    fractions: muster.solve.Allocation = muster.solve.allocate([[1.0, 2.0]], [1, 1])
    print(names, story, going, fractions.shape, _core.version)
    try:
        trace.write("jobs.csv")
    except muster.PolicyError as error:
        print(error)
    except muster.Error as error:
        print(error)
    return result["avg_jct_s"]
'''

WRONG = '''
import muster

trace: int = muster.Trace.generate("poisson", jobs=3)
muster.simulate(trace, "1x8", output=3.5)
muster.Engine(None).turn(order="abc")
steps = muster._core.Steps(1, 2)
'''


def test_scripts_are_checked(tmp_path):
    """Both at once: most of the work is what they import."""
    pytest.importorskip("mypy")
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(RIGHT)
    wrong.write_text(WRONG)
    # What is imported is found where the tests find it, as if it were installed; what is installed mypy finds itself.
    folder = pathlib.Path(muster.__file__).parent.parent
    path = {} if folder.name == "site-packages" else {"MYPYPATH": str(folder)}
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", os.devnull,
                           "--allow-any-generics", str(right), str(wrong)], capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin", **path})
    assert not done.stderr
    lines = done.stdout.splitlines()
    assert not [line for line in lines if line.startswith(str(right)) or "_core.pyi" in line], done.stdout
    found = [int(line.split(":")[1]) for line in lines if line.startswith(str(wrong)) and ": error:" in line]
    assert set(found) == {4, 5, 6, 7}


def test_the_package_has_its_stubs():
    folder = pathlib.Path(muster.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_core.pyi").read_text()
    for name in ("class Steps", "class TraceJobs", "def run_all", "class Error"):
        assert name in stub
