"""Traces: the jobs of a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._progress import Display
from ._tables import arrays, did_you_mean, pandas

if TYPE_CHECKING:
    import pandas as pandas_types

    from .cluster import Cluster

_NUMBERS, _TEXTS = _core.trace_columns()
_WHOLE = ("gpus", "min_gpus", "max_gpus", "batch_size", "priority")


class Trace:
    """Jobs in memory, in order of submission. Traces never change: every method that changes one returns another.

    The columns are those of Muster's own CSV (docs/trace-formats.md): `job_id`, `submit_s`, `duration_s` and `gpus`
    are always there; the others may be left out.

    >>> import muster
    >>> trace = muster.Trace.from_numpy(submit_s=[0, 60], duration_s=[3600, 600], gpus=[8, 1])
    >>> len(trace)
    2
    >>> trace["gpus"]
    array([8, 1])

    They go to NumPy, pandas and files and back, and can be cut and changed:

    >>> sorted(trace.to_numpy()) == sorted(trace.columns) == sorted(trace.to_pandas().columns)
    True
    >>> trace.write("jobs.csv")
    >>> len(muster.Trace.of("jobs.csv")), muster.Trace.of(trace) is trace, trace.notes
    (2, True, [])
    >>> len(trace[trace["gpus"] > 1]), len(trace.between(30, 90)), trace.faster(2)["submit_s"].tolist()
    (1, 1, [0.0, 30.0])
    """

    def __init__(self, jobs):
        if not isinstance(jobs, _core.TraceJobs):
            raise TypeError("make traces with Trace.read, Trace.generate, Trace.from_pandas or Trace.from_numpy")
        self._jobs = jobs
        self._columns = None

    # Where traces come from.

    @classmethod
    def read(cls, path: str | os.PathLike, format: str | None = None, *, limit: int | None = None,
             skip_bad: bool = False, rebase: str | None = None, statuses: list[str] | None = None,
             settings: dict | None = None, progress: bool | None = None) -> Trace:
        """Reads a trace file. Its format is detected: Muster's CSV, Philly, Helios, Slurm's sacct, SWF and others.

        limit: only the first so many jobs. skip_bad: pass over records that cannot be read. statuses: only jobs that
        ended so, in the trace's own words. settings: of the format. progress: as in `muster.simulate`.

        >>> import muster
        >>> muster.Trace.generate("poisson", jobs=50).write("jobs.csv")
        >>> len(muster.Trace.read("jobs.csv"))
        50
        """
        workload = {"trace": os.fspath(path), "format": format, "limit": limit, "skip_bad": skip_bad,
                    "rebase": rebase, "statuses": statuses, "settings": settings}
        with Display(progress, None, "jobs") as display:
            return cls(_core.read_trace({"workload": workload}, display.show))

    @classmethod
    def generate(cls, name: str, *, cluster: Cluster | str | None = None, seed: int = 1, progress: bool | None = None,
                 **parameters: Any) -> Trace:
        """Draws jobs from a seed. `muster.policies("generator")` lists the generators with their parameters.

        A parameter `load` refers to `cluster`; without one, to as many GPUs as the generator's `cluster_gpus` says.

        >>> import muster
        >>> trace = muster.Trace.generate("poisson", jobs=100, load=0.9, cluster="16x8")
        >>> len(trace)
        100
        """
        if cluster is None:
            # Then a load refers to the number of GPUs that the generator itself has in mind.
            known = {row["name"]: row["parameters"] for row in _core.plugins("generator")}
            if "cluster_gpus" in known.get(name, ()):
                parameters.setdefault("cluster_gpus", known[name]["cluster_gpus"][0])
        settings = {"workload": {"generator": {"name": name, **parameters}}, "seed": seed,
                    "cluster": _cluster_text(cluster)}
        with Display(progress, parameters.get("jobs"), "jobs") as display:
            return cls(_core.generate_trace(settings, display.show))

    @classmethod
    def from_numpy(cls, *, sort: bool = False, **columns: Any) -> Trace:
        """A trace of arrays or lists, one per column. `sort` sorts the jobs by submission.

        >>> import muster
        >>> muster.Trace.from_numpy(submit_s=[0], duration_s=[-5], gpus=[1])
        Traceback (most recent call last):
        ...
        muster.Error: row 0: found a duration of -5 s...
        """
        rows = None
        for name, values in columns.items():
            count = _rows_of(name, values)
            if rows is not None and count != rows:
                raise _core.Error(f"column {name} has {count} rows, the columns before it have {rows}")
            rows = count
        numbers, texts = _split(columns)
        _check_names(texts.get("job_id", ()))
        return cls(_core.trace_from_columns(rows or 0, numbers, texts, sort))

    @classmethod
    def from_pandas(cls, frame: pandas_types.DataFrame, *, sort: bool = False) -> Trace:
        """A trace of a data frame; its index is not looked at, columns with other names are an error.

        >>> import muster, pandas
        >>> frame = pandas.DataFrame({"submit_s": [0.0, 5.0], "duration_s": [60, 60], "gpus": [1, 2]})
        >>> len(muster.Trace.from_pandas(frame))
        2
        """
        return cls.from_numpy(sort=sort, **{str(name): frame[name].to_numpy() for name in frame.columns})

    @classmethod
    def of(cls, jobs: Trace | pandas_types.DataFrame | str | os.PathLike) -> Trace:
        """A trace of whatever it is given: a trace, a data frame, or the path of a file."""
        if isinstance(jobs, cls):
            return jobs
        if isinstance(jobs, (str, os.PathLike)):
            return cls.read(jobs)
        if hasattr(jobs, "columns") and hasattr(jobs, "iloc"):
            return cls.from_pandas(jobs)
        raise TypeError(f"expected a Trace, a data frame or a path, found a {type(jobs).__name__}")

    def __reduce__(self):
        return _again, (self.columns,)

    # What is in them.

    def __len__(self) -> int:
        return len(self._jobs)

    def __repr__(self):
        if not len(self):
            return "Trace of no jobs"
        submit = self["submit_s"]
        return (f"Trace of {len(self):,} jobs over {(submit[-1] - submit[0]) / 86400:.1f} days, "
                f"{float(np.sum(self['gpus'] * self['duration_s'])) / 3600:,.0f} GPU hours")

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """All columns, by name: NumPy arrays that cannot be written to, of objects for text. `deadline_s` is inf where
        there is none."""
        if self._columns is None:
            self._columns = arrays(self._jobs.columns())
            for name in _WHOLE:
                self._columns[name] = self._columns[name].astype(np.int64)
            for column in self._columns.values():
                column.setflags(write=False)
        return dict(self._columns)

    @property
    def notes(self) -> list[str]:
        """What a person should know about how it was read."""
        return list(self._jobs.notes)

    def to_numpy(self) -> dict[str, np.ndarray]:
        """The columns; the same as `columns`."""
        return self.columns

    def to_pandas(self) -> pandas_types.DataFrame:
        """A data frame with one row per job.

        >>> import muster
        >>> int(muster.Trace.generate("poisson", jobs=3).to_pandas()["gpus"].count())
        3
        """
        return pandas().DataFrame(self.columns)

    def write(self, path: str | os.PathLike, format: str = "muster", *, progress: bool | None = None) -> None:
        """Writes a trace file; .gz and .zst compress."""
        with Display(progress, len(self), "jobs") as display:
            self._jobs.write(os.fspath(path), format, display.show)

    # Choosing and changing jobs.

    def __getitem__(self, key: Any) -> Any:
        """A column by its name; or the jobs of a slice, a mask or a list of rows, as another trace."""
        if isinstance(key, str):
            if key not in self.columns:
                raise _core.Error(_unknown(key))
            return self.columns[key]
        rows = np.arange(len(self))[key]
        if rows.ndim != 1:
            raise TypeError("expected a slice, a mask or a list of rows")
        rows = np.ascontiguousarray(np.sort(rows), dtype=np.int64)
        if (twice := rows[1:][rows[1:] == rows[:-1]]).size:
            raise _core.Error(f"row {twice[0]} is chosen twice: two jobs would have one job_id")
        return Trace(self._jobs.take(rows, 0.0))

    def head(self, jobs: int) -> Trace:
        """The first jobs.

        >>> import muster
        >>> len(muster.Trace.generate("poisson", jobs=100).head(10))
        10
        """
        return self[:jobs]

    def between(self, start_s: float, end_s: float, *, rebase: bool = True) -> Trace:
        """The jobs submitted from `start_s` to before `end_s`; `rebase` makes `start_s` their second 0, unless it is
        infinite."""
        if np.isnan(start_s) or np.isnan(end_s):
            raise _core.Error(f"between {start_s} and {end_s}: expected times in seconds")
        submit = self["submit_s"]
        rows = np.flatnonzero((submit >= start_s) & (submit < end_s))
        origin = float(start_s) if rebase and np.isfinite(start_s) else 0.0
        return Trace(self._jobs.take(np.ascontiguousarray(rows, dtype=np.int64), origin))

    def replace(self, *, sort: bool = False, **columns: Any) -> Trace:
        """The same jobs with other values in these columns.

        >>> import muster
        >>> trace = muster.Trace.generate("poisson", jobs=100)
        >>> shorter = trace.replace(duration_s=trace["duration_s"] / 2)
        >>> bool((shorter["duration_s"] * 2 == trace["duration_s"]).all())
        True
        """
        for name, values in columns.items():
            if _rows_of(name, values) != len(self):
                raise _core.Error(f"column {name} has {len(values)} rows, the trace has {len(self)}")
        numbers, texts = _split(columns)
        if "job_id" in texts:
            raise _core.Error("job_id cannot be replaced: it names the job")
        return Trace(self._jobs.with_columns(numbers, texts, sort))

    def faster(self, factor: float) -> Trace:
        """The same jobs, arriving `factor` times as fast. Deadlines move with the submission."""
        submit = self["submit_s"]
        if not factor > 0:
            raise _core.Error(f"factor is {factor}, but must be a positive number")
        return self.replace(submit_s=submit / factor, deadline_s=self["deadline_s"] + (submit / factor - submit))


def _again(columns):
    """Out of a pickle, as another process gets it. What came from a file may have names twice."""
    return Trace(_core.trace_from_columns(len(columns["job_id"]), *_split(columns), False))


def _check_names(names):
    rows = {}
    for row, name in enumerate(names):
        if name and rows.setdefault(name, row) != row:
            raise _core.Error(f"rows {rows[name]} and {row} have the same job_id, '{name}': each job has its own")


def _rows_of(name, values):
    try:
        if not isinstance(values, (str, bytes)):
            return len(values)
    except TypeError:  # a number, or an array without dimensions
        pass
    raise _core.Error(f"column {name} is a {type(values).__name__}, expected one value per job")


def _unknown(name):
    known = list(_TEXTS) + list(_NUMBERS)
    return f"column '{name}' is not known{did_you_mean(name, known)}; known: {', '.join(known)}"


def _split(columns):
    """Numbers as float64, texts as lists of str; everything else is an error that names the column."""
    numbers, texts = {}, {}
    for name, values in columns.items():
        if name in _TEXTS:
            texts[name] = ["" if _missing(value) else str(value) for value in values]
            _check_text(name, texts[name])
            continue
        if name not in _NUMBERS:
            raise _core.Error(_unknown(name))
        made = np.asarray(values)
        if made.ndim != 1:
            raise _core.Error(f"column {name} has {made.ndim} dimensions, expected one")
        try:
            # Dates would turn into nanoseconds, and half of a complex number be lost.
            numbers[name] = np.ascontiguousarray(made, dtype=np.float64) if made.dtype.kind not in "cmM" else None
        except (OverflowError, TypeError, ValueError):
            numbers[name] = None
        if numbers[name] is None:
            raise _core.Error(f"column {name} holds {made.dtype}, expected numbers")
    return numbers, texts


def _check_text(name, values):
    """Texts are UTF-8 without NUL, for files and the core."""
    whole = "".join(values)
    try:
        whole.encode()
        if "\0" not in whole:
            return
    except UnicodeEncodeError:
        pass
    for row, text in enumerate(values):
        if "\0" in text or text.encode(errors="replace").decode() != text:
            raise _core.Error(f"row {row}: {name} is {text!r}, expected text without NUL and without lone surrogates")


def _missing(value):
    """Whether a text is not there: None, NaN, or pandas' NA, which is neither equal to itself nor unequal."""
    return value is None or type(value).__name__ == "NAType" or value != value


def _cluster_text(cluster):
    from .cluster import Cluster
    return "1x1" if cluster is None else Cluster.of(cluster).description
