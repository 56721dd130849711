"""Runs: one, several side by side, sweeps, published experiments."""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING, Any

from . import _core
from ._loading import Policies, name_of
from ._progress import Display
from ._tables import did_you_mean
from .cluster import Cluster
from .result import Comparison, Result, temporary_folder
from .trace import Trace

if TYPE_CHECKING:
    import pandas as pandas_types


def _settings(trace, cluster, choices, settings):
    """The description as keywords of TOML, the jobs in memory if there are some, and the policies given as objects.

    A keyword such as "scheduling.quantum", of a sweep, is a place in the description: it adds to what the others say."""
    places = {key: value for key, value in settings.items() if "." in key}
    described = {key: value for key, value in settings.items() if key not in places}
    generator = described.pop("generate", None)
    if trace is not None and generator is not None:
        raise _core.Error("a trace and generate were both given: choose one")
    if generator is not None:
        described["workload"] = {**described.get("workload", {}), "generator": generator}
    jobs = None
    if isinstance(trace, (str, os.PathLike)):
        described["workload"] = {**described.get("workload", {}), "trace": os.fspath(trace)}
    elif trace is not None:
        jobs = Trace.of(trace)._jobs
        if "workload" in described or any(place.startswith("workload.") for place in places):
            raise _core.Error("workload says how jobs are read or drawn, and these are in memory: change them with "
                              "Trace.faster, Trace.head and so on")
    if cluster is not None:
        described["cluster"] = Cluster.of(cluster).description
    objects = {}
    for kind, choice in choices.items():
        if choice is None:
            continue
        if not isinstance(choice, (str, dict)):
            name = name_of(choice)
            objects[kind, name] = choice
            choice = {"name": name}
        described[kind] = choice
    return {**described, **places}, jobs, objects


def _described(trace, cluster, choices, settings, seed=None):
    """With a seed: as a point of a sweep, in which all that draws follows it."""
    described, jobs, objects = _settings(trace, cluster, choices, settings)
    return _core.describe(described, jobs, Policies(objects).core, seed), jobs


def describe(trace: Any = None, cluster: Any = None, *, scheduling: Any = None, placement: Any = None,
             admission: Any = None, **settings: Any) -> str:
    """The complete description of a run as TOML, with every default written out; it runs nothing.

    >>> import muster
    >>> text = muster.describe(generate="poisson:jobs=100", cluster="16x8", scheduling="las")
    >>> "quantum = 300" in text
    True
    """
    choices = {"scheduling": scheduling, "placement": placement, "admission": admission}
    return _described(trace, cluster, choices, settings)[0].toml


def _place(description, output, jobs, force, turns):
    """Where a run is kept: (folder, whether it is temporary)."""
    if output is False:
        _core.set_output(description, "", False, turns, "")
        return None, False
    folder = temporary_folder() if output is None else os.path.abspath(os.fspath(output))
    # Jobs that are only in memory are written beside the result, and the description names them there.
    trace = os.path.join(folder, "inputs", "jobs.csv") if jobs is not None and not _again(description) else ""
    _core.set_output(description, folder, force, turns, trace)
    return folder, output is None


def _again(description):
    return 'trace = "in memory"' not in description.toml


def _finish(outcome, folder, temporary, jobs, description):
    if folder is not None and jobs is not None and not temporary:
        path = os.path.join(outcome.folder, "inputs", "jobs.csv")
        if f'trace = "{path}"' in description.toml:
            jobs.write(path, "muster", None)
    return Result(json.loads(outcome.summary), outcome.folder or None, temporary, refusals=outcome.warnings)


