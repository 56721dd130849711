"""Policies in Python.

A scheduling policy answers in one of four forms; a class has the method of that name, a function is a key unless one
of the decorators below says otherwise.

key(jobs, now)
    One number per job; the smallest runs first, ties go to the older job.
order(jobs, cluster, now)
    Places in the columns, as `np.argsort` and `np.lexsort` give them; the first runs first.
allocate(jobs, cluster, now)
    GPUs: an array with one number per job, or a list of requests (place, gpus), (place, gpus, type) or
    ((place, place), gpus) for jobs that share GPUs, most deserving first.
fractions(jobs, cluster, now)
    The fraction of time for which each job should hold its GPUs; those that have had least of theirs run first.
    With `by_type = True` it is fractions(problem), one row per job and one column per GPU type, carried out in
    Gavel's rounds; `knows_types = False` lets the types take turns in choosing, as for policies that see no types.

What a policy declares are attributes of its class, or keywords of the decorator:

needs                 what it must know, as ["duration"] or {"estimate": "such a job goes last"} (what it does without)
preemptive            running jobs that are not first lose their GPUs (default True)
keys_rest             promises that the key of a waiting job stays as it is until the job runs again: fast
quantum               seconds after which it wants to be asked again, where turns follow events
strict, work_conserving, resizes, co_locates, stable_between_events, needs_periodic_turns
                      as in C++ (docs/policies.md)

An admission policy has admit(job, cluster, now) and answers True, False or "hold". A placement policy has
find(job, gpus, cluster, now) and answers with a list of (node, gpus), or None where it does not fit now.

>>> import muster
>>> class Las:
...     keys_rest = True
...     quantum = 300
...     def key(self, jobs, now):
...         return jobs.gpu_seconds
>>> trace = muster.Trace.generate("philly-like", jobs=300)
>>> mine = muster.simulate(trace, "8x8", scheduling=Las)
>>> built_in = muster.simulate(trace, "8x8", scheduling="las")
>>> bool((mine.jobs["end_s"] == built_in.jobs["end_s"]).all())
True
"""

from __future__ import annotations

import copy
import difflib
import inspect
import math
from collections.abc import Callable
from typing import Any

from . import _core
from ._answers import as_fractions, as_order, as_places, as_requests, as_admission, numbers_of
from ._tables import did_you_mean
from ._views import ClusterNow, Job, Jobs, Problem

__all__ = ["Adapted", "ClusterNow", "Job", "Jobs", "Problem", "allocate", "fractions", "key", "order"]

_FORMS = ("key", "order", "allocate", "fractions")
_FLAGS = {"preemptive": True, "stable_between_events": False, "strict": False, "work_conserving": True,
          "resizes": False, "co_locates": False, "needs_periodic_turns": False, "keys_rest": False, "by_type": False,
          "knows_types": True, "backfill": True}
_NEAR = 0.8  # how much of its letters a misspelt name shares with the one that was meant
_NUMBERS = {"quantum": float("inf"), "round": 360.0, "reset_interval": 1920.0, "seed": 1}


class Adapted:
    """A policy as the core asks it: `call` takes the core's views and returns plain arrays."""

    def __init__(self, kind, target, name):
        self._kind, self._target, self._name = kind, target, name
        for flag, usual in _FLAGS.items():
            setattr(self, flag, bool(getattr(target, flag, usual)))
        for number, usual in _NUMBERS.items():
            setattr(self, number, _declared_number(number, getattr(target, number, usual)))
        _check_names(target)
        declared = getattr(target, "needs", ())
        if isinstance(declared, str):
            declared = [declared]
        self.needs = list(declared.items()) if isinstance(declared, dict) else [(need, "") for need in declared]
        self._knows = frozenset(need for need, _ in self.needs)
        self.form, self.call = getattr(self, f"_adapt_{kind}")()

    def declared(self):
        """What it declares, as a daemon reads it: plain values, None where a number is infinite."""
        made = {"form": self.form, "needs": [[str(need), str(otherwise)] for need, otherwise in self.needs]}
        for flag in _FLAGS:
            made[flag] = getattr(self, flag)
        for number in _NUMBERS:
            value = getattr(self, number)
            made[number] = value if math.isfinite(value) else None
        return made

    def copy(self):
        """The same policy with a state of its own, for a look ahead."""
        target = self._target if inspect.isfunction(self._target) else copy.deepcopy(self._target)
        return Adapted(self._kind, target, self._name)

    def _method(self, names, wanted):
        found = [name for name in names if callable(getattr(self._target, name, None))]
        if len(found) == 1:
            return found[0], getattr(self._target, found[0])
        if found:
            raise _core.Error(f"it defines {' and '.join(found)}: choose one")
        raise _core.Error(f"it defines no method {wanted}")

    def _adapt_scheduling(self):
        if inspect.isroutine(self._target):
            form, method = getattr(self._target, "form", "key"), self._target
        else:
            form, method = self._method(_FORMS, "key, order, allocate or fractions")
        if form == "fractions" and self.by_type:
            return "fractions_by_type", _by_type(method)
        read = {"key": numbers_of, "fractions": numbers_of, "order": as_order, "allocate": as_requests}[form]
        knows = self._knows
        if _takes(method) == 2:
            # The common case, asked once per turn: as little as possible between the core and the policy.
            def call(view, cluster, now):
                return read(method(Jobs(view, knows), now), view, cluster)
        else:
            def call(view, cluster, now):
                return read(method(Jobs(view, knows), ClusterNow(cluster), now), view, cluster)
        return form, call

    def _adapt_admission(self):
        method = self._target if inspect.isroutine(self._target) else self._method(("admit",), "admit")[1]

        def call(view, cluster, now):
            return as_admission(method(Job(Jobs(view, self._knows)), ClusterNow(cluster), now))
        return "admit", call

    def _adapt_placement(self):
        method = self._target if inspect.isroutine(self._target) else self._method(("find",), "find")[1]

        def call(view, cluster, now, gpus):
            return as_places(method(Job(Jobs(view, self._knows)), gpus, ClusterNow(cluster), now))
        return "find", call


