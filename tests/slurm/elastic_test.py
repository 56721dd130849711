"""Jobs that speak with the scheduler under a real Slurm: they tell how far they are, leave after a step that all ranks agreed on,
and are made smaller in place, in the same job of Slurm. And how a job ended that slurmctld has forgotten."""

import sys
import time
import unittest

from slurm_daemon import ROOT, SlurmDaemon, wait_until
from lab import Lab, why_not
import side_by_side

# Counts steps with the client; saves its number, and who it was, when it is told to leave.
CLIENT = """
import os, sys, time
import muster_job
name, total, length = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
first = int(open(name + ".saved").read()) if os.path.exists(name + ".saved") else 0
def note(word, step):
    with open(name + ".story", "a") as file:
        print(word, step, job.rank, job.world_size, job.launch, os.environ["SLURM_JOB_ID"], os.environ.get("SLURM_RESTART_COUNT", "0"),
              os.environ["SLURMD_NODENAME"], file=file)
def save(completed):
    note("left", completed)
    if job.rank == 0:
        open(name + ".saved", "w").write(str(completed))
job = muster_job.join(save=save)
note("began", first)
for step in job.steps(first, total=total):
    time.sleep(length)
    job.report(loss=1.0 / (step + 1))
note("done", total)
"""
ELASTIC = ["--scheduling", "optimus:least_gain=0", "--pacing", "rounds:length=2", "--perf", "scaling"]


