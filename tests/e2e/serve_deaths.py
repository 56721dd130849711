"""Daemons and keepers that end, well or not: jobs outlive them."""

import os
import signal
import subprocess
import time
import unittest

from live_daemon import MUSTER, Daemon, wait_until


class Deaths(unittest.TestCase):
    def test_jobs_outlive_the_daemon_and_are_found_again(self):
        with Daemon(gpus=2) as daemon:
            running = daemon.submit_alone("outlives", None)
            done = daemon.submit_alone("ends", None)
            queued = daemon.submit("--gpus", "2", "--", "/bin/true")
            daemon.until_launched(running)
            daemon.until_launched(done)
            daemon.kill()
            daemon.let_end("ends")  # while nobody looks
            wait_until(lambda: (daemon.work / "ends.done").exists(), what="its end")
            time.sleep(0.3)
            daemon.start()
            daemon.let_end("outlives")
            daemon.run("wait", str(running), str(done), str(queued), "--timeout", "30")
            self.assertEqual(daemon.job(running)["launches"], 1)
            self.assertEqual(daemon.job(done)["launches"], 1)
            self.assertFalse((daemon.work / "outlives.twice").exists())
            self.assertEqual(daemon.told("status")["generation"], 2)

    def test_a_second_daemon_is_refused(self):
        with Daemon() as daemon:
            second = subprocess.run([MUSTER, "serve", "--state", daemon.state, "--fake-gpus", "1"],
                                    capture_output=True, text=True, timeout=30)
            self.assertEqual(second.returncode, 1)
            self.assertIn(f"process id {daemon.process.pid}", second.stderr)

    def test_it_ends_cleanly_and_leaves_or_drains(self):
        with Daemon() as daemon:
            number = daemon.submit_alone("left", None)
            daemon.until_launched(number)
            self.assertEqual(daemon.end(), 0)
            self.assertTrue(daemon.marked())
            daemon.options.append("--drain-on-stop")
            daemon.start()
            self.assertEqual(daemon.end(), 0)
            self.assertFalse(daemon.marked())
            daemon.start()
            daemon.let_end("left")
            daemon.run("wait", str(number), "--timeout", "30")
            self.assertEqual(daemon.job(number)["launches"], 2)

    def test_keepers_are_killed(self):
        with Daemon(gpus=2) as daemon:
            numbers = [daemon.submit_alone(f"kept{i}", None) for i in range(2)]
            for number in numbers:
                daemon.until_launched(number)
            for pid in daemon.keepers():
                os.kill(pid, signal.SIGKILL)  # guards and keepers alike
            for number in numbers:
                wait_until(lambda: daemon.job(number)["launches"] == 2, what="the next launch")
                daemon.until_launched(number)
            daemon.let_end("kept0", "kept1")
            daemon.run("wait", *map(str, numbers), "--timeout", "60")
            for i in range(2):
                self.assertFalse((daemon.work / f"kept{i}.twice").exists())
            wait_until(lambda: not daemon.marked(), what="the end of all processes")