def _declared_number(name, value):
    try:
        made = float(value)
    except (TypeError, ValueError):
        made = math.nan
    if not (made >= 0 if name == "seed" else made > 0):
        raise _core.Error(f"its {name} is {value!r}, but must be a number {'from 0 on' if name == 'seed' else 'above 0'}")
    return made


def _check_names(target):
    """A misspelt declaration would be no declaration: the class says what it does not mean."""
    for owner in inspect.getmro(target if inspect.isclass(target) else type(target))[:-1]:
        for name, value in vars(owner).items():
            known = (_FLAGS if isinstance(value, bool) else
                     _NUMBERS if isinstance(value, (int, float)) else
                     ("needs",) if isinstance(value, (list, tuple, dict, set, str)) else ())
            near = difflib.get_close_matches(name, known, 1, _NEAR)
            if near and name not in known:
                raise _core.Error(f"it declares '{name}', which nobody reads; did you mean '{near[0]}'? (what is its own "
                                  f"may be called _{name})")


def _by_type(method):
    def call(rates, jobs, capacity, prices, now):
        problem = Problem(rates, jobs, capacity, prices, now)
        return as_fractions(method(problem), problem)
    return call


def _takes(method):
    """How many arguments it takes: two, or three with the cluster. What has a default is the policy's own, unless it is
    the time; a function that takes any number gets all three."""
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return 3
    plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(plain) < 2 or plain[1].name == "cluster" or any(p.kind == p.VAR_POSITIONAL for p in parameters):
        return 3
    return 3 if len([p for p in plain if p.default is p.empty]) >= 3 else 2


def _decorator(form: str, sentence: str, example: str) -> Callable[..., Any]:
    def decorate(function: Any = None, **declared: Any) -> Any:
        for name in declared:
            if name not in _FLAGS and name not in _NUMBERS and name != "needs":
                hint = did_you_mean(name, [*_FLAGS, *_NUMBERS, "needs"])
                raise _core.Error(f"a policy declares no '{name}'{hint}")

        def mark(function):
            function.form = form
            for name, value in declared.items():
                setattr(function, name, value)
            return function
        return mark if function is None else mark(function)
    decorate.__name__ = form
    decorate.__doc__ = f"""Makes a function a scheduling policy that {sentence}; keywords are what it declares (see above).

    >>> import muster, numpy
    >>> trace = muster.Trace.generate("poisson", jobs=100)
{example}
    100.0
    """
    return decorate


key = _decorator("key", "returns a number per job, the smallest first", """\
    >>> @muster.policy.key(keys_rest=True)
    ... def smallest_first(jobs, now):
    ...     return jobs.gpus
    >>> muster.simulate(trace, "8x8", scheduling=smallest_first)["finished"]""")
order = _decorator("order", "returns places in the columns, the first to run first", """\
    >>> @muster.policy.order(preemptive=False)
    ... def smallest_first(jobs, cluster, now):
    ...     return numpy.argsort(jobs.gpus, kind="stable")
    >>> muster.simulate(trace, "8x8", scheduling=smallest_first)["finished"]""")
allocate = _decorator("allocate", "returns GPUs per job, or a list of requests", """\
    >>> @muster.policy.allocate
    ... def as_many_as_fit(jobs, cluster, now):
    ...     return numpy.where(numpy.cumsum(jobs.gpus) <= cluster.usable_gpus, jobs.gpus, 0)
    >>> muster.simulate(trace, "8x8", scheduling=as_many_as_fit)["finished"]""")
fractions = _decorator("fractions", "returns the fraction of time for which each job should hold its GPUs", """\
    >>> @muster.policy.fractions
    ... def equal_parts(jobs, cluster, now):
    ...     return numpy.full(len(jobs), min(1, cluster.usable_gpus / jobs.gpus.sum()))
    >>> muster.simulate(trace, "8x8", scheduling=equal_parts, pacing="rounds:length=300")["finished"]""")
