"""Real jobs on a real Slurm under one of our policies, and what the simulator says of the same jobs.

    fidelity.py [JOBS] [POLICY] [SCALE]

SCALE makes all times shorter: with 0.4 the jobs come within 24 s and sleep for 5 to 24 s. Jobs are sleepers. The simulator gets the submissions as they happened and the cluster as Slurm describes it. When a job is started,
and where, it finds by itself. It is asked twice:

    with the time that each launch had its GPUs, which is the sleep and what Slurm's own steps took: within 3 %
    with the sleep, and for all launches what those steps took on average: within 5 %

Steps are the way from the decision to the start, and that from the end to the word of it. What an average hides is luck, and a queue
hands luck on: for the second answer the simulator is asked with twenty kinds of luck.
"""

import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from driven import Driven
from lab import Lab, why_not
from live_daemon import MUSTER

MOST_BY_LAUNCH = 0.03
MOST_ON_AVERAGE = 0.05
LUCK = 20


def nodes_for(jobs):
    """So many that the jobs fill them and some wait."""
    groups = max(1, round(jobs / 12))
    return f"{groups}:v100:4 {groups}:a100:8"


def workload(jobs, seed, scale):
    """When, GPUs, seconds: all within a minute and a half, if the scale is 1."""
    rng = random.Random(seed)
    when, rows = 0.0, []
    for _ in range(jobs):
        seconds = scale * min(60, max(12, rng.lognormvariate(3.1, 0.5)))
        rows.append((when, rng.choice([1, 1, 1, 2, 2, 4, 4, 8]), round(seconds, 1)))
        when += scale * rng.expovariate(jobs / 60)
    return rows


def drive(lab, rows, options):
    """Of each job: submitted, planned, started, ended, GPUs, seconds."""
    with Driven(lab, "all", *options) as daemon:
        lab.until(lab.call("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "true").strip(), "COMPLETED")  # the first is slow
        begin, due = time.monotonic(), {}
        for when, gpus, seconds in rows:
            time.sleep(max(0, begin + when - time.monotonic()))
            due[daemon.post(["/bin/sleep", str(seconds)], gpus=gpus, estimate=seconds)] = (gpus, seconds)
        jobs = daemon.until_over(900)
        wrong = [number for number in jobs if jobs[number]["state"] != "finished"]
        if wrong or len(jobs) != len(rows):
            raise AssertionError(f"{len(jobs)} jobs of {len(rows)}; not finished: {[daemon.job(number) for number in wrong]}")
        again = [number for number in jobs if jobs[number]["launches"] != 1]
        if again:
            raise AssertionError(f"started more than once: {[daemon.job(number) for number in again]}")
        planned = {number: daemon.ask("GET", f"/v1/jobs/{number}")["runs"][0]["planned"] for number in due}
    return [(jobs[number]["submitted"], planned[number], jobs[number]["started"], jobs[number]["ended"], *due[number])
            for number in sorted(due)]


def simulate(cluster, done, seconds_of, options, folder):
    """Mean completion time and makespan of jobs that take seconds_of(job) and are believed to take their sleep."""
    first = min(row[0] for row in done)
    with open(folder / "trace.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["job_id", "submit_s", "duration_s", "gpus", "estimate_s"])
        for number, row in enumerate(done):
            out.writerow([number, row[0] - first, seconds_of(row), row[4], row[5]])
    said = subprocess.run([MUSTER, "simulate", str(folder / "trace.csv"), "-c", str(cluster), "--ignore-host", "--no-save", "--json",
                           "--quiet", *options], capture_output=True, text=True)
    if said.returncode != 0:
        raise AssertionError(said.stderr)
    figures = json.loads(said.stdout)
    return figures["avg_jct_s"], figures["makespan_s"]


def beside(what, real, said, most):
    """Whether both are near enough."""
    off = [says / was - 1 for was, says in zip(real, said)]
    print(f"  simulated {what}: mean completion {said[0]:.1f} s ({100 * off[0]:+.1f} %), makespan {said[1]:.1f} s ({100 * off[1]:+.1f} %)")
    near = max(map(abs, off)) <= most
    if not near:
        print(f"FAILED: more than {100 * most:.0f} % off")
    return near


def compare(jobs, scale, options, folder):
    with Lab(nodes=nodes_for(jobs)) as lab:
        done = drive(lab, workload(jobs, 7, scale), options)
        (folder / "nodes.txt").write_text(lab.call("scontrol", "show", "node"))
    cluster = folder / "nodes.txt"
    starts = sum(started - planned for _, planned, started, _, _, _ in done) / len(done)
    ends = sum(ended - started - seconds for _, _, started, ended, _, seconds in done) / len(done)
    first = min(row[0] for row in done)
    real = (sum(ended - submitted for submitted, _, _, ended, _, _ in done) / len(done), max(row[3] for row in done) - first)
    print(f"{' '.join(options)}: {len(done)} jobs on {nodes_for(jobs)}")
    print(f"  mean completion {real[0]:.1f} s, makespan {real[1]:.1f} s; on average {starts:.2f} s from the decision to the start, "
          f"{ends:.2f} s from the end to the word of it")
    near = beside("by launch", real, simulate(cluster, done, lambda row: row[3] - row[1], options, folder), MOST_BY_LAUNCH)
    lucky = [simulate(cluster, done, lambda row: row[5], [*options, "--set", f"life.start_latency={starts + ends}", "--set",
                                                          f"life.seed={seed}"], folder) for seed in range(1, LUCK + 1)]
    said = [sum(one[i] for one in lucky) / LUCK for i in range(2)]
    return beside("on average", real, said, MOST_ON_AVERAGE) and near


def main():
    if reason := why_not():
        print(reason)
        return 77
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    policy = sys.argv[2] if len(sys.argv) > 2 else "sjf:by_estimate=true"
    scale = float(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as folder:
        # Slurm chooses the split of a job that has different numbers of GPUs on its nodes: none is split.
        near = compare(jobs, scale, ["--scheduling", policy, "--placement", "consolidated:one_node=true"], pathlib.Path(folder))
    return 0 if near else 1


if __name__ == "__main__":
    sys.exit(main())
