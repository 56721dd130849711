#!/usr/bin/env python3
"""Writes sacct.txt: one invented week of a small GPU cluster, as Slurm's `sacct` prints it.

Every user, job and time is drawn from the seed below, so running the script again gives the same file:

    python3 examples/slurm/make_sample.py > examples/slurm/sacct.txt

docs/tutorial-operator.md works with it. The cluster has 4 nodes of 8 A100, 64 cores and 512 GB (cluster.toml).
"""

import datetime
import math
import random

SEED = 2024
JOBS = 210
START = datetime.datetime(2024, 3, 4)  # a Monday
DAY = 86400

# User: how often they submit, and the GPU counts they use.
USERS = {
    "alice": (5, [1, 1, 2]),
    "bruno": (4, [1, 2, 4]),
    "chen": (4, [4, 8]),
    "dora": (3, [1]),
    "emre": (3, [2, 4]),
    "farah": (2, [8]),
    "gleb": (2, [1, 1, 1, 8]),
    "hana": (1, [16]),
}
LIMITS_H = [1, 4, 12, 24, 48, 72]  # time limits that people actually type


def submissions(rng):
    """Submission times in order: busy afternoons, quiet nights and a quiet weekend."""
    times = []
    while len(times) < JOBS:
        t = rng.uniform(0, 7 * DAY)
        hour = t % DAY / 3600
        rate = 0.55 + 0.45 * math.cos((hour - 15) / 24 * 2 * math.pi)
        if t >= 5 * DAY:
            rate *= 0.4
        if rng.random() < rate:
            times.append(int(t))
    return sorted(times)


def outcome(rng, seconds):
    """How a job ends, how long it ran, and the time limit its owner asked for (in hours)."""
    state = rng.choices(
        ["COMPLETED", "FAILED", "CANCELLED by 1004", "TIMEOUT", "OUT_OF_MEMORY"], [72, 13, 9, 5, 1])[0]
    if state in ("FAILED", "OUT_OF_MEMORY"):
        seconds *= 0.1  # most mistakes show early
    elif state.startswith("CANCELLED"):
        seconds *= 0.5
    wanted = seconds / 3600 * rng.uniform(1.2, 6)  # people ask for more than they need
    limit = next((h for h in LIMITS_H if h >= wanted), LIMITS_H[-1])
    seconds = min(max(seconds, 20), limit * 3600)
    if state == "TIMEOUT":
        limit = next((h for h in LIMITS_H if h * 3600 >= seconds), LIMITS_H[-1])
        seconds = limit * 3600
    return state, int(seconds), limit


def slurm_limit(hours):
    return f"{hours // 24}-{hours % 24:02d}:00:00" if hours >= 24 else f"{hours:02d}:00:00"


def main():
    rng = random.Random(SEED)
    print("JobID|User|Partition|Submit|ElapsedRaw|State|ReqTRES|AllocTRES|Timelimit")
    names = list(USERS)
    weights = [USERS[name][0] for name in names]
    for number, t in enumerate(submissions(rng)):
        user = rng.choices(names, weights)[0]
        gpus = rng.choice(USERS[user][1])
        state, seconds, limit = outcome(rng, 3600 * rng.lognormvariate(math.log(3.2), 1.3))
        nodes = max(1, gpus // 8)
        host = f"billing={8 * gpus},cpu={8 * gpus},gres/gpu{{}}={gpus},mem={60 * gpus}G,node={nodes}"
        if rng.random() < 0.03:  # preprocessing on the same cluster, without GPUs
            requested = given = "billing=16,cpu=16,mem=64G,node=1"
        else:
            requested = host.format(":a100" if rng.random() < 0.3 else "")
            given = host.format("")
        submit = (START + datetime.timedelta(seconds=t)).isoformat()
        print("|".join([str(41000 + 3 * number), user, "gpu", submit, str(seconds), state, requested, given,
                        slurm_limit(limit)]))


if __name__ == "__main__":
    main()
