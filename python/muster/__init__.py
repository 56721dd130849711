"""One scheduling core for GPU clusters.

Describe a run as on the command line, and get its results as tables:

>>> import muster
>>> trace = muster.Trace.generate("philly-like", jobs=500, seed=7)
>>> result = muster.simulate(trace, "16x8", scheduling="las")
>>> result["finished"]
500.0

A policy is a function of columns over all jobs, here least attained service:

>>> def least_service(jobs, now):
...     return jobs.gpu_seconds
>>> mine = muster.simulate(trace, "16x8", scheduling=least_service)
>>> mine["finished"]
500.0

Every name of the command line and of TOML files means the same here, and errors have the same words:

>>> muster.simulate(trace, "16x8", scheduling="laz")
Traceback (most recent call last):
...
muster.Error: no scheduling policy 'laz'; did you mean 'las'?...
"""

import os as _os
import pathlib as _pathlib


def _find_share():
    """Presets and experiments lie in the package, or, in a checkout, in the root of the tree."""
    here = _pathlib.Path(__file__).resolve().parent
    for folder in (here / "share", here.parent.parent):
        if (folder / "presets").is_dir():
            _os.environ.setdefault("MUSTER_HOME", str(folder))
            return


_find_share()

from . import policy  # noqa: E402
from ._core import Error, PolicyError  # noqa: E402
from ._core import version as __version__  # noqa: E402
from .cluster import Cluster  # noqa: E402
from .engine import Engine  # noqa: E402
from .result import Comparison, Result  # noqa: E402
from .run import compare, describe, metrics, policies, reproduce, simulate, sweep  # noqa: E402
from .trace import Trace  # noqa: E402

__all__ = ["Cluster", "Comparison", "Engine", "Error", "PolicyError", "Result", "Trace", "compare", "describe", "metrics",
           "policies", "policy", "reproduce", "simulate", "sweep"]
