"""Sweeps: in the core's threads, or over processes where policies are written in Python."""

import itertools
import json
import math
import os
import pickle
import signal
import threading

from . import _core
from ._loading import name_of
from ._progress import Display
from ._tables import pandas
from .cluster import Cluster
from .result import Result
from .run import _described, _place, _settings, chosen_from, count_of, label_of
from .trace import Trace

_POLICIES = ("scheduling", "placement", "admission")


def run_sweep(trace, cluster, choices, vary, seeds, output, threads, processes, progress, time_limit, settings):
    threads, processes = count_of("threads", threads), count_of("processes", processes or 0)
    if trace is not None and not isinstance(trace, (str, os.PathLike)):
        trace = Trace.of(trace)
    axes, fixed = {}, {}
    for key, given in {"cluster": cluster, **choices}.items():
        if isinstance(given, (list, tuple)):
            axes[key] = chosen_from(key, given)
        elif given is not None:
            fixed[key] = given
    _check_once(vary, {**axes, **{key: [value] for key, value in fixed.items()}})
    axes.update({key: chosen_from(key, values) for key, values in vary.items()})
    which = chosen_from("seeds", range(1, int(seeds) + 1) if hasattr(seeds, "__index__") and not hasattr(seeds, "__len__")
                        else seeds)
    which = [count_of("a seed", seed) for seed in which]
    written = [value for key in _POLICIES for value in [*axes.get(key, ()), fixed.get(key)]
               if value is not None and _in_python(value)]
    if not written and not isinstance(trace, Trace):
        return pandas().DataFrame(_as_the_command(trace, axes, fixed, which, output, threads, progress, settings))
    if output is not None:
        raise _core.Error("output is where a sweep continues after an interruption, which takes jobs from a file or a "
                          "generator, and built-in policies: leave it out")
    rows, work = _points(trace, axes, fixed, which, settings)
    count = min(len(work), processes or threads or os.cpu_count() or 1)
    figures = _in_processes(trace, work, count, progress, time_limit) if written else _in_threads(trace, work, count, progress)
    return pandas().DataFrame([{**row, **one} for row, one in zip(rows, figures)])


def _check_once(vary, given):
    """What is varied inside a policy must not be said by the policy, too: one of the two would be lost."""
    for key in vary:
        if key in given:
            raise _core.Error(f"{key} is given and in vary, too: choose one")
        kind, _, parameter = key.partition(".")
        for choice in given.get(kind, ()) if kind in _POLICIES else ():
            said = _core.parts_of_choice(choice, kind) if isinstance(choice, str) else choice
            if isinstance(said, dict) and parameter in said:
                raise _core.Error(f"{key} is varied, and {label_of(kind, choice)} says what it is: choose one")


def _in_python(choice):
    name = choice.get("name", "") if isinstance(choice, dict) else choice
    return not isinstance(name, str) or ".py:" in name


def _text(key, value):
    if key in _POLICIES and isinstance(value, dict):
        if "name" not in value:
            raise _core.Error(f"{key} is {value!r}: in a list of policies each has a name")
        return label_of(key, value)
    if key == "cluster":
        value = Cluster.of(value).description
    if not isinstance(value, (str, int, float)):
        raise _core.Error(f"the values of '{key}' must be texts or numbers in a sweep, found a {type(value).__name__}")
    return str(value)


def _as_the_command(trace, axes, fixed, seeds, output, threads, progress, settings):
    """The core finds the points itself, and keeps a journal of them."""
    cluster = fixed.pop("cluster", None)
    described, _, _ = _settings(trace, cluster, fixed, settings)
    listed = [(key, [_text(key, value) for value in values]) for key, values in axes.items()]
    if not any(key in _POLICIES for key, _ in listed):
        listed.append(("scheduling", [_core.chosen(described, "scheduling") or "fifo"]))
    folder = "" if output is None else os.fspath(output)
    runs = len(seeds) * math.prod(len(values) for _, values in listed)
    with Display(progress, runs, "runs") as display:
        rows = _core.sweep(described, listed, seeds, folder, threads, display.show)
    # Values come back as texts: the table has them as they were given.
    given = {key: {_text(key, value): _shown(key, value) for value in values} for key, values in axes.items()}
    return [{**row, **{key: shown[row[key]] for key, shown in given.items()}} for row in rows]


def _points(trace, axes, fixed, seeds, settings):
    """The rows of the table as far as they are known before, and what to run for each: (policies and cluster, seed,
    other settings)."""
    plain = ("cluster", *_POLICIES)
    rows, work = [], []
    load = _load_place(trace, settings) if "load" in axes else ""
    for values in itertools.product(*axes.values()):
        varied = dict(zip(axes, values))
        chosen = {**fixed, **{key: value for key, value in varied.items() if key in plain}}
        more = {**settings, **{load if key == "load" else key: value for key, value in varied.items() if key not in plain}}
        shown = {key: _shown(key, value) for key, value in varied.items()}
        for seed in seeds:
            rows.append({**shown, "seed": seed})
            work.append((chosen, seed, more))
    return rows, work


def _shown(key, value):
    return value if isinstance(value, (str, int, float)) else label_of(key, value)


def _load_place(trace, settings):
    """Where a load acts: in the generator, or in the speed of a trace."""
    if isinstance(trace, Trace):
        return "workload.speed"  # which jobs in memory do not have: that is an error of its own
    return _core.load_key(_settings(trace, None, {}, settings)[0])


def _description(trace, point):
    chosen, seed, settings = point
    policies = {kind: chosen.get(kind) for kind in _POLICIES}
    description, jobs = _described(trace, chosen.get("cluster"), policies, settings, seed)
    _place(description, False, jobs, False, False)
    return description, jobs


def _figures(outcome):
    return Result(json.loads(outcome.summary)).figures()


def _in_threads(trace, work, count, progress):
    """Built-in policies on jobs in memory: the core needs no more than threads."""
    runs = [_description(trace, point)[0] for point in work]
    with Display(progress, len(trace) * len(runs), "jobs") as display:
        return [_figures(outcome) for outcome in _core.run_all(runs, trace._jobs, count, display.show, 60.0)]


def _run(trace, time_limit, point):
    description, jobs = _description(trace, point)
    outcome, = _core.run_all([description], jobs, 1, None, time_limit)
    return _figures(outcome)


def _in_processes(trace, work, count, progress, time_limit):
    """Policies in Python would wait for each other in one process."""
    figures = []
    with Display(progress, len(work), "runs") as display:
        here = (_run(trace, time_limit, point) for point in work)
        for one in here if count <= 1 else _spread(trace, work, count, time_limit):
            figures.append(one)
            if display.show:
                display.show(len(figures))
    return figures


def _spread(trace, work, count, time_limit):
    from concurrent.futures import ProcessPoolExecutor
    import multiprocessing
    for chosen, _, _ in work:
        for kind, choice in chosen.items():
            try:
                pickle.dumps(choice)
            except Exception as reason:
                raise _core.Error(f"the {kind} policy '{name_of(choice)}' cannot be sent to other processes: define it at "
                                  "the top of a module, name it as FILE.py:NAME, or say processes=1") from reason
    # A forked child would hold locks of threads that it does not have.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(stop, trace, time_limit))
    try:
        yield from pool.map(_run_here, work)
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown()


def _begin(stop, trace, time_limit):
    """In each of the processes. Ctrl-C is the business of the first one, which says when to stop."""
    global _same
    _same = (trace, time_limit)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(stop,), daemon=True).start()


def _end_with(stop):
    stop.wait()
    os._exit(1)  # nothing of it is kept


def _run_here(point):
    return _run(*_same, point)
