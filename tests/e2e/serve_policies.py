"""What decides, and how it is changed: policies that are switched, reloaded, chosen by a selector, or left for the plainest."""

import signal
import subprocess
import tempfile
import unittest

from live_daemon import MUSTER, Daemon, wait_until


class Policies(unittest.TestCase):
    def test_the_policy_is_switched_while_jobs_run(self):
        with Daemon(gpus=1) as daemon:
            description = daemon.describe('scheduling = "fifo"\n')
            running = daemon.submit_alone("running", None, "--estimate", "2")
            daemon.until_launched(running)
            long = daemon.submit_alone("long", 0.1, "--estimate", "1000")
            short = daemon.submit_alone("short", 0.1, "--estimate", "1")
            description.write_text('scheduling = "sjf"\n')
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "sjf" in daemon.told("status")["policy"], what="the switch")
            description.write_text('scheduling = "no such policy"\n')
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "not reloaded" in daemon.log(), what="the refusal")
            daemon.let_end("running")
            daemon.run("wait", str(running), str(long), str(short), "--timeout", "30")
            self.assertEqual(daemon.job(running)["launches"], 1)
            self.assertLess(daemon.job(short)["ended"], daemon.job(long)["started"])

    def test_a_selector_switches_between_policies(self):
        with Daemon(gpus=1) as daemon:
            daemon.describe('selector = "look-ahead"\n'
                            '[[policy_set]]\nscheduling = "fifo"\n[[policy_set]]\nscheduling = "sjf"\n')
            running = daemon.submit_alone("running", None, "--estimate", "1")
            daemon.until_launched(running)
            long = daemon.submit_alone("long", 0.1, "--estimate", "1000")
            short = daemon.submit_alone("short", 0.1, "--estimate", "1")
            daemon.let_end("running")
            daemon.run("wait", str(running), str(long), str(short), "--timeout", "30")
            self.assertLess(daemon.job(short)["ended"], daemon.job(long)["started"])
            self.assertEqual(daemon.job(running)["launches"], 1)

    def test_what_another_executor_would_heed_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            slurm = ("--executor", "slurm", "--partition", "gpu")
            for words in ((*slurm, "--fake-gpus", "3"), (*slurm, "--cgroup", "/sys/fs/cgroup"), ("--fake-gpus", "3", "--partition", "gpu")):
                done = subprocess.run([MUSTER, "serve", "--state", folder, *words], capture_output=True, text=True, timeout=30)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, "--(fake-gpus|cgroup|partition) .*(this machine alone|needs --executor slurm)")

    def test_estimates_by_the_ids_of_a_trace_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            words = ("--fake-gpus", "2", "--set", "workload.estimates.file=estimates.csv")
            done = subprocess.run([MUSTER, "serve", "--state", folder, *words], capture_output=True, text=True, timeout=30)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("workload.estimates.file = estimates.csv", done.stderr)

    def test_reload_loses_nothing(self):
        with Daemon(gpus=1) as daemon:
            running = daemon.submit_alone("reloaded", None)
            queued = daemon.submit("--", "/bin/true")
            daemon.until_launched(running)
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "reloaded" in daemon.log(), what="the reload")
            daemon.let_end("reloaded")
            daemon.run("wait", str(running), str(queued), "--timeout", "30")
            self.assertEqual(daemon.job(running)["launches"], 1)

    def test_a_reload_is_answered_when_it_is_done(self):
        with Daemon(gpus=1) as daemon:
            config = daemon.describe('scheduling = "las"\n')
            config.write_text('scheduling = "srtf"\n')
            self.assertEqual(daemon.call("POST", "/v1/reload"), (200, {"done": True}))
            self.assertIn("srtf", daemon.call("GET", "/v1/status")[1]["policy"])
            config.write_text('scheduling = "nobody"\n')
            status, answer = daemon.call("POST", "/v1/reload")
            self.assertEqual((status, "nobody" in answer["error"]), (409, True), answer)
            self.assertIn("srtf", daemon.call("GET", "/v1/status")[1]["policy"])


class SafeMode(unittest.TestCase):
    """A daemon that dies again and again right after its start goes on without the policy that it died with."""

    def status(self, daemon):
        status = daemon.told("status")
        return status["safe_mode"], status["policy"].split()[0].split(":")[0]

    def test_deaths_lead_to_it_and_another_policy_out_of_it(self):
        with Daemon("--scheduling", "las", gpus=1) as daemon:
            for _ in range(3):
                self.assertEqual(self.status(daemon), (False, "las"))
                daemon.kill()
                daemon.start()
            self.assertEqual(self.status(daemon), (True, "fifo"))
            self.assertIn("safe mode", daemon.run("status").stdout)
            # It works, stays so while nothing else is tried, and forgets nothing when it ends well.
            for _ in range(4):
                daemon.run("wait", str(daemon.submit("--", "/bin/true")), "--timeout", "30")
            daemon.end()
            daemon.start()
            self.assertEqual(self.status(daemon), (True, "fifo"))
            daemon.end()
            daemon.options[-1] = "srtf"
            daemon.start()
            self.assertEqual(self.status(daemon), (False, "srtf"))
            self.assertNotIn("safe mode", daemon.run("status").stdout)

    def test_a_reload_tries_again(self):
        with Daemon("--scheduling", "las", "--safe-after", "1", gpus=1) as daemon:
            daemon.kill()
            daemon.start()
            self.assertEqual(self.status(daemon), (True, "fifo"))
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: self.status(daemon) == (False, "las"), what="the reload")
            for _ in range(4):
                daemon.run("wait", str(daemon.submit("--", "/bin/true")), "--timeout", "30")
            daemon.kill()
            daemon.start()
            self.assertEqual(self.status(daemon), (False, "las"))

    def test_who_ends_as_told_has_not_died(self):
        with Daemon("--scheduling", "las", gpus=1) as daemon:
            for _ in range(5):
                self.assertEqual(daemon.end(), 0)
                daemon.start()
            self.assertEqual(self.status(daemon), (False, "las"))

    def test_it_can_be_turned_off(self):
        with Daemon("--scheduling", "las", "--safe-after", "0", gpus=1) as daemon:
            for _ in range(5):
                daemon.kill()
                daemon.start()
            self.assertEqual(self.status(daemon), (False, "las"))
