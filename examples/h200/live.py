"""The daemon from an unpacked archive, and jobs that are submitted to it at given seconds."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time


class Muster:
    def __init__(self, unpacked, folder, options=()):
        """`options`: of every daemon."""
        self.options = options
        self.unpacked = pathlib.Path(unpacked)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.state = self.folder / "state"
        self.loader_path = os.environ.get("LD_LIBRARY_PATH", "")
        # For the command alone: PyTorch must not meet these libraries.
        self.environment = {**os.environ, "LD_LIBRARY_PATH": f"{self.unpacked / 'lib'}:{self.loader_path}".rstrip(":")}
        self.daemon = None

    def run(self, *words, check=True):
        done = subprocess.run([self.unpacked / "bin" / "muster", *map(str, words)], capture_output=True, text=True,
                              env=self.environment, cwd=self.folder)
        if check and done.returncode != 0:
            raise RuntimeError(f"muster {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout

    def ask(self, command, *words):
        return self.run(command, "--state", self.state, *words)

    def serve(self, *options):
        with open(self.folder / "daemon.log", "ab") as log:
            self.daemon = subprocess.Popen([self.unpacked / "bin" / "muster", "serve", "--state", self.state,
                                            *self.options, *options],
                                           stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        for _ in range(500):
            if self.daemon.poll() is not None:
                raise RuntimeError((self.folder / "daemon.log").read_text())
            try:
                return self.ask("status")
            except RuntimeError:
                time.sleep(0.02)
        raise RuntimeError("the daemon does not answer")

    def end(self):
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait()

    def submit(self, name, model, steps, seconds, device):
        return int(self.ask(
            "submit", "--gpus", 1, "--name", name, "--model", model, "--iterations", steps, "--estimate", f"{seconds:.3f}",
            "--env", f"LD_LIBRARY_PATH={self.loader_path}", "--env", f"PYTHONPATH={self.unpacked / 'python'}", "--",
            sys.executable, self.unpacked / "examples" / "pytorch" / "train.py", self.folder / f"{name}.pt",
            "--model", model, "--steps", steps, "--device", device))

    def job(self, number):
        return json.loads(self.ask("status", "--json", number))

    def wait(self, numbers, timeout=400):
        self.run("wait", "--state", self.state, *numbers, "--timeout", timeout, check=False)


def curve(text):
    """Of a job's output: its steps as (number, loss, time), and for each launch (steps done, loss, loss of the checkpoint)."""
    steps = [(int(step), float(loss), float(at))
             for step, loss, at in re.findall(r"^step (\d+) loss (\S+) at (\S+)", text, re.MULTILINE)]
    launches = [(int(done), float(loss), float(held)) for done, loss, held in re.findall(
        r"^launch \d+: (\d+) steps done, loss (\S+), checkpoint (\S+)", text, re.MULTILINE)]
    return steps, launches


def play(muster, jobs, device):
    """Submits the jobs at their seconds and waits for all of them. What became of each, in order."""
    begin = time.time()
    numbers = []
    for job in jobs:
        time.sleep(max(0, begin + job["submit"] - time.time()))
        numbers.append(muster.submit(job["name"], job["model"], job["steps"], job["seconds"], device))
    muster.wait(numbers)
    return [outcome(muster, job, number) for job, number in zip(jobs, numbers)]


def outcome(muster, job, number):
    told = muster.job(number)
    text = muster.ask("logs", number)
    (muster.folder / f"{job['name']}.log").write_text(text)
    steps, launches = curve(text)
    return {**job, "state": told["state"], "submitted": told["submitted"], "started": told["started"],
            "ended": told["ended"], "preemptions": told["preemptions"],
            "runs": [{key: run[key] for key in ("planned", "started", "ended", "shared", "outcome")}
                     for run in told["runs"]],
            "continuous": [step for step, _, _ in steps] == list(range(job["steps"])),
            "checkpoints": [{"steps": done, "loss": loss, "held": held} for done, loss, held in launches],
            "first_loss": steps[0][1] if steps else None, "last_loss": steps[-1][1] if steps else None,
            # By launch: when its first and its last step were done.
            "step_ends": [step_ends(steps, launches, i) for i in range(len(launches))]}


def step_ends(steps, launches, i):
    first = launches[i][0]
    last = launches[i + 1][0] if i + 1 < len(launches) else float("inf")
    mine = [at for step, _, at in steps if first <= step < last]
    return {"steps": len(mine), "first": mine[0] if mine else None, "last": mine[-1] if mine else None}
