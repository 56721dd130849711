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


def undisturbed(model, steps, dtype):
    torch.set_num_threads(1)
    torch.set_default_dtype(dtype)
    try:
        workload = workloads.Workload(model)
        return [workload.step(step) for step in range(steps)]
    finally:
        torch.set_default_dtype(torch.float32)


class Training(unittest.TestCase):
    def check(self, curve, model, steps, tolerance, dtype=torch.float32):
        self.assertEqual([step for step, _ in curve.steps], list(range(steps)), "every step once, in order")
        for _, done, loss, held in curve.launches[1:]:
            self.assertGreater(done, 0)
            self.assertAlmostEqual(loss, held, delta=1e-6, msg="the loss that the checkpoint held")
        expected = undisturbed(model, steps, dtype)
        for (step, loss), wanted in zip(curve.steps, expected):
            self.assertAlmostEqual(loss, wanted, delta=tolerance, msg=f"step {step}")
        self.assertLess(sum(expected[-20:]), 0.9 * sum(expected[:20]), "it learns something")

    def submit(self, daemon, script, *words, options=()):
        return daemon.submit(*ENVIRONMENT, *options, "--", sys.executable,
                             str(ROOT / "examples" / "pytorch" / script), *words)

    def until_at_work(self, daemon, number, launch):
        """Until that launch has trained for a step."""
        def steps():
            curve = Curve(daemon.run("logs", str(number)).stdout)
            return len(curve.launches) >= launch and len(curve.steps) > curve.launches[launch - 1][1]
        wait_until(steps, seconds=60, what=f"a step of launch {launch}")

    def submit_short(self, daemon, gpus, name):
        """A job that is expected to be over at once, and is when the file `name` is there."""
        short = daemon.submit("--estimate", "0.1", "--gpus", str(gpus), "--", "/bin/sh", "-c",
                              f"while [ ! -e {name} ]; do sleep 0.05; done")
        daemon.until_launched(short, seconds=60)
        return short

    def end_short(self, daemon, short, name):
        (daemon.work / name).touch()
        daemon.run("wait", str(short), "--timeout", "60")

    def test_one_process_is_preempted_and_resumed(self):
        with Daemon("--scheduling", "srtf", gpus=1) as daemon:
            number = self.submit(daemon, "train.py", "one.pt", "--model", "transformer", "--steps", "300",
                                 options=["--estimate", "1000"])
            for launch in (1, 2):
                self.until_at_work(daemon, number, launch)
                self.end_short(daemon, self.submit_short(daemon, 1, f"go{launch}"), f"go{launch}")
            daemon.run("wait", str(number), "--timeout", "100")
            self.assertEqual(daemon.job(number)["preemptions"], 2)
            curve = Curve(daemon.run("logs", str(number)).stdout)
            self.assertEqual(len(curve.launches), 3)
            self.check(curve, "transformer", 300, 1e-6)

    def test_ddp_is_shrunk_grown_preempted_and_resumed(self):
        # Shortest remaining time first, and what is left of the GPUs goes to those who can use it.
        with Daemon("--scheduling", "optimus:least_gain=0", "--pacing", "rounds:length=0.5", "--perf", "scaling",
                    gpus=2) as daemon:
            # Ranks add up in another order than one process does: in double precision that stays out of the digits printed.
            number = self.submit(daemon, "ddp.py", "ddp.pt", "--model", "transformer", "--steps", "1600", "--double",
                                 options=["--estimate", "1000", "--gpus", "1-2", "--per-gpu"])
            self.until_at_work(daemon, number, 1)
            short = self.submit_short(daemon, 1, "grow")  # leaves it one GPU
            self.until_at_work(daemon, number, 2)
            self.end_short(daemon, short, "grow")
            self.until_at_work(daemon, number, 3)
            short = self.submit_short(daemon, 2, "resume")  # leaves it none
            self.end_short(daemon, short, "resume")
            daemon.run("wait", str(number), "--timeout", "100")
            self.assertEqual(daemon.job(number)["state"], "finished")
            curve = Curve(daemon.run("logs", str(number)).stdout)
            self.assertEqual([ranks for ranks, *_ in curve.launches], [2, 1, 2, 2])
            self.check(curve, "transformer", 1600, 1e-4, torch.float64)


if __name__ == "__main__":
    unittest.main(verbosity=2)
