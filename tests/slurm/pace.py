"""200 nodes and 1,000 jobs: whole lives of jobs per second under Slurm alone and under Muster, in the same lab.

    pace.py [NODES] [JOBS]

Each job asks for one GPU and ends at once, so that nothing but the schedulers takes time, and there is a GPU for each. The
daemon's turns must keep pace: from a submission to the decision about it may pass a second. Every job must end.
"""

import concurrent.futures
import sys
import time

from driven import Driven
from lab import Lab, wait_until, why_not

LEAST = 5  # jobs/s through Muster
MOST = 1  # seconds to a decision, 99 in 100


def slurm_alone(lab, jobs):
    begin = time.monotonic()
    def submit(_):
        lab.call("sbatch", "-o", "/dev/null", "--gres=gpu:1", "--wrap", "true")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(submit, range(jobs)))
    submitted = time.monotonic() - begin
    wait_until(lambda: not lab.call("squeue", "-h").strip(), 600, "the end of Slurm's jobs", 0.2)
    return submitted, time.monotonic() - begin


def driven(lab, jobs):
    with Driven(lab, "all", "--scheduling", "fifo") as daemon:
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: daemon.post(["/bin/true"], gpus=1), range(jobs)))
        submitted = time.monotonic() - begin
        done = daemon.until_over(900)
        took = time.monotonic() - begin
        looks = [daemon.ask("GET", f"/v1/jobs/{number}") for number in list(done)[::max(1, jobs // 200)]]
    wrong = [job for job in done.values() if job["state"] != "finished"]
    if wrong or len(done) != jobs:
        raise AssertionError(f"{len(done)} of {jobs} jobs; not finished: {wrong[:3]}")
    return submitted, took, sorted(job["runs"][0]["planned"] - job["submitted"] for job in looks)


def main():
    if reason := why_not():
        print(reason)
        return 77
    nodes, jobs = (int(word) for word in (sys.argv[1:] + ["200", "1000"][len(sys.argv) - 1:]))
    begin = time.monotonic()
    with Lab(nodes=f"{nodes // 2}:v100:4 {nodes - nodes // 2}:a100:8") as lab:
        print(f"{nodes} nodes in {time.monotonic() - begin:.1f} s")
        lab.until(lab.call("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "true").strip(), "COMPLETED")
        submitted, alone = slurm_alone(lab, jobs)
        print(f"Slurm alone: {jobs} jobs submitted in {submitted:.1f} s, over after {alone:.1f} s: {jobs / alone:.1f} jobs/s")
        submitted, ours, decided = driven(lab, jobs)
        print(f"under Muster: {jobs} jobs submitted in {submitted:.1f} s, over after {ours:.1f} s: {jobs / ours:.1f} jobs/s")
    late = decided[int(0.99 * len(decided))]
    print(f"from submission to decision: median {1000 * decided[len(decided) // 2]:.0f} ms, 99 in 100 within {1000 * late:.0f} ms")
    if jobs / ours < LEAST or late > MOST:
        print(f"FAILED: expected at least {LEAST} jobs/s, and decisions within {MOST} s")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
