"""What jobs ask for: what a submission may say, and what is changed later."""

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import sys
import time
import unittest

from live_daemon import ROOT, Daemon, wait_until


class Changes(unittest.TestCase):
    """What a submission may say reaches the job, or its owner is told that it does not."""

    def test_cores_and_memory(self):
        with Daemon(gpus=1) as daemon:
            for words, word in ((("--cpus", "5000"), "5000 CPU cores, more than the"), (("--memory", "900000"), "GB of memory, more than")):
                refused = daemon.run("submit", *words, "--", "/bin/true", check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(word, refused.stderr)
            told = daemon.run("submit", "--cpus", "1", "--memory", "0.5", "--", "/bin/true")
            self.assertIn("not limited: the daemon was started without --cgroup", told.stderr)
            self.assertEqual(daemon.run("submit", "--cpus", "1", "--", "/bin/true").stderr, "")

    def test_the_length_by_iterations(self):
        """What they are worth is known by the length of a step, or once the job counts its steps."""
        counts = ("import sys, time\n"
                  f"sys.path.insert(0, {str(ROOT / 'python')!r})\n"
                  "import muster_job\n"
                  "for step in muster_job.join().steps(): time.sleep(0.1)\n")
        with Daemon(gpus=1) as daemon:
            def behind(*words):
                """Such a job runs, and another waits for it."""
                first = daemon.submit(*words)
                daemon.until_launched(first)
                second = daemon.submit("--", "/bin/true")
                yield first, lambda: daemon.told("explain", second)["expected_start"]
                daemon.run("cancel", str(second), str(first))
                daemon.until(first, "cancelled")

            for seconds, words in ((200, ("--iterations", "1000", "--step-ms", "200")), (3600, ())):
                for first, start in behind(*words, "--", "/bin/sleep", "1000"):
                    expected, least, most = daemon.left_of(first, seconds, start)
                    self.assertTrue(least < expected < most, (least, expected, most))
            for first, start in behind("--iterations", "2000", "--", sys.executable, "-c", counts):
                def believes_its_speed():
                    progress = daemon.job(first)["progress"]
                    if progress and progress["steps_per_second"] > 0:
                        left = (2000 - progress["step"]) / progress["steps_per_second"]
                        return 0.75 * left < start() < 1.5 * left
                wait_until(believes_its_speed, what="a belief from the speed")

    def test_a_description_that_is_not_used_is_named(self):
        with Daemon(gpus=1) as daemon:
            self.assertNotIn("not used", daemon.log())
            daemon.describe('scheduling = "fifo"\ncluster = "16x8"\n')
            self.assertIn("ignored in the description: the cluster 16x8", daemon.log())

    def test_a_job_file_with_everything(self):
        shows = "import json, os; json.dump(dict(os.environ, here=os.getcwd()), open('seen.json', 'w'))"
        with Daemon(gpus=2) as daemon:
            fields = daemon.call("GET", "/openapi.json")[1]["components"]["schemas"]["Submission"]["properties"]
            folder = daemon.base / "project"
            (folder / "inner").mkdir(parents=True)
            job = {"command": [sys.executable, "-c", shows], "name": "all of it", "gpus": 2, "min_gpus": 1, "max_gpus": 2, "max_nodes": 1,
                   "model": "net", "priority": 7, "deadline": 500, "time_limit": 300, "estimate": 20, "iterations": 100,
                   "step_ms": 12.5, "batch_size": 64, "cpus": 1, "memory_gb": 0.5, "retries": 2, "grace": 5,
                   "process_per_gpu": False, "hold": True, "working_directory": "inner", "checkpoint_directory": "saved",
                   "request": "mine"}
            # A machine has no partitions, and pretended GPUs are of no type.
            self.assertEqual(set(job) | {"environment", "stage_ms", "partition", "gpu_type"}, set(fields))
            lines = [f"{key} = {json.dumps(value)}" for key, value in job.items()]
            lines += ["stage_ms = { cpu = 2.5, gpu = 10 }", 'environment = { SEED = "1" }']
            (folder / "job.toml").write_text("\n".join(lines) + "\n")
            number = daemon.submit(str(folder / "job.toml"))
            self.assertEqual(daemon.submit(str(folder / "job.toml")), number)
            self.assertEqual(daemon.job(number)["launches"], 0)
            daemon.run("release", str(number))
            daemon.run("wait", str(number), "--timeout", "30")
            told = daemon.job(number)
            for key in ("name", "gpus", "min_gpus", "max_gpus", "priority", "time_limit", "command"):
                self.assertEqual(told[key], job[key])
            self.assertAlmostEqual(told["deadline"] - told["submitted"], 500, delta=0.01)
            seen = json.loads((folder / "inner" / "seen.json").read_text())
            self.assertEqual((seen["here"], seen["SEED"], seen["MUSTER_CHECKPOINT_DIR"]),
                             (str(folder / "inner"), "1", str(folder / "saved")))
            self.assertEqual(seen["CUDA_VISIBLE_DEVICES"], "0,1")

    def test_work_is_saved_where_the_owner_said(self):
        """--checkpoints: launch after launch finds there what the one before has saved."""
        saves = ("import os, pathlib, sys, time\n"
                 "place = pathlib.Path(os.environ['MUSTER_CHECKPOINT_DIR']) / 'count'\n"
                 "place.parent.mkdir(exist_ok=True)\n"
                 "count = int(place.read_text()) + 1 if place.exists() else 1\n"
                 "place.write_text(str(count))\n"
                 "sys.exit(0 if count == 3 else 1)\n")
        with Daemon(gpus=1) as daemon:
            number = daemon.submit("--checkpoints", "saved", "--retries", "5", "--", sys.executable, "-c", saves)
            daemon.run("wait", str(number), "--timeout", "60")
            self.assertEqual((daemon.job(number)["launches"], (daemon.work / "saved" / "count").read_text()), (3, "3"))


class Revisions(unittest.TestCase):
    """What jobs ask for is changed, and still holds after the daemon was killed."""

    def test_what_cannot_be_kept_is_refused(self):
        with Daemon(gpus=4) as daemon:
            request = {"command": ["/bin/sleep", "1000"], "gpus": 2, "min_gpus": 1, "max_gpus": 2}
            number = daemon.call("POST", "/v1/jobs", request)[1]["id"]
            daemon.until_launched(number)
            status, answer = daemon.call("PATCH", f"/v1/jobs/{number}", {"gpus": 4})
            self.assertEqual((status, "a range of GPUs" in answer["error"]), (409, True), answer)
            fixed = daemon.submit("--hold", "--", "/bin/true")
            status, answer = daemon.call("PATCH", f"/v1/jobs/{fixed}", {"gpus": 5})
            self.assertEqual((status, "cannot have 5 GPUs" in answer["error"]), (409, True), answer)
            daemon.kill()
            daemon.start()
            self.assertEqual((daemon.job(number)["launches"], daemon.job(number)["gpus"]), (1, 2))
            self.assertEqual(daemon.job(fixed)["gpus"], 1)
            daemon.run("cancel", str(number), str(fixed))

    def test_of_one_that_is_on_hold(self):
        with Daemon(gpus=4) as daemon:
            number = daemon.submit("--hold", "--", "/bin/sleep", "1000")
            self.assertEqual(daemon.call("PATCH", f"/v1/jobs/{number}", {"gpus": 3, "priority": 7}), (200, {"done": True}))
            self.assertEqual([(job["gpus"], job["priority"]) for job in daemon.jobs()], [(3, 7)])
            daemon.run("release", str(number))
            self.assertEqual(daemon.until_launched(number)["placement"][0]["gpus"], [0, 1, 2])
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "reloaded" in daemon.log(), what="the reload")
            daemon.kill()
            daemon.start()
            self.assertEqual(daemon.told("status")["trouble"], "")
            self.assertEqual((daemon.job(number)["launches"], daemon.job(number)["gpus"]), (1, 3))
            daemon.run("cancel", str(number))
            daemon.until(number, "cancelled")

    def test_of_one_that_runs_and_starts_anew(self):
        with Daemon(gpus=4) as daemon:
            number = daemon.submit("--", "/bin/sleep", "1000")
            daemon.until_launched(number)
            self.assertEqual(daemon.call("PATCH", f"/v1/jobs/{number}", {"gpus": 2})[0], 200)
            wait_until(lambda: daemon.job(number)["launches"] == 2, what="the next launch")
            job = daemon.until_launched(number)
            self.assertEqual((job["gpus"], job["placement"][0]["gpus"]), (2, [0, 1]))
            daemon.run("cancel", str(number))

    def test_a_description_that_cannot_be_read_fails_its_job_alone(self):
        with Daemon(gpus=2) as daemon:
            broken, fine = (daemon.submit("--", "/bin/sleep", "1000") for _ in range(2))
            for number in (broken, fine):
                daemon.until_launched(number)
            daemon.kill()
            self.change_store(daemon, "UPDATE jobs SET description = '{}' WHERE id = ?", broken)
            daemon.start()
            self.assertIn("'command' must be a list", daemon.until(broken, "failed")["reason"])
            wait_until(lambda: len(daemon.marked()) == 1, what="the end of its process")
            self.assertEqual((daemon.job(fine)["state"], daemon.job(fine)["launches"]), ("running", 1))
            daemon.run("cancel", str(fine))

    def test_a_daemon_that_decides_nothing_more_says_so(self):
        with Daemon(gpus=2) as daemon:
            running, other = (daemon.submit("--", "/bin/sleep", "1000") for _ in range(2))
            waiting = daemon.submit("--estimate", "10", "--", "/bin/sleep", "1000")
            for number in (running, other):
                daemon.until_launched(number)
            daemon.kill()
            # It denies the launch that there is, and is to be launched by the same number again.
            self.change_store(daemon, "UPDATE jobs SET launches = 0, state = 'queued' WHERE id = ?", running)
            daemon.start()
            wait_until(lambda: "nothing is decided any more" in daemon.run("status").stdout, what="the trouble")
            for status, answer in (daemon.call("POST", "/v1/jobs", {"command": ["/bin/true"]}),
                                   daemon.call("POST", f"/v1/jobs/{running}/hold"),
                                   daemon.call("PATCH", f"/v1/jobs/{running}", {"priority": 1}),
                                   daemon.call("POST", "/v1/nodes/node0/drain")):
                self.assertEqual((status, "nothing is decided any more" in answer["error"]), (503, True), answer)
            daemon.run("cancel", str(running), str(waiting))
            daemon.until(waiting, "cancelled")
            daemon.until(running, "cancelled")
            wait_until(lambda: len(daemon.marked()) == 1, what="the end of its process")
            # With what broke it gone, a reload goes on.
            self.assertEqual(daemon.call("POST", "/v1/reload")[0], 200)
            wait_until(lambda: daemon.told("status")["trouble"] == "", what="the end of the trouble")
            daemon.run("wait", str(daemon.submit("--", "/bin/true")), "--timeout", "30")
            self.assertEqual((daemon.job(other)["state"], daemon.job(other)["launches"]), ("running", 1))
            daemon.run("cancel", str(other))

    @staticmethod
    def change_store(daemon, statement, number):
        with contextlib.closing(sqlite3.connect(daemon.state / "state.db")) as store, store:
            changed = store.execute(statement, (number,))
            assert changed.rowcount == 1
