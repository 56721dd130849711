"""The way back of docs/slurm.md: the daemon ends, what waits is released, and Slurm's own scheduler runs it."""

import re
import subprocess
import sys
import unittest

from driven import Driven
from lab import Lab, wait_until, why_not
from slurm_daemon import ROOT


class Back(unittest.TestCase):
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
                daemon.end()
                self.assertEqual({lab.state(job) for job in runs}, {"PENDING"})
                subprocess.run(["bash", "-c", loop], env=lab.environment, check=True)
                for job in [*short, *runs, last]:
                    lab.until(job, "COMPLETED", seconds=120)
                wait_until(lambda: not lab.call("squeue", "-h").strip(), 60, "an empty queue")
                for name in ("runs0", "runs1", "short0", "short1", "last"):
                    self.assertTrue((daemon.work / f"{name}.done").exists(), name)
                    self.assertFalse((daemon.work / f"{name}.twice").exists(), name)


if __name__ == "__main__":
    if reason := why_not():
        print(reason)
        sys.exit(77)
    unittest.main()
