"""Real jobs on a real Slurm under one of our policies, and what the simulator says of the same jobs.

    fidelity.py [JOBS] [POLICY]

Jobs are sleepers. The simulator gets the submissions as they happened, the cluster as Slurm describes it, and what it takes
to start a job and to notice its end, as some jobs before the others have shown. Mean completion time and makespan must
agree within 5 %.
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

MOST = 0.05
PROBES = 8


def nodes_for(jobs):
    """So many that the jobs fill them and some wait."""
    groups = max(1, round(jobs / 12))
    return f"{groups}:v100:4 {groups}:a100:8"


def workload(jobs, seed):
    """When, GPUs, seconds: all within a minute and a half."""
    rng = random.Random(seed)
    when, rows = 0.0, []
    for _ in range(jobs):
        rows.append((when, rng.choice([1, 1, 1, 2, 2, 4, 4, 8]), round(min(60, max(12, rng.lognormvariate(3.1, 0.5))), 1)))
        when += rng.expovariate(jobs / 60)
    return rows


def drive(lab, rows, options):
    with Driven(lab, "all", *options) as daemon:
        lab.until(lab.call("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "true").strip(), "COMPLETED")  # the first is slow
        probes = [daemon.post(["/bin/sleep", "2"], gpus=1, estimate=2) for _ in range(PROBES)]
        tried = daemon.until_over(120)
        latency = sum(tried[number]["ended"] - tried[number]["submitted"] - 2 for number in probes) / PROBES
        begin, due = time.monotonic(), {}
        for when, gpus, seconds in rows:
            time.sleep(max(0, begin + when - time.monotonic()))
            due[daemon.post(["/bin/sleep", str(seconds)], gpus=gpus, estimate=seconds)] = (gpus, seconds)
        jobs = daemon.until_over(900)
        wrong = [number for number in jobs if jobs[number]["state"] != "finished"]
        if wrong or len(jobs) != len(rows) + PROBES:
            raise AssertionError(f"{len(jobs)} jobs of {len(rows)}; not finished: {[daemon.job(number) for number in wrong]}")
    return latency, [(jobs[number]["submitted"], jobs[number]["started"], jobs[number]["ended"], *due[number]) for number in sorted(due)]


def simulate(lab, done, latency, options, folder):
    first = min(row[0] for row in done)
    with open(folder / "trace.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["job_id", "submit_s", "duration_s", "gpus", "estimate_s"])
        for number, (submitted, _, _, gpus, seconds) in enumerate(done):
            out.writerow([number, submitted - first, seconds, gpus, seconds])
    (folder / "nodes.txt").write_text(lab.call("scontrol", "show", "node"))
    said = subprocess.run([MUSTER, "simulate", str(folder / "trace.csv"), "-c", str(folder / "nodes.txt"), "--ignore-host",
                           "--no-save", "--json", "--quiet", "--set", f"life.start_latency={latency}", *options], capture_output=True, text=True)
    if said.returncode != 0:
        raise AssertionError(said.stderr)
    figures = json.loads(said.stdout)
    return figures["avg_jct_s"], figures["makespan_s"]


def compare(jobs, options, folder):
    with Lab(nodes=nodes_for(jobs)) as lab:
        latency, done = drive(lab, workload(jobs, 7), options)
        said = simulate(lab, done, latency, options, folder)
        ideal = simulate(lab, done, 0, options, folder)
    real = (sum(row[2] - row[0] for row in done) / len(done), max(row[2] for row in done) - min(row[0] for row in done))
    worst = 0
    print(f"{' '.join(options)}: {len(done)} jobs; before them one took {latency:.2f} s longer than it slept")
    for name, was, says, best in zip(("mean completion", "makespan"), real, said, ideal):
        off = says / was - 1
        worst = max(worst, abs(off))
        print(f"  {name}: {was:.1f} s real, {says:.1f} s simulated ({100 * off:+.1f} %); {best:.1f} s if starts took no time")
    return worst


def main():
    if reason := why_not():
        print(reason)
        return 77
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    policy = sys.argv[2] if len(sys.argv) > 2 else "sjf:by_estimate=true"
    with tempfile.TemporaryDirectory() as folder:
        # Slurm chooses the split of a job that has different numbers of GPUs on its nodes: none is split.
        worst = compare(jobs, ["--scheduling", policy, "--placement", "consolidated:one_node=true"], pathlib.Path(folder))
    if worst > MOST:
        print(f"FAILED: off by {100 * worst:.1f} %, more than {100 * MOST:.0f} %")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
