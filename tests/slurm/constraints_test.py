"""What users ask of Slurm for their own jobs is kept by `muster serve --executor slurm`, or the job is left alone and says why."""

import re
import sys
import time
import unittest

from driven import Driven
from slurm_daemon import ROOT, wait_until
from lab import Lab, why_not


class Constraints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lua = (ROOT / "examples/slurm/job_submit.lua").read_text().replace("gpu = true", "v100 = true")
        cls.lab = Lab(nodes="2:v100:4 2:a100:8", lua=lua, settings={"Licenses": "lab:1"}).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.lab.__exit__(None, None, None)

    def hold(self, name, *words, script="sleep 1"):
        return int(self.lab.call("sbatch", "--parsable", "--hold", "-o", "/dev/null", "-J", name, *words,
                                 input=f"#!/bin/sh\n{script}\n", cwd="/tmp"))

    def field(self, job, name):
        return re.search(rf"(?:^| ){name}=(\S*)", self.lab.call("scontrol", "-o", "show", "job", job))[1]

    def nodes_of(self, job):
        return self.lab.call("scontrol", "show", "hostnames", self.lab.jobs()[job]["nodes"]).split()

    def test_nodes_are_those_that_were_asked_for(self):
        with Driven(self.lab, "all") as daemon:
            feature = self.hold("feature", "-p", "all", "--gres=gpu:1", "-C", "a100")
            without = self.hold("without", "-p", "all", "--gres=gpu:1", "-x", "n[1-2]")
            whole = self.hold("whole", "-p", "all", "--gres=gpu:8", "-N2", "--ntasks-per-node=2",
                              script=f"srun sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME' > {daemon.work}/ranks")
            for job in (feature, without, whole):
                self.lab.until(job, "COMPLETED", seconds=60)
                self.assertTrue(set(self.nodes_of(job)) <= {"n3", "n4"}, job)
            ranks = [line.split() for line in (daemon.work / "ranks").read_text().splitlines()]
            self.assertEqual(sorted(rank for rank, _ in ranks), list("0123"))
            self.assertEqual({node for _, node in ranks}, {"n3", "n4"})

    def test_what_cannot_be_kept_is_left_alone_and_says_why(self):
        with Driven(self.lab, "all") as daemon:
            jobs = {"pinned": ("-w n2", self.hold("pinned", "-p", "all", "--gres=gpu:1", "-w", "n2")),
                    "shunned": ("-x n1", self.hold("shunned", "-p", "all", "--gres=gpu:1", "-x", "n1")),
                    "spread": ("4 GPUs on 2 nodes", self.hold("spread", "-p", "all", "--gres=gpu:2", "-N2", "--ntasks-per-node=2")),
                    "once": ("--no-requeue", self.hold("once", "-p", "all", "--gres=gpu:1", "--no-requeue"))}
            for name, (why, job) in jobs.items():
                seen = wait_until(lambda: (row := daemon.by_name(name)) and row["state"] == "refused" and row, 20, name)
                self.assertIn(why, seen["reason"])
                self.assertIn(why, daemon.run("explain", str(seen["id"])).stdout)
                self.assertRegex(daemon.log(), rf"job {job} of Slurm \({name}, of root\) is left alone: .*{re.escape(why)}")
                self.assertEqual((self.lab.state(job), self.field(job, "Reason")), ("PENDING", "JobHeldUser"))
            self.assertEqual(self.field(jobs["pinned"][1], "ReqNodeList"), "n2")
            self.assertEqual(self.field(jobs["once"][1], "Requeue"), "0")
            # Its user leaves it to Slurm.
            self.lab.call("scontrol", "release", jobs["pinned"][1])
            self.lab.until(jobs["pinned"][1], "COMPLETED", seconds=30)
            self.assertEqual(self.nodes_of(jobs["pinned"][1]), ["n2"])

    def test_the_plug_in_leaves_to_slurm_what_muster_cannot_place(self):
        def submit(*words):
            return int(self.lab.call("sbatch", "--parsable", "-o", "/dev/null", "-p", "v100", "--gres=gpu:1", *words, "--wrap", "true"))
        held = submit()
        for words in (["-w", "n2"], ["-x", "n1"], ["--no-requeue"], ["--array=1-2"]):
            self.lab.until(submit(*words), "COMPLETED")
        self.assertEqual(self.field(held, "Reason"), "JobHeldUser")
        self.lab.call("scancel", held)

    def test_dependencies_and_begin_times_are_met_first(self):
        with Driven(self.lab, "v100") as daemon:
            first = int(self.lab.call("sbatch", "--parsable", "-p", "a100", "-o", "/dev/null", "--wrap", "sleep 6"))
            after = self.hold("after", "-p", "v100", "--gres=gpu:4", "-d", f"afterok:{first}")
            begins = self.hold("begins", "-p", "v100", "--gres=gpu:4", "--begin=now+1hour")
            free = [self.hold(f"free{i}", "-p", "v100", "--gres=gpu:4", script="sleep 2") for i in (1, 2)]
            for job in free:
                self.lab.until(job, "COMPLETED", seconds=30)
            self.assertEqual([self.lab.jobs()[job]["admin_comment"] for job in (after, begins)], ["", ""])
            self.lab.until(after, "COMPLETED", seconds=30)
            self.assertGreaterEqual(self.lab.jobs()[after]["start_time"], self.lab.jobs()[first]["end_time"])
            self.assertEqual(self.lab.state(begins), "PENDING")
            self.lab.call("scontrol", "update", f"JobId={begins}", "StartTime=now")
            self.lab.until(begins, "COMPLETED", seconds=30)

    def test_of_several_partitions_one_is_chosen(self):
        with Driven(self.lab, "v100,a100") as daemon:
            blocker = daemon.train("blocker", 1000, 0.1, "--gpus", "16", "--gpu-type", "a100", "--partition", "a100")
            daemon.until_launched(blocker)
            time.sleep(2.5)
            jobs = [self.hold("either", "-p", "v100,a100", "--gres=gpu:1"),
                    self.hold("picky", "-p", "a100,v100", "--gres=gpu:1", "-C", "v100")]
            for job in jobs:
                self.lab.until(job, "COMPLETED", seconds=30)
                self.assertEqual(self.field(job, "Partition"), "v100")

    def test_a_hold_of_its_user_is_heeded_before_it_runs(self):
        with Driven(self.lab, "v100") as daemon:
            blocker = daemon.train("blocker", 1000, 0.1, "--gpus", "8")
            daemon.until_launched(blocker)
            job = self.hold("mine", "-p", "v100", "--gres=gpu:1")
            wait_until(lambda: daemon.by_name("mine"), 20, "its adoption")
            # It is released, and does not start: all licences are in use.
            self.lab.call("scontrol", "update", f"JobId={job}", "Licenses=lab:1")
            other = int(self.lab.call("sbatch", "--parsable", "-p", "a100", "-o", "/dev/null", "-L", "lab:1", "--wrap", "sleep 100"))
            self.lab.until(other, "RUNNING")
            daemon.run("cancel", str(blocker))
            wait_until(lambda: self.field(job, "Reason") == "Licenses", 20, "its release")
            time.sleep(1)
            self.lab.call("scontrol", "uhold", job)
            wait_until(lambda: "its user holds it" in daemon.by_name("mine")["reason"], 20, "the word of it")
            self.lab.call("scancel", other)
            time.sleep(3)
            self.assertEqual(self.field(job, "Reason"), "JobHeldUser")
            self.lab.call("scontrol", "release", job)
            self.lab.until(job, "COMPLETED", seconds=40)
            self.assertEqual(daemon.by_name("mine")["owner"], "root")

    def test_a_node_without_cpus_is_passed_over(self):
        with Driven(self.lab, "v100") as daemon:
            all_cpus = self.lab.call("scontrol", "-o", "show", "node", "n1").split("CPUTot=")[1].split()[0]
            native = int(self.lab.call("sbatch", "--parsable", "-p", "all", "-w", "n1", "-c", all_cpus, "-o", "/dev/null",
                                       "--wrap", "sleep 100"))
            self.lab.until(native, "RUNNING")
            time.sleep(2.5)
            job = self.hold("cpus", "-p", "v100", "--gres=gpu:1", "-c", "4")
            self.lab.until(job, "COMPLETED", seconds=30)
            self.assertEqual(self.nodes_of(job), ["n2"])

    def test_what_slurm_refuses_goes_back_with_its_reason(self):
        with Driven(self.lab, "v100") as daemon:
            blocker = daemon.train("blocker", 1000, 0.1, "--gpus", "8")
            daemon.until_launched(blocker)
            job = self.hold("tmp", "-p", "v100", "--gres=gpu:1")
            number = wait_until(lambda: daemon.by_name("tmp"), 20, "it")["id"]
            # A constraint that is added after the job was accepted, and that no node meets.
            self.lab.call("scontrol", "update", f"JobId={job}", "ExcNodeList=n1,n2")
            daemon.run("cancel", str(blocker))
            seen = wait_until(lambda: "BadConstraints" in (row := daemon.by_name("tmp"))["reason"] and row, 40, "Slurm's reason")
            self.assertEqual((seen["state"], seen["launches"]), ("queued", 1))
            self.assertRegex(daemon.run("explain", str(number)).stdout, r"Slurm does not start it on n\d: BadConstraints")
            self.lab.call("scontrol", "update", f"JobId={job}", "ExcNodeList=")
            self.lab.until(job, "COMPLETED", seconds=60)


if __name__ == "__main__":
    if reason := why_not():
        print(reason)
        sys.exit(77)
    unittest.main(verbosity=2)