class Elastic(unittest.TestCase):
    def client(self, daemon, name, total, length, *options):
        (daemon.work / "client.py").write_text(CLIENT)
        return daemon.submit("--name", name, "--env", f"PYTHONPATH={ROOT / 'python'}", *options, "--", sys.executable, "client.py", name,
                             str(total), str(length))

    def story(self, daemon, name):
        path = daemon.work / f"{name}.story"
        keys = ("word", "step", "rank", "world", "launch", "slurm", "restarts", "node")
        return [dict(zip(keys, line.split())) for line in path.read_text().splitlines()] if path.exists() else []

    def began(self, daemon, name, world):
        return [line for line in self.story(daemon, name) if line["word"] == "began" and line["world"] == str(world)]

    def test_progress_reaches_the_daemon(self):
        with Lab(nodes="2:v100:2") as lab, SlurmDaemon(lab, "all") as daemon:
            number = self.client(daemon, "tells", 60, 0.1, "--gpus", "4", "--per-gpu", "--estimate", "1000")
            wait_until(lambda: (daemon.job(number)["progress"] or {}).get("step", 0) > 10, 40, "progress")
            daemon.kill()
            daemon.start()
            step = (daemon.job(number)["progress"] or {}).get("step", 0)
            wait_until(lambda: (daemon.job(number)["progress"] or {}).get("step", 0) > step, 20, "progress after a restart")
            said = daemon.job(number)["progress"]
            self.assertEqual(said["total"], 60)
            self.assertIn("loss", said["metrics"])
            daemon.until(number, "finished", seconds=60)
            self.assertEqual({line["step"] for line in self.story(daemon, "tells") if line["word"] == "done"}, {"60"})

    def test_ranks_on_two_nodes_leave_after_the_same_step(self):
        with Lab(nodes="2:v100:2") as lab, SlurmDaemon(lab, "all", "--scheduling", "srtf") as daemon:
            long = self.client(daemon, "long", 60, 0.1, "--gpus", "4", "--per-gpu", "--estimate", "1000")
            wait_until(lambda: len(self.began(daemon, "long", 4)) == 4, 40, "all ranks")
            time.sleep(2)
            short = daemon.submit("--gpus", "4", "--estimate", "1", "--", "/bin/true")
            daemon.run("wait", str(short), str(long), "--timeout", "60")
            left = [line for line in self.story(daemon, "long") if line["word"] == "left"]
            self.assertEqual(len(left), 4, left)
            self.assertEqual(len({line["step"] for line in left}), 1, left)
            self.assertGreater(int(left[0]["step"]), 0)
            again = [line for line in self.story(daemon, "long") if line["word"] == "began" and line["launch"] == "2"]
            self.assertEqual({line["step"] for line in again}, {left[0]["step"]})

    def shrinks(self, lab, daemon, kill):
        large = self.client(daemon, "large", 400, 0.1, "--gpus", "2-4", "--per-gpu", "--estimate", "1000")
        wait_until(lambda: len(self.began(daemon, "large", 4)) == 4, 60, "a launch on all GPUs")
        other = daemon.submit("--gpus", "2", "--estimate", "2000", "--", "/bin/sh", "-c", "echo on $SLURMD_NODENAME; sleep 8")
        if kill:
            wait_until(lambda: daemon.job(large)["launches"] > 1, 30, "the decision to shrink")
            daemon.kill()
            daemon.start()
        wait_until(lambda: len(self.began(daemon, "large", 2)) == 2, 60, "a launch on half of them")
        daemon.until_launched(other)
        row, guest = daemon.slurm_job(large), daemon.slurm_job(other)
        self.assertEqual((row["job_state"], row["nodes"], row["restart_cnt"]), ("RUNNING", "n1", 0))
        self.assertEqual((guest["job_state"], guest["nodes"]), ("RUNNING", "n2"))
        nodes = daemon.nodes()
        self.assertEqual([nodes[name]["used"] for name in ("n1", "n2")], [2, 2], nodes)
        story = self.story(daemon, "large")
        self.assertEqual({line["slurm"] for line in story}, {str(row["job_id"])}, "the job of Slurm stays the same")
        self.assertEqual({line["restarts"] for line in story}, {"0"})
        left = {line["step"] for line in story if line["word"] == "left"}
        self.assertEqual(len(left), 1)
        self.assertEqual({line["step"] for line in self.began(daemon, "large", 2)}, left, "no step is lost")
        return large, other

    def test_shrinks_in_place(self):
        with Lab(nodes="2:v100:2") as lab, SlurmDaemon(lab, "all", *ELASTIC) as daemon:
            large, other = self.shrinks(lab, daemon, kill=False)
            runs = daemon.job(large)["runs"]
            self.assertEqual((runs[0]["outcome"], runs[0]["detail"]), ("stopped", "it goes on with fewer nodes, in place"))
            # When the other has ended it grows again: Slurm cannot do that in place, so by a requeue.
            daemon.until(other, "finished", seconds=60)
            wait_until(lambda: daemon.slurm_job(large)["nodes"] == "n[1-2]", 60, "growth")
            self.assertEqual(daemon.slurm_job(large)["restart_cnt"], 1)
            daemon.run("cancel", str(large))

    def test_a_daemon_that_dies_meanwhile_goes_on(self):
        with Lab(nodes="2:v100:2") as lab, SlurmDaemon(lab, "all", *ELASTIC) as daemon:
            large, _ = self.shrinks(lab, daemon, kill=True)
            daemon.run("cancel", str(large))


class Forgotten(unittest.TestCase):
    def test_the_accounts_know_how_a_job_ended(self):
        if reason := why_not(accounting=True):
            self.skipTest(reason)
        with Lab(nodes="1:v100:4", accounting=True, settings={"MinJobAge": 2}) as lab, SlurmDaemon(lab, "all") as daemon:
            script = "#!/bin/sh\nsleep 4\nexit "
            jobs = {name: int(lab.call("sbatch", "--parsable", "--hold", "-o", "/dev/null", "--gres=gpu:1", "-J", name, input=script + code))
                    for name, code in (("good", "0"), ("bad", "3"))}
            for name in jobs:
                wait_until(lambda: (daemon.by_name(name) or {}).get("launches"), what="a launch")
            for job in jobs.values():
                lab.until(job, "RUNNING")
            daemon.kill()
            wait_until(lambda: not set(jobs.values()) & set(lab.jobs()), 120, "slurmctld to forget them")
            daemon.start()
            numbers = {name: daemon.by_name(name)["id"] for name in jobs}
            daemon.until(numbers["good"], "finished", seconds=60)
            self.assertEqual(daemon.until(numbers["bad"], "failed", seconds=60)["exit_code"], 3)


if __name__ == "__main__":
    if reason := why_not():
        print(reason)
        sys.exit(77)
    side_by_side.main(2)