def simulate(trace: Any = None, cluster: Any = None, *, scheduling: Any = None, placement: Any = None,
             admission: Any = None, output: str | os.PathLike | bool | None = None, force: bool = False,
             turns: bool = False, name: str | None = None, progress: bool | None = None, time_limit: float = 60.0,
             **settings: Any) -> Result:
    """Runs one workload on one cluster under one set of policies.

    trace        a Trace, a data frame, or the path of a file; generate="poisson:jobs=5000" draws jobs instead
    cluster      a Cluster, a shape such as "16x8", or the path of a file
    scheduling, placement, admission
                 a name as on the command line ("las:quantum=600"), "my_policy.py:MyPolicy", or a function, class or
                 object written in Python (muster.policy)
    output       a folder for the results; None: a temporary one; False: keep the figures only, which is fastest
    turns        record the cluster after every turn
    progress     True or False: show a progress bar (default: on a terminal, if tqdm is there and it takes a while)
    time_limit   seconds that a policy written in Python may take for one decision
    settings     every other key of a TOML file: preset="blox", file="run.toml", seed=3, pacing="rounds:length=300",
                 perf=["gpu-types:..."], restart={"restart": 30}, failures={"node_mtbf": 604800}, measure={...}

    >>> import muster
    >>> trace = muster.Trace.generate("poisson", jobs=200)
    >>> result = muster.simulate(trace, "8x8", scheduling="srtf", restart={"restart": 30})
    >>> result["finished"]
    200.0
    >>> print(result.explain(3).splitlines()[0])
    Job #3 asked for ...
    """
    choices = {"scheduling": scheduling, "placement": placement, "admission": admission}
    description, jobs = _described(trace, cluster, choices, settings)
    if name is not None:
        description.name = name
    folder, temporary = _place(description, output, jobs, force, turns)
    with Display(progress, len(jobs) if jobs is not None else None, "jobs") as display:
        outcome, = _core.run_all([description], jobs, 1, display.show, time_limit)
    return _finish(outcome, folder, temporary, jobs, description)


def label_of(key, value):
    """How a value that is varied is called in tables, legends and folders."""
    if value is None:
        return "default"
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Cluster):
        shape = value.description
        return shape if isinstance(shape, str) else f"{len(value)} nodes with {value.gpus} GPUs"
    if isinstance(value, dict) and "name" in value:
        return _core.chosen({key: value}, key)
    if isinstance(value, dict):
        return ",".join(f"{name}={one}" for name, one in value.items())
    return name_of(value)


def chosen_from(key, values):
    """What a list has to choose from."""
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise _core.Error(f"{key} is {values!r}: expected a list of values")
    if not len(values):
        raise _core.Error(f"{key} is an empty list: expected at least one value")
    return values.tolist() if hasattr(values, "tolist") else list(values)


