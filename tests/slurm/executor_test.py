"""`muster serve --executor slurm` against a real Slurm: every primitive, real processes."""

import sys
import time
import unittest

from slurm_daemon import SlurmDaemon, wait_until
from lab import Lab, why_not


class Primitives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(nodes="4:v100:4 4:a100:8").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.lab.__exit__(None, None, None)

    def test_held_placed_released_and_finished(self):
        with SlurmDaemon(self.lab, "all") as daemon:
            number = daemon.submit("--gpus", "2", "--gpu-type", "a100", "--name", "first", "--", "/bin/sh", "-c",
                                   "echo on $CUDA_VISIBLE_DEVICES of $MUSTER_JOB.$MUSTER_LAUNCH; pwd; sleep 1")
            daemon.until_launched(number)
            row = daemon.slurm_job(number)
            self.assertEqual((row["job_state"], row["name"]), ("RUNNING", "first"))
            self.assertIn(row["nodes"], ("n5", "n6", "n7", "n8"))
            self.assertEqual(row["gres_detail"], ["gpu:a100:2(IDX:0-1)"])
            self.assertRegex(row["comment"], rf"^muster/[0-9a-f]+/-/{number}/1/0/1$")
            daemon.run("wait", str(number), "--timeout", "30")
            self.assertEqual(daemon.run("logs", str(number)).stdout, f"on 0,1 of {number}.1\n{daemon.work}\n")
            self.assertEqual({node["gpu_type"] for node in daemon.nodes().values()}, {"v100", "a100"})

    def test_hostile_words_arrive_as_they_are(self):
        name = "it's \"$(id)\" `x` ; | & \\ %j"
        words = ["a b", "", "'", '"', "$HOME", "two\nlines", "\\", "*", "-n", "%s"]
        with SlurmDaemon(self.lab, "v100") as daemon:
            number = daemon.submit("--name", name, "--env", "ODD=" + name, "--", sys.executable, "-c",
                                   "import os, sys; print(repr(sys.argv[1:])); print(os.environ['ODD'])", *words)
            daemon.run("wait", str(number), "--timeout", "30")
            self.assertEqual(daemon.run("logs", str(number)).stdout, f"{words!r}\n{name}\n")
            self.assertEqual(daemon.slurm_job(number)["name"], name)

    def test_failures_are_told_apart(self):
        with SlurmDaemon(self.lab, "v100") as daemon:
            failed = daemon.submit("--", "/bin/sh", "-c", "exit 7")
            again = daemon.submit("--retries", "1", "--", "/bin/sh", "-c", "exit 4")
            large = daemon.submit("--gpus", "17", "--", "/bin/true")
            self.assertEqual(daemon.until(failed, "failed")["exit_code"], 7)
            self.assertEqual(daemon.until(again, "failed")["launches"], 2)
            self.assertIn("more than", daemon.until(large, "refused")["reason"])

    def test_ranks_on_two_nodes(self):
        with SlurmDaemon(self.lab, "v100") as daemon:
            number = daemon.submit("--gpus", "8", "--per-gpu", "--", "/bin/sh", "-c",
                                   "echo $RANK/$WORLD_SIZE $LOCAL_RANK $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES $MASTER_ADDR")
            daemon.run("wait", str(number), "--timeout", "60")
            lines = [daemon.run("logs", str(number), "--rank", str(rank)).stdout.split() for rank in range(8)]
            self.assertEqual([line[0] for line in lines], [f"{rank}/8" for rank in range(8)])
            self.assertEqual([line[1] for line in lines], list("01230123"))
            self.assertEqual(len({line[2] for line in lines}), 2)
            self.assertEqual({line[4] for line in lines}, {lines[0][2]})
            for line in lines:
                self.assertEqual(len(line[3].split(",")), 1)

    def test_preempted_requeued_and_resumed(self):
        with SlurmDaemon(self.lab, "v100", "--scheduling", "srtf") as daemon:
            long = daemon.train("long", 40, 0.1, "--gpus", "16", "--estimate", "1000")
            wait_until(lambda: daemon.launches("long"), what="a launch")
            time.sleep(1)
            short = daemon.train("short", 5, 0.1, "--gpus", "16", "--estimate", "1")
            daemon.run("wait", str(short), str(long), "--timeout", "60")
            job = daemon.job(long)
            self.assertEqual((job["state"], job["launches"], job["preemptions"]), ("finished", 2, 1))
            first, last = daemon.launches("long")
            self.assertEqual(first[0], "0")
            self.assertGreater(int(last[0]), 0, "it goes on from its checkpoint")
            self.assertEqual(first[1], last[1], "the job of Slurm stays the same")

    def test_jobs_of_users_are_adopted(self):
        with SlurmDaemon(self.lab, "v100", "--scheduling", "srtf") as daemon:
            long = daemon.hold_trainer("theirs", 40, 0.1, "-p", "v100", "--gres=gpu:4", "-N4", "-t", "60")
            other = int(self.lab.call("sbatch", "--parsable", "--hold", "-p", "a100", "--gres=gpu:1", "-o", "/dev/null",
                                      "--wrap", "true"))
            array = int(self.lab.call("sbatch", "--parsable", "--hold", "-p", "v100", "--gres=gpu:1", "-a", "0-9999",
                                      "-o", "/dev/null", "--wrap", "true"))
            wait_until(lambda: daemon.launches("theirs"), what="a launch")
            job = daemon.by_name("theirs")
            self.assertEqual((job["gpus"], job["owner"]), (16, "root"))
            time.sleep(1)
            short = daemon.train("short", 3, 0.1, "--gpus", "16")
            daemon.run("wait", str(short), str(job["id"]), "--timeout", "60")
            launches = daemon.launches("theirs")
            self.assertEqual([launch[1] for launch in launches], [str(long)] * 2)
            self.assertGreater(int(launches[1][0]), 0, "it got the signal to save its work")
            self.assertEqual(self.lab.state(long), "COMPLETED")
            self.assertEqual(self.lab.jobs()[other]["admin_comment"], "", "another partition is not touched")
            self.assertEqual(self.lab.state(other), "PENDING")
            self.assertIn(f"job {array} of Slurm (wrap, of root) is left alone: it is an array", daemon.log())

    def test_what_people_do_is_adopted(self):
        with SlurmDaemon(self.lab, "v100") as daemon:
            running = daemon.train("running", 1000, 0.1)
            daemon.until_launched(running)
            self.lab.call("scancel", daemon.slurm_job(running)["job_id"])
            self.assertIn("cancelled in Slurm", daemon.until(running, "cancelled")["reason"])
            again = daemon.train("again", 30, 0.1)
            daemon.until_launched(again)
            self.lab.call("scontrol", "requeue", daemon.slurm_job(again)["job_id"])
            self.assertEqual(daemon.until(again, "finished", seconds=60)["launches"], 2)
            blocker = daemon.train("blocker", 1000, 0.1, "--gpus", "16")
            daemon.until_launched(blocker)
            waiting = daemon.hold_trainer("waiting", 1, 0.1, "-p", "v100", "--gpus=1")
            wait_until(lambda: daemon.by_name("waiting"), what="its adoption")
            self.lab.call("scontrol", "hold", waiting)
            wait_until(lambda: "administrator holds it" in daemon.by_name("waiting")["reason"], what="the hold")
            daemon.run("cancel", str(blocker))
            time.sleep(2)
            self.assertEqual(daemon.launches("waiting"), [])
            self.lab.call("scontrol", "uhold", waiting)
            wait_until(lambda: daemon.by_name("waiting")["state"] == "finished", what="its end")
            gone = daemon.submit("--gpus", "16", "--", "/bin/sleep", "100")
            daemon.until_launched(gone)
            left = daemon.hold_trainer("left", 1, 0.1, "-p", "v100", "--gpus=1")
            wait_until(lambda: daemon.by_name("left"), what="its adoption")
            self.lab.call("scancel", left)
            wait_until(lambda: daemon.by_name("left")["state"] == "cancelled", what="its end")

    def test_cancelled_here_is_cancelled_there(self):
        with SlurmDaemon(self.lab, "v100") as daemon:
            running = daemon.train("running", 1000, 0.1, "--gpus", "16", "--grace", "2")
            daemon.until_launched(running)
            waiting = daemon.hold_trainer("waiting", 1, 0.1, "-p", "v100", "--gpus=1")
            job = wait_until(lambda: daemon.by_name("waiting"), what="its adoption")
            row = daemon.slurm_job(running)["job_id"]
            daemon.run("cancel", str(running), str(job["id"]))
            wait_until(lambda: self.lab.state(row) in ("CANCELLED", "COMPLETED"), what="its end")
            wait_until(lambda: self.lab.state(waiting) == "CANCELLED", what="its end")

    def test_nodes_drain_go_down_and_come_back(self):
        with SlurmDaemon(self.lab, "v100") as daemon:
            for node in ("n1", "n2", "n3"):
                self.lab.call("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
            wait_until(lambda: "DRAIN" in daemon.nodes()["n1"]["reason"], what="the drain")
            self.assertRegex(daemon.run("nodes").stdout, r"n1 .* drained: IDLE DRAIN: test")
            number = daemon.train("here", 30, 0.1)
            daemon.until_launched(number)
            self.assertEqual(daemon.slurm_job(number)["nodes"], "n4")
            self.lab.call("scontrol", "update", "NodeName=n2", "State=RESUME")
            time.sleep(2.5)
            self.lab.call("scontrol", "update", "NodeName=n4", "State=DOWN", "Reason=test")
            wait_until(lambda: len(daemon.launches("here")) == 2, what="a launch elsewhere")
            self.assertEqual(daemon.launches("here")[1][2], "n2")
            self.assertFalse(daemon.nodes()["n4"]["up"])
            self.assertRegex(daemon.run("nodes").stdout, r"n4 .* down: DOWN: test")
            daemon.until(number, "finished")
            self.lab.call("scontrol", "update", "NodeName=n4", "State=RESUME")
            wait_until(lambda: daemon.nodes()["n4"]["up"], what="its return")

    def test_gpus_of_others_are_not_planned_with(self):
        with SlurmDaemon(self.lab, "v100") as daemon:
            native = int(self.lab.call("sbatch", "--parsable", "-p", "all", "-w", "n[1-4]", "-N4", "--gres=gpu:3", "-o",
                                       "/dev/null", "--wrap", "sleep 100"))
            self.lab.until(native, "RUNNING")
            time.sleep(2.5)
            numbers = [daemon.train(f"t{i}", 20, 0.1) for i in range(4)]
            large = daemon.train("large", 2, 0.1, "--gpus", "4")
            for number in numbers:
                daemon.until_launched(number)
            self.assertEqual(len({daemon.slurm_job(number)["nodes"] for number in numbers}), 4)
            self.assertEqual(daemon.job(large)["launches"], 0)
            self.lab.call("scancel", native)
            daemon.run("wait", *map(str, [*numbers, large]), "--timeout", "60")


if __name__ == "__main__":
    if reason := why_not():
        print(reason)
        sys.exit(77)
    unittest.main(verbosity=2)
