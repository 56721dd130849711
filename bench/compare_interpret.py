#!/usr/bin/env python3
"""Trains InterpretML's explainable boosting machine and ours on the same rows and compares the errors.

Not part of `make test`: it needs a Python environment of its own. By hand:

    python3 -m venv ebm && ebm/bin/pip install interpret-core scikit-learn
    ebm/bin/python bench/compare_interpret.py build/release/muster [cluster_throughput.csv.gz]

Exits with 1 if ours is more than 2 % worse on any task.
"""
import gzip
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
from interpret.glassbox import ExplainableBoostingRegressor


def smooth(rng, rows):
    table = [[rng.random() for _ in range(5)] for _ in range(rows)]
    return table, [math.sin(6 * r[0]) + 2 * r[1] + (r[2] > 0.5) + 0.3 * rng.gauss(0, 1) for r in table]


def steps(rng, rows):
    table = [[rng.random() for _ in range(6)] for _ in range(rows)]
    return table, [math.floor(4 * r[0]) + math.floor(3 * r[1]) * 0.5 + r[2] + 0.5 * rng.gauss(0, 1) for r in table]


def with_pair(rng, rows):
    table = [[rng.random() for _ in range(5)] for _ in range(rows)]
    return table, [r[0] + 4 * (r[1] - 0.5) * (r[2] - 0.5) + 0.2 * rng.gauss(0, 1) for r in table]


def heavy_tail(rng, rows):
    table = [[rng.random() for _ in range(4)] for _ in range(rows)]
    return table, [math.exp(3 * r[0] + r[1] + 0.5 * rng.gauss(0, 1)) for r in table]


def throughput(path):
    """Lucid's table 7: GPU jobs per ten minutes, September after April to August."""
    data = pd.read_csv(gzip.open(path))
    time = pd.to_datetime(data["time"])
    table = pd.DataFrame({"month": time.dt.month, "day": time.dt.day, "hour": time.dt.hour, "minute": time.dt.minute,
                          "dayofweek": time.dt.weekday, "dayofyear": time.dt.strftime("%j").astype(int),
                          "week": time.dt.isocalendar().week.astype(int)})
    for name, column in (("njob", "submit_gpu_job"), ("ngpu", "submit_gpu_num")):
        x = data[column]
        for lag, rows in (("1h", 6), ("3h", 18), ("1d", 144)):
            table[f"shift_{lag}_{name}"] = x.shift(rows)
            table[f"soft_{lag}_{name}"] = 0.5 * x.shift(rows) + 0.25 * (x.shift(rows + 1) + x.shift(rows - 1))
        hour = x.shift(6).rolling(6)
        table[f"roll_mean_1h_{name}"] = hour.mean()
        table[f"roll_median_1h_{name}"] = hour.median()
        table[f"roll_std_1h_{name}"] = hour.std()
    table = table.fillna(0)
    target = data["submit_gpu_job"].astype(float)
    return table[:22032], target[:22032], table[22032:], target[22032:]


def ours(muster, folder, train, train_target, test, test_target, options):
    for name, table, target in (("train", train, train_target), ("test", test, test_target)):
        table = table.copy()
        table["y"] = list(target)
        table.to_csv(folder / f"{name}.csv", index=False)
    subprocess.run([muster, "learn", "train", folder / "train.csv", "--target", "y", "-o", folder / "m.json", *options],
                   check=True, stdout=subprocess.DEVNULL)
    answer = subprocess.run([muster, "learn", "evaluate", folder / "m.json", folder / "test.csv", "--json"], check=True,
                            capture_output=True, text=True)
    return json.loads(answer.stdout)["mean_absolute_error"]


def main():
    muster = sys.argv[1]
    tasks = []
    for make in (smooth, steps, with_pair, heavy_tail):
        rng = random.Random(11)
        rows, target = make(rng, 12000)
        table = pd.DataFrame(rows, columns=[f"x{i}" for i in range(len(rows[0]))])
        tasks.append((make.__name__, table[:8000], target[:8000], table[8000:], target[8000:]))
    if len(sys.argv) > 2:
        tasks.append(("throughput", *throughput(sys.argv[2])))
    worse = False
    print(f"{'task':<12} {'InterpretML':>12} {'ours':>12} {'ratio':>8}   (mean absolute error)")
    for name, train, train_target, test, test_target in tasks:
        # The two have different defaults; these they share.
        theirs = ExplainableBoostingRegressor(max_bins=256, interactions=10, outer_bags=8, learning_rate=0.05,
                                              random_state=1, n_jobs=1)
        theirs.fit(train, train_target)
        error = sum(abs(a - b) for a, b in zip(theirs.predict(test), test_target)) / len(test_target)
        with tempfile.TemporaryDirectory() as folder:
            mine = ours(muster, Path(folder), train, train_target, test, test_target,
                        ["--learning-rate", "0.05", "--bags", "8", "--pairs", "10"])
        print(f"{name:<12} {error:>12.5f} {mine:>12.5f} {mine / error:>8.4f}")
        worse = worse or mine > 1.02 * error
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
