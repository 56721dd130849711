"""What a policy looks at: columns over jobs, the cluster, the numbers of an allocation problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._tables import array, did_you_mean, pandas

_JOB_COLUMNS = {name: (number, np.dtype(kind), needs)
                for number, (name, kind, needs, _) in enumerate(_core.job_view_columns())}
_JOB_TEXTS = {name: number for number, name in enumerate(_core.job_view_texts())}
_NODE_COLUMNS = {name: (number, np.dtype(kind)) for number, (name, kind) in enumerate(_core.node_columns())}
_NODE_TEXTS = {name: number for number, name in enumerate(_core.node_texts())}
_frombuffer = np.frombuffer


class Jobs:
    """Columns over jobs, in order of arrival: read-only NumPy arrays, made when they are first looked at.

    docs/python.md lists them; `dir(jobs)` too. `speeds` is a matrix: training steps per second of each job on GPUs
    of each type of the cluster, in the order of `cluster.types`.

    >>> import muster
    >>> trace = muster.Trace.from_numpy(submit_s=[0, 0, 5], duration_s=[60, 60, 60], gpus=[8, 1, 2], user=["ada", "ada", "bob"])
    >>> engine = muster.Engine(trace, "1x8")
    >>> engine.turn()
    True
    >>> jobs = engine.jobs  # or what a policy is given
    >>> jobs.gpus.tolist(), jobs.running.tolist(), jobs.user.tolist()
    ([8, 1], [True, False], ['ada', 'ada'])
    >>> jobs.to_pandas()[["id", "gpus", "waiting"]].shape
    (2, 3)
    """

    def __init__(self, view, knows=frozenset()):
        self._view = view
        self._knows = knows

    def __len__(self) -> int:
        return len(self._view)

    def __getattr__(self, name: str) -> Any:
        column = _JOB_COLUMNS.get(name)
        if column is not None:
            number, dtype, needs = column
            if needs and needs not in self._knows:
                raise _core.Error(f"jobs.{name} is only for policies that declare needs = [\"{needs}\"]")
            made = _frombuffer(self._view.column(number), dtype)
        elif name in _JOB_TEXTS:
            made = np.array(self._view.texts(_JOB_TEXTS[name]), dtype=object)
        elif name == "speeds":
            made = array(self._view.speeds(), np.float64).reshape(len(self), -1)
        else:
            raise AttributeError(f"jobs have no column '{name}'{did_you_mean(name, dir(self))}")
        self.__dict__[name] = made
        return made

    def metric(self, name: str) -> Any:
        """What each job last reported under that name, if the description names it in `metrics`; else not a number.

        >>> import muster, numpy as np
        >>> def least_loss(jobs, now):
        ...     return np.nan_to_num(jobs.metric("loss"))  # live jobs report; those of a simulation do not
        >>> trace = muster.Trace.from_numpy(submit_s=[0, 5], duration_s=[60, 60], gpus=[1, 1])
        >>> muster.simulate(trace, "1x1", scheduling=least_loss)["finished"]
        2.0
        """
        return array(self._view.metric(name), np.float64)

    def __dir__(self) -> list[str]:
        return [*_JOB_COLUMNS, *_JOB_TEXTS, "speeds", "metric"]

    def to_pandas(self) -> Any:
        """All columns that the policy may read, as a data frame."""
        names = [name for name, (_, _, needs) in _JOB_COLUMNS.items() if not needs or needs in self._knows]
        return pandas().DataFrame({name: getattr(self, name) for name in [*names, *_JOB_TEXTS]})


class Job:
    """One job: the columns of `Jobs`, as single values.

    >>> import muster
    >>> def at_most_four(job, cluster, now):
    ...     return job.gpus <= 4 or cluster.free_gpus == 16
    >>> trace = muster.Trace.from_numpy(submit_s=[0, 5], duration_s=[60, 60], gpus=[2, 8])
    >>> muster.simulate(trace, "2x8", admission=at_most_four)["refused"]
    1.0
    """

    def __init__(self, jobs):
        self._jobs = jobs

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._jobs, name)[0]
        return value.item() if isinstance(value, np.generic) else value

    def __dir__(self) -> list[str]:
        return dir(self._jobs)


class Nodes:
    """Columns over the nodes of the cluster."""

    def __init__(self, view):
        self._view = view

    def __getattr__(self, name: str) -> Any:
        if name in _NODE_COLUMNS:
            number, dtype = _NODE_COLUMNS[name]
            made = array(self._view.node_column(number), dtype)
        elif name in _NODE_TEXTS:
            made = np.array(self._view.node_texts(_NODE_TEXTS[name]), dtype=object)
        else:
            raise AttributeError(f"nodes have no column '{name}'; there are {', '.join(dir(self))}")
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        return [*_NODE_COLUMNS, *_NODE_TEXTS]


class ClusterNow:
    """The cluster at the moment of a decision.

    >>> import muster
    >>> trace = muster.Trace.from_numpy(submit_s=[0, 0], duration_s=[60, 60], gpus=[4, 8])
    >>> engine = muster.Engine(trace, "1x8:v100,1x8:a100", scheduling="fifo")
    >>> engine.turn()
    True
    >>> cluster = engine.cluster  # or what a policy is given
    >>> cluster.free_gpus, cluster.usable_gpus, cluster.demanded_gpus, cluster.types, cluster.capacity.tolist()
    (4, 16, 0, ['v100', 'a100'], [8, 8])
    >>> sorted(cluster.nodes.free.tolist()), cluster.nodes.gpu_type.tolist()
    ([0, 4], ['v100', 'a100'])
    """

    def __init__(self, view):
        self._view = view
        self.nodes = Nodes(view)

    @property
    def free_gpus(self) -> int:
        """GPUs that nobody holds."""
        return self._view.free_gpus

    @property
    def usable_gpus(self) -> int:
        """GPUs of nodes that are up."""
        return self._view.usable_gpus

    @property
    def demanded_gpus(self) -> int:
        """For admission policies: GPUs asked for by all admitted jobs, running or waiting."""
        return self._view.demanded_gpus

    @property
    def types(self) -> list[str]:
        """GPU types, in the order in which the cluster names them."""
        return self._view.types()

    @property
    def capacity(self) -> np.ndarray:
        """Usable GPUs of each type."""
        return array(self._view.capacity(), np.int64)


class Problem:
    """What a policy is asked that allocates fractions of time by GPU type, as Gavel's are.

    throughputs   steps per second: a row per job, a column per GPU type
    gpus          of each job: its scale factor
    capacity      GPUs of each type
    weights, steps_left, age, deadline_in, ids, of each job; prices, of each type (empty: all cost the same); now

    >>> import muster, numpy
    >>> class Isolated:
    ...     by_type = True
    ...     def fractions(self, problem):
    ...         share = numpy.tile(problem.capacity / len(problem), (len(problem), 1)) / problem.gpus[:, None]
    ...         return share / numpy.maximum(1, share.sum(axis=1, keepdims=True))
    >>> trace = muster.Trace.generate("poisson", jobs=20)
    >>> trace = trace[trace["gpus"] <= 4]
    >>> result = muster.simulate(trace, "1x8:v100,1x8:k80", scheduling=Isolated, pacing="rounds:length=360")
    >>> result["finished"] == len(trace)
    True
    """

    def __init__(self, rates, jobs, capacity, prices, now):
        self.capacity = array(capacity, np.float64).astype(np.int64)
        self.throughputs = array(rates, np.float64).reshape(-1, len(self.capacity))
        rows = array(jobs, np.float64).reshape(-1, 6)
        self.ids = rows[:, 0].astype(np.int64)
        self.gpus = rows[:, 1].astype(np.int64)
        self.weights, self.steps_left, self.age, self.deadline_in = rows[:, 2:].T
        self.prices = array(prices, np.float64)
        self.now = now

    def __len__(self) -> int:
        return len(self.ids)
