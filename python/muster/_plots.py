"""Pictures of results, with Matplotlib."""

import numpy as np

from ._tables import pyplot


def _axes(ax):
    return pyplot().subplots(figsize=(7, 4))[1] if ax is None else ax


def _unit(largest):
    """The unit of time that fits an axis: its seconds and its name."""
    return (86400, "days") if largest > 3 * 86400 else (3600, "hours") if largest > 7200 else (1, "seconds")


def cdf(results, column, label, ax=None):
    ax = _axes(ax)
    values = {}
    for result in results:
        table = result.columns("jobs")
        finished = table["status"] == "finished"
        values[result.name] = np.sort(table[column][finished])
    # Heavy tails: a logarithmic axis shows short and long jobs alike.
    for name, sorted_values in values.items():
        ax.step(np.maximum(sorted_values, 1), np.arange(1, len(sorted_values) + 1) / max(1, len(sorted_values)),
                where="post", label=name)
    ax.set_xscale("log")
    ax.set_xlabel(f"{label} (s)")
    ax.set_ylabel("fraction of finished jobs")
    ax.set_ylim(0, 1)
    ax.grid(alpha=0.3)
    ax.legend()
    return ax


def over_time(results, column, label, ax=None):
    ax = _axes(ax)
    tables = [result.columns("timeline") for result in results]
    factor, unit = _unit(max((float(np.max(table["start_s"])) for table in tables if len(table["start_s"])), default=0))
    for result, table in zip(results, tables):
        ax.step(table["start_s"] / factor, table[column], where="post", label=result.name)
    ax.set_xlabel(f"time ({unit})")
    ax.set_ylabel(label)
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.3)
    ax.legend()
    return ax


def bars(results, figure, ax=None):
    ax = _axes(ax)
    ax.bar(list(results), [result[figure] for result in results.values()])
    ax.set_ylabel(figure)
    ax.tick_params(axis="x", rotation=30)
    return ax
