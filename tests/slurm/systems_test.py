"""The schedulers of the published systems drive real processes on a real Slurm; held by a plug-in; packed through shards."""

import sys
import unittest

from driven import Driven
from slurm_daemon import ROOT, SlurmDaemon, wait_until
from lab import Lab, why_not
from deaths_test import expand
import side_by_side

SYSTEMS = {
    "blox": ["--preset", "blox", "--scheduling", "las", "--pacing", "rounds:length=3"],
    "gavel": ["--preset", "gavel", "--scheduling", "gavel-max-min-fairness", "--pacing", "rounds:length=3"],
    "lucid": ["--preset", "lucid", "--set", "partitions.apart=false", "--set", "profiling.nodes=0", "--pacing",
              "ticks:length=2"],
    "muri": ["--preset", "muri", "--pacing", "ticks:length=2"],
    "elasticflow": ["--preset", "elasticflow", "--scheduling", "elasticflow", "--admission", "deadline", "--pacing", "slots:length=3"],
}


class Systems(unittest.TestCase):
    def runs_its_jobs_to_their_end(self, name):
        with Lab(nodes="4:v100:2 4:a100:4", shards=4) as lab, SlurmDaemon(lab, "all", *SYSTEMS[name]) as daemon:
            self.assertEqual([node["gpu_type"] for node in daemon.nodes().values()], ["v100"] * 4 + ["a100"] * 4)
            numbers = [daemon.train(f"t{i}", 10 + 5 * (i % 3), 0.2, "--gpus", str((1, 2, 4, 8, 1, 2)[i % 6]))
                       for i in range(12)]
            daemon.run("wait", *map(str, numbers), "--timeout", "110", check=False)
            jobs = daemon.jobs()
            self.assertEqual({job["state"] for job in jobs}, {"finished"}, (jobs, daemon.log()))
            for i in range(12):
                self.assertFalse((daemon.work / f"t{i}.twice").exists(), i)
                self.assertTrue(daemon.done(f"t{i}", 10 + 5 * (i % 3)), i)
            self.assertNotIn("decided any more", daemon.log())
            used = {node for i in range(12) for launch in daemon.launches(f"t{i}") for node in expand(launch[2])}
            self.assertTrue(used & {"n1", "n2", "n3", "n4"} and used & {"n5", "n6", "n7", "n8"}, f"GPUs of both types: {used}")

    def test_blox(self):
        self.runs_its_jobs_to_their_end("blox")

    def test_gavel(self):
        self.runs_its_jobs_to_their_end("gavel")

    def test_lucid(self):
        self.runs_its_jobs_to_their_end("lucid")

    def test_muri(self):
        self.runs_its_jobs_to_their_end("muri")

    def test_elasticflow(self):
        self.runs_its_jobs_to_their_end("elasticflow")


class HeldByAPlugin(unittest.TestCase):
    def test_what_users_submit_is_held_and_scheduled(self):
        lua = (ROOT / "examples/slurm/job_submit.lua").read_text().replace("gpu = true", "v100 = true")
        with Lab(nodes="2:v100:4", lua=lua) as lab, SlurmDaemon(lab, "v100") as daemon:
            script = "#!/bin/sh\nsleep 1\n"
            held = [int(lab.call("sbatch", "--parsable", "-o", "/dev/null", "-p", "v100", "--gres=gpu:2", "-J", f"h{i}",
                                 input=script)) for i in range(6)]
            plain = int(lab.call("sbatch", "--parsable", "-o", "/dev/null", "-p", "v100", input=script))
            native = int(lab.call("sbatch", "--parsable", "-o", "/dev/null", "-p", "v100", "--gres=gpu:1",
                                  "--comment=native", input=script))
            array = int(lab.call("sbatch", "--parsable", "-o", "/dev/null", "-p", "v100", "--gres=gpu:1", "-a", "0-1",
                                 input=script))
            lab.until(array, "RUNNING", "COMPLETED")
            lab.until(plain, "RUNNING", "COMPLETED")
            lab.until(native, "RUNNING", "COMPLETED")
            for job in held:
                lab.until(job, "COMPLETED", seconds=60)
                self.assertRegex(lab.jobs()[job]["admin_comment"], r"^muster/[0-9a-f]+/[0-9a-f]+/\d+/1/0/1$")
            wait_until(lambda: [job["state"] for job in daemon.jobs()] == ["finished"] * 6, what="their ends")


class Packed(unittest.TestCase):
    def test_jobs_that_start_together_share_a_gpu_through_shards(self):
        with Lab(nodes="1:v100:1", shards=4) as lab:
            with Driven(lab, "v100", "--scheduling", "gavel-fifo-packed:reset_interval=0", "--pacing", "rounds:length=4") as daemon:
                for i in range(4):
                    daemon.post([sys.executable, "trainer.py", f"p{i}", "20", "0.2"], name=f"p{i}", estimate=4)
                together = set()

                def over():
                    running = [row for row in lab.jobs().values() if row["job_state"] == "RUNNING"]
                    self.assertLessEqual(len(running), 2)
                    if len(running) == 2:
                        together.add(tuple(part for row in running for part in row["gres_detail"]))
                    return all(job["state"] == "finished" for job in daemon.jobs())
                wait_until(over, 100, "the end of all")
                self.assertEqual(together, {("shard:2(IDX:0)", "shard:2(IDX:0)")}, daemon.log())
                for i in range(4):
                    self.assertTrue(daemon.done(f"p{i}", 20))


if __name__ == "__main__":
    if reason := why_not():
        print(reason)
        sys.exit(77)
    side_by_side.main(3)
