"""Gavel's policies as functions of a throughput matrix: fractions of time, without a simulation.

What others import cvxpy for: `allocate` states and solves the linear programs of Gavel (OSDI'20), with an interior point
method that knows their structure.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._tables import array

__all__ = ["Allocation", "allocate", "policies"]


class Allocation(np.ndarray):
    """Fractions of time: a row per job, a column per GPU type. `throughputs` is what each job makes of them, in steps
    per second; `paired` the fractions of each pair of jobs that share GPUs.

    >>> import muster.solve
    >>> x = muster.solve.allocate([[2.0], [2.0]], capacity=[1])
    >>> x.throughputs.round(3).tolist(), x.paired.shape
    ([1.0, 1.0], (0, 1))
    """

    throughputs: np.ndarray | None = None
    paired: np.ndarray | None = None

    def __array_finalize__(self, other):
        self.throughputs = getattr(other, "throughputs", None)
        self.paired = getattr(other, "paired", None)


def policies() -> dict[str, str]:
    """The policies that allocate time, with a sentence each.

    >>> import muster.solve
    >>> "max-min-fairness-perf" in muster.solve.policies()
    True
    """
    return {name[len("gavel-"):] if name.startswith("gavel-") else name: sentence
            for name, sentence in _core.allocators()}


def allocate(throughputs: Any, capacity: Any, policy: str = "max-min-fairness-perf", *, gpus: Any = None,
             weights: Any = None, steps_left: Any = None, age: Any = None, deadline_in: Any = None, owners: Any = None,
             prices: Any = None, pairs: dict[tuple[int, int], Any] | None = None, **parameters: Any) -> Allocation:
    """Which fraction of the time each job should spend on each GPU type.

    throughputs   steps per second of each job (rows) on each type (columns); 0 where it cannot run
    capacity      GPUs of each type
    policy        one of `policies()`; parameters are those of the scheduling policy of that name
    gpus          of each job: its scale factor (default 1)
    weights       of each job; twice the weight, twice the share
    steps_left, age, deadline_in, owners
                  of each job, for policies that look at them
    prices        of each type, dollars per GPU and hour, for policies that look at them
    pairs         for policies with -packed: {(i, j): rows of (steps of i, steps of j) by type}, with i < j

    The fractions of a job add up to at most 1, and the GPUs that all of them take to at most the capacity.

    >>> import muster.solve
    >>> x = muster.solve.allocate([[4.0, 1.0], [2.0, 1.0]], capacity=[1, 1])
    >>> x.shape
    (2, 2)
    >>> bool((x.sum(axis=0) <= 1 + 1e-6).all() and (x.sum(axis=1) <= 1 + 1e-6).all())
    True
    """
    rates, sizes = _numbers("throughputs", throughputs), _numbers("capacity", capacity)
    if rates.ndim != 2 or sizes.ndim != 1 or rates.shape[1] != len(sizes):
        raise _core.Error(f"throughputs have the shape {rates.shape} and capacity {sizes.shape}: expected a row per job "
                          "and a column per GPU type, and one number per type")
    jobs = np.empty((len(rates), 6))
    columns = (("gpus", gpus, 1.0), ("weights", weights, 1.0), ("steps_left", steps_left, 1.0), ("age", age, 0.0),
               ("deadline_in", deadline_in, np.inf), ("owners", owners, 0.0))
    for number, (name, values, usual) in enumerate(columns):
        made = _numbers(name, usual if values is None else values)
        if values is not None and made.shape != (len(rates),):
            raise _core.Error(f"{name} has the shape {made.shape}: expected one number for each of {len(rates)} jobs")
        jobs[:, number] = made
    price = _numbers("prices", [] if prices is None else prices)
    if prices is not None and price.shape != sizes.shape:
        raise _core.Error(f"prices has the shape {price.shape}: expected one number per GPU type")
    for name, values in (("gpus", jobs[:, 0]), ("capacity", sizes), ("owners", jobs[:, 5])):
        broken = np.flatnonzero(np.isfinite(values) & ((values != np.floor(values)) | (values >= 2**31)))
        if broken.size:
            raise _core.Error(f"{name}[{broken[0]}] is {values[broken[0]]:g}, expected a whole number below 2**31")
    for name, values in (("prices", price), ("deadline_in", jobs[:, 4])):
        if np.isnan(values).any() or (name == "prices" and (values < 0).any()):
            raise _core.Error(f"{name} has a value that is negative or not a number")
    if not isinstance(policy, str):
        raise _core.Error(f"policy is {policy!r}, expected one of muster.solve.policies()")
    name = policy if policy.startswith("gavel-") else f"gavel-{policy}"
    members, pair_rates = _pairs(pairs, name, len(sizes))
    text = name + "".join(f"{',' if i else ':'}{key}={_text(value)}" for i, (key, value) in enumerate(parameters.items()))
    alone, paired, made = _core.allocate(text, rates, jobs, sizes, price, members, pair_rates)
    result = array(alone, np.float64).reshape(rates.shape).view(Allocation)
    result.paired = array(paired, np.float64).reshape(len(members), len(sizes))
    result.throughputs = array(made, np.float64)
    return result


def _pairs(pairs, policy, types):
    """Their members, two by two, and what both make of each type: checked."""
    if not pairs:
        return np.empty((0, 2), np.int64), np.empty(0)
    if not isinstance(pairs, dict):
        raise _core.Error(f"pairs is a {type(pairs).__name__}, expected a dict {{(i, j): rows of two throughputs}}")
    if "packed" not in policy and policy != "gavel-gandiva":
        raise _core.Error(f"{policy[len('gavel-'):]} puts no jobs on the same GPUs: leave pairs out, or choose a policy "
                          "with -packed")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not all(hasattr(one, "__index__") for one in pair):
            raise _core.Error(f"pairs: expected two places of jobs, (i, j), found {pair!r}")
    for pair, rates in pairs.items():
        if (shape := _numbers("pairs", rates).shape) != (types, 2):
            raise _core.Error(f"pairs: expected the shape ({types}, 2) for the throughputs of {pair}, a row per GPU type "
                              f"with the steps of either job, found {shape}")
    return (np.array(list(pairs), dtype=np.int64), _numbers("pairs", list(pairs.values())))


def _numbers(name, values):
    try:
        return np.ascontiguousarray(values, dtype=np.float64) if np.ndim(values) else np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        raise _core.Error(f"{name}: expected numbers: {reason}") from None


def _text(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple, np.ndarray)):
        return '"' + ",".join(str(one) for one in value) + '"'
    return str(value)
