#!/usr/bin/env python3
"""Runs the benches of two builds in turn and compares their figures line by line.

    bench/old_and_new.py OLD [NEW] [-n TIMES] [-b BENCH]...

OLD and NEW are build folders, or a program in one (build/release/muster); NEW is build/release unless said. Every bench
that both folders have is run TIMES times (5), old and new in turn, and the best of each figure counts: other work on the
machine can only make a figure worse. What is simulated, a goal or published is no figure. -b picks benches: `-b core -b muri_bench`, with arguments after a blank: `-b
'muri_bench figures'`. Exit status 1: a figure is more than 5 % worse than it was.
"""

import argparse
import os
import re
import subprocess
import sys

TOLERANCE = 1.05
# A figure is a number with one of these units behind it; of rates, more is better.
UNITS = {
    **dict.fromkeys(("s", "CPU s", "ms", "us", "µs", "MiB", "MB"), -1),
    **dict.fromkeys(("jobs/s", "million jobs/s", "rounds/s"), 1),
}
FIGURE = re.compile(
    r"(?<![\w.])(\d[\d,]*\.?\d*(?:e[-+]?\d+)?)\s*(" + "|".join(sorted(UNITS, key=len, reverse=True)) + r")(?![\w/]| rounds\b)"
)
# Goals, what others published, results of a simulation, and what follows from the figures beside it.
NO_FIGURE = re.compile(
    r"\(goal[^)]*\)|published:.*|Blox [\d.]+ rounds/s|= [\d,.]+ x\b|mean JCT [\d,.]+ s|[\d,]+ turns"
    r"|slots of \d+ s|gap [-+.\de]+|\([\d,]+ of [\d,]+ let in\)|\([-+.\de]+\)$"
)


def folder_of(path):
    return path if os.path.isdir(path) else os.path.dirname(path)


def figures_of(text):
    """{(line without its figures, position): (value, unit)}"""
    found = {}
    for line in text.splitlines():
        line = NO_FIGURE.sub("", line)
        label = re.sub(r"\s+", " ", FIGURE.sub(r"# \2", line)).strip(" :#")
        for position, match in enumerate(FIGURE.finditer(line)):
            key = (label, position)
            while key in found:  # the same words twice: told apart by their order
                key = (key[0] + "'", position)
            found[key] = (float(match[1].replace(",", "")), match[2])
    return found


def run(program, arguments):
    # Each build finds its own presets; both find the same data.
    result = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{program}: status {result.returncode}\n{result.stderr}")
    return figures_of(result.stdout)


def keep_best(best, figures):
    for key, (value, unit) in figures.items():
        if key not in best or UNITS[unit] * value > UNITS[unit] * best[key][0]:
            best[key] = (value, unit)


def compare(bench, old, new):
    """Prints the table of one bench; returns how many figures are worse."""
    worse = 0
    for build, mine, other in (("old", old, new), ("new", new, old)):
        for label in dict.fromkeys(key[0] for key in mine if key not in other):
            print(f"{bench}: only in the {build} build: {label}", file=sys.stderr)
    for key, (after, unit) in new.items():
        if key not in old:
            continue
        before = old[key][0]
        if before == 0 or after == 0:
            continue  # too short to be told with its digits
        ratio = after / before if UNITS[unit] < 0 else before / after
        mark = "  <" if ratio > TOLERANCE else ""
        worse += ratio > TOLERANCE
        print(f"{before:>14,.10g} {after:>14,.10g} {unit:<7}{ratio:6.3f}{mark:<4}{bench}: {key[0][:90]}")
    return worse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?", default="build/release")
    parser.add_argument("-n", "--times", type=int, default=5)
    parser.add_argument("-b", "--bench", action="append")
    given = parser.parse_args()
    old, new = os.path.abspath(folder_of(given.old)), os.path.abspath(folder_of(given.new))
    both = {name for name in os.listdir(old) if name.startswith("bench_")} & set(os.listdir(new))
    wanted = given.bench or sorted(name.removeprefix("bench_") for name in both)
    print(f"{'old':>14} {'new':>14} {'':<7}{'cost':>6}")
    worse = 0
    for bench, *arguments in (text.split() for text in wanted):
        best = ({}, {})
        for _ in range(given.times):
            for folder, figures in zip((old, new), best):
                keep_best(figures, run(os.path.join(folder, "bench_" + bench), arguments))
        worse += compare(bench, *best)
    print(f"{worse} figures are more than {round(100 * (TOLERANCE - 1))} % worse")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
