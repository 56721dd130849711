"""slurmds, slurmctld and the daemon are killed from a seed while jobs run: none is lost, none runs twice, no GPU has two owners,
and all goes on within 30 s.

MUSTER_SEED repeats a run, as far as the machine's own timing allows; MUSTER_KILLS says how many kills. The first four are, in an order
of the seed, a slurmd alone, whose jobs go on unseen; slurmctld; the daemon; and both. The fifth is a node with all that runs there, as
by a power cut; and so on.
"""

import os
import random
import subprocess
import sys
import threading
import time
import unittest

from slurm_daemon import SlurmDaemon, wait_until
from lab import Lab, why_not
import side_by_side

RECOVERY = 30
CRASH = {"n1", "n3", "n5", "n7"}  # nodes that die as a whole; of the others slurmd alone


class Watcher(threading.Thread):
    """Looks at Slurm's own lists all the time: no GPU may have two owners."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab, self.wrong, self.looks, self.done = lab, [], 0, threading.Event()

    def run(self):
        while not self.done.wait(0.5):
            try:
                rows = self.lab.jobs().values()
            except (AssertionError, subprocess.TimeoutExpired, ValueError):
                continue  # the controller is down
            self.looks += 1
            used = {}
            for row in rows:
                if row["job_state"] != "RUNNING":
                    continue
                for node, gres in zip(expand(row["nodes"]), row["gres_detail"]):
                    for index in indexes(gres):
                        used.setdefault((node, index), []).append(row["job_id"])
            self.wrong += [f"{place} has {jobs}" for place, jobs in used.items() if len(jobs) > 1]


def expand(text):
    head, _, rest = text.partition("[")
    if not rest:
        return text.split(",") if text else []
    found = []
    for part in rest.rstrip("]").split(","):
        low, _, high = part.partition("-")
        found += [f"{head}{i}" for i in range(int(low), int(high or low) + 1)]
    return found


def indexes(gres):
    text = gres.partition("IDX:")[2].rstrip(")")
    return [int(name.lstrip("[")) for name in expand(f"[{text}]")] if text and text != "N/A" else []


class Deaths(unittest.TestCase):
    def setUp(self):
        self.seed = int(os.environ.get("MUSTER_SEED", random.SystemRandom().randrange(1 << 30)))
        self.kills = int(os.environ.get("MUSTER_KILLS", "6"))
        print(f"seed {self.seed}", flush=True)

    def test_killed_at_random(self):
        chance = random.Random(self.seed)
        settings = {"SlurmdTimeout": 5, "BatchStartTimeout": 10}
        with Lab(nodes="4:v100:4 4:a100:8", settings=settings, node_crashes=CRASH) as lab:
            watcher = Watcher(lab)
            with SlurmDaemon(lab, "all", "--scheduling", "las", "--pacing", "rounds:length=3") as daemon:
                watcher.start()
                names = {}
                for kill in range(self.kills):
                    for _ in range(chance.randrange(2, 5)):
                        name, steps = f"k{len(names)}", chance.randrange(5, 40)
                        names[daemon.train(name, steps, 0.2, "--gpus", str(chance.choice([1, 1, 2, 4, 8])))] = name, steps
                    time.sleep(chance.uniform(0, 5))
                    if kill % 5 == 0:
                        kinds = chance.sample(["slurmd", "slurmctld", "muster", "both"], 4) + ["node"]
                    killed = time.monotonic()
                    self.kill_one(chance, kinds[kill % 5], lab, daemon)
                    self.recovers(daemon, killed)
                # Slurm takes its time to see that a start was lost with a controller or a node, and then waits before the next.
                for _ in range(3):
                    if daemon.run("wait", *map(str, names), "--timeout", "100", check=False).returncode == 0:
                        break
                watcher.done.set()
                jobs = {job["id"]: job for job in daemon.jobs()}
                for number, (name, steps) in names.items():
                    self.assertEqual(jobs[number]["state"], "finished", f"seed {self.seed}: {jobs[number]}\n{daemon.log()}")
                    self.assertFalse((daemon.work / f"{name}.twice").exists(), f"seed {self.seed}: {name} ran twice at once")
                    self.assertTrue(daemon.done(name, steps), f"seed {self.seed}: {name} of {steps} steps, began with (step, job of "
                                    f"Slurm, nodes, GPUs, launch) {daemon.launches(name)}, "
                                    f"ended {(daemon.work / f'{name}.done').read_text().splitlines()}; {daemon.job(number)}")
                self.assertEqual(watcher.wrong, [], f"seed {self.seed}")
                self.assertEqual(list(daemon.work.glob("*.locked-by-two")), [], f"seed {self.seed}")
                self.assertGreater(watcher.looks, 5)

    def test_a_slurmd_that_stays_away(self):
        """Its job runs on, Slurm gives it up and lets it be started elsewhere: that start waits, and finds it done."""
        with Lab(nodes="2:v100:4", settings={"SlurmdTimeout": 5}, node_crashes=False) as lab:
            with SlurmDaemon(lab, "all") as daemon:
                number = daemon.train("long", 200, 0.2)
                daemon.until_launched(number)
                first = daemon.slurm_job(number)["nodes"]
                lab.kill(first)
                wait_until(lambda: daemon.job(number)["launches"] > 1, 60, "a second launch")
                wait_until(lambda: daemon.slurm_job(number)["job_state"] == "RUNNING", 30, "its start")
                self.assertFalse((daemon.work / "long.done").exists(), "it ended too soon for this test")
                self.assertNotEqual(daemon.slurm_job(number)["nodes"], first)
                daemon.until(number, "finished", seconds=90)
                self.assertFalse((daemon.work / "long.twice").exists())
                self.assertEqual(len(daemon.launches("long")), 1)
                self.assertTrue(daemon.done("long", 200))
                lab.up(first)

    def kill_one(self, chance, kind, lab, daemon):
        """Kills, and starts again what was killed after up to three seconds."""
        victims = {"muster": ["muster"], "slurmctld": ["slurmctld"], "both": ["muster", "slurmctld"],
                   "node": [chance.choice(sorted(CRASH))],
                   "slurmd": [chance.choice([node for node in lab.nodes if node not in CRASH])]}[kind]
        print("killed", kind, *victims, flush=True)
        for victim in victims:
            daemon.kill() if victim == "muster" else lab.kill(victim)
        time.sleep(chance.uniform(0, 3))
        for victim in reversed(victims):
            daemon.start(wait=False) if victim == "muster" else lab.up(victim)
            if victim in lab.nodes:
                time.sleep(1)
                lab.try_call("scontrol", "update", f"NodeName={victim}", "State=RESUME")  # as its administrator would

    def recovers(self, daemon, killed):
        """It answers, and a new job runs, before the time since the kill is up."""
        def left():
            return max(0, killed + RECOVERY - time.monotonic())
        wait_until(daemon.answers, left(), f"seed {self.seed}: an answer")
        again = time.monotonic()
        probe = daemon.submit("--name", "probe", "--priority", "100", "--", "/bin/true")
        try:
            wait_until(lambda: (row := daemon.job(probe))["launch_state"] == "running" or row["state"] == "finished", left(),
                       f"seed {self.seed}: a job that runs")
        except AssertionError as late:
            queue = daemon.lab.try_call("squeue", "-o", "%A %T %r %N %k").stdout + daemon.lab.try_call("sinfo", "-N", "-l").stdout
            raise AssertionError(f"{late}\n{daemon.job(probe)}\n{queue}\n{daemon.run('jobs').stdout}\n{daemon.log()}") from late
        now = time.monotonic()
        print(f"recovered {now - killed:.1f} s after the kill, {now - again:.1f} s after all was up again", flush=True)


if __name__ == "__main__":
    if reason := why_not():
        print(reason)
        sys.exit(77)
    side_by_side.main(2)
