"""Results: figures, tables, plots, stories and reports of runs."""

from __future__ import annotations

import html as _html
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _plots
from ._tables import arrays, did_you_mean, pandas

if TYPE_CHECKING:
    import pandas as pandas_types

_WHOLE = ("job", "other", "gpus", "detail", "preemptions", "restarts", "resizes", "priority")


class Result:
    """One run. Figures are its items: `result["avg_jct_s"]`; `muster.metrics()` explains them.

    The tables are read from the folder of the run, which is temporary unless `simulate` was given one. Results of the
    command open the same way: `muster.Result.open("results/las")`.

    >>> import muster
    >>> trace = muster.Trace.generate("poisson", jobs=100, seed=3)
    >>> result = muster.simulate(trace, "2x8", scheduling="las", turns=True)
    >>> result["finished"], result.complete, result.warnings
    (100.0, True, [])
    >>> result.figures()["finished"], "avg_jct_s" in result.keys(), result.summary["label"] == result.name
    (100.0, True, True)

    Tables, as data frames and as NumPy arrays:

    >>> len(result.jobs), len(result.columns("jobs")["jct_s"])
    (100, 100)
    >>> len(result.decisions) >= 300 and len(result.timeline) > 1 and len(result.turns) > 100
    True

    Stories, pages and pictures:

    >>> print(result.explain(3).splitlines()[0])
    Job #3 asked for ...
    >>> result.report("page.html")
    <report page of ... characters: ...>
    >>> axes = [result.plot_jct(), result.plot_queueing(), result.plot_utilization(), result.plot_queue()]
    >>> muster.Result.open(result.folder)["avg_jct_s"] == result["avg_jct_s"]
    True
    """

    def __init__(self, summary: dict[str, Any], folder: str | None = None, temporary: bool = False,
                 refusals: list[str] | None = None):
        self._summary = summary
        self._folder = folder
        self._open = None
        self._refusals = refusals
        if temporary:
            # Removed with the last reference, or when Python ends.
            self._remove = weakref.finalize(self, shutil.rmtree, os.path.dirname(folder), ignore_errors=True)

    @classmethod
    def open(cls, folder: str | os.PathLike) -> Result:
        """The result in a folder, of this package or of the command."""
        opened = _core.ResultFolder.open(os.fspath(folder))
        return cls(json.loads(opened.summary), os.fspath(folder))

    # Figures.

    @property
    def name(self) -> str:
        """What it is called in tables and legends."""
        return self._summary["label"]

    @property
    def summary(self) -> dict[str, Any]:
        """All that summary.json holds (docs/results.md)."""
        return self._summary

    @property
    def complete(self) -> bool:
        """False if the run was stopped before its end."""
        return self._summary["complete"]

    @property
    def warnings(self) -> list[str]:
        """What policies needed and the inputs did not tell them, and why jobs were refused, if more than a few were (not of
        results that were opened)."""
        return [*self._summary.get("warnings", ()), *(self._refusals or ())]

    def __getitem__(self, key: str) -> float:
        if key not in _METRICS:
            raise KeyError(f"figure '{key}' is not known{did_you_mean(key, _METRICS)}")
        value = self._summary.get(key)
        return float("nan") if value is None else float(value)

    def keys(self) -> list[str]:
        return list(_METRICS)

    def figures(self) -> dict[str, float]:
        """All figures, as a dict."""
        return {key: self[key] for key in _METRICS}

    def __repr__(self):
        shown = ", ".join(f"{key} {self[key]:,.1f}" for key in ("avg_jct_s", "p99_jct_s", "avg_queue_s"))
        return f"Result of {self.name}: {self['finished']:,.0f} jobs finished, {shown}"

    # Tables.

    @property
    def folder(self) -> str | None:
        """Where the run is kept; None if it is not."""
        return self._folder

    def _opened(self):
        if self._folder is None:
            raise _core.Error("this run kept its figures only: run it with output=None or a folder")
        if self._open is None:
            self._open = _core.ResultFolder.open(self._folder)
        return self._open

    def columns(self, table: str = "jobs") -> dict[str, np.ndarray]:
        """A table ("jobs", "decisions" or "timeline") as NumPy arrays by column."""
        if table not in ("jobs", "decisions", "timeline"):
            raise _core.Error(f"no table '{table}'; there are jobs, decisions and timeline")
        made = arrays(getattr(self._opened(), table)(), _WHOLE if table == "decisions" else ("job",))
        for name in _WHOLE if table == "jobs" else ():
            if name in made:
                made[name] = made[name].astype("int64")
        return made

    @property
    def jobs(self) -> pandas_types.DataFrame:
        """One row per job, by its number: submission, start, end, queueing and completion time, status."""
        return pandas().DataFrame(self.columns("jobs")).set_index("job").sort_index()

    @property
    def decisions(self) -> pandas_types.DataFrame:
        """Every decision with its time, job, GPUs and reason."""
        return pandas().DataFrame(self.columns("decisions"))

    @property
    def timeline(self) -> pandas_types.DataFrame:
        """The cluster over time in at most 2,000 steps: jobs waiting and running, GPUs used and asked for."""
        return pandas().DataFrame(self.columns("timeline"))

    @property
    def turns(self) -> pandas_types.DataFrame:
        """The cluster after every turn; only of runs with turns=True."""
        path = os.path.join(self._folder or "", "turns.csv")
        if not os.path.exists(path):
            raise _core.Error("turns were not recorded: run it with turns=True")
        return pandas().read_csv(path)

    # Stories and pages.

    def explain(self, job: int | str, all: bool = False) -> Text:
        """Why a job waited: its story as text. `job` is its number, or its name in the trace."""
        if isinstance(job, bool):
            raise _core.Error(f"job is {job}, expected the number of a job or its name in the trace")
        return Text(self._opened().explain(f"#{int(job)}" if hasattr(job, "__index__") else str(job), all))

    def report(self, path: str | os.PathLike | None = None, title: str = "") -> Page:
        """The report page of the run: shown inline in a notebook, written to `path` if one is given."""
        return _report([self], path, title)

    # Pictures; each returns the axes that it drew on.

    def plot_jct(self, ax: Any = None) -> Any:
        """CDF of completion times."""
        return _plots.cdf([self], "jct_s", "completion time", ax)

    def plot_queueing(self, ax: Any = None) -> Any:
        """CDF of queueing times."""
        return _plots.cdf([self], "queue_s", "queueing time", ax)

    def plot_utilization(self, ax: Any = None) -> Any:
        """GPUs in use over time."""
        return _plots.over_time([self], "used_gpus", "GPUs in use", ax)

    def plot_queue(self, ax: Any = None) -> Any:
        """Waiting jobs over time."""
        return _plots.over_time([self], "waiting", "jobs waiting", ax)


