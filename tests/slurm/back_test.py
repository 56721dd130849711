"""The way back of docs/slurm.md: the daemon ends, what waits is released, and Slurm's own scheduler runs it."""

import re
import subprocess
import sys
import unittest

from driven import Driven
from lab import Lab, wait_until, why_not
from slurm_daemon import ROOT


class Back(unittest.TestCase):
    def of_others(self, lab, daemon):
        """Jobs that wait and that Slurm is not to start: held by an administrator, before and after Muster took it in; not due yet,
        and with a node of their own; with a constraint that Muster cannot honour."""
        def submit(*words):
            return int(lab.call("sbatch", "--parsable", "-o", "/dev/null", "-p", "all", "--gres=gpu:1", *words, "--wrap", "true"))
        taken = submit("--hold", "-J", "taken")
        wait_until(lambda: daemon.by_name("taken"), 20, "the one to be held")
        untaken = submit("--begin=now+1hour")
        for job in (taken, untaken):
            lab.call("scontrol", "hold", job)
        wait_until(lambda: "administrator holds it" in daemon.by_name("taken")["reason"], 20, "the hold")
        spread = submit("--hold", "-N2", "-J", "spread")
        wait_until(lambda: daemon.by_name("spread"), 20, "the constraint")
        return [taken, untaken, spread, submit("--begin=now+1hour"), submit("--begin=now+1hour", "-w", "n2")]

    def constraints(self, lab, job):
        row = lab.jobs()[job]
        return {key: row[key] for key in ("job_state", "state_reason", "priority", "eligible_time", "required_nodes")}

    def test_what_waits_is_run_by_slurm(self):
        page = (ROOT / "docs/slurm.md").read_text()
        loop = re.search(r"(?m)^for job in .*?^done$", page, re.S)[0].replace("-p gpu", "-p all")
        with Lab(nodes="1:v100:2 1:a100:2") as lab:
            with Driven(lab, "all", "--scheduling", "srtf") as daemon:
                def train(name, seconds):
                    return daemon.hold_trainer(name, seconds * 5, 0.2, "--gres=gpu:2", "-t", str(seconds // 4))
                runs = [train("runs0", 40), train("runs1", 40)]
                for job in runs:
                    lab.until(job, "RUNNING")
                # Shorter ones push them out, so that they wait with nodes of their own in their request.
                short = [train("short0", 8), train("short1", 8)]
                for job in short:
                    lab.until(job, "RUNNING", seconds=60)
                last = train("last", 8)
                wait_until(lambda: daemon.by_name("last"), 20, "the last one here")
                others = self.of_others(lab, daemon)
                daemon.end()
                self.assertEqual({lab.state(job) for job in runs}, {"PENDING"})
                was = {job: self.constraints(lab, job) for job in others}
                subprocess.run(["bash", "-c", loop], env=lab.environment, check=True)
                self.assertEqual({job: self.constraints(lab, job) for job in others}, was, "jobs that are not Muster's are as they were")
                for job in [*short, *runs, last]:
                    lab.until(job, "COMPLETED", seconds=120)
                self.assertEqual({lab.state(job) for job in others}, {"PENDING"})
                for name in ("runs0", "runs1", "short0", "short1", "last"):
                    self.assertTrue((daemon.work / f"{name}.done").exists(), name)
                    self.assertFalse((daemon.work / f"{name}.twice").exists(), name)


if __name__ == "__main__":
    if reason := why_not():
        print(reason)
        sys.exit(77)
    unittest.main()
