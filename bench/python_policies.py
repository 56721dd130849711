"""Policies written in Python against their C++ twins, and decisions per second of the environment:

    python bench/python_policies.py [--check] [JOBS]

Seconds are of the processor, which others on the machine do not change much: nothing here uses more than one core. With
--check it exits with 1 where a key policy has less than a tenth of its twin's speed, or an environment takes fewer than
100,000 decisions per second.
"""

import argparse
import sys
import time

import numpy as np

import muster
from muster.env import SchedulingEnv, VectorSchedulingEnv

LEAST_SPEED = 0.1
LEAST_DECISIONS = 100_000
slow = []


def check(what, value, least):
    if value < least:
        slow.append(f"{what}: {value:,.2f}, expected at least {least:,}")


class Las:
    keys_rest = True
    quantum = 300

    def key(self, jobs, now):
        return jobs.gpu_seconds


class Srtf:
    keys_rest = True
    needs = ["duration"]

    def key(self, jobs, now):
        return jobs.remaining


class Order:
    quantum = 300

    def order(self, jobs, cluster, now):
        return np.lexsort((jobs.id, jobs.gpu_seconds))


def seconds(trace, policy, runs=3):
    best = float("inf")
    for _ in range(runs):
        began = time.process_time()
        result = muster.simulate(trace, "64x8", scheduling=policy, output=False, progress=False)
        best = min(best, time.process_time() - began)
    return best, result["turns"], result["avg_jct_s"]


def policies(jobs):
    trace = muster.Trace.generate("philly-like", jobs=jobs, load=0.9, cluster="64x8", seed=1)
    print(f"{jobs:,} jobs on 64x8, load 0.9: best of three")
    for theirs, mine in (("las", Las), ("srtf", Srtf)):
        built_in, turns, figure = seconds(trace, theirs)
        python, _, same = seconds(trace, mine)
        assert figure == same, "the twins must agree"
        check(f"{theirs} in Python, part of the speed of C++", built_in / python, LEAST_SPEED)
        print(f"  {theirs:6} C++ {built_in:7.2f} s   Python keys {python:7.2f} s   {built_in / python:5.2f} of its speed, "
              f"{1e6 * (python - built_in) / turns:5.1f} us more per turn")
    small = trace[:jobs // 8]
    built_in, turns, figure = seconds(small, "las")
    python, _, same = seconds(small, Order, 1)
    assert figure == same, "the twins must agree"
    print(f"  whole orders, {len(small):,} jobs: C++ {built_in:.2f} s, Python {python:.2f} s, "
          f"{1e6 * python / turns:.1f} us per turn")


def environment():
    env = SchedulingEnv(generate="poisson:jobs=5000,load=1.1", cluster="4x8")
    decisions, began, seed = 0, time.process_time(), 1
    while time.process_time() - began < 2:
        env.reset(seed=seed)
        seed += 1
        over = False
        while not over:
            _, _, over, _, _ = env.step(0)
            decisions += 1
    pace = decisions / (time.process_time() - began)
    check("decisions/s of one environment", pace, LEAST_DECISIONS)
    print(f"  one environment: {pace:,.0f} decisions/s")
    several = VectorSchedulingEnv(64, generate="poisson:jobs=5000,load=1.1", cluster="4x8")
    several.reset(seed=1)
    actions, steps, began = np.zeros(64, dtype=np.int64), 0, time.process_time()
    while time.process_time() - began < 2:
        several.step(actions)
        steps += 64
    pace = steps / (time.process_time() - began)
    check("decisions/s of 64 environments", pace, LEAST_DECISIONS)
    print(f"  64 at once:      {pace:,.0f} decisions/s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs", nargs="?", type=int, default=80_000)
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    policies(wanted.jobs)
    environment()
    if wanted.check and slow:
        sys.exit("too slow: " + "; ".join(slow))
