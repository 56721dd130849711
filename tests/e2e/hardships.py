"""What a daemon must stand: users who ask too much, full disks, clocks that are set, processes that stand still."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time
import unittest

from live_daemon import ROOT, TRAINER, Daemon, wait_until


@contextlib.contextmanager
def small_disk():
    """A daemon whose state folder is on a disk of 3 MB, and what fills it."""
    daemon = Daemon(gpus=1)
    disk = pathlib.Path(tempfile.mkdtemp(prefix="muster-disk-"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "muster-test", disk], capture_output=True).returncode != 0:
        raise unittest.SkipTest("nothing can be mounted here")
    daemon.state = disk / "state"
    daemon.ballast = disk / "ballast"
    try:
        with daemon:
            yield daemon
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
        disk.rmdir()


def fill(file):
    with open(file, "wb", buffering=0) as ballast:
        with contextlib.suppress(OSError):
            while True:
                ballast.write(b"x" * 4096)


class Limits(unittest.TestCase):
    def test_how_many_jobs_one_user_may_have(self):
        with Daemon("--jobs-per-user", "3", gpus=1) as daemon:
            numbers = [daemon.submit("--", "/bin/sleep", "1000") for _ in range(3)]
            refused = daemon.run("submit", "--", "/bin/true", check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("has 3 jobs that are not over", refused.stderr)
            daemon.kill()
            daemon.start()  # counted anew from the store
            self.assertNotEqual(daemon.run("submit", "--", "/bin/true", check=False).returncode, 0)
            daemon.run("cancel", str(numbers[2]))
            daemon.until(numbers[2], "cancelled")
            daemon.submit("--", "/bin/true")
            daemon.run("cancel", *map(str, numbers[:2]))

    def test_how_often_one_user_may_ask(self):
        with Daemon("--requests-per-second", "10") as daemon:
            answers = [daemon.call("GET", "/v1/status")[0] for _ in range(120)]
            self.assertIn(429, answers)
            self.assertGreaterEqual(answers.count(200), 40)  # a burst of 50 is fine; starting took some
            status, answer = daemon.call("POST", "/v1/jobs", {"command": ["/bin/true"]})
            self.assertEqual((status, "asks more than 10 times" in answer["error"]), (429, True))
            time.sleep(1.5)
            self.assertEqual(daemon.call("POST", "/v1/jobs", {"command": ["/bin/true"]})[0], 201)

    def test_how_large_a_request_may_be(self):
        with Daemon() as daemon:
            status, answer = daemon.call("POST", "/v1/jobs", {"command": ["/bin/true"], "name": "x" * (1 << 20)})
            self.assertEqual((status, answer["error"]), (413, "the request is too large"))
            self.assertEqual(daemon.jobs(), [])


class Hardships(unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, "only root can make a small disk")
    def test_a_full_disk(self):
        with small_disk() as daemon:
            running = daemon.submit_alone("running", 2)
            waiting = daemon.submit("--", "/bin/true")
            daemon.until_launched(running)
            fill(daemon.ballast)
            # What is on the disk already may take a few more rows; then nothing is promised.
            def refused():
                done = daemon.run("submit", "--", "/bin/sh", "-c", "# " + "x" * 60000, check=False)
                return done.stderr if done.returncode != 0 else None
            self.assertIn("free some space", wait_until(refused, what="a refusal"))
            # The job goes on to its end, and its record has its place; nothing new is begun.
            wait_until(lambda: (daemon.work / "running.done").exists(), what="the end of the job")
            wait_until(lambda: daemon.told("status")["trouble"], what="the trouble to be told")
            self.assertEqual(daemon.job(waiting)["launches"], 0)
            os.unlink(daemon.ballast)
            daemon.run("wait", str(running), str(waiting), "--timeout", "30")
            self.assertEqual(daemon.job(running)["launches"], 1)
            self.assertIn("takes commits again", daemon.log())
            self.assertEqual(daemon.told("status")["trouble"], "")

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a small disk")
    def test_a_daemon_with_a_full_disk_can_be_ended(self):
        with small_disk() as daemon:
            running = daemon.submit_alone("running", 0.5)
            daemon.until_launched(running)
            fill(daemon.ballast)
            wait_until(lambda: daemon.told("status")["trouble"], what="the trouble to be told")
            self.assertEqual(daemon.end(), 0)
            os.unlink(daemon.ballast)
            daemon.start()
            daemon.run("wait", str(running), "--timeout", "30")
            self.assertEqual(daemon.job(running)["launches"], 1)

    def test_a_clock_that_was_set(self):
        """Seen from the daemon, a clock that was set while it was down is a folder that was first used at another time."""
        with Daemon(gpus=1) as daemon:
            first = daemon.submit_alone("first", 1.5)
            daemon.until_launched(first)
            for step in (1e6, -2e6):
                daemon.kill()
                with sqlite3.connect(daemon.state / "state.db") as store:
                    store.execute("UPDATE meta SET value = CAST(CAST(value AS REAL) + ? AS TEXT) WHERE key LIKE '%epoch'", (step,))
                store.close()
                daemon.start()
            limited = daemon.submit("--time-limit", "1", "--", "/bin/sleep", "1000")
            daemon.run("wait", str(first), "--timeout", "30")
            job = daemon.until(limited, "cancelled")
            self.assertEqual(daemon.job(first)["launches"], 1)
            self.assertLess(job["submitted"], job["started"])
            self.assertTrue(0.9 < job["ended"] - job["started"] < 10, job)

    def test_a_clock_that_is_set_while_the_daemon_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            library, clock = pathlib.Path(folder) / "fake_clock.so", pathlib.Path(folder) / "clock"
            if shutil.which("cc") is None:
                self.skipTest("needs a C compiler")
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, ROOT / "tests" / "e2e" / "fake_clock.c"], check=True)

            def set_wrong_by(days):
                # In place: the daemon looks at this very file.
                with open(clock, "r+b" if clock.exists() else "wb") as file:
                    file.write(struct.pack("d", 86400.0 * days))

            set_wrong_by(0)
            environment = {"LD_PRELOAD": str(library), "MUSTER_TEST_CLOCK": str(clock)}
            with Daemon("--pacing", "rounds:length=0.5", gpus=2, environment=environment) as daemon:
                daemon.run("token", "create", "--days", "1")
                limited = daemon.submit("--time-limit", "8", "--", "/bin/sleep", "1000")
                daemon.until_launched(limited)
                begin = time.monotonic()
                last = 0
                for days in (30, -60, 0.5, -0.5):
                    set_wrong_by(days)
                    # The daemon sees it: a token's time is the machine's.
                    tokens = json.loads(daemon.run("token", "list", "--json").stdout)
                    self.assertEqual([token["expired"] for token in tokens], [days > 1])
                    state = daemon.job(limited)["state"]
                    self.assertTrue(state == "running" or time.monotonic() > begin + 7, state)
                    number = daemon.submit("--", "/bin/true")
                    job = daemon.until(number, "finished", seconds=10)
                    self.assertTrue(last <= job["submitted"] <= job["started"] <= job["ended"] <= job["submitted"] + 10, job)
                    last = job["ended"]
                job = daemon.until(limited, "cancelled")
                self.assertIn("time limit", job["reason"])
                self.assertTrue(7.9 < job["ended"] - job["started"] < 18, job)
                # A later daemon finds times that lie ahead of its clock, and goes on after them.
                daemon.kill()
                set_wrong_by(-90)
                daemon.start()
                job = daemon.until(daemon.submit("--", "/bin/true"), "finished", seconds=10)
                self.assertLess(last, job["submitted"])

    def test_a_job_that_stands_still_holds_its_gpus_until_it_is_stopped(self):
        with Daemon(gpus=1) as daemon:
            number = daemon.submit("--grace", "5", "--", TRAINER, "steps", "100000", "10")
            daemon.until_launched(number)
            wait_until(lambda: daemon.job(number)["progress"], what="progress")
            for pid in daemon.marked():
                os.kill(pid, signal.SIGSTOP)
            other = daemon.submit("--", "/bin/true")
            time.sleep(0.5)
            self.assertEqual(daemon.job(number)["state"], "running")
            self.assertEqual(daemon.job(other)["launches"], 0)
            begin = time.monotonic()
            daemon.run("hold", str(number))
            daemon.run("wait", str(other), "--timeout", "30")
            self.assertLess(time.monotonic() - begin, 20)
            self.assertFalse(daemon.marked())

    def test_a_job_that_stands_still_reaches_its_time_limit(self):
        with Daemon(gpus=1) as daemon:
            number = daemon.submit("--time-limit", "1", "--grace", "1", "--", "/bin/sleep", "1000")
            daemon.until_launched(number)
            for pid in daemon.marked():
                os.kill(pid, signal.SIGSTOP)
            self.assertIn("time limit", daemon.until(number, "cancelled")["reason"])
            wait_until(lambda: not daemon.marked() and not daemon.keepers(), what="the end of all processes")

    def test_a_daemon_that_stands_still_goes_on_afterwards(self):
        with Daemon(gpus=1) as daemon:
            first = daemon.submit_alone("first", None)
            second = daemon.submit_alone("second", 0.1)
            daemon.until_launched(first)
            os.kill(daemon.process.pid, signal.SIGSTOP)
            daemon.let_end("first")
            wait_until(lambda: (daemon.work / "first.done").exists(), what="its end")  # jobs need no daemon to go on
            time.sleep(0.5)
            os.kill(daemon.process.pid, signal.SIGCONT)
            daemon.run("wait", str(first), str(second), "--timeout", "30")
            self.assertEqual(daemon.job(first)["launches"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