class Text(str):
    """Text that a notebook shows as it is."""

    def _repr_html_(self):
        return f"<pre>{_html.escape(self)}</pre>"

    def __repr__(self):
        return str(self)


class Page:
    """A report page: inline in a notebook, a file with write()."""

    def __init__(self, html: str):
        self.html = html

    def write(self, path: str | os.PathLike) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        return (f'<iframe srcdoc="{_html.escape(self.html)}" width="100%" height="800" '
                'style="border:1px solid #ccc"></iframe>')

    def __repr__(self):
        return f"<report page of {len(self.html):,} characters: show it in a notebook, or write(path)>"


class Comparison:
    """Several runs of the same jobs, side by side: a mapping of their names to their results.

    >>> import muster
    >>> trace = muster.Trace.generate("poisson", jobs=100, seed=3)
    >>> comparison = muster.compare(trace, "2x8", scheduling=["fifo", "las"])
    >>> list(comparison), list(comparison.keys()), comparison["las"]["finished"]
    (['fifo', 'las'], ['fifo', 'las'], 100.0)
    >>> [result.complete for result in comparison.values()], [name for name, _ in comparison.items()]
    ([True, True], ['fifo', 'las'])
    >>> comparison.table["finished"].tolist()
    [100.0, 100.0]
    >>> comparison.report("page.html")
    <report page of ... characters: ...>
    >>> axes = [comparison.plot_jct(), comparison.plot_queueing(), comparison.plot_utilization(), comparison.plot_bars()]
    """

    def __init__(self, results: Mapping[str, Result]):
        self._results = dict(results)

    def __getitem__(self, name: str) -> Result:
        if name not in self._results:
            raise KeyError(f"no run is called '{name}'{did_you_mean(name, self._results)}")
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def keys(self) -> KeysView[str]:
        return self._results.keys()

    def items(self) -> ItemsView[str, Result]:
        return self._results.items()

    def values(self) -> ValuesView[Result]:
        return self._results.values()

    @property
    def table(self) -> pandas_types.DataFrame:
        """One row per run, one column per figure."""
        rows = {name: result.figures() for name, result in self._results.items()}
        return pandas().DataFrame.from_dict(rows, orient="index")

    def __repr__(self):
        wide = max(len(name) for name in self._results)
        lines = [f"{'':{wide}}  {'avg JCT s':>12} {'p99 JCT s':>12} {'queueing s':>12} {'utilization':>12}"]
        for name, result in self._results.items():
            lines.append(f"{name:{wide}}  {result['avg_jct_s']:12,.1f} {result['p99_jct_s']:12,.1f} "
                         f"{result['avg_queue_s']:12,.1f} {result['utilization']:12.3f}")
        return "\n".join(lines)

    def report(self, path: str | os.PathLike | None = None, title: str = "") -> Page:
        """One report page with all runs."""
        return _report(list(self._results.values()), path, title)

    def plot_jct(self, ax: Any = None) -> Any:
        """CDFs of completion times."""
        return _plots.cdf(list(self._results.values()), "jct_s", "completion time", ax)

    def plot_queueing(self, ax: Any = None) -> Any:
        """CDFs of queueing times."""
        return _plots.cdf(list(self._results.values()), "queue_s", "queueing time", ax)

    def plot_utilization(self, ax: Any = None) -> Any:
        """GPUs in use over time."""
        return _plots.over_time(list(self._results.values()), "used_gpus", "GPUs in use", ax)

    def plot_bars(self, figure: str = "avg_jct_s", ax: Any = None) -> Any:
        """One figure of all runs."""
        return _plots.bars(self._results, figure, ax)


_METRICS = {key: sentence for key, _, sentence, _, _ in _core.metrics()}


def _report(results, path, title):
    page = Page(_core.report_page([result._opened().path for result in results], title))
    if path is not None:
        page.write(path)
    return page


def temporary_folder():
    """A folder for a run that nobody gave one."""
    return os.path.join(tempfile.mkdtemp(prefix="muster-"), "run")
