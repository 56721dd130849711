"""The shadow beside Slurm's own scheduler: it says what it would do, counts what that would gain, and touches nothing."""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from driven import Driven
from lab import Lab, wait_until, why_not


class logged:
    """The lab for a daemon whose every call of a program of Slurm is noted."""

    def __init__(self, lab, folder):
        self.lab, self.folder, self.nodes = lab, pathlib.Path(folder), lab.nodes
        self.environment = lab.environment | {"PATH": f"{folder}:{os.environ['PATH']}"}
        for name in ("squeue", "sinfo", "scontrol", "sacct", "sbatch", "scancel", "srun", "salloc", "sacctmgr", "sdiag"):
            (self.folder / name).write_text(f'#!/bin/sh\necho "{name} $*" >>{folder}/calls\nexec {shutil.which(name)} "$@"\n')
            (self.folder / name).chmod(0o755)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __getattr__(self, name):
        return getattr(self.lab, name)

    def made(self):
        """Each once; of sacct only which jobs it was asked for."""
        lines = (self.folder / "calls").read_text(errors="replace").splitlines()
        return {re.sub(r"^sacct .*(--jobs=\d+).*$", r"sacct \1", line) for line in lines}


class Shadow(unittest.TestCase):
    def jobs_of(self, lab):
        """All that Slurm knows of its jobs and that a scheduler could have changed."""
        return {number: {key: job[key] for key in ("comment", "admin_comment", "priority", "required_nodes", "tres_per_node", "name",
                                                   "restart_cnt", "partition", "time_limit", "hold")
                         if key in job}
                for number, job in lab.jobs().items()}

    def test_it_says_what_it_would_do_and_touches_nothing(self):
        with Lab(nodes="1:v100:4", lines="PartitionName=other Nodes=ALL") as lab:
            def submit(*words):
                return int(lab.call("sbatch", "--parsable", "-o", "/dev/null", "-t", "5", *words))
            before = submit("--gres=gpu:1", "-t", "1", "--wrap", "sleep 15")
            lab.until(before, "RUNNING")
            with tempfile.TemporaryDirectory() as folder, logged(lab, folder) as calls, \
                    Driven(calls, "all", "--shadow", "--scheduling", "sjf:by_estimate=true") as daemon:
                quick = submit("--gres=gpu:1", "-J", "quick", "--wrap", "true")  # over before anybody looks
                lab.until(quick, "COMPLETED")
                wide = submit("--gres=gpu:4", "-t", "9", "-J", "wide", "--wrap", "sleep 5")
                behind = submit("--gres=gpu:1", "-t", "5", "-J", "be|hind\n'quoted'", "--wrap", "sleep 2")
                last = submit("--gres=gpu:4", "-t", "20", "-J", "last", "--wrap", "sleep 100")
                held = submit("--gres=gpu:1", "--hold", "-J", "held", "--wrap", "true")
                others = submit("--gres=gpu:1", "-p", "other", "--wrap", "sleep 1")
                array = submit("--gres=gpu:1", "--array=1-2", "--begin=now+1hour", "--wrap", "true")
                was = self.jobs_of(lab)
                was.pop(last)
                # Slurm keeps the order of submission; we would let the short one go first.
                wait_until(lambda: f"would start Slurm's job {behind} (" in daemon.log(), 20, "a start of the short job")
                self.assertEqual(lab.state(behind), "PENDING")
                lab.call("scancel", last)
                wait_until(lambda: "cancelled" in {job["state"] for job in daemon.all_jobs().values()}, 20, "the word of it")
                wait_until(lambda: f"would start Slurm's job {wide} (wide) on n1 (4 GPUs)" in daemon.log(), 40, "a start of the wide job")
                lab.until(behind, "COMPLETED", seconds=40)
                lab.until(others, "COMPLETED", seconds=40)
                states = {job["name"]: job["state"] for job in daemon.all_jobs().values()}
                wait_until(lambda: [job["state"] for job in daemon.all_jobs().values()].count("finished") >= 4, 40, "their end here, too")
                self.assertIn(f"Slurm's job {array} is left out: it is an array", daemon.log())
                self.assertNotIn(f"job {others} ", daemon.log())
                self.assertEqual(sorted(states), ["be|hind?'quoted'", "last", "quick", "wide", "wrap"])
                self.assertEqual(lab.state(held), "PENDING")
                now = self.jobs_of(lab)
                now.pop(last)
                self.assertEqual(now, was)
                daemon.end()
                self.assertRegex(daemon.log(), r"shadow: 3 jobs were started by Slurm and by us: Slurm let them wait [\d.]+ s .*; 3 of them "
                                 r"have ended: they took [\d.]+ s on average from submission to end, and would have taken [\d.]+ s")
                self.assertLessEqual(calls.made(), {"squeue --json", "sinfo --json", "scontrol --json show nodes", "scontrol --version",
                                                    "sacct --jobs=1"}, "it only asks")
                self.assertIn("squeue --json", calls.made())


if __name__ == "__main__":
    if reason := why_not():
        print(reason)
        sys.exit(77)
    unittest.main()
