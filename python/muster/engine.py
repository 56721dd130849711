"""A run turn by turn: look, decide, fork."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from . import _core
from ._views import ClusterNow, Jobs
from .run import _described

_ALL = frozenset(_core.knowledge())


class Engine:
    """A run that is taken turn by turn. It is described as in `muster.simulate`; time_limit too is the one there.

    One thread at a time may be inside: another is refused with an error. After Ctrl-C the run can go on, unless a policy
    written in Python had to be ended for it.

    >>> import muster
    >>> trace = muster.Trace.generate("philly-like", jobs=200)
    >>> engine = muster.Engine(trace, "4x8", scheduling="fifo")
    >>> engine.run(until=20000)
    True
    >>> waiting = engine.jobs.id[~engine.jobs.running]

    Two futures from here: as it is, and with another policy.

    >>> other = engine.fork()
    >>> other.use("srtf")
    >>> _ = engine.run(), other.run()
    >>> engine.figures()["finished"], other.figures()["finished"]
    (200, 200)

    A turn that somebody else decides:

    >>> engine = muster.Engine(trace, "4x8", scheduling="srtf")
    >>> engine.turn(), engine.turns, engine.now > 0, engine.over
    (True, 1, True, False)
    >>> engine.turn(order=engine.jobs.id.tolist()), engine.cluster.free_gpus >= 0
    (True, True)
    >>> engine.decisions[0]["action"]
    '...'
    """

    def __init__(self, trace: Any = None, cluster: Any = None, *, scheduling: Any = None, placement: Any = None,
                 admission: Any = None, time_limit: float = 60.0, **settings: Any):
        choices = {"scheduling": scheduling, "placement": placement, "admission": admission}
        description, jobs = _described(trace, cluster, choices, settings)
        self._steps = _core.Steps(description, jobs, time_limit)

    def turn(self, order: Iterable[int] | None = None) -> bool:
        """Takes one turn; False when the run is over. `order` (job numbers, first runs first) decides instead of the
        policy, for this turn; a job that does not wait or run is an error."""
        if order is not None:
            order = [_number(job) for job in order]
            known, seen = set(self.jobs.id.tolist()), set()
            for job in order:
                if job not in known:
                    raise _core.Error(f"job {job} neither waits nor runs at {self.now} s")
                if job in seen:
                    raise _core.Error(f"job {job} is in the order twice")
                seen.add(job)
        return self._steps.turn(order)

    def run(self, until: float = float("inf")) -> bool:
        """Takes turns up to that time, or to the end; False when the run is over."""
        if until != until:
            raise _core.Error("until is NaN, expected a time in seconds")
        return self._steps.run(float(until))

    def use(self, scheduling: str | dict) -> None:
        """Exchanges the scheduling policy for a built-in one, from the next turn on."""
        if not isinstance(scheduling, (str, dict)):
            raise _core.Error("use() takes the name of a policy, as on the command line")
        self._steps.use(scheduling)

    def fork(self) -> Engine:
        """A copy that goes on by itself, from here: the same jobs, cluster, failures to come and figures so far. Policies
        written in Python are copied with what they remember (`copy.deepcopy`, or their own `__deepcopy__`)."""
        made = Engine.__new__(Engine)
        made._steps = self._steps.fork()
        return made

    @property
    def now(self) -> float:
        """The time of the last turn."""
        return self._steps.now

    @property
    def turns(self) -> int:
        """Turns so far."""
        return self._steps.turns

    @property
    def over(self) -> bool:
        """Whether all jobs have left."""
        return self._steps.over

    @property
    def jobs(self) -> Jobs:
        """Columns over the jobs that wait or run, the true durations included. They end with the next turn."""
        return Jobs(self._steps.jobs(), _ALL)

    @property
    def cluster(self) -> ClusterNow:
        """The cluster after the last turn."""
        return ClusterNow(self._steps.cluster())

    @property
    def decisions(self) -> list[dict]:
        """The decisions of the last turn, as dicts."""
        return self._steps.decisions()

    def figures(self) -> dict[str, float]:
        """The figures of the run so far, as in muster.Result."""
        return {key: value for key, value in json.loads(self._steps.summary()).items()
                if isinstance(value, (int, float)) and not isinstance(value, bool)}

    def __repr__(self):
        return (f"Engine at {self.now:,.0f} s after {self.turns:,} turns: {self._steps.left:,} of "
                f"{self._steps.arrived:,} jobs have left")


def _number(job):
    if isinstance(job, bool) or not hasattr(job, "__index__"):
        raise _core.Error(f"the order names {job!r}, expected numbers of jobs")
    return int(job)
