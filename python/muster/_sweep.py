"""Sweeps: in the core's threads, or over processes where policies are written in Python."""

import itertools
import os
import pickle

from . import _core
from ._loading import name_of
from ._progress import Display
from ._tables import pandas
from .cluster import Cluster
from .trace import Trace

_POLICIES = ("scheduling", "placement", "admission")


def run_sweep(trace, cluster, choices, vary, seeds, output, threads, processes, progress, settings):
    from .run import chosen_from
    axes = {}
    fixed = {}
    for key, given in {"cluster": cluster, **choices}.items():
        if isinstance(given, (list, tuple)):
            axes[key] = chosen_from(key, given)
        elif given is not None:
            fixed[key] = given
    axes.update({key: chosen_from(key, values) for key, values in vary.items()})
    which = chosen_from("seeds", range(1, seeds + 1)) if isinstance(seeds, int) else [int(seed) for seed in seeds]
    written = [value for key in _POLICIES for value in [*axes.get(key, ()), fixed.get(key)]
               if value is not None and _in_python(value)]
    if written or isinstance(trace, Trace):
        rows = _one_by_one(trace, axes, fixed, which, processes, settings, bool(written))
    else:
        rows = _in_threads(trace, axes, fixed, which, output, threads, progress, settings)
    return pandas().DataFrame(rows)


def _in_python(choice):
    return not isinstance(choice, dict) and (not isinstance(choice, str) or ".py:" in choice)


def _text(key, value):
    if key == "cluster":
        value = Cluster.of(value).description
    if not isinstance(value, (str, int, float)):
        raise _core.Error(f"the values of '{key}' must be texts or numbers in a sweep, found a {type(value).__name__}")
    return str(value)


def _in_threads(trace, axes, fixed, seeds, output, threads, progress, settings):
    from .run import _settings
    cluster = fixed.pop("cluster", None)
    described, _, _ = _settings(trace, cluster, fixed, settings)
    listed = [(key, [_text(key, value) for value in values]) for key, values in axes.items()]
    if not any(key in _POLICIES for key, _ in listed):
        scheduling = described.get("scheduling", "fifo")
        listed.append(("scheduling", [scheduling if isinstance(scheduling, str) else scheduling["name"]]))
    folder = "" if output is None else os.fspath(output)
    with Display(progress, None, "runs") as display:
        return _core.sweep(described, listed, seeds, folder, threads, display.show)


def _one(arguments):
    """One run of a sweep, in a process of its own."""
    from .run import simulate
    trace, chosen, seed, settings = arguments
    result = simulate(trace, output=False, progress=False, seed=seed, **chosen, **settings)
    return result.figures()


def _nested(path, value):
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


def _merged(settings, more):
    merged = dict(settings)
    for key, value in more.items():
        known = merged.get(key)
        merged[key] = _merged(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged


def _one_by_one(trace, axes, fixed, seeds, processes, settings, in_python):
    plain = ("cluster", *_POLICIES)
    rows, work = [], []
    for values in itertools.product(*axes.values()):
        varied = dict(zip(axes, values))
        chosen = {**fixed, **{key: value for key, value in varied.items() if key in plain}}
        more = settings
        for key, value in varied.items():
            if key not in plain:
                more = _merged(more, _nested("workload.generator.load" if key == "load" else key, value))
        shown = {key: value if isinstance(value, (str, int, float)) else name_of(value) for key, value in varied.items()}
        for seed in seeds:
            rows.append({**shown, "seed": seed})
            work.append((trace, chosen, seed, more))
    count = min(len(work), processes or os.cpu_count() or 1)
    if count <= 1:
        figures = [_one(one) for one in work]
    else:
        with _pool(count, work, in_python) as pool:
            figures = list(pool.map(_one, work))
    return [{**row, **one} for row, one in zip(rows, figures)]


def _pool(count, work, in_python):
    """Processes where policies in Python would wait for each other; the core alone needs no more than threads."""
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
    import multiprocessing
    if not in_python:
        return ThreadPoolExecutor(count)
    for _, chosen, _, _ in work:
        for kind, choice in chosen.items():
            try:
                pickle.dumps(choice)
            except Exception as reason:
                raise _core.Error(f"the {kind} policy '{name_of(choice)}' cannot be sent to other processes: define it at "
                                  "the top of a module, name it as FILE.py:NAME, or say processes=1") from reason
    # A forked child would hold locks of threads that it does not have.
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))
