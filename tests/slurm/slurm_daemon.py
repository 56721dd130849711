"""`muster serve --executor slurm` beside a lab, for tests."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/slurm")]

from live_daemon import Daemon, wait_until  # noqa: E402

# A training job: counts steps of a given length, saves when it is told to, and cries out where two of it are there at once, or
# another job on one of its GPUs.
TRAINER = """
import fcntl, os, signal, sys, time
name, steps, length = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
if os.environ.get("RANK", "0") != "0":
    name += "-rank" + os.environ["RANK"]
lock = open(name + ".lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    open(name + ".twice", "w").close()
    sys.exit(9)
gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if "SLURM_SHARDS_ON_NODE" not in os.environ else []
held = [open("gpu-" + os.environ["SLURMD_NODENAME"] + "-" + gpu + ".lock", "w") for gpu in gpus if gpu.isdigit()]
for gpu in held:
    try:
        fcntl.flock(gpu, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        open(gpu.name + "ed-by-two", "w").close()
step = int(open(name + ".step").read()) if os.path.exists(name + ".step") else 0
with open(name + ".launches", "a") as file:
    print(step, os.environ["SLURM_JOB_ID"], os.environ["SLURM_JOB_NODELIST"], os.environ.get("CUDA_VISIBLE_DEVICES"),
          os.environ.get("MUSTER_LAUNCH"), file=file)
def save(*_):
    with open(name + ".new", "w") as file:
        print(step, file=file)
    os.rename(name + ".new", name + ".step")
def leave(*_):
    save()
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
signal.signal(signal.SIGUSR1, leave)
while step < steps:
    time.sleep(length)
    step += 1
    if step % 5 == 0:
        save()
with open(name + ".done", "a") as file:
    print(step, os.environ["SLURM_JOB_ID"], os.environ.get("SLURM_RESTART_COUNT", 0), os.environ.get("MUSTER_JOB", 0),
          os.environ.get("MUSTER_LAUNCH", 0), file=file)
"""


class SlurmDaemon(Daemon):
    def __init__(self, lab, partition, *options):
        super().__init__("--executor", "slurm", "--partition", partition, *options, gpus=None,
                         environment=lab.environment)
        self.lab = lab
        (self.work / "trainer.py").write_text(TRAINER)

    def __exit__(self, *_):
        self.end()
        if jobs := self.lab.call("squeue", "-h", "-o", "%A").split():
            self.lab.try_call("scancel", *jobs)
        listed = [line.split() for line in self.lab.call("sinfo", "-h", "-N", "-o", "%N %T").splitlines()]
        for node in {node for node, state in listed if state not in ("idle", "mixed", "allocated", "completing")}:
            self.lab.try_call("scontrol", "update", f"NodeName={node}", "State=RESUME")
        wait_until(lambda: not self.lab.call("squeue", "-h").strip(), 30, "an empty queue")
        self.folder.cleanup()

    def train(self, name, steps, length, *options):
        """A trainer of so many steps of that many seconds, and what is believed of it."""
        if "--estimate" not in options:
            options = (*options, "--estimate", str(steps * length))
        return self.submit("--name", name, *options, "--", sys.executable, "trainer.py", name, str(steps), str(length))

    def hold_trainer(self, name, steps, length, *options):
        """The same, submitted to Slurm by a user, held."""
        script = f"#!/bin/sh\nexec {sys.executable} trainer.py {name} {steps} {length}\n"
        return int(self.lab.call("sbatch", "--parsable", "--hold", "-o", "/dev/null", "-J", name, *options,
                                 input=script, cwd=self.work))

    def launches(self, name):
        """Of a trainer: the step it began with, the job of Slurm, the nodes, the GPUs, the launch."""
        path = self.work / f"{name}.launches"
        return [line.split(" ") for line in path.read_text().splitlines()] if path.exists() else []

    def done(self, name, steps):
        """Whether a trainer has done all its steps, once. One that is told to leave in the moment in which it is done counts as
        stopped, and says so once more from its checkpoint (docs/live.md)."""
        path = self.work / f"{name}.done"
        lines = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        told = [any((self.state / folder / f"{job}.{launch}/told-to-stop").exists() for folder in ("runs", "ended"))
                for _, _, _, job, launch in lines]
        return bool(lines) and all(told[:-1]) and {line[0] for line in lines} == {str(steps)}

    def slurm_job(self, number):
        """What Slurm knows of a job that was submitted here."""
        found = [row for row in self.lab.jobs().values() if f"/-/{number}/" in row["comment"]]
        return found[-1] if found else None

    def by_name(self, name):
        found = [job for job in self.jobs() if job["name"] == name]
        return found[0] if found else None

    def nodes(self):
        return {node["name"]: node for node in self.told("nodes")}
