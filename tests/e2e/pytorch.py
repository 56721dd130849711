"""The PyTorch examples end to end: what a training loses by being stopped and started is nothing but time."""

import re
import sys
import unittest

from live_daemon import ROOT, Daemon, wait_until

sys.path.insert(0, str(ROOT / "examples" / "pytorch"))
import torch  # noqa: E402
import workloads  # noqa: E402

ENVIRONMENT = ["--env", f"PYTHONPATH={ROOT / 'python'}", "--env", "PYTHONDONTWRITEBYTECODE=1",
               "--env", "OMP_NUM_THREADS=1"]


class Curve:
    """What a job has printed over all its launches."""

    def __init__(self, text):
        self.text = text
        self.steps = [(int(step), float(loss)) for step, loss in re.findall(r"^step (\d+) loss (\S+)", text, re.MULTILINE)]
        # By launch: ranks, steps done, loss of the fixed batch, and the one that the checkpoint held.
        self.launches = [(int(ranks or 1), int(done), float(loss), float(held)) for ranks, done, loss, held in re.findall(
            r"^launch \d+(?: of (\d+) ranks)?: (\d+) steps done, loss (\S+), checkpoint (\S+)", text, re.MULTILINE)]


def undisturbed(model, steps):
    torch.set_num_threads(1)
    workload = workloads.Workload(model)
    return [workload.step(step) for step in range(steps)]


class Training(unittest.TestCase):
    def check(self, curve, model, steps, tolerance):
        self.assertEqual([step for step, _ in curve.steps], list(range(steps)), "every step once, in order")
        for _, done, loss, held in curve.launches[1:]:
            self.assertGreater(done, 0)
            self.assertAlmostEqual(loss, held, delta=1e-6, msg="the loss that the checkpoint held")
        expected = undisturbed(model, steps)
        for (step, loss), wanted in zip(curve.steps, expected):
            self.assertAlmostEqual(loss, wanted, delta=tolerance, msg=f"step {step}")
        self.assertLess(sum(expected[-20:]), 0.9 * sum(expected[:20]), "it learns something")

    def submit(self, daemon, script, *words, options=()):
        return daemon.submit(*ENVIRONMENT, *options, "--", sys.executable,
                             str(ROOT / "examples" / "pytorch" / script), *words)

    def wait_for_steps(self, daemon, number, count):
        """Until it has made so many steps more than now."""
        begin = (daemon.job(number)["progress"] or {}).get("step", 0)
        wait_until(lambda: (daemon.job(number)["progress"] or {}).get("step", 0) >= begin + count, what="steps")

    def test_one_process_is_preempted_and_resumed(self):
        with Daemon("--scheduling", "srtf", gpus=1) as daemon:
            number = self.submit(daemon, "train.py", "one.pt", "--model", "transformer", "--steps", "400",
                                 options=["--estimate", "1000"])
            for _ in range(2):
                self.wait_for_steps(daemon, number, 1)
                short = daemon.submit("--estimate", "0.1", "--", "/bin/sleep", "0.1")
                daemon.run("wait", str(short), "--timeout", "60")
            daemon.run("wait", str(number), "--timeout", "60")
            self.assertEqual(daemon.job(number)["preemptions"], 2)
            curve = Curve(daemon.run("logs", str(number)).stdout)
            self.assertEqual(len(curve.launches), 3)
            self.check(curve, "transformer", 400, 1e-6)

    def test_ddp_is_shrunk_grown_preempted_and_resumed(self):
        # Shortest remaining time first, and what is left of the GPUs goes to those who can use it.
        with Daemon("--scheduling", "optimus:least_gain=0", "--pacing", "rounds:length=0.5", "--perf", "scaling",
                    gpus=2) as daemon:
            number = self.submit(daemon, "ddp.py", "ddp.pt", "--steps", "900",
                                 options=["--estimate", "1000", "--gpus", "1-2", "--per-gpu"])
            self.wait_for_steps(daemon, number, 1)
            for gpus in ("1", "2"):  # the first leaves it one GPU, the second none
                short = daemon.submit("--estimate", "0.1", "--gpus", gpus, "--", "/bin/sleep", "3")
                daemon.until_launched(short, seconds=60)
                if gpus == "1":
                    self.wait_for_steps(daemon, number, 1)
                daemon.run("wait", str(short), "--timeout", "60")
                self.wait_for_steps(daemon, number, 1)
            daemon.run("wait", str(number), "--timeout", "100")
            job = daemon.job(number)
            self.assertEqual(job["state"], "finished")
            curve = Curve(daemon.run("logs", str(number)).stdout)
            self.assertEqual([ranks for ranks, *_ in curve.launches], [2, 1, 2, 2])
            self.check(curve, "cnn", 900, 1e-3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
