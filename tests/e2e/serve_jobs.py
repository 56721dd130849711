"""The life of jobs on one machine: they are submitted, start, wait, are stopped and go on, and end."""

import os
import sys
import time
import unittest

from live_daemon import ROOT, TRAINER, Daemon, wait_until


class OneMachine(unittest.TestCase):
    def test_a_job_is_submitted_runs_and_finishes(self):
        with Daemon() as daemon:
            number = daemon.submit("--gpus", "2", "--name", "first", "--", "/bin/sh", "-c",
                                   "echo on $CUDA_VISIBLE_DEVICES of $MUSTER_JOB; pwd")
            daemon.run("wait", str(number), "--timeout", "30")
            job = daemon.job(number)
            self.assertEqual(job["state"], "finished")
            self.assertEqual(job["launches"], 1)
            self.assertEqual(job["gpus"], 2)
            self.assertEqual(job["name"], "first")
            self.assertLessEqual(job["submitted"], job["started"])
            self.assertLessEqual(job["started"], job["ended"])
            listed = daemon.jobs()
            self.assertEqual([number], [one["id"] for one in listed])
            for key in ("id", "name", "state", "gpus", "submitted", "started", "ended", "launches", "reason"):
                self.assertIn(key, listed[0])
            log = daemon.run("logs", str(number)).stdout
            self.assertEqual(log, f"on 0,1 of {number}\n{daemon.work}\n")

    def test_failures_are_told_apart(self):
        with Daemon() as daemon:
            failed = daemon.submit("--", "/bin/sh", "-c", "exit 3")
            again = daemon.submit("--retries", "2", "--", "/bin/sh", "-c", "exit 4")
            missing = daemon.submit("--", "/no/such/program")
            large = daemon.submit("--gpus", "5", "--", "/bin/true")
            strange = daemon.submit("--partition", "nowhere", "--", "/bin/true")
            self.assertNotEqual(daemon.run("wait", str(failed), "--timeout", "30", check=False).returncode, 0)
            job = daemon.until(failed, "failed")
            self.assertEqual((job["exit_code"], job["launches"]), (3, 1))
            self.assertEqual(daemon.until(again, "failed")["launches"], 3)
            self.assertIn("more than", daemon.until(large, "refused")["reason"])
            self.assertIn("nowhere", daemon.until(strange, "refused")["reason"])
            # A start that fails is not the job's failure: it waits for the next try.
            runs = wait_until(lambda: daemon.job(missing)["runs"], what="a try")
            self.assertIn(daemon.job(missing)["state"], ("queued", "running", "preempted"))
            wait_until(lambda: "such/program" in daemon.job(missing)["runs"][0]["detail"], what="the reason")
            self.assertEqual(len(runs), 1)

    def test_a_queue_is_worked_off_and_no_gpu_is_given_twice(self):
        with Daemon(gpus=2) as daemon:
            numbers = [daemon.submit_alone(f"job{i}", 0.3, "--gpus", "1") for i in range(6)]
            worst = 0
            while daemon.told("jobs", "--active"):
                worst = max(worst, max(len(gpu) for gpu in daemon.gpu_jobs()))
            self.assertLessEqual(worst, 1)
            for i, number in enumerate(numbers):
                self.assertEqual(daemon.job(number)["state"], "finished")
                self.assertEqual(len((daemon.work / f"job{i}.launches").read_text().split("\n")), 2)

    def test_preempted_and_resumed_with_the_job_client(self):
        with Daemon("--scheduling", "srtf", gpus=1) as daemon:
            long = daemon.submit("--estimate", "1000", "--", TRAINER, "long.step", "100", "100")
            daemon.until_launched(long)
            wait_until(lambda: daemon.job(long)["progress"], what="progress")
            short = daemon.submit("--estimate", "0.2", "--", "/bin/sleep", "0.2")
            daemon.run("wait", str(short), str(long), "--timeout", "60")
            job = daemon.job(long)
            self.assertEqual((job["state"], job["launches"], job["preemptions"]), ("finished", 2, 1))
            self.assertEqual(job["runs"][0]["outcome"], "stopped")
            self.assertEqual(daemon.job(short)["launches"], 1)
            log = daemon.run("logs", str(long)).stdout.split("\n")
            left = [line for line in log if line.startswith("left")][0].split()[1]
            self.assertIn(f"from {left} of 1 ranks", log)
            self.assertIn("done 100", log)

    def test_three_lines_of_python(self):
        script = (
            "import sys, time, os\n"
            f"sys.path.insert(0, {str(ROOT / 'python')!r})\n"
            "import muster_job\n"
            "def load():\n"
            "    return int(open('py.step').read()) if os.path.exists('py.step') else 0\n"
            "job = muster_job.join(save=lambda step: open('py.step', 'w').write(str(step)))\n"
            "for step in job.steps(load(), total=100):\n"
            "    time.sleep(0.1)\n"
            "    job.report(loss=1.0 / (step + 1))\n"
            "print('all done')\n")
        with Daemon("--scheduling", "srtf", gpus=1) as daemon:
            number = daemon.submit("--estimate", "500", "--", sys.executable, "-c", script)
            wait_until(lambda: (daemon.job(number)["progress"] or {}).get("metrics"), what="a metric")
            short = daemon.submit("--estimate", "1", "--", "/bin/true")
            daemon.run("wait", str(short), str(number), "--timeout", "60")
            self.assertEqual(daemon.job(number)["launches"], 2)
            self.assertEqual(daemon.run("logs", str(number)).stdout, "all done\n")

    def test_cancel_hold_release_and_drain(self):
        with Daemon(gpus=1) as daemon:
            running = daemon.submit("--", "/bin/sh", "-c", "sleep 1000 & setsid sleep 1000")
            daemon.until_launched(running)
            waiting = daemon.submit("--", "/bin/sleep", "1000")
            held = daemon.submit("--hold", "--", "/bin/true")
            self.assertTrue(daemon.marked())
            daemon.run("cancel", str(waiting), str(running))
            self.assertEqual(daemon.until(waiting, "cancelled")["launches"], 0)
            daemon.until(running, "cancelled")
            wait_until(lambda: not daemon.marked() and not daemon.keepers(), what="the end of all processes")
            time.sleep(0.3)
            self.assertEqual(daemon.job(held)["launches"], 0)
            daemon.run("drain", "node0")
            daemon.run("release", str(held))
            time.sleep(0.3)
            self.assertEqual(daemon.job(held)["launches"], 0)
            daemon.run("drain", "node0", "--undo")
            daemon.run("wait", str(held), "--timeout", "30")
            self.assertNotEqual(daemon.run("cancel", str(held), check=False).returncode, 0)

    def test_hold_of_a_running_job_stops_it(self):
        with Daemon(gpus=1) as daemon:
            number = daemon.submit("--", "/bin/sh", "-c", "test $MUSTER_LAUNCH = 2 || sleep 1000")
            daemon.until_launched(number)
            daemon.run("hold", str(number))
            wait_until(lambda: not daemon.marked(), what="its stop")
            self.assertIn("hold", daemon.job(number)["reason"])
            other = daemon.submit("--", "/bin/true")
            daemon.run("wait", str(other), "--timeout", "30")
            daemon.run("release", str(number))
            daemon.run("wait", str(number), "--timeout", "30")
            self.assertEqual(daemon.job(number)["launches"], 2)

    def test_time_limits_and_requests_that_are_repeated(self):
        with Daemon() as daemon:
            limited = daemon.submit("--time-limit", "0.5", "--", "/bin/sleep", "1000")
            first = daemon.submit("--request", "abc", "--", "/bin/true")
            self.assertEqual(daemon.submit("--request", "abc", "--", "/bin/true"), first)
            self.assertIn("time limit", daemon.until(limited, "cancelled")["reason"])

    def test_one_process_for_each_gpu(self):
        with Daemon() as daemon:
            number = daemon.submit("--gpus", "3", "--per-gpu", "--", "/bin/sh", "-c",
                                   "echo $RANK/$WORLD_SIZE on $CUDA_VISIBLE_DEVICES")
            daemon.run("wait", str(number), "--timeout", "30")
            for rank in range(3):
                self.assertEqual(daemon.run("logs", str(number), "--rank", str(rank)).stdout,
                                 f"{rank}/3 on {rank}\n")

    def test_a_shadow_decides_and_does_nothing(self):
        with Daemon("--shadow", "--scheduling", "srtf", gpus=1) as daemon:
            long = daemon.submit("--estimate", "10", "--", "/bin/sh", "-c", "touch ran")
            daemon.until_launched(long)
            short = daemon.submit("--estimate", "0.5", "--", "/bin/sh", "-c", "touch ran")
            daemon.run("wait", str(long), str(short), "--timeout", "60")
            self.assertFalse((daemon.work / "ran").exists())
            log = daemon.log()
            self.assertIn(f"would start job {long}, launch 1, on GPUs 0:0", log)
            self.assertIn(f"would stop job {long}, launch 1", log)
