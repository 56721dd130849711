"""Policies written in Python against their C++ twins, and decisions per second of the environment.

Seconds are of the processor, which others on the machine do not change much: nothing here uses more than one core.
"""

import sys
import time

import numpy as np

import muster
from muster.env import SchedulingEnv, VectorSchedulingEnv

JOBS = int(sys.argv[1]) if len(sys.argv) > 1 else 80_000


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


def policies():
    trace = muster.Trace.generate("philly-like", jobs=JOBS, load=0.9, cluster="64x8", seed=1)
    print(f"{JOBS:,} jobs on 64x8, load 0.9: best of three")
    for theirs, mine in (("las", Las), ("srtf", Srtf)):
        built_in, turns, figure = seconds(trace, theirs)
        python, _, same = seconds(trace, mine)
        assert figure == same, "the twins must agree"
        print(f"  {theirs:6} C++ {built_in:7.2f} s   Python keys {python:7.2f} s   {built_in / python:5.2f} of its speed, "
              f"{1e6 * (python - built_in) / turns:5.1f} us more per turn")
    small = trace[:JOBS // 8]
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
    print(f"  one environment: {decisions / (time.process_time() - began):,.0f} decisions/s")
    several = VectorSchedulingEnv(64, generate="poisson:jobs=5000,load=1.1", cluster="4x8")
    several.reset(seed=1)
    actions, steps, began = np.zeros(64, dtype=np.int64), 0, time.process_time()
    while time.process_time() - began < 2:
        several.step(actions)
        steps += 64
    print(f"  64 at once:      {steps / (time.process_time() - began):,.0f} decisions/s")


if __name__ == "__main__":
    policies()
    environment()
