#!/usr/bin/env python3
"""Chooses the number of bins of the throughput model on the months it is trained on: each of June, July and August is
forecast by a model of the months before it. September has no part in it.

    ebm/bin/python bench/choose_bins.py build/release/muster cluster_throughput.csv.gz

(The environment is that of compare_interpret.py.)
"""
import sys
import tempfile
from pathlib import Path

import pandas as pd
from compare_interpret import ours, throughput


def main():
    train, target, _, _ = throughput(sys.argv[2])
    months = {month: train["month"] == month for month in (6, 7, 8)}
    print("bins   June    July    August  mean")
    for bins in (256, 128, 64, 32, 16):
        errors = []
        for month, test in months.items():
            before = train["month"] < month
            with tempfile.TemporaryDirectory() as folder:
                errors.append(ours(sys.argv[1], Path(folder), pd.DataFrame(train[before]), target[before],
                                   pd.DataFrame(train[test]), target[test],
                                   ["--learning-rate", "0.1", "--bags", "8", "--pairs", "10", "--seed", "123",
                                    "--bins", str(bins)]))
        print(f"{bins:<5}", *(f"{error:7.4f}" for error in errors), f"{sum(errors) / 3:7.4f}", flush=True)


if __name__ == "__main__":
    main()
