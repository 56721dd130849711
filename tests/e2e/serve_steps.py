"""Jobs that speak the job protocol: leases that they know of, steps that pass without being done."""

import os
import signal
import sys
import time
import unittest

from live_daemon import ROOT, Daemon, wait_until


class Leases(unittest.TestCase):
    """Rounds as Gavel has them: a job knows how long its GPUs are certain, and learns in time whether it keeps them."""

    SCRIPT = (
        "import sys, time, os\n"
        f"sys.path.insert(0, {str(ROOT / 'python')!r})\n"
        "import muster_job\n"
        "name, total = sys.argv[1], int(sys.argv[2])\n"
        "def say(*words):\n"
        "    with open(name + '.log', 'a') as log:\n"
        "        print(*words, file=log)\n"
        "def load():\n"
        "    return int(open(name + '.step').read()) if os.path.exists(name + '.step') else 0\n"
        "def save(step):\n"
        "    open(name + '.step', 'w').write(str(step))\n"
        "    say('left', step, job.lease_left)\n"
        "job = muster_job.join(save=save)\n"
        "say('from', load())\n"
        "for step in job.steps(load(), total=total):\n"
        "    if os.path.exists(name + '.end'):\n"
        "        break\n"
        "    time.sleep(0.1)\n"
        "    say('lease', job.lease_left)\n"
        "say('done')\n")
    GAVEL = ("--preset", "gavel", "--scheduling", "gavel-max-min-fairness", "--pacing", "rounds:length=2")

    def submit(self, daemon, name, steps):
        return daemon.submit("--name", name, "--estimate", "100", "--", sys.executable, "-c", self.SCRIPT, name, str(steps))

    def log(self, daemon, name):
        file = daemon.work / f"{name}.log"
        return [line.split() for line in file.read_text().split("\n")[:-1]] if file.exists() else []

    def test_who_stays_keeps_running_and_who_leaves_learns_it_before_the_lease_ends(self):
        with Daemon(*self.GAVEL, gpus=1) as daemon:
            first = self.submit(daemon, "first", 120)
            daemon.until_launched(first)
            wait_until(lambda: len(self.log(daemon, "first")) > 65, what="three rounds")
            self.assertEqual(daemon.job(first)["launches"], 1)
            lefts = [float(words[1]) for words in self.log(daemon, "first") if words[0] == "lease" and words[1] != "None"]
            self.assertGreater(len(lefts), 50)
            self.assertTrue(all(0 < left <= 7.5 for left in lefts), (min(lefts), max(lefts)))
            # A lease runs down within a round and is given anew by the next.
            self.assertGreaterEqual(sum(later > earlier + 1 for earlier, later in zip(lefts, lefts[1:])), 2)
            second = self.submit(daemon, "second", 30)
            daemon.run("wait", str(first), str(second), "--timeout", "90")
            for name in ("first", "second"):
                log = [words for words in self.log(daemon, name) if words[0] != "lease"]
                for left, begun in zip(log[1::2], log[2::2]):
                    if left[0] == "left":
                        self.assertEqual(begun, ["from", left[1]])  # not a step is lost
                        self.assertGreater(float(left[2]), 0)
            self.assertGreater(daemon.job(first)["launches"], 1)

    def test_a_scheduler_that_stands_still_lets_leases_end(self):
        with Daemon(*self.GAVEL, gpus=1) as daemon:
            number = self.submit(daemon, "job", 120)
            wait_until(lambda: any(words[0] == "lease" and words[1] != "None" for words in self.log(daemon, "job")),
                       what="a lease")
            os.kill(daemon.process.pid, signal.SIGSTOP)
            wait_until(lambda: any(words[0] == "left" for words in self.log(daemon, "job")), what="its leaving")
            os.kill(daemon.process.pid, signal.SIGCONT)
            daemon.run("wait", str(number), "--timeout", "60")
            self.assertIn("its lease ended", daemon.job(number)["runs"][0]["detail"])
            self.assertEqual(daemon.job(number)["launches"], 2)

    def test_without_a_scheduler_leases_do_not_end(self):
        with Daemon(*self.GAVEL, gpus=1) as daemon:
            number = self.submit(daemon, "job", 10000)
            wait_until(lambda: any(words[0] == "lease" and words[1] != "None" for words in self.log(daemon, "job")),
                       what="a lease")
            daemon.kill()
            time.sleep(8)
            daemon.options = ["--fake-gpus", "1"]  # and the next one knows of no rounds
            daemon.start()
            wait_until(lambda: self.log(daemon, "job")[-1][-1] == "None", what="the end of all leases")
            daemon.let_end("job")
            daemon.run("wait", str(number), "--timeout", "60")
            self.assertEqual(daemon.job(number)["launches"], 1)


class FastForward(unittest.TestCase):
    def test_fast_forward_trains_a_few_steps_of_each_launch(self):
        script = (
            "import sys, time, os\n"
            f"sys.path.insert(0, {str(ROOT / 'python')!r})\n"
            "import muster_job\n"
            "def load():\n"
            "    return int(open('ff.step').read()) if os.path.exists('ff.step') else 0\n"
            "job = muster_job.join(save=lambda step: open('ff.step', 'w').write(str(step)))\n"
            "for step in job.steps(load(), total=200, fast_forward=5):\n"
            "    time.sleep(0.05)\n"
            "    print('trained', step, flush=True)\n")
        with Daemon("--scheduling", "srtf", gpus=1) as daemon:
            number = daemon.submit("--estimate", "500", "--", sys.executable, "-c", script)
            wait_until(lambda: (daemon.job(number)["progress"] or {}).get("step", 0) > 20, what="skipped steps")
            short = daemon.submit("--estimate", "0.1", "--", "/bin/true")
            daemon.run("wait", str(short), str(number), "--timeout", "60")
            job = daemon.job(number)
            self.assertEqual((job["launches"], job["progress"]["step"]), (2, 200))
            trained = daemon.run("logs", str(number)).stdout.split("\n")[:-1]
            self.assertEqual(len(trained), 10)
            self.assertEqual(trained[:5], [f"trained {step}" for step in range(5)])
            self.assertGreater(job["ended"] - job["started"], 8)  # the others took their time all the same