def count_of(name, value):
    """A whole number from 0 on: of threads or processes (0: as many as there are cores), a seed."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < 0:
        raise _core.Error(f"{name} is {value!r}, but must be a whole number from 0 on")
    return int(value)


def _combinations(cluster, choices):
    """All combinations of what was given as a list, named by what differs."""
    axes = {"cluster": cluster, **choices}
    several = {key: chosen_from(key, values) for key, values in axes.items() if isinstance(values, (list, tuple))}
    if isinstance(cluster, Cluster) or not several:
        several.pop("cluster", None)
    for values in itertools.product(*several.values()):
        chosen = {**axes, **dict(zip(several, values))}
        yield " + ".join(label_of(key, value) for key, value in zip(several, values) if len(several[key]) > 1), chosen


def compare(trace: Any = None, cluster: Any = None, *, scheduling: Any = None, placement: Any = None,
            admission: Any = None, output: str | os.PathLike | bool | None = None, force: bool = False,
            turns: bool = False, threads: int = 0, progress: bool | None = None, time_limit: float = 60.0,
            **settings: Any) -> Comparison:
    """Runs the same jobs under every combination of what is given as a list; the rest is as in `simulate`.

    >>> import muster
    >>> trace = muster.Trace.generate("philly-like", jobs=300)
    >>> comparison = muster.compare(trace, "8x8", scheduling=["fifo", "las", "srtf"])
    >>> list(comparison)
    ['fifo', 'las', 'srtf']
    >>> comparison["srtf"]["avg_jct_s"] < comparison["fifo"]["avg_jct_s"]
    True
    """
    choices = {"scheduling": scheduling, "placement": placement, "admission": admission}
    runs, names = [], []
    for label, chosen in _combinations(cluster, choices):
        where = chosen.pop("cluster")
        description, jobs = _described(trace, where, chosen, settings)
        while label in names:
            label += " again"
        description.name = label or description.label
        names.append(description.name)
        runs.append((description, jobs))
    places = []
    for (description, jobs), folder in zip(runs, _file_names(names)):
        own = output if output in (None, False) else os.path.join(os.fspath(output), folder)
        places.append(_place(description, own, jobs, force, turns))
    threads = count_of("threads", threads)
    jobs = runs[0][1]
    expected = None if jobs is None else len(jobs) * len(runs)
    with Display(progress, expected, "jobs") as display:
        outcomes = _core.run_all([description for description, _ in runs], jobs, threads, display.show, time_limit)
    made = {}
    for name, outcome, (folder, temporary), (description, _) in zip(names, outcomes, places, runs):
        made[name] = _finish(outcome, folder, temporary, jobs, description)
    return Comparison(made)


def _file_names(names):
    """A folder for each run: what its name becomes in lower case and without signs, with a number where two agree."""
    made = []
    for number, name in enumerate(names):
        safe = "".join(c.lower() if c.isalnum() or c in "._" else "-" for c in name).strip("-.") or f"run-{number}"
        again = 2
        while (folder := safe if again == 2 else f"{safe}-{again - 1}") in made:
            again += 1
        made.append(folder)
    return made


def sweep(trace: Any = None, cluster: Any = None, *, vary: dict[str, list] | None = None, seeds: int | list[int] = 1,
          scheduling: Any = None, placement: Any = None, admission: Any = None, output: str | os.PathLike | None = None,
          threads: int = 0, processes: int | None = None, progress: bool | None = None, time_limit: float = 60.0,
          **settings: Any) -> pandas_types.DataFrame:
    """Runs one description for every combination of lists and seeds; a data frame with a row per run.

    Lists in `cluster`, `scheduling`, `placement` and `admission` are varied; `vary` has others by their place in a
    description, as {"load": [0.8, 1.0]} or {"restart.restart": [0, 60]}. seeds: how many, or which. With policies
    written in Python the runs are spread over processes: the policies must be at the top of a module or in a file, and
    a script must call sweep under `if __name__ == "__main__":`. processes=1 does without. time_limit: as in `simulate`.
    output: a folder where a sweep that was interrupted continues, with jobs of a file or a generator and built-in policies.

    >>> import muster
    >>> table = muster.sweep(generate="poisson:jobs=200", cluster="8x8", scheduling=["fifo", "las"],
    ...                      vary={"load": [0.7, 1.0]}, seeds=2)
    >>> len(table)
    8
    """
    from ._sweep import run_sweep
    choices = {"scheduling": scheduling, "placement": placement, "admission": admission}
    return run_sweep(trace, cluster, choices, vary or {}, seeds, output, threads, processes, progress, time_limit, settings)


def reproduce(system: str | None = None, experiment: str | None = None, *, threads: int = 0,
              progress: bool | None = None) -> pandas_types.DataFrame | dict[str, list[str]]:
    """Runs a published experiment again; a data frame of figures: ours, the artifact's, the paper's.

    Without arguments it lists what there is. Most need public data (docs/data.md).

    >>> import muster
    >>> "blox" in muster.reproduce()
    True
    """
    from ._tables import pandas
    threads = count_of("threads", threads)
    if system is None:
        return {folder: _core.shared_files(f"experiments/{folder}") for folder in _core.shared_folders("experiments")}
    names = [experiment] if experiment else _core.shared_files(f"experiments/{system}") or [""]
    rows = []
    with Display(progress, None, "runs") as display:
        for name in names:
            rows += [{"experiment": name, **row} for row in _core.experiment(system, name, threads, display.show)]
    return pandas().DataFrame(rows)


def policies(kind: str | None = None) -> list[dict]:
    """What can be chosen for a run, as dicts with kind, name, sentence, source and parameters.

    >>> import muster
    >>> [row["name"] for row in muster.policies("scheduling")][:2]
    ['fifo', 'sjf']
    """
    rows = _core.plugins(kind or "")
    if kind is not None and not rows:
        kinds = list(dict.fromkeys(row["kind"] for row in _core.plugins("")))
        raise _core.Error(f"no kind '{kind}'{did_you_mean(kind, kinds)}; there are {', '.join(kinds)}")
    return rows


def metrics() -> dict[str, str]:
    """The figures of a run and what they mean, by key.

    >>> import muster
    >>> muster.metrics()["avg_jct_s"]
    'mean completion time (end minus submission) of finished jobs'
    """
    return {key: sentence for key, _, sentence, _, _ in _core.metrics()}
